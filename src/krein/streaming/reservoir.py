"""A sample of distinct rows from a stream, drawn by the content of the rows.

Every distinct row has a clock (see `krein._hashing`), and the rows whose clocks ring first are the
sample. A row of the final sample is among the first of every part of the data, so it is never
evicted on the way: neither the order of the rows nor the size of the blocks nor the way partial
samples are merged changes the sample.
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
    """The `size` distinct rows of positive weight that ring first.

    Start with `Reservoir.zero`; `update` and `merge` return new reservoirs.

    Attributes
    ----------
    size : int
        The number of rows to keep.
    key : int
        The seed of the clocks.
    n_seen : int
        The number of rows seen, rows of weight zero included.

    Rows of equal content are one row: its weight is the sum of their weights, its target the
    smallest of their targets.

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
    # Samples of parts of the data, each less than half as long as the one before: merging them
    # only when they have grown costs a logarithm of copies per row.
    _parts: tuple[_Part, ...] = ()
    _left_out: bool = False

    @classmethod
    def zero(cls, size: int, key: int) -> Reservoir:
        """The reservoir that has seen nothing."""
        if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < 1:
            raise ValueError(f"Reservoir needs size to be a whole number ≥ 1, got {size!r}.")
        if not isinstance(key, int | np.integer):
            raise ValueError(f"Reservoir needs key to be a whole number, got {key!r}.")
        return cls(int(size), int(key))

    def update(self, X: Any, weight: Any = None, y: Any = None) -> Reservoir:
        """Return the reservoir that has seen these rows as well.

        Parameters
        ----------
        X : ndarray or CSR of shape (n, d), or list of n objects
        weight : array-like of shape (n,), default=None
            Non-negative. Rows of weight zero are left out; None gives every row the weight 1.
        y : array-like of shape (n,) or (n, k), default=None
            The targets of the rows, which the sample keeps. All blocks have targets or none has.
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
        """The reservoir that has seen the rows of both."""
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
        # One block alone may hold more than the sample.
        left_out = left_out or any(len(part) > self.size for part in kept)
        trimmed = tuple(part.first(self.size) for part in kept)
        return replace(self, _parts=trimmed, _left_out=left_out)

    def _joined(self, layout: _Layout) -> _Layout:
        return layout if self._layout is None else self._layout.joined(layout)

    @property
    def _threshold(self) -> float:
        """A row that rings later than this is not in the sample, whatever else comes."""
        full = [part.clocks[-1] for part in self._parts if len(part) == self.size]
        return float(min(full, default=np.inf))

    @property
    def _sample(self) -> tuple[_Part | None, bool]:
        """The sample itself and whether it is all there was."""
        if not self._parts:
            return None, not self._left_out
        joint = _joint(self._parts)
        return joint.first(self.size), not self._left_out and len(joint) <= self.size

    @property
    def is_complete(self) -> bool:
        """Whether every distinct row of positive weight is in the sample."""
        return self._sample[1]

    @property
    def rows(self) -> Any:
        """The sample in the order of its clocks: ndarray or CSR of shape (m, d), or list."""
        sample, layout = self._sample[0], self._layout
        if layout is None:
            return np.empty((0, 0))
        return layout.cast([] if sample is None else [sample.X])

    @property
    def y(self) -> NDArray | None:
        """The targets of the sample, None if the data have none."""
        sample = self._sample[0]
        return None if sample is None else sample.y

    @property
    def weight(self) -> NDArray[np.floating]:
        """The weights of the sample; shape (m,)."""
        sample = self._sample[0]
        return np.empty(0) if sample is None else sample.weight

    @property
    def hashes(self) -> Hashes:
        """The content hashes of the sample; shape (m,)."""
        sample = self._sample[0]
        return np.empty(0, np.uint64) if sample is None else sample.hashes.copy()

    def __len__(self) -> int:
        sample = self._sample[0]
        return 0 if sample is None else len(sample)


class Sample:
    """A `Reservoir` as a statistic of blocks, of a size that the first block decides.

    Parameters
    ----------
    size : callable
        ``size(X)`` is the number of rows to keep of data like X.
    key : int
        The seed of the clocks.
    """

    def __init__(self, size: Callable[[Any], int], key: int, reservoir: Reservoir | None = None):
        self.size, self.key, self.reservoir = size, key, reservoir

    def update(self, block: Any) -> Sample:
        reservoir = self.reservoir or Reservoir.zero(self.size(block.X), self.key)
        return Sample(self.size, self.key, reservoir.update(block.X, block.weight, block.y))

    def merge(self, other: Sample) -> Sample:
        if self.reservoir is None or other.reservoir is None:
            return other if self.reservoir is None else self
        return Sample(self.size, self.key, self.reservoir.merge(other.reservoir))


def sample(container: Iterable[Any], size: int, key: int) -> Reservoir:
    """Draw `size` distinct rows from a container in one pass.

    Parameters
    ----------
    container : Container, or the blocks that `checked` yields
    size : int
        The number of rows to keep.
    key : int
        The seed of the clocks.
    """
    found = fold(container, Sample(lambda X: size, key)).reservoir
    return Reservoir.zero(size, key) if found is None else found


# --- rows ----------------------------------------------------------------------------------------


class _Layout(NamedTuple):
    """What the rows look like; an element type that is promoted as blocks come."""

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
                f"A reservoir of {self.kind} rows cannot take {other.kind} ones: convert them."
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
    """Rows that `hash_rows` can read without changing the caller's."""
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
    """Copies of some rows, in the one form that all rows of the same hash share."""
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
    """The distinct rows of several parts, by clock."""
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
    """Keys of `numpy.lexsort` by which rows of equal content have an order of their own."""
    if y is None:
        return []
    columns = y.reshape(len(y), -1)
    columns = columns.astype(str) if columns.dtype == object else columns
    return list(columns.T[::-1])
