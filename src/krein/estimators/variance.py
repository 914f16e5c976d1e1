"""Variance-constrained least squares, for numbers and for classes."""

from __future__ import annotations

from numbers import Real
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from ..kernels import Kernel
from ..learning import LeastSquares, VarianceConstrained
from ..learning.penalties import ConstrainedPenalty, Penalty
from ._targets import Regressing
from .least_squares import RADII, SHARES, LeastSquaresClassifying, LeastSquaresLearner


class _VarianceConstrained(LeastSquaresLearner):
    """What regression and classification share."""

    _shares = SHARES[::2]  # radii come on top

    _parameter_constraints = {
        **LeastSquaresLearner._parameter_constraints,
        "radius": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv"})],
    }

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int = 100,
        *,
        features: Any = None,
        alpha: float | str = "cv",
        alpha_neg: float | str | None = None,
        radius: float | str = "cv",
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
        self.radius = radius
        self.fit_intercept = fit_intercept
        self.alphas = alphas
        self.alphas_neg = alphas_neg
        self.cv = cv
        self.refit = refit
        self.criterion = criterion
        self.random_state = random_state

    def _solver(self) -> Any:
        return VarianceConstrained(self._signs)

    def _is_tuned(self) -> bool:
        return super()._is_tuned() or isinstance(self.radius, str)

    def _given(self) -> ConstrainedPenalty:
        return ConstrainedPenalty(**vars(super()._given()), radius=float(self.radius))

    def _candidates(self, problem: LeastSquares) -> list[Any]:
        pairs = super()._candidates(problem) if isinstance(self.alpha, str) else [super()._given()]
        radii = RADII if isinstance(self.radius, str) else (float(self.radius),)
        return [ConstrainedPenalty(**vars(pair), radius=r) for pair in pairs for r in radii]

    def _also_free(self) -> list[str]:
        return ["radius"] if isinstance(self.radius, str) else []

    def _finish(self, problem: LeastSquares, penalty: Penalty) -> None:
        super()._finish(problem, penalty)
        assert isinstance(penalty, ConstrainedPenalty)
        self.radius_ = penalty.radius


class VarianceConstrainedRegressor(Regressing, _VarianceConstrained):
    """Least squares with the variance of the predictions fixed (VC-LSM).

    ``min (1/Σs) Σ s_i (y_i − f(x_i))² + alpha ‖w₊‖² + alpha_neg ‖w₋‖²`` such that the predictions
    on the training rows have the standard deviation ``radius · std(y)``: penalties choose among
    functions of that size instead of shrinking them. The global optimum of this problem, which is
    not convex, is the root of one equation.

    Parameters
    ----------
    kernel, n_components, features, alpha, alpha_neg, fit_intercept : see `KreinRidge`
    alphas, alphas_neg, cv, refit, criterion, random_state : see `KreinRidge`
    radius : float or "cv", default="cv"
        The standard deviation of the predictions over that of the targets. "cv" tries 0.1 to 1.2;
        with ``alpha="gradient"`` it is tuned too.

    Attributes
    ----------
    coef_ : ndarray of shape (p,) or (k, p)
    intercept_ : float or ndarray of shape (k,)
    alpha_, alpha_neg_, radius_ : float
    features_ : the fitted map
    kernel_ : Kernel
        The kernel as it was fitted; absent if `features` was given.
    cv_results_ : dict
        As of `KreinRidge`.

    References
    ----------
    D. Oglic, T. Gärtner. Scalable Learning in Reproducing Kernel Kreĭn Spaces. ICML 2019. §2.4,
    corrected: the multiplier lies below the smallest eigenvalue, and the hard case is solved.
    """


class VarianceConstrainedClassifier(LeastSquaresClassifying, _VarianceConstrained):
    """`VarianceConstrainedRegressor` on targets −1 and +1, one column per class.

    Parameters
    ----------
    kernel, n_components, features, alpha, alpha_neg, radius, fit_intercept : see
        `VarianceConstrainedRegressor`
    alphas, alphas_neg, cv, refit, criterion, random_state : see `KreinRidge`
    class_weight : dict, "balanced" or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    coef_ : ndarray of shape (p,) or (k, p)
    intercept_ : float or ndarray of shape (k,)
    alpha_, alpha_neg_, radius_ : float
    features_ : the fitted map
    kernel_ : Kernel
        The kernel as it was fitted; absent if `features` was given.
    cv_results_ : dict
    """

    _parameter_constraints = {
        **_VarianceConstrained._parameter_constraints,
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
        radius: float | str = "cv",
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
            radius=radius,
            fit_intercept=fit_intercept,
            alphas=alphas,
            alphas_neg=alphas_neg,
            cv=cv,
            refit=refit,
            criterion=criterion,
            random_state=random_state,
        )
        self.class_weight = class_weight
