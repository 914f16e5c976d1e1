"""What a sampler is: the base classes, below the samplers of the library and of the papers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .atoms import Atoms


class Sampler(BaseEstimator):
    """Base class of all samplers.

    A sampler never sees a measure. The measure decides how many frequencies each of its parts
    gets, asks the sampler for points, transports the points to the law of the part and computes
    the weights (see `krein.measures.drawing`).

    Attributes
    ----------
    needs : {"points", "density", "radial density"}
        What the measure passes to the sampler. "points": nothing; the sampler returns canonical
        points. "density": scales of Gaussians that cover the parts, see `Importance.mixture`.
        "radial density": the density of the radius of each part, see `Rejection.radii`.

    Examples
    --------
    >>> from krein.samplers import SAMPLERS, Sampler
    >>> all(issubclass(sampler, Sampler) for sampler in SAMPLERS.values())
    True
    """

    needs = "points"

    def pool_size(self, n: int) -> int:
        """Return the number of frequencies to draw in order to keep `n` of them."""
        return n

    def points(self, n: int, dim: int, rng: np.random.Generator) -> NDArray[np.floating]:
        """Return canonical points of shape (n, dim); each row by itself is a draw from N(0, I)."""
        raise TypeError(f"{type(self).__name__} must define points.")

    def select(
        self, pool: Atoms, parts: NDArray, n: int, rng: np.random.Generator, rows: NDArray | None
    ) -> Atoms:
        """Return the `n` atoms of the pool to keep, with their final weights.

        Parameters
        ----------
        pool : Atoms
            Atoms that are already an unbiased estimate of the measure, `pool_size(n)` of them.
        parts : ndarray of shape (n_pool,)
            Index of the part of the measure that each atom belongs to.
        n : int
            Number of atoms to keep.
        rng : Generator
            Source of randomness.
        rows : ndarray of shape (n_rows, dim) or None
            The data, if there are any.
        """
        return pool


class PointSampler(Sampler):
    """Base class of the samplers that return canonical points and need nothing else.

    A subclass defines `points(n, dim, rng)`. `krein.testing.check_sampler` checks it.

    Examples
    --------
    >>> from krein.samplers import PointSampler
    >>> class Mirrored(PointSampler):
    ...     def points(self, n, dim, rng):
    ...         return -rng.standard_normal((n, dim))
    >>> from krein.kernels import Gaussian
    >>> len(Gaussian().measure(3).atoms(8, Mirrored(), 0))
    8
    """
