"""Measures of radial kernels that have no friendly closed form.

Any radial kernel on the ball of differences ``‖Δ‖ ≤ R`` is sought as ``k(z) ≈ Σ_j a_j Ω_d(w_j z)``:
radii w_j with signed masses a_j, directions uniform. The kernel only has to be right where the
data are; beyond R its extension is free, and the lightest one is a linear programme.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .errors import InfiniteMassError
from .laws import Sphere, sphere_wave
from .measure import Measure, Part
from .programme import chebyshev_grid, sweep

Profile = Callable[[NDArray], NDArray]

N_RADII = 300
N_GRID = 200


def block_variance(dim: int, t: NDArray) -> NDArray[np.floating]:
    """Variance per frequency of cos(ω·Δ) in orthogonal blocks, ‖ω‖‖Δ‖ = t.

    ``(1 + Ω(2t))/2 − Ω(t)²`` for one frequency; two orthogonal ones of the same radius have the
    covariance ``Ω(√2 t) − Ω(t)²``, because their sum and difference have radius √2.
    """
    wave = sphere_wave(dim, t)
    single = (1 + sphere_wave(dim, 2 * t)) / 2 - wave**2
    pair = sphere_wave(dim, np.sqrt(2) * t) - wave**2
    return np.maximum(single + (dim - 1) * pair, 0)


def domain_measure(
    profile: Profile, dim: int, diameter: float, n_atoms: int, cause: str
) -> Measure:
    """The lightest measure whose kernel is `profile` on [0, diameter], for about `n_atoms` atoms.

    Parameters
    ----------
    profile : callable
        The kernel as a function of z = ‖x − y‖.
    dim : int
        Dimension of the data.
    diameter : float
        Largest difference that matters: the data's diameter.
    n_atoms : int
        Frequencies that will be drawn; ε is chosen to balance their variance.
    cause : str
        Why the mass could be infinite, for the message.
    """
    z = chebyshev_grid(0.0, diameter, N_GRID)
    target = np.asarray(profile(z), dtype=float)
    if not np.all(np.isfinite(target)):
        raise InfiniteMassError(
            f"The kernel is not finite on [0, {diameter:.4g}], the range of the data's "
            "differences: use data of a smaller range or another kernel."
        )
    # Ω_d(w z) varies on the scale w z ~ √d; from a twelfth of that to the waves that resolve a
    # kink at z = 0.
    scale = np.sqrt(dim) / diameter
    radii = np.concatenate([[0.0], np.geomspace(0.08, 80.0, N_RADII) * scale])
    # The floor makes mass cost something even where waves hardly vary: masses of 1e4 that cancel
    # would be exact on paper and noise in single precision.
    deviations = np.sqrt(block_variance(dim, np.outer(radii, z)).mean(axis=1))
    deviations = np.maximum(deviations, 0.01)

    def spread(masses: NDArray) -> float:
        # Neyman's allocation has the standard error Σ|a_j| s_j / √N.
        return float(np.abs(masses) @ deviations / np.sqrt(n_atoms))

    basis = sphere_wave(dim, np.outer(z, radii))
    masses = sweep(basis, target, np.ones(len(radii)), spread, cause)
    chosen = _merge_neighbours(radii, masses) or [(0.0, 0.0)]
    # The bias is measured, between the points of the programme too.
    fine = chebyshev_grid(0.0, diameter, 7 * N_GRID)
    waves = sphere_wave(dim, np.outer(fine, [w for w, _ in chosen]))
    bias = float(np.abs(waves @ [a for _, a in chosen] - profile(fine)).max())
    return Measure([Part(Sphere(dim, w), a) for w, a in chosen], diameter, bias)


def _merge_neighbours(radii: NDArray, masses: NDArray) -> list[tuple[float, float]]:
    """Join neighbouring grid radii of one sign: a linear programme splits a radius in two."""
    merged: list[tuple[float, float]] = []
    previous = -2
    for j in np.flatnonzero(np.abs(masses) > 1e-9 * np.abs(masses).sum()):
        w, a = float(radii[j]), float(masses[j])
        if merged and j == previous + 1 and merged[-1][1] * a > 0 and merged[-1][0] > 0:
            w0, a0 = merged.pop()
            w, a = float(np.sqrt((a0 * w0**2 + a * w**2) / (a0 + a))), a0 + a
        merged.append((w, a))
        previous = int(j)
    return merged
