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
from ..kernels.base import Profile

# The sweeps find a pair of distant rows, not always the most distant one.
MARGIN = 1.05
N_SWEEPS = 12
# Far rows that later rows are compared with.
N_EXTREMES = 4
# A kernel that is off by more than this share of its largest value, and by more than so many times
# what it is off within the range of the fitted rows, is worth a warning.
NOTICED, MORE = 0.1, 1.5
# The error is predicted at so many distances, up to so many times the range.
N_DISTANCES, FARTHEST = 300, 3.0


@dataclass(frozen=True)
class Extent:
    """The ball around the mean that holds the fitted rows, and their diameter."""

    center: NDArray[np.floating]
    reach: float
    diameter: float
    extremes: tuple[NDArray[np.floating], ...] = ()

    def span(self, X: Any) -> float:
        """The largest distance found of rows of X to fitted rows and to each other."""
        from_center = _squared_distances(X, self.center)
        if not len(from_center):
            return 0.0
        points = [*self.extremes, _row(X, int(from_center.argmax()))]
        farthest = max(float(_squared_distances(X, point).max()) for point in points)
        return float(np.sqrt(farthest))


@dataclass(frozen=True)
class Range:
    """How far off a measure is, beyond the distances that it was made for.

    Parameters
    ----------
    extent : Extent
        Where the fitted rows are.
    distances : ndarray of shape (n,)
        Ascending.
    errors : ndarray of shape (n,)
        The largest error up to each distance, relative to the kernel's largest value on the fitted
        rows.
    diameter : float
        The distance up to which the kernel is represented.
    """

    extent: Extent
    distances: NDArray[np.floating]
    errors: NDArray[np.floating]
    diameter: float

    @classmethod
    def of(
        cls, extent: Extent, diameter: float, reach: float, measured: Profile, exact: Profile
    ) -> Range:
        """The range of a kernel, `exact` and as `measured`, functions of the distance.

        Errors are predicted up to the distance `reach`, beyond which no rows are.
        """
        inside = np.linspace(0, diameter, N_DISTANCES)
        outside = np.linspace(diameter, max(reach, diameter), N_DISTANCES)
        distances = np.concatenate([inside, outside[1:]])
        with np.errstate(over="ignore", invalid="ignore"):
            truth = np.asarray(exact(distances), dtype=float)
            errors = np.abs(measured(distances) - truth)
        size = float(np.abs(truth[: len(inside)]).max()) or 1.0
        # Values beyond floating point are as far off as can be.
        errors = np.nan_to_num(errors / size, nan=np.inf, posinf=np.inf)
        return cls(extent, distances, np.maximum.accumulate(errors), diameter)

    @property
    def bias(self) -> float:
        """The relative error within the range."""
        return float(self.errors[N_DISTANCES - 1])

    def error(self, distance: float) -> float:
        """The predicted relative error at distances up to this one."""
        place = int(np.searchsorted(self.distances, distance))
        return float(self.errors[min(place, len(self.errors) - 1)])

    def check(self, X: Any, owner: str) -> bool:
        """Warn if the kernel is off at the distances that rows of X have; return whether it is."""
        distance = self.extent.span(X)
        # Rows that are all the same are apart by nothing but round-off.
        slack = 1e-6 * float(np.linalg.norm(self.extent.center))
        error = self.error(distance)
        if distance <= self.diameter + slack or error <= max(NOTICED, MORE * self.bias):
            return False
        warnings.warn(
            f"Rows lie up to {distance:.4g} apart, from each other or from the rows that {owner} "
            f"was fitted on, whose kernel is represented up to the distance {self.diameter:.4g}: "
            f"beyond, it is off by {100 * error:.3g} % of its largest value. Refit on rows that "
            "cover the range, or pass a larger diameter.",
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
    bound = kernel.traits.lowest_product
    if bound > -1 and lowest < bound - 1e-6:
        raise ValueError(
            f"{type(kernel).__name__} is defined for products ⟨x, y⟩ of at least {bound:g}, but "
            f"unit rows of X have the product {lowest:.4g}: it needs data without negative "
            "products, e.g. non-negative columns."
        )


def farthest_on_sphere(kernel: Kernel) -> float:
    """The largest distance of unit rows at which the kernel is defined."""
    return float(np.sqrt(2 - 2 * kernel.traits.lowest_product))


def measure_extent(X: Any) -> Extent:
    """Estimate the diameter of the rows by farthest-point sweeps, in O(n d) each.

    From the row farthest from the mean, walk to the row farthest from it, and so on: every step
    is a lower bound of the diameter, and few steps come close. The bound 2·max‖x − x̄‖ would be
    safe but up to a factor of two too large, and mass grows with the diameter.
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
