"""How the points of a measure are drawn.

A *point* sampler returns canonical points, rows that are each N(0, I) and as evenly spread as it
can make them; every law transports canonical points to its own (see `krein.measures.Law`), so
every point sampler works with every law. `Importance`, `LeverageSampler` and `Rejection` need
more than points - a density, the data, a radial density - and say so when it is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, gammaln, logsumexp, ndtri
from sklearn.base import BaseEstimator

from ._groups import one_of_each_group
from ._validation import check_choice, check_positive
from .atoms import Atoms

# Parts of less than this share of a measure's mass may be missed.
NULL_SHARE = 0.01


class Sampler(BaseEstimator):
    """Base of all samplers: `draw` turns a measure into atoms."""

    def draw(
        self,
        measure: Any,
        n_atoms: int,
        rng: np.random.Generator,
        X: NDArray | None = None,
        allocation: str = "neyman",
    ) -> Atoms:
        """Draw `n_atoms` atoms whose weighted sum is an unbiased estimate of `measure`."""
        raise TypeError(f"{type(self).__name__} must define draw or points.")


class PointSampler(Sampler):
    """A sampler that is a set of canonical points; the measure's laws transport them."""

    def points(self, n: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
        """Return (n, dim) points; each row by itself is a draw from N(0, I)."""
        raise TypeError(f"{type(self).__name__} must define points.")

    def draw(
        self,
        measure: Any,
        n_atoms: int,
        rng: np.random.Generator,
        X: NDArray | None = None,
        allocation: str = "neyman",
    ) -> Atoms:
        counts, factors = measure.shares(n_atoms, self, rng, X, allocation)
        return drawn_by_part(measure, self, counts, factors, rng)[0]


def drawn_by_part(
    measure: Any,
    sampler: PointSampler,
    counts: NDArray,
    factors: NDArray,
    rng: np.random.Generator,
) -> tuple[Atoms, NDArray[np.intp]]:
    """So many atoms of each part of a measure, and the number of the part of each atom."""
    frequencies, weights = [], []
    for part, count, factor in zip(measure.parts, counts, factors, strict=True):
        if count:
            drawn = part.law.transport(sampler.points(count, part.law.canonical_dim, rng))
            frequencies.append(drawn)
            weights.append(part.weight(drawn) * factor)
    parts = np.repeat(np.arange(len(counts)), counts)
    return Atoms(np.concatenate(frequencies), np.concatenate(weights)), parts


class IID(PointSampler):
    """Plain Monte Carlo: independent points."""

    def points(self, n: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
        return rng.standard_normal((n, dim))


class Orthogonal(PointSampler):
    """Blocks of `dim` mutually orthogonal directions (Haar) with stratified chi radii.

    Every row is marginally N(0, I), so estimates stay unbiased; within a block the errors of the
    second-order terms of the cosines nearly cancel. Radii are drawn one from each of n equally
    likely strata, which lowers the error by a further 3-20 % at no cost.

    For a law that is not radial (the ℓ1 `Laplacian`, with independent Cauchy coordinates) the
    points are orthogonal *before* the transport: coordinates are mapped one by one, which keeps
    each frequency's law exact and the frequencies spread out, but no longer at right angles.
    """

    def points(self, n: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
        full, rest = divmod(n, dim)
        directions = np.concatenate([haar_rows(full, dim, dim, rng), haar_rows(1, rest, dim, rng)])
        strata = (rng.permutation(n) + rng.random(n)) / n
        radii = np.sqrt(2 * gammaincinv(dim / 2, strata))
        return directions * radii[:, None]


class QuasiMonteCarlo(PointSampler):
    """Scrambled low-discrepancy points through the normal quantile.

    Parameters
    ----------
    engine : {"sobol", "halton"}, default="sobol"
        The sequence. Sobol points are drawn up to the next power of two, where they are
        balanced, and cut.
    """

    def __init__(self, engine: str = "sobol"):
        self.engine = engine

    def points(self, n: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
        from scipy.stats import qmc  # lazily: scipy.stats alone would double the import time

        check_choice(self, "engine", self.engine, ("sobol", "halton"))
        if self.engine == "sobol" and dim > qmc.Sobol.MAXDIM:
            raise ValueError(
                f"Sobol points exist up to dimension {qmc.Sobol.MAXDIM}, and {dim} are needed: use "
                "sampler='orthogonal'."
            )
        if self.engine == "sobol":
            uniform = qmc.Sobol(dim, rng=rng).random_base2(int(max(n - 1, 1)).bit_length())[:n]
        else:
            uniform = qmc.Halton(dim, rng=rng).random(n)
        # Sobol points are multiples of 2**-30; moving them half a cell inside keeps 0 out.
        return ndtri(np.clip(uniform, 2.0**-31, 1 - 2.0**-31))


class Importance(Sampler):
    """Draws from Gaussian surrogates of the whole measure; the ratio goes into the weight.

    ``ω_j ~ q``, ``c_j = μ(ω_j) / (n q(ω_j))``: unbiased, one set of frequencies for all parts of a
    signed measure (the importance sampling of the signed-measure paper's Fig. 4).

    Parameters
    ----------
    scale : float, default=None
        None takes for q the mixture of the parts' own Gaussians in proportion to their masses, so
        that no ratio exceeds one over a part's share. A number s takes N(0, s² I), the
        paper's choice; it is refused where the weights of a part are worth less than one draw.

    Notes
    -----
    From one Gaussian of scale s the n weights of a part of scale s_i in dimension d are worth
    ``n (s_i √(2s² − s_i²) / s²)^d`` equal ones: for widths 1 and 10 in eight dimensions 1e-7 n, all
    of the narrow part sits in draws that do not occur.
    """

    def __init__(self, scale: float | None = None):
        self.scale = scale

    def draw(
        self,
        measure: Any,
        n_atoms: int,
        rng: np.random.Generator,
        X: NDArray | None = None,
        allocation: str = "neyman",
    ) -> Atoms:
        for part in measure.parts:
            if part.law.surrogate_scale is None:
                raise ValueError(
                    f"The importance sampler cannot draw from {type(part.law).__name__}: "
                    f"{part.law.no_surrogate}. Use sampler='orthogonal', 'qmc' or 'iid'."
                )
        scales, shares, counts = self._surrogate(measure, n_atoms, rng, allocation)
        points = rng.standard_normal((n_atoms, measure.dim)) * np.repeat(scales, counts)[:, None]
        densities = [normal_log_density(points, float(scale)) for scale in scales]
        log_q = logsumexp(np.array(densities), axis=0, b=shares[:, None])
        weights = sum(
            part.weight(points) * np.exp(part.law.log_density(points) - log_q)
            for part in measure.parts
        )
        return Atoms(points, weights / n_atoms)

    def _surrogate(
        self, measure: Any, n: int, rng: np.random.Generator, allocation: str
    ) -> tuple[NDArray, NDArray, NDArray[np.intp]]:
        """Scales of the Gaussians of q, their shares in it and the draws from each."""
        if self.scale is not None:
            scale = check_positive(self, "scale", self.scale)
            self._check_overlap(measure, n, scale)
            return np.array([scale]), np.ones(1), np.array([n])
        own = np.array([part.law.surrogate_scale for part in measure.parts])
        scales, which = np.unique(own, return_inverse=True)
        # By mass and not by Neyman: a part that is drawn once is worth one draw.
        counts, _ = measure.shares(n, IID(), rng, None, allocation)
        drawn = np.bincount(which, weights=counts, minlength=len(scales)).astype(np.intp)
        if n >= len(own):
            return scales, drawn / n, drawn
        # Too few for all parts: which of them are drawn from is chance, in proportion to mass.
        masses = np.array([part.total_mass for part in measure.parts])
        shares = np.bincount(which, weights=masses / masses.sum(), minlength=len(scales))
        return scales, shares, rng.multinomial(n, shares)

    def _check_overlap(self, measure: Any, n: int, scale: float) -> None:
        """Refuse a Gaussian that hardly ever draws where a part of the measure is."""
        for part in measure.parts:
            own = part.law.surrogate_scale
            room = max(0.0, 2 - (own / scale) ** 2)
            worth = n * (own / scale * np.sqrt(room)) ** measure.dim
            if worth < 1 and part.total_mass > NULL_SHARE * measure.total_mass:
                raise ValueError(
                    f"Importance(scale={scale:g}) draws from a Gaussian that hardly overlaps with "
                    f"a part of scale {own:.3g} in dimension {measure.dim}: its {n} weights are "
                    f"worth {worth:.1g} equal ones. Use sampler='orthogonal', or scale=None, which "
                    "draws from all parts."
                )


class LeverageSampler(Sampler):
    """Keeps the frequencies of a larger pool that matter most for ridge regression on the data.

    A pool of ``pool · n`` atoms is drawn by `Orthogonal`, and chances are given to its atoms in
    proportion to their ridge leverage scores on (a sample of) the rows, averaged with the uniform
    law so that no weight explodes. The atoms of each part are sorted by their scores and cut into
    groups of equal chance; one atom of each group is kept, and stands for the group. That is
    unbiased, and the weights of a part always add up to its mass: parts of opposite sign that
    nearly cancel go on doing so.

    Parameters
    ----------
    pool : float, default=4
        Size of the pool relative to the number of atoms wanted.
    ridge : float, default=1e-3
        Ridge per row, relative to the kernel's mass.
    max_rows : int, default=1000
        Rows used for the scores.
    """

    def __init__(self, pool: float = 4, ridge: float = 1e-3, max_rows: int = 1000):
        self.pool = pool
        self.ridge = ridge
        self.max_rows = max_rows

    def draw(
        self,
        measure: Any,
        n_atoms: int,
        rng: np.random.Generator,
        X: NDArray | None = None,
        allocation: str = "neyman",
    ) -> Atoms:
        if X is None:
            raise ValueError(
                "The leverage sampler scores frequencies on data: pass X, or fit a RandomFourier "
                "with sampler='leverage'; without data use sampler='orthogonal'."
            )
        size = max(n_atoms, round(check_positive(self, "pool", self.pool) * n_atoms))
        counts, factors = measure.shares(size, Orthogonal(), rng, X, allocation)
        pool, parts = drawn_by_part(measure, Orthogonal(), counts, factors, rng)
        n_rows = int(check_positive(self, "max_rows", self.max_rows))
        rows = X[rng.permutation(len(X))[:n_rows]]
        scores = self._scores(pool, rows)
        total = scores.sum() or 1.0
        chances = 0.5 * scores / total + 0.5 / len(pool)
        chosen, sizes = one_of_each_group(scores, chances, parts, n_atoms, rng)
        return Atoms(pool.frequencies[chosen], pool.weights[chosen] * sizes)

    def _scores(self, pool: Atoms, rows: NDArray) -> NDArray[np.floating]:
        """Ridge leverage of each atom: the sum over its cosine and sine columns."""
        ridge = check_positive(self, "ridge", self.ridge) * len(rows) * (pool.total_mass or 1.0)
        waves = np.exp(1j * (rows @ pool.frequencies.T)) * np.sqrt(np.abs(pool.weights))
        columns = np.concatenate([waves.real, waves.imag], axis=1)
        gram = columns @ columns.T + ridge * np.eye(len(rows))
        leverage = np.einsum("ij,ij->j", columns, np.linalg.solve(gram, columns))
        return leverage.reshape(2, -1).sum(axis=0)


class Rejection(Sampler):
    """The signed-measure paper's one-dimensional rejection; a baseline for its Fig. 4.

    Radii are accepted from `n_points` uniform points on [−bound, bound] against the radial
    density, directions are uniform. Cutting the radii at `bound` and reusing accepted points is
    biased; the default samplers need neither. Too few accepted points are drawn again with
    replacement (the paper does not say).

    Parameters
    ----------
    n_points : int, default=10000
        Uniform candidates (the paper: 10,000 or 1,000).
    bound : float, default=10.0
        Largest radius (the paper: 10 or 5).
    """

    def __init__(self, n_points: int = 10_000, bound: float = 10.0):
        self.n_points = n_points
        self.bound = bound

    def draw(
        self,
        measure: Any,
        n_atoms: int,
        rng: np.random.Generator,
        X: NDArray | None = None,
        allocation: str = "neyman",
    ) -> Atoms:
        counts, factors = measure.shares(n_atoms, IID(), rng, X, allocation)
        frequencies, weights = [], []
        for part, count, factor in zip(measure.parts, counts, factors, strict=True):
            if not hasattr(part.law, "radial_density"):
                raise ValueError(
                    f"The rejection sampler needs a radial density, which "
                    f"{type(part.law).__name__} does not have. It is the baseline for "
                    "kernel.measure(dim, extension='zero'); use sampler='orthogonal' here."
                )
            if count:
                radii = self._radii(part.law.radial_density, count, rng)
                directions = rng.standard_normal((count, measure.dim))
                directions /= np.linalg.norm(directions, axis=1, keepdims=True)
                frequencies.append(directions * radii[:, None])
                weights.append(part.weight(frequencies[-1]) * factor)
        return Atoms(np.concatenate(frequencies), np.concatenate(weights))

    def _radii(self, density: Any, count: int, rng: np.random.Generator) -> NDArray[np.floating]:
        bound = check_positive(self, "bound", self.bound)
        n_points = int(check_positive(self, "n_points", self.n_points))
        candidates = np.abs(rng.uniform(-bound, bound, n_points))
        height = density(candidates)
        accepted = candidates[rng.random(n_points) * height.max() < height]
        if not len(accepted):
            raise ValueError(
                f"Rejection accepted none of {n_points} points up to {bound:g}: the density is "
                "elsewhere; use more points or another bound."
            )
        return rng.choice(accepted, count, replace=len(accepted) < count)


def haar_rows(blocks: int, size: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
    """`blocks` times `size` ≤ dim orthonormal rows of R^dim, each block uniform (Haar)."""
    q, r = np.linalg.qr(rng.standard_normal((blocks, dim, size)))
    # QR alone is not Haar: the signs of R's diagonal must be moved into Q.
    signs = np.where(np.diagonal(r, axis1=1, axis2=2) < 0, -1.0, 1.0)
    return (q * signs[:, None, :]).transpose(0, 2, 1).reshape(-1, dim)


def normal_log_density(points: NDArray, scale: float) -> NDArray[np.floating]:
    """Log density of N(0, scale² I) at the rows of `points`."""
    dim = points.shape[1]
    quadratic = np.einsum("ij,ij->i", points, points) / scale**2
    return -0.5 * (quadratic + dim * np.log(2 * np.pi)) - dim * np.log(scale)


def log_sphere_area(dim: int) -> float:
    """Log of the area of the unit sphere in R^dim."""
    return float(np.log(2) + dim / 2 * np.log(np.pi) - gammaln(dim / 2))


SAMPLERS: dict[str, type[Sampler]] = {
    "iid": IID,
    "orthogonal": Orthogonal,
    "qmc": QuasiMonteCarlo,
    "importance": Importance,
    "leverage": LeverageSampler,
    "rejection": Rejection,
}


def as_sampler(sampler: str | Sampler) -> Sampler:
    """Return the sampler named `sampler`, or `sampler` itself if it is one."""
    if isinstance(sampler, Sampler):
        return sampler
    if sampler in SAMPLERS:
        return SAMPLERS[sampler]()
    raise ValueError(
        f"sampler must be one of {', '.join(map(repr, SAMPLERS))} or a Sampler, got {sampler!r}."
    )
