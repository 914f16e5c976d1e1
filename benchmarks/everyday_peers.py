"""The peers of the one-liners on ordinary tables: tuned kernel machines, xGPR and boosting.

xGPR (pip install xGPR) is optional: without it its rows are left out.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from krein import KreinClassifier, KreinRegressor
from krein.kernels import Gaussian, Matern

OURS, BESIDE = "krein", "HistGradientBoosting"
# Our one-liner with the two kernels of xGPR, whose width alone is tuned.
ONE_WIDTH = {
    "krein Gaussian": Gaussian("median"),
    "krein Matern": Matern("median", nu=1.5),
}
# The features of xGPR, and the smoothness of its Matérn kernel.
XGPR_FEATURES, XGPR_NU = 1024, 1.5


class XGPR(RegressorMixin, BaseEstimator):
    """A Gaussian process on random features (xGPR): tuned by its likelihood, then fitted.

    Parameters
    ----------
    kernel : {"RBF", "Matern"}, default="RBF"
    seed : int, default=0
    """

    def __init__(self, kernel: str = "RBF", seed: int = 0):
        self.kernel = kernel
        self.seed = seed

    def fit(self, X: NDArray, y: NDArray) -> XGPR:
        from xGPR import build_regression_dataset, xGPRegression

        self.scaler_ = StandardScaler().fit(X)
        settings = {"matern_nu": XGPR_NU, "intercept": True, "averaging": "none"}
        self.model_ = xGPRegression(
            num_rffs=XGPR_FEATURES,
            kernel_choice=self.kernel,
            kernel_settings=settings,
            verbose=False,
            random_seed=self.seed,
        )
        data = build_regression_dataset(self.scaler_.transform(X), y.astype(float))
        self.model_.tune_hyperparams_crude(data)
        self.model_.fit(data, mode="exact", suppress_var=True)
        return self

    def predict(self, X: NDArray) -> NDArray:
        return self.model_.predict(self.scaler_.transform(X))


def _search(model: Any, d: int, scoring: str, quick: bool, **penalties: Any) -> Any:
    """Return the grid search of a peer; gamma covers widths of ⅛ to 8 median distances."""
    every = slice(None, None, 3 if quick else 1)
    gammas = (1 / (4 * d * 4.0 ** np.arange(-3, 4)))[every].tolist()
    ((name, values),) = penalties.items()
    key = "nystroem__gamma" if "nystroem" in model.named_steps else f"{model.steps[-1][0]}__gamma"
    return GridSearchCV(model, {key: gammas, name: values[every].tolist()}, cv=5, scoring=scoring)


def _regressors(d: int, seed: int, quick: bool) -> dict[str, Any]:
    alphas, scoring = np.geomspace(1e-5, 10, 7), "neg_mean_squared_error"
    width = 50 if quick else 300
    plain = {
        "KernelRidge": _search(
            make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")),
            d,
            scoring,
            quick,
            kernelridge__alpha=alphas,
        ),
        "SVR": _search(
            make_pipeline(StandardScaler(), SVR()),
            d,
            scoring,
            quick,
            svr__C=np.geomspace(0.1, 1e3, 7),
        ),
        "Nystroem + Ridge": _search(
            make_pipeline(
                StandardScaler(), Nystroem(n_components=width, random_state=seed), Ridge()
            ),
            d,
            scoring,
            quick,
            ridge__alpha=alphas,
        ),
    }
    scaled = {
        name: TransformedTargetRegressor(model, transformer=StandardScaler())
        for name, model in plain.items()
    }
    kernels = ("RBF", "Matern") if find_spec("xGPR") and not quick else ()
    return {
        OURS: KreinRegressor(random_state=seed),
        **{
            name: make_pipeline(StandardScaler(), KreinRegressor(kernel, random_state=seed))
            for name, kernel in ONE_WIDTH.items()
        },
        **scaled,
        **{f"xGPR {kernel}": XGPR(kernel, seed) for kernel in kernels},
        BESIDE: HistGradientBoostingRegressor(random_state=seed),
    }


def _classifiers(d: int, seed: int, quick: bool) -> dict[str, Any]:
    width = 50 if quick else 300
    return {
        OURS: KreinClassifier(random_state=seed),
        "SVC": _search(
            make_pipeline(StandardScaler(), SVC()),
            d,
            "accuracy",
            quick,
            svc__C=np.geomspace(0.1, 1e4, 7),
        ),
        "Nystroem + LinearSVC": _search(
            make_pipeline(
                StandardScaler(),
                Nystroem(n_components=width, random_state=seed),
                LinearSVC(dual=False, random_state=seed),
            ),
            d,
            "accuracy",
            quick,
            linearsvc__C=np.geomspace(1e-2, 1e4, 7),
        ),
        BESIDE: HistGradientBoostingClassifier(random_state=seed),
    }


def _few(d: int, seed: int, quick: bool) -> dict[str, Any]:
    """Return the classifiers that many rows allow."""
    every = _classifiers(d, seed, quick)
    return {name: every[name] for name in (OURS, "Nystroem + LinearSVC", BESIDE)}


METHODS = {"regression": _regressors, "classification": _classifiers, "large": _few}
