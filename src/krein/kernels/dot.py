"""Kernels of the product ⟨x, y⟩."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from .._validation import check_choice, check_degree, check_finite
from ._distances import enlarged, norms, tamed_rows
from .profiles import DotProduct
from .traits import Traits


def _affine(kernel: Any, u: NDArray) -> NDArray:
    """``γ u + c`` with the kernel's own slope and offset."""
    return check_finite(kernel, "gamma", kernel.gamma) * u + check_finite(
        kernel, "coef0", kernel.coef0
    )


class Sigmoid(DotProduct):
    """``tanh(γ⟨x, y⟩ + c)``: the hyperbolic tangent kernel, indefinite in general.

    Parameters
    ----------
    gamma : float, default=1.0
        Slope γ.
    coef0 : float, default=0.0
        Offset c.
    """

    def __init__(self, gamma: float = 1.0, coef0: float = 0.0):
        self.gamma = gamma
        self.coef0 = coef0

    def _profile(self, u: NDArray) -> NDArray:
        return np.tanh(_affine(self, u))


class RectifiedSigmoid(DotProduct):
    """``max(0, γ⟨x, y⟩ + c)``.

    The papers name a "rectified sigmoid kernel" without a formula; this is our reading of it.

    Parameters
    ----------
    gamma : float, default=1.0
        Slope γ.
    coef0 : float, default=0.0
        Offset c.
    """

    def __init__(self, gamma: float = 1.0, coef0: float = 0.0):
        self.gamma = gamma
        self.coef0 = coef0

    def _profile(self, u: NDArray) -> NDArray:
        return np.maximum(_affine(self, u), 0)


class Polynomial(DotProduct):
    """``(γ⟨x, y⟩ + c)^degree``; positive definite for γ > 0, c ≥ 0 and a whole degree.

    Parameters
    ----------
    degree : int, default=2
        Exponent, a whole number because the base may be negative.
    gamma : float, default=1.0
        Slope γ.
    coef0 : float, default=1.0
        Offset c.
    """

    def __init__(self, degree: int = 2, gamma: float = 1.0, coef0: float = 1.0):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def _profile(self, u: NDArray) -> NDArray:
        return _affine(self, u) ** check_degree(self, self.degree)


class Hellinger(DotProduct):
    """``√⟨x, y⟩`` for rows whose products are not negative, e.g. histograms."""

    traits = Traits(unit_rows=True, lowest_product=0.0)

    def _profile(self, u: NDArray) -> NDArray:
        lowest = np.min(u, initial=0.0)
        if lowest < -1e-6:
            raise ValueError(
                f"Hellinger is the square root of ⟨x, y⟩, but a product is {lowest:.4g}: it needs "
                "data without negative products, e.g. non-negative columns."
            )
        return np.sqrt(np.maximum(u, 0))


class _Homogeneous(DotProduct):
    """``(‖x‖‖y‖)^p κ(cos θ)`` with θ the angle between x and y; p is `_power`."""

    @property
    def _power(self) -> int:
        return 1

    def _profile(self, u: NDArray) -> NDArray:
        raise TypeError("A profile of the cosine is needed.")

    def _block(self, X: Any, Y: Any) -> NDArray:
        (X, left), (Y, right) = tamed_rows(X), tamed_rows(Y)
        sizes = np.outer(row_norms(X), row_norms(Y))
        # A zero row has no direction; its cosine is taken as 0, its kernel of power 1 is 0.
        cosines = safe_sparse_dot(X, Y.T, dense_output=True) / np.where(sizes > 0, sizes, 1)
        shape = self._profile(np.clip(cosines, -1, 1))
        if self._power == 0:
            return shape
        # A product with a size that is infinite would be NaN where the profile is zero.
        return enlarged(enlarged(sizes * shape, left[:, None]), right)

    def _diagonal(self, X: Any) -> NDArray:
        sizes = norms(X)
        with np.errstate(over="ignore"):
            return sizes ** (2 * self._power) * self._profile((sizes > 0).astype(sizes.dtype))


def _arc(order: int, u: NDArray) -> NDArray:
    """``κ₀ = 1 − θ/π`` and ``κ₁ = (u(π − θ) + √(1 − u²))/π``, θ = arccos u."""
    u = np.clip(u, -1, 1)
    angle = np.arccos(u)
    if order == 0:
        return 1 - angle / np.pi
    return (u * (np.pi - angle) + np.sqrt(1 - u**2)) / np.pi


class ArcCosine(_Homogeneous):
    """The arc-cosine kernel of order 0 or 1: an infinite layer of step or ReLU units.

    ``κ₀(cos θ) = 1 − θ/π`` (order 0), ``‖x‖‖y‖ κ₁(cos θ)`` (order 1). Both are positive definite;
    the papers' "indefinite" holds for their extension by zero to R^d only.

    Parameters
    ----------
    order : {0, 1}, default=1
        Order of the kernel.
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


class NeuralTangent(_Homogeneous):
    """The neural tangent kernel of a two-layer ReLU network (signed-measure paper, eq. 4.2).

    ``‖x‖‖y‖ (u κ₀(u) + κ₁(u))`` with u the cosine of the angle; positive definite.
    """

    traits = Traits(unit_rows=True, antipodal_exponent=0.5)

    def _profile(self, u: NDArray) -> NDArray:
        return u * _arc(0, u) + _arc(1, u)
