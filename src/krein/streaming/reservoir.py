"""A sample of distinct rows from a stream, drawn by the content of the rows.

Every distinct row has a clock, a random number that depends only on the content of the row and on
the seed (see `krein._hashing`). The sample consists of the rows with the smallest clocks. It does
not depend on the order of the rows, on the size of the blocks, or on the order in which partial
samples are merged: a row of the final sample has one of the smallest clocks of every part of the
data, so no partial sample drops the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._hashing import Draws, Hashes, Salt, hash_rows
from .._validation import check_count
from ..rows import as_rows, canonical, concatenated, count, is_objects, take
from .fold import fold


@dataclass(frozen=True, eq=False)
class Reservoir:
    """Sample of the `size` distinct rows of positive weight with the smallest clocks.

    Construct an empty reservoir with `Reservoir.zero`. `update` and `merge` return new reservoirs.
    Rows of equal content are one row: its weight is the sum of their weights, and its target is the
    smallest of their targets.

    Parameters
    ----------
    size : int
        The number of rows to keep.
    key : int
        The seed of the clocks.
    n_seen : int, default=0
        The number of rows seen, including rows of weight zero.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Reservoir
    >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 0.0]])
    >>> kept = Reservoir.zero(5, key=0).update(X)
    >>> len(kept.rows), kept.is_complete
    (2, True)
    """

    size: int
    key: int
    n_seen: int = 0
    # A part without rows, whose X has the width and the dtype of all rows seen.
    _layout: _Part = field(default_factory=lambda: _empty(np.empty((0, 0))))
    # Samples of parts of the data. Each has at most half the length of the previous one, so that a
    # row is copied only O(log n) times. They keep one row more than the sample, which tells whether
    # the sample contains every row.
    _parts: tuple[_Part, ...] = ()

    @classmethod
    def zero(cls, size: int, key: int) -> Reservoir:
        """Return a reservoir that has seen no rows.

        Parameters
        ----------
        size : int
            The number of rows to keep.
        key : int
            The seed of the clocks.
        """
        if not isinstance(key, int | np.integer):
            raise ValueError(f"Reservoir needs key to be a whole number, got {key!r}.")
        return cls(check_count("Reservoir", "size", size), int(key))

    def update(self, X: Any, weight: Any = None, y: Any = None) -> Reservoir:
        """Return a reservoir that has also seen the rows of X.

        Parameters
        ----------
        X : ndarray or CSR of shape (n, d), or list of n objects
            The rows.
        weight : array-like of shape (n,), default=None
            The non-negative weights of the rows. Rows of weight zero are never sampled. None gives
            every row the weight 1.
        y : array-like of shape (n,) or (n, k), default=None
            The targets of the rows, which are sampled with the rows. Pass y in all blocks or in
            none.
        """
        X = _canonical(X)
        n = count(X)
        weight = np.ones(n) if weight is None else _check_weight(weight, n)
        if not n:
            return self
        hashes = hash_rows(X)
        clocks = Draws(hashes, self.key).clocks(Salt.UNIFORM)
        rows = np.flatnonzero((weight > 0) & (clocks <= self._threshold))
        targets = None if y is None else np.asarray(y)[rows]
        part = _Part(_own(X, rows), hashes[rows], clocks[rows], weight[rows], targets)
        return self._with_parts(X, n, [_joint([part])] if len(rows) else [])

    def merge(self, other: Reservoir) -> Reservoir:
        """Return a reservoir that has seen the rows of both."""
        for name in ("size", "key"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(
                    f"Reservoirs of {name} {mine} and {name} {theirs} cannot be merged: start both "
                    f"with the same {name}."
                )
        if not other.n_seen:
            return self
        return self._with_parts(other._layout.X, other.n_seen, other._parts)

    def _with_parts(self, X: Any, n: int, parts: Iterable[_Part]) -> Reservoir:
        """Return a reservoir that has also seen n rows like those of X, sampled in `parts`."""
        layout = _joined(self._layout.X, X) if self.n_seen else X
        kept = list(self._parts)
        for part in parts:
            part = part.first(self.size + 1)
            while kept and 2 * len(part) > len(kept[-1]):
                part = _joint([kept.pop(), part]).first(self.size + 1)
            kept.append(part)
        return replace(self, n_seen=self.n_seen + n, _layout=_empty(layout), _parts=tuple(kept))

    @property
    def _threshold(self) -> float:
        """Rows with a larger clock can never be in the sample."""
        full = [part.clocks[-1] for part in self._parts if len(part) > self.size]
        return float(min(full, default=np.inf))

    @property
    def _kept(self) -> _Part:
        return _joint([self._layout, *self._parts])

    @property
    def _sample(self) -> _Part:
        return self._kept.first(self.size)

    @property
    def is_complete(self) -> bool:
        """True if the sample contains every distinct row of positive weight."""
        return len(self._kept) <= self.size

    @property
    def rows(self) -> Any:
        """The sampled rows, sorted by clock: ndarray or CSR of shape (m, d), or list."""
        return self._sample.X

    @property
    def y(self) -> NDArray | None:
        """The targets of the sampled rows, or None if the data have no targets."""
        return self._sample.y

    @property
    def weight(self) -> NDArray[np.floating]:
        """The weights of the sampled rows, shape (m,)."""
        return self._sample.weight

    @property
    def hashes(self) -> Hashes:
        """The content hashes of the sampled rows, shape (m,)."""
        return self._sample.hashes

    def __len__(self) -> int:
        return len(self._sample)


class Sample:
    """A statistic that updates a `Reservoir`, whose size depends on the first block.

    Parameters
    ----------
    size : callable
        ``size(X)`` returns the number of rows to keep; X is the first block.
    key : int
        The seed of the clocks.
    reservoir : Reservoir, default=None
        The reservoir so far. None before the first block.
    """

    def __init__(self, size: Callable[[Any], int], key: int, reservoir: Reservoir | None = None):
        self.size, self.key, self.reservoir = size, key, reservoir

    def update(self, block: Any) -> Sample:
        """Return the sample with the rows of one more block."""
        reservoir = self.reservoir or Reservoir.zero(self.size(block.X), self.key)
        return Sample(self.size, self.key, reservoir.update(block.X, block.weight, block.y))

    def merge(self, other: Sample) -> Sample:
        """Return the sample of the rows of both."""
        if self.reservoir is None or other.reservoir is None:
            return other if self.reservoir is None else self
        return Sample(self.size, self.key, self.reservoir.merge(other.reservoir))


def sample(container: Iterable[Any], size: int, key: int) -> Reservoir:
    """Draw `size` distinct rows from a container in one pass.

    Parameters
    ----------
    container : Container or iterable of Block
        The data, for example the blocks that `checked` yields.
    size : int
        The number of rows to keep.
    key : int
        The seed of the clocks.

    Returns
    -------
    Reservoir

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import InMemory, sample
    >>> sample(InMemory(np.arange(100.0)[:, None], rows=32), size=10, key=0).rows.shape
    (10, 1)
    """
    found = fold(container, Sample(lambda X: size, key)).reservoir
    return Reservoir.zero(size, key) if found is None else found


# --- rows ----------------------------------------------------------------------------------------


def _joined(mine: Any, theirs: Any) -> Any:
    """Return no rows, in the promoted dtype; raise a ValueError unless the rows are alike."""
    kinds = [_kind(X) for X in (mine, theirs)]
    if kinds[0] != kinds[1]:
        raise ValueError(f"A reservoir of {kinds[0]} rows cannot take {kinds[1]} rows: convert X.")
    widths = [0 if is_objects(X) else X.shape[1] for X in (mine, theirs)]
    if widths[0] != widths[1]:
        raise ValueError(
            f"A reservoir of rows of width {widths[0]} cannot take rows of width {widths[1]}: all "
            "rows need the same columns."
        )
    return concatenated([mine, theirs[:0]])


def _kind(X: Any) -> str:
    return "objects" if is_objects(X) else "sparse" if sparse.issparse(X) else "dense"


def _canonical(X: Any) -> Any:
    """Return rows that `hash_rows` accepts; the caller's rows are not changed."""
    X = as_rows(X)
    if is_objects(X):
        return X
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            "A reservoir takes a matrix of real numbers or a list of objects, got an array of "
            f"shape {X.shape} and dtype {X.dtype}."
        )
    X = X.astype(np.float64) if X.dtype == bool else X
    if sparse.issparse(X):
        X = canonical(sparse.csr_array(X))
    return X


