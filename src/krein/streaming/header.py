"""Whether the first record of a text file holds the names of the columns."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path

from .._validation import outside_level
from .cells import is_number

# So many records are searched for another row with the first record's label.
LOOK = 1000

# Marks of a value that is missing, which are no names of columns.
MISSING = {"?", "na", "n/a", "nan", "null", "none", "-", "."}

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
    if not any(map(is_number, cells)):
        missing = next((j for j in features if first[j].strip().casefold() in MISSING), None)
        if missing is not None:
            raise _ambiguous(path, line, missing, first[missing])
        return any(cell.strip() for cell in cells)
    _, second = next(rows, (0, []))
    if len(second) != len(first):
        return False
    if not all(map(is_number, cells)):
        odd = next(j for j in features if not is_number(first[j]))
        is_row = not all(is_number(second[j]) for j in features)
    else:
        odd = features[0] if target is None else target
        is_row = _is_row(cells, first[odd], second, rows, target)
        if _is_counted(first, features, odd) and (not is_row or is_number(first[odd])):
            _warn(path)
            return True
    if not is_row:
        raise _ambiguous(path, line, odd, first[odd])
    return False


def _ambiguous(path: Path, line: int, column: int, cell: str) -> ValueError:
    return ValueError(
        f"{path}: line {line}, column {str(column)!r}: {cell!r} is not a number, so the line may "
        "be a row or the names of the columns: say which by "
        "krein.streaming.open_stream(path, header=False) or header=True."
    )


def _is_row(
    cells: list[str], label: str, second: list[str], rows: Rows, target: int | None
) -> bool:
    """Whether features that are numbers stand in a row: names differ, and are no label twice."""
    if target is None or is_number(label) or not label.strip() or len(set(cells)) < len(cells):
        return True
    later = itertools.chain([second], (row for _, row in itertools.islice(rows, LOOK)))
    return any(len(row) > target and row[target] == label for row in later)


def _is_counted(first: list[str], features: list[int], target: int) -> bool:
    """Whether the features are 0, 1, 2, … and the target, if it is a number, counts on."""
    counted = all(first[j] == str(j) for j in features)
    return counted and len(first) > 2 and first[target] in (str(target), *_text(first[target]))


def _text(cell: str) -> list[str]:
    return [] if is_number(cell) or not cell.strip() else [cell]


def _warn(path: Path) -> None:
    warnings.warn(
        f"{path}: its first line, 0, 1, 2, …, is taken for the numbers of the columns, as pandas "
        "writes them, and not for a row; header=False of krein.streaming.open_stream makes it one.",
        UserWarning,
        stacklevel=outside_level(),
    )
