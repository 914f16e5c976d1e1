"""Least squares with the true Kreĭn penalty: a symmetric-indefinite system."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lstsq, solve

from .._threads import one_blas_thread
from .._validation import outside_level
from ..forms import Form
from .losses import SquaredError
from .penalties import Indefinite
from .problems import LeastSquares

Array = NDArray[np.floating]


@dataclass(frozen=True)
class SymmetricIndefinite:
    """The stationary point of ``(1/W) Σ s_i ‖y_i − b − wᵀz_i‖² + alpha wᵀ M w``.

    Attributes
    ----------
    form : Form
        The form M of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.forms import Signature
    >>> from krein.learning import Indefinite, LeastSquares, SymmetricIndefinite
    >>> from krein.streaming import Moments
    >>> rows = np.array([[1.0, 0, 1], [0, 1, 2], [1, 1, 3], [0, 0, 0]])  # two features, one target
    >>> problem = LeastSquares.of(Moments.of(rows), n_outputs=1)
    >>> SymmetricIndefinite(Signature([1, -1])).solve(problem, Indefinite(0.75))[:, 0]
    array([ 0.25, -1.  ])
    """

    form: Form
    loss: ClassVar[type] = SquaredError
    penalty: ClassVar[type] = Indefinite

    def solve(self, problem: LeastSquares, penalty: Indefinite) -> Array:
        """Return the coefficients, shape (p, q); warns if the penalty meets an eigenvalue."""
        A = problem.gram + penalty.matrix(self.form)
        smallest = np.abs(np.linalg.eigvalsh(A)).min(initial=np.inf)
        if smallest < 1e-8 * np.abs(A).max(initial=0):
            warnings.warn(
                f"The Kreĭn penalty alpha = {penalty.alpha:g} meets an eigenvalue of the negative "
                "part: the solution is unstable. Change alpha, or use penalty='split' "
                "(coupling='split' of a two-sided learner).",
                UserWarning,
                stacklevel=outside_level(),
            )
        return _solved(A, problem.cross)

    def path(self, problem: LeastSquares, penalties: list[Indefinite]) -> Iterator[Array]:
        """Yield the coefficients for each of several penalties, without a warning."""
        with one_blas_thread():
            matrices = [problem.gram + penalty.matrix(self.form) for penalty in penalties]
            found = [_solved(A, problem.cross) for A in matrices]
        yield from found


def _solved(A: Array, right: Array) -> Array:
    """Return ``A⁻¹ right``; the shortest solution if the matrix is exactly singular."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's warning of ill-conditioned matrices
        try:
            return solve(A, right, assume_a="sym", check_finite=False)
        except LinAlgError:
            return lstsq(A, right, check_finite=False)[0]