def _own(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return copies of some rows; rows of the same hash have the same stored values."""
    taken = take(X, rows)
    if sparse.issparse(taken):
        taken.eliminate_zeros()
    elif not is_objects(taken):
        taken += 0  # −0 becomes 0
    return taken


def _check_weight(weight: Any, n: int) -> NDArray[np.float64]:
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(
            f"weight has shape {weight.shape} for {n} rows of X: every row needs one number."
        )
    bad = ~(weight >= 0) | np.isinf(weight)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"weight is {weight[row]:g} in row {row}: weights must be finite and not negative."
        )
    return weight


class _Part(NamedTuple):
    """Distinct rows in the order of their clocks."""

    X: Any
    hashes: Hashes
    clocks: NDArray[np.floating]
    weight: NDArray[np.floating]
    y: NDArray | None = None

    def __len__(self) -> int:
        return len(self.hashes)

    def first(self, n: int) -> _Part:
        if len(self) <= n:
            return self
        parts: Any = (None if part is None else take(part, np.arange(n)) for part in self)
        return _Part(*parts)


def _empty(X: Any) -> _Part:
    return _Part(X[:0], np.empty(0, np.uint64), np.empty(0), np.empty(0))


def _joint(parts: Iterable[_Part]) -> _Part:
    """Return the distinct rows of several parts, sorted by clock."""
    *columns, targets = zip(*parts, strict=True)
    X, hashes, clocks, weight = map(concatenated, columns)
    given = [y for y in targets if y is not None]
    y = np.concatenate(given) if given else None
    order = np.lexsort((*order_of_targets(y), hashes, clocks))
    hashes = hashes[order]
    is_first = np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)]
    starts = np.flatnonzero(is_first)
    rows = order[starts]
    total = np.add.reduceat(weight[order], starts)
    return _Part(_own(X, rows), hashes[starts], clocks[rows], total, None if y is None else y[rows])


def order_of_targets(y: NDArray | None) -> list[NDArray]:
    """Return keys for `numpy.lexsort` that sort rows of equal content by their targets."""
    if y is None:
        return []
    columns = y.reshape(len(y), -1)
    columns = columns.astype(str) if columns.dtype == object else columns
    return list(columns.T[::-1])
