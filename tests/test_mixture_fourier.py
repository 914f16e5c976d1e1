"""Fourier features inferred from values: contract, objective, accuracy and bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded
from scipy import sparse

import krein
from krein import MixtureFourier
from krein.features.base import FewRowsWarning
from krein.kernels import (
    TL1,
    Custom,
    DeltaGaussian,
    Gaussian,
    GaussianCombination,
    Pairwise,
    Polynomial,
    Precomputed,
    ShiftGaussian,
    Sigmoid,
    SphericalPolynomial,
)
from krein.kernels.values import UninformativeWarning
from krein.testing import check_feature_map

INDEFINITE = GaussianCombination([1.0, -0.6], [1.0, 0.4])


def made(kernel=None, n_components=12, **options):
    options = {"n_subsample": 60, "n_pairs": 400, "max_iter": 4, "random_state": 0, **options}
    return MixtureFourier(kernel, n_components, **options)


def rows(n=80, dim=3, seed=0):
    return np.random.default_rng(seed).random((n, dim))


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def waves(features, X):
    """The kernel of the atoms, by its definition."""
    gaps = X[:, None] - X[None]
    return np.cos(gaps @ features.frequencies_.T) @ features.weights_


def off_diagonal(features, X):
    error = features.approximate_kernel(X) - features.exact_kernel(X)
    return np.sqrt(np.mean(error[~np.eye(len(X), dtype=bool)] ** 2))


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


def test_many_columns_have_diagonal_precisions():
    X = rows(40, 101)
    features = made(Gaussian(4.0), 8, n_subsample=40).fit(X)
    assert features.mixture_["positive"].precisions.shape == (5, 101)
    random = krein.RandomFourier(Gaussian(4.0), 8, random_state=0).fit(X)
    assert krein.approximation_error(features, X) < krein.approximation_error(random, X) / 2


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
        with pytest.raises(ValueError, match=r"unit rows, but row 0 has norm 2"):
            features.transform(2 * X)


def test_priors_are_in_the_units_of_the_data():
    X = rows()
    options = {"mean_prior": [5.0, 0.0, 0.0], "covariance_prior": 1e-4 * np.eye(3)}
    features = made(noise=10.0, degrees_of_freedom_prior=1e4, **options).fit(X)
    assert_allclose(features.mixture_["positive"].means, np.tile([5, 0, 0], (5, 1)), atol=0.1)
    assert_allclose(features.mixture_["positive"].precisions[0], 1e4 * np.eye(3), rtol=0.1, atol=1)
    assert_allclose(features.frequencies_, np.tile([5, 0, 0], (6, 1)), atol=0.2)


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


# --- bad input ------------------------------------------------------------------------------------


def test_kernels_that_are_no_functions_of_the_difference_are_refused():
    X = rows()
    smallest = Custom(lambda X, Y: np.minimum(X[:, :1], Y[:, :1].T))
    with pytest.raises(ValueError, match=r"not a function of x − y.*krein\.Nystrom"):
        made(smallest).fit(X)
    with pytest.raises(ValueError, match=r"defined on unit rows.*krein\.Nystrom"):
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


def test_a_shift_of_a_negative_kernel_leaves_nothing():
    with pytest.warns(UserWarning, match="all features are zero: use split='spectral'"):
        made(-1.0 * Gaussian(), split="shift").fit(rows())


def test_bad_priors_are_named():
    X = rows()
    for name, value, needed in (
        ("mean_prior", [1.0, 2.0], "one number for each of the 3 columns"),
        ("covariance_prior", np.ones((2, 2)), "positive definite matrix of shape"),
        ("covariance_prior", -np.eye(3), "positive definite matrix of shape"),
        ("degrees_of_freedom_prior", 2.0, "above 2"),
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
