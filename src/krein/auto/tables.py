"""Maps of the kernel that was chosen for a table: exact if that is cheap, else as wide as fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import make_pipeline

from ..features import Nystrom
from ..kernels import DeltaGaussian
from .choice import Choice
from .costs import margin_cost, margin_megabytes, ridge_cost, ridge_megabytes
from .maps import Candidate
from .sizes import EXACT, MARGIN, OPERATIONS, WIDE


@dataclass(frozen=True)
class Table:
    """What decides the maps of a table.

    Attributes
    ----------
    choice : Choice
    n_rows, n_columns, n_outputs, n_folds : int
    megabytes : float
        The memory that a trial may need.
    is_hurried : bool
        True if a clock limits the fit: narrower maps then come first, as stopgaps.
    seed : int
    """

    choice: Choice
    n_rows: int
    n_columns: int
    n_outputs: int
    n_folds: int
    megabytes: float
    is_hurried: bool
    seed: int

    def candidates(self, n_components: int | str, learners: list[str]) -> list[Candidate]:
        """Return the maps to try, cheap ones first, each with its learners."""
        if n_components != "auto":
            return [self._map(min(int(n_components), self.n_rows), tuple(learners))]
        margins = tuple(kind for kind in learners if kind == "squared hinge")
        return list(self._all(margins))

    def _all(self, margins: tuple[str, ...]) -> Iterator[Candidate]:
        width, margin = self._width(), self._margin()
        if self.is_hurried and WIDE[0] < width:
            cheap = margins if margin > WIDE[0] else ()
            yield self._map(WIDE[0], ("ridge", *cheap))._replace(is_stopgap=True)
            # Maps of at least half the width would cost a large part of the last trial.
            for narrow in (w for w in WIDE[1:] if 2 * w < width):
                yield self._map(narrow, ("ridge",))._replace(is_stopgap=True)
        shared = margins if margin >= width else ()
        yield self._map(width, ("ridge", *shared))
        if margins and 0 < margin < width:
            yield self._map(margin, margins)

    def expected(self, maps: list[Candidate]) -> str:
        """Return a sentence that says what the trials on these maps are expected to cost."""
        total = sum(sum(one.costs) for one in maps)
        return (
            f"Expected: about {total:.1g} operations; {OPERATIONS:.0e} take about a minute of one "
            "core."
        )

    def _cost(self, width: int, kind: str) -> float:
        sizes = self.n_rows, self.n_columns, width, self.n_folds
        return (
            margin_cost(*sizes, self.n_outputs) if kind == "squared hinge" else ridge_cost(*sizes)
        )

    def notes(self, learners: list[str]) -> list[str]:
        """Return sentences that say what the budget leaves out."""
        found, width = [], self._width()
        if width < self.n_rows:
            found.append(
                f"Left out: maps wider than {width}, because ridge would need more than "
                f"{OPERATIONS:.0e} operations, max_megabytes={self.megabytes:g} or {EXACT} "
                "landmarks."
            )
        if "squared hinge" in learners and not self._margin():
            found.append(
                "Left out: squared hinge, which would need more than "
                f"{OPERATIONS:.0e} operations or max_megabytes={self.megabytes:g}."
            )
        return found

    def _width(self) -> int:
        """Return the width of the widest map whose ridge fits the budget."""
        widths = [*(w for w in WIDE if w < self.n_rows), min(self.n_rows, EXACT)]
        fits = [w for w in widths if self._fits_ridge(w)]
        return max(fits, default=widths[0])

    def _fits_ridge(self, width: int) -> bool:
        cost = ridge_cost(self.n_rows, self.n_columns, width, self.n_folds)
        return cost <= OPERATIONS and ridge_megabytes(width, self.n_folds) <= self.megabytes

    def _margin(self) -> int:
        """Return the width of the map of margin machines; 0 if none fits the budget."""
        sizes = self.n_rows, self.n_columns
        for width in (min(MARGIN, self.n_rows), WIDE[1], WIDE[0]):
            cost = margin_cost(*sizes, width, self.n_folds, self.n_outputs)
            if cost <= OPERATIONS and margin_megabytes(self.n_rows, width) <= self.megabytes:
                return width
        return 0

    def _map(self, width: int, kinds: tuple[str, ...]) -> Candidate:
        whole = width >= self.n_rows
        kernel = self.choice.kernel
        made: Any = Nystrom(
            kernel,
            width,
            landmarks="all" if whole else "uniform",
            n_landmarks=None if whole else width,
            core="truncated",
            random_state=self.seed,
        )
        if isinstance(kernel, DeltaGaussian) and not whole:
            made = Nystrom(kernel, width, landmarks="uniform", random_state=self.seed)
        if self.choice.columns is not None:
            made = make_pipeline(self.choice.columns, made)
        name = "Nystrom (all)" if whole else "Nystrom"
        signed = isinstance(kernel, DeltaGaussian)
        costs = tuple(self._cost(width, kind) for kind in kinds)
        return Candidate(name, width, made, kinds=kinds, is_nested=signed, costs=costs)
