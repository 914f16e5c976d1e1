"""Elastic distances of series against brute-force scalar twins."""

from __future__ import annotations

import sys
import types

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from object_twins import ragged, table

from krein.kernels import DynamicTimeWarping, ElasticDistance

try:
    import aeon  # noqa: F401  # only whether it is here matters

    HAS_AEON = True
except ImportError:
    HAS_AEON = False

needs_aeon = pytest.mark.skipif(not HAS_AEON, reason="aeon is not installed")


def as_columns(x: np.ndarray) -> np.ndarray:
    x = np.asarray(x, dtype=float)
    return x[:, None] if x.ndim == 1 else x


def dtw(x: np.ndarray, y: np.ndarray, band: int | None = None, g: float | None = None) -> float:
    """Dynamic time warping; `band` is the largest |i − j| and g the steepness of weights."""
    x, y = as_columns(x), as_columns(y)
    D = np.full((len(x) + 1, len(y) + 1), np.inf)
    D[0, 0] = 0
    for i in range(len(x)):
        for j in range(len(y)):
            if band is not None and abs(i - j) > band:
                continue
            middle = max(len(x), len(y)) / 2
            weight = 1 if g is None else 1 / (1 + np.exp(-g * (abs(i - j) - middle)))
            least = min(D[i, j], D[i, j + 1], D[i + 1, j])
            D[i + 1, j + 1] = weight * np.sum((x[i] - y[j]) ** 2) + least
    return float(np.sqrt(D[-1, -1]))


def slopes(x: np.ndarray) -> np.ndarray:
    x = as_columns(x)
    inner = range(1, len(x) - 1)
    return np.array([((x[i] - x[i - 1]) + (x[i + 1] - x[i - 1]) / 2) / 2 for i in inner])


def lcss(x: np.ndarray, y: np.ndarray, epsilon: float) -> float:
    x, y = as_columns(x), as_columns(y)
    D = np.zeros((len(x) + 1, len(y) + 1))
    for i, s in enumerate(x, 1):
        for j, t in enumerate(y, 1):
            close = np.linalg.norm(s - t) <= epsilon
            D[i, j] = D[i - 1, j - 1] + 1 if close else max(D[i - 1, j], D[i, j - 1])
    return 1 - D[-1, -1] / min(len(x), len(y))


def erp(x: np.ndarray, y: np.ndarray, gap: float, paper: bool) -> float:
    """Edit distance with real penalty, with the paper's border or aeon's."""
    x, y = as_columns(x), as_columns(y)
    a, b = np.linalg.norm(x - gap, axis=1), np.linalg.norm(y - gap, axis=1)
    D = np.zeros((len(x) + 1, len(y) + 1))
    D[1:, 0], D[0, 1:] = (np.cumsum(a), np.cumsum(b)) if paper else (a.sum(), b.sum())
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            match = D[i - 1, j - 1] + np.linalg.norm(x[i - 1] - y[j - 1])
            D[i, j] = min(match, D[i - 1, j] + a[i - 1], D[i, j - 1] + b[j - 1])
    return float(D[-1, -1])


def edr(x: np.ndarray, y: np.ndarray, epsilon: float | None, paper: bool) -> float:
    """Edit distance on real sequences over the longer length, with either border."""
    x, y = as_columns(x), as_columns(y)
    epsilon = max(np.std(x), np.std(y)) / 4 if epsilon is None else epsilon
    D = np.zeros((len(x) + 1, len(y) + 1))
    if paper:
        D[:, 0], D[0] = range(len(x) + 1), range(len(y) + 1)
    for i, s in enumerate(x, 1):
        for j, t in enumerate(y, 1):
            match = D[i - 1, j - 1] + (np.linalg.norm(s - t) >= epsilon)
            D[i, j] = min(match, D[i - 1, j] + 1, D[i, j - 1] + 1)
    return float(D[-1, -1]) / max(len(x), len(y))


