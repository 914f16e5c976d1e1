"""The automatic learners, which choose the kernel, the map, the learner and the penalties."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..estimators._parameters import store
from ..estimators.ridge import KreinRidge, KreinRidgeClassifier
from ..estimators.svc import KreinSVC
from ..estimators.two_sided import TwoSidedRidge, TwoSidedRidgeClassifier
from ..estimators.variance import VarianceConstrainedClassifier, VarianceConstrainedRegressor
from ..kernels import Kernel
from .automatic import Automatic
from .maps import HINGE, RIDGE, TWO_SIDED
from .parameters import with_parameters

# The tolerance of Newton's method; a smaller one changes no digit that trials are compared by.
TOL = 1e-4


@with_parameters
class KreinRegressor(Automatic, RegressorMixin, BaseEstimator):
    """Regression with any kernel, everything chosen by cross-validation.

    On a table of numbers with ``kernel=None`` the columns are standardised robustly, and the kernel
    is chosen: Gaussian, Matérn ½ and 3⁄2, Laplacian or δ-Gaussian, each at widths around the median
    distance, by the leave-one-out error of kernel ridge on up to 1000 rows, and with more than 3400
    rows also by the error of ridge on maps of up to 10,000 rows. Columns get widths of their own
    (automatic relevance determination) if that clearly lowers the error of other rows; a kernel
    with equal widths stays beside it if a mixture of both is better. Kreĭn ridge then learns on the
    exact kernel with up to 3400 rows, else on the widest Nyström map that fits `max_megabytes` and
    a budget of operations, which are counted and not timed.

    A `Gaussian`, `Laplacian` or `Matern` that is given for a table has the same maps and learner,
    without scaled columns. With any other kernel, the learner tries Kreĭn ridge and
    variance-constrained least squares, each with its penalties tuned, on Nyström maps of several
    ranks, on similarities as features and on a Gaussian of them, and, if there are many rows and
    the kernel has a measure, on random Fourier features. `report_` says what was tried, what was
    chosen and why. Ridge is tried on all maps, the other learner on the three maps that suit ridge
    best. A kernel that is not symmetric is also tried with two-sided ridge, on all maps, and with
    its symmetric part. Dissimilarities D give maps of ``−½ D²``, the similarity of the papers, and
    of exp(−D) and exp(−D²), at two rates each on more than 200 rows; D itself and a Gaussian of its
    rows are tried as features.

    With any other kernel and up to 2000 rows (a stream of at most 2000 rows is read into memory),
    maps are fitted anew for each fold, and the best few trials, none with more than 1.5 times the
    smallest loss, are averaged, because the best trial may be best by chance. On up to 100 rows
    only the penalties are chosen: all trials with up to 1.1 times the smallest squared error are
    averaged. For dissimilarities these are trials on the rows of each similarity and on the rows of
    D.

    Squared errors of several outputs are summed in units of the variance of each output.

    Parameters
    ----------
    {kernel}
    {n_components}
    {dissimilarity}
    {n_models}
    {max_seconds}
    {max_megabytes}
    {cv}
    {n_jobs}
    {random_state}

    Attributes
    ----------
    {best_estimator_}
    {estimators_}
    {report_}
    {kernel_}
    {n_features_in_}
    {feature_names_in_}

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KreinRegressor
    >>> X = np.random.default_rng(0).random((120, 2))
    >>> model = KreinRegressor(n_components=20, random_state=0).fit(X, np.sin(5 * X[:, 0]))
    >>> model.score(X, np.sin(5 * X[:, 0])) > 0.99
    True
    """

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
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        store(self, locals())

    def _learners(self, few: bool) -> dict[str, tuple[type, dict[str, Any]]]:
        return {
            RIDGE: (KreinRidge, {}),
            TWO_SIDED: (TwoSidedRidge, {}),
            "VC-LSM": (VarianceConstrainedRegressor, {}),
        }

    def predict(self, X: Any) -> NDArray:
        """Return the mean prediction of the kept learners, shape (n,) or (n, k).

        Parameters
        ----------
        X : as in `fit`
            For ``Precomputed(symmetric=False)``, a pair ``(k(x, T), k(T, x).T)`` of arrays of shape
            (m, n), with the n training rows T.
        """
        return self._mean(X, "predict")


@with_parameters
class KreinClassifier(Automatic, ClassifierMixin, BaseEstimator):
    """Classification with any kernel, everything chosen by cross-validation.

    On a table of numbers with ``kernel=None`` the columns are standardised robustly, and the kernel
    is chosen: Gaussian, Matérn ½ and 3⁄2, Laplacian or δ-Gaussian, each at widths around the median
    distance, by the leave-one-out log-loss of kernel ridge on up to 1000 rows, and with more than
    3400 rows also by the log-loss of ridge on maps of up to 10,000 rows. Columns get widths of
    their own (automatic relevance determination) if that clearly lowers the error of other rows; a
    kernel with equal widths stays beside it if a mixture of both is better. Kreĭn ridge then learns
    on the exact kernel with up to 3400 rows, else on the widest Nyström map that fits
    `max_megabytes` and a budget of operations, which are counted and not timed. With up to 2000 or
    more than 3400 rows the squared-hinge machine learns on up to 1000 landmarks, if trials on 400
    rows show that it pays. Its kernel is a wide Gaussian, unless the kernel of ridge is as smooth.
    Held-out rows choose the weights of both learners, and ridge is alone unless the mixture lowers
    the log-loss by 5 %.

    A `Gaussian`, `Laplacian` or `Matern` that is given for a table has the same maps and learners,
    without scaled columns. With any other kernel, the learner tries Kreĭn ridge,
    variance-constrained least squares and the squared-hinge machine, each with its penalties tuned,
    on Nyström maps of several ranks, on similarities as features and on a Gaussian of them, and, if
    there are many rows and the kernel has a measure, on random Fourier features. `report_` says
    what was tried, what was chosen and why. Ridge is tried on all maps, the other learners on the
    three maps that suit ridge best. A kernel that is not symmetric is also tried with two-sided
    ridge, on all maps, and with its symmetric part. Dissimilarities D give maps of ``−½ D²``, the
    similarity of the papers, and of exp(−D) and exp(−D²), at two rates each on more than 200 rows;
    D itself and a Gaussian of its rows are tried as features.

    Trials are judged by their error, the share of wrong rows. Equal errors are common, and the
    squared error decides among them. On up to 2000 rows hardly any rows are wrong, so trials are
    judged by the Brier score, the squared error of the outputs as probabilities. If least squares
    predicts every row correctly, trials are judged by the squared error of the outputs. With any
    other kernel, maps are also fitted anew for each fold on up to 2000 rows, and the best few
    trials, none with more than 1.5 times the smallest loss, are averaged. On up to 100 rows only
    the penalties are chosen: all trials with up to 1.1 times the smallest squared error are
    averaged.

    Parameters
    ----------
    {kernel}
    {n_components}
    {dissimilarity}
    {n_models}
    {max_seconds}
    {max_megabytes}
    {cv}
    {n_jobs}
    {class_weight}
    {random_state}

    Attributes
    ----------
    {classes_}
    {best_estimator_}
    {estimators_}
    {report_}
    {kernel_}
    {n_features_in_}
    {feature_names_in_}

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
        n_jobs: int | None = None,
        class_weight: Any = None,
        random_state: Any = None,
    ):
        store(self, locals())

    def _criteria(self, few: bool) -> tuple[str, ...]:
        # Few rows contain hardly any wrong ones: a trial with one wrong row fewer may not be
        # better.
        return ("brier", "error", "squared_error") if few else ("error", "squared_error")

    def _learners(self, few: bool) -> dict[str, tuple[type, dict[str, Any]]]:
        # On few rows the number of wrong rows is too coarse to choose penalties; squared errors are
        # not.
        options = {"criterion": "squared_error"} if few else {}
        return {
            RIDGE: (KreinRidgeClassifier, options),
            TWO_SIDED: (TwoSidedRidgeClassifier, options),
            "VC-LSM": (VarianceConstrainedClassifier, options),
            HINGE: (
                KreinSVC,
                {"tol": TOL, **({"criterion": "squared_hinge"} if few else {})},
            ),
        }

    @property
    def classes_(self) -> NDArray:
        check_is_fitted(self, "estimators_")
        return self.best_estimator_.classes_

    def decision_function(self, X: Any) -> NDArray:
        """Return the mean output of the kept learners: shape (n,) for two classes, else (n, k).

        Each output of three or more classes is learned for one class against the rest. If held-out
        rows show that the largest of their log-odds names clearly fewer wrong classes than the
        largest output, e.g. because one class lies between the others, the log-odds are returned.

        Parameters
        ----------
        X : as in `fit`
            For ``Precomputed(symmetric=False)``, a pair ``(k(x, T), k(T, x).T)`` of arrays of shape
            (m, n), with the n training rows T.
        """
        outputs = self._mean(X, "decision_function")
        return outputs if self._balance is None else self._balance(outputs)

    def predict(self, X: Any) -> NDArray:
        """Return the class of each row of X.

        Parameters
        ----------
        X : as in `fit`
            For ``Precomputed(symmetric=False)``, a pair ``(k(x, T), k(T, x).T)`` of arrays of shape
            (m, n), with the n training rows T.
        """
        outputs = self.decision_function(X)
        return self.best_estimator_._targets.decode(outputs.reshape(len(outputs), -1))
