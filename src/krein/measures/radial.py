"""Measures of radial kernels without a closed form.

A radial kernel on differences ``‖Δ‖ ≤ R`` is approximated as ``k(z) ≈ Σ_j a_j Ω_d(w_j z)`` with
radii w_j, signed masses a_j and uniform directions. The approximation must be accurate only where
the data are. Beyond R the extension is free, and a linear programme finds the extension of least
mass.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .errors import InfiniteMassError
from .laws import Sphere
from .measure import Measure, Part
from .programme import chebyshev_grid, sweep
from .special import sphere_wave

Profile = Callable[[NDArray], NDArray]

N_RADII = 300
N_GRID = 200


def block_variance(dim: int, t: NDArray) -> NDArray[np.floating]:
    """Return the variance per frequency of cos(ω·Δ) in orthogonal blocks, ‖ω‖‖Δ‖ = t.

    The variance of one frequency is ``(1 + Ω(2t))/2 − Ω(t)²``. Two orthogonal frequencies of the
    same radius have the covariance ``Ω(√2 t) − Ω(t)²``, because their sum and their difference have
    √2 times the radius.
    """
    wave = sphere_wave(dim, t)
    single = (1 + sphere_wave(dim, 2 * t)) / 2 - wave**2
    pair = sphere_wave(dim, np.sqrt(2) * t) - wave**2
    return np.maximum(single + (dim - 1) * pair, 0)


def domain_measure(
    profile: Profile, dim: int, diameter: float, n_atoms: int, cause: str
) -> Measure:
    """Return the measure of least mass whose kernel is `profile` on [0, diameter].

    Parameters
    ----------
    profile : callable
        The kernel as a function of z = ‖x − y‖.
    dim : int
        Dimension of the data.
    diameter : float
        Largest difference that matters: the data's diameter.
    n_atoms : int
        Number of frequencies that will be drawn; it determines which accuracy ε pays off.
    cause : str
        Why the mass could be infinite, for the error message.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.measures import domain_measure
    >>> measure = domain_measure(lambda z: np.exp(-(z**2) / 2), 2, 1.5, 64, "")
    >>> float(np.round(measure.kernel(np.zeros((1, 2)))[0], 2))
    1.0
    """
    z = chebyshev_grid(diameter, N_GRID)
    target = np.asarray(profile(z), dtype=float)
    if not np.all(np.isfinite(target)):
        raise InfiniteMassError(
            f"The kernel is not finite on [0, {diameter:.4g}], the range of the distances "
            "between rows: use data of a smaller range or another kernel."
        )
    # Ω_d(w z) varies on the scale w z ~ √d. The radii range from a twelfth of this scale to waves
    # that resolve a kink at z = 0.
    scale = np.sqrt(dim) / diameter
    radii = np.concatenate([[0.0], np.geomspace(0.08, 80.0, N_RADII) * scale])
    # The floor gives mass a cost even if the waves hardly vary. Otherwise masses of 1e4 could
    # cancel, which is exact in theory and noise in single precision.
    deviations = np.sqrt(block_variance(dim, np.outer(radii, z)).mean(axis=1))
    deviations = np.maximum(deviations, 0.01)
    basis = sphere_wave(dim, np.outer(z, radii))
    # The standard error of Neyman's allocation is Σ|a_j| s_j / √N.
    noise = deviations / np.sqrt(n_atoms)
    masses = sweep(basis, target, np.ones(len(radii)), noise, cause)
    chosen = _merge_neighbours(radii, masses) or [(0.0, 0.0)]
    # The bias is measured on a finer grid than that of the programme.
    fine = chebyshev_grid(diameter, 7 * N_GRID)
    waves = sphere_wave(dim, np.outer(fine, [w for w, _ in chosen]))
    bias = float(np.abs(waves @ [a for _, a in chosen] - profile(fine)).max())
    return Measure([Part(Sphere(dim, w), a) for w, a in chosen], diameter, bias)


def _merge_neighbours(radii: NDArray, masses: NDArray) -> list[tuple[float, float]]:
    """Merge neighbouring radii with masses of one sign: the programme splits a radius in two."""
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
