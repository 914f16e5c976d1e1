"""A sample of distinct rows from a stream, drawn by the content of the rows.

Every distinct row has a clock, a random number that depends only on the content of the row and on
the seed (see `krein._hashing`). The sample consists of the rows with the smallest clocks. It does
not depend on the order of the rows, on the size of the blocks, or on the order in which partial
samples are merged: a row of the final sample has one of the smallest clocks of every part of the
data, so no partial sample drops the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._hashing import Draws, Hashes, Salt, hash_rows
from ..rows import as_rows, concatenated, count, take
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
    _layout: _Layout | None = None
    # Samples of parts of the data, sorted by length. Each sample has at most half the length of the
    # previous one, so that a row is copied only O(log n) times.
    _parts: tuple[_Part, ...] = ()
    _left_out: bool = False

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
        if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < 1:
            raise ValueError(f"Reservoir needs size to be a whole number ≥ 1, got {size!r}.")
        if not isinstance(key, int | np.integer):
            raise ValueError(f"Reservoir needs key to be a whole number, got {key!r}.")
        return cls(int(size), int(key))

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
        weight = _check_weight(weight, n)
        if not n:
            return self
        layout = self._joined(_Layout.of(X))
        hashes = hash_rows(X)
        clocks = Draws(hashes, self.key).clocks(Salt.UNIFORM)
        weight = np.ones(n) if weight is None else weight
        near = (weight > 0) & (clocks <= self._threshold)
        rows = np.flatnonzero(near)
        targets = None if y is None else np.asarray(y)[rows]
        part = _Part(_own(X, rows), hashes[rows], clocks[rows], weight[rows], targets)
        left_out = self._left_out or len(rows) < np.count_nonzero(weight)
        seen = replace(self, n_seen=self.n_seen + n, _layout=layout, _left_out=bool(left_out))
        return seen._with_parts([_joint([part])] if len(rows) else [])

    def merge(self, other: Reservoir) -> Reservoir:
        """Return a reservoir that has seen the rows of both."""
        for name in ("size", "key"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(
                    f"Reservoirs of {name} {mine} and {name} {theirs} cannot be merged: start both "
                    f"with the same {name}."
                )
        merged = replace(
            self,
            n_seen=self.n_seen + other.n_seen,
            _layout=self._layout if other._layout is None else self._joined(other._layout),
            _left_out=self._left_out or other._left_out,
        )
        return merged._with_parts(other._parts)

    def _with_parts(self, parts: Iterable[_Part]) -> Reservoir:
        kept, left_out = list(self._parts), self._left_out
        for part in parts:
            kept.append(part)
            kept.sort(key=len, reverse=True)
            while len(kept) > 1 and 2 * len(kept[-1]) > len(kept[-2]):
                joint = _joint([kept.pop(), kept.pop()])
                left_out = left_out or len(joint) > self.size
                kept.append(joint.first(self.size))
                kept.sort(key=len, reverse=True)
        # A single block may contain more rows than the sample.
        left_out = left_out or any(len(part) > self.size for part in kept)
        trimmed = tuple(part.first(self.size) for part in kept)
        return replace(self, _parts=trimmed, _left_out=left_out)

    def _joined(self, layout: _Layout) -> _Layout:
        return layout if self._layout is None else self._layout.joined(layout)

    @property
    def _threshold(self) -> float:
        """Rows with a larger clock can never be in the sample."""
        full = [part.clocks[-1] for part in self._parts if len(part) == self.size]
        return float(min(full, default=np.inf))

    @property
    def _sample(self) -> tuple[_Part | None, bool]:
        """The sample, and True if it contains all distinct rows of positive weight."""
        if not self._parts:
            return None, not self._left_out
        joint = _joint(self._parts)
        return joint.first(self.size), not self._left_out and len(joint) <= self.size

    @property
    def is_complete(self) -> bool:
        """True if the sample contains every distinct row of positive weight."""
        return self._sample[1]

    @property
    def rows(self) -> Any:
        """The sampled rows, sorted by clock: ndarray or CSR of shape (m, d), or list."""
        sample, layout = self._sample[0], self._layout
        if layout is None:
            return np.empty((0, 0))
        return layout.cast([] if sample is None else [sample.X])

    @property
    def y(self) -> NDArray | None:
        """The targets of the sampled rows, or None if the data have no targets."""
        sample = self._sample[0]
        return None if sample is None else sample.y

    @property
    def weight(self) -> NDArray[np.floating]:
        """The weights of the sampled rows, shape (m,)."""
        sample = self._sample[0]
        return np.empty(0) if sample is None else sample.weight

    @property
    def hashes(self) -> Hashes:
        """The content hashes of the sampled rows, shape (m,)."""
        sample = self._sample[0]
        return np.empty(0, np.uint64) if sample is None else sample.hashes.copy()

    def __len__(self) -> int:
        sample = self._sample[0]
        return 0 if sample is None else len(sample)


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


class _Layout(NamedTuple):
    """Kind, width and dtype of the rows; the dtype is promoted with every block."""

    kind: str
    width: int
    dtype: Any

    @classmethod
    def of(cls, X: Any) -> _Layout:
        if isinstance(X, list):
            return cls("objects", 1, None)
        return cls("sparse" if sparse.issparse(X) else "dense", X.shape[1], X.dtype)

    def joined(self, other: _Layout) -> _Layout:
        if self.kind != other.kind:
            raise ValueError(
                f"A reservoir of {self.kind} rows cannot take {other.kind} rows: convert X."
            )
        if self.width != other.width:
            raise ValueError(
                f"A reservoir of rows of width {self.width} cannot take rows of width "
                f"{other.width}: all rows need the same columns."
            )
        if self.dtype == other.dtype:
            return self
        return self._replace(dtype=np.result_type(self.dtype, other.dtype))

    def cast(self, parts: list[Any]) -> Any:
        if self.kind == "objects":
            return [x for part in parts for x in part]
        if self.kind == "dense":
            empty = np.empty((0, self.width), self.dtype)
            return np.concatenate([empty, *(part.astype(self.dtype) for part in parts)])
        if not parts:
            return sparse.csr_array((0, self.width), dtype=self.dtype)
        return parts[0].astype(self.dtype)


def _canonical(X: Any) -> Any:
    """Return rows that `hash_rows` accepts; the caller's rows are not changed."""
    X = as_rows(X)
    if isinstance(X, list):
        return X
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            "A reservoir takes a matrix of real numbers or a list of objects, got an array of "
            f"shape {X.shape} and dtype {X.dtype}."
        )
    X = X.astype(np.float64) if X.dtype == bool else X
    if sparse.issparse(X):
        X = sparse.csr_array(X, copy=not X.has_canonical_format)
        X.sum_duplicates()
    return X


