"""The parameters that learners share: how they are stored, what they may be, what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import signature
from numbers import Integral, Real
from textwrap import indent
from typing import Any, TypeVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._validation import store as store
from ..kernels import Kernel

C = TypeVar("C", bound=Any)

POSITIVE = Interval(Real, 0, None, closed="neither")
COUNT = Interval(Integral, 1, None, closed="left")

CONSTRAINTS: dict[str, Any] = {
    "kernel": [Kernel, StrOptions({"precomputed"}), None],
    "n_components": [COUNT],
    "features": "no_validation",
    "alpha": [POSITIVE, StrOptions({"cv", "gradient"})],
    "alpha_neg": [
        Interval(Real, 0, None, closed="right"),
        StrOptions({"auto", "tune", "equal"}),
    ],
    "penalty": [StrOptions({"split", "krein", "l1"})],
    "spread": [POSITIVE, StrOptions({"cv"})],
    "fit_intercept": ["boolean"],
    "alphas": ["array-like", None],
    "alphas_neg": ["array-like", None],
    "cv": ["cv_object"],
    "nested": ["boolean"],
    "criterion": [StrOptions({"squared_error", "error"}), None],
    "tol": [Interval(Real, 0, None, closed="left")],
    "max_iter": [COUNT],
    "calibrate": ["boolean", StrOptions({"auto"})],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "keep_statistics": ["boolean"],
    "random_state": ["random_state", np.random.Generator],
}

# The documentation of each parameter and attribute.
TEXTS = """
kernel : Kernel, "precomputed" or None, default=None
    The kernel of the map ``Nystrom(kernel, n_components)``, which is used if `features` is None.
    With "precomputed" the data are kernel values: the square matrix of all pairs in `fit`, the
    values against all training rows in `predict`. None means a Gaussian with σ² = d · var(X) / 2
    for d columns.
n_components : int, default=100
    The rank of the map ``Nystrom(kernel, n_components)``.
features : transformer, default=None
    A feature map of this library, or a Pipeline that ends in one, in place of `kernel`. The learner
    fits a copy of the map on at most 100,000 distinct rows of the data. A map needs y if one of its
    steps has scikit-learn's tag ``target_tags.required``, or if it cannot be fitted without y. It
    then gets the labels or numbers of these rows; equal rows get the target with the largest total
    weight (from a stream, the smallest target). It is fitted anew for each fold, because it has
    seen the targets of its rows. A fitted map in `sklearn.frozen.FrozenEstimator` is used as it is,
    also if it has seen targets.
alpha : float, "cv" or "gradient", default="cv"
    The penalty of the features of the kernel's positive part. "cv" tries a grid of penalties on all
    folds and needs one pass for all of them. "gradient" starts from the best penalties of the grid
    and follows the gradient of the cross-validated squared error.
alpha_neg : float, "auto", "tune" or "equal", default="auto"
    The penalty of the features of the kernel's negative part; ``inf`` leaves the part out. "tune"
    chooses it by cross-validation, "equal" makes it equal to alpha, and "auto" tunes it if alpha is
    tuned and makes it equal to alpha if alpha is a number.
penalty : {"split", "krein", "l1"}, default="split"
    "split" is ``alpha ‖w₊‖² + alpha_neg ‖w₋‖²``. "krein" is the indefinite ``alpha wᵀMw``: the
    solution is a stationary point and no minimum, and it explodes, with a warning, where alpha
    meets an eigenvalue of the negative part. Its default grid lies beyond the largest eigenvalue,
    where ``k(x, X)(K + nαI)⁻¹y`` is stable. "l1" is ``alpha ‖w₊‖₁ + alpha_neg ‖w₋‖₁`` and keeps few
    features.
spread : float or "cv", default="cv"
    The standard deviation of the predictions divided by that of the targets. "cv" tries values from
    0.1 to 1.2; with ``alpha="gradient"`` the spread follows the gradient too.
fit_intercept : bool, default=True
    True if the model has an intercept, which is not penalised.
