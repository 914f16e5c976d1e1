"""Features of a Nyström map: kernel values against the landmarks times a matrix, in blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blas import multiply_lower
from .._blocks import BLOCK_BYTES, row_blocks
from .._threads import one_blas_thread, over_blocks
from ..kernels import Kernel
from ..rows import count

Values = Callable[[slice], NDArray]


def feature_dtype(X: Any) -> np.dtype:
    """Return the type of the features: float32 for rows of float32, else float64."""
    return X.dtype if getattr(X, "dtype", None) == np.float32 else np.dtype(np.float64)


def project(
    kernel: Kernel,
    X: Any,
    matrix: NDArray,
    values: Values,
    signs: NDArray | None = None,
    own: NDArray[np.floating] | None = None,
) -> NDArray:
    """Multiply the kernel values against the landmarks by a matrix, block by block.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array-like, sparse matrix or sequence of objects
        The data.
    matrix : ndarray of shape (n_landmarks, rank)
        The map of the core.
    values : callable
        Returns the kernel values of a slice of rows against the landmarks.
    signs : ndarray of shape (rank,), default=None
        The signs of the form, needed to fill `own`.
    own : ndarray of shape (n,), default=None
        Receives the approximate |k(x, x)| if `signs` are given.

    Returns
    -------
    ndarray of shape (n, rank)
        The features.
    """
    dtype = feature_dtype(X)
    out = np.empty((count(X), matrix.shape[1]), dtype=dtype)
    matrix = matrix.astype(dtype, order="C")
    is_triangular = matrix.shape == matrix.T.shape and not np.triu(matrix, 1).any()
    signs = None if signs is None else signs.astype(dtype)

    def multiply(block: NDArray, rows: slice) -> None:
        if is_triangular:
            out[rows] = block
            multiply_lower(out[rows], matrix)
        else:
            np.matmul(block, matrix, out=out[rows])
        if signs is not None and own is not None:
            own[rows] = np.abs(np.square(out[rows]) @ signs)

    over_values(kernel, X, values, multiply, len(matrix) * dtype.itemsize)
    return out


def over_values(
    kernel: Kernel,
    X: Any,
    values: Values,
    work: Callable[[NDArray, slice], None],
    bytes_per_row: int,
) -> None:
    """Call `work` on the kernel values of all row blocks; in threads if the data are vectors.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array-like, sparse matrix or sequence of objects
        The data.
    values : callable
        Returns the kernel values of a slice of rows against the landmarks.
    work : callable
        Receives the values and the slice.
    bytes_per_row : int
        Memory of the values of one row.
    """
    if hasattr(X, "shape") and kernel.takes_vectors:
        blocks = row_blocks(count(X), bytes_per_row, BLOCK_BYTES)
        return over_blocks(lambda rows: work(values(rows), rows), blocks)
    # A function of the user is not called from threads; `kernel_values` uses processes. BLAS is
    # held to one thread, because threads that wait for the next product would slow the function.
    for rows in row_blocks(count(X), bytes_per_row, BLOCK_BYTES):
        block = values(rows)
        with one_blas_thread():
            work(block, rows)
