"""Elastic distances between time series; the only file that imports aeon and dtaidistance."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import (
    ArgumentError,
    check_choice,
    check_finite,
    check_n_jobs,
    check_positive,
    store,
)
from .base import Kernel
from .sets import check_ragged, check_ragged_pair
from .traits import Traits

ROOTED = ("dtw", "ddtw", "wdtw")  # aeon returns a sum of squares; the distance is its root
METRICS = (*ROOTED, "lcss", "erp", "edr", "msm", "twe")
# The names of the non-negative parameters of a metric: in aeon, and here.
TWE = {"nu": "stiffness", "lmbda": "penalty"}
PRICES = {"wdtw": {"g": "steepness"}, "msm": {"c": "cost"}, "twe": TWE}

Series = list[NDArray[np.float64]]  # each of shape (time, channels)


def _aeon(metric: str) -> Callable[..., NDArray] | None:
    """Return aeon's function for all pairs of series, or None if aeon is not installed."""
    try:
        from aeon import distances
    except ImportError:
        return None
    return getattr(distances, f"{metric}_pairwise_distance")


def _by_aeon(f: Callable[..., NDArray], X: Series, Y: Series, **parameters: Any) -> NDArray:
    """Return the distances that aeon computes. aeon's series have the shape (channels, time)."""
    turned = [[np.ascontiguousarray(series.T) for series in side] for side in (X, Y)]
    with warnings.catch_warnings():
        # At the first compilation numba warns about the unsigned loop indices of aeon.
        warnings.filterwarnings("ignore", "unsafe cast from uint64 to int64")
        return f(*turned, **parameters)


def _by_dtaidistance(X: Series, Y: Series, window: float | None, parallel: bool) -> NDArray:
    """Return the dynamic time warping distances that dtaidistance computes."""
    try:
        from dtaidistance import dtw, dtw_ndim
    except ImportError as error:
        raise ImportError(
            "Dynamic time warping needs dtaidistance or aeon: install the first with  "
            "pip install 'krein[series]'  or the second with  pip install 'krein[elastic]'."
        ) from error
    lengths = {len(series) for series in X + Y}
    if window is not None and window < 1 and len(lengths) > 1:
        raise ImportError(
            f"A window of {window} on series of different lengths needs aeon: install it with  "
            "pip install 'krein[elastic]'."
        )
    # dtaidistance allows shifts of |i − j| < window; its window 0 means no limit.
    steps = 0 if window is None else math.floor(window * max(lengths)) + 1
    n, channels = len(X), X[0].shape[1]
    block = ((0, n), (n, n + len(Y)))
    options = {"block": block, "compact": True, "parallel": parallel, "window": steps or None}
    if channels == 1:
        flat = [np.ascontiguousarray(series[:, 0]) for series in X + Y]
        values = dtw.distance_matrix_fast(flat, **options)
    else:
        whole = [np.ascontiguousarray(series) for series in X + Y]
        values = dtw_ndim.distance_matrix_fast(whole, channels, **options)
    return np.asarray(values).reshape(n, len(Y))


def _slopes(series: NDArray) -> NDArray:
    """Return the derivative of Keogh and Pazzani.

    It is the mean of two slopes: from the point before, and between both neighbours.
    """
    return ((series[1:-1] - series[:-2]) + (series[2:] - series[:-2]) / 2) / 2


