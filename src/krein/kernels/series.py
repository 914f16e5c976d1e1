"""Elastic distances between time series."""

from __future__ import annotations

import dataclasses
import numbers
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._threads import over_blocks
from .._validation import (
    ArgumentError,
    check_choice,
    check_count,
    check_finite,
    check_n_jobs,
    check_positive,
    store,
)
from . import _elastic
from ._metrics import METRICS, Metric, Series
from .base import Kernel
from .sets import check_ragged, check_ragged_pair
from .traits import Traits

# Cells of dynamic programmes for which a further thread pays: about two milliseconds of work.
CELLS = 2_000_000


class ElasticDistance(Kernel):
    """An elastic distance between time series, which tolerates shifts in time.

    The data are an array with one series per row, an array of shape (series, time, channels), or a
    list of series, each of shape (time,) or (time, channels). The series of a list can have
    different lengths. Transpose series of shape (channels, time), aeon's convention, first.

    All metrics are symmetric. Every metric takes series of several channels, of different lengths,
    and a window. The parameters have the names and the defaults of aeon.

    Parameters
    ----------
    metric : str, default="dtw"
        The distance between two series. A point has one coordinate per channel.

        - "dtw": dynamic time warping, the root of the smallest sum of squared distances of points
          along a warping path.
        - "ddtw": dynamic time warping of the slopes of the series, which need at least 3 points.
        - "wdtw": dynamic time warping with weights that grow with the shift, `g`.
        - "adtw": amerced dynamic time warping: every step of the path that does not advance both
          series adds `warp_penalty` to the sum.
        - "shape_dtw": dynamic time warping along the path that is cheapest for the windows of
          `reach` points on both sides of each point.
        - "soft_dtw": dynamic time warping with a smooth minimum, `gamma`.
        - "lcss": one minus the longest common subsequence divided by the length of the shorter
          series; points are equal within `epsilon`.
        - "erp": edit distance with real penalty; a gap costs the distance to `g`.
        - "edr": edit distance on real sequences, divided by the length of the longer series; points
          are equal within `epsilon`.
        - "msm": move-split-merge, `c`, summed over the channels.
        - "twe": time warp edit, `nu` and `lmbda`.
    window : float, default=None
        Largest allowed shift as a share of the length of the shorter series, in [0, 1]; None means
        no limit. With window 0, "dtw" of series of equal lengths is the Euclidean distance. See
        Notes for series of different lengths.
    g : float, default=None
        For "wdtw", the steepness of the logistic curve of the weights; None means 0.05. For "erp",
        the value with which a gap is compared; None means 0.
    epsilon : float, default=None
        Largest distance of points that count as equal, for "lcss" and "edr". None means 1 for
        "lcss", and a quarter of the larger standard deviation of the two series for "edr".
    c : float, default=1.0
        Cost of a split or a merge, for "msm".
    nu : float, default=0.001
        Cost of a shift by one step, for "twe".
    lmbda : float, default=1.0
        Cost of a deletion, for "twe".
    warp_penalty : float, default=1.0
        Cost of a step that advances one series only, for "adtw". With 0, "adtw" is "dtw".
    gamma : float, default=1.0
        Temperature of the smooth minimum, for "soft_dtw". With 0, "soft_dtw" is "dtw".
    reach : int, default=15
        Number of points on each side of a point that describe it, for "shape_dtw". With 0,
        "shape_dtw" is "dtw".
    n_jobs : int, default=None
        Number of threads. None means as many as BLAS is allowed to use: all cores, or one in a
        worker of joblib. -1 means all cores.

    Notes
    -----
    The values are those of aeon, with four exceptions. For the metrics "dtw" to "soft_dtw" in the
    list, aeon returns sums of squares. This class returns their roots, so that
    ``Similarity(…, transform="gaussian")`` is exp(−γ · sum of squares). For "shape_dtw", aeon 1.6
    can leave out points at the start of a series, and its value depends on the order of the two
    series if several paths are cheapest. This class sums over the whole path, and takes the
    smallest sum of all cheapest paths. For "edr" with ``epsilon=None``, no points of two constant
    series are equal in aeon. In this class equal points are, and the distance of a constant series
    to itself is 0.

    As in aeon, "soft_dtw" is the root of the absolute value of the smooth minimum, which is
    negative if the distances are small compared with ``gamma · length``: choose gamma small. The
    distance of a series to itself is set to 0. Also as in aeon, "erp" and "edr" differ from their
    papers in the cost of a gap at the start of a series: "erp" charges all points of the series,
    and "edr" charges nothing.

    The window is aeon's Sakoe–Chiba band. Let the longer series have n points and the shorter one m
    points. The point i = 1, …, n of the longer series can be matched with the points within
    ⌊window · m⌋ steps of the point 1 + ⌊i m / (n + 1)⌋ of the shorter series, which is i if the
    lengths are equal. Every window leaves a path, so all distances are finite.

    The first call compiles the loops with Numba in about ten seconds and caches them on disk.
    Without Numba the loops run in Python, slower by a factor of a thousand.

    References
    ----------
    Holder, Middlehurst and Bagnall, "A review and evaluation of elastic distance functions for time
    series clustering", Knowledge and Information Systems 66, 2024.

    Examples
    --------
    >>> from krein.kernels import ElasticDistance
    >>> ElasticDistance("dtw", window=0.0)([[0.0, 0.0], [3.0, 4.0]])
    array([[0., 5.],
           [5., 0.]])
    >>> ElasticDistance("msm", c=0.5)([[1.0, 1, 2, 3]], [[1.0, 2, 3]])
    array([[0.5]])
    """

    traits = Traits(takes_vectors=False, mirrors=True)

    def __init__(
        self,
        metric: str = "dtw",
        *,
        window: float | None = None,
        g: float | None = None,
        epsilon: float | None = None,
        c: float = 1.0,
        nu: float = 0.001,
        lmbda: float = 1.0,
        warp_penalty: float = 1.0,
        gamma: float = 1.0,
        reach: int = 15,
        n_jobs: int | None = None,
    ):
        store(self, locals())

    # --- checks -----------------------------------------------------------------------------------

    def _metric(self) -> Metric:
        """Return the metric with its checked parameters."""
        kind = METRICS[check_choice(self, "metric", self.metric, tuple(METRICS))]
        names = [field.name for field in dataclasses.fields(kind)]
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return kind(**{name: self._checked(kind, name, given[name]) for name in given})

    def _checked(self, kind: type[Metric], name: str, value: Any) -> Any:
        if name == "epsilon":
            return check_positive(self, name, value)
        if name == "reach":
            return check_count(self, name, value, 0)
        number = check_finite(self, name, value)
        if number < 0 and name not in kind.signed:
            raise ArgumentError(self, name, "at least 0", value)
        return value

    def _window(self) -> float:
        """Return the window as a share of the length; 1 for no limit."""
        window: float | None = self.window
        if window is None:
            return 1.0
        if not (isinstance(window, numbers.Real) and 0 <= window <= 1):
            raise ArgumentError(self, "window", "a share of the length in [0, 1] or None", window)
        # The loops round window · length down, and 0.29 · 100 is 28.999… in float64.
        return min(1.0, float(window) * (1 + 1e-12))

    def _check_data(self, X: Any, name: str = "X") -> list[Series]:
        shortest = self._metric().shortest
        self._window()
        if self.n_jobs is not None:
            check_n_jobs(self, self.n_jobs)
        if hasattr(X, "columns"):  # the rows of a data frame are the series
            X = np.asarray(X)
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object:
            X = X[:, :, None]
        return check_ragged(self, X, name, "series", "(time,) or (time, channels)", shortest, True)

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return check_ragged_pair(self, *super()._check_pair(X, Y), "channels")

    # --- values -----------------------------------------------------------------------------------

    def _distances(
        self, X: list[Series], Y: list[Series] | None, bounds: Any = np.inf, nearest: bool = False
    ) -> NDArray[np.float64]:
        """Return the distances up to the bound of each row, inf above it.

        If Y is None, only the pairs i < j of X are computed; all other entries are 0. With
        `nearest` the bound of a row falls to the smallest distance so far.
        """
        metric, compute = self._metric(), _elastic.block()
        with np.errstate(over="ignore", invalid="ignore"):  # huge series are infinitely far apart
            rule = metric.rule(X[0], self._window())
            rows = metric.packed(X)
            columns = rows if Y is None else metric.packed(Y)
        out = np.zeros((len(rows.lengths), len(columns.lengths)))
        limits = np.broadcast_to(np.asarray(bounds, dtype=np.float64), len(out)).copy()
        cells = int(rows.lengths.sum()) * int(columns.lengths.sum())
        n_parts = min(len(out), 1 + cells // CELLS)
        parts = [np.arange(part, len(out), n_parts) for part in range(n_parts)]

        def work(part: NDArray[np.intp]) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                compute(rule, rows, columns, part, Y is None, limits, nearest, out)

        over_blocks(work, parts, os.cpu_count() if self.n_jobs == -1 else self.n_jobs)
        return out

    def _block(self, X: Any, Y: Any) -> NDArray:
        return self._distances(X, Y)

    def _mirrored(self, X: Any) -> NDArray:
        upper = self._distances(X, None)
        return upper + upper.T

    def _diagonal(self, X: Any) -> NDArray:
        return np.zeros(len(X))

    # --- early abandoning -------------------------------------------------------------------------

    def bounded(self, X: Any, Y: Any, bound: ArrayLike) -> NDArray[np.float64]:
        """Return the distances that do not exceed a bound, and inf for all others.

        A pair is abandoned as soon as its distance is known to exceed the bound. The metrics
        "lcss", "soft_dtw" and "shape_dtw" have no such early bound and are computed to the end.

        Parameters
        ----------
        X : sequence of n series
        Y : sequence of m series
        bound : float or array-like of shape (n,)
            The bound of all pairs, or one bound for each series of X.

        Returns
        -------
        ndarray of shape (n, m)

        Examples
        --------
        >>> from krein.kernels import ElasticDistance
        >>> ElasticDistance().bounded([[0.0, 0.0]], [[3.0, 4.0], [1.0, 0.0]], bound=2.0)
        array([[inf,  1.]])
        """
        X, Y = self._check_pair(X, Y)
        needed = f"a number, or one number for each of the {len(X)} series of X"
        try:
            bounds = np.asarray(bound, dtype=np.float64)
        except (TypeError, ValueError):
            raise ArgumentError(self, "bound", needed, bound) from None
        if bounds.shape not in ((), (len(X),)) or np.isnan(bounds).any():
            raise ArgumentError(self, "bound", needed, bound)
        return self._distances(X, Y, bounds)

    def nearest(self, X: Any, Y: Any) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Find the nearest series of Y for each series of X, with early abandoning.

        Parameters
        ----------
        X : sequence of n series
        Y : sequence of m series

        Returns
        -------
        indices : ndarray of int of shape (n,)
            Places in Y; the first one of several nearest series.
        distances : ndarray of shape (n,)

        Examples
        --------
        >>> from krein.kernels import ElasticDistance
        >>> ElasticDistance().nearest([[0.0, 0.0]], [[3.0, 4.0], [1.0, 0.0]])
        (array([1]), array([1.]))
        """
        X, Y = self._check_pair(X, Y)
        found = self._distances(X, Y, nearest=True)
        indices = found.argmin(axis=1)
        return indices, found[np.arange(len(X)), indices]


class DynamicTimeWarping(ElasticDistance):
    """Dynamic time warping, the root of the smallest sum of squared differences along a path.

    The data are an array with one series per row, an array of shape (series, time, channels), or a
    list of series, each of shape (time,) or (time, channels). The series of a list can have
    different lengths. The distance violates the triangle inequality. `ElasticDistance` offers ten
    more metrics.

    Parameters
    ----------
    window : float, default=None
        Largest allowed shift as a share of the length of the shorter series, in [0, 1]; None means
        no limit.
    n_jobs : int, default=None
        Number of threads. None means as many as BLAS is allowed to use: all cores, or one in a
        worker of joblib. -1 means all cores.

    Examples
    --------
    >>> from krein.kernels import DynamicTimeWarping
    >>> DynamicTimeWarping()([[0.0, 0, 1, 2], [0, 1, 2]])
    array([[0., 0.],
           [0., 0.]])
    """

    def __init__(self, window: float | None = None, n_jobs: int | None = None):
        super().__init__(window=window, n_jobs=n_jobs)
