"""Containers: data as a sequence of row blocks that can be iterated more than once.

A learner sees only blocks ``(X, y, weight)`` in row order. An array, a memory map, a sparse matrix,
a list of strings, a file and a user-defined generator all yield the same kind of block.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..rows import as_rows, column_names, concatenated, count, is_table
from .columns import Layout, listed

# The default number of rows of a block. Learners compute features in blocks of 24 MB, which have
# 6144 rows of 512 features or 3072 rows of 1024 features.
ROWS = 6144


class Block(NamedTuple):
    """Consecutive rows of the data.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), or list of n objects
        The rows.
    y : ndarray of shape (n,) or (n, k), default=None
        The targets of the rows.
    weight : ndarray of shape (n,), default=None
        The weights of the rows. None gives every row the weight 1.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Block
    >>> block = Block(np.ones((3, 2)), y=np.arange(3))
    >>> block.X.shape, block.weight is None
    ((3, 2), True)
    """

    X: Any
    y: Any = None
    weight: Any = None


class Container:
    """Base class of data that can be iterated block by block, any number of times.

    A subclass defines ``__iter__``, which yields `Block` objects from the first row on.

    Attributes
    ----------
    n_rows : int or None
        The number of rows, or None if only a pass over the data can count them.
    feature_names : list of str, or None
        The names of the columns of X, or None if the columns have no names.
    layout : Layout or None
        The layout of the columns of a file, or None if later files need no layout.
    path : Path or None
        The path of the file.
    assumed_target : str, int or None
        The column that is used as y because the user named no target.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Block, Container
    >>> class Squares(Container):
    ...     def __iter__(self):
    ...         for start in (0, 2):
    ...             yield Block(np.arange(start, start + 2)[:, None] ** 2)
    >>> [block.X.ravel().tolist() for block in Squares()]
    [[0, 1], [4, 9]]
    """

    def __iter__(self) -> Iterator[Block]:
        raise TypeError(f"{type(self).__name__} must define __iter__, which yields Blocks.")

    n_rows: Any = None
    feature_names: list[str] | None = None
    layout: Layout | None = None
    path: Any = None
    assumed_target: Any = None

    def rows_for(self, layout: Layout, *, target: bool = False) -> Container:
        """Return the same rows with the features of an earlier fit, and with y only if `target`."""
        return self


class InMemory(Container):
    """Container of an array, a memory map, a sparse matrix or a sequence of objects.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or sequence of n objects
        The rows.
    y : array-like of shape (n,) or (n, k), default=None
        The targets of the rows.
    weight : array-like of shape (n,), default=None
        The weights of the rows. None gives every row the weight 1.
    rows : int, default=6144
        The number of rows per block. Blocks of a dense array are views.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import InMemory
    >>> [len(block.X) for block in InMemory(np.ones((10, 2)), rows=4)]
    [4, 4, 2]
    """

    def __init__(self, X: Any, y: Any = None, weight: Any = None, rows: int = ROWS):
        self.rows = check_rows(rows)
        self.feature_names = column_names(X)
        self.X = as_rows(X)
        self.n_rows = count(self.X)
        self.y = None if y is None else _side(y)
        self.weight = None if weight is None else _side(weight)
        for name, values in (("y", self.y), ("weight", self.weight)):
            if values is not None and len(values) != self.n_rows:
                raise ValueError(
                    f"X has {self.n_rows} rows and {name} has {len(values)}: pass one value of "
                    f"{name} per row, in the order of the rows."
                )

    def __iter__(self) -> Iterator[Block]:
        return split(Block(self.X, self.y, self.weight), self.rows)


class Blocks(Container):
    """Container of blocks that the user supplies.

    Parameters
    ----------
    source : re-iterable, or callable without arguments that returns an iterator
        The blocks. Each block is ``X``, ``(X, y)`` or ``(X, y, weight)``.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Blocks
    >>> stream = Blocks(lambda: ((np.full((3, 2), i), np.arange(3)) for i in range(4)))
    >>> sum(len(block.X) for block in stream), sum(len(block.X) for block in stream)
    (12, 12)
    """

    def __init__(self, source: Iterable[Any] | Callable[[], Iterable[Any]]):
        if not callable(source):
            if not isinstance(source, Iterable):
                raise ValueError(
                    f"Blocks needs a re-iterable of (X, y) blocks or a callable that returns an "
                    f"iterator, got {type(source).__name__}."
                )
            if isinstance(source, Iterator):
                raise ValueError(
                    f"A {type(source).__name__} can be iterated only once, but learning needs "
                    "several passes over the data: pass a list, a callable that returns a new "
                    "iterator, or a file."
                )
        self.source = source
        # The names of the columns of an earlier fit.
        self._expected: list[str] | None = None

    def rows_for(self, layout: Layout, *, target: bool = False) -> Self:
        """Return the same rows; frames must have the columns of an earlier fit."""
        made = copy.copy(self)
        if layout.names is not None:
            made._expected = list(layout.names)
        return made

    @property
    def feature_names(self) -> list[str] | None:  # type: ignore[override]  # of the first block
        kept = self.source if isinstance(self.source, list | tuple) else ()
        return self._expected or next((_names(item) for item in kept), None)

    @property
    def n_rows(self) -> int | None:
        if not isinstance(self.source, list | tuple):
            return None
        return sum(count(block.X) for block in self)

    def __iter__(self) -> Iterator[Block]:
        expected = self._expected
        for number, item in enumerate(self.source() if callable(self.source) else self.source):
            block, names = _as_block(item, number), _names(item)
            expected = expected or names
            if names is not None and expected is not None and names != expected:
                raise ValueError(
                    f"The columns of block {number} are {listed(names)}, but {listed(expected)} "
                    "are expected: pass the same columns in the same order."
                )
            yield block


def split(block: Block, rows: int) -> Iterator[Block]:
    """Yield the block in pieces of at most `rows` rows.

    Parameters
    ----------
    block : Block
        The rows to divide. Pieces of a dense array are views.
    rows : int
        The largest number of rows of a piece.

    Yields
    ------
    Block

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Block, split
    >>> [len(part.X) for part in split(Block(np.ones((5, 2))), rows=2)]
    [2, 2, 1]
    """
    n = count(block.X)
    if n <= rows:
        if n:
            yield block
        return
    for start in range(0, n, rows):
        yield _part(block, slice(start, start + rows))


def regrouped(blocks: Iterable[Block], rows: int) -> Iterator[Block]:
    """Yield the same rows in blocks of `rows` rows; the last block may be shorter."""
    held: list[Block] = []
    n_held = 0
    for block in blocks:
        held.append(block)
        n_held += count(block.X)
        if n_held >= rows:
            whole, full = merged(held), n_held - n_held % rows
            yield from split(_part(whole, slice(0, full)), rows)
            held, n_held = [_part(whole, slice(full, None))], n_held - full
    if n_held:
        yield merged(held)


def merged(blocks: list[Block]) -> Block:
    """Return the rows of several blocks, all with y and weight or all without, as one block."""
    if len(blocks) == 1:
        return blocks[0]
    parts = zip(*blocks, strict=True)
    return Block(*(None if part[0] is None else concatenated(list(part)) for part in parts))


def _part(block: Block, rows: slice) -> Block:
    return Block(*(None if part is None else part[rows] for part in block))


def check_rows(rows: int) -> int:
    """Return the number of rows per block; raise a ValueError unless it is an integer ≥ 1."""
    if not isinstance(rows, int | np.integer) or isinstance(rows, bool) or rows < 1:
        raise ValueError(f"rows, the length of a block, must be a whole number ≥ 1, got {rows!r}.")
    return int(rows)


def _side(values: Any) -> NDArray:
    """Return y or the weights as an array of at least one dimension; keep a memory map."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    return array if array.ndim else array.reshape(1)


