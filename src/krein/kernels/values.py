"""Two checks of the kernel values that a map or a learner takes: they are finite, they differ."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._hashing import hash_rows
from .base import Kernel
from .errors import BadPairError, one_line

# A row of a kernel matrix stands alone if all other values in it are below this share of k(x, x);
# values are all the same if the deviations of those off the diagonal and of those on it are below
# this share of their mean.
NEGLIGIBLE = 1e-3
# A matrix is nearly the identity if at least this share of its rows stand alone.
MOST_ROWS = 0.9
# Matrices of fewer objects are not judged: few values are alike by chance.
FEWEST = 10


def check_values(kernel: Kernel, values: NDArray, rows: Any = None, columns: Any = None) -> NDArray:
    """Return `values` if all of them are finite, else raise the sentence about the first bad pair.

    The sum of finite numbers is finite unless it overflows, so a good block costs one sum.

    Parameters
    ----------
    kernel : Kernel
        The kernel that the sentence names.
    values : ndarray of shape (n, m)
        A block of its values.
    rows, columns : sequences of int, default=None
        Indices of the block's rows and columns in the whole; None means that the block is the
        whole.

    Raises
    ------
    BadPairError
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


def kernel_name(kernel: Kernel) -> str:
    """How a sentence calls the kernel: its repr, or for a user's function its name."""
    f = getattr(kernel, "f", None)
    return (
        one_line(kernel) if f is None else f"{type(kernel).__name__}({getattr(f, '__name__', 'f')})"
    )


def uninformative(K: NDArray) -> str | None:
    """Why nothing can be learned from a kernel matrix; None if that cannot be said of it.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Values of all pairs of some objects.

    Returns
    -------
    str or None
        What the matrix nearly is, and the cure.
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
            f"nearly the identity: for {100 * alone:.0f} % of {n} rows no other row has a "
            "thousandth of k(x, x), so no row says anything about another. Choose a wider kernel, "
            "e.g. Similarity(…, gamma='median') or a larger sigma"
        )
    others = K[~np.eye(n, dtype=bool)]
    mean = float(others.mean())
    gaps = others.std(), np.median(np.abs(np.diagonal(K) - mean))
    if max(gaps) < NEGLIGIBLE * abs(mean):
        return (
            f"nearly constant: its values on {n} rows differ by less than a thousandth of their "
            "mean, so all rows are alike. Choose a narrower kernel, e.g. Similarity(…, "
            "gamma='median') or a smaller sigma"
        )
    return None


def warn_uninformative(kernel: Kernel, K: NDArray, X: Any = None) -> None:
    """Warn if the values K of a kernel, of all pairs of some rows, say nothing about the rows.

    Where the rows X are given and hardly any two of them differ, the kernel is not to blame.
    """
    reason = uninformative(K)
    if reason is not None and (X is None or len(np.unique(hash_rows(X))) >= FEWEST):
        warnings.warn(f"{kernel_name(kernel)} is {reason}.", UserWarning, stacklevel=4)
