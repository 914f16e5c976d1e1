"""Where the data are: a measure only has to be right there."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms, safe_sparse_dot

# The sweeps find a pair of distant rows, not always the most distant one.
MARGIN = 1.05
N_SWEEPS = 12
# Later rows may leave the ball of the fitted rows by this much before a warning.
LEEWAY = 1.1


@dataclass(frozen=True)
class Extent:
    """The ball around the mean that holds the fitted rows, and their diameter."""

    center: NDArray[np.floating]
    reach: float
    diameter: float

    def check(self, X: Any, owner: str) -> bool:
        """Warn if rows leave the ball by more than 10 %; return whether they did."""
        farthest = float(np.sqrt(_squared_distances(X, self.center).max(initial=0)))
        if farthest <= LEEWAY * self.reach:
            return False
        warnings.warn(
            f"Rows lie {farthest:.4g} from the centre of the rows that {owner} was fitted on, "
            f"which reach {self.reach:.4g}: the kernel is only represented there and may be far "
            "off beyond. Refit on rows that cover the range, or pass a larger radius.",
            UserWarning,
            stacklevel=5,
        )
        return True


def _squared_distances(X: Any, point: NDArray) -> NDArray[np.floating]:
    square = row_norms(X, squared=True) - 2 * safe_sparse_dot(X, point) + point @ point
    return np.maximum(square, 0)


def measure_extent(X: Any) -> Extent:
    """Estimate the diameter of the rows by farthest-point sweeps, in O(n d) each.

    From the row farthest from the mean, walk to the row farthest from it, and so on: every step
    is a lower bound of the diameter, and few steps come close. The bound 2·max‖x − x̄‖ would be
    safe but up to a factor of two too large, and mass grows with the radius.
    """
    center = np.asarray(X.mean(axis=0), dtype=float).ravel()
    from_center = _squared_distances(X, center)
    longest = 0.0
    # Start from several far rows: one walk can be caught between two of them.
    for start in np.argsort(from_center)[::-1][: N_SWEEPS // 3]:
        at = int(start)
        for _ in range(3):
            distances = _squared_distances(X, _row(X, at))
            longest = max(longest, float(distances.max()))
            at = int(distances.argmax())
    # Below this a difference is the round-off of squared norms: the rows are all the same.
    noise = 1e-12 * float(row_norms(X, squared=True).max(initial=0))
    diameter = MARGIN * float(np.sqrt(longest)) if longest > noise else 0.0
    return Extent(center, float(np.sqrt(from_center.max())), diameter)


def _row(X: Any, i: int) -> NDArray[np.floating]:
    row = X[[i]]
    return np.asarray(row.toarray() if hasattr(row, "toarray") else row, dtype=float).ravel()
