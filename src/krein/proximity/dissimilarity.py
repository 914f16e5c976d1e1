"""Transformers that turn dissimilarities into similarities."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from .._validation import store
from ..kernels.errors import BadPairError
from ..kernels.medians import rate_of_median
from ._base import ROUND_OFF, Centring, Proximity, check_symmetric, place_of_largest
from .errors import DiagonalError, NegativeError

METRIC = [StrOptions({"precomputed", "euclidean", "manhattan", "cosine"}), callable]


class DissimilarityToSimilarity(Proximity):
    """Turn dissimilarities D into similarities S, which fall as the dissimilarity grows.

    ====================  ==================  =============================
    method                similarity          needs a symmetric D
    ====================  ==================  =============================
    "double_centering"    −½ J D² J           yes (see `DoubleCentering`)
    "exp"                 exp(−γ D)           no
    "gaussian"            exp(−γ D²)          no
    "max"                 max(D) − D          no
    ====================  ==================  =============================

    S is indefinite in general, and asymmetric if D is asymmetric. `fit` learns the means, γ and
    the maximum from the training objects, and `transform` uses them for new objects.

    Parameters
    ----------
    method : {"double_centering", "exp", "gaussian", "max"}, default="double_centering"
        The formula of the similarity, see the table.
    gamma : "median" or float, default="median"
        The rate γ of "exp" and "gaussian". "median" computes the rate at which two objects at the
        median dissimilarity have the similarity 1/e. The median is taken over all pairs of training
        objects with D > 0; without such a pair γ is 1.
    metric : {"precomputed", "euclidean", "manhattan", "cosine"} or callable, default="precomputed"
        "precomputed" means that X is the matrix D in `fit`, and holds rows of dissimilarities to
        the training objects in `transform`. Otherwise X holds vectors, from which D is computed. A
        function ``f(x, y)`` returns the dissimilarity of two vectors, and is called for all pairs.

    Attributes
    ----------
    gamma_ : float
        The rate γ. It exists for "exp" and "gaussian".
    max_ : float
        The largest dissimilarity of training objects. It exists for "max". Larger dissimilarities
        of new objects give negative similarities.
    column_means_ : ndarray of shape (n,)
        Means of the columns of D². It exists for "double_centering".
    grand_mean_ : float
        Mean of all entries of D². It exists for "double_centering".
    n_samples_fit_ : int
        Number n of training objects.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    References
    ----------
    E. Pękalska, R. P. W. Duin. The Dissimilarity Representation for Pattern Recognition. World
    Scientific, 2005.

    Examples
    --------
    >>> from krein.proximity import DissimilarityToSimilarity
    >>> D = [[0, 2, 4], [2, 0, 2], [4, 2, 0]]
    >>> DissimilarityToSimilarity("max").fit(D).transform([[5, 3, 1]])
    array([[-1.,  1.,  3.]])
    """

    _parameter_constraints = {
        "method": [StrOptions({"double_centering", "exp", "gaussian", "max"})],
        "gamma": [StrOptions({"median"}), Interval(Real, 0, None, closed="neither")],
        "metric": METRIC,
    }

    def __init__(
        self,
        method: str = "double_centering",
        *,
        gamma: float | str = "median",
        metric: str | Callable = "precomputed",
    ):
        store(self, locals())

    def _square(self, X: Any) -> NDArray:
        D = self._checked(super()._square(X))
        diagonal = np.abs(np.diagonal(D))
        if diagonal.max() > ROUND_OFF[D.dtype] * D.max():
            i = int(np.argmax(diagonal))
            raise DiagonalError(type(self).__name__, (i, i), float(D[i, i]))
        return D

    def _rows(self, X: Any) -> NDArray:
        return self._checked(super()._rows(X))

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _values(self, X: Any, *, reset: bool) -> NDArray:
        X = validate_data(self, X, reset=reset, copy=reset, dtype=[np.float64, np.float32])
        if reset:
            self._objects = X
        Y = self._objects
        if callable(self.metric):
            # A copy of Y, because for equal arguments scikit-learn evaluates one triangle only.
            D = pairwise_distances(X, Y.copy(), metric=self.metric)
            if not np.isfinite(D).all():
                place = place_of_largest(~np.isfinite(D))
                name = f"The metric of {type(self).__name__}"
                raise BadPairError(name, float(D[place]), *place)
        else:
            D = pairwise_distances(X, None if reset else Y, metric=self.metric)
        return D.astype(X.dtype, copy=False)

    def _checked(self, D: NDArray) -> NDArray:
        if D.min() < -ROUND_OFF[D.dtype] * np.abs(D).max():
            place = place_of_largest(-D)
            raise NegativeError(type(self).__name__, place, float(D[place]))
        return D

    def _learn(self, square: NDArray) -> None:
        for stale in ("column_means_", "grand_mean_", "max_", "gamma_"):
            self.__dict__.pop(stale, None)  # learned by an earlier fit with another method
        if self.method == "double_centering":
            check_symmetric(self, square)
            self.column_means_, self.grand_mean_ = Centring.of(np.square(square))
        elif self.method == "max":
            self.max_ = float(square.max())
        else:
            self.gamma_ = self._rate(square)

    def _rate(self, D: NDArray) -> float:
        if self.gamma != "median":
            return float(self.gamma)
        threshold = ROUND_OFF[D.dtype] * D.max()
        positive = D[threshold < D]
        median = float(np.median(positive)) if positive.size else 1.0
        owner = f"{type(self).__name__}(method={self.method!r})"
        return rate_of_median(owner, median, self.method != "exp")

    def _map(self, rows: NDArray) -> NDArray:
        if self.method == "double_centering":
            S = Centring(self.column_means_, self.grand_mean_)(np.square(rows))
            return np.multiply(S, -0.5, out=S)
        if self.method == "max":
            return self.max_ - rows
        power = rows if self.method == "exp" else np.square(rows)
        return np.exp(-self.gamma_ * power)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self._precomputed
        return tags


class DoubleCentering(DissimilarityToSimilarity):
    """Turn dissimilarities D into inner products ``S = −½ J D² J``, where ``J = I − 11ᵀ/n``.

    S holds the inner products of points whose distances are D, with the origin at the mean of the
    training objects: ``D_ij² = S_ii + S_jj − 2 S_ij``. S is positive semi-definite if D is
    Euclidean, and indefinite otherwise. D² is the matrix of squared entries.

    A row d of dissimilarities of a new object is centred with the means of the training matrix,

        s_j = −½ (d_j² − mean_k d_k² − mean_i D_ij² + mean_ik D_ik²),

    so a training object that is passed to `transform` gets its row of S.

    Parameters
    ----------
    metric : {"precomputed", "euclidean", "manhattan", "cosine"} or callable, default="precomputed"
        "precomputed" means that X is the matrix D in `fit`, and holds rows of dissimilarities to
        the training objects in `transform`. Otherwise X holds vectors, from which D is computed. A
        function ``f(x, y)`` returns the dissimilarity of two vectors, and is called for all pairs.

    Attributes
    ----------
    column_means_ : ndarray of shape (n,)
        Means of the columns of D².
    grand_mean_ : float
        Mean of all entries of D².
    n_samples_fit_ : int
        Number n of training objects.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    See Also
    --------
    symmetrize : Makes a matrix symmetric. `fit` refuses a matrix that is not symmetric.
    KreinPCA : Computes coordinates whose indefinite inner products are S.

    References
    ----------
    W. S. Torgerson. Multidimensional scaling: I. Theory and method. Psychometrika 17, 1952.

    J. C. Gower. Adding a point to vector diagrams in multivariate analysis. Biometrika 55, 1968.

    Examples
    --------
    >>> from krein.proximity import DoubleCentering
    >>> D = [[0, 2], [2, 0]]  # the points −1 and 1 of a line
    >>> centring = DoubleCentering().fit(D)
    >>> centring.transform(D)
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> centring.transform([[4, 2]])  # a new point at 3
    array([[-3.,  3.]])
    """

    _parameter_constraints = {"metric": METRIC}
    method = "double_centering"

    def __init__(self, metric: str | Callable = "precomputed"):
        self.metric = metric
