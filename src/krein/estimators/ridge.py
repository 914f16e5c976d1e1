"""Kreĭn ridge, for numbers and for classes."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from .._validation import all_or_nothing, as_generator
from ..kernels import Kernel
from ..learning import Lasso, LeastSquares, Ridge
from ..learning.penalties import Penalty
from ..streaming import Folds
from ._data import Data, Survey, survey
from ._targets import Regressing
from .least_squares import SHARES, LeastSquaresClassifying, LeastSquaresLearner


class _Ridge(LeastSquaresLearner):
    """What regression and classification share."""

    _parameter_constraints = {
        **LeastSquaresLearner._parameter_constraints,
        "penalty": [StrOptions({"split", "krein", "l1"})],
    }

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int = 100,
        *,
        features: Any = None,
        alpha: float | str = "cv",
        alpha_neg: float | str | None = None,
        penalty: str = "split",
        fit_intercept: bool = True,
        alphas: ArrayLike | None = None,
        alphas_neg: ArrayLike | None = None,
        cv: int = 5,
        refit: bool = False,
        criterion: str | None = None,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.features = features
        self.alpha = alpha
        self.alpha_neg = alpha_neg
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.alphas = alphas
        self.alphas_neg = alphas_neg
        self.cv = cv
        self.refit = refit
        self.criterion = criterion
        self.random_state = random_state

    def _solver(self) -> Any:
        if self.penalty == "l1":
            return Lasso(self._signs, unit=self._target_unit)
        return Ridge(self._signs, indefinite=self.penalty == "krein")

    def _candidates(self, problem: LeastSquares) -> list[Any]:
        found = super()._candidates(problem)
        if self.penalty != "krein":
            return found
        # One penalty, the form has the signs. Beyond the largest eigenvalue of the negative part
        # the system is never singular.
        alphas = list(dict.fromkeys(pair.alpha for pair in found))
        negative = self._signs < 0
        if self.alphas is None and np.any(negative):
            largest = float(np.linalg.eigvalsh(problem.gram[np.ix_(negative, negative)])[-1])
            alphas = list(1.05 * largest * np.geomspace(1, 1e5, len(SHARES)))
        return [Penalty(float(a), float(a)) for a in alphas]

    def _learn(self, data: Data, seen: Survey) -> None:
        if self.alpha == "gradient" and self.penalty != "split":
            raise ValueError(
                f"{type(self).__name__}(alpha='gradient') needs penalty='split', got "
                f"{self.penalty!r}: use alpha='cv'."
            )
        super()._learn(data, seen)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; the map is fitted on the first ones.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        """
        with self._threads(X), all_or_nothing(self):
            self._partial(X, y, sample_weight)
        return self

    def _partial(self, X: Any, y: Any, sample_weight: Any) -> None:
        """After the first call penalties are tuned by the squared error: earlier rows are gone."""
        if not isinstance(self.cv, Integral) and self._is_tuned():
            raise ValueError(
                f"{type(self).__name__}.partial_fit needs cv to be a number of folds, got "
                f"{self.cv!r}: rows to come have no places yet."
            )
        first = not hasattr(self, "_parts")
        fitted = dict(vars(self))
        data = self._open(X, y, sample_weight, reset=first)
        rng = as_generator(self.random_state)
        key = self._key(rng)
        seen = survey(data, key, self.cv, self._classifies, type(self).__name__)
        if first:
            self._prepare(seen)
            self._set_units(seen)
            self._fit_features(seen, rng)
            self._columns = data.columns
        else:
            self._same_data(fitted, seen)
        if first:
            return self._learn(data, seen)
        # Earlier rows cannot be dealt anew: those to come go to folds by their content alone.
        new = self._moments(data, Folds(int(self.cv), key) if self._is_tuned() else None)
        if len(new) != len(self._parts):
            raise ValueError("alpha and cv must not change between calls to partial_fit.")
        parts = [old.merge(more) for old, more in zip(self._parts, new, strict=True)]
        self._solve(parts, self._n_outputs(seen), None, seen)

    def _same_data(self, fitted: dict[str, Any], seen: Survey) -> None:
        """The new rows are like those before."""
        for name, what in (("n_features_in_", "columns"), ("_single", "outputs")):
            if fitted.get(name) != vars(self).get(name):
                raise ValueError(
                    f"{type(self).__name__}.partial_fit got rows with other {what} than before: "
                    f"{vars(self).get(name)} after {fitted.get(name)}."
                )


