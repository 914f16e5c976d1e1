"""Errors that kernels raise. They carry fields, and `str` turns the fields into a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Place = int | None
# The repr of a function, such as that of `Custom` in a sum. Its address would differ in each run.
FUNCTION = re.compile(r"<function (?:[^ ]*\.)?([^ ]+) at 0x[0-9a-fA-F]+>")


class BadPairError(ValueError):
    """A kernel has no finite value for a pair of objects.

    A caller who evaluated a part of the data knows the places of the pair in that part only.
    `among` and `after` return the same error with the places in the whole data.

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
        True if the places are places in the whole data, which no caller may change.
    """

    def __init__(self, name: str, value: float, row: Place, column: Place, final: bool = False):
        self.name, self.value, self.row, self.column = name, value, row, column
        self.final = final
        super().__init__(name, value, row, column, final)

    def among(self, rows: Any, columns: Any) -> BadPairError:
        """Return the error for the whole data: row i is at rows[i], column j at columns[j].

        If `rows` is None, the places in the whole data are unknown, and the error stays the same.
        """
        if self.final or rows is None or self.row is None or self.column is None:
            return self
        pair = int(rows[self.row]), int(columns[self.column])
        return BadPairError(self.name, self.value, *pair)

    def after(self, n: int) -> BadPairError:
        """Return the error for the whole data, which has n more rows before this part."""
        if self.final or self.row is None:
            return self
        return BadPairError(self.name, self.value, self.row + n, self.column)

    def turned(self) -> BadPairError:
        """Return the error of a kernel that calls another one with its arguments swapped."""
        if self.final:
            return self
        return BadPairError(self.name, self.value, self.column, self.row)

    def nowhere(self) -> BadPairError:
        """Return the error without its places, unless they are final."""
        return self if self.final else BadPairError(self.name, self.value, None, None)

    def __str__(self) -> str:
        pair = f"object {self.row} of X and object {self.column} of Y"
        return (
            f"{self.name} returned {self.value} for {'a pair' if self.row is None else pair}. It "
            "must return a finite number for every pair."
        )


@contextmanager
def placed(rows: Any, columns: Any) -> Iterator[None]:
    """Give errors about a pair the places of its objects in the whole data, as `among` does."""
    try:
        yield
    except BadPairError as bad:
        raise bad.among(rows, columns) from None


@contextmanager
def counted_from(n: int) -> Iterator[None]:
    """Give errors about a pair the places of its objects in the whole data, as `after` does."""
    try:
        yield
    except BadPairError as bad:
        raise bad.after(n) from None


def swapped(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of swapped arguments; its errors name pairs in the order of the caller."""
    try:
        return function(*arguments)
    except BadPairError as bad:
        raise bad.turned() from None


class NoMeasureError(ValueError):
    """The kernel has no spectral measure.

    Examples
    --------
    >>> from krein.kernels import TL1, NoMeasureError
    >>> try:
    ...     TL1().measure(dim=3)
    ... except NoMeasureError as error:
    ...     print(error)
    TL1() has no spectral measure: none is known. Use a Nyström approximation (krein.Nystrom)...
    """


class UnresolvedError(ValueError):
    """A kernel was evaluated for new rows although one of its parameters depends on data.

    Parameters
    ----------
    kernel : Kernel
        The kernel.

    Examples
    --------
    >>> from krein.kernels import EditDistance, Similarity, UnresolvedError
    >>> try:
    ...     Similarity(EditDistance())(["cat"], ["dog"])
    ... except UnresolvedError as error:
    ...     print(error)
    Similarity(distance=EditDistance()) takes a parameter from the training data (gamma='median')...
    """

    def __init__(self, kernel: object):
        self.kernel = kernel
        super().__init__(kernel)

    def __str__(self) -> str:
        return (
            f"{one_line(self.kernel)} takes a parameter from the training data "
            f"({_waits_for(self.kernel)}), and new rows must not change it: call "
            "kernel.resolved(X_train), which returns the kernel with the parameter, or use the "
            "kernel_ of a fitted map or learner, or pass the parameter."
        )


def _waits_for(kernel: Any) -> str:
    """Return the first parameter, of the kernel or of its parts, that depends on data."""
    parts = [kernel, *kernel.get_params().values()]
    return next(filter(None, (getattr(part, "_waits_for", None) for part in parts)), "")


def one_line(kernel: object) -> str:
    """Return the repr of a kernel without line breaks."""
    return " ".join(repr(kernel).split())


def kernel_name(kernel: object) -> str:
    """Return the name of the kernel in messages: its repr, or the name of the user's function."""
    f = getattr(kernel, "f", None)
    name = f"{type(kernel).__name__}({getattr(f, '__name__', 'f')})"
    return FUNCTION.sub(r"\1", one_line(kernel)) if f is None else name
