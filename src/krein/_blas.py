"""Matrix products that BLAS computes in place, without holding Python's global lock.

NumPy has no product that is added to its output and none with a triangular matrix, and SciPy's
wrappers of BLAS hold the global lock of Python. SciPy publishes the addresses of its BLAS routines
for Cython; `ctypes` calls them without the lock. If an address is missing, NumPy computes the
product instead.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]

# NumPy multiplies by fewer columns than this with a faster routine.
FEW = 4
# The letter of BLAS for a type of numbers, and the number 1 of this type.
KINDS = {
    np.dtype(np.float64): ("d", ctypes.c_double(1.0)),
    np.dtype(np.float32): ("s", ctypes.c_float(1.0)),
}
DOUBLE = np.dtype(np.float64)


def add_product(A: Array, B: Array, out: Array) -> None:
    """Add ``AᵀB`` to `out`; if A is B, only on and above the diagonal.

    Parameters
    ----------
    A : ndarray of shape (n, p)
    B : ndarray of shape (n, q)
    out : ndarray of shape (p, q)
        The matrix that is changed.
    """
    arrays = (A, B, out)
    routine = _routine("dsyrk" if A is B else "dgemm")
    readable = A.size and all(_is_readable(x, DOUBLE) for x in arrays)
    if routine is None or B.shape[1] < FEW or not readable:
        out += A.T @ B
        return
    (n, p), q = A.shape, B.shape[1]
    (a, b, c), (lda, ldb, ldc) = (x.ctypes.data for x in arrays), map(_leading, arrays)
    # BLAS counts by columns: it sees Aᵀ, Bᵀ and outᵀ, whose lower triangle is the upper one of out.
    if A is B:
        routine(_char("L"), _char("N"), _int(p), _int(n), _one(A), a, lda, _one(A), c, ldc)
    else:
        sizes = _int(q), _int(p), _int(n)
        routine(_char("N"), _char("T"), *sizes, _one(A), b, ldb, a, lda, _one(A), c, ldc)


def multiply_lower(A: Array, L: Array) -> None:
    """Replace A by ``A L`` with a lower triangular matrix L, at half the cost of a full product.

    Parameters
    ----------
    A : ndarray of shape (n, p)
        The matrix that is changed.
    L : ndarray of shape (p, p)
        The triangular matrix, with zeros above the diagonal.
    """
    kind = KINDS.get(A.dtype)
    routine = _routine(f"{kind[0]}trmm") if kind else None
    if routine is None or not A.size or not all(_is_readable(x, A.dtype) for x in (A, L)):
        A[...] = A @ L
        return
    # BLAS counts by columns: it sees Aᵀ and Lᵀ, which is upper triangular, and computes LᵀAᵀ.
    letters = (_char(letter) for letter in "LUNN")
    sizes = _int(A.shape[1]), _int(A.shape[0])
    routine(*letters, *sizes, _one(A), L.ctypes.data, _leading(L), A.ctypes.data, _leading(A))


def _is_readable(A: Array, dtype: np.dtype) -> bool:
    """Return True if BLAS can read the matrix in place: of this type, with contiguous rows."""
    (rows, columns), size = A.strides, dtype.itemsize
    return A.dtype == dtype and columns == size and rows % size == 0 and rows >= size * A.shape[1]


def _leading(A: Array) -> Any:
    return _int(max(1, A.strides[0] // A.itemsize))


def _one(A: Array) -> Any:
    return ctypes.byref(KINDS[A.dtype][1])


def _char(letter: str) -> Any:
    return ctypes.byref(ctypes.c_char(letter.encode()))


def _int(number: int) -> Any:
    return ctypes.byref(ctypes.c_int(number))


N_ARGUMENTS = {"dsyrk": 10, "dgemm": 13, "dtrmm": 11, "strmm": 11}


@functools.cache
def _routine(name: str) -> Callable[..., None] | None:
    """Return a routine of SciPy's BLAS whose arguments are addresses; None if it is missing."""
    from scipy.linalg import cython_blas

    capsule = getattr(cython_blas, "__pyx_capi__", {}).get(name)
    if capsule is None:
        return None
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer_of(capsule, name_of(capsule))
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * N_ARGUMENTS[name])
    return kind(address) if address else None
