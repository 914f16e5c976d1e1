"""Bandwidths of rows, found such that each row has a given effective number of neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
# Range of the logarithm of the rate in units of the mean distance, largest error of the entropy,
# and largest number of steps: from this range, bisection alone needs 47 steps.
RANGE, TOLERANCE, STEPS = (-44.0, 88.0), 1e-12, 60


class Neighbourhoods(NamedTuple):
    """The law ``p(y) = exp(−rate (‖x − y‖² − nearest))/total`` of the neighbours of each row x.

    Attributes
    ----------
    unit : ndarray of shape (n,)
        The unit of all distances of a row, its mean distance to the other rows.
    nearest : ndarray of shape (n,)
        Squared distance to the nearest other row.
    rate : ndarray of shape (n,)
        ``1/(2σ²)`` for the bandwidth σ.
    total : ndarray of shape (n,)
        The sum of the exponentials over the other rows.
    """

    unit: Array
    nearest: Array
    rate: Array
    total: Array

    @classmethod
    def of(cls, distances: Array, others: NDArray[np.bool_], perplexity: float) -> Neighbourhoods:
        """Find the rates by Newton's method, and by bisection where Newton's method fails.

        Parameters
        ----------
        distances : ndarray of shape (n, m)
            Distances of n rows to m training rows.
        others : ndarray of bool of shape (n, m)
            True where the training row is not the row itself; at least once in each row.
        perplexity : float
            The exponential of the entropy of p over the other rows. A row with fewer other rows has
            the uniform law, the limit of small rates.
        """
        unit = np.where(others, distances, 0.0).sum(axis=1) / others.sum(axis=1)
        unit = np.where(unit > 0, unit, 1.0)  # 0 if all distances underflow
        squares = np.square(distances / unit[:, None])
        nearest = np.where(others, squares, np.inf).min(axis=1)
        s = np.where(others, squares - nearest[:, None], 0.0)
        rate = _rates(s, others, np.log(perplexity))
        total = np.where(others, np.exp(-rate[:, None] * s), 0.0).sum(axis=1)
        return cls(unit, nearest, rate, total)

    def probabilities(self, distances: Array) -> Array:
        """Return p(y), at most 1, for the distances of y from the rows, shape (n, k)."""
        squares = np.square(distances / self.unit[:, None])
        exponent = self.rate[:, None] * (self.nearest[:, None] - squares)
        return np.minimum(np.exp(np.minimum(exponent, 700.0)) / self.total[:, None], 1.0)


def _rates(s: Array, others: NDArray[np.bool_], target: float) -> Array:
    """Return the rates at which the entropies of ``exp(−rate s)`` equal the target."""
    low, high = (np.full(len(s), bound) for bound in RANGE)
    t = np.clip(-np.log(np.maximum(s.mean(axis=1), 1e-30)), low, high)
    for _ in range(STEPS):
        rate = np.exp(t)
        w = np.where(others, np.exp(-rate[:, None] * s), 0.0)
        total = w.sum(axis=1)
        mean = (w * s).sum(axis=1) / total
        spread = (w * np.square(s - mean[:, None])).sum(axis=1) / total
        gap = np.log(total) + rate * mean - target
        if np.all(np.abs(gap) < TOLERANCE):
            break
        low, high = np.where(gap > 0, t, low), np.where(gap > 0, high, t)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = t + gap / (np.square(rate) * spread)  # the entropy falls by rate² spread per unit t
        t = np.where((low < t) & (t < high), t, (low + high) / 2)
    return np.exp(t)
