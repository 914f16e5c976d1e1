"""The linear programme of least mass.

Both harmonic analyses of the library, waves ``Ω_d(w z)`` on R^d and Legendre polynomials
``P_ℓ(u)`` on the sphere, look for the lightest signed combination of basis functions that is
within ε of the kernel where the data are: ``min Σ_j c_j |a_j|`` subject to
``|Σ_j a_j B_j(x_i) − k(x_i)| ≤ ε``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# ε relative to the largest kernel value. Smaller ε buys bias nobody sees with variance
# everybody sees, so the sweep stops at 1e-4.
EPSILONS = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)


class InfiniteMassError(ValueError):
    """The kernel has no finite measure where the data are."""


def least_mass(
    basis: NDArray, target: NDArray, epsilon: float, costs: NDArray
) -> NDArray[np.floating] | None:
    """Coefficients of least cost within ε of the target, or None where there are none."""
    from scipy.optimize import linprog  # lazily: it is slow to import and often not needed

    both = np.concatenate([basis, -basis], axis=1)
    result = linprog(
        np.concatenate([costs, costs]),
        A_ub=np.concatenate([both, -both]),
        b_ub=np.concatenate([target + epsilon, epsilon - target]),
        method="highs",
    )
    if result.x is None:
        return None
    positive, negative = np.split(result.x, 2)
    return positive - negative


def sweep(
    basis: NDArray,
    target: NDArray,
    costs: NDArray,
    spread: Callable[[NDArray], float],
    cause: str,
) -> tuple[NDArray[np.floating], float]:
    """Solve the programme over a sweep of ε and keep the least predicted error.

    The prediction is ``√(ε² + spread(a)²)`` with `spread` the standard error of the features
    that the coefficients lead to.

    Returns
    -------
    coefficients : ndarray of shape (n_basis,)
    epsilon : float

    Raises
    ------
    InfiniteMassError
        If the best prediction exceeds half of the kernel's size, or the mass more than doubles
        each time ε halves: on a grid an infinite mass shows as one that never settles.
    """
    size = float(np.abs(target).max())
    if size == 0:
        return np.zeros(basis.shape[1]), 0.0
    best: tuple[float, NDArray, float] | None = None
    masses = []
    for epsilon in EPSILONS:
        coefficients = least_mass(basis, target / size, epsilon, costs)
        if coefficients is None:
            break
        masses.append(float(np.abs(coefficients).sum()))
        predicted = float(np.hypot(epsilon, spread(coefficients)))
        if best is None or predicted < best[0]:
            best = (predicted, coefficients, epsilon)
        elif predicted > 1.5 * best[0]:
            break
    if best is None or best[0] > 0.5 or _never_settles(masses):
        raise InfiniteMassError(
            f"No measure of finite mass represents this kernel where the data are: {cause} "
            "Use a Nyström approximation, which needs no measure, or data of a smaller range."
        )
    return best[1] * size, best[2] * size


def _never_settles(masses: list[float]) -> bool:
    """Whether the mass more than doubles each time ε halves, over the whole sweep."""
    if len(masses) < 3:
        return False
    halvings = np.log2(np.array(EPSILONS[: len(masses) - 1]) / np.array(EPSILONS[1 : len(masses)]))
    growth = np.log2(np.array(masses[1:]) / np.maximum(masses[:-1], 1e-300))
    return bool(np.all(growth > halvings))


def chebyshev_grid(low: float, high: float, n: int) -> NDArray[np.floating]:
    """n points on [low, high], dense at both ends, ends included."""
    return low + (high - low) * (1 - np.cos(np.pi * np.arange(n) / (n - 1))) / 2
