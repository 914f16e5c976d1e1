"""The asymmetric paper's kernels: Gaussians that know which of x and y comes first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import euclidean_distances

from .._validation import check_positive, check_vector
from ..measures import Measure, Normal, Part, Ridge
from .base import Kernel, _len


def _growth(sigma: float, beta: NDArray) -> float:
    """``e^{σ²‖β‖²/2}``; infinite beyond what floating point holds, which the measure refuses."""
    with np.errstate(over="ignore"):
        return float(np.exp(sigma**2 * (beta @ beta) / 2))


class _Directed(Kernel):
    """``exp(−‖Δ‖² / 2σ²)`` times a function of the projection v·Δ, Δ = x − y."""

    is_symmetric = False
    has_closed_form = True
    sigma: float

    def _projections(self, X: Any, Y: Any, vector: NDArray) -> NDArray:
        vector = vector.astype(X.dtype)
        return np.subtract.outer(X @ vector, Y @ vector)

    def _exponent(self, X: Any, Y: Any) -> NDArray:
        sigma = check_positive(self, "sigma", self.sigma)
        return euclidean_distances(X, Y, squared=True) * (-0.5 / sigma**2)

    def _ridge(self, dim: int, direction: NDArray, terms: dict[int, complex]) -> Measure:
        law = Normal(dim, 1 / check_positive(self, "sigma", self.sigma))
        if not np.any(direction):
            return Measure([Part(law, float(np.real(sum(terms.values()))))])
        return Measure([Part(law, 1.0, Ridge(direction, tuple(terms.items())))])


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
        # ‖Δ + r‖² = ‖Δ‖² + 2 r·Δ + ‖r‖², which serves sparse rows too.
        sigma = check_positive(self, "sigma", self.sigma)
        r = check_vector(self, "shift", self.shift, X.shape[1])
        square = euclidean_distances(X, Y, squared=True)
        square += 2 * self._projections(X, Y, r) + float(r @ r)
        return np.exp(np.maximum(square, 0) * (-0.5 / sigma**2))

    def _diagonal(self, X: Any) -> NDArray:
        sigma = check_positive(self, "sigma", self.sigma)
        r = check_vector(self, "shift", self.shift, X.shape[1])
        return np.full(_len(X), np.exp(-0.5 * float(r @ r) / sigma**2))

    def _closed_form(self, dim: int) -> Measure:
        return self._ridge(dim, check_vector(self, "shift", self.shift, dim), {1: 1.0})


class SinhGaussian(_Directed):
    """``exp(−‖Δ‖² / 2σ²) (1 + sinh(β·Δ))``, Δ = x − y (asymmetric paper, eq. 10).

    Parameters
    ----------
    sigma : float, default=1.0
        Bandwidth.
    beta : float or array-like of shape (d,), default=0.1
        The vector β; a number stands for all its coordinates.
    """

    def __init__(self, sigma: float = 1.0, beta: ArrayLike = 0.1):
        self.sigma = sigma
        self.beta = beta

    def _block(self, X: Any, Y: Any) -> NDArray:
        beta = check_vector(self, "beta", self.beta, X.shape[1])
        exponent, slope = self._exponent(X, Y), self._projections(X, Y, beta)
        # One exponent for each half of the sinh: e^{β·Δ} alone overflows where the kernel is 0.
        return np.exp(exponent) + (np.exp(exponent + slope) - np.exp(exponent - slope)) / 2

    def _diagonal(self, X: Any) -> NDArray:
        return np.ones(_len(X))

    def _closed_form(self, dim: int) -> Measure:
        sigma = check_positive(self, "sigma", self.sigma)
        beta = check_vector(self, "beta", self.beta, dim)
        size = _growth(sigma, beta)
        # 1 − i e^{σ²‖β‖²/2} sin(σ²β·ω), written in exponentials.
        return self._ridge(dim, sigma**2 * beta, {0: 1.0, 1: -size / 2, -1: size / 2})


class CoshGaussian(_Directed):
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

    def __init__(self, sigma: float = 1.0, beta: ArrayLike = 0.1):
        self.sigma = sigma
        self.beta = beta

    def _block(self, X: Any, Y: Any) -> NDArray:
        beta = check_vector(self, "beta", self.beta, X.shape[1])
        return np.exp(self._exponent(X, Y) + self._projections(X, Y, beta))

    def _diagonal(self, X: Any) -> NDArray:
        return np.ones(_len(X))

    def _closed_form(self, dim: int) -> Measure:
        sigma = check_positive(self, "sigma", self.sigma)
        beta = check_vector(self, "beta", self.beta, dim)
        size = _growth(sigma, beta)
        return self._ridge(dim, sigma**2 * beta, {-1: size})
