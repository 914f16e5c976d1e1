"""Learners whose whole problem is in the moments of [Z Y]: tuning from one pass."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ..learning import LeastSquares, Ridge
from ..learning.penalties import Penalty
from ..learning.selection import FoldProblems, best, descend
from ..streaming import Moments
from ._base import KreinLearner
from ._data import Data, Survey
from ._refit import Scores, mistakes, refitted
from ._targets import Classifying

Array = NDArray[np.floating]

# Penalties to try, as shares of the features' total variance, and how far to search for the best.
SHARES = np.geomspace(1e-8, 1, 9)
REACH = 1e-10, 1e2
# Standard deviations of the predictions to try, as shares of the targets'.
RADII = (0.1, 0.3, 0.5, 0.7, 0.85, 1.0, 1.2)
# A loss of less than this share of the targets' own square is as good as none.
ROUNDING = 1e-10
# Candidates of one pass are applied at most this many at a time.
AT_ONCE = 64


class LeastSquaresLearner(KreinLearner):
    """Learners whose whole problem is in the moments of [Z Y]."""

    _parameter_constraints = {
        **KreinLearner._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv", "gradient"})],
        "criterion": [StrOptions({"squared_error", "error"}), None],
    }

    _shares = SHARES

    def _learn(self, data: Data, seen: Survey) -> None:
        parts = self._moments(data, seen.folds if self._is_tuned() else None)
        self._solve(parts, self._n_outputs(seen), data, seen)

    def _solve(self, parts: list[Moments], n_outputs: int, data: Data | None, seen: Survey) -> None:
        """Tune and solve what the moments say; `data` is None if rows cannot be seen again."""
        problems = FoldProblems.of(parts, n_outputs, self.fit_intercept)
        penalty = self._tune(problems, data, seen) if self._is_tuned() else self._given()
        self._finish(problems.whole, penalty)
        self._parts = parts  # what `partial_fit` goes on from

    def _n_outputs(self, seen: Survey) -> int:
        return seen.n_outputs

    def _finish(self, problem: LeastSquares, penalty: Penalty) -> None:
        coef = self._solver().solve(problem, penalty)
        self._store(coef, problem.intercept(coef))
        self.alpha_, self.alpha_neg_ = penalty.alpha, penalty.alpha_neg

    # --- penalties ------------------------------------------------------------------------------

    def _solver(self) -> Any:
        return Ridge(self._signs)

    def _is_tuned(self) -> bool:
        return isinstance(self.alpha, str)

    def _given(self) -> Penalty:
        """The penalty that the parameters name."""
        return given_penalty(self)

    def _candidates(self, problem: LeastSquares) -> list[Any]:
        """All pairs of penalties to try."""
        scale = float(np.trace(problem.gram)) or 1.0
        alphas: Array = self._shares * scale
        if self.alphas is not None:
            alphas = check_penalties("alphas", self.alphas)
        if not np.any(self._signs < 0) or self.alpha_neg == "equal":
            return [Penalty(a, a) for a in alphas]
        if self.alpha_neg is not None:
            return [Penalty(a, float(self.alpha_neg)) for a in alphas]
        second = alphas
        if self.alphas_neg is not None:
            second = check_penalties("alphas_neg", self.alphas_neg)
        elif self.alphas is None:
            second = np.append(alphas, np.inf)
        return [Penalty(a, b) for a in alphas for b in second]

    def _tune(self, problems: FoldProblems, data: Data | None, seen: Survey) -> Penalty:
        if not problems.pairs:
            raise self._no_folds(seen)
        candidates = self._candidates(problems.whole)
        by_error = self._criterion == "error" and data is not None
        fitted: list[tuple[Array, Array]] = []
        scores = None
        if self.refit and self.alpha != "gradient" and data is not None:
            scores = self._refit_scores(candidates, data, seen)
            losses = scores.losses
            # Rows so few that maps are fitted anew do not tell a thousandth apart.
            alike = np.round(losses / (losses.min() or 1.0), 3)
        else:
            found = problems.coefficients(self._solver(), candidates)
            if by_error:  # the coefficients of all folds are needed once more
                fitted = list(found)
            losses = problems.losses(fitted if by_error else found)
            # In units of the targets' own square, in which rounding is always the same.
            alike = losses / (float(problems.whole.square.sum()) or 1.0)
        results = as_table(candidates, squared_error=losses)
        # A negative part that the folds do not have, or hardly, may show in all rows: of equals
        # the largest penalty.
        careful = -results["alpha_neg"], -results["alpha"]
        chosen = best(alike, *careful)
        if self.alpha == "gradient":
            return self._descend(problems, candidates[chosen])
        if scores is not None and self._classifies:
            results |= {"error": scores.errors, "brier": scores.brier}
        if by_error:
            assert data is not None
            if scores is None:
                results["error"] = self._errors(problems, fitted, data, seen)
            # Equal errors are common on small data: the squared error decides among them.
            chosen = best(results["error"], alike, *careful)
        self.cv_results_ = {**results, "chosen": chosen}
        return candidates[chosen]

    def _refit_scores(self, candidates: list[Any], data: Data, seen: Survey) -> Scores:
        """Squared errors and errors of all candidates, the map fitted anew for each fold."""
        scores = Scores(len(candidates))
        for fold in refitted(self, data, seen):
            moments = fold.learner._moments(fold.data, None)[0]
            problem = LeastSquares.of(moments, fold.Y.shape[1], self.fit_intercept)
            coefs = list(fold.learner._solver().path(problem, candidates))
            outputs = np.stack([fold.Z @ coef + problem.intercept(coef) for coef in coefs])
            scores.add(outputs, fold.Y, fold.weight, np.square(outputs - fold.Y).sum(axis=2))
        return scores

    @property
    def _criterion(self) -> str:
        if self.criterion is None:
            return "error" if self._classifies else "squared_error"
        if self.criterion == "error" and not self._classifies:
            raise ValueError(
                f"criterion='error' counts wrong classes, and {type(self).__name__} predicts "
                "numbers: leave it out, or use criterion='squared_error'."
            )
        return str(self.criterion)

    def _descend(self, problems: FoldProblems, start: Penalty) -> Penalty:
        """From the best of the grid along the gradient of the squared error of the folds."""
        solver = self._solver()
        scale = float(np.trace(problems.whole.gram)) or 1.0
        tied = start.alpha_neg == start.alpha and (
            self.alpha_neg == "equal" or not np.any(self._signs < 0)
        )
        free = ["alpha"] if tied or self.alpha_neg is not None else ["alpha", "alpha_neg"]
        if not np.isfinite(start.alpha_neg):
            free = ["alpha"]
        free += self._also_free()

        def settings(values: Array) -> Any:
            changed = dict(zip(free, (float(v) for v in values), strict=True))
            if tied:
                changed["alpha_neg"] = changed["alpha"]
            return type(start)(**{**vars(start), **changed})

        names = ["alpha", "alpha_neg", "radius"]
        # The loss as a share of the targets' own square does not depend on their unit. What is left
        # of them below ROUNDING is rounding, and no guide to penalties.
        unit = float(problems.whole.square.sum()) or 1.0

        def function(logs: Array) -> tuple[float, Array]:
            loss, gradient = problems.loss_and_gradient(solver, settings(np.exp(logs)))
            if tied:
                gradient = np.append(gradient[0] + gradient[1], gradient[1:])
            # The logarithm of the loss: a scale that the tolerances of the search understand.
            wanted = np.array([gradient[names.index(name)] for name in free])
            share = loss / unit + ROUNDING
            return float(np.log(share)), wanted / unit / share

        first = np.array([getattr(start, name) for name in free])
        low = np.where(np.array(free) == "radius", 0.01, REACH[0] * scale)
        high = np.where(np.array(free) == "radius", 10.0, REACH[1] * scale)
        values, loss, n = descend(function, np.clip(first, low, high), low, high)
        found = settings(values)
        lost = max(0.0, float(np.exp(loss)) - ROUNDING) * unit
        self.cv_results_ = as_table([start, found], n_evaluations=n, squared_error=lost)
        return found

    def _also_free(self) -> list[str]:
        return []

    def _errors(
        self, problems: FoldProblems, fitted: list[tuple[Array, Array]], data: Data, seen: Survey
    ) -> Array:
        """The share of rows that each candidate gets wrong when they are left out: one pass."""
        n = len(fitted[0][0])
        wrong, total = np.zeros(n), 0.0
        for piece, Z, Y, weight in self._blocks(data):
            places = seen.folds(piece.hashes, piece.rows)
            s = np.ones(len(piece)) if weight is None else weight
            for fold, (coefs, intercepts) in zip(problems.folds, fitted, strict=True):
                rows = np.flatnonzero(places == fold)
                if not len(rows):
                    continue
                total += float(s[rows].sum())
                for first in range(0, n, AT_ONCE):
                    part = slice(first, first + AT_ONCE)
                    out = Z[rows] @ coefs[part].astype(Z.dtype) + intercepts[part][:, None]
                    wrong[part] += mistakes(out, Y[rows]) @ s[rows]
        return wrong / (total or 1.0)


class LeastSquaresClassifying(Classifying):
    """Classes as columns of −1 and +1."""

    def _n_outputs(self, seen: Survey) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)


def given_penalty(learner: Any) -> Penalty:
    """The penalty that the parameters of a learner name."""
    alpha, second = float(learner.alpha), learner.alpha_neg
    return Penalty(alpha, alpha if second in (None, "equal") else float(second))


def check_penalties(name: str, values: ArrayLike) -> Array:
    found = np.asarray(values, dtype=float).ravel()
    if not len(found) or not np.all(found > 0) or (name == "alphas" and np.isinf(found).any()):
        raise ValueError(f"{name} must be penalties above 0, got {values!r}.")
    return found


def as_table(candidates: list[Any], **columns: Any) -> dict[str, Any]:
    names = list(vars(candidates[0]))
    settings = {name: np.array([getattr(c, name) for c in candidates]) for name in names}
    return {**settings, **columns}
