"""Baselines of learned spectra: importance weights on random frequencies, and random ReLU units."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from spectral_cases import windmill

import krein
from krein import KreinSVC, LearnedKernelFeatures, RandomArcCosine
from krein.kernels import ArcCosine, DeltaGaussian, Gaussian, ShiftGaussian
from krein.spectral.importance import chi_square_ball, potentials
from krein.testing import check_feature_map

# --- the programme --------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.01, 0.5, 3.0, 20.0, 50.0])
@pytest.mark.parametrize("draw", ["exponential", "few", "close"])
def test_importance_solves_its_programme(rho, draw):
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(1)
    v = {
        "exponential": rng.exponential(size=40),
        "few": np.where(np.arange(40) < 3, 7.0, rng.random(40)),  # three equal largest values
        "close": 5 + 1e-3 * rng.random(40),
    }[draw]
    q = cvxpy.Variable(40)
    limits = [q >= 0, cvxpy.sum(q) == 1, 40 * cvxpy.sum_squares(q) - 1 <= rho]
    # The programme does not change if v is shifted and scaled, and the solver has more digits.
    w = (v - v.min()) / np.ptp(v)
    best = cvxpy.Problem(cvxpy.Maximize(w @ q), limits).solve(solver="CLARABEL")
    found = chi_square_ball(v, rho)
    assert found.min() >= 0
    assert_allclose(found.sum(), 1, rtol=1e-12)
    assert 40 * np.sum(found**2) - 1 <= rho * (1 + 1e-9)
    assert_allclose(w @ found, best, rtol=1e-6)


def test_the_ends_of_the_programme():
    v = np.array([1.0, 4.0, 2.0, 4.0])
    assert_allclose(chi_square_ball(v, 0.0), 0.25)
    assert_allclose(chi_square_ball(v, 3.0), [0, 0.5, 0, 0.5])
    assert_allclose(chi_square_ball(v, 1.0), [0, 0.5, 0, 0.5])
    assert_allclose(chi_square_ball(np.array([1.0, 4.0, 2.0, 3.0]), 3.0), [0, 1, 0, 0], atol=1e-12)
    assert_allclose(chi_square_ball(np.zeros(5), 2.0), 0.2)
    assert_allclose(chi_square_ball(np.ones(1), 0.0), 1)
    # Neither the unit nor the order matters.
    assert_allclose(chi_square_ball(1e200 * v, 0.3), chi_square_ball(v, 0.3))
    assert_allclose(chi_square_ball(v[::-1], 0.3)[::-1], chi_square_ball(v, 0.3))


# --- LearnedKernelFeatures ------------------------------------------------------------------------


@pytest.fixture
def flat(rng):
    return windmill(300, rng)


def weighted(**options):
    settings = {"kernel": Gaussian(0.1), "n_components": 40, "random_state": 0}
    return LearnedKernelFeatures(**settings | options)


def test_learned_weights_keep_the_contract(flat):
    X, y = flat
    features = weighted().fit(X, y)
    check_feature_map(features, X[:20], X[20:40])
    assert features.transform(X).shape[1] == 2 * len(features.frequencies_) <= 40
    assert features.importance_.shape == (200,)
    assert_allclose(features.weights_.sum(), 1)
    # The default distance is that of 20 frequencies with equal weights.
    assert_allclose(1 / np.sum(features.importance_**2), 20, rtol=1e-9)
    assert krein.approximation_error(features, X) < 1e-12
    assert_allclose(features.transform(sparse.csr_array(X)), features.transform(X), atol=1e-12)


def test_potentials_are_alignments(flat):
    X, y = flat[0][:50], np.arange(50) % 3
    frequencies = 9 * np.random.default_rng(0).standard_normal((6, 2))
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    differences = X[:, None] - X[None]
    expected = [np.sum(np.cos(differences @ w) * (Y @ Y.T)) for w in frequencies]
    assert_allclose(potentials(frequencies, X, Y), expected, rtol=1e-9)


def test_few_weights_are_kept_and_many_are_drawn(flat):
    X, y = flat
    kept = weighted(n_candidates=20, rho=1.0).fit(X, y)
    positive = kept.importance_ > 0
    assert_allclose(kept.weights_, kept.importance_[positive])
    equal = weighted(n_candidates=20, rho=0.0).fit(X, y)
    assert_allclose(equal.weights_, 1 / 20)
    drawn = weighted(n_candidates=400, rho=1.0, kernel=3.0 * Gaussian(0.1)).fit(X, y)
    assert_allclose((20 * drawn.weights_ / 3).round(9) % 1, 0)  # numbers of draws
    assert_allclose(drawn.weights_.sum(), 3)


def test_learned_weights_separate_better_than_equal_weights(rng):
    X = rng.uniform(-1, 1, (1200, 3))
    y = np.sin(9 * X[:, 0]) > 0
    scores = [
        KreinSVC(features=weighted(n_candidates=2000, rho=rho), alpha=1e-4, random_state=0)
        .fit(X[:800], y[:800])
        .score(X[800:], y[800:])
        for rho in (None, 0.0)
    ]
    assert scores[0] > scores[1] + 0.1


def test_several_classes_and_the_order_of_the_rows(flat, rng):
    X = flat[0]
    y = np.digitize(np.sin(9 * X[:, 0]), [-0.5, 0.5])
    features, order = weighted().fit(X, y), rng.permutation(len(X))
    turned = weighted().fit(X[order], y[order])
    assert_allclose(turned.frequencies_, features.frequencies_)
    assert_allclose(turned.importance_, features.importance_, atol=1e-10)
    assert list(features.classes_) == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "y", "sentence"),
    [
        ({"n_components": 7}, "own", "n_components must be even.*use 8"),
        ({"kernel": DeltaGaussian()}, "own", "needs kernel to be a positive definite kernel"),
        ({"kernel": ShiftGaussian()}, "own", "needs kernel to be a positive definite kernel"),
        ({"rho": -1.0}, "own", "'rho' parameter of LearnedKernelFeatures must be"),
        ({}, None, "requires y to be passed"),
        ({}, np.zeros(300), "at least 2 classes in y, got 1 class"),
        ({}, np.linspace(0, 1, 300), "Unknown label type"),
        ({}, np.zeros(7), "inconsistent|one class for each"),
    ],
)
def test_bad_input_gets_a_sentence(options, y, sentence, flat):
    with pytest.raises(ValueError, match=sentence):
        weighted(**options).fit(flat[0], flat[1] if isinstance(y, str) else y)


# --- RandomArcCosine ------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", ["iid", "orthogonal", "qmc"])
@pytest.mark.parametrize("order", [0, 1])
def test_arc_cosine_features_are_unbiased(order, sampler, rng):
    for dim in (1, 3, 8):
        X = rng.standard_normal((12, dim)) * rng.uniform(0.1, 3, (12, 1))
        errors = []
        for seed in range(40):
            features = RandomArcCosine(64, order=order, sampler=sampler, random_state=seed).fit(X)
            errors.append(features.approximate_kernel(X) - ArcCosine(order)(X))
        mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1)
        # 78 distinct values of three dimensions: 4.5 standard errors.
        assert np.all(np.abs(mean) <= 4.5 * spread / np.sqrt(40) + 1e-12)


def test_arc_cosine_features_keep_the_contract(rng):
    X = rng.standard_normal((40, 5))
    for order in (0, 1):
        features = RandomArcCosine(32, order=order, random_state=0).fit(X)
        check_feature_map(features, X[:20], X[20:])
        assert features.kernel_ == ArcCosine(order)
        assert features.form_.is_identity
    Z = RandomArcCosine(32, random_state=0).fit(X)
    assert_allclose(Z.transform(X), np.sqrt(2 / 32) * np.maximum(0, X @ Z.directions_.T))
    assert_allclose(Z.transform(3 * X), 3 * Z.transform(X))


def test_bad_parameters_of_arc_cosine_features_get_a_sentence(rng):
    X = rng.random((10, 3))
    for options in ({"order": 2}, {"sampler": "leverage"}, {"n_components": 0}):
        with pytest.raises(ValueError, match=f"'{next(iter(options))}' parameter of RandomArc"):
            RandomArcCosine(**options).fit(X)
