"""Bases of the kernels that are a function of one number: a distance or a product of rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import check_unit_rows
from ._distances import distances, norms, products
from .base import Kernel, Profile, _len
from .traits import Traits

UNIT_CURE = "Scale the rows first, e.g. with sklearn.preprocessing.Normalizer."


class OfDistance(Kernel):
    """A kernel of the distance between rows that `_distances` computes.

    A subclass defines `_profile`, the kernel as a function of the distance.
    """

    _distances = staticmethod(distances)

    @abstractmethod
    def _profile(self, z: NDArray) -> NDArray:
        """Return the kernel at the distances z, in the dtype of z."""

    def _block(self, X: Any, Y: Any) -> NDArray:
        with np.errstate(over="ignore"):  # a distance in units of a tiny width may be infinite
            return self._profile(self._distances(X, Y))

    def _diagonal(self, X: Any) -> NDArray:
        return np.repeat(self._profile(np.zeros(1)), _len(X))


class Radial(OfDistance):
    """A kernel of the Euclidean distance z = ‖x − y‖.

    A subclass defines `_profile`, the kernel as a function of z.
    """

    @property
    def radial_profile(self) -> Profile:
        return self._profile


class DotProduct(Kernel):
    """A kernel of the product u = ⟨x, y⟩: subclasses define `_profile`.

    On unit rows it is a function of the distance too, ``u = 1 − z²/2``, and has a measure there.
    """

    @property
    def traits(self) -> Traits:
        return Traits(unit_rows=True)

    @abstractmethod
    def _profile(self, u: NDArray) -> NDArray:
        """The kernel as a function of the product, in u's dtype."""

    @property
    def radial_profile(self) -> Profile:
        profile = self.zonal_profile
        return lambda z: profile(1 - np.square(z) / 2)

    @property
    def zonal_profile(self) -> Profile:
        return self._profile

    def _block(self, X: Any, Y: Any) -> NDArray:
        with np.errstate(over="ignore"):
            return self._profile(products(X, Y))

    def _diagonal(self, X: Any) -> NDArray:
        with np.errstate(over="ignore"):
            return self._profile(np.square(norms(X)))

    def _infinite_cause(self, diameter: float) -> str:
        return (
            f"{self!r} is singular or kinked within the distances of the data (up to "
            f"{diameter:.4g} of the sphere's 2)."
        )


def check_sphere(kernel: Kernel, X: Any) -> None:
    """Raise unless all rows of X are unit rows."""
    check_unit_rows(kernel, norms(X), UNIT_CURE)
