"""Measures on the sphere: the rotation-invariant twin of the measures on R^d.

A kernel of ⟨x, y⟩ on unit rows is ``k(⟨x, y⟩) = Σ_ℓ λ_ℓ P_ℓ(⟨x, y⟩)`` with the Legendre
polynomials of the dimension, ``P_ℓ(1) = 1``. The coefficients λ_ℓ may be negative. The mass is
``Σ|λ_ℓ|``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb, roots_gegenbauer

from .._validation import ByValue
from ..atoms import ZonalAtoms
from ..published.allocation import equal_scores
from ..samplers import PointSampler, Sampler, as_sampler
from .drawing import allocate
from .laws import N_TABLE
from .programme import chebyshev_grid, sweep

MAX_DEGREE = 40
N_GRID = 200
# Degrees 0 and 1 need no sampling: their features are a constant and x itself.
EXACT_DEGREES = 2


def legendre(dim: int, max_degree: int, t: NDArray) -> NDArray[np.floating]:
    """Return the Legendre polynomials ``P_0(t), …, P_L(t)`` of a dimension.

    The recurrence is ``(ℓ + d − 2) P_(ℓ+1) = (2ℓ + d − 2) t P_ℓ − ℓ P_(ℓ−1)``.

    Parameters
    ----------
    dim : int
        The dimension d.
    max_degree : int
        The largest degree L.
    t : ndarray
        Arguments in [−1, 1].

    Returns
    -------
    ndarray of shape (max_degree + 1, *t.shape)

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import legendre
    >>> legendre(3, 2, np.array([0.5]))[:, 0]
    array([ 1.   ,  0.5  , -0.125])
    """
    t = np.asarray(t)
    t = t if np.issubdtype(t.dtype, np.floating) else t.astype(float)
    return np.stack(list(itertools.islice(_polynomials(dim, t), max_degree + 1)))


def zonal(dim: int, degree: int, t: NDArray) -> NDArray[np.floating]:
    """Return ``P_ℓ(t)`` of one degree ℓ, in less memory than `legendre`.

    Parameters
    ----------
    dim : int
        The dimension d.
    degree : int
        The degree ℓ.
    t : ndarray
        Arguments in [−1, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import zonal
    >>> zonal(3, 2, np.array([0.5]))
    array([-0.125])
    """
    return next(itertools.islice(_polynomials(dim, t), degree, None))


def _polynomials(dim: int, t: NDArray) -> Iterator[NDArray[np.floating]]:
    """Yield ``P_0(t), P_1(t), …`` by their recurrence."""
    before, value = np.ones_like(t), t
    yield before
    for n in itertools.count(1):
        yield value
        before, value = value, ((2 * n + dim - 2) * t * value - n * before) / (n + dim - 2)


def n_harmonics(dim: int, degree: int) -> float:
    """Return the number of spherical harmonics ``N(d, ℓ) = C(d−1+ℓ, ℓ) − C(d−3+ℓ, ℓ−2)``.

    Parameters
    ----------
    dim : int
        The dimension d.
    degree : int
        The degree ℓ.

    Examples
    --------
    >>> from krein.measures import n_harmonics
    >>> [int(n_harmonics(3, degree)) for degree in range(4)]
    [1, 3, 5, 7]
    """
    if degree < 2:
        return float(dim if degree else 1)
    return float(comb(dim - 1 + degree, degree) - comb(dim - 3 + degree, degree - 2))


def direction_deviations(dim: int, max_degree: int, u: NDArray) -> NDArray[np.floating]:
    """Return the standard deviation of ``N(d, ℓ) P_ℓ(⟨x, w⟩) P_ℓ(⟨w, y⟩)`` over w, by degree.

    With ``P_ℓ² = Σ_k g_ℓk P_k`` the second moment at ⟨x, y⟩ = u is
    ``N(d, ℓ)² Σ_k g_ℓk² P_k(u) / N(d, k)``. The second moment grows steeply with the degree: on
    rows within a cone a few directions dominate, so features of high degree are noisy.

    Parameters
    ----------
    dim : int
        Dimension of the rows.
    max_degree : int
        Largest degree.
    u : ndarray
        Products ⟨x, y⟩ over which the variance is averaged.

    Returns
    -------
    ndarray of shape (max_degree + 1,)
        One standard deviation per degree.
    """
    counts = np.array([n_harmonics(dim, k) for k in range(2 * max_degree + 1)])
    nodes, weights = roots_gegenbauer(2 * max_degree + 1, dim / 2 - 1)
    at_nodes = legendre(dim, 2 * max_degree, nodes)
    squares = at_nodes[: max_degree + 1] ** 2
    # g_k = N_k ∫ P_ℓ² P_k, so in g_k² / N_k one factor N_k cancels.
    overlaps = (squares * (weights / weights.sum())) @ at_nodes.T
    at_u = legendre(dim, 2 * max_degree, u)
    seconds = counts[: max_degree + 1, None] ** 2 * ((overlaps**2 * counts) @ at_u)
    return np.sqrt(np.maximum(seconds - at_u[: max_degree + 1] ** 2, 0).mean(axis=1))


class Aim:
    """Directions drawn towards the data, which lowers the noise on rows within a cone.

    If all rows lie near one direction c, the few directions w near ±c dominate the estimate
    ``P_ℓ(⟨x, y⟩) = N E P_ℓ(⟨x, w⟩) P_ℓ(⟨w, y⟩)``, and uniform directions are noisy. Let p be the
    law of t = ⟨c, w⟩ for uniform w. Directions are drawn with t from ``p(t) (1 + N P_ℓ(t)²)/2`` and
    weighted by the inverse density ratio, which is at most 2. The estimate is unbiased for all
    rows. The values of t are stratified; given t, w is uniform.

    Parameters
    ----------
    dim : int
        Dimension of the rows, at least 2.
    degree : int
        The degree ℓ.
    center : ndarray of shape (dim,)
        The unit vector c.
    """

    def __init__(self, dim: int, degree: int, center: NDArray):
        self.dim, self.degree, self.center = dim, degree, center
        self._angles = np.linspace(0, np.pi, N_TABLE)
        density = self._ratio(np.cos(self._angles)) * np.sin(self._angles) ** (dim - 2)
        cells = (density[1:] + density[:-1]) / 2
        self._cdf = np.concatenate([[0.0], np.cumsum(cells) / cells.sum()])

    def _ratio(self, t: NDArray) -> NDArray[np.floating]:
        value = zonal(self.dim, self.degree, t)
        return (1 + n_harmonics(self.dim, self.degree) * value**2) / 2

    def directions(
        self, points: NDArray, rng: np.random.Generator
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Map canonical points to directions; also return their weights against uniform ones."""
        along = points @ self.center
        across = points - np.outer(along, self.center)
        # The rank of t among exchangeable points is uniform and independent of `across`.
        ranks = np.argsort(np.argsort(-along / np.linalg.norm(points, axis=1)))
        strata = (ranks + rng.random(len(points))) / len(points)
        angles = np.interp(strata, self._cdf, self._angles)
        t = np.cos(angles)
        directions = np.outer(t, self.center) + np.sin(angles)[:, None] * _unit(across)
        return directions, 1 / self._ratio(t)


class GegenbauerMeasure(ByValue):
    """A signed measure on the degrees of the sphere S^(dim−1).

    Parameters
    ----------
    dim : int
        Dimension of the rows.
    coefficients : ndarray of shape (max_degree + 1,)
        The masses λ_ℓ.
    lowest : float, default=-1
        The measure represents its kernel on products ⟨x, y⟩ of at least this.
    bias : float, default=0
        Largest deviation of the measure from its kernel on these products.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import GegenbauerMeasure
    >>> measure = GegenbauerMeasure(3, np.array([0.5, 1.0, -0.25]))
    >>> measure
    <signed measure on S^2, degrees up to 2, total mass 1.75>
    >>> float(measure.kernel(np.array(1.0)))
    1.25
    """

    def __init__(self, dim: int, coefficients: NDArray, lowest: float = -1.0, bias: float = 0.0):
        self.dim = dim
        self.coefficients = np.asarray(coefficients, dtype=float)
        self.lowest, self.bias = float(lowest), float(bias)

    def __repr__(self) -> str:
        kind = "positive" if self.is_positive else "signed"
        return (
            f"<{kind} measure on S^{self.dim - 1}, degrees up to {len(self.coefficients) - 1}, "
            f"total mass {self.total_mass:.4g}>"
        )

    @property
    def total_mass(self) -> float:
        """Total mass ``Σ|λ_ℓ|``."""
        return float(np.abs(self.coefficients).sum())

    @property
    def is_real(self) -> bool:
        return True

    @property
    def is_positive(self) -> bool:
        """True if no λ_ℓ is negative. The kernel is then positive definite (Schoenberg)."""
        return bool(np.all(self.coefficients >= 0))

    def __add__(self, other: GegenbauerMeasure) -> GegenbauerMeasure:
        if not isinstance(other, GegenbauerMeasure):
            return NotImplemented
        if self.dim != other.dim:
            raise ValueError(
                f"Measures must have the same dimension, got {self.dim} and {other.dim}."
            )
        pairs = itertools.zip_longest(self.coefficients, other.coefficients, fillvalue=0.0)
        total = np.array([mine + theirs for mine, theirs in pairs])
        return GegenbauerMeasure(
            self.dim, total, max(self.lowest, other.lowest), self.bias + other.bias
        )

    def __mul__(self, factor: float) -> GegenbauerMeasure:
        return GegenbauerMeasure(
            self.dim, self.coefficients * factor, self.lowest, self.bias * abs(factor)
        )

    __rmul__ = __mul__

    def __sub__(self, other: GegenbauerMeasure) -> GegenbauerMeasure:
        return self + other * -1.0

    def kernel(self, u: NDArray) -> NDArray[np.floating]:
        """Return ``Σ_ℓ λ_ℓ P_ℓ(u)``."""
        values = legendre(self.dim, len(self.coefficients) - 1, np.asarray(u, dtype=float))
        return np.tensordot(self.coefficients, values, axes=1)

    def degrees(self, lowest: int = 0) -> NDArray[np.intp]:
        """Return the degrees from `lowest` on that have mass."""
        return np.flatnonzero(self.coefficients)[np.flatnonzero(self.coefficients) >= lowest]

    def atoms(
        self,
        n: int,
        sampler: str | Sampler = "orthogonal",
        rng: np.random.Generator | int | None = None,
        *,
        allocation: str = "neyman",
        X: NDArray | None = None,
        lowest_degree: int = 0,
    ) -> ZonalAtoms:
        """Draw n directions with degrees; the weights are ``λ_ℓ N(d, ℓ) / n_ℓ``.

        The estimate is unbiased, because ``E P_ℓ(⟨x, w⟩) P_ℓ(⟨w, y⟩) = P_ℓ(⟨x, y⟩) / N(d, ℓ)`` for
        w uniform on the sphere.

        Parameters
        ----------
        n : int
            Number of directions.
        sampler : {"iid", "orthogonal", "qmc"} or PointSampler, default="orthogonal"
            How directions are drawn.
        rng : Generator or int, default=None
            Source of randomness.
        allocation : {"neyman", "equal"}, default="neyman"
            How the degrees share the directions: in proportion to |λ_ℓ|, or equally.
        X : ndarray of shape (n_rows, dim), default=None
            Rows towards which the directions are drawn; None draws uniform directions.
        lowest_degree : int, default=0
            Degrees below this are not drawn.

        Returns
        -------
        ZonalAtoms
        """
        points = as_sampler(sampler)
        if not isinstance(points, PointSampler):
            raise ValueError(
                f"RandomGegenbauer needs a sampler of points, got {type(points).__name__}: use "
                "sampler='orthogonal', 'qmc' or 'iid'."
            )
        generator = np.random.default_rng(rng)
        degrees = self.degrees(lowest_degree)
        if not len(degrees) or not n:
            return ZonalAtoms(np.empty((0, self.dim)), np.empty(0), np.empty(0, dtype=np.intp))
        equal = allocation == "equal"
        scores = equal_scores(len(degrees)) if equal else np.abs(self.coefficients[degrees])
        counts, factors = allocate(scores, n, self.dim, generator)
        center = None if X is None or self.dim == 1 else X.mean(axis=0)
        directions, weights = [], []
        for degree, count, factor in zip(degrees, counts, factors, strict=True):
            if not count:
                continue
            drawn = points.points(count, self.dim, generator)
            mass = self.coefficients[degree] * n_harmonics(self.dim, degree)
            weight = np.full(count, mass * factor)
            if center is not None and center.any():
                aim = Aim(self.dim, degree, _unit(center[None])[0])
                drawn, ratio = aim.directions(drawn, generator)
                weight *= ratio
            directions.append(_unit(drawn))
            weights.append(weight)
        drawn_degrees = np.repeat(degrees, counts)
        return ZonalAtoms(np.concatenate(directions), np.concatenate(weights), drawn_degrees)


def _unit(points: NDArray) -> NDArray[np.floating]:
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def zonal_measure(
    profile: Callable[[NDArray], NDArray], dim: int, lowest: float, n_atoms: int, cause: str
) -> GegenbauerMeasure:
    """Return the measure of least noise whose kernel is ``profile(u)`` on [lowest, 1].

    Degrees 0 and 1 cost almost nothing in the programme, because features represent them exactly.

    Parameters
    ----------
    profile : callable
        The kernel as a function of u = ⟨x, y⟩.
    dim : int
        Dimension of the rows.
    lowest : float
        Smallest product that matters.
    n_atoms : int
        Number of directions that will be drawn.
    cause : str
        Why the mass could be infinite, for the error message.

    Examples
    --------
    >>> from krein.measures import zonal_measure
    >>> zonal_measure(lambda u: u**2, 3, -1.0, 64, "").coefficients[:3].round(4)
    array([0.3333, 0.    , 0.6667])
    """
    if dim == 1:
        # S⁰ consists of the two points ±1, so every kernel is λ₀ ± λ₁.
        low, high = np.asarray(profile(np.array([-1.0, 1.0])), dtype=float)
        return GegenbauerMeasure(1, np.array([high + low, high - low]) / 2)
    u = 1 - chebyshev_grid(1 - lowest, N_GRID)
    basis = legendre(dim, MAX_DEGREE, u).T
    # The cost of a degree is its noise, so that the programme minimises the predicted error. The
    # square root accounts for `Aim`, which removes about half of the digits of the noise.
    costs = np.sqrt(direction_deviations(dim, MAX_DEGREE, u))
    costs[:EXACT_DEGREES] = 1e-3
    # The standard error of Neyman's allocation is Σ|λ_ℓ| s_ℓ / √n.
    noise = costs / np.sqrt(n_atoms)
    coefficients = sweep(basis, np.asarray(profile(u), dtype=float), costs, noise, cause)
    light = np.abs(coefficients) < 1e-9 * np.abs(coefficients).sum()
    coefficients[light] = 0
    measure = GegenbauerMeasure(dim, coefficients, lowest)
    # The bias is measured on a finer grid than that of the programme.
    fine = 1 - chebyshev_grid(1 - lowest, 7 * N_GRID)
    measure.bias = float(np.abs(measure.kernel(fine) - profile(fine)).max())
    return measure
