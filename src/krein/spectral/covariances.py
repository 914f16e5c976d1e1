"""Covariances of frequencies: full matrices, or their diagonals if there are many columns.

The inference needs a handful of operations on stacks of symmetric matrices. `Full` stores matrices
of shape (..., d, d), `Diagonal` stores their diagonals, of shape (..., d); the same lines of the
inference serve both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# More columns than this have diagonal covariances.
MOST_FULL = 100


class Full:
    """Stacks of symmetric positive definite matrices, shape (..., d, d).

    Parameters
    ----------
    dim : int
        The dimension d.

    Attributes
    ----------
    order, copies : int
        A precision is `copies` independent Wishart matrices of this order: one of order d here, d
        of order 1 for `Diagonal`.
    size : int
        Number of distinct entries of a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.covariances import Full
    >>> algebra = Full(2)
    >>> V = np.array([[[2.0, 1.0], [1.0, 3.0]]])
    >>> algebra.squares(np.array([[1.0, 1.0]])) @ algebra.packed(V).T  # xᵀ V x
    array([[7.]])
    """

    copies = 1

    def __init__(self, dim: int):
        self.dim = self.order = dim
        self._rows, self._columns = np.triu_indices(dim)
        self.size = len(self._rows)
        self._counts = np.where(self._rows == self._columns, 1.0, 2.0)

    def of(self, matrix: NDArray) -> NDArray[np.floating]:
        """Return a dense (d, d) matrix in this form."""
        return matrix

    def diagonal(self, A: NDArray) -> NDArray[np.floating]:
        return np.diagonal(A, axis1=-2, axis2=-1)

    def inverse(self, A: NDArray) -> NDArray[np.floating]:
        inverse = np.linalg.inv(A)
        return (inverse + np.swapaxes(inverse, -1, -2)) / 2

    def logdet(self, A: NDArray) -> NDArray[np.floating]:
        return np.linalg.slogdet(A)[1]

    def apply(self, A: NDArray, x: NDArray) -> NDArray[np.floating]:
        """Return A x."""
        return np.einsum("...ij,...j->...i", A, x)

    def trace(self, A: NDArray, B: NDArray) -> NDArray[np.floating]:
        """Return tr(A B)."""
        return np.einsum("...ij,...ij->...", A, B)

    def outer(self, x: NDArray) -> NDArray[np.floating]:
        """Return x xᵀ."""
        return x[..., :, None] * x[..., None, :]

    def mix(self, weights: NDArray, A: NDArray) -> NDArray[np.floating]:
        """Return ``Σ_k weights[..., k] A[k]``."""
        return np.tensordot(weights, A, axes=1)

    def squares(self, x: NDArray) -> NDArray[np.floating]:
        """Return the distinct products of two entries of each row, shape (n, d (d + 1) / 2)."""
        out, start = np.empty((len(x), self.size), x.dtype), 0
        for i in range(self.dim):  # four times as fast as gathering columns
            stop = start + self.dim - i
            np.multiply(x[:, i : i + 1], x[:, i:], out=out[:, start:stop])
            start = stop
        return out

    def packed(self, A: NDArray) -> NDArray[np.floating]:
        """Return the coefficients c with ``squares(x) · c = xᵀ A x``."""
        return A[..., self._rows, self._columns] * self._counts

    def unpacked(self, sums: NDArray) -> NDArray[np.floating]:
        """Return ``Σ_i c_i x_i x_iᵀ`` of the sums ``Σ_i c_i squares(x_i)``."""
        out = np.empty((*sums.shape[:-1], self.dim, self.dim))
        out[..., self._rows, self._columns] = sums
        out[..., self._columns, self._rows] = sums
        return out


class Diagonal:
    """The same for diagonals, shape (..., d). See `Full`.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.covariances import Diagonal
    >>> Diagonal(2).trace(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    np.float64(11.0)
    """

    order = 1

    def __init__(self, dim: int):
        self.dim = self.copies = self.size = dim

    def of(self, matrix: NDArray) -> NDArray[np.floating]:
        return np.diagonal(matrix).copy()

    def diagonal(self, A: NDArray) -> NDArray[np.floating]:
        return A

    def inverse(self, A: NDArray) -> NDArray[np.floating]:
        return 1 / A

    def logdet(self, A: NDArray) -> NDArray[np.floating]:
        return np.log(A).sum(axis=-1)

    def apply(self, A: NDArray, x: NDArray) -> NDArray[np.floating]:
        return A * x

    def trace(self, A: NDArray, B: NDArray) -> NDArray[np.floating]:
        return (A * B).sum(axis=-1)

    def outer(self, x: NDArray) -> NDArray[np.floating]:
        return x**2

    def mix(self, weights: NDArray, A: NDArray) -> NDArray[np.floating]:
        return weights @ A

    def squares(self, x: NDArray) -> NDArray[np.floating]:
        return x**2

    def packed(self, A: NDArray) -> NDArray[np.floating]:
        return A

    def unpacked(self, sums: NDArray) -> NDArray[np.floating]:
        return sums


Covariances = Full | Diagonal


def covariances_of(dim: int) -> Covariances:
    """Return full matrices for up to 100 columns, and diagonals for more."""
    return Full(dim) if dim <= MOST_FULL else Diagonal(dim)
