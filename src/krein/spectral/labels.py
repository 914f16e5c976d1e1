"""Classes as labels +1 and −1, or the reason why nothing can be learned from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import column_or_1d

from ..streaming.survey import check_labels

# Largest spread of a column; single precision, in which peaks are searched, has room beyond it.
LARGEST, SMALLEST = 1e30, 1e-30


def class_codes(name: str, n_rows: int, y: Any) -> tuple[NDArray, NDArray[np.intp]]:
    """Return the classes and the class of each row as a number, or raise.

    Parameters
    ----------
    name : str
        Who needs the classes; errors begin with it.
    n_rows : int
        Number of rows.
    y : array-like of shape (n_rows,)
        The class of each row.
    """
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows:
        raise ValueError(f"{name} needs one class for each of the {n_rows} rows, got {len(y)}.")
    assert_all_finite(y, input_name="y")
    check_labels(y)
    found, codes = np.unique(y, return_inverse=True)
    if len(found) < 2:
        raise ValueError(
            f"{name} needs at least 2 classes in y, got 1 class, {str(found[0])!r}: there is "
            "nothing to separate."
        )
    return found, codes


def separable_classes(name: str, X: NDArray, y: Any) -> tuple[NDArray, NDArray[np.intp]]:
    """Return `class_codes`, or raise if no spectrum can be learned from the rows."""
    found, codes = class_codes(name, len(X), y)
    if len(X) < 3:
        raise ValueError(
            f"{name} needs at least 3 rows, got {len(X)}: every wave separates two rows."
        )
    spread = float(np.max(np.max(X, axis=0) / 2 - np.min(X, axis=0) / 2))
    if spread == 0:
        raise ValueError(f"{name} needs rows that differ, but all columns of X are constant.")
    if not SMALLEST < spread < LARGEST:
        raise ValueError(
            f"{name} needs columns with a spread between {SMALLEST:g} and {LARGEST:g}, got "
            f"{2 * spread:.3g}: divide the data by a number of about their size."
        )
    return found, codes


def signs(codes: NDArray) -> NDArray[np.floating]:
    """Return labels +1 and −1: one column for two classes, else one column for each class."""
    if codes.max() == 1:
        return 2.0 * codes[:, None] - 1
    return np.where(codes[:, None] == np.arange(codes.max() + 1), 1.0, -1.0)
