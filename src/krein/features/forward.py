"""Forward selection: which columns, taken together, explain the targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target

from .._threads import one_blas_thread
from .._validation import unit_of

Array = NDArray[np.floating]
# Numbers of more distinct values than this are numbers, whole or not; fewer are classes.
MOST_CLASSES = 50


def forward_selection(gram: Array, cross: Array, n: int, ridge: float) -> NDArray[np.intp]:
    """The n columns of A that one after the other lower a ridge's objective most.

    The objective is ``‖T − A_S B‖² + ridge ‖B‖²`` over the columns S chosen so far (orthogonal
    least squares: Chen, Cowan, Grant 1991). A pivoted Cholesky factorisation of ``AᵀA + ridge I``
    in which the pivot is the column of the largest gain ``‖c_j‖² / d_j``, with c the cross products
    and d the squares of what the chosen columns leave of the others: O(p n) per column, and the
    rows of A are not needed.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        AᵀA.
    cross : ndarray of shape (p, q)
        AᵀT.
    n : int
        At most p.
    ridge : float
        Above 0.

    Returns
    -------
    ndarray of shape (n,)
        In the order of their choice; equal gains go to the first column.
    """
    p = len(gram)
    left, cross = np.diagonal(gram) + ridge, np.array(cross.T, order="C")
    factor = np.empty((n, p))  # its rows are the columns of the triangle
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
            # The ridge is a floor that rounding must not break.
            left = np.maximum(left - np.square(column), ridge)
    return chosen


def as_columns(y: Any, n: int) -> Array:
    """Targets as columns of numbers: an indicator of each class, or outputs of variance 1.

    Text and few distinct whole numbers are classes.
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
    except (TypeError, ValueError) as error:  # of sorting, or of reading as numbers
        kinds = sorted({type(target).__name__ for target in np.ravel(y)})
        raise ValueError(
            f"y must be labels of one type or numbers, got {' and '.join(kinds)}: make them all "
            "text or all numbers."
        ) from error
    columns *= [unit_of(float(largest)) for largest in np.abs(columns).max(axis=0, initial=0)]
    spread = columns.std(axis=0)
    return columns / np.where(spread > 0, spread, 1.0)
