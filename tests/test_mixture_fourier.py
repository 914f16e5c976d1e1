"""Fourier features inferred from values: contract, objective and accuracy."""

import numpy as np
import pytest
from mixture_cases import INDEFINITE, made, off_diagonal, rows, unit, waves
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded
from scipy import sparse

import krein
from krein import MixtureFourier
from krein.kernels import (
    TL1,
    Custom,
    DeltaGaussian,
    Gaussian,
    Polynomial,
    Sigmoid,
    SphericalPolynomial,
)
from krein.testing import check_feature_map

# --- the contract ---------------------------------------------------------------------------------

KINDS = [
    {},
    {"kernel": INDEFINITE},
    {"kernel": -1.0 * Gaussian()},
    {"kernel": TL1(2.0), "split": "shift"},
    {"kernel": INDEFINITE, "inference": "taylor"},
    {"kernel": Custom(lambda X, Y: np.exp(-np.abs(X[:, None] - Y[None]).sum(axis=2)))},
    {"n_components": 1},
    {"n_components": 2},
]


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("dim", [1, 4])
def test_the_contract_of_a_feature_map(options, dim):
    features = made(**options).fit(rows(dim=dim))
    check_feature_map(features, rows(20, dim, 1), rows(15, dim, 2))
    X = rows(10, dim, 3)
    assert_allclose(features.approximate_kernel(X), waves(features, X), atol=1e-10)
    signs = np.where(features.weights_ < 0, -1.0, 1.0)
    expected = signs if features.n_components == 1 else np.tile(signs, 2)
    assert_array_equal(features.form_.signs, expected)
    assert np.isfinite(krein.approximation_error(features, X))


def test_fitted_attributes():
    features = made(INDEFINITE, 20, n_mixture=3).fit(rows())
    assert features.frequencies_.shape == (10, 3)
    assert features.weights_.shape == (10,)
    assert set(features.mixture_) == {"positive", "negative"}
    assert list(features.objective_) == ["positive", "negative", "joint"]
    assert features.n_iter_ == sum(len(path) for path in features.objective_.values())
    assert 0.01 < features.negative_share_ < 0.5
    for mixture in features.mixture_.values():
        assert mixture.weights.shape == (3,)
        assert mixture.means.shape == (3, 3)
        assert mixture.precisions.shape == (3, 3, 3)
        assert_allclose(mixture.weights.sum(), 1)
        assert np.all(np.linalg.eigvalsh(mixture.precisions) > 0)


def test_one_component_is_the_mean_value():
    X = rows()
    features = made(n_components=1, n_subsample=80).fit(X)
    assert_allclose(features.weights_, Gaussian()(X).mean())
    assert features.objective_ == {}


def test_many_columns_have_diagonal_precisions_in_principal_axes():
    X = rows(40, 101)
    features = made(Gaussian(4.0), 8, n_subsample=40).fit(X)
    mixture = features.mixture_["positive"]
    assert mixture.axes.shape[1] == 101
    assert mixture.precisions.shape == (5, len(mixture.axes))
    for points in (features.frequencies_, mixture.means):
        assert_allclose(points @ mixture.axes.T @ mixture.axes, points, atol=1e-8)
    random = krein.RandomFourier(Gaussian(4.0), 8, random_state=0).fit(X)
    assert krein.approximation_error(features, X) < krein.approximation_error(random, X) / 2


@pytest.mark.parametrize("n_small", [5, 120])
def test_columns_that_hardly_vary_do_not_stop_the_inference(n_small):
    rng = np.random.default_rng(0)
    X = rng.random((300, 3 + n_small)) * np.repeat([1, 1e-5], [3, n_small])
    options = {"n_subsample": 200, "n_pairs": 2000, "max_iter": 6}
    features = made(Gaussian(0.6), 24, **options).fit(X[:200])
    # It is 0.009. Steps of L-BFGS in badly scaled coordinates end at 0.04.
    assert krein.approximation_error(features, X[200:]) < 0.02


def test_the_order_and_the_container_of_rows_change_nothing():
    X = rows(200)
    features = made(INDEFINITE).fit(X)
    order = np.random.default_rng(1).permutation(len(X))
    for other in (X[order], np.concatenate([X, X]), np.asfortranarray(X)):
        found = made(INDEFINITE).fit(other)
        assert_array_equal(found.frequencies_, features.frequencies_)
        assert_array_equal(found.weights_, features.weights_)
    found = made(INDEFINITE).fit(sparse.csr_array(X))
    assert_rounded(found.frequencies_, features.frequencies_, 1e-6)


