"""The traits of kernels made of others follow from those of their parts."""

import numpy as np
import pytest

from krein.kernels import (
    ArcCosine,
    EditDistance,
    Gaussian,
    Hellinger,
    Kernel,
    NeuralTangent,
    ShiftGaussian,
    Traits,
)
from krein.testing import check_kernel


def test_traits_of_sums_and_products():
    first, second = Hellinger() + ArcCosine(1), ShiftGaussian()
    expected = Traits(
        is_symmetric=False, unit_rows=True, antipodal_exponent=1.5, lowest_product=0.0
    )
    assert (first + second).traits == (second * first).traits == expected
    assert (ArcCosine(1) * NeuralTangent()).traits.antipodal_exponent == 0.5
    assert (EditDistance() + EditDistance()).traits == EditDistance().traits
    assert not (EditDistance() + 1).traits.mirrors
    assert (Gaussian() * ShiftGaussian()).traits.has_closed_form


@pytest.mark.parametrize("kernel", [ShiftGaussian(), ShiftGaussian() + Hellinger()], ids=repr)
def test_traits_of_multiples_transposes_and_parts(kernel):
    assert (-kernel).traits == kernel.T.traits == kernel.skew_part.traits == kernel.traits
    assert kernel.symmetric_part.traits == kernel.traits.symmetrised()


def test_a_class_that_sets_a_trait_outside_of_traits_fails_the_check():
    class Old(Kernel):
        is_symmetric = False

        def _block(self, X, Y):
            return np.tanh(2 * X[:, :1] - Y[:, :1].T)

    X = np.random.default_rng(0).random((8, 3))
    with pytest.raises(AssertionError, match="is_symmetric"):
        check_kernel(Old(), lambda x, y: np.tanh(2 * x[0] - y[0]), X[:5], X[5:])
