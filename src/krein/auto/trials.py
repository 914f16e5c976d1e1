"""Trials of learners on maps: fitted one after the other, judged, and the best few kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from .._hashing import as_key
from .._threads import blas_threads_for
from .._validation import as_generator
from ..estimators._errors import NoFoldsError
from ..estimators._representation import Recipe
from ..estimators._targets import Targets
from ..estimators._task import Task
from ..kernels.errors import BadPairError
from ..streaming import Data, HeldRows, Survey
from .clock import Clock
from .maps import Candidate
from .plan import Plan
from .report import NAMES, Report, Trial
from .sizes import GOOD_MAPS

# Trials with a loss of at most this many times the smallest one may be averaged.
AS_GOOD = 1.5
# The same factor for squared errors if all close trials are averaged.
CLOSE = 1.1
# The name of the learner that is tried on all maps of a kernel that is not symmetric.
TWO_SIDED = "two-sided"


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


class Good(NamedTuple):
    """A trial that may be kept: its losses, index, learner, map and fitted models."""

    losses: tuple[float, ...]
    place: int
    kind: str
    candidate: Candidate
    models: list[Any]


@dataclass
class Trials:
    """Runs trials one after the other and keeps the best few.

    Attributes
    ----------
    tasks : Tasks
    learners : dict
        The class and the options of each learner, by name.
    criteria : tuple of str
        The losses by which trials are compared.
    n_rows : int
        The number of distinct rows of positive weight.
    stage : callable
        ``stage(name)`` is a context that reports one trial.
    clock : Clock
        The time after which no trial begins.
    is_patient : bool
        True if a failure of the first trial does not end the fit, because other maps follow.
    """

    tasks: Tasks
    learners: dict[str, tuple[type, dict[str, Any]]]
    criteria: tuple[str, ...]
    n_rows: int
    stage: Callable[[str], AbstractContextManager]
    clock: Clock = field(default_factory=lambda: Clock(None))
    is_patient: bool = False

    def __post_init__(self) -> None:
        self.plan = self.tasks.plan
        self.report = Report(self.criteria)
        self._good: list[Good] = []
        self._spent: dict[tuple[str, int], float] = {}
        self._first_error: ValueError | None = None

    def run(self, maps: list[Candidate]) -> None:
        """Try the first learner on all maps, and the other learners on the maps that suit it.

        The two-sided learner is tried on all maps with two sides. A map that names its learners is
        tried with these alone.
        """
        first, *others = (kind for kind in self.learners if kind != TWO_SIDED)
        scores: dict[Candidate, tuple[float, ...]] = {}
        for candidate in maps:
            if candidate.kinds is not None:
                for kind in candidate.kinds:
                    self.attempt(kind, candidate)
                continue
            kinds = [first, TWO_SIDED] if candidate.is_directed else [first]
            scores[candidate] = min(self.attempt(kind, candidate) for kind in kinds)
            if self.plan.chooses:
                self.tasks.keep(self._suited(scores))
        if not self._good and self._first_error is not None:
            raise self._first_error
        for candidate in self._suited(scores):
            for kind in others:
                self.attempt(kind, candidate)

    def _suited(self, scores: dict[Candidate, tuple[float, ...]]) -> list[Candidate]:
        good = [candidate for candidate in scores if np.isfinite(scores[candidate][0])]
        return sorted(good, key=scores.__getitem__)[:GOOD_MAPS] if self.plan.chooses else good

    def attempt(self, kind: str, candidate: Candidate) -> tuple[float, ...]:
        """Fit one learner on one map, note how it went and return its losses."""
        begin = time.perf_counter()
        note = self._no_time(kind, candidate) or self._failure(kind, candidate)
        if note:
            none = (np.inf,) * len(self.criteria)
            self.report.trials.append(Trial(candidate.name, kind, candidate.width, none, 0.0, note))
            return none
        losses, models = self._good[-1].losses, self._good[-1].models
        spent = time.perf_counter() - begin
        self._spent[candidate.name, candidate.width] = spent
        if cost := candidate.cost(kind):
            self.clock.learn(cost, spent)
        self._forget()
        width = models[0]._representation.form.width
        found = _penalties(models[0])
        self.report.trials.append(Trial(candidate.name, kind, width, losses, spent, "", found))
        return losses

    def _forget(self) -> None:
        """Forget the trials that are not kept, whatever later trials give."""
        lasting = [good for good in self._good if not good.candidate.is_stopgap]
        fitted = {good.kind for good in lasting}
        waiting = [g for g in self._good if g.candidate.is_stopgap and g.kind not in fitted]
        if self.plan.chooses:
            # Stopgaps are not compared with others: they may be forgotten later.
            useful = {good.place for _, best in self._choices(lasting) for good in best}
            lasting = [good for good in lasting if good.place in useful]
        self._good = [*waiting, *lasting]

    def _failure(self, kind: str, candidate: Candidate) -> str:
        """Fit a trial; return why it failed, or an empty string."""
        try:
            stage = self.stage(f"{kind}, {candidate.name}, width {candidate.width}")
            with stage, blas_threads_for((), candidate.width):
                models = self._models(kind, candidate)
        except BadPairError:
            raise
        except NoFoldsError as error:
            raise error.of(self.tasks.owner) from None
        except ValueError as error:
            # If the first trial fails, the user's kernel does not suit the data. Dissimilarities
            # have other similarities: −½ D² of the one distinct object of a fold is zero.
            if not self._good and not self.is_patient:
                raise
            # Otherwise this map does not suit the data, e.g. a kernel without a measure.
            self._first_error = self._first_error or error
            return str(error)
        losses = _mean(models, self.criteria)
        self._good.append(Good(losses, len(self.report.trials), kind, candidate, models))
        return ""

    def _models(self, kind: str, candidate: Candidate) -> list[Any]:
        learner, options = self.learners[kind]
        models = []
        for task, seed in zip(self.tasks.of(candidate), self.tasks.seeds, strict=True):
            model = learner(
                features=candidate.features,
                alpha="cv",
                cv=self.plan.cv,
                nested=self.plan.repeats > 0 and candidate.is_nested,
                calibrate=False,
                random_state=seed,
                **options,
            )
            model._learn(task)
            models.append(model)
        return models

    def _choices(self, trials: list[Good]) -> list[tuple[str, list[Good]]]:
        """Names of losses and the best few trials by each; the first pair decides.

        The Brier score tells which trial is right and how sure it is. If no row is wrong, the Brier
        score tells only how sure a trial is. The squared error of the learners that minimise it
        then comes first: it counts outputs beyond ±1 as it counts outputs within ±1.
        """
        first, *_ = names = self.criteria
        if first != "brier":
            return [(first, self._best(trials, first))]
        plain = [
            good
            for good in trials
            if self.learners[good.kind][1].get("criterion") == "squared_error"
        ]
        least = self._best(plain, "squared_error")
        error = names.index("error")
        flawless = any(good.losses[error] == 0 for good in least)
        found = [("squared_error", least), (first, self._best(trials, first))]
        return found if flawless else found[::-1]

    def _best(self, trials: list[Good], name: str) -> list[Good]:
        """Return the best few trials by a loss; no trial is far behind the first one."""
        place = self.criteria.index(name)
        order = sorted(trials, key=lambda good: (good.losses[place], good.losses, good.place))
        close = [g for g in order if g.losses[place] <= AS_GOOD * order[0].losses[place]]
        return close[: self.plan.n_models]

    @property
    def n_finished(self) -> int:
        """The number of trials that were finished."""
        return sum(np.isfinite(trial.score) for trial in self.report.trials)

    @property
    def saw_both_sides(self) -> bool:
        """True if a trial of the two-sided learner was finished."""
        trials = self.report.trials
        return any(t.learner == TWO_SIDED and np.isfinite(t.score) for t in trials)

    def _no_time(self, kind: str, candidate: Candidate) -> str:
        """Return why a trial is not started; empty if it is. The first trial is always started."""
        return self.clock.excuse(self._seconds(kind, candidate)) if self.report.trials else ""

    def _seconds(self, kind: str, candidate: Candidate) -> float:
        """Return the seconds that a trial is expected to take."""
        if cost := candidate.cost(kind):
            return self.clock.expected(cost)
        like = [
            t.seconds * max(1.0, candidate.width / t.width)
            for t in self.report.trials
            if t.learner == kind and np.isfinite(t.score)
        ]
        return max([*like, self._spent.get((candidate.name, candidate.width), 0.0)])

    def finish(self) -> list[Any]:
        """Complete the report and return the models to average; the best trial comes first."""
        name, kept = self._choices(self._good)[0] if self.plan.chooses else self._close()
        self.report.averaged = [good.place for good in kept]
        self.report.reason = self._reason(name, len(kept))
        pairs = [
            (model, task)
            for good in kept
            for model, task in zip(good.models, self.tasks.of(good.candidate), strict=True)
        ]
        self._kept = pairs[:1] if self.plan.n_models == 1 else pairs
        return [model for model, _ in self._kept]

    def held_out(self) -> HeldRows:
        """Return the averaged outputs of the kept models for rows that they have not learned from.

        The held-out rows of all models come in the same order, which depends on their content only.
        """
        found = [model._held_out(task) for model, task in self._kept]
        for model, _ in self._kept:
            model._forget_folds()
        return found[0]._replace(outputs=np.mean([held.outputs for held in found], axis=0))

    def _close(self) -> tuple[str, list[Good]]:
        """Return the first criterion and all trials that are not far behind, the best one first."""
        place = self.criteria.index("squared_error")
        enough = CLOSE * min(good.losses[place] for good in self._good)
        close = [good for good in self._good if good.losses[place] <= enough]
        close.sort(key=lambda good: (good.losses, good.place))
        return self.criteria[0], close[: self.plan.n_models]

    def _judgement(self) -> str:
        times = ", three times" if self.plan.repeats > 1 else ""
        cv = self.plan.cv
        if cv is None or isinstance(cv, Integral):
            n_folds = min(int(cv or 5), self.n_rows)
            return f"{n_folds}-fold cross-validation{times}"
        return "cross-validation on the given folds"

    def _reason(self, name: str, n_kept: int) -> str:
        trials, (criterion, *others) = self.report.trials, self.criteria
        first = trials[self.report.chosen]
        smallest = f"smallest {NAMES[name]}"
        if not self.plan.chooses:
            close = f"up to {CLOSE} times the smallest squared error of {self._judgement()}"
            if n_kept == 1:
                return f"Chosen: {first}, with the {smallest} among all trials with {close}."
            return (
                f"Averaged: {n_kept} of {len(trials)} trials, with {close}, because few rows "
                f"cannot tell these trials apart. The trial with the {smallest} is {first}."
            )
        found = f"Chosen: {first}, with the {smallest} of {self._judgement()}"
        if name != criterion:
            found += ", in which least squares predicts every row correctly"
        elif others and [trial.score for trial in trials].count(first.score) > 1:
            found += f" (among equal trials the one with the smallest {NAMES[others[0]]})"
        if n_kept > 1:
            more = f"{n_kept - 1} other{'s' if n_kept > 2 else ''}"
            found += f", averaged with {more} nearly as good"
        return f"{found}."


def _mean(models: list[Any], names: tuple[str, ...]) -> tuple[float, ...]:
    """The cross-validated losses of the penalties that models chose, averaged over the models."""
    tables = [model.cv_results_ for model in models]
    found = [[float(table[name][table["chosen"]]) for name in names] for table in tables]
    return tuple(np.mean(found, axis=0).tolist())


def _penalties(model: Any) -> dict[str, float]:
    names = ("alpha", "alpha_neg", "spread")
    return {name: getattr(model, f"{name}_") for name in names if hasattr(model, f"{name}_")}
