"""Rows that are nearly all copies of a few rows, as in a table with one column of categories.

A row is held out together with its copies. Duplicates then act like weights, and no model is judged
on a row whose copies it has learned from. If nearly all rows are copies, every category is new to
the model that is judged on it, and the strongest penalty wins. A table of measurements that is
repeated as a whole has no categories, so its copies stay together.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._validation import outside_level
from ..streaming import Data, Survey
from ..streaming.folds import Folds
from ..streaming.reservoir import order_of_targets

# Nearly all rows are copies if there are at least FEWEST rows, and COPIES of each distinct row on
# average. Fewer than FEWEST distinct rows never count as repeated measurements.
FEWEST, COPIES = 20, 5


class CopiesWarning(UserWarning):
    """Nearly all rows of X are copies, and copies are held out together."""


def _n_distinct(survey: Survey) -> int | None:
    """Return the number of distinct rows; None for a long stream, whose copies are not known."""
    folds = survey.folds
    return len(folds.dealt[0]) if isinstance(folds, Folds) and folds.dealt is not None else None


def has_copies(survey: Survey) -> bool:
    """Return True if nearly all rows are copies.

    Parameters
    ----------
    survey : Survey
        The survey of the data, with folds by content.
    """
    n_distinct = _n_distinct(survey)
    return n_distinct is not None and survey.n_rows >= max(FEWEST, COPIES * n_distinct)


def repeats_measurements(data: Data) -> bool:
    """Return True if copies have equal targets and a column tells most distinct rows apart.

    Copies of a category have targets of their own, or columns with few values. If copies of other
    rows were divided among the folds, every held-out row would have been learned by heart.

    Parameters
    ----------
    data : Data
        Rows in memory.
    """
    X, hashes = data.memory.X, data.hashes
    targets = order_of_targets(data.memory.y)
    order = np.lexsort((*targets, hashes))
    is_new = np.diff(hashes[order]) != 0
    starts = order[np.append(True, is_new)]
    if sparse.issparse(X) or len(starts) < FEWEST:
        return False
    agree = all((is_new | (key[order][1:] == key[order][:-1])).all() for key in targets)
    return agree and any(2 * len(np.unique(column)) > len(starts) for column in X[starts].T)


def divided(data: Data, n_folds: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return folds that divide the copies of a row, and their classes, as evenly as possible.

    Rows are dealt in the order of their content and target, so their order in the data does not
    matter.

    Parameters
    ----------
    data : Data
        Rows in memory.
    n_folds : int
    """
    order = np.lexsort((*order_of_targets(data.memory.y), data.hashes))
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order)) % n_folds
    return [(np.flatnonzero(places != i), np.flatnonzero(places == i)) for i in range(n_folds)]


def said_of_copies(survey: Survey) -> str:
    """Return a sentence for the report about folds that divide copies."""
    return (
        f"The copies of a row are divided among the folds, because only {_n_distinct(survey)} of "
        f"{survey.n_rows} rows are distinct."
    )


def warn_of_copies(owner: str, survey: Survey) -> None:
    """Warn that held-out rows say little about new rows, because new rows will be copies.

    Parameters
    ----------
    owner : str
        The name of the learner.
    survey : Survey
        The survey of the data, with folds by content.
    """
    warnings.warn(
        f"Only {_n_distinct(survey)} of {survey.n_rows} rows of X are distinct. {owner} with a "
        "number of folds, or on a stream, holds out a row together with its copies, so everything "
        "is chosen for rows that differ from all training rows. If new rows will be copies of "
        "training rows, e.g. because all columns are categories, pass cv='auto' and rows in "
        "memory, or cv=sklearn.model_selection.KFold(5, shuffle=True).",
        CopiesWarning,
        stacklevel=outside_level(),
    )
