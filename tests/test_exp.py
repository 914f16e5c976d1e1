"""The exponential of the Gaussian kernel against NumPy's, and distances far from the origin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from krein import Nystrom
from krein.kernels import DeltaGaussian, Gaussian, Matern
from krein.kernels._exp import COMPILED, HIGHEST, LOWEST, exp_in_place

# The number of entries decides whether NumPy or the compiled loop computes the exponential.
SIZES = (None, COMPILED)


@pytest.mark.parametrize("n_entries", SIZES)
def test_exponential_is_within_two_units_in_the_last_place(rng, n_entries):
    P = np.concatenate([-700 * rng.random(20_000), 700 * rng.random(5000), rng.normal(size=5000)])
    P = P.reshape(100, -1)
    expected = np.exp(P)
    assert np.max(np.abs(exp_in_place(P.copy(), n_entries) - expected) / np.spacing(expected)) <= 2


@pytest.mark.parametrize("x", [0.0, -0.0, LOWEST, np.nextafter(LOWEST, 0), HIGHEST])
@pytest.mark.parametrize("n_entries", SIZES)
def test_exponential_at_the_edges(x, n_entries):
    assert exp_in_place(np.full((1, 1), x), n_entries)[0, 0] == pytest.approx(np.exp(x), rel=1e-15)


@pytest.mark.parametrize("x", [-709.0, -1e4, -np.inf])
@pytest.mark.parametrize("n_entries", SIZES)
def test_exponential_of_very_small_numbers_is_zero(x, n_entries):
    assert exp_in_place(np.full((2, 3), x), n_entries).max() <= np.finfo(float).tiny


@pytest.mark.parametrize("kernel", [Gaussian(), DeltaGaussian(), Matern()])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rows_far_from_the_origin_keep_their_digits(rng, kernel, offset):
    X, Y = rng.normal(size=(30, 5)) + offset, rng.normal(size=(20, 5)) + offset
    expected = kernel.radial_profile(cdist(X, Y))
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-11, atol=1e-13)


def test_positive_definite_map_of_full_rank_is_triangular_and_right(rng):
    X = rng.normal(size=(400, 5))
    features = Nystrom(Gaussian(3.0), 128, n_landmarks=128, tol=0, random_state=0).fit(X)
    assert not np.any(np.triu(features._left, 1))
    Z = Gaussian(3.0)(X, features.landmarks_) @ features._left
    np.testing.assert_allclose(features.transform(X), Z, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(features.approximate_kernel(X), Gaussian(3.0)(X), atol=0.02)
