"""The search for the best kernel of several families, by the errors of rows that are left out.

Every kernel is judged by kernel ridge on a sample: one eigendecomposition gives the leave-one-out
outputs of all penalties. Kernels of one distance share the matrix of distances.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..kernels import DeltaGaussian, Gaussian, Kernel, Laplacian, Matern
from ..kernels.medians import stretched
from ..kernels.profiles import OfDistance
from ..kernels.sampling import SAMPLED
from ..learning.leave_one_out import left_out
from .mixing import scaled_error

Array = NDArray[np.floating]

# Widths to try, in units of the median distance.
FACTORS = tuple(2.0**power for power in range(-3, 4))
# The positive families: ridge on a kernel of these is the learner of a table, whether the kernel is
# chosen or given. Learners in Kreĭn spaces have nothing to add to them.
POSITIVE = (Gaussian, Laplacian, Matern)
# The width of the negative Gaussian of the indefinite family, in widths of the positive one.
WIDER = 3.0
# The loss of the indefinite family is multiplied by this, because the family extrapolates worse.
HANDICAP = 1.02
# The number of rows on which all kernels are compared, and on which the best of them are refined.
FIRST, SECOND = 300, 1000
# The number of families that are compared on the larger sample.
GOOD_FAMILIES = 3
# The step of the refinement, its longer step on many rows, and the relative decrease of the loss
# that is worth another step.
STEP, COARSE_STEP, WORTH_A_STEP = 2**0.5, 2.0, 1e-3


class Family(NamedTuple):
    """Kernels that share one formula and differ in width.

    Attributes
    ----------
    name : str
    at : callable
        ``at(factor)`` is the kernel with this width, in units of the median distance.
    handicap : float
        The factor by which losses are multiplied, so that the family must be clearly better than
        others.
    """

    name: str
    at: Callable[[float], Kernel]
    handicap: float = 1.0


@dataclass(frozen=True)
class Tried:
    """A kernel that was compared with others.

    Attributes
    ----------
    name : str
        The name of the family.
    factor : float
        The width, in units of the median distance.
    loss : float
        The loss of `Sample.judged`.
    n_rows : int
        The number of rows of the comparison.
    by_column : bool
        True if each column had a width of its own.
    kernel : Kernel
    """

    name: str
    factor: float
    loss: float
    n_rows: int
    by_column: bool
    kernel: Kernel = field(repr=False)


class Sample:
    """Rows with targets, on which kernels are compared.

    Parameters
    ----------
    X : rows
    Y : ndarray of shape (n, q)
    weight : ndarray of shape (n,)
    of_classes : bool, default=False
        True if the targets are ±1, for classes: kernels are judged by the log-loss.
    """

    def __init__(self, X: Any, Y: Array, weight: Array, of_classes: bool = False):
        self.X, self.Y, self.weight, self.of_classes = X, Y, weight, of_classes
        self._distances: dict[Any, Array] = {}

    def __len__(self) -> int:
        return len(self.Y)

    def rows(self, some: slice) -> Sample:
        """Return some of the rows."""
        return Sample(self.X[some], self.Y[some], self.weight[some], self.of_classes)

    def of(self, X: Any) -> Self:
        """Return other features of the same rows."""
        return type(self)(X, self.Y, self.weight, self.of_classes)

    def judged(self, kernel: Kernel) -> tuple[float, Array]:
        """Return the loss of a kernel, and the outputs for rows that are left out.

        The outputs are the leave-one-out outputs of kernel ridge with the best penalty. Their loss
        is the squared error, and for classes the log-loss: the squared error mostly counts how far
        outputs are from ±1, also where the largest output names the right class by a wide margin.
        """
        K = self._matrix(kernel)
        if not np.isfinite(K).all() or not K.any():
            return np.inf, np.zeros_like(self.Y)
        outputs = left_out(K, self.Y, self.weight)[1]
        return self.error(outputs), outputs

    def error(self, outputs: Array) -> float:
        """Return the loss of outputs for the rows."""
        return scaled_error(outputs, self.Y, self.weight, self.of_classes)

    def _matrix(self, kernel: Kernel) -> Array:
        if isinstance(kernel, OfDistance):
            if kernel._distances not in self._distances:
                found = kernel._distances(self.X, self.X).astype(float)
                np.fill_diagonal(found, 0.0)
                self._distances[kernel._distances] = (found + found.T) / 2
            return kernel._at(self._distances[kernel._distances])
        K = kernel(self.X).astype(float)
        return (K + K.T) / 2


def families(X: Any) -> list[Family]:
    """Return the families that are tried on a table, in units of its median distances.

    The rows are in random order. The medians are taken over the first rows: a draw by the content
    of standardised rows would depend on rounding errors.
    """
    X = X[:SAMPLED]
    with warnings.catch_warnings():
        # If all rows are equal, there is no median, and all widths give the same model.
        warnings.simplefilter("ignore", UserWarning)
        wide, city = Gaussian("median").resolved(X).sigma, Laplacian("median").resolved(X).sigma
    return [
        Family("Gaussian", lambda factor: Gaussian(wide * factor)),
        Family("Matern 3/2", lambda factor: Matern(wide * factor, 1.5)),
        Family("Matern 1/2", lambda factor: Matern(wide * factor, 0.5)),
        Family("Laplacian", lambda factor: Laplacian(city * factor)),
        Family("DeltaGaussian", lambda f: DeltaGaussian(wide * f, WIDER * wide * f), HANDICAP),
    ]


def family_of(kernel: Kernel, X: Any) -> Family:
    """Return the family of a kernel with parameters "median"."""
    found = kernel.resolved(X)
    name = type(kernel).__name__
    return Family(name, lambda factor: stretched(kernel, found, factor))


class Search:
    """The search for the best kernel of several families.

    Parameters
    ----------
    sample : Sample
    kinds : list of Family
    in_time : callable
        ``in_time()`` is False when no further family may be tried.
    by_column : bool, default=False
        True if each column has a width of its own, for the report.
    """

    def __init__(
        self,
        sample: Sample,
        kinds: list[Family],
        in_time: Callable[[], bool],
        by_column: bool = False,
    ):
        self.kinds, self.by_column = {kind.name: kind for kind in kinds}, by_column
        self.in_time = in_time
        first, second = sample.rows(slice(FIRST)), sample.rows(slice(SECOND))
        self._samples = [first, first if len(first) == len(second) else second]
        self._made: dict[tuple[int, str, float], Tried] = {}

    @property
    def tried(self) -> list[Tried]:
        """All kernels that were compared."""
        return list(self._made.values())

    def run(self) -> Tried:
        """Return the best kernel: all widths on few rows, the best families on more rows."""
        small: list[Tried] = []
        for name in self.kinds:
            if not small or self.in_time():
                small.append(min((self.attempt(0, name, f) for f in FACTORS), key=self._order))
        self.good = [t.name for t in sorted(small, key=self._order)[:GOOD_FAMILIES]]
        if not self.in_time():
            return min(small, key=self._order)
        large = [self.attempt(1, t.name, t.factor) for t in small if t.name in self.good]
        return self._refined(1, min(large, key=self._order), STEP)

    def run_on(self, sample: Sample, best: Tried) -> Tried:
        """Return the best kernel on another sample, after `run` has found one on few rows.

        The good families are tried with their best widths. So is the Gaussian, because narrow maps
        represent smooth kernels best.
        """
        self._samples.append(sample)
        if "Gaussian" in self.kinds:
            self.good = list(dict.fromkeys([*self.good, "Gaussian"]))
        found = []
        for name in self.good:
            if self.in_time():
                few = min((t for t in self.tried if t.name == name), key=_most_rows)
                found.append(self.attempt(-1, name, few.factor))
        return self._refined(-1, min(found, key=self._order), COARSE_STEP) if found else best

    def _order(self, tried: Tried) -> float:
        return tried.loss * self.kinds[tried.name].handicap

    def _refined(self, which: int, best: Tried, by: float) -> Tried:
        """Change the width step by step as long as the loss on a sample falls."""
        for step in (1 / by, by):
            while self.in_time():
                other = self.attempt(which, best.name, best.factor * step)
                if not other.loss < best.loss * (1 - WORTH_A_STEP):
                    break
                best = other
        return best

    def attempt(self, which: int, name: str, factor: float) -> Tried:
        """Return a kernel that is judged on a sample: 0 has few rows, 1 more, −1 the most."""
        sample = self._samples[which]
        key = self._samples.index(sample), name, round(float(np.log2(factor)), 3)
        if key not in self._made:
            kernel = self.kinds[name].at(factor)
            loss, _ = sample.judged(kernel)
            self._made[key] = Tried(name, factor, loss, len(sample), self.by_column, kernel)
        return self._made[key]


def _most_rows(tried: Tried) -> tuple[int, float]:
    """Return a sort key: losses on more rows say more."""
    return -tried.n_rows, tried.loss
