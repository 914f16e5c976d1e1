"""A least-squares problem as its moments say it: no rows needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..streaming.moments import Moments

Array = NDArray[np.floating]


@dataclass(frozen=True)
class LeastSquares:
    """``(1/W) Σ s_i ‖y_i − b − wᵀz_i‖²`` over the rows that the moments of [Z Y] have seen.

    Attributes
    ----------
    gram : ndarray of shape (p, p)
        ``(1/W) Σ s_i (z_i − z̄)(z_i − z̄)ᵀ``; without an intercept nothing is subtracted.
    cross : ndarray of shape (p, q)
        The same of z and y.
    square : ndarray of shape (q,)
        The same of each output with itself.
    z_mean, y_mean : ndarray of shape (p,) and (q,)
        Zero without an intercept.
    weight : float
        W, the sum of the weights.
    """

    gram: Array
    cross: Array
    square: Array
    z_mean: Array
    y_mean: Array
    weight: float

    @classmethod
    def of(cls, moments: Moments, n_outputs: int, fit_intercept: bool = True) -> LeastSquares:
        """The problem in the moments of rows [Z Y], the last `n_outputs` columns of which are Y."""
        p = moments.width - n_outputs
        weight = moments.weight or 1.0
        second, mean = moments.scatter / weight, moments.mean
        if not fit_intercept:
            second = second + np.outer(mean, mean)
            mean = np.zeros_like(mean)
        square = np.diagonal(second)[p:].copy()
        return cls(second[:p, :p], second[:p, p:], square, mean[:p], mean[p:], moments.weight)

    @property
    def width(self) -> int:
        return len(self.gram)

    @property
    def n_outputs(self) -> int:
        return self.cross.shape[1]

    def intercept(self, coef: Array) -> Array:
        """The intercept that belongs to coefficients of shape (p, q)."""
        return self.y_mean - self.z_mean @ coef

    def loss(self, coef: Array, intercept: Array) -> float:
        """The weighted mean of ‖y − b − wᵀz‖², summed over outputs."""
        offset = self.y_mean - intercept - self.z_mean @ coef
        inner = np.einsum("pq,pq->q", coef, self.gram @ coef - 2 * self.cross)
        return float(np.maximum(self.square + inner, 0).sum() + np.square(offset).sum())

    def loss_gradient(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """The derivatives of `loss` by coef, shape (p, q), and intercept, shape (q,)."""
        offset = self.y_mean - intercept - self.z_mean @ coef
        by_coef = 2 * (self.gram @ coef - self.cross) - 2 * np.outer(self.z_mean, offset)
        return by_coef, -2 * offset
