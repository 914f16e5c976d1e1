"""Mean and centred scatter of a stream, in one pass and with full precision.

Raw sums ``Σ a aᵀ`` lose precision if the mean is large: a mean of 1e6 costs half of the digits.
Therefore each block is centred by its own mean, and two blocks are merged by

    mean = mean₁ + (w₂/w) d,    scatter = scatter₁ + scatter₂ + (w₁ w₂/w) d dᵀ,    d = mean₂ − mean₁
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blocks import row_blocks
from .._threads import over_blocks

Array = NDArray[np.floating]

# Number of columns of one tile of a matrix product; each thread computes whole tiles.
TILE = 256
# With fewer entries than this, a product takes less time than starting a thread.
LITTLE = 2**17


@dataclass(frozen=True)
class Moments:
    """Total weight, mean and centred scatter of rows a_i with weights s_i.

    Parameters
    ----------
    weight : float
        The sum of the weights, ``Σ s_i``.
    mean : ndarray of shape (p,)
        The weighted mean of the rows.
    scatter : ndarray of shape (p, p)
        ``Σ s_i (a_i − mean)(a_i − mean)ᵀ``.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Moments
    >>> rows = np.array([[1.0, 0], [3, 4], [5, 2]])
    >>> both = Moments.of(rows[:1]).merge(Moments.of(rows[1:]))
    >>> both.mean, both.scatter
    (array([3., 2.]), array([[8., 4.],
           [4., 8.]]))
    """

    weight: float
    mean: Array
    scatter: Array

    @classmethod
    def zero(cls, width: int) -> Moments:
        """Return the moments of no rows.

        Parameters
        ----------
        width : int
            The number of columns.
        """
        return cls(0.0, np.zeros(width), np.zeros((width, width)))

    @classmethod
    def of(cls, A: Array, weight: Array | None = None) -> Moments:
        """Return the moments of one block of rows.

        Parameters
        ----------
        A : ndarray of shape (n, p)
            The rows.
        weight : ndarray of shape (n,), default=None
            The weights of the rows. None gives every row the weight 1.
        """
        total = MomentsSum(A.shape[1])
        total.add(A, weight=weight)
        return total.freeze()

    @classmethod
    def total(cls, parts: Iterable[Moments]) -> Moments:
        """Return the moments of the rows of all parts, merged in pairs.

        Parameters
        ----------
        parts : iterable of Moments
            The moments of disjoint sets of rows, at least one.
        """
        queue = list(parts)
        if not queue:
            raise ValueError("The total of no moments is not defined: pass at least one.")
        while len(queue) > 1:
            pairs = zip(queue[::2], queue[1::2], strict=False)
            queue = [a.merge(b) for a, b in pairs] + ([queue[-1]] if len(queue) % 2 else [])
        return queue[0]

    @classmethod
    def rests(cls, parts: Sequence[Moments]) -> Iterator[Moments]:
        """Yield, for each part, the moments of the rows of all other parts.

        The other parts are merged. Subtracting the part from the total would lose all digits if
        the part were much larger than the others.

        Parameters
        ----------
        parts : sequence of Moments
            The moments of disjoint sets of rows, at least one.
        """
        zero = cls.zero(parts[0].width)
        after = [zero]
        for part in reversed(parts[1:]):
            after.append(part.merge(after[-1]))
        before = zero
        for part, later in zip(parts, reversed(after), strict=True):
            yield before.merge(later)
            before = before.merge(part)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.mean)

    def merge(self, other: Moments) -> Moments:
        """Return the moments of the rows of both."""
        self._check(other)
        weight = self.weight + other.weight
        if not self.weight or not other.weight:
            return other if not self.weight else self
        d = other.mean - self.mean
        scatter = self.scatter + other.scatter
        scatter += np.outer(d, (self.weight * (other.weight / weight)) * d)
        return Moments(weight, self.mean + (other.weight / weight) * d, scatter)

    def mapped(self, matrix: Array, shift: Array | float = 0.0) -> Moments:
        """Return the moments of the rows ``matrixᵀ a_i + shift``.

        Parameters
        ----------
        matrix : ndarray of shape (p, r)
            The columns of the new rows as combinations of the columns of the rows.
        shift : ndarray of shape (r,), default=0.0
            A row that is added to every new row.
        """
        scatter = matrix.T @ self.scatter @ matrix
        return Moments(self.weight, self.mean @ matrix + shift, scatter)

    def _check(self, other: Moments) -> None:
        if self.width != other.width:
            raise ValueError(
                f"Moments of {self.width} columns cannot be merged with moments of {other.width}: "
                "both must come from the same features and targets."
            )


class MomentsSum:
    """Moments that are updated in place, without the copies that `Moments.merge` makes.

    Parameters
    ----------
    width : int
        The number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import MomentsSum
    >>> total = MomentsSum(2)
    >>> for rows in (np.array([[1.0, 0.0]]), np.array([[3.0, 4.0], [5.0, 2.0]])):
    ...     total.add(rows)
    >>> total.freeze().mean
    array([3., 2.])
    """

    def __init__(self, width: int):
        self.weight = 0.0
        self.mean: Array = np.zeros(width)
        self._scatter: Array = np.zeros((width, width))

    def add(self, *columns: Array, weight: Array | None = None) -> None:
        """Add rows that are given as blocks of columns.

        Sums are computed in float64, products in the precision of the first block. The mean is
        subtracted from each block in the precision of that block.

        Parameters
        ----------
        *columns : ndarray of shape (n, p_1), (n, p_2), …
            The columns of the rows; ``p_1 + p_2 + …`` is the width.
        weight : ndarray of shape (n,), default=None
            The weights of the rows. None gives every row the weight 1.
        """
        widths = [block.shape[1] for block in columns]
        if sum(widths) != len(self.mean):
            raise ValueError(
                f"Moments of {len(self.mean)} columns cannot take rows of {sum(widths)} columns."
            )
        n = len(columns[0])
        added = float(n) if weight is None else float(weight.sum())
        if not added:
            return
        means = [
            (block.sum(axis=0, dtype=np.float64) if weight is None else weight @ block) / added
            for block in columns
        ]
        total = self.weight + added
        d = np.concatenate(means) - self.mean
        shift = np.sqrt(self.weight * (added / total)) * d
        add_gram(_centred(columns, means, weight), self._scatter, shift)
        self.mean += (added / total) * d
        self.weight = total

    def join(self, other: Moments) -> None:
        """Add the moments of other rows."""
        both = self.freeze().merge(other)
        self.weight, self.mean, self._scatter = both.weight, both.mean.copy(), both.scatter.copy()

    def freeze(self) -> Moments:
        """Return the moments of all rows that were added."""
        return Moments(self.weight, self.mean.copy(), symmetric(self._scatter))


def _centred(columns: Sequence[Array], means: Sequence[Array], weight: Array | None) -> Array:
    """Return the centred columns, multiplied by the square roots of the weights; in threads."""
    n, width = len(columns[0]), sum(len(mean) for mean in means)
    dtype = np.float32 if columns[0].dtype == np.float32 else np.float64
    A = np.empty((n, width), dtype=dtype)
    root = None if weight is None else np.sqrt(weight).astype(dtype)[:, None]

    def work(rows: slice) -> None:
        start = 0
        for block, mean in zip(columns, means, strict=True):
            out = A[rows, start : start + len(mean)]
            np.subtract(block[rows], mean.astype(block.dtype), out=out, casting="same_kind")
            start += len(mean)
        if root is not None:
            A[rows] *= root[rows]

    if A.size < LITTLE:
        work(slice(0, n))
    else:
        over_blocks(work, row_blocks(n, 1, -(-n // 8)))
    return A


def symmetric(A: Array) -> Array:
    """Return the symmetric matrix with the upper triangle of A."""
    return np.where(_lower(len(A)), A.T, A)


@lru_cache(maxsize=1)
def _lower(n: int) -> NDArray[np.bool_]:
    """Return a mask of the entries below the diagonal; Newton's method needs it in every step."""
    return np.tri(n, k=-1, dtype=bool)


