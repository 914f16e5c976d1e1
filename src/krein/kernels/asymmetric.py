"""The asymmetric Gaussian kernels of the asymmetric paper: k(x, y) differs from k(y, x)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._validation import check_vector
from ..measures import InfiniteMassError, Measure, Normal, Part, TrigonometricRatio
from ..rows import count
from ._distances import centred, distances, in_units, norms
from .medians import WithMedian
from .traits import Traits


class _Directed(WithMedian):
    """A kernel ``exp(−‖Δ‖² / 2σ²)`` times a function of v·Δ, where Δ = x − y."""

    traits = Traits(is_symmetric=False, has_closed_form=True, is_stationary=True)
    sigma: float | str

    def _sizes(self, X: Any) -> NDArray[np.floating]:
        return distances(X, X)

    def _projections(self, X: Any, Y: Any, vector: NDArray) -> NDArray:
        X, Y = centred(X, Y)
        vector = vector.astype(X.dtype)
        return np.subtract.outer(X @ vector, Y @ vector)

    def _exponent(self, z: NDArray) -> NDArray:
        """Return ``−z² / 2σ²``."""
        with np.errstate(over="ignore"):
            return -0.5 * np.square(in_units(z, self._width))

    def _slope(self, X: Any, Y: Any, beta: NDArray) -> NDArray:
        """Return ``β·Δ``, with 0 for NaN: the squares ‖Δ‖² overflow there, and the kernel is 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.nan_to_num(self._projections(X, Y, beta), nan=0.0)

    def _along(self, dim: int, direction: NDArray, terms: dict[int, complex]) -> Measure:
        """Return the normal law times the density ratio ``Σ_k terms[k] exp(i k direction·ω)``."""
        law = Normal(dim, 1 / self._width)
        if not np.all(np.isfinite(direction)):
            raise InfiniteMassError(
                f"The mass of the measure of {self!r} exceeds the largest float: use a narrower "
                "kernel or krein.Nystrom."
            )
        if not np.any(direction):
            return Measure([Part(law, float(np.real(sum(terms.values()))))])
        return Measure([Part(law, 1.0, TrigonometricRatio(direction, tuple(terms.items())))])


class ShiftGaussian(_Directed):
    """The shifted Gaussian ``exp(−‖x − y + r‖² / 2σ²)`` (asymmetric paper, eq. 9).

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Bandwidth σ. "median" is the median distance between rows of the training data.
    shift : float or array-like of shape (d,), default=0.1
        The vector r. A number stands for a vector with that number in all coordinates.

    Examples
    --------
    >>> from krein.kernels import ShiftGaussian
    >>> ShiftGaussian(shift=1.0)([[0.0], [1.0]]).round(4)
    array([[0.6065, 1.    ],
           [0.1353, 0.6065]])
    """

    def __init__(self, sigma: float | str = 1.0, shift: ArrayLike = 0.1):
        self.sigma = sigma
        self.shift = shift

    def _block(self, X: Any, Y: Any) -> NDArray:
        r = check_vector(self, "shift", self.shift, X.shape[1])
        if not (sparse.issparse(X) or sparse.issparse(Y)):
            left, right = centred(X, Y)  # far from the origin a shift of float32 rows is rounded
            return np.exp(self._exponent(distances(left + r.astype(X.dtype), right)))
        # ‖Δ + r‖²/σ² = (‖Δ‖² + 2 r·Δ + ‖r‖²)/σ² keeps sparse rows sparse.
        sigma = self._width
        with np.errstate(over="ignore", invalid="ignore"):
            square = np.square(in_units(distances(X, Y), sigma))
            square += 2 * in_units(self._projections(X, Y, r / sigma), sigma)
            square += np.square(norms(r[None]) / sigma)
        # NaN is infinity minus infinity, where ‖Δ‖² overflows.
        square = np.where(np.isnan(square), np.inf, np.maximum(square, 0))
        return np.exp(-0.5 * square)

    def _diagonal(self, X: Any) -> NDArray:
        r = check_vector(self, "shift", self.shift, X.shape[1])
        return np.full(count(X), np.exp(self._exponent(norms(r[None]))[0]))

    def _closed_form(self, dim: int) -> Measure:
        return self._along(dim, check_vector(self, "shift", self.shift, dim), {1: 1.0})


class _Tilted(_Directed):
    """A kernel ``exp(−‖Δ‖² / 2σ²)`` times a function of β·Δ that is 1 at Δ = 0."""

    def __init__(self, sigma: float | str = 1.0, beta: ArrayLike = 0.1):
        self.sigma = sigma
        self.beta = beta

    def _diagonal(self, X: Any) -> NDArray:
        return np.ones(count(X))

    def _terms(self, size: float) -> dict[int, complex]:
        """Return the coefficients of the density ratio; size is ``e^{σ²‖β‖²/2}``."""
        raise TypeError(f"{type(self).__name__} must define _terms.")

    def _closed_form(self, dim: int) -> Measure:
        sigma = self._width
        beta = check_vector(self, "beta", self.beta, dim)
        with np.errstate(over="ignore"):  # the measure refuses an infinite mass
            size = float(np.exp(np.square(sigma * np.linalg.norm(beta)) / 2))
            return self._along(dim, sigma * (sigma * beta), self._terms(size))


class SinhGaussian(_Tilted):
    """The kernel ``exp(−‖Δ‖² / 2σ²) (1 + sinh(β·Δ))``, Δ = x − y (asymmetric paper, eq. 10).

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Bandwidth σ. "median" is the median distance between rows of the training data.
    beta : float or array-like of shape (d,), default=0.1
        The vector β. A number stands for a vector with that number in all coordinates.

    Examples
    --------
    >>> from krein.kernels import SinhGaussian
    >>> SinhGaussian(beta=1.0)([[0.0], [1.0]]).round(4)
    array([[ 1.    , -0.1063],
           [ 1.3193,  1.    ]])
    """

    def _block(self, X: Any, Y: Any) -> NDArray:
        beta = check_vector(self, "beta", self.beta, X.shape[1])
        exponent, slope = self._exponent(distances(X, Y)), self._slope(X, Y, beta)
        # The Gaussian is multiplied into both exponentials of the sinh, because e^{β·Δ} alone
        # overflows where the kernel is 0.
        return np.exp(exponent) + (np.exp(exponent + slope) - np.exp(exponent - slope)) / 2

    def _terms(self, size: float) -> dict[int, complex]:
        # 1 − i e^{σ²‖β‖²/2} sin(σ²β·ω) as a sum of exponentials.
        return {0: 1.0, 1: -size / 2, -1: size / 2}


class CoshGaussian(_Tilted):
    """The kernel ``exp(−‖Δ‖² / 2σ²) exp(β·Δ)``, Δ = x − y (asymmetric paper, eq. 11).

    The kernel is ``e^{σ²‖β‖²/2}`` times `ShiftGaussian` with r = −σ²β. The name is the paper's; the
    formula contains no cosh.

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Bandwidth σ. "median" is the median distance between rows of the training data.
    beta : float or array-like of shape (d,), default=0.1
        The vector β. A number stands for a vector with that number in all coordinates.

    Examples
    --------
    >>> from krein.kernels import CoshGaussian
    >>> CoshGaussian(beta=1.0)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.2231],
           [1.6487, 1.    ]])
    """

    def _block(self, X: Any, Y: Any) -> NDArray:
        beta = check_vector(self, "beta", self.beta, X.shape[1])
        return np.exp(self._exponent(distances(X, Y)) + self._slope(X, Y, beta))

    def _terms(self, size: float) -> dict[int, complex]:
        return {-1: size}
