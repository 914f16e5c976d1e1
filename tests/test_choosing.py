"""Which penalties the learners choose: those of explicit refits, and the careful one of equals."""

from __future__ import annotations

import numpy as np
import pytest
from learner_cases import LEARNERS, Signed, assert_same, data, make, outputs_of, targets
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

import krein

GRID = {"alphas": [1e-4, 1e-2, 1.0], "alphas_neg": [1e-3, 0.5]}


def _refit(Z, y, signs, alpha, alpha_neg):
    """Held-out predictions of scikit-learn's Ridge, in which scaled columns give two penalties."""
    root = np.sqrt(np.where(signs > 0, alpha, alpha_neg))
    out = np.empty(y.shape)
    for train, test in KFold(4).split(Z):
        model = Ridge(alpha=len(train), solver="svd").fit(Z[train] / root, y[train])
        out[test] = model.predict(Z[test] / root)
    return out


def test_the_grid_of_the_ridge_is_that_of_explicit_refits():
    X, y = data()
    model = make("ridge cv", cv=KFold(4), **GRID).fit(X, y)
    Z, signs = model.features_.transform(X), model.features_.form_.signs
    table = model.cv_results_
    pairs = list(zip(table["alpha"], table["alpha_neg"], strict=True))
    assert set(pairs) == {(a, b) for a in GRID["alphas"] for b in GRID["alphas_neg"]}
    losses = [((y - _refit(Z, y, signs, *pair)) ** 2).mean() for pair in pairs]
    assert_allclose(table["squared_error"], losses, rtol=1e-8)
    assert (model.alpha_, model.alpha_neg_) == pairs[int(np.argmin(losses))]
    chosen = make("ridge", alpha=model.alpha_, alpha_neg=model.alpha_neg_).fit(X, y)
    assert_same(model, chosen, X, tol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_error_of_the_classifier_is_that_of_explicit_refits(n_classes):
    X, y = data()
    labels = targets("svc", y, n_classes)
    model = make("ridge classifier cv", cv=KFold(4), **GRID).fit(X, labels)
    Z, signs = model.features_.transform(X), model.features_.form_.signs
    codes = np.searchsorted(model.classes_, labels)
    Y = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
    table = model.cv_results_
    pairs = zip(table["alpha"], table["alpha_neg"], strict=True)
    errors = [(_refit(Z, Y, signs, *pair).argmax(axis=1) != codes).mean() for pair in pairs]
    assert_allclose(table["error"], errors, rtol=1e-12)
    assert min(errors) < max(errors)
    chosen = (table["alpha"] == model.alpha_) & (table["alpha_neg"] == model.alpha_neg_)
    assert_allclose(table["error"][chosen], min(errors), rtol=1e-12)


def _held_out(learner, X, y):
    """The mean loss of refits: squared hinge for classes, squared error for numbers."""
    f = np.empty(len(y))
    for train, test in KFold(4).split(X):
        f[test] = outputs_of(clone(learner).fit(X[train], y[train]), X[test])
    residual = np.maximum(0, 1 - np.where(y, f, -f)) if y.dtype == bool else y - f
    return (residual**2).mean()


@pytest.mark.parametrize("name", ["ridge", "variance", "svc"])
def test_the_gradient_ends_no_higher_than_it_started(name):
    """Losses are those of refits; the map is fixed, so that a fold does not change it."""
    X, y = data()
    y = y > 0 if name == "svc" else y
    learner = clone(LEARNERS[name]).set_params(features=Signed(), cv=KFold(4), alpha_neg="auto")
    model = clone(learner).set_params(alpha="gradient").fit(X, y)
    table = model.cv_results_
    names = [key for key in ("alpha", "alpha_neg", "spread") if key in table]
    ends = [{key: table[key][i] for key in names} for i in (0, -1)]
    assert {key: getattr(model, key + "_") for key in names} == ends[1]
    before, after = (_held_out(clone(learner).set_params(**end), X, y) for end in ends)
    assert after <= before * (1 + 1e-12)
    assert_allclose(after, table["squared_hinge" if name == "svc" else "squared_error"], rtol=1e-6)


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("kind", [krein.KreinRidge, krein.VarianceConstrainedRegressor])
def test_a_negative_part_that_no_row_shows_is_penalised_most(kind, refit):
    """To cross-validation all penalties on it are equal; to a new row that has it they are not."""
    X, y = data()
    X[:, :2] = 0
    model = kind(features=Signed(), nested=refit, random_state=0).fit(X, y)
    assert model.alpha_neg_ == np.inf
    assert clone(model).set_params(alpha="gradient").fit(X, y).alpha_neg_ == np.inf
    plain = kind(features=Signed(), nested=refit, random_state=0, alpha_neg=1e-12).fit(X, y)
    assert plain.alpha_ == model.alpha_
    shown = X.copy()
    shown[:, :2] = 1e3
    np.testing.assert_allclose(model.predict(shown), model.predict(X))


def test_on_a_few_rows_a_thousandth_is_no_difference():
    X, y = data(40)
    X[:, :2] *= 1e-9  # seen, but to no effect
    model = krein.KreinRidge(features=Signed(), nested=True, random_state=0).fit(X, y)
    assert model.alpha_neg_ == np.inf
    results = model.cv_results_
    assert results["squared_error"][results["chosen"]] <= 1.001 * results["squared_error"].min()
