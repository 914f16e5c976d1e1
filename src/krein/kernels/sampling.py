"""A random sample of the objects of a data set, and the kernel values between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._hashing import Draws, Salt, hash_pairs, hash_rows
from ..rows import take
from .base import Kernel
from .errors import placed
from .values import check_values

# Medians are taken over the pairs of at most this many objects, 4950 pairs.
SAMPLED = 100
# The key of the draw is fixed, so that equal data have equal samples.
KEY = 0


def sample_by_content(kernel: Kernel, X: Any) -> NDArray[np.intp]:
    """Return the places of up to `SAMPLED` distinct objects of X, drawn by their content.

    The order of the rows changes neither the drawn objects nor their order in the result. An
    object that occurs more often in X is more likely to be drawn. Equal rows of a matrix of pairs
    can be different objects, so all rows of a matrix of pairs count as distinct.
    """
    if kernel.is_pairwise:
        return Draws(hash_pairs(X), KEY, merge=False).first(SAMPLED, Salt.UNITS)
    return Draws(hash_rows(X), KEY).first(SAMPLED, Salt.UNITS)


def objects_at(kernel: Kernel, X: Any, places: NDArray) -> Any:
    """Return the objects at the given places; for a matrix of pairs, their rows and columns."""
    if kernel.is_pairwise:
        return X[np.ix_(places, places)]
    return take(X, places)


def distinct_pairs(kernel: Kernel, X: Any, places: NDArray) -> NDArray[np.floating]:
    """Return k for all pairs of the objects at `places`.

    A symmetric kernel is evaluated once per pair, and not at all on the diagonal, which is NaN.
    """
    objects = objects_at(kernel, X, places)
    n = len(places)
    if kernel.is_pairwise or not kernel.is_symmetric:
        return np.array(_evaluated(kernel, objects, None, places, places), dtype=float)
    values = np.full((n, n), np.nan)
    for i in range(n - 1):
        row = _evaluated(kernel, objects[i : i + 1], objects[i + 1 :], places[i:], places[i + 1 :])
        values[i, i + 1 :] = values[i + 1 :, i] = row[0]
    return values


def _evaluated(kernel: Kernel, X: Any, Y: Any, rows: NDArray, columns: NDArray) -> NDArray:
    """Return k(X, Y), or raise an error with the places of a bad pair in the whole data."""
    with placed(rows, columns):
        return check_values(kernel, kernel(X, Y))
