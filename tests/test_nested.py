"""Cross-validation in which the map is fitted without the rows that judge it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold

from krein import (
    KreinClassifier,
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    Nystrom,
    VarianceConstrainedClassifier,
)
from krein.features.explosions import UnlikeRowsWarning
from krein.kernels import DeltaGaussian, EditDistance, Sigmoid, Similarity
from krein.streaming import Blocks

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
VALUES = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=90)
LABELS = np.array(["a", "b", "c"])[np.digitize(VALUES, [-0.5, 0.5])]
FOLDS = KFold(3, shuffle=True, random_state=0)
KERNEL = DeltaGaussian(1.0, 5.0)
ALPHAS = [1e-4, 1e-2]


def _features():
    return Nystrom(KERNEL, 8, random_state=0)


def test_losses_are_those_of_explicit_refits():
    options = {"alphas": ALPHAS, "alphas_neg": ALPHAS, "random_state": 0}
    model = KreinRidge(features=_features(), cv=FOLDS, nested=True, **options).fit(X, VALUES)
    for i, found in enumerate(model.cv_results_["squared_error"]):
        alpha, alpha_neg = (model.cv_results_[name][i] for name in ("alpha", "alpha_neg"))
        losses = np.zeros(len(X))
        for train, test in FOLDS.split(X):
            one = KreinRidge(features=_features(), alpha=alpha, alpha_neg=alpha_neg, random_state=0)
            said = one.fit(X[train], VALUES[train]).predict(X[test])
            losses[test] = np.square(said - VALUES[test])
        assert found == pytest.approx(losses.mean(), rel=1e-8)


@pytest.mark.parametrize("learner", [KreinRidgeClassifier, VarianceConstrainedClassifier, KreinSVC])
def test_errors_are_those_of_explicit_refits(learner):
    options = {"features": _features(), "random_state": 0}
    model = learner(alphas=ALPHAS, alpha_neg="equal", cv=FOLDS, nested=True, **options)
    model.fit(X, LABELS)
    results = model.cv_results_
    radii = results.get("spread", [None] * len(results["alpha"]))
    for alpha, radius, found in zip(results["alpha"], radii, results["error"], strict=True):
        more = {} if radius is None else {"spread": radius}
        wrong = [
            learner(alpha=alpha, alpha_neg="equal", **more, **options)
            .fit(X[train], LABELS[train])
            .predict(X[test])
            != LABELS[test]
            for train, test in FOLDS.split(X)
        ]
        assert found == pytest.approx(np.concatenate(wrong).mean(), abs=1e-12)
    assert model.alpha_ == results["alpha"][results["chosen"]]


def test_a_row_of_a_matrix_is_judged_without_its_own_column():
    K = KERNEL(X)
    whole = Nystrom("precomputed", 90, landmarks="all")
    options = {"alphas": ALPHAS, "alpha_neg": "equal", "cv": FOLDS}
    once, refit = (
        KreinRidge(features=whole, nested=flag, **options).fit(K, VALUES).cv_results_
        for flag in (False, True)
    )
    for alpha, found in zip(refit["alpha"], refit["squared_error"], strict=True):
        losses = np.zeros(len(X))
        for train, test in FOLDS.split(X):
            one = KreinRidge(features=whole, alpha=alpha).fit(
                K[np.ix_(train, train)], VALUES[train]
            )
            losses[test] = np.square(one.predict(K[np.ix_(test, train)]) - VALUES[test])
        assert found == pytest.approx(losses.mean(), rel=1e-8)
    assert np.all(np.abs(refit["squared_error"] / once["squared_error"] - 1) > 1e-3)


@pytest.mark.parametrize("learner", [KreinRidgeClassifier, KreinSVC])
def test_objects_and_matrices_are_refitted_alike(learner):
    words = ["".join(RNG.choice(list("ab"), 6)) for _ in range(60)]
    y = [word.count("a") > 3 for word in words]
    kernel = Similarity(EditDistance())
    options = {"alphas": ALPHAS, "alpha_neg": "equal", "cv": FOLDS, "nested": True}
    everything = {"landmarks": "all", "random_state": 0}
    objects = learner(features=Nystrom(kernel, 60, **everything), **options).fit(words, y)
    matrix = learner(features=Nystrom("precomputed", 60, **everything), **options)
    matrix.fit(kernel(words), y)
    found = [model.cv_results_["error"] for model in (objects, matrix)]
    np.testing.assert_allclose(*found, atol=0.1)


def test_a_stream_cannot_be_refitted():
    model = KreinRidge(n_components=10, nested=True)
    with pytest.raises(ValueError, match="data in memory"):
        model.fit(Blocks([(X[:40], VALUES[:40]), (X[40:], VALUES[40:])]))
    assert not hasattr(model, "coef_")


def test_squared_hinge_may_choose_the_penalty():
    options = {"features": _features(), "alphas": ALPHAS, "random_state": 0}
    model = KreinSVC(criterion="squared_hinge", **options).fit(X, LABELS)
    results = model.cv_results_
    assert results["chosen"] == np.argmin(results["squared_hinge"])


def test_the_automatic_learner_refits_on_few_rows():
    model = KreinClassifier(KERNEL, random_state=0).fit(X, LABELS)
    assert model.best_estimator_.nested
    assert {trial.features for trial in model.report_.trials} >= {"Nystrom", "similarities"}


def test_rows_of_a_fold_that_are_unlike_the_others_are_no_news_but_new_rows_are():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120, 6))
    rows[7] *= 4
    rows[30] *= 3
    features = Nystrom(Sigmoid(0.3, -1.0), 90, random_state=0)
    # Warnings are errors: without row 7 the features of row 7 would explode.
    model = KreinRidge(features=features, nested=True, random_state=0).fit(rows, rows[:, 0])
    with pytest.warns(UnlikeRowsWarning, match="rows are unlike the training rows"):
        model.predict(30 * rows)
