"""How the core of a Nyström map is fitted; `krein._core` says what a core is."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dtrcon

from .._core import Core, factorise
from .._threads import blas_threads_for
from .._validation import unit_of
from ..published.cores import one_shot_core, squared_core
from .multiplicities import Multiplicities
from .own_values import Sketch, without_diagonal
from .source import Source

# C must have a reciprocal condition number above this for CᵀC to be accurate enough.
SQUARE_RESOLUTION = 1e-4
# A triangular factor must have a reciprocal condition number above this to be inverted.
RESOLUTION = 1e-10
# Singular values of k(S, Z) below this share of σ_rank are dropped.
SPARE = 0.1


def fit_core(
    name: str, source: Source, landmarks: NDArray, sample: NDArray, rank: int, tol: float
) -> Core:
    """Fit the core that the parameter `core` of `Nystrom` names.

    Parameters
    ----------
    name : {"sketch", "truncated", "inverse", "squared"}
        The method. "inverse" with more landmarks than components and "squared" are the published
        methods.
    source : Source
        The training objects.
    landmarks : ndarray of int
        Indices of the landmarks.
    sample : ndarray of int
        Indices of the rows on which "sketch" fits the core; the first ones are the landmarks.
    rank : int
        Rank of the core.
    tol : float
        Eigenvalues and singular values below this share of the largest are dropped.
    """
    if name == "sketch":
        return completed_core(source, landmarks, sample, rank, tol)
    if name == "squared":
        return squared_core(source, landmarks, rank, tol)
    if name == "inverse" and len(landmarks) > rank and source.is_symmetric:
        whole = direct_core(source, landmarks, len(landmarks), tol)
        return one_shot_core(source, landmarks, whole, rank, tol)
    return direct_core(source, landmarks, rank, tol)


def check_not_zero(core: Core, source: Source, n_landmarks: int) -> None:
    """Raise if the kernel is zero on all landmarks."""
    if not len(core.values):
        raise ValueError(
            f"{source.kernel!r} is zero on all {n_landmarks} landmarks (n_samples = "
            f"{len(source)}), so no features exist: choose other landmarks or another kernel."
        )


def direct_core(source: Source, landmarks: NDArray, rank: int, tol: float) -> Core:
    """Return the core ``K_ZZ⁻¹``, cut to `rank` (scalable Kreĭn paper, eq. 3; the cut is ours).

    With ``K_ZZ = U D Vᵀ`` the features are ``k(x, Z) V |D|^(−½)``.
    """
    K, unit = _in_units(source.values(landmarks, landmarks))
    U, values, V = factorise(K, source.is_symmetric, rank, tol)
    scale = np.abs(values) ** -0.5
    second = None if source.is_symmetric else U * scale
    return Core(V * scale, values, second).of_values_times(unit)


def _in_units(K: NDArray) -> tuple[NDArray[np.floating], float]:
    """Return ``unit · K`` and the unit, a power of two that keeps products from overflowing."""
    unit = unit_of(float(np.abs(K).max(initial=0)))
    return (K if unit == 1 else K * unit), unit


def sketched_core(
    source: Source, landmarks: NDArray, sample: NDArray, rank: int, tol: float
) -> Core:
    """Fit the core by least squares on a second sample S of rows, which contains Z.

    A row of S counts as often as it stands for training rows, see `Multiplicities`.

    Parameters
    ----------
    source : Source
        The training objects.
    landmarks : ndarray of int
        Indices of the landmarks Z.
    sample : ndarray of int
        Indices of the sample S; the first ones are the landmarks.
    rank : int
        Rank of the core.
    tol : float
        Relative cut of singular values.
    """
    counts = Multiplicities.of(source, sample)
    K, unit = _in_units(source.values(sample, sample))
    K = counts.weighted(K)
    core = sketch(K, len(landmarks), source.is_symmetric, rank, tol).core
    return counts.unweighted(core.of_values_times(unit))


def completed_core(
    source: Source, landmarks: NDArray, sample: NDArray, rank: int, tol: float
) -> Core:
    """Fit the sketched core, without the diagonal of k(S, S) if the diagonal stands out.

    The parameters are those of `sketched_core`.
    """
    counts = Multiplicities.of(source, sample)
    K, unit = _in_units(source.values(sample, sample))
    fit = partial(sketch, m=len(landmarks), symmetric=source.is_symmetric, rank=rank, tol=tol)
    core = without_diagonal(fit, counts.weighted(K), counts.equal)
    return counts.unweighted(core.of_values_times(unit))


def sketch(K: NDArray, m: int, symmetric: bool, rank: int, tol: float) -> Sketch:
    """Fit the core by least squares to ``K = k(S, S)``; the first m objects of S are landmarks.

    With C = k(S, Z) and R = k(Z, S)ᵀ the core ``X = C⁺ k(S, S) (Rᵀ)⁺`` minimises
    ``‖k(S, S) − C X Rᵀ‖``. With thin SVDs ``C = Q₁ Σ₁ V₁ᵀ`` and ``R = Q₂ Σ₂ V₂ᵀ`` the small matrix
    ``Q₁ᵀ k(S, S) Q₂`` is cut to the rank. For a positive definite kernel this core hardly differs
    from K_ZZ⁻¹. For an indefinite kernel K_ZZ may be nearly singular although K is not; this core
    does not invert K_ZZ.

    Directions of C with small singular values contribute little to k(S, S), but the map divides by
    these singular values: a new row with a larger share of such a direction explodes. `_range`
    drops these directions.
    """
    Q1, inverse1 = _range(K[:, :m], rank, tol)
    Q2, inverse2 = (Q1, inverse1) if symmetric else _range(K[:m].T, rank, tol)
    inner = Q1.T @ K @ Q2
    whole = symmetric and rank == m == len(inner)
    if whole and (root := _positive_root(inner, tol)) is not None:
        left = inverse1 @ root[0]
        return Sketch(Core(left, root[1]))
    U, values, V = factorise(inner, symmetric, rank, tol)
    scale = np.abs(values) ** 0.5
    left = inverse1 @ U * scale
    core = Core(left, values, None if symmetric else inverse2 @ V * scale)
    if rank >= m:  # no direction can be spared for a diagonal that stands out
        return Sketch(core)
    first = Q1 @ U
    return Sketch(core, first, first if symmetric else Q2 @ V)


def _positive_root(
    M: NDArray, tol: float
) -> tuple[NDArray[np.floating], NDArray[np.floating]] | None:
    """Return L with ``M = L Lᵀ`` and the eigenvalues of M; None if M is not clearly definite.

    The Cholesky factor is cheaper than the eigenvectors.
    """
    with blas_threads_for(M):
        L, failed = dpotrf((M + M.T) / 2, lower=1, clean=1)
        if failed:
            return None
        values = np.linalg.eigvalsh(M)[::-1]
    return (L, values) if values[-1] > max(tol, RESOLUTION) * values[0] else None


def _range(C: NDArray, rank: int, tol: float) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return an orthonormal basis Q of the range of C, and B with ``C B = Q``.

    Singular values up to ``max(tol · σ₁, SPARE · σ_rank)`` are dropped. If the rank equals the
    number of landmarks, no direction can be spared and the cut is ``tol · σ₁``.
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
    """Return Q and B of `_range` from ``C = Q R``; None if a singular value is small."""
    if len(C) >= 2 * C.shape[1] and (found := _by_cholesky(C)) is not None:
        return found
    Q, R = np.linalg.qr(C)
    if not len(R) or dtrcon(R, norm="1", uplo="U")[0] <= len(R) * max(tol, RESOLUTION):
        return None
    return Q, solve_triangular(R, np.eye(len(R)))


def _by_cholesky(C: NDArray) -> tuple[NDArray[np.floating], NDArray[np.floating]] | None:
    """Return Q and B of `_range` from ``CᵀC = RᵀR``, at a third of the cost.

    Q is orthonormal to 1e-9 or better. This is enough for a fit on many more rows than landmarks,
    but not to reproduce K exactly when all rows are landmarks. Return None if C is too
    ill-conditioned.
    """
    R, failed = dpotrf(C.T @ C, clean=1)
    if failed or dtrcon(R, norm="1", uplo="U")[0] < SQUARE_RESOLUTION:
        return None
    inverse = solve_triangular(R, np.eye(len(R)), check_finite=False)
    return C @ inverse, inverse
