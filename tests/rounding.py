"""Equality of floats that went through different operations, layouts, blocks or threads.

BLAS, NumPy and Numba choose their instructions by the CPU and their order of sums by the layout, so
equal formulas differ in the last places, and by machine. Bit equality is for the very same
operations on the very same arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal


def assert_rounded(mine: Any, other: Any, tol: float = 1e-12) -> None:
    """Equal up to rounding errors, relative to the largest finite entry; shape and type too."""
    mine, other = np.asarray(mine), np.asarray(other)
    assert mine.dtype == other.dtype
    assert mine.shape == other.shape
    scale = np.abs(other[np.isfinite(other)]).max(initial=0)
    assert_allclose(mine, other, rtol=0, atol=tol * scale)


def clear_rows(outputs: Any, tol: float = 1e-8) -> Any:
    """Rows whose label rounding cannot change: |f|, or the two largest of f, are apart."""
    f = np.asarray(outputs)
    top = np.sort(f, axis=1) if f.ndim == 2 else np.abs(f)[:, None]
    gap = top[:, -1] - (top[:, -2] if f.ndim == 2 else 0)
    return gap > tol * np.abs(f).max()


def assert_same_outputs(mine: Any, other: Any, X: Any, tol: float = 1e-8) -> None:
    """Fitted learners with the same outputs up to rounding, and the same labels where clear."""
    verb = "decision_function" if hasattr(other, "decision_function") else "predict"
    f, g = getattr(mine, verb)(X), getattr(other, verb)(X)
    assert_rounded(f, g, tol)
    if hasattr(other, "classes_"):
        clear = clear_rows(g, 2 * tol)
        assert clear.any()
        assert_array_equal(mine.predict(X)[clear], other.predict(X)[clear])
