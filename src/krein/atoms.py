"""Atoms: what a measure draws and a random feature map uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Atoms:
    """A discrete complex measure: frequencies with one complex weight each.

    The kernel of the atoms is ``k(Δ) = Re Σ_j c_j exp(i ω_j·Δ)``. An array of real weights means
    that the kernel is symmetric, an array of complex weights that it is not.

    Parameters
    ----------
    frequencies : ndarray of shape (n_atoms, dim)
        The points ω_j.
    weights : ndarray of shape (n_atoms,), real or complex
        The weights c_j. Their moduli need not be equal.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import Atoms
    >>> atoms = Atoms(np.array([[0.0], [np.pi]]), np.array([2.0, -1.0]))
    >>> atoms(np.array([[0.0], [1.0]]))
    array([1., 3.])
    >>> atoms.total_mass
    3.0
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
        """Total mass ``Σ|c_j|``."""
        return float(np.abs(self.weights).sum())

    def __call__(self, differences: NDArray) -> NDArray:
        """Evaluate ``Re Σ_j c_j exp(i ω_j·Δ)`` at differences of shape (..., dim)."""
        phases = np.exp(1j * (np.asarray(differences) @ self.frequencies.T))
        return (phases @ self.weights).real


@dataclass(frozen=True)
class ZonalAtoms(Atoms):
    """Atoms on the sphere: directions w_j, each with a degree ℓ_j.

    The kernel of atom j is ``c_j P_ℓ(⟨x, w_j⟩) P_ℓ(⟨w_j, y⟩)`` with the Legendre polynomial of the
    dimension, ``P_ℓ(1) = 1``.

    Parameters
    ----------
    frequencies : ndarray of shape (n_atoms, dim)
        The unit vectors w_j.
    weights : ndarray of shape (n_atoms,)
        The weights c_j.
    degrees : ndarray of int of shape (n_atoms,)
        The degrees ℓ_j.

    Examples
    --------
    >>> from krein.kernels import ArcCosine
    >>> atoms = ArcCosine().zonal_measure(3, lowest=0.0).atoms(8, rng=0)
    >>> atoms.frequencies.shape
    (8, 3)
    """

    degrees: NDArray[np.intp]

    def __call__(self, differences: NDArray) -> NDArray:
        raise TypeError("Zonal atoms are functions of two points, not of a difference.")
