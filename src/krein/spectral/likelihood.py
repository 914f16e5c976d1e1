"""The expected likelihood of kernel values under uncertain frequencies, in closed form.

A value of the kernel is ``y ~ N(Σ_m ε_m a_m cos ω_m·Δ, σ²)`` with signs ε and weights a ≥ 0. Under
``ω ~ N(η, V)``, with ``s = Δᵀ V Δ`` and ``t = η·Δ``,

    E cos = e^(−s/2) cos t,    Var cos = ½ (1 + e^(−2s) cos 2t) − e^(−s) cos² t,

so that ``E log p(y)`` needs no Taylor series. The DIGMM paper expands the cosine at zero instead,
and its update of the frequencies has the wrong sign and half the size (see
`krein.published.taylor`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blocks import row_blocks
from .._threads import over_blocks
from ..features._trig import Waves
from ._tilts import COMPILED, tilts_of
from .covariances import Covariances
from .dirichlet import LOG_2PI

# The waves of a block of pairs stay in the second-level cache, as do the squares of a block.
BLOCK_BYTES, SQUARES_BYTES = 2**19, 2**21
# Sums over all pairs are taken over this many parts, which threads share, and then over the parts:
# the number of threads does not change a sum. Few waves are summed faster by one thread.
PARTS, FEW_WAVES = 16, 2**16
# The curvature of many waves is summed over every second pair.
CURVATURE_STEP = 2
# In sums of squares no entry of a difference counts for more than this.
FARTHEST = 1e3
# Squares beyond this size are summed in double precision.
LARGEST_SQUARE = 1e30


@dataclass(frozen=True)
class Pairs:
    """Differences of rows and the values to be fitted at them.

    Parameters
    ----------
    differences : ndarray of shape (n_pairs, d)
        The differences Δ.
    values : ndarray of shape (n_pairs,)
        The values y.
    """

    differences: NDArray[np.floating]
    values: NDArray[np.floating]

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def near(self) -> NDArray[np.floating]:
        """The differences; differences of outliers are shortened to `FARTHEST`.

        The squares of a few outliers would drown all other pairs in a sum over the pairs.
        """
        sizes = np.abs(self.differences).max(axis=1, keepdims=True)
        if sizes.max() <= FARTHEST:
            return self.differences
        return self.differences / np.maximum(sizes / FARTHEST, 1)

    @cached_property
    def widest(self) -> float:
        """The largest entry of a difference."""
        return float(np.abs(self.differences).max())

    def of(self, values: NDArray) -> Pairs:
        """Return the same differences with other values."""
        return Pairs(self.differences, values)


class ExpectedLikelihood:
    """The expected log likelihood of pairs as a function of frequencies, spread and weights.

    Parameters
    ----------
    pairs : Pairs
        What is fitted.
    signs : ndarray of shape (m,)
        The sign ε of each frequency.
    noise : float
        The standard deviation σ.
    covariances : Full or Diagonal
        The form of the spread.
    """

    def __init__(self, pairs: Pairs, signs: NDArray, noise: float, covariances: Covariances):
        self.pairs, self.signs = pairs, signs
        self.variance, self.algebra = noise**2, covariances
        self._known: tuple[NDArray, float] | None = None
        self.forget_spread()

    def forget_spread(self) -> None:
        """Set all covariances to zero: the frequencies are known."""
        self._known = None
        one = self.pairs.differences.dtype.type(1)
        self._decay = np.broadcast_to(one, (len(self.pairs), len(self.signs)))
        self._floor = np.zeros(len(self.signs))

    def set_spread(self, spread: NDArray) -> None:
        """Set the covariances V, shape (m, d, d) or (m, d)."""
        self._known = None
        self._decay = np.empty((len(self.pairs), len(self.signs)))
        packed = self.algebra.packed(spread).T / -2
        dtype = self._dtype_of_squares(packed)
        packed = packed.astype(dtype)

        def part(pairs: slice) -> tuple[NDArray]:
            floor = np.zeros(len(self.signs))
            for rows, D in self._blocks(pairs, packed.shape[0], SQUARES_BYTES):
                decay = self._decay[rows]
                # Rounding errors must not make a variance s negative.
                decay[:] = np.minimum(self.algebra.squares(D.astype(dtype)) @ packed, 0)
                np.exp(decay, out=decay)
                # Var cos = ½ (1 − e^(−2s)) − (e^(−s) − e^(−2s)) cos² t
                fourth = np.square(np.square(decay))
                floor += (len(D) - fourth.sum(axis=0)) / 2
            return (floor,)

        (self._floor,) = self._summed(part)

    def _dtype_of_squares(self, factors: NDArray | float = 1.0) -> np.dtype[Any]:
        """Return the dtype for products of these factors and the d (d + 1) / 2 squares of a pair.

        With many waves the products take much of the time, and single precision half of it. A
        variance s is then good to about six digits, and the objective is computed in double
        precision from these variances. Pairs of outliers keep double precision if their squares
        exceed the largest float32.
        """
        few = self._decay.size < COMPILED
        fits = (
            max(self.pairs.widest**2, 1.0) * max(float(np.abs(factors).max()), 1.0) < LARGEST_SQUARE
        )
        return np.dtype(np.float64 if few or not fits else np.float32)

    def rough(self) -> ExpectedLikelihood:
        """Return this likelihood in single precision if it has many waves.

        Single precision takes half the time. Its value is good to about six digits: enough for
        steps uphill, too little for a test whether a step has led uphill.
        """
        if self._decay.size < COMPILED:
            return self
        pairs = Pairs(*(a.astype(np.float32) for a in (self.pairs.differences, self.pairs.values)))
        twin = ExpectedLikelihood(pairs, self.signs, float(np.sqrt(self.variance)), self.algebra)
        twin._decay, twin._floor = self._decay.astype(np.float32), self._floor
        return twin

    def _summed(self, part: Callable[[slice], tuple]) -> list:
        """Return the sums of what `part` returns for each range of pairs."""
        ranges = list(row_blocks(len(self.pairs), 1, -(-len(self.pairs) // PARTS)))
        found: list[tuple] = [()] * len(ranges)

        def work(i: int) -> None:
            found[i] = part(ranges[i])

        few = len(self.pairs) * len(self.signs) < FEW_WAVES
        over_blocks(work, range(len(ranges)), 1 if few else None)
        return [sum(terms[1:], terms[0]) for terms in zip(*found, strict=True)]

    def _blocks(self, pairs: slice, width: int, n_bytes: int) -> Iterator[tuple[slice, NDArray]]:
        widest = 8 * max(width, len(self.signs))
        for block in row_blocks(pairs.stop - pairs.start, widest, n_bytes):
            rows = slice(pairs.start + block.start, pairs.start + block.stop)
            yield rows, self.pairs.differences[rows]

    def _waves(self, pairs: slice, waves: Waves) -> Iterator[tuple[slice, NDArray, NDArray]]:
        for rows, D in self._blocks(pairs, 0, BLOCK_BYTES):
            yield rows, D, waves(D)

    def _waves_of(self, frequencies: NDArray) -> Waves:
        return Waves(frequencies, self.pairs.differences.dtype)

    # --- what the inference needs -----------------------------------------------------------------

    def value(self, frequencies: NDArray, weights: NDArray) -> float:
        """Return ``E log p``; the last value is remembered, since steps begin where others end."""
        given = np.concatenate([frequencies.ravel(), weights])
        if self._known is not None and np.array_equal(self._known[0], given):
            return self._known[1]
        value = self.value_and_slopes(frequencies, weights)[0]
        self._known = given, value
        return value

    def value_and_slopes(
        self, frequencies: NDArray, weights: NDArray
    ) -> tuple[float, NDArray[np.floating], NDArray[np.floating]]:
        """Return ``E log p`` and its gradients by the frequencies, (m, d), and weights, (m,)."""
        waves, dtype = self._waves_of(frequencies), self.pairs.differences.dtype
        signed = (self.signs * weights).astype(dtype)
        tilts = tilts_of(self._decay.size)

        def part(pairs: slice) -> tuple:
            loss, slope = 0.0, np.zeros(frequencies.shape)
            sums = np.zeros((2, len(signed)))
            found = np.empty((2, len(signed)), dtype)
            for rows, D, Z in self._waves(pairs, waves):
                values, decay = self.pairs.values[rows], self._decay[rows]
                loss += tilts(Z, decay, values, signed, found[0], found[1])
                sums += found
                slope -= Z[:, 1].T @ D
            return loss, slope, sums

        loss, slope, (lift, excess) = self._summed(part)
        variances = self._floor - excess
        loss += float(weights**2 @ variances)
        slope *= (self.signs * weights / self.variance)[:, None]
        lift = (self.signs * lift - weights * variances) / self.variance
        return self._constant - loss / (2 * self.variance), slope, lift

    @property
    def _constant(self) -> float:
        return -len(self.pairs) * (LOG_2PI + float(np.log(self.variance))) / 2

    def normal_equations(self, frequencies: NDArray) -> tuple[NDArray, NDArray]:
        """Return G and b with ``E log p = const − (aᵀ G a − 2 bᵀ a) / 2σ²``."""
        m, waves = len(frequencies), self._waves_of(frequencies)

        def part(pairs: slice) -> tuple:
            gram, moments, variances = np.zeros((m, m)), np.zeros(m), np.zeros(m)
            for rows, _, Z in self._waves(pairs, waves):
                expected = self._decay[rows] * Z[:, 0]
                square = np.square(self._decay[rows])
                np.square(expected, out=Z[:, 1])
                # (e^(−s) − e^(−2s)) cos² t = (1 − e^(−s)) (e^(−s/2) cos t)²
                variances -= np.einsum("pm,pm->m", 1 - square, Z[:, 1])
                expected *= self.signs
                gram += expected.T @ expected
                moments += self.pairs.values[rows] @ expected
            return gram, moments, variances

        gram, moments, variances = self._summed(part)
        gram[np.diag_indices(m)] += self._floor + variances
        return gram, moments

    def curvature(self, frequencies: NDArray, weights: NDArray) -> NDArray[np.floating]:
        """Return ``a_m² / σ² Σ_p sin² t ΔΔᵀ``, the precision that the values give a frequency.

        It serves as a proposal only, so outliers are shortened, and many waves are summed over
        every second pair.
        """
        dtype = self._dtype_of_squares()
        step = 1 if dtype == np.float64 else CURVATURE_STEP
        waves = Waves(frequencies, dtype)

        def part(pairs: slice) -> tuple[NDArray, int]:
            packed, n_pairs = np.zeros((len(weights), self.algebra.size)), 0
            for rows, _ in self._blocks(pairs, self.algebra.size, SQUARES_BYTES):
                some = self.pairs.near[rows][::step].astype(dtype)
                packed += np.square(waves(some)[:, 1]).T @ self.algebra.squares(some)
                n_pairs += len(some)
            return packed, n_pairs

        packed, n_pairs = self._summed(part)
        scale = (len(self.pairs) / n_pairs * weights**2 / self.variance)[:, None]
        return self.algebra.unpacked(scale * packed)
