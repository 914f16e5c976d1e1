"""Least-squares problems that are defined by the moments of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..streaming.moments import Moments

Array = NDArray[np.floating]

# A feature is constant if its standard deviation is at most this share of its mean: what varies is
# rounding, and coefficients that enlarge it would give any output.
ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class LeastSquares:
    """The loss ``(1/W) Σ s_i ‖y_i − b − wᵀz_i‖²`` over rows z_i with targets y_i and weights s_i.

    The moments of [Z Y] determine the loss, so the rows themselves are not needed. Without an
    intercept no means are subtracted, and `z_mean` and `y_mean` are zero. If only the targets are
    centred, `z_mean` is zero.

    Attributes
    ----------
    gram : ndarray of shape (p, p)
        ``(1/W) Σ s_i (z_i − z̄)(z_i − z̄)ᵀ``.
    cross : ndarray of shape (p, q)
        ``(1/W) Σ s_i (z_i − z̄)(y_i − ȳ)ᵀ``.
    square : ndarray of shape (q,)
        ``(1/W) Σ s_i (y_i − ȳ)²`` for each output.
    z_mean : ndarray of shape (p,)
        The mean z̄ of the features.
    y_mean : ndarray of shape (q,)
        The mean ȳ of the targets.
    weight : float
        The sum W of the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import LeastSquares
    >>> from krein.streaming import Moments
    >>> rows = np.array([[1.0, 0, 1], [0, 1, 2], [1, 1, 3], [0, 0, 0]])  # two features, one target
    >>> problem = LeastSquares.of(Moments.of(rows), n_outputs=1)
    >>> problem.gram, problem.cross[:, 0]
    (array([[0.25, 0.  ],
           [0.  , 0.25]]), array([0.25, 0.5 ]))
    """

    gram: Array
    cross: Array
    square: Array
    z_mean: Array
    y_mean: Array
    weight: float

    @classmethod
    def of(
        cls,
        moments: Moments,
        n_outputs: int,
        fit_intercept: bool = True,
        center_features: bool = True,
    ) -> LeastSquares:
        """Return the problem of rows [Z Y], given their moments.

        Parameters
        ----------
        moments : Moments
            The moments of [Z Y].
        n_outputs : int
            The number of columns of Y.
        fit_intercept : bool, default=True
            True if the model has an intercept b.
        center_features : bool, default=True
            False if only the targets are centred, so that the intercept is their mean and
            ``gram = (1/W) Σ s_i z_i z_iᵀ``.
        """
        p = moments.width - n_outputs
        weight = moments.weight or 1.0
        centred = np.full(moments.width, fit_intercept)
        centred[:p] &= center_features
        # Σ a bᵀ = Σ (a − ā)(b − b̄)ᵀ + W ā b̄ᵀ: what is not centred gets its mean back.
        left = np.where(centred, 0.0, moments.mean)
        second, mean = moments.scatter / weight, moments.mean - left
        if left.any():  # a wide problem has no room for a matrix of zeros
            second += np.outer(left, left)
        _clear_rounding(second, mean[:p])
        square = np.diagonal(second)[p:].copy()
        return cls(second[:p, :p], second[:p, p:], square, mean[:p], mean[p:], moments.weight)

    @property
    def width(self) -> int:
        """The number p of features."""
        return len(self.gram)

    @property
    def n_outputs(self) -> int:
        """The number q of outputs."""
        return self.cross.shape[1]

    def intercept(self, coef: Array) -> Array:
        """Return the intercept for coefficients of shape (p, q); zero without an intercept."""
        return self.y_mean - self.z_mean @ coef

    def loss(self, coef: Array, intercept: Array) -> float:
        """Return the weighted mean of ‖y − b − wᵀz‖², summed over the outputs."""
        offset = self.y_mean - intercept - self.z_mean @ coef
        inner = np.einsum("pq,pq->q", coef, self.gram @ coef - 2 * self.cross)
        return float(np.maximum(self.square + inner, 0).sum() + np.square(offset).sum())

    def loss_gradient(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Return the derivatives of `loss` by coef, shape (p, q), and by intercept, shape (q,)."""
        offset = self.y_mean - intercept - self.z_mean @ coef
        by_coef = 2 * (self.gram @ coef - self.cross) - 2 * np.outer(self.z_mean, offset)
        return by_coef, -2 * offset


def _clear_rounding(second: Array, means: Array) -> None:
    """Set the moments of features that are constant up to rounding to zero, in place."""
    constant = np.flatnonzero(np.diagonal(second)[: len(means)] <= np.square(ROUNDING * means))
    if len(constant):
        second[constant], second[:, constant] = 0.0, 0.0
