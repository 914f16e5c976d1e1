"""Spectral densities of the user: a ratio that is a function, and laws drawn by rejection."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._blocks import row_blocks
from .._validation import check_positive
from ..published.acceptance import accepted
from ..samplers import QuasiMonteCarlo, Sampler
from .laws import Law
from .ratios import Ratio

# Number of quasi-random nodes on which the means of a `DensityRatio` are taken.
N_NODES = 2**13
# Jordan parts of a `DensityRatio` that accept fewer proposals than this share are refused.
LEAST_RATE = 1e-3


@dataclass(frozen=True, eq=False)
class _Combination:
    """A linear combination ``Σ c f(ω)`` or ``Σ c f̄(ω)`` of functions that can be pickled."""

    terms: tuple[tuple[complex, bool, Callable], ...]

    def __call__(self, frequencies: NDArray) -> NDArray:
        values = [(c, turned, np.asarray(f(frequencies))) for c, turned, f in self.terms]
        return np.sum([c * (np.conj(v) if turned else v) for c, turned, v in values], axis=0)


@dataclass(frozen=True, eq=False)
class DensityRatio(Ratio):
    """A density ratio that is a function of the user, for a spectral density of any shape.

    A spectral density μ(ω) and a law P with the density p have the ratio ``h(ω) = μ(ω)/p(ω)``. The
    polar form draws ω from P and puts h(ω) into the weight, which is unbiased for every P that
    covers μ. The Jordan parts ``max(0, ±Re h)`` and ``max(0, Im h)`` are drawn from P by acceptance
    and rejection (asymmetric paper, §4). Masses and kernel values are means over 8192 quasi-random
    frequencies, so they have an error of about 1e-3 of the mass.

    Parameters
    ----------
    function : callable
        Returns h at frequencies of shape (n, dim), as an array of shape (n,), real or complex. A
        real kernel needs ``h(−ω) = h̄(ω)``.
    bound : float
        The largest |h(ω)|. Acceptance and rejection need it. A bound that is too large lowers the
        share of accepted proposals.
    is_real : bool, default=False
        True if h is real. The kernel is then symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import DensityRatio, Measure, Normal, Part
    >>> ratio = DensityRatio(lambda w: np.exp(1j * np.sin(w[:, 0])), bound=1.0)
    >>> measure = Measure([Part(Normal(2, 1.0), 1.0, ratio)])
    >>> measure
    <complex measure on R^2, 1 parts, total mass 1>
    >>> len(measure.atoms(16, "orthogonal", 0, decomposition="jordan"))
    16
    """

    function: Callable[[NDArray], NDArray]
    bound: float
    is_real: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"DensityRatio needs function to be callable, got {self.function!r}.")
        check_positive(self, "bound", self.bound)

    def coordinates(self, frequencies: NDArray) -> NDArray[np.floating]:
        """Return the frequencies themselves."""
        return frequencies

    def profile(self, s: NDArray) -> NDArray:
        """Return h at the frequencies s, after a check of shape and values."""
        values = np.asarray(self.function(s))
        if values.shape != (len(s),) or not np.all(np.isfinite(values)):
            raise ValueError(
                f"The function of DensityRatio must return one finite number for each of {len(s)} "
                f"frequencies, got an array of shape {values.shape} with "
                f"{int(np.sum(~np.isfinite(values)))} values that are not finite."
            )
        if float(np.abs(values).max(initial=0)) > self.bound * (1 + 1e-9):
            raise ValueError(
                f"DensityRatio has bound={self.bound:.4g}, but |h(ω)| = {np.abs(values).max():.4g} "
                "at a frequency of the law: pass a larger bound."
            )
        return values.real if self.is_real else values

    def _combined(self, terms: tuple, bound: float, is_real: bool) -> DensityRatio:
        made = tuple((c, turned, self.function) for c, turned in terms)
        return DensityRatio(_Combination(made), bound, is_real)

    def conj(self) -> DensityRatio:
        return self if self.is_real else self._combined(((1.0, True),), self.bound, False)

    def scaled(self, factor: complex) -> DensityRatio:
        real = self.is_real and complex(factor).imag == 0
        return self._combined(((factor, False),), self.bound * abs(factor), real)

    def half(self, sign: float) -> DensityRatio | None:
        if self.is_real:
            return self if sign > 0 else None
        return self._combined(((0.5, False), (0.5 * sign, True)), self.bound, sign > 0)

    def mean(self, law: Law, g: Callable[[NDArray], NDArray]) -> float:
        return float(np.mean(g(law.transport(nodes(law.canonical_dim)))))

    def kernel(self, law: Law, differences: NDArray) -> NDArray:
        frequencies = law.transport(nodes(law.canonical_dim))
        return node_waves(frequencies, self(frequencies) / len(frequencies), differences)

    def tilted(self, law: Law, tilt: Callable[[NDArray], NDArray]) -> Law:
        self._check_conjugate(law)
        return Accepted(law, tilt, self.bound)

    def _check_conjugate(self, law: Law) -> None:
        """Raise if ``h(−ω) = h̄(ω)`` fails; only then is μ_I⁺ the mirror image of μ_I⁻."""
        some = law.transport(nodes(law.canonical_dim)[:64])
        gap = float(np.abs(self(-some) - np.conj(self(some))).max())
        if gap > 1e-6 * self.bound:
            raise ValueError(
                "The Jordan parts of a DensityRatio need h(−ω) to be the conjugate of h(ω), as for "
                f"every real kernel, but they differ by up to {gap:.3g}: return "
                "(h(ω) + conj(h(−ω)))/2, which has the same kernel."
            )


class Accepted(Law):
    """A law reweighted by a bounded function and drawn by acceptance and rejection.

    The density is ``∝ g(ω) p(ω)``: a frequency of the law P is accepted with the chance
    ``g(ω)/bound`` (asymmetric paper, §4 and App. B).

    Parameters
    ----------
    law : Law
        The law P of the proposals.
    tilt : callable
        The non-negative function g of frequencies of shape (n, dim).
    bound : float
        The largest value of g.

    Attributes
    ----------
    acceptance : float
        Mean share of accepted proposals.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import Normal
    >>> from krein.measures.density import Accepted
    >>> law = Accepted(Normal(1, 1.0), lambda w: (w[:, 0] > 0).astype(float), 1.0)
    >>> round(law.acceptance, 2)
    0.5
    """

    no_surrogate = "it is drawn by acceptance and rejection, so its density is not normalised"

    def __init__(self, law: Law, tilt: Callable[[NDArray], NDArray], bound: float):
        super().__init__(law.dim)
        self.law, self.tilt, self.bound = law, tilt, float(bound)
        self.acceptance = float(np.mean(self._chances(law.transport(nodes(law.canonical_dim)))))
        if self.acceptance < LEAST_RATE:
            raise ValueError(
                f"A Jordan part of the spectral density accepts {self.acceptance:.1g} of its "
                f"proposals, below the least share of {LEAST_RATE:g}: use decomposition='polar', "
                "which rejects nothing, a smaller bound, or a law that is closer to the density."
            )

    @property
    def canonical_dim(self) -> int:
        return self.law.canonical_dim

    def _chances(self, frequencies: NDArray) -> NDArray[np.floating]:
        return self.tilt(frequencies) / self.bound

    def draw(self, sampler: Sampler, n: int, rng: np.random.Generator) -> NDArray[np.floating]:
        def propose(n_proposals: int) -> NDArray[np.floating]:
            return self.law.draw(sampler, n_proposals, rng)

        return accepted(propose, self._chances, n, self.acceptance, rng)

    def transport(self, points: NDArray) -> NDArray[np.floating]:
        raise TypeError("Accepted draws by acceptance and rejection: call draw, not transport.")

    def characteristic(self, differences: NDArray) -> NDArray:
        frequencies = self.law.transport(nodes(self.canonical_dim))
        chances = self._chances(frequencies)
        return node_waves(frequencies, chances / chances.sum(), differences)

    def mean_square(self) -> float:
        frequencies = self.law.transport(nodes(self.canonical_dim))
        squares = np.square(frequencies).sum(axis=1)
        return float(np.average(squares, weights=self._chances(frequencies)))


@functools.lru_cache(maxsize=8)
def nodes(dim: int) -> NDArray[np.floating]:
    """Return `N_NODES` canonical quasi-random points, always the same."""
    points = QuasiMonteCarlo().points(N_NODES, dim, np.random.default_rng(0))
    points.setflags(write=False)
    return points


def node_waves(frequencies: NDArray, weights: NDArray, differences: NDArray) -> NDArray:
    """Return ``Σ_j w_j exp(i ω_j·Δ)`` at differences Δ of shape (..., dim), in blocks."""
    flat = np.reshape(differences, (-1, frequencies.shape[1]))
    out = np.empty(len(flat), dtype=complex)
    for rows in row_blocks(len(flat), 16 * len(frequencies)):
        out[rows] = np.exp(1j * (flat[rows] @ frequencies.T)) @ weights
    return out.reshape(np.shape(differences)[:-1])
