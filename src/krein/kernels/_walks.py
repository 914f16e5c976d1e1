"""Sums of walks on a directed graph, as rows or columns of a matrix that is never stored.

Both walks return ``W[ids]`` or ``Wᵀ[ids]`` for some nodes. The sum over a number of steps follows
the walks of these nodes through the sparse graph. The sum over all steps solves a sparse system.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigs, splu

from .._blocks import BLOCK_BYTES

Ids = NDArray[np.int64]
# Bytes of one stored entry of a sparse matrix, with its column and a copy for the sum.
ENTRY = 32
# The eigenvalues of a graph of at most this many nodes are computed by LAPACK.
FEW = 500


class Steps:
    """``W = Σ_{s=1..steps} damping^(s−1) P^s``.

    Parameters
    ----------
    P : csr_array of shape (n, n)
        One step.
    steps : int
        Number of steps.
    damping : float
        Factor of each further step.
    """

    def __init__(self, P: sparse.csr_array, steps: int, damping: float):
        self._sides = P, P.T.tocsr()
        self._steps, self._damping = steps, damping
        self._bytes = [self._reach(side) for side in self._sides]

    def _reach(self, P: sparse.csr_array) -> NDArray[np.floating]:
        """Return a bound on the bytes of each row of W: the number of walks of each length."""
        n = P.shape[0]
        steps = sparse.csr_array((np.ones(P.nnz), P.indices, P.indptr), shape=P.shape)
        walks, total = np.ones(n), np.zeros(n)
        for _ in range(self._steps):
            walks = np.minimum(steps @ walks, n)
            total = np.minimum(total + walks, n)
            if np.all(total == n):
                break
        return ENTRY * total

    def parts(self, ids: Ids, turned: bool) -> Iterator[slice]:
        """Yield slices of `ids` whose rows of W need little memory."""
        return pieces(self._bytes[turned][ids])

    def rows(self, ids: Ids, turned: bool) -> Any:
        """Return ``W[ids]``, or ``Wᵀ[ids]`` if `turned`, as a CSR array."""
        P = self._sides[turned]
        walk = total = P[ids]
        for _ in range(self._steps - 1):
            walk = self._damping * (walk @ P)
            total = total + walk
        return total


class AllSteps:
    """``W = Σ_{s≥1} B^s = B (I − B)⁻¹`` of a matrix B of entries ≥ 0 whose spectral radius is < 1.

    I − B is an M-matrix: it has an LU factorisation without pivoting, whose pivots are positive.
    Solving with it adds numbers of one sign only, so that small entries of W are accurate too.

    Parameters
    ----------
    B : csr_array of shape (n, n)
        One step with its factor.

    Raises
    ------
    ValueError
        If the spectral radius of B is not below 1.
    """

    def __init__(self, B: sparse.csr_array):
        if not np.isfinite(B.data).all():
            raise ValueError("The sum over all walks diverges.")
        self._B = B.tocsc()
        system = (sparse.eye_array(B.shape[0], format="csc") - self._B).tocsc()
        options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0}
        try:
            self._lu = splu(system, **options, options={"SymmetricMode": True})
        except RuntimeError as error:  # exactly singular
            raise ValueError("The sum over all walks diverges.") from error
        if not np.all(self._lu.U.diagonal() > 0):
            raise ValueError("The sum over all walks diverges.")

    def parts(self, ids: Ids, turned: bool) -> Iterator[slice]:
        """Yield slices of `ids` whose rows of W need little memory."""
        return pieces(np.full(len(ids), 8.0 * self._B.shape[0]))

    def rows(self, ids: Ids, turned: bool) -> NDArray:
        """Return ``W[ids]``, or ``Wᵀ[ids]`` if `turned`."""
        start = self._B[:, ids] if turned else self._B[ids].T
        return self._lu.solve(start.toarray(), trans="N" if turned else "T").T


def pieces(sizes: NDArray[np.floating]) -> Iterator[slice]:
    """Yield slices that cover all sizes; a slice exceeds `BLOCK_BYTES` by at most one size."""
    ends = np.cumsum(sizes) // BLOCK_BYTES
    cuts = [0, *(np.flatnonzero(np.diff(ends)) + 1), len(sizes)]
    return (slice(int(a), int(b)) for a, b in itertools.pairwise(cuts))


def stochastic(A: sparse.csr_array, loops: float) -> sparse.csr_array:
    """Return A + loops·I with rows that sum to one; rows of zeros stay rows of zeros."""
    A = (A + loops * sparse.eye_array(A.shape[0])).tocsr() if loops else A
    with np.errstate(over="ignore", divide="ignore"):
        sums = np.asarray(A.sum(axis=1)).ravel()
        factors = np.where(sums > 0, 1 / sums, 0.0)
    if not np.isfinite(sums).all() or not np.isfinite(factors).all():
        raise ValueError(
            f"Row {int(np.argmin(np.isfinite(sums) & np.isfinite(factors)))} of adjacency has "
            "weights near the limits of floating point: multiply the row by a number."
        )
    return (sparse.diags_array(factors) @ A).tocsr()


def spectral_radius(A: sparse.csr_array) -> float:
    """Return the largest magnitude of the eigenvalues of a matrix of entries ≥ 0.

    An edge between two strongly connected components changes no eigenvalue, but makes eigenvalues
    sensitive to rounding: all eigenvalues of a graph without cycles are 0. Such edges are left
    out. If ARPACK does not converge, the result is an upper bound.
    """
    _, component = connected_components(A, connection="strong")
    edges = A.tocoo()
    inside = component[edges.row] == component[edges.col]
    places = edges.row[inside], edges.col[inside]
    cyclic = sparse.coo_array((edges.data[inside], places), shape=A.shape).tocsr()
    if not cyclic.nnz:
        return 0.0
    if A.shape[0] <= FEW:
        return float(np.abs(np.linalg.eigvals(cyclic.toarray())).max())
    try:
        start = np.ones(A.shape[0])
        found = eigs(cyclic, k=1, which="LR", v0=start, return_eigenvectors=False)
        return float(found[0].real)
    except ArpackNoConvergence:
        return float(min(cyclic.sum(axis=0).max(), cyclic.sum(axis=1).max()))
