"""The asymmetric paper's kernels: Gaussians that know which of x and y comes first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._validation import check_positive, check_vector
from ..measures import InfiniteMassError, Measure, Normal, Part, TrigonometricRatio
from ._distances import centred, distances, in_units, norms
from .base import Kernel, _len
from .traits import Traits


def _growth(sigma: float, beta: NDArray) -> float:
    """``e^{σ²‖β‖²/2}``; infinite beyond what floating point holds, which the measure refuses."""
    with np.errstate(over="ignore"):
        return float(np.exp(np.square(sigma * np.linalg.norm(beta)) / 2))


def _stretched(sigma: float, beta: NDArray) -> NDArray[np.floating]:
    """``σ²β``."""
    with np.errstate(over="ignore"):
        return sigma * (sigma * beta)


class _Directed(Kernel):
    """``exp(−‖Δ‖² / 2σ²)`` times a function of the projection v·Δ, Δ = x − y."""

    traits = Traits(is_symmetric=False, has_closed_form=True)
    sigma: float

    def _projections(self, X: Any, Y: Any, vector: NDArray) -> NDArray:
        X, Y = centred(X, Y)
        vector = vector.astype(X.dtype)
        return np.subtract.outer(X @ vector, Y @ vector)

    def _exponent(self, z: NDArray) -> NDArray:
        """``−z² / 2σ²``."""
        with np.errstate(over="ignore"):
            return -0.5 * np.square(in_units(z, check_positive(self, "sigma", self.sigma)))

    def _slope(self, X: Any, Y: Any, beta: NDArray) -> NDArray:
        """``β·Δ``, finite: where it is not, ‖Δ‖² is far beyond floating point and the kernel 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.nan_to_num(self._projections(X, Y, beta), nan=0.0)

    def _along(self, dim: int, direction: NDArray, terms: dict[int, complex]) -> Measure:
        law = Normal(dim, 1 / check_positive(self, "sigma", self.sigma))
        if not np.all(np.isfinite(direction)):
            raise InfiniteMassError(
                f"The measure of {self!r} has a mass beyond what floating point holds: use a "
                "narrower kernel or krein.Nystrom."
            )
        if not np.any(direction):
            return Measure([Part(law, float(np.real(sum(terms.values()))))])
        return Measure([Part(law, 1.0, TrigonometricRatio(direction, tuple(terms.items())))])


class ShiftGaussian(_Directed):
    """``exp(−‖x − y + r‖² / 2σ²)`` (asymmetric paper, eq. 9); k(x, x) = exp(−‖r‖²/2σ²).

    Parameters
    ----------
    sigma : float, default=1.0
        Bandwidth.
    shift : float or array-like of shape (d,), default=0.1
        The vector r; a number stands for all its coordinates.
    """

    def __init__(self, sigma: float = 1.0, shift: ArrayLike = 0.1):
        self.sigma = sigma
        self.shift = shift

    def _block(self, X: Any, Y: Any) -> NDArray:
        r = check_vector(self, "shift", self.shift, X.shape[1])
        if not (sparse.issparse(X) or sparse.issparse(Y)):
            return np.exp(self._exponent(distances(X + r.astype(X.dtype), Y)))
        # ‖Δ + r‖² = ‖Δ‖² + 2 r·Δ + ‖r‖², which leaves sparse rows sparse; all of it over σ².
        sigma = check_positive(self, "sigma", self.sigma)
        with np.errstate(over="ignore", invalid="ignore"):
            square = np.square(in_units(distances(X, Y), sigma))
            square += 2 * in_units(self._projections(X, Y, r / sigma), sigma)
            square += np.square(norms(r[None]) / sigma)
        # Infinite less infinite is where ‖Δ‖² is beyond floating point.
        square = np.where(np.isnan(square), np.inf, np.maximum(square, 0))
        return np.exp(-0.5 * square)

    def _diagonal(self, X: Any) -> NDArray:
        r = check_vector(self, "shift", self.shift, X.shape[1])
        return np.full(_len(X), np.exp(self._exponent(norms(r[None]))[0]))

    def _closed_form(self, dim: int) -> Measure:
        return self._along(dim, check_vector(self, "shift", self.shift, dim), {1: 1.0})


class _Tilted(_Directed):
    """``exp(−‖Δ‖² / 2σ²)`` times a function of β·Δ that is 1 at Δ = 0."""

    def __init__(self, sigma: float = 1.0, beta: ArrayLike = 0.1):
        self.sigma = sigma
        self.beta = beta

    def _diagonal(self, X: Any) -> NDArray:
        return np.ones(_len(X))


class SinhGaussian(_Tilted):
    """``exp(−‖Δ‖² / 2σ²) (1 + sinh(β·Δ))``, Δ = x − y (asymmetric paper, eq. 10).

    Parameters
    ----------
    sigma : float, default=1.0
        Bandwidth.
    beta : float or array-like of shape (d,), default=0.1
        The vector β; a number stands for all its coordinates.
    """

    def _block(self, X: Any, Y: Any) -> NDArray:
        beta = check_vector(self, "beta", self.beta, X.shape[1])
        exponent, slope = self._exponent(distances(X, Y)), self._slope(X, Y, beta)
        # One exponent for each half of the sinh: e^{β·Δ} alone overflows where the kernel is 0.
        return np.exp(exponent) + (np.exp(exponent + slope) - np.exp(exponent - slope)) / 2

    def _closed_form(self, dim: int) -> Measure:
        sigma = check_positive(self, "sigma", self.sigma)
        beta = check_vector(self, "beta", self.beta, dim)
        size = _growth(sigma, beta)
        # 1 − i e^{σ²‖β‖²/2} sin(σ²β·ω), written in exponentials.
        return self._along(dim, _stretched(sigma, beta), {0: 1.0, 1: -size / 2, -1: size / 2})


class CoshGaussian(_Tilted):
    """``exp(−‖Δ‖² / 2σ²) exp(β·Δ)``, Δ = x − y (asymmetric paper, eq. 11).

    Despite its name there is no cosh in it: it is ``e^{σ²‖β‖²/2}`` times the shift-Gaussian with
    r = −σ²β.

    Parameters
    ----------
    sigma : float, default=1.0
        Bandwidth.
    beta : float or array-like of shape (d,), default=0.1
        The vector β; a number stands for all its coordinates.
    """

    def _block(self, X: Any, Y: Any) -> NDArray:
        beta = check_vector(self, "beta", self.beta, X.shape[1])
        return np.exp(self._exponent(distances(X, Y)) + self._slope(X, Y, beta))

    def _closed_form(self, dim: int) -> Measure:
        sigma = check_positive(self, "sigma", self.sigma)
        beta = check_vector(self, "beta", self.beta, dim)
        size = _growth(sigma, beta)
        return self._along(dim, _stretched(sigma, beta), {-1: size})
