"""Columns and targets in memory: errors that name a text, a date or a gap where numbers belong."""

from __future__ import annotations

import datetime
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._validation import name_of


def check_targets(owner: object, y: Any, classifies: bool) -> None:
    """Raise if y is a name, or holds gaps, lists of labels or, for a regression, text or dates."""
    if isinstance(y, str):
        raise ValueError(
            f"{name_of(owner)} needs one target per row, got y={y!r}, which names a column of a "
            f"file only: pass the column itself, e.g. table[{y!r}]."
        )
    try:
        values = np.zeros(0) if sparse.issparse(y) else np.asarray(y)
    except ValueError:  # rows of different lengths are no array
        raise ValueError(
            f"{name_of(owner)} needs one target or one row of targets of equal length per row of "
            "X, but the entries of y have different lengths: for several labels per row, use "
            "sklearn.preprocessing.MultiLabelBinarizer."
        ) from None
    if not classifies and len(odd := _not_numbers(values.ravel())):
        raise ValueError(
            f"{name_of(owner)} learns numbers, but y has {str(odd[0])!r}: labels are for the "
            "classifiers, e.g. krein.KreinClassifier."
        )
    if values.dtype == object and len(gaps := missing(values.ravel())):
        row = gaps[0] // max(1, values[0:1].size)
        raise ValueError(f"{name_of(owner)}: y is missing in row {row}: leave such rows out.")


def check_numeric_columns(owner: object, X: Any) -> None:
    """Raise if X holds text, dates, missing values or ragged rows; the error names the place."""
    if isinstance(X, dict) and not sparse.issparse(X):
        raise ValueError(f"{name_of(owner)} needs a table, got a dict: pass pandas.DataFrame(X).")
    if type(X).__name__ == "LazyFrame":  # of polars, which need not be installed
        raise ValueError(
            f"{name_of(owner)} needs a table in memory, got a LazyFrame: pass X.collect()."
        )
    if hasattr(X, "columns") and hasattr(X, "__array__"):
        if not len(X.columns):
            raise ValueError(f"{name_of(owner)} needs numbers, but X is a table with 0 columns.")
        known = getattr(owner, "feature_names_in_", None)
        # If the columns have other names than in `fit`, scikit-learn's error about names comes
        # first.
        renamed = known is not None and list(known) != list(X.columns)
        for name in X.columns:
            _check_column(owner, name, np.ravel(np.asarray(X[name])), gaps_too=not renamed)
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUT":
        for place, column in enumerate(X.T):
            _check_column(owner, place, column)
    elif isinstance(X, list | np.ndarray) and len(X):
        _check_rows(owner, X)


def _check_column(owner: object, name: Any, values: NDArray, gaps_too: bool = True) -> None:
    if len(odd := _not_numbers(values)):
        raise ValueError(
            f"{name_of(owner)} needs numbers, but column {name!r} of X holds {str(odd[0])!r}: "
            f"{_encoding(odd[0])}, or leave it out."
        )
    if gaps_too and len(gaps := missing(values)):
        raise ValueError(
            f"{name_of(owner)} needs a number in every cell, but column {name!r} of X is missing "
            f"(NaN) in row {gaps[0]}: fill the column, e.g. with sklearn.impute.SimpleImputer, or "
            "leave it out."
        )


def _check_rows(owner: object, X: Any) -> None:
    """Raise if X holds strings or rows of different lengths, which need another kernel."""
    if isinstance(X[0], str):
        raise ValueError(
            f"{name_of(owner)} needs rows of numbers, but row 0 of X is {str(X[0][:60])!r}: choose "
            "a kernel of strings, e.g. krein.kernels.EditDistance()."
        )
    if isinstance(X, np.ndarray) and X.dtype != object:
        return
    lengths = [len(row) if hasattr(row, "__len__") else 0 for row in X]
    if len(set(lengths)) > 1:
        odd = next(place for place, length in enumerate(lengths) if length != lengths[0])
        raise ValueError(
            f"{name_of(owner)} needs rows of one length, but row 0 of X has {lengths[0]} entries "
            f"and row {odd} has {lengths[odd]}: choose a kernel of series or sets, e.g. "
            "krein.kernels.DynamicTimeWarping()."
        )


def _not_numbers(values: NDArray) -> Any:
    """Return the values of a column that are text, dates or other objects."""
    if values.dtype.kind in "OUST":
        # Gaps have an error of their own, and so have dicts in scikit-learn.
        numeric = Number, np.bool_, np.number, type(None), dict
        return [
            value
            for value in values
            if not (_is_decimal(value) if isinstance(value, str) else isinstance(value, numeric))
            and type(value).__name__ != "NAType"  # of pandas, which need not be installed
        ]
    return values[:1] if values.dtype.kind in "mM" else []


def _encoding(value: Any) -> str:
    """Return how to make numbers of a column that holds this value."""
    if isinstance(value, datetime.date | np.datetime64):
        return "turn the dates into numbers, e.g. into days since the first date"
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return "turn the durations into numbers, e.g. into days"
    return "encode the column, e.g. with sklearn.preprocessing.OneHotEncoder"


def missing(values: NDArray) -> NDArray[np.intp]:
    """Return the places of a vector that hold NaN, NaT, None or the missing value of pandas."""
    if values.dtype.kind == "f":
        return np.flatnonzero(np.isnan(values))
    if values.dtype.kind != "O":
        return np.array([], dtype=np.intp)
    return np.flatnonzero([_is_gap(value) for value in values])


def _is_gap(value: Any) -> bool:
    if value is None or type(value).__name__ == "NAType":
        return True
    # NaN and NaT differ from themselves. Two arrays are compared entry by entry.
    return not hasattr(value, "__len__") and value != value


def _is_decimal(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
