"""The core of a Nyström map: what stands between k(x, Z) and k(Z, y).

A core of rank r is a pair of matrices (A, B) with ``k(x, y) ≈ (k(x, Z) A) · (k(Z, y)ᵀ B)`` and, for
a symmetric kernel, ``B = A S`` with S the signs. All cores are built by `factorise`, from an
eigendecomposition for symmetric kernels and an SVD for others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dtrcon

from .._threads import blas_threads_for
from .source import Source

# Columns of a triangular map that are computed at a time.
STRIP = 64
# With a worse condition number than this the square of C has lost what matters.
SQUARE_RESOLUTION = 1e-4
# A triangle with a worse condition number has no digits to spare.
RESOLUTION = 1e-10
# Singular values of k(S, Z) below this share of the last one that the rank needs are dropped.
SPARE = 0.1


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


def strips(matrix: NDArray) -> list[tuple[slice, slice]]:
    """Column strips of a map with the rows that they need: few for the last of a lower triangle."""
    m, rank = matrix.shape
    if m != rank or np.any(np.triu(matrix, 1)):
        return [(slice(0, rank), slice(0, m))]
    return [(slice(a, min(a + STRIP, rank)), slice(a, m)) for a in range(0, rank, STRIP)]


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


def direct_core(source: Source, landmarks: NDArray, rank: int, tol: float) -> Core:
    """``K_ZZ⁻¹``, cut to `rank` (scalable Kreĭn paper, eq. 3; the cut is ours).

    ``k(x, Z) K_ZZ⁻¹ k(Z, y)`` with ``K_ZZ = U D Vᵀ`` is ``(k(x, Z) V |D|^(−½)) · (…)``.
    """
    K = source.values(landmarks, landmarks)
    U, values, V = factorise(K, source.is_symmetric, rank, tol)
    scale = np.abs(values) ** -0.5
    signs = np.where(values < 0, -1.0, 1.0)
    return Core(V * scale, U * (scale * signs), values)


def sketched_core(
    source: Source, landmarks: NDArray, sample: NDArray, rank: int, tol: float
) -> Core:
    """The core that is right on a second sample S ⊇ Z, by least squares.

    ``X = C⁺ k(S, S) (Rᵀ)⁺`` with C = k(S, Z), R = k(Z, S)ᵀ minimises ``‖k(S, S) − C X Rᵀ‖``. With
    thin SVDs ``C = Q₁ Σ₁ V₁ᵀ`` and ``R = Q₂ Σ₂ V₂ᵀ`` the small matrix ``Q₁ᵀ k(S, S) Q₂`` is cut to
    the rank wanted. For a positive definite kernel this hardly differs from K_ZZ⁻¹; for an
    indefinite one K_ZZ may be nearly singular where K is not, and this core does not care.

    Directions of C that are far below those that the rank needs hold little of k(S, S), but the
    map divides by their singular values, and a new row that has a larger share of them than S
    explodes. They are dropped: see `_range`.

    Parameters
    ----------
    source : Source
    landmarks : ndarray of int
    sample : ndarray of int
        Its first rows are the landmarks.
    rank : int
    tol : float
        Relative cut of singular values.
    """
    m = len(landmarks)
    K = source.values(sample, sample)
    Q1, inverse1 = _range(K[:, :m], rank, tol)
    Q2, inverse2 = (Q1, inverse1) if source.is_symmetric else _range(K[:m].T, rank, tol)
    inner = Q1.T @ K @ Q2
    whole = source.is_symmetric and rank == m == len(inner)
    if whole and (root := _positive_root(inner, tol)) is not None:
        left = inverse1 @ root[0]
        return Core(left, left, root[1])
    U, values, V = factorise(inner, source.is_symmetric, rank, tol)
    scale = np.abs(values) ** 0.5
    left = inverse1 @ U * scale
    if source.is_symmetric:
        return Core(left, left * np.where(values < 0, -1.0, 1.0), values)
    return Core(left, inverse2 @ V * scale, values)


def _positive_root(
    M: NDArray, tol: float
) -> tuple[NDArray[np.floating], NDArray[np.floating]] | None:
    """``M = L Lᵀ`` and the eigenvalues, if M is safely positive definite: vectors cost more."""
    with blas_threads_for(M):
        L, failed = dpotrf((M + M.T) / 2, lower=1, clean=1)
        if failed:
            return None
        values = np.linalg.eigvalsh(M)[::-1]
    return (L, values) if values[-1] > max(tol, RESOLUTION) * values[0] else None


def _range(C: NDArray, rank: int, tol: float) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Orthonormal Q and B with ``C B = Q``: the range of C, small singular values dropped.

    Singular values are kept above ``max(tol · σ₁, SPARE · σ_rank)``. With as many components as
    landmarks there are no directions to spare, and only `tol` cuts.
    """
    m = C.shape[1]
    spare = rank < m
    with blas_threads_for(C[:m]):
        if not spare and (found := _well_conditioned(C, tol)) is not None:
            return found
        Q, R = np.linalg.qr(C)
        U, singular, Vt = np.linalg.svd(R)
    least = tol * singular.max(initial=0)
    if spare:
        least = max(least, SPARE * singular[rank - 1])
    keep = singular > least
    return Q @ U[:, keep], Vt[keep].T / singular[keep]


