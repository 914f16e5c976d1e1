"""Searches for the highest peaks of the Fourier potential."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._blocks import row_blocks
from .._validation import ArgumentError
from .potential import SAME, Peaks, Problem, derivatives, distinct

# A grid has at most this many points along an axis, and this many in all.
GRID_SIDE, GRID_POINTS = 20_000, 4_000_000
# Memory of the waves of a block of rows along the axes of a grid, in bytes.
BLOCK_BYTES = 2**26


class Search(ABC):
    """Base class of the searches for the highest peaks of a potential.

    Examples
    --------
    >>> from krein.spectral import Grid, Langevin, Momentum, Search
    >>> all(issubclass(kind, Search) for kind in (Grid, Langevin, Momentum))
    True
    """

    @abstractmethod
    def peaks(
        self, problem: Problem, n_peaks: int, n_starts: int, rng: np.random.Generator
    ) -> list[Peaks]:
        """Return the highest peaks that the search finds for each game.

        Parameters
        ----------
        problem : Problem
            The potentials.
        n_peaks : int
            Largest number of peaks for each game.
        n_starts : int
            Number of starts for each game.
        rng : Generator
            Source of randomness. The draws do not depend on the rows.
        """


class Chains(Search):
    """Base class of the searches that move points; a subclass defines `move`.

    The chains of all games are evaluated together, as one matrix product. Each chain keeps the
    best point that it has ever visited.
    """

    n_steps: int

    def peaks(
        self, problem: Problem, n_peaks: int, n_starts: int, rng: np.random.Generator
    ) -> list[Peaks]:
        games = np.repeat(np.arange(problem.n_games), n_starts)
        points = ball(len(games), problem.potential.dim, problem.band, rng).astype(problem.dtype)
        best, top = points.copy(), np.full(len(points), -1, dtype=problem.dtype)
        state = np.zeros_like(points)
        for step in range(self.n_steps + 1):
            values, slopes = problem(points, games)
            better = values > top
            best[better], top[better] = points[better], values[better]
            state = self.move(problem, state, slopes, step, rng)
            points = problem.inside(points + state)
        chosen = [games == game for game in range(problem.n_games)]
        return [distinct(best[mine], top[mine], n_peaks, SAME * problem.band) for mine in chosen]

    @abstractmethod
    def move(
        self, problem: Problem, last: NDArray, slopes: NDArray, step: int, rng: np.random.Generator
    ) -> NDArray[np.floating]:
        """Return the next step of each chain, from its last step and the gradient."""


def ball(n: int, dim: int, band: float, rng: np.random.Generator) -> NDArray[np.floating]:
    """Draw points with uniform directions and radii uniform in [0, band]."""
    points = rng.standard_normal((n, dim))
    radii = band * rng.random(n) / np.linalg.norm(points, axis=1)
    return points * radii[:, None]


@dataclass(frozen=True)
class Momentum(Chains):
    """Unit-gradient ascent with momentum from many starts, the default.

    The direction is the gradient divided by its norm, so the step does not depend on the scale of
    the potential. The length of the steps shrinks linearly to zero.

    Parameters
    ----------
    n_steps : int, default=30
        Number of steps.
    length : float, default=0.4
        Length of the first steps, as a share of the band R.
    momentum : float, default=0.5
        Share of the last step that is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.peaks import Momentum
    >>> from krein.spectral.potential import Potential, Problem
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> problem = Problem(Potential(X), np.sign(np.sin(7 * X)), band=20.0)
    >>> found = Momentum().peaks(problem, n_peaks=1, n_starts=24, rng=np.random.default_rng(0))
    >>> float(np.abs(found[0].frequencies[0, 0]).round(1))
    7.0
    """

    n_steps: int = 30
    length: float = 0.4
    momentum: float = 0.5

    def move(
        self, problem: Problem, last: NDArray, slopes: NDArray, step: int, rng: np.random.Generator
    ) -> NDArray[np.floating]:
        # A NumPy scalar of float64 would promote the arrays, so both factors are Python's floats.
        norms = np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), 1e-30)
        size = float(self.length * problem.band * (1 - step / (self.n_steps + 1)))
        return self.momentum * last + (1 - self.momentum) * size * (slopes / norms)


@dataclass(frozen=True)
class Langevin(Chains):
    """Langevin dynamics on the potential (Not-So-Random Features, Algorithm 1).

    The step is ``ω ← ω + ζ ∇v(ω) + √(2ζ/ξ) N(0, I)`` with the inverse temperature ξ and the
    potential v divided by its bound ``(Σ|b|)²``; the paper prints the noise as √(2ξ/ζ). The
    defaults are those of the authors, for rows of about unit variance.

    Parameters
    ----------
    n_steps : int, default=100
        Number of steps.
    step : float, default=20.0
        The step ζ.
    inverse_temperature : float, default=4e5
        The inverse temperature ξ. The default gives noise of standard deviation 0.01.

    Examples
    --------
    >>> from krein.spectral.peaks import Langevin
    >>> Langevin(n_steps=50)
    Langevin(n_steps=50, step=20.0, inverse_temperature=400000.0)
    """

    n_steps: int = 100
    step: float = 20.0
    inverse_temperature: float = 4e5

    def move(
        self, problem: Problem, last: NDArray, slopes: NDArray, step: int, rng: np.random.Generator
    ) -> NDArray[np.floating]:
        bounds = np.maximum(np.abs(problem.B).sum(axis=0), 1e-30) ** 2
        scales = np.repeat(self.step / bounds, len(slopes) // problem.n_games)
        noise = float(np.sqrt(2 * self.step / self.inverse_temperature))
        kicks = noise * rng.standard_normal(slopes.shape, dtype=slopes.dtype)
        return scales[:, None].astype(slopes.dtype) * slopes + kicks


@dataclass(frozen=True)
class Grid(Search):
    """A grid of the whole ball, then Newton's method from its highest points; for d ≤ 2.

    The spacing is one over the half-width of the rows along each axis, about a third of the width
    of a peak. The waves of two axes factorise, so the potential on the grid is one matrix product.
    The result does not depend on `n_starts` or on random numbers.

    Parameters
    ----------
    n_steps : int, default=5
        Number of Newton steps.

    Examples
    --------
    >>> from krein.spectral.peaks import Grid
    >>> Grid()
    Grid(n_steps=5)
    """

    n_steps: int = 5

    def peaks(
        self, problem: Problem, n_peaks: int, n_starts: int, rng: np.random.Generator
    ) -> list[Peaks]:
        X = problem.potential.X.astype(float)
        axes = self._axes(X, problem.band)
        found = []
        for b in problem.B.T:
            points = _tops(grid_values(X, b, axes), axes, problem.band)[: 2 * n_peaks]
            for _ in range(self.n_steps):
                points, values = _newton(X, b, points, problem.inside)
            found.append(distinct(points, values, n_peaks, SAME * problem.band))
        return found

    def _axes(self, X: NDArray, band: float) -> list[NDArray[np.floating]]:
        """Return the coordinates of the grid; the first axis has one half, as v is even."""
        if X.shape[1] > 2:
            raise ArgumentError(
                "NotSoRandomFeatures",
                "search",
                f"'momentum' or 'langevin' for {X.shape[1]} columns, because a grid has at most 2",
                "grid",
            )
        counts = np.ceil(band * np.abs(X).max(axis=0)).astype(int) + 1
        if counts.max() > GRID_SIDE or np.prod(2.0 * counts) > GRID_POINTS:
            needed = f"at most {GRID_SIDE / np.abs(X).max():.3g} for search='grid'"
            raise ArgumentError("NotSoRandomFeatures", "band", needed, band)
        sides = [np.linspace(-band, band, 2 * count + 1) for count in counts]
        return [sides[0][counts[0] :], *sides[1:]]


def grid_values(X: NDArray, b: NDArray, axes: list[NDArray]) -> NDArray[np.floating]:
    """Return the potential of one game on a grid, in blocks of rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows, d ≤ 2.
    b : ndarray of shape (n,)
        The signed duals.
    axes : list of d ndarrays
        The coordinates of the grid.

    Returns
    -------
    ndarray of shape (len(axes[0]), len(axes[1])), or (len(axes[0]), 1) if d = 1
    """
    sums = np.zeros((len(axes[0]), len(axes[1]) if len(axes) > 1 else 1), dtype=complex)
    for rows in row_blocks(len(X), 16 * sum(map(len, axes)), BLOCK_BYTES):
        waves = [np.exp(1j * np.outer(x, axis)) for x, axis in zip(X[rows].T, axes, strict=True)]
        right = waves[1] if len(waves) > 1 else np.ones((len(waves[0]), 1))
        sums += (b[rows, None] * waves[0]).T @ right
    return np.abs(sums) ** 2


def _tops(values: NDArray, axes: list[NDArray], band: float) -> NDArray[np.floating]:
    """Return the local maxima of the potential on a grid, highest first."""
    from scipy.ndimage import maximum_filter

    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(values.size, len(axes))
    # The highest point may lie on the boundary of the ball, lower than its neighbours outside.
    values[np.linalg.norm(points, axis=1).reshape(values.shape) > band * (1 + 1e-9)] = -1
    tops = np.flatnonzero((values >= 0) & (values >= maximum_filter(values, size=3)))
    return points[tops[np.argsort(-values.ravel()[tops], kind="stable")]]


def _newton(
    X: NDArray, b: NDArray, points: NDArray, inside: Callable[[NDArray], NDArray]
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Take one Newton step from each point; return the points to continue from, and their values.

    A step that does not lead uphill is not taken: the second derivative is negative at a maximum,
    but it may be positive at a point near the maximum.
    """
    values, slopes, curvatures = derivatives(X, b, points)
    top = np.linalg.eigvalsh(curvatures)[:, -1]
    scale = np.abs(curvatures).max(axis=(1, 2))
    # A multiple of the identity makes the matrix negative definite where it is not.
    shift = np.maximum(0, top + 1e-3 * scale) + 1e-300
    damped = curvatures - shift[:, None, None] * np.eye(X.shape[1])
    steps = -np.linalg.solve(damped, slopes[:, :, None])[:, :, 0]
    moved = inside(points + steps)
    reached = derivatives(X, b, moved)[0]
    uphill = reached > values
    return np.where(uphill[:, None], moved, points), np.maximum(values, reached)


SEARCHES: dict[str, type[Search]] = {"momentum": Momentum, "langevin": Langevin, "grid": Grid}
