"""The core of a Nyström map: the matrices between k(x, Z) and k(Z, y).

A core of rank r is a pair of matrices (A, B) with ``k(x, y) ≈ (k(x, Z) A) · (k(Z, y)ᵀ B)``. For a
symmetric kernel ``B = A S`` with the signs S. `factorise` builds all cores, from an
eigendecomposition if the kernel is symmetric and from an SVD if it is not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ._threads import blas_threads_for

# Maps with fewer columns than this are not made triangular, because a full product is as fast.
NARROW = 64


@dataclass(frozen=True)
class Core:
    """The two maps of a core and its eigenvalues.

    Attributes
    ----------
    left : ndarray of shape (n_landmarks, rank)
        The features are ``Z(x) = k(x, Z) left``.
    values : ndarray of shape (rank,)
        Signed eigenvalues (or singular values) on the sample, largest magnitude first.
    second : ndarray of shape (n_landmarks, rank) or None
        The map of the second argument if the kernel is not symmetric. None for a symmetric kernel,
        whose second map is ``left S``.
    own : ndarray of shape (n_landmarks,) or None
        Values that the maps expect in place of k(z, z) for the landmarks z; None if the maps expect
        k(z, z) itself.
    """

    left: NDArray[np.floating]
    values: NDArray[np.floating]
    second: NDArray[np.floating] | None = None
    own: NDArray[np.floating] | None = None

    @property
    def right(self) -> NDArray[np.floating]:
        """The dual features are ``k(Z, y)ᵀ right``."""
        return self.left * self.signs if self.second is None else self.second

    @property
    def signs(self) -> NDArray[np.floating]:
        return np.where(self.values < 0, -1.0, 1.0)

    def of_values_times(self, unit: float) -> Core:
        """Return the core of the kernel itself if this is the core of `unit` times the kernel."""
        if unit == 1:
            return self
        root = np.sqrt(unit)
        own = None if self.own is None else self.own / unit
        second = None if self.second is None else self.second * root
        with np.errstate(over="ignore"):  # an eigenvalue may exceed the largest float
            return Core(self.left * root, self.values / unit, second, own)

    def triangular(self, n_rows: int) -> Core:
        """Return the core with triangular maps if it is positive definite and of full rank.

        With ``left = T O``, T lower triangular and O orthogonal, the features ``k(x, Z) T`` have
        the same products at half the cost. Every other core is returned as it is. The core of a
        kernel that is not symmetric has two different maps, although its singular values are
        positive. If there are no more rows than landmarks, the rotation costs more than it saves.
        """
        m, rank = self.left.shape
        definite = self.second is None and not (self.values < 0).any()
        if rank < max(m, NARROW) or not definite or n_rows <= m:
            return self
        return replace(self, left=np.asarray(np.linalg.qr(self.left.T, mode="r")).T)


def factorise(
    M: NDArray, symmetric: bool, rank: int, tol: float
) -> tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.floating]]:
    """Factorise ``M ≈ U diag(values) Vᵀ`` with the `rank` largest magnitudes.

    Values below `tol` times the largest magnitude are dropped: a value of nearly zero has no
    reliable sign, and dividing by it makes the published Nyström method explode on indefinite
    kernels. If M is symmetric, the values carry the signs and U = V.

    Parameters
    ----------
    M : ndarray of shape (m, m)
        The matrix.
    symmetric : bool
        True for an eigendecomposition, False for an SVD.
    rank : int
        Largest number of values to keep.
    tol : float
        Relative cut.

    Returns
    -------
    U : ndarray of shape (m, r)
        Left vectors.
    values : ndarray of shape (r,)
        Eigenvalues or singular values, largest magnitude first.
    V : ndarray of shape (m, r)
        Right vectors.
    """
    if not np.isfinite(M).all():  # LAPACK's SVD would not return
        raise ValueError(
            "Products of the kernel's values overflow: multiply the kernel by a small number, e.g. "
            "1e-100 * kernel."
        )
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


def eigh_of_features(
    Z: NDArray, signs: NDArray, tol: float
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return the eigenvalues and orthonormal eigenvectors of ``Z diag(signs) Zᵀ``."""
    Q, R = np.linalg.qr(Z)
    P, values, _ = factorise((R * signs) @ R.T, True, len(R), tol)
    return values, Q @ P
