"""Probability laws on R^d, each a transport of the standard normal law.

A law maps canonical points, whose rows are N(0, I), to points of the law. A radial law changes the
radius and keeps the direction, so orthogonal points stay orthogonal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaincc, ndtr

from .._validation import ByValue
from ..samplers import Sampler, normal_log_density
from .special import matern_profile, sphere_wave

N_TABLE = 4096


class Law(ByValue, ABC):
    """Base class of the probability laws on R^dim.

    A subclass defines `transport` and `characteristic`. `krein.testing.check_law` checks it.

    Parameters
    ----------
    dim : int
        Dimension of the space.

    Attributes
    ----------
    surrogate_scale : float or None
        Standard deviation of a Gaussian whose density, times a factor, bounds the density of the
        law. None if there is no such Gaussian.
    no_surrogate : str
        Why there is no such Gaussian.
    acceptance : float
        Mean share of accepted proposals; 1 if the law is drawn without rejection.

    Examples
    --------
    >>> from krein.measures import Law, Normal
    >>> isinstance(Normal(3, scale=1.0), Law)
    True
    """

    surrogate_scale: float | None = None
    no_surrogate = "it has no density"
    acceptance = 1.0

    def __init__(self, dim: int):
        self.dim = dim

    @property
    def canonical_dim(self) -> int:
        """Dimension of the canonical points that `transport` takes."""
        return self.dim

    @abstractmethod
    def transport(self, points: NDArray) -> NDArray[np.floating]:
        """Map canonical points of shape (n, canonical_dim) to points of the law, (n, dim)."""

    def draw(self, sampler: Sampler, n: int, rng: np.random.Generator) -> NDArray[np.floating]:
        """Draw n points of the law, shape (n, dim), from canonical points of the sampler."""
        return self.transport(sampler.points(n, self.canonical_dim, rng))

    @abstractmethod
    def characteristic(self, differences: NDArray) -> NDArray:
        """Return ``E exp(i ω·Δ)`` at differences Δ of shape (..., dim)."""

    def log_density(self, frequencies: NDArray) -> NDArray[np.floating]:
        """Return the log density at the rows of `frequencies`, if `surrogate_scale` is given."""
        raise TypeError(f"{type(self).__name__} has no density to evaluate.")

    def mean_square(self) -> float:
        """Return ``E‖ω‖²``, infinite for heavy tails; a law of the user has an estimate."""
        points = np.random.default_rng(0).standard_normal((N_TABLE, self.canonical_dim))
        return float(np.square(self.transport(points)).sum(axis=1).mean())


class Normal(Law):
    """N(0, scale² I): the spectrum of the Gaussian kernel with sigma = 1/scale.

    Parameters
    ----------
    dim : int
        Dimension of the space.
    scale : float
        Standard deviation of each coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import Normal
    >>> Normal(2, scale=3.0).transport(np.ones((1, 2)))
    array([[3., 3.]])
    """

    def __init__(self, dim: int, scale: float):
        super().__init__(dim)
        self.scale = self.surrogate_scale = float(scale)

    def transport(self, points: NDArray) -> NDArray[np.floating]:
        return points * self.scale

    def characteristic(self, differences: NDArray) -> NDArray:
        return np.exp(-0.5 * self.scale**2 * np.square(differences).sum(axis=-1))

    def log_density(self, frequencies: NDArray) -> NDArray[np.floating]:
        return normal_log_density(frequencies, self.scale)

    def mean_square(self) -> float:
        return self.dim * self.scale**2

    def tilted(self, direction: NDArray, tilt: Callable) -> TiltedNormal:
        """Return this law reweighted by the function `tilt` of ``s = direction·ω``."""
        return TiltedNormal(self.dim, self.scale, direction, tilt)


class RadialLaw(Law):
    """Base class of the laws that are invariant under rotations.

    The direction is uniform. A subclass defines `radius`, the quantile function of the radius.

    Parameters
    ----------
    dim : int
        Dimension of the space.

    Examples
    --------
    >>> from krein.measures import Sphere
    >>> from krein.measures.laws import RadialLaw
    >>> isinstance(Sphere(3, radius=1.0), RadialLaw)
    True
    """

    @abstractmethod
    def radius(self, upper: NDArray) -> NDArray[np.floating]:
        """Return the radius that is exceeded with probability `upper`.

        The argument is the probability of the upper tail, because 1 − p would lose the digits of a
        heavy tail.
        """

    def transport(self, points: NDArray) -> NDArray[np.floating]:
        norms = np.linalg.norm(points, axis=1)
        radii = self.radius(gammaincc(self.dim / 2, norms**2 / 2))
        return points * (radii / norms)[:, None]


class Sphere(RadialLaw):
    """The uniform law on a sphere around the origin.

    Parameters
    ----------
    dim : int
        Dimension of the space.
    radius : float
        Radius of the sphere; 0 gives the unit mass at the origin.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import Sphere
    >>> Sphere(2, radius=5.0).transport(np.array([[3.0, 4.0]]))
    array([[3., 4.]])
    """

    no_surrogate = "it sits on a sphere and has no density"

    def __init__(self, dim: int, radius: float):
        super().__init__(dim)
        self._radius = float(radius)

    def radius(self, upper: NDArray) -> NDArray[np.floating]:
        return np.full(np.shape(upper), self._radius)

    def characteristic(self, differences: NDArray) -> NDArray:
        return sphere_wave(self.dim, self._radius * np.linalg.norm(differences, axis=-1))

    def mean_square(self) -> float:
        return self._radius**2


class Student(RadialLaw):
    """The multivariate Student-t law: the spectrum of a Matérn kernel.

    Parameters
    ----------
    dim : int
        Dimension of the space.
    scale : float
        Scale of each coordinate.
    dof : float
        Degrees of freedom, twice the order ν of the Matérn kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import Student
    >>> float(Student(3, scale=1.0, dof=1.0).characteristic(np.zeros(3)))
    1.0
    """

    no_surrogate = "its tails are heavier than any Gaussian's, so the weights have no variance"

    def __init__(self, dim: int, scale: float, dof: float):
        super().__init__(dim)
        self.scale, self.dof = float(scale), float(dof)

    def radius(self, upper: NDArray) -> NDArray[np.floating]:
        # ‖ω‖² / (dim scale²) has an F(dim, dof) law, so it is B/(1 − B) for a Beta variable B, up
        # to a factor. 1 − B is computed directly, because B rounds to 1 in the heavy tail.
        rest = betaincinv(self.dof / 2, self.dim / 2, upper)
        return self.scale * np.sqrt(self.dof * (1 - rest) / rest)

    def characteristic(self, differences: NDArray) -> NDArray:
        return matern_profile(np.linalg.norm(differences, axis=-1) * self.scale, self.dof / 2)

    def mean_square(self) -> float:
        tail = self.dof - 2
        return self.dim * self.scale**2 * self.dof / tail if tail > 0 else np.inf


class ProductCauchy(Law):
    """Independent Cauchy coordinates: the spectrum of the ℓ1 Laplacian kernel.

    Parameters
    ----------
    dim : int
        Dimension of the space.
    scale : float
        Scale of each coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import ProductCauchy
    >>> ProductCauchy(2, scale=2.0).transport(np.zeros((1, 2)))
    array([[0., 0.]])
    """

    no_surrogate = "its tails are heavier than any Gaussian's, so the weights have no variance"

    def __init__(self, dim: int, scale: float):
        super().__init__(dim)
        self.scale = float(scale)

    def transport(self, points: NDArray) -> NDArray[np.floating]:
        # tan(π(Φ(g) − ½)) = sign(g) / tan(π Φ(−|g|)); the right side keeps the digits of the tails.
        return self.scale * np.sign(points) / np.tan(np.pi * ndtr(-np.abs(points)))

    def characteristic(self, differences: NDArray) -> NDArray:
        return np.exp(-self.scale * np.abs(differences).sum(axis=-1))

    def mean_square(self) -> float:
        return np.inf


class TiltedNormal(Law):
    """A normal law reweighted along one direction: density ``∝ g(v·ω) N(ω; 0, scale² I)``.

    The transport moves the coordinate along v by the quantile function of its one-dimensional law.
    All other coordinates stay as they are. No rejection is needed and every sampler works.

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

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import TiltedNormal
    >>> law = TiltedNormal(2, 1.0, np.array([1.0, 0.0]), lambda s: 1 + np.cos(s))
    >>> law.transport(np.ones((3, 2))).shape
    (3, 2)
    """

    def __init__(self, dim: int, scale: float, direction: NDArray, tilt: Callable):
        super().__init__(dim)
        self.scale = self.surrogate_scale = float(scale)
        self.direction, self.tilt = direction, tilt
        norm = float(np.linalg.norm(direction))
        self._unit = direction / norm
        self._step = norm * self.scale  # s = v·ω = step · t with t ~ N(0, 1)
        # Less than 1e-22 of the mass lies beyond 10 standard deviations.
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

    def mean_square(self) -> float:
        middles = (self._grid[1:] + self._grid[:-1]) / 2
        return self.scale**2 * (self.dim - 1 + float(np.diff(self._cdf) @ middles**2))


class Convolution(Law):
    """The law of a sum of two independent frequencies: the spectrum of a product of kernels.

    Parameters
    ----------
    left, right : Law
        The laws of the two frequencies, in the same dimension.

    Examples
    --------
    >>> from krein.measures import Convolution, Normal, ProductCauchy
    >>> Convolution(Normal(3, 1.0), ProductCauchy(3, 1.0)).canonical_dim
    6
    """

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

    def mean_square(self) -> float:
        # Laws of symmetric kernels are symmetric, so the mean of the mixed term is zero.
        return self.left.mean_square() + self.right.mean_square()
