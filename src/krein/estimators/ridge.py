"""Kreĭn ridge, for numbers and for classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils._param_validation import StrOptions

from .._threads import blas_threads_for
from ..kernels import Kernel
from ..learning import LeastSquares, Posterior, Split
from ..streaming import Moments, fold
from ._parameters import shared, store
from ._partial import PartialLabels, PartialNumbers
from ._passes import Doubts

LEFT_OUT = """
cv : int, splitter, iterable of (train, test) or "loo", default=5
    The number of folds. Rows are assigned to folds by their content, so that equal rows share a
    fold and the order of the rows changes nothing. A splitter yields row indices and needs data in
    memory. "loo" leaves out every row, together with its copies, in turn, at the same total penalty
    alpha times the sum of the weights. One eigendecomposition gives the errors of all penalties in
    closed form, or one for each ratio of alpha_neg to alpha if the kernel is indefinite. This is
    the cheaper choice if the kernel is positive definite and the number of features is close to the
    number of rows. The map is fitted once, on all rows. Use "loo" with random features, or with a
    positive definite kernel and ``landmarks="all"``. Otherwise the row left out has shaped the map,
    and its error is too small.
"""


@shared(LEFT_OUT, cv=["cv_object", StrOptions({"loo"})])
class KreinRidge(PartialNumbers, RegressorMixin, BaseEstimator):
    """Ridge regression with an indefinite kernel: the Kreĭn least-squares method (LSM).

    The learner minimises
    ``(1/Σs) Σ s_i (y_i − f(x_i))² + alpha ‖w₊‖² + alpha_neg ‖w₋‖²`` with ``f = wᵀZ + b`` and the
    weights s_i. The features of the kernel's negative part have a penalty of their own. Equal
    penalties give kernel ridge on the flipped kernel, and ``alpha_neg=inf`` gives kernel ridge on
    the clipped kernel. The data are read in blocks, once for the map and once for everything else.

    Parameters
    ----------
    {kernel}
    {n_components}
    {features}
    {alpha}
    {alpha_neg}
    {penalty}
    {fit_intercept}
    {alphas}
    {alphas_neg}
    {cv}
    {nested}
    {criterion}
    {calibrate}
    {keep_statistics}
    {random_state}

    Attributes
    ----------
    {coef_}
    {intercept_}
    {alpha_}
    {alpha_neg_}
    {features_}
    {kernel_}
    {cv_results_}
    {n_features_in_}
    {feature_names_in_}

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

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int = 100,
        *,
        features: Any = None,
        alpha: float | str = "cv",
        alpha_neg: float | str = "auto",
        penalty: str = "split",
        fit_intercept: bool = True,
        alphas: ArrayLike | None = None,
        alphas_neg: ArrayLike | None = None,
        cv: Any = 5,
        nested: bool = False,
        criterion: str | None = None,
        calibrate: bool | str = "auto",
        keep_statistics: bool = False,
        random_state: Any = None,
    ):
        store(self, locals())

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predictions for the rows of X, and how far targets may be from them.

        Ridge is the posterior mean of a Gaussian model with noise of variance σ²:
        `krein.learning.Posterior` has the equation. The standard deviation is that of a new target,
        ``√(σ² + variance of f(x))``. The mean squared error of rows that were held out contains
        the variance of f, too: σ² is this error times ``1 − degrees of freedom / number of rows``.
        With all rows as landmarks of a positive definite kernel, this is Gaussian process
        regression. Otherwise, and with a precomputed kernel, the model knows only the features. The
        features of a Nyström map vanish far from the landmarks, so the standard deviation falls to
        σ there.

        Parameters
        ----------
        X : as in `fit`
            The columns of a file are matched with those of the fit by name, in any order, and other
            columns are ignored; columns without names are matched by place.
        return_std : bool, default=False
            True returns the standard deviations too. They need the moments of the data: fit with
            ``keep_statistics=True``.

        Returns
        -------
        predictions : ndarray of shape (n,) or (n, k)
        std : ndarray of shape (n,) or (n, k), only if `return_std` is True
        """
        if not return_std:
            return super().predict(X)
        targets, posterior = self._targets_fitted, self._posterior
        representation = self._representation
        with blas_threads_for((), representation.width):
            statistic = Doubts(representation, np.atleast_2d(self.coef_), posterior, self.alpha_)
            found = fold(self._checked(X), statistic).outputs
        outputs = found[:, :-1] + np.atleast_1d(self.intercept_)
        least = 0.0 if representation.is_exact else 1 / posterior.weight
        noise = np.sqrt(posterior.noise_share(least)) * self._calibration.deviation
        std = np.outer(np.sqrt(1 + found[:, -1]), noise)
        return targets.decode(outputs), targets.decision(std)

    @property
    def _posterior(self) -> Posterior:
        """The posterior of the Gaussian model."""
        if self.penalty != "split":
            raise ValueError(
                f"KreinRidge(penalty={self.penalty!r}) is not a Gaussian model, so predictions "
                "have no standard deviation: use penalty='split'."
            )
        if doubt := self._doubt("return_std=True"):
            raise ValueError(doubt)
        if not hasattr(self, "_parts"):
            raise ValueError(
                "predict(return_std=True) needs the moments of the data, which KreinRidge does not "
                "keep: fit with keep_statistics=True."
            )
        moments, unit = Moments.total(self._parts), self._targets.weight_unit
        problem = LeastSquares.of(moments, self._targets.n_outputs, self.fit_intercept)
        return Posterior.of(
            problem,
            Split(self.alpha_, self.alpha_neg_),
            self._representation.form,
            self.fit_intercept,
            max(moments.weight / unit, self._calibration.n_rows),
        )


@shared(LEFT_OUT, cv=["cv_object", StrOptions({"loo"})])
class KreinRidgeClassifier(PartialLabels, ClassifierMixin, BaseEstimator):
    """Kreĭn ridge on targets −1 and +1, one column per class against the rest.

    For each class the learner minimises
    ``(1/Σs) Σ s_i (y_i − f(x_i))² + alpha ‖w₊‖² + alpha_neg ‖w₋‖²`` with ``f = wᵀZ + b`` and the
    weights s_i. One factorisation serves all classes.

    Parameters
    ----------
    {kernel}
    {n_components}
    {features}
    {alpha}
    {alpha_neg}
    {penalty}
    {fit_intercept}
    {alphas}
    {alphas_neg}
    {cv}
    {nested}
    {criterion}
    {calibrate}
    {class_weight}
    {keep_statistics}
    {random_state}

    Attributes
    ----------
    {classes_}
    {coef_}
    {intercept_}
    {alpha_}
    {alpha_neg_}
    {features_}
    {kernel_}
    {cv_results_}
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    D. Oglic, T. Gärtner. Scalable Learning in Reproducing Kernel Kreĭn Spaces. ICML 2019. §2.4.

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

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int = 100,
        *,
        features: Any = None,
        alpha: float | str = "cv",
        alpha_neg: float | str = "auto",
        penalty: str = "split",
        fit_intercept: bool = True,
        alphas: ArrayLike | None = None,
        alphas_neg: ArrayLike | None = None,
        cv: Any = 5,
        nested: bool = False,
        criterion: str | None = None,
        calibrate: bool | str = "auto",
        class_weight: Any = None,
        keep_statistics: bool = False,
        random_state: Any = None,
    ):
        store(self, locals())
