"""Evidence that something more complicated pays, from rows that were held out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
Codes = NDArray[np.intp]
Found = TypeVar("Found")


def by_halves(
    fit: Callable[[Array, Codes, Array], Found],
    loss: Callable[[Found, Array, Codes], Array],
    outputs: Array,
    codes: Codes,
    weight: Array,
) -> Array:
    """Return the loss of each row (n,), by what is learned from the other half of the rows.

    Parameters
    ----------
    fit : callable
        ``fit(outputs, codes, weight)`` learns from one half of the rows.
    loss : callable
        ``loss(found, outputs, codes)`` returns the losses of the rows of the other half.
    outputs : ndarray of shape (n, q)
    codes : ndarray of int of shape (n,)
        The index of the class of each row.
    weight : ndarray of shape (n,)
    """
    halves = np.arange(len(outputs)) % 2
    losses = np.empty(len(outputs))
    for half in (0, 1):
        train, test = halves != half, halves == half
        found = fit(outputs[train], codes[train], weight[train])
        losses[test] = loss(found, outputs[test], codes[test])
    return losses


def is_clear(gain: Array, weight: Array) -> bool:
    """Return True if the mean of the gains of rows is larger than two of its standard errors."""
    share = weight / weight.sum()
    mean = float(share @ gain)
    return mean > 2 * float(np.sqrt(np.square(share) @ np.square(gain - mean)))