def test_seeds():
    X = rows(200)
    first, again, other = (made(random_state=seed).fit(X).frequencies_ for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_single_precision_is_kept():
    X = rows().astype(np.float32)
    features = made(TL1(2.0)).fit(X)
    assert features.transform(X).dtype == np.float32
    double = made(TL1(2.0)).fit(X.astype(float))
    assert_rounded(features.frequencies_, double.frequencies_, 1e-9)


def test_units_of_data_and_of_values_change_nothing():
    X = rows(30)
    options = {"n_subsample": 30, "n_pairs": 435, "max_iter": 2}
    features = made(Gaussian(0.7), **options).fit(X)
    scaled = made(5e3 * Gaussian(0.7e6), **options).fit(1e6 * X)
    # The rows have other hashes, but all rows and all pairs are used.
    assert_rounded(1e6 * scaled.frequencies_, features.frequencies_, 1e-4)
    assert_rounded(scaled.weights_ / 5e3, features.weights_, 1e-4)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_huge_and_tiny_data(size):
    X = rows(60)
    features = made(1e100 * Gaussian(size)).fit(size * X)
    assert krein.approximation_error(features, size * X) < 0.1


# --- the objective --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The map differs")  # narrow kernels in eight dimensions
@pytest.mark.parametrize("dim", [1, 3, 8])
@pytest.mark.parametrize(
    "kernel", [Gaussian(0.5), INDEFINITE, DeltaGaussian(), TL1(1.5), -1.0 * Gaussian()], ids=str
)
def test_the_objective_does_not_fall_within_a_phase(kernel, dim):
    for seed in range(2):
        options = {"max_iter": 4, "tol": 0.0, "n_pairs": 100, "random_state": seed}
        features = made(kernel, **options).fit(rows(dim=dim, seed=seed))
        assert features.objective_
        for path in features.objective_.values():
            assert np.all(np.diff(path) >= -1e-8 * np.abs(path[1:]))
            assert path[-1] > path[0]


def test_a_phase_ends_when_the_objective_stands_still():
    X = rows()
    long, short = (made(max_iter=12, tol=tol).fit(X) for tol in (0.0, 0.05))
    assert short.n_iter_ < long.n_iter_ == 12


# --- accuracy -------------------------------------------------------------------------------------


def test_a_kernel_of_few_waves_is_found():
    W, weights = np.array([[3.0, 1.0], [-1.0, 4.0]]), np.array([0.7, 0.3])

    def f(X, Y):
        return np.cos((X[:, None] - Y[None]) @ W.T) @ weights

    X = rows(100, 2)
    features = made(Custom(f), 16, max_iter=20, n_pairs=1000, tol=0.0, n_subsample=100).fit(X)
    assert off_diagonal(features, rows(100, 2, 1)) < 0.01


def test_a_small_mixture_of_gaussians_is_found():
    """The kernel of a mixture spectrum: cosines times Gaussians."""
    mean = np.array([4.0, 0.0])

    def f(X, Y):
        gaps = X[:, None] - Y[None]
        return (0.6 + 0.4 * np.cos(gaps @ mean)) * np.exp(-(gaps**2).sum(axis=2) / 2)

    X = rows(150, 2)
    features = made(Custom(f), 24, max_iter=12, n_pairs=1500, n_subsample=150).fit(X)
    assert off_diagonal(features, rows(100, 2, 1)) < 0.004
    assert_allclose(features.weights_.sum(), 1, atol=0.02)


@pytest.mark.parametrize("kernel", [Gaussian(0.8), TL1(2.0)], ids=str)
def test_it_is_more_accurate_than_weights_fitted_to_random_frequencies(kernel):
    X, test = rows(300, 4), rows(200, 4, 1)
    features = made(kernel, 16, max_iter=8, n_pairs=1500, n_subsample=300).fit(X)
    random = krein.RandomFourier(Gaussian(), 16, random_state=0).fit(X)
    from krein.features.calibrate import calibrate_fourier

    random.weights_ = calibrate_fourier(random.frequencies_, random.weights_, X, kernel(X))
    baseline = np.sqrt(np.mean((waves(random, test) - kernel(test)) ** 2))
    assert off_diagonal(features, test) < baseline / 2


def test_the_sum_of_the_weights_is_the_value_at_zero():
    for kernel in (Gaussian(), 3.0 * Gaussian() + Gaussian(0.5)):
        features = made(kernel, 24, max_iter=10, n_pairs=1700).fit(rows())
        value = float(kernel.diag(rows(1))[0])
        assert_allclose(features.weights_.sum(), value, rtol=0.05)


def test_the_joint_refinement_lowers_the_error_of_a_strongly_indefinite_kernel():
    X, test = rows(200, 2), rows(200, 2, 1)
    options = {"n_subsample": 200, "n_pairs": 1500, "max_iter": 8}
    joint, apart = (made(INDEFINITE, 32, joint=j, **options).fit(X) for j in ("auto", False))
    assert off_diagonal(joint, test) < off_diagonal(apart, test) / 2
    assert "joint" not in apart.objective_
    assert (joint.weights_ < 0).any()


def test_a_negative_kernel_has_negative_weights_only():
    features = made(-1.0 * Gaussian()).fit(rows())
    assert np.all(features.weights_ <= 0)
    assert set(features.mixture_) == {"negative"}
    assert features.negative_share_ == pytest.approx(1)
    assert off_diagonal(features, rows(40, 3, 1)) < 0.01


def test_the_shift_does_not_depend_on_tau():
    X = rows()
    first, second = (made(INDEFINITE, split="shift", tau=tau).fit(X) for tau in (1.1, 20.0))
    assert_rounded(first.frequencies_, second.frequencies_)
    assert np.all(first.weights_ >= 0)


@pytest.mark.parametrize("kernel", [SphericalPolynomial(2, 10), Sigmoid(0.5, 1.0), Polynomial()])
def test_kernels_of_products_on_unit_rows(kernel):
    X, test = unit(rows(150, 4)), unit(rows(100, 4, 1))
    features = made(kernel, 32, n_subsample=150, n_pairs=2000, max_iter=10).fit(X)
    assert krein.approximation_error(features, test) < 0.03


def test_a_function_of_products_needs_unit_rows_in_transform_too():
    X = unit(rows(60))
    for kernel in (Sigmoid(), Custom(lambda X, Y: np.exp(X @ Y.T))):
        features = made(kernel, max_iter=1).fit(X)
        with pytest.raises(ValueError, match=r"rows of norm 1, but row 0 has norm 2"):
            features.transform(2 * X)


@pytest.mark.filterwarnings("ignore:The map differs")  # the priors keep the map from the kernel
def test_priors_are_in_the_units_of_the_data():
    X = rows()
    options = {"mean_prior": [5.0, 0.0, 0.0], "covariance_prior": 1e-4 * np.eye(3)}
    features = made(noise=10.0, degrees_of_freedom_prior=1e4, **options).fit(X)
    assert_allclose(features.mixture_["positive"].means, np.tile([5, 0, 0], (5, 1)), atol=0.1)
    assert_allclose(features.mixture_["positive"].precisions[0], 1e4 * np.eye(3), rtol=0.1, atol=1)
    assert_allclose(features.frequencies_, np.tile([5, 0, 0], (6, 1)), atol=0.2)


@pytest.mark.filterwarnings("ignore:The map differs")
def test_priors_of_many_columns_are_those_of_the_columns():
    mean = np.zeros(101)
    mean[0] = 5.0
    options = {"mean_prior": mean, "covariance_prior": 1e-4 * np.eye(101), "n_subsample": 200}
    features = made(noise=10.0, degrees_of_freedom_prior=1e4, **options).fit(rows(200, 101))
    mixture = features.mixture_["positive"]
    expected = mean @ mixture.axes.T @ mixture.axes
    assert_allclose(mixture.means, np.tile(expected, (5, 1)), atol=0.1)
    assert_allclose(mixture.precisions, 1e4, rtol=0.1)


# --- the printed updates --------------------------------------------------------------------------


def test_printed_updates_return_the_same_frequencies_for_every_kernel():
    X = rows(100, 4)
    spreads = []
    for kernel in (Gaussian(0.2), Gaussian(5.0)):
        options = {"inference": "taylor", "split": "shift", "n_subsample": 5, "max_iter": 50}
        features = MixtureFourier(kernel, 400, random_state=0, **options).fit(X)
        spreads.append(features.frequencies_.std())
        assert len(set(features.weights_)) == 1
        assert features.objective_["positive"][-1] < features.objective_["positive"][0]
    # The spectra differ by a factor of 25, the frequencies hardly: they are those of the start,
    # N(0, 1), narrowed by the number of frequencies.
    assert 0.5 < spreads[0] / spreads[1] < 2
    assert max(spreads) < 1


def test_a_kernel_that_hardly_varies_is_more_than_its_constant():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    kernel = Sigmoid(0.01, 1.0)  # within 0.5 % of its mean
    K = kernel(X)
    errors = {}
    for noise in ("auto", 0.003):
        features = MixtureFourier(kernel, 32, noise=noise, n_subsample=200, random_state=0).fit(X)
        Z = features.transform(X)
        errors[noise] = np.std(features.form_.dual(Z) @ Z.T - K) / np.std(K)
    assert errors["auto"] < 0.1
    assert errors["auto"] < errors[0.003] / 3


def test_many_frequencies_have_less_noise():
    X = np.random.default_rng(1).random((450, 6))
    errors = []
    for noise in ("auto", 0.003):
        options = {"noise": noise, "n_pairs": 500, "n_subsample": 150, "random_state": 0}
        features = MixtureFourier(Gaussian(4.0), 100, **options).fit(X[:150])
        errors.append(off_diagonal(features, X[150:]))
    assert errors[0] < errors[1] / 2
