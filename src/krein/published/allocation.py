"""Equal allocation: every part of a measure gets the same number of frequencies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def equal_scores(n_parts: int) -> NDArray[np.floating]:
    """Return the same score for every part of a measure.

    Both random-feature papers allocate this way. For the δ-Gaussian half of the frequencies then
    go to a part that is nearly constant on the data.

    Parameters
    ----------
    n_parts : int
        Number of parts.
    """
    return np.ones(n_parts)
