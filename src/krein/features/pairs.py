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

    The table has a line for each object that was requested as a column, and a place in every line
    for each object that was requested as a row. The number of lines is limited, so that the table
    fits into `MOST_BYTES` even if all objects are requested as rows; values that do not fit are
    computed each time. If the kernel is symmetric, only one of k(x_i, x_j) and k(x_j, x_i) is
    computed.

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
        # Line of each object as a column and place of each object as a row, or -1.
        self._line, self._place = np.full(n, -1), np.full(n, -1)
        self._table: NDArray[np.floating] = np.empty((0, 0))
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
        self.remember(rows, columns, block)
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
        here, there, cells = self._cells(rows, columns)
        block[np.ix_(here, there)] = self._table[cells].T
        if self.symmetric:
            there, here, cells = self._cells(columns, rows)
            old = block[np.ix_(here, there)]
            block[np.ix_(here, there)] = np.where(np.isnan(old), self._table[cells], old)
        return block

    def remember(self, rows: Indices, columns: Indices, block: NDArray) -> None:
        """Store a block of values, as far as there is room; NaN stands for an unknown value."""
        common, i, j = np.intersect1d(rows, columns, assume_unique=True, return_indices=True)
        self._self[common] = block[i, j]
        _number(self._line, columns, self._most)
        _number(self._place, rows, len(self._place))
        wanted = int(self._line.max()) + 1, int(self._place.max()) + 1
        self._table = _enlarged(self._table, wanted, len(self._place))
        here, there, cells = self._cells(rows, columns)
        self._table[cells] = block[np.ix_(here, there)].T

    def _cells(self, rows: Indices, columns: Indices) -> tuple[Indices, Indices, Any]:
        """Return the rows and the columns that the table has, and their cells in the table."""
        here = np.flatnonzero(self._place[rows] >= 0)
        there = np.flatnonzero(self._line[columns] >= 0)
        return here, there, np.ix_(self._line[columns[there]], self._place[rows[here]])


def _number(numbers: Indices, objects: Indices, most: int) -> None:
    """Give the next numbers to objects that have none, as long as there are fewer than `most`."""
    first = int(numbers.max(initial=-1)) + 1
    new = objects[numbers[objects] < 0][: max(0, most - first)]
    numbers[new] = first + np.arange(len(new))


def _enlarged(table: NDArray, wanted: tuple[int, int], most: int) -> NDArray[np.floating]:
    """Return a table of at least the wanted shape, and at most `most` columns; new cells are NaN.

    Rows come in many blocks. A table that becomes wider doubles its width, so that it is seldom
    copied.
    """
    lines, places = table.shape
    if wanted[0] <= lines and wanted[1] <= places:
        return table
    width = places if wanted[1] <= places else min(most, max(wanted[1], 2 * places))
    larger = np.full((max(wanted[0], lines), width), np.nan)
    larger[:lines, :places] = table
    return larger
