"""Atoms: what every sampler returns and every Fourier map consumes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Atoms:
    """A finite complex measure: frequencies with one complex weight each.

    It stands for the kernel ``k(Δ) = Re Σ_j c_j exp(i ω_j·Δ)``. Real weights are kept real:
    a real array says "symmetric", a complex one "not symmetric".

    Parameters
    ----------
    frequencies : ndarray of shape (n_atoms, dim)
        The points ω_j.
    weights : ndarray of shape (n_atoms,), real or complex
        The weights c_j. Their moduli need not be equal.
    """

    frequencies: NDArray[np.floating]
    weights: NDArray

    def __post_init__(self) -> None:
        if len(self.frequencies) != len(self.weights):
            raise ValueError(
                f"Atoms need one weight per frequency, got {len(self.frequencies)} frequencies "
                f"and {len(self.weights)} weights."
            )

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def total_mass(self) -> float:
        """Σ|c_j|."""
        return float(np.abs(self.weights).sum())

    def __call__(self, differences: NDArray) -> NDArray:
        """Evaluate ``Re Σ_j c_j exp(i ω_j·Δ)`` at differences of shape (..., dim)."""
        phases = np.exp(1j * (np.asarray(differences) @ self.frequencies.T))
        return (phases @ self.weights).real


@dataclass(frozen=True)
class ZonalAtoms(Atoms):
    """Atoms on the sphere: directions w_j, each with a degree ℓ_j.

    Atom j stands for ``c_j P_ℓ(⟨x, w_j⟩) P_ℓ(⟨w_j, y⟩)`` with the Legendre polynomial of the
    dimension, ``P_ℓ(1) = 1``. `frequencies` holds the unit vectors w_j.
    """

    degrees: NDArray[np.intp]

    def __call__(self, differences: NDArray) -> NDArray:
        raise TypeError("Zonal atoms are functions of two points, not of a difference.")
