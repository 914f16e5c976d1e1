"""The estimated diameter of the data, against all pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

from krein.features.geometry import Range, measure_extent

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
    assert_allclose(single.center, double.center, rtol=0, atol=1e-5)


def test_the_span_of_rows_is_found_to_the_fitted_ones_and_among_themselves(rng):
    X = rng.standard_normal((50, 3))
    extent = measure_extent(X)
    far = extent.center + np.outer([-5.0, 5.0], [0.6, 0.0, 0.8])
    assert_allclose(extent.span(far), 10.0)
    assert pdist(X).max() >= extent.span(X) >= 0.9 * pdist(X).max()
    assert extent.span(far[:1]) <= cdist(far[:1], X).max() + 1e-12
    assert extent.span(X[:0]) == 0


def test_the_predicted_error_decides_and_not_the_distance(rng):
    extent = measure_extent(rng.standard_normal((50, 3)))
    diameter = extent.diameter
    direction = np.array([[0.6, 0.0, 0.8]])
    far = extent.center + 1.2 * diameter * direction
    exact = np.cos
    good = Range.of(extent, diameter, 3 * diameter, lambda z: exact(z) + 0.09, exact)
    assert good.bias == pytest.approx(0.09)
    assert not good.check(far, "Map")
    bad = Range.of(extent, diameter, 3 * diameter, lambda z: exact(z) + (z > diameter) / 2, exact)
    assert bad.error(0.99 * diameter) == 0
    assert not bad.check(extent.center + 0.2 * diameter * direction, "Map")
    with pytest.warns(
        UserWarning, match=r"Map represents the kernel only up to.*off by 50 % of the largest"
    ):
        assert bad.check(far, "Map")


def test_a_kernel_beyond_floating_point_is_off(rng):
    extent = measure_extent(rng.standard_normal((50, 3)))
    diameter = extent.diameter
    overflow = Range.of(
        extent, diameter, 3 * diameter, lambda z: 0 * z, lambda z: np.exp(1e3 * (z > diameter))
    )
    with pytest.warns(UserWarning, match="off by inf %"):
        overflow.check(extent.center + np.full((1, 3), 2 * diameter), "Map")