alphas : array-like, default=None
    The grid of alpha. None means nine values from 1e-8 to 1 times the variance of the features,
    and 33 values if ``cv="loo"`` tunes one penalty.
alphas_neg : array-like, default=None
    The grid of alpha_neg. None means the grid of alpha; if `alphas` is None too, ``inf`` is added.
cv : int, splitter or iterable of (train, test), default=5
    The number of folds. Rows are assigned to folds by their content, so that equal rows share a
    fold and the order of the rows changes nothing. A splitter yields row indices and needs data in
    memory.
nested : bool, default=False
    True if the map is fitted anew for each fold, without the rows of the fold. This takes one more
    pass per fold. It is advisable on a few hundred rows, where a row may be its own landmark. Maps
    that need y are always fitted anew.
criterion : {"squared_error", "error"}, default=None
    The loss that "cv" minimises. None means the squared error for numbers and the share of wrong
    rows for classes, which takes one more pass.
calibrate : bool or "auto", default="auto"
    True if rows are held out to learn how sure the model is, for `predict_proba` of classes and
    `predict_interval` of numbers. This takes one more pass, and one more solution per fold. "auto"
    means True if penalties are tuned, because tuning divides the rows into folds anyway.
class_weight : dict, "balanced" or None, default=None
    Factors of the rows' weights by class. "balanced" gives all classes the same total weight.
keep_statistics : bool, default=False
    True if `fit` keeps the moments of the data, so that `partial_fit` can continue with more rows.
    The moments are much larger than the model.
random_state : int, RandomState, Generator or None, default=None
    The seed of the folds, of the sample of rows and of the map.
classes_ : ndarray of shape (k,)
    The labels in order.
coef_ : ndarray of shape (p,) or (k, p)
    The coefficients of the features: one row per output or class, or a vector for two classes.
intercept_ : float or ndarray of shape (k,)
    The intercepts.
alpha_ : float
    The penalty of the positive part that was used.
alpha_neg_ : float
    The penalty of the negative part that was used.
spread_ : float
    The spread that was used.
features_ : transformer
    The fitted map.
kernel_ : Kernel
    The kernel as it was fitted; absent if `features` was given.
cv_results_ : dict
    Arrays of the settings that were tried and of their cross-validated losses, and "chosen", the
    index of the best setting; absent if nothing was tuned. Targets above 1e50 or below 1e-50 are
    measured in a power of two near the largest one.
n_features_in_ : int
    The number of columns of X.
feature_names_in_ : ndarray of shape (n_features_in_,)
    The names of the columns of X or of the file; absent if they are not all strings.
"""


def shared(texts: str = "", **own: Any) -> Callable[[C], C]:
    """Return a decorator that gives a class the constraints and documentation of its parameters.

    The parameters are those of the constructor. A line ``{name}`` of the class's docstring is
    replaced by the shared documentation of `name`.

    Parameters
    ----------
    texts : str, default=""
        Documentation of parameters in place of the shared one.
    **own : list
        Constraints in place of the shared ones.
    """
    documents = _by_name(TEXTS) | _by_name(texts)

    def decorate(cls: C) -> C:
        names = list(signature(cls.__init__).parameters)[1:]
        cls._parameter_constraints = {name: own.get(name, CONSTRAINTS.get(name)) for name in names}
        lines = (cls.__doc__ or "").splitlines()
        cls.__doc__ = "\n".join(_written(line, documents) for line in lines)
        return cls

    return decorate


def _by_name(texts: str) -> dict[str, str]:
    """Return the documentation of each name; an entry begins with a line that is not indented."""
    entries = re.split(r"\n(?=\S)", texts.strip())
    return {entry.split(" ")[0]: entry.rstrip() for entry in entries}


def _written(line: str, documents: dict[str, str]) -> str:
    name = line.strip()[1:-1]
    found = line.strip() == f"{{{name}}}" and name in documents
    return indent(documents[name], "    ") if found else line
