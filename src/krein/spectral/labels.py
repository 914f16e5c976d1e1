"""Classes as labels +1 and −1, or the reason why nothing can be learned from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d


def classes(owner: object, X: NDArray, y: Any) -> tuple[NDArray, NDArray[np.intp]]:
    """Return the classes and the class of each row as a number, or raise.

    Parameters
    ----------
    owner : object
        The map; errors name its class.
    X : ndarray of shape (n, d)
        The rows.
    y : array-like of shape (n,)
        The class of each row.
    """
    name = type(owner).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    check_classification_targets(y)
    found, codes = np.unique(y, return_inverse=True)
    if len(found) < 2:
        raise ValueError(
            f"{name} needs at least 2 classes in y, got 1 class, {str(found[0])!r}: there is "
            "nothing to separate."
        )
    if len(X) < 3:
        raise ValueError(
            f"{name} needs at least 3 rows, got {len(X)}: every wave separates two rows."
        )
    if not np.ptp(X, axis=0).any():
        raise ValueError(f"{name} needs rows that differ, but all columns of X are constant.")
    return found, codes


def signs(codes: NDArray) -> NDArray[np.floating]:
    """Return labels +1 and −1: one column for two classes, else one column for each class."""
    if codes.max() == 1:
        return 2.0 * codes[:, None] - 1
    return np.where(codes[:, None] == np.arange(codes.max() + 1), 1.0, -1.0)
