"""A branch: the frequencies of one sign, with their posterior and its starting point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..samplers import PointSampler
from .dirichlet import DirichletMixture, MixturePrior
from .likelihood import Pairs

# Widths of the Gaussian spectra that the start mixes, in units of one over the median distance. The
# smallest one is nearly constant on the data; a frequency of exactly zero would have no slope.
WIDTHS = np.geomspace(0.1, 10, 12)
# Share of the mean variance that is added to the covariance of the first frequencies.
RIDGE = 1e-3
# The fit of the widths: pairs that the value at zero counts for, and the ridge per pair.
ZERO_ROWS, WIDTH_RIDGE = 100, 1e-3
# The weight of the bound on the sum of the masses, relative to that of all pairs.
BOUND = 1e3


@dataclass
class Branch:
    """The frequencies of one sign and the mixture that they are drawn from.

    The posterior of frequency m is ``N(frequencies[m], spread[m])``.

    Parameters
    ----------
    sign : float
        +1 or −1.
    frequencies : ndarray of shape (m, d)
        The expected frequencies η.
    weights : ndarray of shape (m,)
        The weights a ≥ 0.
    mixture : DirichletMixture
        The posterior of the mixture.
    spread : ndarray of shape (m, d, d) or (m, d)
        The covariances V.
    """

    sign: float
    frequencies: NDArray[np.floating]
    weights: NDArray[np.floating]
    mixture: DirichletMixture
    spread: NDArray[np.floating]

    def __len__(self) -> int:
        return len(self.weights)

    def bound(self) -> float:
        """Return the part of the evidence lower bound that belongs to this branch."""
        return self.mixture.bound(self.frequencies, self.spread)


def memberships(frequencies: NDArray, n_mixture: int) -> NDArray[np.floating]:
    """Return one component for each frequency, by the quantiles of their norms."""
    ranks = np.argsort(np.argsort(np.linalg.norm(frequencies, axis=1), kind="stable"))
    return np.eye(n_mixture)[ranks * n_mixture // len(frequencies)]


def sample_covariance(frequencies: NDArray) -> NDArray[np.floating]:
    """Return the second moments of frequencies, with a ridge that makes them invertible."""
    moments = frequencies.T @ frequencies / len(frequencies)
    size = np.trace(moments) / len(moments)
    return moments + RIDGE * (size or 1.0) * np.eye(len(moments))


def start_branch(
    sign: float, frequencies: NDArray, mass: float, prior: MixturePrior, n_mixture: int
) -> Branch:
    """Return a branch of equal weights whose posterior is the prior."""
    m = len(frequencies)
    mixture = DirichletMixture(prior, memberships(frequencies, n_mixture))
    variances = prior.covariances.inverse(prior.precision)
    spread = np.tile(variances, (m,) + (1,) * variances.ndim)
    return Branch(sign, frequencies, np.full(m, mass / m), mixture, spread)


def width_mixture(pairs: Pairs, at_zero: float) -> NDArray[np.floating]:
    """Return masses of Gaussian spectra of the widths `WIDTHS`.

    The masses solve ``min ‖y − Σ_s c_s exp(−s² ‖Δ‖² / 2)‖²`` with c ≥ 0 and ``Σ_s c_s ≤ k(0)``.
    Without the bound, spectra that nearly vanish on all pairs would get any mass, and most
    frequencies would be drawn from them.

    Parameters
    ----------
    pairs : Pairs
        Differences in units of the median distance, and values.
    at_zero : float
        The value at Δ = 0.

    Returns
    -------
    ndarray of shape (n_widths,)
        The masses.
    """
    from scipy.optimize import nnls

    # The last column is the part of k(0) that no width takes.
    bells = np.column_stack([_bells(pairs.differences), np.zeros(len(pairs))])
    bound = np.full(bells.shape[1], BOUND * np.sqrt(len(pairs)))
    return nnls(np.vstack([bells, bound]), np.append(pairs.values, bound[0] * at_zero))[0][:-1]


def signed_width_mixture(pairs: Pairs, at_zero: float) -> NDArray[np.floating]:
    """Return masses of Gaussian spectra of the widths `WIDTHS`, positive ones and negative ones.

    The masses solve ``min ‖y − Σ_s (c_s⁺ − c_s⁻) exp(−s² ‖Δ‖² / 2)‖² + ridge`` with c ≥ 0, and the
    value at zero counts as much as `ZERO_ROWS` pairs. The ridge keeps masses that cancel small.

    Parameters
    ----------
    pairs : Pairs
        Differences in units of the median distance, and values.
    at_zero : float
        The value at Δ = 0.

    Returns
    -------
    ndarray of shape (2, n_widths)
        The masses c⁺ and c⁻.
    """
    from scipy.optimize import nnls

    bells = np.vstack([_bells(pairs.differences), np.ones(len(WIDTHS))])
    rows = np.hstack([bells, -bells])
    rows[-1] *= np.sqrt(ZERO_ROWS)
    ridge = WIDTH_RIDGE * np.sqrt(len(pairs)) * np.eye(rows.shape[1])
    values = np.concatenate([pairs.values, [at_zero * np.sqrt(ZERO_ROWS)], np.zeros(len(ridge))])
    return nnls(np.vstack([rows, ridge]), values)[0].reshape(2, -1)


def _bells(differences: NDArray) -> NDArray[np.floating]:
    """Return ``exp(−s² ‖Δ‖² / 2)`` for all widths s."""
    squares = np.einsum("pd,pd->p", differences, differences)
    return np.exp(squares[:, None] * WIDTHS**2 / -2)


def draw_frequencies(
    masses: NDArray, n: int, dim: int, sampler: PointSampler, rng: np.random.Generator
) -> NDArray[np.floating]:
    """Draw n frequencies from a mixture of Gaussian spectra of the widths `WIDTHS`.

    Without any mass all frequencies have the middle width.
    """
    if not masses.any():
        masses = np.eye(len(WIDTHS))[len(WIDTHS) // 2]
    bounds = np.cumsum(masses) / masses.sum()
    places = (np.arange(n) + rng.random()) / n  # systematic: shares differ by less than one draw
    widths = WIDTHS[np.minimum(np.searchsorted(bounds, places), len(WIDTHS) - 1)]
    return rng.permutation(widths)[:, None] * sampler.points(n, dim, rng)
