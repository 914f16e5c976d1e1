"""What the automatic learners tried, and what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..measures import InfiniteMassError
from ._candidates import Candidate

# Losses of up to this many times the smallest are good enough to have a say.
AS_GOOD = 1.5


@dataclass
class Trial:
    """One thing that was tried.

    Attributes
    ----------
    features, learner : str
    width : int
    score : float
        The cross-validated loss of the best penalties.
    seconds : float
    note : str
        Why it was not finished, if it was not.
    """

    features: str
    learner: str
    width: int
    score: float
    seconds: float
    note: str = ""

    def __str__(self) -> str:
        return f"{self.learner} on {self.features} features of width {self.width}"


@dataclass
class Report:
    """What was tried, what was chosen and why.

    Attributes
    ----------
    trials : list of Trial
    chosen : int
        The place of the best one.
    averaged : list of int
        The places of all whose outputs are averaged, the best one first.
    criterion : str
    reason : str
    """

    criterion: str
    trials: list[Trial] = field(default_factory=list)
    averaged: list[int] = field(default_factory=list)
    reason: str = ""

    @property
    def chosen(self) -> int:
        return self.averaged[0]

    def __str__(self) -> str:
        head = f"{'features':<26}{'width':>6}  {'learner':<14}{self.criterion:>16}{'seconds':>9}"
        lines = [head]
        for i, t in enumerate(self.trials):
            mark = "*" if i in self.averaged else " "
            score = f"{t.score:.4g}" if np.isfinite(t.score) else "-"
            row = f"{t.features:<26}{t.width:>6}  {t.learner:<14}{score:>16}{t.seconds:>9.2f}"
            lines.append(f"{row} {mark} {t.note}".rstrip())
        return "\n".join([*lines, self.reason])


class Good(NamedTuple):
    """A trial that may be kept: its losses, its place and its fitted models."""

    losses: tuple[float, ...]
    place: int
    models: list[Any]


class Trials:
    """Trials one after the other, of which the best few are kept.

    Parameters
    ----------
    owner : the automatic learner
    rows : X, y and weights
    repeats : int
        How often each trial is judged, by other folds each time; 0 is once, with maps that are
        fitted once on all rows.
    n_models : int
        How many may be kept.
    seed : int
    """

    def __init__(self, owner: Any, rows: tuple, repeats: int, n_models: int, seed: int):
        self.owner, self.rows, self.repeats, self.seed = owner, rows, repeats, seed
        self.n_models = n_models
        self.learners = owner._learners(repeats > 0)
        self.report = Report(owner._criterion)
        self._begin = time.perf_counter()
        self._good: list[Good] = []

    def attempt(self, kind: str, candidate: Candidate) -> tuple[float, ...]:
        """Fit one learner on one map, note how it went and return its losses."""
        name, width, features = candidate
        begin = time.perf_counter()
        note = self._no_time(kind)
        if not note:
            models = self._models(kind, features)
            try:
                with self.owner._stage(f"{kind}, {name}, width {width}"):
                    self._fit(models)
            except InfiniteMassError as error:
                note = str(error).split(":")[0]
        if note:
            self.report.trials.append(Trial(name, kind, width, np.inf, 0.0, note))
            return (np.inf,)
        losses = tuple(np.mean([self.owner._losses(model) for model in models], axis=0).tolist())
        spent = time.perf_counter() - begin
        width = int(np.shape(models[0].coef_)[-1])
        self._good.append(Good(losses, len(self.report.trials), models))
        self._good.sort(key=lambda good: good[:2])
        del self._good[self.n_models :]
        self.report.trials.append(Trial(name, kind, width, losses[0], spent))
        return losses

    def _no_time(self, kind: str) -> str:
        """Why a trial is not begun; the first one always is."""
        limit, trials = self.owner.max_seconds, self.report.trials
        if limit is None or not trials:
            return ""
        used = time.perf_counter() - self._begin
        expected = max((t.seconds for t in trials if t.learner == kind), default=0.0)
        return f"left out: {used:.1f} s of {limit:g} s are used" if used + expected > limit else ""

    def _models(self, kind: str, features: Any) -> list[Any]:
        learner, options = self.learners[kind]
        options = {"features": features, "cv": self.owner.cv, "refit": self.repeats > 0, **options}
        seeds = [self.seed + i for i in range(max(1, self.repeats))]
        return [learner(alpha="cv", random_state=seed, **options) for seed in seeds]

    def _fit(self, models: list[Any]) -> None:
        for model in models:
            try:
                model.fit(*self.rows)
            except InfiniteMassError:
                raise
            except ValueError as error:
                name = type(model).__name__
                if name not in str(error):
                    raise
                # The user knows the automatic learner, not the one that it tries.
                raise ValueError(str(error).replace(name, type(self.owner).__name__)) from error

    def finish(self) -> list[Any]:
        """Complete the report and return the models to average, the best one's first."""
        report = self.report
        best = self._good[0].losses[0]
        enough = AS_GOOD * best + self.owner._grain(self.rows[0])
        kept = [good for good in self._good if good.losses[0] <= enough]
        report.averaged = [good.place for good in kept]
        first = report.trials[report.chosen]
        folds = self.owner._n_folds
        ties = [trial.score for trial in report.trials].count(best) > 1
        report.reason = (
            f"Chosen: {first}, with the smallest {report.criterion} of {folds}-fold "
            f"cross-validation{' (of equals the smallest squared error)' if ties else ''}"
        )
        if len(kept) > 1:
            others = f"{len(kept) - 1} other{'s' if len(kept) > 2 else ''}"
            report.reason += f", averaged with {others} nearly as good"
        report.reason += "."
        models = [model for good in kept for model in good.models]
        return models if self.n_models > 1 else models[:1]
