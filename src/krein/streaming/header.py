"""Detection of a header: does the first record of a text file contain the column names?"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path

from .._validation import outside_level
from .raw import FileError, is_number

# Number of records that are searched for another row with the label of the first record.
LOOK = 1000

# Marks of a missing value, which cannot be names of columns.
MISSING = {"?", "na", "n/a", "nan", "null", "none", "-", "."}

Rows = Iterator[tuple[int, list[str]]]


def has_header(path: Path, rows: Rows, features: list[int], target: int | None) -> bool:
    """Return True if the first record contains names; raise a FileError if it is ambiguous.

    The record contains names if no feature cell is a number. It is a row if all feature cells are
    numbers and one of three conditions holds: the target is a number, a later row has the same
    label, or two feature cells are equal. The column numbers 0, 1, 2, … that pandas writes are
    names, with a warning. Every other record is ambiguous.

    Parameters
    ----------
    path : Path
        The file, for error messages.
    rows : iterator of (line, cells)
        The records of the file.
    features : list of int
        The indices of the feature cells.
    target : int or None
        The index of the target cell, None if there is no target.
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
            warnings.warn(
                f"{path}: the first line, 0, 1, 2, …, is read as the column numbers that pandas "
                "writes, not as a row: if it is a row, pass header=False to "
                "krein.streaming.open_stream.",
                UserWarning,
                stacklevel=outside_level(),
            )
            return True
    if not is_row:
        raise _ambiguous(path, line, odd, first[odd])
    return False


def _ambiguous(path: Path, line: int, column: int, cell: str) -> FileError:
    return FileError(
        f"{path}: line {line}, column {str(column)!r}: {cell!r} is not a number, so the line may "
        "be a row or the names of the columns: decide with "
        "krein.streaming.open_stream(path, header=False) or header=True."
    )


def _is_row(
    cells: list[str], label: str, second: list[str], rows: Rows, target: int | None
) -> bool:
    """Return True if a record whose feature cells are all numbers is a row."""
    if target is None or is_number(label) or not label.strip() or len(set(cells)) < len(cells):
        return True
    later = itertools.chain([second], (row for _, row in itertools.islice(rows, LOOK)))
    return any(len(row) > target and row[target] == label for row in later)


def _is_counted(first: list[str], features: list[int], target: int) -> bool:
    """Return True if the cells are 0, 1, 2, …; the target may also be text."""
    is_text = not is_number(first[target]) and bool(first[target].strip())
    counted = all(first[j] == str(j) for j in features)
    return counted and len(first) > 2 and (is_text or first[target] == str(target))
