"""Choices by held-out rows: the band, and the number of rounds after which the game stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from ..forms import Signature
from ..learning import Cholesky, LeastSquares, Split
from ..streaming import Moments
from .atoms import HarmonicAtoms, WaveAtoms

# Rows of a short game that judges one band, frequencies of the game, and bands to compare.
BAND_ROWS, BAND_ACTIONS, MOST_BANDS = 2000, 20, 8
# Share of the rows that are held out, and the fewest held-out rows that can judge.
HELD_OUT, FEWEST = 0.2, 10
# Rows on which the ridge regression that judges is fitted.
JUDGE_ROWS = 10_000
# Rows whose distances give the median.
MEDIAN_ROWS = 500


class HeldOut:
    """Rows that are held out and rows that are not; the rows come in random order.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    Y : ndarray of shape (n, n_games)
        Labels, each +1 or −1.
    """

    def __init__(self, X: NDArray, Y: NDArray):
        held = int(HELD_OUT * len(X))
        self.X, self.Y = X[held:], Y[held:]
        self.X_held, self.Y_held = X[:held], Y[:held]

    @property
    def can_judge(self) -> bool:
        """True if the held-out rows are not too few, and both parts have both labels."""
        parts = (self.Y, self.Y_held)
        both = all(len(part) and np.all(np.abs(part.sum(axis=0)) < len(part)) for part in parts)
        return len(self.Y_held) >= FEWEST and both

    def loss(self, atoms: WaveAtoms | HarmonicAtoms, C: float) -> float:
        """Return the squared error on the held-out rows of ridge regression on the columns."""
        Y, Y_held = self.Y[:JUDGE_ROWS], self.Y_held[:JUDGE_ROWS]
        Z, held = (atoms.columns(X[:JUDGE_ROWS]) for X in (self.X, self.X_held))
        problem = LeastSquares.of(Moments.of(np.hstack([Z, Y])), Y.shape[1])
        # A problem is a mean over rows, and C belongs to a sum.
        penalty = Split(1 / (C * len(Z)), 1 / (C * len(Z)))
        coef = Cholesky(Signature(np.ones(Z.shape[1]))).solve(problem, penalty)
        outputs = held @ coef + problem.intercept(coef)
        return float(np.mean((outputs - Y_held) ** 2))


def band_candidates(X: NDArray) -> list[float]:
    """Return bands around the median heuristic and up to the Nyquist rate.

    The median heuristic is ``√d / median distance``. The Nyquist rate of n rows in a box with the
    mean side s is ``π n^(1/d) / s``: faster waves are not determined by the rows.
    """
    d = X.shape[1]
    distances = pdist(X[:MEDIAN_ROWS].astype(float))
    typical = float(np.median(distances[distances > 0]))
    lowest = 0.6 * np.sqrt(d) / typical
    sides = np.ptp(X, axis=0).astype(float)
    nyquist = np.pi * len(X) ** (1 / d) / sides[sides > 0].mean()
    highest = max(4 * lowest, nyquist)
    n = min(MOST_BANDS, 1 + int(np.ceil(np.log2(highest / lowest))))
    return [float(band) for band in np.geomspace(lowest, highest, n)]


def choose_band(
    X: NDArray,
    Y: NDArray,
    C: float,
    scales: Sequence[NDArray],
    learn: Callable[[NDArray, NDArray, float, NDArray, int], WaveAtoms],
) -> tuple[float, NDArray[np.floating]]:
    """Return the band and the units whose short game has the least loss on held-out rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows, in random order.
    Y : ndarray of shape (n, n_games)
        Labels, each +1 or −1.
    C : float
        Upper bound of the duals.
    scales : sequence of ndarray of shape (d,)
        Units of the columns to compare. If too few rows are left to judge, the last one is taken.
    learn : callable
        ``learn(X, Y, band, scale, n_actions)`` plays a game and returns its atoms.
    """
    split = HeldOut(X[:BAND_ROWS], Y[:BAND_ROWS])
    if not split.can_judge:
        return band_candidates(X / scales[-1])[1], scales[-1]
    n_actions = BAND_ACTIONS * Y.shape[1]
    tried = [(band, scale) for scale in scales for band in band_candidates(X / scale)]
    losses = [split.loss(learn(split.X, split.Y, *units, n_actions), C) for units in tried]
    return tried[int(np.argmin(losses))]


def best_prefix(n: int, loss: Callable[[int], float]) -> int:
    """Return the number of actions, among n and halves of it, with the least held-out loss."""
    sizes = sorted({max(1, n // 2**k) for k in range(5)} | {max(1, 3 * n // 4)})
    return sizes[int(np.argmin([loss(size) for size in sizes]))]
