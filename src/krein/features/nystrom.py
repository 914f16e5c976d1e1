"""Nyström features that keep the signs of the eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._core import eigh_of_features
from .._hashing import as_key
from .._threads import blas_threads_for
from .._validation import store
from ..forms import Signature
from ..kernels import Kernel
from ..kernels.custom import is_precomputed
from ..kernels.values import warn_uninformative
from ..rows import count, take
from .base import N_JOBS, FeatureMap
from .choice import choose_landmarks, warn_of_few_rows
from .cores import check_not_zero
from .design import Design
from .explosions import Guard, guarded
from .landmarks import RULES, LandmarkRule
from .own_values import own_values
from .projection import LandmarkValues, Values, project, weighted
from .rank import choose_rank
from .source import Source, as_kernel, landmark_columns

# The number of landmarks whose kernel values show whether the kernel says anything.
N_JUDGED = 100


class Nystrom(FeatureMap):
    """Low-rank features of any similarity on any objects, including its negative part.

    The approximation is ``k(x, y) ≈ k(x, Z) X k(Z, y)`` with landmarks Z and a core X of rank
    `n_components`. The eigenvalues of largest *magnitude* are kept, so that
    ``k(x, y) ≈ Z(x)ᵀ M Z(y)`` and M holds the signs of the eigenvalues. scikit-learn's `Nystroem`
    drops M and thereby approximates |K|. A kernel that is not symmetric has two maps: `transform`
    for the first argument and `transform_dual` for the second.

    If the diagonal of the kernel matrix stands out, as that of a very narrow kernel, the own value
    k(z, z) of a landmark says nothing about other pairs. The core is then fitted without the
    diagonal, and `transform` replaces k(z, z) by the value that the other pairs predict.

    Parameters
    ----------
    kernel : Kernel or "precomputed", default=None
        The kernel; None means ``Gaussian()``. With "precomputed" the data are kernel values: `fit`
        takes a square matrix, `transform` the values against all training objects or against the
        landmarks alone (``component_indices_``).
    n_components : int or "auto", default=100
        Rank of the map. The map has fewer columns if the kernel matrix of the landmarks has a
        smaller rank. "auto" doubles the rank from 32 to at most 2048 until the error on up to 100
        held-out rows is at most 1 %. A doubling that lowers the error by less than a tenth is
        undone. If the largest rank is not enough, `fit` warns and names the error.
    landmarks : str, LandmarkRule, array-like or callable, default="residual"
        How landmarks are chosen:

        - "residual": in up to four rounds, first by leverage and residual, then by the residual
          of a map on the landmarks so far;
        - "uniform": every row has the same chance;
        - "leverage": by approximate leverage scores;
        - "kmeans++": by k-means++ in the space of the features;
        - "recursive": by recursive ridge leverage scores, for positive definite kernels;
        - "supervised": the rows that explain y best, by forward selection;
        - "all": all rows;
        - indices of rows, or objects, or a function ``f(X, n_landmarks)`` that returns either.
    n_landmarks : int, default=None
        Number of landmarks. None means 3 · n_components, but at most n_components + 300. With no
        more landmarks than components the map may explode on new rows; `fit` warns if it explodes
        on rows that were held out.
    core : {"sketch", "truncated", "inverse", "squared"}, default="sketch"
        How the core is fitted:

        - "sketch": by least squares on a second sample of rows;
        - "truncated": the inverse of K_ZZ, cut to the rank;
        - "inverse": the published method, K_ZZ⁻¹, with the one-shot eigendecomposition if there are
          more landmarks than components. It is unstable on indefinite kernels: its error can be
          500 times the least error of its rank;
        - "squared": the baseline of the paper's App. B, which fails if +λ and −λ are eigenvalues.
    tol : float, default=1e-10
        Eigenvalues and singular values below this share of the largest are dropped.
    n_jobs : int, default=None
        Number of processes that evaluate a kernel of objects; None means the current process.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws, which depend on the content of the rows and not on their order.

    Attributes
    ----------
    landmarks_ : array-like, sparse matrix or list of objects
        The landmarks; for a precomputed kernel their indices.
    component_indices_ : ndarray of shape (n_landmarks,) or None
        Indices of the landmarks among the training rows; None if objects were passed as landmarks.
    eigenvalues_ : ndarray of shape (rank,)
        Signed eigenvalues of the core in the order of the columns; singular values if the kernel is
        not symmetric. If the core is positive definite and has as many columns as landmarks, and
        there are more rows than landmarks, the columns are rotated, which halves the cost of
        `transform`.
    own_values_ : ndarray of shape (n_landmarks,) or None
        The values that replace k(z, z) of the landmarks z; None if k(z, z) is used as it is.
    n_components_ : int
        The rank that was asked for, or found by "auto".
    rank_errors_ : dict
        The relative error on held-out rows of each rank that "auto" tried; else empty.
    form_ : krein.forms.Signature
        The signs of the eigenvalues. A kernel that is not symmetric has no form.
    kernel_ : krein.kernels.Kernel
        The kernel that was fitted, with all parameters resolved.
    n_features_in_ : int
        Number of columns of the training data; absent if the data are a list of objects.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    References
    ----------
    D. Oglic, T. Gärtner. Scalable Learning in Reproducing Kernel Kreĭn Spaces. ICML 2019. §2.2,
    §2.3, corrected: the core is fitted, not inverted.

    Examples
    --------
    >>> import numpy as np, krein
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).random((500, 4))
    >>> features = krein.Nystrom(DeltaGaussian(), n_components=50, random_state=0).fit(X)
    >>> krein.approximation_error(features, X) < 0.01
    True
    """

    _parameter_constraints = {
        "kernel": [Kernel, StrOptions({"precomputed"}), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "landmarks": [StrOptions({*RULES}), LandmarkRule, callable, "array-like", "sparse matrix"],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
        "core": [StrOptions({"sketch", "truncated", "inverse", "squared"})],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "n_jobs": [*N_JOBS, None],
        "random_state": ["random_state", np.random.Generator],
    }

    n_components: Any

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int | str = 100,
        *,
        landmarks: str | LandmarkRule | ArrayLike | Callable = "residual",
        n_landmarks: int | None = None,
        core: str = "sketch",
        tol: float = 1e-10,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        store(self, locals())

    def _resolved_kernel(self) -> Kernel:
        return as_kernel(self, self.kernel)

    @property
    def _precomputed(self) -> bool:
        return is_precomputed(self.kernel)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        kernel = self._resolved_kernel() if reset else self.kernel_
        if self._precomputed and not reset:
            return landmark_columns(self, X)
        matrix = kernel.takes_matrix(X)
        if matrix:
            X = super()._validate(X, reset=reset)
        # A precomputed matrix must be square and, if it is declared so, symmetric.
        return kernel._check_data(X) if reset or not matrix else X

    # --- fit ------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks and fit the core.

        Parameters
        ----------
        X : array-like, sparse matrix or sequence of objects
            Training data; with a precomputed kernel the square matrix of all values.
        y : array-like of shape (n,) or (n, k), default=None
            Targets, for ``landmarks="supervised"``.

        Returns
        -------
        self
        """
        super().fit(X, y)
        del self._source  # and the kernel values that it stores
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Fit the map and return the features of the training data; no value is computed twice.

        Parameters
        ----------
        X : array-like, sparse matrix or sequence of objects
            Training data; with a precomputed kernel the square matrix of all values.
        y : array-like of shape (n,) or (n, k), default=None
            Targets, for ``landmarks="supervised"``.

        Returns
        -------
        ndarray of shape (n, rank)
            The features.
        """
        super().fit(X, y)
        source, indices = self._source
        del self._source
        if source.pairs is None:
            return self.transform(X)
        start = len(source) - count(X)  # landmarks passed as objects stand before X

        def values(rows: slice) -> NDArray:
            places = np.arange(start + rows.start, start + rows.stop)
            K = source.values(places, indices)
            # The source has validated rows, as the landmarks are: a row of X may be a list.
            return K if self._own is None else self._own[0].put(K, source.take(places))

        return self._guarded(X, values)

    def _resolve(self, kernel: Kernel, X: Any) -> None:
        self.kernel_, self._known = kernel.resolved_with_values(X)

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        self.__dict__.pop("form_", None)  # left over from a fit with a symmetric kernel
        source = Source(self.kernel_, X, self.n_jobs, y, self._known)
        del self._known
        key = as_key(rng)
        found = choose_rank(self.n_components, self.landmarks, self._design, source, key)
        self.n_components_, self.rank_errors_ = found
        warn_of_few_rows(self.landmarks, len(source), self.n_landmarks or self.n_components_)
        design = self._design(self.n_components_)
        with blas_threads_for((), design.n_wanted):
            self._learn_core(source, design, key)

    def _design(self, rank: int) -> Design:
        """Return the number of landmarks and the kind of core of a map of this rank."""
        return Design(rank, self.n_landmarks, self.core, self.tol)

    def _learn_core(self, source: Source, design: Design, key: int) -> None:
        source, indices, inside = choose_landmarks(self.landmarks, source, design.n_wanted, key)
        sample = design.sample(source, indices, key)
        self._check_informative(source, indices[:N_JUDGED])
        core = design.fit(source, indices, sample).triangular(len(source))
        check_not_zero(core, source, len(indices))
        self.component_indices_ = indices if inside else None
        self.landmarks_ = source.take(indices)
        self.eigenvalues_, self.own_values_ = core.values, core.own
        self._left, self._right = core.left, core.second
        self._own = own_values(source, indices, core.own)
        if source.is_symmetric:
            self.form_ = Signature(core.signs)
        self._guard = self._guard_of(source, indices, sample, core, key)
        self._source = source, indices

    def _check_informative(self, source: Source, rows: NDArray[np.intp]) -> None:
        """Warn if nothing can be learned from the values of some landmarks."""
        if not source.precomputed:
            warn_uninformative(self.kernel_, source.values(rows, rows), source.take(rows))

    def _guard_of(self, *fitted: Any) -> Guard | None:
        return guarded(self, *fitted)

    # --- transform ------------------------------------------------------------------------------

    def _map(self, X: Any) -> NDArray:
        return self._guarded(X, self._values(X, dual=False))

    def _guarded(self, X: Any, values: Values) -> NDArray:
        """Return the features of rows, damped if they would explode."""
        guard = self._guard
        if guard is None:
            return self._project(X, self._left, values)
        own = np.zeros(count(X))
        Z = self._project(X, self._left, values, own)

        def own_range(rows: NDArray[np.intp]) -> NDArray[np.floating]:
            some = take(X, rows)
            K = self._values(some, dual=False)(slice(0, len(rows)))
            return guard.range_of(K, None if self._precomputed else self.kernel_.diag(some))

        guard(Z, own, own_range)
        return Z

    @property
    def is_linear(self) -> bool:
        """True if features are kernel values times a matrix, without a guard against explosions."""
        return self._guard is None

    def weights_of(self, coef: NDArray) -> NDArray:
        """Return the weights w of landmarks with ``transform(X) @ coef = k(X, Z) @ w``."""
        return self._left @ coef

    def weighted_values(self, X: Any, weights: NDArray) -> NDArray:
        """Return ``k(X, Z) @ weights`` of a map that `is_linear`."""
        X = self._validate(X, reset=False)
        values = self._values(X, dual=False)
        if isinstance(values, LandmarkValues):
            return weighted(values, weights)
        return project(self.kernel_, X, weights, values)

    def _map_dual(self, X: Any) -> NDArray:
        if self._right is None:  # the kernel is symmetric
            return super()._map_dual(X)
        return self._project(X, self._right, self._values(X, dual=True))

    def _project(
        self, X: Any, matrix: NDArray, values: Values, own: NDArray[np.floating] | None = None
    ) -> NDArray:
        """Multiply the kernel values by a matrix; fill `own` with the approximate |k(x, x)|."""
        signs = None if own is None else self.form_.signs
        return project(self.kernel_, X, matrix, values, signs, own)

    def _values(self, X: Any, dual: bool) -> Values:
        """Return what computes values of rows, as first or second argument, against landmarks."""
        values: Values = self._computed(X, dual) if not self._precomputed else X.__getitem__
        if self._own is None:
            return values
        own = self._own[dual]
        return lambda rows: own.put(values(rows), X[rows])

    def _computed(self, X: Any, dual: bool) -> LandmarkValues:
        kernel = self.kernel_.T if dual else self.kernel_
        return LandmarkValues(kernel, X, self.landmarks_, self.component_indices_, self.n_jobs)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "eigenvalues_")

    def approximate_kernel(self, X: Any, Y: Any = None) -> NDArray:
        """Return the matrix ``Z(X) M Z(Y)ᵀ``, which approximates k(X, Y).

        Parameters
        ----------
        X : array-like, sparse matrix or sequence of objects
            First argument of the kernel. With a precomputed kernel, row i holds the values
            k(x_i, training objects).
        Y : array-like, sparse matrix or sequence of objects, default=None
            Second argument; None means X. With a precomputed kernel that is not symmetric, *row* j
            holds the values k(training objects, y_j).

        Returns
        -------
        ndarray of shape (n, m)
        """
        return super().approximate_kernel(X, self._second(X) if Y is None else Y)

    def _second(self, X: Any) -> Any:
        return np.asarray(X).T if self._precomputed and not hasattr(self, "form_") else X

    def exact_kernel(self, X: Any, Y: Any = None) -> NDArray:
        """Return the matrix that `approximate_kernel` approximates."""
        return np.asarray(X) if self._precomputed else super().exact_kernel(X, Y)

    def approximate_eigh(self, X: Any) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return an approximate eigendecomposition of k(X, X), largest magnitude first.

        Parameters
        ----------
        X : array-like, sparse matrix or sequence of objects
            The data.

        Returns
        -------
        values : ndarray of shape (rank,)
            Signed eigenvalues of the approximate matrix.
        vectors : ndarray of shape (n, rank)
            Orthonormal eigenvectors.
        """
        check_is_fitted(self)
        if not hasattr(self, "form_"):
            raise ValueError("A kernel that is not symmetric has no eigendecomposition.")
        return eigh_of_features(self.transform(X).astype(float), self.form_.signs, self.tol)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        rule = RULES.get(self.landmarks) if isinstance(self.landmarks, str) else self.landmarks
        tags.target_tags.required = getattr(rule, "needs_y", False)
        return tags
