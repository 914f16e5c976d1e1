"""One line for those who do not want to choose."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._validation import all_or_nothing, as_generator
from ..features import Nystrom, RandomFourier
from ..kernels import Kernel
from ..measures import InfiniteMassError
from ._base import _is_stream
from .ridge import KreinRidge, KreinRidgeClassifier
from .svc import KreinSVC
from .variance import VarianceConstrainedClassifier, VarianceConstrainedRegressor

# Ranks that are tried, as long as the data have more rows and time is left.
WIDTHS = (25, 100, 300)
# Up to this many rows the whole space is tried too.
WHOLE = 1500
# From this many rows on, features that need no landmarks are tried too.
MANY = 5000


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


@dataclass
class Report:
    """What was tried, what was chosen and why.

    Attributes
    ----------
    trials : list of Trial
    chosen : int
        The place of the chosen one.
    criterion : str
    reason : str
    """

    criterion: str
    trials: list[Trial] = field(default_factory=list)
    chosen: int = -1
    reason: str = ""

    def __str__(self) -> str:
        head = f"{'features':<16}{'width':>6}  {'learner':<14}{self.criterion:>16}{'seconds':>9}"
        lines = [head]
        for i, t in enumerate(self.trials):
            mark = "*" if i == self.chosen else " "
            score = f"{t.score:.4g}" if np.isfinite(t.score) else "-"
            row = f"{t.features:<16}{t.width:>6}  {t.learner:<14}{score:>16}{t.seconds:>9.2f}"
            lines.append(f"{row} {mark} {t.note}".rstrip())
        return "\n".join([*lines, self.reason])


class _Auto(BaseEstimator):
    """Fit learners with tuned penalties on several maps and keep the best of cross-validation."""

    _parameter_constraints = {
        "kernel": [Kernel, StrOptions({"precomputed"}), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_seconds": [Interval(Real, 0, None, closed="neither"), None],
        "max_megabytes": [Interval(Real, 0, None, closed="neither")],
        "cv": ["cv_object"],
        "random_state": ["random_state", np.random.Generator],
    }
    _criterion = "squared error"

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int | str = "auto",
        *,
        max_seconds: float | None = None,
        max_megabytes: float = 1024.0,
        cv: int = 5,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.max_seconds = max_seconds
        self.max_megabytes = max_megabytes
        self.cv = cv
        self.random_state = random_state

    def _learners(self) -> dict[str, type]:
        raise TypeError(f"{type(self).__name__} must define _learners.")

    def _score(self, learner: Any) -> tuple[float, float]:
        """What decides, and what decides among equals."""
        losses = learner.cv_results_["squared_error"]
        return float(np.min(losses)), 0.0

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Try, compare and keep the best.

        Parameters
        ----------
        X, y, sample_weight : as in `KreinRidge.fit`
        """
        with all_or_nothing(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        if y is None and not _is_stream(X):
            raise ValueError(f"{type(self).__name__} requires y to be passed, but y is None.")
        begin = time.perf_counter()
        seed = int(as_generator(self.random_state).integers(2**31))
        report = Report(self._criterion)
        best: tuple[float, float] = (np.inf, np.inf)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X) if hasattr(X, "__len__") else MANY
        spent: dict[str, float] = {}
        for name, width, features in self._maps(n_rows, seed):
            for kind, learner in self._learners().items():
                used = time.perf_counter() - begin
                expected = spent.get(kind, 0.0)
                limit = np.inf if self.max_seconds is None else self.max_seconds
                if report.trials and used + expected > limit:
                    note = f"left out: {used:.1f} s of {limit:g} s are used"
                    report.trials.append(Trial(name, kind, width, np.inf, 0.0, note))
                    continue
                start = time.perf_counter()
                model = learner(
                    self.kernel, features=features, cv=self.cv, alpha="cv", random_state=seed
                )
                try:
                    model.fit(X, y, sample_weight)
                except InfiniteMassError as error:
                    note = str(error).split(":")[0]
                    report.trials.append(Trial(name, kind, width, np.inf, 0.0, note))
                    break
                except ValueError as error:
                    # The user knows this class, not the one that it tries.
                    said = str(error).replace(learner.__name__, type(self).__name__)
                    raise type(error)(said) from error
                score = self._score(model)
                spent[kind] = time.perf_counter() - start
                width_found = int(np.shape(model.coef_)[-1])
                report.trials.append(Trial(name, kind, width_found, score[0], spent[kind]))
                if score < best:
                    best, self.best_estimator_ = score, model
                    report.chosen = len(report.trials) - 1
        chosen = report.trials[report.chosen]
        report.reason = (
            f"Chosen: {chosen.learner} on {chosen.features} features of width {chosen.width}, with "
            f"the smallest {self._criterion} of {self.cv}-fold cross-validation"
            f"{' (the first of equals)' if self._ties(report) else ''}."
        )
        self.report_ = report
        if hasattr(self.best_estimator_, "n_features_in_"):
            self.n_features_in_ = self.best_estimator_.n_features_in_
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    @staticmethod
    def _ties(report: Report) -> bool:
        scores = [trial.score for trial in report.trials]
        return scores.count(scores[report.chosen]) > 1

    def _maps(self, n_rows: int, seed: int) -> Iterator[tuple[str, int, Any]]:
        """Maps to try, cheap ones first, within the memory that is allowed."""
        limit = self.max_megabytes * 2**20
        if self.n_components != "auto":
            widths: list[int] = [int(self.n_components)]
        else:
            widths = [w for w in WIDTHS if w < n_rows] or [max(1, n_rows)]
        kernel = self.kernel
        for width in widths:
            if 8 * width * width * 4 <= limit or width == widths[0]:
                yield "Nystrom", width, Nystrom(kernel, width, random_state=seed)
        if self.n_components == "auto" and widths[-1] < n_rows <= WHOLE:
            everything = Nystrom(kernel, n_rows, landmarks="all", random_state=seed)
            yield "Nystrom (all)", n_rows, everything
        if isinstance(kernel, str) or n_rows < MANY:
            return
        if kernel is None or kernel.takes_vectors:
            width = 2 * widths[-1]
            yield "RandomFourier", width, RandomFourier(kernel, width, random_state=seed)

    def predict(self, X: Any) -> NDArray:
        """The predictions of the best learner."""
        self._check_new(X)
        return self.best_estimator_.predict(X)

    def _check_new(self, X: Any) -> None:
        check_is_fitted(self)
        if hasattr(X, "shape") and hasattr(self, "n_features_in_"):
            validate_data(self, X, reset=False, skip_check_array=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        pairwise = bool(Nystrom(self.kernel)._precomputed)
        tags.input_tags.pairwise = pairwise
        tags.input_tags.sparse = not pairwise
        tags.target_tags.required = True
        return tags


class KreinRegressor(RegressorMixin, _Auto):
    """Regression with any kernel, everything chosen by cross-validation.

    Tries Kreĭn ridge and variance-constrained least squares on Nyström maps of several ranks (and
    on random Fourier features where there are many rows and the kernel has a measure), each with
    its penalties tuned, and keeps the best; `report_` says what was tried and why.

    Parameters
    ----------
    kernel : Kernel or "precomputed", default=None
        None is ``Gaussian()``.
    n_components : int or "auto", default="auto"
        The rank; "auto" tries 25, 100, 300 and, with up to 1500 rows, all.
    max_seconds : float, default=None
        No further trial is begun that is expected to end later.
    max_megabytes : float, default=1024
        Maps whose matrices need more are not tried.
    cv : int, default=5
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    best_estimator_ : the fitted learner
    report_ : Report
        Printed, a table of all trials and a sentence.
    """

    def _learners(self) -> dict[str, type]:
        return {"ridge": KreinRidge, "VC-LSM": VarianceConstrainedRegressor}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class KreinClassifier(ClassifierMixin, _Auto):
    """Classification with any kernel, everything chosen by cross-validation.

    Tries Kreĭn ridge, variance-constrained least squares and the squared-hinge machine on Nyström
    maps of several ranks (and on random Fourier features where there are many rows and the kernel
    has a measure), each with its penalties tuned, and keeps the one with the smallest error.

    Parameters
    ----------
    kernel : Kernel or "precomputed", default=None
        None is ``Gaussian()``.
    n_components : int or "auto", default="auto"
        The rank; "auto" tries 25, 100, 300 and, with up to 1500 rows, all.
    max_seconds : float, default=None
        No further trial is begun that is expected to end later.
    max_megabytes : float, default=1024
        Maps whose matrices need more are not tried.
    cv : int, default=5
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    best_estimator_ : the fitted learner
    report_ : Report
        Printed, a table of all trials and a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinClassifier
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = KreinClassifier(DeltaGaussian(), 20, random_state=0).fit(X, np.hypot(*X.T) > 1)
    >>> print(model.report_.reason)  # doctest: +ELLIPSIS
    Chosen: ... on Nystrom features of width 20, with the smallest error of 5-fold ...
    """

    _criterion = "error"

    def _learners(self) -> dict[str, type]:
        return {
            "ridge": KreinRidgeClassifier,
            "VC-LSM": VarianceConstrainedClassifier,
            "squared hinge": KreinSVC,
        }

    def _score(self, learner: Any) -> tuple[float, float]:
        return float(np.min(learner.cv_results_["error"])), 0.0

    @property
    def classes_(self) -> NDArray:
        return self.best_estimator_.classes_

    def decision_function(self, X: Any) -> NDArray:
        """The outputs of the best learner."""
        self._check_new(X)
        return self.best_estimator_.decision_function(X)
