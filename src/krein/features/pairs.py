"""A table of kernel values: each pair of objects is computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]
# Largest memory of the table, in bytes.
MOST_BYTES = 2**28


class Pairs:
    """The values k(x_i, x_j) of n objects, stored while a map is fitted.

    The table has a line of n values for each object that was requested as a column, up to
    `MOST_BYTES`. Values that do not fit are computed each time. If the kernel is symmetric, only
    one of k(x_i, x_j) and k(x_j, x_i) is computed.

    Parameters
    ----------
    compute : callable
        ``compute(rows, columns, wanted)`` returns a block of values. Values where the mask `wanted`
        is False are ignored.
    compute_self : callable
        ``compute_self(rows)`` returns k(x_i, x_i).
    n : int
        Number of objects.
    symmetric : bool
        True if k(x, y) = k(y, x).
    """

    def __init__(
        self,
        compute: Callable[[Indices, Indices, NDArray[np.bool_]], Any],
        compute_self: Callable[[Indices], Any],
        n: int,
        symmetric: bool,
    ):
        self.compute, self.compute_self, self.symmetric = compute, compute_self, symmetric
        self._self = np.full(n, np.nan)
        self._line = np.full(n, -1)  # line of each object in the table, or -1
        self._table = np.empty((0, n))
        self._most = MOST_BYTES // (8 * max(1, n))

    def values(self, rows: Indices, columns: Indices) -> NDArray[np.floating]:
        """Return k(x_i, x_j) for distinct i in `rows` and distinct j in `columns`."""
        common, i, j = np.intersect1d(rows, columns, assume_unique=True, return_indices=True)
        block = self._known(rows, columns)
        block[i, j] = self._self[common]
        wanted = np.isnan(block)
        if not wanted.any():
            return block
        # If a symmetric kernel needs both k(x, y) and k(y, x), compute one and copy it.
        both = wanted[np.ix_(i, j)] & self.symmetric
        a, b = np.nonzero(np.tril(both & both.T, -1))
        wanted[i[a], j[b]] = False
        block[wanted] = self.compute(rows, columns, wanted)[wanted]
        block[i[a], j[b]] = block[i[b], j[a]]
        self._self[common] = block[i, j]
        self._remember(rows, columns, block)
        return block

    def diagonal(self, rows: Indices) -> NDArray[np.floating]:
        """Return k(x_i, x_i) for i in `rows`."""
        missing = rows[np.isnan(self._self[rows])]
        if len(missing):
            self._self[missing] = self.compute_self(missing)
        return self._self[rows]

    def _known(self, rows: Indices, columns: Indices) -> NDArray[np.floating]:
        """Return the block with NaN for values that are not in the table."""
        block = np.full((len(rows), len(columns)), np.nan)
        there = np.flatnonzero(self._line[columns] >= 0)
        block[:, there] = self._table[np.ix_(self._line[columns[there]], rows)].T
        if self.symmetric:
            there = np.flatnonzero(self._line[rows] >= 0)
            turned = self._table[np.ix_(self._line[rows[there]], columns)]
            block[there] = np.where(np.isnan(block[there]), turned, block[there])
        return block

    def _remember(self, rows: Indices, columns: Indices, block: NDArray) -> None:
        new = columns[self._line[columns] < 0][: self._most - len(self._table)]
        if len(new):
            self._line[new] = len(self._table) + np.arange(len(new))
            lines = np.full((len(new), self._table.shape[1]), np.nan)
            self._table = np.concatenate([self._table, lines])
        there = np.flatnonzero(self._line[columns] >= 0)
        self._table[np.ix_(self._line[columns[there]], rows)] = block[:, there].T
