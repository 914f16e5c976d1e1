"""Conversion of text cells to numbers."""

from __future__ import annotations


def is_number(cell: str) -> bool:
    """Return True for a decimal number, nan or inf, but not for ``1_000`` or non-ASCII digits."""
    try:
        as_number(cell)
    except ValueError:
        return False
    return True


def as_number(cell: str) -> float:
    """Return the number in a cell by the same rules as the parsers of pyarrow and NumPy."""
    if "_" in cell or not cell.isascii():
        raise ValueError(f"{cell!r} is not a number")
    return float(cell)
