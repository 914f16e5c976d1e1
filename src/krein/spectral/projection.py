"""The exact projection onto the feasible duals of a support vector machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def project(alpha: NDArray, y: NDArray, C: float) -> NDArray[np.floating]:
    """Return the point of ``{0 ≤ α ≤ C, yᵀα = 0}`` nearest to `alpha`.

    The projection is ``clip(α − μ y, 0, C)`` with the multiplier μ at which ``yᵀα = 0``. This sum
    is piecewise linear in μ and does not increase, so its root lies between two of the 2n
    breakpoints: bisection finds the two, and interpolation the root. The alternating projection of
    the Not-So-Random Features paper (Algorithm 3) reaches a feasible point that is in general not
    the nearest one; `krein.published.alternating_projection` keeps it.

    Parameters
    ----------
    alpha : ndarray of shape (n,)
        Any point.
    y : ndarray of shape (n,)
        Labels, each +1 or −1.
    C : float
        The upper bound.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.projection import project
    >>> project(np.array([0.5, 0.5, 0.5]), np.array([1.0, 1.0, -1.0]), C=1.0).round(3)
    array([0.333, 0.333, 0.667])
    """

    def excess(multiplier: float) -> float:
        return float(y @ np.clip(alpha - multiplier * y, 0, C))

    # α_i − μ y_i is 0 at μ = y_i α_i, and C at μ = y_i (α_i − C).
    breaks = np.sort(np.concatenate([y * alpha, y * (alpha - C)]))
    low, high = 0, len(breaks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(breaks[middle]) > 0 else (low, middle)
    above, below = excess(breaks[low]), excess(breaks[high])
    share = above / (above - below) if above > below else 0.0
    multiplier = breaks[low] + share * (breaks[high] - breaks[low])
    return np.clip(alpha - multiplier * y, 0, C)
