"""Leave-one-out errors of kernel ridge in closed form: one eigendecomposition serves all penalties.

With rows scaled by the roots of their weights, ``K = U Λ Uᵀ`` and penalties α₊ of the positive and α₋
of the negative part, the residuals are ``R y`` with ``R = U diag(α / (|Λ| + α)) Uᵀ``, and row i has
the residual ``(R y)_i / R_ii`` under the model of all other rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

Array = NDArray[np.floating]

# Penalties to try, as shares of the sum of all |λ|.
SHARES = np.geomspace(1e-8, 1, 17)
# Penalties of the negative part, as multiples of the penalty of the positive part.
RATIOS = (1.0, 1e-2, np.inf)
# A negative eigenvalue below this share of the largest one is a rounding error.
ROUNDING = 1e-9


class Judged(NamedTuple):
    """The best penalty of a kernel.

    Attributes
    ----------
    loss : float
        The leave-one-out squared error, summed over outputs.
    share : float
        The penalty as a share of the sum of all |λ|.
    ratio : float
        The penalty of the negative part, as a multiple of the other one.
    """

    loss: float
    share: float
    ratio: float


@dataclass(frozen=True)
class LeaveOneOut:
    """The leave-one-out losses of a symmetric kernel matrix.

    Attributes
    ----------
    values : ndarray of shape (n,)
        The eigenvalues Λ.
    vectors : ndarray of shape (n, n)
        The eigenvectors U.
    Y : ndarray of shape (n, q)
        The targets minus their mean, times the roots of the weights.
    weight : float
        The sum of the weights.
    """

    values: Array
    vectors: Array
    Y: Array
    weight: float

    @classmethod
    def of(cls, K: Array, Y: Array, weight: Array) -> LeaveOneOut:
        """Decompose a kernel matrix.

        Parameters
        ----------
        K : ndarray of shape (n, n)
        Y : ndarray of shape (n, q)
            The targets. Their weighted mean is subtracted.
        weight : ndarray of shape (n,)
            The weights of the rows, above 0.
        """
        root = np.sqrt(weight)[:, None]
        centred = Y - np.average(Y, axis=0, weights=weight)
        values, vectors = eigh(K * root * root.T, check_finite=False)
        return cls(values, vectors, root * centred, float(weight.sum()))

    @property
    def _ratios(self) -> tuple[float, ...]:
        is_positive = -self.values[0] <= ROUNDING * self.values[-1]
        return RATIOS[:1] if is_positive else RATIOS

    def shrinkage(self, share: float, ratio: float) -> Array:
        """Return ``α / (|Λ| + α)`` for each eigenvector, 1 where α is infinite."""
        size = np.abs(self.values)
        alpha = share * float(size.sum()) * np.where(self.values < 0, ratio, 1.0)
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(alpha), 1.0, alpha / (size + alpha))

    def losses(self) -> list[Judged]:
        """Return the mean squared leave-one-out residual of every penalty."""
        settings = [(share, ratio) for ratio in self._ratios for share in SHARES]
        kept = np.stack([self.shrinkage(*setting) for setting in settings], axis=1)
        inner = self.vectors.T @ self.Y
        leverage = np.maximum(np.square(self.vectors) @ kept, np.finfo(float).tiny)
        total: Array = np.zeros(len(settings))
        for column in inner.T:
            total += np.square(self.vectors @ (kept * column[:, None]) / leverage).sum(axis=0)
        return [
            Judged(float(loss), *setting)
            for loss, setting in zip(total / self.weight, settings, strict=True)
        ]

    def best(self) -> Judged:
        """Return the penalty of the smallest loss; of equals the largest one."""
        return min(self.losses(), key=lambda found: (found.loss, -found.share))
