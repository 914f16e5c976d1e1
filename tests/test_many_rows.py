"""Kernels of tables with many rows are compared on maps, and kernels of classes by the log-loss."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein import KreinClassifier, KreinRegressor
from krein.auto import many_rows
from krein.auto.choice import choose_kernel
from krein.auto.many_rows import SHARES, ManyRows, narrow_map
from krein.auto.mixing import SCALES, scaled_error
from krein.auto.relevance import column_factors
from krein.auto.search import Sample
from krein.kernels import DeltaGaussian, Gaussian, Laplacian, Matern, ShiftGaussian
from krein.learning.leave_one_out import left_out

RNG = np.random.default_rng(0)
N = 1200
X = RNG.uniform(-1, 1, size=(N, 2))
WAVES = np.sin(12 * X[:, :1]) * np.cos(12 * X[:, 1:])
WEIGHT = RNG.uniform(0.5, 2, size=N)
NOISE = RNG.normal(size=(N, 1))


@pytest.fixture
def few_are_many(monkeypatch):
    """Tables of more than 400 rows have maps, whose width is at most 120."""
    monkeypatch.setattr(many_rows, "EXACT", 400)
    monkeypatch.setattr(many_rows, "LEAST", 200)
    monkeypatch.setattr(many_rows, "WIDTH", 120)


def classes(k):
    """Targets ±1 of k classes."""
    codes = np.clip(((X[:, 0] + 1) / 2 * k).astype(int), 0, k - 1)
    return np.where(codes[:, None] == np.arange(k), 1.0, -1.0)


# --- the log-loss ---------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [3, 1])
def test_the_loss_of_classes_is_that_of_probabilities(k):
    Y = classes(3)[:, :k]
    sample = Sample(X, Y, WEIGHT, of_classes=True)
    loss, outputs = sample.judged(Gaussian(0.3))
    assert_allclose(outputs, left_out(Gaussian(0.3)(X), Y, WEIGHT)[1], rtol=1e-8, atol=1e-8)
    places, lost = Y.argmax(axis=1), []
    for scale in SCALES:
        odds = np.exp(scale * outputs)
        right = (
            odds[np.arange(N), places] / odds.sum(axis=1)
            if k > 1
            else np.where(Y[:, 0] > 0, odds[:, 0], 1) / (1 + odds[:, 0])
        )
        lost.append(np.average(-np.log(right), weights=WEIGHT))
    assert loss == pytest.approx(min(lost), rel=1e-9)
    assert sample.rows(slice(50)).of(X[:50, :1]).of_classes


@pytest.mark.parametrize("k", [3, 1])
def test_the_mean_target_of_copies_counts_like_the_copies(k):
    Y, outputs = classes(3)[:, :k], np.random.default_rng(2).normal(size=(N, k))
    half = N // 2
    means = (Y[:half] + Y[half:]) / 2  # rows i and half + i are copies
    twice = np.concatenate([outputs[:half], outputs[:half]])
    both = scaled_error(twice, Y, np.ones(N), True)
    assert scaled_error(outputs[:half], means, np.full(half, 2.0), True) == pytest.approx(both)


def test_classes_are_compared_by_the_log_loss():
    y = classes(3).argmax(axis=1)[:150]
    report = KreinClassifier(random_state=0).fit(X[:150], y).report_
    assert report.kernel.loss == "log-loss"
    assert str(report).splitlines()[0].split()[-1] == "log-loss"
    numbers = KreinRegressor(random_state=0).fit(X[:150], y).report_
    assert str(numbers).splitlines()[0].endswith("squared error")


def test_factors_are_found_where_many_labels_are_wrong():
    """The search once stayed at the linear model in which no column matters."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 10))[:200]
    wrong = rng.random(400)[:200] < 0.15
    y = np.where((rows[:, 0] * rows[:, 1] > 0) ^ wrong, 1.0, -1.0)[:, None]
    factors = column_factors(rows, y, np.ones(200), Gaussian(4.3))
    assert factors[:2].min() > 3 * np.sort(factors[2:])[-2]


