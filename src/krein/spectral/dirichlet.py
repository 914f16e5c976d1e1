"""The mixture prior of the frequencies: a Dirichlet process of Gaussians, truncated.

The sticks are ``β_t ~ Beta(1, α₀)``, the components ``μ_k ~ N(m₀, R₀⁻¹)`` and
``Λ_k ~ Wishart(W₀, ν₀)``, and a frequency is ``ω_m | z_m = k ~ N(μ_k, Λ_k⁻¹)`` (DIGMM paper, eq. 4,
6 and 10). The posterior is a product of independent factors; each update maximises the evidence
lower bound in one factor, with all others fixed (paper, §IV-B, with the expectation of
``(ω − μ)ᵀ Λ (ω − μ)`` corrected).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, digamma, multigammaln

from .covariances import Covariances, Diagonal

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class MixturePrior:
    """The prior of the mixture, before any kernel value is seen.

    Parameters
    ----------
    covariances : Full or Diagonal
        The form of all matrices.
    concentration : float
        The parameter α₀ of the sticks.
    mean : ndarray of shape (d,)
        The mean m₀ of the means.
    precision : ndarray of shape (d, d) or (d,)
        The precision R₀ of the means. ``W₀ = R₀ / ν₀``, so that R₀ is also the expected Λ.
    degrees : float
        The degrees of freedom ν₀ of the precisions.
    """

    covariances: Covariances
    concentration: float
    mean: NDArray[np.floating]
    precision: NDArray[np.floating]
    degrees: float

    @property
    def inverse_scale(self) -> NDArray[np.floating]:
        """The matrix ``W₀⁻¹ = ν₀ R₀⁻¹``."""
        return self.degrees * self.covariances.inverse(self.precision)


@dataclass(frozen=True)
class SpectralMixture:
    """A fitted mixture of Gaussians over frequencies.

    Parameters
    ----------
    weights : ndarray of shape (n_mixture,)
        The expected weights of the components; their sum is 1.
    means : ndarray of shape (n_mixture, d)
        The expected means.
    precisions : ndarray of shape (n_mixture, d, d) or (n_mixture, d)
        The expected precisions Λ_k; only their diagonals for more than 100 columns.
    axes : ndarray of shape (r, d) or None
        Orthonormal directions: diagonals are those in the coordinates ``axes @ ω``, and have shape
        (n_mixture, r). None means the columns.

    Examples
    --------
    >>> import numpy as np, krein
    >>> from krein.kernels import Gaussian
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> features = krein.MixtureFourier(Gaussian(), 8, n_subsample=50, random_state=0).fit(X)
    >>> features.mixture_["positive"].means.shape
    (5, 2)
    """

    weights: NDArray[np.floating]
    means: NDArray[np.floating]
    precisions: NDArray[np.floating]
    axes: NDArray[np.floating] | None = None


class DirichletMixture:
    """The posterior of the mixture, with the memberships of the frequencies.

    Parameters
    ----------
    prior : MixturePrior
        The prior.
    memberships : ndarray of shape (m, n_mixture)
        The probabilities ``q(z_m = k)`` to start from.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.covariances import Full
    >>> from krein.spectral.dirichlet import DirichletMixture, MixturePrior
    >>> prior = MixturePrior(Full(1), 1.0, np.zeros(1), np.eye(1), 1.0)
    >>> mixture = DirichletMixture(prior, np.eye(2)[[0, 0, 1, 1]])
    >>> points, spread = np.array([[-3.0], [-3.1], [3.0], [3.1]]), np.full((4, 1, 1), 0.01)
    >>> for _ in range(20):
    ...     mixture.update(points, spread)
    >>> mixture.memberships.argmax(axis=1)
    array([0, 0, 1, 1])
    """

    def __init__(self, prior: MixturePrior, memberships: NDArray):
        self.prior = prior
        self.memberships: NDArray[np.floating] = memberships
        self.algebra = prior.covariances
        n_mixture = memberships.shape[1]
        self.means: NDArray[np.floating] = np.tile(prior.mean, (n_mixture, 1))
        self.mean_precisions = np.tile(prior.precision, (n_mixture,) + (1,) * prior.precision.ndim)
        self.degrees: NDArray[np.floating] = np.full(n_mixture, float(prior.degrees))
        # W_k; its inverse is what the updates compute.
        self.scales: NDArray[np.floating] = self.mean_precisions / prior.degrees
        self._break_sticks()

    # --- updates ----------------------------------------------------------------------------------

    def update(self, frequencies: NDArray, spread: NDArray) -> None:
        """Update sticks, means, precisions and memberships in turn.

        Parameters
        ----------
        frequencies : ndarray of shape (m, d)
            The expected frequencies E[ω].
        spread : ndarray of shape (m, d, d) or (m, d)
            Their covariances.
        """
        self._break_sticks()
        self._move_means(frequencies)
        self._fit_precisions(frequencies, spread)
        scores = self._log_weights() + self._log_densities(frequencies, spread)
        scores -= scores.max(axis=1, keepdims=True)
        found = np.exp(scores)
        self.memberships = found / found.sum(axis=1, keepdims=True)

    def _break_sticks(self) -> None:
        counts = self.memberships.sum(axis=0)
        beyond = counts[::-1].cumsum()[::-1] - counts
        # The last stick is whole: q(β_T = 1) = 1.
        self._sticks = 1 + counts[:-1], self.prior.concentration + beyond[:-1]

    def _move_means(self, frequencies: NDArray) -> None:
        algebra, prior = self.algebra, self.prior
        counts = self.memberships.sum(axis=0)
        tall = counts.reshape((-1,) + (1,) * (self.scales.ndim - 1))
        self.mean_precisions = prior.precision + tall * self.precisions
        sums = algebra.apply(self.precisions, self.memberships.T @ frequencies)
        pull = algebra.apply(prior.precision, prior.mean) + sums
        self.means = algebra.apply(algebra.inverse(self.mean_precisions), pull)

    def _fit_precisions(self, frequencies: NDArray, spread: NDArray) -> None:
        self.degrees = self.prior.degrees + self.memberships.sum(axis=0)
        inverse = np.stack([self._scatter(k, frequencies, spread) for k in range(len(self.means))])
        self.scales = self.algebra.inverse(self.prior.inverse_scale + inverse)

    def _scatter(self, k: int, frequencies: NDArray, spread: NDArray) -> NDArray[np.floating]:
        """Return ``Σ_m q(z_m = k) E[(ω_m − μ_k)(ω_m − μ_k)ᵀ]``."""
        own = self.algebra.inverse(self.mean_precisions[k])
        squares = self.algebra.outer(frequencies - self.means[k]) + spread + own
        return np.tensordot(self.memberships[:, k], squares, axes=1)

    # --- expectations -----------------------------------------------------------------------------

    @property
    def precisions(self) -> NDArray[np.floating]:
        """The expected precisions ``E Λ_k = ν_k W_k``."""
        return self.degrees.reshape((-1,) + (1,) * (self.scales.ndim - 1)) * self.scales

    @property
    def fitted(self) -> SpectralMixture:
        """The expected weights, means and precisions."""
        ones, zeros = self._sticks
        shares = np.append(ones / (ones + zeros), 1.0)
        left = np.append(1.0, np.cumprod(1 - shares[:-1]))
        return SpectralMixture(shares * left, self.means, self.precisions)

    def pull(self) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return B and b of the quadratic ``−½ ωᵀ B_m ω + b_mᵀ ω`` that each frequency feels."""
        B = self.algebra.mix(self.memberships, self.precisions)
        return B, self.memberships @ self.algebra.apply(self.precisions, self.means)

    def _log_weights(self) -> NDArray[np.floating]:
        """Return ``E log θ_k`` of the sticks."""
        ones, zeros = self._sticks
        total = digamma(ones + zeros)
        broken = np.append(digamma(ones) - total, 0.0)
        return broken + np.append(0.0, np.cumsum(digamma(zeros) - total))

    def _log_determinants(self) -> NDArray[np.floating]:
        """Return ``E log |Λ_k|``."""
        halves = (self.degrees[:, None] - np.arange(self.algebra.order)) / 2
        gammas = self.algebra.copies * digamma(halves).sum(axis=1)
        return gammas + self.algebra.dim * np.log(2) + self.algebra.logdet(self.scales)

    def _log_densities(self, frequencies: NDArray, spread: NDArray) -> NDArray[np.floating]:
        """Return ``E log N(ω_m; μ_k, Λ_k⁻¹)``, shape (m, n_mixture)."""
        algebra, columns = self.algebra, []
        for mean, precision, own in zip(
            self.means, self.precisions, algebra.inverse(self.mean_precisions), strict=True
        ):
            gaps = frequencies - mean
            squares = (algebra.apply(precision, gaps) * gaps).sum(axis=1)
            columns.append(squares + algebra.trace(precision, spread + own))
        constant = self._log_determinants() - algebra.dim * LOG_2PI
        return (constant - np.stack(columns, axis=1)) / 2

    def bound(self, frequencies: NDArray, spread: NDArray) -> float:
        """Return the part of the evidence lower bound that belongs to the prior.

        This is the expected log density of frequencies and memberships, with their entropies, minus
        the divergences of sticks, means and precisions from the prior.
        """
        algebra = self.algebra
        scores = self._log_weights() + self._log_densities(frequencies, spread)
        logs = np.log(np.maximum(self.memberships, 1e-300))
        joint = float((self.memberships * (scores - logs)).sum())
        entropy = (algebra.logdet(spread) + algebra.dim * (1 + LOG_2PI)).sum() / 2
        return joint + float(entropy) - self._divergence()

    def _divergence(self) -> float:
        """Return the divergence of sticks, means and precisions from the prior."""
        algebra, prior = self.algebra, self.prior
        n_mixture = len(self.means)
        sticks = beta_divergence(*self._sticks, 1.0, prior.concentration)
        own = algebra.inverse(self.mean_precisions)
        gaps = self.means - prior.mean
        squares = (algebra.apply(prior.precision, gaps) * gaps).sum()
        means = algebra.trace(prior.precision, own).sum() + squares - n_mixture * algebra.dim
        means += (algebra.logdet(self.mean_precisions) - algebra.logdet(prior.precision)).sum()
        precisions = wishart_divergence(
            algebra, self.degrees, self.scales, prior.degrees, prior.inverse_scale
        )
        return float(sticks.sum() + means / 2 + precisions.sum())


