"""Trials of learners on maps: fitted one after the other, judged, and the best few kept."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from .._threads import blas_threads_for
from ..estimators._errors import NoFoldsError
from ..kernels.errors import BadPairError
from ..kernels.values import UninformativeWarning
from ..streaming import HeldRows
from .clock import Clock
from .maps import RIDGE, TWO_SIDED, Candidate
from .mixing import learner_weights, losses_of
from .report import NAMES, Report, Trial
from .sizes import GOOD_MAPS
from .tasks import Tasks

# Trials with a loss of at most this many times the smallest one may be averaged.
AS_GOOD = 1.5
# The same factor for squared errors if all close trials are averaged.
CLOSE = 1.1


class Good(NamedTuple):
    """A trial that may be kept: its losses, index, learner, map, fitted models and their outputs.

    The outputs of rows that were held out are there if trials are mixed.
    """

    losses: tuple[float, ...]
    place: int
    kind: str
    candidate: Candidate
    models: list[Any]
    held: HeldRows | None = None


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
    mixes : bool
        True if trials are mixed with weights that held-out rows choose, instead of averaged.
    """

    tasks: Tasks
    learners: dict[str, tuple[type, dict[str, Any]]]
    criteria: tuple[str, ...]
    n_rows: int
    stage: Callable[[str], AbstractContextManager]
    clock: Clock = field(default_factory=lambda: Clock(None))
    is_patient: bool = False
    mixes: bool = False

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
                if self.mixes:  # later steps need no task of this map
                    self.tasks.keep([])
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
        """Forget the trials that cannot be kept, whatever the losses of later trials are."""
        lasting = [good for good in self._good if not good.candidate.is_stopgap]
        fitted = {good.kind for good in lasting}
        stopgaps: dict[str, list[Good]] = {}
        for good in self._good:
            if good.candidate.is_stopgap and good.kind not in fitted:
                stopgaps.setdefault(good.kind, []).append(good)
        waiting = [min(some, key=lambda good: good.losses) for some in stopgaps.values()]
        if self.plan.chooses and not self.mixes:
            # Stopgaps are not compared with others: they may be forgotten later.
            useful = {good.place for _, best in self._choices(lasting) for good in best}
            lasting = [good for good in lasting if good.place in useful]
        self._good = [*waiting, *lasting]

    def _failure(self, kind: str, candidate: Candidate) -> str:
        """Fit a trial; return why it failed, or an empty string."""
        try:
            stage = self.stage(f"{kind}, {candidate.name}, width {candidate.width}")
            with stage, blas_threads_for((), candidate.width), warnings.catch_warnings():
                # The fit has warned of a given kernel, and chooses the kernel of a table itself.
                warnings.simplefilter("ignore", UninformativeWarning)
                models = self._models(kind, candidate)
                held = self._outputs(models, candidate) if self.mixes else None
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
        losses = (
            _mean(models, self.criteria)
            if held is None
            else losses_of(held, self.tasks.targets, self.criteria)
        )
        self._good.append(Good(losses, len(self.report.trials), kind, candidate, models, held))
        return ""

    def _outputs(self, models: list[Any], candidate: Candidate) -> HeldRows:
        """Return the averaged outputs of models for rows that they have not learned from.

        The held-out rows of all models come in the same order, which depends on their content only.
        """
        tasks = self.tasks.honest(candidate)
        if tasks is not self.tasks.of(candidate):
            for model in models:
                model._forget_folds()  # they belong to another task
        found = [model._held_out(task) for model, task in zip(models, tasks, strict=False)]
        for model in models:
            model._forget_folds()
        return _mean_outputs(found)

    def _models(self, kind: str, candidate: Candidate) -> list[Any]:
        learner, options = self.learners[kind]
        models: list[Any] = []
        left_out = kind == RIDGE and candidate.leaves_one_out
        for task, seed in zip(self.tasks.of(candidate), self.tasks.seeds, strict=True):
            if left_out and models:  # rows are left out in turn, without folds
                break
            model = learner(
                features=candidate.features,
                alpha="cv",
                cv="loo" if left_out else self.plan.cv,
                nested=self.plan.repeats > 0 and candidate.is_nested,
                calibrate=False,
                random_state=seed,
                **options,
            )
            model._learn(task)
            models.append(model)
        return models

    def _choices(self, trials: list[Good]) -> list[tuple[str, list[Good]]]:
        """Return pairs of a loss and the best few trials by this loss; the first pair decides.

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

    def keeps(self, kind: str) -> bool:
        """Return True if a trial of a learner is among the trials that are kept."""
        return any(good.kind == kind for good, _ in self._kept)

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

    def finish(self) -> list[tuple[Any, float]]:
        """Complete the report and return the models to average, the best trial first.

        Each model comes with its weight in the mean.
        """
        if self.mixes:
            name, kept, weights = self._mixed()
        else:
            name, kept = self._choices(self._good)[0] if self.plan.chooses else self._close()
            weights = [1.0 / len(kept)] * len(kept)
        self.report.averaged, self.report.weights = [good.place for good in kept], weights
        self.report.reason = self._reason(name, kept, weights)
        if self.plan.n_models == 1:
            kept, weights = [kept[0]._replace(models=kept[0].models[:1])], [1.0]
        self._kept = list(zip(kept, weights, strict=True))
        return [
            (model, weight / len(good.models))
            for good, weight in self._kept
            for model in good.models
        ]

    def _mixed(self) -> tuple[str, list[Good], list[float]]:
        """Return the deciding loss, and the trials to mix with their weights.

        The weights of the ridge models come from `choose_kernel`, which compares them on rows that
        have taught no factors of columns. Held-out rows choose the weights of the learners.
        """
        name = self.criteria[0]
        teams: dict[str, list[Good]] = {}
        for good in sorted(self._good, key=lambda good: good.losses):
            teams.setdefault(good.kind, []).append(good)
        held = {kind: _team_outputs(team) for kind, team in teams.items()}
        found = learner_weights(held, RIDGE, of_classes=name == "brier")
        pairs = [
            (good, weight * good.candidate.share / sum(g.candidate.share for g in team))
            for team, weight in zip(teams.values(), found, strict=True)
            for good in team
            if weight
        ]
        pairs = sorted(pairs, key=lambda pair: -pair[1])[: self.plan.n_models]
        total = sum(weight for _, weight in pairs)
        return name, [good for good, _ in pairs], [weight / total for _, weight in pairs]

    def held_out(self) -> HeldRows:
        """Return the mean outputs of the kept models for rows that they have not learned from."""
        found = [
            self._outputs(good.models, good.candidate) if good.held is None else good.held
            for good, _ in self._kept
        ]
        return _mean_outputs(found, [weight for _, weight in self._kept])

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

    def _reason(self, name: str, kept: list[Good], weights: list[float]) -> str:
        trials, (criterion, *others) = self.report.trials, self.criteria
        first, n_kept = trials[self.report.chosen], len(kept)
        smallest = f"smallest {NAMES[name]}"
        if self.mixes:
            return self._mixed_reason(kept, weights)
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

    def _mixed_reason(self, kept: list[Good], weights: list[float]) -> str:
        said, name = [self.report.trials[good.place] for good in kept], self.criteria[0]
        loss = "log-loss" if name == "brier" else NAMES[name]
        if len(said) == 1:
            return f"Chosen: {said[0]}, by the {loss} of held-out rows."
        parts = [f"{100 * w:.0f} % {trial}" for trial, w in zip(said, weights, strict=True)]
        return f"Mixed, by the {loss} of held-out rows: {', '.join(parts)}."


def _team_outputs(team: list[Good]) -> HeldRows:
    """Return the outputs of held-out rows by the trials of one learner."""
    held = [good.held for good in team if good.held is not None]
    return _mean_outputs(held, [good.candidate.share for good in team])


def _mean_outputs(held: list[HeldRows], weights: list[float] | None = None) -> HeldRows:
    """Return held-out rows with the mean of the outputs of several models."""
    mean = np.average([rows.outputs for rows in held], axis=0, weights=weights)
    return held[0]._replace(outputs=mean)


def _mean(models: list[Any], names: tuple[str, ...]) -> tuple[float, ...]:
    """Return the mean over models of the cross-validated losses of their chosen penalties."""
    tables = [model.cv_results_ for model in models]
    found = [[float(table[name][table["chosen"]]) for name in names] for table in tables]
    return tuple(np.mean(found, axis=0).tolist())


def _penalties(model: Any) -> dict[str, float]:
    names = ("alpha", "alpha_neg", "spread")
    return {name: getattr(model, f"{name}_") for name in names if hasattr(model, f"{name}_")}
