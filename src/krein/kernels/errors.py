"""The error that names a pair of objects."""

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
