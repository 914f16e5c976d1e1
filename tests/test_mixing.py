"""Mixtures of models on tables: weights that held-out rows choose."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein import KreinClassifier, KreinRegressor
from krein.auto.choice import choose_kernel
from krein.auto.mixing import STEPS, WORTH, mixture, squared_error

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
    assert mixture([near, far], Y, np.ones(4), clips=True) == (0.0, 1.0)
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
    shares = [one._share for one in model.estimators_]
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
