"""Learners whose whole problem is in the moments of [Z Y], so that one pass is enough to tune."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._hashing import as_generator
from .._threads import LARGE
from .._validation import outside_level
from ..forms import Form
from ..learning import L1, LeastSquares, LeftOut, Split, SquaredError, solver_for
from ..learning.selection import FoldProblems, Walk, best
from ..streaming import Folds, HeldRows, Moments, Survey, fold
from ._errors import NoFoldsError
from ._learner import Learner
from ._left_out import EqualRows, LeftOutRows, LeftOutScores, check_left_out
from ._passes import Mistakes, Scores
from ._penalties import Wanted, as_table
from ._representation import Representation
from ._targets import check_like
from ._task import FeatureBlocks, Fold, Task

Array = NDArray[np.floating]


class LeastSquaresLearner(Learner):
    """Least squares with the penalties that `Wanted` reads from the parameters."""

    # The moments of the data, if they are kept for `partial_fit`.
    _parts: list[Moments]
    # The models of all other rows for the chosen penalty, until the outputs are calibrated.
    _left_out: LeftOut
    # The coefficients and intercepts of the folds of a wide problem for the chosen penalty, until
    # the outputs are calibrated.
    _tuned_models: dict[int, tuple[Array, Array]]
    # False if only the targets are centred.
    _center_features = True

    @property
    def _needs_folds(self) -> bool:
        return Wanted.of(self).is_tuned

    @property
    def _leaves_one_out(self) -> bool:
        """True if every row is judged by the model of all other rows, in closed form."""
        return isinstance(self.cv, str) and self.cv == "loo"

    def _solve(self, task: Task) -> None:
        if self._leaves_one_out:
            return self._solve_left_out(task)
        # Folds with maps of their own have moments of their own; `partial_fit` has no such folds.
        nests = self._nests(task)
        by_fold = (self._needs_folds or self._is_calibrated) and not (task.is_shared and nests)
        if by_fold and self._is_calibrated and not nests:
            task.keep_features()
        self._parts = task.fold_moments if by_fold else task.moments
        if by_fold and not self._needs_folds:
            self._parts = [Moments.total(self._parts)]
        self._solve_moments(self._parts, task.survey, task)

    def _forget(self) -> None:
        if not getattr(self, "keep_statistics", False):
            del self._parts

    def _solve_moments(self, parts: list[Moments], survey: Survey, task: Task | None) -> None:
        """Tune and solve the problem of the moments; `task` is None if rows cannot be reread."""
        wanted = Wanted.of(self)
        solver = self._solver(self._representation)
        q, centers = self._targets.n_outputs, self._center_features
        problems = FoldProblems.of(parts, q, self.fit_intercept, centers)
        folds = problems.pairs or (task is not None and task.is_shared and task.folds)
        if self._needs_folds and not folds:
            raise self._no_folds(survey.n_rows)
        tuned = wanted.is_tuned
        penalty = self._tune(wanted, solver, problems, task) if tuned else wanted.given()
        self._keep(penalty, *self._fitted(solver, problems, parts, penalty, task))

    def _keep(self, penalty: Any, coef: Array, intercept: Array) -> None:
        """Store the solution for a penalty."""
        self._store(coef, intercept)
        self.alpha_, self.alpha_neg_ = penalty.alpha, penalty.alpha_neg
        if hasattr(penalty, "spread"):
            self.spread_ = penalty.spread

    def _no_folds(self, n_rows: int) -> NoFoldsError:
        """Return the error if there are too few rows for the folds that the learner needs."""
        return NoFoldsError(self._name, n_rows, self.alpha)

    def _fitted(
        self, solver: Any, problems: FoldProblems, parts: list[Moments], penalty: Any, task: Any
    ) -> tuple[Array, Array]:
        """Return the coefficients (p, q) and intercepts (q,) for a penalty."""
        return self._solution(solver, problems.whole, penalty)

    def _solver(self, representation: Representation) -> Any:
        """Return the solver of the penalty, on the features of this representation."""
        return self._solver_of(representation.form)

    def _solver_of(self, form: Form) -> Any:
        kind = Wanted.of(self).kind
        made = solver_for(SquaredError, kind, derivatives=self.alpha == "gradient")
        options = {"unit": self._targets.unit} if kind is L1 else {}
        return made(form, **options)

    def _posed(self, solver: Any, problem: LeastSquares) -> tuple[LeastSquares, float]:
        """Return the problem that the penalties belong to, and the variance of its features."""
        return problem, float(np.trace(problem.gram)) or 1.0

    def _fold_models(self, task: Task) -> Iterator[tuple[int, tuple[Array, Array]]]:
        penalty = Wanted.of(self).of_fitted(self)
        if self._nests(task):
            for number, part in enumerate(task.folds):
                solver = self._solver(part.blocks.representation)
                yield number, self._solution(solver, self._training(part), penalty)
            return
        if "_tuned_models" in vars(self):
            yield from self._tuned_models.items()
            return
        parts, q = task.fold_moments, task.targets.n_outputs
        solver = self._solver(task.representation)
        for number, (test, rest) in enumerate(zip(parts[:-1], Moments.rests(parts), strict=False)):
            if test.weight and rest.weight:
                train = LeastSquares.of(rest, q, self.fit_intercept, self._center_features)
                yield number, self._solution(solver, train, penalty)

    def _solution(self, solver: Any, problem: LeastSquares, penalty: Any) -> tuple[Array, Array]:
        """Return the coefficients (p, q) and intercepts (q,) of a problem."""
        coef = solver.solve(problem, penalty)
        return coef, problem.intercept(coef)

    # --- every row left out ---------------------------------------------------------------------

    def _solve_left_out(self, task: Task) -> None:
        """Tune and solve by the errors of rows that are left out one at a time."""
        wanted = Wanted.of(self)
        check_left_out(self, wanted.kind is Split, task.representation.is_supervised)
        task.keep_features()  # for the passes over rows that are left out
        self._parts, problem = task.moments, self._whole(task)
        solver = self._solver(task.representation)
        tuned = wanted.is_tuned
        penalty = self._left_out_best(wanted, solver, problem, task) if tuned else wanted.given()
        self._keep(penalty, *self._solution(solver, problem, penalty))

    def _whole(self, task: Task) -> LeastSquares:
        """Return the problem of all rows."""
        return LeastSquares.of(task.moments[0], task.targets.n_outputs, self.fit_intercept)

    def _left_out_best(self, wanted: Wanted, solver: Any, problem: LeastSquares, task: Task) -> Any:
        """Choose a penalty by the errors of rows that are left out."""
        candidates = wanted.finer_grid(*self._posed(solver, problem), solver.form)
        scores = Scores(len(candidates), task.targets)
        models = LeftOut(problem, solver.form, candidates, self.fit_intercept)
        fold(task.blocks, LeftOutScores(models, self._equal_rows(task), scores))
        alike = scores.losses / (float(problem.square.sum()) or 1.0)
        results = self._results(candidates, scores)
        place = self._chosen(results, alike, self._criterion == "error")
        self._left_out = models.at(place)
        return candidates[place]

    def _equal_rows(self, task: Task) -> EqualRows:
        found = fold(task.data, EqualRows(task.targets)).freeze()
        if len(found) < 2:
            raise self._no_folds(task.survey.n_rows)
        return found

    def _held_out(self, task: Task) -> HeldRows:
        if not self._leaves_one_out or self._nests(task):
            return super()._held_out(task)
        if not hasattr(self, "_left_out"):
            penalty, form = Wanted.of(self).of_fitted(self), task.representation.form
            self._left_out = LeftOut(self._whole(task), form, [penalty], self.fit_intercept)
        held = LeftOutRows(self._left_out, self._equal_rows(task), task.held_out())
        return fold(task.blocks, held).held.rows

    def _forget_folds(self) -> None:
        self.__dict__.pop("_left_out", None)
        self.__dict__.pop("_tuned_models", None)

    # --- tuning ---------------------------------------------------------------------------------

    def _candidates(self, wanted: Wanted, solver: Any, problem: LeastSquares) -> list[Any]:
        """Return the penalties to try."""
        return wanted.grid(*self._posed(solver, problem), solver.form)

    def _tune(self, wanted: Wanted, solver: Any, problems: FoldProblems, task: Task | None) -> Any:
        """Choose a penalty by cross-validation."""
        walk = self._walk(wanted, solver, problems, task)
        candidates = (
            self._candidates(wanted, solver, problems.whole) if walk is None else walk.tried
        )
        by_error = self._criterion == "error" and task is not None
        square = float(problems.whole.square.sum()) or 1.0
        parts = task.folds if task is not None and self._nests(task) else None
        if parts is not None:
            scores = self._nested_scores(candidates, parts)
            results = self._results(candidates, scores)
            # Few rows cannot distinguish losses that differ by a thousandth.
            alike = np.round(scores.losses / (scores.losses.min() or 1.0), 3)
        else:
            found = problems.coefficients(solver, candidates) if walk is None else walk.fitted()
            # An automatic learner compares classifiers by their errors, whichever loss tunes them.
            counts = by_error or (self._classifies and task is not None and task.is_shared)
            fitted = list(found) if counts else []
            losses = problems.losses(fitted or found)
            results = as_table(candidates, squared_error=losses)
            # In units of the targets' squares, rounding errors do not depend on the scale of y.
            alike = losses / square
            if fitted and self.alpha != "gradient":
                assert task is not None
                by_fold = dict(zip(problems.folds, fitted, strict=True))
                judging = Mistakes(task.survey.folds, by_fold, task.targets)
                mistakes = fold(task.blocks, judging)
                results |= {"error": mistakes.errors, "brier": mistakes.brier}
        if self.alpha == "gradient":
            judged = [(solver, problems)] if parts is None else list(map(self._alone, parts))
            start = candidates[self._chosen(results, alike, by_error=False)]
            return self._descend(wanted, solver, problems, judged, start)
        place = self._chosen(results, alike, by_error)
        if walk is not None:  # a wide problem is factorised again only if it must be
            models = [(coefs[place], intercepts[place]) for coefs, intercepts in walk.fitted()]
            self._tuned_models = dict(zip(problems.folds, models, strict=True))
        return candidates[place]

    def _results(self, candidates: list[Any], scores: Scores) -> dict[str, Any]:
        """Return the table of penalties and their losses."""
        more = {"error": scores.errors, "brier": scores.brier} if self._classifies else {}
        return as_table(candidates, squared_error=scores.losses) | more

    def _chosen(self, results: dict[str, Any], alike: Array, by_error: bool) -> int:
        """Return the place of the best penalty, and store the results of all penalties."""
        # Among equal losses the largest penalties win: a negative part that is hardly visible in
        # the folds may appear in all rows. Equal errors are common on small data.
        keys = [alike, -results["alpha_neg"], -results["alpha"]]
        place = best(results["error"], *keys) if by_error else best(*keys)
        self.cv_results_ = {**results, "chosen": place}
        return place

    def _walk(
        self, wanted: Wanted, solver: Any, problems: FoldProblems, task: Task | None
    ) -> Walk | None:
        """Search the penalties of a wide problem; None if all of them are tried."""
        nested = task is not None and self._nests(task)
        if nested or problems.whole.width <= LARGE or not wanted.is_default:
            return None
        walk = Walk(problems, solver)
        wanted.walk(walk, self._posed(solver, problems.whole)[1], solver.form)
        return walk

    def _descend(
        self,
        wanted: Wanted,
        solver: Any,
        problems: FoldProblems,
        judged: list[tuple[Any, FoldProblems]],
        start: Any,
    ) -> Any:
        """Follow the gradient of the folds' squared error from the best penalty of the grid.

        `judged` has the folds of each map with the solver of the map.
        """
        total = sum(folds.weight for _, folds in judged)

        def objective(penalty: Any) -> tuple[float, Array]:
            found = [folds.loss_and_gradient(of_map, penalty) for of_map, folds in judged]
            shares = [folds.weight / total for _, folds in judged]
            losses, gradients = zip(*found, strict=True)
            return float(np.dot(shares, losses)), np.dot(shares, gradients)

        found, lost, n = wanted.descend(
            objective,
            start,
            solver.form,
            self._posed(solver, problems.whole)[1],
            unit=float(problems.whole.square.sum()) or 1.0,
        )
        self.cv_results_ = as_table([start, found], n_evaluations=n, squared_error=lost)
        return found

    def _nested_scores(self, candidates: list[Any], parts: list[Fold]) -> Scores:
        """Return the losses and errors of all candidates, with a map of its own for each fold."""
        scores = Scores(len(candidates), self._targets)
        for part in parts:
            problem = self._training(part)
            coefs = list(self._solver(part.blocks.representation).path(problem, candidates))
            outputs = np.stack([part.Z @ coef + problem.intercept(coef) for coef in coefs])
            scores.add(outputs, part.Y, part.weight, np.square(outputs - part.Y).sum(axis=2))
        return scores

    def _training(self, part: Fold) -> LeastSquares:
        """Return the problem of the rows outside a fold with a map of its own."""
        q, centers = part.Y.shape[1], self._center_features
        return LeastSquares.of(part.moments, q, self.fit_intercept, centers)

    def _alone(self, part: Fold) -> tuple[Any, FoldProblems]:
        """Return the solver and the problems of one fold with a map of its own."""
        train = self._training(part)
        moments = Moments.of(np.hstack([part.Z, part.Y]), part.weight)
        problems = FoldProblems(train, [(train, LeastSquares.of(moments, part.Y.shape[1]))], [0])
        return self._solver(part.blocks.representation), problems

    @property
    def _criterion(self) -> str:
        if self.criterion is None:
            return "error" if self._classifies else "squared_error"
        if self.criterion == "error" and not self._classifies:
            raise ValueError(
                f"criterion='error' counts wrong classes, and {self._name} predicts numbers: leave "
                "it out, or use criterion='squared_error'."
            )
        return str(self.criterion)

    # --- more rows ------------------------------------------------------------------------------

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, announced: NDArray | None) -> None:
        """Learn from more rows; after the first call the squared error tunes the penalties."""
        tuned = self._needs_folds
        if not isinstance(self.cv, Integral) and tuned:
            why = "needs all rows at once" if self._leaves_one_out else "yields row indices"
            raise ValueError(
                f"{self._name}.partial_fit cannot use cv={self.cv!r}, which {why}: pass a number "
                "of folds, or give alpha a number."
            )
        if not hasattr(self, "_parts"):
            if hasattr(self, "coef_"):
                warnings.warn(
                    f"{self._name}.partial_fit starts anew and forgets the rows of fit, which kept "
                    "no statistics of them: fit with keep_statistics=True to go on from there.",
                    UserWarning,
                    stacklevel=outside_level(),
                )
            return self._first_rows(X, y, sample_weight, announced)
        self._check_unsupervised(self._representation)
        self.__dict__.pop("_calibration", None)  # it does not hold for the rows to come
        before = dict(vars(self))
        data = self._open(X, y, sample_weight, reset=False)
        rng = as_generator(self.random_state)
        key = self._key(rng)
        survey = self._survey(data, key)
        columns = before.get("n_features_in_"), vars(self).get("n_features_in_")
        check_like(self._name, "columns", *columns)
        self._targets.check_more(survey, announced)
        # Earlier rows cannot be dealt anew: further rows go to folds by their content alone.
        folds = Folds(int(self.cv), key) if tuned else None
        blocks = FeatureBlocks(data, self._representation, self._targets, survey.n_rows)
        new = blocks.moments(folds)
        if len(new) != len(self._parts):
            raise ValueError("alpha and cv must not change between calls to partial_fit.")
        self._parts = [old.merge(more) for old, more in zip(self._parts, new, strict=True)]
        self._solve_moments(self._parts, survey, None)

    def _first_rows(self, X: Any, y: Any, sample_weight: Any, announced: NDArray | None) -> None:
        data = self._open(X, y, sample_weight)
        rng = as_generator(self.random_state)
        survey = self._survey(data, self._key(rng))
        if announced is not None:
            survey = survey.with_labels(announced)
        elif survey.labels is not None and len(survey.labels) == 1:
            raise ValueError(
                f"{self._name}.partial_fit got rows of one class, {survey.labels.tolist()[0]!r}: "
                "pass all classes to the first call as classes=…"
            )
        targets = self._targets_of(survey)
        representation = self._recipe.fit(survey.sample, targets, rng)
        self._warn_of_direction(representation)
        self._check_unsupervised(representation)
        task = Task(data, survey, targets, self._recipe, representation)
        self._adopt(task)
        self._solve(task)

    def _check_unsupervised(self, representation: Representation) -> None:
        """Raise if penalties would be tuned on features that have seen the targets of rows."""
        if self._needs_folds and representation.is_supervised:
            raise ValueError(
                f"{self._name}.partial_fit cannot tune penalties with features that use y: the map "
                "has seen the targets of the first rows, and it cannot be fitted anew without the "
                "rows of each fold. Give alpha as a number, or use fit."
            )
