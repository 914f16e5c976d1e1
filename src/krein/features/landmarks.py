"""Rules that choose the landmarks of a Nyström map.

Each rule is a small class with the method `choose`, which returns indices. All rules draw by the
content of the rows (see `krein._hashing`) and evaluate the kernel in blocks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .._blocks import BLOCK_BYTES, row_blocks
from .._core import Core
from .._hashing import Draws, Salt
from .._validation import ArgumentError
from ..streaming.moments import MomentsSum
from .chances import chances, odds, shares
from .cores import sketched_core
from .forward import as_columns, forward_selection
from .scores import row_scores
from .source import Source

# Number of rows per landmark among which k-means++ and some rounds of `Residual` choose.
CANDIDATES = 20
# `Residual` draws in this many rounds up to this many landmarks. Beyond it there are two rounds,
# because the cost of fitting a map grows with the cube of the landmarks.
ROUNDS, MOST_IN_ROUNDS = 4, 600
# After the first round the residuals of `Residual` are estimated on at most this many rows, or on a
# sixth of the number of landmarks if that is more.
MOST_PROBES = 100
# Rows per landmark that judge forward selection, and the largest number of candidates.
JUDGES = 20
MOST_CANDIDATES = 4096


def sample_size(n_landmarks: int) -> int:
    """Return the number of rows of the least-squares sample, including the landmarks.

    The error of the core falls with the rows per landmark, and the cost grows with their square.
    Besides the landmarks the sample has five rows for each, but at least 300 and at most 750 rows;
    more than 750 landmarks have one row each. Fewer than 300 rows do not show which few directions
    of heavy-tailed data are the largest.
    """
    return n_landmarks + max(n_landmarks, min(max(5 * n_landmarks, 300), 750))


def extended(draws: Draws, chosen: NDArray, n: int) -> NDArray[np.intp]:
    """Return the rows `chosen`, followed by randomly drawn other rows, n rows in all."""
    return np.concatenate([chosen, draws.others(chosen, max(0, n - len(chosen)), Salt.SAMPLE)])


class LandmarkRule(BaseEstimator):
    """Base class of the rules that choose landmarks.

    Attributes
    ----------
    needs_y : bool
        True if the rule needs the targets y.

    Examples
    --------
    >>> from krein.features.landmarks import RULES, LandmarkRule
    >>> all(issubclass(rule, LandmarkRule) for rule in RULES.values())
    True
    """

    needs_y = False

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        """Choose landmarks.

        Parameters
        ----------
        source : Source
            The training objects and their kernel.
        n : int
            Number of landmarks.
        draws : Draws
            Random numbers keyed by the content of the objects.

        Returns
        -------
        ndarray of int
            Indices of n landmarks, or of fewer if there are fewer distinct objects.
        """
        raise TypeError(f"{type(self).__name__} must define choose.")


class Uniform(LandmarkRule):
    """Every object has the same chance, and duplicates add up.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import Nystrom
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> Nystrom(n_components=5, landmarks="uniform", random_state=0).fit_transform(X).shape
    (60, 5)
    """

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        return draws.first(n, Salt.UNIFORM)


class All(LandmarkRule):
    """All distinct objects are landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import Nystrom
    >>> X = np.random.default_rng(0).random((20, 3))
    >>> len(Nystrom(n_components=5, landmarks="all", random_state=0).fit(X).landmarks_)
    20
    """

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        return np.sort(draws.first(len(source), Salt.UNIFORM))


def fitted_core(
    source: Source, landmarks: NDArray[np.intp], draws: Draws, size: int | None = None
) -> Core:
    """Return a sketched core on `size` rows whose rank is half the number of landmarks.

    The default size is `sample_size`.
    """
    sample = extended(draws, landmarks, size or sample_size(len(landmarks)))
    return sketched_core(source, landmarks, sample, max(1, len(landmarks) // 2), 1e-10)


class Leverage(LandmarkRule):
    """Landmarks drawn by approximate leverage scores (scalable Kreĭn paper, §2.3).

    First a map is fitted on half as many uniform landmarks. Then landmarks are drawn with chances
    proportional to ``ℓ(x) = ‖ũ(x)‖²``, where ũ are the eigenvectors of that map. The scores miss
    rows that the first map does not represent; `Residual` finds them.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import Nystrom
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> Nystrom(n_components=5, landmarks="leverage", random_state=0).fit_transform(X).shape
    (60, 5)
    """

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        sketch = draws.first(max(1, n // 2), Salt.SKETCH)
        core = fitted_core(source, sketch, draws)
        scores = row_scores(source, sketch, core, sketch[:0])
        return draws.first(n, Salt.SCORES, shares(scores.leverage))


class Residual(LandmarkRule):
    """Landmarks drawn in rounds: first by leverage and residual, then by the residual that is left.

    A map on uniform landmarks gives leverage scores and residuals (see `Scores`). The first
    landmarks are drawn with chances that average the two. Before each further round a map is fitted
    on the landmarks so far, and the round draws in proportion to the residuals of this map. The
    residuals find rows that leverage misses, such as rows with large k(x, x).

    There are four rounds, or two if there are many landmarks. A single large draw takes too many
    rows from the same part of the data, because residuals fall only when a map is fitted again. The
    first and the last round look at all rows, the others at 20 rows per landmark.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import Nystrom
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> Nystrom(n_components=5, landmarks="residual", random_state=0).fit_transform(X).shape
    (60, 5)
    """

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        if n >= len(draws.kinds[0]):
            return draws.first(n, Salt.UNIFORM)
        # All rounds use the same uniform rows, so their columns are computed once.
        uniform = draws.first(max(2, n // 2), Salt.SKETCH)
        size = -(-2 * len(uniform) // 3)
        # Maps that only find rows of large residual need fewer rows than the map that is kept.
        core = fitted_core(source, uniform[:size], draws, 2 * size)
        scores = row_scores(source, uniform[:size], core, uniform[size:])
        n_rounds = ROUNDS if n <= MOST_IN_ROUNDS else 2
        # Numbers of landmarks after each round; very few landmarks need fewer rounds.
        ends = sorted({-(-n * i // n_rounds) for i in range(1, n_rounds + 1)})
        each = [chances(draws.summed(values), ends[0] / 2) for values in scores]
        chosen = draws.first(ends[0], Salt.SCORES, odds(np.sum(each, axis=0), ends[0]))
        some = draws.first(CANDIDATES * n, Salt.UNIFORM)
        for number, end in enumerate(ends[1:]):
            core = fitted_core(source, chosen, draws, 2 * len(chosen))
            probes = uniform[~np.isin(uniform, chosen)][-max(MOST_PROBES, len(uniform) - size) :]
            scores = row_scores(source, chosen, core, probes, None if end == n else some)
            scores.residual[chosen] = 0.0
            more = end - len(chosen)
            weights = odds(chances(draws.summed(scores.residual), more), more)
            drawn = draws.others(chosen, more, Salt.RESIDUALS + number, weights)
            chosen = np.concatenate([chosen, drawn])
        return chosen


class KMeansPlusPlus(LandmarkRule):
    """Landmarks chosen by k-means++ in the feature space of a first map.

    Distances are those of the flipped kernel, which is positive definite. The candidates are 20
    uniformly drawn rows per landmark. Each candidate is chosen with a chance proportional to its
    squared distance from the nearest landmark so far.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import Nystrom
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> Nystrom(n_components=5, landmarks="kmeans++", random_state=0).fit_transform(X).shape
    (60, 5)
    """

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        landmarks = draws.first(max(1, n // 2), Salt.SKETCH)
        core = fitted_core(source, landmarks, draws)
        candidates = draws.first(CANDIDATES * n, Salt.UNIFORM)
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
                center = int(np.argmin(clocks.clocks(Salt.CENTER + step) / nearest))
            chosen.append(center)
            distances = norms - 2 * (Z @ Z[center]) + norms[center]
            np.minimum(nearest, np.maximum(distances, 0), out=nearest)
        return candidates[chosen]


class Recursive(LandmarkRule):
    """Recursive ridge leverage scores (Musco and Musco, 2017), for positive definite kernels.

    The rows are halved until few are left. Landmarks of each half give the scores
    ``(k(x, x) − k(x, Z)(K_ZZ + λI)⁻¹ k(Z, x))/λ`` of the next larger
    half. The scores have no meaning for an indefinite kernel, so an indefinite kernel is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import Nystrom
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> Nystrom(n_components=5, landmarks="recursive", random_state=0).fit_transform(X).shape
    (60, 5)
    """

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        order = draws.first(len(source), Salt.LEVELS)
        self._check_definite(source, order[: 2 * n])
        chosen = order[:n]
        size = 2 * n
        while size < 2 * len(order):
            level = order[: min(size, len(order))]
            scores = np.zeros(len(source))
            scores[level] = self._scores(source, level, chosen, n)
            chosen = draws.first(n, Salt.SCORES + size, scores)
            size *= 2
        return chosen

    def _scores(self, source: Source, rows: NDArray, landmarks: NDArray, n: int) -> NDArray:
        K = source.values(landmarks, landmarks)
        # The ridge of Musco and Musco: the mean of the eigenvalues beyond the first n.
        values = np.linalg.eigvalsh(K)[::-1]
        ridge = max(values[len(values) // 2 :].sum() / n, 1e-10 * values[0], source.rounding(K))
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
                "landmarks='recursive' needs a positive definite kernel, but this kernel is not "
                "symmetric: use landmarks='leverage' or 'kmeans++'."
            )
        values = np.linalg.eigvalsh(K := source.values(rows, rows))
        if not values.any():
            raise ValueError(
                f"{source.kernel!r} is zero on all {len(rows)} landmarks, so no features exist: "
                "choose other landmarks or another kernel."
            )
        if values[0] < -max(1e-8 * float(np.abs(values).max()), source.rounding(K)):
            raise ValueError(
                "landmarks='recursive' needs a positive definite kernel, but this kernel has the "
                f"eigenvalue {values[0]:.3g} on a sample: use landmarks='leverage' or 'kmeans++'."
            )


class Supervised(LandmarkRule):
    """The objects whose similarities together explain the targets best.

    Landmarks are chosen by forward selection with least squares among uniformly drawn candidates,
    on up to 20 rows per landmark. With few landmarks this rule is far more accurate than a
    representative draw, because most columns k(·, z) repeat what other columns say. The rule sees
    the targets, so training errors are too small: cross-validate the whole pipeline. The learners
    of this library choose the landmarks anew for each fold.

    Parameters
    ----------
    candidates : float, default=8
        Candidates per landmark; in total at most 4096, or two per landmark if that is more.
    ridge : float, default=0.3
        Penalty on the coefficients, relative to the mean sum of squares of a column.

    References
    ----------
    S. Keerthi, O. Chapelle, D. DeCoste. Building Support Vector Machines with Reduced Classifier
    Complexity. JMLR 7, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import Nystrom
    >>> from krein.features.landmarks import Supervised
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> y = X[:, 0] > 0.5
    >>> Nystrom(n_components=5, landmarks=Supervised(), random_state=0).fit_transform(X, y).shape
    (60, 5)
    """

    needs_y = True

    def __init__(self, candidates: float = 8, ridge: float = 0.3):
        self.candidates = candidates
        self.ridge = ridge

    def choose(self, source: Source, n: int, draws: Draws) -> NDArray[np.intp]:
        for name, lowest in (("candidates", 1), ("ridge", 1e-10)):
            if not getattr(self, name) >= lowest:
                raise ArgumentError(self, name, f"at least {lowest:g}", getattr(self, name))
        if source.y is None:
            raise ValueError(
                "landmarks='supervised' requires y to be passed, but the target y is None: call "
                "fit(X, y), or use landmarks='uniform'."
            )
        wanted = min(self.candidates * n, max(2 * n, MOST_CANDIDATES))
        candidates = draws.first(int(np.ceil(wanted)), Salt.UNIFORM)
        if len(candidates) <= n:
            return candidates
        gram, cross = self._products(source, n, draws, candidates)
        ridge = self.ridge * float(np.trace(gram)) / len(gram)
        if not ridge > 0:  # all columns are constant
            return candidates[:n]
        return candidates[forward_selection(gram, cross, n, ridge)]

    def _products(
        self, source: Source, n: int, draws: Draws, candidates: NDArray[np.intp]
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return ``AᵀA`` and ``AᵀT`` of the columns of the candidates and the targets, centred."""
        copies, kind = source.kinds
        m = len(candidates)
        # Equal objects are one row: the weight is their number, the target their mean target.
        Y = as_columns(source.y, len(source))
        Y = np.stack([np.bincount(kind, weights=column) / copies for column in Y.T], axis=1)
        if m == len(copies):
            blocks = [candidates]  # a square block: a symmetric kernel computes half of it
        else:
            judges = draws.first(JUDGES * n, Salt.SAMPLE)
            blocks = [judges[part] for part in row_blocks(len(judges), 8 * m, 16 * BLOCK_BYTES)]
        moments = MomentsSum(m + Y.shape[1])
        middle = None
        for rows in blocks:
            values = source.values(rows, candidates)
            middle = values.mean(axis=0) if middle is None else middle
            # Without the offset of the columns float32 has enough digits for a choice.
            values -= middle
            weight = copies[kind[rows]]
            moments.add(values.astype(np.float32), Y[kind[rows]], weight=weight)
        scatter = moments.freeze(is_last=True).scatter
        return scatter[:m, :m], scatter[:m, m:]


RULES: dict[str, type[LandmarkRule]] = {
    "uniform": Uniform,
    "leverage": Leverage,
    "residual": Residual,
    "kmeans++": KMeansPlusPlus,
    "recursive": Recursive,
    "supervised": Supervised,
    "all": All,
}
