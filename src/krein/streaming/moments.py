"""Mean and centred scatter of a stream, in one pass and with full precision.

Raw sums ``Σ a aᵀ`` lose precision if the mean is large: a mean of 1e6 costs half of the digits.
Therefore columns with a large mean are moved near zero, and moments are centred when they are
merged:

    mean = mean₁ + (w₂/w) d,    scatter = scatter₁ + scatter₂ + (w₁ w₂/w) d dᵀ,    d = mean₂ − mean₁
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blocks import CACHE_BYTES, Scratch, mirror_upper, row_blocks
from .._threads import each, over_blocks
from .gram import LITTLE, add_gram

Array = NDArray[np.floating]

# The squared mean of a column is large if it is above this multiple of the variance, which costs
# less than two digits in double precision and one digit in single precision. The variance is
# estimated on at most PILOT rows.
LARGE_MEAN = {np.dtype(np.float64): 100.0, np.dtype(np.float32): 4.0}
PILOT = 1000
# Columns are summed over this many rows at a time in the precision of the block. These sums are
# added in float64.
SUMMED = 256


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
        return total.freeze(is_last=True)

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
        _add_outer(scatter, d, (self.weight * (other.weight / weight)) * d)
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

    Products are sums of ``(a − c)(a − c)ᵀ`` with an origin c. The origin of a column is its mean in
    the first block if the mean is large compared with the spread of the column. Otherwise the
    origin is 0: the block is multiplied as it is, and no important digit is lost.

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
        self._origin: Array | None = None
        self._sum: Array = np.zeros(width)  # of a − c
        self._products: Array = np.zeros((width, width))
        self._spare = Scratch()

    def add(self, *columns: Array, weight: Array | None = None) -> None:
        """Add rows that are given as blocks of columns.

        Products are computed in the precision of the first block, and sums of a few rows in the
        precision of their block. Both are added in float64.

        Parameters
        ----------
        *columns : ndarray of shape (n, p_1), (n, p_2), …
            The columns of the rows; ``p_1 + p_2 + …`` is the width.
        weight : ndarray of shape (n,), default=None
            The weights of the rows. None gives every row the weight 1.
        """
        widths = [block.shape[1] for block in columns]
        if sum(widths) != len(self._sum):
            raise ValueError(
                f"Moments of {len(self._sum)} columns cannot take rows of {sum(widths)} columns."
            )
        added = float(len(columns[0])) if weight is None else float(weight.sum())
        if not added:
            return
        if self._origin is None:
            self._origin = np.concatenate([_origin(block, weight) for block in columns])
        origins = np.split(self._origin, np.cumsum(widths)[:-1])
        rooms = (partial(self._spare.array, str(i)) for i in range(len(columns)))
        pairs = zip(columns, origins, rooms, strict=True)
        near, sums = zip(*(_moved(*pair, weight) for pair in pairs), strict=True)
        add_gram([block.astype(near[0].dtype, copy=False) for block in near], self._products)
        self._sum += np.concatenate(sums)
        self.weight += added

    def join(self, other: Moments) -> None:
        """Add the moments of other rows."""
        both = self.freeze().merge(other)
        if not both.weight:
            return
        self.weight, self._origin = both.weight, both.mean.copy()
        self._sum, self._products = np.zeros(both.width), both.scatter.copy()

    def freeze(self, is_last: bool = False) -> Moments:
        """Return the moments of all rows that were added.

        Parameters
        ----------
        is_last : bool, default=False
            True if the sum is not used any more: its products are then not copied, since the fresh
            memory of a large matrix costs more than a product of few rows.
        """
        if self._origin is None:
            return Moments.zero(len(self._sum))
        d = self._sum / self.weight
        scatter = self._products if is_last else self._products.copy()
        _add_outer(scatter, -self._sum, d)
        return Moments(self.weight, self._origin + d, mirror_upper(scatter))


def _add_outer(out: Array, a: Array, b: Array) -> None:
    """Add ``a bᵀ`` to a matrix, in blocks: the fresh memory of a second matrix costs far more."""
    for rows in row_blocks(len(a), 8 * len(b), CACHE_BYTES):
        out[rows] += np.outer(a[rows], b)


def _origin(block: Array, weight: Array | None) -> Array:
    """Return the mean of each column if it is large compared with the spread, else 0."""
    mean = (
        block.mean(axis=0, dtype=np.float64)
        if weight is None
        else np.average(block, axis=0, weights=weight)
    )
    some = block[:PILOT].astype(np.float64)
    some -= mean
    spread = np.einsum("ij,ij->j", some, some) / len(some)
    # The precision of the block represents this number exactly, so the rows move by exactly this
    # number.
    near = mean.astype(block.dtype).astype(np.float64)
    large = np.square(mean) > LARGE_MEAN.get(block.dtype, 0.0) * spread
    return np.where(large, near, 0.0)


def _moved(
    block: Array, origin: Array, room: Callable[..., Array], weight: Array | None
) -> tuple[Array, Array]:
    """Return ``√weight (a − c)`` of each row, and the weighted sum of all ``a − c`` in float64.

    Parameters
    ----------
    block : ndarray of shape (n, p)
        The rows a.
    origin : ndarray of shape (p,)
        The origin c. If it is 0 and no weights are given, the block itself is returned.
    room : callable
        ``room(shape, dtype)`` returns memory for moved rows.
    weight : ndarray of shape (n,) or None
    """
    is_exact = np.array_equal(origin.astype(block.dtype), origin)
    dtype = block.dtype if is_exact else np.dtype(np.float64)
    moves = weight is not None or bool(origin.any())
    A = room(block.shape, dtype) if moves else block
    root = np.ones(len(A), dtype) if weight is None else np.sqrt(weight).astype(dtype)
    chunks = list(row_blocks(len(A), 1, SUMMED))
    sums = np.empty((len(chunks), A.shape[1]), dtype)

    def work(number: int) -> None:
        rows = chunks[number]
        if moves:
            np.subtract(block[rows], origin.astype(dtype), out=A[rows])
        if weight is not None:
            A[rows] *= root[rows, None]
        np.dot(root[rows], A[rows], out=sums[number])

    run = each if A.size < LITTLE else over_blocks
    run(work, range(len(chunks)))
    return A, sums.sum(axis=0, dtype=np.float64)


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
