"""Features of a Nyström map: kernel values against the landmarks times a matrix, in blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blas import multiply_lower
from .._blocks import BLOCK_BYTES, Scratch, row_blocks
from .._threads import one_blas_thread, over_blocks
from ..kernels import Kernel
from ..kernels.base import common_dtype
from ..kernels.errors import placed
from ..kernels.processes import kernel_values
from ..kernels.values import check_values
from ..rows import count

Values = Callable[[slice], NDArray]


class LandmarkValues:
    """The kernel values of rows against landmarks: ``values(rows)`` takes a slice of the rows.

    Parameters
    ----------
    kernel : Kernel
    X : array-like, sparse matrix or sequence of objects
        The rows.
    landmarks : array-like, sparse matrix or sequence of objects
    places : ndarray of int or None
        The places of the landmarks in the training data, for error messages.
    n_jobs : int or None
        The number of processes for kernels of objects.
    """

    def __init__(self, kernel: Kernel, X: Any, landmarks: Any, places: Any, n_jobs: int | None):
        self.kernel, self.X, self.landmarks, self.n_jobs = kernel, X, landmarks, n_jobs
        self._places = range(count(landmarks)) if places is None else places
        self._against, self._scratch = kernel._values_against(landmarks, count(X)), Scratch()

    @property
    def block_bytes(self) -> int:
        """The memory of the values of a good block of rows."""
        return self._against.block_bytes

    def __call__(self, rows: slice) -> NDArray:
        """Return finite values; the next call in the same thread may write to their memory."""
        pairs = range(count(self.X))[rows], self._places
        if self.kernel.takes_vectors:
            return check_values(self.kernel, self.unchecked(rows), *pairs)
        with placed(*pairs):
            return kernel_values(self.kernel, self.X[rows], self.landmarks, self.n_jobs)

    def unchecked(self, rows: slice) -> NDArray:
        """Return the values of a kernel of vectors, finite or not."""
        shape = len(range(count(self.X))[rows]), count(self.landmarks)
        out = self._scratch.array("values", shape, common_dtype(self.X, self.landmarks))
        self._against(self.X, rows, out)
        return out


def weighted(values: LandmarkValues, weights: NDArray) -> NDArray:
    """Return the kernel values against the landmarks times weights, shape (n_landmarks, q)."""
    kernel, X = values.kernel, values.X
    if not kernel.takes_vectors:
        return project(kernel, X, weights, values)
    found = project(kernel, X, weights, values.unchecked, budget=values.block_bytes)
    if np.isfinite(found).all():  # so are all values
        return found
    return project(kernel, X, weights, values)


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
    budget: int | None = None,
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
    budget : int, default=None
        The memory of the values of a block; None means 4 MB.

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

    over_values(kernel, X, values, multiply, len(matrix) * dtype.itemsize, budget)
    return out


def over_values(
    kernel: Kernel,
    X: Any,
    values: Values,
    work: Callable[[NDArray, slice], None],
    bytes_per_row: int,
    budget: int | None = None,
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
    budget : int, default=None
        Memory of the values of a block; None means 4 MB.
    """
    budget = BLOCK_BYTES if budget is None else budget
    if hasattr(X, "shape") and kernel.takes_vectors:
        blocks = row_blocks(count(X), bytes_per_row, budget)
        return over_blocks(lambda rows: work(values(rows), rows), blocks)
    # A function of the user is not called from threads; `kernel_values` uses processes. BLAS is
    # held to one thread, because threads that wait for the next product would slow the function.
    for rows in row_blocks(count(X), bytes_per_row, budget):
        block = values(rows)
        with one_blas_thread():
            work(block, rows)
