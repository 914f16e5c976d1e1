"""Data as a sequence of row blocks that can be walked more than once.

Whoever learns from data sees only blocks ``(X, y, weight)`` in row order; an array, a memory map, a
sparse matrix, a list of strings, a file and a user's own generator look the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

ROWS = 4096


class Block(NamedTuple):
    """Some consecutive rows.

    Attributes
    ----------
    X : ndarray or CSR of shape (n, d), or list of n objects
    y : ndarray of shape (n,) or (n, k), or None
    weight : ndarray of shape (n,), or None
    """

    X: Any
    y: Any = None
    weight: Any = None


class Container:
    """Base of everything that can be walked block by block, as often as needed."""

    def __iter__(self) -> Iterator[Block]:
        raise TypeError(f"{type(self).__name__} must define __iter__, which yields Blocks.")

    @property
    def n_rows(self) -> int | None:
        """The number of rows, or None where only a pass can tell."""
        return None


class InMemory(Container):
    """Slices of arrays, memory maps, sparse matrices or sequences of objects.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or sequence of n objects
    y : array-like of shape (n,) or (n, k), default=None
    weight : array-like of shape (n,), default=None
    rows : int, default=4096
        Rows per block. Blocks of dense arrays are views.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import InMemory
    >>> [len(block.X) for block in InMemory(np.ones((10, 2)), rows=4)]
    [4, 4, 2]
    """

    def __init__(self, X: Any, y: Any = None, weight: Any = None, rows: int = ROWS):
        self.rows = check_rows(rows)
        self.X = as_rows(X)
        self.y = None if y is None else _side(y)
        self.weight = None if weight is None else _side(weight)
        for name, values in (("y", self.y), ("weight", self.weight)):
            if values is not None and len(values) != count(self.X):
                raise ValueError(
                    f"X has {count(self.X)} rows and {name} has {len(values)}: every row needs "
                    "one, in the same order."
                )

    @property
    def n_rows(self) -> int:
        return count(self.X)

    def __iter__(self) -> Iterator[Block]:
        return split(Block(self.X, self.y, self.weight), self.rows)


class Blocks(Container):
    """Blocks that the user makes.

    Parameters
    ----------
    source : re-iterable, or callable without arguments that returns an iterator
        Of ``X``, ``(X, y)`` or ``(X, y, weight)``.

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
                    f"A {type(source).__name__} can be walked once, and several passes over the "
                    "data are needed: pass a list, a callable that returns a new iterator, or a "
                    "file."
                )
        self.source = source

    @property
    def n_rows(self) -> int | None:
        if not isinstance(self.source, list | tuple):
            return None
        return sum(count(block.X) for block in self)

    def __iter__(self) -> Iterator[Block]:
        made = self.source() if callable(self.source) else self.source
        for number, item in enumerate(made):
            yield _as_block(item, number)


def as_container(X: Any, y: Any = None, sample_weight: Any = None) -> Container:
    """Whatever the user has, as a container.

    Parameters
    ----------
    X : Container, path, array, memory map, DataFrame, sparse matrix, sequence or re-iterable
        A path is opened by `open_stream`. A list with a member ``(X, y)`` or ``(X, y, weight)``
        whose X is a matrix of ``len(y)`` rows is a list of blocks, any other one a list of objects.
    y, sample_weight : array-like of length n, default=None
        For a path: `target` and `weight` of `open_stream`.
    """
    if isinstance(X, str | os.PathLike):
        from .files import open_stream

        return open_stream(X, target=y, weight=sample_weight)
    made: Container | None = None
    if isinstance(X, Container):
        made = X
    elif isinstance(X, tuple) and _is_block(X):
        raise ValueError(
            "X is a tuple (X, y): pass X and y as two arguments, or a list [(X, y)] of blocks."
        )
    elif not isinstance(X, bytes | set | frozenset | dict):
        if _is_table(X) or (isinstance(X, Sequence) and not any(map(_is_block, X))):
            return InMemory(X, y, sample_weight)
        if callable(X) or isinstance(X, Iterable):
            made = Blocks(X)
    if made is None:
        raise ValueError(
            "X must be an array, a sparse matrix, a list of objects, a path, or a re-iterable of "
            f"(X, y) blocks, got {type(X).__name__}."
        )
    if y is not None or sample_weight is not None:
        name = "y" if y is not None else "sample_weight"
        raise ValueError(
            f"{name} is given beside blocks ({type(X).__name__}), which carry their own: make them "
            "(X, y, weight)."
        )
    return made


