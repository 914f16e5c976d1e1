"""Calibrations and quantiles of errors, on numbers alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded
from scipy.special import expit, softmax
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss

from krein.learning import Isotonic, OneVsRest, Residuals, Sigmoid, Softmax, calibrated
from krein.streaming import HeldOut

RNG = np.random.default_rng(0)


def test_a_sample_of_held_out_rows_does_not_depend_on_blocks_or_order():
    hashes = RNG.integers(0, 40, 500).astype(np.uint64)  # equal rows
    Y = (hashes % 3)[:, None].astype(float)
    outputs, weight = (
        np.sin(hashes.astype(float))[:, None],
        RNG.random(500) * (RNG.random(500) > 0.1),
    )
    whole = HeldOut(1, size=25).add(hashes, outputs, Y, weight)
    order = RNG.permutation(500)
    parts = HeldOut(1, size=25)
    for part in np.array_split(order, 30):
        parts = parts.merge(
            HeldOut(1, size=25).add(hashes[part], outputs[part], Y[part], weight[part])
        )
    assert len(whole.rows.weight) == 25
    for mine, other in zip(parts.rows, whole.rows, strict=True):
        assert_rounded(mine, other)


def test_repeated_rows_of_a_large_sample_keep_their_weight():
    hashes = np.repeat(np.arange(10, dtype=np.uint64), 20)
    held = HeldOut(1, size=30).add(hashes, hashes[:, None] / 10, np.ones((200, 1)))
    assert_array_equal(held.rows.weight, np.full(10, 20.0))
    assert_allclose(np.sort(held.rows.outputs[:, 0]), np.arange(10) / 10)


def test_copies_of_held_out_rows_are_one_row_with_their_weight():
    # Otherwise one half of the rows would judge what was learned from their copies in the other.
    hashes, weight = np.arange(60, dtype=np.uint64), RNG.integers(1, 4, 60)
    outputs, Y = RNG.random((60, 3)), np.eye(3)[np.arange(60) % 3]
    once = HeldOut(3).add(hashes, outputs, Y, weight.astype(float)).rows
    copied = HeldOut(3).add(*(np.repeat(part, weight, axis=0) for part in (hashes, outputs, Y)))
    for mine, other in zip(copied.rows, once, strict=True):
        assert_rounded(mine, other)


def scores(n=400, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, n)
    return (
        (codes - 0.4 + rng.standard_normal(n))[:, None],
        codes,
        rng.integers(1, 4, n).astype(float),
    )


def test_the_sigmoid_is_that_of_scikit_learn():
    f, codes, weight = scores()
    peer = _SigmoidCalibration().fit(f[:, 0], codes, weight)
    found = Sigmoid.of(f, codes, weight)
    assert_allclose([found.slope, found.offset], [-peer.a_, -peer.b_], rtol=1e-4)
    theirs = peer.predict(f[:, 0])
    agree = (theirs > 0.5) == (f[:, 0] > 0)
    assert 0.9 < agree.mean() < 1
    assert_allclose(found.probabilities(f)[agree, 1], theirs[agree], atol=1e-5)
    assert_allclose(found.probabilities(f)[~agree], 0.5, atol=1e-6)


def test_the_isotonic_function_is_that_of_scikit_learn_with_a_row_of_each_class_at_both_ends():
    f, codes, weight = scores()
    ends = np.repeat([f.min(), f.max()], 2)
    peer = IsotonicRegression(out_of_bounds="clip").fit(
        np.append(f[:, 0], ends), np.append(codes, [0, 1, 0, 1]), np.append(weight, np.ones(4))
    )
    grid = np.linspace(-4, 4, 101)
    found = Isotonic.of(f, codes, weight).probabilities(grid[:, None])
    theirs = peer.predict(grid)
    agree = (theirs > 0.5) == (grid > 0)
    assert_allclose(found[agree, 1], theirs[agree], atol=1e-12)
    assert_allclose(found[~agree], 0.5, atol=1e-6)
    assert found.min() > 0
    assert np.diff(found[:, 1]).min() >= 0


def test_weights_are_repeated_rows_and_shares_are_counts():
    f, codes, weight = scores(80)
    rows = np.repeat(np.arange(80), weight.astype(int))
    for kind in (Sigmoid.of, Isotonic.of):
        weighted = kind(f, codes, weight).probabilities(f)
        assert_allclose(
            kind(f[rows], codes[rows], np.ones(len(rows))).probabilities(f), weighted, atol=1e-9
        )
        shares = kind(f, codes, np.full(80, 1 / 80)).probabilities(f)
        assert_allclose(shares, kind(f, codes, np.ones(80)).probabilities(f), atol=1e-9)


def test_a_softmax_minimises_the_log_loss():
    rng = np.random.default_rng(3)
    codes = rng.choice(3, 3000, p=[0.7, 0.2, 0.1])
    f = 2 * (codes[:, None] == np.arange(3)) - 1 + rng.standard_normal((3000, 3))
    found = Softmax.of(f, codes, np.ones(3000), shifts=True)

    def loss(model):  # before the class of the largest output is put first
        return log_loss(codes, softmax(model.slope * f + model.offsets, axis=1))

    least = loss(found)
    for slope, shift in ((1.01, 0.0), (0.99, 0.0), (1.0, 0.02), (1.0, -0.02)):
        moved = Softmax(slope * found.slope, found.offsets + shift * np.array([1.0, 0, -1]))
        assert loss(moved) > least - 1e-7
    assert isinstance(calibrated(f, codes, np.ones(3000)), Softmax)
    assert loss(calibrated(f, codes, np.ones(3000))) < loss(Softmax.of(f, codes, np.ones(3000)))


def test_classes_that_are_not_equally_easy_get_slopes_of_their_own():
    rng = np.random.default_rng(5)
    f = rng.uniform(-1, 1, (3000, 4))
    true = expit(f * [8.0, 8.0, 1.0, 0.0] + [0.0, -2.0, 0.0, -1.0])
    true /= true.sum(axis=1, keepdims=True)
    codes = (true.cumsum(axis=1) < rng.random((3000, 1))).sum(axis=1)
    found = calibrated(f[:2000], codes[:2000], np.ones(2000))
    assert isinstance(found, OneVsRest)

    def loss(model):
        return log_loss(codes[2000:], model.probabilities(f[2000:]))

    shifted = Softmax.of(f[:2000], codes[:2000], np.ones(2000), shifts=True)
    assert loss(found) < 0.95 * loss(shifted)
    # Each sigmoid is that of scikit-learn for the class against the rest.
    theirs = _SigmoidCalibration().fit(f[:2000, 1], codes[:2000] == 1)
    assert_allclose([found.parts[1].slope, found.parts[1].offset], [-theirs.a_, -theirs.b_], 1e-4)
    sharper, softer = (replace(found, power=factor * found.power) for factor in (1.2, 0.8))
    assert loss(found) < min(loss(sharper), loss(softer))
    far = found.probabilities(np.full((1, 4), -1e4))  # where every sigmoid is zero in doubles
    assert_allclose(far.sum(), 1.0)
    assert_array_equal(found.probabilities(f).argmax(axis=1), f.argmax(axis=1))


def test_outputs_that_say_nothing_have_no_slope():
    codes = np.arange(60) % 3 % 2
    assert Sigmoid.of(np.zeros((60, 1)), codes, np.ones(60)).slope == 0
    for shifts in (False, True):
        for k in (3, 7, 10, 26):  # the probabilities of many classes do not sum to 1 exactly
            same, codes = np.full((60, k), 0.3), np.arange(60) % k
            found = Softmax.of(same, codes, np.ones(60), shifts=shifts)
            assert found.slope < 1  # rounding errors, divided by rounding errors, can be 1e16
            rates = np.bincount(codes) / 60 if shifts else np.full(k, 1 / k)
            assert_allclose(found.probabilities(same)[0], rates, atol=0.01)


def test_many_rows_that_are_no_sigmoid_get_an_isotonic_function():
    rng = np.random.default_rng(4)
    f = rng.uniform(-1, 1, 4000)
    codes = (rng.random(4000) < 0.1 + 0.8 * (f > 0.5)).astype(int)
    found = calibrated(f[:, None], codes, np.ones(4000))
    assert isinstance(found, Isotonic)
    assert_allclose(found.probabilities(np.array([[-0.5], [0.9]]))[:, 1], [0.1, 0.9], atol=0.06)
    line = (rng.random(4000) < 1 / (1 + np.exp(-3 * f))).astype(int)
    assert isinstance(calibrated(f[:, None], line, np.ones(4000)), Sigmoid)


@pytest.mark.parametrize("k", [2, 4])
def test_rows_without_any_mistake_have_finite_slopes(k):
    codes = np.arange(40) % k
    f = np.eye(k)[codes] * 2 - 1 if k > 2 else (2.0 * codes - 1)[:, None]
    P = calibrated(f, codes, np.ones(40)).probabilities(f)
    assert_array_equal(P.argmax(axis=1), codes)
    assert 0.9 < P.max() < 1


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_outputs_of_any_size_are_calibrated(scale):
    f, codes, weight = scores()
    plain = Sigmoid.of(f, codes, weight).probabilities(f)
    assert_allclose(Sigmoid.of(scale * f, codes, weight).probabilities(scale * f), plain, atol=1e-7)


def test_residual_quantiles_are_those_of_a_conformal_predictor():
    errors = np.random.default_rng(7).standard_normal((99, 1))
    found = Residuals.of(errors, np.ones(99)).interval(0.9)
    assert_allclose(found[:, 0], np.sort(errors[:, 0])[[4, 94]])
    weight = np.random.default_rng(8).integers(1, 4, 99)
    repeated = Residuals.of(np.repeat(errors, weight, axis=0), np.ones(weight.sum()))
    assert_allclose(Residuals.of(errors, weight).interval(0.7), repeated.interval(0.7))
    many = np.random.default_rng(9).standard_normal((50_000, 2))
    kept = Residuals.of(many, np.ones(50_000))
    assert kept.values.shape == (1000, 2)
    assert_allclose(kept.interval(0.9), np.quantile(many, [0.05, 0.95], axis=0), atol=3e-3)
