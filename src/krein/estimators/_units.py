"""A warning about columns in very different units, which mislead a kernel of distances."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._validation import outside_level

# A column is too large if it has this share of the variance of all columns, and this many times the
# standard deviation of a typical other column.
SHARE, TIMES = 0.99, 30.0
# Number of rows that show the units; the rows of a sample are in random order.
ENOUGH = 10_000


class UnscaledWarning(UserWarning):
    """One column of X is so large that a kernel hardly sees the others."""


def warn_of_units(owner: str, X: Any, names: Any = None) -> None:
    """Warn if the variance of one column hides all other columns.

    Parameters
    ----------
    owner : str
        The name of the learner.
    X : ndarray of shape (n, d)
        A sample of the rows. Data of other types have no columns, and there is no warning for them.
    names : sequence of str of length d or None
        The names of the columns.
    """
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f" or len(X) < 3:
        return
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite spread says enough
        spread = X[:ENOUGH].std(axis=0, dtype=np.float64)
    column = int(np.argmax(spread))
    others = np.delete(spread, column)
    others = others[others > 0]
    if not len(others) or not spread[column] > TIMES * np.median(others):
        return
    if np.sum(np.square(others / spread[column])) > 1 / SHARE - 1:
        return
    name = column if names is None else repr(str(names[column]))
    warnings.warn(
        f"Column {name} of X has a standard deviation of {spread[column]:.3g}, the other columns "
        f"have {np.median(others):.3g} (median), so the kernel of {owner} hardly sees the other "
        "columns. Scale the columns first: make_pipeline(sklearn.preprocessing.StandardScaler(), "
        f"{owner}(...)).",
        UnscaledWarning,
        stacklevel=outside_level(),
    )
