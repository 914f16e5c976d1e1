"""The base class, the checks, the centring and the spectra of the proximity transformers."""

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
from .._validation import NestedParameters, all_or_nothing, name_of
from .errors import AsymmetryError

# A matrix is symmetric if it differs from its transpose by at most this share of its largest value.
# The round-off of distances computed from products is smaller.
ROUND_OFF = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-5}


class Proximity(NestedParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of the transformers that learn from all pairs of training objects.

    `_square(X)` returns the matrix of all pairs of training objects, and `_rows(X)` the values of
    new objects against the training objects. A subclass defines `_learn(square)`, which learns from
    the matrix, and `_map(rows)`, which transforms values. If the values are not precomputed,
    `_values(X, reset)` computes the matrix (`reset`) and the values of new objects.
    """

    n_samples_fit_: int
    n_features_in_: int

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the training objects.

        Parameters
        ----------
        X : array-like of shape (n, n)
            The values of all pairs of training objects. If the values are not precomputed, X
            holds the training objects themselves.
        y : Ignored
            Not used; present for scikit-learn's API.

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Learn from the training objects and transform them.

        The values of all pairs are computed once, in contrast to ``fit(X).transform(X)``.

        Parameters
        ----------
        X : array-like of shape (n, n)
            The values of all pairs of training objects. If the values are not precomputed, X
            holds the training objects themselves.
        y : Ignored
            Not used; present for scikit-learn's API.

        Returns
        -------
        ndarray of n rows
            The result of ``fit(X).transform(X)``.
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
            Each row holds the values of one object against all n training objects. If the values
            are not precomputed, X holds the new objects themselves.

        Returns
        -------
        ndarray of m rows
            The transformed objects, in the dtype of X if it is float32 or float64.
        """
        check_is_fitted(self)
        with blas_threads_for(X):
            return self._map(self._rows(X))

    @property
    def _precomputed(self) -> bool:
        """True if the data are values of pairs, False if `_values` computes the values."""
        return True

    def _values(self, X: Any, *, reset: bool) -> NDArray:
        raise TypeError(f"{type(self).__name__} must define _values.")

    def _square(self, X: Any) -> NDArray:
        return precomputed_square(self, X) if self._precomputed else self._values(X, reset=True)

    def _rows(self, X: Any) -> NDArray:
        return precomputed_rows(self, X) if self._precomputed else self._values(X, reset=False)

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
        tags.input_tags.pairwise = self._precomputed
        return tags


def precomputed_square(owner: BaseEstimator, X: Any) -> NDArray:
    """Return the validated matrix of all pairs of training objects."""
    square = validate_data(owner, X, dtype=[np.float64, np.float32])
    check_square(owner, square)
    return square


def precomputed_rows(owner: Proximity, X: Any) -> NDArray:
    """Return validated rows of values against the training objects."""
    validate_data(owner, X, reset=False, skip_check_array=True, ensure_2d=False)  # column names
    rows = check_array(X, dtype=[np.float64, np.float32], estimator=owner, input_name="X")
    if rows.shape[1] != owner.n_features_in_:
        raise ValueError(
            f"X has {rows.shape[1]} features, but {name_of(owner)} is expecting "
            f"{owner.n_features_in_} features as input. A row of precomputed values has one column "
            "per training object, in the order of fit: pass D[np.ix_(new, train)]."
        )
    return rows


def check_square(owner: object, X: NDArray) -> None:
    """Raise an error unless X is square."""
    if X.shape[0] != X.shape[1]:
        choice = next((name for name in ("metric", "kernel") if hasattr(owner, name)), None)
        raise ValueError(
            f"{name_of(owner)} needs the square matrix of all pairs of training objects, but X has "
            f"shape {X.shape}: pass D[np.ix_(train, train)]"
            f"{f', or choose a {choice} if X holds vectors' if choice else ''}."
        )


def check_symmetric(owner: object, X: NDArray) -> None:
    """Raise an error unless X = Xᵀ up to round-off."""
    gap = np.abs(X - X.T)
    if gap.max() > ROUND_OFF[X.dtype] * float(np.abs(X).max()):
        place = place_of_largest(gap)
        raise AsymmetryError(name_of(owner), place, float(X[place]), float(X.T[place]))


def place_of_largest(X: NDArray) -> tuple[int, int]:
    """Return the row and the column of the largest entry of a matrix."""
    i, j = np.unravel_index(np.argmax(X), X.shape)
    return int(i), int(j)


def symmetrize(D: ArrayLike, how: str = "average", reverse: ArrayLike | None = None) -> NDArray:
    """Make a matrix of dissimilarities or similarities symmetric.

    The transformers never symmetrise a matrix themselves, because only the owner of the data knows
    which of two different values of a pair is right. An entry of the result depends on the two
    values of its own pair only, so a matrix can be symmetrised before cross-validation.

    Parameters
    ----------
    D : array-like of shape (n, n), or of shape (m, n) if `reverse` is given
        D[i, j] is the value from object i to object j.
    how : {"average", "min", "max"}, default="average"
        "average" takes the mean of the two values of a pair, "min" the smaller and "max" the
        larger value.
    reverse : array-like of shape (n, m), default=None
        The values in the other direction, for new objects. D then holds the values from m new
        objects to n training objects, and `reverse` the values from the training objects to the
        new objects. None means that D is square and holds both directions.

    Returns
    -------
    ndarray of the shape of D
        The symmetric values, in float32 if D is float32, else in float64.

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
                f"symmetrize needs reverse to have the shape of D.T, {there.shape[::-1]}, got "
                f"{back.shape}."
            )
    return rules[how](there, back.T).astype(there.dtype, copy=False)


class Centring(NamedTuple):
    """The map ``K ↦ J K J`` with ``J = I − 11ᵀ/n``, which moves the origin to the mean object.

    A new row k becomes ``k − mean(k) − column means + grand mean``. The column means and the grand
    mean are the means of the training matrix, because new objects do not move the origin.
    """

    column_means: NDArray[np.float64]
    grand_mean: float

    @classmethod
    def of(cls, K: NDArray) -> Centring:
        """Return the centring of the rows of a training matrix."""
        means = K.mean(axis=0, dtype=np.float64)
        return cls(means, float(means.mean()))

    def __call__(self, rows: NDArray) -> NDArray:
        """Return the centred rows, computed in float64, in the dtype of `rows`."""
        out = np.empty_like(rows)
        offset = self.grand_mean - self.column_means
        for block in row_blocks(len(rows), 8 * rows.shape[1]):
            part = rows[block].astype(np.float64)
            out[block] = part - part.mean(axis=1, keepdims=True) + offset
        return out


class Spectrum(NamedTuple):
    """Eigenvalues λ and eigenvectors U of ``K = U diag(λ) Uᵀ``, largest magnitude first.

    `is_zero` marks the eigenvalues that count as zero.
    """

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]
    is_zero: NDArray[np.bool_]

    @property
    def negative_mass(self) -> float:
        """``Σ_{λ < 0} |λ| / Σ |λ|``, or 0 if all eigenvalues are zero."""
        values = np.where(self.is_zero, 0.0, self.values)
        total = np.abs(values).sum()
        return float(-values[values < 0].sum() / total) if total else 0.0


def spectrum(K: NDArray, tol: float, scale: float) -> Spectrum:
    """Return the eigendecomposition in float64 of a matrix that is symmetric up to round-off."""
    dense = np.asarray(K, dtype=np.float64)
    values, vectors = linalg.eigh((dense + dense.T) / 2, overwrite_a=True, check_finite=False)
    order = np.argsort(-np.abs(values), kind="stable")
    values, vectors = values[order], svd_flip(vectors[:, order], None)[0]
    return Spectrum(values, vectors, count_as_zero(values, K, tol, scale))


def count_as_zero(values: NDArray, K: NDArray, tol: float, scale: float) -> NDArray[np.bool_]:
    """Return which eigenvalues or singular values of K, largest first, count as zero.

    These are values below `tol` times the largest magnitude, or below the round-off of entries of
    size `scale`. Rounding the entries of K to its dtype adds a random matrix whose norm is √n times
    the precision. A rounded mean may add the same number to all entries, a matrix whose norm is n
    times the precision of float64.
    """
    own, double = (float(np.finfo(dtype).eps) for dtype in (K.dtype, np.float64))
    round_off = 2 * (len(K) ** 0.5 * own + len(K) * double) * scale
    return np.abs(values) <= max(tol * float(np.abs(values[0])), round_off)