def beta_divergence(a: NDArray, b: NDArray, a0: float, b0: float) -> NDArray[np.floating]:
    """Return the divergence of Beta(a, b) from Beta(a₀, b₀)."""
    total = digamma(a + b)
    logs = (a - a0) * (digamma(a) - total) + (b - b0) * (digamma(b) - total)
    return betaln(a0, b0) - betaln(a, b) + logs


def wishart_divergence(
    algebra: Covariances, degrees: NDArray, scales: NDArray, degrees0: float, inverse0: NDArray
) -> NDArray[np.floating]:
    """Return the divergence of Wishart(W_k, ν_k) from Wishart(W₀, ν₀), with inverse0 = W₀⁻¹."""
    order, copies = algebra.order, algebra.copies
    slopes = digamma((degrees[:, None] - np.arange(order)) / 2).sum(axis=1)
    gammas = multigammaln(degrees0 / 2, order) - multigammaln(degrees / 2, order)
    volumes = -degrees0 * (algebra.logdet(scales) + algebra.logdet(inverse0))
    traces = degrees * (algebra.trace(inverse0, scales) - algebra.dim)
    return copies * ((degrees - degrees0) * slopes / 2 + gammas) + (volumes + traces) / 2


def default_degrees(covariances: Covariances) -> float:
    """Return the smallest whole number ν₀ for which a Wishart law exists: its order."""
    return float(1 if isinstance(covariances, Diagonal) else covariances.dim)