class KreinRidge(Regressing, _Ridge):
    """Ridge regression with an indefinite kernel: the Kreĭn least-squares method (LSM).

    ``(1/Σs) Σ s_i (y_i − f(x_i))² + alpha ‖w₊‖² + alpha_neg ‖w₋‖²`` with ``f = wᵀZ + b``: the
    features of the kernel's negative part have a penalty of their own. Equal penalties are kernel
    ridge on the flipped kernel, ``alpha_neg=inf`` is the clipped one. The data are seen in blocks,
    once for the map and once for everything else.

    Parameters
    ----------
    kernel : Kernel or "precomputed", default=None
        Used if `features` is None: then the map is ``Nystrom(kernel, n_components)``.
    n_components : int, default=100
        Its rank.
    features : transformer, default=None
        Any map of this library or a Pipeline that ends in one. It is fitted once, without y, on the
        distinct rows (at most 100,000 of them, drawn by content), also under ``alpha="cv"``.
    alpha : float, "cv" or "gradient", default="cv"
        Penalty of the positive part. "cv" tries all pairs of a grid on all folds, from one pass;
        "gradient" goes on from the best pair along the gradient of the folds' squared error.
    alpha_neg : float, "equal" or None, default=None
        Penalty of the negative part; ``inf`` leaves it out. None is equal to alpha, or is tuned
        with it.
    penalty : {"split", "krein", "l1"}, default="split"
        "krein" is the indefinite ``alpha wᵀMw``, a stationary point and no minimum, which explodes
        where alpha meets an eigenvalue of the negative part (it warns); its default grid lies
        beyond the largest, where ``k(x, X)(K + nαI)⁻¹y`` is stable. "l1" keeps few features.
    fit_intercept : bool, default=True
        The intercept is not penalised.
    alphas, alphas_neg : array-like, default=None
        The grid; None is nine values from 1e-8 to 1 times the features' variance.
    cv : int, default=5
        Number of folds. Rows are assigned by content: equal rows share a fold, and the order of
        rows changes nothing.
    refit : bool, default=False
        Whether "cv" fits the map anew for each fold, without its rows. One pass more per fold, and
        the honest choice for a few hundred rows, where a row may be its own landmark.
    criterion : {"squared_error", "error"}, default=None
        What "cv" minimises; None is the squared error for numbers and the classification error,
        which takes one more pass, for classes.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (k, p)
    intercept_ : float or ndarray of shape (k,)
    alpha_, alpha_neg_ : float
        The penalties used.
    features_ : the fitted map
    kernel_ : Kernel
        The kernel as it was fitted; absent if `features` was given.
    cv_results_ : dict
        What was tried; only if something was. The squared error of targets above 1e50 or below
        1e-50 is that of the targets times the power of two that brings the largest near 1.

    References
    ----------
    D. Oglic, T. Gärtner. Scalable Learning in Reproducing Kernel Kreĭn Spaces. ICML 2019. §2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinRidge
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> y = np.sin(6 * X[:, 0]) + 1e6
    >>> model = KreinRidge(DeltaGaussian(0.3, 3.0), n_components=30, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    """


