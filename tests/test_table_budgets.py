"""What the budget of a table leaves out when two kernels could be mixed."""

from __future__ import annotations

import numpy as np
import pytest

from krein.auto.choice import Choice, Option
from krein.auto.columns import Columns
from krein.auto.maps import HINGE, RIDGE
from krein.auto.sizes import WIDE
from krein.auto.tables import Table
from krein.kernels import Gaussian, Matern


def table(n_rows, share=0.6, smooth=None, megabytes=1024.0):
    both = [
        Option(Matern(1.0), Columns(np.ones(5)), share, Matern(1.0)),
        Option(Gaussian(1.0), Columns(), 1 - share),
    ]
    return Table(Choice(both, [], smooth=smooth), n_rows, 5, 1, 5, megabytes, False, 0)


@pytest.mark.parametrize("share", [0.6, 0.4])
@pytest.mark.parametrize("n_rows", [1000, 5000, 20_000, 50_000, 80_000, 200_000, 10**6])
def test_a_mixture_has_maps_as_wide_as_those_of_one_kernel(n_rows, share):
    both = table(n_rows, share)
    heavier = max(both.choice.options, key=lambda option: option.share)
    alone = Table(Choice([heavier], []), n_rows, 5, 1, 5, 1024.0, False, 0)
    (wanted,) = alone.candidates("auto", [RIDGE])
    found = both.candidates("auto", [RIDGE])
    assert {one.width for one in found} == {wanted.width}
    assert heavier.share in [one.share for one in found]
    is_left_out = any("mixture" in note for note in both.notes([RIDGE]))
    assert is_left_out == (len(found) == 1)


def test_a_mixture_is_left_out_of_many_rows_only():
    counts = [len(table(n).candidates("auto", [RIDGE])) for n in (1000, 5000, 20_000, 50_000)]
    assert counts == [2, 2, 2, 1]
    assert len(table(50_000).candidates(100, [RIDGE])) == 2  # a width that was given


def test_the_smooth_kernel_of_a_margin_machine_keeps_its_columns():
    many = table(50_000, 0.4, smooth=Gaussian(2.0), megabytes=1e5)
    *ridges, margin = many.candidates("auto", [RIDGE, HINGE])
    assert [one.share for one in ridges] == [0.6]
    assert margin.kinds == (HINGE,)
    assert margin.width <= WIDE[2]
    assert margin.features[0].factors is not None
