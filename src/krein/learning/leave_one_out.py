"""Leave-one-out errors of kernel ridge in closed form, for all penalties at once.

With rows scaled by the roots of their weights, ``K = U Λ Uᵀ`` and penalties α₊ of the positive and
α₋ of the negative part, the residuals are ``R y`` with ``R = U diag(α / (|Λ| + α)) Uᵀ``. Row i has
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
# The number of folds for a matrix that is not positive.
FOLDS = 3


class Judged(NamedTuple):
    """The best penalty of a kernel.

    Attributes
    ----------
    loss : float
        The leave-one-out squared error, summed over outputs.
    share : float
        The penalty as a share of the sum of all |λ|.
    ratio : float
        The penalty of the negative part, as a multiple of the penalty of the positive part.
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
    roots : ndarray of shape (n,)
        The roots of the weights.
    """

    values: Array
    vectors: Array
    Y: Array
    roots: Array

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
        roots = np.sqrt(weight)
        centred = Y - np.average(Y, axis=0, weights=weight)
        scaled = K * roots
        scaled *= roots[:, None]
        # The transpose has the order of LAPACK, which therefore needs no copy.
        values, vectors = eigh(scaled.T, check_finite=False, overwrite_a=True, driver="evd")
        return cls(values, vectors, roots[:, None] * centred, roots)

    @property
    def is_positive(self) -> bool:
        """True if no eigenvalue is clearly negative."""
        return bool(-self.values[0] <= ROUNDING * self.values[-1])

    def shares(self, share: float, ratio: float) -> Array:
        """Return ``|Λ| / (|Λ| + α)`` for each eigenvector, 0 where α is infinite."""
        size = np.abs(self.values)
        alpha = share * float(size.sum()) * np.where(self.values < 0, ratio, 1.0)
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(alpha), 0.0, size / (size + alpha))

    def residuals(self) -> Array:
        """Return the leave-one-out residuals, shape (n, q, k), for the k settings of `settings`.

        Use `held_out` instead if the matrix is not positive: the signs of the eigenvectors of the
        other rows depend on the row left out, so its features differ from those of a new row.
        """
        kept = 1 - np.stack([self.shares(*setting) for setting in settings(True)], axis=1)
        leverage = np.maximum(np.square(self.vectors) @ kept, np.finfo(float).tiny)
        columns = (self.vectors.T @ self.Y).T
        found = [self.vectors @ (kept * inner[:, None]) / leverage for inner in columns]
        return np.stack(found, axis=1) / self.roots[:, None, None]

    def outputs(self, K: Array, share: float, ratio: float) -> Array:
        """Return the predictions for new rows with kernel values K, shape (m, n)."""
        size = np.where(self.values == 0, 1.0, self.values)
        inner = self.shares(share, ratio)[:, None] * (self.vectors.T @ self.Y) / size[:, None]
        return K @ (self.vectors @ inner)


def held_out(K: Array, Y: Array, weight: Array) -> Array:
    """Return the residuals of rows that are held out, fold by fold, shape (n, q, k).

    Parameters
    ----------
    K : ndarray of shape (n, n)
        A symmetric kernel matrix, positive or not.
    Y : ndarray of shape (n, q)
    weight : ndarray of shape (n,)
    """
    tried, places = settings(False), np.arange(len(K)) % FOLDS
    found = np.empty((*Y.shape, len(tried)))
    for number in range(min(FOLDS, len(K))):
        train, test = np.flatnonzero(places != number), np.flatnonzero(places == number)
        model = LeaveOneOut.of(K[np.ix_(train, train)], Y[train], weight[train])
        mean = np.average(Y[train], axis=0, weights=weight[train])
        values = K[np.ix_(test, train)] * np.sqrt(weight[train])
        for i, setting in enumerate(tried):
            found[test, :, i] = Y[test] - mean - model.outputs(values, *setting)
    return found


def left_out(K: Array, Y: Array, weight: Array) -> tuple[Judged, Array]:
    """Return the best penalty, and the outputs for rows that its models have not seen, (n, q).

    Among equal losses, the largest penalty is the best.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        A symmetric kernel matrix. If it is not positive, folds are held out, not single rows.
    Y : ndarray of shape (n, q)
    weight : ndarray of shape (n,)
    """
    # Without a positive entry on its diagonal a matrix has a negative eigenvalue.
    whole = LeaveOneOut.of(K, Y, weight) if np.diagonal(K).max() > 0 else None
    is_positive = whole is not None and whole.is_positive
    missed = whole.residuals() if whole is not None and is_positive else held_out(K, Y, weight)
    losses = np.einsum("i,iqk,iqk->k", weight, missed, missed) / weight.sum()
    pairs = zip(losses, settings(is_positive), strict=True)
    tried = [Judged(float(loss), *setting) for loss, setting in pairs]
    place = min(range(len(tried)), key=lambda i: (tried[i].loss, -tried[i].share))
    return tried[place], Y - missed[..., place]


def settings(is_positive: bool) -> list[tuple[float, float]]:
    """Return the penalties to try, as pairs (share, ratio) of `Judged`."""
    ratios = RATIOS[:1] if is_positive else RATIOS
    return [(float(share), ratio) for ratio in ratios for share in SHARES]
