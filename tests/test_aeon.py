"""Elastic distances equal aeon's on random series; `make test-aeon` installs aeon."""

from __future__ import annotations

import numpy as np
import pytest
from object_twins import ragged, table
from series_twins import TWINS

from krein.kernels import ElasticDistance

distances = pytest.importorskip("aeon.distances", reason="make test-aeon installs aeon")


def along_path(x, y, **options):
    """Return the costs along aeon's path for "shape_dtw".

    `aeon.distances.shape_dtw_distance` of version 1.6 walks back through the table by itself, and
    leaves out the rest of a path that reaches the first row or column: −1 is the last one there.
    """
    path, _ = distances.shape_dtw_alignment_path(x, y, **options)
    return sum(np.square(x[:, i] - y[:, j]).sum() for i, j in path)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("name", "twin", "root", "other"), TWINS, ids=[name for name, *_ in TWINS])
@pytest.mark.filterwarnings("ignore")  # Numba warns about the loops of aeon
def test_distances_equal_those_of_aeon(name, twin, root, other, channels, rng):
    X, Y = ragged(rng, [20, 45, 31, 20], channels), ragged(rng, [33, 20, 50], channels)
    compute = along_path if name == "shape_dtw" else getattr(distances, f"{name}_distance")
    for options in ({}, other, {**other, "window": 0.0}, {"window": 0.25}):
        found = ElasticDistance(name, **options)(X, Y)
        expected = table(
            lambda x, y, options=options: compute(x.T.copy(), y.T.copy(), **options), X, Y
        )
        np.testing.assert_allclose(found**2 if root else found, expected, rtol=1e-9, atol=1e-11)
