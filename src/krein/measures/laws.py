"""Probability laws on R^d, each a transport of the standard normal law.

A law maps canonical points, rows that are N(0, I), to its own. Radial laws move the radius and
keep the direction, so orthogonal points stay orthogonal.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaincc, gammaln, hyp0f1, kve, ndtr

from .._validation import ByValue
from ..samplers import log_sphere_area, normal_log_density

N_TABLE = 4096


def sphere_wave(dim: int, t: NDArray) -> NDArray[np.floating]:
    """``Ω_d(t) = 0F1(; d/2; −t²/4)``: the mean of exp(i t⟨u, e⟩) over the unit sphere."""
    if dim == 1:
        return np.cos(t)  # the same function, without the series' loss of digits
    if dim < HIGH_DIM:
        return hyp0f1(dim / 2, -np.square(t) / 4)
    scaled = np.abs(t) / np.sqrt(dim)
    return np.where(scaled < WAVE_END, _high_wave(dim)(np.minimum(scaled, WAVE_END)), 0.0)


# From this dimension on 0F1 overflows; the wave is nearly exp(−t²/2d) and below 1e-26 beyond
# t = WAVE_END √d.
HIGH_DIM, WAVE_END = 100, 12.0


@functools.lru_cache(maxsize=8)
def _high_wave(dim: int) -> Callable[[NDArray], NDArray]:
    """Ω_d(√d τ) on [0, WAVE_END] for high dimensions, error below 1e-10.

    The mean of cos(τ x) over the law of x = √d u₁, whose density is ``(1 − x²/d)^((d−3)/2)``, by
    the trapezoid rule, which converges geometrically for it, and a cubic spline in τ.
    """
    from scipy.interpolate import CubicSpline

    x = np.linspace(0, min(np.sqrt(dim), 12.0), 2048, endpoint=False)
    weights = np.exp((dim - 3) / 2 * np.log1p(-(x**2) / dim))
    weights[0] /= 2
    tau = np.linspace(0, WAVE_END, 4096)
    return CubicSpline(tau, np.cos(np.outer(tau, x)) @ (weights / weights.sum()))


class Law(ByValue, ABC):
    """A probability law on R^dim.

    Attributes
    ----------
    surrogate_scale : float or None
        Standard deviation of a Gaussian whose density bounds this one's up to a factor; None
        where there is none, and `no_surrogate` says why.
    """

    surrogate_scale: float | None = None
    no_surrogate = "it has no density"

    def __init__(self, dim: int):
        self.dim = dim

    @property
    def canonical_dim(self) -> int:
        """Dimension of the canonical points that `transport` takes."""
        return self.dim

    @abstractmethod
    def transport(self, points: NDArray) -> NDArray[np.floating]:
        """Map canonical points (n, canonical_dim) to points (n, dim) of this law."""

    @abstractmethod
    def characteristic(self, differences: NDArray) -> NDArray:
        """``E exp(i ω·Δ)`` at differences of shape (..., dim)."""

    def log_density(self, frequencies: NDArray) -> NDArray[np.floating]:
        """Log density at the rows of `frequencies`; only where `surrogate_scale` is given."""
        raise TypeError(f"{type(self).__name__} has no density to evaluate.")


class Normal(Law):
    """N(0, scale² I): the spectrum of the Gaussian kernel with sigma = 1/scale."""

    def __init__(self, dim: int, scale: float):
        super().__init__(dim)
        self.scale = self.surrogate_scale = float(scale)

    def transport(self, points: NDArray) -> NDArray[np.floating]:
        return points * self.scale

    def characteristic(self, differences: NDArray) -> NDArray:
        return np.exp(-0.5 * self.scale**2 * np.square(differences).sum(axis=-1))

    def log_density(self, frequencies: NDArray) -> NDArray[np.floating]:
        return normal_log_density(frequencies, self.scale)

    def tilted(self, direction: NDArray, tilt: Callable) -> TiltedNormal:
        """Return this law reweighted by the function `tilt` of ``s = direction·ω``."""
        return TiltedNormal(self.dim, self.scale, direction, tilt)


class RadialLaw(Law):
    """A law that is invariant under rotations: uniform direction, radius by a quantile."""

    @abstractmethod
    def radius(self, upper: NDArray) -> NDArray[np.floating]:
        """The radius exceeded with probability `upper`.

        The *upper* tail is the argument because heavy tails live there and 1 − p would lose it.
        """

    def transport(self, points: NDArray) -> NDArray[np.floating]:
        norms = np.linalg.norm(points, axis=1)
        radii = self.radius(gammaincc(self.dim / 2, norms**2 / 2))
        return points * (radii / norms)[:, None]


class Sphere(RadialLaw):
    """The uniform law on the sphere of one radius; radius 0 is the unit mass at the origin."""

    no_surrogate = "it sits on a sphere and has no density"

    def __init__(self, dim: int, radius: float):
        super().__init__(dim)
        self._radius = float(radius)

    def radius(self, upper: NDArray) -> NDArray[np.floating]:
        return np.full(np.shape(upper), self._radius)

    def characteristic(self, differences: NDArray) -> NDArray:
        return sphere_wave(self.dim, self._radius * np.linalg.norm(differences, axis=-1))


class Student(RadialLaw):
    """Multivariate Student-t with `dof` degrees of freedom: the spectrum of a Matérn kernel."""

    no_surrogate = "its tails are heavier than any Gaussian's, so the weights have no variance"

    def __init__(self, dim: int, scale: float, dof: float):
        super().__init__(dim)
        self.scale, self.dof = float(scale), float(dof)

    def radius(self, upper: NDArray) -> NDArray[np.floating]:
        # ‖ω‖² / (dim scale²) is F(dim, dof), a ratio of Beta variables; the complement 1 − B is
        # computed directly because the heavy tail is where B rounds to 1.
        rest = betaincinv(self.dof / 2, self.dim / 2, upper)
        return self.scale * np.sqrt(self.dof * (1 - rest) / rest)

    def characteristic(self, differences: NDArray) -> NDArray:
        return matern_profile(np.linalg.norm(differences, axis=-1) * self.scale, self.dof / 2)


# Where t^ν K_ν(t) is zero for all orders that have Bessel functions here.
FARTHEST = 1e5
# The order from which on the profile is a Gaussian to all digits.
GAUSSIAN_NU = 1e16


def matern_profile(z: NDArray, nu: float) -> NDArray[np.floating]:
    """``2^(1−ν)/Γ(ν) t^ν K_ν(t)`` at t = √(2ν) z; 1 at z = 0."""
    z = np.asarray(z)
    if nu == 0.5:
        return np.exp(-z)
    if nu > GAUSSIAN_NU:
        return np.exp(-0.5 * np.square(z))
    # Beyond any distance that matters, so that no infinity meets another below.
    t = np.minimum(np.sqrt(2 * nu) * z.astype(float), FARTHEST)
    if nu > DEBYE_NU:
        x = np.sqrt(2 / nu) * np.minimum(z.astype(float), 1e100)
        return _matern_debye(x, nu).astype(z.dtype)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        log_value = (1 - nu) * np.log(2) - gammaln(nu) + nu * np.log(t) + np.log(kve(nu, t)) - t
    # K_ν overflows for t below 1e-3 at these orders, where the kernel is one to 1e-8 at least.
    return np.where(np.isfinite(log_value) | (t > 1), np.exp(log_value), 1.0).astype(z.dtype)


# Above this order K_ν overflows at distances that matter.
DEBYE_NU = 50.0


def _matern_debye(x: NDArray, nu: float) -> NDArray[np.floating]:
    """The Matérn profile at t = ν x by Debye's uniform expansion, four terms, error < 1e-9.

    All that is large cancels on paper: what is left is
    ``ν (log((1 + r)/2) − (r − 1)) − ½ log r + log S(1/r)/S(1)`` with r = √(1 + x²).
    """
    r = np.sqrt(1 + x**2)
    excess = x**2 / (r + 1)  # r − 1 without cancellation

    def series(p: NDArray | float) -> NDArray | float:
        u1 = (3 * p - 5 * p**3) / 24
        u2 = (81 * p**2 - 462 * p**4 + 385 * p**6) / 1152
        u3 = (30375 * p**3 - 369603 * p**5 + 765765 * p**7 - 425425 * p**9) / 414720
        return 1 - u1 / nu + u2 / nu**2 - u3 / nu**3

    exponent = nu * (np.log1p(excess / 2) - excess)
    return np.exp(exponent) / np.sqrt(r) * series(1 / r) / series(1.0)


class ProductCauchy(Law):
    """Independent Cauchy coordinates: the spectrum of the ℓ1 Laplacian kernel."""

    no_surrogate = "its tails are heavier than any Gaussian's, so the weights have no variance"

    def __init__(self, dim: int, scale: float):
        super().__init__(dim)
        self.scale = float(scale)

    def transport(self, points: NDArray) -> NDArray[np.floating]:
        # tan(π(Φ(g) − ½)) = sign(g) / tan(π Φ(−|g|)), which keeps the tails' digits.
        return self.scale * np.sign(points) / np.tan(np.pi * ndtr(-np.abs(points)))

    def characteristic(self, differences: NDArray) -> NDArray:
        return np.exp(-self.scale * np.abs(differences).sum(axis=-1))


class TabulatedRadial(RadialLaw):
    """A radial law given by the density of its radius on a grid.

    Parameters
    ----------
    dim : int
        Dimension of the space.
    radii : ndarray of shape (m,)
        Increasing grid that starts at 0 and carries all the mass.
    density : ndarray of shape (m,)
        Non-negative density of the radius on the grid, up to a factor.
    heavy : bool, default=False
        Whether the true tail is heavier than a Gaussian's.
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
        """Density of the radius, 0 beyond the table."""
        return np.interp(radius, self.radii, self._density, right=0.0)

    def characteristic(self, differences: NDArray) -> NDArray:
        z = np.linalg.norm(differences, axis=-1)
        masses = self._upper[:-1] - self._upper[1:]
        middles = (self.radii[1:] + self.radii[:-1]) / 2
        out = np.zeros_like(z)
        for mass, radius in zip(masses, middles, strict=True):
            out += mass * sphere_wave(self.dim, radius * z)
        return out

    def log_density(self, frequencies: NDArray) -> NDArray[np.floating]:
        r = np.linalg.norm(frequencies, axis=1)
        with np.errstate(divide="ignore"):
            log_radial = np.log(self.radial_density(r))
        return log_radial - (self.dim - 1) * np.log(r) - log_sphere_area(self.dim)


