"""Cores of the scalable Kreĭn paper: the one-shot and the squared eigendecomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Core, factorise


def one_shot_core(source: Any, landmarks: NDArray, inner: Core, rank: int, tol: float) -> Core:
    """Decompose the approximate matrix of all rows (scalable Kreĭn paper, §2.2).

    The approximate matrix is ``K̃ = L S Lᵀ`` with ``L = K_XZ U |D|^(−½)``. The small matrix
    ``LᵀL = B Σ² Bᵀ`` is summed over row blocks and gives the singular values Σ of L. From
    ``Σ Bᵀ S B Σ = P Λ Pᵀ`` follow the orthonormal eigenvectors ``L B Σ⁻¹ P`` with eigenvalues Λ.
    The `rank` eigenvalues of largest magnitude are kept.

    Parameters
    ----------
    source : krein.features.source.Source
        The training objects.
    landmarks : ndarray of int
        Indices of the landmarks.
    inner : Core
        The core ``K_ZZ⁻¹`` of full rank.
    rank : int
        Rank of the core.
    tol : float
        Relative cut of singular values and eigenvalues.
    """
    gram = np.zeros((inner.left.shape[1],) * 2)
    for block in source.blocks(landmarks):
        L = block @ inner.left
        gram += L.T @ L
    squares, B = np.linalg.eigh(gram)
    # LᵀL has half the digits of L, so singular values below √eps of the largest are noise.
    keep = squares > max(tol**2, 1e-15) * squares.max(initial=0)
    B, sigma = B[:, keep], np.sqrt(squares[keep])
    M = (B * sigma).T @ (inner.signs[:, None] * (B * sigma))
    P, values, _ = factorise(M, True, rank, tol)
    vectors = inner.left @ (B / sigma) @ P
    scaled = vectors * np.abs(values) ** 0.5
    return Core(scaled, values)


def squared_core(source: Any, landmarks: NDArray, rank: int, tol: float) -> Core:
    """Decompose the approximate matrix through its square (scalable Kreĭn paper, App. B).

    The eigenvectors of the square are eigenvectors of the matrix, unless +λ and −λ are both
    eigenvalues. An eigenvector of the square is then any mixture of two eigenvectors of the matrix,
    and its eigenvalue is wrong.

    Parameters
    ----------
    source : krein.features.source.Source
        The training objects.
    landmarks : ndarray of int
        Indices of the landmarks.
    rank : int
        Rank of the core.
    tol : float
        Relative cut of singular values and eigenvalues.
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
    return Core(scaled, eigenvalues[order])
