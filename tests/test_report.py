"""What the automatic learners say they did, and the budgets that they keep."""

from __future__ import annotations

import re

import numpy as np
import pytest
from rounding import assert_rounded, assert_same_outputs
from sklearn.metrics import brier_score_loss

from krein import KreinClassifier, KreinRegressor, KreinRidgeClassifier, KreinSVC, Nystrom
from krein.auto.plan import Plan
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
    chosen = rf"{best.learner} \(alpha = .*\) on {re.escape(best.features)} features of width "
    assert re.search(f"{chosen}{best.width}, with", report.reason)
    assert best.penalties["alpha"] == model.best_estimator_.alpha_
    for trial in report.trials:
        losses = " +".join(re.escape(f"{loss:.4g}") for loss in trial.losses[:2])
        row = rf"{re.escape(trial.features)} +{trial.width} +{trial.learner} +{losses}"
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
    assert_rounded(getattr(model, name)(X), np.mean(outputs, axis=0))


def _best(report, places, name):
    """The best six of some trials by a loss, none with 1.5 times the smallest."""
    column = report.criteria.index(name)
    losses = {i: report.trials[i].losses for i in places}
    order = sorted(losses, key=lambda i: (losses[i][column], losses[i], i))
    return [i for i in order if losses[i][column] <= 1.5 * losses[order[0]][column]][:6]


def _least_squares(report):
    places = [i for i, trial in enumerate(report.trials) if trial.learner != "squared hinge"]
    return _best(report, places, "squared_error")


def _expected(report):
    return _best(report, range(len(report.trials)), report.criteria[0])


def _rings(seed, noise):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(210, 2))
    return rows, np.hypot(*rows.T) + noise * rng.normal(size=210) > 1


@pytest.mark.parametrize("seed", range(4))
def test_few_rows_are_judged_by_the_brier_score(seed):
    report = KreinClassifier(DeltaGaussian(), 20, random_state=0).fit(*_rings(seed, 0.5)).report_
    assert report.criteria == ("brier", "error", "squared_error")
    assert all(trial.losses[1] > 0 for trial in report.trials)
    assert report.averaged == _expected(report)
    assert "with the smallest Brier score of 5-fold" in report.reason


def test_without_an_error_they_are_judged_by_squared_error():
    rows = np.random.default_rng(0).normal(size=(210, 2))
    y = rows[:, 0] > 0
    rows[:, 0] += np.where(y, 3, -3)
    report = KreinClassifier(DeltaGaussian(9.0, 20.0), 20, random_state=0).fit(rows, y).report_
    assert any(trial.losses[1] == 0 for trial in report.trials)
    assert report.averaged == _least_squares(report) != _expected(report)
    assert "least squares predicts every row correctly" in report.reason


def test_the_brier_score_is_that_of_clipped_probabilities():
    X, y = _rings(0, 0.5)
    folds = [(np.flatnonzero(np.arange(210) % 3 != i), np.arange(i, 210, 3)) for i in range(3)]
    for made in (KreinRidgeClassifier, KreinSVC):
        options = {"features": Nystrom(DeltaGaussian(), 210, landmarks="all")}
        model = made(alphas=[1e-3], alpha_neg="equal", cv=folds, nested=True, **options).fit(X, y)
        found = np.empty(210)
        for train, test in folds:
            one = made(alpha=1e-3, alpha_neg="equal", **options).fit(X[train], y[train])
            found[test] = np.clip((1 + one.decision_function(X[test])) / 2, 0, 1)
        expected = brier_score_loss(y, found)
        np.testing.assert_allclose(model.cv_results_["brier"], [expected], rtol=1e-6)


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
    loss = "Brier score" if made is KreinClassifier else "squared error"
    assert f"The trial with the smallest {loss} is {report.trials[report.chosen]}." in report.reason
    assert len(_make(made, n_models=2).fit(rows, y).estimators_) <= 2
    assert _make(made, n_models=1).fit(rows, y).report_.reason.startswith("Chosen: ")


PLANS = {
    # rows: folds, repeats, models, whether the best ones are kept
    7: (10, 1, None, False),
    100: (10, 1, None, False),
    101: (5, 3, 6, True),
    200: (5, 3, 6, True),
    201: (5, 1, 6, True),
    2000: (5, 1, 6, True),
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
    assert_same_outputs(model, model.best_estimator_, X)


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


def test_the_report_as_a_frame_and_in_a_notebook():
    pytest.importorskip("pandas")
    from krein.auto.report import Report, Trial

    trials = [
        Trial("Nystrom", "ridge", 20, (0.1, 0.2), 1.5, penalties={"alpha": 0.5}),
        Trial("<similarities>", "VC-LSM", 30, (np.inf, np.inf), 0.1, note="too wide & too slow"),
    ]
    report = Report(("error", "squared_error"), trials, [0], "Chosen: ridge.", weights=[1.0])
    frame = report.to_frame()
    losses = ["error", "squared_error"]
    last = ["seconds", "averaged", "weight", "alpha", "note"]
    assert list(frame.columns) == ["features", "width", "learner", *losses, *last]
    assert frame["weight"].tolist() == [1.0, 0.0]
    assert frame["averaged"].tolist() == [True, False]
    assert frame["squared_error"].tolist() == [0.2, np.inf]
    html = report._repr_html_()
    assert "&lt;similarities&gt;" in html
    assert "too wide &amp; too slow" in html
    assert html.count("<tr") == 3
    assert html.count("bold") == 1


def test_a_notebook_shows_the_kernels_and_what_was_left_out():
    model = KreinRegressor(n_components=5, random_state=0).fit(X, X[:, 0])
    model.report_.notes.append("A note on <width>.")
    html = model.report_._repr_html_()
    assert "Matern 3/2" in html
    assert "A note on &lt;width&gt;." in html


def test_a_fit_on_a_table_says_at_the_start_what_it_costs(caplog):
    with caplog.at_level("INFO", logger="krein"):
        model = KreinRegressor(random_state=0).fit(X, VALUES)
    (said,) = [record.message for record in caplog.records]
    assert re.fullmatch(r"KreinRegressor on 120 rows\. Expected: about \S+ operations; .*", said)
    assert model.report_.notes[0] in said
    assert model.report_.notes[0] in str(model.report_)
