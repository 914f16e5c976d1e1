"""Products that are added in place, and moments that grow by them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from krein import _blas
from krein._blas import add_product, multiply_lower
from krein._blocks import TILE, mirror_upper
from krein.streaming import Moments, MomentsSum
from krein.streaming.gram import add_gram


@pytest.mark.parametrize("width", [3, 300, 700])
def test_a_product_by_tiles_is_the_product(width):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((500, width))
    out = np.zeros((width, width))
    add_gram([A[:, :2], A[:, 2:]], out)
    expected = A.T @ A
    assert_allclose(mirror_upper(out), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("shape", [(0, 5, 6), (7, 1, 1), (40, 9, 2), (300, 33, 20)])
@pytest.mark.parametrize("layout", ["rows", "columns", "part", "float32"])
def test_a_product_is_added_in_place(shape, layout):
    rng = np.random.default_rng(0)
    n, p, q = shape
    make = {
        "rows": lambda k: rng.standard_normal((n, k)),
        "columns": lambda k: rng.standard_normal((k, n)).T,
        "part": lambda k: rng.standard_normal((n + 3, k + 5))[1 : n + 1, 2 : k + 2],
        "float32": lambda k: rng.standard_normal((n, k)).astype(np.float32),
    }[layout]
    A, B = make(p), make(q)
    tol = 1e-4 if layout == "float32" else 1e-11
    for other in (A, B):
        before = rng.standard_normal((p + 2, other.shape[1] + 3))
        whole = before.copy()
        out = whole[1 : p + 1, 1 : other.shape[1] + 1]
        add_product(A, other, out)
        expected = before.copy()
        expected[1 : p + 1, 1 : other.shape[1] + 1] += A.astype(float).T @ other.astype(float)
        inside = np.zeros(before.shape, dtype=bool)
        inside[1 : p + 1, 1 : other.shape[1] + 1] = True
        if other is A:  # nothing is promised below the diagonal
            inside[1 : p + 1, 1 : p + 1] = np.triu(np.ones((p, p), dtype=bool))
        assert_allclose(whole[inside], expected[inside], rtol=0, atol=tol * max(1, n))
        border = np.ones(before.shape, dtype=bool)
        border[1 : p + 1, 1 : other.shape[1] + 1] = False
        assert_array_equal(whole[border], before[border])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.longdouble])
@pytest.mark.parametrize("shape", [(0, 5), (1, 1), (7, 3), (300, 65)])
@pytest.mark.parametrize("layout", ["rows", "columns", "part"])
def test_a_product_with_a_triangle_replaces_the_matrix(shape, layout, dtype):
    rng = np.random.default_rng(0)
    n, p = shape
    whole = rng.standard_normal((n + 3, p + 5)).astype(dtype)
    A = {
        "rows": np.array(whole[:n, :p], order="C"),
        "columns": np.array(whole[:n, :p], order="F"),
        "part": whole[1 : n + 1, 2 : p + 2],
    }[layout]
    before, L = whole.copy(), np.tril(rng.standard_normal((p, p))).astype(dtype)
    expected = A.astype(float) @ L.astype(float)
    multiply_lower(A, L)
    tol = 1e-4 if dtype is np.float32 else 1e-12
    assert_allclose(A.astype(float), expected, rtol=0, atol=tol * max(1, p))
    border = np.ones(whole.shape, dtype=bool)
    border[1 : n + 1, 2 : p + 2] = layout != "part"
    assert_array_equal(whole[border], before[border])


def test_without_addresses_of_blas_numpy_multiplies(monkeypatch):
    monkeypatch.setattr(_blas, "_routine", lambda name: None)
    A = np.random.default_rng(0).standard_normal((50, 8))
    product, L = A.copy(), np.tril(A[:8])
    multiply_lower(product, L)
    assert_allclose(product, A @ L, rtol=1e-12)
    out = np.ones((8, 8))
    add_product(A, A, out)
    assert_allclose(np.triu(out), np.triu(A.T @ A + 1), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 3.0, 1e3])
def test_means_that_drift_keep_the_digits(dtype, offset):
    """The origin comes from the first block; later blocks lie elsewhere."""
    rng = np.random.default_rng(0)
    blocks = [(rng.standard_normal((40, 5)) + offset * k).astype(dtype) for k in range(6)]
    growing = MomentsSum(5)
    for block in blocks:
        growing.add(block)
    exact = Moments.of(np.concatenate(blocks).astype(float))
    assert_allclose(growing.freeze().mean, exact.mean, rtol=1e-6 if dtype == np.float32 else 1e-12)
    scale = np.abs(exact.scatter).max()
    tol = 2e-6 if dtype == np.float32 else 1e-13
    assert_allclose(growing.freeze().scatter, exact.scatter, rtol=0, atol=tol * scale)


def test_precision_may_change_between_blocks():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 3)) + 1e5
    growing = MomentsSum(3)
    growing.add(A[:30])
    growing.add(A[30:].astype(np.float32))
    rounded = np.concatenate([A[:30], A[30:].astype(np.float32).astype(float)])
    exact = Moments.of(rounded)
    assert_allclose(growing.freeze().mean, exact.mean, rtol=1e-12)
    assert_allclose(growing.freeze().scatter, exact.scatter, rtol=1e-6)


@pytest.mark.parametrize("n", [0, 1, 5, TILE, TILE + 1, 3 * TILE - 7])
def test_the_upper_triangle_is_copied_to_the_lower_one(n):
    A = np.random.default_rng(0).standard_normal((n, n))
    expected = np.where(np.tri(n, k=-1, dtype=bool), A.T, A)
    assert mirror_upper(A) is A
    assert_array_equal(A, expected)
