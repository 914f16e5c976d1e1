"""How many frequencies guarantee an error: the papers' uniform bounds, corrected.

Both functions take a measure and return a `Bound`. The bounds hold for independent frequencies of
the Jordan parts, M from each part: ``RandomFourier(decomposition="jordan", sampler="iid",
allocation="equal")``. They hold for all differences of rows at once, so they are far from tight;
`krein.approximation_error` measures the error on the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .._validation import ArgumentError, check_positive
from ..measures import Measure


@dataclass(frozen=True)
class Bound:
    """The number of frequencies that guarantees an error; it prints as a sentence.

    Attributes
    ----------
    n_frequencies : float
        Number M of frequencies from *each* Jordan part; infinite if the bound does not exist.
    n_parts : int
        Number of Jordan parts with mass.
    epsilon : float
        The error of the approximate kernel that is exceeded nowhere.
    delta : float
        The chance that the error is exceeded.
    mass : float
        Total mass of the Jordan parts. No error exceeds twice the mass.
    reason : str
        Why the bound is vacuous; empty if it is not.

    Examples
    --------
    >>> from krein.bounds import signed_frequencies
    >>> from krein.kernels import Gaussian
    >>> bound = signed_frequencies(Gaussian().measure(dim=2), diameter=1.0, epsilon=0.2)
    >>> bound.n_frequencies, bound.vacuous
    (8878.0, False)
    """

    n_frequencies: float
    n_parts: int
    epsilon: float
    delta: float
    mass: float
    reason: str = ""

    @property
    def total(self) -> float:
        """Number of frequencies in total, ``n_parts * M``."""
        return self.n_parts * self.n_frequencies

    @property
    def n_components(self) -> float:
        """Number of features in total, two per frequency."""
        return 2 * self.total

    @property
    def vacuous(self) -> bool:
        """True if the bound says nothing; `reason` says why."""
        return bool(self.reason)

    def __str__(self) -> str:
        each = "its only part" if self.n_parts == 1 else f"each of its {self.n_parts} parts"
        said = (
            f"With probability at least {1 - self.delta:g} the error is at most {self.epsilon:g} "
            f"everywhere if {self.n_frequencies:,.0f} frequencies are drawn from {each}, "
            f"{self.n_components:,.0f} features in total."
        )
        return f"{said} The bound is vacuous: {self.reason}." if self.vacuous else said


@dataclass(frozen=True)
class _Jordan:
    """The masses ξ of μ_R⁺, μ_R⁻ and μ_I⁺, and the mean squares E‖ω‖² of their laws."""

    dim: int
    masses: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, measure: Measure) -> _Jordan:
        masses, moments = np.zeros(3), np.zeros(3)
        for part in measure.jordan().parts:
            mass = complex(part.mass)
            each = np.array([max(mass.real, 0), max(-mass.real, 0), abs(mass.imag) / 2])
            masses += each
            moments[each > 0] += each[each > 0] * part.law.mean_square()
        squares = np.divide(moments, masses, out=np.zeros(3), where=masses > 0)
        return cls(measure.dim, masses, squares)

    @property
    def total_mass(self) -> float:
        """``‖μ‖ = ξ₁ + ξ₂ + 2ξ₃``."""
        return float(self.masses @ [1, 1, 2])

    @property
    def n_parts(self) -> int:
        return int(np.sum(self.masses > 0))


def signed_frequencies(
    measure: Measure,
    diameter: float,
    epsilon: float = 0.1,
    delta: float = 0.05,
    *,
    n_rows: int | None = None,
) -> Bound:
    """Return the frequencies per part that the signed-measure paper's Prop. 3.1 asks for.

    With q ≤ 2 parts of mass m_i and mean square σ_i² = E‖ω‖², the error exceeds ε somewhere with a
    chance of at most ``66 Σ_i max(1, q m_i σ_i R/ε)² exp(−M ε² / (8 q² (d + 2) m_i²))``. M is the
    least number for which every term is at most δ/q. M is the number for *each* part, not the
    total. *Corrected*: the paper omits the masses m_i, so it asks for too few frequencies if a mass
    exceeds 1. Moreover, the factor before the exponential must not fall below 66.

    Parameters
    ----------
    measure : krein.measures.Measure
        A real measure, e.g. ``kernel.measure(dim)`` or the `measure_` of a fitted `RandomFourier`.
    diameter : float
        Largest distance R between rows.
    epsilon : float, default=0.1
        The error ε, in the units of the kernel.
    delta : float, default=0.05
        The chance δ that the error is exceeded, between 0 and 1.
    n_rows : int, default=None
        Number of rows of the data. If the bound asks for more features than rows, it is vacuous.

    Returns
    -------
    Bound

    References
    ----------
    F. Liu, X. Huang, Y. Chen, J. Suykens. Fast Learning in Reproducing Kernel Kreĭn Spaces via
    Signed Measures. AISTATS 2021. Prop. 3.1.

    D. Sutherland, J. Schneider. On the Error of Random Fourier Features. UAI 2015. Prop. 1.

    Examples
    --------
    >>> from krein.bounds import signed_frequencies
    >>> from krein.kernels import DeltaGaussian
    >>> print(signed_frequencies(DeltaGaussian().measure(16), 4.0, epsilon=0.5, n_rows=20_000))
    With probability at least 0.95 the error is at most 0.5 everywhere if 37,317 frequencies are
    drawn from each of its 2 parts, 149,268 features in total. The bound is vacuous: it asks for
    more features than there are rows (20,000), and a Nyström map on all rows would be exact.
    """
    _check(measure, diameter, epsilon, delta)
    if not measure.is_real:
        raise ValueError(
            "signed_frequencies needs a real measure, but the kernel is not symmetric: use "
            "complex_frequencies."
        )
    jordan = _Jordan.of(measure)
    q = max(jordan.n_parts, 1)
    needed = 0.0
    for mass, square in zip(jordan.masses, jordan.squares, strict=True):
        factor = 66 * max(1.0, q * mass * math.sqrt(square) * diameter / epsilon) ** 2
        rate = epsilon**2 / (8 * q**2 * (jordan.dim + 2) * mass**2) if mass else math.inf
        needed = max(needed, math.log(factor * q / delta) / rate)
    return _bound(jordan, needed, epsilon, delta, n_rows)


def complex_frequencies(
    measure: Measure,
    diameter: float,
    epsilon: float = 0.1,
    delta: float = 0.05,
    *,
    n_rows: int | None = None,
) -> Bound:
    """Return the frequencies per part that the asymmetric paper's Prop. 6 asks for.

    ``M ≥ 4(d + 2) ‖μ‖²/ε² (log(β_d/δ) + 2d/(d + 2) log(α l/ε))`` with the mass
    ``‖μ‖ = ξ₁ + ξ₂ + 2ξ₃`` and ``α² = (ξ₁² + ξ₂² + 2ξ₃²)(σ₁² + σ₂² + 2σ₃²)``. M is the number for
    *each* of the parts μ_R⁺, μ_R⁻ and μ_I⁺, not the total. *Corrected*: β_d is that of the paper's
    appendix (see `beta`), and parts without mass do not count. The measure may also be real.

    Parameters
    ----------
    measure : krein.measures.Measure
        The measure, e.g. ``kernel.measure(dim)`` or the `measure_` of a fitted `RandomFourier`.
    diameter : float
        Largest distance l between rows.
    epsilon : float, default=0.1
        The error ε, in the units of the kernel.
    delta : float, default=0.05
        The chance δ that the error is exceeded, between 0 and 1.
    n_rows : int, default=None
        Number of rows of the data. If the bound asks for more features than rows, it is vacuous.

    Returns
    -------
    Bound

    Notes
    -----
    The published proof bounds the mean square of the slope at one difference by α² and uses it at
    the difference where the slope is largest. With 2α in place of α the step holds there too, which
    adds ``2d/(d + 2) log 2`` to the bracket. The same holds for `signed_frequencies`. In practice
    the bounds are wide enough without it.

    References
    ----------
    M. He, F. He, F. Liu, X. Huang. Random Fourier Features for Asymmetric Kernels. 2022. Prop. 6
    and App. A.

    Examples
    --------
    >>> from krein.bounds import complex_frequencies
    >>> from krein.kernels import ShiftGaussian
    >>> bound = complex_frequencies(ShiftGaussian(2.0, 0.5).measure(2), 1.0, epsilon=0.5)
    >>> bound.n_parts, bound.total == 2 * bound.n_frequencies
    (2, True)
    """
    _check(measure, diameter, epsilon, delta)
    jordan, twice = _Jordan.of(measure), np.array([1, 1, 2])
    d, slope = jordan.dim, math.inf
    if np.all(np.isfinite(jordan.squares)):
        slope = math.sqrt((jordan.masses**2 @ twice) * (jordan.squares @ twice))
    growth = 2 * d / (d + 2) * math.log(slope * diameter / epsilon) if slope else -math.inf
    per_square = 4 * (d + 2) * (jordan.total_mass / epsilon) ** 2
    needed = per_square * max(math.log(beta(d) / delta) + growth, 0.0)
    return _bound(jordan, needed, epsilon, delta, n_rows)


def beta(dim: int) -> float:
    """Return ``β_d = ((d/2)^(−d/(d+2)) + (d/2)^(2/(d+2))) 2^((6d+2)/(d+2))``.

    This is the form of the asymmetric paper's appendix, not that of its main text. It is at most
    66, at d = 64, and tends to 64.

    Parameters
    ----------
    dim : int
        The dimension d.

    Examples
    --------
    >>> from krein.bounds import beta
    >>> round(beta(64)), round(beta(10**6))
    (66, 64)
    """
    half = dim / 2
    both = half ** (-dim / (dim + 2)) + half ** (2 / (dim + 2))
    return float(both * 2 ** ((6 * dim + 2) / (dim + 2)))


def _check(measure: Measure, diameter: float, epsilon: float, delta: float) -> None:
    if not isinstance(measure, Measure):
        raise ArgumentError(
            "A bound", "measure", "a krein.measures.Measure, e.g. kernel.measure(dim)", measure
        )
    for name, value in (("diameter", diameter), ("epsilon", epsilon), ("delta", delta)):
        check_positive("A bound", name, value)
    if delta >= 1:
        raise ArgumentError("A bound", "delta", "a chance between 0 and 1", delta)


def _bound(
    jordan: _Jordan, needed: float, epsilon: float, delta: float, n_rows: int | None
) -> Bound:
    if n_rows is not None:
        check_positive("A bound", "n_rows", n_rows)
    number = float(max(math.ceil(needed), 1)) if math.isfinite(needed) else math.inf
    bound = Bound(number, jordan.n_parts, epsilon, delta, jordan.total_mass)
    return replace(bound, reason=_reason(bound, n_rows))


def _reason(bound: Bound, n_rows: int | None) -> str:
    if math.isinf(bound.n_frequencies):
        return "E‖ω‖² is infinite, because the kernel has a kink at x = y"
    if bound.epsilon >= 2 * bound.mass:
        return f"no error exceeds {2 * bound.mass:.4g}, twice the mass of the measure"
    if n_rows is not None and bound.n_components > n_rows:
        return (
            f"it asks for more features than there are rows ({n_rows:,}), and a Nyström map on all "
            "rows would be exact"
        )
    return ""
