"""What the automatic learners tried, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ..kernels.custom import BadPairError
from ._candidates import Candidate
from ._plan import Plan

# Losses of up to this many times the smallest are good enough to have a say.
AS_GOOD = 2.0
# The same of squared errors where nothing is chosen.
CLOSE = 1.1


@dataclass
class Trial:
    """One thing that was tried.

    Attributes
    ----------
    features, learner : str
    width : int
    score : float
        The cross-validated `Report.criterion` of the best penalties.
    loss : float
        The loss that trials of its kind are compared by: on few rows the one that the learner
        minimises, else the score.
    seconds : float
    note : str
        Why it was not finished, if it was not.
    penalties : dict
        Those that were chosen, by name.
    """

    features: str
    learner: str
    width: int
    score: float
    loss: float
    seconds: float
    note: str = ""
    penalties: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        penalties = ", ".join(f"{name} = {value:.3g}" for name, value in self.penalties.items())
        return f"{self.learner} ({penalties}) on {self.features} features of width {self.width}"


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
        columns = {self.criterion: [t.score for t in self.trials]}
        if any(t.loss != t.score for t in self.trials):
            columns["loss"] = [t.loss for t in self.trials]
        names = "".join(f"{name:>15}" for name in columns)
        lines = [f"{'features':<28}{'width':>6}  {'learner':<13}{names}{'seconds':>9}"]
        for i, t in enumerate(self.trials):
            mark = "*" if i in self.averaged else " "
            found = [values[i] for values in columns.values()]
            cells = "".join(f"{f'{x:.4g}' if np.isfinite(x) else '-':>15}" for x in found)
            row = f"{t.features:<28}{t.width:>6}  {t.learner:<13}{cells}{t.seconds:>9.2f}"
            lines.append(f"{row} {mark} {t.note}".rstrip())
        return "\n".join([*lines, self.reason])


class Good(NamedTuple):
    """A trial that may be kept: its losses, its place, its scores and its fitted models.

    Losses are those that trials of its kind are compared by, scores those of all trials.
    """

    losses: tuple[float, ...]
    place: int
    scores: tuple[float, ...]
    models: list[Any]


class Trials:
    """Trials one after the other, of which the best few are kept.

    Parameters
    ----------
    owner : the automatic learner
    rows : X, y and weights
    n_rows : int
        Distinct ones that count.
    plan : Plan
        How trials are judged, and which of them are kept.
    seed : int
    """

    def __init__(self, owner: Any, rows: tuple, n_rows: int, plan: Plan, seed: int):
        self.owner, self.rows, self.n_rows = owner, rows, n_rows
        self.plan, self.seed = plan, seed
        self.learners = owner._learners(plan.repeats > 0)
        self.report = Report(owner._criterion)
        self._begin = time.perf_counter()
        # By the names of the losses that they are compared by.
        self._good: dict[tuple[str, ...], list[Good]] = {}
        self._spent: dict[tuple[str, int], float] = {}

    def attempt(self, kind: str, candidate: Candidate) -> tuple[float, ...]:
        """Fit one learner on one map, note how it went and return its losses."""
        name, width, features = candidate
        begin = time.perf_counter()
        note = self._no_time(kind, candidate)
        if not note:
            models = self._models(kind, features)
            try:
                with self.owner._stage(f"{kind}, {name}, width {width}"):
                    self._fit(models)
            except BadPairError:
                raise
            except ValueError as error:
                if not self._good:
                    raise
                # The data are good; this map does not suit them, e.g. a kernel without a measure.
                note = str(error).split(": ")[0]
        if note:
            self.report.trials.append(Trial(name, kind, width, np.inf, np.inf, 0.0, note))
            return (np.inf,)
        names = self._losses(kind)
        losses, scores = _mean(models, names), _mean(models, self.owner._criteria)
        spent = time.perf_counter() - begin
        self._spent[candidate.name, candidate.width] = spent
        width = int(np.shape(models[0].coef_)[-1])
        self._keep(names, Good(losses, len(self.report.trials), scores, models))
        found = _penalties(models[0])
        self.report.trials.append(Trial(name, kind, width, scores[0], losses[0], spent, "", found))
        return losses

    def _losses(self, kind: str) -> tuple[str, ...]:
        """What trials of a kind are compared by: on few rows the loss that tunes its penalties.

        Of few rows hardly any are wrong, and the trial that happens to have one less is not better.
        """
        _, options = self.learners[kind]
        return (options["criterion"],) if "criterion" in options else self.owner._criteria

    def _keep(self, names: tuple[str, ...], trial: Good) -> None:
        alike = sorted([*self._good.get(names, []), trial], key=lambda good: good[:2])
        if self.plan.chooses:
            enough = AS_GOOD * alike[0].losses[0]
            alike = [good for good in alike if good.losses[0] <= enough][: self.plan.n_models]
        self._good[names] = alike

    @property
    def n_finished(self) -> int:
        return sum(np.isfinite(trial.score) for trial in self.report.trials)

    def _no_time(self, kind: str, candidate: Candidate) -> str:
        """Why a trial is not begun; the first one always is."""
        limit, trials = self.owner.max_seconds, self.report.trials
        if limit is None or not trials:
            return ""
        used = time.perf_counter() - self._begin
        like = [
            t.seconds * max(1.0, candidate.width / t.width)
            for t in trials
            if t.learner == kind and np.isfinite(t.score)
        ]
        expected = max([*like, self._spent.get((candidate.name, candidate.width), 0.0)])
        return f"left out: {used:.1f} s of {limit:g} s are used" if used + expected > limit else ""

    def _models(self, kind: str, features: Any) -> list[Any]:
        learner, options = self.learners[kind]
        options = {
            "features": features,
            "cv": self.plan.cv,
            "refit": self.plan.repeats > 0,
            **options,
        }
        seeds = [self.seed + i for i in range(max(1, self.plan.repeats))]
        return [learner(alpha="cv", random_state=seed, **options) for seed in seeds]

    def _fit(self, models: list[Any]) -> None:
        for model in models:
            with speaking_as(self.owner, model):
                model.fit(*self.rows)

    def _judgement(self) -> str:
        times = ", three times" if self.plan.repeats > 1 else ""
        cv = self.plan.cv
        if cv is None or isinstance(cv, Integral):
            n_folds = min(int(cv or 5), self.n_rows)
            return f"{n_folds}-fold cross-validation{times}"
        return "cross-validation on the given folds"

    def finish(self) -> list[Any]:
        """Complete the report and return the models to average, the best one's first."""
        names, kept = self._chosen() if self.plan.chooses else (self.owner._criteria, self._close())
        self.report.averaged = [good.place for good in kept]
        self.report.reason = self._reason(names, len(kept))
        models = [model for good in kept for model in good.models]
        return models[:1] if self.plan.n_models == 1 else models

    def _chosen(self) -> tuple[tuple[str, ...], list[Good]]:
        """The best trials by one loss, and its name: that with the smallest score among them.

        Losses of different names cannot be compared; scores can. Of equals it is the first one, the
        squared error, whose outputs are less sure of themselves.
        """
        return min(self._good.items(), key=lambda item: _smallest(item[1]))

    def _close(self) -> list[Good]:
        """All trials that are not far behind, those with the smallest score first."""
        # The last score is the squared error, which does not hang on a single row.
        found = [good for alike in self._good.values() for good in alike]
        enough = CLOSE * min(good.scores[-1] for good in found)
        close = [good for good in found if good.scores[-1] <= enough]
        return sorted(close, key=lambda good: (good.scores, good.place))[: self.plan.n_models]

    def _reason(self, names: tuple[str, ...], n_kept: int) -> str:
        report = self.report
        first = report.trials[report.chosen]
        if not self.plan.chooses:
            close = f"up to {CLOSE} times the smallest squared error of {self._judgement()}"
            if n_kept == 1:
                return (
                    f"Chosen: {first}, with the smallest {report.criterion} of those with {close}."
                )
            return (
                f"Averaged: {n_kept} of {len(report.trials)} trials, of those with {close}, as so "
                f"few rows cannot tell them apart. The smallest {report.criterion} has {first}."
            )
        name, *others = (name.replace("_", " ") for name in names)
        found = f"Chosen: {first}, with the smallest {name} of {self._judgement()}"
        if others and [trial.score for trial in report.trials].count(first.score) > 1:
            found += f" (of equals the one with the smallest {others[0]})"
        if n_kept > 1:
            more = f"{n_kept - 1} other{'s' if n_kept > 2 else ''}"
            found += f", averaged with {more} nearly as good"
        if len(self._good) > 1:
            found += f"; {self._compared(names, n_kept)}"
        return f"{found}."

    def _compared(self, names: tuple[str, ...], n_kept: int) -> str:
        """Why the trials of one loss were preferred to those of another."""
        whose = "their smallest" if n_kept > 1 else "its"
        said = f"{whose} {self.report.criterion} is {_smallest(self._good[names]):.4g}"
        others = (
            f", that of the best by {key[0].replace('_', ' ')} {_smallest(alike):.4g}"
            for key, alike in self._good.items()
            if key != names
        )
        return said + "".join(others)


def _smallest(trials: list[Good]) -> float:
    """The smallest score; rounding makes no difference."""
    return round(min(good.scores[0] for good in trials), 12)


def _mean(models: list[Any], names: tuple[str, ...]) -> tuple[float, ...]:
    """Cross-validated losses of the penalties that learners chose, the mean of all learners."""
    tables = [model.cv_results_ for model in models]
    found = [[float(table[name][table["chosen"]]) for name in names] for table in tables]
    return tuple(np.mean(found, axis=0).tolist())


def _penalties(model: Any) -> dict[str, float]:
    names = ("alpha", "alpha_neg", "radius")
    return {name: getattr(model, f"{name}_") for name in names if hasattr(model, f"{name}_")}


@contextmanager
def speaking_as(owner: Any, model: Any) -> Iterator[None]:
    """Errors of a learner in the words of the automatic one, which is the one that users know."""
    try:
        yield
    except BadPairError:
        raise
    except ValueError as error:
        name, said = type(model).__name__, str(error)
        if name not in said:
            raise
        said = said.replace(f"{name}(alpha='cv')", name).replace(": give alpha a number", "")
        raise ValueError(said.replace(name, type(owner).__name__)) from error
