"""Text between delimiters by pyarrow's parser, with the types of all columns fixed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


@cache
def _csv() -> Any:
    """``pyarrow.csv``, or None where it is not installed."""
    try:
        import pyarrow.csv
    except ImportError:
        return None
    return pyarrow


def is_installed() -> bool:
    return _csv() is not None


def read(
    text: bytes,
    delimiter: str,
    width: int,
    numbers: list[int],
    labels: int | None,
    longest: int,
) -> tuple[NDArray[np.float64], NDArray[np.str_] | None] | None:
    """Columns of numbers, shape (n, len(numbers)), and one of labels; None if any cell is odd.

    What is odd, such as a label of more than `longest` characters, is left to the reader that knows
    lines and columns. Nothing is inferred, and no spelling stands for a missing value.
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
    for j in range(len(numbers)):
        values[:, j] = table.column(j).to_numpy()
    if labels is None:
        return values, None
    chunk = table.column(len(numbers)).chunk(0)
    found = chunk.dictionary.to_pylist()
    if not all(label.strip() and len(label) <= longest for label in found):
        return None
    return values, np.array(found, dtype=str)[chunk.indices.to_numpy()]
