"""Kernel values of many rows X against the same rows Y, written block by block into given arrays.

New memory costs more than the arithmetic of a simple kernel. The formulas here therefore work in
place. What depends on Y alone is computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .._blocks import BLOCK_BYTES, CACHE_BYTES, Scratch, mirror_upper, row_blocks
from ._distances import center_of, city_distances, distances, largest
from ._exp import exp_in_place

# Entries of up to this many units have finite squares and powers of distances.
TAME = 1e100

# Replaces an array of distances by kernel values: ``apply(z, spare, exp)``.
Apply = Callable[[NDArray, NDArray, Callable[[NDArray], NDArray]], None]


class Shape(NamedTuple):
    """A kernel as a function of the distance, computed in place.

    Attributes
    ----------
    unit : float
        The unit of the distances.
    apply : callable
        ``apply(z, spare, exp)`` replaces the distances z, in this unit, by the kernel values. It
        may write to `spare`, an array of the same shape. ``exp(z)`` replaces z by its exponential.
    is_of_square : bool
        True if z are squared distances.
    """

    unit: float
    apply: Apply
    is_of_square: bool = False

    def of(self, z: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the kernel values at the distances z, which stay as they are."""
        found = np.multiply(z, 1 / self.unit)
        if self.is_of_square:
            np.square(found, out=found)
        self.apply(found, np.empty_like(found), exp_in_place)
        return found


def decay(z: NDArray, spare: NDArray, exp: Callable[[NDArray], NDArray]) -> None:
    """Replace z by ``exp(−z)``."""
    exp(np.negative(z, out=z))


def linear_decay(z: NDArray, spare: NDArray, exp: Callable[[NDArray], NDArray]) -> None:
    """Replace z by ``(1 + z) exp(−z)``."""
    exp(np.negative(z, out=spare))
    z += 1
    z *= spare


def quadratic_decay(z: NDArray, spare: NDArray, exp: Callable[[NDArray], NDArray]) -> None:
    """Replace z by ``(1 + z + z²/3) exp(−z)``."""
    np.multiply(z, 1 / 3, out=spare)
    spare += 1
    spare *= z
    spare += 1
    exp(np.negative(z, out=z))
    z *= spare


class Squares:
    """Squared Euclidean distances from rows X to fixed rows Y, by one product of matrices.

    ``‖x − y‖² = ⟨(x, ‖x‖², 1), (−2y, 1, ‖y‖²)⟩`` for centred rows. Rounding errors below zero
    become zero.

    Parameters
    ----------
    Y : ndarray of shape (m, d)
    unit : float
        The unit of the distances.
    """

    def __init__(self, Y: NDArray, unit: float):
        self.center, self.unit = center_of(Y), unit
        Y = self._in_units(Y)
        self._right = np.concatenate([-2 * Y, np.ones((len(Y), 1)), _square_norms(Y)], axis=1).T

    def _in_units(self, A: NDArray) -> NDArray:
        return (A - self.center) / self.unit

    def __call__(self, X: NDArray, out: NDArray) -> None:
        X = self._in_units(X)
        left = np.concatenate([X, _square_norms(X), np.ones((len(X), 1))], axis=1)
        np.maximum(np.matmul(left, self._right, out=out), 0, out=out)


class Euclidean(Squares):
    """Euclidean distances from rows X to fixed rows Y; see `Squares`."""

    def __call__(self, X: NDArray, out: NDArray) -> None:
        super().__call__(X, out)
        np.sqrt(out, out=out)


class City:
    """ℓ1 distances from rows X to fixed rows Y, in some unit.

    Parameters
    ----------
    Y : ndarray of shape (m, d)
    unit : float
    """

    def __init__(self, Y: NDArray, unit: float):
        self.unit, self._right = unit, Y / unit

    def __call__(self, X: NDArray, out: NDArray) -> None:
        cdist(X / self.unit, self._right, "cityblock", out=out)


# The methods that define the values of a kernel of a distance.
FORMULAS = ("_shape", "_profile", "_distances", "_block", "_rows")
# The class that computes distances in place, for each function that returns them as a new array.
IN_PLACE: dict[Any, Any] = {distances: Euclidean, city_distances: City}


