"""Errors of rows that were held out: intervals of predictions and the size of the noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .calibration import as_counts

Array = NDArray[np.floating]

# The largest number of quantiles that are kept.
QUANTILES = 1000


@dataclass(frozen=True)
class Residuals:
    """Quantiles of the errors ``y − f(x)`` of rows that were held out.

    The i-th smallest of n errors is the quantile of level i/(n + 1). A new error that is
    exchangeable with the n errors is at most as large with this probability.

    Attributes
    ----------
    levels : ndarray of shape (m,)
        The levels, in order, at most 1000.
    values : ndarray of shape (m, q)
        The quantiles of each output.
    deviation : ndarray of shape (q,)
        The root of the mean square of the errors of each output.
    n_rows : float
        The number of rows; a row of weight two counts twice.

    References
    ----------
    V. Vovk. Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import Residuals
    >>> errors = Residuals.of(np.arange(-10.0, 11)[:, None], np.ones(21))
    >>> errors.interval(0.8)
    array([[-8.8],
           [ 8.8]])
    """

    levels: Array
    values: Array
    deviation: Array
    n_rows: float

    @classmethod
    def of(cls, errors: Array, weight: Array) -> Residuals:
        """Return the quantiles of errors (n, q) of rows with weights (n,)."""
        weight = as_counts(weight)
        found = [_quantiles(column, weight) for column in errors.T]
        ends = max(u[0] for u, _ in found), min(u[-1] for u, _ in found)
        levels = np.linspace(*ends, min(QUANTILES, 2 * len(errors)))
        if len(found) == 1 and len(found[0][0]) <= QUANTILES:
            levels = found[0][0]  # nothing is rounded
        values = np.stack([np.interp(levels, u, v) for u, v in found], axis=1)
        total, scale = float(weight.sum()), float(np.abs(errors).max()) or 1.0
        square = weight @ np.square(errors / scale) / total  # squares must not overflow
        return cls(levels, values, scale * np.sqrt(square), total)

    def interval(self, coverage: float) -> Array:
        """Return the bounds of an error, shape (2, q), with equal chances beyond either bound.

        Parameters
        ----------
        coverage : float
            The probability that an error lies between the bounds.
        """
        beyond = (1 - coverage) / 2
        rounding = 1e-9
        if beyond < self.levels[0] - rounding or 1 - beyond > self.levels[-1] + rounding:
            most = 1 - 2 * max(self.levels[0], 1 - self.levels[-1])
            raise ValueError(
                f"coverage={coverage!r} is too large for the number of held-out rows: "
                f"use at most {np.floor(max(most, 0) * 1000) / 1000}, or fit on more rows."
            )
        pairs = [np.interp([beyond, 1 - beyond], self.levels, column) for column in self.values.T]
        return np.stack(pairs, axis=1)


def _quantiles(errors: Array, weight: Array) -> tuple[Array, Array]:
    """Return levels and values of a weighted sample; weight two counts as two equal rows."""
    order = np.argsort(errors, kind="stable")
    last = np.cumsum(weight[order])
    first = last - weight[order] + np.minimum(weight[order], 1.0)
    levels = np.stack([first, last], axis=1).ravel() / (last[-1] + 1)
    values = np.repeat(errors[order], 2)
    distinct = np.append(True, np.diff(levels) > 0)
    return levels[distinct], values[distinct]
