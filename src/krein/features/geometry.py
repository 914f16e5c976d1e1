"""Where the data are: a measure only has to be right there."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from .._blocks import row_blocks
from ..kernels import Kernel

# The sweeps find a pair of distant rows, not always the most distant one.
MARGIN = 1.05
N_SWEEPS = 12
# Far rows that later rows are compared with.
N_EXTREMES = 4
# Later rows may leave the ball of the fitted rows by this much before a warning.
LEEWAY = 1.1


@dataclass(frozen=True)
class Extent:
    """The ball around the mean that holds the fitted rows, and their diameter."""

    center: NDArray[np.floating]
    reach: float
    diameter: float
    extremes: tuple[NDArray[np.floating], ...] = ()

    def check(self, X: Any, owner: str) -> bool:
        """Warn if rows leave the ball by more than 10 %; return whether they did."""
        farthest = float(np.sqrt(_squared_distances(X, self.center).max(initial=0)))
        across = max(
            (float(np.sqrt(_squared_distances(X, row).max(initial=0))) for row in self.extremes),
            default=0.0,
        )
        # Rows that are all the same reach nothing but round-off.
        slack = 1e-6 * float(np.linalg.norm(self.center))
        if farthest <= LEEWAY * self.reach + slack and across <= LEEWAY * self.diameter + slack:
            return False
        warnings.warn(
            f"Rows lie {farthest:.4g} from the centre of the rows that {owner} was fitted on, "
            f"which reach {self.reach:.4g} (and {across:.4g} from its farthest rows, of diameter "
            f"{self.diameter:.4g}): the kernel is only represented there and may be far off "
            "beyond. Refit on rows that cover the range, or pass a larger radius.",
            UserWarning,
            stacklevel=5,
        )
        return True


def _squared_distances(X: Any, point: NDArray) -> NDArray[np.floating]:
    if not hasattr(X, "tocsr"):
        # Differences first: the expanded square would lose all digits of rows far from the origin.
        out = np.empty(len(X))
        for rows in row_blocks(len(X), 8 * X.shape[1]):
            out[rows] = np.square(X[rows] - point).sum(axis=1)
        return out
    square = row_norms(X, squared=True) - 2 * safe_sparse_dot(X, point) + point @ point
    return np.maximum(square, 0)


def check_products(kernel: Kernel, extent: Extent) -> None:
    """Raise if unit rows have a product at which the kernel is not defined."""
    lowest = 1 - (extent.diameter / MARGIN) ** 2 / 2
    if kernel.lowest_product > -1 and lowest < kernel.lowest_product - 1e-6:
        raise ValueError(
            f"{type(kernel).__name__} is defined for products ⟨x, y⟩ of at least "
            f"{kernel.lowest_product:g}, but unit rows of X have the product {lowest:.4g}: it "
            "needs data without negative products, e.g. non-negative columns."
        )


def measure_extent(X: Any) -> Extent:
    """Estimate the diameter of the rows by farthest-point sweeps, in O(n d) each.

    From the row farthest from the mean, walk to the row farthest from it, and so on: every step
    is a lower bound of the diameter, and few steps come close. The bound 2·max‖x − x̄‖ would be
    safe but up to a factor of two too large, and mass grows with the radius.
    """
    center = np.asarray(X.mean(axis=0), dtype=float).ravel()
    from_center = _squared_distances(X, center)
    longest = 0.0
    extremes = {}
    # Start from several far rows: one walk can be caught between two of them.
    for start in np.argsort(from_center)[::-1][: N_SWEEPS // 3]:
        at = int(start)
        for _ in range(3):
            distances = _squared_distances(X, _row(X, at))
            longest = max(longest, float(distances.max()))
            extremes[at] = _row(X, at)
            at = int(distances.argmax())
    # Below this a difference is the round-off of squared norms: the rows are all the same.
    sparse_digits = 1e-12 if hasattr(X, "tocsr") else 1e-28
    noise = sparse_digits * float(row_norms(X, squared=True).max(initial=0))
    diameter = MARGIN * float(np.sqrt(longest)) if longest > noise else 0.0
    reach = float(np.sqrt(from_center.max()))
    return Extent(center, reach, diameter, tuple(extremes.values())[:N_EXTREMES])


def _row(X: Any, i: int) -> NDArray[np.floating]:
    row = X[[i]]
    return np.asarray(row.toarray() if hasattr(row, "toarray") else row, dtype=float).ravel()
