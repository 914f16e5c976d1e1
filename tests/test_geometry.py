"""The estimated diameter of the data, against all pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import pdist

from krein.features.geometry import measure_extent

# The estimate is 1.05 times the longest distance found: never more than that above the truth.
MARGIN = 1.05
ROUND_OFF = 1e-4


def _check(X, rows=None):
    rows = X if rows is None else rows
    truth = pdist(rows).max()
    extent = measure_extent(X)
    assert 0.9 * truth <= extent.diameter <= (MARGIN + ROUND_OFF) * truth
    center = rows.mean(axis=0)
    assert_allclose(extent.center, center, atol=1e-9 * np.abs(rows).max())
    assert_allclose(extent.reach, np.linalg.norm(rows - center, axis=1).max(), rtol=1e-6)


def _clouds():
    shapes = {
        "normal": lambda rng, n, d: rng.standard_normal((n, d)),
        "cube": lambda rng, n, d: rng.random((n, d)),
        "heavy": lambda rng, n, d: rng.standard_t(2, (n, d)),
        "flat": lambda rng, n, d: rng.standard_normal((n, d)) * np.geomspace(1, 1e-3, d),
        "clusters": lambda rng, n, d: rng.standard_normal((n, d)) + 20 * rng.integers(0, 2, (n, d)),
        "far": lambda rng, n, d: rng.standard_normal((n, d)) + 1e4,
    }
    return shapes


@pytest.mark.parametrize("dim", [1, 2, 5, 30, 200])
@pytest.mark.parametrize("shape", _clouds())
def test_diameter_of_random_clouds(shape, dim):
    for seed in range(10):
        _check(_clouds()[shape](np.random.default_rng(seed), 150, dim))


@pytest.mark.parametrize("dim", [2, 3, 10])
def test_diameter_of_the_sphere(dim, rng):
    X = rng.standard_normal((400, dim))
    _check(X / np.linalg.norm(X, axis=1, keepdims=True))


def test_diameter_of_a_triangle_and_of_a_simplex():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    assert_allclose(measure_extent(corners).diameter, MARGIN)
    assert_allclose(measure_extent(np.eye(6)).diameter, MARGIN * np.sqrt(2))


def test_a_line_is_measured_exactly(rng):
    X = np.outer(rng.random(100), [3.0, 4.0])
    assert_allclose(measure_extent(X).diameter, MARGIN * pdist(X).max(), rtol=1e-7)


@pytest.mark.parametrize("n", [1, 5])
def test_equal_rows_have_diameter_zero(n):
    assert_allclose(measure_extent(np.full((n, 3), 2.0)).diameter, 0, atol=1e-7)


@pytest.mark.parametrize("unit", [False, True])
def test_diameter_of_letter(load, unit, rng):
    X = np.asarray(load("letter")[0], dtype=float)
    X = X[rng.choice(len(X), 2000, replace=False)]
    _check(X / np.linalg.norm(X, axis=1, keepdims=True) if unit else X)


@pytest.mark.parametrize("density", [0.02, 0.3])
def test_diameter_of_sparse_rows(density, rng):
    X = sparse.random_array((200, 500), density=density, rng=rng, format="csr")
    _check(X, X.toarray())
    assert_allclose(measure_extent(X).diameter, measure_extent(X.toarray()).diameter, rtol=1e-9)


def test_single_precision_agrees_with_double(rng):
    X = rng.standard_normal((300, 8)).astype(np.float32)
    single, double = measure_extent(X), measure_extent(X.astype(float))
    assert_allclose(single.diameter, double.diameter, rtol=1e-4)
    assert_allclose(single.reach, double.reach, rtol=1e-4)


def test_rows_beyond_the_leeway_warn_and_others_do_not(rng):
    extent = measure_extent(rng.standard_normal((50, 3)))
    direction = np.array([0.6, 0.0, 0.8])
    inside = extent.center + 1.09 * extent.reach * direction
    outside = extent.center + 1.11 * extent.reach * direction
    assert not extent.check(inside[None], "Map")
    with pytest.warns(UserWarning, match=r"from the centre of the rows that Map was fitted on"):
        assert extent.check(np.stack([inside, outside]), "Map")
