"""What a learner minimises on the rows.

A loss of classes is a function of the margin m = y f(x) with y = ±1. It has a value and half of its
first and second derivatives: the Newton solver needs no more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


class SquaredError:
    """``(y − f)²``: the whole problem is in the moments of the rows."""


class SquaredHinge:
    """``max(0, 1 − m)²`` of the margin m = y f."""

    @staticmethod
    def value(margin: Array) -> Array:
        return np.square(np.maximum(0, 1 - margin))

    @staticmethod
    def half_slope(margin: Array) -> Array:
        return -np.maximum(0, 1 - margin)

    @staticmethod
    def half_curvature(margin: Array) -> Array:
        return (margin < 1).astype(float)
