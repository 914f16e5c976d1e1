"""The expected cost of a trial, in operations and in memory; no time is measured.

The same data, seed and parameters therefore give the same model on a busy machine.
"""

from __future__ import annotations

# Operations of one eigendecomposition, Cholesky factorisation and product, per cubed width.
EIGEN, CHOLESKY, PRODUCT = 9.0, 1 / 3, 2.0
# Operations per kernel value, in addition to those of the distance.
PER_VALUE = 20.0
# Penalties of least squares, and Newton steps of a margin machine for all its penalties, per fold.
PENALTIES, STEPS = 7, 30
# Square matrices that least squares holds at once, in addition to those of the folds, and square
# matrices of ridge on the exact kernel.
MATRICES, EXACT_MATRICES = 10, 11


def ridge_cost(n_rows: int, n_columns: int, width: int, n_folds: int) -> float:
    """Return the operations of a ridge with tuned penalties on a Nyström map of some width."""
    cost = _map_cost(n_rows, n_columns, width) + n_rows * width**2
    return cost + n_folds * (PENALTIES * CHOLESKY * width**3 + 3 * width**2)


def exact_cost(n_rows: int, n_columns: int) -> float:
    """Return the operations of ridge on the exact kernel, with rows that are left out in turn."""
    return _map_cost(n_rows, n_columns, n_rows) + 2 * n_rows**3


def margin_cost(n_rows: int, n_columns: int, width: int, n_folds: int, n_outputs: int) -> float:
    """Return the operations of a margin machine with tuned penalties."""
    step = 0.2 * n_rows * width**2 + CHOLESKY * width**3 + 2 * PRODUCT * n_rows * width
    return _map_cost(n_rows, n_columns, width) + n_outputs * n_folds * STEPS * step


def _map_cost(n_rows: int, n_columns: int, width: int) -> float:
    values = (PRODUCT * n_columns + PER_VALUE) * n_rows * width
    return EIGEN * width**3 + values + PRODUCT * n_rows * width**2


def ridge_megabytes(width: int, n_folds: int) -> float:
    """Return the memory of a ridge with tuned penalties: the moments of each fold and some more."""
    return 8 * (n_folds + MATRICES) * width**2 / 2**20


def exact_megabytes(n_rows: int) -> float:
    """Return the memory of ridge on the exact kernel."""
    return 8 * EXACT_MATRICES * n_rows**2 / 2**20


def margin_megabytes(n_rows: int, width: int) -> float:
    """Return the memory of a margin machine: its features and some matrices."""
    return 8 * (n_rows * width + (MATRICES + 1) * width**2) / 2**20
