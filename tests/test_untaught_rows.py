"""Rows that are held out have not taught the widths of columns."""

from __future__ import annotations

import numpy as np
import pytest
from rounding import assert_rounded
from sklearn.pipeline import make_pipeline

from krein import KreinClassifier, KreinRegressor
from krein._hashing import as_generator, hash_rows
from krein.auto import choice
from krein.auto.columns import Columns
from krein.auto.relearning import Relearning
from krein.estimators._left_out import EqualRows
from krein.estimators._representation import Recipe
from krein.estimators._targets import Numbers
from krein.features import Nystrom
from krein.kernels import Gaussian
from krein.streaming import Data, HeldOut, InMemory, Survey, fold

N_NEW = 1000


def _table(n_rows, n_columns, seed):
    """Rows of which two columns matter, with the expected values of their targets."""
    rng = np.random.default_rng([seed, n_rows])
    X = rng.normal(size=(n_rows + N_NEW, n_columns))
    return X, np.sin(2 * X[:, 0]) + 0.7 * X[:, 0] * X[:, 1] + 0.7 * X[:, 1] ** 2, rng


def _covered(seed, n_rows=100, n_columns=40):
    """Return the share of new rows in intervals of 90 %."""
    X, y, rng = _table(n_rows, n_columns, seed)
    y = y + 0.4 * rng.normal(size=len(y))
    model = KreinRegressor(random_state=0).fit(X[:n_rows], y[:n_rows])
    assert model.report_.kernel.options[0].teacher is not None
    low, high = model.predict_interval(X[n_rows:], coverage=0.9).T
    return np.mean((low <= y[n_rows:]) & (y[n_rows:] <= high))


def test_intervals_of_few_rows_and_many_columns_cover_new_rows():
    # The coverage of one fit varies by about 0.05. With factors that all rows had taught, the mean
    # of these fits was 0.79.
    assert 0.85 < np.mean([_covered(seed) for seed in range(4, 8)]) < 0.95


def test_intervals_cover_new_rows_if_there_are_more_columns_than_rows():
    # With factors of folds that started near the factors of all rows, the mean coverage was 0.52.
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100 + N_NEW, 200))
        y = 2 * X[:, :5].sum(axis=1) + rng.normal(size=len(X))
        model = KreinRegressor(random_state=0).fit(X[:100], y[:100])
        low, high = model.predict_interval(X[100:], coverage=0.9).T
        found.append(np.mean((low <= y[100:]) & (y[100:] <= high)))
    assert 0.83 < np.mean(found) < 0.97


def _overconfidence(seed, n_rows=150, n_columns=40):
    """Return by how much the largest probabilities of new rows exceed the share of right rows."""
    X, y, rng = _table(n_rows, n_columns, seed)
    y = rng.random(len(y)) < 1 / (1 + np.exp(2 - 4 * y))
    model = KreinClassifier(random_state=0).fit(X[:n_rows], y[:n_rows])
    assert model.report_.kernel.options[0].teacher is not None
    largest = model.predict_proba(X[n_rows:]).max(axis=1)
    return largest.mean() - model.score(X[n_rows:], y[n_rows:])


def test_probabilities_of_few_rows_and_many_columns_are_not_too_sure():
    # The difference of one fit varies by about 0.03. With factors that all rows had taught, the
    # mean of these fits was 0.036.
    assert -0.08 < np.mean([_overconfidence(seed) for seed in range(3)]) < 0.015


def test_factors_of_a_fold_do_not_depend_on_targets_of_its_rows():
    X, y, rng = _table(100, 4, 0)
    X, y = X[:100], y[:100]
    other = np.where(np.arange(100) < 80, y, rng.normal(size=100))
    fitted = []
    for target, taught in ((y, [2.0, 2.0, 0.5, 0.5]), (other, [0.1, 1.0, 5.0, 1.0])):
        data = Data.of(InMemory(X, target))
        survey = Survey.of(data, 0, 5, False, "test")
        targets = Numbers.of(survey, "test")
        features = make_pipeline(Columns(taught), Nystrom(Gaussian(2.0), 20))
        plain = Recipe("test", None, 1, features, 0)
        equal = fold(data, EqualRows(targets)).freeze()
        recipe = Relearning.of(plain, teacher=Gaussian(2.0), equal=equal, known={})
        rows = survey.sample._replace(X=X[:80], y=target[:80], weight=np.ones(80), places=None)
        fitted.append(recipe.fit(rows, targets, as_generator(0)))
    one, two = (found.features["columns"].factors for found in fitted)
    assert fitted[0].is_supervised
    assert_rounded(one, two, 1e-9)
    assert one[:2].min() > 3 * one[2:].max()
    assert features["columns"].factors == taught  # the recipe itself is not changed


def test_of_many_rows_those_that_taught_nothing_are_held_out(monkeypatch):
    monkeypatch.setattr(choice, "LEARNED", 90)
    X, y, _ = _table(300, 6, 1)
    many = KreinRegressor(random_state=0).fit(X[:300], y[:300])
    assert len(many.report_.kernel.taught) == 90
    assert many._calibration.n_rows == 210
    few = KreinRegressor(random_state=0).fit(X[:230], y[:230])
    assert len(few.report_.kernel.taught) == 90
    assert few._calibration.n_rows == 230  # 140 rows are too few, so each fold has its own factors


def test_rows_that_taught_are_not_kept():
    hashes = hash_rows(np.arange(6.0)[:, None])
    held = HeldOut(1, without=hashes[[1, 4]])
    rows = held.add(hashes, np.arange(6.0)[:, None], np.arange(6.0)[:, None]).rows
    assert sorted(rows.Y[:, 0]) == [0, 2, 3, 5]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_copies_of_rows_count_as_weights(dtype):
    X, y, _ = _table(90, 6, 2)
    X, y = X[:90].astype(dtype), np.stack([y[:90], X[:90, 1]], axis=1)
    weight = np.where(np.arange(90) < 30, 2.0, 1.0)
    twice = np.r_[np.arange(90), np.arange(30)]
    weighted = KreinRegressor(random_state=0).fit(X, y, weight)
    copied = KreinRegressor(random_state=0).fit(X[twice], y[twice])
    assert weighted.report_.kernel.options[0].teacher is not None
    one, two = (model.predict_interval(X, coverage=0.5) for model in (weighted, copied))
    assert one.shape == (90, 2, 2)
    np.testing.assert_allclose(one, two, rtol=1e-3, atol=1e-3)
