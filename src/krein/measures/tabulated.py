"""Radial laws whose density of the radius is a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..samplers import log_sphere_area
from .laws import N_TABLE, RadialLaw, Student
from .special import sphere_wave


class TabulatedRadial(RadialLaw):
    """A radial law with a tabulated density of the radius.

    Parameters
    ----------
    dim : int
        Dimension of the space.
    radii : ndarray of shape (m,)
        Increasing radii. The grid starts at 0 and covers all the mass.
    density : ndarray of shape (m,)
        Density of the radius on the grid, non-negative, up to a factor.
    heavy : bool, default=False
        True if the tail is heavier than that of a Gaussian. The law then has no `surrogate_scale`.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import TabulatedRadial
    >>> law = TabulatedRadial(2, np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0]))
    >>> law.radius(np.array([0.5]))
    array([1.])
    """

    def __init__(self, dim: int, radii: NDArray, density: NDArray, heavy: bool = False):
        super().__init__(dim)
        steps = np.diff(radii) * (density[1:] + density[:-1]) / 2
        self.mass = float(steps.sum())
        self.radii, self._density = radii, density / self.mass
        self._upper = np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]]) / self.mass
        if heavy:
            self.no_surrogate = Student.no_surrogate
        else:
            mean_square = np.sum(steps * radii[1:] ** 2) / self.mass
            self.surrogate_scale = float(np.sqrt(mean_square / dim))

    def radius(self, upper: NDArray) -> NDArray[np.floating]:
        return np.interp(upper, self._upper[::-1], self.radii[::-1])

    def radial_density(self, radius: NDArray) -> NDArray[np.floating]:
        """Return the density of the radius, which is 0 beyond the table."""
        return np.interp(radius, self.radii, self._density, right=0.0)

    def characteristic(self, differences: NDArray) -> NDArray:
        z = np.linalg.norm(differences, axis=-1)
        masses = self._upper[:-1] - self._upper[1:]
        middles = (self.radii[1:] + self.radii[:-1]) / 2
        out = np.zeros_like(z)
        for mass, radius in zip(masses, middles, strict=True):
            out += mass * sphere_wave(self.dim, radius * z)
        return out

    def mean_square(self) -> float:
        middles = (self.radii[1:] + self.radii[:-1]) / 2
        return float((self._upper[:-1] - self._upper[1:]) @ middles**2)

    def log_density(self, frequencies: NDArray) -> NDArray[np.floating]:
        r = np.linalg.norm(frequencies, axis=1)
        with np.errstate(divide="ignore"):
            log_radial = np.log(self.radial_density(r))
        return log_radial - (self.dim - 1) * np.log(r) - log_sphere_area(self.dim)


class ExponentialMixture(TabulatedRadial):
    """The spectrum of the Cauchy kernel 1/(1 + z²/σ²), scale = 1/σ.

    ``1/(1 + z²/σ²) = ∫ e^(−t) e^(−t z²/σ²) dt`` is a mixture of Gaussians. The radius is √(2t)/σ
    times a chi variable, where t is standard exponential.

    Parameters
    ----------
    dim : int
        Dimension of the space.
    scale : float
        The inverse of σ.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import ExponentialMixture
    >>> float(ExponentialMixture(2, scale=1.0).characteristic(np.array([1.0, 0.0])))
    0.5
    """

    def __init__(self, dim: int, scale: float):
        # The trapezoid rule in log t converges geometrically. The integral is also a Bessel
        # function, but that overflows or underflows in high dimension.
        log_t = np.linspace(np.log(1e-12), np.log(50.0), 1024)
        widths = np.sqrt(2 * np.exp(log_t))
        # The last radius belongs to t = 50 and a chi variable 9 deviations above √dim. The grid is
        # quadratic, because most of the mass is at small radii.
        radii = widths[-1] * (np.sqrt(dim) + 9) * np.linspace(0, 1, 2 * N_TABLE) ** 2
        log_chi = (1 - dim / 2) * np.log(2) - gammaln(dim / 2)
        density = np.zeros_like(radii)
        for width, weight in zip(widths, np.exp(log_t - np.exp(log_t)), strict=True):
            x = radii / width
            with np.errstate(divide="ignore"):
                log_x = np.log(x) if dim > 1 else np.zeros_like(x)
            density += weight / width * np.exp(log_chi + (dim - 1) * log_x - x**2 / 2)
        super().__init__(dim, radii * scale, density, heavy=True)
        self.scale = float(scale)

    def characteristic(self, differences: NDArray) -> NDArray:
        return 1 / (1 + self.scale**2 * np.square(differences).sum(axis=-1))
