"""Masses of the Jordan parts, fitted on a few rows (asymmetric paper, Algorithm 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..atoms import Atoms


def part_masses(weights: NDArray) -> NDArray[np.floating]:
    """Return the masses ``ξ = (‖μ_R⁺‖, ‖μ_R⁻‖, ‖μ_I⁺‖)`` that the weights of atoms carry.

    Parameters
    ----------
    weights : ndarray of shape (n_atoms,), real or complex
        The weights c_j.
    """
    real = weights.real
    imaginary = float(np.abs(weights.imag).sum()) / 2
    return np.array([np.maximum(real, 0).sum(), np.maximum(-real, 0).sum(), imaginary])


def subset_weights(atoms: Atoms, rows: NDArray, K: NDArray, at_zero: float) -> NDArray:
    """Return weights whose masses fit the kernel on a few rows (eq. 12, corrected).

    The masses solve ``min ‖K − ξ₁ φφᵀ(ω) + ξ₂ φφᵀ(ζ) + 2ξ₃ φψᵀ(ν)‖²`` subject to
    ``ξ₁ − ξ₂ = k(0)`` and ``ξ ≥ 0``. The paper prints ``− 2ξ₃``, which drives ξ₃ to zero. After the
    substitution ``ξ₁ = ξ₂ + k(0)`` the problem is a least-squares problem in two non-negative
    unknowns; for k(0) < 0 the roles of ξ₁ and ξ₂ are swapped.

    Parameters
    ----------
    atoms : Atoms
        Atoms of the Jordan parts. Only the relative weights within each part matter.
    rows : ndarray of shape (n, dim)
        The N_s rows.
    K : ndarray of shape (n, n)
        The kernel matrix of the rows.
    at_zero : float
        The value k(0).

    Returns
    -------
    ndarray of shape (n_atoms,)
        The new weights, real if the weights of `atoms` are real.
    """
    from scipy.optimize import nnls

    units = _unit_weights(atoms.weights)
    waves = np.exp(1j * (rows @ atoms.frequencies.T))
    kernels = [((waves * unit) @ waves.conj().T).real.ravel() for unit in units]
    pivot, other = (0, 1) if at_zero >= 0 else (1, 0)
    # ξ_pivot = |k(0)| + ξ_other; without atoms of the pivot's sign the constraint cannot hold.
    known = abs(at_zero) * kernels[pivot]
    both = kernels[other] + kernels[pivot] if units[pivot].any() else kernels[other]
    found, _ = nnls(np.stack([both, kernels[2]], axis=1), K.ravel() - known)
    masses = np.zeros(3)
    masses[other], masses[2] = found[0] if units[other].any() else 0.0, found[1]
    masses[pivot] = abs(at_zero) + masses[other]
    weights = masses @ units
    return weights if np.iscomplexobj(atoms.weights) else weights.real


def _unit_weights(weights: NDArray) -> NDArray:
    """Return the weights of μ_R⁺, μ_R⁻ and 2μ_I⁺ alone, for masses of 1; shape (3, n_atoms)."""
    real, imaginary = weights.real, weights.imag
    sides = np.array([np.maximum(real, 0), -np.maximum(-real, 0), 1j * imaginary])
    totals = np.abs(sides).sum(axis=1, keepdims=True)
    units = np.divide(sides, totals, out=np.zeros_like(sides), where=totals > 0)
    units[2] *= 2
    return units
