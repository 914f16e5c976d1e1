"""A warning about rows that are nearly all copies of a few rows."""

from __future__ import annotations

import warnings

from .._validation import outside_level
from ..streaming import Survey
from ..streaming.folds import Folds

# There is a warning from this many rows on, if there are this many copies of a row on average.
FEWEST, COPIES = 20, 5


class CopiesWarning(UserWarning):
    """Nearly all rows of X are copies, and copies are held out together."""


def warn_of_copies(owner: str, survey: Survey) -> None:
    """Warn if held-out rows say little about new rows, because new rows will be copies.

    A row is held out together with its copies. Of a table with one column of categories, every
    category is then new to the model that is judged on it, and the strongest penalty wins.

    Parameters
    ----------
    owner : str
        The name of the learner.
    survey : Survey
        The survey of the data, with folds by content. Nothing is known about the copies in a long
        stream, and there is no warning for it.
    """
    folds, n_rows = survey.folds, survey.n_rows
    if not isinstance(folds, Folds) or folds.dealt is None or n_rows < FEWEST:
        return
    n_distinct = len(folds.dealt[0])
    if n_rows < COPIES * n_distinct:
        return
    warnings.warn(
        f"Only {n_distinct} of {n_rows} rows of X are distinct. {owner} holds out a row together "
        "with its copies, so everything is chosen for rows that differ from all training rows. If "
        "new rows will be copies of training rows, e.g. because all columns are categories, pass "
        "cv=sklearn.model_selection.KFold(5, shuffle=True), or StratifiedKFold for classes.",
        CopiesWarning,
        stacklevel=outside_level(),
    )
