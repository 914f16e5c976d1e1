"""Distances and similarities of strings, series and sets against brute-force scalar twins."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from krein.kernels import (
    Custom,
    Dice,
    DynamicTimeWarping,
    EditDistance,
    ElasticDistance,
    Gaussian,
    Hausdorff,
    NoMeasureError,
    Precomputed,
    Similarity,
    Tanimoto,
    Tversky,
)

try:
    import aeon  # noqa: F401  # only whether it is here matters

    HAS_AEON = True
except ImportError:
    HAS_AEON = False

needs_aeon = pytest.mark.skipif(not HAS_AEON, reason="aeon is not installed")


def table(f: Callable, X: list, Y: list) -> np.ndarray:
    """All pairs by a loop."""
    return np.array([[f(x, y) for y in Y] for x in X], dtype=float)


# --- data ---------------------------------------------------------------------------------------


def words(rng: np.random.Generator, n: int) -> list[str]:
    """Short strings of few letters, the empty one and one beyond ASCII among them."""
    drawn = ["".join(rng.choice(list("abcd"), size=k)) for k in rng.integers(1, 12, size=n)]
    return ["", "añb", *drawn]


def ragged(rng: np.random.Generator, lengths: list[int], channels: int) -> list[np.ndarray]:
    return [rng.normal(size=(length, channels)) for length in lengths]


# --- scalar twins -------------------------------------------------------------------------------


def levenshtein(a: str, b: str) -> int:
    D = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    D[:, 0], D[0] = range(len(a) + 1), range(len(b) + 1)
    for i, s in enumerate(a, 1):
        for j, t in enumerate(b, 1):
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + (s != t))
    return int(D[-1, -1])


def common(a: str, b: str) -> int:
    """The length of the longest common subsequence."""
    D = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i, s in enumerate(a, 1):
        for j, t in enumerate(b, 1):
            D[i, j] = D[i - 1, j - 1] + 1 if s == t else max(D[i - 1, j], D[i, j - 1])
    return int(D[-1, -1])


def jaro_winkler(a: str, b: str) -> float:
    if not a or not b:
        return float(a == b)
    reach = max(0, max(len(a), len(b)) // 2 - 1)
    used: list[int] = []
    matched = []
    for i, s in enumerate(a):
        near = range(max(0, i - reach), min(len(b), i + reach + 1))
        j = next((j for j in near if j not in used and b[j] == s), None)
        if j is not None:
            used.append(j)
            matched.append(s)
    m = len(matched)
    if m == 0:
        return 0.0
    swaps = sum(s != b[j] for s, j in zip(matched, sorted(used), strict=True)) // 2
    jaro = (m / len(a) + m / len(b) + (m - swaps) / m) / 3
    prefix = 0
    while prefix < min(4, len(a), len(b)) and a[prefix] == b[prefix]:
        prefix += 1
    return jaro + 0.1 * prefix * (1 - jaro) if jaro > 0.7 else jaro


STRING_TWINS = {
    "levenshtein": levenshtein,
    "normalized": lambda a, b: levenshtein(a, b) / max(1, len(a), len(b)),
    "jaro_winkler": lambda a, b: 1 - jaro_winkler(a, b),
    "lcs": lambda a, b: max(len(a), len(b)) - common(a, b),
}


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


def hausdorff(x: np.ndarray, y: np.ndarray, modified: bool, directed: bool) -> float:
    def one_way(a: np.ndarray, b: np.ndarray) -> float:
        nearest = [min(float(np.linalg.norm(p - q)) for q in b) for p in a]
        return sum(nearest) / len(nearest) if modified else max(nearest)

    return one_way(x, y) if directed else max(one_way(x, y), one_way(y, x))


def tversky(a: set, b: set, alpha: float, beta: float) -> float:
    below = len(a & b) + alpha * len(a - b) + beta * len(b - a)
    return len(a & b) / below if below else 1.0


# --- what every kernel of objects keeps to -------------------------------------------------------


def objects(name: str) -> list:
    rng = np.random.default_rng(1)
    if name == "strings":
        return words(rng, 7)
    if name == "series":
        return ragged(rng, [5, 9, 4, 7, 5, 6], 2)
    if name == "points":
        return ragged(rng, [3, 1, 6, 4, 2], 3)
    return [set(rng.choice(12, size=k, replace=False)) for k in (0, 3, 7, 5, 2, 1)]


KERNELS = [
    *[(EditDistance(metric), "strings") for metric in STRING_TWINS],
    (DynamicTimeWarping(), "series"),
    (ElasticDistance("ddtw"), "series"),
    *[(Hausdorff(modified=m, directed=d), "points") for m in (0, 1) for d in (0, 1)],
    (Tanimoto(), "sets"),
    (Dice(), "sets"),
    (Tversky(0.8, 0.8), "sets"),
    (Tversky(1.0, 0.2), "sets"),
    (Similarity(EditDistance(), gamma=0.3), "strings"),
    (Similarity(DynamicTimeWarping(), "gaussian", gamma=0.1), "series"),
    (Similarity(Hausdorff(directed=True), "max", scale=5.0), "points"),
    (Similarity(1 - Tanimoto(), "negative"), "sets"),
]


@pytest.mark.parametrize(("kernel", "kind"), KERNELS, ids=str)
class TestContract:
    def test_symmetry_is_declared_as_it_is(self, kernel, kind):
        # Two lists: rapidfuzz evaluates half of the pairs of one list with itself.
        K = kernel(objects(kind), objects(kind))
        assert np.allclose(K, K.T, rtol=1e-12) is kernel.is_symmetric

    def test_diag_is_the_diagonal_of_a_block_and_of_the_whole(self, kernel, kind):
        X = objects(kind)
        assert_allclose(kernel.diag(X), np.diagonal(kernel(X, objects(kind))), atol=1e-12)
        assert_array_equal(kernel.diag(X), np.diagonal(kernel(X)))

    def test_rows_and_columns_of_blocks_are_those_of_the_whole(self, kernel, kind):
        X = objects(kind)
        K = kernel(X)
        assert K.dtype == np.float64
        assert_allclose(kernel(X[1:4], X[:2]), K[1:4, :2], rtol=1e-12, atol=1e-12)
        assert_allclose(kernel(X[2:3], X), K[2:3], rtol=1e-12, atol=1e-12)

    def test_clone_repr_and_equality_follow_the_parameters(self, kernel, kind):
        twin = clone(kernel)
        assert twin == kernel
        assert type(kernel).__name__ in repr(twin)
        assert_array_equal(twin(objects(kind)), kernel(objects(kind)))

    def test_algebra_acts_on_values(self, kernel, kind):
        X = objects(kind)
        K = kernel(X)
        joined = 2.0 * kernel - kernel * kernel + 1.0
        assert joined.takes_vectors is kernel.takes_vectors
        assert_allclose(joined(X), 2 * K - K * K + 1, rtol=1e-12)
        assert_allclose(kernel.T(X), K.T, rtol=1e-12, atol=1e-12)
        assert_allclose((-kernel)(X, X[:3]), -K[:, :3], rtol=1e-12, atol=1e-12)

    def test_there_is_no_measure(self, kernel, kind):
        with pytest.raises(NoMeasureError):
            kernel.measure(3)


def test_only_fingerprints_take_vectors():
    for kernel in (EditDistance(), DynamicTimeWarping(), Hausdorff()):
        assert not kernel.takes_vectors
        assert not Similarity(kernel).takes_vectors
    for kernel in (Tanimoto(), Dice(), Tversky()):
        assert kernel.takes_vectors


# --- strings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", STRING_TWINS)
def test_edit_distance_equals_its_twin(metric, rng):
    X, Y = words(rng, 30), words(rng, 20)
    assert_allclose(EditDistance(metric)(X, Y), table(STRING_TWINS[metric], X, Y), atol=1e-12)
    assert_allclose(EditDistance(metric)(X), table(STRING_TWINS[metric], X, X), atol=1e-12)


@pytest.mark.parametrize(
    "container",
    [
        tuple,
        np.array,
        lambda s: np.array(s, dtype=object),
        pd.Series,
        lambda s: pd.Series(s, index=range(7, 7 + len(s))),
        lambda s: pd.Series(s, dtype=object),
    ],
)
def test_strings_come_in_any_sequence(container, rng):
    X = words(rng, 5)
    assert_array_equal(EditDistance()(container(X)), EditDistance()(X))


def test_workers_change_nothing(rng):
    X = words(rng, 40)
    assert_array_equal(EditDistance(workers=2)(X), EditDistance()(X))


def test_levenshtein_evaluates_each_pair_once_and_in_blocks(monkeypatch, rng):
    from rapidfuzz import process

    calls = []
    original = process.cdist

    def counting(queries, choices, **options):
        calls.append(len(queries) * len(choices))
        return original(queries, choices, **options)

    monkeypatch.setattr(process, "cdist", counting)
    monkeypatch.setattr("krein._blocks.row_blocks.__defaults__", (8 * 30 * 25,))
    X, Y = words(rng, 98), words(rng, 28)
    EditDistance()(X, Y)
    assert sum(calls) == len(X) * len(Y)
    assert calls == [25 * len(Y)] * 4  # 100 rows in blocks of 25: no call per pair
    calls.clear()
    EditDistance().diag(X)
    assert calls == []


def test_splice_strings_have_a_symmetric_similarity_with_unit_diagonal(data_dir):
    path = data_dir / "strings" / "splice.txt"
    if not path.is_file():
        pytest.skip("no strings/splice.txt in the data folder")
    strings = [line.split("\t")[2] for line in path.read_text().splitlines()[:300]]
    kernel = Similarity(EditDistance(), gamma=0.1)
    K = kernel(strings, list(strings))
    assert_array_equal(K, K.T)
    assert_array_equal(kernel.diag(strings), np.ones(300))
    assert_array_equal(np.diagonal(K), np.ones(300))
    for i, j in [(0, 1), (5, 250), (299, 17)]:
        assert K[i, j] == pytest.approx(np.exp(-0.1 * levenshtein(strings[i], strings[j])))


# --- series -------------------------------------------------------------------------------------


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
    assert DynamicTimeWarping().get_params() == {"window": None, "workers": 1}


def test_threads_change_nothing(backend, rng):
    X = rng.normal(size=(6, 12))
    assert_allclose(DynamicTimeWarping(workers=-1)(X), DynamicTimeWarping()(X), rtol=1e-12)


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
    options |= {"stiffness": 0.01, "penalty": 0.4, "epsilon": 0.9, "workers": 2}
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
        assert parameters == {"window": 0.5, "n_jobs": 2, **own}


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


# --- sets ---------------------------------------------------------------------------------------

OVERLAPS = [
    (Tanimoto(), 1.0, 1.0),
    (Dice(), 0.5, 0.5),
    (Tversky(), 1.0, 0.0),
    (Tversky(0.3, 0.9), 0.3, 0.9),
    (Tversky(0.0, 1.0), 0.0, 1.0),
    (Tversky(5.0, 0.0), 5.0, 0.0),
]


@pytest.mark.parametrize(("kernel", "alpha", "beta"), OVERLAPS, ids=str)
def test_overlap_equals_its_twin_on_sets_rows_and_csr(kernel, alpha, beta, rng):
    A = (rng.random((9, 15)) < 0.3).astype(float)
    B = (rng.random((7, 15)) < 0.3).astype(float)
    A[2] = B[3] = B[4] = 0
    X, Y = ([set(np.flatnonzero(row).tolist()) for row in M] for M in (A, B))
    twin = table(lambda x, y: tversky(x, y, alpha, beta), X, Y)
    assert twin[2, 3] == 1.0
    for left, right in [
        (X, Y),
        (A, B),
        (A.astype(bool), B.astype(np.uint8)),
        (sparse.csr_array(A), sparse.csr_matrix(B)),
        (sparse.csr_array(A), B),
        (A, sparse.csc_array(B)),
    ]:
        assert_allclose(kernel(left, right), twin, rtol=1e-12)
    assert_allclose(kernel(X), table(lambda x, y: tversky(x, y, alpha, beta), X, X), rtol=1e-12)


def test_counts_take_the_product_form(rng):
    A, B = rng.integers(5, size=(6, 8)).astype(float), rng.integers(5, size=(4, 8)).astype(float)
    tanimoto = table(lambda x, y: x @ y / (x @ x + y @ y - x @ y), A, B)
    dice = table(lambda x, y: 2 * x @ y / (x @ x + y @ y), A, B)
    assert_allclose(Tanimoto()(A, B), tanimoto, rtol=1e-12)
    assert_allclose(Dice()(sparse.csr_array(A), B), dice, rtol=1e-12)


def test_single_precision_is_kept(rng):
    A = (rng.random((6, 30)) < 0.3).astype(np.float32)
    K = Tanimoto()(A)
    assert K.dtype == np.float32
    assert Tanimoto().diag(sparse.csr_array(A)).dtype == np.float32
    assert_allclose(K, Tanimoto()(A.astype(float)), rtol=1e-6)


def test_sets_hold_any_items_and_come_in_any_sequence():
    X = [{"C", ("C", "O")}, frozenset({"C"}), set()]
    K = Tanimoto()(X)
    assert_array_equal(K, [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    assert_array_equal(Tanimoto()(pd.Series(X, index=[3, 4, 5])), K)
    assert_array_equal(Tanimoto()(np.array(X, dtype=object), tuple(X)), K)


def test_sets_stay_sets_until_both_sides_are_known():
    """Landmarks that are kept for later must not lose their vocabulary."""
    X, Y = [{"a", "b"}, {"c"}], [{"b", "d"}]
    kept = Tanimoto()._check_data(X)
    assert kept == X
    assert_allclose(Tanimoto()(Y, kept), [[1 / 3, 0]])
    assert_allclose(Tanimoto()._block(Y, kept), [[1 / 3, 0]])
    assert_allclose((Tanimoto() + Dice())(Y, X), [[1 / 3 + 1 / 2, 0]])


def test_a_million_columns_are_never_made_dense(rng):
    width = 4_000_000  # one dense block of 500 rows would be 16 GB
    X = sparse.random_array((500, width), density=2e-5, rng=rng, format="csr")
    X.data[:] = 1
    K = Tanimoto()(X, X[:40])
    rows = [set(X[[i]].indices.tolist()) for i in range(500)]
    assert_allclose(K, table(lambda x, y: tversky(x, y, 1, 1), rows, rows[:40]), rtol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("modified", [False, True])
def test_hausdorff_equals_its_twin(modified, directed, rng):
    X, Y = ragged(rng, [4, 1, 7, 3], 2), ragged(rng, [2, 6, 1, 5, 3], 2)
    kernel = Hausdorff(modified=modified, directed=directed)
    twin = table(lambda x, y: hausdorff(x, y, modified, directed), X, Y)
    assert_allclose(kernel(X, Y), twin, rtol=1e-12)


def test_hausdorff_in_small_stacks_is_the_same(monkeypatch, rng):
    X, Y = ragged(rng, [4, 1, 7, 3], 2), ragged(rng, [2, 6, 1, 5, 3, 9, 1], 2)
    for modified in (False, True):
        whole = Hausdorff(modified=modified)(X, Y)
        for points in (1, 5, 8, 11):
            with monkeypatch.context() as patch:
                patch.setattr("krein.kernels.sets.BLOCK_BYTES", 8 * 7 * points)
                assert_allclose(Hausdorff(modified=modified)(X, Y), whole, rtol=1e-12)


def test_hausdorff_takes_one_array_of_equal_sets(rng):
    X = rng.normal(size=(4, 5, 2))
    assert_array_equal(Hausdorff()(X), Hausdorff()(list(X)))


# --- similarity ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("transform", "formula"),
    [
        ("exp", lambda D: np.exp(-0.3 * D)),
        ("gaussian", lambda D: np.exp(-0.3 * D**2)),
        ("negative", lambda D: -D),
        ("negative_squared", lambda D: -(D**2) / 2),
        ("max", lambda D: 6.0 - D),
    ],
)
def test_transforms_are_their_formulas(transform, formula, rng):
    X, Y = words(rng, 9), words(rng, 6)
    kernel = Similarity(EditDistance(), transform, gamma=0.3, scale=6.0)
    assert_allclose(kernel(X, Y), formula(EditDistance()(X, Y)), rtol=1e-14)
    assert_allclose(kernel.diag(X), formula(np.zeros(11)), rtol=1e-14)


def test_similarity_of_the_euclidean_distance_is_the_gaussian_kernel(rng):
    X, Y = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))

    def euclidean(A, B):
        return np.linalg.norm(A[:, None] - B[None], axis=2)

    kernel = Similarity(euclidean, "gaussian", gamma=0.5)
    assert kernel.is_symmetric
    assert_allclose(kernel(X, Y), Gaussian(sigma=1.0)(X, Y), rtol=1e-12)
    assert not Similarity(Custom(euclidean, symmetric=False)).is_symmetric


def test_similarity_leaves_a_precomputed_matrix_as_it_was(rng):
    D = rng.random((6, 6))
    D = D + D.T
    before = D.copy()
    kernel = Similarity(Precomputed(), "gaussian", gamma=2.0)
    assert_allclose(kernel(D), np.exp(-2 * before**2), rtol=1e-14)
    assert_array_equal(D, before)
    assert_allclose(kernel(D[:2], D), np.exp(-2 * before[:2] ** 2), rtol=1e-14)


def test_parameters_of_the_distance_are_nested():
    kernel = Similarity(EditDistance()).set_params(distance__metric="lcs", gamma=0.5)
    assert kernel.distance.metric == "lcs"
    assert kernel.get_params()["distance__workers"] == 1
    assert kernel(["ab"], ["ba"])[0, 0] == pytest.approx(np.exp(-0.5))


# --- bad input and missing extras ----------------------------------------------------------------

SERIES = [np.zeros(4), np.ones(5)]
FINGERPRINTS = np.array([[0.0, 1], [2, 1]])


@pytest.mark.parametrize(
    ("kernel", "args", "error", "message"),
    [
        (EditDistance(), (["a", 7],), TypeError, "item 1 of X is 7"),
        (EditDistance(), (["a"], ["b", None]), TypeError, "item 1 of Y is None"),
        (EditDistance(), (np.arange(3.0),), TypeError, "needs strings, but item 0"),
        (EditDistance(), ([],), ValueError, "at least one string, but X is empty"),
        (EditDistance(), ("ACGT",), TypeError, "sequence of strings as X, got 'ACGT'"),
        (EditDistance(), (pd.DataFrame({"s": ["a"]}),), TypeError, r"shape \(1, 1\)"),
        (EditDistance("hamming"), (["a"],), ValueError, "metric to be one of 'levenshtein'"),
        (EditDistance(workers=0), (["a"],), ValueError, "workers to be a whole number"),
        (DynamicTimeWarping(), ([],), ValueError, "list of series, but X is empty"),
        (DynamicTimeWarping(), ("abc",), TypeError, "list of series as X, got str"),
        (DynamicTimeWarping(), (["abc"],), TypeError, "series of numbers, but object 0 of X"),
        (DynamicTimeWarping(), ([1.0, 2.0],), ValueError, r"object 0 of X has shape \(\)"),
        (DynamicTimeWarping(), ([[1.0], []],), ValueError, "at least 1 point, but object 1"),
        (DynamicTimeWarping(), (SERIES, [[np.nan, 1.0]]), ValueError, "object 0 of Y is not"),
        (DynamicTimeWarping(), (SERIES, [np.ones((3, 2))]), ValueError, "1 channels and Y has 2"),
        (DynamicTimeWarping(), ([np.ones(3), np.ones((3, 2))],), ValueError, "of one width"),
        (DynamicTimeWarping(window=1.5), (SERIES,), ValueError, r"in \[0, 1\] or None, got 1.5"),
        (DynamicTimeWarping(window=-0.1), (SERIES,), ValueError, r"in \[0, 1\] or None, got -0.1"),
        (ElasticDistance("ddtw"), ([[1.0, 2.0]],), ValueError, "at least 3 points, but object 0"),
        (ElasticDistance("soft"), (SERIES,), ValueError, "metric to be one of 'dtw'"),
        (ElasticDistance("msm", cost=-1), (SERIES,), ValueError, "cost to be at least 0"),
        (ElasticDistance("edr", epsilon=0), (SERIES,), ValueError, "epsilon to be a finite number"),
        (Hausdorff(), ([],), ValueError, "list of point sets, but X is empty"),
        (Hausdorff(), ([np.ones((2, 2)), np.ones((0, 2))],), ValueError, "object 1 of X has shape"),
        (Hausdorff(), (np.ones((3, 2)),), ValueError, r"shape \(points, d\), but object 0"),
        (Hausdorff(), ([[[0.0, np.inf]]],), ValueError, "finite point sets, but object 0"),
        (Hausdorff(), ([np.ones((1, 2))], [np.ones((1, 3))]), ValueError, "2 coordinates and Y"),
        (Tanimoto(), (-FINGERPRINTS,), ValueError, "entries ≥ 0, but X has a smallest entry of -2"),
        (Dice(), (sparse.csr_array(-FINGERPRINTS),), ValueError, "entries ≥ 0"),
        (Tanimoto(), ([],), ValueError, "needs rows or sets, but X is empty"),
        (Tanimoto(), ({1, 2},), TypeError, "list of sets as X, got one set"),
        (Tanimoto(), ([{1}, 2],), TypeError, "its item 1 is 2"),
        (Tanimoto(), ([{1}], FINGERPRINTS), TypeError, "only one of X and Y is a list of sets"),
        (Tanimoto(), (FINGERPRINTS, np.ones((1, 3))), ValueError, "2 columns and Y has 3"),
        (Tversky(-1, 0), (FINGERPRINTS,), ValueError, "alpha and beta ≥ 0"),
        (Tversky(0, 0), (FINGERPRINTS,), ValueError, "not both 0"),
        (Tversky(5, 0), (FINGERPRINTS,), ValueError, "rows of 0 and 1 only"),
        (Similarity(EditDistance(), "max"), (["a"],), ValueError, "needs scale"),
        (Similarity(EditDistance(), "log"), (["a"],), ValueError, "transform to be one of 'exp'"),
        (Similarity(EditDistance(), gamma=0), (["a"],), ValueError, "gamma to be a finite number"),
        (Similarity("euclidean"), (["a"],), TypeError, "a kernel or a function of blocks"),
        (Similarity(EditDistance), (["a"],), TypeError, "a kernel or a function of blocks"),
    ],
)
def test_bad_input_gets_one_sentence(kernel, args, error, message):
    with pytest.raises(error, match=message) as caught:
        kernel(*args)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kernel", "X", "missing", "cure"),
    [
        (EditDistance(), ["a"], ["rapidfuzz"], "krein[strings]"),
        (DynamicTimeWarping(), SERIES, ["aeon", "dtaidistance"], "krein[series]"),
        (ElasticDistance("msm"), SERIES, ["aeon"], "krein[elastic]"),
        (DynamicTimeWarping(window=0.5), SERIES, ["aeon"], "krein[elastic]"),
    ],
    ids=["strings", "series", "metric", "window"],
)
def test_a_missing_extra_is_named(kernel, X, missing, cure, monkeypatch):
    for module in missing:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError) as caught:
        kernel(X)
    assert f"pip install '{cure}'" in str(caught.value)


def test_importing_krein_imports_no_extra():
    import krein

    program = (
        f"import sys; sys.path.insert(0, {str(Path(krein.__file__).resolve().parents[1])!r})\n"
        "import krein, krein.kernels\n"
        "print([m for m in ('rapidfuzz', 'aeon', 'dtaidistance') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
