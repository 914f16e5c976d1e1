"""What a learner minimises on the rows.

A loss of classes is a function of the margin m = y f(x) with y = ±1. It is a frozen object with a
value and half of its first and second derivatives: the Newton solver needs no more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]

# The width of a corner within which all rows lie at w = 0.
WIDEST = 2.0


class SquaredError:
    """``(y − f)²``: the whole problem is in the moments of the rows.

    Examples
    --------
    >>> from krein.learning import Cholesky, Split, SquaredError, solver_for
    >>> solver_for(SquaredError, Split) is Cholesky
    True
    """


class MarginLoss:
    """Base class of the losses of the margin, which are convex and piecewise quadratic.

    Examples
    --------
    >>> from krein.learning import Hinge, MarginLoss, SquaredHinge
    >>> issubclass(Hinge, MarginLoss), issubclass(SquaredHinge, MarginLoss)
    (True, True)
    """

    def value(self, margin: Array) -> Array:
        """Return the loss of each row, shape (n,)."""
        raise TypeError(f"{type(self).__name__} must define value.")

    def half_slope(self, margin: Array) -> Array:
        """Return half of the derivative by the margin, shape (n,)."""
        raise TypeError(f"{type(self).__name__} must define half_slope.")

    def half_curvature(self, margin: Array) -> Array:
        """Return half of the second derivative by the margin, shape (n,)."""
        raise TypeError(f"{type(self).__name__} must define half_curvature.")

    @property
    def stages(self) -> tuple[MarginLoss, ...]:
        """The losses to minimise one after the other, each from the minimum of the one before."""
        return (self,)


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """``max(0, 1 − m)²`` of the margin m = y f.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import SquaredHinge
    >>> SquaredHinge().value(np.array([-1.0, 0.0, 2.0]))
    array([4., 1., 0.])
    """

    def value(self, margin: Array) -> Array:
        return np.square(np.maximum(0, 1 - margin))

    def half_slope(self, margin: Array) -> Array:
        return -np.maximum(0, 1 - margin)

    def half_curvature(self, margin: Array) -> Array:
        return (margin < 1).astype(float)


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """``max(0, 1 − m)`` of the margin m = y f, with a rounded corner of half-width h.

    The loss is 1 − m for m < 1 − h, ``(1 + h − m)² / (4h)`` for |1 − m| ≤ h, and 0 for m > 1 + h.
    It exceeds the hinge by at most h/4, at m = 1.

    Only the rows in the corner have curvature. At w = 0 a narrow corner contains no row, and a
    Newton step would move the intercept alone. The stages therefore begin with a corner that
    contains all rows at w = 0, and each stage about halves it until it is as narrow as wanted.

    Attributes
    ----------
    width : float, default=0.1
        h.

    References
    ----------
    O. Chapelle. Training a Support Vector Machine in the Primal. Neural Computation 2007. §2.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import Hinge
    >>> Hinge(width=0.1).value(np.array([0.0, 1.0, 2.0]))
    array([1.   , 0.025, 0.   ])
    """

    width: float = 0.1

    def value(self, margin: Array) -> Array:
        corner = np.clip(1 + self.width - margin, 0, 2 * self.width)
        return np.square(corner) / (4 * self.width) + np.maximum(0, 1 - self.width - margin)

    def half_slope(self, margin: Array) -> Array:
        return -np.clip((1 + self.width - margin) / (4 * self.width), 0, 0.5)

    def half_curvature(self, margin: Array) -> Array:
        return (np.abs(1 - margin) < self.width) / (4 * self.width)

    @property
    def stages(self) -> tuple[MarginLoss, ...]:
        n = max(0, int(np.ceil(np.log2(WIDEST / self.width))))
        wider = np.geomspace(WIDEST, self.width, n + 1)[:-1].tolist()
        return (*(Hinge(width) for width in wider), self)