def split(block: Block, rows: int) -> Iterator[Block]:
    """Yield the block in pieces of at most `rows` rows; dense ones are views."""
    n = count(block.X)
    if n <= rows:
        if n:
            yield block
        return
    for start in range(0, n, rows):
        piece = slice(start, start + rows)
        yield Block(*(None if part is None else part[piece] for part in block))


def count(X: Any) -> int:
    """The number of rows of a matrix or list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def as_rows(X: Any) -> Any:
    """X as an ndarray, a CSR matrix or a list of objects; DataFrames become arrays."""
    if sparse.issparse(X):
        return X if X.format == "csr" else X.tocsr()
    if _is_table(X):
        X = X if isinstance(X, np.ndarray) else np.asarray(X)
        return X.tolist() if X.ndim == 1 and X.dtype.kind in "OUST" else X
    return X if isinstance(X, list) else list(X)


def concatenated(parts: list) -> Any:
    """The rows of several blocks of one kind, one after the other."""
    if isinstance(parts[0], list):
        return [x for part in parts for x in part]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


def check_rows(rows: int) -> int:
    """Rows per block, if that is a whole number ≥ 1."""
    if not isinstance(rows, int | np.integer) or isinstance(rows, bool) or rows < 1:
        raise ValueError(f"rows, the length of a block, must be a whole number ≥ 1, got {rows!r}.")
    return int(rows)


def _side(values: Any) -> NDArray:
    """y or weights as an array of at least one dimension; a memory map stays one."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    return array if array.ndim else array.reshape(1)


def _as_block(item: Any, number: int) -> Block:
    if not isinstance(item, tuple):
        item = (item,)
    if len(item) not in (1, 2, 3):
        raise ValueError(
            f"Block {number} is a tuple of {len(item)}: blocks are X, (X, y) or (X, y, weight)."
        )
    X, *sides = item
    # A list of lists of numbers is a matrix only where a matrix is asked for: here it is objects.
    if not (sparse.issparse(X) or _is_table(X) or isinstance(X, Sequence)) or isinstance(X, str):
        raise ValueError(
            f"X of block {number} must be a matrix or a list of objects, got {type(X).__name__}."
        )
    return Block(as_rows(X), *(None if side is None else _side(side) for side in sides))


def _is_table(X: Any) -> bool:
    """Whether X is an array, a sparse matrix or a DataFrame."""
    return sparse.issparse(X) or (hasattr(X, "shape") and hasattr(X, "__array__"))


def _is_block(item: Any) -> bool:
    """Whether an object is ``(X, y)`` or ``(X, y, weight)`` with a matrix of len(y) rows."""
    if isinstance(item, Block):
        return True
    if not isinstance(item, tuple) or len(item) not in (2, 3) or not _is_table(item[0]):
        return False
    X, y = item[:2]
    return len(X.shape) == 2 and hasattr(y, "__len__") and X.shape[0] == len(y)


# --- checks while walking ------------------------------------------------------------------------


def checked(container: Container, n_columns: int | None = None) -> Iterator[Block]:
    """Walk over the blocks and raise a ValueError at the first that cannot be learned from.

    X becomes float64 unless it is float32; blocks without rows are left out. Rows, columns and
    blocks are counted from 0. Lists of objects are checked for their lengths only.

    Parameters
    ----------
    container : Container
    n_columns : int, default=None
        The number of columns to expect; None takes that of the first block.
    """
    n_seen = 0
    first: Block | None = None
    for number, block in enumerate(container):
        n = count(block.X)
        place = _Place(number, n_seen)
        _check_lengths(block, n, place)
        if not n:
            continue
        block = Block(_numbers(block.X, place), block.y, _weights(block.weight, place))
        if not isinstance(block.X, list):
            if n_columns is None:
                n_columns = block.X.shape[1]
            if block.X.shape[1] != n_columns:
                raise ValueError(
                    f"Block {number} has {block.X.shape[1]} columns, but {n_columns} are expected: "
                    "all blocks need the same columns."
                )
        if first is None:
            first = block
        _check_alike(block, first, number)
        _check_finite("X", block.X, place)
        _check_finite("y", block.y, place)
        yield block
        n_seen += n
    if first is None:
        raise ValueError(
            "The data have no rows: not one block holds any. If an earlier pass had some, their "
            "source can be walked only once; pass a list, a callable or a file."
        )


