"""A kernel that stores its values, so that no pair of objects is evaluated twice."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._hashing import hash_rows
from .._validation import own
from ..rows import count, take
from .base import Kernel
from .combined import Composite
from .errors import BadPairError, swapped
from .processes import kernel_values
from .traits import Traits


class Table:
    """Kernel values of some objects against the training objects, computed column by column."""

    def __init__(self, n_rows: int, n_columns: int):
        self.values = np.full((n_rows, n_columns), np.nan)
        self.done = np.zeros(n_columns, dtype=bool)

    def fill(self, memory: Memory, kernel: Kernel, X: Any, columns: NDArray[np.intp]) -> None:
        """Compute the missing values of X against the training objects at the places `columns`."""
        missing = np.unique(columns[~self.done[columns]])
        if len(missing):
            try:
                Y = memory.take(missing)
                self.values[:, missing] = kernel_values(kernel, X, Y, memory.n_jobs)
            except BadPairError as bad:
                if X is memory.objects:
                    pair = bad.row, int(missing[bad.column])
                    raise BadPairError(bad.name, bad.value, *pair, final=True) from None
                place = int(np.flatnonzero(columns == missing[bad.column])[0])
                raise BadPairError(bad.name, bad.value, bad.row, place) from None
            self.done[missing] = True


class Memory:
    """Stored kernel values: of all training objects, and of the last new objects on each side.

    The memory recognises objects by their content. Copies of a memory share its values. A pickle
    contains the objects but no values.

    Parameters
    ----------
    objects : list, ndarray or CSR matrix
        The training objects as `Kernel._check_data` returns them. The memory keeps a copy.
    n_jobs : int, default=None
        Number of processes that evaluate the kernel; None means the current process.
    """

    def __init__(self, objects: Any, n_jobs: int | None = None):
        self.objects, self.n_jobs = own(objects), n_jobs
        hashes = hash_rows(objects)
        self._order = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self._order]
        self._known = Table(len(hashes), len(hashes))
        # The hash of the last new objects and their values, in one tuple: several threads may
        # replace it. The objects are the first argument of the kernel, or the second one.
        self._new = {side: (b"", Table(0, 0)) for side in ("first", "second")}

    def store(self, K: NDArray) -> None:
        """Store the values of all pairs of training objects, an array of shape (n, n)."""
        self._known.values[:] = K
        self._known.done[:] = True

    def forget(self) -> None:
        """Free the values and keep the objects."""
        vars(self).update(self.__getstate__())

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        nothing = {side: (b"", Table(0, 0)) for side in self._new}
        return {**vars(self), "_known": Table(0, 0), "_new": nothing}

    def take(self, places: NDArray[np.intp]) -> Any:
        """Return the training objects at the given places."""
        return take(self.objects, places)

    def values(self, kernel: Kernel, X: Any, Y: Any) -> NDArray:
        """Return k(X, Y) and compute only values that are not stored."""
        columns, rows = self._places(Y), self._places(X)
        if columns is None and rows is None:
            return kernel(X, Y)
        if columns is None:
            assert rows is not None
            return swapped(self._of_new, "second", kernel.T, Y, rows).T
        if rows is None or not len(self._known.done):
            return self._of_new("first", kernel, X, columns)
        self._known.fill(self, kernel, self.objects, columns)
        return self._known.values[np.ix_(rows, columns)]

    def _of_new(self, side: str, kernel: Kernel, X: Any, columns: NDArray[np.intp]) -> NDArray:
        """Return k(X, training objects at the places `columns`) of objects that may be new."""
        asked = hash_rows(X).tobytes()
        last, table = self._new[side]
        if asked != last:
            table = Table(count(X), len(self._order))
            self._new[side] = asked, table
        table.fill(self, kernel, X, columns)
        return table.values[:, columns]

    def _places(self, X: Any) -> NDArray[np.intp] | None:
        """Return the places of X among the training objects, or None if an object is not there."""
        hashes = hash_rows(X)
        found = np.minimum(np.searchsorted(self._sorted, hashes), len(self._sorted) - 1)
        return self._order[found] if np.array_equal(self._sorted[found], hashes) else None


class Remembered(Composite):
    """A kernel of objects that stores its values and computes none of them twice.

    Parameters
    ----------
    kernel : Kernel
        The kernel that computes the values.
    memory : Memory
        The memory that stores the values against its objects.

    Examples
    --------
    >>> from krein.kernels import EditDistance
    >>> from krein.kernels.memory import Memory, Remembered
    >>> kernel = Remembered(EditDistance(), Memory(["cat", "cats"]))
    >>> kernel(["dog"], ["cat"])
    array([[3.]])
    """

    def __init__(self, kernel: Kernel, memory: Memory):
        self.kernel = kernel
        self.memory = memory

    def __repr__(self, *arguments: Any, **options: Any) -> str:
        return repr(self.kernel)

    @property
    def traits(self) -> Traits:
        found = self.kernel.traits
        return Traits(found.is_symmetric, takes_vectors=False, is_sparse=found.is_sparse)

    def _block(self, X: Any, Y: Any) -> NDArray:
        return self.kernel._block(X, Y)

    def __call__(self, X: Any, Y: Any = None) -> NDArray:
        """Return k(X, Y), from the memory if the values are stored."""
        # `_check_data` gives equal objects the same content, by which the memory recognises them: a
        # series of shape (time,) becomes a series of shape (time, 1).
        X = self.kernel._check_data(X)
        Y = X if Y is None else self.kernel._check_data(Y, "Y")
        return self.memory.values(self.kernel, X, Y)

    def diag(self, X: Any) -> NDArray:
        """Return k(x, x), which is not stored."""
        return self.kernel.diag(X)