def _own(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return copies of some rows; rows of the same hash have the same stored values."""
    taken = take(X, rows)
    if sparse.issparse(taken):
        taken.eliminate_zeros()
    elif not isinstance(taken, list):
        taken += 0  # −0 becomes 0
    return taken


def _check_weight(weight: Any, n: int) -> NDArray[np.float64] | None:
    if weight is None:
        return None
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


@dataclass(frozen=True, eq=False)
class _Part:
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
        y = None if self.y is None else self.y[:n].copy()
        hashes, clocks, weight = self.hashes[:n], self.clocks[:n], self.weight[:n]
        X = _own(self.X, np.arange(n))
        return _Part(X, hashes.copy(), clocks.copy(), weight.copy(), y)


def _joint(parts: Iterable[_Part]) -> _Part:
    """Return the distinct rows of several parts, sorted by clock."""
    parts = list(parts)
    hashes = np.concatenate([part.hashes for part in parts])
    clocks = np.concatenate([part.clocks for part in parts])
    weight = np.concatenate([part.weight for part in parts])
    targets = [part.y for part in parts if part.y is not None]
    y = np.concatenate(targets) if targets else None
    order = np.lexsort((*order_of_targets(y), hashes, clocks))
    hashes = hashes[order]
    starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1]))
    rows = order[starts]
    X = _own(concatenated([part.X for part in parts]), rows)
    total = np.add.reduceat(weight[order], starts)
    return _Part(X, hashes[starts], clocks[rows], total, None if y is None else y[rows])


def order_of_targets(y: NDArray | None) -> list[NDArray]:
    """Return keys for `numpy.lexsort` that sort rows of equal content by their targets."""
    if y is None:
        return []
    columns = y.reshape(len(y), -1)
    columns = columns.astype(str) if columns.dtype == object else columns
    return list(columns.T[::-1])
