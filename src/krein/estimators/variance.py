"""Variance-constrained least squares, for numbers and for classes."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..kernels import Kernel
from ._parameters import shared, store
from .least_squares import LeastSquaresLearner


@shared()
class VarianceConstrainedRegressor(LeastSquaresLearner, RegressorMixin, BaseEstimator):
    """Least squares with the variance of the predictions fixed (VC-LSM).

    The learner minimises ``(1/Σs) Σ s_i (y_i − f(x_i))² + alpha ‖w₊‖² + alpha_neg ‖w₋‖²`` with
    ``f = wᵀZ + b`` and the weights s_i, such that the predictions on the training rows have the
    standard deviation ``spread · std(y)``. The penalties choose among functions of that size
    instead of shrinking them. The problem is not convex, but its global optimum is the root of one
    equation.

    Parameters
    ----------
    {kernel}
    {n_components}
    {features}
    {alpha}
    {alpha_neg}
    {spread}
    {fit_intercept}
    {alphas}
    {alphas_neg}
    {cv}
    {nested}
    {criterion}
    {calibrate}
    {random_state}

    Attributes
    ----------
    {coef_}
    {intercept_}
    {alpha_}
    {alpha_neg_}
    {spread_}
    {features_}
    {kernel_}
    {cv_results_}
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    D. Oglic, T. Gärtner. Scalable Learning in Reproducing Kernel Kreĭn Spaces. ICML 2019. §2.4,
    corrected: the multiplier lies below the smallest eigenvalue, and the hard case is solved.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import VarianceConstrainedRegressor
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> y = np.sin(6 * X[:, 0])
    >>> kernel = DeltaGaussian(0.3, 3.0)
    >>> model = VarianceConstrainedRegressor(kernel, 30, spread=0.9, random_state=0)
    >>> round(float(model.fit(X, y).predict(X).std() / y.std()), 6)
    0.9
    """

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int = 100,
        *,
        features: Any = None,
        alpha: float | str = "cv",
        alpha_neg: float | str = "auto",
        spread: float | str = "cv",
        fit_intercept: bool = True,
        alphas: ArrayLike | None = None,
        alphas_neg: ArrayLike | None = None,
        cv: Any = 5,
        nested: bool = False,
        criterion: str | None = None,
        calibrate: bool | str = "auto",
        random_state: Any = None,
    ):
        store(self, locals())


@shared()
class VarianceConstrainedClassifier(LeastSquaresLearner, ClassifierMixin, BaseEstimator):
    """Variance-constrained least squares (VC-LSM) on targets −1 and +1, one column per class.

    For each class the learner minimises
    ``(1/Σs) Σ s_i (y_i − f(x_i))² + alpha ‖w₊‖² + alpha_neg ‖w₋‖²`` with ``f = wᵀZ + b`` and the
    weights s_i, such that the outputs on the training rows have the standard deviation
    ``spread · std(y)``.

    Parameters
    ----------
    {kernel}
    {n_components}
    {features}
    {alpha}
    {alpha_neg}
    {spread}
    {fit_intercept}
    {alphas}
    {alphas_neg}
    {cv}
    {nested}
    {criterion}
    {calibrate}
    {class_weight}
    {random_state}

    Attributes
    ----------
    {classes_}
    {coef_}
    {intercept_}
    {alpha_}
    {alpha_neg_}
    {spread_}
    {features_}
    {kernel_}
    {cv_results_}
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    D. Oglic, T. Gärtner. Scalable Learning in Reproducing Kernel Kreĭn Spaces. ICML 2019. §2.4,
    corrected: the multiplier lies below the smallest eigenvalue, and the hard case is solved.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import VarianceConstrainedClassifier
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = np.hypot(*X.T) > 1
    >>> model = VarianceConstrainedClassifier(DeltaGaussian(1.0, 5.0), 30, random_state=0)
    >>> model.fit(X, y).score(X, y) > 0.95
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
        spread: float | str = "cv",
        fit_intercept: bool = True,
        alphas: ArrayLike | None = None,
        alphas_neg: ArrayLike | None = None,
        cv: Any = 5,
        nested: bool = False,
        criterion: str | None = None,
        calibrate: bool | str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
    ):
        store(self, locals())
