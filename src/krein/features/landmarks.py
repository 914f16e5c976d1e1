"""Which objects a Nyström map is built on.

Each rule is one small class with `choose`; all of them draw by the content of the rows (see
`krein._hashing`), evaluate the kernel in blocks only, and return indices.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .._blocks import BLOCK_BYTES, row_blocks
from .._core import Core
from .._hashing import Draws
from ..streaming.moments import MomentsSum
from .cores import sketched_core
from .forward import as_columns, forward_selection
from .scores import row_scores
from .source import Source

# Salts: each use of randomness has clocks of its own.
UNIFORM, SKETCH, SAMPLE, SCORES, LEVELS, HELD, RESIDUALS = range(1, 8)
CENTERS = 8  # and all above, one for each centre
# k-means++ looks for its centres among this many rows per landmark.
CANDIDATES = 20
# Forward selection looks at this many rows per landmark, and, unless two for each landmark are
# more, for the landmarks among this many rows.
JUDGES = 20
MOST_CANDIDATES = 4096


def sample_size(n_landmarks: int) -> int:
    """Rows of the least-squares sample, the landmarks included.

    The error of the fitted core falls with the number of rows per landmark, and the cost grows
    with its square: 750 rows beside the landmarks, but not more than five for each of them, and not
    fewer than there are landmarks.
    """
    return n_landmarks + max(n_landmarks, min(5 * n_landmarks, 750))


def extended(draws: Draws, chosen: NDArray, n: int) -> NDArray[np.intp]:
    """`chosen` first, then other rows by the clock, up to n in all."""
    return np.concatenate([chosen, draws.others(chosen, max(0, n - len(chosen)), SAMPLE)])


class LandmarkRule(BaseEstimator):
    """Base of the rules."""

    needs_y = False

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        """Indices of n landmarks (fewer if there are fewer distinct objects)."""
        raise TypeError(f"{type(self).__name__} must define choose.")


class Uniform(LandmarkRule):
    """Every object with the same chance; duplicates count as weight."""

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        return draws.first(n, UNIFORM)


class All(LandmarkRule):
    """All distinct objects."""

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        return np.sort(draws.first(len(source), UNIFORM))


def fitted_core(source: Source, landmarks: NDArray[np.intp], draws: Draws) -> Core:
    """A core of half as many directions as landmarks, the largest in magnitude."""
    sample = extended(draws, landmarks, sample_size(len(landmarks)))
    return sketched_core(source, landmarks, sample, max(1, len(landmarks) // 2), 1e-10)


def _shares(weights: NDArray[np.floating]) -> NDArray[np.floating]:
    """Weights of sum 1 with a floor: a row with score 0 on a sketch is not impossible."""
    total = weights.sum()
    floor = 1e-3 / len(weights)
    return weights / total + floor if total > 0 else np.full(len(weights), floor)


class Leverage(LandmarkRule):
    """Approximate leverage scores (scalable Kreĭn paper, §2.3).

    A map on half as many uniform landmarks as are wanted is fitted first; landmarks are drawn in
    proportion to ``ℓ(x) = ‖ũ(x)‖²`` with its eigenvectors ũ. The scores know nothing of rows that
    the sketch does not represent: see `TwoRound`.
    """

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        sketch = draws.first(max(1, n // 2), SKETCH)
        core = fitted_core(source, sketch, draws)
        scores = row_scores(source, sketch, core, sketch[:0])
        return draws.first(n, SCORES, _shares(scores.leverage))


class TwoRound(LandmarkRule):
    """Half of the landmarks by leverage and residual, the other half by what these leave over.

    First, a map on uniform landmarks is judged on uniform probe rows. The first half of the
    landmarks is drawn with chances that are the mean of the leverage scores' and of the residuals'
    shares; a map on them is fitted, and the second half is drawn in proportion to its residuals
    (see `Scores`). So rows are found that leverage misses: those with large k(x, x), whose values
    against a uniform sketch are nothing special.
    """

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        if n >= len(draws.kinds[0]):
            return draws.first(n, UNIFORM)
        # The uniform rows serve both rounds, so that their columns are computed once.
        uniform = draws.first(max(2, n // 2), SKETCH)
        size = -(-2 * len(uniform) // 3)
        core = fitted_core(source, uniform[:size], draws)
        scores = row_scores(source, uniform[:size], core, uniform[size:])
        first = (_shares(scores.leverage) + _shares(scores.residual)) / 2
        chosen = draws.first(-(-n // 2), SCORES, first)
        if len(chosen) >= n:
            return chosen
        core = fitted_core(source, chosen, draws)
        probes = uniform[~np.isin(uniform, chosen)]
        scores = row_scores(source, chosen, core, probes)
        second = draws.others(chosen, n - len(chosen), RESIDUALS, _shares(scores.residual))
        return np.concatenate([chosen, second])


class KMeansPlusPlus(LandmarkRule):
    """k-means++ in the sketch's flipped feature space, where distances exist.

    Centres are looked for among 20 uniformly drawn candidates per landmark, each chosen with a
    chance proportional to its squared distance from the nearest centre so far.
    """

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        landmarks = draws.first(max(1, n // 2), SKETCH)
        core = fitted_core(source, landmarks, draws)
        candidates = draws.first(CANDIDATES * n, UNIFORM)
        if not len(core.values) or len(candidates) <= n:
            return candidates[:n]
        Z = source.values(candidates, landmarks) @ core.left
        clocks = Draws(draws.hashes[candidates], int(draws.key), draws.merge)
        chosen = [0]
        nearest = np.square(Z - Z[0]).sum(axis=1)
        norms = np.square(Z).sum(axis=1)
        for step in range(1, n):
            nearest[chosen[-1]] = 0
            if not nearest.any():
                break
            with np.errstate(divide="ignore"):
                center = int(np.argmin(clocks.clocks(CENTERS + step) / nearest))
            chosen.append(center)
            distances = norms - 2 * (Z @ Z[center]) + norms[center]
            np.minimum(nearest, np.maximum(distances, 0), out=nearest)
        return candidates[chosen]


class Recursive(LandmarkRule):
    """Recursive ridge leverage scores (Musco and Musco, 2017), for positive definite kernels.

    Rows are halved until few are left; landmarks of the smaller half score the larger one. The
    scores ``(k(x, x) − k(x, Z)(K_ZZ + λI)⁻¹ k(Z, x))/λ`` mean nothing for an indefinite kernel,
    which is refused.
    """

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        order = draws.first(len(source), LEVELS)
        self._check_definite(source, order[: 2 * n])
        chosen = order[:n]
        size = 2 * n
        while size < 2 * len(order):
            level = order[: min(size, len(order))]
            scores = np.zeros(len(source))
            scores[level] = self._scores(source, level, chosen, n)
            chosen = draws.first(n, SCORES + size, scores)
            size *= 2
        return chosen

    def _scores(self, source: Source, rows: NDArray, landmarks: NDArray, n: int) -> NDArray:
        K = source.values(landmarks, landmarks)
        # The ridge of Musco and Musco: the mass beyond the n wanted directions, per direction.
        values = np.linalg.eigvalsh(K)[::-1]
        ridge = max(float(values[len(values) // 2 :].sum()) / n, 1e-10 * float(values[0]))
        inner = np.linalg.inv(K + ridge * np.eye(len(K)))
        diagonal = source.diagonal(rows)
        kept = np.empty(len(rows))
        for part in row_blocks(len(rows), 8 * len(landmarks), 8 * BLOCK_BYTES):
            C = source.values(rows[part], landmarks)
            kept[part] = np.einsum("ij,ij->i", C @ inner, C)
        return np.maximum(diagonal - kept, 1e-12 * diagonal.max()) / ridge

    def _check_definite(self, source: Source, rows: NDArray) -> None:
        if not source.is_symmetric:
            raise ValueError(
                "landmarks='recursive' needs a positive definite kernel, and this one is not "
                "symmetric: use landmarks='leverage' or 'kmeans++'."
            )
        values = np.linalg.eigvalsh(source.values(rows, rows))
        if not values.any():
            raise ValueError(
                f"{source.kernel!r} is zero on all {len(rows)} landmarks, so there is nothing to "
                "represent: choose other landmarks or another kernel."
            )
        if values[0] < -1e-8 * np.abs(values).max():
            raise ValueError(
                "landmarks='recursive' needs a positive definite kernel, and this one has the "
                f"eigenvalue {values[0]:.3g} on a sample: use landmarks='leverage' or 'kmeans++'."
            )


class Supervised(LandmarkRule):
    """The objects whose similarities together tell most about the targets.

    Forward selection by least squares among uniformly drawn candidates, judged on up to 20 rows per
    landmark. With few landmarks this is worth far more than a representative draw: each column
    k(·, z) is a feature, and most say what others have said. As the targets were seen, errors on
    the same rows are too small: choose what follows by cross-validation of the whole pipeline where
    that matters.

    Parameters
    ----------
    candidates : float, default=8
        Candidates per landmark, each one column of kernel values; at most 4096, or two per
        landmark.
    ridge : float, default=0.3
        Penalty on the coefficients of the columns, as a share of their mean sum of squares.

    References
    ----------
    S. Keerthi, O. Chapelle, D. DeCoste. Building Support Vector Machines with Reduced Classifier
    Complexity. JMLR 7, 2006.
    """

    needs_y = True

    def __init__(self, candidates: float = 8, ridge: float = 0.3):
        self.candidates = candidates
        self.ridge = ridge

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        for name, lowest in (("candidates", 1), ("ridge", 1e-10)):
            if not getattr(self, name) >= lowest:
                raise ValueError(
                    f"Supervised needs {name} to be at least {lowest:g}, got "
                    f"{getattr(self, name)!r}."
                )
        if source.y is None:
            raise ValueError(
                "landmarks='supervised' requires y to be passed, but the target y is None: call "
                "fit(X, y), or choose landmarks='uniform'."
            )
        wanted = min(self.candidates * n, max(2 * n, MOST_CANDIDATES))
        candidates = draws.first(int(np.ceil(wanted)), UNIFORM)
        if len(candidates) <= n:
            return candidates
        gram, cross = self._products(source, n, draws, candidates)
        ridge = self.ridge * float(np.trace(gram)) / len(gram)
        if not ridge > 0:  # columns that are constant say nothing
            return candidates[:n]
        return candidates[forward_selection(gram, cross, n, ridge)]

    def _products(
        self, source: Source, n: int, draws: Draws, candidates: NDArray[np.intp]
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """``AᵀA`` and ``AᵀT`` of the candidates' columns and the targets, all centred."""
        kinds, kind = draws.kinds
        m = len(candidates)
        # Copies of an object are one row with their number as weight and the mean of their targets.
        copies = np.bincount(kind).astype(float)
        Y = as_columns(source.y, len(source))
        Y = np.stack([np.bincount(kind, weights=column) / copies for column in Y.T], axis=1)
        if m == len(kinds):
            blocks = [candidates]  # the same rows as columns: half of a symmetric matrix will do
        else:
            judges = draws.first(JUDGES * n, SAMPLE)
            blocks = [judges[part] for part in row_blocks(len(judges), 8 * m, 16 * BLOCK_BYTES)]
        moments = MomentsSum(m + Y.shape[1])
        middle = None
        for rows in blocks:
            values = source.values(rows, candidates)
            middle = values.mean(axis=0) if middle is None else middle
            # A choice needs no more digits than these, once the columns' offset is gone.
            values -= middle
            weight = copies[kind[rows]]
            moments.add(values.astype(np.float32), Y[kind[rows]], weight=weight)
        scatter = moments.freeze().scatter
        return scatter[:m, :m], scatter[:m, m:]


RULES: dict[str, type[LandmarkRule]] = {
    "uniform": Uniform,
    "leverage": Leverage,
    "two-round": TwoRound,
    "kmeans++": KMeansPlusPlus,
    "recursive": Recursive,
    "supervised": Supervised,
    "all": All,
}
