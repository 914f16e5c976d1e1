"""Bad input of `MixtureFourier` gets a sentence."""

import numpy as np
import pytest
from mixture_cases import INDEFINITE, made, off_diagonal, rows
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import krein
from krein.features.base import FewRowsWarning
from krein.kernels import (
    TL1,
    Custom,
    DeltaGaussian,
    Gaussian,
    Pairwise,
    Precomputed,
    ShiftGaussian,
    Sigmoid,
)
from krein.kernels.values import UninformativeWarning


def test_kernels_that_are_no_functions_of_the_difference_are_refused():
    X = rows()
    smallest = Custom(lambda X, Y: np.minimum(X[:, :1], Y[:, :1].T))
    with pytest.raises(ValueError, match=r"not a function of x − y.*krein\.Nystrom"):
        made(smallest).fit(X)
    with pytest.raises(ValueError, match=r"needs rows of norm 1.*krein\.Nystrom"):
        made(Sigmoid()).fit(X)
    with pytest.raises(ValueError, match=r"not a function of x − y.*krein\.Nystrom"):
        made(Precomputed()).fit(Gaussian()(X))


def test_kernels_that_are_not_symmetric_are_refused():
    with pytest.raises(ValueError, match=r"is not symmetric: use krein\.RandomFourier"):
        made(ShiftGaussian()).fit(rows())
    skew = Pairwise(lambda x, y: float(np.exp(x[0] - y[0])))
    with pytest.raises(ValueError, match="other values for"):
        made(skew, n_subsample=10).fit(rows(10))


def test_widths_must_be_even():
    with pytest.raises(ValueError, match=r"must be even.*got 7: use 8"):
        made(n_components=7).fit(rows())


def test_few_rows_are_said():
    X = rows(20)
    with pytest.warns(FewRowsWarning, match=r"There are 20 distinct rows, fewer"):
        features = made().fit(np.concatenate([X, X]))
    assert krein.approximation_error(features, X) < 0.2


def test_equal_rows_are_refused():
    with (
        pytest.warns(UserWarning, match="columns of X are constant"),
        pytest.raises(ValueError, match=r"at least 2 distinct rows.*n_samples=30 with 1 distinct"),
    ):
        made(n_subsample=2).fit(np.ones((30, 2)))


def test_two_rows_are_enough():
    X = rows(2)
    features = made(n_subsample=2).fit(X)
    assert np.isfinite(features.transform(X)).all()
    assert off_diagonal(features, X) < 0.05


def test_constant_columns_are_ignored_and_said():
    X = np.insert(rows(), 1, 7.0, axis=1)
    with pytest.warns(UserWarning, match=r"1 of 4 columns of X are constant \(1\).*leave them out"):
        features = made().fit(X)
    assert_array_equal(features.frequencies_[:, 1], 0)
    with pytest.warns(UserWarning, match="constant"):
        made().fit(sparse.csr_array(X))
    assert off_diagonal(features, X) < 0.02


def test_a_kernel_that_is_zero_off_the_diagonal_has_the_widest_spectrum():
    X = rows(seed=1)
    with pytest.warns(UninformativeWarning, match=r"nearly the identity.*wider kernel"):
        features = made(2.0 * TL1(1e-6), 16).fit(X)
    assert_allclose(features.weights_.sum(), 2e-6)
    assert features.mixture_ == {}
    assert features.n_iter_ == 0


@pytest.mark.parametrize("size", [1e4, 1e10, 1e25])
def test_an_outlier_does_not_spoil_the_fit(size):
    X = rows()
    X[0] = size
    kernel = Gaussian() - 0.5 * Gaussian(0.5)
    assert off_diagonal(made(kernel, n_subsample=80).fit(X), rows()) < 0.05


def test_priors_of_another_size_than_the_data_are_said():
    for prior in ({"mean_prior": 1e100}, {"covariance_prior": 1e-200 * np.eye(3)}):
        with pytest.raises(ValueError, match=r"cannot be inverted.*choose a mean_prior"):
            made(**prior).fit(rows())


