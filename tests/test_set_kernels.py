"""Similarities of sets of items and distances of sets of points against scalar twins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from object_twins import ragged, table
from scipy import sparse

from krein.kernels import Dice, Hausdorff, Tanimoto, Tversky


def hausdorff(x: np.ndarray, y: np.ndarray, modified: bool, directed: bool) -> float:
    def one_way(a: np.ndarray, b: np.ndarray) -> float:
        nearest = [min(float(np.linalg.norm(p - q)) for q in b) for p in a]
        return sum(nearest) / len(nearest) if modified else max(nearest)

    return one_way(x, y) if directed else max(one_way(x, y), one_way(y, x))


def tversky(a: set, b: set, alpha: float, beta: float) -> float:
    below = len(a & b) + alpha * len(a - b) + beta * len(b - a)
    return len(a & b) / below if below else 1.0


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
    assert_allclose(Hausdorff()(X), Hausdorff()(list(X)), rtol=1e-14)
