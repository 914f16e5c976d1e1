"""The choice of a kernel: family, width and, where it pays, a width of each column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._hashing import Hashes, hash_rows
from ..kernels import Gaussian, Kernel
from ..kernels.errors import one_line
from ..rows import count
from .columns import Columns, is_smaller_dense
from .many_rows import ManyRows
from .mixing import CLEARLY, WORTH, mixture
from .relevance import column_factors
from .search import POSITIVE, SECOND, STEP, Sample, Search, Tried, families, family_of

Array = NDArray[np.floating]

# The number of rows from which the widths of columns are learned, and on which they are judged.
LEARNED, JUDGED = 800, 800
# The number of rows on which kernels with equal and with different widths of columns are compared.
THIRD = 1600
# With fewer rows nothing is compared.
FEWEST = 8
# The width of the smooth kernel for margin machines, in units of the median distance.
SMOOTH = 2.0


class Option(NamedTuple):
    """A kernel to try.

    Attributes
    ----------
    kernel : Kernel
    columns : Columns or None
        The step that brings rows into the units of the kernel; None if it takes rows as they are.
    share : float
        The weight of a model of the kernel in the mixture of all of them.
    teacher : Kernel or None
        The kernel whose likelihood the factors of columns maximise; None if columns have equal
        widths.
    """

    kernel: Kernel
    columns: Columns | None
    share: float = 1.0
    teacher: Kernel | None = None

    @property
    def factors(self) -> Any:
        """The factor of each standardised column; 1 if columns have equal widths."""
        given = None if self.columns is None else self.columns.factors
        return 1.0 if given is None else given


@dataclass(frozen=True)
class Choice:
    """The kernels that were chosen.

    Attributes
    ----------
    options : list of Option
        The kernels to try: one kernel, or one with a width for each column and one with equal
        widths, if a mixture of both is better than either.
    tried : list of Tried
    note : str
        Why columns have equal or different widths.
    taught : ndarray of uint64 or None
        The hashes of the rows from which the factors of columns were learned; None if columns have
        equal widths.
    smooth : Kernel or None
        A wide Gaussian on the columns of the first kernel. Least squares prefers rough kernels for
        classes, because classes jump at their boundary. A margin machine needs the sign of a
        function only, and with a smooth kernel it finds smooth boundaries from fewer rows. None if
        the first kernel is smooth.
    far : str
        A sentence on values far from the centre of their column; empty if there are none.
    loss : str
        The name of the loss that kernels are compared by.
    """

    options: list[Option]
    tried: list[Tried]
    note: str = ""
    taught: Hashes | None = None
    smooth: Kernel | None = None
    far: str = ""
    loss: str = "squared error"

    @property
    def kernel(self) -> Kernel:
        """The first kernel."""
        return self.options[0].kernel

    @property
    def is_of_table(self) -> bool:
        """True if the maps are those of a table: of kernels that the fit chose, or of a given
        kernel of a positive family.
        """
        return self.scales or isinstance(self.kernel, POSITIVE)

    @property
    def scales(self) -> bool:
        """True if rows are brought into comparable units before a kernel takes them."""
        return self.options[0].columns is not None

    def _shown_first(self, tried: Tried) -> tuple[bool, float]:
        """Return a sort key: the table shows the chosen kernel of a family, else the best one."""
        return tried.kernel is not self.kernel, tried.loss

    def __str__(self) -> str:
        if not self.tried:
            return f"Kernel: {one_line(self.kernel)}, as given."
        lines = [f"{'kernel':<28}{'width':>8}{'rows':>8}{self.loss:>15}"]
        best: dict[tuple[str, bool, int], Tried] = {}
        for one in self.tried:
            key = one.name, one.by_column, one.n_rows
            best[key] = min(one, best.get(key, one), key=self._shown_first)
        for one in best.values():
            name = f"{one.name}, by column" if one.by_column else one.name
            mark = " *" if any(one.kernel is option.kernel for option in self.options) else ""
            lines.append(f"{name:<28}{one.factor:>8.3g}{one.n_rows:>8}{one.loss:>15.4g}{mark}")
        said = f" ({self.note})" if self.note else ""
        chosen = " and ".join(one_line(option.kernel) for option in self.options)
        lines.append(f"Chosen: {chosen}{said}.")
        return "\n".join([*lines, self.far] if self.far else lines)


def _always() -> bool:
    return True


def given_kernel(kernel: Kernel) -> Choice:
    """Return the choice of a kernel without parameters "median"."""
    return Choice([Option(kernel, None)], [])


class _Searched(NamedTuple):
    """The best kernel of equal widths on some columns."""

    columns: Columns
    sample: Sample
    search: Search
    best: Tried

    @classmethod
    def of(
        cls,
        columns: Columns,
        X: Any,
        rows: Sample,
        in_time: Callable[[], bool],
        good: list[str] | None = None,
    ) -> Self:
        """Search the best kernel of all families, or of the good ones, on the first rows of X."""
        n = len(rows)
        sample = rows.of(columns.fit(X).transform(rows.X))
        kinds = [kind for kind in families(sample.X) if good is None or kind.name in good]
        search = Search(sample, kinds, in_time)
        best = search.run() if n >= FEWEST else search.attempt(0, "Gaussian", 0.5)
        return cls(columns, sample, search, best)

    @property
    def loss(self) -> float:
        """The loss of the best kernel."""
        return self.best.loss


def choose_kernel(
    X: Any,
    Y: Array,
    weight: Array,
    kernel: Kernel | None,
    in_time: Callable[[], bool] = _always,
    *,
    of_classes: bool = False,
    megabytes: float = np.inf,
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
        ``in_time()`` is False when no further comparison may be started.
    of_classes : bool, default=False
        True if the targets are ±1, for classes: the log-loss of the outputs is compared instead of
        their squared error.
    megabytes : float, default=inf
        The memory that a comparison may need.
    """
    n = min(count(X), max(SECOND, LEARNED + JUDGED, THIRD))
    rows = Sample(X[:n], Y[:n], weight[:n], of_classes)
    many = ManyRows.first(X, Y, weight, of_classes, megabytes)
    found = _chosen(X, rows, many, kernel, in_time)
    return replace(found, loss="log-loss") if of_classes else found


