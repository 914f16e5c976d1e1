"""Kernel matrices from which nothing can be learned are named."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import krein
from krein import (
    CorrectedSVC,
    KreinPCA,
    SimilarityFeatures,
)
from krein.kernels import DeltaGaussian, EditDistance, Gaussian, Similarity
from krein.kernels.values import UninformativeWarning, are_dissimilarities, uninformative


def gap(X, Y):
    """Distances of numbers in a large unit."""
    return 40.0 * np.abs(np.subtract.outer(np.ravel(X), np.ravel(Y)))


@pytest.fixture
def X():
    return np.random.default_rng(3).normal(size=(60, 1))


@pytest.fixture
def y(X):
    return (X[:, 0] > 0).astype(int)


def test_what_is_nearly_the_identity_or_constant():
    rng = np.random.default_rng(0)
    noise = rng.random((20, 20)) * 5e-4
    assert uninformative(np.eye(20) + noise).startswith("nearly the identity")
    assert uninformative(3.0 * np.eye(20)).startswith("nearly the identity")
    assert uninformative(1.0 + noise).startswith("nearly constant")
    assert uninformative(-7.0 - noise).startswith("nearly constant")
    few = np.eye(20)
    few[:6, :6] = 1.0  # a third of the rows have company
    clusters = np.kron(np.eye(10), np.ones((2, 2)))
    spline = -np.abs(np.subtract.outer(np.arange(20.0), np.arange(20.0)))
    for K in (
        few,
        clusters,
        spline,
        np.eye(20) + 0.25,
        rng.normal(size=(20, 20)),
        np.zeros((20, 20)),
    ):
        assert uninformative(K) is None
    assert uninformative(np.eye(3)) is None


def test_legitimate_kernels_are_not_suspected(rng):
    from scipy import sparse

    from krein.kernels import DeltaGaussian, Epanechnikov, Polynomial, Tanimoto

    X = rng.normal(size=(100, 4))
    fingerprints = sparse.random(100, 500, 0.05, random_state=0, format="csr")
    fingerprints.data[:] = 1
    for kernel, rows in (
        (Polynomial(1, 1.0, 0.0), X),
        (Polynomial(1, 1.0, 0.0), fingerprints),
        (Tanimoto(), fingerprints),
        (Epanechnikov(1.0), X),
        (DeltaGaussian(), X),
        (Gaussian(0.3), X),
        (Gaussian(20.0), X),
    ):
        assert uninformative(kernel(rows)) is None


TOO_NARROW = [
    CorrectedSVC(Similarity(gap, gamma=1e3)),
    KreinPCA(kernel=Similarity(gap, gamma=1e3)),
    SimilarityFeatures(Similarity(gap, gamma=1e3), 20, scale=True),
    krein.RandomFourier(Gaussian(1e-4), 16),
]


@pytest.mark.parametrize("estimator", TOO_NARROW, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(("factor", "name"), [(1.0, "identity"), (1e-9, "constant")])
def test_a_fit_warns_where_nothing_can_be_learned(estimator, factor, name, X, y):
    with pytest.warns(UserWarning, match=rf"nearly.*{name}.*sigma='median'.*gamma='median'"):
        clone(estimator).fit(factor * X, y)


def test_equal_rows_are_not_the_fault_of_the_kernel(y):
    krein.RandomFourier(Gaussian(), 16).fit(np.ones((60, 2)))
    CorrectedSVC(Gaussian(), correction="none").fit(np.ones((60, 2)), y)


def test_diagnose_says_first_that_nothing_can_be_learned(X):
    diagnosis = krein.diagnose(Similarity(gap, gamma=1e3), X, n_components=8)
    assert diagnosis.advice.startswith("The kernel matrix is nearly the identity")
    lines = str(diagnosis).splitlines()
    places = [
        next(i for i, line in enumerate(lines) if line.startswith(word))
        for word in ("warning", "positive")
    ]
    assert places == sorted(places)
    assert krein.diagnose(Similarity(gap), X, n_components=8).worthless is None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [krein.KreinRidge, krein.VarianceConstrainedRegressor])
@pytest.mark.parametrize("sigma", [1e8, 1e9])
def test_a_kernel_that_is_constant_up_to_rounding_predicts_the_mean(make, sigma, seed):
    rows = np.random.default_rng(seed).normal(size=(300, 5))
    y = (rows[:, 0] > 0) + 1.0
    with pytest.warns(UninformativeWarning, match="nearly constant"):
        model = make(Gaussian(sigma), random_state=0).fit(rows, y)
    assert_allclose(model.predict(rows), y.mean(), rtol=1e-9)


def test_what_dissimilarities_are():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 2))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    assert are_dissimilarities(D)
    assert are_dissimilarities(D + np.triu(D))  # not symmetric
    graph = np.where(rng.random((20, 20)) < 0.2, 1.0, 0.0) * (1 - np.eye(20))
    for K in (graph, -D, np.exp(-D), np.zeros((20, 20)), D[:5, :5], DeltaGaussian()(X)):
        assert not are_dissimilarities(K)


@pytest.mark.parametrize("owner", [krein.KreinClassifier, krein.KreinRegressor])
def test_values_of_automatic_learners_are_judged(owner, X, y):
    D = gap(X, X)
    words = [f"{10_000 * abs(x):.0f}" for x in X[:, 0]]
    said = f"as dissimilarities have, but {owner.__name__} takes the values as similarities"
    for kernel, rows in (("precomputed", D), (EditDistance(), words)):
        with pytest.warns(UninformativeWarning, match=said):
            owner(kernel, n_components=5, random_state=0).fit(rows, y)
    learner = owner("precomputed", n_components=5, dissimilarity=True, random_state=0)
    learner.fit(D, y)  # without a warning
    with pytest.warns(UninformativeWarning, match="nearly the identity"):
        owner("precomputed", n_components=5, random_state=0).fit(np.eye(60), y)


def test_a_kernel_that_the_fit_has_chosen_is_not_blamed():
    # Warnings are errors. The classes are noise, so the narrowest kernel is as good as any. Trials
    # on few rows, which decide whether a margin machine pays, warned of it.
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(450, 50)), rng.integers(0, 2, 450)
    model = krein.KreinClassifier(random_state=0).fit(*noise)
    assert uninformative(model.kernel_(model.best_estimator_.features_[:-1].transform(noise[0])))
