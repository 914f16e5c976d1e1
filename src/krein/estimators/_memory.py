"""Values of a slow kernel, computed once for all who ask for them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._hashing import hash_rows
from ..kernels import Kernel
from ..kernels.custom import BadPairError


class Memory:
    """All values between the training objects, and those of the last new objects against them.

    Objects are known by their content. Copies share the memory; a pickle has the objects, no
    values.
    """

    def __init__(self, kernel: Kernel, objects: Any):
        self.objects = objects
        hashes = hash_rows(objects)
        self._order = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self._order]
        self._values: NDArray | None = kernel(objects)
        self._asked = b""
        self._new: NDArray = np.empty((0, 0))

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_values": None, "_asked": b"", "_new": np.empty((0, 0))}

    def __repr__(self) -> str:
        return f"<{len(self.objects)} objects>"

    def forget(self) -> None:
        """Give the values back; objects are still known."""
        vars(self).update(self.__getstate__())

    def values(self, kernel: Kernel, X: Any, Y: Any) -> NDArray:
        """k(X, Y), from memory where it is known."""
        columns = self._places(Y)
        if columns is None:
            return kernel(X, Y)
        rows = None if self._values is None else self._places(X)
        if rows is not None:
            assert self._values is not None
            return self._values[np.ix_(rows, columns)]
        return self._of_new(kernel, X, columns)

    def _places(self, X: Any) -> NDArray[np.intp] | None:
        """The places of objects among the training objects; None if one is not there."""
        hashes = hash_rows(X)
        found = np.minimum(np.searchsorted(self._sorted, hashes), len(self._sorted) - 1)
        return self._order[found] if np.array_equal(self._sorted[found], hashes) else None

    def _take(self, places: NDArray[np.intp]) -> Any:
        objects = self.objects
        return objects[places] if hasattr(objects, "shape") else [objects[i] for i in places]

    def _of_new(self, kernel: Kernel, X: Any, columns: NDArray[np.intp]) -> NDArray:
        """Values of objects that were not trained on; several models ask for the same ones."""
        asked = hash_rows(X).tobytes()
        if asked != self._asked:
            self._asked, self._new = asked, np.full((len(X), len(self.objects)), np.nan)
        missing = np.unique(columns[np.isnan(self._new[:, columns]).any(axis=0)])
        if len(missing):
            try:
                self._new[:, missing] = kernel(X, self._take(missing))
            except BadPairError as bad:
                place = int(np.flatnonzero(columns == missing[bad.column])[0])
                raise BadPairError(bad.name, bad.value, bad.row, place) from None
        return self._new[:, columns]


class Remembered(Kernel):
    """A kernel of objects that does not compute the same value twice.

    Parameters
    ----------
    kernel : Kernel
    memory : Memory
    """

    takes_vectors = False

    def __init__(self, kernel: Kernel, memory: Memory):
        self.kernel = kernel
        self.memory = memory

    @property
    def is_symmetric(self) -> bool:  # type: ignore[override]  # a property here, a constant there
        return self.kernel.is_symmetric

    def takes_matrix(self, X: Any) -> bool:
        """As the kernel itself."""
        return self.kernel.takes_matrix(X)

    def _block(self, X: Any, Y: Any) -> NDArray:
        return self.kernel._block(X, Y)

    def _check_data(self, X: Any, name: str = "X") -> Any:
        return self.kernel._check_data(X, name)

    def __call__(self, X: Any, Y: Any = None) -> NDArray:
        """The kernel's values."""
        return self.memory.values(self.kernel, X, X if Y is None else Y)

    def diag(self, X: Any) -> NDArray:
        """k(x, x), by the kernel."""
        return self.kernel.diag(X)
