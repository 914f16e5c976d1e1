"""Columns of a table in comparable units."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.utils import TransformerTags
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted, validate_data

from ..rows import dense, in_double

# The share of the smallest and of the largest values of a column that do not count for its scale.
TAIL = 0.01
# Values are moved to at most this many scales from the centre of their column.
LIMIT = 10.0
# At most this many columns are named in a sentence.
NAMED = 5
# A column whose spread is below this share of its largest value is constant up to rounding.
CONSTANT = 1e-12


class _Arrays(OneToOneFeatureMixin, BaseEstimator):
    """A transformer whose result is an array, also where `transform_output` asks for a frame.

    scikit-learn's TransformerMixin would wrap the result; its class argument that turns this off
    is unknown to type checkers.
    """

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return the transformed rows of the fit."""
        return self.fit(X, y).transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        tags.input_tags.sparse = True
        return tags


class Columns(_Arrays):
    """Robustly standardised columns, each times a factor of its own.

    ``z_j = w_j · clip((x_j − c_j) / s_j, ±limit)``, where c_j and s_j are the mean and the standard
    deviation of column j after its smallest and largest percent are moved to the 1 % and 99 %
    quantiles. If nearly all values are equal, s_j is the plain standard deviation. Constant columns
    become zero.
    A sparse matrix is neither centred nor clipped, unless it becomes an array, and s_j is the root
    mean square of the entries of column j that are not zero. Divided by their standard deviations,
    the columns with the fewest entries would have the largest values, and rows with a rare category
    or word would be far from all others. The result is in double precision, because the small
    penalties of smooth kernels need the small eigenvalues of the kernel matrix, which single
    precision rounds away.

    Parameters
    ----------
    factors : array-like of shape (d,), default=None
        The factors w_j; None means 1 for all columns.
    densify : bool, default=False
        True if a sparse matrix becomes an array.
    limit : float, default=10.0
        The largest distance from the centre, in scales; infinite if no value is moved.

    Attributes
    ----------
    center_ : ndarray of shape (d,)
    scale_ : ndarray of shape (d,)
        The scales s_j; infinite for constant columns.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.auto.columns import Columns
    >>> X = np.column_stack([np.arange(200.0), np.full(200, 7.0)])
    >>> X[0, 0] = 1e9
    >>> Columns().fit_transform(X)[[0, 150, 199]].round(1)
    array([[10. ,  0. ],
           [ 0.9,  0. ],
           [ 1.7,  0. ]])
    """

    def __init__(
        self, factors: ArrayLike | None = None, densify: bool = False, limit: float = LIMIT
    ):
        self.factors, self.densify, self.limit = factors, densify, limit

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn centre and scale of each column."""
        X = self._checked(X, reset=True)
        largest = np.ravel(dense(abs(X).max(axis=0))).astype(float)
        unit = np.where(largest > 0, largest, 1.0)  # squares must not overflow
        if sparse.issparse(X):
            mean, spread = _of_entries((X.astype(float) @ sparse.diags(1 / unit)).tocsr())
        else:
            mean, spread = _robust(X / unit)
        self.center_, spread = mean * unit, spread * unit
        self.scale_ = np.where(spread > CONSTANT * largest, spread, np.inf)
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns in units of their scales, times their factors."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        factors = 1.0 if self.factors is None else np.asarray(self.factors, dtype=float)
        if sparse.issparse(X):
            scales = np.broadcast_to(factors / self.scale_, X.shape[1:])
            return (X.astype(float) @ sparse.diags(scales)).tocsr()
        with np.errstate(over="ignore"):
            return np.clip((X - self.center_) / self.scale_, -self.limit, self.limit) * factors

    def moved(self, X: Any) -> str:
        """Return which values of X `transform` moves, in words; empty if there are none."""
        X = self._checked(X, reset=False)
        if sparse.issparse(X):
            return ""
        with np.errstate(over="ignore"):
            beyond = np.abs((X - self.center_) / self.scale_) > self.limit
        if not beyond.any():
            return ""
        n_rows, columns = int(beyond.any(axis=1).sum()), np.flatnonzero(beyond.any(axis=0))
        said = ", ".join(map(str, columns[:NAMED])) + (", …" if len(columns) > NAMED else "")
        return (
            f"values of {n_rows} of {len(X)} rows that are more than {self.limit:g} units from the "
            f"centre of a column (columns {said})"
        )

    def _checked(self, X: Any, reset: bool) -> Any:
        dtypes = [np.float64, np.float32]
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=dtypes)
        return dense(X) if self.densify else X


class Double(_Arrays):
    """The rows as they are, in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.auto.columns import Double
    >>> Double().fit_transform(np.float32([[0.5]])).dtype
    dtype('float64')
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Return the transformer."""
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows in double precision."""
        return in_double(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def is_smaller_dense(X: Any) -> bool:
    """Return True if X is a sparse matrix with so few zeros that an array takes less memory."""
    if not sparse.issparse(X):
        return False
    stored = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return bool(X.dtype.itemsize * X.shape[0] * X.shape[1] <= stored)


def _of_entries(X: Any) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return 0, and the root mean square of the nonzero entries of each column.

    The second value is 0 for constant columns.
    """
    mean, variance = mean_variance_axis(X, axis=0)
    n_entries = np.maximum(1, np.bincount(X.indices[X.data != 0], minlength=X.shape[1]))
    spread = np.sqrt((np.square(mean) + variance) * X.shape[0] / n_entries)
    return np.zeros_like(mean), np.where(variance > CONSTANT**2, spread, 0.0)


def _robust(X: NDArray) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return mean and standard deviation of each column without the effect of its tails."""
    inside = np.clip(X, *np.quantile(X, [TAIL, 1 - TAIL], axis=0)).astype(float)
    mean, spread = inside.mean(axis=0), inside.std(axis=0)
    flat = spread <= CONSTANT * np.abs(mean)
    return mean, np.where(flat, X.std(axis=0, dtype=float), spread)
