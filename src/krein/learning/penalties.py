"""Where the form M acts in learning: ``alpha ‖w₊‖² + alpha_neg ‖w₋‖²``.

``f = Z w`` spans the same functions for every M; M enters through the penalty alone. Equal
penalties are ridge on the flipped kernel, ``alpha_neg → ∞`` is the clipped one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Penalty:
    """The two penalties of a split form.

    Attributes
    ----------
    alpha : float
        Of features with a positive sign.
    alpha_neg : float
        Of features with a negative sign; ``inf`` leaves them out.
    """

    alpha: float
    alpha_neg: float

    def diagonal(self, signs: NDArray) -> NDArray[np.floating]:
        """The penalty of each feature; infinite where it is left out."""
        return np.where(signs < 0, self.alpha_neg, self.alpha)

    def derivatives(self, signs: NDArray) -> NDArray[np.floating]:
        """``∂ diagonal / ∂ (log alpha, log alpha_neg)``, shape (2, p); 0 where it is infinite."""
        finite = self.alpha_neg if np.isfinite(self.alpha_neg) else 0.0
        negative = signs < 0
        return np.stack([np.where(negative, 0.0, self.alpha), np.where(negative, finite, 0.0)])


@dataclass(frozen=True)
class ConstrainedPenalty(Penalty):
    """Penalties beside a constraint on the predictor's variance.

    Attributes
    ----------
    radius : float
        The standard deviation of the predictions over that of the targets.
    """

    radius: float = 1.0
