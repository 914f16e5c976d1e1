"""One line for those who do not want to choose."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    _fit_context,
    is_classifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._threads import blas_threads_for
from .._validation import NestedParameters, all_or_nothing, as_generator, check_numeric_columns
from ..features import Nystrom
from ..kernels import Kernel
from ..kernels.errors import BadPairError
from ..kernels.memory import Memory, Remembered
from ..kernels.values import check_values
from ..proximity import DissimilarityToSimilarity
from ..proximity.errors import BadProximityError
from ..streaming import Block, InMemory, split
from ..streaming.containers import as_rows, count
from ._base import scaled_gaussian
from ._candidates import Candidate, candidates, views
from ._data import Data, Survey, map_rows, survey
from ._files import Reading, ScoringStreams, is_stream
from ._plan import FEW, Plan
from ._progress import Progressing, with_callbacks
from ._targets import decide
from ._trials import Report, Trial, Trials, speaking_as
from .ridge import KreinRidge, KreinRidgeClassifier
from .svc import KreinSVC
from .variance import VarianceConstrainedClassifier, VarianceConstrainedRegressor

__all__ = ["KreinClassifier", "KreinRegressor", "Report", "Trial"]

# So many of the maps that are best for the first learner are tried with the others.
GOOD_MAPS = 3
# The median dissimilarity of objects is that of so many.
SAMPLED = 300
# New rows are taken so many at a time: not more than a learner takes, so that all ask for the same.
AT_ONCE = 256


class _Auto(NestedParameters, Reading, Progressing, BaseEstimator):
    """Fit learners with tuned penalties on several maps and keep the best of cross-validation."""

    _parameter_constraints = {
        "kernel": [Kernel, StrOptions({"precomputed"}), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_models": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "dissimilarity": ["boolean"],
        "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
        "max_megabytes": [Interval(Real, 0, None, closed="neither")],
        "cv": ["cv_object", StrOptions({"auto"})],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int | str = "auto",
        *,
        dissimilarity: bool = False,
        n_models: int | str = "auto",
        max_seconds: float | None = None,
        max_megabytes: float = 1024.0,
        cv: Any = "auto",
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.dissimilarity = dissimilarity
        self.n_models = n_models
        self.max_seconds = max_seconds
        self.max_megabytes = max_megabytes
        self.cv = cv
        self.random_state = random_state

    def _learners(self, few: bool) -> dict[str, tuple[type, dict[str, Any]]]:
        """Names, classes and options of the learners to try, on few rows or on many."""
        raise TypeError(f"{type(self).__name__} must define _learners.")

    def _criteria(self, few: bool) -> tuple[str, ...]:
        """Losses that trials are compared by, as `cv_results_` names them, the first one first."""
        return ("squared_error",)

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Try, compare and keep the best.

        Parameters
        ----------
        X, y, sample_weight : as in `KreinRidge.fit`
        """
        small = blas_threads_for(None if is_stream(X) else X)
        with self._reporting(n_stages=None), small, all_or_nothing(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        if y is None and not is_stream(X):
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        self._seen_layout = None
        X = self._rows(X, reset=True)
        seed = int(as_generator(self.random_state).integers(2**31))
        data, seen, n_rows = self._look(X, y, sample_weight)
        sample = seen.sample
        rows: tuple[Any, Any, Any] = data.container, None, None
        if isinstance(data.container, InMemory):
            y = data.container.y
            if y is not None and is_classifier(self):
                y = np.ravel(y)  # a column of labels is one per row
            rows = data.container.X, y, data.container.weight
        plan = Plan.of(self.cv, self.n_models, n_rows, data.in_memory)
        trials = Trials(self, rows, n_rows, plan, seed)
        kernel = self._kernel(data, seen, plan.repeats > 0)
        median = self._median(kernel, data, sample) if self.dissimilarity else None
        maps = candidates(
            views(kernel, n_rows, median), n_rows, self.n_components, self.max_megabytes, seed
        )
        try:
            self._attempt(trials, maps)
        except KeyboardInterrupt:
            if not trials.n_finished:
                raise
            warnings.warn(
                f"{type(self).__name__} was interrupted: the best of {trials.n_finished} finished "
                "trials is kept.",
                ConvergenceWarning,
                stacklevel=5,
            )
        self.estimators_ = trials.finish()
        self.best_estimator_, self.report_ = self.estimators_[0], trials.report
        if isinstance(kernel, Remembered):
            kernel.memory.forget()

    def _attempt(self, trials: Trials, maps: list[Candidate]) -> None:
        """The cheapest learner looks for good maps, the others are tried on those."""
        first, *others = trials.learners
        scores = [trials.attempt(first, candidate) for candidate in maps]
        trials.check()
        good = [i for i in range(len(maps)) if np.isfinite(scores[i][0])]
        if trials.plan.chooses:
            good = sorted(good, key=scores.__getitem__)[:GOOD_MAPS]
        for i in good:
            for kind in others:
                trials.attempt(kind, maps[i])

    def _look(self, X: Any, y: Any, sample_weight: Any) -> tuple[Data, Survey, int]:
        """The data, gathered if they are few, what one look tells, and the number of rows."""
        learner, _ = next(iter(self._learners(few=False).values()))
        scout = learner(kernel=self.kernel)
        with speaking_as(self, scout):
            data = scout._open(X, y, sample_weight)
            if is_stream(X):
                self._recall(scout)
            seen = survey(data, 0, 2, scout._classifies, type(self).__name__)
            scout._prepare(seen)
        if seen.n_rows <= FEW and not data.in_memory:
            data = data.gathered()
        n_sampled = count(seen.sample)
        return data, seen, n_sampled if n_sampled < map_rows(seen.sample) else seen.n_rows

    def _kernel(self, data: Data, seen: Survey, few: bool) -> Kernel | str:
        """The kernel of all trials; on few objects, of which it may be slow, with a memory.

        What it takes from data it takes once, from all rows, so that trials share its values.
        """
        if self.kernel is None:
            self.kernel_: Kernel | str = scaled_gaussian(seen.sample)
        else:
            self.kernel_ = (
                self.kernel if isinstance(self.kernel, str) else seen.resolved(self.kernel)
            )
        if self.dissimilarity and self._pairwise:
            return "precomputed"
        kernel, container = self.kernel_, data.container
        if not few or isinstance(kernel, str) or not isinstance(container, InMemory):
            return kernel
        if kernel.takes_matrix(container.X) or 8 * data.n_rows**2 > self.max_megabytes * 2**20:
            return kernel
        return Remembered(kernel, Memory(kernel._check_data(container.X)))

    def _median(self, kernel: Kernel | str, data: Data, sample: Any) -> float:
        """The median dissimilarity, of sampled objects or of a matrix; values are checked."""
        if self.kernel is None:
            raise ValueError(
                f"{type(self).__name__}(dissimilarity=True) needs a kernel whose values are "
                "dissimilarities, e.g. krein.kernels.EditDistance(), or 'precomputed'; kernel=None "
                "is a Gaussian, a similarity."
            )
        places = None  # of a sample, whose places mean nothing to the caller
        try:
            if isinstance(kernel, Kernel):
                D = check_values(kernel, kernel(sample[:SAMPLED]))
            else:
                # In the order of the caller, whom a sentence may tell where a bad value is.
                assert data.columns is not None
                places = np.sort(data.columns)
                D = data.rows_of(places)[:, places]
                DissimilarityToSimilarity("double_centering").fit(D)  # needs a symmetric matrix
            return 1 / DissimilarityToSimilarity("exp").fit(D).gamma_
        except BadPairError as bad:
            raise bad.nowhere() from None
        except BadProximityError as bad:
            raise bad.within(type(self).__name__, places, "use dissimilarity=False") from None

    def _rows(self, X: Any, reset: bool) -> Any:
        """X validated, where it is a matrix; objects and streams as they are."""
        matrix = not isinstance(self.kernel, Kernel) or self.kernel.takes_matrix(X)
        if is_stream(X) or not matrix:
            return X
        formats = False if self._pairwise else "csr"
        check_numeric_columns(self, X)
        return validate_data(
            self, X, reset=reset, accept_sparse=formats, dtype=[np.float64, np.float32]
        )

    @property
    def _pairwise(self) -> bool:
        return bool(Nystrom(self.kernel)._precomputed)

    def _outputs(self, X: Any, name: str) -> NDArray:
        """Average the outputs of one method over all kept models."""
        check_is_fitted(self)
        with blas_threads_for(None if is_stream(X) else X):
            return self._mean_outputs(X, name)

    def _mean_outputs(self, X: Any, name: str) -> NDArray:
        X = self._rows(X, reset=False)
        if is_stream(X):
            X = self._new_rows(X)
        else:
            X = as_rows(X)
            if not count(X):
                raise ValueError(f"X has no rows: {type(self).__name__} predicts for at least one.")
        methods = [getattr(model, name) for model in self.estimators_]
        if len(methods) == 1 or is_stream(X):
            return np.mean([method(X) for method in methods], axis=0)
        blocks: Iterator[Block] = split(Block(X), AT_ONCE)
        means = [np.mean([method(block.X) for method in methods], axis=0) for block in blocks]
        return np.concatenate(means)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        tags.input_tags.sparse = not self._pairwise
        tags.target_tags.required = True
        return tags


class KreinRegressor(ScoringStreams, RegressorMixin, _Auto):
    """Regression with any kernel, everything chosen by cross-validation.

    Tries Kreĭn ridge and variance-constrained least squares, each with its penalties tuned, on
    Nyström maps of several ranks, on similarities as features and a Gaussian of them, and, where
    there are many rows and the kernel has a measure, on random Fourier features; `report_` says
    what was tried, what was chosen and why. Ridge is tried on all maps, the other on the three that
    suit ridge best. Of dissimilarities D the maps are made of ``−½ D²``, the similarity of the
    papers, and of exp(−D) and exp(−D²), at two rates each on more than 200 rows; D itself, and a
    Gaussian of its rows, are tried as features.

    On up to 2000 rows (a stream of so few is gathered) maps are fitted anew for each fold, and the
    best few, none with more than 1.5 times the smallest loss, are averaged: the best one is best by
    chance. On up to 100 rows nothing is chosen but penalties: all trials with up to 1.1 times the
    smallest squared error are averaged, of dissimilarities those on the rows of each similarity and
    of D.

    Parameters
    ----------
    kernel : Kernel or "precomputed", default=None
        None is a Gaussian as wide as the data. The values of a kernel of objects are computed once
        for all trials on up to 2000 rows.
    n_components : int or "auto", default="auto"
        The rank of Nyström maps, and no other ones; "auto" tries 25, 100, 300 and, with up to 1500
        rows, all.
    dissimilarity : bool, default=False
        Whether the kernel's values, or those of a precomputed matrix, are dissimilarities: zero for
        the same object, larger the less alike two objects are. Then similarities are chosen too.
    n_models : int or "auto", default="auto"
        How many trials are averaged at most; "auto" is all with up to 100 rows, 6 with up to 2000,
        else 1.
    max_seconds : float, default=None
        No further trial is begun that is expected to end later.
    max_megabytes : float, default=1024
        Maps whose matrices need more are not tried.
    cv : int, splitter, iterable of (train, test) or "auto", default="auto"
        What trials are judged by, and their penalties chosen; "auto" is 10 folds with up to 100
        rows, else 5.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    best_estimator_ : the best fitted learner
    estimators_ : list
        All that are averaged, the best one first; with 101 to 200 rows each trial is fitted and
        judged three times, with other folds.
    report_ : Report
        Printed, a table of all trials and a sentence.
    kernel_ : Kernel or "precomputed"
        The kernel of all trials, a copy; a rate ``gamma="median"`` is a number there, taken once
        from all rows.
    """

    def _learners(self, few: bool) -> dict[str, tuple[type, dict[str, Any]]]:
        return {"ridge": (KreinRidge, {}), "VC-LSM": (VarianceConstrainedRegressor, {})}

    def predict(self, X: Any) -> NDArray:
        """The mean prediction of the learners that were kept, shape (n,) or (n, k)."""
        return self._outputs(X, "predict")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class KreinClassifier(ScoringStreams, ClassifierMixin, _Auto):
    """Classification with any kernel, everything chosen by cross-validation.

    As `KreinRegressor`, with the squared-hinge machine besides, and judged by the error; equal
    errors are common, and the squared error decides among them. On up to 2000 rows, of which hardly
    any are wrong, it is judged by the Brier score, the squared error of the outputs as
    probabilities; where least squares make no error at all, by the squared error of the outputs.

    Parameters
    ----------
    kernel, n_components, dissimilarity, n_models, max_seconds, max_megabytes, cv, random_state
        See `KreinRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    best_estimator_, estimators_, report_, kernel_ : see `KreinRegressor`

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinClassifier
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = KreinClassifier(DeltaGaussian(), 20, random_state=0).fit(X, np.hypot(*X.T) > 1)
    >>> print(model.report_.reason)  # doctest: +ELLIPSIS
    Chosen: ... on Nystrom features of width 20, with the smallest Brier score of 5-fold ...
    """

    def _criteria(self, few: bool) -> tuple[str, ...]:
        # Of few rows hardly any are wrong: the trial that happens to have one less is no better.
        return ("brier", "error", "squared_error") if few else ("error", "squared_error")

    def _learners(self, few: bool) -> dict[str, tuple[type, dict[str, Any]]]:
        # Counted errors of few rows are too coarse to choose penalties by; squared ones are not.
        options = {"criterion": "squared_error"} if few else {}
        return {
            "ridge": (KreinRidgeClassifier, options),
            "VC-LSM": (VarianceConstrainedClassifier, options),
            "squared hinge": (KreinSVC, {"criterion": "squared_hinge"} if few else {}),
        }

    @property
    def classes_(self) -> NDArray:
        check_is_fitted(self, "estimators_")
        return self.best_estimator_.classes_

    def decision_function(self, X: Any) -> NDArray:
        """The mean output of the learners that were kept, shape (n,) for two classes or (n, k)."""
        return self._outputs(X, "decision_function")

    def predict(self, X: Any) -> NDArray:
        """The class of each row of X."""
        return decide(self.decision_function(X), self.classes_)