@pytest.mark.parametrize("noise", ["auto", 0.3])
def test_a_map_that_misses_the_kernel_is_said(noise):
    """Waves of one steep direction among many columns are not found from a few pairs."""
    X = rows(200, dim=20)
    wave = Custom(lambda X, Y: np.cos(30 * (X[:, None] - Y[None]).sum(axis=2)))
    with pytest.warns(UserWarning, match=r"krein\.Nystrom"):
        features = made(wave, 8, noise=noise, n_subsample=100).fit(X)
    assert off_diagonal(features, X) > 0.6


def test_a_zero_kernel_is_refused():
    with pytest.raises(ValueError, match=r"is zero for all pairs of 60 rows.*wider kernel"):
        made(0.0 * Gaussian()).fit(rows())


def test_a_constant_kernel_is_said_and_learned():
    X = rows()
    with pytest.warns(UninformativeWarning, match="nearly constant"):
        features = made(Gaussian(1e6)).fit(X)
    assert_allclose(features.approximate_kernel(X), 1, atol=1e-2)


def test_values_of_one_sign_have_nothing_to_refine_together():
    with pytest.raises(ValueError, match=r"joint=True.*values of one sign only.*joint='auto'"):
        made(Gaussian(), joint=True).fit(rows())
    assert "joint" in made(INDEFINITE, joint=True).fit(rows()).objective_


def test_one_frequency_is_too_few_for_two_branches():
    with pytest.warns(UserWarning, match=r"n_components=2 is too small.*use at least 4"):
        features = made(INDEFINITE, 2).fit(rows())
    assert np.all(features.weights_ >= 0)
    assert (made(INDEFINITE, 4).fit(rows()).weights_.shape) == (2,)


def test_one_frequency_takes_the_larger_part_of_the_pairs():
    X = rows()  # k(0) = 0, so both parts have the same trace, and all values are negative
    with pytest.warns(UserWarning, match="only the larger part is fitted"):
        features = made(DeltaGaussian(1.0, 10.0), 2).fit(X)
    assert np.all(features.weights_ < 0)
    assert krein.approximation_error(features, X) < 0.6


def test_a_shift_of_a_negative_kernel_leaves_nothing():
    with pytest.warns(UserWarning, match="all features are zero: use split='spectral'"):
        made(-1.0 * Gaussian(), split="shift").fit(rows())


def test_bad_priors_are_named():
    X = rows()
    for name, value, needed in (
        ("mean_prior", [1.0, 2.0], "one number for each of the 3 columns"),
        ("mean_prior", ["a", "b", "c"], "one number for each of the 3 columns"),
        ("mean_prior", [[1.0, 2.0], 3.0], "one number for each of the 3 columns"),
        ("covariance_prior", [[1.0, 0.0], [1.0]], "positive definite matrix of shape"),
        ("covariance_prior", np.ones((2, 2)), "positive definite matrix of shape"),
        ("covariance_prior", -np.eye(3), "positive definite matrix of shape"),
        ("degrees_of_freedom_prior", 2.0, "a number above 2, the number of columns minus 1, got 2"),
    ):
        with pytest.raises(ValueError, match=f"MixtureFourier needs {name} to be .*{needed}"):
            made(**{name: value}).fit(X)


@pytest.mark.parametrize("name", ["noise", "tau", "n_pairs", "n_mixture", "n_subsample", "tol"])
def test_bad_numbers_are_named(name):
    with pytest.raises(ValueError, match=f"'{name}' parameter of MixtureFourier"):
        made(**{name: -1}).fit(rows())


def test_learners_take_the_map():
    X = rows(200)
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    model = krein.KreinRidge(features=made(INDEFINITE, 20, n_subsample=160), alpha=1e-6)
    assert model.fit(X, y).score(X, y) > 0.9