class KreinRidgeClassifier(LeastSquaresClassifying, _Ridge):
    """`KreinRidge` on targets −1 and +1, one column per class against the rest.

    Parameters are those of `KreinRidge`; one factorisation serves all classes.

    Parameters
    ----------
    kernel, n_components, features, alpha, alpha_neg, penalty, fit_intercept : see `KreinRidge`
    alphas, alphas_neg, cv, refit, criterion, random_state : see `KreinRidge`
    class_weight : dict, "balanced" or None, default=None
        Factors of the rows' weights by class.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    coef_ : ndarray of shape (p,) or (k, p)
    intercept_ : float or ndarray of shape (k,)
    alpha_, alpha_neg_ : float
    features_ : the fitted map
    kernel_ : Kernel
        The kernel as it was fitted; absent if `features` was given.
    cv_results_ : dict
        As of `KreinRidge`, and with refit=True the "error" and the "brier" score of what was tried.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinRidgeClassifier
    >>> from krein.kernels import EditDistance, Similarity
    >>> words = ["cat", "cut", "car", "dog", "dig", "dug"] * 5
    >>> labels = ["c", "c", "c", "d", "d", "d"] * 5
    >>> model = KreinRidgeClassifier(Similarity(EditDistance()), 6, alpha=1e-3, random_state=0)
    >>> model.fit(words, labels).predict(["cap", "dag"])
    array(['c', 'd'], dtype='<U1')
    """

    _parameter_constraints = {
        **_Ridge._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int = 100,
        *,
        features: Any = None,
        alpha: float | str = "cv",
        alpha_neg: float | str | None = None,
        penalty: str = "split",
        fit_intercept: bool = True,
        alphas: ArrayLike | None = None,
        alphas_neg: ArrayLike | None = None,
        cv: int = 5,
        refit: bool = False,
        criterion: str | None = None,
        class_weight: Any = None,
        random_state: Any = None,
    ):
        super().__init__(
            kernel,
            n_components,
            features=features,
            alpha=alpha,
            alpha_neg=alpha_neg,
            penalty=penalty,
            fit_intercept=fit_intercept,
            alphas=alphas,
            alphas_neg=alphas_neg,
            cv=cv,
            refit=refit,
            criterion=criterion,
            random_state=random_state,
        )
        self.class_weight = class_weight

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more rows; the map is fitted on the first ones.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array-like of shape (k,), default=None
            All classes there will be; needed in the first call unless it has them all.
        """
        with self._threads(X), all_or_nothing(self):
            if isinstance(self.class_weight, str):
                raise ValueError(
                    "class_weight='balanced' needs all rows at once: give partial_fit a dict."
                )
            self._announced = None if classes is None else np.unique(np.asarray(classes))
            self._partial(X, y, sample_weight)
        return self

    def _prepare(self, seen: Survey) -> None:
        announced = self.__dict__.pop("_announced", None)
        if announced is not None and seen.labels is not None:
            totals = np.zeros(len(announced))
            known = np.isin(seen.labels, announced)
            if not known.all():
                raise ValueError(
                    f"y has the labels {seen.labels[~known].tolist()}, which are not among the "
                    f"classes {announced.tolist()} of partial_fit."
                )
            totals[np.searchsorted(announced, seen.labels)] = seen.label_weights
            seen = Survey(**{**vars(seen), "labels": announced, "label_weights": totals})
        super()._prepare(seen)

    def _same_data(self, fitted: dict[str, Any], seen: Survey) -> None:
        self._single = fitted["_single"]
        announced = self.__dict__.pop("_announced", None)
        if announced is not None and not np.array_equal(announced, self.classes_):
            raise ValueError(
                f"classes {announced.tolist()} are not those of the first call to partial_fit, "
                f"{self.classes_.tolist()}."
            )
        super()._same_data(fitted, seen)
        assert seen.labels is not None
        unseen = ~np.isin(seen.labels, self.classes_)
        if unseen.any():
            raise ValueError(
                f"y has the labels {seen.labels[unseen].tolist()}, which the first call to "
                f"partial_fit did not have: pass all of them there as classes=…"
            )
