"""Whether the first record of a text file holds the names of the columns."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path

from .cells import is_number

# So many records are searched for another row with the first record's label.
LOOK = 1000

Rows = Iterator[tuple[int, list[str]]]


def has_header(path: Path, rows: Rows, features: list[int], target: int | None) -> bool:
    """Judge by the first record and those after it; refuse what may be either.

    Names: no feature cell is a number. A row: all are, and the target is a number, or a label that
    a later row has too, or two feature cells are equal. pandas' names 0, 1, 2, … are names with a
    warning. All else is ambiguous.

    Parameters
    ----------
    path : Path
    rows : iterator of (line, cells)
        The records of the file.
    features : list of int
        Indices of the feature cells.
    target : int or None
        The index of the target.
    """
    line, first = next(rows)
    cells = [first[j] for j in features]
    written = [cell for cell in cells if cell.strip()]
    if not any(map(is_number, written)):
        return bool(written)
    _, second = next(rows, (0, None))
    if second is None or len(second) != len(first):
        return False
    label = "0" if target is None else first[target]
    odd = next((j for j in features if not is_number(first[j])), target)
    if all(map(is_number, cells)):
        numeric = is_number(label)
        if not label.strip() or len(set(cells)) < len(cells):
            return False
        if not numeric and _recurs(label, second, rows, target):
            return False
        if (
            len(first) > 2
            and all(first[j] == str(j) for j in features)
            and (not numeric or target is None or label == str(target))
        ):
            _warn(path)
            return True
        if numeric:
            return False
    elif not all(is_number(second[j]) for j in features):
        return False
    raise ValueError(
        f"{path}: line {line}, column {str(odd)!r}: {first[odd or 0]!r} is not a number, so the "
        "line may be a row or the names of the columns: say which by "
        "krein.streaming.open_stream(path, header=False) or header=True."
    )


def _recurs(label: str, second: list[str], rows: Rows, target: int | None) -> bool:
    """Whether one of the next records has the same label."""
    assert target is not None
    later = itertools.chain([second], (row for _, row in itertools.islice(rows, LOOK)))
    return any(len(row) > target and row[target] == label for row in later)


def _warn(path: Path) -> None:
    warnings.warn(
        f"{path}: its first line, 0, 1, 2, …, is taken for the numbers of the columns, as pandas "
        "writes them, and not for a row; header=False of krein.streaming.open_stream makes it one.",
        UserWarning,
        stacklevel=5,
    )
