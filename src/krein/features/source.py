"""The training objects as a Nyström map sees them: only through blocks of kernel values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from .._blocks import BLOCK_BYTES, row_blocks
from .._hashing import Draws, Hashes, hash_pairs, hash_rows
from .._threads import over_blocks
from ..kernels import Kernel, Precomputed
from ..kernels.base import _len, _take
from ..kernels.errors import BadPairError
from ..kernels.values import check_values, kernel_name
from .pairs import Pairs


class Source:
    """Objects and their kernel.

    Values of a kernel of objects, which may be a slow function of the user's, are remembered:
    no pair is computed twice.

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
            self._draws = Draws(self.hashes, key, merge=not self.precomputed)
        return self._draws

    @cached_property
    def hashes(self) -> Hashes:
        """The content hashes of the objects."""
        return hash_pairs(self.X) if self.precomputed else hash_rows(self.X)

    @cached_property
    def pairs(self) -> Pairs | None:
        """The remembered values of a kernel of objects; None for vectors and matrices."""
        if self.precomputed or self.kernel.takes_vectors:
            return None
        return Pairs(self._compute, self._self_values, len(self), self.is_symmetric)

    def take(self, rows: NDArray) -> Any:
        """Some of the objects; for a precomputed kernel their indices."""
        return rows if self.precomputed else _take(self.X, rows)

    def values(self, rows: NDArray, columns: NDArray) -> NDArray[np.floating]:
        """k(x_i, x_j) for i in rows and j in columns, float64 and finite."""
        if self.precomputed:
            return np.asarray(self.X[np.ix_(rows, columns)], dtype=float)
        if self.pairs is not None:
            return self.pairs.values(rows, columns)
        left, right = self.take(rows), self.take(columns)
        try:
            K = kernel_values(self.kernel, left, right, self.n_jobs).astype(float, copy=False)
        except BadPairError as bad:
            raise bad.among(rows, columns) from None
        return check_values(self.kernel, K, rows, columns)

    def turned(self, rows: NDArray, columns: NDArray) -> NDArray[np.floating]:
        """k(x_j, x_i) for i in rows and j in columns: rows as the kernel's second argument."""
        return np.ascontiguousarray(self.values(columns, rows).T)

    def diagonal(self, rows: NDArray) -> NDArray[np.floating]:
        """k(x_i, x_i) for i in rows."""
        if self.precomputed:
            return np.asarray(self.X[rows, rows], dtype=float)
        if self.pairs is not None:
            return self.pairs.diagonal(rows)
        return self._self_values(rows)

    def blocks(self, landmarks: NDArray) -> Iterator[NDArray[np.floating]]:
        """Row blocks of k(X, landmarks)."""
        for rows in row_blocks(len(self), 8 * max(1, len(landmarks)), 8 * BLOCK_BYTES):
            yield self.values(np.arange(rows.start, rows.stop), landmarks)

    def over_rows(self, work: Callable[[NDArray[np.intp]], None], n_columns: int) -> None:
        """Call `work` on blocks of all rows, for each of which it asks for `n_columns` values."""
        blocks = row_blocks(len(self), 8 * max(1, n_columns), BLOCK_BYTES)

        def on_block(rows: slice) -> None:
            work(np.arange(rows.start, rows.stop))

        if self.pairs is None and effective_n_jobs(self.n_jobs) == 1:
            over_blocks(on_block, blocks)
        else:  # functions of the user's are not called from threads
            for rows in row_blocks(len(self), 8 * max(1, n_columns), 8 * BLOCK_BYTES):
                on_block(rows)

    def _compute(
        self, rows: NDArray, columns: NDArray, wanted: NDArray[np.bool_]
    ) -> NDArray[np.floating]:
        """Values of a kernel of objects where they are wanted, in processes if asked for."""
        X, Y = self.take(rows), self.take(columns)
        try:
            return in_processes(self.kernel, X, Y, self.n_jobs, wanted)
        except BadPairError as bad:
            raise bad.among(rows, columns) from None

    def _self_values(self, rows: NDArray) -> NDArray[np.floating]:
        values = np.asarray(self.kernel.diag(self.take(rows)), dtype=float)
        for i in np.flatnonzero(~np.isfinite(values)):
            row = int(rows[i])
            raise BadPairError(kernel_name(self.kernel), float(values[i]), row, row)
        return values


def kernel_values(kernel: Kernel, X: Any, Y: Any, n_jobs: int | None = None) -> NDArray:
    """The block k(X, Y), in parallel processes if asked for, always in C order."""
    if effective_n_jobs(n_jobs) == 1 or _len(X) < 2:
        return np.ascontiguousarray(kernel(X, Y))
    return in_processes(kernel, X, Y, n_jobs)


def in_processes(
    kernel: Kernel, X: Any, Y: Any, n_jobs: int | None, wanted: NDArray[np.bool_] | None = None
) -> NDArray:
    """The block k(X, Y), at least where it is wanted, computed in row pieces."""
    n, workers = _len(X), effective_n_jobs(n_jobs)
    if workers == 1:
        return _piece(kernel, X, Y, 0, wanted)
    # A few pieces per process even out pairs of different cost.
    pieces = list(row_blocks(n, 1, max(1, -(-n // (4 * workers)))))
    done = Parallel(n_jobs=n_jobs)(
        delayed(_piece)(kernel, X[rows], Y, rows.start, None if wanted is None else wanted[rows])
        for rows in pieces
    )
    return np.concatenate(list(done))


def _piece(kernel: Kernel, X: Any, Y: Any, start: int, wanted: NDArray[np.bool_] | None) -> NDArray:
    try:
        return kernel(X, Y) if wanted is None else kernel._where(X, Y, wanted)
    except BadPairError as bad:
        raise bad.among(range(start, start + _len(X)), range(_len(Y))) from None
