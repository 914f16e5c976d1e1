"""Base classes for kernels that are a function of a distance or of a product of rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measures.radial import Profile
from ..rows import count
from ._against import Against, Shape, by_shape, is_tame, shape_of
from ._distances import distances, norms, products
from .medians import WithMedian
from .traits import Traits


class OfDistance(WithMedian):
    """A kernel that is a function of the distance between rows.

    A subclass defines `_profile`, the kernel as a function of the distance. It may replace
    `_distances`, the function that computes the distances, and define `_shape`, the same function
    computed in place, which is faster.
    """

    _distances = staticmethod(distances)

    @abstractmethod
    def _profile(self, z: NDArray) -> NDArray:
        """Return the kernel at the distances z, in the dtype of z."""

    def _shape(self) -> Shape | None:
        """Return how the values are computed in place; None if they are not."""
        return None

    def _block(self, X: Any, Y: Any) -> NDArray:
        values = by_shape(self, Y, count(X))
        if values is not None and values.takes(X):
            values(X, slice(None), out := np.empty((len(X), len(Y))))
            return out
        with np.errstate(over="ignore"):  # a distance in units of a tiny width may be infinite
            return self._profile(self._distances(X, Y))

    def _values_against(self, Y: Any, n_rows: int) -> Against:
        return by_shape(self, Y, n_rows) or super()._values_against(Y, n_rows)

    def _at(self, z: NDArray[np.floating]) -> NDArray:
        """Return the kernel at the distances z, computed in place if possible."""
        shape = shape_of(self)
        if shape is None or not is_tame(z, shape.unit):
            with np.errstate(over="ignore"):
                return self._profile(z)
        return shape.of(z)

    def _sizes(self, X: Any) -> NDArray[np.floating]:
        return self._distances(X, X)

    def _diagonal(self, X: Any) -> NDArray:
        return np.repeat(self._profile(np.zeros(1)), count(X))


class Radial(OfDistance):
    """A kernel that is a function of the Euclidean distance z = ‖x − y‖.

    A subclass defines `_profile`, the kernel as a function of z.
    """

    traits = Traits(is_stationary=True)

    @property
    def radial_profile(self) -> Profile:
        return self._profile


class DotProduct(WithMedian):
    """A kernel that is a function of the product u = ⟨x, y⟩.

    A subclass defines `_profile`, the kernel as a function of u. On unit rows ``u = 1 − z²/2``, so
    the kernel is also a function of the distance z and has a spectral measure.
    """

    @property
    def traits(self) -> Traits:
        return Traits(unit_rows=True)

    @abstractmethod
    def _profile(self, u: NDArray) -> NDArray:
        """Return the kernel at the products u, in the dtype of u."""

    @property
    def radial_profile(self) -> Profile:
        profile = self.zonal_profile
        return lambda z: profile(1 - np.square(z) / 2)

    @property
    def zonal_profile(self) -> Profile:
        return self._profile

    def _sizes(self, X: Any) -> NDArray[np.floating]:
        return np.abs(products(X, X))

    def _block(self, X: Any, Y: Any) -> NDArray:
        with np.errstate(over="ignore"):
            return self._profile(products(X, Y))

    def _diagonal(self, X: Any) -> NDArray:
        with np.errstate(over="ignore"):
            return self._profile(np.square(norms(X)))

    def _infinite_cause(self, diameter: float) -> str:
        return (
            f"{self!r} has a kink or a singularity at distances of up to {diameter:.4g} on the "
            "unit sphere."
        )