class _Place(NamedTuple):
    """Where in the data a block is."""

    block: int
    start: int

    def row(self, row: int) -> str:
        return f"row {row} of block {self.block} (row {self.start + row} of the data)"


def _check_lengths(block: Block, n: int, place: _Place) -> None:
    for name, side in (("y", block.y), ("weight", block.weight)):
        if side is not None and len(side) != n:
            raise ValueError(
                f"Block {place.block} has {n} rows of X and {len(side)} of {name}: every row needs "
                "one."
            )
    if block.y is not None and np.ndim(block.y) > 2:
        raise ValueError(
            f"y of block {place.block} has {np.ndim(block.y)} dimensions: it must be a vector or "
            "a matrix."
        )


def _check_alike(block: Block, first: Block, number: int) -> None:
    """All blocks hold the same parts: objects or numbers, y or none, as many outputs."""
    if isinstance(block.X, list) != isinstance(first.X, list):
        raise ValueError(f"Block {number} mixes lists of objects with matrices of numbers.")
    for name in ("y", "weight"):
        mine, theirs = getattr(block, name), getattr(first, name)
        if (mine is None) != (theirs is None):
            has, had = ("no", "had one") if mine is None else ("a", "had none")
            raise ValueError(
                f"Block {number} has {has} {name}, but the blocks before {had}: give it in all "
                "blocks or in none."
            )
        if mine is not None and np.shape(mine)[1:] != np.shape(theirs)[1:]:
            raise ValueError(
                f"{name} of block {number} has shape {np.shape(mine)}, but that of the first block "
                f"{np.shape(theirs)}: all blocks need as many outputs."
            )


def _numbers(X: Any, place: _Place) -> Any:
    """A matrix in float32 or float64; a list as it is."""
    if isinstance(X, list):
        return X
    if X.ndim != 2:
        raise ValueError(
            f"X of block {place.block} has {X.ndim} dimension{'s' * (X.ndim != 1)}: rows of "
            "numbers make a matrix (reshape(-1, 1) for one column)."
        )
    if X.dtype in (np.float32, np.float64):
        return X
    real = X.dtype.kind in "biuf"
    if X.dtype == object:
        # A cast would turn the text "1" into the number 1 without a word.
        real = all(isinstance(value, int | float | np.integer) for value in X.flat)
    if not real:
        raise ValueError(
            f"X of block {place.block} has dtype {X.dtype}, but real numbers are needed: encode "
            "text as numbers first, or pass a list of objects."
        )
    return X.astype(np.float64)


def _weights(weight: Any, place: _Place) -> NDArray[np.float64] | None:
    if weight is None:
        return None
    if weight.ndim != 1 or weight.dtype.kind not in "biuf":
        raise ValueError(
            f"weight of block {place.block} has shape {weight.shape} and dtype {weight.dtype}: it "
            "must be a vector of numbers."
        )
    weight = weight.astype(np.float64, copy=False)
    _check_finite("weight", weight, place)
    if (weight < 0).any():
        row = int(np.argmax(weight < 0))
        raise ValueError(
            f"weight is {weight[row]:g} in {place.row(row)}: weights must not be negative."
        )
    return weight


def _check_finite(name: str, values: Any, place: _Place) -> None:
    if values is None or isinstance(values, list):
        return
    numbers = values.data if sparse.issparse(values) else values
    if numbers.dtype.kind not in "fc":
        return
    # A sum is finite only if all terms are; it is several times faster than looking at each.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(numbers.sum()):
            return
    bad = ~np.isfinite(numbers)
    if not bad.any():
        return
    where = np.unravel_index(int(np.argmax(bad)), bad.shape)
    row, column = int(where[0]), int(where[-1])
    value = numbers[where]
    if sparse.issparse(values):
        column = int(values.indices[row])
        row = int(np.searchsorted(values.indptr, row, side="right")) - 1
    at = f" in column {column}" if values.ndim == 2 else ""
    raise ValueError(
        f"{name} is {value} in {place.row(row)}{at}: drop such rows or fill them in first."
    )
