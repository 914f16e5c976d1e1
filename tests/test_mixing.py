"""Mixtures of models on tables: weights that held-out rows choose."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax

from krein import KreinClassifier, KreinRegressor
from krein.auto import automatic
from krein.auto.choice import choose_kernel
from krein.auto.mixing import (
    SCALES,
    STEPS,
    WORTH,
    learner_weights,
    mixture,
    scaled_error,
    squared_error,
)
from krein.auto.trials import Trials
from krein.streaming import HeldRows

RNG = np.random.default_rng(0)


def test_weights_are_the_best_of_the_simplex():
    Y, weight = RNG.normal(size=(50, 2)), RNG.random(50)
    outputs = [Y + RNG.normal(size=Y.shape) * size for size in (1.0, 1.2, 1.5)]
    found = mixture(outputs, Y, weight)
    assert sum(found) == pytest.approx(1)
    tenths = np.arange(STEPS + 1) / STEPS
    grid = [(a, b, 1 - a - b) for a in tenths for b in tenths if a + b <= 1 + 1e-9]

    def loss(shares):
        mixed = np.tensordot(shares, outputs, 1)
        used = np.count_nonzero(np.round(shares, 9))
        return squared_error(mixed, Y, weight) * (1 + WORTH) ** used

    assert loss(found) == pytest.approx(min(map(loss, grid)))
    assert min(found) > 0  # independent errors cancel


def test_a_model_that_helps_little_is_left_out():
    Y = RNG.normal(size=(200, 1))
    good = Y + 0.1 * RNG.normal(size=Y.shape)
    assert mixture([good, 1.01 * good - 0.01 * Y], Y, np.ones(200)) == (1.0, 0.0)
    assert mixture([good + 5, good], Y, np.ones(200)) == (0.0, 1.0)


def test_outputs_of_classes_beyond_one_are_no_errors():
    Y = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    far, near = 5 * Y, 0.5 * Y
    assert squared_error(far, Y, np.ones(4), clips=True) == 0
    assert mixture([near, far], Y, np.ones(4), of_classes=True) == (0.0, 1.0)
    assert mixture([near, far], Y, np.ones(4))[0] > 0.8


def _additive(n, seed=0):
    """A table of clusters, in which one column matters beyond the level of the cluster."""
    rng = np.random.default_rng(seed)
    centres, levels = 2 * rng.normal(size=(40, 6)), rng.normal(size=40)
    kind = rng.integers(40, size=n)
    X = centres[kind] + 0.7 * rng.normal(size=(n, 6))
    return X, levels[kind] + 2 * np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)


def test_mixed_models_predict_the_mixture():
    X, y = _additive(300)
    model = KreinRegressor(random_state=0).fit(X[:200], y[:200])
    shares = model.report_.weights
    assert sum(shares) == pytest.approx(1)
    expected = np.average([m.predict(X) for m in model.estimators_], axis=0, weights=shares)
    assert_allclose(model.predict(X), expected, rtol=1e-9, atol=1e-9)
    report = model.report_
    assert sum(report.weights) == pytest.approx(1)
    assert len(report.weights) == len(report.averaged) == len(model.estimators_)
    assert model.kernel_ in [option.kernel for option in model.report_.kernel.options]


@pytest.mark.parametrize("n", [300, 1200])
def test_weights_of_kernels_come_from_rows_that_taught_no_factors(n):
    X, y = _additive(n)
    choice = choose_kernel(X, y[:, None], np.ones(n), None)
    assert len(choice.options) == 2
    assert sum(option.share for option in choice.options) == pytest.approx(1)
    losses = [float(x) for x in re.findall(r"\d+\.\d+", choice.note)]
    assert losses[0] == min(losses)  # "a mixture of both has the loss …"
    text = str(choice)
    assert text.count(" *") == 2
    assert " and " in text.splitlines()[-1]


@pytest.mark.parametrize("n_models", [1, 2])
def test_the_number_of_models_is_obeyed(n_models):
    X, y = _additive(400)
    model = KreinClassifier(n_models=n_models, random_state=0).fit(X, y > 1)
    assert len(model.estimators_) <= n_models
    assert model.predict_proba(X).shape == (400, 2)


def test_folds_that_are_asked_for_are_used():
    X, y = _additive(150)
    free = KreinRegressor(random_state=0).fit(X, y)
    asked = KreinRegressor(cv=4, random_state=0).fit(X, y)
    assert {model.cv for model in free.estimators_} == {"loo"}
    assert {model.cv for model in asked.estimators_} == {4}


def test_a_fit_that_runs_out_of_time_keeps_its_best_stopgap(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3600, 2))
    y = np.sin(25 * X[:, 0]) * np.sin(25 * X[:, 1])

    def late(self, kind, candidate):
        return "left out: no time" if candidate.width >= 1000 else ""

    monkeypatch.setattr(Trials, "_no_time", late)
    report = KreinRegressor(max_seconds=1e6, random_state=0).fit(X, y).report_
    finished = [i for i, trial in enumerate(report.trials) if np.isfinite(trial.score)]
    assert len(finished) == 2
    assert report.averaged == [min(finished, key=lambda i: report.trials[i].score)]


def test_rows_that_are_left_out_in_turn_need_no_repetition():
    X, y = _additive(150)
    model = KreinRegressor(random_state=0).fit(X, y)
    assert len(model.estimators_) == len(model.report_.averaged)


def test_a_given_width_has_all_kernels_that_were_chosen():
    X, y = _additive(300)
    model = KreinRegressor(n_components=60, random_state=0).fit(X, y)
    assert len(model.report_.kernel.options) == 2
    assert {trial.width for trial in model.report_.trials if trial.learner == "ridge"} == {60}
    ridges = [trial for trial in model.report_.trials if trial.learner == "ridge"]
    assert len({trial.features for trial in ridges}) == 2


# --- margin machines ------------------------------------------------------------------------------


def _shells(n):
    """Three classes in shells: least squares masks the middle one, margin machines do not."""
    X = np.random.default_rng(0).normal(size=(n, 4))
    return X, np.digitize(np.linalg.norm(X, axis=1), [1.5, 2.1])


@pytest.mark.parametrize("n", [300, 600])
def test_margin_machines_join_ridge_if_they_are_clearly_better(n):
    X, y = _shells(n)
    report = KreinClassifier(random_state=0).fit(X, y).report_
    kept = {report.trials[place].learner for place in report.averaged}
    assert "squared hinge" in kept


def test_margin_machines_that_do_not_pay_on_few_rows_are_not_fitted_on_all():
    X, y = _additive(600)
    report = KreinClassifier(random_state=0).fit(X, y > 1).report_
    assert {trial.learner for trial in report.trials} == {"ridge"}
    assert any("does not lower the log-loss of ridge by 5%" in note for note in report.notes)


def test_margin_machines_have_a_smooth_kernel_and_find_smooth_boundaries():
    X = np.random.default_rng(1).normal(size=(900, 6))
    y = X @ np.linspace(1, 0.2, 6) > 0
    model = KreinClassifier(random_state=0).fit(X[:300], y[:300])
    report = model.report_
    smooth = [t for t in report.trials if t.features.endswith(", smooth")]
    assert [trial.learner for trial in smooth] == ["squared hinge"]
    assert report.trials.index(smooth[0]) in report.averaged
    ridge = next(trial for trial in report.trials if trial.learner == "ridge")
    error = 1 - model.score(X[300:], y[300:])
    assert error < 0.04 < ridge.losses[list(report.criteria).index("error")]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_error_of_classes_is_the_least_log_loss_of_scaled_outputs(n_classes):
    from sklearn.metrics import log_loss

    labels = np.arange(60) % n_classes
    Y = np.where(np.eye(n_classes)[labels] > 0, 1.0, -1.0)
    outputs, weight = Y + RNG.normal(size=Y.shape), RNG.random(60)
    logits = outputs
    if n_classes == 2:
        Y, outputs = Y[:, 1:], outputs[:, 1:]
        logits = np.hstack([np.zeros_like(outputs), outputs])
    expected = min(
        log_loss(labels, softmax(scale * logits, axis=1), sample_weight=weight) for scale in SCALES
    )
    assert scaled_error(outputs, Y, weight, True) == pytest.approx(expected)
    several = np.ones((4, 2))  # several labels of a row: one logistic function per column
    assert scaled_error(several, several, np.ones(4), True) == pytest.approx(
        2 * np.log1p(np.exp(-15))
    )


def test_a_little_gain_does_not_add_a_learner():
    Y, weight = np.where(RNG.random((200, 1)) < 0.5, -1.0, 1.0), np.ones(200)
    outputs = 0.5 * Y + 0.5 * RNG.normal(size=Y.shape)
    # The outputs of the margin machine are larger, and no better.
    held = {
        "ridge": HeldRows(outputs, Y, weight),
        "squared hinge": HeldRows(2 * outputs, Y, weight),
    }
    assert learner_weights(held, "ridge", of_classes=True) == (1.0, 0.0)
    held["squared hinge"] = HeldRows(Y, Y, weight)
    assert learner_weights(held, "ridge", of_classes=True) == (0.0, 1.0)
    del held["ridge"]
    assert learner_weights(held, "ridge", of_classes=True) == (1.0,)


# --- rows with copies -----------------------------------------------------------------------------


def test_the_kernel_is_chosen_by_the_mean_target_of_equal_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(4, size=(400, 3)).astype(float)
    y = X.sum(axis=1) + rng.normal(size=400)
    seen = []

    def noted(X, Y, weight, *others, **options):
        seen.append((X, Y, weight))
        return choose_kernel(X, Y, weight, *others, **options)

    monkeypatch.setattr(automatic, "choose_kernel", noted)
    KreinRegressor(random_state=0).fit(X, y)
    ((rows, Y, weight),) = seen
    for row, target, total in zip(rows, Y, weight, strict=True):
        copies = (row == X).all(axis=1)
        assert total == copies.sum()
        assert target[0] == pytest.approx(y[copies].mean())
