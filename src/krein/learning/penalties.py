"""Where the form M acts in learning: the penalty ``wᵀ P w`` with P made of M.

``f = Z w`` spans the same functions for every M; M enters through the penalty alone. Equal
penalties of both parts give ridge on the flipped kernel, and ``alpha_neg → ∞`` gives ridge on the
clipped kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..forms import Form

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Split:
    """``alpha ‖w₊‖² + alpha_neg ‖w₋‖²``: each part of the kernel has a penalty of its own.

    A feature belongs to the negative part if the symmetric part of M is negative there.

    Attributes
    ----------
    alpha : float
        The penalty of the positive part.
    alpha_neg : float
        The penalty of the negative part; ``inf`` leaves the part out.

    Examples
    --------
    >>> from krein.forms import Signature
    >>> from krein.learning import Split
    >>> Split(0.1, 2.0).diagonal(Signature([1, -1]))
    array([0.1, 2. ])
    """

    alpha: float
    alpha_neg: float

    def diagonal(self, form: Form) -> Array:
        """Return the penalty of each feature; infinite where the feature is left out."""
        return np.where(form.signs < 0, self.alpha_neg, self.alpha)

    def matrix(self, form: Form) -> Array:
        """Return P, of shape (p, p)."""
        return np.diag(self.diagonal(form))

    def derivatives(self, form: Form) -> Array:
        """Return ``∂ diagonal / ∂ (log alpha, log alpha_neg)``, (2, p); 0 where it is infinite."""
        finite = self.alpha_neg if np.isfinite(self.alpha_neg) else 0.0
        negative = form.signs < 0
        return np.stack([np.where(negative, 0.0, self.alpha), np.where(negative, finite, 0.0)])


@dataclass(frozen=True)
class L1(Split):
    """``alpha ‖w₊‖₁ + alpha_neg ‖w₋‖₁``, which keeps few features.

    Attributes
    ----------
    alpha : float
        The penalty of the positive part.
    alpha_neg : float
        The penalty of the negative part; ``inf`` leaves the part out.

    Examples
    --------
    >>> from krein.learning import L1, CoordinateDescent, SquaredError, solver_for
    >>> solver_for(SquaredError, L1) is CoordinateDescent
    True
    """


@dataclass(frozen=True)
class Constrained(Split):
    """`Split` with a constraint on the variance of the predictions.

    Attributes
    ----------
    alpha : float
        The penalty of the positive part.
    alpha_neg : float
        The penalty of the negative part; ``inf`` leaves the part out.
    spread : float, default=1.0
        The standard deviation of the predictions divided by that of the targets.

    Examples
    --------
    >>> from krein.learning import Constrained
    >>> Constrained(0.1, 2.0, spread=0.9)
    Constrained(alpha=0.1, alpha_neg=2.0, spread=0.9)
    """

    spread: float = 1.0


@dataclass(frozen=True)
class Indefinite:
    """``alpha wᵀ M w``, the true Kreĭn form: the negative part is rewarded.

    The solution is a stationary point, which explodes where alpha meets an eigenvalue of the
    negative part.

    Attributes
    ----------
    alpha : float
        The penalty of the whole form.

    Examples
    --------
    >>> from krein.forms import Signature
    >>> from krein.learning import Indefinite
    >>> Indefinite(2.0).matrix(Signature([1, -1]))
    array([[ 2.,  0.],
           [ 0., -2.]])
    """

    alpha: float

    @property
    def alpha_neg(self) -> float:
        """The weight of the negative part, which the form gives its sign."""
        return self.alpha

    def matrix(self, form: Form) -> Array:
        """Return P, of shape (p, p)."""
        return np.diag(np.where(form.signs < 0, -self.alpha, self.alpha))
