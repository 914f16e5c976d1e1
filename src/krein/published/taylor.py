"""The inference of the DIGMM paper as printed (Algorithm 1): a Taylor series of the cosine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def printed_updates(
    mixture: Any, pairs: Any, noise: float, max_iter: int, tol: float
) -> NDArray[np.floating]:
    """Update the mixture by Algorithm 1 of the paper.

    The paper expands ``cos ω·Δ ≈ 1 − (ω·Δ)²/2`` and prints ``q(ω_m) = N(S⁻¹ b_m, S⁻¹)`` with
    ``S = Σ_k q(z_m = k) E Λ_k + 1/(2σ²) Σ_{i≠j} (1 − K_ij) ΔΔᵀ``. The second term has the wrong
    sign and half the size; with the right sign S is indefinite, so the step defines no Gaussian. As
    printed, all frequencies shrink towards zero, so the mixture learns the number of frequencies
    and not the kernel. Frequencies drawn from it have nearly the same law for every kernel.

    Parameters
    ----------
    mixture : krein.spectral.dirichlet.DirichletMixture
        The mixture, which is changed.
    pairs : krein.spectral.likelihood.Pairs
        Pairs i < j with values K_ij in units of k(0).
    noise : float
        The standard deviation σ.
    max_iter : int
        Largest number of iterations; the paper takes 50.
    tol : float
        The iterations stop if ``‖q(z)_new − q(z)_old‖ ≤ tol``; the paper takes 1e-5.

    Returns
    -------
    ndarray of shape (n_iterations,)
        The changes ``‖q(z)_new − q(z)_old‖``. There is no objective that the iterations increase.
    """
    algebra = mixture.algebra
    # Each pair i < j stands twice in the sum over i ≠ j.
    sums = (1 - pairs.values) @ algebra.squares(pairs.differences) / noise**2
    data = algebra.unpacked(sums)
    path = []
    for _ in range(max_iter):
        before = mixture.memberships
        B, b = mixture.pull()
        spread = algebra.inverse(B + data)
        mixture.update(algebra.apply(spread, b), spread)
        path.append(float(np.linalg.norm(mixture.memberships - before)))
        if path[-1] <= tol:
            break
    return np.array(path)


def draw(
    weights: NDArray, means: NDArray, precisions: NDArray, n: int, rng: np.random.Generator
) -> NDArray[np.floating]:
    """Draw n frequencies from a mixture of Gaussians with full or diagonal precisions (eq. 6)."""
    kinds = rng.choice(len(weights), n, p=weights / weights.sum())
    points = rng.standard_normal((n, means.shape[1]))
    if precisions.ndim == 2:
        return means[kinds] + points / np.sqrt(precisions[kinds])
    roots = np.linalg.cholesky(precisions)
    # With Λ = L Lᵀ the point L⁻ᵀ z has the covariance Λ⁻¹.
    turned = np.linalg.solve(np.swapaxes(roots, 1, 2)[kinds], points[:, :, None])[:, :, 0]
    return means[kinds] + turned
