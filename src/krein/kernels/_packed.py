"""The arguments of the loops of the elastic distances: series, the rule of a metric, a diagonal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Packed(NamedTuple):
    """Series of any lengths in one array.

    Parameters
    ----------
    rows : ndarray of shape (2, total)
        The series one after the other, each as a matrix of shape (rows, length + 1) whose first
        column, the point 0, is zero. The second row has the same series backwards in time.
    lengths : ndarray of int of shape (n,)
        Number of points of each series.
    starts : ndarray of int of shape (n,)
        Place where each series starts.
    own : ndarray of shape (n,)
        One number per series: the total cost of its gaps, or its tolerance.
    """

    rows: Array
    lengths: Array
    starts: Array
    own: Array


class Rule(NamedTuple):
    """What the loops need to know about a metric.

    Parameters
    ----------
    step : int
        How a diagonal is computed.
    rows : int
        Number of rows of a packed series.
    channels : int
        Number of rows, the first ones, that are compared point by point.
    price : float
        The parameter of the step: a penalty, cost, steepness or temperature.
    root : bool
        True if the distance is the root of the cost.
    window : float
        Largest shift as a share of the length of the shorter series; 1 means no limit.
    """

    step: int
    rows: int
    channels: int
    price: float
    root: bool
    window: float


class Diagonal(NamedTuple):
    """The cells D[i, k − i] with begin ≤ i < end, and where they and their neighbours stand.

    Parameters
    ----------
    begin, end : uint64
        The range of i.
    now, last, older : uint64
        The rows of this diagonal, of the one before it and of the one before that.
    k : uint64
        Number of the diagonal.
    n, m : uint64
        Number of points of both series.
    """

    begin: np.uint64
    end: np.uint64
    now: np.uint64
    last: np.uint64
    older: np.uint64
    k: np.uint64
    n: np.uint64
    m: np.uint64
