"""The contract of a feature map: ``k(X, Y) ≈ transform(X) @ transform_dual(Y).T``."""

from __future__ import annotations

from contextlib import AbstractContextManager
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
    clone,
)
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from .._columns import check_numeric_columns
from .._hashing import as_generator
from .._threads import blas_threads_for
from .._validation import NestedParameters, all_or_nothing, check_choice, own
from ..forms import Form
from ..kernels import Gaussian, Kernel
from ..measures import GegenbauerMeasure, Measure
from ..rows import canonical, count, dense
from .geometry import Range
from .retrieval import check_neighbours, largest_products

# Largest memory of the sample of rows in float64, in bytes.
SAMPLE_BYTES = 2**25
# Values of `n_jobs` that joblib knows: −1 means all cores, −2 all but one.
N_JOBS = [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right")]


class FewRowsWarning(UserWarning):
    """A map has fewer rows to choose landmarks from than it is asked for."""


class FeatureMap(
    NestedParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Base class of the explicit feature maps Z with a form M.

    A subclass defines `_learn(X, y, rng)`, which sets `form_` and whatever the map needs, and
    `_map(X)`, which returns the features. A map whose dual features are not ``Z Mᵀ`` for any M
    defines `_map_dual` and has no `form_`. A map that uses y sets ``target_tags.required`` in its
    `__sklearn_tags__`: learners then pass y to the map and fit the map anew for each fold.

    Examples
    --------
    >>> from krein import RandomFourier
    >>> from krein.features import FeatureMap
    >>> isinstance(RandomFourier(), FeatureMap)
    True
    """

    kernel: Any
    form_: Form
    kernel_: Kernel
    n_components: int
    random_state: Any
    # What ``kernel=None`` means.
    _default_kernel: type[Kernel] = Gaussian

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the feature map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Training data.
        y : array-like of shape (n,) or (n, k), default=None
            Targets. `NotSoRandomFeatures`, `LearnedKernelFeatures` and `Nystrom` with
            ``landmarks="supervised"`` use them; other maps ignore them.

        Returns
        -------
        self
        """
        with self._threads(X), all_or_nothing(self):
            # A clone, so that the caller may change parameters of the kernel after the fit.
            kernel = clone(self._resolved_kernel())
            X = self._validate(X, reset=True)
            self._resolve(kernel, X)
            self._learn(X, y, as_generator(self.random_state))
            # Landmarks and their indices may belong to the caller, so the map keeps copies.
            for name in {"landmarks_", "component_indices_"} & vars(self).keys():
                setattr(self, name, own(getattr(self, name)))
        return self

    def _resolve(self, kernel: Kernel, X: Any) -> None:
        self.kernel_ = kernel.resolved(X)

    def _threads(self, X: Any) -> AbstractContextManager[Any]:
        """Hold BLAS to one thread if the data and the map are small."""
        return blas_threads_for(X, getattr(self, "n_components", 0))

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        raise TypeError(f"{type(self).__name__} must define _learn.")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "form_")

    def _validate(self, X: Any, *, reset: bool) -> Any:
        check_numeric_columns(self, X)
        dtypes = [np.float64, np.float32]
        return canonical(validate_data(self, X, reset=reset, accept_sparse="csr", dtype=dtypes))

    def _map(self, X: Any) -> NDArray:
        raise TypeError(f"{type(self).__name__} must define _map.")

    def _map_dual(self, X: Any) -> NDArray:
        Z = self._map(X)
        # New features are overwritten; features that share memory with X must not be.
        new = isinstance(Z, np.ndarray) and not (
            isinstance(X, np.ndarray) and np.may_share_memory(X, Z)
        )
        return self.form_.dual(Z, out=Z if new else None)

    def _second(self, X: Any) -> Any:
        """Return X as the second argument of the kernel; only precomputed matrices differ."""
        return X

    def transform(self, X: Any) -> NDArray:
        """Return the features Z(X).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The data.

        Returns
        -------
        ndarray of shape (n, n_components)
            The features; float32 if X is float32, else float64.
        """
        check_is_fitted(self)
        with self._threads(X):
            return self._map(self._validate(X, reset=False))

    def transform_dual(self, X: Any) -> NDArray:
        """Return the features of the second argument of the kernel, ``Z(X) Mᵀ``.

        If the kernel is positive definite, the dual features are the features. If it is indefinite,
        some columns change their sign. If it is not symmetric, pairs of columns are rotated.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The data.

        Returns
        -------
        ndarray of shape (n, n_components)
            The dual features.
        """
        check_is_fitted(self)
        with self._threads(X):
            return self._map_dual(self._validate(X, reset=False))

    def approximate_kernel(self, X: Any, Y: Any = None) -> NDArray:
        """Return the matrix ``Z(X) M Z(Y)ᵀ``, which approximates k(X, Y).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            First argument of the kernel.
        Y : {array-like, sparse matrix} of shape (m, d), default=None
            Second argument; None means X.

        Returns
        -------
        ndarray of shape (n, m)
        """
        check_is_fitted(self)
        left = self._validate(X, reset=False)
        right = left if Y is None else self._validate(Y, reset=False)
        with self._threads(X):
            return self._map(left) @ self._map_dual(right).T

    def nearest(
        self, queries: Any, gallery: Any, k: int, direction: str = "source"
    ) -> tuple[NDArray[np.intp], NDArray]:
        """Find the objects of a gallery with the largest approximate kernel values.

        The direction matters if the kernel is not symmetric. If k(x, y) says how strongly x cites
        y, "source" finds what a query cites, and "target" finds what cites the query. The features
        of the gallery are computed once, in blocks, so the gallery may be large.

        Parameters
        ----------
        queries : {array-like, sparse matrix} of shape (n, d), or n objects
            What to find neighbours of.
        gallery : {array-like, sparse matrix} of shape (m, d), or m objects
            Where to find them. With a precomputed kernel that is not symmetric, rows of the second
            argument hold the values k(training objects, y), as for `transform_dual`.
        k : int
            Number of neighbours of each query, at most m.
        direction : {"source", "target"}, default="source"
            "source" ranks y in the gallery by k(q, y) ≈ ``transform(q) · transform_dual(y)``, and
            "target" by k(y, q) ≈ ``transform(y) · transform_dual(q)``.

        Returns
        -------
        indices : ndarray of int of shape (n, k)
            Places in the gallery, largest value first. Equal values are ordered by their places;
            equal rows of the gallery have equal values.
        values : ndarray of shape (n, k)
            The approximate kernel values.

        Examples
        --------
        >>> import numpy as np
        >>> from krein import RandomFourier
        >>> from krein.kernels import ShiftGaussian
        >>> X = np.arange(20.0)[:, None]
        >>> features = RandomFourier(ShiftGaussian(shift=1.0), 200, random_state=0).fit(X)
        >>> features.nearest(X[:3], X, k=1)[0].ravel()  # k(x, y) is largest at y = x + 1
        array([1, 2, 3])
        >>> features.nearest(X[5:8], X, k=1, direction="target")[0].ravel()
        array([4, 5, 6])
        """
        check_is_fitted(self)
        check_choice(self, "direction", direction, ("source", "target"))
        maps = (self._map, self._map_dual) if direction == "source" else (self._map_dual, self._map)
        queries = self._validate_argument("queries", queries)
        gallery = self._validate_argument("gallery", gallery)
        check_neighbours(self, k, count(gallery))
        with self._threads(gallery):
            return largest_products(*maps, queries, gallery, int(k), self._n_features_out)

    def _validate_argument(self, name: str, X: Any) -> Any:
        """Validate an argument of `nearest`; an error, which speaks of X, begins with its name."""
        try:
            return self._validate(X, reset=False)
        except ValueError as error:
            raise ValueError(f"{type(self).__name__}.nearest, {name}: {error}") from error

    def _resolved_kernel(self) -> Kernel:
        """Return the kernel that the map approximates, with defaults filled in."""
        return self._default_kernel() if self.kernel is None else self.kernel

    def exact_kernel(self, X: Any, Y: Any = None) -> NDArray:
        """Return the matrix that `approximate_kernel` approximates."""
        check_is_fitted(self)
        return self.kernel_(X, Y)

    @property
    def _n_features_out(self) -> int:
        return self.form_.width

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class RandomMap(FeatureMap):
    """Base class of the maps drawn from a measure: `_learn` finds it, `_draw` draws its atoms."""

    measure_: Measure | GegenbauerMeasure
    total_mass_: float
    _range: Range | None

    def _draw(self, X: Any, rng: np.random.Generator) -> None:
        raise TypeError(f"{type(self).__name__} must define _draw.")

    def _check_range(self, X: Any) -> None:
        """Warn once if rows lie at distances where the map is inaccurate."""
        if self._range is not None and self._range.check(X, type(self).__name__):
            self._range = None


def check_even(n_components: int) -> None:
    """Raise if waves, each with a cosine and a sine, cannot fill this number of columns."""
    if n_components % 2 and n_components > 1:
        raise ValueError(
            "n_components must be even, because each frequency has a cosine and a sine, got "
            f"{n_components}: use {n_components + 1}."
        )


def sample_rows(X: Any, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return at most n random rows of X as a dense float64 array; fewer if rows are very wide."""
    n = max(50, min(n, SAMPLE_BYTES // (8 * X.shape[1])))
    rows = X if X.shape[0] <= n else X[np.sort(rng.choice(X.shape[0], n, replace=False))]
    return np.asarray(dense(rows)).astype(np.float64)
