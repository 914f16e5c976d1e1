"""Some objects of a data set, drawn by their content, and the values between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._hashing import Draws, hash_pairs, hash_rows
from .base import Kernel, _len, _take
from .errors import BadPairError
from .values import check_values

# The key and the salt of the draw: always the same, so that equal data have equal samples.
KEY, SALT = 0, 0x5A3E


def sample_by_content(kernel: Kernel, X: Any, n: int) -> NDArray[np.intp]:
    """Places of at most n distinct objects of X; duplicates raise the chance of their object.

    The order of the rows changes neither the objects nor the order in which they are returned.
    Equal rows of a matrix of pairs need not be the same object, so they are not merged.
    """
    if kernel.is_pairwise:
        return Draws(hash_pairs(X), KEY, merge=False).first(n, SALT)
    return Draws(hash_rows(X), KEY).first(n, SALT)


def take(kernel: Kernel, X: Any, places: NDArray) -> Any:
    """The objects at some places; of a matrix of pairs their rows and columns."""
    if kernel.is_pairwise:
        return X[np.ix_(places, places)]
    return _take(X, places)


def distinct_pairs(kernel: Kernel, X: Any, places: NDArray) -> NDArray[np.floating]:
    """k of all pairs of different objects among some, each evaluated once, and NaN for i = i."""
    objects = take(kernel, X, places)
    n = len(places)
    if kernel.is_pairwise or not kernel.is_symmetric:
        values = np.array(_evaluated(kernel, objects, None, places, places), dtype=float)
        np.fill_diagonal(values, np.nan)
        return values
    values = np.full((n, n), np.nan)
    for i in range(n - 1):
        row = _evaluated(kernel, objects[i : i + 1], objects[i + 1 :], places[i:], places[i + 1 :])
        values[i, i + 1 :] = values[i + 1 :, i] = row[0]
    return values


def _evaluated(kernel: Kernel, X: Any, Y: Any, rows: NDArray, columns: NDArray) -> NDArray:
    """A block of values; a bad pair is named by its places in the whole."""
    try:
        return check_values(kernel, kernel(X, Y), range(_len(X)), range(len(columns)))
    except BadPairError as bad:
        raise bad.among(rows, columns) from None
