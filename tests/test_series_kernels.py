"""Elastic distances of series against slow definitions, aeon's values and identities."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from object_twins import ragged, table
from series_twins import TWINS, band, dtw

from krein.kernels import DynamicTimeWarping, ElasticDistance, _elastic

NAMES = [name for name, *_ in TWINS]
ROOTED = {name for name, _, root, _ in TWINS if root}
AEON = json.loads((Path(__file__).parent / "aeon_values.json").read_text())


def cost(name, D):
    """What aeon returns and the twins compute."""
    return D**2 if name in ROOTED else D


# --- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("name", "twin", "root", "other"), TWINS, ids=NAMES)
def test_distances_equal_their_slow_definitions(name, twin, root, other, channels, rng):
    X, Y = ragged(rng, [5, 8, 3, 6], channels), ragged(rng, [6, 4, 9], channels)
    for options in ({}, other, {**other, "window": 0.0}, {"window": 0.4}):
        expected = table(lambda x, y, options=options: twin(x, y, **options), X, Y)
        found = ElasticDistance(name, **options)(X, Y)
        assert_allclose(cost(name, found), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_distances_equal_the_values_of_aeon(name):
    rows = [row for row in AEON["values"] if row[0] == name]
    assert len(rows) >= 6
    for _, options, channels, values in rows:
        X, Y = ([np.array(one) for one in side] for side in AEON["series"][str(channels)])
        found = ElasticDistance(name, **options)(X, Y)
        assert_allclose(cost(name, found), values, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("window", [None, 0.4])
@pytest.mark.parametrize("name", NAMES)
def test_all_metrics_are_symmetric_and_finite_with_zero_diagonal(name, window, rng):
    X = ragged(rng, [5, 8, 3, 8, 6], 2)
    kernel = ElasticDistance(name, window=window)
    D = kernel(X, list(X))
    assert kernel.is_symmetric
    assert np.isfinite(D).all()
    assert_array_equal(D, D.T)
    assert_array_equal(D, kernel(X))
    assert_array_equal(np.diagonal(D), np.zeros(5))
    assert_array_equal(kernel.diag(X), np.zeros(5))


def test_series_of_few_values_have_ties_and_shape_dtw_stays_symmetric(rng):
    X = [rng.integers(3, size=n).astype(float) for n in (6, 9, 4, 9, 12)]
    D = ElasticDistance("shape_dtw", reach=1)(X, list(X))
    assert_array_equal(D, D.T)
    assert_array_equal(np.diagonal(D), np.zeros(5))


def test_reductions_to_dynamic_time_warping(rng):
    X, Y = ragged(rng, [7, 12, 9], 2), ragged(rng, [8, 10], 2)
    plain = DynamicTimeWarping()(X, Y)
    for kernel in (
        ElasticDistance("dtw", window=1.0),
        ElasticDistance("adtw", warp_penalty=0),
        ElasticDistance("shape_dtw", reach=0),
        ElasticDistance("soft_dtw", gamma=0),
    ):
        assert_allclose(kernel(X, Y), plain, rtol=1e-12)
    assert_allclose(ElasticDistance("soft_dtw", gamma=1e-6)(X, Y), plain, rtol=1e-4)
    assert_allclose(ElasticDistance("wdtw", g=0)(X, Y), plain / np.sqrt(2), rtol=1e-12)


def test_limits_of_the_other_parameters(rng):
    X = rng.normal(size=(4, 9))
    euclidean = np.linalg.norm(X[:, None] - X, axis=2)
    manhattan = np.abs(X[:, None] - X).sum(axis=2)
    assert_allclose(ElasticDistance("adtw", warp_penalty=1e9)(X), euclidean, rtol=1e-12)
    for kernel in (ElasticDistance("msm", c=1e9), ElasticDistance("erp", window=0.0)):
        assert_allclose(kernel(X), manhattan, rtol=1e-12)
    for name in ("lcss", "edr"):
        assert_array_equal(ElasticDistance(name, epsilon=1e9)(X), np.zeros((4, 4)))


def test_equal_channels_multiply_the_cost(rng):
    X = rng.normal(size=(5, 11))
    three = np.repeat(X[:, :, None], 3, axis=2)
    for name, factor in (("dtw", 3**0.5), ("erp", 3**0.5), ("msm", 3.0)):
        kernel = ElasticDistance(name, g=0.0)
        assert_allclose(kernel(three), factor * kernel(X), rtol=1e-12)


@pytest.mark.parametrize(("n", "m"), [(5, 5), (9, 4), (3, 8), (22, 43), (1, 6)])
@pytest.mark.parametrize("window", [0.0, 0.1, 0.5, 1.0])
def test_every_window_leaves_a_path(n, m, window):
    found = ElasticDistance(window=window)([np.zeros(n)], [np.ones(m)])[0, 0]
    assert found**2 == pytest.approx(dtw(np.zeros(n), np.ones(m), window))
    assert max(n, m) <= found**2 + 1e-9
    assert band(n, m, window)[[0, -1], [0, -1]].all()


def test_a_window_of_29_per_cent_of_100_steps_allows_29():
    """0.29 · 100 is 28.999… in floating point."""
    x, y = np.zeros((1, 100)), np.zeros((1, 100))
    x[0, 30], y[0, 59] = 1.0, 1.0  # equal after a shift by 29 steps
    assert DynamicTimeWarping(window=0.29)(x, y)[0, 0] == 0
    assert DynamicTimeWarping(window=0.28)(x, y)[0, 0] > 1
    shares = np.arange(101) / 100
    assert [int(ElasticDistance(window=w)._window() * 100) for w in shares] == list(range(101))


def test_a_window_of_0_is_the_euclidean_distance(rng):
    X, Y = rng.normal(size=(4, 10)), rng.normal(size=(3, 10))
    euclidean = np.linalg.norm(X[:, None] - Y[None], axis=2)
    assert_allclose(DynamicTimeWarping(window=0)(X, Y), euclidean, rtol=1e-12)


def test_dtaidistance_computes_the_same(rng):
    dtaidistance = pytest.importorskip("dtaidistance.dtw")
    X = ragged(rng, [60, 45, 60, 13], 1)
    expected = [[dtaidistance.distance(x.ravel(), y.ravel()) for y in X] for x in X]
    assert_allclose(DynamicTimeWarping()(X), expected, rtol=1e-12)


def test_edr_of_a_constant_series_with_itself_is_zero():
    X = [np.ones(4), np.arange(4.0), np.array([2.0]), np.full(3, 0.1)]
    kernel = ElasticDistance("edr")
    assert_array_equal(np.diagonal(kernel(X, list(X))), np.zeros(4))
    assert_array_equal(kernel(X), kernel(X, list(X)))
    assert_array_equal(kernel.diag(X), np.zeros(4))
    assert kernel(X[:1], [np.full(4, 3.0)]) == 1  # other constant series stay apart


@pytest.mark.parametrize("name", NAMES)
def test_huge_series_are_infinitely_far_apart_and_not_undefined(name):
    X = [np.full(4, 1e200), np.full(5, -1e200)]
    assert not np.isnan(ElasticDistance(name)(X, list(X))).any()


# --- containers and parameters ------------------------------------------------------------------


def test_thin_subclass_is_the_metric_dtw(rng):
    X = rng.normal(size=(5, 12))
    assert_array_equal(DynamicTimeWarping(window=0.2)(X), ElasticDistance("dtw", window=0.2)(X))
    assert DynamicTimeWarping().get_params() == {"window": None, "n_jobs": None}


def test_series_of_one_point_are_compared():
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


def test_channels_are_columns_not_rows(rng):
    x, y = rng.normal(size=(2, 7, 2))
    assert DynamicTimeWarping()([x], [y])[0, 0] ** 2 == pytest.approx(dtw(x, y), rel=1e-12)
    assert DynamicTimeWarping()([x.T], [y.T])[0, 0] ** 2 == pytest.approx(dtw(x.T, y.T), rel=1e-12)
    assert dtw(x, y) != pytest.approx(dtw(x.T, y.T))


# --- threads and early abandoning ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["dtw", "twe"])
def test_threads_change_nothing(name, rng, monkeypatch):
    monkeypatch.setattr("krein.kernels.series.CELLS", 100)
    X = ragged(rng, [12, 30, 7, 25, 12, 18], 1)
    expected = ElasticDistance(name, n_jobs=1)(X)
    for n_jobs in (None, 3, -1):
        assert_array_equal(ElasticDistance(name, n_jobs=n_jobs)(X), expected)


@pytest.mark.parametrize("name", NAMES)
def test_distances_above_a_bound_are_infinite_and_no_others(name, rng):
    X, Y = ragged(rng, [9, 14, 6], 2), ragged(rng, [11, 9, 16, 5], 2)
    kernel = ElasticDistance(name)
    D = kernel(X, Y)
    for bound in (*D.ravel(), -1.0, 0.0, np.inf, np.median(D, axis=1)):
        limits = np.broadcast_to(np.asarray(bound)[..., None], D.shape)
        assert_array_equal(kernel.bounded(X, Y, bound), np.where(limits >= D, D, np.inf))


@pytest.mark.parametrize("name", NAMES)
def test_the_nearest_series_is_that_of_the_matrix(name, rng):
    X, Y = ragged(rng, [9, 14, 6, 9], 1), ragged(rng, [11, 9, 16, 5, 9, 10], 1)
    Y.append(Y[1])  # the first one of equal series counts
    kernel = ElasticDistance(name)
    D = kernel(X, Y)
    indices, distances = kernel.nearest(X, Y)
    assert_array_equal(indices, D.argmin(axis=1))
    assert_array_equal(distances, D.min(axis=1))


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "wdtw", "g": -0.1}, "g to be at least 0, got -0.1"),
        ({"metric": "erp", "g": np.nan}, "g to be a finite number, got nan"),
        ({"metric": "msm", "c": "dear"}, "c to be a finite number, got 'dear'"),
        ({"metric": "twe", "nu": -1}, "nu to be at least 0"),
        ({"metric": "twe", "lmbda": np.inf}, "lmbda to be a finite number"),
        ({"metric": "adtw", "warp_penalty": -1}, "warp_penalty to be at least 0"),
        ({"metric": "soft_dtw", "gamma": -1}, "gamma to be at least 0"),
        ({"metric": "shape_dtw", "reach": 1.5}, "reach to be a whole number ≥ 0"),
        ({"metric": "shape_dtw", "reach": -1}, "reach to be a whole number ≥ 0, got -1"),
        ({"metric": "lcss", "epsilon": 0}, "epsilon to be a finite number above 0"),
        ({"metric": "soft-dtw"}, "metric to be one of 'dtw'"),
        ({"window": 2}, "window to be a share of the length"),
        ({"n_jobs": 0}, "n_jobs to be a whole number"),
    ],
)
def test_bad_parameters_get_a_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        ElasticDistance(**options)([[1.0, 2.0, 3.0]])


@pytest.mark.parametrize("bound", [np.nan, [1.0, 2.0], "far", None])
def test_bad_bounds_get_a_sentence(bound):
    with pytest.raises(ValueError, match="bound to be a number, or one number for each of the 1"):
        ElasticDistance().bounded([[1.0]], [[2.0]], bound)


# --- without Numba ------------------------------------------------------------------------------

PROGRAM = """
import sys
import numpy as np
sys.modules["numba"] = None
from krein.kernels import ElasticDistance, _elastic
assert _elastic.block() is _elastic._block
X = np.load(sys.argv[1])
names = sys.argv[3].split(",")
np.save(sys.argv[2], [ElasticDistance(name)(X) for name in names])
"""


def test_distances_are_the_same_without_numba(tmp_path, rng):
    X = rng.normal(size=(3, 7, 2))
    np.save(tmp_path / "X.npy", X)
    source = str(Path(_elastic.__file__).parents[2])
    command = [sys.executable, "-c", PROGRAM, tmp_path / "X.npy", tmp_path / "D.npy"]
    command.append(",".join(NAMES))
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": source})
    expected = [ElasticDistance(name)(X) for name in NAMES]
    assert_allclose(np.load(tmp_path / "D.npy"), expected, rtol=1e-12, atol=1e-12)
