"""The exponential of the Gaussian kernel against NumPy's, and distances far from the origin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from krein import Nystrom
from krein.kernels import DeltaGaussian, Gaussian, Matern
from krein.kernels._exp import HIGHEST, LOWEST, exp_in_place


def test_exponential_is_within_two_units_in_the_last_place(rng):
    P = np.concatenate([-700 * rng.random(20_000), 700 * rng.random(5000), rng.normal(size=5000)])
    P = P.reshape(100, -1)
    expected = np.exp(P)
    assert np.max(np.abs(exp_in_place(P.copy()) - expected) / np.spacing(expected)) <= 2


@pytest.mark.parametrize("x", [0.0, -0.0, LOWEST, np.nextafter(LOWEST, 0), HIGHEST])
def test_exponential_at_the_edges(x):
    assert exp_in_place(np.full((1, 1), x))[0, 0] == pytest.approx(np.exp(x), rel=1e-15)


@pytest.mark.parametrize("x", [-709.0, -1e4, -np.inf])
def test_exponential_of_very_small_numbers_is_zero(x):
    assert exp_in_place(np.full((2, 3), x)).max() <= np.finfo(float).tiny


def test_exponents_above_zero_are_rounding_and_give_one():
    P = np.array([[1.0 + 1e-15]])
    assert exp_in_place(P, np.full(1, 0.5), np.full(1, 0.5))[0, 0] == 1.0


def test_halves_of_norms_are_subtracted(rng):
    P, a, b = rng.normal(size=(7, 5)), 4 + rng.random(7), 4 + rng.random(5)
    expected = np.exp(P - a[:, None] - b)
    np.testing.assert_allclose(exp_in_place(P.copy(), a, b), expected, rtol=1e-14)


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
