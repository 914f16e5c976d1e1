"""How much the automatic learners ask of their data: the fewer rows, the less they can tell."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

# Up to this many rows maps are fitted anew for each fold, and good trials are averaged.
FEW = 2000
# Up to this many, one division into five folds is noise: trials are judged three times.
SCARCE = 200
# Up to this many nothing is chosen but penalties, by ten folds, as a fifth less is another task.
# Where two trials differ in a row or two, the better one by cross-validation is the one whose
# mistakes are among the rows that it has not seen.
FEWEST = 100
# So many trials are averaged on few rows, where the best one is best by chance.
AVERAGED = 6


@dataclass(frozen=True)
class Plan:
    """How trials are judged, and which of them are kept.

    Attributes
    ----------
    cv : int, splitter, list of (train, test) or None
        What each trial is judged by.
    repeats : int
        How often, by other folds each time; 0 is once, with maps that are fitted once on all rows.
    n_models : int or None
        How many trials are averaged at most; None is all.
    chooses : bool
        Whether the best trials are kept; otherwise all that are not far behind.
    """

    cv: Any
    repeats: int
    n_models: int | None
    chooses: bool = True

    @classmethod
    def of(cls, cv: Any, n_models: int | str, n_rows: int, in_memory: bool) -> Plan:
        """For so many distinct rows, and what the user wants."""
        numbered = isinstance(cv, Integral | str | None)
        repeats = int(in_memory and n_rows <= FEW)
        chooses = not repeats or n_rows > FEWEST
        if chooses and numbered and n_rows <= SCARCE:
            repeats *= 3
        if isinstance(cv, str):
            cv = 10 if n_rows <= FEWEST else 5
        elif hasattr(cv, "__next__"):
            cv = list(cv)  # splits that can be walked once are walked by each trial
        if isinstance(n_models, str):
            kept = None if not chooses else AVERAGED if repeats else 1
        else:
            kept = int(n_models)
        return cls(cv, repeats, kept, chooses)