class ElasticDistance(Kernel):
    """An elastic distance between time series, which tolerates shifts in time.

    The data are an array with one series per row, an array of shape (series, time, channels), or a
    list of series, each of shape (time,) or (time, channels). The series of a list can have
    different lengths. Transpose series of shape (channels, time), aeon's convention, first.

    The metrics "dtw" and "ddtw" need aeon or dtaidistance, which give the same result. All other
    metrics need aeon.

    Parameters
    ----------
    metric : str, default="dtw"
        The distance between two series.

        - "dtw": dynamic time warping, the root of the smallest sum of squared differences along a
          warping path.
        - "ddtw": dynamic time warping of the slopes of the series, which need at least 3 points.
        - "wdtw": dynamic time warping with weights that grow with the shift.
        - "lcss": one minus the share of the longest common subsequence.
        - "erp": edit distance with real penalty.
        - "edr": edit distance on real sequences, divided by the length of the longer series.
        - "msm": move-split-merge.
        - "twe": time warp edit.
    window : float, default=None
        Largest allowed shift as a share of the length, in [0, 1]; None means no limit. With
        window 0, "dtw" is the Euclidean distance. For series of different lengths the share refers
        to the shorter series and the shift is measured from the slanted diagonal, and aeon is
        required.
    epsilon : float, default=None
        Largest difference between points that count as equal, for "lcss" and "edr". None means 1
        for "lcss", and a quarter of the larger standard deviation of the two series for "edr".
    gap : float, default=0.0
        Value with which a gap is compared, for "erp".
    steepness : float, default=0.05
        Steepness of the logistic curve of the weights, for "wdtw".
    cost : float, default=1.0
        Cost of a split or a merge, for "msm".
    stiffness : float, default=0.001
        Cost of a shift by one step, for "twe".
    penalty : float, default=1.0
        Cost of a deletion, for "twe".
    n_jobs : int, default=1
        Number of threads; -1 means all cores. dtaidistance uses all cores if n_jobs is not 1.

    Notes
    -----
    aeon returns sums of squares for "dtw", "ddtw" and "wdtw". This class returns their roots, so
    that ``Similarity(…, transform="gaussian")`` is exp(−γ · sum of squares). All other metrics are
    as aeon defines them. Up to aeon 1.6, "erp" and "edr" differ from the papers in the cost of a
    gap at the start of a series: "erp" charges the whole series, and "edr" charges nothing.

    Examples
    --------
    >>> from krein.kernels import ElasticDistance
    >>> ElasticDistance("dtw", window=0.0)([[0.0, 0.0], [3.0, 4.0]])
    array([[0., 5.],
           [5., 0.]])
    """

    traits = Traits(takes_vectors=False, mirrors=True)

    def __init__(
        self,
        metric: str = "dtw",
        *,
        window: float | None = None,
        epsilon: float | None = None,
        gap: float = 0.0,
        steepness: float = 0.05,
        cost: float = 1.0,
        stiffness: float = 0.001,
        penalty: float = 1.0,
        n_jobs: int = 1,
    ):
        store(self, locals())

    def _parameters(self) -> dict[str, Any]:
        """Return the checked parameters of the metric, under the names that aeon gives to them."""
        metric = check_choice(self, "metric", self.metric, METRICS)
        check_n_jobs(self, self.n_jobs)
        window: float | None = self.window
        if window is not None and not (isinstance(window, numbers.Real) and 0 <= window <= 1):
            raise ArgumentError(self, "window", "a share of the length in [0, 1] or None", window)
        found: dict[str, Any] = {}
        if window is not None:
            # Both libraries round window · length down, and 0.29 · 100 is 28.999… in float64.
            found["window"] = min(1.0, float(window) * (1 + 1e-12))
        for name, own in PRICES.get(metric, {}).items():
            found[name] = self._price(own)
        if metric == "erp":
            found["g"] = check_finite(self, "gap", self.gap)
        elif metric in ("lcss", "edr") and self.epsilon is not None:
            found["epsilon"] = check_positive(self, "epsilon", self.epsilon)
        return found

    def _price(self, name: str) -> float:
        value = check_finite(self, name, getattr(self, name))
        if value < 0:
            raise ArgumentError(self, name, "at least 0", value)
        return value

    def _check_data(self, X: Any, name: str = "X") -> Series:
        self._parameters()
        shortest = 3 if self.metric == "ddtw" else 1
        if hasattr(X, "columns"):  # the rows of a data frame are the series
            X = np.asarray(X)
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object:
            X = X[:, :, None]
        return check_ragged(self, X, name, "series", "(time,) or (time, channels)", shortest, True)

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return check_ragged_pair(self, *super()._check_pair(X, Y), "channels")

    def _block(self, X: Any, Y: Any) -> NDArray:
        parameters = self._parameters()
        metric = self.metric
        if metric == "ddtw":
            X, Y = [_slopes(series) for series in X], [_slopes(series) for series in Y]
            metric = "dtw"
        f = _aeon(metric)
        if f is not None:
            D = _by_aeon(f, X, Y, n_jobs=self.n_jobs, **parameters)
            return np.sqrt(D) if metric in ROOTED else D
        if metric == "dtw":
            return _by_dtaidistance(X, Y, parameters.get("window"), self.n_jobs != 1)
        raise ImportError(
            f"{type(self).__name__}(metric={metric!r}) needs aeon: install it with  "
            "pip install 'krein[elastic]'."
        )

    def _diagonal(self, X: Any) -> NDArray:
        if self.metric == "edr":  # its default epsilon is 0 for a constant series
            return super()._diagonal(X)
        return np.zeros(len(X))


class DynamicTimeWarping(ElasticDistance):
    """Dynamic time warping, the root of the smallest sum of squared differences along a path.

    The data are an array with one series per row, an array of shape (series, time, channels), or a
    list of series, each of shape (time,) or (time, channels). The series of a list can have
    different lengths. The distance violates the triangle inequality. It needs aeon or
    dtaidistance.

    Parameters
    ----------
    window : float, default=None
        Largest allowed shift as a share of the length, in [0, 1]; None means no limit. A window on
        series of different lengths needs aeon.
    n_jobs : int, default=1
        Number of threads; -1 means all cores. dtaidistance uses all cores if n_jobs is not 1.

    Examples
    --------
    >>> from krein.kernels import DynamicTimeWarping
    >>> DynamicTimeWarping()([[0.0, 0, 1, 2], [0, 1, 2]])
    array([[0., 0.],
           [0., 0.]])
    """

    def __init__(self, window: float | None = None, n_jobs: int = 1):
        super().__init__(window=window, n_jobs=n_jobs)
