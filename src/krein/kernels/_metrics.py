"""The elastic metrics: their parameters, the packed form of a series, and their step.

A metric is a frozen dataclass. Its fields are its parameters, under the names of aeon.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _elastic
from ._packed import Packed, Rule

Series = NDArray[np.float64]  # of shape (time, channels)


@dataclass(frozen=True)
class Metric:
    """Dynamic time warping, and the base of all metrics."""

    step = _elastic.WARP
    root = True  # whether the distance is the root of the cost
    shortest = 1  # smallest number of points of a series
    signed: ClassVar[tuple[str, ...]] = ()  # parameters that may be negative

    @property
    def price(self) -> float:
        """The parameter of the step, see `Rule.price`."""
        return 0.0

    def points(self, series: Series) -> Series:
        """Return the values that are compared, by default the points, shape (time, channels)."""
        return series

    def extra(self, series: Series) -> Series:
        """Return further rows of a packed series, shape (time, rows)."""
        return np.empty((len(series), 0))

    def own(self, series: Series) -> float:
        """Return the number of a series that the step needs, see `Packed.own`."""
        return 0.0

    def packed(self, side: list[Series]) -> Packed:
        """Return series as the loops take them."""
        rows = [np.hstack([self.points(series), self.extra(series)]).T for series in side]
        padded = [np.pad(one, ((0, 0), (1, 0))) for one in rows]
        flat = [np.concatenate([one.ravel() for one in padded])]
        flat.append(np.concatenate([one[:, ::-1].ravel() for one in padded]))
        ends = np.cumsum([one.size for one in padded])
        lengths = np.array([one.shape[1] for one in rows])
        own = np.array([self.own(series) for series in side])
        return Packed(np.stack(flat), lengths, ends - [one.size for one in padded], own)

    def rule(self, series: Series, window: float) -> Rule:
        """Return what the loops need to know, for series like the given one."""
        channels = self.points(series).shape[1]
        rows = channels + self.extra(series).shape[1]
        return Rule(self.step, rows, channels, float(self.price), self.root, float(window))


@dataclass(frozen=True)
class Derivative(Metric):
    """Dynamic time warping of slopes."""

    shortest = 3

    def points(self, series: Series) -> Series:
        # Keogh and Pazzani: the mean of two slopes, from the point before and between neighbours.
        return ((series[1:-1] - series[:-2]) + (series[2:] - series[:-2]) / 2) / 2

    def extra(self, series: Series) -> Series:
        return np.empty((len(series) - 2, 0))


@dataclass(frozen=True)
class Weighted(Metric):
    """Dynamic time warping with weights that grow with the shift."""

    g: float = 0.05
    step = _elastic.WEIGHTED

    @property
    def price(self) -> float:
        return self.g


@dataclass(frozen=True)
class Amerced(Metric):
    """Dynamic time warping with a penalty for steps that advance one series only."""

    warp_penalty: float = 1.0

    @property
    def price(self) -> float:
        return self.warp_penalty


@dataclass(frozen=True)
class Shape(Metric):
    """Dynamic time warping along the path that is cheapest for the windows around the points."""

    reach: int = 15
    step = _elastic.SHAPE

    def points(self, series: Series) -> Series:
        padded = np.pad(series, ((self.reach, self.reach), (0, 0)), mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * self.reach + 1, axis=0)
        return windows.reshape(len(series), -1)

    def extra(self, series: Series) -> Series:
        return series


@dataclass(frozen=True)
class Soft(Metric):
    """Dynamic time warping with a smooth minimum."""

    gamma: float = 1.0
    step = _elastic.SOFT

    @property
    def price(self) -> float:
        return self.gamma

    def rule(self, series: Series, window: float) -> Rule:
        rule = super().rule(series, window)
        return rule if self.gamma else rule._replace(step=_elastic.WARP)


@dataclass(frozen=True)
class CommonSubsequence(Metric):
    """One minus the share of the longest common subsequence."""

    epsilon: float = 1.0
    step = _elastic.LCSS
    root = False

    def own(self, series: Series) -> float:
        return self.epsilon


@dataclass(frozen=True)
class RealPenalty(Metric):
    """Edit distance with real penalty."""

    g: float = 0.0
    step = _elastic.ERP
    root = False
    signed: ClassVar[tuple[str, ...]] = ("g",)

    def extra(self, series: Series) -> Series:
        return np.linalg.norm(series - self.g, axis=1, keepdims=True)

    def own(self, series: Series) -> float:
        return float(self.extra(series).sum())


@dataclass(frozen=True)
class RealSequences(Metric):
    """Edit distance on real sequences."""

    epsilon: float | None = None
    step = _elastic.EDR
    root = False

    def own(self, series: Series) -> float:
        # Not 0 for a constant series, whose points are equal to themselves.
        least = np.finfo(float).tiny
        return max(series.std() / 4, least) if self.epsilon is None else self.epsilon


@dataclass(frozen=True)
class MoveSplitMerge(Metric):
    """Move-split-merge."""

    c: float = 1.0
    step = _elastic.MSM
    root = False

    @property
    def price(self) -> float:
        return self.c


@dataclass(frozen=True)
class TimeWarpEdit(Metric):
    """Time warp edit."""

    nu: float = 0.001
    lmbda: float = 1.0
    step = _elastic.TWE
    root = False

    @property
    def price(self) -> float:
        return self.nu

    def extra(self, series: Series) -> Series:
        moves = np.diff(series, axis=0, prepend=0.0)
        return np.linalg.norm(moves, axis=1, keepdims=True) + self.nu + self.lmbda


METRICS: dict[str, type[Metric]] = {
    "dtw": Metric,
    "ddtw": Derivative,
    "wdtw": Weighted,
    "adtw": Amerced,
    "shape_dtw": Shape,
    "soft_dtw": Soft,
    "lcss": CommonSubsequence,
    "erp": RealPenalty,
    "edr": RealSequences,
    "msm": MoveSplitMerge,
    "twe": TimeWarpEdit,
}
