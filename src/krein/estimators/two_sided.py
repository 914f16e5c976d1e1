"""Ridge that learns from both sides of a kernel, for numbers and for classes."""

from __future__ import annotations

from numbers import Real
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils._param_validation import Options, StrOptions

from ..kernels import Kernel
from ._parameters import shared, store
from ._partial import PartialLabels, PartialNumbers
from ._two_sided import TwoSidedLearner

TEXTS = """
kernel : Kernel, "precomputed" or None, default=None
    The kernel of the map ``Nystrom(kernel, n_components)``, which is used if `features` is None.
    With ``Precomputed(symmetric=False)`` `fit` takes the square matrix ``K[i, j] = k(x_i, x_j)``,
    and `predict` takes a pair ``(k(x, T), k(T, x).T)`` of arrays of shape (m, n), one row per new
    row x, with the n training rows T. None means a Gaussian with σ² = d · var(X) / 2 for d columns.
alpha : float, "cv" or "gradient", default="cv"
    The penalty of ``‖w + v‖²/2``. "cv" tries a grid of penalties on all folds and needs one pass
    for all of them. "gradient" starts from the best penalties of the grid and follows the gradient
    of the cross-validated squared error.
alpha_neg : float, "auto", "tune" or "equal", default="auto"
    The penalty of ``‖w − v‖²/2``; ``inf`` makes w and v equal. "tune" chooses it by
    cross-validation, "equal" makes it equal to alpha, and "auto" tunes it if alpha is tuned and
    makes it equal to alpha if alpha is a number. Only ``coupling="split"`` uses this penalty.
coupling : {"split", "joint", "askls"}, default="split"
    How the two sides are learned. "split" is the equation above. "joint" is ridge on the
    concatenated features [φ_s, φ_t], with the penalty ``alpha (‖w‖² + ‖v‖²)``. "askls" is the split
    coupling with alpha_neg = −alpha, the published AsK-LS: the solution is a stationary point and
    no minimum, and it explodes, with a warning, where n · alpha meets a singular value of K.
power : {0.5, 1}, default=0.5
    With ``K ≈ U Σ Vᵀ`` the features are ``φ_s = U Σ^power`` and ``φ_t = V Σ^power``. A power of 1
    gives more weight to large singular values and needs a Nyström map.
combine : {"mean", "stack"}, default="mean"
    The prediction. "mean" is (f_s + f_t)/2. "stack" is a ridge on (f_s, f_t), fitted to the outputs
    of f_s and f_t on the rows that each fold leaves out. Penalties are tuned for the mean.
fit_intercept : bool, default=True
    True if the targets are centred: the intercept b is their mean. The features are not centred.
coef_ : ndarray of shape (p,) or (k, p)
    The coefficients of the prediction: one row per output or class, or a vector for two classes.
    They belong to the features Z if the map has a form, else to [Z, Z_dual].
landmark_indices_ : ndarray of int of shape (m,)
    The indices of the landmarks among the training rows, for a precomputed kernel. The columns of
    these rows alone, in this order, are enough for `predict`.
"""

CONSTRAINTS: dict[str, Any] = {
    "coupling": [StrOptions({"split", "joint", "askls"})],
    "power": [Options(Real, {0.5, 1})],
    "combine": [StrOptions({"mean", "stack"})],
}


