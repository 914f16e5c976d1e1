"""The recommendation of `compare` and of `diagnose`: one rule for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .measurement import Measurement

# Errors below this are rounding errors. If two maps have such errors, the narrower map is better.
EXACT = 1e-10
# A map with a larger error is of little use: a matrix of zeros has the error 1.
USELESS = 0.9


@dataclass(frozen=True)
class Advice:
    """Which method to use.

    Attributes
    ----------
    method : str or None
        The method with the least error; None if no method was measured.
    sentence : str
        The reason.
    """

    method: str | None
    sentence: str

    @classmethod
    def of(cls, rows: Sequence[Measurement]) -> Advice:
        """Recommend the method with the least error at any width.

        The sentence also names the unbiased method with the least error, and the method with the
        best score if there are scores.
        """
        measured = [row for row in rows if row.is_measured]
        if not measured:
            reasons = dict.fromkeys(row.note.rstrip(".") + "." for row in rows if row.note)
            return cls(None, " ".join(["No method could be measured.", *reasons]))
        best = min(measured, key=_rank)
        said = [f"{best.method} has the least error, {_value(best)}."]
        if best.error >= USELESS:
            said.append(
                "A matrix of zeros has the error 1, so no map is of use here: try other widths, "
                "more rows or a wider kernel."
            )
        unbiased = [row for row in measured if row.unbiased]
        if unbiased and not best.unbiased:
            row = min(unbiased, key=_rank)
            said.append(f"Among the unbiased methods, {row.method} has the least, {_value(row)}.")
        scored = [row for row in measured if np.isfinite(row.score)]
        if scored:
            row = _best_score(scored, best.method)
            said.append(
                f"{row.method} has the best score, {_score(row)} at width {row.width}: a smaller "
                "error is not always a better score."
                if row.method != best.method
                else f"{row.method} also has the best score, {_score(row)} at width {row.width}."
            )
        return cls(best.method, " ".join(said))


def _rank(row: Measurement) -> tuple[float, int, float]:
    return max(row.error, EXACT), row.width, row.error


def _best_score(rows: Sequence[Measurement], favourite: str) -> Measurement:
    """Return the row with the best score.

    If several scores print alike, rows of the favourite method come first, then narrow maps.
    """
    top = _score(max(rows, key=lambda row: row.score))
    alike = [row for row in rows if _score(row) == top]
    return min(alike, key=lambda row: (row.method != favourite, row.width))


def _score(row: Measurement) -> str:
    return f"{row.score:.3g}"


def _value(row: Measurement) -> str:
    return f"{row.error:.2g} at width {row.width}"
