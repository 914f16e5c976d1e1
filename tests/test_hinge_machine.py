"""KreinSVC with the hinge, against the machines of libsvm and liblinear."""

from __future__ import annotations

import numpy as np
import pytest
from learner_cases import Signed
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from krein import KreinSVC
from krein.estimators.svc import LOSSES
from krein.learning import Hinge
from krein.streaming import Blocks


def _sets():
    X, y = load_breast_cancer(return_X_y=True)
    noisy = make_classification(300, 12, n_informative=4, flip_y=0.2, random_state=0)
    return {"cancer": (X, y), "noisy": noisy}


SETS = {name: (StandardScaler().fit_transform(X), y) for name, (X, y) in _sets().items()}


def _exact(m):
    return np.maximum(0, 1 - m)


def _value(w, b, X, y, alpha, loss=_exact):
    """The objective with the exact hinge, or with another loss."""
    return loss(np.where(y == 1, 1, -1) * (X @ w + b)).mean() + alpha * w @ w


@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 10.0])
@pytest.mark.parametrize(("name", "share"), [("cancer", 2e-2), ("noisy", 2e-3)])
def test_the_machine_is_that_of_libsvm_but_for_the_rounded_corner(name, share, C):
    X, y = SETS[name]
    alpha = 1 / (2 * C * len(y))
    model = KreinSVC(features=FunctionTransformer(), loss="hinge", alpha=alpha, max_iter=300).fit(
        X, y
    )
    theirs = SVC(kernel="precomputed", C=C, tol=1e-6).fit(X @ X.T, y)
    w, b = theirs.dual_coef_[0] @ X[theirs.support_], theirs.intercept_[0]
    mine = _value(model.coef_, model.intercept_, X, y, alpha)
    least = _value(w, b, X, y, alpha)
    assert least * (1 - 1e-6) <= mine
    # The rounded hinge is at least the hinge, and libsvm's solution does not minimise it.
    bound = _value(w, b, X, y, alpha, Hinge().value)
    assert mine <= model.objective_[0] <= bound * (1 + 1e-6)
    assert mine <= least * (1 + share)
    f, g = model.decision_function(X), X @ w + b
    clear = np.abs(g) > 0.3
    assert clear.mean() > 0.3
    assert (np.sign(f[clear]) == np.sign(g[clear])).all()


def test_a_narrower_corner_is_nearer_to_the_hinge(monkeypatch):
    X, y = SETS["cancer"]
    alpha = 1 / (2 * len(y))
    theirs = SVC(kernel="linear", tol=1e-6).fit(X, y)
    least = _value(theirs.coef_[0], theirs.intercept_[0], X, y, alpha)
    excess = []
    for width in (0.1, 0.01, 0.001):
        monkeypatch.setitem(LOSSES, "hinge", Hinge(width))
        model = KreinSVC(features=FunctionTransformer(), loss="hinge", alpha=alpha).fit(X, y)
        excess.append(_value(model.coef_, model.intercept_, X, y, alpha) / least - 1)
    assert np.all(np.array(excess) < [1e-2, 1e-3, 2e-4])
    assert excess[0] > 5 * excess[1]


def test_without_an_intercept_the_machine_is_that_of_liblinear():
    X, y = SETS["noisy"]
    alpha = 1 / (2 * 0.5 * len(y))
    options = {"features": FunctionTransformer(), "loss": "hinge", "fit_intercept": False}
    model = KreinSVC(alpha=alpha, **options).fit(X, y)
    theirs = LinearSVC(
        C=0.5, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=200000, random_state=0
    ).fit(X, y)
    least = _value(theirs.coef_[0], 0.0, X, y, alpha)
    assert least * (1 - 1e-6) <= _value(model.coef_, 0.0, X, y, alpha) <= least * (1 + 5e-3)
    assert model.intercept_ == 0


def test_the_objective_is_that_of_the_rounded_hinge():
    X, y = SETS["noisy"]
    model = KreinSVC(features=FunctionTransformer(), loss="hinge", alpha=0.01).fit(X, y)
    lost = Hinge().value(np.where(y == 1, 1, -1) * model.decision_function(X)).mean()
    assert_allclose(model.objective_, [lost + 0.01 * model.coef_ @ model.coef_], rtol=1e-9)


