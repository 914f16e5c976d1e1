"""Finite complex measures on R^d in polar form.

A real stationary kernel with spectral measure μ is ``k(Δ) = Re ∫ exp(i ω·Δ) μ(dω)``. A `Measure`
is a sum of parts. Each part is a probability law with a complex mass and, if needed, a complex
density ratio along one direction. One class serves positive, signed and complex measures.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._validation import ByValue, check_choice, check_count
from ..atoms import Atoms
from ..published.jordan import jordan_parts
from ..samplers import Sampler, as_sampler
from .drawing import draw
from .errors import InfiniteMassError
from .laws import Convolution, Law, Sphere
from .ratios import Ratio


@dataclass(frozen=True, eq=False)
class Part(ByValue):
    """One part ``a · h(ω) · P(dω)`` of a measure.

    Parameters
    ----------
    law : Law
        The probability law P.
    mass : complex, default=1
        The mass a.
    ratio : TrigonometricRatio or DensityRatio, default=None
        The density ratio h; None means 1.

    Examples
    --------
    >>> from krein.measures import Normal, Part
    >>> Part(Normal(3, 1.0), mass=-0.5).total_mass
    0.5
    """

    law: Law
    mass: complex = 1.0
    ratio: Ratio | None = None

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
        return abs(self.mass) * (1.0 if self.ratio is None else self.ratio.mass(self.law))

    def kernel(self, differences: NDArray) -> NDArray:
        """Return ``E a h(ω) exp(i ω·Δ)``; its real part is what the part adds to k(Δ)."""
        if self.ratio is None:
            return self.mass * self.law.characteristic(differences)
        return self.mass * self.ratio.kernel(self.law, differences)

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
        ratio = self.ratio.scaled(self.mass).half(sign)
        return None if ratio is None else Part(self.law, 1.0, ratio)

    def convolve(self, other: Part) -> Part:
        """Return the part of the product of two symmetric kernels."""
        if not (self.is_real and other.is_real and self.ratio is None and other.ratio is None):
            raise ValueError(
                "The product with a kernel that is not symmetric, or with a part of such a kernel, "
                "has no known spectral measure: use krein.Nystrom for this kernel."
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
        """Return the papers' decomposition by sign, which has more mass."""
        self._check_mass()
        parts = [piece for part in self.parts for piece in jordan_parts(part)]
        return Measure(parts, self.diameter, self.bias)

    def _check_mass(self) -> None:
        if not np.isfinite(self.total_mass):
            raise InfiniteMassError(
                f"The measure has the mass {self.total_mass}, so no features can be drawn from it: "
                "use a narrower kernel or krein.Nystrom."
            )

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
        check_count(self, "n", n)
        self._check_mass()
        check_choice(self, "decomposition", decomposition, ("polar", "jordan"))
        check_choice(self, "allocation", allocation, ("neyman", "equal"))
        source = self.jordan() if decomposition == "jordan" else self
        generator = np.random.default_rng(rng)
        return draw(source.parts, as_sampler(sampler), int(n), generator, X, allocation)
