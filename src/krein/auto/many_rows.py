"""The comparison of kernels on many rows, by ridge on maps as a table of so many rows has them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..features import Nystrom
from ..kernels import Kernel
from ..learning import Cholesky, LeastSquares, Split
from ..rows import count
from ..streaming.moments import MomentsSum
from .search import POSITIVE, Sample
from .sizes import EXACT

Array = NDArray[np.floating]

# The largest number of rows and of values that are compared, and the smallest number of rows.
MOST, VALUES, LEAST = 10_000, 4_000_000, EXACT // 2
# The share of the rows that is held out, and the width of the maps.
HELD_OUT, WIDTH = 0.25, 1000
# Penalties, divided by the mean squared norm of the centred features.
SHARES = tuple(10.0**power for power in range(-11, -1))
# The number of rows whose features are computed at a time.
AT_ONCE = 1000
# The memory that a comparison needs, in megabytes.
MEGABYTES = 150.0


def narrow_map(kernel: Kernel, width: int, seed: int) -> Nystrom:
    """Return the map of a kernel of a table with too many rows for the exact kernel."""
    if not isinstance(kernel, POSITIVE):
        return Nystrom(kernel, width, landmarks="uniform", random_state=seed)
    return Nystrom(
        kernel,
        width,
        landmarks="uniform",
        n_landmarks=width,
        core="truncated",
        random_state=seed,
    )


class ManyRows(Sample):
    """Rows with targets, on which kernels are compared by ridge on a map.

    The last quarter of the rows is held out. Few rows and exact kernels prefer other kernels than
    many rows and narrow maps do: narrower ones, because near rows are known, and smoother ones,
    because few landmarks represent them better.
    """

    @classmethod
    def first(
        cls, X: Any, Y: Array, weight: Array, of_classes: bool, megabytes: float
    ) -> ManyRows | None:
        """Return the first of the rows; None if the exact kernel is used or memory is scarce."""
        n = min(MOST, VALUES // max(1, X.shape[1]))
        if count(X) <= EXACT or n < LEAST or megabytes < MEGABYTES:
            return None
        return cls(X[:n], Y[:n], weight[:n], of_classes)

    @property
    def _held(self) -> slice:
        return slice(len(self) - int(HELD_OUT * len(self)), None)

    @property
    def held_out(self) -> Sample:
        """The rows whose outputs `judged` returns."""
        return self.rows(self._held)

    def judged(self, kernel: Kernel) -> tuple[float, Array]:
        """Return the loss of a kernel, and the outputs for the rows that are held out.

        The outputs are those of ridge with the best penalty on a map that is fitted on the other
        rows. As on few rows, a kernel that is not symmetric is judged by its symmetric part.
        """
        kernel = kernel if kernel.is_symmetric else kernel.symmetric_part
        learned, held = self.rows(slice(self._held.start)), self.held_out
        try:
            with warnings.catch_warnings():
                # A kernel that says nothing has a large loss.
                warnings.simplefilter("ignore", UserWarning)
                features = narrow_map(kernel, min(WIDTH, len(learned)), 0).fit(learned.X)
                found = [
                    (held.error(outputs), outputs) for outputs in _path(features, learned, held)
                ]
        except ValueError:  # the kernel is zero on all landmarks
            return np.inf, np.zeros_like(held.Y)
        return min(found, key=lambda pair: pair[0])


def _path(features: Nystrom, learned: Sample, held: Sample) -> Iterator[Array]:
    """Yield the outputs of ridge for the rows `held`, for each penalty."""
    total = MomentsSum(features.eigenvalues_.size + learned.Y.shape[1])
    for some in _blocks(learned):
        total.add(features.transform(some.X), some.Y, weight=some.weight)
    problem = LeastSquares.of(total.freeze(is_last=True), learned.Y.shape[1])
    unit = float(np.trace(problem.gram))
    penalties = [Split(share * unit, share * unit) for share in SHARES]
    coefs = list(Cholesky(features.form_).path(problem, penalties))
    outputs = [
        [Z @ coef + problem.intercept(coef) for coef in coefs]
        for Z in (features.transform(some.X) for some in _blocks(held))
    ]
    return (np.concatenate(parts) for parts in zip(*outputs, strict=True))


def _blocks(sample: Sample) -> Iterator[Sample]:
    """Yield the rows of a sample, some at a time."""
    starts = range(0, len(sample), AT_ONCE)
    return (sample.rows(slice(start, start + AT_ONCE)) for start in starts)
