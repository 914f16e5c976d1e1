"""Values of a slow kernel, computed once for all who ask for them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._hashing import hash_rows
from .._validation import own
from ..kernels import Kernel, Traits
from ..kernels.errors import BadPairError
from ..streaming.containers import count


class Table:
    """Values of some objects against the training objects, computed column by column."""

    def __init__(self, n_rows: int, n_columns: int):
        self.values = np.full((n_rows, n_columns), np.nan)
        self.done = np.zeros(n_columns, dtype=bool)

    def fill(self, memory: Memory, kernel: Kernel, X: Any, columns: NDArray[np.intp]) -> None:
        """Compute k(X, training objects at these places) where it is not known."""
        missing = np.unique(columns[~self.done[columns]])
        if len(missing):
            try:
                self.values[:, missing] = kernel(X, memory.take(missing))
            except BadPairError as bad:
                if X is memory.objects:
                    pair = bad.row, int(missing[bad.column])
                    raise BadPairError(bad.name, bad.value, *pair, final=True) from None
                place = int(np.flatnonzero(columns == missing[bad.column])[0])
                raise BadPairError(bad.name, bad.value, bad.row, place) from None
            self.done[missing] = True


class Memory:
    """Values between the training objects, and those of the last new objects against them.

    Objects are known by their content. Copies share the memory; a pickle has the objects, no
    values.

    Parameters
    ----------
    objects : list, ndarray or CSR matrix
        In the form that the kernel gives its data; they are copied.
    """

    def __init__(self, objects: Any):
        self.objects = own(objects)
        hashes = hash_rows(objects)
        self._order = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self._order]
        self._known = Table(len(hashes), len(hashes))
        # Of the objects with this hash. One tuple, replaced as a whole: several threads may ask.
        self._new = b"", Table(0, 0)

    def forget(self) -> None:
        """Give the values back; objects are still known."""
        vars(self).update(self.__getstate__())

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_known": Table(0, 0), "_new": (b"", Table(0, 0))}

    def take(self, places: NDArray[np.intp]) -> Any:
        """Training objects at some places."""
        objects = self.objects
        return [objects[i] for i in places] if isinstance(objects, list) else objects[places]

    def values(self, kernel: Kernel, X: Any, Y: Any) -> NDArray:
        """k(X, Y), from memory where it is known."""
        columns = self._places(Y)
        if columns is None:
            return kernel(X, Y)
        rows = self._places(X) if len(self._known.done) else None
        if rows is not None:
            self._known.fill(self, kernel, self.objects, columns)
            return self._known.values[np.ix_(rows, columns)]
        asked = hash_rows(X).tobytes()
        last, table = self._new
        if asked != last:
            table = Table(count(X), len(self._order))
            self._new = asked, table
        table.fill(self, kernel, X, columns)
        return table.values[:, columns]

    def _places(self, X: Any) -> NDArray[np.intp] | None:
        """The places of objects among the training objects; None if one is not there."""
        hashes = hash_rows(X)
        found = np.minimum(np.searchsorted(self._sorted, hashes), len(self._sorted) - 1)
        return self._order[found] if np.array_equal(self._sorted[found], hashes) else None


class Remembered(Kernel):
    """A kernel of objects that does not compute the same value twice.

    Parameters
    ----------
    kernel : Kernel
    memory : Memory
    """

    def __init__(self, kernel: Kernel, memory: Memory):
        self.kernel = kernel
        self.memory = memory

    def __repr__(self, *arguments: Any, **options: Any) -> str:
        return repr(self.kernel)

    @property
    def traits(self) -> Traits:
        return Traits(is_symmetric=self.kernel.is_symmetric, takes_vectors=False)

    def takes_matrix(self, X: Any) -> bool:
        """As the kernel itself."""
        return self.kernel.takes_matrix(X)

    def _block(self, X: Any, Y: Any) -> NDArray:
        return self.kernel._block(X, Y)

    def _check_data(self, X: Any, name: str = "X") -> Any:
        return self.kernel._check_data(X, name)

    def __call__(self, X: Any, Y: Any = None) -> NDArray:
        """The kernel's values."""
        # In the kernel's own form, in which the memory knows its objects: a series (time,) and one
        # (time, 1) are the same.
        X = self.kernel._check_data(X)
        Y = X if Y is None else self.kernel._check_data(Y, "Y")
        return self.memory.values(self.kernel, X, Y)

    def diag(self, X: Any) -> NDArray:
        """k(x, x), by the kernel."""
        return self.kernel.diag(X)
