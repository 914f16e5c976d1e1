"""Blocks that cannot be learned from are refused with their place in the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..rows import count
from .containers import Block, Container


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
    try:
        yield from _checked(container, n_columns)
    except ValueError as error:
        if container.path is None or str(error).startswith(str(container.path)):
            raise
        raise ValueError(f"{container.path}: {error}") from error


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
        if not isinstance(block.X, list):
            if n_columns is None:
                n_columns = block.X.shape[1]
            if block.X.shape[1] != n_columns:
                raise ValueError(
                    f"Block {number} has {block.X.shape[1]} columns, but {n_columns} are "
                    "expected: all blocks need the same columns."
                )
        if first is None:
            first = block
        _check_alike(block, first, number)
        _check_finite("X", block.X, place)
        _check_finite("y", block.y, place)
        _check_labels(block.y, place)
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
            f"X of block {place.block} has dtype {X.dtype}, but real numbers are "
            f"needed{_culprit(X, place)}: encode text as numbers first, or pass a list of objects."
        )
    return X.astype(np.float64)


def _culprit(X: Any, place: _Place) -> str:
    """The first column of objects that holds something else than numbers, and what it holds."""
    if X.dtype != object:
        return ""
    row, column = next(
        (i, j)
        for (j, i), value in np.ndenumerate(X.T)
        if not isinstance(value, int | float | np.integer)
    )
    return f", and {place.column(column)} holds {X[row, column]!r}"


def _check_labels(y: Any, place: _Place) -> None:
    """Refuse targets that are missing; in memory an empty text may be a label."""
    if y is None or y.dtype.kind not in ("OU" if place.in_file else "O"):
        return
    for i, label in enumerate(y.ravel().tolist()):
        if _is_missing(label, place.in_file):
            row = place.row(i * len(y) // y.size)
            raise ValueError(f"y is empty in {row}: drop such rows or fill them in first.")


def _is_missing(label: Any, in_file: bool) -> bool:
    if isinstance(label, str):
        return in_file and not label.strip()
    return label is None or (isinstance(label, float) and label != label)


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
    at = ""
    if values.ndim == 2:
        at = f" in {place.column(column) if name == 'X' else f'column {column}'}"
    raise ValueError(
        f"{name} is {value} in {place.row(row)}{at}: drop such rows or fill them in first."
    )
