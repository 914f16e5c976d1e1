"""Kernels that are functions of the ℓ1 distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._validation import check_positive
from ..measures import Measure, Part, ProductCauchy
from ._against import Shape, decay
from ._distances import city_distances, in_units
from .profiles import OfDistance
from .traits import Traits


class _L1(OfDistance):
    """A kernel that is a function of the ℓ1 distance, hence stationary but not radial."""

    traits = Traits(is_stationary=True)
    _distances = staticmethod(city_distances)


class Laplacian(_L1):
    """The Laplacian kernel ``exp(−‖x − y‖₁ / σ)``, positive definite.

    The distance is the ℓ1 distance, as in scikit-learn. The coordinates of the frequencies are
    independent Cauchy variables. ``Matern(nu=0.5)`` is the exponential of the Euclidean distance.

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Length scale σ. The parameter ``gamma`` of scikit-learn is 1/σ.
        "median" is the median distance between rows of the training data.

    Examples
    --------
    >>> from krein.kernels import Laplacian
    >>> Laplacian()([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.1353]])
    """

    traits = Traits(has_closed_form=True, is_stationary=True)

    def __init__(self, sigma: float | str = 1.0):
        self.sigma = sigma

    def _profile(self, z: NDArray) -> NDArray:
        return np.exp(-in_units(z, self._width))

    def _shape(self) -> Shape:
        return Shape(self._width, decay)

    def _closed_form(self, dim: int) -> Measure:
        return Measure([Part(ProductCauchy(dim, 1 / self._width))])


class TL1(_L1):
    """The truncated ℓ1 distance kernel ``max(0, ρ − ‖x − y‖₁)``, indefinite.

    The kernel is stationary but not radial. No finite spectral measure of it is known.

    Parameters
    ----------
    rho : float, default=1.0
        The distance ρ at which the kernel reaches zero. For columns in [0, 1], a usual choice is
        0.7 times the number of columns.

    Examples
    --------
    >>> from krein.kernels import TL1
    >>> TL1(rho=3.0)([[0.0, 0.0]], [[1.0, 1.0]])
    array([[1.]])
    """

    def __init__(self, rho: float = 1.0):
        self.rho = rho

    def _profile(self, z: NDArray) -> NDArray:
        return np.maximum(check_positive(self, "rho", self.rho) - z, 0)
