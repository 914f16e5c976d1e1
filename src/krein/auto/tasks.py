"""The tasks of all trials: data, folds and maps that several learners share."""

from __future__ import annotations

from dataclasses import dataclass, field

from .._hashing import as_key
from .._validation import as_generator
from ..estimators._representation import Recipe
from ..estimators._targets import Targets
from ..estimators._task import Task
from ..streaming import Data, Survey
from .maps import Candidate
from .plan import Plan


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
    """

    owner: str
    data: Data
    targets: Targets
    plan: Plan
    seed: int
    _surveys: list[Survey] = field(default_factory=list)
    _made: dict[Candidate, list[Task]] = field(default_factory=dict)

    @property
    def seeds(self) -> list[int]:
        """The seed of each repetition."""
        return [self.seed + i for i in range(max(1, self.plan.repeats))]

    def surveys(self) -> list[Survey]:
        """Return the surveys of the data with the folds of each repetition."""
        if not self._surveys:
            keys = [as_key(as_generator(seed)) for seed in self.seeds]
            classify = hasattr(self.targets, "labels")
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

    def keep(self, candidates: list[Candidate]) -> None:
        """Forget the tasks of all other maps."""
        self._made = {c: tasks for c, tasks in self._made.items() if c in candidates}

    def _task(self, candidate: Candidate, survey: Survey, seed: int) -> Task:
        recipe = Recipe(self.owner, None, 1, candidate.features, seed)
        rng = as_generator(seed)
        as_key(rng)  # as a learner does, which draws its key first
        representation = recipe.fit(survey.sample, self.targets, rng)
        shared = self.plan.repeats > 0
        return Task(self.data, survey, self.targets, recipe, representation, shared)
