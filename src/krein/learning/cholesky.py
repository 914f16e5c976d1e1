"""Least squares with a split penalty: one Cholesky factorisation.

The Kreĭn least-squares method (LSM) of the scalable Kreĭn paper, §2.4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from .._threads import blas_threads_for
from ..forms import Form
from .elimination import Divided, triangle
from .losses import SquaredError
from .penalties import Split
from .problems import LeastSquares

Array = NDArray[np.floating]
# Eliminating the positive part pays for at least this many penalties of the negative part.
SHARED = 3


def _solved(R: Array, right: Array) -> Array:
    """Return ``(RᵀR)⁻¹ right``; LAPACK does not take matrices without rows."""
    return dpotrs(R, right)[0] if len(R) else right


@dataclass(frozen=True)
class Cholesky:
    """``min (1/W) Σ s_i ‖y_i − b − wᵀz_i‖² + wᵀ P w`` with P = diag(alpha, alpha_neg).

    ``w = (ZᵀZ/W + P)⁻¹ ZᵀY/W`` (paper, after eq. 5; the low-rank form is right as printed): one
    factorisation for all outputs.

    Attributes
    ----------
    form : Form
        The form M of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.forms import Signature
    >>> from krein.learning import Cholesky, LeastSquares, Split
    >>> from krein.streaming import Moments
    >>> rows = np.array([[1.0, 0, 1], [0, 1, 2], [1, 1, 3], [0, 0, 0]])  # two features, one target
    >>> problem = LeastSquares.of(Moments.of(rows), n_outputs=1)
    >>> Cholesky(Signature([1, -1])).solve(problem, Split(0.25, 0.75))[:, 0]
    array([0.5, 0.5])
    """

    form: Form
    loss: ClassVar[type] = SquaredError
    penalty: ClassVar[type] = Split

    def solve(self, problem: LeastSquares, penalty: Split) -> Array:
        """Return the coefficients, shape (p, q)."""
        used, R = self._factor(problem, penalty)
        coef = np.zeros_like(problem.cross)
        coef[used] = _solved(R, problem.cross[used])
        return coef

    def path(self, problem: LeastSquares, penalties: list[Split]) -> Iterator[Array]:
        """Yield the coefficients for each of several penalties."""
        found: dict[int, Array] = {}
        # BLAS threads cost more than they save on hundreds of small factorisations.
        with blas_threads_for(problem.gram):
            divided = Divided.of(problem, self.form.signs < 0)
            for places in self._alike(penalties):
                found |= self._together(problem, divided, penalties, places)
        yield from (found[place] for place in range(len(penalties)))

    def _alike(self, penalties: list[Split]) -> list[list[int]]:
        """Return the places of penalties that differ in the penalty of the negative part only."""
        kept = self.form.signs >= 0
        groups: dict[bytes, list[int]] = defaultdict(list)
        for place, penalty in enumerate(penalties):
            groups[penalty.diagonal(self.form)[kept].tobytes()].append(place)
        return list(groups.values())

    def _together(
        self,
        problem: LeastSquares,
        divided: Divided | None,
        penalties: list[Split],
        places: list[int],
    ) -> dict[int, Array]:
        """Return the coefficients for penalties that share the penalty of the positive part."""
        negative = self.form.signs < 0
        diagonals = np.stack([penalties[place].diagonal(self.form) for place in places])
        first, seconds = diagonals[0, ~negative], diagonals[:, negative]
        usual = np.isfinite(first).all() and (seconds == seconds[:, :1]).all()
        reduced = None
        if divided is not None and usual and len(places) >= SHARED:
            reduced = divided.reduced(first)
        found = {}
        for place, second in zip(places, seconds, strict=True):
            coef = None if reduced is None else reduced.solve(float(second[0]))
            found[place] = self.solve(problem, penalties[place]) if coef is None else coef
        return found

    def derivatives(self, problem: LeastSquares, penalty: Split) -> tuple[Array, Array]:
        """Return the coefficients and their derivatives by (log alpha, log alpha_neg), (2, p, q).

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
        return used, triangle(gram, diagonal[used])
