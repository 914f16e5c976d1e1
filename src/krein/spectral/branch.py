"""A branch: the frequencies of one sign, with their posterior and where it starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..samplers import PointSampler
from .covariances import Covariances
from .dirichlet import DirichletMixture, MixturePrior
from .likelihood import Pairs

# Widths of the Gaussian spectra that the start mixes, in units of one over the median distance.
WIDTHS = np.append(0.0, np.geomspace(0.1, 10, 12))
# Share of the mean variance that is added to the covariance of the first frequencies.
RIDGE = 1e-3


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


def width_mixture(pairs: Pairs) -> NDArray[np.floating]:
    """Return masses of Gaussian spectra of the widths `WIDTHS` that fit the values.

    The masses solve ``min ‖y − Σ_s c_s exp(−s² ‖Δ‖² / 2)‖²`` with c ≥ 0. If no positive mass fits,
    all mass goes to the width 1.
    """
    from scipy.optimize import nnls

    squares = np.einsum("pd,pd->p", pairs.differences, pairs.differences)
    masses, _ = nnls(np.exp(squares[:, None] * WIDTHS**2 / -2), pairs.values)
    return masses if masses.any() else (WIDTHS == WIDTHS[len(WIDTHS) // 2]) * 1.0


def draw_frequencies(
    masses: NDArray, n: int, dim: int, sampler: PointSampler, rng: np.random.Generator
) -> NDArray[np.floating]:
    """Draw n frequencies from a mixture of Gaussian spectra of the widths `WIDTHS`."""
    bounds = np.cumsum(masses) / masses.sum()
    places = (np.arange(n) + rng.random()) / n  # systematic: shares differ by less than one draw
    widths = WIDTHS[np.minimum(np.searchsorted(bounds, places), len(WIDTHS) - 1)]
    return rng.permutation(widths)[:, None] * sampler.points(n, dim, rng)


def make_prior(
    covariances: Covariances,
    concentration: float,
    mean: NDArray,
    covariance: NDArray,
    degrees: float,
) -> MixturePrior:
    """Return the prior whose means and expected precisions belong to a covariance."""
    precision = covariances.inverse(covariances.of(covariance))
    return MixturePrior(covariances, concentration, mean, precision, degrees)
