"""Directed graphs, and slow dense twins of the kernels of relations."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import brentq

# The forms in which node ids are passed.
FORMS = {
    "vector": lambda ids: ids,
    "column": lambda ids: ids[:, None],
    "list": lambda ids: ids.tolist(),
    "lists": lambda ids: ids[:, None].tolist(),
    "floats": lambda ids: ids.astype(float),
    "single": lambda ids: ids.astype(np.float32)[:, None],
    "small": lambda ids: ids.astype(np.uint8),
    "objects": lambda ids: ids.astype(object),
    "series": pd.Series,
    "frame": lambda ids: pd.DataFrame({"node": ids}),
}


def digraph(n: int, seed: int = 0, share: float = 0.15) -> sparse.csr_array:
    """A random weighted graph; node 0 has no edge and node 1 has a loop."""
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((n, n)) < share, rng.uniform(0.5, 3, (n, n)), 0.0)
    A[0] = A[:, 0] = 0
    A[1, 1] = 1.5
    return sparse.csr_array(A)


def cyclic_blocks(n: int, seed: int = 0) -> tuple[sparse.csr_array, np.ndarray]:
    """A graph of four blocks whose edges mostly go from a block to the next, and the blocks."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n)
    share = np.where((y[None] - y[:, None]) % 4 == 1, 0.3, 0.03)
    return sparse.csr_array((rng.random((n, n)) < share).astype(float)), y


def row_walk(A: np.ndarray, steps: int, damping: float, loops: float) -> np.ndarray:
    """Σ damping^(s−1) P^s, node by node and power by power."""
    P = A + loops * np.eye(len(A))
    for row in P:
        if row.sum() > 0:
            row /= row.sum()
    return sum(damping ** (s - 1) * np.linalg.matrix_power(P, s) for s in range(1, steps + 1))


def katz(A: np.ndarray, damping: float) -> np.ndarray:
    """Σ damping^s A^s, until the terms vanish."""
    term = damping * A
    total = term.copy()
    while np.abs(term).max() > 1e-18 * np.abs(total).max():
        term = damping * term @ A
        total += term
    return total


def neighbour_law(x: np.ndarray, rows: np.ndarray, perplexity: float):
    """The function y ↦ p(y | x), with the bandwidth found by Brent's method."""
    squares = np.array([((x - t) ** 2).sum() for t in rows if not np.array_equal(x, t)])

    def entropy(rate):
        p = np.exp(-rate * (squares - squares.min()))
        p /= p.sum()
        return -(p[p > 0] * np.log(p[p > 0])).sum()

    unit = squares.mean()
    bounds = np.log(1e-9 / unit), np.log(1e9 / unit)
    found = brentq(lambda t: entropy(np.exp(t)) - np.log(perplexity), *bounds, xtol=1e-14)
    rate = np.exp(found)
    total = np.exp(-rate * (squares - squares.min())).sum()

    def law(y):
        if np.array_equal(x, y):
            return 0.0
        return min(1.0, np.exp(rate * (squares.min() - ((x - y) ** 2).sum())) / total)

    return law
