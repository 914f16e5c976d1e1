"""Acceptance-rejection sampling of radii, as in the signed-measure paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .._sampler import Sampler
from .._validation import check_positive


class Rejection(Sampler):
    """The signed-measure paper's one-dimensional rejection; a baseline for its Fig. 4.

    Radii are accepted from `n_points` uniform points on [−bound, bound] against the radial
    density, directions are uniform. Cutting the radii at `bound` and reusing accepted points is
    biased; the default samplers need neither. Too few accepted points are drawn again with
    replacement (the paper does not say).

    Parameters
    ----------
    n_points : int, default=10000
        Uniform candidates (the paper: 10,000 or 1,000).
    bound : float, default=10.0
        Largest radius (the paper: 10 or 5).
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
                f"Rejection accepted none of {n_points} points up to {bound:g}: the density is "
                "elsewhere; use more points or another bound."
            )
        return rng.choice(accepted, n, replace=len(accepted) < n)
