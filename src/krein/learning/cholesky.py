"""Least squares with a split penalty: one Cholesky factorisation.

The Kreĭn least-squares method (LSM) of the scalable Kreĭn paper, §2.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from .._threads import one_blas_thread
from ..forms import Form
from .losses import SquaredError
from .penalties import Split
from .problems import LeastSquares

Array = NDArray[np.floating]
# Rounding errors of a Gram matrix, relative to its size and trace: of its factorisation, and of
# products in double and in single precision. A smaller penalty has no effect.
FLOORS = (0.0, 1e-14, 1e-9, 1e-7)


def _triangle(gram: Array, diagonal: Array) -> Array:
    """R with ``RᵀR = gram + diag(diagonal)``; penalties below the rounding errors are raised."""
    if not len(gram):
        return gram
    for floor in FLOORS:
        A = gram.copy()
        seen = floor * len(A) * np.trace(A)
        A.flat[:: len(A) + 1] += np.maximum(diagonal, seen)
        R, failed = dpotrf(A.T, overwrite_a=1, clean=0)  # A is symmetric, and Aᵀ is not copied
        if not failed:
            return R
    raise LinAlgError("The Gram matrix is not positive semi-definite.")


def _solved(R: Array, right: Array) -> Array:
    """``(RᵀR)⁻¹ right``; LAPACK does not take matrices without rows."""
    return dpotrs(R, right)[0] if len(R) else right


@dataclass(frozen=True)
class Cholesky:
    """``min (1/W) Σ s_i ‖y_i − b − wᵀz_i‖² + wᵀ P w`` with P = diag(alpha, alpha_neg).

    ``w = (ZᵀZ/W + P)⁻¹ ZᵀY/W`` (paper, after eq. 5; the low-rank form is right as printed): one
    factorisation for all outputs.

    Attributes
    ----------
    form : Form
    """

    form: Form
    loss: ClassVar[type] = SquaredError
    penalty: ClassVar[type] = Split

    def solve(self, problem: LeastSquares, penalty: Split) -> Array:
        """The coefficients, shape (p, q)."""
        used, R = self._factor(problem, penalty)
        coef = np.zeros_like(problem.cross)
        coef[used] = _solved(R, problem.cross[used])
        return coef

    def path(self, problem: LeastSquares, penalties: list[Split]) -> Iterator[Array]:
        """The coefficients for each of several penalties."""
        # BLAS threads cost more than they save on hundreds of small factorisations.
        with one_blas_thread():
            found = [self.solve(problem, penalty) for penalty in penalties]
        yield from found

    def derivatives(self, problem: LeastSquares, penalty: Split) -> tuple[Array, Array]:
        """The coefficients and their derivatives by (log alpha, log alpha_neg), (2, p, q).

        ``(G + P) w = c`` gives ``∂w = −(G + P)⁻¹ ∂P w``.
        """
        used, R = self._factor(problem, penalty)
        coef = np.zeros_like(problem.cross)
        coef[used] = _solved(R, problem.cross[used])
        slopes = penalty.derivatives(self.form)
        change = np.zeros((len(slopes), *coef.shape))
        for out, d in zip(change, slopes, strict=True):
            out[used] = -_solved(R, (d[:, None] * coef)[used])
        return coef, change

    def _factor(self, problem: LeastSquares, penalty: Split) -> tuple[NDArray, Array]:
        diagonal = penalty.diagonal(self.form)
        used = np.flatnonzero(np.isfinite(diagonal))
        whole = len(used) == problem.width
        gram = problem.gram if whole else problem.gram[np.ix_(used, used)]
        return used, _triangle(gram, diagonal[used])
