"""The base of the learners ``f(x) = wᵀZ(x) + b``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._hashing import as_generator, as_key
from .._threads import blas_threads_for
from .._validation import all_or_nothing
from ..kernels import Kernel
from ..streaming import Container, Data, HeldRows, InMemory, Survey, checked, fold
from ..streaming.containers import Block
from ._certainty import Certainty
from ._errors import NoFoldsError
from ._estimator import Estimator, is_stream
from ._passes import OutsideFolds, Predictions
from ._penalties import is_tuned
from ._progress import reporting, stage, with_callbacks
from ._representation import Recipe, Representation
from ._targets import Numbers, Targets
from ._task import Task

Array = NDArray[np.floating]


class Learner(Certainty, Estimator):
    """Base of the learners on features: a learner sees Z(x) and never X itself.

    `fit` opens the data as a container, makes one pass for a survey, fits the map on the survey's
    sample, and solves the `Task` of data, targets and representation. Subclasses define `_solve`.
    """

    features_: Any
    kernel_: Kernel
    coef_: Array
    intercept_: Any
    classes_: NDArray
    # The fitted map with its form, what the targets are, and the columns of a precomputed kernel.
    _representation: Representation
    _targets: Targets
    _columns: NDArray[np.intp] | None

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the data.

        Parameters
        ----------
        X : array-like, CSR, memory map, list of objects, path, container or re-iterable of blocks
            A path, a container and blocks carry their own targets and weights; see
            `krein.streaming`.
        y : array-like of shape (n,) or (n, k), default=None
            The targets. For a path: the name or index of the column of y (`target` of
            `krein.streaming.open_stream`). None takes the last column, with a warning.
        sample_weight : array-like of shape (n,), default=None
            The weights. For a path: the name or index of the column of weights.

        Returns
        -------
        self
        """
        with reporting(self, 3), self._threads(X), all_or_nothing(self):
            rng = as_generator(self.random_state)
            with stage(self, "first look"):
                data = self._open(X, y, sample_weight)
                survey = self._survey(data, self._key(rng))
                targets = self._targets_of(survey)
            self._warn_of_units(survey)
            with stage(self, "features"):
                representation = self._recipe.fit(survey.sample, targets, rng)
                self._warn_of_direction(representation)
            with stage(self, "learning"):
                self._learn(Task(data, survey, targets, self._recipe, representation))
            self._forget_folds()
        return self

    def _learn(self, task: Task) -> None:
        """Solve a task and keep what predictions need."""
        self._adopt(task)
        self._solve(task)
        if self._is_calibrated:
            self._calibration = task.targets.calibration(self._held_out(task))
        self._forget()

    @property
    def _is_calibrated(self) -> bool:
        wanted = getattr(self, "calibrate", False)
        return self._tunes if wanted == "auto" else bool(wanted)

    @property
    def _tunes(self) -> bool:
        """True if `fit` chooses penalties by cross-validation."""
        return is_tuned(self)

    def _held_out(self, task: Task) -> HeldRows:
        """Return the outputs of all rows, each by a model of the rows outside its fold."""
        held, models = task.held_out(), dict(self._fold_models(task))
        if not models:
            raise NoFoldsError(self._name, task.survey.n_rows, getattr(self, "alpha", None))
        if not self._nests(task):
            return fold(task.blocks, OutsideFolds(task.survey.folds, models, held)).held.rows
        for part, (coef, intercept) in zip(task.folds, models.values(), strict=True):
            held.add(part.hashes, part.Z @ coef + intercept, part.Y, part.weight)
        return held.rows

    def _fold_models(self, task: Task) -> Iterator[tuple[int, tuple[Array, Array]]]:
        """Yield the number of each fold with the coefficients (p, q) and intercepts (q,) that are
        learned from the rows outside it, with the penalties of the fit.
        """
        raise TypeError(f"{self._name} must define _fold_models.")

    def _nests(self, task: Task | None) -> bool:
        """Return True if each fold has its own map: on request, or because the map has seen y."""
        return task is not None and (self.nested or task.representation.is_supervised)

    def _forget(self) -> None:
        """Drop what only further rows would need."""

    def _forget_folds(self) -> None:
        """Drop what only `_fold_models` would need."""

    def _solve(self, task: Task) -> None:
        raise TypeError(f"{self._name} must define _solve.")

    def _adopt(self, task: Task) -> None:
        for name in ("cv_results_", "_calibration"):
            self.__dict__.pop(name, None)  # of an earlier fit
        self._representation, self._targets = task.representation, task.targets
        self._columns = task.data.columns
        self.features_ = task.representation.features
        self.__dict__.pop("kernel_", None)  # of an earlier fit
        if self.features is None:
            self.kernel_ = self.features_.kernel_
        if not isinstance(task.targets, Numbers):
            self.classes_ = task.targets.labels

    @property
    def _recipe(self) -> Recipe:
        return Recipe(self._name, self.kernel, self.n_components, self.features, self.random_state)

    def _survey(self, data: Data, key: int) -> Survey:
        folds = None if isinstance(self.cv, str) else self.cv  # "loo" needs no folds
        return Survey.of(data, key, folds, self._classifies, self._name)

    def _threads(self, X: Any) -> AbstractContextManager[Any]:
        """Hold BLAS to one thread while the map is small: threads of our own walk the rows."""
        names = self.get_params(deep=True).items()
        # A Nyström map has up to three landmarks per component.
        widths = [
            3 * v for name, v in names if name.endswith("n_components") and isinstance(v, int)
        ]
        return blas_threads_for((), *widths)

    def _key(self, rng: np.random.Generator) -> int:
        """Return the seed of samples and folds, 0 if `random_state` is None."""
        return 0 if self.random_state is None else as_key(rng)

    def _store(self, coef: Array, intercept: Array) -> None:
        """Keep coefficients (p, q) and intercepts (q,) in scikit-learn's shapes."""
        unit, one = self._targets.unit, self._targets.is_vector
        coef, intercept = coef / unit, np.asarray(intercept, dtype=float) / unit
        self.coef_ = coef[:, 0].copy() if one else coef.T.copy()
        self.intercept_ = float(intercept[0]) if one else intercept

    # --- prediction -----------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray:
        """Return the predictions for the rows of X: numbers of shape (n,) or (n, k), or labels.

        Parameters
        ----------
        X : as in `fit`
            The columns of a file are matched with those of the fit by name, in any order, and other
            columns are ignored; columns without names are matched by place. For a learner of both
            sides with ``Precomputed(symmetric=False)``, X is a pair ``(k(x, T), k(T, x).T)`` of
            arrays of shape (m, n), with the n training rows T.
        """
        return self._targets_fitted.decode(self._outputs(X))

    @available_if(lambda self: self._classifies)
    def decision_function(self, X: Any) -> Array:
        """Return the outputs, shape (n,) for two classes and (n, k) for more.

        A positive output of two classes means the second class.

        Parameters
        ----------
        X : as in `predict`
        """
        return self._targets_fitted.decision(self._outputs(X))

    @property
    def _targets_fitted(self) -> Targets:
        check_is_fitted(self)
        return self._targets

    def _outputs(self, X: Any) -> Array:
        """Return ``Z w + b``, shape (n, q), block by block."""
        with blas_threads_for((), self._representation.width):
            statistic = Predictions(self._representation, np.atleast_2d(self.coef_))
            return fold(self._checked(X), statistic).outputs + np.atleast_1d(self.intercept_)

    def _checked(self, X: Any) -> Any:
        """Return new rows as blocks that the map takes."""
        rows: Container = self._new_rows(X)
        if is_stream(X) or not isinstance(rows, InMemory):
            return checked(rows, vars(self).get("n_features_in_"))
        return [Block(self._restricted(rows.X))]

    def _restricted(self, X: Any) -> Any:
        whole = self._columns is not None and X.shape[1] == self.n_features_in_
        return X[:, self._columns] if whole else X
