"""The tasks of all trials: data, folds and maps that several learners share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._hashing import Hashes, as_generator, as_key
from ..estimators._left_out import EqualRows
from ..estimators._representation import Recipe
from ..estimators._targets import Numbers, Targets
from ..estimators._task import Task
from ..rows import count
from ..streaming import Data, Survey, fold
from .maps import Candidate
from .plan import Plan
from .relearning import Relearning
from .sizes import SCARCE

# If at least this many rows have not taught the factors of columns, no other rows are held out.
ENOUGH = 150


@dataclass
class Tasks:
    """The tasks of all trials: one survey per repetition serves all maps and learners.

    Attributes
    ----------
    owner : str
        The name of the automatic learner.
    data : Data
    targets : Numbers or Classes
    plan : Plan
    seed : int
    taught : ndarray of uint64 or None
        The hashes of the rows that have taught the factors of columns; None if there are none, or
        if only trials of the same factors are compared.
    """

    owner: str
    data: Data
    targets: Targets
    plan: Plan
    seed: int
    taught: Hashes | None = None
    _surveys: list[Survey] = field(default_factory=list)
    _made: dict[Candidate, list[Task]] = field(default_factory=dict)
    _refitted: dict[Candidate, Task] = field(default_factory=dict)
    _known: dict[bytes, NDArray[np.floating]] = field(default_factory=dict)

    @property
    def seeds(self) -> list[int]:
        """The seed of each repetition."""
        return [self.seed + i for i in range(max(1, self.plan.repeats))]

    def surveys(self) -> list[Survey]:
        """Return the surveys of the data with the folds of each repetition."""
        if not self._surveys:
            keys = [as_key(as_generator(seed)) for seed in self.seeds]
            classify = not isinstance(self.targets, Numbers)
            self._surveys = [
                Survey.of(self.data, key, self.plan.cv, classify, self.owner) for key in keys
            ]
        return self._surveys

    def of(self, candidate: Candidate) -> list[Task]:
        """Return the tasks of a map, one per repetition, and keep them for other learners."""
        if candidate not in self._made:
            self._made[candidate] = [
                self._task(candidate, survey, seed)
                for survey, seed in zip(self.surveys(), self.seeds, strict=True)
            ]
        return self._made[candidate]

    def honest(self, candidate: Candidate) -> list[Task]:
        """Return the tasks whose held-out rows tell how good the models are on new rows.

        With enough other rows, the rows that have taught the factors of columns are not held out.
        With fewer rows, each fold has factors of its own.
        """
        tasks = self.of(candidate)
        if not self._is_refitted(candidate):
            return tasks
        if candidate not in self._refitted:
            first, teacher = tasks[0], candidate.teacher
            recipe = first.recipe
            if teacher is not None:
                recipe = Relearning.of(
                    recipe, teacher=teacher, equal=self._equal, known=self._known
                )
            supervised = replace(first.representation, is_supervised=True)
            self._refitted[candidate] = replace(first, recipe=recipe, representation=supervised)
        return [self._refitted[candidate]]

    def _is_refitted(self, candidate: Candidate) -> bool:
        """Return True if a map is fitted anew for each fold before rows are held out.

        On scarce rows, kernel and penalty are the best of many by errors of rows left out one at a
        time, and these errors are too small. Folds leave fewer rows for learning, which makes up
        for it.
        """
        if not self.data.in_memory or self._has_others:
            return False
        is_scarce = candidate.leaves_one_out and self._n_distinct <= SCARCE
        has_taught = self.taught is not None and candidate.teacher is not None
        return is_scarce or has_taught

    @property
    def _n_distinct(self) -> int:
        return count(self.surveys()[0].sample.X)

    @property
    def _has_others(self) -> bool:
        """True if enough rows have not taught the factors of columns."""
        return self.taught is not None and self._n_distinct - len(self.taught) >= ENOUGH

    @cached_property
    def _equal(self) -> EqualRows:
        return fold(self.data, EqualRows(self.targets)).freeze()

    def keep(self, candidates: list[Candidate]) -> None:
        """Forget the tasks of all other maps."""
        self._made = {c: tasks for c, tasks in self._made.items() if c in candidates}
        self._refitted = {c: task for c, task in self._refitted.items() if c in candidates}

    def _task(self, candidate: Candidate, survey: Survey, seed: int) -> Task:
        recipe = Recipe(self.owner, None, 1, candidate.features, seed)
        rng = as_generator(seed)
        as_key(rng)  # a learner draws its key first
        representation = recipe.fit(survey.sample, self.targets, rng)
        shared = self.plan.repeats > 0
        taught = self.taught if self._has_others else None
        return Task(self.data, survey, self.targets, recipe, representation, shared, taught)
