"""The coordinates in which frequencies are inferred: the columns, or principal axes of the rows.

With many columns the covariances of frequencies are diagonal. Columns of wide data are correlated
(neighbouring pixels), and then neither the precision that the values give a frequency nor the
curvature of the objective is nearly diagonal in the columns. Both are diagonal in the principal
axes of the differences of rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .covariances import MOST_FULL, Covariances, Diagonal, covariances_of

# Share of the squared distances that the principal axes hold. On MNIST 261 of 784 axes hold 0.99.
# The error on new rows hardly depends on it between 0.9 and 0.999 (MNIST, usps); on columns of
# independent noise it is 30 % larger with 0.9, and the time of a fit grows with the number of axes.
SHARE = 0.99
# In the principal axes no row is farther from the centre than this many median distances.
REACH = 3.0


class Columns:
    """The columns themselves.

    Parameters
    ----------
    dim : int
        Number of columns d.

    Attributes
    ----------
    directions : None
        See `Principal`.
    covariances : Full or Diagonal
        The form of the covariances of frequencies.
    """

    directions: NDArray[np.floating] | None = None

    def __init__(self, dim: int):
        self.covariances: Covariances = covariances_of(dim)

    def coordinates(self, x: NDArray) -> NDArray[np.floating]:
        """Return the coordinates of the rows of x, shape (n, dim)."""
        return x

    def embedded(self, frequencies: NDArray) -> NDArray[np.floating]:
        """Return frequencies in the columns, shape (m, d), from their coordinates."""
        return frequencies

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.covariances.dim


class Principal(Columns):
    """Orthonormal directions, in which covariances of frequencies are diagonal.

    Parameters
    ----------
    directions : ndarray of shape (dim, d)
        The directions.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.axes import Principal
    >>> axes = Principal(np.array([[0.6, 0.8]]))
    >>> axes.embedded(axes.coordinates(np.array([[3.0, 4.0]])))
    array([[3., 4.]])
    """

    def __init__(self, directions: NDArray):
        self.directions: NDArray[np.floating] = directions
        self.covariances: Covariances = Diagonal(len(directions))

    def coordinates(self, x: NDArray) -> NDArray[np.floating]:
        return x @ self.directions.T

    def embedded(self, frequencies: NDArray) -> NDArray[np.floating]:
        return frequencies @ self.directions


def axes_of(rows: NDArray) -> Columns:
    """Return the columns, or the principal axes of rows with more than 100 columns."""
    wide = rows.shape[1] > MOST_FULL
    return principal_axes(rows) if wide else Columns(rows.shape[1])


def principal_axes(rows: NDArray) -> Principal:
    """Return the principal axes that hold the share `SHARE` of the squared distances.

    Rows far from the others are moved towards the centre first: otherwise a few outliers alone
    would choose the axes.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        At least two distinct rows.
    """
    gaps = rows - np.median(rows, axis=0)
    gaps /= np.abs(gaps).max()  # squares neither overflow nor vanish
    sizes = np.linalg.norm(gaps, axis=1)
    reach = REACH * np.median(sizes[sizes > 0])
    gaps *= (reach / np.maximum(sizes, reach))[:, None]
    gaps -= gaps.mean(axis=0)
    _, sizes, directions = np.linalg.svd(gaps, full_matrices=False)
    shares = np.cumsum(sizes**2) / np.sum(sizes**2)
    directions = directions[: np.searchsorted(shares, SHARE) + 1]
    directions[:, np.ptp(rows, axis=0) == 0] = 0  # rounding errors
    return Principal(directions)
