"""Nodes of a relation: a square matrix with one row and one column per node, and node ids."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._blocks import row_blocks
from ..rows import canonical


def square_matrix(owner: object, name: str, value: Any) -> Any:
    """Return a square matrix of finite real numbers as an ndarray or a CSR array, not copied.

    A sparse matrix of another format, or with entries that occur twice, is converted.

    Parameters
    ----------
    owner : object
        The kernel that the error names.
    name : str
        The name of the parameter.
    value : array-like or sparse matrix
        The matrix.
    """
    kind = type(owner).__name__
    if sparse.issparse(value):
        found = canonical(sparse.csr_array(value))
    else:
        found = _as_array(value)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not found.shape[0]:
        raise ValueError(
            f"{kind} needs {name} to be a square matrix with one row and one column per node, got "
            f"shape {tuple(found.shape)}."
        )
    if found.dtype.kind not in "biuf":
        raise ValueError(f"{kind} needs {name} to hold real numbers, got dtype {found.dtype}.")
    bad = _first(found, lambda entries: ~np.isfinite(entries))
    if bad is not None:
        raise ValueError(
            f"{kind} needs finite entries, but {name}[{bad[0]}, {bad[1]}] is {bad[2]}."
        )
    return found


def check_non_negative(owner: object, adjacency: Any) -> None:
    """Raise an error that names the first negative entry, if there is one."""
    bad = _first(adjacency, lambda entries: entries < 0)
    if bad is not None:
        raise ValueError(
            f"{type(owner).__name__} needs weights ≥ 0, but adjacency[{bad[0]}, {bad[1]}] is "
            f"{bad[2]}: use Relation for a matrix with negative entries."
        )


def _first(matrix: Any, is_bad: Any) -> tuple[int, int, Any] | None:
    """Return row, column and value of the first entry that `is_bad` marks, or None."""
    if sparse.issparse(matrix):
        places = np.flatnonzero(is_bad(matrix.data))
        if not len(places):
            return None
        row = int(np.searchsorted(matrix.indptr, places[0], side="right")) - 1
        return row, int(matrix.indices[places[0]]), matrix.data[places[0]].item()
    for rows in row_blocks(len(matrix), 8 * len(matrix)):
        marked = np.argwhere(is_bad(matrix[rows]))
        if len(marked):
            i, j = int(marked[0][0]) + rows.start, int(marked[0][1])
            return i, j, matrix[i, j].item()
    return None


def is_mirrored(matrix: Any) -> bool:
    """Return True if a matrix equals its transpose up to round-off of its largest entry."""
    if sparse.issparse(matrix):
        values = matrix.astype(float)
        gap, size = abs(values - values.T).max(), abs(values).max()
    else:
        gap = size = 0.0
        for rows in row_blocks(len(matrix), 8 * len(matrix)):
            block = matrix[rows].astype(float)
            gap = max(gap, float(np.abs(block - matrix[:, rows].T).max()))
            size = max(size, float(np.abs(block).max()))
    single = matrix.dtype.kind == "f" and matrix.dtype.itemsize < 8
    return bool(gap <= 64 * np.finfo(matrix.dtype if single else float).eps * size)


def node_ids(owner: object, X: Any, n: int, name: str) -> NDArray[np.int64]:
    """Return node ids as a column of integers, or raise an error that names a bad id.

    Ids have two dimensions, because a sequence of integers as landmarks of a map is a sequence of
    row indices.

    Parameters
    ----------
    owner : object
        The kernel that the error names.
    X : array-like of shape (m,) or (m, 1)
        The ids.
    n : int
        Number of nodes.
    name : str
        The name that the error gives to X.

    Returns
    -------
    ndarray of shape (m, 1)
    """
    kind = type(owner).__name__
    given = _as_array(X)
    if given.ndim != 1 and given.shape[1:] != (1,):
        raise ValueError(
            f"{kind} needs {name} to hold one node id per object, as an array of shape (n,) or "
            f"(n, 1), got {type(X).__name__} of shape {tuple(getattr(X, 'shape', given.shape))}."
        )
    if not len(given):
        raise ValueError(f"{kind} needs at least one node id, but {name} is empty.")
    if given.dtype == bool:
        raise ValueError(
            f"{kind} needs node ids, but {name} is a boolean mask: pass np.flatnonzero(mask)."
        )
    ids = given.reshape(-1)
    bad = np.flatnonzero(~_are_ids(ids, n))
    if len(bad):
        value = ids[bad[0]]
        raise ValueError(
            f"{kind} needs node ids, whole numbers from 0 to {n - 1}, but item {bad[0]} of {name} "
            f"is {value.item() if hasattr(value, 'item') else value!r}."
        )
    return ids.astype(np.int64).reshape(-1, 1)


def _as_array(X: Any) -> NDArray:
    try:
        return np.asarray(X)
    except ValueError:  # lists of different lengths
        return np.asarray(X, dtype=object)


def _are_ids(ids: NDArray, n: int) -> NDArray[np.bool_]:
    """Return which of some values are whole numbers from 0 to n − 1."""
    if ids.dtype.kind in "iuf":
        return (ids >= 0) & (ids < n) & (np.floor(ids) == ids)
    if ids.dtype.kind != "O":
        return np.zeros(len(ids), dtype=bool)
    whole = [isinstance(i, Integral) and not isinstance(i, bool) for i in ids]
    return np.array([ok and 0 <= int(i) < n for i, ok in zip(ids, whole, strict=True)])
