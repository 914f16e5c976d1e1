"""Calibration: weights fitted to the kernel on a sample of rows, for given frequencies.

The weights of ``k ≈ Re Σ_j c_j exp(i ω_j·Δ)`` with the least squared error on a sample solve a
small least-squares problem. Calibrated weights depend on the data and are not unbiased, but the
error is 2-10 times smaller.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_ROWS = 1000
# Ridge relative to the mean diagonal of the normal equations. It matters only if frequencies are
# nearly the same on the data.
RIDGE = 1e-4


def _refine(gram: NDArray, moments: NDArray, start: NDArray, n_rows: int) -> NDArray[np.floating]:
    """Solve ``(G + ρI)(a − a₀) = b − G a₀``: least squares with a ridge around the start a₀.

    The ridge ρ grows if there are few rows per weight. Without it the fit would be perfect on few
    rows and far off elsewhere.
    """
    scarcity = max(1.0, 2 * len(start) / n_rows) ** 3
    ridge = RIDGE * scarcity * np.trace(gram) / len(gram)
    if ridge == 0:
        return start
    return start + np.linalg.solve(gram + ridge * np.eye(len(gram)), moments - gram @ start)


def calibrate_fourier(frequencies: NDArray, weights: NDArray, rows: NDArray, K: NDArray) -> NDArray:
    """Fit the weights of Fourier atoms to the kernel matrix of some rows.

    Let ``C = exp(i X Wᵀ)``. The cosines of the differences have the Gram matrix
    ``½(|CᴴC|² + |CᵀC|²)``, elementwise, and the sines ``½(|CᴴC|² − |CᵀC|²)``. Cosines and sines are
    orthogonal, because the cosines are symmetric and the sines skew. Hence the real parts of the
    weights are fitted to the symmetric part of K and the imaginary parts to its skew part.

    Parameters
    ----------
    frequencies : ndarray of shape (n_atoms, dim)
        The frequencies W.
    weights : ndarray of shape (n_atoms,)
        The weights to start from, real or complex.
    rows : ndarray of shape (n, dim)
        The rows X.
    K : ndarray of shape (n, n)
        The kernel matrix of the rows.

    Returns
    -------
    ndarray of shape (n_atoms,)
        The fitted weights.
    """
    waves = np.exp(1j * (rows @ frequencies.T))
    hermitian = np.abs(waves.conj().T @ waves) ** 2
    bilinear = np.abs(waves.T @ waves) ** 2
    moments = np.einsum("im,im->m", waves.conj(), K @ waves)
    real = _refine((hermitian + bilinear) / 2, moments.real, weights.real, len(rows))
    if not np.iscomplexobj(weights):
        return real
    # Re(c e^{iωΔ}) = Re c cos − Im c sin, and Σ K_xy sin ω·(x − y) = −Im(cᴴ K c).
    imaginary = _refine((hermitian - bilinear) / 2, moments.imag, weights.imag, len(rows))
    return real + 1j * imaginary


def calibrate_columns(
    columns: NDArray, groups: NDArray, weights: NDArray, K: NDArray
) -> NDArray[np.floating]:
    """Fit one weight per group of columns, ``K ≈ Σ_g a_g Z_g Z_gᵀ``.

    Parameters
    ----------
    columns : ndarray of shape (n, width)
        The columns Z.
    groups : ndarray of int of shape (width,)
        Group of each column.
    weights : ndarray of shape (n_groups,)
        The weights to start from.
    K : ndarray of shape (n, n)
        The kernel matrix of the rows.

    Returns
    -------
    ndarray of shape (n_groups,)
        The fitted weights.
    """
    members = np.eye(len(weights))[groups]
    gram = members.T @ (columns.T @ columns) ** 2 @ members
    moments = np.einsum("ij,ij->j", columns, K @ columns) @ members
    return _refine(gram, moments, weights, len(columns))
