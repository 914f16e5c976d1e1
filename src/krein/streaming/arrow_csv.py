"""Parse delimited text with pyarrow, with a fixed type for every column."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


@cache
def _csv() -> Any:
    """Return pyarrow with its module csv loaded, or None if pyarrow is not installed."""
    try:
        import pyarrow.csv
    except ImportError:
        return None
    return pyarrow


def is_installed() -> bool:
    """Return True if pyarrow is installed."""
    return _csv() is not None


def read(
    text: bytes, delimiter: str, width: int, numbers: list[int], labels: int | None, longest: int
) -> tuple[NDArray[np.float64], NDArray[np.str_] | None] | None:
    """Return the numeric columns and the label column, or None if any cell is unusual.

    The caller then parses the text with the slow reader, which reports lines and columns. No type
    is inferred, and no text stands for a missing value.

    Parameters
    ----------
    text : bytes
        Whole records.
    delimiter : str
        The character between cells.
    width : int
        The number of columns.
    numbers : list of int
        The indices of the numeric columns.
    labels : int or None
        The index of the label column, None if there is none.
    longest : int
        The largest number of characters of a label.

    Returns
    -------
    values : ndarray of shape (n, len(numbers))
    labels : ndarray of str of shape (n,), or None
    """
    arrow = _csv()
    csv, names = arrow.csv, [str(j) for j in range(width)]
    types = {str(j): arrow.float64() for j in numbers}
    if labels is not None:
        types[str(labels)] = arrow.dictionary(arrow.int32(), arrow.string())
    try:
        table = csv.read_csv(
            arrow.BufferReader(text),
            csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
            csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=[],
                true_values=[],
                false_values=[],
                strings_can_be_null=False,
            ),
        )
    except arrow.ArrowException:
        return None
    values = np.empty((table.num_rows, len(numbers)))
    for j, column in enumerate(values.T):
        column[:] = table.column(j).to_numpy()
    if labels is None:
        return values, None
    chunk = table.column(len(numbers)).chunk(0)
    found = chunk.dictionary.to_pylist()
    if not all(label.strip() and len(label) <= longest for label in found):
        return None
    return values, np.array(found, dtype=str)[chunk.indices.to_numpy()]
