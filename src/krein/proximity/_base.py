"""What the estimators of proximity data share: the contract, the checks, centring, spectra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import check_array
from sklearn.utils.extmath import svd_flip
from sklearn.utils.validation import check_is_fitted, validate_data

from .._blocks import row_blocks
from .._threads import blas_threads_for
from .._validation import NestedParameters, all_or_nothing
from .errors import AsymmetryError

# Matrices that differ from their transpose by more than this, relative to their largest value,
# are not symmetric: round-off is smaller, also that of distances computed from products.
ROUND_OFF = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-5}


class Proximity(NestedParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the transformers that learn from all pairs of training objects.

    A transformer defines `_square(X)`, the matrix of all training pairs, `_rows(X)`, the values
    of new objects against the training objects, `_learn(square)` and `_map(rows)`.
    """

    n_samples_fit_: int
    n_features_in_: int

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the training objects.

        Parameters
        ----------
        X : array-like of shape (n, n)
            The values of all pairs of training objects; or the objects themselves, where they
            are not precomputed.
        y : ignored

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Fit, and transform the training objects; the values of all pairs are computed once.

        Parameters
        ----------
        X : array-like of shape (n, n), or the training objects
        y : ignored

        Returns
        -------
        ndarray, the same as ``fit(X).transform(X)``
        """
        return self._map(self._fit(X))

    def _fit(self, X: Any) -> NDArray:
        with blas_threads_for(X), all_or_nothing(self):
            square = self._square(X)
            self.n_samples_fit_ = len(square)
            self._learn(square)
        return square

    def transform(self, X: Any) -> NDArray:
        """Transform new objects.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Each row holds the values of one object against all n training objects; or the new
            objects themselves, where they are not precomputed.

        Returns
        -------
        ndarray of m rows
            In the dtype of X, if that is float32 or float64.
        """
        check_is_fitted(self)
        with blas_threads_for(X):
            return self._map(self._rows(X))

    def _square(self, X: Any) -> NDArray:
        raise TypeError(f"{type(self).__name__} must define _square.")

    def _rows(self, X: Any) -> NDArray:
        raise TypeError(f"{type(self).__name__} must define _rows.")

    def _learn(self, square: NDArray) -> None:
        raise TypeError(f"{type(self).__name__} must define _learn.")

    def _map(self, rows: NDArray) -> NDArray:
        raise TypeError(f"{type(self).__name__} must define _map.")

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def precomputed_square(owner: BaseEstimator, X: Any) -> NDArray:
    """Validate the matrix of all training pairs."""
    square = validate_data(owner, X, dtype=[np.float64, np.float32])
    check_square(owner, square)
    return square


def precomputed_rows(owner: Proximity, X: Any) -> NDArray:
    """Validate rows of values against the training objects."""
    validate_data(owner, X, reset=False, skip_check_array=True, ensure_2d=False)  # column names
    rows = check_array(X, dtype=[np.float64, np.float32], estimator=owner, input_name="X")
    if rows.shape[1] != owner.n_features_in_:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {_name(owner)} is expecting "
            f"{owner.n_features_in_} features as input. A row of precomputed values has one column "
            "per training object, in the order of fit: pass D[np.ix_(new, train)]."
        )
    return rows


def check_square(owner: object, X: NDArray) -> None:
    """Raise unless X is square."""
    if X.shape[0] != X.shape[1]:
        choice = next((name for name in ("metric", "kernel") if hasattr(owner, name)), None)
        raise ValueError(
            f"{_name(owner)} needs the square matrix X of all pairs of training objects, got "
            f"shape {X.shape}: pass D[np.ix_(train, train)]"
            f"{f', or choose a {choice} if X holds vectors' if choice else ''}."
        )


def check_symmetric(owner: object, X: NDArray) -> None:
    """Raise an error unless X = Xᵀ up to round-off."""
    gap = np.abs(X - X.T)
    if gap.max() > ROUND_OFF[X.dtype] * float(np.abs(X).max()):
        place = place_of_largest(gap)
        raise AsymmetryError(_name(owner), place, float(X[place]), float(X.T[place]))


def place_of_largest(X: NDArray) -> tuple[int, int]:
    """Return the row and the column of the largest entry of a matrix."""
    i, j = np.unravel_index(np.argmax(X), X.shape)
    return int(i), int(j)


def _name(owner: object) -> str:
    return owner if isinstance(owner, str) else type(owner).__name__


def symmetrize(D: ArrayLike, how: str = "average", reverse: ArrayLike | None = None) -> NDArray:
    """Make a matrix of dissimilarities or similarities symmetric.

    The estimators never do it by themselves: which of two contradicting values is right is for
    the owner of the data to say. An entry of the result depends on the two values of its own pair
    alone, so that symmetrising before cross-validation leaks nothing.

    Parameters
    ----------
    D : array-like of shape (n, n), or (m, n) with `reverse`
        D[i, j] is the value from object i to object j.
    how : {"average", "min", "max"}, default="average"
        ``(D + Dᵀ)/2``, or the smaller or the larger of the two values.
    reverse : array-like of shape (n, m), default=None
        The values of the other direction, for new objects: D holds those from m new objects to n
        training objects, `reverse` those from the training objects to the new ones. None means
        D itself, which must be square then.

    Returns
    -------
    ndarray of the shape of D
        float32 if D is, else float64.

    Examples
    --------
    >>> from krein.proximity import symmetrize
    >>> symmetrize([[0, 1], [3, 0]], "average")
    array([[0., 2.],
           [2., 0.]])
    """
    rules: dict[str, Callable[[NDArray, NDArray], NDArray]] = {
        "average": lambda a, b: (a + b) / 2,
        "min": np.minimum,
        "max": np.maximum,
    }
    if how not in rules:
        raise ValueError(f'symmetrize needs how to be "average", "min" or "max", got {how!r}.')
    dtype = [np.float64, np.float32]
    there = check_array(D, dtype=dtype, input_name="D")
    if reverse is None:
        check_square("symmetrize without reverse", there)
        back = there
    else:
        back = check_array(reverse, dtype=dtype, input_name="reverse")
        if back.shape != there.shape[::-1]:
            raise ValueError(
                f"symmetrize needs reverse to have the shape of D transposed, "
                f"{there.shape[::-1]}, got {back.shape}."
            )
    return rules[how](there, back.T).astype(there.dtype, copy=False)


class Centring(NamedTuple):
    """The map ``K ↦ J K J``, ``J = I − 11ᵀ/n``, with the rule for new rows.

    A new row k becomes ``k − mean(k) − column means + grand mean``, the means of columns and of
    the whole being those of the *training* matrix: the inner product with the training objects
    after the origin was moved to their mean, which one more object does not move.
    """

    column_means: NDArray[np.float64]
    grand_mean: float

    @classmethod
    def of(cls, K: NDArray) -> Centring:
        """The centring learned from a symmetric training matrix."""
        means = K.mean(axis=0, dtype=np.float64)
        return cls(means, float(means.mean()))

    def __call__(self, rows: NDArray) -> NDArray:
        """Centred rows, computed in float64 and returned in the dtype of `rows`."""
        out = np.empty_like(rows)
        offset = self.grand_mean - self.column_means
        for block in row_blocks(len(rows), 8 * rows.shape[1]):
            part = rows[block].astype(np.float64)
            out[block] = part - part.mean(axis=1, keepdims=True) + offset
        return out


class Spectrum(NamedTuple):
    """``K = U diag(λ) Uᵀ``, largest magnitude first, with the eigenvalues that count as zero."""

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]
    is_zero: NDArray[np.bool_]

    @property
    def negative_mass(self) -> float:
        """``Σ_{λ < 0} |λ| / Σ |λ|``, 0 if there are only zeros."""
        values = np.where(self.is_zero, 0.0, self.values)
        total = np.abs(values).sum()
        return float(-values[values < 0].sum() / total) if total else 0.0


def spectrum(K: NDArray, tol: float, scale: float) -> Spectrum:
    """The eigendecomposition of a matrix that is symmetric up to round-off, in float64.

    Zero are the eigenvalues below `tol` relative to the largest, and those below round-off in
    values of size `scale`: rounding the entries of K to its dtype adds a random matrix, of norm
    √n times the precision, and a rounded mean may add the same to all entries, norm n.
    """
    dense = np.asarray(K, dtype=np.float64)
    values, vectors = linalg.eigh((dense + dense.T) / 2, overwrite_a=True, check_finite=False)
    order = np.argsort(-np.abs(values), kind="stable")
    values, vectors = values[order], svd_flip(vectors[:, order], None)[0]
    own, double = (float(np.finfo(dtype).eps) for dtype in (K.dtype, np.float64))
    round_off = 2 * (len(K) ** 0.5 * own + len(K) * double) * scale
    is_zero = np.abs(values) <= max(tol * float(np.abs(values[0])), round_off)
    return Spectrum(values, vectors, is_zero)
