"""Products and distances of rows, accurate and without overflow in intermediate results.

A squared distance is computed from squared norms and a product. The difference loses digits if the
rows are far from the origin, so the rows are centred first. The squares overflow or underflow if
entries are above 1e150 or below 1e-150, so the rows are multiplied by a power of two first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from ..rows import dense

# Entries between these bounds have squares, and sums of squares, that neither overflow nor
# underflow.
TAME = {np.dtype(np.float32): (1e-15, 1e15), np.dtype(np.float64): (1e-150, 1e150)}
# Number of rows whose median is the centre. A few rows far away do not move the median.
N_CENTRAL = 9


# --- sizes ----------------------------------------------------------------------------------------


def largest(A: Any) -> float:
    """Return the largest magnitude of the entries of a dense or sparse matrix."""
    entries = A.data if sparse.issparse(A) else A
    if not entries.size:
        return 0.0
    return max(float(entries.max()), -float(entries.min()))


def _row_sizes(A: Any) -> NDArray:
    """Return the largest magnitude of the entries of each row."""
    if sparse.issparse(A):
        return np.ravel(abs(A).max(axis=1).toarray())
    return np.maximum(A.max(axis=1), -A.min(axis=1))


def tamed_rows(A: Any) -> tuple[Any, NDArray[np.intp]]:
    """Return the rows divided by powers of two, and the exponents of these powers.

    The exponent is 0 unless the squares of the row overflow or underflow.
    """
    none = np.zeros(A.shape[0], dtype=np.intp)
    low, high = TAME[A.dtype]
    if not A.shape[1]:
        return A, none
    sizes = _row_sizes(A)
    wild = (sizes > 0) & ((sizes < low) | (sizes > high))
    if not wild.any():
        return A, none
    exponents = np.where(wild, np.frexp(sizes)[1], 0)
    return _times(A, -exponents), exponents


def _times(A: Any, exponents: NDArray) -> Any:
    """Return the rows multiplied by ``2**exponents``."""
    if not sparse.issparse(A):
        return np.ldexp(A, exponents[:, None])
    A = A.copy()
    A.data = np.ldexp(A.data, np.repeat(exponents, np.diff(A.indptr)))
    return A


def enlarged(values: NDArray, exponents: Any) -> NDArray:
    """Return the values multiplied by ``2**exponents``, infinite where the product overflows."""
    with np.errstate(over="ignore"):
        return np.ldexp(values, exponents) if np.any(exponents) else values


# --- distances ------------------------------------------------------------------------------------


def centred(X: Any, Y: Any) -> tuple[Any, Any]:
    """Return dense X and Y minus a point among the rows of Y; sparse data stay as they are."""
    if sparse.issparse(X) or sparse.issparse(Y):
        return X, Y
    center = center_of(Y)
    return X - center, Y - center


def center_of(Y: NDArray) -> NDArray:
    """Return a point among the rows of Y."""
    return np.median(Y[:: max(1, len(Y) // N_CENTRAL)][:N_CENTRAL], axis=0)


def distances(X: Any, Y: Any) -> NDArray:
    """Return ``‖x − y‖`` for all rows of X and Y."""
    low, high = TAME[min(X.dtype, Y.dtype)]
    size = max(largest(X), largest(Y))
    if size == 0 or low <= size <= high:
        return _plain(X, Y)
    if size < low:
        return _scaled(X, Y, size)
    # Only the large rows are scaled, because scaling would cost the others their digits.
    wild = [_row_sizes(A) > high for A in (X, Y)]
    out = np.empty((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
    out[np.ix_(*(~w for w in wild))] = _plain(X[~wild[0]], Y[~wild[1]])
    out[wild[0]] = _scaled(X[wild[0]], Y, size)
    out[:, wild[1]] = _scaled(X, Y[wild[1]], size)
    return out


def _scaled(X: Any, Y: Any, size: float) -> NDArray:
    """Return the distances, computed in a unit of about `size`."""
    return enlarged(_plain(*_divided(X, Y, size)), int(np.frexp(size)[1]))


def _divided(X: Any, Y: Any, size: float) -> list[Any]:
    """Return X and Y divided by the power of two next to `size`."""
    exponent = int(np.frexp(size)[1])
    return [_times(A, np.full(A.shape[0], -exponent)) for A in (X, Y)]


def in_one_unit(X: Any, Y: Any) -> tuple[Any, Any]:
    """Return X and Y, divided by one common number if their squares overflow or underflow."""
    low, high = TAME[min(X.dtype, Y.dtype)]
    size = max(largest(X), largest(Y))
    return (X, Y) if size == 0 or low <= size <= high else tuple(_divided(X, Y, size))


def _plain(X: Any, Y: Any) -> NDArray:
    if not (X.shape[0] and Y.shape[0]):
        return np.zeros((X.shape[0], Y.shape[0]))
    parts = [_squares(*centred(*pair)) for pair in _split(X, Y)]
    square = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return np.sqrt(square, out=square)


def _squares(X: Any, Y: Any) -> NDArray:
    """Return ``‖x − y‖²`` of centred rows."""
    if not all(isinstance(A, np.ndarray) and A.dtype == np.float64 for A in (X, Y)):
        return euclidean_distances(X, Y, squared=True)  # sums of float32 in float64
    square = X @ (-2 * Y).T
    square += row_norms(X, squared=True)[:, None]
    square += row_norms(Y, squared=True)
    return np.maximum(square, 0, out=square)


def _split(X: Any, Y: Any) -> list[tuple[Any, Any]]:
    """Return the columns of X and Y in two groups: the mostly filled ones as dense matrices.

    A sparse matrix cannot be centred without becoming dense. Columns that are filled in more than
    half of the rows become dense and can be centred; a dense matrix of these columns needs no more
    memory than a sparse one.
    """
    if not (sparse.issparse(X) or sparse.issparse(Y)):
        return [(X, Y)]
    full = _filled(X) & _filled(Y)
    if not full.any():
        return [(X, Y)]
    parts = [(dense(X[:, full]), dense(Y[:, full]))]
    return parts if full.all() else [*parts, (X[:, ~full], Y[:, ~full])]


def _filled(A: Any) -> NDArray[np.bool_]:
    if not sparse.issparse(A):
        return np.ones(A.shape[1], dtype=bool)
    return np.bincount(A.indices, minlength=A.shape[1]) > A.shape[0] / 2


def city_distances(X: Any, Y: Any) -> NDArray:
    """Return ``‖x − y‖₁``."""
    return manhattan_distances(_short(X), _short(Y))


def _short(A: Any) -> Any:
    """Return a sparse matrix with indices of 32 bits, which scikit-learn needs here."""
    if not sparse.issparse(A) or A.indices.dtype == np.int32:
        return A
    parts = A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)
    return sparse.csr_matrix(parts, shape=A.shape)


def in_units(z: NDArray, width: float) -> NDArray:
    """Return ``z / width`` in the dtype of z, whose range the width may exceed."""
    z = np.asarray(z)
    with np.errstate(over="ignore"):
        if z.dtype == np.float32 and not 1e-30 < width < 1e30:
            return (z.astype(float) / width).astype(z.dtype)
        return z / width


# --- products -------------------------------------------------------------------------------------


def products(X: Any, Y: Any) -> NDArray:
    """Return ``⟨x, y⟩``, infinite where the product overflows, and never NaN."""
    (X, left), (Y, right) = tamed_rows(X), tamed_rows(Y)
    found = safe_sparse_dot(X, Y.T, dense_output=True)
    return enlarged(enlarged(found, left[:, None]), right)


def norms(X: Any) -> NDArray:
    """Return ``‖x‖``, also for rows whose squares overflow or underflow."""
    X, exponents = tamed_rows(X)
    return enlarged(row_norms(X), exponents)
