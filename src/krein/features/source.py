"""The training objects as a Nyström map sees them: only through blocks of kernel values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from .._blocks import BLOCK_BYTES, row_blocks
from .._hashing import Draws, Hashes, hash_pairs, hash_rows
from ..kernels import Kernel, Precomputed
from ..kernels.base import _len
from ..kernels.custom import BadPairError


class Source:
    """Objects and their kernel.

    Parameters
    ----------
    kernel : Kernel
    X : the training data, already validated
        For a `Precomputed` kernel the square matrix of all values.
    n_jobs : int, default=None
        Processes that evaluate the kernel; None is this one.
    y : array-like, default=None
        The objects' targets.
    """

    def __init__(self, kernel: Kernel, X: Any, n_jobs: int | None = None, y: Any = None):
        self.kernel, self.X, self.n_jobs, self.y = kernel, X, n_jobs, y
        self.precomputed = isinstance(kernel, Precomputed)
        self._hashes: Hashes | None = None
        self._draws: Draws | None = None

    def __len__(self) -> int:
        return _len(self.X)

    @property
    def is_symmetric(self) -> bool:
        return self.kernel.is_symmetric

    def draws(self, key: int) -> Draws:
        """Random numbers keyed by the objects' content.

        Equal rows of a matrix of values need not be the same object, so they are not merged there.
        """
        if self._draws is None or int(self._draws.key) != key:
            self._draws = Draws(self.hashes(), key, merge=not self.precomputed)
        return self._draws

    def hashes(self) -> Hashes:
        """The content hashes of the objects, computed once."""
        if self._hashes is None:
            self._hashes = hash_pairs(self.X) if self.precomputed else hash_rows(self.X)
        return self._hashes

    def take(self, rows: NDArray) -> Any:
        """Some of the objects; for a precomputed kernel their indices."""
        if self.precomputed:
            return rows
        return self.X[rows] if hasattr(self.X, "shape") else [self.X[i] for i in rows]

    def values(self, rows: NDArray, columns: NDArray) -> NDArray[np.floating]:
        """k(x_i, x_j) for i in rows and j in columns, float64."""
        if self.precomputed:
            return np.asarray(self.X[np.ix_(rows, columns)], dtype=float)
        left = self.take(rows)
        half = rows is columns and self.kernel.mirrors
        right = None if half else self.take(columns)
        try:
            return kernel_values(self.kernel, left, right, self.n_jobs).astype(float, copy=False)
        except BadPairError as bad:
            raise bad.among(rows, columns) from None

    def blocks(self, landmarks: NDArray) -> Iterator[tuple[slice, NDArray[np.floating]]]:
        """Row blocks of k(X, landmarks)."""
        for rows in row_blocks(len(self), 8 * max(1, len(landmarks)), 8 * BLOCK_BYTES):
            yield rows, self.values(np.arange(rows.start, rows.stop), landmarks)


def kernel_values(kernel: Kernel, X: Any, Y: Any, n_jobs: int | None = None) -> NDArray:
    """The block k(X, Y), Y = None means X, in parallel processes if asked for."""
    workers = effective_n_jobs(n_jobs)
    n = _len(X)
    if workers == 1 or n < 2:
        return kernel(X, Y)
    Y = X if Y is None else Y
    # A few pieces per process even out pairs of different cost.
    pieces = list(row_blocks(n, 1, max(1, -(-n // (4 * workers)))))
    done = Parallel(n_jobs=n_jobs)(
        delayed(_piece)(kernel, X[rows], Y, rows.start) for rows in pieces
    )
    return np.concatenate(list(done))


def _piece(kernel: Kernel, X: Any, Y: Any, start: int) -> NDArray:
    try:
        return kernel(X, Y)
    except BadPairError as bad:
        raise bad.among(range(start, start + _len(X)), range(_len(Y))) from None