def _chosen(
    X: Any,
    rows: Sample,
    many: ManyRows | None,
    kernel: Kernel | None,
    in_time: Callable[[], bool],
) -> Choice:
    """Choose a kernel on the first rows of X."""
    n = len(rows)
    if kernel is not None:
        search = Search(rows, [family_of(kernel, X)], in_time)
        best = search.run() if n >= FEWEST else search.attempt(0, type(kernel).__name__, 1.0)
        best = best if many is None else search.run_on(many, best)
        return Choice([Option(best.kernel, None)], search.tried)
    limited = _Searched.of(Columns(densify=is_smaller_dense(X)), X, rows, in_time)
    moved = limited.columns.moved(X)
    if not moved or n < FEWEST or not in_time():
        return _of_table(limited, X, many, in_time, f"Moved: {moved}." if moved else "")
    # A value far from the centre of its column may be an error. It may also be the value that says
    # most about a nearly linear function.
    free = limited.columns.get_params() | {"limit": np.inf}
    kept = _Searched.of(Columns(**free), X, rows, in_time, limited.search.good)
    said = f"the loss is {kept.loss:.4g} if they are kept, {limited.loss:.4g} if not"
    if kept.loss < CLEARLY * limited.loss and kept.best.n_rows == limited.best.n_rows:
        return _of_table(kept, X, many, in_time, f"Kept: {moved}; {said}.")
    return _of_table(limited, X, many, in_time, f"Moved: {moved}; {said}.")


def _of_table(
    searched: _Searched, X: Any, many: ManyRows | None, in_time: Callable[[], bool], far: str
) -> Choice:
    """Choose whether columns have widths of their own, after the kernel of equal widths."""
    columns, sample, search, best = searched
    if len(sample) < FEWEST:
        return Choice([Option(best.kernel, columns)], search.tried, far=far)
    if many is not None:
        many = many.of(columns.transform(many.X))
    equal = Option((best if many is None else search.run_on(many, best)).kernel, columns)
    smooth = _smooth(sample, equal)
    if not in_time():
        note = "max_seconds leaves no time for more"
        return Choice([equal], search.tried, note, smooth=smooth, far=far)
    teacher = _teacher(best, search.tried)
    factors, weights, note = _factors(sample, best, teacher)
    if factors is None:
        return Choice([equal], search.tried, note, smooth=smooth, far=far)
    scaled = sample.of(sample.X * factors)
    kinds = [kind for kind in families(scaled.X) if kind.name in search.good]
    again = Search(scaled, kinds, in_time, by_column=True)
    found = again.run()
    if many is not None:
        found = again.run_on(many.of(many.X * factors), found)
    both = [
        Option(found.kernel, Columns(factors, columns.densify, columns.limit), teacher=teacher),
        equal,
    ]
    if len(sample) > SECOND and in_time():
        weights, note = _weights(sample, many, both)
    options = [o._replace(share=w) for o, w in zip(both, weights, strict=True) if w]
    taught = hash_rows(X[:LEARNED]) if weights[0] else None
    tried = [*search.tried, *again.tried]
    return Choice(options, tried, note, taught, _smooth(sample, options[0]), far)