def msm(x: np.ndarray, y: np.ndarray, c: float) -> float:
    """Move-split-merge of one channel."""
    x, y = np.ravel(x), np.ravel(y)

    def price(new: float, left: float, right: float) -> float:
        if min(left, right) <= new <= max(left, right):
            return c
        return c + min(abs(new - left), abs(new - right))

    D = np.zeros((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            options = [] if i or j else [abs(x[0] - y[0])]
            if i and j:
                options.append(D[i - 1, j - 1] + abs(x[i] - y[j]))
            if i:
                options.append(D[i - 1, j] + price(x[i], x[i - 1], y[j]))
            if j:
                options.append(D[i, j - 1] + price(y[j], x[i], y[j - 1]))
            D[i, j] = min(options)
    return float(D[-1, -1])


def twe(x: np.ndarray, y: np.ndarray, nu: float, penalty: float) -> float:
    """Time warp edit of one channel, with a 0 put before each series."""
    x, y = np.r_[0, np.ravel(x)], np.r_[0, np.ravel(y)]
    D = np.full((len(x), len(y)), np.inf)
    D[0, 0] = 0
    for i in range(1, len(x)):
        for j in range(1, len(y)):
            steps = abs(x[i] - y[j]) + abs(x[i - 1] - y[j - 1]) + 2 * nu * abs(i - j)
            D[i, j] = min(
                D[i - 1, j - 1] + steps,
                D[i - 1, j] + abs(x[i] - x[i - 1]) + nu + penalty,
                D[i, j - 1] + abs(y[j] - y[j - 1]) + nu + penalty,
            )
    return float(D[-1, -1])


@pytest.fixture(params=["aeon", "dtaidistance"])
def backend(request, monkeypatch):
    """The tests that follow run with either library."""
    if request.param == "aeon" and not HAS_AEON:
        pytest.skip("aeon is not installed")
    if request.param == "dtaidistance":
        monkeypatch.setitem(sys.modules, "aeon", None)
    return request.param


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("metric", ["dtw", "ddtw"])
def test_warping_equals_its_twin_for_unequal_lengths(metric, channels, backend, rng):
    X, Y = ragged(rng, [5, 8, 3, 8], channels), ragged(rng, [6, 4, 9], channels)
    twin = dtw if metric == "dtw" else lambda x, y: dtw(slopes(x), slopes(y))
    assert_allclose(ElasticDistance(metric)(X, Y), table(twin, X, Y), rtol=1e-12)


def test_a_window_of_29_per_cent_of_100_steps_allows_29(backend):
    """0.29 · 100 is 28.999… in floating point."""
    x, y = np.zeros((1, 100)), np.zeros((1, 100))
    x[0, 30], y[0, 59] = 1.0, 1.0  # equal after a shift by 29 steps
    assert DynamicTimeWarping(window=0.29)(x, y)[0, 0] == 0
    assert DynamicTimeWarping(window=0.28)(x, y)[0, 0] > 1
    shares = np.arange(101) / 100
    steps = [
        int(share["window"] * 100)
        for share in (ElasticDistance(window=w)._parameters() for w in shares)
    ]
    assert steps == list(range(101))


@pytest.mark.parametrize("window", [None, 0.0, 0.1, 0.25, 0.5, 1.0])
def test_window_is_a_share_of_the_length(window, backend, rng):
    X, Y = rng.normal(size=(4, 10)), rng.normal(size=(3, 10))
    band = None if window is None else int(window * 10)
    twin = table(lambda x, y: dtw(x, y, band), X, Y)
    assert_allclose(DynamicTimeWarping(window=window)(X, Y), twin, rtol=1e-12)
    if window == 0:
        euclidean = np.linalg.norm(X[:, None] - Y[None], axis=2)
        assert_allclose(twin, euclidean, rtol=1e-12)


def test_thin_subclass_is_the_metric_dtw(backend, rng):
    X = rng.normal(size=(5, 12))
    assert_array_equal(DynamicTimeWarping(window=0.2)(X), ElasticDistance("dtw", window=0.2)(X))
    assert DynamicTimeWarping().get_params() == {"window": None, "n_jobs": 1}


def test_threads_change_nothing(backend, rng):
    X = rng.normal(size=(6, 12))
    assert_allclose(DynamicTimeWarping(n_jobs=-1)(X), DynamicTimeWarping()(X), rtol=1e-12)


def test_series_of_one_point_are_compared(backend):
    assert_allclose(DynamicTimeWarping()([[1.0], [3.0, 0.0]], [[2.0]]), [[1.0], [np.sqrt(5)]])


@pytest.mark.parametrize(
    "container",
    [
        lambda X: X.tolist(),
        list,
        lambda X: X[:, :, None],
        pd.DataFrame,
        lambda X: pd.Series(list(X)),
        np.asfortranarray,
        lambda X: X.astype(np.float32).astype(object),
    ],
)
def test_series_come_in_any_container(container, rng):
    X = rng.integers(5, size=(4, 6)).astype(float)
    assert_array_equal(DynamicTimeWarping()(container(X)), DynamicTimeWarping()(X))


def test_channels_are_columns_not_rows(backend, rng):
    x, y = rng.normal(size=(2, 7, 2))
    assert DynamicTimeWarping()([x], [y])[0, 0] == pytest.approx(dtw(x, y), rel=1e-12)
    assert DynamicTimeWarping()([x.T], [y.T])[0, 0] == pytest.approx(dtw(x.T, y.T), rel=1e-12)
    assert dtw(x, y) != pytest.approx(dtw(x.T, y.T))


def test_aeon_is_given_channels_by_time_and_its_own_names(monkeypatch, rng):
    """The calls alone, so that they are checked where aeon is absent, too."""
    calls = {}

    def recorder(metric):
        def f(X, Y, **parameters):
            calls[metric] = ([x.shape for x in X], [y.shape for y in Y], parameters)
            return np.full((len(X), len(Y)), 4.0)

        return f

    fake = types.ModuleType("aeon.distances")
    for metric in ("dtw", "wdtw", "lcss", "erp", "edr", "msm", "twe"):
        setattr(fake, f"{metric}_pairwise_distance", recorder(metric))
    package = types.ModuleType("aeon")
    package.distances = fake
    monkeypatch.setitem(sys.modules, "aeon", package)
    monkeypatch.setitem(sys.modules, "aeon.distances", fake)

    X, Y = ragged(rng, [5, 7], 2), ragged(rng, [6], 2)
    options = {"window": 0.5, "gap": 2.0, "steepness": 0.3, "cost": 0.7}
    options |= {"stiffness": 0.01, "penalty": 0.4, "epsilon": 0.9, "n_jobs": 2}
    expected = {
        "dtw": ({}, 2.0),
        "ddtw": ({}, 2.0),
        "wdtw": ({"g": 0.3}, 2.0),
        "lcss": ({"epsilon": 0.9}, 4.0),
        "erp": ({"g": 2.0}, 4.0),
        "edr": ({"epsilon": 0.9}, 4.0),
        "msm": ({"c": 0.7}, 4.0),
        "twe": ({"nu": 0.01, "lmbda": 0.4}, 4.0),
    }
    for metric, (own, value) in expected.items():
        calls.clear()
        D = ElasticDistance(metric, **options)(X, Y)
        assert_array_equal(D, np.full((2, 1), value))
        short = 2 if metric == "ddtw" else 0
        (left, right, parameters) = calls[metric.replace("ddtw", "dtw")]
        assert left == [(2, 5 - short), (2, 7 - short)]
        assert right == [(2, 6 - short)]
        assert parameters == pytest.approx({"window": 0.5, "n_jobs": 2, **own})


@needs_aeon
@pytest.mark.parametrize(
    ("kernel", "twin", "channels"),
    [
        (ElasticDistance("wdtw", steepness=0.2), lambda x, y: dtw(x, y, g=0.2), 2),
        (ElasticDistance("lcss"), lambda x, y: lcss(x, y, 1.0), 2),
        (ElasticDistance("lcss", epsilon=0.3), lambda x, y: lcss(x, y, 0.3), 1),
        (ElasticDistance("msm", cost=0.4), lambda x, y: msm(x, y, 0.4), 1),
        (ElasticDistance("twe", stiffness=0.1), lambda x, y: twe(x, y, 0.1, 1.0), 1),
    ],
    ids=lambda value: repr(value) if isinstance(value, ElasticDistance) else "",
)
def test_the_other_elastic_distances_equal_their_twins(kernel, twin, channels, rng):
    X, Y = ragged(rng, [5, 8, 3], channels), ragged(rng, [6, 4], channels)
    assert_allclose(kernel(X, Y), table(twin, X, Y), rtol=1e-10, atol=1e-12)


@needs_aeon
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize(
    ("kernel", "twin", "parameter"),
    [
        (ElasticDistance("erp", gap=0.5), erp, 0.5),
        (ElasticDistance("edr"), edr, None),
        (ElasticDistance("edr", epsilon=0.7), edr, 0.7),
    ],
)
def test_edits_of_numbers_equal_the_paper_or_aeon(kernel, twin, parameter, channels, rng):
    """aeon 1.6 differs from the papers at the border; either is right."""
    X, Y = ragged(rng, [5, 8, 3], channels), ragged(rng, [6, 4], channels)
    both = [
        table(lambda x, y, paper=paper: twin(x, y, parameter, paper), X, Y)
        for paper in (False, True)
    ]
    assert any(np.allclose(kernel(X, Y), values, rtol=1e-10, atol=0) for values in both)
    assert not np.allclose(*both)


@needs_aeon
@pytest.mark.parametrize("window", [None, 0.4])
@pytest.mark.parametrize("metric", ["dtw", "ddtw", "wdtw", "lcss", "erp", "edr", "msm", "twe"])
def test_elastic_distances_are_symmetric_with_zero_diagonal(metric, window, rng):
    X = ragged(rng, [5, 8, 3, 8, 6], 2)
    kernel = ElasticDistance(metric, window=window)
    D = kernel(X, list(X))
    assert np.isfinite(D).all()
    assert_allclose(D, D.T, rtol=1e-12)
    assert_array_equal(np.diagonal(D), np.zeros(5))
    assert_array_equal(kernel.diag(X), np.zeros(5))


@needs_aeon
def test_edr_of_a_constant_series_with_itself_is_what_the_block_says():
    X = [np.ones(4), np.arange(4.0)]
    kernel = ElasticDistance("edr")
    assert_array_equal(kernel.diag(X), np.diagonal(kernel(X, list(X))))
