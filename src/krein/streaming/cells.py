"""Cells of text as numbers."""

from __future__ import annotations


def is_number(cell: str) -> bool:
    """Whether a cell is a decimal number, nan or inf; ``1_000`` and other digits are none."""
    try:
        as_number(cell)
    except ValueError:
        return False
    return True


def as_number(cell: str) -> float:
    """The number in a cell, as the fast readers of text understand it."""
    if "_" in cell or not cell.isascii():
        raise ValueError(f"{cell!r} is not a number")
    return float(cell)