# --- many rows ------------------------------------------------------------------------------------


def test_outputs_of_a_map_are_those_of_ridge_on_its_features(few_are_many):
    Y = WAVES + 0.3 * NOISE  # the best penalty is not tiny
    for kernel in (Matern(0.5), DeltaGaussian(0.4, 1.2)):
        many = ManyRows.first(X, Y, WEIGHT, False, np.inf)
        loss, outputs = many.judged(kernel)
        n = N - N // 4
        features = narrow_map(kernel, 120, 0).fit(X[:n])
        Z, new = features.transform(X[:n]), features.transform(X[n:])
        share = WEIGHT[:n] / WEIGHT[:n].sum()
        centre, mean = share @ Z, share @ Y[:n]
        C = (Z - centre).T @ (share[:, None] * (Z - centre))
        right = (Z - centre).T @ (share[:, None] * (Y[:n] - mean))
        lost = {}
        for penalty in SHARES:
            coef = np.linalg.solve(C + penalty * np.trace(C) * np.eye(len(C)), right)
            found = mean + (new - centre) @ coef
            error = np.average(np.square(found - Y[n:]).sum(axis=1), weights=WEIGHT[n:])
            lost[error] = found
        assert loss == pytest.approx(min(lost), rel=1e-6)
        assert_allclose(outputs, lost[min(lost)], atol=1e-5)
        assert len(outputs) == len(many.held_out)


def test_the_best_kernel_on_maps_of_many_rows_is_chosen(few_are_many):
    order = np.random.default_rng(1).permutation(N)
    rows = np.hstack([X, NOISE])[order]
    few = choose_kernel(rows[:150], WAVES[order[:150]], np.ones(150), None)
    many = choose_kernel(rows, WAVES[order], np.ones(N), None)
    assert {tried.n_rows for tried in few.tried} == {150}
    best = min((t for t in many.tried if t.n_rows == N), key=lambda tried: tried.loss)
    assert best.kernel in [option.kernel for option in many.options]
    assert "Gaussian" in {t.name for t in many.tried if t.n_rows == N}
    assert f"{N // 4} other rows" in many.note or len(many.options) == 1
    assert best.loss < 0.6 * min(t.loss for t in many.tried if t.n_rows == N and not t.by_column)


@pytest.mark.parametrize("kernel", [Laplacian("median"), ShiftGaussian("median", [0.2, 0.1])])
def test_the_width_of_a_given_family_is_compared_on_maps(few_are_many, kernel):
    choice = choose_kernel(X, WAVES, np.ones(N), kernel)
    losses = {t.factor: t.loss for t in choice.tried if t.n_rows == N and t.kernel}
    assert len(losses) >= 3
    (chosen,) = [t for t in choice.tried if t.kernel is choice.kernel]
    assert chosen.loss == min(losses.values())


def test_a_kernel_that_is_zero_on_all_landmarks_is_not_chosen(few_are_many):
    zero = 0 * Gaussian()
    many = ManyRows.first(X, WAVES, WEIGHT, False, np.inf)
    loss, outputs = many.judged(zero)
    assert loss == np.inf
    assert outputs.shape == many.held_out.Y.shape
    assert not outputs.any()


def test_exact_kernels_scarce_memory_and_wide_rows_are_not_compared_on_maps():
    rows = np.zeros((many_rows.EXACT + 1, 1))
    y, weight = rows, np.ones(len(rows))
    wide = np.broadcast_to(0.0, (len(rows), 3000))
    assert ManyRows.first(rows, y, weight, False, 1000.0) is not None
    assert ManyRows.first(rows[1:], y[1:], weight[1:], False, 1000.0) is None
    assert ManyRows.first(rows, y, weight, False, 100.0) is None
    assert ManyRows.first(wide, y, weight, False, 1000.0) is None


def test_maps_are_not_compared_without_time(few_are_many):
    checks = iter([True] * 4)
    choice = choose_kernel(X, WAVES, np.ones(N), None, lambda: next(checks, False))
    assert choice.options
    assert N not in {tried.n_rows for tried in choice.tried}
