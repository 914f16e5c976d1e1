"""What the automatic learners say they did, and the budgets that they keep."""

from __future__ import annotations

import re

import numpy as np
import pytest

from krein import KreinClassifier, KreinRegressor
from krein.estimators._plan import Plan
from krein.kernels import DeltaGaussian

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
VALUES = X[:, 0] * X[:, 1] + 0.1 * RNG.normal(size=120)
AUTO = [KreinClassifier, KreinRegressor]


def _target(made):
    return np.where(VALUES > 0, "yes", "no") if made is KreinClassifier else VALUES


def _make(made, **settings):
    return made(DeltaGaussian(1.0, 5.0), random_state=0, **settings)


@pytest.mark.parametrize("made", AUTO)
@pytest.mark.parametrize("n_components", [10, "auto"])
def test_the_report_says_what_was_tried_chosen_and_why(made, n_components):
    model = _make(made, n_components=n_components).fit(X, _target(made))
    report, text = model.report_, str(model.report_)
    more = {"squared hinge"} if made is KreinClassifier else set()
    learners = {"ridge", "VC-LSM"} | more
    assert {trial.learner for trial in report.trials} == learners
    best = report.trials[report.chosen]
    assert report.reason in text
    assert report.criterion in report.reason
    chosen = rf"{best.learner} \(alpha = .*\) on {re.escape(best.features)} features of width "
    assert re.search(f"{chosen}{best.width}, with", report.reason)
    assert best.penalties["alpha"] == model.best_estimator_.alpha_
    for trial in report.trials:
        row = rf"{re.escape(trial.features)} +{trial.width} +{trial.learner} +{trial.score:.4g}"
        assert re.search(row, text)
    widths = {trial.width for trial in report.trials}
    assert widths == {10} if n_components == 10 else len(widths) > 1
    assert model.best_estimator_ is model.estimators_[0]
    assert model.best_estimator_.coef_.shape[-1] == best.width
    assert report.averaged == _expected(report)
    assert len(model.estimators_) == len(report.averaged) * 3
    others = f"averaged with {len(report.averaged) - 1} other"
    assert (others in report.reason) == (len(report.averaged) > 1)
    name = "decision_function" if made is KreinClassifier else "predict"
    outputs = [getattr(one, name)(X) for one in model.estimators_]
    np.testing.assert_allclose(getattr(model, name)(X), np.mean(outputs, axis=0), rtol=1e-12)


def _expected(report):
    """The best four by each loss, none with twice the smallest; of losses the one with less wrong.

    Trials are compared by the loss that their learner minimises, errors are counted for both.
    """
    found = []
    for kinds in ({"ridge", "VC-LSM"}, {"squared hinge"}):
        alike = [i for i, trial in enumerate(report.trials) if trial.learner in kinds]
        if alike:
            alike.sort(key=lambda i: (report.trials[i].loss, i))
            smallest = report.trials[alike[0]].loss
            found.append([i for i in alike if report.trials[i].loss <= 2 * smallest][:4])
    return min(found, key=lambda places: round(min(report.trials[i].score for i in places), 9))


@pytest.mark.parametrize("seed", range(6))
def test_trials_are_compared_by_their_loss_and_losses_by_errors(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(210, 2))
    y = rows[:, 0] * rows[:, 1] + 0.3 * rng.normal(size=210) > 0
    report = KreinClassifier(DeltaGaussian(), 20, random_state=0).fit(rows, y).report_
    assert report.averaged == _expected(report)
    said = re.search(r"smallest (.*) of 5.* is (.*), that of .* by (.*) ([\d.]+)\.$", report.reason)
    assert float(said[2]) <= float(said[4])
    assert {said[1], said[3]} == {"squared error", "squared hinge"}
    assert (said[1] == "squared hinge") == (report.trials[report.chosen].learner == said[1])


@pytest.mark.parametrize("made", AUTO)
def test_of_the_fewest_rows_nothing_is_chosen(made):
    rows, y = X[:100], _target(made)[:100]
    if made is KreinRegressor:  # so noisy that several trials are close
        y = y + np.random.default_rng(1).normal(size=100)
    model = _make(made).fit(rows, y)
    report = model.report_
    kinds = {trial.learner for trial in report.trials}
    maps = {(trial.features, trial.width) for trial in report.trials}
    assert len(report.trials) == len(kinds) * len(maps)  # each learner on each map
    assert len(model.estimators_) == len(report.averaged) > 1
    squares = [
        one.cv_results_["squared_error"][one.cv_results_["chosen"]] for one in model.estimators_
    ]
    assert max(squares) <= 1.1 * min(squares)
    assert report.chosen == min(report.averaged, key=lambda i: report.trials[i].score)
    assert report.reason.startswith(f"Averaged: {len(report.averaged)} of {len(report.trials)} ")
    assert len(_make(made, n_models=2).fit(rows, y).estimators_) <= 2
    assert _make(made, n_models=1).fit(rows, y).report_.reason.startswith("Chosen: ")


PLANS = {
    # rows: folds, repeats, models, whether the best ones are kept
    7: (10, 1, None, False),
    100: (10, 1, None, False),
    101: (5, 3, 4, True),
    200: (5, 3, 4, True),
    201: (5, 1, 4, True),
    2000: (5, 1, 4, True),
    2001: (5, 0, 1, True),
}


@pytest.mark.parametrize("n_rows", PLANS)
def test_the_plan_depends_on_the_rows(n_rows):
    assert Plan.of("auto", "auto", n_rows, in_memory=True) == Plan(*PLANS[n_rows])
    folds, repeats, _, chooses = PLANS[n_rows]
    assert Plan.of(3, 2, n_rows, in_memory=True) == Plan(3, repeats, 2, chooses)
    assert Plan.of("auto", "auto", n_rows, in_memory=False) == Plan(folds, 0, 1, True)
    given = Plan.of(iter([(1, 2)]), "auto", n_rows, in_memory=True)
    assert (given.cv, given.repeats) == ([(1, 2)], min(repeats, 1))


@pytest.mark.parametrize("made", AUTO)
def test_one_model_is_the_best_one(made):
    model = _make(made, n_components=10, n_models=1).fit(X, _target(made))
    assert model.report_.averaged == [model.report_.chosen]
    np.testing.assert_array_equal(model.predict(X), model.best_estimator_.predict(X))


@pytest.mark.parametrize("made", AUTO)
def test_a_tiny_budget_leaves_all_but_the_first_trial_out(made):
    model = _make(made, n_components="auto", max_seconds=1e-9).fit(X, _target(made))
    first, *others = model.report_.trials
    assert np.isfinite(first.score)
    assert others
    for trial in others:
        assert np.isnan(trial.score) or np.isinf(trial.score)
        assert "left out" in trial.note
    assert model.report_.chosen == 0


@pytest.mark.parametrize("made", AUTO)
@pytest.mark.parametrize("setting", ["max_seconds", "max_megabytes", "n_components", "cv"])
def test_automatic_settings_that_make_no_sense_are_named(made, setting):
    with pytest.raises(ValueError, match=setting):
        _make(made, **{setting: -1}).fit(X, _target(made))
