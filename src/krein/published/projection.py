"""Algorithm 3 of the Not-So-Random Features paper: an alternating projection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def alternating_projection(
    alpha: NDArray, y: NDArray, C: float, n_rounds: int = 10
) -> NDArray[np.floating]:
    """Project in turn onto the box ``0 ≤ α ≤ C`` and onto the hyperplane ``yᵀα = 0``.

    The result approaches a point of both sets, but not the nearest one, and after a finite number
    of rounds it may lie slightly outside the box. `krein.spectral.projection.project` returns the
    nearest point.

    Parameters
    ----------
    alpha : ndarray of shape (n,)
        Any point.
    y : ndarray of shape (n,)
        Labels, each +1 or −1.
    C : float
        The upper bound.
    n_rounds : int, default=10
        Number of rounds; the paper uses 10.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from krein.published import alternating_projection
    >>> alternating_projection(np.array([2.0, 0.0]), np.array([1.0, -1.0]), C=1.0)
    array([0.5, 0.5])
    """
    for _ in range(n_rounds):
        alpha = np.clip(alpha, 0, C)
        alpha = alpha - (y @ alpha) / len(y) * y
    return alpha
