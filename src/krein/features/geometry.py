"""The range of the data: a measure must represent the kernel only on this range."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from .._blocks import row_blocks
from .._validation import outside_level
from ..kernels import Kernel
from ..measures.radial import Profile
from ..rows import dense

# Safety factor: the sweeps find a distant pair of rows, but not always the most distant pair.
MARGIN = 1.05
N_SWEEPS = 12
# Number of extreme training rows with which new rows are compared.
N_EXTREMES = 4
# `transform` warns if the predicted error exceeds NOTICED times the largest kernel value and MORE
# times the error within the range of the training rows.
NOTICED, MORE = 0.1, 1.5
# The error is predicted at N_DISTANCES distances, up to FARTHEST times the range.
N_DISTANCES, FARTHEST = 300, 3.0


@dataclass(frozen=True)
class Extent:
    """The mean of the training rows, their diameter, and rows that are far from each other.

    Attributes
    ----------
    center : ndarray of shape (dim,)
        Mean of the training rows.
    diameter : float
        Estimated largest distance of two training rows.
    extremes : tuple of ndarray
        Some training rows that are far from each other.
    """

    center: NDArray[np.floating]
    diameter: float
    extremes: tuple[NDArray[np.floating], ...] = ()

    def span(self, X: Any) -> float:
        """Return the largest distance found between rows of X, or from X to training rows."""
        from_center = _squared_distances(X, self.center)
        if not len(from_center):
            return 0.0
        points = [*self.extremes, _row(X, int(from_center.argmax()))]
        farthest = max(float(_squared_distances(X, point).max()) for point in points)
        return float(np.sqrt(farthest))


@dataclass(frozen=True)
class Range:
    """The error of a measure as a function of the distance.

    Parameters
    ----------
    extent : Extent
        The extent of the training rows.
    distances : ndarray of shape (n,)
        Distances in ascending order.
    errors : ndarray of shape (n,)
        The largest error up to each distance, relative to the largest kernel value on the training
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
        """Compare a kernel with its measure; `exact` and `measured` are functions of the distance.

        The error is predicted up to the distance `reach`.
        """
        inside = np.linspace(0, diameter, N_DISTANCES)
        outside = np.linspace(diameter, max(reach, diameter), N_DISTANCES)
        distances = np.concatenate([inside, outside[1:]])
        with np.errstate(over="ignore", invalid="ignore"):
            truth = np.asarray(exact(distances), dtype=float)
            errors = np.abs(measured(distances) - truth)
        size = float(np.abs(truth[: len(inside)]).max()) or 1.0
        # A value that is not finite counts as an infinite error.
        errors = np.nan_to_num(errors / size, nan=np.inf, posinf=np.inf)
        return cls(extent, distances, np.maximum.accumulate(errors), diameter)

    @property
    def bias(self) -> float:
        """Relative error within the range of the training rows."""
        return float(self.errors[N_DISTANCES - 1])

    def error(self, distance: float) -> float:
        """Return the predicted relative error at distances up to `distance`."""
        place = int(np.searchsorted(self.distances, distance))
        return float(self.errors[min(place, len(self.errors) - 1)])

    def check(self, X: Any, owner: str) -> bool:
        """Warn and return True if the map is inaccurate at the distances of the rows of X."""
        distance = self.extent.span(X)
        # The distance of equal rows is not exactly zero, because of rounding.
        slack = 1e-6 * float(np.linalg.norm(self.extent.center))
        error = self.error(distance)
        if distance <= self.diameter + slack or error <= max(NOTICED, MORE * self.bias):
            return False
        warnings.warn(
            f"Rows of X lie up to {distance:.4g} apart from each other or from the training rows, "
            f"but {owner} represents the kernel only up to the distance {self.diameter:.4g}: "
            f"beyond it the map is off by {100 * error:.3g} % of the largest kernel value. Fit on "
            "rows that cover the range, or pass a larger diameter.",
            UserWarning,
            stacklevel=outside_level(),
        )
        return True


def _squared_distances(X: Any, point: NDArray) -> NDArray[np.floating]:
    if not hasattr(X, "tocsr"):
        # Subtract first: the expanded square loses all digits of rows far from the origin.
        out = np.empty(len(X))
        for rows in row_blocks(len(X), 8 * X.shape[1]):
            out[rows] = np.square(X[rows] - point).sum(axis=1)
        return out
    square = row_norms(X, squared=True) - 2 * safe_sparse_dot(X, point) + point @ point
    return np.maximum(square, 0)


def check_products(kernel: Kernel, extent: Extent) -> None:
    """Raise if two unit rows have a product for which the kernel is not defined."""
    lowest = 1 - (extent.diameter / MARGIN) ** 2 / 2
    bound = kernel.traits.lowest_product
    if bound > -1 and lowest < bound - 1e-6:
        raise ValueError(
            f"{type(kernel).__name__} is defined for products ⟨x, y⟩ of at least {bound:g}, but "
            f"unit rows of X have the product {lowest:.4g}: it needs data without negative "
            "products, e.g. non-negative columns."
        )


def farthest_on_sphere(kernel: Kernel) -> float:
    """Return the largest distance of unit rows for which the kernel is defined."""
    return float(np.sqrt(2 - 2 * kernel.traits.lowest_product))


def measure_extent(X: Any) -> Extent:
    """Estimate the diameter of the rows by farthest-point sweeps, each in O(n d).

    A sweep starts at the row farthest from the mean and goes to the row farthest from there, and so
    on. Every step gives a lower bound of the diameter, and few steps come close to it. The upper
    bound 2·max‖x − x̄‖ can be twice too large, and the mass of a measure grows with the diameter.
    """
    center = np.asarray(X.mean(axis=0), dtype=float).ravel()
    from_center = _squared_distances(X, center)
    longest = 0.0
    extremes = {}
    # Start from several far rows, because one sweep may go back and forth between two rows.
    for start in np.argsort(from_center)[::-1][: N_SWEEPS // 3]:
        at = int(start)
        for _ in range(3):
            distances = _squared_distances(X, _row(X, at))
            longest = max(longest, float(distances.max()))
            extremes[at] = _row(X, at)
            at = int(distances.argmax())
    # Smaller squared distances are rounding errors: all rows are equal.
    sparse_digits = 1e-12 if hasattr(X, "tocsr") else 1e-28
    noise = sparse_digits * float(row_norms(X, squared=True).max(initial=0))
    diameter = MARGIN * float(np.sqrt(longest)) if longest > noise else 0.0
    return Extent(center, diameter, tuple(extremes.values())[:N_EXTREMES])


def _row(X: Any, i: int) -> NDArray[np.floating]:
    return np.asarray(dense(X[[i]]), dtype=float).ravel()
