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

from .errors import InfiniteMassError

# ε relative to the largest kernel value. Smaller ε buys bias nobody sees with variance
# everybody sees, so the sweep stops at 1e-4.
SETTLED = 4  # steps of the sweep that show whether the mass settles
EPSILONS = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)


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


def polish(basis: NDArray, target: NDArray, coefficients: NDArray) -> NDArray[np.floating]:
    """Least squares on the support of a solution of the programme.

    A linear programme spends all of its ε to save mass, so its solution sits at distance ε even
    where the same waves could be exact. Kept only if it is closer everywhere and the mass hardly
    grows: waves that are nearly the same could cancel each other.
    """
    mass = np.abs(coefficients).sum()
    support = np.flatnonzero(np.abs(coefficients) > 1e-9 * mass)
    polished = np.zeros_like(coefficients)
    polished[support] = np.linalg.lstsq(basis[:, support], target, rcond=1e-6)[0]
    closer = np.abs(basis @ polished - target).max() <= np.abs(basis @ coefficients - target).max()
    return polished if closer and np.abs(polished).sum() <= 1.05 * mass else coefficients


def sweep(
    basis: NDArray,
    target: NDArray,
    costs: NDArray,
    spread: Callable[[NDArray], float],
    cause: str,
) -> NDArray[np.floating]:
    """Solve the programme over a sweep of ε and keep the least predicted error.

    The prediction is ``√(bias² + spread(a)²)`` with `spread` the standard error of the features
    that the coefficients lead to.

    Returns
    -------
    ndarray of shape (n_basis,)

    Raises
    ------
    InfiniteMassError
        If the best prediction exceeds half of the kernel's size, or a tenth where the mass more
        than doubles each time ε halves: on a grid an infinite mass shows as one that never settles.
    """
    size = float(np.abs(target).max())
    if size == 0:
        return np.zeros(basis.shape[1])
    if not np.isfinite(size):
        raise InfiniteMassError(
            f"The kernel is not finite where the data are, so it has no measure: {cause} Use data "
            "of a smaller range or another kernel."
        )
    best: tuple[float, NDArray] | None = None
    masses = []
    for epsilon in EPSILONS:
        coefficients = least_mass(basis, target / size, epsilon, costs)
        if coefficients is None:
            break
        masses.append(float(np.abs(coefficients).sum()))
        coefficients = polish(basis, target / size, coefficients)
        bias = np.sqrt(np.mean((basis @ coefficients - target / size) ** 2))
        predicted = float(np.hypot(bias, spread(coefficients)))
        if best is None or predicted < best[0]:
            best = (predicted, coefficients)
        elif predicted > 1.5 * best[0] and len(masses) >= SETTLED:
            break
    if best is None or best[0] > (0.1 if _never_settles(masses) else 0.5):
        raise InfiniteMassError(
            f"No measure of finite mass represents this kernel where the data are: {cause} "
            "Use a Nyström approximation (krein.Nystrom), which needs no measure, or data of a "
            "smaller range."
        )
    return best[1] * size


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
