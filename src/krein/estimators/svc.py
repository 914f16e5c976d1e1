"""The squared-hinge machine on features with signs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from .._hashing import Draws, Hashes
from ..kernels import Kernel
from ..learning.hinge import NewtonState, SquaredHinge, outputs, warm_start
from ..learning.penalties import Penalty
from ..learning.selection import best, descend
from ._base import KreinLearner
from ._data import Data, Survey
from ._refit import Fold, Scores, refitted
from ._targets import Classifying
from .least_squares import REACH, ROUNDING, SHARES, as_table, check_penalties, given_penalty

Array = NDArray[np.floating]

# Features of up to this size are kept between passes; larger ones are computed anew.
CACHE_BYTES = 2**30
# The salt of the clocks that choose the rows of a warm start.
WARM = 7_002
# Penalties of the negative part that are tried beside the best penalty of the positive one.
RATIOS = (1e-4, 1e-2, 1e2, 1e4, np.inf)


class FeatureRows:
    """The features of all rows, walked once per pass of the solver; kept if they are small."""

    def __init__(self, learner: KreinLearner, data: Data, n_rows: int):
        self.learner, self.data = learner, data
        self.n_rows, self.width = n_rows, len(learner._signs)
        self._kept: list[tuple[slice, Array]] = []
        self._complete = False
        self.codes = np.empty(n_rows, dtype=np.intp)
        self.weight = np.ones(n_rows)
        self.hashes: Hashes = np.empty(n_rows, dtype=np.uint64)
        self.mean = np.zeros(self.width)
        total = np.zeros(self.width)
        for rows, Z in self:  # one pass for labels, weights and hashes, which keeps what fits
            total += self.weight[rows] @ Z
        if learner.fit_intercept:
            # Newton's system has more digits for features about their mean; the intercept knows.
            self.mean = total / self.weight.sum()
            for i, (rows, Z) in enumerate(self._kept):  # one after the other: no second copy of all
                self._kept[i] = rows, Z - self.mean.astype(Z.dtype)

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        if self._complete:
            yield from self._kept
            return
        keep = 8 * self.n_rows * self.width <= CACHE_BYTES
        kept = []
        for piece, Z, _, weight in self.learner._blocks(self.data):
            rows = piece.rows
            self.codes[rows] = self.learner._codes(piece.y)
            self.hashes[rows] = piece.hashes
            if weight is not None:
                self.weight[rows] = weight
            if self.mean.any():
                Z = Z - self.mean.astype(Z.dtype)
            if keep:
                kept.append((rows, Z))
            yield rows, Z
        if keep:
            self._kept, self._complete = kept, True


class KreinSVC(Classifying, KreinLearner):
    """Squared-hinge support vector machine with an indefinite kernel (SH-SVM).

    ``(1/Σs) Σ s_i max(0, 1 − y_i f(x_i))² + alpha ‖w₊‖² + alpha_neg ‖w₋‖²`` with ``f = wᵀZ + b``,
    one such problem per class against the rest, by Newton's method on the active rows with an exact
    line search. It is convex whatever the kernel, so the order of the rows changes nothing.
    ``LinearSVC(C)`` on the features has ``alpha = 1/(2 C n)``.

    Parameters
    ----------
    kernel, n_components, features, fit_intercept : see `KreinRidge`
    alpha : float, "cv" or "gradient", default="cv"
        Penalty of the positive part. "cv" is a search by cross-validated error along warm starts:
        over all pairs if `alphas` is given; otherwise over equal penalties first and then over that
        of the negative part. "gradient" tunes both by implicit differentiation of the squared hinge
        on the folds.
    alpha_neg : float, "equal" or None, default=None
        Penalty of the negative part; ``inf`` leaves it out. None is equal to alpha, or is tuned
        with it.
    alphas, alphas_neg : array-like, default=None
        The grid of "cv".
    cv : int, default=5
        Number of folds; rows are assigned by content.
    refit : bool, default=False
        Whether "cv" fits the map anew for each fold; see `KreinRidge`.
    criterion : {"error", "squared_hinge"}, default="error"
        What "cv" minimises; counted errors of few rows are coarse.
    tol : float, default=1e-6
        Stop when a step lowers the objective by less than this share of it.
    max_iter : int, default=100
        Newton steps per problem; beyond them, or after Ctrl-C, the best iterate is kept with a
        ConvergenceWarning. Ctrl-C while penalties are searched ends the fit, and nothing changes.
    class_weight : dict, "balanced" or None, default=None
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    coef_ : ndarray of shape (p,) or (k, p)
    intercept_ : float or ndarray of shape (k,)
    n_iter_ : int
        The largest number of Newton steps of the final fit.
    objective_ : ndarray of shape (1,) or (k,)
        The objective of each problem.
    alpha_, alpha_neg_ : float
    features_ : the fitted map
    kernel_ : Kernel
        The kernel as it was fitted; absent if `features` was given.
    cv_results_ : dict

    References
    ----------
    D. Oglic, T. Gärtner. Scalable Learning in Reproducing Kernel Kreĭn Spaces. ICML 2019. §2.5.

    S. Keerthi, D. DeCoste. A Modified Finite Newton Method. JMLR 2005.

    O. Chapelle et al. Choosing Multiple Parameters for Support Vector Machines. 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinSVC
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = np.hypot(*X.T) > 1
    >>> model = KreinSVC(DeltaGaussian(1.0, 5.0), 30, alpha=1e-4, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    _parameter_constraints = {
        **KreinLearner._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv", "gradient"})],
        "criterion": [StrOptions({"error", "squared_hinge"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int = 100,
        *,
        features: Any = None,
        alpha: float | str = "cv",
        alpha_neg: float | str | None = None,
        fit_intercept: bool = True,
        alphas: ArrayLike | None = None,
        alphas_neg: ArrayLike | None = None,
        cv: int = 5,
        refit: bool = False,
        criterion: str = "error",
        tol: float = 1e-6,
        max_iter: int = 100,
        class_weight: Any = None,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.features = features
        self.alpha = alpha
        self.alpha_neg = alpha_neg
        self.fit_intercept = fit_intercept
        self.alphas = alphas
        self.alphas_neg = alphas_neg
        self.cv = cv
        self.refit = refit
        self.criterion = criterion
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.random_state = random_state

    def _learn(self, data: Data, seen: Survey) -> None:
        rows = FeatureRows(self, data, seen.n_rows)
        solver = SquaredHinge(self._signs, self.fit_intercept, self.tol, self.max_iter)
        search = _Search(solver, rows, self._signs_of_classes(rows.codes), seen)
        if isinstance(self.alpha, str) and not any(search._parts()):
            raise self._no_folds(seen)
        if self.refit and self.alpha == "cv":
            search.folds = list(refitted(self, data, seen))
        self._scale = self._variance(rows)
        if self.alpha == "cv":
            penalty = self._search(search)
        elif self.alpha == "gradient":
            penalty = self._descend(search)
        else:
            penalty = given_penalty(self)
        self._finish(search, penalty)

    def _signs_of_classes(self, codes: NDArray[np.intp]) -> list[Array]:
        """±1 for each binary problem."""
        wanted = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return [np.where(codes == code, 1.0, -1.0) for code in wanted]

    def _variance(self, rows: FeatureRows) -> float:
        """The features' mean square, which gives penalties their scale."""
        total = sum(float(rows.weight[part] @ np.square(Z).sum(axis=1)) for part, Z in rows)
        return total / float(rows.weight.sum()) or 1.0

    def _finish(self, search: _Search, penalty: Penalty) -> None:
        clocks = Draws(search.rows.hashes, 0).clocks(WARM)
        solver, rows, weight = search.solver, search.rows, search.rows.weight
        states: list[NewtonState] = []
        # Of all classes a first solution, then the last one: an interruption leaves the first.
        for y in search.targets:
            if any(state.interrupted for state in states):
                states.append(NewtonState.zero(rows))
            else:
                states.append(warm_start(solver, rows, y, weight, penalty, clocks))
        for y, state in zip(search.targets, states, strict=True):
            if not any(other.interrupted for other in states):
                solver.solve(rows, y, weight, penalty, state)
        coef = np.stack([state.coef for state in states], axis=1)
        self._store(coef[:-1], coef[-1] - search.rows.mean @ coef[:-1])
        self.alpha_, self.alpha_neg_ = penalty.alpha, penalty.alpha_neg
        self.n_iter_ = max(1, *(state.n_iter for state in states))
        self.objective_ = np.array([state.objective for state in states])
        if any(state.interrupted for state in states):
            warnings.warn(
                "KreinSVC was interrupted: the best iterate so far is kept.",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif not all(state.converged for state in states):
            warnings.warn(
                f"KreinSVC did not converge in max_iter={self.max_iter} Newton steps: increase "
                "max_iter, tol or alpha.",
                ConvergenceWarning,
                stacklevel=4,
            )

    # --- tuning ---------------------------------------------------------------------------------

    def _search(self, search: _Search) -> Penalty:
        alphas = (
            SHARES * self._scale if self.alphas is None else check_penalties("alphas", self.alphas)
        )
        negative = bool(np.any(self._signs < 0)) and self.alpha_neg != "equal"
        tried: list[Penalty] = []
        scores: list[tuple[float, ...]] = []

        def attempt(candidates: list[Penalty]) -> Penalty:
            scores.extend(search.scores(candidates))
            tried.extend(candidates)
            errors, losses, *_ = np.array(scores).T
            keys = (losses,) if self.criterion == "squared_hinge" else (errors, losses)
            return tried[best(*keys)]

        if self.alpha_neg not in (None, "equal"):
            found = attempt([Penalty(a, float(self.alpha_neg)) for a in alphas])
        elif negative and self.alphas_neg is not None:
            second = check_penalties("alphas_neg", self.alphas_neg)
            found = attempt([Penalty(a, b) for b in second for a in alphas])
        elif negative and self.alphas is not None:
            found = attempt([Penalty(a, b) for b in alphas for a in alphas])
        else:
            found = attempt([Penalty(a, a) for a in alphas])
            if negative:
                found = attempt([Penalty(found.alpha, found.alpha * r) for r in RATIOS])
        names = ("error", "squared_hinge", "squared_error", "brier")
        self.cv_results_ = as_table(tried, **dict(zip(names, np.array(scores).T, strict=True)))
        self.cv_results_["chosen"] = tried.index(found)
        return found

    def _descend(self, search: _Search) -> Penalty:
        negative = bool(np.any(self._signs < 0))
        fixed = None if self.alpha_neg in (None, "equal") else float(self.alpha_neg)
        tied = self.alpha_neg == "equal" or not negative
        start = 1e-4 * self._scale

        def penalty(values: Array) -> Penalty:
            if fixed is not None:
                return Penalty(float(values[0]), fixed)
            return Penalty(float(values[0]), float(values[0 if tied else 1]))

        def function(logs: Array) -> tuple[float, Array]:
            loss, gradient = search.loss_and_gradient(penalty(np.exp(logs)))
            if tied:
                gradient = gradient.sum(keepdims=True)
            elif fixed is not None:
                gradient = gradient[:1]
            return float(np.log(loss + ROUNDING)), gradient / (loss + ROUNDING)

        n = 1 if tied or fixed is not None else 2
        low, high = (np.full(n, reach * self._scale) for reach in REACH)
        values, loss, evaluations = descend(function, np.full(n, start), low, high, max_iter=20)
        found = penalty(values)
        self.cv_results_ = {
            **as_table([penalty(np.full(n, start)), found]),
            "n_evaluations": evaluations,
            "squared_hinge": max(0.0, float(np.exp(loss)) - ROUNDING),
        }
        return found


def _path(
    solver: SquaredHinge, rows: FeatureRows, y: Array, weight: Array, candidates: list[Penalty]
) -> Iterator[tuple[int, NewtonState]]:
    """The solution for each candidate, from the largest penalty on: each is near the next one."""
    state = NewtonState.zero(rows)
    for i in sorted(range(len(candidates)), key=lambda i: -candidates[i].alpha):
        solver.solve(rows, y, weight, candidates[i], state)
        if state.interrupted:
            raise KeyboardInterrupt
        yield i, state


class _Search:
    """Cross-validation with warm starts: the folds' rows have weight zero in training."""

    def __init__(self, solver: SquaredHinge, rows: FeatureRows, targets: list[Array], seen: Survey):
        self.solver, self.rows, self.targets = solver, rows, targets
        self.places = seen.folds(rows.hashes, slice(None))
        self.n_folds = seen.folds.n_folds
        self.folds: list[Fold] = []  # with maps of their own, if they are wanted
        self._starts: dict[tuple[int, int], Array] = {}

    def _parts(self) -> Iterator[tuple[int, Array, NDArray[np.intp]]]:
        """Number, training weights and test rows of each fold that can be judged."""
        for fold in range(self.n_folds):
            weight = np.where(self.places == fold, 0.0, self.rows.weight)
            test = np.flatnonzero((self.places == fold) & (self.rows.weight > 0))
            if len(test) and weight.sum() > 0:
                yield fold, weight, test

    def scores(self, candidates: list[Penalty]) -> list[tuple[float, ...]]:
        """Error, squared hinge, squared error and Brier score of each, on the rows left out."""
        scores = Scores(len(candidates))
        judged = self._refitted if self.folds else self._once
        for found, Y, weight in judged(candidates):
            slack = np.maximum(0, 1 - Y * found)
            scores.add(found, Y, weight, np.square(slack).sum(axis=2))
        columns = scores.errors, scores.losses, scores.squared_errors, scores.brier
        return list(zip(*columns, strict=True))

    def _once(self, candidates: list[Penalty]) -> Iterator[tuple[Array, Array, Array]]:
        """Outputs (c, n, q), targets and weights of each fold; the map has seen all rows."""
        for _, weight, test in self._parts():
            found = np.empty((len(candidates), len(test), len(self.targets)))
            for k, y in enumerate(self.targets):
                for i, state in _path(self.solver, self.rows, y, weight, candidates):
                    found[i, :, k] = state.outputs[test]
            Y = np.stack([y[test] for y in self.targets], axis=1)
            yield found, Y, self.rows.weight[test]

    def _refitted(self, candidates: list[Penalty]) -> Iterator[tuple[Array, Array, Array]]:
        """The same with a map of its own for each fold."""
        for fold in self.folds:
            rows = FeatureRows(fold.learner, fold.data, fold.seen.n_rows)
            solver = replace(self.solver, signs=fold.learner._signs)
            found = np.empty((len(candidates), *fold.Y.shape))
            for k, y in enumerate(fold.learner._signs_of_classes(rows.codes)):
                for i, state in _path(solver, rows, y, rows.weight, candidates):
                    found[i, :, k] = (fold.Z - rows.mean) @ state.coef[:-1] + state.coef[-1]
            yield found, fold.Y, fold.weight

    def loss_and_gradient(self, penalty: Penalty) -> tuple[float, Array]:
        """The squared hinge on the rows left out and its derivatives by the log penalties."""
        loss, gradient, total = 0.0, np.zeros(2), 0.0
        for fold, weight, test in self._parts():
            s = self.rows.weight[test]
            total += float(s.sum())
            for k, y in enumerate(self.targets):
                start = self._starts.get((fold, k), np.zeros(self.rows.width + 1))
                state = NewtonState.at(self.rows, start)
                self.solver.solve(self.rows, y, weight, penalty, state)
                if state.interrupted:
                    raise KeyboardInterrupt
                self._starts[fold, k] = state.coef
                slack = np.maximum(0, 1 - y[test] * state.outputs[test])
                loss += float(s @ np.square(slack))
                for i, change in enumerate(
                    self.solver.derivatives(self.rows, weight, y, penalty, state)
                ):
                    moved = outputs(self.rows, change)[test]
                    gradient[i] -= 2 * float((s * y[test] * slack) @ moved)
        return loss / total, gradient / total
