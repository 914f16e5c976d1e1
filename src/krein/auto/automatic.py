"""The base of the automatic learners: they choose a kernel, try learners on maps, and average."""

from __future__ import annotations

import copy
import logging
import warnings
from contextlib import nullcontext
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._hashing import as_generator, hash_rows
from .._threads import one_blas_thread
from .._validation import all_or_nothing, outside_level
from ..estimators._certainty import Certainty
from ..estimators._copies import (
    divided,
    has_copies,
    repeats_measurements,
    said_of_copies,
    warn_of_copies,
)
from ..estimators._estimator import Estimator, is_stream
from ..estimators._left_out import EqualRows
from ..estimators._progress import reporting, stage, with_callbacks
from ..estimators._representation import Recipe, last_step, scaled_gaussian
from ..estimators._targets import Numbers, Targets
from ..kernels import Kernel
from ..kernels.memory import Memory, Remembered
from ..rows import count, in_double, is_objects
from ..streaming import Block, Collected, Data, InMemory, Survey, fold, split
from ..streaming.data import map_rows
from ..streaming.survey import Rows
from .choice import Choice, choose_kernel, given_kernel
from .clock import Clock
from .maps import HINGE, RIDGE, TWO_SIDED, Candidate, candidates, views
from .mixing import CLEARLY
from .plan import Plan
from .report import Report
from .search import POSITIVE
from .sizes import AT_ONCE, FEW, SCREENED
from .tables import Table
from .tasks import Tasks
from .trials import Trials
from .values import median_dissimilarity, resolved, warn_of_matrix, warn_of_values

LOG = logging.getLogger("krein")
# The number of folds in predictions of costs, if the folds are given.
N_FOLDS = 5
BALANCED = "Outputs are log-odds of the classes, which name fewer wrong classes of held-out rows."


