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

from ._sampler import PointSampler, Sampler
from ._validation import check_choice, check_positive, store
from .atoms import Atoms
from .published.rejection import Rejection

# A part with less than this share of the mass may be missed by `Importance(scale)`.
NULL_SHARE = 0.01


class IID(PointSampler):
    """Plain Monte Carlo: independent points.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.samplers import IID
    >>> IID().points(5, 2, np.random.default_rng(0)).shape
    (5, 2)
    """

    def points(self, n: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
        return rng.standard_normal((n, dim))


class Orthogonal(PointSampler):
    """Blocks of `dim` mutually orthogonal directions (Haar) with stratified chi radii.

    Every row is marginally N(0, I), so estimates are unbiased. Within a block the errors of the
    second-order terms of the cosines nearly cancel. One radius is drawn from each of n equally
    likely strata, which lowers the error by a further 3-20 % at no cost.

    For a law that is not radial, such as the independent Cauchy coordinates of the ℓ1 `Laplacian`,
    the points are orthogonal *before* the transport. The transport maps coordinates one by one:
    each frequency keeps its exact law and the frequencies are still spread out, but they are no
    longer at right angles.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.samplers import Orthogonal
    >>> points = Orthogonal().points(3, 3, np.random.default_rng(0))
    >>> bool(abs(points[0] @ points[1]) < 1e-12)
    True
    """

    def points(self, n: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
        full, rest = divmod(n, dim)
        directions = np.concatenate([haar_rows(full, dim, dim, rng), haar_rows(1, rest, dim, rng)])
        strata = (rng.permutation(n) + rng.random(n)) / n
        radii = np.sqrt(2 * gammaincinv(dim / 2, strata))
        return directions * radii[:, None]


class QuasiMonteCarlo(PointSampler):
    """Scrambled low-discrepancy points, mapped by the quantile function of the normal law.

    Parameters
    ----------
    engine : {"sobol", "halton"}, default="sobol"
        The sequence. Sobol points are balanced if their number is a power of two, so the next
        power of two is drawn and the first n points are returned.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.samplers import QuasiMonteCarlo
    >>> QuasiMonteCarlo("halton").points(6, 2, np.random.default_rng(0)).shape
    (6, 2)
    """

    def __init__(self, engine: str = "sobol"):
        self.engine = engine

    def points(self, n: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
        # Imported here because scipy.stats would double the import time of krein.
        from scipy.stats import qmc

        check_choice(self, "engine", self.engine, ("sobol", "halton"))
        if self.engine == "sobol" and dim > qmc.Sobol.MAXDIM:
            raise ValueError(
                f"Sobol points exist up to dimension {qmc.Sobol.MAXDIM}, got dimension {dim}: use "
                "sampler='orthogonal'."
            )
        if self.engine == "sobol":
            uniform = qmc.Sobol(dim, rng=rng).random_base2(int(max(n - 1, 1)).bit_length())[:n]
        else:
            uniform = qmc.Halton(dim, rng=rng).random(n)
        # Sobol points are multiples of 2**-30; clipping at half a cell excludes 0 and 1.
        return ndtri(np.clip(uniform, 2.0**-31, 1 - 2.0**-31))


class Importance(Sampler):
    """Importance sampling: one set of frequencies for all parts of a measure.

    The frequencies are drawn from a mixture q of Gaussians, ``ω_j ~ q``. The weights
    ``c_j = μ(ω_j) / (n q(ω_j))`` make the estimate unbiased. The signed-measure paper uses this
    sampler in its Fig. 4.

    Parameters
    ----------
    scale : float, default=None
        If None, q is the mixture of Gaussians that cover the parts, in proportion to the masses of
        the parts; no density ratio then exceeds the inverse of a part's share. If a number s, q is
        N(0, s² I), as in the paper. A number is refused if all weights of a part together are
        worth less than one draw.

    Notes
    -----
    If q is one Gaussian of scale s in dimension d, the n weights of a part of scale s_i are worth
    ``n (s_i √(2s² − s_i²) / s²)^d`` equal weights. For a δ-Gaussian of widths 1 and 10 in eight
    dimensions this is 1e-7 n: the draws that would represent the narrow part do not occur.

    Examples
    --------
    >>> from krein.kernels import DeltaGaussian
    >>> from krein.samplers import Importance
    >>> len(DeltaGaussian(1.0, 2.0).measure(3).atoms(16, Importance(), 0))
    16
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
        """Raise if the Gaussian hardly ever draws a frequency where a part has its mass."""
        for part, mass in zip(own, masses, strict=True):
            room = max(0.0, 2 - (part / scale) ** 2)
            worth = n * (part / scale * np.sqrt(room)) ** dim
            if worth < 1 and mass > NULL_SHARE * masses.sum():
                raise ValueError(
                    f"Importance(scale={scale:g}) draws from a Gaussian that hardly overlaps with "
                    f"a part of scale {part:.3g} in dimension {dim}: the {n} weights of that part "
                    f"are worth {worth:.1g} equal weights. Use sampler='orthogonal', or scale=None "
                    "to draw from all parts."
                )


class LeverageSampler(Sampler):
    """Draw a pool of frequencies and keep the ones that matter most for ridge regression.

    `Orthogonal` draws a pool of ``pool · n`` atoms. The chance of an atom is the mean of its ridge
    leverage score on a sample of the rows and of a uniform chance, so that no weight explodes. The
    atoms of each part are sorted by score and cut into groups of equal chance. One atom of each
    group is kept and gets the weight of the whole group. The estimate is unbiased, and the weights
    of a part always add up to its mass, so that parts of opposite sign still cancel.

    Parameters
    ----------
    pool : float, default=4
        Number of atoms in the pool per atom kept.
    ridge : float, default=1e-3
        Ridge per row, relative to the mass of the kernel.
    max_rows : int, default=1000
        Largest number of rows on which the scores are computed.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Gaussian
    >>> from krein.samplers import LeverageSampler
    >>> X = np.random.default_rng(0).random((50, 3))
    >>> len(Gaussian().measure(3).atoms(16, LeverageSampler(pool=8), 0, X=X))
    16
    """

    def __init__(self, pool: float = 4, ridge: float = 1e-3, max_rows: int = 1000):
        store(self, locals())

    def pool_size(self, n: int) -> int:
        return max(n, round(check_positive(self, "pool", self.pool) * n))

    def points(self, n: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
        return Orthogonal().points(n, dim, rng)

    def select(
        self, pool: Atoms, parts: NDArray, n: int, rng: np.random.Generator, rows: NDArray | None
    ) -> Atoms:
        if rows is None:
            raise ValueError(
                "The leverage sampler needs data to score frequencies: pass X, or use "
                "sampler='orthogonal'."
            )
        n_rows = int(check_positive(self, "max_rows", self.max_rows))
        scores = self._scores(pool, rows[rng.permutation(len(rows))[:n_rows]])
        total = scores.sum() or 1.0
        chances = 0.5 * scores / total + 0.5 / len(pool)
        chosen, sizes = one_of_each_group(scores, chances, parts, n, rng)
        return Atoms(pool.frequencies[chosen], pool.weights[chosen] * sizes)

    def _scores(self, pool: Atoms, rows: NDArray) -> NDArray[np.floating]:
        """Return the ridge leverage of each atom, summed over its cosine and sine columns."""
        ridge = check_positive(self, "ridge", self.ridge) * len(rows) * (pool.total_mass or 1.0)
        waves = np.exp(1j * (rows @ pool.frequencies.T)) * np.sqrt(np.abs(pool.weights))
        columns = np.concatenate([waves.real, waves.imag], axis=1)
        gram = columns @ columns.T + ridge * np.eye(len(rows))
        leverage = np.einsum("ij,ij->j", columns, np.linalg.solve(gram, columns))
        return leverage.reshape(2, -1).sum(axis=0)


def one_of_each_group(
    scores: NDArray, chances: NDArray, parts: NDArray, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Sort atoms by score, cut them into n groups of about equal chance, draw one atom of each.

    Parameters
    ----------
    scores : ndarray of shape (n_atoms,)
        Atoms with similar scores are grouped together.
    chances : ndarray of shape (n_atoms,)
        All groups have about the same sum of chances.
    parts : ndarray of shape (n_atoms,)
        Index of the part of the measure that each atom belongs to. A group does not mix parts,
        unless there are more parts than groups.
    n : int
        Number of groups.
    rng : Generator
        Source of randomness.

    Returns
    -------
    chosen : ndarray of shape (n,)
        Indices of the atoms drawn.
    sizes : ndarray of shape (n,)
        Number of atoms in the group of each atom drawn.
    """
    if n < len(np.unique(parts)):
        parts = np.zeros_like(parts)
    chosen, sizes = [], []
    shares = np.bincount(parts, weights=chances)
    kinds = np.flatnonzero(shares)
    members = [np.flatnonzero(parts == kind) for kind in kinds]
    limits = np.array([len(group) for group in members])
    for group, count in zip(members, _whole(shares[kinds], n, limits), strict=True):
        order = group[np.argsort(-scores[group], kind="stable")]
        for block in np.split(order, _cuts(chances[order], int(count))):
            chosen.append(rng.choice(block))
            sizes.append(len(block))
    return np.array(chosen), np.array(sizes)


def _whole(shares: NDArray, n: int, limits: NDArray) -> NDArray[np.intp]:
    """Split n in proportion to `shares`; each share is at least 1 and at most its limit."""
    counts = np.ones(len(shares), dtype=np.intp)
    wanted = shares / shares.sum() * n
    for _ in range(n - len(shares)):
        lack = np.where(counts < limits, wanted - counts, -np.inf)
        counts[np.argmax(lack)] += 1
    return counts


def _cuts(chances: NDArray, n: int) -> NDArray[np.intp]:
    """Return where to cut a sequence into n non-empty groups of about the same total."""
    edges = np.cumsum(chances)
    cuts = np.searchsorted(edges, np.arange(1, n) / n * edges[-1], side="right")
    # Each group keeps at least one atom: shift the cuts from the front, then from the back.
    steps = np.arange(1, n)
    cuts = np.maximum.accumulate(np.maximum(cuts, steps) - steps) + steps
    return np.minimum(cuts, len(chances) - n + steps)


def haar_rows(blocks: int, size: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
    """Draw `blocks` independent sets of `size` ≤ dim orthonormal rows, uniform (Haar)."""
    q, r = np.linalg.qr(rng.standard_normal((blocks, dim, size)))
    # The Q of a QR factorisation is uniform only after the signs of R's diagonal are moved into Q.
    signs = np.where(np.diagonal(r, axis1=1, axis2=2) < 0, -1.0, 1.0)
    return (q * signs[:, None, :]).transpose(0, 2, 1).reshape(-1, dim)


def normal_log_density(points: NDArray, scale: float) -> NDArray[np.floating]:
    """Return the log density of N(0, scale² I) at the rows of `points`."""
    dim = points.shape[1]
    quadratic = np.einsum("ij,ij->i", points, points) / scale**2
    return -0.5 * (quadratic + dim * np.log(2 * np.pi)) - dim * np.log(scale)


def log_sphere_area(dim: int) -> float:
    """Return the logarithm of the area of the unit sphere in R^dim."""
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
    """Return the sampler of that name; a Sampler is returned as it is.

    Parameters
    ----------
    sampler : str or Sampler
        A name in `SAMPLERS`, or a sampler.

    Examples
    --------
    >>> from krein.samplers import as_sampler
    >>> as_sampler("qmc")
    QuasiMonteCarlo()
    """
    if isinstance(sampler, Sampler):
        return sampler
    if sampler in SAMPLERS:
        return SAMPLERS[sampler]()
    raise ValueError(
        f"sampler must be one of {', '.join(map(repr, SAMPLERS))} or a Sampler, got {sampler!r}."
    )
