"""Finite complex measures on R^d in polar form.

A real stationary kernel with spectral measure μ is ``k(Δ) = Re ∫ exp(i ω·Δ) μ(dω)``. A `Measure`
is a sum of parts. Each part is a probability law with a complex mass and, if needed, a complex
density ratio along one direction. One class serves positive, signed and complex measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from .._validation import ByValue, check_choice
from ..atoms import Atoms
from ..published.jordan import jordan_parts
from ..samplers import Sampler, as_sampler
from .drawing import draw
from .errors import InfiniteMassError
from .laws import Convolution, Law, Normal, Sphere


@dataclass(frozen=True, eq=False)
class TrigonometricRatio(ByValue):
    """A trigonometric density ratio along one direction: ``h(ω) = Σ_k c_k exp(i k v·ω)``.

    The ratio turns the characteristic function φ of a law into ``Σ_k c_k φ(Δ + k v)``. One term is
    a shift; three terms give the sinh-Gaussian.

    Parameters
    ----------
    direction : ndarray of shape (dim,)
        The vector v.
    terms : tuple of (int, complex)
        The pairs (k, c_k).

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures.measure import TrigonometricRatio
    >>> ratio = TrigonometricRatio(np.array([1.0, 0.0]), ((0, 1.0),))
    >>> ratio.is_real
    True
    """

    direction: NDArray
    terms: tuple[tuple[int, complex], ...]

    def profile(self, s: NDArray) -> NDArray:
        """Return h as a 2π-periodic function of s = v·ω."""
        return sum((c * np.exp(1j * k * s) for k, c in self.terms), np.zeros_like(s, complex))

    def __call__(self, frequencies: NDArray) -> NDArray:
        return self.profile(frequencies @ self.direction)

    def conj(self) -> TrigonometricRatio:
        return replace(self, terms=tuple((-k, np.conj(c)) for k, c in self.terms))

    def plus(self, other: TrigonometricRatio) -> TrigonometricRatio:
        """Return the sum of two ratios along the same direction."""
        total: dict[int, complex] = dict(self.terms)
        for k, c in other.terms:
            total[k] = total.get(k, 0) + c
        return replace(self, terms=tuple((k, c) for k, c in total.items() if c != 0))

    def scaled(self, factor: complex) -> TrigonometricRatio:
        return replace(self, terms=tuple((k, c * factor) for k, c in self.terms))

    @property
    def is_real(self) -> bool:
        """True if h(ω) is real for every ω, that is ``c_(−k) = c̄_k``."""
        terms = dict(self.terms)
        return all(terms.get(-k, 0) == np.conj(c) for k, c in terms.items())


@dataclass(frozen=True, eq=False)
class Part(ByValue):
    """One part ``a · h(ω) · P(dω)`` of a measure.

    Parameters
    ----------
    law : Law
        The probability law P.
    mass : complex, default=1
        The mass a.
    ratio : TrigonometricRatio, default=None
        The density ratio h; None is 1.

    Examples
    --------
    >>> from krein.measures import Normal, Part
    >>> Part(Normal(3, 1.0), mass=-0.5).total_mass
    0.5
    """

    law: Law
    mass: complex = 1.0
    ratio: TrigonometricRatio | None = None

    def weight(self, frequencies: NDArray) -> NDArray:
        """Return ``a h(ω)`` at the rows of `frequencies`; a real array if `is_real`."""
        values: NDArray = np.full(len(frequencies), self.mass)
        if self.ratio is not None:
            values = values * self.ratio(frequencies)
        return values.real if self.is_real else values

    @property
    def is_real(self) -> bool:
        return complex(self.mass).imag == 0 and (self.ratio is None or self.ratio.is_real)

    @property
    def total_mass(self) -> float:
        """Mass ``|a| E|h|``, by one-dimensional quadrature if |h| is not constant."""
        if self.ratio is None:
            return abs(self.mass)
        if len(self.ratio.terms) == 1:
            return abs(self.mass * self.ratio.terms[0][1])
        profile = self.ratio.profile
        return abs(self.mass) * self.mean(lambda s: np.abs(profile(s)))

    def mean(self, g: Callable[[NDArray], NDArray]) -> float:
        """Return ``E g(v·ω)`` for a 2π-periodic function g."""
        if not isinstance(self.law, Normal) or self.ratio is None:
            raise TypeError("A mean along a direction exists in closed form for a normal law only.")
        return periodic_mean(g, float(np.linalg.norm(self.ratio.direction)) * self.law.scale)

    def kernel(self, differences: NDArray) -> NDArray:
        """Return ``E a h(ω) exp(i ω·Δ)``; its real part is what the part adds to k(Δ)."""
        if self.ratio is None:
            return self.mass * self.law.characteristic(differences)
        v = self.ratio.direction
        shifted = [c * self.law.characteristic(differences + k * v) for k, c in self.ratio.terms]
        return self.mass * np.sum(shifted, axis=0)

    def scaled(self, factor: complex) -> Part:
        return replace(self, mass=self.mass * factor)

    def conj(self) -> Part:
        ratio = None if self.ratio is None else self.ratio.conj()
        return replace(self, mass=np.conj(self.mass), ratio=ratio)

    def even(self, sign: float) -> Part | None:
        """Return ``(μ + sign · μ̄)/2``, the symmetric (+1) or skew (−1) half; None if zero."""
        if self.ratio is None:
            half = (self.mass + sign * np.conj(self.mass)) / 2
            return replace(self, mass=half.real if sign > 0 else half) if half else None
        mine = self.ratio.scaled(self.mass / 2)
        ratio = mine.plus(mine.conj().scaled(sign))
        return Part(self.law, 1.0, ratio) if ratio.terms else None

    def convolve(self, other: Part) -> Part:
        """Return the part of the product of two symmetric kernels."""
        if not (self.is_real and other.is_real and self.ratio is None and other.ratio is None):
            raise ValueError(
                "The product with a kernel that is not symmetric has no known spectral measure: "
                "use krein.Nystrom for this kernel."
            )
        return Part(Convolution(self.law, other.law), self.mass * other.mass)


class Measure(ByValue):
    """A finite complex measure on R^d: a sum of parts.

    Parameters
    ----------
    parts : iterable of Part
        At least one part; all parts have the same dimension.
    diameter : float, default=inf
        The measure represents its kernel on differences of at most this norm.
    bias : float, default=0
        Largest deviation of the measure from its kernel on these differences.

    Examples
    --------
    >>> from krein.measures import Measure, Normal, Part
    >>> measure = Measure([Part(Normal(3, 1.0), 1.0), Part(Normal(3, 0.1), -0.5)])
    >>> measure
    <signed measure on R^3, 2 parts, total mass 1.5>
    >>> len(measure.atoms(16, "orthogonal", 0))
    16
    """

    __array_ufunc__ = None  # so that NumPy scalars leave the arithmetic to this class

    def __init__(self, parts: Iterable[Part], diameter: float = np.inf, bias: float = 0.0):
        self.parts = list(parts)
        if not self.parts:
            raise ValueError("A Measure needs at least one part.")
        if len({part.law.dim for part in self.parts}) > 1:
            raise ValueError("All parts of a Measure must have the same dimension.")
        self.diameter, self.bias = float(diameter), float(bias)

    def __repr__(self) -> str:
        kind = "positive" if self.is_positive else "signed" if self.is_real else "complex"
        return (
            f"<{kind} measure on R^{self.dim}, {len(self.parts)} parts, "
            f"total mass {self.total_mass:.4g}>"
        )

    @property
    def dim(self) -> int:
        """Dimension of the frequencies."""
        return self.parts[0].law.dim

    @property
    def total_mass(self) -> float:
        """Sum of the masses of the parts.

        The sum is at least the total variation of the measure, and equal to it if no parts overlap.
        """
        return float(sum(part.total_mass for part in self.parts))

    @property
    def is_real(self) -> bool:
        """True if the kernel is symmetric."""
        return all(part.is_real for part in self.parts)

    @property
    def is_positive(self) -> bool:
        """True if every part is positive. The kernel is then positive definite."""
        return self.is_real and all(
            part.ratio is None and np.real(part.mass) >= 0 for part in self.parts
        )

    def __add__(self, other: Measure) -> Measure:
        if not isinstance(other, Measure):
            return NotImplemented
        return Measure(
            self.parts + other.parts, min(self.diameter, other.diameter), self.bias + other.bias
        )

    def __mul__(self, factor: complex) -> Measure:
        if not np.isscalar(factor):
            return NotImplemented
        scaled = [part.scaled(factor) for part in self.parts]
        return Measure(scaled, self.diameter, self.bias * abs(factor))

    __rmul__ = __mul__

    def __neg__(self) -> Measure:
        return self * -1.0

    def __sub__(self, other: Measure) -> Measure:
        return self + (-other)

    def conj(self) -> Measure:
        """Return the measure of the transposed kernel k(−Δ)."""
        return Measure([part.conj() for part in self.parts], self.diameter, self.bias)

    def even(self, sign: float) -> Measure:
        """Return the measure of the symmetric (sign +1) or skew (−1) part of the kernel."""
        halves = [part.even(sign) for part in self.parts]
        kept = [part for part in halves if part is not None]
        return Measure(kept or [Part(Sphere(self.dim, 0.0), 0.0)], self.diameter, self.bias)

    def convolve(self, other: Measure) -> Measure:
        """Return the measure of the product of two symmetric kernels."""
        if self.dim != other.dim:
            raise ValueError(
                f"Measures must have the same dimension to be convolved, got {self.dim} and "
                f"{other.dim}."
            )
        parts = [mine.convolve(theirs) for mine in self.parts for theirs in other.parts]
        # (k + e)(k' + e') − k k' with |k| at most the mass.
        bias = self.bias * other.total_mass + other.bias * self.total_mass + self.bias * other.bias
        return Measure(parts, min(self.diameter, other.diameter), bias)

    def jordan(self) -> Measure:
        """Return the decomposition by sign of the papers, which has more mass."""
        parts = [piece for part in self.parts for piece in jordan_parts(part)]
        return Measure(parts, self.diameter, self.bias)

    def kernel(self, differences: NDArray) -> NDArray[np.floating]:
        """Return ``k(Δ) = Re ∫ exp(i ω·Δ) μ(dω)`` at differences Δ of shape (..., dim)."""
        return np.sum([np.real(part.kernel(differences)) for part in self.parts], axis=0)

    def atoms(
        self,
        n: int,
        sampler: str | Sampler = "orthogonal",
        rng: np.random.Generator | int | None = None,
        *,
        decomposition: str = "polar",
        allocation: str = "neyman",
        X: NDArray | None = None,
    ) -> Atoms:
        """Draw n frequencies with complex weights.

        Parameters
        ----------
        n : int
            Number of frequencies.
        sampler : str or Sampler, default="orthogonal"
            A name in `krein.samplers.SAMPLERS`, or a sampler.
        rng : Generator or int, default=None
            Source of randomness.
        decomposition : {"polar", "jordan"}, default="polar"
            "polar" draws from |μ| and puts the phase into the weight. "jordan" splits μ by sign, as
            in the papers.
        allocation : {"neyman", "equal"}, default="neyman"
            How the parts share the frequencies: by variance, or equally as in the papers.
        X : ndarray of shape (n_rows, dim), default=None
            Data on which variances and leverage scores are estimated.

        Returns
        -------
        Atoms
        """
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n must be a whole number of at least 1, got {n!r}.")
        if not np.isfinite(self.total_mass):
            raise InfiniteMassError(
                f"The measure has the mass {self.total_mass}, so no features can be drawn from it: "
                "use a narrower kernel or krein.Nystrom."
            )
        check_choice(self, "decomposition", decomposition, ("polar", "jordan"))
        check_choice(self, "allocation", allocation, ("neyman", "equal"))
        source = self.jordan() if decomposition == "jordan" else self
        generator = np.random.default_rng(rng)
        return draw(source.parts, as_sampler(sampler), int(n), generator, X, allocation)


def periodic_mean(g: Callable[[NDArray], NDArray], tau: float) -> float:
    """Return ``E g(s)`` for s ~ N(0, τ²) and a 2π-periodic g with kinks at multiples of π/2.

    Gauss-Legendre quadrature between the kinks reaches machine precision. For τ > 40 the phase is
    uniform. Gauss-Hermite quadrature would reach only 7e-3 at d = 1, because of the kinks of the
    Jordan parts.
    """
    nodes, weights = np.polynomial.legendre.leggauss(24)
    cell = np.pi / 2
    # Panels halve towards the kinks, because |1 − iA sin s| varies there on the scale 1/A.
    halves = cell * 0.5 ** np.arange(1, 16)
    panels = np.unique(np.concatenate([[0.0], halves, cell - halves]))
    if tau > 40:
        edges = np.append((np.arange(4)[:, None] * cell + panels).ravel(), 4 * cell)
    else:
        reach = 9.5 * tau
        n_cells = int(np.ceil(reach / cell))
        edges = (np.arange(-n_cells, n_cells)[:, None] * cell + panels).ravel()
        # With a small τ all the mass lies inside one cell, which needs panels of its own.
        edges = np.unique(np.concatenate([edges, np.linspace(-reach, reach, 41)]))
        edges = edges[np.abs(edges) <= reach]
    left, width = edges[:-1], np.diff(edges)
    s = left[:, None] + width[:, None] * (nodes + 1) / 2
    density = (
        1 / (4 * cell) if tau > 40 else np.exp(-((s / tau) ** 2) / 2) / tau / np.sqrt(2 * np.pi)
    )
    return float(np.sum(g(s) * density * weights * width[:, None] / 2))
