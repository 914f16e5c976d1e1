"""Kreĭn ridge: the least-squares method of the scalable Kreĭn paper (§2.4), from moments."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigh, solve

from .._threads import one_blas_thread
from .penalties import Penalty
from .problems import LeastSquares

Array = NDArray[np.floating]
# Rounding errors of a Gram matrix, relative to its size and trace: those of its factorisation, and
# those of products in double and in single precision. A penalty below them is not seen.
FLOORS = (0.0, 1e-14, 1e-9, 1e-7)


def _triangle(gram: Array, diagonal: Array) -> Array:
    """The triangle R of ``RᵀR = gram + diag(diagonal)``, a penalty raised to what can be seen."""
    for floor in FLOORS:
        A = gram.copy()
        seen = floor * len(A) * np.trace(A)
        A[np.diag_indices_from(A)] += np.maximum(diagonal, seen)
        try:
            return cholesky(A, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
    raise LinAlgError("The Gram matrix is not positive semi-definite.")


@dataclass(frozen=True)
class Ridge:
    """``min (1/W) Σ s_i ‖y_i − b − wᵀz_i‖² + wᵀ P w`` with P = diag(alpha, alpha_neg).

    ``w = (ZᵀZ/W + P)⁻¹ ZᵀY/W`` (paper, after eq. 5; the low-rank form is right as printed): one
    factorisation for all outputs.

    Attributes
    ----------
    signs : ndarray of shape (p,)
        The form's signs.
    indefinite : bool
        The true Kreĭn penalty ``alpha wᵀMw`` in place of P: negative features are rewarded, and the
        solution is a stationary point that explodes where alpha meets an eigenvalue.
    """

    signs: Array
    indefinite: bool = False

    def solve(self, problem: LeastSquares, penalty: Penalty) -> Array:
        """The coefficients, shape (p, q)."""
        if self.indefinite:
            return self._stationary(problem, penalty.alpha)
        used, factor = self._factor(problem, penalty)
        coef = np.zeros_like(problem.cross)
        coef[used] = cho_solve(factor, problem.cross[used], check_finite=False)
        return coef

    def path(self, problem: LeastSquares, penalties: list[Penalty]) -> Iterator[Array]:
        """The coefficients for each of several penalties."""
        # A thread of its own for each of hundreds of small factorisations costs more than it saves.
        with one_blas_thread():
            found = [self.solve(problem, penalty) for penalty in penalties]
        yield from found

    def derivatives(self, problem: LeastSquares, penalty: Penalty) -> tuple[Array, Array]:
        """The coefficients and their derivatives by (log alpha, log alpha_neg), (2, p, q).

        ``(G + P) w = c`` gives ``∂w = −(G + P)⁻¹ ∂P w``.
        """
        used, factor = self._factor(problem, penalty)
        coef = np.zeros_like(problem.cross)
        coef[used] = cho_solve(factor, problem.cross[used], check_finite=False)
        change = np.zeros((2, *coef.shape))
        for out, d in zip(change, penalty.derivatives(self.signs), strict=True):
            out[used] = -cho_solve(factor, (d[:, None] * coef)[used], check_finite=False)
        return coef, change

    def _factor(self, problem: LeastSquares, penalty: Penalty) -> tuple[NDArray, tuple]:
        diagonal = penalty.diagonal(self.signs)
        used = np.flatnonzero(np.isfinite(diagonal))
        whole = len(used) == problem.width
        gram = problem.gram if whole else problem.gram[np.ix_(used, used)]
        return used, (_triangle(gram, diagonal[used]), False)

    def _stationary(self, problem: LeastSquares, alpha: float) -> Array:
        A = problem.gram + np.diag(alpha * self.signs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scipy's word for what is said below in ours
            coef = solve(A, problem.cross, assume_a="sym", check_finite=False)
        smallest = np.abs(np.linalg.eigvalsh(A)).min(initial=np.inf)
        if smallest < 1e-8 * np.abs(A).max(initial=0):
            warnings.warn(
                f"The Kreĭn penalty alpha = {alpha:g} meets an eigenvalue of the negative part: "
                "the solution is unstable. Change alpha, or use penalty='split'.",
                UserWarning,
                stacklevel=2,
            )
        return coef


@dataclass(frozen=True)
class Lasso:
    """``min (1/W) Σ s_i ‖y_i − b − wᵀz_i‖² + alpha ‖w₊‖₁ + alpha_neg ‖w₋‖₁``: few features.

    The Gram matrix ``RᵀR`` turns the problem into one of p rows, which scikit-learn's coordinate
    descent solves; features are divided by their penalties, so that one penalty is left.
    """

    signs: Array
    max_iter: int = 10_000
    tol: float = 1e-6
    # What the targets were multiplied by: the squares were so twice, the penalty is so once.
    unit: float = 1.0

    def solve(self, problem: LeastSquares, penalty: Penalty) -> Array:
        """The coefficients, shape (p, q)."""
        return next(self.path(problem, [penalty]))

    def _rows(self, problem: LeastSquares) -> tuple[Array, Array]:
        """R with ``RᵀR`` the Gram matrix and targets t with ``Rᵀt`` the cross products.

        Directions without variance are left out. A negative eigenvalue shows how large rounding
        is, which is large for features in single precision.
        """
        values, vectors = eigh(problem.gram, check_finite=False)
        noise = max(1e-12 * float(values.mean()), -4 * float(values[0]), 0.0)
        kept = values > noise
        if not kept.any():
            return np.zeros((1, problem.width)), np.zeros((1, problem.cross.shape[1]))
        roots, axes = np.sqrt(values[kept])[:, None], vectors[:, kept].T
        return roots * axes, axes @ problem.cross / roots

    def path(self, problem: LeastSquares, penalties: list[Penalty]) -> Iterator[Array]:
        """The coefficients for each of several penalties."""
        from sklearn.linear_model import Lasso as CoordinateDescent

        p = problem.width
        R, target = self._rows(problem)
        # A penalty below the rounding of the products with the targets is not seen.
        least = 1e-14 * float(np.abs(problem.cross).max(initial=0)) or 1.0
        for penalty in penalties:
            diagonal = np.maximum(self.unit * penalty.diagonal(self.signs), least)
            scale = np.divide(1.0, diagonal, out=np.zeros(p), where=np.isfinite(diagonal))
            # scikit-learn's objective is ours divided by twice the number of rows.
            solver = CoordinateDescent(
                alpha=1 / (2 * len(R)), fit_intercept=False, max_iter=self.max_iter, tol=self.tol
            )
            found = [solver.fit(R * scale, column).coef_ for column in target.T]
            yield np.stack(found, axis=1) * scale[:, None]
