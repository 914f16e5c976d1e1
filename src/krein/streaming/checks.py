"""Validation of blocks, with errors that name the row and the column of a bad value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._columns import missing
from ..rows import Sides, count, is_objects
from .containers import Block, Container
from .raw import FileError

# The types of the numbers in an array of objects.
NUMBERS = (int, float, np.integer)


def checked(container: Container, n_columns: int | None = None) -> Iterator[Block]:
    """Yield the blocks of a container and raise a ValueError at the first invalid block.

    X is converted to float64 unless it is float32. Blocks without rows are skipped. Error messages
    count rows, columns and blocks from 0. For a list of objects only the lengths are checked.

    Parameters
    ----------
    container : Container
        The blocks to validate.
    n_columns : int, default=None
        The expected number of columns of X. None takes the number of columns of the first block.

    Yields
    ------
    Block

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import InMemory, checked
    >>> [block.X.dtype.name for block in checked(InMemory(np.arange(6).reshape(3, 2)))]
    ['float64']
    >>> next(checked(InMemory(np.array([[1.0], [np.nan]]))))
    Traceback (most recent call last):
    ValueError: X is nan in row 1 of block 0 (row 1 of the data) in column 0: drop ...
    """
    try:
        yield from _checked(container, n_columns)
    except FileError:
        raise
    except ValueError as error:
        if container.path is None:
            raise
        raise FileError(f"{container.path}: {error}") from error


def _checked(container: Container, n_columns: int | None) -> Iterator[Block]:
    n_seen = 0
    first: Block | None = None
    names, in_file = container.feature_names, container.path is not None
    for number, block in enumerate(container):
        n = count(block.X)
        place = _Place(number, n_seen, names, in_file)
        _check_lengths(block, n, place)
        if not n:
            continue
        block = Block(_numbers(block.X, place), block.y, _weights(block.weight, place))
        if not is_objects(block.X):
            if n_columns is None:
                n_columns = block.X.shape[1]
            if block.X.shape[1] != n_columns:
                raise ValueError(
                    f"Block {number} has {block.X.shape[1]} columns, but {n_columns} are "
                    "expected: all blocks need the same columns."
                )
        first = first or block
        _check_alike(block, first, number)
        _check_finite("X", block.X, place)
        _check_finite("y", block.y, place)
        _check_labels(block.y, place)
        yield block
        n_seen += n
    if first is None:
        raise ValueError(
            "The data have no rows: all blocks are empty. If an earlier pass yielded rows, the "
            "source can be iterated only once: pass a list, a callable or a file."
        )


class _Place(NamedTuple):
    """The position of a block in the data."""

    block: int
    start: int
    names: list[str] | None
    in_file: bool

    def column(self, column: int) -> str:
        named = "" if self.names is None else f" ({self.names[column]!r})"
        return f"column {column}{named}"

    def row(self, row: int) -> str:
        return f"row {row} of block {self.block} (row {self.start + row} of the data)"


def _check_lengths(block: Block, n: int, place: _Place) -> None:
    for name, side in (("y", block.y), ("weight", block.weight)):
        if side is not None and len(side) != n:
            raise ValueError(
                f"Block {place.block} has {n} rows of X, but {name} has length {len(side)}: pass "
                f"one value of {name} per row."
            )
    if block.y is not None and np.ndim(block.y) > 2:
        raise ValueError(
            f"y of block {place.block} has {np.ndim(block.y)} dimensions: it must be a vector or "
            "a matrix."
        )


def _check_alike(block: Block, first: Block, number: int) -> None:
    """Raise a ValueError if a block differs from the first block in kind, y, weight or outputs."""
    if is_objects(block.X) != is_objects(first.X):
        raise ValueError(f"Block {number} mixes lists of objects with matrices of numbers.")
    for name in ("y", "weight"):
        mine, theirs = getattr(block, name), getattr(first, name)
        if (mine is None) != (theirs is None):
            has, had = ("no", "had one") if mine is None else ("a", "had none")
            raise ValueError(
                f"Block {number} has {has} {name}, but the blocks before {had}: pass {name} in "
                "all blocks or in none."
            )
        if mine is not None and np.shape(mine)[1:] != np.shape(theirs)[1:]:
            raise ValueError(
                f"{name} of block {number} has shape {np.shape(mine)}, but {name} of the first "
                f"block has shape {np.shape(theirs)}: all blocks need the same number of outputs."
            )


def _numbers(X: Any, place: _Place) -> Any:
    """Return a matrix in float32 or float64; return a list unchanged."""
    if is_objects(X):
        return X
    if X.ndim != 2:
        raise ValueError(
            f"X of block {place.block} has {X.ndim} dimension{'s' * (X.ndim != 1)}: pass a "
            "matrix (reshape(-1, 1) turns a vector into one column)."
        )
    if X.dtype in (np.float32, np.float64):
        return X
    culprit = None if X.dtype.kind in "biuf" else ""
    if X.dtype == object:
        # A cast would silently turn the text "1" into the number 1.
        odd = ((j, x) for (j, _), x in np.ndenumerate(X.T) if not isinstance(x, NUMBERS))
        culprit = next((f", and {place.column(j)} holds {x!r}" for j, x in odd), None)
    if culprit is not None:
        raise ValueError(
            f"X of block {place.block} has dtype {X.dtype}, but real numbers are needed{culprit}: "
            "encode text as numbers first, or pass a list of objects."
        )
    return X.astype(np.float64)


def _check_labels(y: Any, place: _Place) -> None:
    """Raise a ValueError for a missing target; empty text is missing only in a file."""
    if y is None or y.dtype.kind not in ("OU" if place.in_file else "O"):
        return
    gaps = missing(y.ravel()).tolist()
    if place.in_file:
        gaps += [i for i, text in enumerate(y.flat) if isinstance(text, str) and not text.strip()]
    if gaps:
        row = place.row(min(gaps) * len(y) // y.size)
        raise ValueError(f"y is empty in {row}: drop the row or fill in its target.")


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
    if values is None or is_objects(values):
        return
    if isinstance(values, Sides):
        _check_finite(name, values.left, place)
        return _check_finite(name, values.right, place)
    numbers = values.data if sparse.issparse(values) else values
    if numbers.dtype.kind not in "fc":
        return
    # A finite sum proves that all values are finite. The sum is several times faster than isfinite.
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
    at = ""
    if values.ndim == 2:
        at = f" in {place.column(column) if name == 'X' else f'column {column}'}"
    raise ValueError(
        f"{name} is {value} in {place.row(row)}{at}: drop the row or fill in the value."
    )