def add_gram(A: Array, out: Array, shift: Array | None = None) -> None:
    """Add ``AᵀA + shift shiftᵀ`` to `out`, on and above the diagonal, by tiles in threads.

    The tiles depend only on the shape of A, so the number of threads does not change the result.
    """
    n_tiles = 1 if A.size < LITTLE else max(2, round(len(out) / TILE))
    edges = [i * len(out) // n_tiles for i in range(n_tiles + 1)]
    tiles = [slice(*pair) for pair in pairwise(edges)]
    # Tiles off the diagonal take twice as long. They come first so that no thread waits at the end.
    pairs = [(left, right) for i, left in enumerate(tiles) for right in tiles[i + 1 :]]

    def work(pair: tuple[slice, slice]) -> None:
        # NumPy computes only half of a symmetric product on the diagonal. SciPy would do the same,
        # but its separate BLAS has threads that compete with the threads of NumPy's BLAS.
        left, right = pair
        product = A[:, left].T @ A[:, right]
        out[left, right] += product
        if shift is not None:
            out[left, right] += np.outer(shift[left], shift[right])

    if len(tiles) == 1:
        return work((tiles[0], tiles[0]))
    over_blocks(work, [*pairs, *((tile, tile) for tile in tiles)])


class FoldMoments:
    """A statistic: the moments of [Z Y] over all rows, or over the rows of each fold.

    Parameters
    ----------
    width : int
        The number of columns of [Z Y].
    folds : Folds or GivenFolds, default=None
        The folds. None computes the moments of all rows together.
    """

    def __init__(self, width: int, folds: Any = None):
        self.folds = folds
        n_parts = 1 if folds is None else folds.n_folds + 1
        self._sums = [MomentsSum(width) for _ in range(n_parts)]

    def update(self, block: Any) -> FoldMoments:
        """Add a block with attributes Z, Y, weight, hashes and rows."""
        if self.folds is None:
            self._sums[0].add(block.Z, block.Y, weight=block.weight)
            return self
        places = self.folds(block.hashes, block.rows)
        for number, total in enumerate(self._sums):
            # The last part contains the rows that no fold tests.
            rows = places == (number if number < len(self._sums) - 1 else -1)
            weight = None if block.weight is None else block.weight[rows]
            total.add(block.Z[rows], block.Y[rows], weight=weight)
        return self

    def merge(self, other: FoldMoments) -> FoldMoments:
        """Add the moments of the rows of `other`, in place."""
        for mine, theirs in zip(self._sums, other._sums, strict=True):
            mine.join(theirs.freeze())
        return self

    def moments(self) -> list[Moments]:
        """Return the moments of all rows, or of each fold and of the rows that no fold tests."""
        return [total.freeze() for total in self._sums]
