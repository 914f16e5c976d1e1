"""A table of kernel values: each pair of objects is computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blocks import mirror_upper

Indices = NDArray[np.intp]
# Largest memory of the table, in bytes.
MOST_BYTES = 2**28


class Pairs:
    """The values k(x_i, x_j) of n objects, stored while a map is fitted.

    The table has a row for each object that was requested as a row, and a column for each object
    that was requested as a column. The number of columns is limited, so that the table fits into
    `MOST_BYTES` even if all objects are requested as rows; values that do not fit are computed each
    time. If the kernel is symmetric, only one of k(x_i, x_j) and k(x_j, x_i) is computed.

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
        # Row and column of each object in the table, or -1.
        self._row, self._column = np.full(n, -1), np.full(n, -1)
        self._table: NDArray[np.floating] = np.empty((0, 0))
        self._most = MOST_BYTES // (8 * max(1, n))

    def values(self, rows: Indices, columns: Indices) -> NDArray[np.floating]:
        """Return k(x_i, x_j) for distinct i in `rows` and distinct j in `columns`."""
        common, i, j = _common(rows, columns)
        block = self._known(rows, columns)
        block[i, j] = self._self[common]
        wanted = np.isnan(block)
        if not wanted.any():
            return block
        if self.symmetric:  # compute one of k(x, y) and k(y, x), and copy it
            wanted &= ~_mirrored(block.shape, i, j)
        np.copyto(block, self.compute(rows, columns, wanted), where=wanted)
        if self.symmetric:
            cells = _cells(i, j)
            block[cells] = mirror_upper(block[cells])
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
        here, there, stored = self._stored(rows, columns)
        block[_cells(here, there)] = self._table[stored]
        if self.symmetric and np.isnan(block).any():
            there, here, stored = self._stored(columns, rows)
            old = block[cells := _cells(here, there)]
            block[cells] = np.where(np.isnan(old), self._table[stored].T, old)
        return block

    def remember(self, rows: Indices, columns: Indices, block: NDArray) -> None:
        """Store a block of values, as far as there is room; NaN stands for an unknown value."""
        common, i, j = _common(rows, columns)
        self._self[common] = block[i, j]
        _number(self._row, rows, len(self._row))
        _number(self._column, columns, self._most)
        wanted = int(self._row.max()) + 1, int(self._column.max()) + 1
        self._table = _enlarged(self._table, wanted, len(self._row))
        here, there, stored = self._stored(rows, columns)
        self._table[stored] = block[_cells(here, there)]

    def _stored(self, rows: Indices, columns: Indices) -> tuple[Indices, Indices, Any]:
        """Return the places of the rows and columns that the table has, and their cells there."""
        here = np.flatnonzero(self._row[rows] >= 0)
        there = np.flatnonzero(self._column[columns] >= 0)
        return here, there, _cells(self._row[rows[here]], self._column[columns[there]])


def _common(rows: Indices, columns: Indices) -> tuple[Indices, Indices, Indices]:
    """Return the objects that are rows and columns, and their places in both, by rows."""
    found = np.intersect1d(rows, columns, assume_unique=True, return_indices=True)
    order = np.argsort(found[1])
    return found[0][order], found[1][order], found[2][order]


def _cells(rows: Indices, columns: Indices) -> Any:
    """Return the index of a block of cells; consecutive rows or columns are a slice."""
    spans = tuple(
        slice(int(places[0]), int(places[-1]) + 1)
        if len(places) and (np.diff(places) == 1).all()
        else places
        for places in (rows, columns)
    )
    return spans if any(isinstance(span, slice) for span in spans) else np.ix_(*spans)


def _mirrored(shape: tuple[int, int], i: Indices, j: Indices) -> NDArray[np.bool_]:
    """Mark the pairs (x, y) of a block that also stand in an earlier row, as (y, x).

    Row i[k] and column j[k] of the block belong to the same object, and i is in ascending order.
    The marks are the lower triangle of the rows i and the columns j.
    """
    is_column = np.zeros((shape[0], 1), dtype=bool)
    is_column[i] = True
    row_of_column = np.full(shape[1], shape[0])
    row_of_column[j] = i
    return is_column & (row_of_column < np.arange(shape[0])[:, None])


def _number(numbers: Indices, objects: Indices, most: int) -> None:
    """Give the next numbers to objects that have none, as long as there are fewer than `most`."""
    first = int(numbers.max(initial=-1)) + 1
    new = objects[numbers[objects] < 0][: max(0, most - first)]
    numbers[new] = first + np.arange(len(new))


def _enlarged(table: NDArray, wanted: tuple[int, int], most: int) -> NDArray[np.floating]:
    """Return a table of at least the wanted shape, and at most `most` rows; new cells are NaN.

    Rows come in many blocks. A table that needs more rows doubles its height, so that it is seldom
    copied.
    """
    height, width = table.shape
    if wanted[0] <= height and wanted[1] <= width:
        return table
    rows = height if wanted[0] <= height else min(most, max(wanted[0], 2 * height))
    larger = np.full((rows, max(wanted[1], width)), np.nan)
    larger[:height, :width] = table
    return larger
