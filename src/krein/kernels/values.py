"""Two checks of kernel values: that they are finite, and that they differ between objects."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._hashing import hash_rows
from .._validation import outside_level
from .base import Kernel
from .errors import BadPairError, kernel_name

# A row of a kernel matrix stands alone if its values off the diagonal are below this share of
# k(x, x). A matrix is constant if its values deviate from their mean by less than this share of it.
NEGLIGIBLE = 1e-3
# A matrix is nearly the identity if at least this share of its rows stand alone.
MOST_ROWS = 0.75
# Matrices of fewer objects are not judged, because few values can be alike by chance.
FEWEST = 10


class UninformativeWarning(UserWarning):
    """A kernel matrix is nearly the identity or nearly constant."""


def check_values(kernel: Kernel, values: NDArray, rows: Any = None, columns: Any = None) -> NDArray:
    """Return `values` if all of them are finite, else raise an error about the first bad pair.

    The sum of finite numbers is finite unless it overflows, so the check of a good block costs one
    sum.

    Parameters
    ----------
    kernel : Kernel
        The kernel that the error names.
    values : ndarray of shape (n, m)
        A block of kernel values.
    rows, columns : sequences of int, default=None
        The places of the block's rows and columns in the whole matrix. None means that the block
        is the whole matrix.

    Raises
    ------
    BadPairError
        If a value is NaN or infinite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return values
    bad = np.argwhere(~np.isfinite(values))
    if not len(bad):
        return values
    i, j = (int(k) for k in bad[0])
    error = BadPairError(kernel_name(kernel), float(values[i, j]), i, j)
    n, m = values.shape
    raise error.among(range(n) if rows is None else rows, range(m) if columns is None else columns)


def uninformative(K: NDArray) -> str | None:
    """Return why nothing can be learned from a kernel matrix, or None.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The values of all pairs of some objects.

    Returns
    -------
    str or None
        The reason and the cure, if the matrix is nearly the identity or nearly constant.
    """
    n = len(K)
    size = float(np.abs(K).max(initial=0))
    if n < FEWEST or not 0 < size < np.inf:
        return None
    K = np.asarray(K, dtype=float) / size
    off = np.abs(K)
    diagonal = np.diagonal(off).copy()
    np.fill_diagonal(off, 0)
    alone = float(np.mean(off.max(axis=1) < NEGLIGIBLE * diagonal))
    if alone >= MOST_ROWS:
        return (
            f"nearly the identity: for {100 * alone:.0f} % of {n} rows x, k(x, y) is below a "
            "thousandth of k(x, x) for every other row y. Choose a wider kernel, e.g. "
            "with sigma='median' or a larger sigma, or Similarity(…, gamma='median')"
        )
    others = K[~np.eye(n, dtype=bool)]
    mean = float(others.mean())
    gaps = others.std(), np.median(np.abs(np.diagonal(K) - mean))
    if max(gaps) < NEGLIGIBLE * abs(mean):
        return (
            f"nearly constant: its values on {n} rows differ by less than a thousandth of their "
            "mean. Choose a narrower kernel, e.g. with sigma='median' or a smaller sigma, or "
            "Similarity(…, gamma='median')"
        )
    return None


def are_dissimilarities(K: NDArray) -> bool:
    """Return True if all objects are less similar to themselves than to most other objects.

    The diagonal of a matrix of dissimilarities is 0, and few other entries are 0: only equal
    objects have no distance. A similarity has its largest values on the diagonal. The diagonal of
    a graph may be 0, but then most other entries are 0 too.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The values of all pairs of some objects.
    """
    if len(K) < FEWEST or np.diagonal(K).any() or K.min() < 0:
        return False
    return bool(np.count_nonzero(K) > MOST_ROWS * len(K) * (len(K) - 1))


def warn_uninformative(kernel: Kernel, K: NDArray, X: Any = None) -> None:
    """Warn if the kernel matrix K is nearly the identity or nearly constant.

    There is no warning if most values of the kernel are zero. There is none either if the rows X
    are given and nearly all of them are equal, because no kernel can tell equal rows apart.
    """
    if kernel.traits.is_sparse:
        return
    reason = uninformative(K)
    if reason is not None and (X is None or len(np.unique(hash_rows(X))) >= FEWEST):
        said = f"{kernel_name(kernel)} is {reason}."
        warnings.warn(said, UninformativeWarning, stacklevel=outside_level())