def _well_conditioned(
    C: NDArray, tol: float
) -> tuple[NDArray[np.floating], NDArray[np.floating]] | None:
    """The same from ``C = Q R``, which is enough where no singular value is small; else None."""
    if len(C) >= 2 * C.shape[1] and (found := _by_cholesky(C)) is not None:
        return found
    Q, R = np.linalg.qr(C)
    if not len(R) or dtrcon(R, norm="1", uplo="U")[0] <= len(R) * max(tol, RESOLUTION):
        return None
    return Q, solve_triangular(R, np.eye(len(R)))


def _by_cholesky(C: NDArray) -> tuple[NDArray[np.floating], NDArray[np.floating]] | None:
    """The same from ``CᵀC = RᵀR``, at a third of the cost, or None if C is not good enough.

    Q is orthonormal to 1e-9 or better: enough for a fit on many more rows than landmarks, not for
    the exact reproduction of K when all rows are landmarks.
    """
    R, failed = dpotrf(C.T @ C, clean=1)
    if failed or dtrcon(R, norm="1", uplo="U")[0] < SQUARE_RESOLUTION:
        return None
    inverse = solve_triangular(R, np.eye(len(R)), check_finite=False)
    return C @ inverse, inverse


def one_shot_core(source: Source, landmarks: NDArray, rank: int, tol: float) -> Core:
    """The approximate eigendecomposition of the whole matrix (scalable Kreĭn paper, §2.2).

    ``K̃ = L S Lᵀ`` with ``L = K_XZ U |D|^(−½)``. The singular values of L are those of the small
    matrix ``LᵀL = B Σ² Bᵀ``, summed over row blocks; ``Σ Bᵀ S B Σ = P Λ Pᵀ`` then gives orthonormal
    vectors ``L B Σ⁻¹ P`` with eigenvalues Λ, of which the `rank` largest in magnitude are kept.
    """
    inner = direct_core(source, landmarks, len(landmarks), tol)
    gram = np.zeros((inner.left.shape[1],) * 2)
    for block in source.blocks(landmarks):
        L = block @ inner.left
        gram += L.T @ L
    squares, B = np.linalg.eigh(gram)
    # Squaring halves the digits: singular values below √eps of the largest are noise.
    keep = squares > max(tol**2, 1e-15) * squares.max(initial=0)
    B, sigma = B[:, keep], np.sqrt(squares[keep])
    M = (B * sigma).T @ (inner.signs[:, None] * (B * sigma))
    P, values, _ = factorise(M, True, rank, tol)
    vectors = inner.left @ (B / sigma) @ P
    scaled = vectors * np.abs(values) ** 0.5
    return Core(scaled, scaled * np.where(values < 0, -1.0, 1.0), values)


def squared_core(source: Source, landmarks: NDArray, rank: int, tol: float) -> Core:
    """The older eigendecomposition through K̃² (scalable Kreĭn paper, App. B). A baseline.

    A symmetric matrix and its square share eigenvectors, unless +λ and −λ are both eigenvalues:
    then those of the square are any mixture of the two, and their eigenvalues are wrong.
    """
    if not source.is_symmetric:
        raise ValueError("core='squared' needs a symmetric kernel: use core='sketch'.")
    gram = np.zeros((len(landmarks),) * 2)
    for block in source.blocks(landmarks):
        gram += block.T @ block
    U, values, _ = factorise(source.values(landmarks, landmarks), True, len(landmarks), tol)
    inverse = (U / values) @ U.T
    gamma, V = np.linalg.eigh(inverse @ gram @ inverse)
    half = V * np.sqrt(np.maximum(gamma, 0))
    delta, Q = np.linalg.eigh(half.T @ gram @ half)
    keep = delta > max(tol**2, 1e-15) * delta.max(initial=0)
    vectors = half @ Q[:, keep] / np.sqrt(delta[keep])
    eigenvalues = np.einsum("ij,ij->j", vectors, gram @ inverse @ gram @ vectors)
    order = np.argsort(-np.abs(eigenvalues))[:rank]
    scaled = vectors[:, order] * np.abs(eigenvalues[order]) ** 0.5
    return Core(scaled, scaled * np.sign(eigenvalues[order]), eigenvalues[order])
