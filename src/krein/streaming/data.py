"""The rows of one fit, each with the hash of its content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._hashing import Draws, Hashes, Salt, hash_pairs, hash_rows, mix
from ..rows import Sides, count, is_objects, take
from .checks import checked
from .containers import Block, Container, InMemory, merged, split
from .fold import Collected, fold
from .reservoir import order_of_targets

# A map is fitted on at most MAP_ROWS distinct rows and at most MAP_BYTES bytes of float64.
MAP_ROWS, MAP_BYTES = 100_000, 2**28
# The default number of rows of a piece.
PIECE_ROWS = 65_536


class Piece(NamedTuple):
    """A block with the content hashes of its rows and its position in the data.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), or list of n objects
        The rows.
    y : ndarray of shape (n,) or (n, k), or None
        The targets of the rows.
    weight : ndarray of shape (n,), or None
        The weights of the rows. None gives every row the weight 1.
    hashes : ndarray of uint64 of shape (n,)
        The content hashes of the rows. Equal rows have equal hashes.
    start : int
        The index of the first row in the data.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Data, InMemory
    >>> data = Data.of(InMemory(np.array([[1.0], [2.0], [1.0]])))
    >>> for piece in data.by(2):
    ...     print(len(piece), piece.rows)
    2 slice(0, 2, None)
    1 slice(2, 3, None)
    """

    X: Any
    y: Any
    weight: NDArray[np.floating] | None
    hashes: Hashes
    start: int

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def rows(self) -> slice:
        """The positions of the rows in the data."""
        return slice(self.start, self.start + len(self.hashes))


@dataclass
class _Known:
    """Results of the first pass over data in memory, which later passes reuse."""

    hashes: Hashes | None = None
    blocks: list[Block] | None = None


@dataclass(frozen=True)
class Data:
    """Rows of one fit; iterating over them yields `Piece` objects, any number of times.

    Construct the data with `Data.of`.

    Parameters
    ----------
    container : Container
        The rows.
    pairwise : bool, default=False
        True if X is a square matrix of kernel values. The hash of a row then does not depend on
        the order of the columns.
    columns : ndarray of int, default=None
        The columns of a matrix of kernel values that belong to rows of positive weight, in the
        order of their content. None for all columns.
    piece_rows : int, default=65536
        The largest number of rows of a piece.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Data, InMemory
    >>> data = Data.of(InMemory(np.array([[1.0], [2.0], [1.0]])))
    >>> bool(data.hashes[0] == data.hashes[2])
    True
    >>> [piece.X.ravel().tolist() for piece in data.by(2)]
    [[1.0, 2.0], [1.0]]
    """

    container: Container
    pairwise: bool = False
    columns: NDArray[np.intp] | None = None
    piece_rows: int = PIECE_ROWS
    _known: _Known = field(default_factory=_Known)

    @classmethod
    def of(cls, container: Container, pairwise: bool = False) -> Data:
        """Return the data of a container.

        Parameters
        ----------
        container : Container
            The rows.
        pairwise : bool, default=False
            True if X is a matrix of kernel values, which must be square and in memory.
        """
        if not pairwise:
            return cls(container)
        if not isinstance(container, InMemory):
            raise ValueError(
                "A precomputed kernel needs its whole square matrix in memory, not a stream: "
                "pass an array."
            )
        K = container.X
        if K.shape[0] != K.shape[1]:
            raise ValueError(
                f"A precomputed kernel needs the square matrix of all pairs, got {K.shape}."
            )
        # Rows of weight zero have no effect: their columns are left out of the content of all rows.
        s = container.weight
        used = np.arange(len(K)) if s is None else np.flatnonzero(s > 0)
        hashes = np.zeros(len(K), dtype=np.uint64)
        hashes[used] = _hash_square(K if s is None else K[np.ix_(used, used)])
        columns = used[np.argsort(hashes[used], kind="stable")]
        return cls(container, True, columns, _known=_Known(hashes))

    def by(self, rows: int) -> Data:
        """Return the same data in smaller or larger pieces.

        Parameters
        ----------
        rows : int
            The largest number of rows of a piece.
        """
        return replace(self, piece_rows=rows)

    def __iter__(self) -> Iterator[Piece]:
        start = 0
        for block in self._blocks():
            for part in split(block, evenly(count(block.X), self.piece_rows)):
                n = count(part.X)
                hashes = self.hashes[start : start + n] if self.in_memory else hash_rows(part.X)
                X = part.X if self.columns is None else part.X[:, self.columns]
                yield Piece(X, part.y, part.weight, hashes, start)
                start += n

    def _blocks(self) -> Iterator[Block]:
        """Return the validated blocks; blocks in memory are validated in the first pass only."""
        if not self.in_memory:
            return checked(self.container)
        if self._known.blocks is None:
            self._known.blocks = list(checked(self.container))
        return iter(self._known.blocks)

    @property
    def in_memory(self) -> bool:
        """True if the rows are in memory, False if they are a stream."""
        return isinstance(self.container, InMemory)

    @property
    def memory(self) -> InMemory:
        """The container of data in memory."""
        assert isinstance(self.container, InMemory)
        return self.container

    @property
    def hashes(self) -> Hashes:
        """The content hashes of data in memory."""
        if self._known.hashes is None:
            hashes = fold(self._blocks(), Collected(lambda block: hash_rows(block.X)))
            self._known.hashes = np.concatenate(hashes.pieces)
        return self._known.hashes

    @property
    def counted(self) -> NDArray[np.intp]:
        """The indices of the rows of positive weight, for data in memory."""
        s = self.memory.weight
        return np.arange(count(self.memory.X)) if s is None else np.flatnonzero(s > 0)

    def sample(self, key: int) -> tuple[NDArray[np.intp], NDArray[np.floating]]:
        """Return the rows that a `Reservoir` keeps, for data in memory.

        If rows with equal content have different targets, the target with the largest total weight
        is returned, and among equal weights the smallest target. A `Reservoir` keeps the smallest
        target.

        Parameters
        ----------
        key : int
            The seed of the sample.

        Returns
        -------
        rows : ndarray of int
            The indices of the sampled rows.
        weight : ndarray
            The total weight of all rows with the same content as each sampled row.
        """
        rows, s, y = self.counted, self.memory.weight, self.memory.y
        order = np.argsort(self.hashes[rows])
        if not is_new(self.hashes[rows[order]]).all():  # rows of equal content are sorted by target
            ties = order_of_targets(None if y is None else y[rows])
            order = np.lexsort((*ties, self.hashes[rows]))
        rows = rows[order]
        weight: NDArray = np.ones(len(rows)) if s is None else s[rows]
        new = is_new(self.hashes[rows])
        first, kind = np.flatnonzero(new), np.cumsum(new) - 1
        totals = np.bincount(kind, weights=weight).astype(float)
        rows = rows[self._heaviest(rows, kind, weight, first)]
        chosen = Draws(self.hashes[rows], key).first(map_rows(self.memory.X), Salt.UNIFORM)
        return rows[chosen], totals[chosen]

    def _heaviest(
        self, rows: NDArray[np.intp], kind: NDArray, weight: NDArray, first: NDArray
    ) -> NDArray[np.intp]:
        """Return for each kind of row the place of its target with the largest total weight.

        Parameters
        ----------
        rows : ndarray of int of shape (n,)
            The indices of rows, sorted by content, then by target.
        kind : ndarray of int of shape (n,)
            The number of each row's content.
        weight : ndarray of shape (n,)
            The weights.
        first : ndarray of int
            The first place of each kind.
        """
        y = self.memory.y
        if y is None or len(first) == len(rows):
            return first
        targets = y[rows].reshape(len(rows), -1)
        new = np.append(True, np.any(targets[1:] != targets[:-1], axis=1) | (np.diff(kind) > 0))
        starts = np.flatnonzero(new)
        sums = np.bincount(np.cumsum(new) - 1, weights=weight)
        order = np.lexsort((starts, -sums, kind[starts]))
        return starts[order[np.append(True, np.diff(kind[starts[order]]) > 0)]]

    def part(self, rows: NDArray[np.intp]) -> Data:
        """Return the data of some rows, for data in memory.

        Parameters
        ----------
        rows : ndarray of int
            The indices of the rows. A square matrix of kernel values also keeps only the columns
            with these indices.
        """
        X, y, s = self.memory.X, self.memory.y, self.memory.weight
        inside = X[np.ix_(rows, rows)] if self.pairwise else take(X, rows)
        weight = None if s is None else s[rows]
        part = Data.of(InMemory(inside, None if y is None else y[rows], weight), self.pairwise)
        if not self.pairwise:
            part._known.hashes = self.hashes[rows]
        return part

    def gathered(self) -> Data:
        """Return the same rows in memory."""
        blocks = [Block(*piece[:3]) for piece in fold(self, Collected()).pieces]
        return Data.of(InMemory(*merged(blocks)))


def evenly(n: int, most: int) -> int:
    """Return the number of rows of equal pieces of n rows; a short last piece would be slow."""
    n_pieces = -(-n // most)
    return -(-n // max(1, n_pieces))


def is_new(values: NDArray) -> NDArray[np.bool_]:
    """Return True for each value of a sorted array that differs from the value before it."""
    return np.append(True, values[1:] != values[:-1])[: len(values)]


def _hash_square(K: NDArray | Sides) -> Hashes:
    """Return a hash of each object of a square matrix, by its row and, for `Sides`, its column."""
    if not isinstance(K, Sides):
        return hash_pairs(K)
    return mix(hash_pairs(K.left) + mix(hash_pairs(K.right)))


def map_rows(X: Any) -> int:
    """Return the largest number of rows that a map is fitted on."""
    if is_objects(X):
        return MAP_ROWS
    return max(1000, min(MAP_ROWS, MAP_BYTES // (8 * max(1, X.shape[1]))))
