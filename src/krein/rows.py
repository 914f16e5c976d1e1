"""Rows of any kind: arrays, memory maps, CSR matrices, data frames and lists of objects.

Every other module counts, takes and joins rows through these functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class Sides:
    """Rows of kernel values in both directions, for a kernel that is not symmetric.

    Row i of `left` holds the values k(x_i, t_j), row i of `right` the values k(t_j, x_i). Indices
    and slices act on both.

    Parameters
    ----------
    left : ndarray of shape (m, n)
        The values k(x_i, t_j).
    right : ndarray of shape (m, n)
        The values k(t_j, x_i).

    Examples
    --------
    >>> import numpy as np
    >>> from krein.rows import Sides
    >>> both = Sides.of(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> both.left[0], both.right[0]
    (array([1., 2.]), array([1., 3.]))
    """

    def __init__(self, left: NDArray, right: NDArray):
        self.left, self.right = left, right

    @classmethod
    def of(cls, K: NDArray) -> Sides:
        """Return both directions of a square matrix with ``K[i, j] = k(x_i, x_j)``."""
        return cls(K, K.T)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.left.shape

    @property
    def ndim(self) -> int:
        return self.left.ndim

    @property
    def dtype(self) -> np.dtype:
        return self.left.dtype

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, key: Any) -> Sides:
        return Sides(self.left[key], self.right[key])


def left_of(X: Any) -> Any:
    """Return the rows as the first argument of a kernel; only `Sides` differ from X."""
    return X.left if isinstance(X, Sides) else X


def right_of(X: Any) -> Any:
    """Return the rows as the second argument of a kernel; only `Sides` differ from X."""
    return X.right if isinstance(X, Sides) else X


def is_table(X: Any) -> bool:
    """Return True if X is an array, a sparse matrix or a data frame."""
    return sparse.issparse(X) or (hasattr(X, "shape") and hasattr(X, "__array__"))


def as_rows(X: Any) -> Any:
    """Return X as an ndarray, a CSR matrix or a list of objects.

    A data frame becomes an array. An array of strings or objects of one dimension becomes a list.
    """
    if isinstance(X, Sides):
        return X
    if sparse.issparse(X):
        return X if X.format == "csr" else X.tocsr()
    if is_table(X):
        X = X if isinstance(X, np.ndarray) else np.asarray(X)
        return X.tolist() if X.ndim == 1 and X.dtype.kind in "OUST" else X
    return X if isinstance(X, list) else list(X)


def as_objects(X: Any) -> Any:
    """Return a collection of objects: a matrix as it is, else a list."""
    n_dimensions = len(X.shape) if hasattr(X, "shape") else 0
    if n_dimensions == 2:
        return X
    return np.asarray(X).tolist() if n_dimensions == 1 else list(X)


def is_objects(X: Any) -> bool:
    """Return True if rows, as `as_rows` returns them, are a list of objects and no matrix."""
    return isinstance(X, list)


def dense(X: Any) -> Any:
    """Return a sparse matrix as an ndarray; anything else as it is."""
    return X.toarray() if sparse.issparse(X) else X


def count(X: Any) -> int:
    """Return the number of rows of a matrix or of objects of a sequence."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take(X: Any, rows: NDArray[np.intp] | Sequence[int]) -> Any:
    """Return copies of the rows at the given indices."""
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]


def concatenated(parts: Sequence[Any]) -> Any:
    """Join blocks of rows of the same kind."""
    if is_objects(parts[0]):
        return [x for part in parts for x in part]
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


def canonical(X: Any) -> Any:
    """Return a CSR matrix with sorted indices and no entry twice; anything else as it is.

    The caller's matrix is not changed. Indices become int32 if they fit, as scikit-learn needs.
    """
    if not sparse.issparse(X) or X.format != "csr":
        return X
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype == np.int64 and max(X.shape[1], X.nnz) < 2**31:
        parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)(parts, shape=X.shape)
    return X


def in_double(X: Any) -> Any:
    """Return a matrix of single precision in double precision; return anything else as it is."""
    return X.astype(np.float64) if is_table(X) and X.dtype == np.float32 else X


def column_names(X: Any) -> list[str] | None:
    """Return the column names of a data frame if all of them are text, else None."""
    names = list(X.columns) if hasattr(X, "columns") and is_table(X) else []
    return names if names and all(isinstance(name, str) for name in names) else None
