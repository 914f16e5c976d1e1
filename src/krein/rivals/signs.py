"""Products of random projections, the columns of random Maclaurin features and their kin.

With independent vectors ω of random signs, ``E ⟨ω, x⟩⟨ω, y⟩ = ⟨x, y⟩``, so the product of m such
projections has the expected value ⟨x, y⟩^m.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from .._blocks import row_blocks

Signs = list[NDArray[np.int8]]


def draw_signs(degrees: NDArray[np.intp], dim: int, rng: np.random.Generator) -> Signs:
    """Draw the signs of columns that are products of `degrees` projections, in descending order.

    Returns
    -------
    list of ndarray of int8
        Entry k has shape (n_k, dim), where n_k is the number of columns with a degree above k.
        These columns come first.
    """
    counts = [int(np.sum(degrees > k)) for k in range(int(degrees.max(initial=0)))]
    return [rng.choice(np.array([-1, 1], dtype=np.int8), size=(n, dim)) for n in counts]


def sign_products(X: Any, signs: Signs, scales: NDArray, shift: float = 0.0) -> NDArray:
    """Return the columns ``scale · ∏_k (⟨ω_k, x⟩ + shift · sign)``.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        The rows.
    signs : list of ndarray of int8
        What `draw_signs` returns, for d columns, or for d + 1 columns if `shift` is not 0.
    scales : ndarray of shape (width,)
        The factors of the columns.
    shift : float, default=0
        The entry that every row has in one more column.

    Returns
    -------
    ndarray of shape (n, width)
        In the dtype of X.
    """
    out = np.empty((X.shape[0], len(scales)), dtype=X.dtype)
    factors = [part.astype(X.dtype) for part in signs]
    for rows in row_blocks(X.shape[0], out.shape[1] * out.itemsize):
        out[rows] = scales
        for part in factors:
            projected = safe_sparse_dot(X[rows], part[:, : X.shape[1]].T, dense_output=True)
            if shift:
                projected += X.dtype.type(shift) * part[:, -1]
            out[rows, : len(part)] *= projected
    return out
