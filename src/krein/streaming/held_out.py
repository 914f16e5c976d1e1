"""Outputs and targets of rows that were held out: a bounded sample by content."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._hashing import Draws, Hashes, Salt, hash_rows, mix

Array = NDArray[np.floating]

# At most this many rows are kept, and at most this many bytes of outputs and targets.
HELD_ROWS, HELD_BYTES = 100_000, 2**26


class HeldRows(NamedTuple):
    """Outputs, targets and weights of rows that were held out.

    Attributes
    ----------
    outputs : ndarray of shape (n, q)
        The output of each row, by a model that has not learned from the row.
    Y : ndarray of shape (n, q)
        The targets.
    weight : ndarray of shape (n,)
        The weights, all positive.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import HeldRows
    >>> held = HeldRows(np.array([[0.9], [-0.2]]), np.array([[1.0], [-1.0]]), np.ones(2))
    >>> bool((np.sign(held.outputs) == held.Y).all())
    True
    """

    outputs: Array
    Y: Array
    weight: Array


class HeldOut:
    """A statistic: outputs, targets and weights of at most `size` different rows.

    Rows with equal content and equal targets become one row with the sum of their weights and the
    mean of their outputs: a calibration that is judged on one half of the rows must not have
    learned from their copies in the other half. If there are more than `size` of these rows, the
    rows with the smallest clocks are kept. The clock of a row is a random number that depends only
    on its content and its target, so the order of the rows and the size of the blocks change
    nothing.

    Parameters
    ----------
    n_outputs : int
        The number q of outputs.
    size : int, default=None
        The largest number of rows. None means 100,000 rows, or fewer if there are many outputs.
    without : ndarray of uint64, default=None
        The content hashes of rows that are not kept.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import HeldOut
    >>> held = HeldOut(1)
    >>> hashes = np.arange(3, dtype=np.uint64)
    >>> held = held.add(hashes, np.array([[0.1], [0.9], [0.2]]), np.array([[-1.0], [1], [-1]]))
    >>> held.rows.outputs.shape, held.rows.weight.tolist()
    ((3, 1), [1.0, 1.0, 1.0])
    """

    def __init__(self, n_outputs: int, size: int | None = None, without: Hashes | None = None):
        most = max(1, min(HELD_ROWS, HELD_BYTES // (16 * n_outputs)))
        self.n_outputs, self.size = n_outputs, most if size is None else size
        self.without = without
        self._parts: list[tuple[Array, HeldRows]] = []
        self._n_kept = 0

    def add(self, hashes: Hashes, outputs: Array, Y: Array, weight: Array | None = None) -> HeldOut:
        """Add rows, in place.

        Parameters
        ----------
        hashes : ndarray of uint64 of shape (n,)
            The content hashes of the rows.
        outputs : ndarray of shape (n, q)
        Y : ndarray of shape (n, q)
        weight : ndarray of shape (n,), default=None
            The weights. None gives every row the weight 1. Rows of weight zero are left out.
        """
        weight = np.ones(len(hashes)) if weight is None else weight
        used = weight > 0
        if self.without is not None:
            used &= ~np.isin(hashes, self.without)
        pairs = mix(hashes[used] + mix(hash_rows(np.ascontiguousarray(Y[used]))))
        clocks = Draws(pairs, 0).clocks(Salt.UNIFORM)
        return self._add(clocks, HeldRows(outputs[used], Y[used], weight[used]))

    def merge(self, other: HeldOut) -> HeldOut:
        """Add the rows of `other`, in place."""
        for clocks, rows in other._parts:
            self._add(clocks, rows)
        return self

    def _add(self, clocks: Array, rows: HeldRows) -> HeldOut:
        self._parts.append((clocks, rows))
        self._n_kept += len(clocks)
        if self._n_kept > 2 * self.size:
            self._parts = [self._sample()]
            self._n_kept = len(self._parts[0][0])
        return self

    @property
    def rows(self) -> HeldRows:
        """The kept rows, in an order that depends on their content only."""
        return self._sample()[1]

    def _sorted(self) -> tuple[Array, HeldRows]:
        clocks = np.concatenate([clocks for clocks, _ in self._parts])
        columns = zip(*(rows for _, rows in self._parts), strict=True)
        outputs, Y, weight = map(np.concatenate, columns)
        order = np.lexsort((weight, clocks))
        return clocks[order], HeldRows(outputs[order], Y[order], weight[order])

    def _sample(self) -> tuple[Array, HeldRows]:
        """Return the rows with the smallest clocks; rows of the same clock become one row."""
        if not self._n_kept:
            none = np.empty((0, self.n_outputs))
            return np.empty(0), HeldRows(none, none, np.empty(0))
        clocks, (outputs, Y, weight) = self._sorted()
        starts = np.flatnonzero(np.append(True, clocks[1:] != clocks[:-1]))
        total = np.add.reduceat(weight, starts)
        mean = np.add.reduceat(weight[:, None] * outputs, starts) / total[:, None]
        kept = slice(0, self.size)
        return clocks[starts][kept], HeldRows(mean[kept], Y[starts][kept], total[kept])
