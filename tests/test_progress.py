"""A fit reports its stages to scikit-learn's callbacks, and shows a bar on request."""

from __future__ import annotations

import numpy as np
import pytest

from krein import KreinClassifier, KreinRidge, KreinSVC

pytest.importorskip("sklearn.callback")

X = np.random.default_rng(0).normal(size=(80, 2))
y = np.hypot(*X.T) > 1


class Log:
    """A callback that remembers what it is told."""

    def __init__(self):
        self.seen = []

    def setup(self, estimator, context):
        self.seen.append("setup")

    def teardown(self, estimator, context):
        self.seen.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.seen.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.seen.append(f"end {context.task_name}")


@pytest.mark.parametrize("learner", [KreinRidge(alpha=0.1), KreinSVC(alpha=0.1)], ids=repr)
def test_stages_begin_and_end_in_order(learner):
    log = Log()
    learner.set_params(n_components=10).set_callbacks(log).fit(X, y)
    stages = ["first look", "features", "learning"]
    inner = [f"{verb} {stage}" for stage in stages for verb in ("begin", "end")]
    assert log.seen == ["setup", "begin fit", *inner, "end fit", "teardown"]


def test_each_trial_of_the_automatic_learner_is_a_stage():
    log = Log()
    model = KreinClassifier(n_components=10).set_callbacks(log).fit(X, y)
    begun = [name for name in log.seen if name.startswith("begin") and name != "begin fit"]
    assert begun[0] == "begin kernel"
    assert begun.pop() == "begin calibration"
    assert len(begun) == 1 + len(model.report_.trials)


def test_a_failed_fit_is_torn_down_and_leaves_nothing():
    log = Log()
    model = KreinSVC(alpha=0.1).set_callbacks(log)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(len(X)))
    assert log.seen[-1] == "teardown"
    assert not [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


def test_a_bar_is_shown_on_request_only(capsys):
    pytest.importorskip("rich")
    model = KreinRidge(n_components=10, alpha=0.1)
    model.fit(X, y)
    assert capsys.readouterr().out == ""
    model.show_progress().fit(X, y)
    assert "KreinRidge" in capsys.readouterr().out
    model.show_progress(False).fit(X, y)
    assert capsys.readouterr().out == ""
