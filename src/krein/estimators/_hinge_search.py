"""Cross-validation of a margin machine: Newton solutions along a path of penalties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._hashing import Hashes
from ..learning import MarginLoss, Newton, Split
from ..learning.newton import NewtonState, Piece, outputs
from ..streaming import fold
from ._task import FeatureBlock, FeatureBlocks, Scores, Task

Array = NDArray[np.floating]


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
        seen = fold(blocks, _Sides(blocks))
        self.Y, self.weight, self.hashes = seen.Y, seen.weight, seen.hashes
        self.targets = list(np.ascontiguousarray(seen.Y.T))  # ±1 of each binary problem
        self.mean = seen.total / self.weight.sum() if center else np.zeros(self.width)
        self._kept = seen.kept
        for i, (rows, Z) in enumerate(self._kept):  # one by one: there is no second copy of all
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


class _Sides:
    """The statistic of all that a machine needs beside the features: targets, weights, hashes."""

    def __init__(self, blocks: FeatureBlocks):
        n = blocks.n_rows
        self.Y = np.empty((n, blocks.targets.n_outputs))
        self.weight = np.ones(n)
        self.hashes: Hashes = np.zeros(n, dtype=np.uint64)
        self.seen = np.zeros(n, dtype=bool)
        self.total = np.zeros(blocks.width)
        self.keeps = blocks.is_small
        self.kept: list[Piece] = []

    def update(self, block: FeatureBlock) -> _Sides:
        self.Y[block.rows], self.hashes[block.rows] = block.Y, block.hashes
        self.seen[block.rows] = True
        if block.weight is not None:
            self.weight[block.rows] = block.weight
        self.total += self.weight[block.rows] @ block.Z
        if self.keeps:
            self.kept.append((block.rows, block.Z))
        return self

    def merge(self, other: _Sides) -> _Sides:
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


def _path(
    solver: Newton, rows: CenteredRows, y: Array, weight: Array, candidates: list[Split]
) -> Iterator[tuple[int, NewtonState]]:
    """The solution for each candidate, largest penalty first: each is near the next one."""
    state = NewtonState.zero(rows)
    for i in sorted(range(len(candidates)), key=lambda i: -candidates[i].alpha):
        solver.solve(rows, y, weight, candidates[i], state)
        if state.interrupted:
            raise KeyboardInterrupt
        yield i, state


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
        self.places = task.survey.folds(rows.hashes, slice(None))
        self._starts: dict[tuple[int, int], Array] = {}
        self._folds: list[tuple[CenteredRows, Any]] = []

    def parts(self) -> Iterator[tuple[int, Array, NDArray[np.intp]]]:
        """Number, training weights and test rows of each fold that can be judged."""
        for number in range(self.task.survey.folds.n_folds):
            weight = np.where(self.places == number, 0.0, self.rows.weight)
            test = np.flatnonzero((self.places == number) & (self.rows.weight > 0))
            if len(test) and weight.sum() > 0:
                yield number, weight, test

    def scores(self, candidates: list[Split]) -> list[tuple[float, ...]]:
        """Error, loss, squared error and Brier score of each candidate, on the rows left out."""
        scores = Scores(len(candidates))
        judged = self._nested if self.nested else self._once
        for found, Y, weight in judged(candidates):
            scores.add(found, Y, weight, self.judge.value(Y * found).sum(axis=2))
        columns = scores.errors, scores.losses, scores.squared_errors, scores.brier
        return list(zip(*columns, strict=True))

    def _once(self, candidates: list[Split]) -> Iterator[tuple[Array, Array, Array]]:
        """Outputs (c, n, q), targets and weights of each fold; the map has seen all rows."""
        for _, weight, test in self.parts():
            found = np.empty((len(candidates), len(test), self.rows.Y.shape[1]))
            for k, y in enumerate(self.rows.targets):
                for i, state in _path(self.solver, self.rows, y, weight, candidates):
                    found[i, :, k] = state.outputs[test]
            yield found, self.rows.Y[test], self.rows.weight[test]

    def _nested(self, candidates: list[Split]) -> Iterator[tuple[Array, Array, Array]]:
        """The same with a map of its own for each fold."""
        if not self._folds:
            center = self.solver.fit_intercept
            self._folds = [(CenteredRows(part.blocks, center), part) for part in self.task.folds]
        for rows, part in self._folds:
            solver = replace(self.solver, form=part.blocks.representation.form)
            found = np.empty((len(candidates), *part.Y.shape))
            Z = part.Z - rows.mean
            for k, y in enumerate(rows.targets):
                for i, state in _path(solver, rows, y, rows.weight, candidates):
                    found[i, :, k] = Z @ state.coef[:-1] + state.coef[-1]
            yield found, part.Y, part.weight

    def loss_and_gradient(self, penalty: Split) -> tuple[float, Array]:
        """The loss on the rows left out and its derivatives by the logarithms of the penalties."""
        loss, gradient, total = 0.0, np.zeros(2), 0.0
        for number, weight, test in self.parts():
            s = self.rows.weight[test]
            total += float(s.sum())
            for k, y in enumerate(self.rows.targets):
                start = self._starts.get((number, k), np.zeros(self.rows.width + 1))
                state = NewtonState.at(self.rows, start)
                self.solver.solve(self.rows, y, weight, penalty, state)
                if state.interrupted:
                    raise KeyboardInterrupt
                self._starts[number, k] = state.coef
                margin = y[test] * state.outputs[test]
                loss += float(s @ self.judge.value(margin))
                slope = 2 * s * y[test] * self.judge.half_slope(margin)
                changes = self.solver.derivatives(self.rows, weight, y, penalty, state)
                for i, change in enumerate(changes):
                    gradient[i] += float(slope @ outputs(self.rows, change)[test])
        return loss / total, gradient / total
