"""Density ratios: the complex function h that turns a probability law P into ``h(ω) P(dω)``.

`TrigonometricRatio` has closed forms for its mass, its kernel and its Jordan parts. The
`DensityRatio` of `krein.measures.density` is any function of the user.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import ByValue
from .laws import Law, Normal
from .special import periodic_mean


class Ratio(ByValue, ABC):
    """Base class of the density ratios h.

    Attributes
    ----------
    is_real : bool
        True if h(ω) is real for every ω.

    Examples
    --------
    >>> from krein.measures.ratios import Ratio, TrigonometricRatio
    >>> issubclass(TrigonometricRatio, Ratio)
    True
    """

    is_real: Any

    @abstractmethod
    def coordinates(self, frequencies: NDArray) -> NDArray[np.floating]:
        """Return what h is a function of: the frequencies, or their projections."""

    @abstractmethod
    def profile(self, s: NDArray) -> NDArray:
        """Return h at the coordinates s."""

    def __call__(self, frequencies: NDArray) -> NDArray:
        return self.profile(self.coordinates(frequencies))

    @abstractmethod
    def conj(self) -> Ratio:
        """Return the complex conjugate of h."""

    @abstractmethod
    def scaled(self, factor: complex) -> Ratio:
        """Return the ratio times a number."""

    @abstractmethod
    def half(self, sign: float) -> Ratio | None:
        """Return ``(h + sign · h̄)/2``, the real (+1) or imaginary (−1) half; None if zero."""

    @abstractmethod
    def mean(self, law: Law, g: Callable[[NDArray], NDArray]) -> float:
        """Return ``E g(s)`` for the coordinates s of a frequency of the law."""

    @abstractmethod
    def kernel(self, law: Law, differences: NDArray) -> NDArray:
        """Return ``E h(ω) exp(i ω·Δ)`` at differences Δ of shape (..., dim)."""

    @abstractmethod
    def tilted(self, law: Law, tilt: Callable[[NDArray], NDArray]) -> Law:
        """Return the law reweighted by a non-negative function of the coordinates."""

    def mass(self, law: Law) -> float:
        """Return ``E|h(ω)|``."""
        return self.mean(law, lambda s: np.abs(self.profile(s)))


@dataclass(frozen=True, eq=False)
class TrigonometricRatio(Ratio):
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
    >>> from krein.measures import TrigonometricRatio
    >>> ratio = TrigonometricRatio(np.array([1.0, 0.0]), ((0, 1.0),))
    >>> ratio.is_real
    True
    """

    direction: NDArray
    terms: tuple[tuple[int, complex], ...]

    def coordinates(self, frequencies: NDArray) -> NDArray[np.floating]:
        """Return the projections s = v·ω."""
        return frequencies @ self.direction

    def profile(self, s: NDArray) -> NDArray:
        """Return h as a 2π-periodic function of s = v·ω."""
        return sum((c * np.exp(1j * k * s) for k, c in self.terms), np.zeros_like(s, complex))

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

    def half(self, sign: float) -> TrigonometricRatio | None:
        mine = self.scaled(0.5)
        both = mine.plus(mine.conj().scaled(sign))
        return both if both.terms else None

    @property
    def is_real(self) -> bool:
        """True if h(ω) is real for every ω, that is ``c_(−k) = c̄_k``."""
        terms = dict(self.terms)
        return all(terms.get(-k, 0) == np.conj(c) for k, c in terms.items())

    def mean(self, law: Law, g: Callable[[NDArray], NDArray]) -> float:
        if not isinstance(law, Normal):
            raise TypeError("Only a normal law has a closed-form mean along a direction.")
        return periodic_mean(g, float(np.linalg.norm(self.direction)) * law.scale)

    def mass(self, law: Law) -> float:
        sizes = [float(abs(c)) for _, c in self.terms]
        # Infinite coefficients, as of the sinh-Gaussian with a large β, have no quadrature.
        if len(sizes) == 1 or not np.isfinite(sizes).all():
            return sum(sizes)
        return super().mass(law)

    def kernel(self, law: Law, differences: NDArray) -> NDArray:
        v = self.direction
        return np.sum([c * law.characteristic(differences + k * v) for k, c in self.terms], axis=0)

    def tilted(self, law: Law, tilt: Callable[[NDArray], NDArray]) -> Law:
        if not isinstance(law, Normal):
            raise TypeError("Only a normal law can be reweighted along a direction.")
        return law.tilted(self.direction, tilt)
