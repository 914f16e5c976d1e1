"""Elastic distances between time series; the only file that imports aeon and dtaidistance."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import check_choice, check_finite, check_n_jobs, check_positive
from .base import Kernel
from .sets import check_ragged, check_ragged_pair
from .traits import Traits

ROOTED = ("dtw", "ddtw", "wdtw")  # sums of squares, of which the root is the distance
METRICS = (*ROOTED, "lcss", "erp", "edr", "msm", "twe")

Series = list[NDArray[np.float64]]  # each of shape (time, channels)


def _aeon(metric: str) -> Callable[..., NDArray] | None:
    """aeon's all-pairs function for a metric, None where aeon is absent."""
    try:
        from aeon import distances
    except ImportError:
        return None
    return getattr(distances, f"{metric}_pairwise_distance")


def _by_aeon(f: Callable[..., NDArray], X: Series, Y: Series, **parameters: Any) -> NDArray:
    """Distances by aeon, whose series are (channels, time)."""
    turned = [[np.ascontiguousarray(series.T) for series in side] for side in (X, Y)]
    with warnings.catch_warnings():
        # Numba says at the first compilation that aeon's loop indices are unsigned.
        warnings.filterwarnings("ignore", "unsafe cast from uint64 to int64")
        return f(*turned, **parameters)


def _by_dtaidistance(X: Series, Y: Series, window: float | None, parallel: bool) -> NDArray:
    """Dynamic time warping, rooted, by dtaidistance."""
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
            f"A window of {window} on series of unequal length needs aeon: install it with  "
            "pip install 'krein[elastic]'."
        )
    # dtaidistance's band is |i − j| < window; its 0 means no band.
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
    """Keogh and Pazzani's derivative: the mean of the slopes to the left and across."""
    return ((series[1:-1] - series[:-2]) + (series[2:] - series[:-2]) / 2) / 2


class ElasticDistance(Kernel):
    """A distance between time series that forgives shifts in time, of equal or unequal length.

    The data are an array with one series per row, or a list of series, each of shape (time,) or
    (time, channels); an array of three dimensions is (series, time, channels). aeon's own
    convention, (channels, time), is the transpose: turn such data before they come here.

    "dtw" and "ddtw" take aeon or, where it is absent, dtaidistance, with the same result; all
    others need aeon.

    Parameters
    ----------
    metric : str, default="dtw"
        "dtw" is dynamic time warping, the root of the least sum of squared differences along a
        path; "ddtw" the same of the series' slopes (at least 3 points); "wdtw" the same with a
        weight that grows with the shift; "lcss" 1 − the share of the longest common subsequence;
        "erp" edit distance with real penalty; "edr" edit distance on real sequences over the
        longer length; "msm" move-split-merge; "twe" time warp edit.
    window : float, default=None
        Largest shift as a share of the length (of the shorter series, along the slanted diagonal,
        where they differ), in [0, 1]; None is no limit. 0 makes "dtw" the Euclidean distance.
        A window on series of unequal length needs aeon.
    epsilon : float, default=None
        "lcss" and "edr": points this close are equal. None is 1 for "lcss" and a quarter of the
        larger standard deviation of the pair for "edr".
    gap : float, default=0.0
        "erp": the value a gap is compared with.
    steepness : float, default=0.05
        "wdtw": the steepness of the weight's logistic curve.
    cost : float, default=1.0
        "msm": the price of a split or merge.
    stiffness : float, default=0.001
        "twe": the price of a shift by one step.
    penalty : float, default=1.0
        "twe": the price of a deletion.
    n_jobs : int, default=1
        Threads; -1 means all cores. dtaidistance knows one thread and all cores only.

    Notes
    -----
    aeon leaves "dtw", "ddtw" and "wdtw" as sums of squares; here they are rooted, as Euclidean
    distances are, so that ``Similarity(…, transform="gaussian")`` is exp(−γ · sum of squares).
    All others are as aeon defines them; up to aeon 1.6 that differs from the papers at the start
    of the series, where "erp" charges a gap with the whole series and "edr" charges it nothing.
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
        self.metric = metric
        self.window = window
        self.epsilon = epsilon
        self.gap = gap
        self.steepness = steepness
        self.cost = cost
        self.stiffness = stiffness
        self.penalty = penalty
        self.n_jobs = n_jobs

    def _parameters(self) -> dict[str, Any]:
        """The parameters of the metric under aeon's names, checked."""
        metric = check_choice(self, "metric", self.metric, METRICS)
        check_n_jobs(self, self.n_jobs)
        window = self.window
        if window is not None and not (isinstance(window, numbers.Real) and 0 <= window <= 1):
            raise ValueError(
                f"{type(self).__name__} needs window to be a share of the length in [0, 1] or "
                f"None, got {window!r}."
            )
        found: dict[str, Any] = {}
        if window is not None:
            # Both libraries take the floor of window · length, and 0.29 · 100 is 28.999…
            found["window"] = min(1.0, float(window) * (1 + 1e-12))
        if metric == "wdtw":
            found["g"] = self._price("steepness")
        elif metric == "erp":
            found["g"] = check_finite(self, "gap", self.gap)
        elif metric == "msm":
            found["c"] = self._price("cost")
        elif metric == "twe":
            found["nu"] = self._price("stiffness")
            found["lmbda"] = self._price("penalty")
        elif metric in ("lcss", "edr") and self.epsilon is not None:
            found["epsilon"] = check_positive(self, "epsilon", self.epsilon)
        return found

    def _price(self, name: str) -> float:
        value = check_finite(self, name, getattr(self, name))
        if value < 0:
            raise ValueError(f"{type(self).__name__} needs {name} to be at least 0, got {value}.")
        return value

    def _check_data(self, X: Any, name: str = "X") -> Series:
        self._parameters()
        shortest = 3 if self.metric == "ddtw" else 1
        if hasattr(X, "columns"):  # a data frame: its rows are the series
            X = np.asarray(X)
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object:
            X = X[:, :, None]
        return check_ragged(self, X, name, "series", "(time,) or (time, channels)", shortest)

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
        if self.metric == "edr":  # whose default tolerance is 0 for a constant series
            return super()._diagonal(X)
        return np.zeros(len(X))


class DynamicTimeWarping(ElasticDistance):
    """Dynamic time warping: the root of the least sum of squared differences along a path.

    The data are an array with one series per row or a list of series, each of shape (time,) or
    (time, channels); see `ElasticDistance`. It is no metric and no definite kernel.

    Parameters
    ----------
    window : float, default=None
        Largest shift as a share of the length, in [0, 1]; None is no limit.
    n_jobs : int, default=1
        Threads; -1 means all cores.

    Examples
    --------
    >>> from krein.kernels import DynamicTimeWarping
    >>> DynamicTimeWarping()([[0.0, 0, 1, 2], [0, 1, 2]])
    array([[0., 0.],
           [0., 0.]])
    """

    def __init__(self, window: float | None = None, n_jobs: int = 1):
        super().__init__(window=window, n_jobs=n_jobs)
