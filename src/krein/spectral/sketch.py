"""The data of the inference: kernel values on pairs of a few rows, in natural units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._validation import unit_of
from .likelihood import Pairs
from .split import NULL_VALUE, Split

# With "auto" there are as many pairs as frequencies times columns, between two numbers, and in
# principal axes PRINCIPAL times as many. With fewer pairs a fit is faster, but frequencies in
# principal axes fit the pairs too closely if the kernel is indefinite. Error on new rows of usps
# (256 columns) with 64 frequencies and 8000, 16,384, 32,768 and 40,000 pairs: δ-Gaussian 0.17,
# 0.11, 0.073 and 0.066; the columns themselves with 16,384 pairs 0.077. On MNIST (784 columns) the
# error of the Gaussian with 4000, 8000, 16,704 and 40,000 pairs is 0.047, 0.039, 0.038 and 0.035.
FEWEST_PAIRS, MOST_PAIRS, PRINCIPAL = 4000, 40_000, 2
# Largest memory of the differences of all pairs, in bytes.
PAIR_BYTES = 2**28
# If k(0) is smaller than this share of the largest value, the largest value is the unit.
SMALL_ZERO = 0.1


@dataclass(frozen=True)
class Sketch:
    """Pairs of rows with the values of the kernel and of its two parts.

    Distances are in units of their median, values in units of k(0).

    Parameters
    ----------
    pairs : Pairs
        Differences and values of the kernel.
    parts : dict of float to ndarray of shape (n_pairs,)
        Values of the part of each sign, +1.0 and −1.0, that is not negligible.
    zeros : dict of float to float
        The value of each of these parts at Δ = 0.
    share : float
        Share of the negative part.
    at_zero : float
        The value k(0).
    unit : float
        The median distance.
    scale : float
        The positive number by which the values were divided.
    """

    pairs: Pairs
    parts: dict[float, NDArray[np.floating]]
    zeros: dict[float, float]
    share: float
    at_zero: float
    unit: float
    scale: float

    @classmethod
    def of(cls, X: NDArray, K: NDArray, split: Split, n_pairs: int, key: int) -> Sketch:
        """Draw pairs of distinct rows.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            At least two distinct rows.
        K : ndarray of shape (n, n)
            Their kernel matrix.
        split : Split
            The parts of the matrix.
        n_pairs : int
            Number of pairs; all pairs if there are fewer.
        key : int
            The seed.
        """
        rng = np.random.default_rng(key)
        left, right = np.triu_indices(len(X), 1)
        if n_pairs < len(left):
            drawn = rng.choice(len(left), n_pairs, replace=False)
            left, right = left[drawn], right[drawn]
        differences = X[left] - X[right]
        # Distances in units of the largest entry: their squares neither overflow nor vanish.
        unit = float(np.abs(differences).max())
        unit *= float(np.median(np.linalg.norm(differences / unit, axis=1)))
        at_zero, scale = float(np.mean(np.diagonal(K))), float(np.abs(K).max())
        if abs(at_zero) >= SMALL_ZERO * scale:
            scale = abs(at_zero)
        parts = {sign: split.part(sign)[left, right] / scale for sign in split.signs}
        zeros = {s: float(np.mean(np.diagonal(split.part(s)))) / scale for s in split.signs}
        pairs = Pairs(differences / unit, K[left, right] / scale)
        return cls(pairs, parts, zeros, split.share, at_zero / scale, unit, scale)

    @property
    def is_zero(self) -> bool:
        """True if the kernel is zero for all pairs."""
        return bool(np.abs(self.pairs.values).max() <= NULL_VALUE)

    @property
    def dim(self) -> int:
        return self.pairs.differences.shape[1]


def default_pairs(n_frequencies: int, n_columns: int, dim: int) -> int:
    """Return the number of pairs for ``n_pairs="auto"``, of rows with `dim` coordinates."""
    times = PRINCIPAL if dim < n_columns else 1
    wanted = min(max(FEWEST_PAIRS, times * n_frequencies * n_columns), MOST_PAIRS)
    return max(2, min(wanted, PAIR_BYTES // (8 * dim)))


def error_of_pairs(K: NDArray, found: NDArray) -> float:
    """Return ``‖K̃ − K‖ / ‖K‖`` over all pairs of distinct rows, for a matrix with such a pair."""
    unit = unit_of(float(np.abs(K).max()))
    off = ~np.eye(len(K), dtype=bool)
    values = unit * K[off]
    return float(np.linalg.norm(unit * found[off] - values) / np.linalg.norm(values))