def _as_block(item: Any, number: int) -> Block:
    if not isinstance(item, tuple):
        item = (item,)
    if len(item) not in (1, 2, 3):
        raise ValueError(
            f"Block {number} is a tuple of {len(item)}: pass X, (X, y) or (X, y, weight)."
        )
    X, *sides = item
    # In a block, a list of lists of numbers is a list of objects, not a matrix.
    if not (sparse.issparse(X) or is_table(X) or isinstance(X, Sequence)) or isinstance(X, str):
        raise ValueError(
            f"X of block {number} must be a matrix or a list of objects, got {type(X).__name__}."
        )
    return Block(as_rows(X), *(None if side is None else _side(side) for side in sides))


def _names(item: Any) -> list[str] | None:
    """Return the column names of a block that the user supplies."""
    return column_names(item[0] if isinstance(item, tuple) else item)


def is_path(X: Any) -> bool:
    """Return True if X is the path of a file."""
    return isinstance(X, str | os.PathLike)


def is_block(item: Any) -> bool:
    """Return True for ``(X, y)`` or ``(X, y, weight)`` with a matrix X of len(y) rows.

    y may be None, since blocks to predict for have no targets.
    """
    if isinstance(item, Block):
        return True
    if not isinstance(item, tuple) or len(item) not in (2, 3) or not is_table(item[0]):
        return False
    X, y = item[:2]
    return len(X.shape) == 2 and (y is None or (hasattr(y, "__len__") and X.shape[0] == len(y)))