class Automatic(Certainty, Estimator):
    """Fit learners with tuned penalties on several maps and keep the best of cross-validation.

    A subclass defines `_learners` and, if it compares trials by other losses than the squared
    error, `_criteria`.
    """

    estimators_: list[Any]
    report_: Report
    kernel_: Kernel | str

    def _learners(self, few: bool) -> dict[str, tuple[type, dict[str, Any]]]:
        """Return the class and the options of each learner to try, by its name.

        `few` is True if the data have few rows.
        """
        raise TypeError(f"{self._name} must define _learners.")

    def _criteria(self, few: bool) -> tuple[str, ...]:
        """Return the losses that trials are compared by, as `cv_results_` names them."""
        return ("squared_error",)

    @property
    def _is_calibrated(self) -> bool:
        return True

    @property
    def _recipe(self) -> Recipe:
        kernel = None if self._chooses else self.kernel
        return Recipe(self._name, kernel, 1, None, self.random_state)

    @property
    def _needs_both_sides(self) -> bool:
        return self._recipe.is_directed

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose a kernel, try learners on maps of it, and keep the best.

        Parameters
        ----------
        X : array-like, CSR, memory map, list of objects, path, container or re-iterable of blocks
            A path, a container and blocks carry their own targets and weights; see
            `krein.streaming`.
        y : array-like of shape (n,) or (n, k), default=None
            The targets. For a path: the name or index of the column of y. None takes the last
            column, with a warning.
        sample_weight : array-like of shape (n,), default=None
            The weights. For a path: the name or index of the column of weights.

        Returns
        -------
        self
        """
        clock = Clock(self.max_seconds)
        with reporting(self, None), all_or_nothing(self):
            # Many small systems: further BLAS threads would cost more CPU time than they save. Each
            # trial takes the threads that its map is worth.
            with one_blas_thread():
                data, survey = self._look(X, y, sample_weight)
                trials, maps, kernel = self._planned(data, survey, clock)
            self._run(trials, maps)
            if isinstance(kernel, Remembered):
                kernel.memory.forget()
        return self

    def _targets_of(self, survey: Survey) -> Targets:
        """Return what the targets of a fit are; several columns of numbers count alike."""
        targets = super()._targets_of(survey)
        return targets.alike(survey.sample.y) if isinstance(targets, Numbers) else targets

    def _look(self, X: Any, y: Any, sample_weight: Any) -> tuple[Data, Survey]:
        """Return the data and their survey; a stream of few rows is read into memory."""
        data = self._open(X, y, sample_weight)
        survey = Survey.of(data, 0, 2, self._classifies, self._name)
        if survey.n_rows <= FEW and not data.in_memory:
            data = data.gathered()
        return data, survey

    def _planned(
        self, data: Data, survey: Survey, clock: Clock
    ) -> tuple[Trials, list[Candidate], Kernel | str]:
        """Return the trials, the maps to try and their kernel."""
        targets = self._targets_of(survey)
        seed = int(as_generator(self.random_state).integers(2**31))
        n_sampled = count(survey.sample.X)
        n_rows = n_sampled if n_sampled < map_rows(survey.sample.X) else survey.n_rows
        choice = self._choice(data, survey.sample, targets, clock)
        is_table = choice is not None and choice.is_of_table
        cv = self._folds(data, survey) if is_table else self.cv
        plan = Plan.of(cv, self.n_models, n_rows, data.in_memory, is_table)
        few = plan.repeats > 0
        kernel = self._kernel(data, survey.sample, few, choice)
        notes: list[str] = []
        if choice is None or not is_table:
            maps = self._maps_of(kernel, n_rows, data, survey.sample.X, seed)
        else:
            shape = n_rows, survey.sample.X.shape[1], targets.n_outputs
            if data.in_memory:
                warn_of_matrix(self._name, data.memory.X)
            table = self._table(choice, shape, plan, seed, survey.sample.X.dtype == np.float32)
            maps, notes = self._of_table(table, survey.sample, targets, clock)
            if cv is not self.cv:
                notes.append(said_of_copies(survey))
        trials = Trials(
            Tasks(self._name, data, targets, plan, seed, None if choice is None else choice.taught),
            self._learners(few or is_table),
            self._criteria(few or is_table),
            n_rows,
            partial(stage, self),
            clock,
            self.dissimilarity,
            is_table,
        )
        trials.report.kernel, trials.report.notes = choice, notes
        if choice is None or not choice.scales:
            self._warn_of_units(survey)
        if not self.dissimilarity and (choice is None or not choice.tried):
            warn_of_values(self._name, kernel, data, survey.sample.X)
        return trials, maps, kernel

    def _maps_of(
        self, kernel: Kernel | str, n_rows: int, data: Data, sample: Any, seed: int
    ) -> list[Candidate]:
        """Return the maps of a kernel that was given, or of its dissimilarities."""
        median = self._median(kernel, data, sample) if self.dissimilarity else None
        n_jobs = None if isinstance(kernel, Remembered) else self.n_jobs
        sizes = n_rows, self.n_components, self.max_megabytes
        return candidates(views(kernel, n_rows, median), *sizes, seed, n_jobs)

    def _folds(self, data: Data, survey: Survey) -> Any:
        """Return `cv`, or folds that divide copies if nearly all rows are copies of categories."""
        if not has_copies(survey) or not isinstance(self.cv, str | Integral):
            return self.cv
        if isinstance(self.cv, str) and data.in_memory:
            return self.cv if repeats_measurements(data) else divided(data, N_FOLDS)
        warn_of_copies(self._name, survey)
        return self.cv

    def _table(
        self, choice: Choice, sizes: tuple[int, int, int], plan: Plan, seed: int, is_single: bool
    ) -> Table:
        is_number = isinstance(plan.cv, Integral)
        n_folds = int(plan.cv) if is_number else N_FOLDS
        hurried = self.max_seconds is not None
        is_free = isinstance(self.cv, str) and is_number  # "auto" that does not divide copies
        return Table(choice, *sizes, n_folds, self.max_megabytes, hurried, seed, is_free, is_single)

    def _of_table(
        self, table: Table, sample: Rows, targets: Targets, clock: Clock
    ) -> tuple[list[Candidate], list[str]]:
        """Return the maps of a kernel that was chosen, and sentences on what is left out."""
        kinds = [kind for kind in self._learners(True) if kind != TWO_SIDED]
        notes = []
        if self.n_components == "auto":
            notes = table.notes(kinds)
            # Without time for the comparison, only the clock keeps margin machines from trials.
            compares = table.tries_margins(kinds) and clock.is_early()
            if compares and not self._margin_pays(table, sample, targets):
                kinds.remove(HINGE)
                notes.append(
                    f"Left out: {HINGE}, which does not lower the log-loss of ridge by "
                    f"{1 - CLEARLY:.0%} on {SCREENED} rows."
                )
        maps = table.candidates(self.n_components, kinds)
        expected = table.expected(maps)
        LOG.info("%s on %d rows. %s", self._name, table.n_rows, expected)
        return maps, [expected, *notes]

    def _margin_pays(self, table: Table, sample: Rows, targets: Targets) -> bool:
        """Return True if a margin machine is worth its time, by trials on few of the rows."""
        if table.n_rows <= SCREENED:
            return True
        rows: Any = (sample.X, sample.y, sample.weight)
        X, y, weight = (part[:SCREENED] for part in rows)
        small = table.of_rows(count(X))
        plan = Plan.of(small.n_folds, "auto", small.n_rows, True, True)
        tasks = Tasks(self._name, Data.of(InMemory(X, y, weight)), targets, plan, table.seed)
        # These trials only decide what is tried: they are no stages of the fit.
        trials = Trials(
            tasks, self._learners(True), self._criteria(True), small.n_rows, nullcontext, mixes=True
        )
        try:
            trials.run(small.candidates("auto", [RIDGE, HINGE]))
            trials.finish()
        except ValueError:  # the few rows may lack a class
            return True
        return trials.keeps(HINGE)

    def _choice(self, data: Data, sample: Rows, targets: Targets, clock: Clock) -> Choice | None:
        """Choose the kernel of a table, or the width of a kernel that takes it from data."""
        kernel = None if self._chooses else self.kernel
        is_matrix = not is_objects(sample.X)
        of_vectors = isinstance(kernel, Kernel) and kernel.takes_vectors
        if self.dissimilarity or not is_matrix or not (self._chooses or of_vectors):
            return None
        if kernel is not None and kernel.is_resolved:
            return given_kernel(clone(kernel)) if isinstance(kernel, POSITIVE) else None
        with stage(self, "kernel"):
            Y, weight = targets.encode(sample.y), targets.weigh(sample.y, sample.weight)
            weight = sample.weight if weight is None else weight
            if data.in_memory and len(Y) < count(data.memory.X):
                # The sample has one target of several equal rows; their mean says more.
                equal = fold(data, EqualRows(targets)).freeze()
                Y, weight = equal.of(hash_rows(sample.X))
            given = None if kernel is None else clone(kernel)
            # class_weight may leave classes out.
            seen = slice(None) if weight.all() else np.flatnonzero(weight)
            rows = in_double(sample.X[seen])
            return choose_kernel(
                rows,
                Y[seen],
                weight[seen],
                given,
                clock.is_early,
                of_classes=self._classifies,
                megabytes=self.max_megabytes,
            )

    @property
    def _chooses(self) -> bool:
        """True if the fit chooses the family of the kernel, and not only its width."""
        return self.kernel is None or (isinstance(self.kernel, str) and self.kernel == "auto")

    def _run(self, trials: Trials, maps: list[Any]) -> None:
        try:
            trials.run(maps)
        except KeyboardInterrupt:
            if not trials.n_finished:
                raise
            warnings.warn(
                f"{self._name} was interrupted: the best of {trials.n_finished} finished trials is "
                "kept.",
                ConvergenceWarning,
                stacklevel=outside_level(),
            )
        kept = trials.finish()
        self.estimators_ = [model for model, _ in kept]
        self.best_estimator_, self.report_ = self.estimators_[0], trials.report
        if trials.mixes:
            self.kernel_ = last_step(self.best_estimator_.features_).kernel_
        with stage(self, "calibration"):
            targets, held = trials.tasks.targets, trials.held_out()
            self._balance = targets.balance(held)
            if self._balance is not None:
                held = held._replace(outputs=self._balance(held.outputs))
                trials.report.notes.append(BALANCED)
            self._calibration = targets.calibration(held)
        if not trials.saw_both_sides:
            self._warn_of_direction(self.best_estimator_._representation)
        if "n_features_in_" in vars(self):
            for model in self.estimators_:
                model.n_features_in_ = self.n_features_in_
        self._averaged = one_per_map(kept)

    def _kernel(self, data: Data, sample: Rows, few: bool, choice: Choice | None) -> Kernel | str:
        """Return the kernel of all trials; a kernel of few objects remembers its values.

        Parameters that depend on data are estimated once, from all rows, so that all trials share
        the kernel values.
        """
        if choice is not None:
            self.kernel_ = choice.kernel
        elif isinstance(self.kernel, Kernel):
            self.kernel_ = resolved(self.kernel, sample)
        else:
            self.kernel_ = scaled_gaussian(sample.X) if self._chooses else self.kernel
        if self.dissimilarity and self._recipe.pairwise:
            return "precomputed"
        kernel = self.kernel_
        if not few or isinstance(kernel, str) or kernel.takes_matrix(data.memory.X):
            return kernel
        if 8 * count(data.memory.X) ** 2 > self.max_megabytes * 2**20:
            return kernel
        return Remembered(kernel, Memory(kernel._check_data(data.memory.X), self.n_jobs))

    def _median(self, kernel: Kernel | str, data: Data, sample: Any) -> float:
        if self._chooses:
            raise ValueError(
                f"{self._name}(dissimilarity=True) needs a kernel whose values are "
                "dissimilarities, e.g. krein.kernels.EditDistance(), or 'precomputed'; kernel=None "
                "chooses a similarity."
            )
        return median_dissimilarity(self._name, kernel, data, sample)

    # --- prediction -----------------------------------------------------------------------------

    def _mean(self, X: Any, name: str) -> NDArray:
        """Average the outputs of one method over all kept models."""
        check_is_fitted(self, "estimators_")
        with one_blas_thread():
            rows = self._new_rows(X)
            methods = [getattr(model, name) for model, _ in self._averaged]
            shares = [share for _, share in self._averaged]
            if is_stream(X) or not isinstance(rows, InMemory):
                return np.average([f(rows) for f in methods], axis=0, weights=shares)
            if len(methods) == 1:
                return methods[0](rows.X)
            if not is_objects(rows.X):  # no kernel values are stored
                return np.average([f(rows.X) for f in methods], axis=0, weights=shares)
            means = Collected(
                lambda b: np.average([f(b.X) for f in methods], axis=0, weights=shares)
            )
            return np.concatenate(fold(split(Block(rows.X), AT_ONCE), means).pieces)


def one_per_map(kept: list[tuple[Any, float]]) -> list[tuple[Any, float]]:
    """Average the coefficients of the models on each map: the mean output stays the same.

    Parameters
    ----------
    kept : list of (learner, float)
        The models and their weights in the mean.
    """
    groups: dict[int, list[tuple[Any, float]]] = {}
    for model, share in kept:
        groups.setdefault(id(model._representation), []).append((model, share))
    return [_averaged(*zip(*group, strict=True)) for group in groups.values()]


def _averaged(models: tuple[Any, ...], shares: tuple[float, ...]) -> tuple[Any, float]:
    """Return a model with the mean coefficients of several models on one map, and its weight."""
    one = copy.copy(models[0])
    if len(models) > 1:
        one.coef_ = np.average([model.coef_ for model in models], axis=0, weights=shares)
        one.intercept_ = np.average([model.intercept_ for model in models], axis=0, weights=shares)
    return one, sum(shares)
