"""Cross-validation of a margin machine: Newton solutions along a path of penalties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._hashing import Hashes
from ..learning import MarginLoss, Newton, Split
from ..learning.newton import NewtonState, outputs
from ..learning.newton_starts import Starts
from ..learning.newton_systems import Piece
from ..streaming import fold
from ._passes import Scores
from ._task import FeatureBlock, FeatureBlocks, Fold, Task

Array = NDArray[np.floating]

# The coefficients of all penalties of a fold are kept if they need no more memory than this.
KEPT_BYTES = 2**24


class CenteredRows:
    """The features of all rows about their mean, walked once per pass of the solver.

    Newton's system has more digits for centred features; the intercept accounts for the mean.
    Features are kept if they are small, and computed anew in every pass if they are not.

    Parameters
    ----------
    blocks : FeatureBlocks
    center : bool
        False leaves the features as they are, for a machine without an intercept.
    """

    def __init__(self, blocks: FeatureBlocks, center: bool):
        self.blocks, self.n_rows, self.width = blocks, blocks.n_rows, blocks.width
        seen = fold(blocks, _Gathered(blocks))
        self.Y, self.weight, self.hashes = seen.Y, seen.weight, seen.hashes
        self.targets = list(np.ascontiguousarray(seen.Y.T))  # ±1 of each binary problem
        self.mean = seen.total / self.weight.sum() if center else np.zeros(self.width)
        self._kept = seen.kept
        for i, (rows, Z) in enumerate(self._kept):  # one by one, to save memory
            self._kept[i] = rows, self._centered(Z)

    def __iter__(self) -> Iterator[Piece]:
        if self._kept:
            return iter(self._kept)
        return ((block.rows, self._centered(block.Z)) for block in self.blocks)

    def _centered(self, Z: Array) -> Array:
        return Z - self.mean.astype(Z.dtype) if self.mean.any() else Z

    @property
    def variance(self) -> float:
        """The mean square of the features, which gives penalties their scale."""
        return fold(self, _Squares(self.weight)).total / float(self.weight.sum()) or 1.0


class _Gathered:
    """The statistic of targets, weights and hashes of all rows, and of features that are kept."""

    def __init__(self, blocks: FeatureBlocks):
        n = blocks.n_rows
        self.Y = np.empty((n, blocks.targets.n_outputs))
        self.weight = np.ones(n)
        self.hashes: Hashes = np.zeros(n, dtype=np.uint64)
        self.seen = np.zeros(n, dtype=bool)
        self.total = np.zeros(blocks.width)
        self.keeps = blocks.is_small
        self.kept: list[Piece] = []

    def update(self, block: FeatureBlock) -> _Gathered:
        self.Y[block.rows], self.hashes[block.rows] = block.Y, block.hashes
        self.seen[block.rows] = True
        if block.weight is not None:
            self.weight[block.rows] = block.weight
        self.total += self.weight[block.rows] @ block.Z
        if self.keeps:
            self.kept.append((block.rows, block.Z))
        return self

    def merge(self, other: _Gathered) -> _Gathered:
        for name in ("Y", "weight", "hashes"):
            getattr(self, name)[other.seen] = getattr(other, name)[other.seen]
        self.seen |= other.seen
        self.total += other.total
        self.kept += other.kept
        return self


class _Squares:
    """The statistic of the weighted sum of squares of all features."""

    def __init__(self, weight: Array):
        self.weight, self.total = weight, 0.0

    def update(self, piece: Piece) -> _Squares:
        rows, Z = piece
        self.total += float(self.weight[rows] @ np.square(Z).sum(axis=1))
        return self

    def merge(self, other: _Squares) -> _Squares:
        self.total += other.total
        return self


@dataclass(frozen=True)
class MarginFold:
    """A fold of a margin machine: rows to learn from, and rows left out that judge the machine.

    Attributes
    ----------
    solver : Newton
    rows : CenteredRows
    weight : ndarray of shape (n,)
        The weights in training; zero for the rows left out.
    Y : ndarray of shape (m, q)
        The targets of the rows left out.
    judging : ndarray of shape (m,)
        The weights of the rows left out.
    number : int
        The number of the fold.
    """

    solver: Newton
    rows: CenteredRows
    weight: Array
    Y: Array
    judging: Array
    number: int

    def at(self, state: NewtonState) -> Array:
        """Return the outputs of the rows left out at a solution, shape (m,)."""
        return self.of(state.coef)

    def of(self, coef: Array) -> Array:
        """Return the outputs of the rows left out, shape (m,); coef has the intercept last."""
        raise TypeError(f"{type(self).__name__} must define of.")

    def solve(self, y: Array, penalty: Split, state: NewtonState) -> NewtonState:
        """Learn from the other rows, beginning with `state`, which is changed and returned."""
        self.solver.solve(self.rows, y, self.weight, penalty, state)
        if state.interrupted:
            raise KeyboardInterrupt
        return state

    def outputs(self, candidates: list[Split]) -> tuple[Array, Array]:
        """Return the outputs of the rows left out, (c, m, q), and the coefficients, (c, p + 1, q).

        The largest penalty is solved first, because its solution is near the solution of the next
        one.
        """
        n_classes = len(self.rows.targets)
        found = np.empty((len(candidates), *self.Y.shape))
        coefs = np.empty((len(candidates), self.rows.width + 1, n_classes))
        starts = Starts.of(self.solver, self.rows, self.rows.Y, self.weight, candidates)
        for k, y in enumerate(self.rows.targets):
            state = NewtonState.zero(self.rows) if starts is None else starts.first(self.rows)
            for i in sorted(range(len(candidates)), key=lambda i: -candidates[i].alpha):
                if starts is None or not starts.offer(i, k, y, state):
                    self.solve(y, candidates[i], state)
                found[i, :, k], coefs[i, :, k] = self.at(state), state.coef
        return found, coefs

    def solutions(self, penalty: Split, start: Array | None) -> Array:
        """Return the coefficients of all classes, shape (p + 1, q), the intercepts last.

        Newton's method begins with `start`, of the same shape, or with zeros.
        """
        found = []
        for k, y in enumerate(self.rows.targets):
            rows = self.rows
            state = NewtonState.zero(rows) if start is None else NewtonState.at(rows, start[:, k])
            found.append(self.solve(y, penalty, state).coef)
        return np.stack(found, axis=1)

    def uncentered(self, coef: Array) -> tuple[Array, Array]:
        """Return coefficients (p, q) and intercepts (q,) of features that are not centred."""
        return coef[:-1], coef[-1] - self.rows.mean @ coef[:-1]


@dataclass(frozen=True)
class SharedMapFold(MarginFold):
    """A fold whose map has seen all rows: the rows left out are walked with the others."""

    test: NDArray[np.intp]

    def at(self, state: NewtonState) -> Array:
        return state.outputs[self.test]  # the solver has computed them

    def of(self, coef: Array) -> Array:
        return outputs(self.rows, coef)[self.test]


@dataclass(frozen=True)
class OwnMapFold(MarginFold):
    """A fold with a map of its own, which has not seen the rows left out."""

    Z: Array

    def of(self, coef: Array) -> Array:
        return self.Z @ coef[:-1] + coef[-1]


class Search:
    """Cross-validation with warm starts: the rows of a fold have weight zero in training.

    Parameters
    ----------
    solver : Newton
    rows : CenteredRows
    task : Task
    nested : bool
        True if each fold has a map of its own.
    judge : MarginLoss
        The loss on the rows left out.
    """

    def __init__(
        self, solver: Newton, rows: CenteredRows, task: Task, nested: bool, judge: MarginLoss
    ):
        self.solver, self.rows, self.task, self.nested = solver, rows, task, nested
        self.judge = judge
        self._starts: dict[tuple[int, int], Array] = {}
        self._solved: dict[tuple[int, Split], Array] = {}

    def folds(self) -> Iterable[MarginFold]:
        """Return the folds that can be judged."""
        return self._nested if self.nested else self._shared()

    def _shared(self) -> Iterator[MarginFold]:
        rows = self.rows
        places = self.task.survey.folds(rows.hashes, slice(None))
        for number in range(self.task.survey.folds.n_folds):
            weight = np.where(places == number, 0.0, rows.weight)
            test = np.flatnonzero((places == number) & (rows.weight > 0))
            if len(test) and weight.sum() > 0:
                Y, judging = rows.Y[test], rows.weight[test]
                yield SharedMapFold(self.solver, rows, weight, Y, judging, number, test)

    @cached_property
    def _nested(self) -> list[MarginFold]:
        return [self._own(number, part) for number, part in enumerate(self.task.folds)]

    def _own(self, number: int, part: Fold) -> MarginFold:
        rows = CenteredRows(part.blocks, self.solver.fit_intercept)
        solver = replace(self.solver, form=part.blocks.representation.form)
        Z = part.Z - rows.mean
        return OwnMapFold(solver, rows, rows.weight, part.Y, part.weight, number, Z)

    def scores(self, candidates: list[Split]) -> list[tuple[float, ...]]:
        """Return error, loss, squared error and Brier score of each candidate on held-out rows."""
        scores = Scores(len(candidates), self.task.targets)
        for part in self.folds():
            found, coefs = part.outputs(candidates)
            scores.add(found, part.Y, part.judging, self.judge.value(part.Y * found).sum(axis=2))
            if coefs.nbytes <= KEPT_BYTES:
                keys = [(part.number, penalty) for penalty in candidates]
                self._solved |= dict(zip(keys, coefs, strict=True))
        columns = scores.errors, scores.losses, scores.squared_errors, scores.brier
        return list(zip(*columns, strict=True))

    def solved(self, penalty: Split) -> dict[int, tuple[Array, Array]]:
        """Return the coefficients and intercepts that are learned without the rows of each fold.

        They belong to features that are not centred. The dictionary is empty if the search has not
        kept the solutions of all folds.
        """
        parts = list(self.folds())
        if not all((part.number, penalty) in self._solved for part in parts):
            return {}
        return {p.number: p.uncentered(self._solved[p.number, penalty]) for p in parts}

    def loss_and_gradient(self, penalty: Split) -> tuple[float, Array]:
        """Return the loss on the rows left out, and its derivatives by the log penalties."""
        loss, gradient, total = 0.0, np.zeros(2), 0.0
        for part in self.folds():
            total += float(part.judging.sum())
            for k, y in enumerate(part.rows.targets):
                lost, slope = self._loss_and_gradient(part, k, y, penalty)
                loss, gradient = loss + lost, gradient + slope
        return loss / total, gradient / total

    def _loss_and_gradient(
        self, part: MarginFold, k: int, y: Array, penalty: Split
    ) -> tuple[float, Array]:
        """Return the loss and its derivatives for one fold and one class, summed over the rows."""
        start = self._starts.get((part.number, k), np.zeros(part.rows.width + 1))
        state = part.solve(y, penalty, NewtonState.at(part.rows, start))
        self._starts[part.number, k] = state.coef
        margin = part.Y[:, k] * part.at(state)
        slope = 2 * part.judging * part.Y[:, k] * self.judge.half_slope(margin)
        changes = part.solver.derivatives(part.rows, part.weight, y, penalty, state)
        gradient = np.array([slope @ part.of(change) for change in changes])
        return float(part.judging @ self.judge.value(margin)), gradient
