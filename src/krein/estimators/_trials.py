"""What the automatic learners tried, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ..kernels.errors import BadPairError
from ._candidates import Candidate
from ._plan import Plan

# Losses of up to this many times the smallest are good enough to have a say.
AS_GOOD = 1.5
# The same of squared errors where nothing is chosen.
CLOSE = 1.1
# What losses are called in a report.
NAMES = {"brier": "Brier score", "error": "error", "squared_error": "squared error"}


@dataclass
class Trial:
    """One thing that was tried.

    Attributes
    ----------
    features, learner : str
    width : int
    losses : tuple of float
        The cross-validated losses of the best penalties, in the order of `Report.criteria`.
    seconds : float
    note : str
        Why it was not finished, if it was not.
    penalties : dict
        Those that were chosen, by name.
    """

    features: str
    learner: str
    width: int
    losses: tuple[float, ...]
    seconds: float
    note: str = ""
    penalties: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The first loss; infinite if the trial was not finished."""
        return self.losses[0]

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
    criteria : tuple of str
        Losses by which trials are compared, the first one before the others.
    reason : str
    """

    criteria: tuple[str, ...]
    trials: list[Trial] = field(default_factory=list)
    averaged: list[int] = field(default_factory=list)
    reason: str = ""

    @property
    def chosen(self) -> int:
        return self.averaged[0]

    def __str__(self) -> str:
        names = "".join(f"{NAMES[name]:>15}" for name in self.criteria[:2])
        lines = [f"{'features':<28}{'width':>6}  {'learner':<13}{names}{'seconds':>9}"]
        for i, t in enumerate(self.trials):
            mark = "*" if i in self.averaged else " "
            found = [f"{loss:.4g}" if np.isfinite(loss) else "-" for loss in t.losses[:2]]
            losses = "".join(f"{loss:>15}" for loss in found)
            row = f"{t.features:<28}{t.width:>6}  {t.learner:<13}{losses}{t.seconds:>9.2f}"
            lines.append(f"{row} {mark} {t.note}".rstrip())
        return "\n".join([*lines, self.reason])


class Good(NamedTuple):
    """A trial that may be kept: its losses, its place, its learner and its fitted models."""

    losses: tuple[float, ...]
    place: int
    kind: str
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
        self.report = Report(owner._criteria(plan.repeats > 0))
        self._begin = time.perf_counter()
        self._good: list[Good] = []
        self._spent: dict[tuple[str, int], float] = {}
        self._first_error: ValueError | None = None

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
                # The kernel of the user does not suit the data; of dissimilarities there are other
                # similarities, e.g. where −½ D² of the one distinct object of a fold is zero.
                if not self._good and not self.owner.dissimilarity:
                    raise
                # The data are good; this map does not suit them, e.g. a kernel without a measure.
                self._first_error = self._first_error or error
                note = str(error).split(": ")[0]
        if note:
            none = (np.inf,) * len(self.report.criteria)
            self.report.trials.append(Trial(name, kind, width, none, 0.0, note))
            return none
        losses = _mean(models, self.report.criteria)
        spent = time.perf_counter() - begin
        self._spent[candidate.name, candidate.width] = spent
        width = int(np.shape(models[0].coef_)[-1])
        self._good.append(Good(losses, len(self.report.trials), kind, models))
        if self.plan.chooses:
            useful = {good.place for _, best in self._choices() for good in best}
            self._good = [good for good in self._good if good.place in useful]
        found = _penalties(models[0])
        self.report.trials.append(Trial(name, kind, width, losses, spent, "", found))
        return losses

    def check(self) -> None:
        """Raise the first error if no trial was finished."""
        if not self._good and self._first_error is not None:
            raise self._first_error

    def _choices(self) -> list[tuple[str, list[Good]]]:
        """Names of losses, and the best few trials by each.

        The first loss decides. The Brier score says who is right and who is sure of it; where no
        one is wrong it says the latter only. There the squared error comes first, to which outputs
        beyond ±1 are as bad as those before, of the learners that minimise it.
        """
        first, *_ = names = self.report.criteria
        if first != "brier":
            return [(first, self._best(self._good, first))]
        plain = [
            good
            for good in self._good
            if self.learners[good.kind][1].get("criterion") == "squared_error"
        ]
        least = self._best(plain, "squared_error")
        error = names.index("error")
        flawless = any(good.losses[error] == 0 for good in least)
        found = [("squared_error", least), (first, self._best(self._good, first))]
        return found if flawless else found[::-1]

    def _best(self, trials: list[Good], name: str) -> list[Good]:
        """The best few by a loss, none far behind the first."""
        place = self.report.criteria.index(name)
        order = sorted(trials, key=lambda good: (good.losses[place], good.losses, good.place))
        close = [g for g in order if g.losses[place] <= AS_GOOD * order[0].losses[place]]
        return close[: self.plan.n_models]

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
        name, kept = self._choices()[0] if self.plan.chooses else self._close()
        self.report.averaged = [good.place for good in kept]
        self.report.reason = self._reason(name, len(kept))
        models = [model for good in kept for model in good.models]
        return models[:1] if self.plan.n_models == 1 else models

    def _close(self) -> tuple[str, list[Good]]:
        """All trials that are not far behind, the best one first, and what they are judged by."""
        place = self.report.criteria.index("squared_error")
        enough = CLOSE * min(good.losses[place] for good in self._good)
        close = [good for good in self._good if good.losses[place] <= enough]
        close.sort(key=lambda good: (good.losses, good.place))
        return self.report.criteria[0], close[: self.plan.n_models]

    def _reason(self, name: str, n_kept: int) -> str:
        trials, (criterion, *others) = self.report.trials, self.report.criteria
        first = trials[self.report.chosen]
        smallest = f"smallest {NAMES[name]}"
        if not self.plan.chooses:
            close = f"up to {CLOSE} times the smallest squared error of {self._judgement()}"
            if n_kept == 1:
                return f"Chosen: {first}, with the {smallest} of those with {close}."
            return (
                f"Averaged: {n_kept} of {len(trials)} trials, of those with {close}, as so few "
                f"rows cannot tell them apart. The {smallest} has {first}."
            )
        found = f"Chosen: {first}, with the {smallest} of {self._judgement()}"
        if name != criterion:
            found += ", which finds no row that least squares get wrong"
        elif others and [trial.score for trial in trials].count(first.score) > 1:
            found += f" (of equals the one with the smallest {NAMES[others[0]]})"
        if n_kept > 1:
            more = f"{n_kept - 1} other{'s' if n_kept > 2 else ''}"
            found += f", averaged with {more} nearly as good"
        return f"{found}."


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
