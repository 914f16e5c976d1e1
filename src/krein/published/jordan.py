"""The Jordan decomposition: a measure split by sign instead of written in polar form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import ByValue

# Jordan parts lighter than this share of the whole are dropped: the shift-Gaussian's negative
# real part weighs 6e-7 (d = 8) to 1e-34 (d = 57) and would waste a third of the width.
NULL_PART = 1e-6


@dataclass(frozen=True, eq=False)
class Tilt(ByValue):
    """One Jordan part of a density ratio h: ``max(0, Re(factor · h(s)))``.

    Parameters
    ----------
    ratio : krein.measures.ratios.Ratio
        The ratio h.
    factor : complex
        1 and −1 give the positive and negative part of Re h, −i the positive part of Im h.
    """

    ratio: Any
    factor: complex

    def __call__(self, s: NDArray) -> NDArray[np.floating]:
        return np.maximum((self.factor * self.ratio.profile(s)).real, 0)


def jordan_parts(part: Any) -> list[Any]:
    """Split one part of a measure into ``μ_R⁺, μ_R⁻, 2 μ_I⁺`` (asymmetric paper, eq. 2 and 7).

    Parameters
    ----------
    part : krein.measures.Part
        A part without a density ratio is returned as it is.

    Returns
    -------
    list of krein.measures.Part
        Up to three parts, each with a constant phase: +1, −1 or i.
    """
    if part.ratio is None:
        return [part]
    scaled = part.ratio.scaled(part.mass)
    pieces = []
    for factor, turn in ((1.0, 1.0), (-1.0, -1.0), (2j, -1j)):
        tilt = Tilt(scaled, turn)
        mass = scaled.mean(part.law, tilt)
        if abs(factor) * mass > NULL_PART * part.total_mass:
            law = scaled.tilted(part.law, tilt)
            pieces.append(replace(part, law=law, mass=factor * mass, ratio=None))
    return pieces
