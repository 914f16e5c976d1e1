"""Errors that kernels raise. They carry fields, from which the sentence is made when it is read."""

from __future__ import annotations

from typing import Any

Place = int | None


class BadPairError(ValueError):
    """A kernel has no finite value for a pair of objects.

    The fields tell a caller who evaluated a part of the data which pair it is in that part;
    `among` and `after` return the same error with the places of the objects in the whole data.

    Parameters
    ----------
    name : str
        The name that the sentence gives to the kernel.
    value : float
        What the kernel returned.
    row, column : int or None
        The places of the first and of the second object; None if a place would mean nothing to
        the user.
    final : bool, default=False
        True if the places already are those in the whole data, so that nobody moves them.
    """

    def __init__(self, name: str, value: float, row: Place, column: Place, final: bool = False):
        self.name, self.value, self.row, self.column = name, value, row, column
        self.final = final
        super().__init__(name, value, row, column, final)

    def among(self, rows: Any, columns: Any) -> BadPairError:
        """Return the error for data in which the objects of this one have the given places."""
        if self.final or self.row is None or self.column is None:
            return self
        pair = int(rows[self.row]), int(columns[self.column])
        return BadPairError(self.name, self.value, *pair)

    def after(self, n: int) -> BadPairError:
        """Return the error for data that have n more rows before the first row."""
        if self.final or self.row is None:
            return self
        return BadPairError(self.name, self.value, self.row + n, self.column)

    def nowhere(self) -> BadPairError:
        """Return the error without places that are not final."""
        return self if self.final else BadPairError(self.name, self.value, None, None)

    def __str__(self) -> str:
        pair = f"object {self.row} of X and object {self.column} of Y"
        return (
            f"{self.name} returned {self.value} for {'a pair' if self.row is None else pair}. It "
            "must return a finite number for every pair."
        )


class NoMeasureError(ValueError):
    """The kernel has no spectral measure."""


class UnresolvedError(ValueError):
    """A kernel was evaluated for new rows although one of its parameters depends on data.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    """

    def __init__(self, kernel: object):
        self.kernel = kernel
        super().__init__(kernel)

    def __str__(self) -> str:
        return (
            f"{one_line(self.kernel)} takes a parameter from data (gamma='median'), and new rows "
            "must not change it: call kernel.resolved(X_train), which returns the kernel with the "
            "number, or fit a map or a learner, whose kernel_ has it; or give gamma a number."
        )


def one_line(kernel: object) -> str:
    """Return the repr of a kernel without line breaks."""
    return " ".join(repr(kernel).split())
