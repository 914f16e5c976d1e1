"""Kreĭn ridge, for numbers and for classes."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..kernels import Kernel
from ._parameters import shared, store
from ._partial import PartialLabels, PartialNumbers


@shared()
class KreinRidge(PartialNumbers, RegressorMixin, BaseEstimator):
    """Ridge regression with an indefinite kernel: the Kreĭn least-squares method (LSM).

    ``(1/Σs) Σ s_i (y_i − f(x_i))² + alpha ‖w₊‖² + alpha_neg ‖w₋‖²`` with ``f = wᵀZ + b``: the
    features of the kernel's negative part have a penalty of their own. Equal penalties are kernel
    ridge on the flipped kernel, ``alpha_neg=inf`` is the clipped one. The data are seen in blocks,
    once for the map and once for everything else.

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


@shared()
class KreinRidgeClassifier(PartialLabels, ClassifierMixin, BaseEstimator):
    """Kreĭn ridge on targets −1 and +1, one column per class against the rest.

    ``(1/Σs) Σ s_i (y_i − f(x_i))² + alpha ‖w₊‖² + alpha_neg ‖w₋‖²`` for each class; one
    factorisation serves all classes.

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
