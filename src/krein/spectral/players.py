"""The margin player of the game: which duals are feasible, and how they move."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ..forms import Signature
from ..learning import Hinge, MarginLoss, Newton, Split, SquaredHinge
from ..learning.newton import NewtonState
from ..published.projection import alternating_projection
from .projection import project

Array = NDArray[np.floating]
PROJECTIONS: dict[str, Callable[[Array, Array, float], Array]] = {
    "exact": project,
    "alternating": alternating_projection,
}
# Bound of the duals of the squared hinge, which needs none: the quadratic term keeps them far below
# it.
UNBOUNDED = 1e10
# Steps of a support vector machine. With a large C it would take hours to converge.
SVM_STEPS = 10**6


@dataclass(frozen=True)
class MarginPlayer:
    """The duals α of a support vector machine with the hinge or the squared hinge.

    The payoff with a kernel of potential v is ``1ᵀα − ½ v``, and ``1ᵀα − αᵀα/(4C) − ½ v`` for the
    squared hinge. The duals satisfy ``yᵀα = 0`` and ``0 ≤ α ≤ C``, or ``0 ≤ α`` for the squared
    hinge.

    Parameters
    ----------
    C : float
        The factor of the loss in the machine's objective.
    step : float, default=0.1
        First step of the duals, in units of ``C / √v`` with the first peak v. Step t is divided by
        √t.
    squared : bool, default=False
        True for the squared hinge.
    refits : bool, default=False
        True solves the machine with all actions so far before each search, the fully corrective
        variant. The duals then make no steps.
    projection : {"exact", "alternating"}, default="exact"
        How duals become feasible; "alternating" is the paper's Algorithm 3.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.players import MarginPlayer
    >>> MarginPlayer(C=1.0).start(np.array([1.0, 1.0, -1.0])).round(3)
    array([0.333, 0.333, 0.667])
    """

    C: float
    step: float = 0.1
    squared: bool = False
    refits: bool = False
    projection: str = "exact"

    def start(self, y: Array) -> Array:
        """Return the first duals; C/2, as in the paper, is infeasible if the classes differ."""
        return self.feasible(np.full(len(y), self.C / 2), y)

    def feasible(self, alpha: Array, y: Array) -> Array:
        """Return feasible duals near `alpha`."""
        # Nothing is projected beyond twice the largest dual, so this bound does not bind.
        bound = self.C + 2 * float(np.abs(alpha).max()) if self.squared else self.C
        return PROJECTIONS[self.projection](alpha, y, bound)

    def payoff(self, alpha: Array, potential: float) -> float:
        """Return the payoff F of duals and of a kernel with this potential."""
        spread = alpha @ alpha / (4 * self.C) if self.squared else 0.0
        return float(alpha.sum() - spread - potential / 2)

    def moved(self, alpha: Array, y: Array, outputs: Array, size: float) -> Array:
        """Return the duals after a step along the gradient of the payoff.

        Parameters
        ----------
        alpha : ndarray of shape (n,)
            The duals.
        y : ndarray of shape (n,)
            Labels, each +1 or −1.
        outputs : ndarray of shape (n,)
            The outputs ``K Y α`` of the machine with these duals.
        size : float
            The length of the step.
        """
        slope = 1 - y * outputs
        if self.squared:
            slope -= alpha / (2 * self.C)
        return self.feasible(alpha + size * slope, y)

    def refitted(self, Z: Array, y: Array) -> Array:
        """Return the duals of the machine with the kernel ``Z Zᵀ``."""
        loss: MarginLoss = SquaredHinge() if self.squared else Hinge()
        rows, alpha = _Whole(Z), 1 / (2 * self.C * len(Z))
        solver = Newton(Signature(np.ones(rows.width)), loss)
        start = NewtonState.zero(rows)
        state = solver.solve(rows, y, np.ones(len(Z)), Split(alpha, alpha), start)
        # The duals are the slopes of the loss; they are feasible up to the solver's tolerance.
        return self.feasible(-2 * self.C * loss.half_slope(y * state.outputs), y)

    def best_value(self, K: Array, y: Array) -> float:
        """Return the largest payoff against the kernel matrix K, by a support vector machine."""
        if self.squared:
            return svm_value(K + np.eye(len(K)) / (2 * self.C), y, UNBOUNDED)
        return svm_value(K, y, self.C)


class _Whole:
    """All rows as one piece, as the Newton solver walks them."""

    def __init__(self, Z: Array):
        self.Z = Z
        self.n_rows, self.width = Z.shape

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        yield slice(0, self.n_rows), self.Z


def svm_value(K: Array, y: Array, C: float) -> float:
    """Return the maximum of ``1ᵀα − ½ αᵀ Y K Y α`` over ``0 ≤ α ≤ C, yᵀα = 0``.

    A machine that has not converged within `SVM_STEPS` steps returns a lower bound, because its
    duals are feasible.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = SVC(C=C, kernel="precomputed", max_iter=SVM_STEPS).fit(K, y)
    signed, rows = machine.dual_coef_[0], machine.support_
    return float(np.abs(signed).sum() - signed @ K[np.ix_(rows, rows)] @ signed / 2)
