"""The linear programme of least mass.

The basis functions are the waves ``Ω_d(w z)`` on R^d or the Legendre polynomials ``P_ℓ(u)`` on the
sphere. The programme finds the signed combination of least mass that is within ε of the kernel
where the data are: ``min Σ_j c_j |a_j|`` subject to ``|Σ_j a_j B_j(x_i) − k(x_i)| ≤ ε``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .errors import InfiniteMassError

# Number of steps of the sweep after which the mass must have settled.
SETTLED = 4
# Accuracies ε, relative to the largest kernel value. A smaller ε would lower a bias that is already
# negligible and raise the variance, so the sweep stops at 1e-4.
EPSILONS = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)


def least_mass(
    basis: NDArray, target: NDArray, epsilon: float, costs: NDArray
) -> NDArray[np.floating] | None:
    """Return the coefficients of least cost within ε of the target, or None if none exist."""
    # Imported here because it is slow to import and often not needed.
    from scipy.optimize import linprog

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
    """Refit the non-zero coefficients of the programme by least squares.

    The programme uses all of ε to save mass, so its solution deviates by ε even if the same basis
    functions could be exact. The refitted coefficients are returned only if the largest deviation
    does not grow and the mass grows by at most 5 %: nearly equal basis functions could otherwise
    get large masses that cancel.
    """
    mass = np.abs(coefficients).sum()
    support = np.flatnonzero(np.abs(coefficients) > 1e-9 * mass)
    polished = np.zeros_like(coefficients)
    polished[support] = np.linalg.lstsq(basis[:, support], target, rcond=1e-6)[0]
    closer = np.abs(basis @ polished - target).max() <= np.abs(basis @ coefficients - target).max()
    return polished if closer and np.abs(polished).sum() <= 1.05 * mass else coefficients


def sweep(
    basis: NDArray, target: NDArray, costs: NDArray, noise: NDArray, cause: str
) -> NDArray[np.floating]:
    """Solve the programme for a sequence of ε and return the solution of least predicted error.

    The predicted error of coefficients a is ``√(bias² + (Σ|a_j| noise_j)²)``.

    Parameters
    ----------
    basis : ndarray of shape (n_points, n_basis)
        Basis functions on a grid.
    target : ndarray of shape (n_points,)
        The kernel on the grid.
    costs : ndarray of shape (n_basis,)
        Cost of a unit mass of each basis function.
    noise : ndarray of shape (n_basis,)
        Standard error of the features per unit mass of each basis function.
    cause : str
        Why the mass could be infinite, for the error message.

    Returns
    -------
    ndarray of shape (n_basis,)

    Raises
    ------
    InfiniteMassError
        If the least predicted error exceeds half of the largest kernel value and no small ε has a
        solution, or if it exceeds a tenth and the mass more than doubles each time ε halves. On a
        grid the mass is never infinite; a mass that never settles is the sign of an infinite one.
    ValueError
        If the least predicted error exceeds half of the largest kernel value although the mass
        settles: the features are too few.
    """
    size = float(np.abs(target).max())
    if size == 0:
        return np.zeros(basis.shape[1])
    if not np.isfinite(size):
        raise InfiniteMassError(
            f"The kernel is not finite on the range of the data, so it has no measure: {cause} Use "
            "data of a smaller range or another kernel."
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
        predicted = float(np.hypot(bias, np.abs(coefficients) @ noise))
        if best is None or predicted < best[0]:
            best = (predicted, coefficients)
        elif predicted > 1.5 * best[0] and len(masses) >= SETTLED:
            break
    grows = _never_settles(masses)
    if best is not None and best[0] > 0.5 and len(masses) >= SETTLED and not grows:
        raise ValueError(
            f"The features would be mostly noise: their predicted error is {best[0]:.2g} times the "
            "largest kernel value. Use more features, krein.Nystrom, or data of a smaller range."
        )
    if best is None or best[0] > (0.1 if grows else 0.5):
        raise InfiniteMassError(
            f"No measure of finite mass represents this kernel on the range of the data: {cause} "
            "Use krein.Nystrom, which needs no measure, or data of a smaller range."
        )
    return best[1] * size


def _never_settles(masses: list[float]) -> bool:
    """Return True if the mass more than doubles each time ε halves."""
    if len(masses) < 3:
        return False
    halvings = np.log2(np.array(EPSILONS[: len(masses) - 1]) / np.array(EPSILONS[1 : len(masses)]))
    growth = np.log2(np.array(masses[1:]) / np.maximum(masses[:-1], 1e-300))
    return bool(np.all(growth > halvings))


def chebyshev_grid(end: float, n: int) -> NDArray[np.floating]:
    """Return n points on [0, end] that include both ends and are denser there."""
    return end * (1 - np.cos(np.pi * np.arange(n) / (n - 1))) / 2
