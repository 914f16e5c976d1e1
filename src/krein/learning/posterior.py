"""Ridge as a Gaussian model: the posterior variance of the function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ..forms import Form
from .elimination import triangle
from .penalties import Split
from .problems import LeastSquares

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Posterior:
    """The variance of ``f(x) = wᵀz + b`` given the rows, in units of the variance σ² of the noise.

    Ridge is the posterior mean of ``y_i = f(x_i) + N(0, σ²/s_i)`` with the prior
    ``w ~ N(0, σ²/W · P⁻¹)`` and a flat prior of b. The posterior variance is
    ``σ²/W · ((z − z̄)ᵀ (G + P)⁻¹ (z − z̄) + 1)``, and without an intercept
    ``σ²/W · zᵀ (G + P)⁻¹ z``.

    Attributes
    ----------
    used : ndarray of int of shape (r,)
        The features whose penalty is finite.
    factor : ndarray of shape (r, r)
        The upper triangle R with ``RᵀR = G + P`` on these features.
    mean : ndarray of shape (p,)
        The mean z̄ of the features; zero without an intercept.
    has_intercept : bool
        True if the model has an intercept.
    weight : float
        The weight W of all rows.
    degrees : float
        The degrees of freedom of the fit, ``tr((G + P)⁻¹ G)``, plus 1 with an intercept: the mean
        of the posterior variance over the rows is σ² times ``degrees / W``.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.forms import Signature
    >>> from krein.learning import LeastSquares, Posterior, Split
    >>> from krein.streaming import Moments
    >>> rows = np.array([[-1.0, 0.0], [1.0, 2.0]])  # z and y of two rows
    >>> problem = LeastSquares.of(Moments.of(rows), 1)
    >>> posterior = Posterior.of(problem, Split(1.0, 1.0), Signature([1.0]), True)
    >>> posterior.variances(np.array([[0.0], [2.0]]))
    array([0.5, 1.5])
    >>> posterior.degrees
    1.5
    """

    used: NDArray[np.intp]
    factor: Array
    mean: Array
    has_intercept: bool
    weight: float
    degrees: float

    @classmethod
    def of(
        cls,
        problem: LeastSquares,
        penalty: Split,
        form: Form,
        fit_intercept: bool,
        weight: float | None = None,
    ) -> Posterior:
        """Return the posterior of a problem with a split penalty.

        Parameters
        ----------
        problem : LeastSquares
        penalty : Split
        form : Form
        fit_intercept : bool
        weight : float, default=None
            W; None means the weight of the problem.
        """
        diagonal = penalty.diagonal(form)
        used = np.flatnonzero(np.isfinite(diagonal))
        factor = triangle(problem.gram[np.ix_(used, used)], diagonal[used])
        total = problem.weight if weight is None else weight
        inverse = solve_triangular(factor, np.eye(len(used)))
        lost = float(diagonal[used] @ np.square(inverse).sum(axis=1))  # tr((G + P)⁻¹ P)
        degrees = len(used) - lost + fit_intercept
        return cls(used, factor, problem.z_mean, fit_intercept, total, degrees)

    def noise_share(self, least: float = 0.0) -> float:
        """Return the share of the noise in the mean squared error of rows that were held out.

        A held-out row with the leverage h, its variance over σ² in the posterior of all rows, has
        the expected squared error ``σ² / (1 − h)``. The mean leverage takes the place of h.

        Parameters
        ----------
        least : float, default=0.0
            The smallest share to return.
        """
        return max(1 - self.degrees / self.weight, least, float(np.finfo(float).eps))

    def variances(self, Z: Array) -> Array:
        """Return the posterior variance of f over σ² at rows of features (n, p), shape (n,)."""
        rows = (Z - self.mean)[:, self.used].astype(float)
        found = np.full(len(rows), float(self.has_intercept))
        if len(self.used):
            found += np.square(solve_triangular(self.factor, rows.T, trans="T")).sum(axis=0)
        return found / self.weight
