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
from ..features import Nystrom, RandomFourier, SimilarityFeatures
from ..kernels import Kernel
from ..measures import InfiniteMassError
from ..streaming.containers import count
from ._base import _is_stream, scaled_gaussian
from ._progress import Progressing, with_callbacks
from .ridge import KreinRidge, KreinRidgeClassifier
from .svc import KreinSVC
from .variance import VarianceConstrainedClassifier, VarianceConstrainedRegressor

# Ranks that are tried, as long as the data have more rows and time is left.
WIDTHS = (25, 100, 300)
# Up to this many rows the whole space is tried too.
WHOLE = 1500
# Up to this many rows maps are fitted anew for each fold.
FEW = 2000
# From this many rows on, features that need no landmarks are tried too.
MANY = 5000
# So many of the maps that are best for the first learner are tried with the others.
GOOD_MAPS = 2


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


class _Auto(Progressing, BaseEstimator):
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

    def _learners(self, few: bool) -> dict[str, tuple[type, dict[str, Any]]]:
        """Names, classes and options of the learners to try, on few rows or on many."""
        raise TypeError(f"{type(self).__name__} must define _learners.")

    def _score(self, learner: Any) -> float:
        """The cross-validated loss of the penalties that the learner chose."""
        results = learner.cv_results_
        return float(results["squared_error"][results["chosen"]])

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Try, compare and keep the best.

        Parameters
        ----------
        X, y, sample_weight : as in `KreinRidge.fit`
        """
        with self._reporting(n_stages=None), all_or_nothing(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        if y is None and not _is_stream(X):
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X = self._rows(X, reset=True)
        seed = int(as_generator(self.random_state).integers(2**31))
        self.report_ = Report(self._criterion)
        self._best, self._begin = np.inf, time.perf_counter()
        repeats = self._repeats(X)
        first, *others = self._learners(repeats > 0)
        # The cheapest learner looks for good maps, the others are tried on those.
        scores: list[tuple[float, int, Any]] = []
        for candidate in self._maps(X, seed):
            score = self._try(first, candidate, seed, repeats, X, y, sample_weight)
            scores.append((score, len(scores), candidate))
        for _, _, candidate in sorted(scores, key=lambda entry: entry[:2])[:GOOD_MAPS]:
            for kind in others:
                self._try(kind, candidate, seed, repeats, X, y, sample_weight)
        del self._best, self._begin
        chosen = self.report_.trials[self.report_.chosen]
        self.report_.reason = (
            f"Chosen: {chosen.learner} on {chosen.features} features of width {chosen.width}, with "
            f"the smallest {self._criterion} of {self._n_folds}-fold cross-validation"
            f"{' (the first of equals)' if self._ties(self.report_) else ''}."
        )

    def _rows(self, X: Any, reset: bool) -> Any:
        """X validated, where it is a matrix; objects and streams as they are."""
        matrix = not isinstance(self.kernel, Kernel) or self.kernel.takes_matrix(X)
        if _is_stream(X) or not matrix:
            return X
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )

    @property
    def _n_folds(self) -> Any:
        return self.cv if isinstance(self.cv, Integral) else "given"

    def _repeats(self, X: Any) -> int:
        """How often a trial is judged, each time by other folds; 0 if there are many rows.

        On few rows maps are fitted anew for each fold, and one division into folds is noise.
        """
        n_rows = FEW + 1 if _is_stream(X) or not hasattr(X, "__len__") else count(X)
        if n_rows > FEW:
            return 0
        return 3 if n_rows <= FEW // 10 and isinstance(self.cv, Integral) else 1

    def _try(
        self,
        kind: str,
        candidate: tuple[str, int, Any],
        seed: int,
        repeats: int,
        X: Any,
        y: Any,
        weight: Any,
    ) -> float:
        """Fit one learner on one map, note how it went and return its loss."""
        name, width, features = candidate
        trials, (learner, options) = self.report_.trials, self._learners(repeats > 0)[kind]
        used = time.perf_counter() - self._begin
        expected = max((t.seconds for t in trials if t.learner == kind), default=0.0)
        limit = np.inf if self.max_seconds is None else self.max_seconds
        if trials and used + expected > limit:
            note = f"left out: {used:.1f} s of {limit:g} s are used"
            trials.append(Trial(name, kind, width, np.inf, 0.0, note))
            return np.inf
        start = time.perf_counter()
        options = {**options, "features": features, "cv": self.cv, "refit": repeats > 0}
        models = [
            learner(alpha="cv", random_state=seed + i, **options) for i in range(max(1, repeats))
        ]
        try:
            with self._stage(f"{kind}, {name}, width {width}"):
                for model in models:
                    model.fit(X, y, weight)
        except InfiniteMassError as error:
            note = str(error).split(":")[0]
            trials.append(Trial(name, kind, width, np.inf, 0.0, note))
            return np.inf
        except ValueError as error:
            if learner.__name__ not in str(error):
                raise
            # The user knows this class, not the one that it tries.
            said = str(error).replace(learner.__name__, type(self).__name__)
            raise ValueError(said) from error
        score = float(np.mean([self._score(model) for model in models]))
        model, seconds = models[0], time.perf_counter() - start
        trials.append(Trial(name, kind, int(np.shape(model.coef_)[-1]), score, seconds))
        if score < self._best:
            self._best, self.best_estimator_ = score, model
            self.report_.chosen = len(trials) - 1
        return score

    @staticmethod
    def _ties(report: Report) -> bool:
        scores = [trial.score for trial in report.trials]
        return scores.count(scores[report.chosen]) > 1

    def _maps(self, X: Any, seed: int) -> Iterator[tuple[str, int, Any]]:
        """Maps to try, cheap ones first, within the memory that is allowed."""
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X) if hasattr(X, "__len__") else MANY
        kernel = self.kernel
        if kernel is None and not _is_stream(X):
            kernel = scaled_gaussian(X)
        limit = self.max_megabytes * 2**20
        if self.n_components != "auto":
            widths: list[int] = [int(self.n_components)]
        else:
            widths = [w for w in WIDTHS if w < n_rows] or [max(1, n_rows)]
        for width in widths:
            if 8 * width * width * 4 <= limit or width == widths[0]:
                yield "Nystrom", width, Nystrom(kernel, width, random_state=seed)
        if self.n_components == "auto" and widths[-1] < n_rows <= WHOLE:
            everything = Nystrom(kernel, n_rows, landmarks="all", random_state=seed)
            yield "Nystrom (all)", n_rows, everything
        if self.n_components == "auto":
            # As many similarities as there are landmarks of the widest map.
            rule, width = ("all", n_rows) if n_rows <= WHOLE else ("uniform", 3 * widths[-1])
            similarities = SimilarityFeatures(kernel, width, landmarks=rule, random_state=seed)
            yield "similarities", width, similarities
        if isinstance(kernel, str) or n_rows < MANY:
            return
        if kernel is None or kernel.takes_vectors:
            width = 2 * widths[-1]
            yield "RandomFourier", width, RandomFourier(kernel, width, random_state=seed)

    def predict(self, X: Any) -> NDArray:
        """The predictions of the best learner."""
        check_is_fitted(self)
        return self.best_estimator_.predict(self._rows(X, reset=False))

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

    def _learners(self, few: bool) -> dict[str, tuple[type, dict[str, Any]]]:
        return {"ridge": (KreinRidge, {}), "VC-LSM": (VarianceConstrainedRegressor, {})}

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

    def _learners(self, few: bool) -> dict[str, tuple[type, dict[str, Any]]]:
        # Counted errors of few rows are too coarse to choose penalties by; squared ones are not.
        options = {"criterion": "squared_error"} if few else {}
        return {
            "ridge": (KreinRidgeClassifier, options),
            "VC-LSM": (VarianceConstrainedClassifier, options),
            "squared hinge": (KreinSVC, {"criterion": "squared_hinge"} if few else {}),
            "Kreĭn penalty": (KreinRidgeClassifier, {**options, "penalty": "krein"}),
        }

    def _score(self, learner: Any) -> float:
        results = learner.cv_results_
        return float(results["error"][results["chosen"]])

    @property
    def classes_(self) -> NDArray:
        return self.best_estimator_.classes_

    def decision_function(self, X: Any) -> NDArray:
        """The outputs of the best learner."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(self._rows(X, reset=False))
