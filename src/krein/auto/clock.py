"""The limit of time of an automatic fit, the only place where a clock decides."""

from __future__ import annotations

import time

import numpy as np

from .sizes import OPERATIONS


class Clock:
    """The time of a fit and its limit.

    Parameters
    ----------
    max_seconds : float or None

    Attributes
    ----------
    limit : float
        The seconds that the fit may take, infinite without a limit.
    """

    def __init__(self, max_seconds: float | None):
        self.limit = np.inf if max_seconds is None else max_seconds
        self._begin = time.perf_counter()
        # Seconds per operation: the pace of one core, until a trial is faster.
        self._pace = 60 / OPERATIONS

    @property
    def used(self) -> float:
        """The seconds since the beginning of the fit."""
        return time.perf_counter() - self._begin

    def is_early(self) -> bool:
        """Return True until half of the time is used, the part in which the kernel is chosen."""
        return self.used < self.limit / 2

    def expected(self, operations: float) -> float:
        """Return the seconds that a trial is expected to take, by its number of operations."""
        return self._pace * operations

    def learn(self, operations: float, seconds: float) -> None:
        """Lower the expected time per operation to that of a finished trial, if it was faster.

        Small trials take more time per operation than large ones, so the smallest value counts.
        """
        self._pace = min(self._pace, seconds / operations)

    def excuse(self, expected: float) -> str:
        """Return why a trial of `expected` seconds is not started; empty if there is time."""
        used = self.used
        if used + expected <= self.limit:
            return ""
        more = f", and about {expected:.2g} s more are expected" if expected else ""
        return f"left out: {used:.1f} s of {self.limit:g} s are used{more}"
