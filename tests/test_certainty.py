"""Probabilities and intervals: outputs of held-out rows, and what is learned from them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from certainty_cases import FIXED, KERNEL, SMALL, THREE, TWO, VALUES, WEIGHT, X
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

import krein
from krein.kernels import Gaussian, Precomputed
from krein.streaming import HeldOut

CLASSIFIERS = {
    "ridge": krein.KreinRidgeClassifier(**SMALL, **FIXED),
    "ridge, tuned": krein.KreinRidgeClassifier(**SMALL, alphas=[1e-4, 1e-2]),
    "variance": krein.VarianceConstrainedClassifier(**SMALL, **FIXED, spread=0.9),
    "two-sided": krein.TwoSidedRidgeClassifier(**SMALL, **FIXED),
    "svc": krein.KreinSVC(**SMALL, **FIXED, tol=1e-14),
    "svc, tuned": krein.KreinSVC(**SMALL, alphas=[1e-3, 1e-2], tol=1e-14),
    "svc, hinge": krein.KreinSVC(**SMALL, **FIXED, tol=1e-14, loss="hinge"),
}
REGRESSORS = {
    "ridge": krein.KreinRidge(**SMALL, **FIXED),
    "ridge, tuned": krein.KreinRidge(**SMALL),
    "lasso": krein.KreinRidge(**SMALL, **FIXED, penalty="l1"),
    "variance": krein.VarianceConstrainedRegressor(**SMALL, **FIXED, spread=0.9),
    "two-sided": krein.TwoSidedRidge(**SMALL, **FIXED),
    "two-sided, stacked": krein.TwoSidedRidge(**SMALL, combine="stack", alpha=1e-2, calibrate=True),
}


def held_rows(monkeypatch, model, X, y, weight=None):
    """The held-out rows that a fit calibrates with."""
    found = []
    original = type(model)._held_out

    def noted(self, task):
        found.append((original(self, task), task))
        return found[-1][0]

    monkeypatch.setattr(type(model), "_held_out", noted)
    model.fit(X, y, weight)
    return found[0]


# --- outputs of held-out rows -------------------------------------------------------------------


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("classes", name) for name in CLASSIFIERS),
        # A stacked learner has weights of both sides that are learned from all folds.
        *(("numbers", name) for name in REGRESSORS if "stacked" not in name),
    ],
)
def test_held_out_outputs_are_those_of_explicit_refits(kind, name, nested, monkeypatch):
    numbers = kind == "numbers"
    model = clone(REGRESSORS[name] if numbers else CLASSIFIERS[name])
    y = VALUES if numbers else THREE
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    model.set_params(cv=splits, nested=nested)
    (outputs, Y, weight), task = held_rows(monkeypatch, model, X, y, WEIGHT)
    penalties = {"alpha": model.alpha_, "alpha_neg": model.alpha_neg_, "calibrate": False}
    expected = np.empty((len(X), Y.shape[1]))
    for train, test in splits:
        features = None if nested else Frozen(model.features_)
        again = clone(model).set_params(**penalties, nested=False, cv=2)
        if features is not None:
            again.set_params(features=features)
        again.fit(X[train], y[train], WEIGHT[train])
        found = again.predict(X[test]) if numbers else again.decision_function(X[test])
        expected[test] = found.reshape(len(test), -1)
    used = WEIGHT > 0
    held = HeldOut(Y.shape[1]).add(task.data.hashes, expected, task.targets.encode(y), WEIGHT)
    assert weight.sum() == WEIGHT[used].sum()
    assert_rounded(outputs, held.rows.outputs, 1e-8)
    assert_array_equal(Y, held.rows.Y)


class Frozen(krein.features.FeatureMap):
    """A fitted map that stays as it is."""

    random_state = None

    def __init__(self, fitted):
        self.fitted = fitted

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y=None):
        self.form_ = self.fitted.form_
        self.n_features_in_ = self.fitted.n_features_in_
        return self

    def transform(self, X):
        return self.fitted.transform(X)

    def transform_dual(self, X):
        return self.fitted.transform_dual(X)


@pytest.mark.parametrize("name", ["ridge, tuned", "svc, tuned"])
def test_the_order_of_rows_and_blocks_change_nothing(name):
    model = clone(CLASSIFIERS[name]).fit(X, THREE, WEIGHT)
    order = np.random.default_rng(1).permutation(len(X))
    shuffled = clone(model).fit(X[order], THREE[order], WEIGHT[order])
    blocks = [(X[i : i + 37], THREE[i : i + 37], WEIGHT[i : i + 37]) for i in range(0, 200, 37)]
    streamed = clone(model).fit(blocks)
    assert_rounded(shuffled.predict_proba(X), model.predict_proba(X), 1e-7)
    assert_rounded(streamed.predict_proba(X), model.predict_proba(X), 1e-7)


def test_intervals_of_a_stream_are_those_of_the_array():
    model = krein.KreinRidge(**SMALL).fit(X, VALUES)
    blocks = [(X[i : i + 37], VALUES[i : i + 37]) for i in range(0, 200, 37)]
    streamed = clone(model).fit(blocks)
    assert_rounded(streamed.predict_interval(X), model.predict_interval(X), 1e-9)


# --- probabilities of learners ------------------------------------------------------------------


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_are_a_distribution_that_agrees_with_the_outputs(name, y):
    model = clone(CLASSIFIERS[name]).fit(X, y)
    P = model.predict_proba(X)
    assert P.shape == (200, len(model.classes_))
    assert_allclose(P.sum(axis=1), 1)
    assert_rounded(model.predict_log_proba(X), np.log(P))
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    assert log_loss(y, P) < 0.8 * log_loss(y, np.full_like(P, 1 / P.shape[1]))


def test_probabilities_of_copies_are_those_of_weights():
    rng = np.random.default_rng(0)
    rows, weight = load_wine().data[::2], rng.integers(0, 4, 89)
    rows, y = StandardScaler().fit_transform(rows), load_wine().target[::2]
    learner = krein.VarianceConstrainedClassifier(Gaussian(3.0), 30, random_state=0)
    once = learner.fit(rows, y, weight).predict_proba(rows)
    copied = learner.fit(np.repeat(rows, weight, axis=0), np.repeat(y, weight)).predict_proba(rows)
    assert_allclose(copied, once, atol=1e-8)


def test_probabilities_serve_soft_voting():
    parts = [("krein", clone(CLASSIFIERS["ridge, tuned"])), ("bayes", GaussianNB())]
    vote = VotingClassifier(parts, voting="soft").fit(X, THREE)
    assert vote.score(X, THREE) > 0.7


def test_the_automatic_classifier_calibrates_the_mean_of_its_models():
    options = {"max_seconds": 1e-9, "random_state": 0}  # one trial, three times
    model = krein.KreinClassifier(KERNEL, 12, **options).fit(X, THREE)
    assert len(model.estimators_) == 3
    outputs = model.decision_function(X)
    assert_rounded(model.predict_proba(X), model._calibration.probabilities(outputs))
    assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))
    heavy = krein.KreinClassifier(KERNEL, 12, class_weight={"c": 9}, **options).fit(X, THREE)
    assert np.mean(heavy.predict(X) == "c") > np.mean(model.predict(X) == "c")


def test_an_automatic_two_sided_learner_is_calibrated_on_both_sides():
    rng = np.random.default_rng(1)
    groups = np.arange(210) % 3
    A = rng.random((210, 210)) < np.where((groups - groups[:, None]) % 3 == 1, 0.4, 0.05)
    K = A / np.maximum(A.sum(axis=1, keepdims=True), 1)
    kernel = Precomputed(symmetric=False)
    model = krein.KreinClassifier(kernel, 10, n_models=1, cv=3, random_state=0).fit(K, groups)
    assert isinstance(model.best_estimator_, krein.TwoSidedRidgeClassifier)
    assert log_loss(groups, model.predict_proba((K, K.T))) < 0.1


def test_supervised_maps_are_fitted_anew_for_held_out_rows():
    noise = np.random.default_rng(5).standard_normal((150, 20))
    y = np.arange(150) % 2
    features = krein.Nystrom(Gaussian(4.0), 5, landmarks="supervised", random_state=0)
    model = krein.KreinRidgeClassifier(features=features, alpha=1e-6, calibrate=True).fit(noise, y)
    assert np.abs(model.predict_proba(noise) - 0.5).max() < 0.35
    blocks = [(noise[:80], y[:80]), (noise[80:], y[80:])]
    with pytest.raises(ValueError, match="needs data in memory: pass arrays"):
        clone(model).fit(blocks)


def test_learners_without_held_out_rows_say_so():
    model = krein.KreinRidgeClassifier(**SMALL, alpha=0.1)
    assert not hasattr(model, "predict_proba")
    assert hasattr(model.set_params(calibrate=True), "predict_proba")
    assert not hasattr(model.set_params(alpha="cv", calibrate=False), "predict_proba")
    assert not hasattr(krein.KreinRidge(), "predict_proba")
    assert not hasattr(krein.KreinRidgeClassifier(), "predict_interval")
    model = krein.KreinRidgeClassifier(**SMALL).partial_fit(X, THREE)
    with pytest.raises(AttributeError, match=r"Classifier\.partial_fit holds none out: use fit"):
        model.predict_proba(X)
    with pytest.raises(AttributeError, match=r"^predict_log_proba needs held-out rows"):
        model.predict_log_proba(X)
    numbers = krein.KreinRidge(**SMALL, alpha=0.1).fit(X, VALUES)
    sentence = r"KreinRidge\(alpha=0.1, calibrate='auto'\) holds none out: use calibrate=True"
    with pytest.raises(ValueError, match=sentence):
        numbers.predict_interval(X)
    kept = krein.KreinRidge(**SMALL, keep_statistics=True).fit(X, VALUES)
    kept.predict_interval(X)
    with pytest.raises(ValueError, match="partial_fit holds none out: use fit"):
        kept.partial_fit(X[:50], VALUES[:50]).predict_interval(X)


def test_one_distinct_row_cannot_be_held_out():
    rows, y = np.zeros((6, 2)), np.array([0, 1] * 3)
    with pytest.raises(ValueError, match=r"two distinct rows .* use calibrate=False"):
        krein.KreinRidgeClassifier(Gaussian(), 1, alpha=0.1, calibrate=True).fit(rows, y)


@pytest.mark.filterwarnings("ignore:There are .* rows, fewer than:UserWarning")
@pytest.mark.parametrize("name", ["ridge", "ridge, tuned", "svc"])
def test_four_rows_are_enough(name):
    rows = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]])
    model = clone(CLASSIFIERS[name]).set_params(kernel=Gaussian(1.0)).fit(rows, [0, 0, 1, 1])
    assert np.all(np.isfinite(model.predict_proba(rows)))


def test_a_class_that_a_fold_lacks_has_a_probability():
    y = np.where(np.arange(200) == 7, "rare", THREE)
    P = clone(CLASSIFIERS["ridge, tuned"]).fit(X, y).predict_proba(X)
    assert P.shape == (200, 4)
    assert np.all(P > 0)


def test_single_precision_and_pickles_keep_the_probabilities():
    model = clone(CLASSIFIERS["ridge, tuned"]).fit(X, TWO)
    single = clone(model).fit(X.astype(np.float32), TWO)
    assert_allclose(single.predict_proba(X.astype(np.float32)), model.predict_proba(X), atol=1e-3)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_the_corrected_machine_has_probabilities_if_asked(y):
    model = krein.CorrectedSVC(KERNEL, calibrate=True).fit(X, y)
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1)
    new = np.random.default_rng(3).normal(size=(3000, X.shape[1]))
    assert_array_equal(model.classes_[model.predict_proba(new).argmax(axis=1)], model.predict(new))
    matrix = krein.CorrectedSVC("precomputed", calibrate=True).fit(KERNEL(X), y)
    assert_allclose(matrix.predict_proba(KERNEL(X)).sum(axis=1), 1)
    assert not hasattr(krein.CorrectedSVC(), "predict_proba")
    with pytest.raises(ValueError, match="at least two distinct rows of each class"):
        krein.CorrectedSVC(KERNEL, calibrate=True).fit(X[:3], ["a", "b", "c"])


# --- several labels per row ---------------------------------------------------------------------

MANY = np.c_[X[:, 0] > 0, X[:, 0] * X[:, 1] > 0, X[:, 2] > 1].astype(int)


@pytest.mark.parametrize("name", ["ridge", "ridge, tuned", "variance", "svc", "two-sided"])
def test_several_labels_are_learned_one_by_one(name):
    model = clone(CLASSIFIERS[name]).set_params(**FIXED).fit(X, MANY)
    assert_array_equal(model.classes_, [0, 1, 2])
    for column in range(3):
        alone = clone(model).set_params(cv=model.cv).fit(X, MANY[:, column])
        assert_rounded(model.decision_function(X)[:, column], alone.decision_function(X), 1e-6)
    assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    P = model.predict_proba(X)
    assert P.shape == (200, 3)
    assert model.score(X, MANY) > 0.6
    streamed = clone(model).fit([(X[:90], MANY[:90]), (X[90:], MANY[90:])])
    assert_rounded(streamed.predict_proba(X), P, 1e-6)


def test_the_automatic_classifier_learns_several_labels():
    model = krein.KreinClassifier(KERNEL, 12, max_seconds=1e-9, random_state=0).fit(X, MANY)
    assert model.predict(X).shape == model.predict_proba(X).shape == (200, 3)


def test_several_labels_and_their_errors():
    with pytest.raises(ValueError, match="takes one label per row, but y has 3 columns"):
        krein.KreinRidgeClassifier(class_weight="balanced").fit(X, MANY)
    model = krein.KreinRidgeClassifier(**SMALL, alpha=0.1).partial_fit(X, MANY)
    with pytest.raises(ValueError, match="other outputs than before: 1 after 3"):
        model.partial_fit(X, MANY[:, 0])


# --- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGRESSORS)
def test_intervals_contain_the_share_of_new_targets(name):
    rng = np.random.default_rng(6)
    rows = rng.standard_normal((1500, 3))
    y = np.sin(2 * rows[:, 0]) + rng.exponential(size=1500)
    model = clone(REGRESSORS[name]).fit(rows[:700], y[:700])
    low, high = model.predict_interval(rows[700:], coverage=0.8).T
    inside = np.mean((low <= y[700:]) & (y[700:] <= high))
    # Two standard errors of 800 new rows and of the quantiles of 700 held-out ones.
    assert abs(inside - 0.8) < 2.5 * np.sqrt(0.16 / 800 + 0.16 / 700)
    below, above = np.mean(y[700:] < low), np.mean(y[700:] > high)
    assert abs(below - above) < 0.08


def test_intervals_of_several_outputs():
    Y = np.c_[VALUES, 100 * VALUES]
    model = krein.KreinRidge(**SMALL).fit(X, Y)
    both = model.predict_interval(X)
    assert both.shape == (200, 2, 2)
    assert_rounded(100 * both[..., 0], both[..., 1], 1e-6)
    assert np.all(both[:, 0] < model.predict(X))


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 90, "0.9"])
def test_coverage_is_a_share(coverage):
    model = krein.KreinRidge(**SMALL).fit(X, VALUES)
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        model.predict_interval(X, coverage=coverage)


def test_coverage_that_few_rows_cannot_tell_is_refused():
    model = krein.KreinRidge(**SMALL).fit(X, VALUES)
    with pytest.raises(ValueError, match=r"use at most 0\.99"):
        model.predict_interval(X, coverage=0.999)


def test_targets_of_any_size_have_intervals():
    plain = krein.KreinRidge(**SMALL).fit(X, VALUES).predict_interval(X)
    for scale in (2.0**-700, 2.0**700):
        scaled = krein.KreinRidge(**SMALL).fit(X, scale * VALUES).predict_interval(X)
        assert_rounded(scaled / scale, plain, 1e-7)


def test_the_automatic_regressor_has_intervals_of_its_mean():
    model = krein.KreinRegressor(KERNEL, 12, max_seconds=1e-9, random_state=0).fit(X, VALUES)
    middle = model.predict_interval(X, coverage=0.5) - model.predict(X)[:, None]
    assert_rounded(middle, np.tile(middle[0], (200, 1)), 1e-9)
    assert middle[0, 0] < 0 < middle[0, 1]


@pytest.mark.parametrize("combine", [None, "mean", "stack"])
def test_models_of_a_tuned_wide_problem_are_not_solved_again(monkeypatch, combine):
    # A wide problem keeps the models of its folds; a second fit with the chosen penalties has to
    # solve them anew.
    monkeypatch.setattr("krein.estimators.least_squares.LARGE", 4)
    monkeypatch.setattr("krein.learning.selection.LARGE", 4)
    model = krein.KreinRidge(**SMALL, calibrate=True)
    if combine is not None:
        model = krein.TwoSidedRidge(**SMALL, combine=combine, calibrate=True)
    tuned = clone(model).fit(X, VALUES)
    given = clone(model).set_params(alpha=tuned.alpha_, alpha_neg=tuned.alpha_neg_)
    given.fit(X, VALUES)
    assert not hasattr(tuned, "_tuned_models")
    assert_rounded(tuned.predict_interval(X[:9]), given.predict_interval(X[:9]))
