"""Least squares with an ℓ1 penalty: coordinate descent."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from .._validation import outside_level
from ..forms import Form
from .losses import SquaredError
from .penalties import L1
from .problems import LeastSquares

Array = NDArray[np.floating]


@dataclass(frozen=True)
class CoordinateDescent:
    """``min (1/W) Σ s_i ‖y_i − b − wᵀz_i‖² + alpha ‖w₊‖₁ + alpha_neg ‖w₋‖₁``.

    The Gram matrix ``RᵀR`` turns the problem into one of p rows, which scikit-learn's coordinate
    descent solves. Features are divided by their penalties, so that one penalty is left.

    Attributes
    ----------
    form : Form
        The form M of the features.
    unit : float
        The factor by which the targets were multiplied. The squared loss grows with its square,
        the penalty with the factor itself.
    max_iter : int, default=10000
        The largest number of rounds of scikit-learn's coordinate descent.
    tol : float, default=1e-6
        The tolerance of scikit-learn's coordinate descent.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.forms import Signature
    >>> from krein.learning import L1, CoordinateDescent, LeastSquares
    >>> from krein.streaming import Moments
    >>> rows = np.array([[1.0, 0, 1], [0, 1, 2], [1, 1, 3], [0, 0, 0]])  # two features, one target
    >>> problem = LeastSquares.of(Moments.of(rows), n_outputs=1)
    >>> CoordinateDescent(Signature([1, -1])).solve(problem, L1(0.1, 2.0))[:, 0].round(3)
    array([0.8, 0. ])
    """

    form: Form
    unit: float = 1.0
    max_iter: int = 10_000
    tol: float = 1e-6
    loss: ClassVar[type] = SquaredError
    penalty: ClassVar[type] = L1

    def solve(self, problem: LeastSquares, penalty: L1) -> Array:
        """Return the coefficients, shape (p, q), with a warning if they have not converged."""
        coef, converged = next(self._solutions(problem, [penalty]))
        if not converged:
            warnings.warn(
                f"Coordinate descent did not converge in {self.max_iter} rounds for "
                f"alpha={penalty.alpha:.3g}, alpha_neg={penalty.alpha_neg:.3g}: use larger "
                "penalties, or penalty='split'.",
                ConvergenceWarning,
                stacklevel=outside_level(),
            )
        return coef

    def path(self, problem: LeastSquares, penalties: list[L1]) -> Iterator[Array]:
        """Return the coefficients for each of several penalties.

        A penalty that is only tried may be too small to converge; nobody is warned about it.
        """
        return (coef for coef, _ in self._solutions(problem, penalties))

    def _rows(self, problem: LeastSquares) -> tuple[Array, Array]:
        """Return R with ``RᵀR`` the Gram matrix and targets t with ``Rᵀt`` the cross products.

        Directions without variance are left out. The most negative eigenvalue tells the size of the
        rounding errors, which are large for features in single precision.
        """
        values, vectors = eigh(problem.gram, check_finite=False)
        noise = max(1e-12 * float(values.mean()), -4 * float(values[0]), 0.0)
        kept = values > noise
        if not kept.any():
            return np.zeros((1, problem.width)), np.zeros((1, problem.cross.shape[1]))
        roots, axes = np.sqrt(values[kept])[:, None], vectors[:, kept].T
        return roots * axes, axes @ problem.cross / roots

    def _solutions(
        self, problem: LeastSquares, penalties: list[L1]
    ) -> Iterator[tuple[Array, bool]]:
        """Yield the coefficients for each of several penalties, and True if they have converged."""
        from sklearn.linear_model import Lasso

        p = problem.width
        R, target = self._rows(problem)
        # A penalty below the rounding errors of the products with the targets has no effect.
        least = 1e-14 * float(np.abs(problem.cross).max(initial=0)) or 1.0
        for penalty in penalties:
            diagonal = np.maximum(self.unit * penalty.diagonal(self.form), least)
            scale = np.divide(1.0, diagonal, out=np.zeros(p), where=np.isfinite(diagonal))
            # scikit-learn's objective is ours divided by twice the number of rows.
            solver = Lasso(
                alpha=1 / (2 * len(R)), fit_intercept=False, max_iter=self.max_iter, tol=self.tol
            )
            coef, converged = np.zeros((p, target.shape[1])), True
            # Targets without variance have no scale, and scikit-learn would warn about them.
            for place in np.flatnonzero(target.any(axis=0)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    coef[:, place] = solver.fit(R * scale, target[:, place]).coef_
                converged = converged and solver.n_iter_ < self.max_iter
            yield coef * scale[:, None], converged