def test_outliers_move_the_hinge_less_than_the_squared_hinge():
    X, y = SETS["noisy"]
    far = np.vstack([X, 30 * X[:3]]), np.append(y, 1 - y[:3])
    moved = {}
    for loss in ("hinge", "squared_hinge"):
        model = KreinSVC(features=FunctionTransformer(), loss=loss, alpha=0.1)
        before, after = model.fit(X, y).coef_, model.fit(*far).coef_
        moved[loss] = np.linalg.norm(after - before) / np.linalg.norm(before)
    assert moved["hinge"] < moved["squared_hinge"]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("criterion", ["error", "hinge", "squared_hinge"])
@pytest.mark.parametrize("nested", [False, True])
def test_the_criterion_names_the_loss_that_judges(loss, criterion, nested):
    X, y = SETS["noisy"]
    options = {"alphas": [1e-3, 1e-1, 10.0], "alpha_neg": "equal", "nested": nested, "cv": 3}
    model = KreinSVC(features=Signed(), loss=loss, criterion=criterion, **options).fit(X, y)
    results = model.cv_results_
    judged = loss if criterion == "error" else criterion
    assert {"hinge", "squared_hinge"} & results.keys() == {judged}
    order = np.lexsort([results[judged], results["error" if criterion == "error" else judged]])
    assert results["chosen"] == order[0]


def test_the_cross_validated_hinge_is_that_of_fits_on_the_folds():
    X, y = SETS["noisy"]
    folds = [(np.flatnonzero(np.arange(300) % 3 != k), np.arange(k, 300, 3)) for k in range(3)]
    options = {"loss": "hinge", "criterion": "hinge", "alpha_neg": "equal", "tol": 1e-10}
    model = KreinSVC(features=FunctionTransformer(), alphas=[0.01, 0.1], cv=folds, **options).fit(
        X, y
    )
    for alpha, lost in zip([0.01, 0.1], model.cv_results_["hinge"], strict=True):
        found = [
            Hinge().value(
                np.where(y[test] == 1, 1, -1)
                * KreinSVC(features=FunctionTransformer(), loss="hinge", alpha=alpha, tol=1e-10)
                .fit(X[train], y[train])
                .decision_function(X[test])
            )
            for train, test in folds
        ]
        assert_allclose(lost, np.mean(np.concatenate(found)), rtol=1e-6)


@pytest.mark.parametrize("criterion", ["error", "squared_hinge"])
def test_the_gradient_lowers_the_loss_of_the_folds(criterion):
    X, y = SETS["noisy"]
    options = {"features": Signed(), "alpha": "gradient", "loss": "hinge"}
    model = KreinSVC(criterion=criterion, **options).fit(X, y)
    judged = "hinge" if criterion == "error" else criterion
    start, found = model.cv_results_["alpha"]
    options |= {"criterion": judged, "alpha": "cv", "alpha_neg": "equal"}
    before = KreinSVC(**options, alphas=[start]).fit(X, y)
    assert model.cv_results_[judged] < before.cv_results_[judged][0]
    assert model.alpha_ == found


def test_several_classes_and_any_blocks():
    X, y = load_iris(return_X_y=True)
    model = KreinSVC(loss="hinge", alpha=1e-3, random_state=0, tol=1e-12)
    whole = model.fit(X, y).decision_function(X)
    assert whole.shape == (150, 3)
    assert model.score(X, y) > 0.95
    blocks = Blocks([(X[i : i + 17], y[i : i + 17]) for i in range(0, 150, 17)])
    assert_allclose(model.fit(blocks).decision_function(X), whole, rtol=0, atol=1e-6)


def test_an_unknown_loss_is_named():
    with pytest.raises(ValueError, match=r"'loss' parameter of KreinSVC .*'log'"):
        KreinSVC(loss="log").fit(*SETS["noisy"])


@pytest.mark.parametrize("alpha", [1e-13, 1e-11, 1e-9])
def test_a_tiny_penalty_gives_the_machine_of_the_largest_margin(alpha):
    """More features than rows: least squares interpolates, with coefficients 40 times as long."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((80, 90)) * np.geomspace(1, 1e-3, 90)
    y = np.where(Z[:, 0] + 0.3 * rng.standard_normal(80) > 0, 1, -1)
    hard = SVC(kernel="linear", C=1e9, tol=1e-8).fit(Z, y)
    soft = KreinSVC(features=FunctionTransformer(), alpha=alpha, calibrate=False).fit(Z, y)
    assert_allclose(np.ravel(soft.coef_), np.ravel(hard.coef_), atol=1e-4)
    assert_allclose(soft.intercept_, hard.intercept_, atol=1e-4)
