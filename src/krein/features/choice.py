"""The parameter `landmarks`: the name of a rule, a rule, indices, objects or a function."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._validation import outside_level
from ..rows import concatenated, count
from .base import FewRowsWarning
from .landmarks import RULES, LandmarkRule
from .source import Source


class Choice(NamedTuple):
    """The chosen landmarks.

    Attributes
    ----------
    source : Source
        The objects. Landmarks that were passed as objects stand before the training objects.
    indices : ndarray of int
        Indices of the landmarks in the source.
    inside : bool
        True if the landmarks are training objects.
    """

    source: Source
    indices: NDArray[np.intp]
    inside: bool


def choose_landmarks(given: Any, source: Source, wanted: int, key: int) -> Choice:
    """Choose landmarks.

    Parameters
    ----------
    given : str, LandmarkRule, array-like or callable
        The parameter `landmarks` of `Nystrom`.
    source : Source
        The training objects.
    wanted : int
        Number of landmarks.
    key : int
        Seed of the random draws.

    Returns
    -------
    Choice
    """
    if isinstance(given, str):
        given = RULES[given]()
    if isinstance(given, LandmarkRule):
        chosen = given.choose(source, min(wanted, len(source)), source.draws(key))
        return Choice(source, _in_order(chosen, source), True)
    if callable(given):
        given = given(source.X, wanted)
        if not hasattr(given, "__len__") or not getattr(given, "ndim", 1):
            raise TypeError(
                "The function that is passed as landmarks must return indices of rows, or objects, "
                f"got {given!r}."
            )
    if getattr(given, "ndim", 1) == 1 and all(isinstance(i, Integral | np.bool) for i in given):
        return Choice(source, _in_order(_check_indices(given, len(source)), source), True)
    if source.precomputed:
        raise ValueError("landmarks of a precomputed kernel must be indices, got objects.")
    objects = source.kernel._check_data(given, "landmarks")
    widths = [getattr(rows, "shape", (0, 0))[-1] for rows in (objects, source.X)]
    if source.kernel.takes_matrix(objects) and widths[0] != widths[1]:
        raise ValueError(f"landmarks have {widths[0]} columns, but X has {widths[1]}.")
    n = count(objects)
    joined = Source(source.kernel, concatenated([objects, source.X]), source.n_jobs, n_extra=n)
    return Choice(joined, np.arange(n), False)


def _in_order(chosen: NDArray[np.intp], source: Source) -> NDArray[np.intp]:
    """Return the indices, sorted if all objects of a matrix of kernel values are landmarks.

    The values of new objects may have a column for each training object or for each landmark. If
    there are as many of both, the order of the columns must be the same.
    """
    return np.sort(chosen) if source.precomputed and len(chosen) == len(source) else chosen


def _check_indices(given: Any, n: int) -> NDArray[np.intp]:
    if any(isinstance(i, bool | np.bool) for i in given):
        raise ValueError("landmarks is a boolean mask: pass indices instead, np.flatnonzero(mask).")
    indices = np.asarray(given, dtype=np.intp)
    if not len(indices) or indices.min() < 0 or indices.max() >= n:
        raise ValueError(
            f"landmarks given as indices must be at least one of 0 … {n - 1}, got {indices!r}."
        )
    if len(np.unique(indices)) < len(indices):
        raise ValueError("landmarks given as indices must be distinct: an index is repeated.")
    return indices


def warn_of_few_rows(landmarks: Any, n: int, wanted: int) -> None:
    """Warn if there are fewer rows than the landmarks or components that were requested."""
    everything = isinstance(landmarks, str) and landmarks == "all"
    if n < wanted and not everything:
        warnings.warn(
            f"There are {n} rows, fewer than the {wanted} landmarks requested: all rows are "
            "landmarks.",
            FewRowsWarning,
            stacklevel=outside_level(),
        )