class ExponentialMixture(TabulatedRadial):
    """The spectrum of the Cauchy kernel 1/(1 + z²/σ²), scale = 1/σ.

    ``1/(1 + z²/σ²) = ∫ e^(−t) e^(−t z²/σ²) dt`` is a mixture of Gaussians, so the radius is √(2t)/σ
    times a chi variable, t standard exponential.
    """

    def __init__(self, dim: int, scale: float):
        # The mixture integral by the trapezoid rule in log t, which converges geometrically here
        # and, unlike the Bessel function it is, neither over- nor underflows in high dimension.
        log_t = np.linspace(np.log(1e-12), np.log(50.0), 1024)
        widths = np.sqrt(2 * np.exp(log_t))
        # The largest radius that carries mass: t = 50 and a chi variable 9 deviations above √dim;
        # squared, because most of the mass is at small radii.
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


class TiltedNormal(Law):
    """A normal law reweighted along one direction: density ``∝ g(v·ω) N(ω; 0, scale² I)``.

    Only the coordinate along v is moved, by the quantile of its one-dimensional law; all other
    coordinates stay as they are, so no rejection is needed and every sampler works.

    Parameters
    ----------
    dim : int
        Dimension of the space.
    scale : float
        Standard deviation of the normal law.
    direction : ndarray of shape (dim,)
        The vector v.
    tilt : callable
        The non-negative function g of s = v·ω.
    """

    def __init__(self, dim: int, scale: float, direction: NDArray, tilt: Callable):
        super().__init__(dim)
        self.scale = self.surrogate_scale = float(scale)
        self.direction, self.tilt = direction, tilt
        norm = float(np.linalg.norm(direction))
        self._unit = direction / norm
        self._step = norm * self.scale  # s = v·ω = step · t with t ~ N(0, 1)
        # Beyond 10 standard deviations there is less than 1e-22 of the mass.
        t = np.linspace(-10, 10, 8 * N_TABLE)
        density = tilt(self._step * t) * np.exp(-(t**2) / 2)
        cells = (density[1:] + density[:-1]) / 2
        self._grid = t
        self._cdf = np.concatenate([[0.0], np.cumsum(cells) / cells.sum()])
        self._mass = float(cells.sum() * (t[1] - t[0]) / np.sqrt(2 * np.pi))

    def transport(self, points: NDArray) -> NDArray[np.floating]:
        t = points @ self._unit
        moved = np.interp(ndtr(t), self._cdf, self._grid)
        return (points + np.outer(moved - t, self._unit)) * self.scale

    def characteristic(self, differences: NDArray) -> NDArray:
        along = differences @ self._unit * self.scale
        square = np.square(differences).sum(axis=-1) * self.scale**2 - along**2
        middles = (self._grid[1:] + self._grid[:-1]) / 2
        wave = np.zeros(np.shape(along), dtype=complex)
        for mass, t in zip(np.diff(self._cdf), middles, strict=True):
            if mass:
                wave += mass * np.exp(1j * t * along)
        return np.exp(-square / 2) * wave

    def log_density(self, frequencies: NDArray) -> NDArray[np.floating]:
        with np.errstate(divide="ignore"):
            log_tilt = np.log(self.tilt(frequencies @ self.direction))
        return normal_log_density(frequencies, self.scale) + log_tilt - np.log(self._mass)


class Convolution(Law):
    """The law of a sum of two independent frequencies: the spectrum of a product of kernels."""

    no_surrogate = "the density of a convolution is not known in closed form"

    def __init__(self, left: Law, right: Law):
        super().__init__(left.dim)
        self.left, self.right = left, right

    @property
    def canonical_dim(self) -> int:
        return self.left.canonical_dim + self.right.canonical_dim

    def transport(self, points: NDArray) -> NDArray[np.floating]:
        cut = self.left.canonical_dim
        return self.left.transport(points[:, :cut]) + self.right.transport(points[:, cut:])

    def characteristic(self, differences: NDArray) -> NDArray:
        return self.left.characteristic(differences) * self.right.characteristic(differences)
