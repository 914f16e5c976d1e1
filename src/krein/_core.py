"""The core of a Nyström map: what stands between k(x, Z) and k(Z, y).

A core of rank r is a pair of matrices (A, B) with ``k(x, y) ≈ (k(x, Z) A) · (k(Z, y)ᵀ B)`` and, for
a symmetric kernel, ``B = A S`` with S the signs. All cores are built by `factorise`, from an
eigendecomposition for symmetric kernels and an SVD for others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._threads import blas_threads_for

# Columns of a triangular map that are computed at a time.
STRIP = 64


@dataclass(frozen=True)
class Core:
    """The maps of a core.

    Attributes
    ----------
    left : ndarray of shape (n_landmarks, rank)
        Z(x) = k(x, Z) left.
    right : ndarray of shape (n_landmarks, rank)
        The dual features are k(Z, y)ᵀ right.
    values : ndarray of shape (rank,)
        Signed eigenvalues (or singular values) on the sample, largest magnitude first.
    """

    left: NDArray[np.floating]
    right: NDArray[np.floating]
    values: NDArray[np.floating]

    @property
    def signs(self) -> NDArray[np.floating]:
        return np.where(self.values < 0, -1.0, 1.0)

    def triangular(self) -> Core:
        """The same core with triangular maps, if it is positive definite and of full rank.

        ``left = T O`` with T lower triangular and O orthogonal: ``k(x, Z) T`` has the same
        products, at half the cost. The maps of a kernel that is not symmetric differ, and its
        singular values are positive whatever the kernel: such a core stays as it is.
        """
        m, rank = self.left.shape
        definite = np.array_equal(self.left, self.right)
        if rank < max(m, STRIP) or not definite:
            return self
        T = np.asarray(np.linalg.qr(self.left.T, mode="r")).T
        return Core(T, T, self.values)


def factorise(
    M: NDArray, symmetric: bool, rank: int, tol: float
) -> tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.floating]]:
    """``M ≈ U diag(values) Vᵀ`` with the `rank` largest |values|; those below tol are dropped.

    A value of (nearly) zero has no sign, and dividing by it is what makes the published Nyström
    explode on indefinite kernels. For a symmetric M the values carry the signs and U = V.
    """
    with blas_threads_for(M):
        if symmetric:
            values, U = np.linalg.eigh((M + M.T) / 2)
            V = U
        else:
            U, values, Vt = np.linalg.svd(M)
            V = Vt.T
    order = np.argsort(-np.abs(values), kind="stable")[:rank]
    largest = np.abs(values[order[:1]]).max(initial=0)
    order = order[np.abs(values[order]) > tol * largest]
    return U[:, order], values[order], V[:, order]
