"""What a kernel refuses."""

from __future__ import annotations

from typing import Any


class BadPairError(ValueError):
    """A kernel has no finite value for a pair of objects.

    It carries the indices, so that whoever evaluated a part of the data can say which pair it is
    in the whole; `final` ones are those of the whole already.
    """

    def __init__(self, name: str, value: float, row: int, column: int, final: bool = False):
        self.name, self.value, self.row, self.column = name, value, row, column
        self.final = final
        super().__init__(name, value, row, column, final)

    def among(self, rows: Any, columns: Any) -> BadPairError:
        """The same pair where its objects are these of more."""
        if self.final:
            return self
        pair = int(rows[self.row]), int(columns[self.column])
        return BadPairError(self.name, self.value, *pair)

    def after(self, n: int) -> BadPairError:
        """The same pair where n more rows come before its row."""
        if self.final:
            return self
        return BadPairError(self.name, self.value, self.row + n, self.column)

    def __str__(self) -> str:
        return (
            f"{self.name} returned {self.value} for object {self.row} of X and object "
            f"{self.column} of Y: a kernel must be finite for every pair."
        )


class NoMeasureError(ValueError):
    """The kernel has no spectral measure."""


class UnresolvedError(ValueError):
    """A kernel was evaluated for new rows while one of its parameters waits for data."""

    def __init__(self, kernel: object):
        super().__init__(
            f"{one_line(kernel)} takes a parameter from data (gamma='median'), and new rows must "
            "not change it: call kernel.resolved(X_train), which returns the kernel with the "
            "number, or fit a map or a learner, whose kernel_ has it; or give gamma a number."
        )


def one_line(kernel: object) -> str:
    """The repr of a kernel without the line breaks that long ones have."""
    return " ".join(repr(kernel).split())
