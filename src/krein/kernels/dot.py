"""Kernels that are functions of the product ⟨x, y⟩."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, owens_t
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from .._validation import (
    ArgumentError,
    check_choice,
    check_degree,
    check_finite,
    check_positive,
    store,
)
from ._distances import enlarged, norms, tamed_rows
from .profiles import DotProduct
from .traits import Traits


class _Affine(DotProduct):
    """A kernel that is a function of ``γ⟨x, y⟩ + c``."""

    def __init__(self, gamma: float | str = 1.0, coef0: float = 0.0):
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def _slope(self) -> float:
        return check_finite(self, "gamma", self.gamma, " or 'median'")

    def _affine(self, u: NDArray) -> NDArray:
        return self._slope * u + check_finite(self, "coef0", self.coef0)


class Sigmoid(_Affine):
    """The hyperbolic tangent kernel ``tanh(γ⟨x, y⟩ + c)``, indefinite in general.

    Parameters
    ----------
    gamma : float or "median", default=1.0
        Slope γ. "median" is one over the median of |⟨x, y⟩| of the training data.
    coef0 : float, default=0.0
        Offset c.

    Examples
    --------
    >>> from krein.kernels import Sigmoid
    >>> Sigmoid(coef0=-1.0)([[1.0], [2.0]]).round(4)
    array([[0.    , 0.7616],
           [0.7616, 0.9951]])
    """

    def _profile(self, u: NDArray) -> NDArray:
        return np.tanh(self._affine(u))

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating]:
        """Return the first n coefficients, from ``k' = γ(1 − k²)``."""
        series = np.zeros(n + 1)
        series[0] = self._profile(np.zeros(()))
        for j in range(n):
            square = series[: j + 1] @ series[j::-1]
            series[j + 1] = self._slope * ((j == 0) - square) / (j + 1)
        return series[:n]


class RectifiedSigmoid(_Affine):
    """The rectified linear kernel ``max(0, γ⟨x, y⟩ + c)``.

    The papers name a "rectified sigmoid kernel" without a formula. This formula is our reading of
    the name.

    Parameters
    ----------
    gamma : float or "median", default=1.0
        Slope γ. "median" is one over the median of |⟨x, y⟩| of the training data.
    coef0 : float, default=0.0
        Offset c.

    Examples
    --------
    >>> from krein.kernels import RectifiedSigmoid
    >>> RectifiedSigmoid(coef0=-1.0)([[1.0], [2.0]])
    array([[0., 1.],
           [1., 3.]])
    """

    def _profile(self, u: NDArray) -> NDArray:
        return np.maximum(self._affine(u), 0)