@shared(TEXTS, **CONSTRAINTS)
class TwoSidedRidge(TwoSidedLearner, PartialNumbers, RegressorMixin, BaseEstimator):
    """Ridge regression with a kernel that is not symmetric, learned from both of its sides.

    A kernel with ``k(x, y) ≠ k(y, x)`` has features φ_s of a row as the first argument (source,
    `transform` of the map) and φ_t of a row as the second argument (target, `transform_dual`). The
    learner fits two functions, ``f_s = φ_sᵀ w + b`` and ``f_t = φ_tᵀ v + b``, by

    ``(1/Σs) Σ s_i [(y_i − f_s(x_i))² + (y_i − f_t(x_i))²] + (alpha/2) ‖w + v‖²
    + (alpha_neg/2) ‖w − v‖²``

    and predicts their mean. This is Kreĭn ridge with the symmetric kernel [[0, K], [Kᵀ, 0]], whose
    eigenvalues are ± the singular values of K. Equal penalties flip its negative part, and
    ``alpha_neg=inf`` clips it. If k is symmetric and `fit_intercept` is False, the prediction is
    that of `KreinRidge` with the same penalties. The data are seen in blocks, once for the map and
    once for everything else.

    Parameters
    ----------
    {kernel}
    {n_components}
    {features}
    {alpha}
    {alpha_neg}
    {coupling}
    {power}
    {combine}
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
    {landmark_indices_}
    {cv_results_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    TwoSidedRidgeClassifier : The same for classes.
    KreinRidge : Ridge with a symmetric kernel.

    Notes
    -----
    Let all n rows T be landmarks and ``K = U Σ Vᵀ``, and let y be centred. With λ₊ = n · alpha,
    λ₋ = n · alpha_neg, p = Uᵀy and q = Vᵀy the solution is ``f_s(x) = k(x, T) V (a − c) + b`` and
    ``f_t(x) = k(T, x)ᵀ U (a + c) + b`` with ``a = ½ (p + q)/(σ + λ₊)`` and
    ``c = −½ (p − q)/(σ + λ₋)``. The learner solves the normal equations of the features instead,
    which serve all maps, weights and folds.

    The features of a *stationary* kernel span the same functions on both sides. Direction helps on
    graphs, relations and other kernels whose rows and columns say different things.

    References
    ----------
    M. He, F. He, L. Shi, X. Huang, J. A. K. Suykens. Learning with Asymmetric Kernels: Least
    Squares and Feature Interpretation. TPAMI 2023. ``coupling="askls"``, with centred targets in
    place of two intercepts.

    Examples
    --------
    Each node of a graph points to the next one on a ring; the target grows along the ring.

    >>> import numpy as np
    >>> from krein import TwoSidedRidge
    >>> from krein.kernels import Precomputed
    >>> t = np.linspace(0, 1, 80)
    >>> gap = (t - t[:, None]) % 1
    >>> K = np.exp(-8 * gap)  # k(x, y): how soon y comes after x
    >>> model = TwoSidedRidge(Precomputed(symmetric=False), 40, random_state=0)
    >>> model.fit(K, np.sin(6 * t)).score((K, K.T), np.sin(6 * t)) > 0.99
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
        coupling: str = "split",
        power: float = 0.5,
        combine: str = "mean",
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


@shared(TEXTS, **CONSTRAINTS)
class TwoSidedRidgeClassifier(TwoSidedLearner, PartialLabels, ClassifierMixin, BaseEstimator):
    """Two-sided ridge on targets −1 and +1, one column per class against the rest.

    For each class the learner minimises
    ``(1/Σs) Σ s_i [(y_i − f_s(x_i))² + (y_i − f_t(x_i))²] + (alpha/2) ‖w + v‖²
    + (alpha_neg/2) ‖w − v‖²``
    with ``f_s = φ_sᵀ w + b`` for a row as the first argument of the kernel (source),
    ``f_t = φ_tᵀ v + b`` for a row as the second argument (target), and the weights s_i. One
    factorisation serves all classes. See `TwoSidedRidge` for the details.

    Parameters
    ----------
    {kernel}
    {n_components}
    {features}
    {alpha}
    {alpha_neg}
    {coupling}
    {power}
    {combine}
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
    {landmark_indices_}
    {cv_results_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    TwoSidedRidge : The same for numbers.
    KreinRidgeClassifier : Ridge with a symmetric kernel.

    References
    ----------
    M. He, F. He, L. Shi, X. Huang, J. A. K. Suykens. Learning with Asymmetric Kernels: Least
    Squares and Feature Interpretation. TPAMI 2023. ``coupling="askls"``, with centred targets in
    place of two intercepts.

    Examples
    --------
    In a directed graph the nodes of group 0 point to group 1, the nodes of group 1 to group 2, and
    the nodes of group 2 to group 0. The symmetric part of the graph says nothing about the groups.

    >>> import numpy as np
    >>> from krein import TwoSidedRidgeClassifier
    >>> from krein.kernels import Precomputed
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 3
    >>> chance = np.where((y - y[:, None]) % 3 == 1, 0.3, 0.05)
    >>> A = (rng.random((300, 300)) < chance) + np.eye(300)
    >>> K = A / A.sum(axis=1, keepdims=True)
    >>> train, test = slice(0, 150), slice(150, 300)
    >>> model = TwoSidedRidgeClassifier(Precomputed(symmetric=False), 50, random_state=0)
    >>> model = model.fit(K[train, train], y[train])
    >>> model.score((K[test, train], K[train, test].T), y[test]) > 0.95
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
        coupling: str = "split",
        power: float = 0.5,
        combine: str = "mean",
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
