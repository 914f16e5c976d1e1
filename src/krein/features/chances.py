"""Chances of rows to be drawn, made of their scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def shares(weights: NDArray[np.floating]) -> NDArray[np.floating]:
    """Scale weights to sum 1 and add a floor, so that a row with score 0 keeps a chance."""
    total = weights.sum()
    floor = 1e-3 / len(weights)
    return weights / total + floor if total > 0 else np.full(len(weights), floor)


def chances(scores: NDArray[np.floating], n: float) -> NDArray[np.floating]:
    """Return chances ``min(1, c · score)`` that add up to n; a row with the chance 1 is certain."""
    ascending = np.sort(scores)
    largest = ascending[::-1][: int(np.ceil(n))]
    rest = np.cumsum(ascending)[::-1][: len(largest)]  # the sum of all but the i largest scores
    # With i certain rows the others share n − i rows.
    shared = (n - np.arange(len(largest))) * largest < rest
    if not shared.any():
        return (scores > 0).astype(float)
    i = int(np.argmax(shared))
    return np.minimum(1, (n - i) * scores / rest[i])


def odds(chances: NDArray[np.floating], n: int) -> NDArray[np.floating]:
    """Return the weights ``p / (1 − p)`` of a draw of n rows; no chance p is 0 or 1."""
    chances = np.clip(chances, 1e-3 * n / len(chances), 1 - 1e-9)
    return chances / (1 - chances)