class Polynomial(_Affine):
    """The polynomial kernel ``(γ⟨x, y⟩ + c)^degree``, positive definite for γ > 0 and c ≥ 0.

    Parameters
    ----------
    degree : int, default=2
        Exponent. It must be a whole number, because the base may be negative.
    gamma : float or "median", default=1.0
        Slope γ. "median" is one over the median of |⟨x, y⟩| of the training data.
    coef0 : float, default=1.0
        Offset c.

    Examples
    --------
    >>> from krein.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0], [2.0]])
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    def __init__(self, degree: int = 2, gamma: float | str = 1.0, coef0: float = 1.0):
        store(self, locals())

    def _profile(self, u: NDArray) -> NDArray:
        return self._affine(u) ** check_degree(self, self.degree)

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating]:
        degree = check_degree(self, self.degree)
        coef0 = float(self._affine(np.zeros(())))
        powers = range(min(degree + 1, n))
        found = [math.comb(degree, j) * self._slope**j * coef0 ** (degree - j) for j in powers]
        return np.pad(found, (0, n - len(found)))


class Hellinger(DotProduct):
    """The kernel ``√⟨x, y⟩`` of rows whose products are not negative, e.g. histograms.

    Examples
    --------
    >>> from krein.kernels import Hellinger
    >>> Hellinger()([[1.0, 0.0], [4.0, 3.0]])
    array([[1., 2.],
           [2., 5.]])
    """

    traits = Traits(unit_rows=True, lowest_product=0.0)

    def _profile(self, u: NDArray) -> NDArray:
        lowest = np.min(u, initial=0.0)
        if lowest < -1e-6:
            raise ValueError(
                f"Hellinger is the square root of ⟨x, y⟩, but the smallest product is "
                f"{lowest:.4g}: it needs data without negative products, e.g. columns ≥ 0."
            )
        return np.sqrt(np.maximum(u, 0))


class _Homogeneous(DotProduct):
    """A kernel ``(‖x‖‖y‖)^p κ(cos θ)``, where θ is the angle between x and y and p is `_power`."""

    @property
    def _power(self) -> int:
        return 1

    def _block(self, X: Any, Y: Any) -> NDArray:
        (X, left), (Y, right) = tamed_rows(X), tamed_rows(Y)
        sizes = np.outer(row_norms(X), row_norms(Y))
        # A zero row has no direction. Its cosine is set to 0.
        cosines = safe_sparse_dot(X, Y.T, dense_output=True) / np.where(sizes > 0, sizes, 1)
        shape = self._profile(np.clip(cosines, -1, 1))
        if self._power == 0:
            return shape
        # The norms are enlarged last, because infinity times a profile of zero would be NaN.
        return enlarged(enlarged(sizes * shape, left[:, None]), right)

    def _diagonal(self, X: Any) -> NDArray:
        sizes = norms(X)
        with np.errstate(over="ignore"):
            return sizes ** (2 * self._power) * self._profile((sizes > 0).astype(sizes.dtype))


def _arc(order: int, u: NDArray) -> NDArray:
    """Return ``κ₀(u) = 1 − θ/π`` or ``κ₁(u) = (u(π − θ) + √(1 − u²))/π``, θ = arccos u."""
    u = np.clip(u, -1, 1)
    angle = np.arccos(u)
    if order == 0:
        return 1 - angle / np.pi
    return (u * (np.pi - angle) + np.sqrt(1 - u**2)) / np.pi


def _arc_series(order: int, n: int) -> NDArray[np.floating]:
    """Return the first n Maclaurin coefficients of ``κ₀ = ½ + arcsin(u)/π`` or ``κ₁ = ∫ κ₀``."""
    j = np.arange(1, n + 1, 2)
    # The coefficients of arcsin have the ratio (j − 2)²/((j − 1) j).
    ratios = np.where(j > 1, np.square(j - 2) / np.maximum(1, (j - 1) * j), 1.0)
    series = 0.5 * np.eye(1, n + 1)[0]
    series[1::2] = np.cumprod(ratios) / np.pi
    if order == 0:
        return series[:n]
    return np.concatenate([[1 / np.pi], series[: n - 1] / np.arange(1, n)])[:n]


class ArcCosine(_Homogeneous):
    """The arc-cosine kernel, which is an infinite layer of step units or ReLU units.

    With the angle θ between x and y, the kernel is ``κ₀ = 1 − θ/π`` for order 0, and
    ``‖x‖‖y‖ κ₁`` with ``κ₁ = (cos θ (π − θ) + sin θ)/π`` for order 1. Both are positive definite.
    The papers call them indefinite, which is true of their extension by zero to R^d only.

    Parameters
    ----------
    order : {0, 1}, default=1
        0 for step units, 1 for ReLU units.

    Examples
    --------
    >>> from krein.kernels import ArcCosine
    >>> ArcCosine(order=0)([[1.0, 0.0], [0.0, 1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    def __init__(self, order: int = 1):
        self.order = order

    @property
    def traits(self) -> Traits:
        return Traits(unit_rows=True, antipodal_exponent=1.5 if self.order == 1 else 0.5)

    @property
    def _power(self) -> int:
        return check_choice(self, "order", self.order, (0, 1))

    def _profile(self, u: NDArray) -> NDArray:
        return _arc(self._power, u)

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating] | None:
        return _arc_series(self._power, n) if unit_rows else None


class NeuralTangent(_Homogeneous):
    """The neural tangent kernel of a two-layer ReLU network (signed-measure paper, eq. 4.2).

    The kernel is ``‖x‖‖y‖ (u κ₀(u) + κ₁(u))``, where u is the cosine of the angle between x and y,
    and κ₀ and κ₁ are the functions of `ArcCosine`. It is positive definite.

    Examples
    --------
    >>> from krein.kernels import NeuralTangent
    >>> NeuralTangent()([[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[2.    , 0.3183],
           [0.3183, 2.    ]])
    """

    traits = Traits(unit_rows=True, antipodal_exponent=0.5)

    def _profile(self, u: NDArray) -> NDArray:
        return u * _arc(0, u) + _arc(1, u)

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating] | None:
        if not unit_rows:
            return None
        return np.append(0.0, _arc_series(0, n))[:n] + _arc_series(1, n)


class OrthantProbability(_Homogeneous):
    """The CRO kernel, the chance that two correlated normal variables are both small.

    With the angle θ between x and y, and standard normal variables A and B of correlation cos θ,
    the kernel is ``P(A ≤ t, B ≤ t)`` with ``t = Φ⁻¹(α)``. Hence k(x, x) = α. The kernel is positive
    definite. On unit rows it resembles a Gaussian kernel that is narrower for smaller α. It is the
    limit of the features of `krein.rivals.ConcomitantRankOrder`.

    Parameters
    ----------
    alpha : float, default=0.1
        The level α, above 0 and at most 1.

    References
    ----------
    K. Eshghi, M. Kafai. The CRO Kernel: Using Concomitant Rank Order Hashes for Sparse High
    Dimensional Randomized Feature Maps. ICDE 2016.

    Examples
    --------
    >>> from krein.kernels import OrthantProbability
    >>> OrthantProbability(alpha=0.1)([[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[0.1 , 0.01],
           [0.01, 0.1 ]])
    """

    traits = Traits(unit_rows=True)
    _power = 0

    def __init__(self, alpha: float = 0.1):
        self.alpha = alpha

    def _profile(self, u: NDArray) -> NDArray:
        alpha = check_positive(self, "alpha", self.alpha)
        if alpha > 1:
            raise ArgumentError(self, "alpha", "a number above 0 and at most 1", self.alpha)
        u = np.clip(u, -1.0, 1.0)
        with np.errstate(divide="ignore"):
            slope = np.sqrt((1 - u) / (1 + u))
        return (alpha - 2 * owens_t(ndtri(alpha), slope)).astype(u.dtype)
