"""What the two-sided learners share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..features import Nystrom, SimilarityFeatures
from ..forms import Signature
from ..learning import Cholesky, Coupled, Indefinite, Joint, LeastSquares, Split, Views
from ..learning.selection import FoldProblems, best
from ..rows import count
from ..streaming import HeldRows, Moments
from ._errors import NoFoldsError
from ._penalties import SHARES, Wanted
from ._representation import Recipe, Representation, last_step
from ._task import Task
from .least_squares import LeastSquaresLearner

Array = NDArray[np.floating]


class TwoSidedLearner(LeastSquaresLearner):
    """Least squares on both sides of the map; `krein.learning.Coupled` says what is solved."""

    # The weights (2q, q) and intercepts (q,) of both predictions, for combine="stack".
    _stack: tuple[Array, Array]
    # Features that are centred separately would no longer factorise one matrix K = φ_s φ_tᵀ.
    _center_features = False

    @property
    def _recipe(self) -> Recipe:
        return replace(super()._recipe, both_sides=True)

    @property
    def _needs_both_sides(self) -> bool:
        return self._recipe.is_directed

    @property
    def _needs_folds(self) -> bool:
        return super()._needs_folds or self.combine == "stack"

    def _no_folds(self, n_rows: int) -> NoFoldsError:
        if super()._needs_folds:
            return super()._no_folds(n_rows)
        return NoFoldsError(self._name, n_rows, self.combine, "combine", "use combine='mean'")

    @property
    def _row_widths(self) -> set[int]:
        places = getattr(self.features_, "component_indices_", None)
        return {self.n_features_in_} | (set() if places is None else {len(places)})

    @property
    def landmark_indices_(self) -> NDArray[np.intp]:
        """Indices of the landmarks among the training rows, for a precomputed kernel.

        `predict` takes the values against all training rows, or against these rows alone, in this
        order.
        """
        check_is_fitted(self)
        if self._columns is None:
            raise AttributeError(f"{self._name} has no landmark_indices_: X was not a matrix K.")
        places = self._columns[self.features_.component_indices_]
        # As many columns as there are training rows are read in the order of the training rows.
        return np.sort(places) if len(places) == self.n_features_in_ else places

    def _learn(self, task: Task) -> None:
        super()._learn(task.of_both_sides())

    def _held_out(self, task: Task) -> HeldRows:
        return super()._held_out(task.of_both_sides())

    # --- the problem ----------------------------------------------------------------------------

    def _solver(self, representation: Representation) -> Coupled:
        form = None if representation.is_doubled else representation.form
        views = Views(form, self._scale(representation))
        p = len(views.scale)
        if self.coupling == "joint":
            return Joint(self._solver_of(Signature(np.ones(2 * p))), views)
        return Coupled(self._solver_of(Signature(np.repeat([1.0, -1.0], p))), views)

    def _scale(self, representation: Representation) -> Array:
        """Return ``|Λ|^(power − ½)``: the columns of Z have the norms |Λ|^½."""
        width, last = representation.form.width, last_step(representation.features)
        if self.power == 0.5:
            return np.ones(width)
        if not isinstance(last, Nystrom) or isinstance(last, SimilarityFeatures):
            raise ValueError(
                f"{self._name}(power={self.power}) needs the singular values of a Nystrom map, and "
                f"{type(last).__name__} has none: use power=0.5, or features=Nystrom(kernel)."
            )
        whole = count(last.landmarks_) == width
        if whole and representation.form.is_identity and not representation.is_two_sided:
            raise ValueError(
                f"{self._name}(power={self.power}) needs the eigenvectors of the kernel, and the "
                "columns of a positive definite Nystrom map with as many columns as landmarks are "
                "rotated: use power=0.5, or n_landmarks above n_components."
            )
        return np.abs(last.eigenvalues_) ** (self.power - 0.5)

    def _posed(self, solver: Any, problem: LeastSquares) -> tuple[LeastSquares, float]:
        posed = solver.posed(problem)
        return posed, float(np.trace(posed.gram)) / 2 or 1.0  # the mean variance of both sides

    def _candidates(self, wanted: Wanted, solver: Any, problem: LeastSquares) -> list[Any]:
        found = super()._candidates(wanted, solver, problem)
        if self.coupling != "askls" or self.alphas is not None:
            return found
        # The published method also has penalties among the singular values. Cross-validation
        # rejects penalties that are too close to a singular value.
        _, scale = self._posed(solver, problem)
        return [*(Indefinite(alpha) for alpha in (SHARES * scale).tolist()), *found]

    def _fitted(
        self, solver: Any, problems: FoldProblems, parts: list[Moments], penalty: Any, task: Any
    ) -> tuple[Array, Array]:
        if self.combine == "mean":
            return super()._fitted(solver, problems, parts, penalty, task)
        if self._nests(task):
            outside = self._outside_with_own_maps(task, penalty)
        else:
            outside = _outside(solver, problems, parts, penalty)
        q = self._targets.n_outputs
        self._stack = _stacked(list(outside), q, self.fit_intercept)
        self._forget_folds()  # their models do not know how both sides are stacked
        return self._solution(solver, problems.whole, penalty)

    def _solution(self, solver: Any, problem: LeastSquares, penalty: Any) -> tuple[Array, Array]:
        if self.combine == "mean":
            return super()._solution(solver, problem, penalty)
        weights, intercept = self._stack
        coef = np.hstack(solver.sides(problem, penalty)) @ weights
        return coef, np.tile(problem.y_mean, 2) @ weights + intercept

    def _outside_with_own_maps(self, task: Task, penalty: Any) -> Iterator[Moments]:
        """Yield the moments of [f_s, f_t, Y] of each fold, with a map of its own for each fold."""
        for part in task.folds:
            train = self._training(part)
            sides = self._solver(part.blocks.representation).sides(train, penalty)
            outputs = part.Z @ np.hstack(sides) + np.tile(train.y_mean, 2)
            yield Moments.of(np.hstack([outputs, part.Y]), part.weight)

    def _solve(self, task: Task) -> None:
        if self.coupling == "joint" and self.combine == "stack":
            raise ValueError(
                f"{self._name}(coupling='joint', combine='stack') has one prediction, not two that "
                "could be stacked: use combine='mean', or coupling='split'."
            )
        super()._solve(task)


def _outside(
    solver: Coupled, problems: FoldProblems, parts: list[Moments], penalty: Any
) -> Iterator[Moments]:
    """Yield the moments of [f_s, f_t, Y] of each fold, f_s and f_t learned from the other folds."""
    for number, (train, _) in zip(problems.folds, problems.pairs, strict=True):
        sides = np.hstack(solver.sides(train, penalty))
        q = train.n_outputs
        matrix = np.block([[sides, np.zeros((len(sides), q))], [np.zeros((q, 2 * q)), np.eye(q)]])
        yield parts[number].mapped(matrix, np.append(np.tile(train.y_mean, 2), np.zeros(q)))


def _stacked(outside: list[Moments], n_outputs: int, fit_intercept: bool) -> tuple[Array, Array]:
    """Return the weights (2q, q) and intercepts (q,) of a ridge on (f_s, f_t), tuned by folds."""
    problems = FoldProblems.of([*outside, Moments.zero(3 * n_outputs)], n_outputs, fit_intercept)
    solver = Cholesky(Signature(np.ones(2 * n_outputs)))
    scale = float(np.trace(problems.whole.gram)) or 1.0
    candidates = [Split(alpha, alpha) for alpha in (SHARES * scale).tolist()]
    chosen = len(candidates) // 2  # if only one fold is tested
    if problems.pairs:
        losses = problems.losses(problems.coefficients(solver, candidates))
        square = float(problems.whole.square.sum()) or 1.0
        chosen = best(losses / square, -SHARES)
    weights = solver.solve(problems.whole, candidates[chosen])
    return weights, problems.whole.intercept(weights)
