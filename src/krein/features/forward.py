"""Forward selection of the columns that together explain the targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target

from .._threads import one_blas_thread
from .._validation import unit_of

Array = NDArray[np.floating]
# Whole numbers with at most this many distinct values are classes.
MOST_CLASSES = 50


def forward_selection(gram: Array, cross: Array, n: int, ridge: float) -> NDArray[np.intp]:
    """Choose n columns of A; each lowers the objective of ridge regression most.

    The objective is ``‖T − A_S B‖² + ridge ‖B‖²`` with the columns S chosen so far (orthogonal
    least squares: Chen, Cowan, Grant 1991). The algorithm is a pivoted Cholesky factorisation of
    ``AᵀA + ridge I``. The pivot is the column j with the largest gain ``‖c_j‖² / d_j``: c_j holds
    the cross products with the targets and d_j is the square of column j, both after projecting
    out the chosen columns. A step costs O(p n) and does not need the rows of A.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        The matrix AᵀA.
    cross : ndarray of shape (p, q)
        The matrix AᵀT.
    n : int
        Number of columns to choose, at most p.
    ridge : float
        The ridge, above 0.

    Returns
    -------
    ndarray of shape (n,)
        Indices of the columns in the order of choice. If gains are equal, the first column is
        chosen.
    """
    p = len(gram)
    left, cross = np.diagonal(gram) + ridge, np.array(cross.T, order="C")
    factor = np.empty((n, p))  # row i is column i of the Cholesky factor
    chosen = np.empty(n, dtype=np.intp)
    with one_blas_thread():  # each product is small
        for step in range(n):
            gains = np.einsum("qp,qp->p", cross, cross) / left
            gains[chosen[:step]] = -1.0
            j = chosen[step] = np.argmax(gains)
            column = factor[step]
            np.subtract(gram[j], factor[:step, j] @ factor[:step], out=column)
            column[j] += ridge
            column /= np.sqrt(left[j])
            for output in cross:
                output -= (output[j] / column[j]) * column
            # In exact arithmetic the squares never fall below the ridge.
            left = np.maximum(left - np.square(column), ridge)
    return chosen


def as_columns(y: Any, n: int) -> Array:
    """Return targets as columns of numbers.

    Each class becomes an indicator column. Each column of numbers is scaled to variance 1. Targets
    are classes if they are text or at most `MOST_CLASSES` distinct whole numbers.
    """
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    if len(y) != n:
        raise ValueError(f"y has {len(y)} targets, but X has {n} rows.")
    numbers = y.dtype.kind in "biuf"
    if y.dtype.kind == "f":
        y = y * unit_of(float(np.abs(y).max(initial=0)))
    try:
        if type_of_target(y) in ("binary", "multiclass"):
            classes, codes = np.unique(y, return_inverse=True)
            if not numbers or len(classes) <= MOST_CLASSES:
                return np.eye(len(classes))[codes.ravel()]
        columns = y.astype(float).reshape(n, -1)
    except (TypeError, ValueError) as error:  # mixed types cannot be sorted
        kinds = sorted({type(target).__name__ for target in np.ravel(y)})
        raise ValueError(
            f"y must be labels of one type or numbers, got {' and '.join(kinds)}: make them all "
            "text or all numbers."
        ) from error
    columns *= [unit_of(float(largest)) for largest in np.abs(columns).max(axis=0, initial=0)]
    spread = columns.std(axis=0)
    return columns / np.where(spread > 0, spread, 1.0)
