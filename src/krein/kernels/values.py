"""The one check that kernel values are numbers, made where they enter a map or a learner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Kernel


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

    def __str__(self) -> str:
        return (
            f"{self.name} returned {self.value} for object {self.row} of X and object "
            f"{self.column} of Y: a kernel must be finite for every pair."
        )


def check_values(kernel: Kernel, values: NDArray, rows: Any = None, columns: Any = None) -> NDArray:
    """Return `values` if all of them are finite, else raise the sentence about the first bad pair.

    The sum of finite numbers is finite unless it overflows, so a good block costs one sum.

    Parameters
    ----------
    kernel : Kernel
        The kernel that the sentence names.
    values : ndarray of shape (n, m)
        A block of its values.
    rows, columns : sequences of int, default=None
        Indices of the block's rows and columns in the whole; None means that the block is the
        whole.

    Raises
    ------
    BadPairError
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return values
    bad = np.argwhere(~np.isfinite(values))
    if not len(bad):
        return values
    i, j = (int(k) for k in bad[0])
    error = BadPairError(kernel_name(kernel), float(values[i, j]), i, j)
    n, m = values.shape
    raise error.among(range(n) if rows is None else rows, range(m) if columns is None else columns)


def kernel_name(kernel: Kernel) -> str:
    """How a sentence calls the kernel: its repr, or for a user's function its name."""
    f = getattr(kernel, "f", None)
    return repr(kernel) if f is None else f"{type(kernel).__name__}({getattr(f, '__name__', 'f')})"