def _measure(kernel: Any, Y: NDArray, shape: Shape) -> Squares | City:
    measure = Squares if shape.is_of_square else IN_PLACE[kernel._distances]
    return measure(Y, shape.unit)


def write_distances(kernel: Any, X: NDArray, out: NDArray) -> None:
    """Write the distances between all rows of X to `out`, squared if the `Shape` takes squares.

    Half of the distances are computed, and the other half is copied.
    """
    shape, scratch = kernel._shape(), Scratch()
    for rows in row_blocks(len(X), 8 * len(X), CACHE_BYTES):
        later = X[rows.start :]
        part = scratch.array("part", (len(X[rows]), len(later)))
        _measure(kernel, later, shape)(X[rows], part)
        out[rows, rows.start :] = part
    mirror_upper(out)


def _square_norms(A: NDArray) -> NDArray:
    return np.einsum("ij,ij->i", A, A)[:, None]


class Against:
    """The values k(X, Y) for a fixed Y: ``values(X, rows, out)`` writes some of them to an array.

    Parameters
    ----------
    kernel : Kernel
    Y : ndarray, CSR matrix or sequence of objects
        Validated data.

    Attributes
    ----------
    block_bytes : int
        The memory of the values of a good block of rows.
    """

    block_bytes = BLOCK_BYTES

    def __init__(self, kernel: Any, Y: Any):
        self.kernel, self.Y = kernel, Y

    def __call__(self, X: Any, rows: slice, out: NDArray) -> None:
        """Write the values of some rows of the validated X to `out`."""
        block = self.kernel._rows(X, rows, self.Y)
        with np.errstate(over="ignore"):  # float64 values may exceed float32
            out[...] = block


class ByShape(Against):
    """The values of a kernel with a `Shape` for a fixed dense Y.

    Parameters
    ----------
    kernel : OfDistance
    Y : ndarray of shape (m, d)
    shape : Shape
    n_rows : int
        The number of rows of all X together.
    """

    block_bytes = CACHE_BYTES

    def __init__(self, kernel: Any, Y: NDArray, shape: Shape, n_rows: int):
        super().__init__(kernel, Y)
        self._shape, self._distances = shape, _measure(kernel, Y, shape)
        self._n_entries, self._scratch = n_rows * len(Y), Scratch()

    def takes(self, X: Any) -> bool:
        """Return True if the values of these rows are computed in place."""
        return _is_plain(X) and is_tame(X, self._shape.unit)

    def __call__(self, X: Any, rows: slice, out: NDArray) -> None:
        some = X[rows]
        if not self.takes(some):
            return super().__call__(X, rows, out)
        self._distances(some, out)
        self._shape.apply(out, self._scratch.array("spare", out.shape), self._exp)

    def _exp(self, z: NDArray) -> NDArray:
        return exp_in_place(z, self._n_entries)


def shape_of(kernel: Any) -> Shape | None:
    """Return the `Shape` of a kernel; None if it has none, or if a subclass has other values."""
    kinds = type(kernel).__mro__
    first = next(kind for kind in kinds if not {*FORMULAS}.isdisjoint(vars(kind)))
    return kernel._shape() if "_shape" in vars(first) else None


def by_shape(kernel: Any, Y: Any, n_rows: int) -> ByShape | None:
    """Return a `ByShape` for k(X, Y) with n_rows rows X; None if the kernel has no `Shape`."""
    shape = shape_of(kernel) if _is_plain(Y) and len(Y) else None
    if shape is None or not is_tame(Y, shape.unit):
        return None
    return ByShape(kernel, Y, shape, n_rows)


def _is_plain(A: Any) -> bool:
    return isinstance(A, np.ndarray) and A.dtype == np.float64


def is_tame(A: NDArray, unit: float) -> bool:
    """Return True if distances of such rows in this unit can be computed without overflow."""
    return 1 / TAME < unit < TAME and largest(A) <= TAME * min(unit, 1.0)
