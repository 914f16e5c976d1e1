"""Maps of the kernel that was chosen for a table: exact if that is cheap, else as wide as fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sklearn.pipeline import make_pipeline

from ..kernels import DeltaGaussian
from .choice import Choice, Option
from .columns import Double
from .costs import (
    exact_cost,
    exact_megabytes,
    margin_cost,
    margin_megabytes,
    ridge_cost,
    ridge_megabytes,
)
from .many_rows import narrow_map
from .maps import HINGE, RIDGE, Candidate
from .sizes import EXACT, FEW, MARGIN, OPERATIONS, WIDE


@dataclass(frozen=True)
class Table:
    """The kernels, sizes and limits that decide which maps of a table are tried.

    Attributes
    ----------
    choice : Choice
    n_rows, n_columns, n_outputs, n_folds : int
    megabytes : float
        The memory that a trial may need.
    is_hurried : bool
        True if a clock limits the fit: narrower maps then come first, as stopgaps.
    seed : int
    leaves_one_out : bool
        True if ridge on the exact kernel may be tuned by rows that are left out in turn.
    is_single : bool
        True if the rows are in single precision, which is too little for features of smooth kernels
        and small penalties.
    """

    choice: Choice
    n_rows: int
    n_columns: int
    n_outputs: int
    n_folds: int
    megabytes: float
    is_hurried: bool
    seed: int
    leaves_one_out: bool = True
    is_single: bool = False

    def candidates(self, n_components: int | str, learners: list[str]) -> list[Candidate]:
        """Return the maps to try, cheap ones first, each with its learners."""
        if n_components != "auto":
            first, *others = self.choice.options
            width = min(int(n_components), self.n_rows)
            found = self._map(first, width, tuple(learners))
            return [found, *(self._map(other, width, (RIDGE,)) for other in others)]
        margins = tuple(kind for kind in learners if kind == HINGE)
        return list(self._all(margins))

    @property
    def _options(self) -> list[Option]:
        """The kernels to try.

        A mixture of two kernels on narrow maps is worse than one of them on a wide map.
        """
        both = self.choice.options
        heavier = max(both, key=lambda option: option.share)
        return both if self._widest(both) == self._widest([heavier]) else [heavier]

    def _all(self, margins: tuple[str, ...]) -> Iterator[Candidate]:
        first, *others = self._options
        width, margin, smooth = self._width(), self._margin(), self.choice.smooth
        shared = margins if smooth is None else ()
        if self.is_hurried and WIDE[0] < width:
            cheap = shared if margin > WIDE[0] else ()
            yield self._map(first, WIDE[0], (RIDGE, *cheap))._replace(is_stopgap=True)
            # Maps of at least half the width would cost a large part of the last trial.
            for narrow in (w for w in WIDE[1:] if 2 * w < width):
                yield self._map(first, narrow, (RIDGE,))._replace(is_stopgap=True)
        together = shared if margin >= width else ()
        yield self._map(first, width, (RIDGE, *together))
        yield from (self._map(other, width, (RIDGE,)) for other in others)
        if shared and 0 < margin < width:
            yield self._map(first, margin, margins)
        if margins and margin and smooth is not None:
            # The smooth kernel belongs to the columns of the first option, also if it is left out.
            option = self.choice.options[0]._replace(kernel=smooth)
            found = self._map(option, margin, margins)
            yield found._replace(name=f"{found.name}, smooth")

    def tries_margins(self, learners: list[str]) -> bool:
        """Return True if the budget allows margin machines."""
        return HINGE in learners and self._margin() > 0

    def of_rows(self, n_rows: int) -> Table:
        """Return the table with fewer rows, without a limit of time.

        All learners are then judged on the same folds.
        """
        return replace(self, n_rows=n_rows, is_hurried=False, leaves_one_out=False)

    def expected(self, maps: list[Candidate]) -> str:
        """Return a sentence that says what the trials on these maps are expected to cost."""
        total = sum(sum(one.costs) for one in maps)
        return (
            f"Expected: about {total:.1g} operations; {OPERATIONS:.0e} take about a minute of one "
            "core."
        )

    def _cost(self, option: Option, width: int, kind: str) -> float:
        if kind == RIDGE and self._is_left_out(option, width):
            return exact_cost(self.n_rows, self.n_columns)
        sizes = self.n_rows, self.n_columns, width, self.n_folds
        return margin_cost(*sizes, self.n_outputs) if kind == HINGE else ridge_cost(*sizes)

    def _is_left_out(self, option: Option, width: int) -> bool:
        """Return True if rows are left out in turn, in closed form."""
        is_positive = not isinstance(option.kernel, DeltaGaussian)
        return self.leaves_one_out and width >= self.n_rows and is_positive

    def notes(self, learners: list[str]) -> list[str]:
        """Return sentences that say what the budget leaves out."""
        found, width = [], self._width()
        if len(self._options) < len(self.choice.options):
            found.append("Left out: a mixture of two kernels, which would need narrower maps.")
        if width < self.n_rows:
            found.append(f"Left out: maps wider than {width}, because {self._limit(width)}.")
        if HINGE in learners and not self._margin():
            why = f"more than {OPERATIONS:.0e} operations or max_megabytes={self.megabytes:g}"
            if self._is_exact_on_many:
                why = "much more time than ridge on the exact kernel"
            found.append(f"Left out: {HINGE}, which would need {why}.")
        return found

    def _limit(self, width: int) -> str:
        """Return why no map is wider than `width`."""
        wider = next((w for w in self._widths() if w > width), None)
        if wider is None:
            return f"only the exact kernel is wider, which is tried with up to {EXACT} rows"
        if self._needed(wider, self._options) > self.megabytes:
            return f"ridge on them needs more memory than max_megabytes={self.megabytes:g}"
        return f"ridge on them needs more than {OPERATIONS:.0e} operations"

    @property
    def _is_exact_on_many(self) -> bool:
        """True if ridge has the exact kernel of many rows: margin machines then gain little."""
        return self.n_rows > FEW and self._width() == self.n_rows

    def _width(self) -> int:
        """Return the width of the widest maps whose ridge fits the budget."""
        return self._widest(self._options)

    def _widest(self, options: list[Option]) -> int:
        """Return the width of the widest maps of some kernels whose ridge fits the budget."""
        fits = [w for w in self._widths() if self._fits_ridge(w, options)]
        return max(fits, default=self._widths()[0])

    def _widths(self) -> list[int]:
        """Return all widths that are possible, in ascending order."""
        exact = [self.n_rows] if self.n_rows <= EXACT else []
        return [*(w for w in WIDE if w < self.n_rows), *exact]

    def _fits_ridge(self, width: int, options: list[Option]) -> bool:
        cost = sum(self._cost(option, width, RIDGE) for option in options)
        return cost <= OPERATIONS and self._needed(width, options) <= self.megabytes

    def _needed(self, width: int, options: list[Option]) -> float:
        """Return the memory of ridge on maps of some width, in megabytes."""
        left_out = all(self._is_left_out(option, width) for option in options)
        return exact_megabytes(width) if left_out else ridge_megabytes(width, self.n_folds)

    def _margin(self) -> int:
        """Return the width of the map of margin machines; 0 if they are not tried."""
        if self._is_exact_on_many:
            return 0
        sizes = self.n_rows, self.n_columns
        for width in (min(MARGIN, self.n_rows), WIDE[1], WIDE[0]):
            cost = margin_cost(*sizes, width, self.n_folds, self.n_outputs)
            if cost <= OPERATIONS and margin_megabytes(self.n_rows, width) <= self.megabytes:
                return width
        return 0

    def _map(self, option: Option, width: int, kinds: tuple[str, ...]) -> Candidate:
        whole = width >= self.n_rows
        kernel, columns, share, teacher = option
        made: Any = narrow_map(kernel, width, self.seed)
        if whole:
            made = made.set_params(landmarks="all", n_landmarks=None, core="truncated")
        signed = isinstance(kernel, DeltaGaussian)
        if columns is not None:
            made = make_pipeline(columns, made)
        elif self.is_single:
            made = make_pipeline(Double(), made)
        name = "Nystrom (all)" if whole else "Nystrom"
        if len(self.choice.options) > 1 and columns is not None and columns.factors is not None:
            name += ", by column"
        costs = tuple(self._cost(option, width, kind) for kind in kinds)
        left_out = self._is_left_out(option, width)
        return Candidate(
            name,
            width,
            made,
            kinds=kinds,
            is_nested=signed,
            costs=costs,
            share=share,
            leaves_one_out=left_out,
            teacher=teacher,
        )
