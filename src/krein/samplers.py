"""How the points of a measure are drawn.

A point sampler returns canonical points: each row is N(0, I), and the rows together are spread as
evenly as the sampler can make them. Every law transports canonical points to its own (see
`krein.measures.Law`), so every point sampler works with every law. `Importance` needs a density and
`LeverageSampler` needs the data; both declare it. No sampler sees a measure.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, gammaln, logsumexp, ndtri

from ._groups import one_of_each_group
from ._sampler import PointSampler, Sampler
from ._validation import check_choice, check_positive
from .atoms import Atoms
from .published.rejection import Rejection

# Parts of less than this share of a measure's mass may be missed.
NULL_SHARE = 0.01


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

    needs = "density"

    def __init__(self, scale: float | None = None):
        self.scale = scale

    def mixture(
        self,
        n: int,
        dim: int,
        rng: np.random.Generator,
        own: NDArray,
        masses: NDArray,
        share: Callable[[], NDArray[np.intp]],
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Draw n points from q.

        Parameters
        ----------
        n : int
            Number of points.
        dim : int
            Dimension of the points.
        rng : Generator
            Source of randomness.
        own : ndarray of shape (n_parts,)
            Scale of the Gaussian that covers each part of the measure.
        masses : ndarray of shape (n_parts,)
            Mass of each part.
        share : callable
            Returns how many of the n points each part gets.

        Returns
        -------
        points : ndarray of shape (n, dim)
            The points.
        log_density : ndarray of shape (n,)
            Log density of q at the points.
        """
        if self.scale is not None:
            scale = check_positive(self, "scale", self.scale)
            self._check_overlap(n, dim, own, masses, scale)
            scales, counts = np.array([scale]), np.array([n])
            shares: NDArray = np.ones(1)
        else:
            scales, which = np.unique(own, return_inverse=True)
            counts = np.bincount(which, weights=share(), minlength=len(scales)).astype(np.intp)
            shares = counts / n
            if n < len(own):
                # Too few points for all parts: chance decides, by mass, which parts get one.
                chances = masses / masses.sum()
                shares = np.bincount(which, weights=chances, minlength=len(scales))
                counts = rng.multinomial(n, shares)
        points = rng.standard_normal((n, dim)) * np.repeat(scales, counts)[:, None]
        densities = [normal_log_density(points, float(scale)) for scale in scales]
        return points, logsumexp(np.array(densities), axis=0, b=shares[:, None])

    def _check_overlap(self, n: int, dim: int, own: NDArray, masses: NDArray, scale: float) -> None:
        """Refuse a Gaussian that hardly ever draws where a part of the measure is."""
        for part, mass in zip(own, masses, strict=True):
            room = max(0.0, 2 - (part / scale) ** 2)
            worth = n * (part / scale * np.sqrt(room)) ** dim
            if worth < 1 and mass > NULL_SHARE * masses.sum():
                raise ValueError(
                    f"Importance(scale={scale:g}) draws from a Gaussian that hardly overlaps with "
                    f"a part of scale {part:.3g} in dimension {dim}: its {n} weights are "
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

    def pool_size(self, n: int) -> int:
        return max(n, round(check_positive(self, "pool", self.pool) * n))

    def points(self, n: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
        return Orthogonal().points(n, dim, rng)

    def select(
        self, pool: Atoms, parts: NDArray, n: int, rng: np.random.Generator, rows: NDArray | None
    ) -> Atoms:
        if rows is None:
            raise ValueError(
                "The leverage sampler scores frequencies on data: pass X, or fit a RandomFourier "
                "with sampler='leverage'; without data use sampler='orthogonal'."
            )
        n_rows = int(check_positive(self, "max_rows", self.max_rows))
        scores = self._scores(pool, rows[rng.permutation(len(rows))[:n_rows]])
        total = scores.sum() or 1.0
        chances = 0.5 * scores / total + 0.5 / len(pool)
        chosen, sizes = one_of_each_group(scores, chances, parts, n, rng)
        return Atoms(pool.frequencies[chosen], pool.weights[chosen] * sizes)

    def _scores(self, pool: Atoms, rows: NDArray) -> NDArray[np.floating]:
        """Ridge leverage of each atom: the sum over its cosine and sine columns."""
        ridge = check_positive(self, "ridge", self.ridge) * len(rows) * (pool.total_mass or 1.0)
        waves = np.exp(1j * (rows @ pool.frequencies.T)) * np.sqrt(np.abs(pool.weights))
        columns = np.concatenate([waves.real, waves.imag], axis=1)
        gram = columns @ columns.T + ridge * np.eye(len(rows))
        leverage = np.einsum("ij,ij->j", columns, np.linalg.solve(gram, columns))
        return leverage.reshape(2, -1).sum(axis=0)


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
