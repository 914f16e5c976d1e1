"""Values of a kernel that are not finite end in one sentence, which names the pair."""

from __future__ import annotations

import numpy as np
import pytest

from krein.kernels import Gaussian
from krein.kernels.values import BadPairError, check_values


def test_good_values_are_returned_as_they_are():
    values = np.full((2, 3), 1e308)  # their sum overflows, they do not
    assert check_values(Gaussian(), values) is values


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_bad_pair_is_named_in_the_whole(bad):
    values = np.ones((2, 3))
    values[1, 2] = bad
    with pytest.raises(BadPairError, match=rf"Gaussian\(\) returned {bad} for object 1 of X and"):
        check_values(Gaussian(), values)
    with pytest.raises(BadPairError, match=r"for object 7 of X and object 9 of Y\. It must"):
        check_values(Gaussian(), values, [4, 7], range(7, 10))


def test_opposite_infinities_do_not_hide_each_other():
    with pytest.raises(BadPairError, match="returned inf for object 0 of X and object 0 of Y"):
        check_values(Gaussian(), np.array([[np.inf, -np.inf]]))
