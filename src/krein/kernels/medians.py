"""Widths and rates that are taken from data: ``sigma="median"`` and ``gamma="median"``."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import check_positive, outside_level
from .base import Kernel, kernel_parameters
from .errors import one_line
from .sampling import objects_at, sample_by_content


class WithMedian(Kernel):
    """A kernel whose width ``sigma`` or rate ``gamma`` may be "median".

    A subclass defines `_sizes`. The width is the median of the positive sizes of all pairs among up
    to 100 objects of the data; the rate is one over that median.
    """

    def _sizes(self, X: Any) -> NDArray[np.floating]:
        """Return the sizes of all pairs of rows, in the units of sigma or 1/gamma."""
        raise TypeError(f"{type(self).__name__} must define _sizes.")

    @property
    def _width(self) -> float:
        """The width sigma of a kernel that has one, a number."""
        return check_positive(self, "sigma", getattr(self, "sigma", None), " or 'median'")

    @property
    def _waiting(self) -> str | None:
        """The name of the parameter that is taken from data."""
        for name in ("sigma", "gamma"):
            value = getattr(self, name, None)
            if isinstance(value, str) and value == "median":
                return name
        return None

    @property
    def _waits_for(self) -> str | None:
        return None if self._waiting is None else f"{self._waiting}='median'"

    def _resolved(self, X: Any) -> Kernel:
        found = super()._resolved(X)
        if self._waiting is not None:
            sampled = objects_at(self, X, sample_by_content(self, X))
            sizes = self._sizes(sampled)
            median = positive_median(self, sizes, self._waiting, "no two rows that differ")
            setattr(found, self._waiting, median if self._waiting == "sigma" else 1 / median)
        return found


def positive_median(kernel: Kernel, sizes: NDArray[np.floating], name: str, missing: str) -> float:
    """Return the median of the positive sizes of all pairs of objects, or 1.0 with a warning.

    Parameters
    ----------
    kernel : Kernel
        The kernel that the warning names.
    sizes : ndarray of shape (n, n)
        The sizes. The diagonal does not count.
    name : str
        The parameter that is taken from the median.
    missing : str
        What the objects lack if no size is positive, for the warning.
    """
    positive = sizes[~np.eye(len(sizes), dtype=bool) & (sizes > 0)]
    if len(positive):
        return float(np.median(positive))
    warnings.warn(
        f"{one_line(kernel)} finds {missing}, so it uses {name}=1.0 in place of the median. Give "
        f"{name} a number.",
        UserWarning,
        stacklevel=outside_level(),
    )
    return 1.0


def stretched(kernel: Kernel, found: Kernel, factor: float) -> Kernel:
    """Return a resolved kernel whose widths from data are multiplied by a factor.

    Parameters
    ----------
    kernel : Kernel
        The kernel with parameters "median".
    found : Kernel
        The same kernel with numbers in place of them, as `Kernel.resolved` returns it.
    factor : float
        The factor of widths. Rates are divided by it; the rate of a squared distance is divided by
        its square.
    """
    made = copy.copy(found)
    parts = kernel_parameters(found)
    for name, part in kernel_parameters(kernel).items():
        if not part.is_resolved:
            setattr(made, name, stretched(part, parts[name], factor))
    waiting = (kernel._waits_for or "").split("=")[0]
    if waiting == "sigma":
        made.sigma = found.sigma * factor
    elif waiting == "gamma":
        power = 2 if getattr(kernel, "transform", None) == "gaussian" else 1
        made.gamma = found.gamma / factor**power
    return made


def rate_of_median(owner: str, median: float, squared: bool) -> float:
    """Return the rate at which ``exp(−rate D)``, or ``exp(−rate D²)``, is 1/e at the median.

    Parameters
    ----------
    owner : str
        The object that needs the rate, for the error message.
    median : float
        The median of the positive distances D.
    squared : bool
        True for the rate of D².

    Raises
    ------
    ValueError
        If the rate is beyond the range of floating point.
    """
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        rate = 1 / (np.square(np.float64(median)) if squared else np.float64(median))
    if not 0 < rate < np.inf:
        raise ValueError(
            f"{owner} finds a median distance of {median:.4g}, whose gamma is beyond the range of "
            "floating point: divide the distances by a number of about the median first."
        )
    return float(rate)
