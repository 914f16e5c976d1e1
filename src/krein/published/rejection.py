"""Acceptance-rejection sampling of radii, as in the signed-measure paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .._sampler import Sampler
from .._validation import check_positive


class Rejection(Sampler):
    """One-dimensional rejection sampling of radii; a baseline for Fig. 4 of the paper.

    `n_points` candidates are uniform on [−bound, bound]. Each candidate is accepted with a chance
    proportional to the radial density. Directions are uniform. The method is biased, because radii
    are cut at `bound` and accepted radii are reused. If fewer candidates are accepted than needed,
    radii are drawn from them with replacement; the paper does not say what to do.

    Parameters
    ----------
    n_points : int, default=10000
        Number of candidates. The paper uses 10,000 or 1,000.
    bound : float, default=10.0
        Largest radius. The paper uses 10 or 5.

    References
    ----------
    F. Liu, X. Huang, Y. Chen, J. Suykens. Fast Learning in Reproducing Kernel Kreĭn Spaces via
    Signed Measures. AISTATS 2021.

    Examples
    --------
    >>> from krein.kernels import SphericalPolynomial
    >>> from krein.published.rejection import Rejection
    >>> measure = SphericalPolynomial().measure(3, extension="zero", jacobian=False)
    >>> len(measure.atoms(8, Rejection(n_points=1000), 0))
    8
    """

    needs = "radial density"

    def __init__(self, n_points: int = 10_000, bound: float = 10.0):
        self.n_points = n_points
        self.bound = bound

    def points(self, n: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
        return rng.standard_normal((n, dim))

    def radii(
        self, density: Callable[[NDArray], NDArray], n: int, rng: np.random.Generator
    ) -> NDArray[np.floating]:
        """Draw n radii by acceptance and rejection against their density."""
        bound = check_positive(self, "bound", self.bound)
        n_points = int(check_positive(self, "n_points", self.n_points))
        candidates = np.abs(rng.uniform(-bound, bound, n_points))
        height = density(candidates)
        accepted = candidates[rng.random(n_points) * height.max() < height]
        if not len(accepted):
            raise ValueError(
                f"Rejection accepted none of {n_points} points up to {bound:g}, because the "
                "density has its mass elsewhere: use more points or another bound."
            )
        return rng.choice(accepted, n, replace=len(accepted) < n)