def _smooth(sample: Sample, first: Option) -> Kernel | None:
    """Return a wide Gaussian on the columns of an option; None if its own kernel is as smooth."""
    found = families(sample.X * first.factors)[0].at(SMOOTH)
    is_smooth = isinstance(first.kernel, Gaussian) and 2 * first.kernel.sigma >= found.sigma
    return None if is_smooth else found


def _weights(
    sample: Sample, many: ManyRows | None, both: list[Option]
) -> tuple[tuple[float, ...], str]:
    """Return the weights of kernels with a width per column and with equal widths, and why.

    Factors of columns help a model of few rows more than a model of many rows. Both kernels are
    therefore compared on more rows. The rows that have taught the factors are left out.
    """
    some = sample.rows(slice(THIRD)) if many is None else many
    outputs = [some.of(some.X * option.factors).judged(option.kernel)[1] for option in both]
    if many is not None:
        return _compared(many.held_out, outputs)
    return _compared(some, outputs, slice(LEARNED, None))


def _teacher(best: Tried, tried: list[Tried]) -> Kernel:
    """Return the kernel whose likelihood teaches the factors of columns."""
    if best.name != "DeltaGaussian":
        return best.kernel
    # An indefinite kernel has no likelihood. Only losses on the same rows can be compared.
    others = (t for t in tried if t.name != best.name)
    return min(others, key=lambda t: (-t.n_rows, t.loss)).kernel


def _factors(
    sample: Sample, best: Tried, teacher: Kernel
) -> tuple[Array | None, tuple[float, ...], str]:
    """Return the factors of the columns, the weights of both kernels, and why.

    The factors are None if different widths do not help. The first weight is that of the kernel
    with different widths, the second weight is that of the kernel with equal widths.
    """
    equal = 0.0, 1.0
    if not isinstance(sample.X, np.ndarray) or sample.X.shape[1] < 2:
        return None, equal, "all columns share one width, because X is sparse or has one column"
    half = min(LEARNED, len(sample) // 2)
    learned, judged = sample.rows(slice(half)), sample.rows(slice(half, half + JUDGED))
    factors = column_factors(learned.X, learned.Y, learned.weight, teacher)
    outputs = [
        _outputs(judged.of(judged.X * factors), teacher),
        _outputs(judged, best.kernel),
    ]
    weights, note = _compared(judged, outputs)
    if not weights[0]:
        return None, equal, note
    if half < LEARNED:
        more = sample.rows(slice(LEARNED))
        factors = column_factors(more.X, more.Y, more.weight, teacher, factors)
    return factors, weights, note


def _compared(
    sample: Sample, outputs: list[Array], new: slice = slice(None)
) -> tuple[tuple[float, ...], str]:
    """Return the weights of two models and why; they are judged on the rows `new`."""
    judged, outputs = sample.rows(new), [found[new] for found in outputs]
    weights = mixture(outputs, judged.Y, judged.weight, of_classes=sample.of_classes)
    by_column, equal = (judged.error(found) for found in outputs)
    if weights[0] == 1 and by_column * (1 + WORTH) > equal:
        weights = 0.0, 1.0
    said = f"{by_column:.4g} against {equal:.4g} on {len(judged)} other rows"
    if all(weights):
        loss = judged.error(np.tensordot(weights, outputs, 1))
        return weights, (
            f"a mixture of both has the loss {loss:.4g} on {len(judged)} other rows; a width per "
            f"column alone has {by_column:.4g}, and equal widths of columns alone have {equal:.4g}"
        )
    helps = "lowers the loss" if weights[0] else "does not lower the loss"
    return weights, f"a width per column {helps}: {said}"


def _outputs(sample: Sample, kernel: Any) -> Array:
    """Return the leave-one-out outputs of the best of three kernels of about the same width."""
    params = kernel.get_params()
    kernels = [
        type(kernel)(**{k: v * step if k.startswith("sigma") else v for k, v in params.items()})
        for step in (1 / STEP, 1.0, STEP)
    ]
    return min(map(sample.judged, kernels), key=lambda found: found[0])[1]
