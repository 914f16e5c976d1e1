"""The choice of a kernel: family, width and, where it pays, a width of each column.

Every kernel is judged by kernel ridge on a sample: one eigendecomposition gives the leave-one-out
squared error of all penalties. Kernels of one distance share the matrix of distances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import DeltaGaussian, Gaussian, Kernel, Laplacian, Matern
from ..kernels.errors import one_line
from ..kernels.medians import stretched
from ..kernels.profiles import OfDistance
from ..learning.leave_one_out import best_penalty
from ..rows import count
from .columns import Columns
from .relevance import column_factors

Array = NDArray[np.floating]

# Widths to try, in units of the median distance.
FACTORS = tuple(2.0**power for power in range(-3, 4))
# The width of the negative Gaussian of the indefinite family, in widths of the positive one.
WIDER = 3.0
# The loss of the indefinite family is multiplied by this, because the family extrapolates worse.
HANDICAP = 1.02
# The number of rows on which all kernels are compared, and on which the best of them are refined.
FIRST, SECOND = 300, 1000
# The number of families that are compared on the larger sample.
GOOD_FAMILIES = 3
# The step of the refinement, and the relative decrease of the loss that is worth another step.
STEP, WORTH = 2**0.5, 1e-3
# The number of rows from which the widths of columns are learned, and on which they are judged.
LEARNED, JUDGED = 800, 800
# Widths of columns are kept if they lower the loss of other rows below this share.
CLEARLY = 0.98
# With fewer rows nothing is compared.
FEWEST = 8


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
        The leave-one-out squared error of kernel ridge with the best penalty.
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


@dataclass(frozen=True)
class Choice:
    """The kernel that was chosen.

    Attributes
    ----------
    kernel : Kernel
        The kernel of rows in comparable units.
    columns : Columns or None
        What brings rows into these units; None if the kernel takes rows as they are.
    tried : list of Tried
    note : str
        Why columns have equal or different widths.
    """

    kernel: Kernel
    columns: Columns | None
    tried: list[Tried]
    note: str = ""

    def _shown_first(self, tried: Tried) -> tuple[bool, float]:
        """Return the order in which kernels of one family are preferred in the printed table."""
        return tried.kernel is not self.kernel, tried.loss

    def __str__(self) -> str:
        lines = [f"{'kernel':<28}{'width':>8}{'rows':>8}{'squared error':>15}"]
        best: dict[tuple[str, bool, int], Tried] = {}
        for one in self.tried:
            key = one.name, one.by_column, one.n_rows
            best[key] = min(one, best.get(key, one), key=self._shown_first)
        for one in best.values():
            name = f"{one.name}, by column" if one.by_column else one.name
            mark = " *" if one.kernel is self.kernel else ""
            lines.append(f"{name:<28}{one.factor:>8.3g}{one.n_rows:>8}{one.loss:>15.4g}{mark}")
        said = f" ({self.note})" if self.note else ""
        return "\n".join([*lines, f"Chosen: {one_line(self.kernel)}{said}."])


class Sample:
    """Rows with targets, on which kernels are compared.

    Parameters
    ----------
    X : rows
    Y : ndarray of shape (n, q)
    weight : ndarray of shape (n,)
    """

    def __init__(self, X: Any, Y: Array, weight: Array):
        self.X, self.Y, self.weight = X, Y, weight
        self._distances: dict[Any, Array] = {}

    def __len__(self) -> int:
        return len(self.Y)

    def rows(self, some: slice) -> Sample:
        """Return some of the rows."""
        return Sample(self.X[some], self.Y[some], self.weight[some])

    def of(self, X: Any) -> Sample:
        """Return other features of the same rows."""
        return Sample(X, self.Y, self.weight)

    def loss(self, kernel: Kernel) -> float:
        """Return the leave-one-out squared error of kernel ridge with the best penalty."""
        K = self._matrix(kernel)
        if not np.isfinite(K).all() or not K.any():
            return np.inf
        return best_penalty(K, self.Y, self.weight).loss

    def _matrix(self, kernel: Kernel) -> Array:
        if isinstance(kernel, OfDistance):
            if kernel._distances not in self._distances:
                found = kernel._distances(self.X, self.X).astype(float)
                np.fill_diagonal(found, 0.0)
                self._distances[kernel._distances] = (found + found.T) / 2
            with np.errstate(over="ignore"):
                return kernel._profile(self._distances[kernel._distances])
        K = kernel(self.X).astype(float)
        return (K + K.T) / 2


def _always() -> bool:
    return True


def families(X: Any) -> list[Family]:
    """Return the families that are tried on a table, in units of its median distances."""
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
        ``in_time()`` is False when no further family may be begun.
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
                small.append(min((self._try(0, name, f) for f in FACTORS), key=self._order))
        self.good = [t.name for t in sorted(small, key=self._order)[:GOOD_FAMILIES]]
        if not self.in_time():
            return min(small, key=self._order)
        large = [self._try(1, t.name, t.factor) for t in small if t.name in self.good]
        return self._refined(min(large, key=self._order))

    def _order(self, tried: Tried) -> float:
        return tried.loss * self.kinds[tried.name].handicap

    def _refined(self, best: Tried) -> Tried:
        """Follow the width downhill."""
        for step in (1 / STEP, STEP):
            while self.in_time():
                other = self._try(1, best.name, best.factor * step)
                if not other.loss < best.loss * (1 - WORTH):
                    break
                best = other
        return best

    def _try(self, which: int, name: str, factor: float) -> Tried:
        sample = self._samples[which]
        key = len(sample), name, round(float(np.log2(factor)), 3)
        if key not in self._made:
            kernel = self.kinds[name].at(factor)
            loss = sample.loss(kernel)
            self._made[key] = Tried(name, factor, loss, len(sample), self.by_column, kernel)
        return self._made[key]


def choose_kernel(
    X: Any, Y: Array, weight: Array, kernel: Kernel | None, in_time: Callable[[], bool] = _always
) -> Choice:
    """Choose family and width of the kernel, and whether columns have widths of their own.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), or rows of a kernel
        Distinct rows in random order.
    Y : ndarray of shape (n, q)
    weight : ndarray of shape (n,)
    kernel : Kernel or None
        A kernel with parameters "median", whose width is chosen; None chooses the family too, on
        standardised columns.
    in_time : callable, default: always True
        ``in_time()`` is False when nothing further may be begun.
    """
    n = min(count(X), max(SECOND, LEARNED + JUDGED))
    if kernel is not None:
        search = Search(Sample(X[:n], Y[:n], weight[:n]), [family_of(kernel, X)], in_time)
        best = search.run() if n >= FEWEST else search._try(0, type(kernel).__name__, 1.0)
        return Choice(best.kernel, None, search.tried)
    columns = Columns().fit(X)
    sample = Sample(columns.transform(X[:n]), Y[:n], weight[:n])
    search = Search(sample, families(sample.X), in_time)
    if n < FEWEST:
        return Choice(search._try(0, "Gaussian", 0.5).kernel, columns, search.tried)
    best = search.run()
    if not in_time():
        return Choice(best.kernel, columns, search.tried, "max_seconds leaves no time for more")
    factors, note = _factors(sample, best, search.tried)
    if factors is None:
        return Choice(best.kernel, columns, search.tried, note)
    scaled = sample.of(sample.X * factors)
    kinds = [kind for kind in families(scaled.X) if kind.name in search.good]
    again = Search(scaled, kinds, in_time, by_column=True)
    found = again.run()
    return Choice(found.kernel, Columns(factors), [*search.tried, *again.tried], note)


def _factors(sample: Sample, best: Tried, tried: list[Tried]) -> tuple[Array | None, str]:
    """Return a factor for each column if different widths clearly help, and why or why not."""
    if not isinstance(sample.X, np.ndarray) or sample.X.shape[1] < 2:
        return None, "all columns share one width, because X is sparse or has one column"
    half = min(LEARNED, len(sample) // 2)
    learned, judged = sample.rows(slice(half)), sample.rows(slice(half, half + JUDGED))
    start = best
    if best.name == "DeltaGaussian":  # has no likelihood
        start = min((t for t in tried if t.name != best.name), key=lambda t: t.loss)
    factors = column_factors(learned.X, learned.Y, learned.weight, start.kernel)
    before = min(_near(judged, best.kernel))
    after = min(_near(judged.of(judged.X * factors), start.kernel))
    said = f"{after:.4g} against {before:.4g} on {len(judged)} other rows"
    if not after < CLEARLY * before:
        return None, f"a width per column does not lower the loss: {said}"
    if half < LEARNED:
        more = sample.rows(slice(LEARNED))
        factors = column_factors(more.X, more.Y, more.weight, start.kernel, factors)
    return factors, f"a width per column lowers the loss: {said}"


def _near(sample: Sample, kernel: Any) -> Iterator[float]:
    """Yield the losses of kernels of about this width."""
    for step in (1 / STEP, 1.0, STEP):
        params = {k: v * step for k, v in kernel.get_params().items() if k.startswith("sigma")}
        yield sample.loss(type(kernel)(**{**kernel.get_params(), **params}))
