"""How the trials of an automatic learner are judged, and which of them are kept."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from .sizes import AVERAGED, FEW, FEWEST, SCARCE


@dataclass(frozen=True)
class Plan:
    """The rules by which trials are judged and kept.

    Attributes
    ----------
    cv : int, splitter, list of (train, test) or None
        The cross-validation that judges each trial.
    repeats : int
        How often each trial is judged, with different folds each time. 0 means once, with a map
        that is fitted once on all rows.
    n_models : int or None
        The largest number of trials that are averaged; None means all trials.
    chooses : bool
        True if the best trials are kept, False if all trials that are nearly as good are kept.
    """

    cv: Any
    repeats: int
    n_models: int | None
    chooses: bool = True

    @classmethod
    def of(
        cls, cv: Any, n_models: int | str, n_rows: int, in_memory: bool, is_table: bool = False
    ) -> Plan:
        """Return the plan for a number of distinct rows and the wishes of the user.

        Few models are tried on a table, and their mixture is chosen on any number of rows.
        """
        numbered = isinstance(cv, Integral | str | None)
        repeats = int(in_memory and n_rows <= FEW)
        chooses = not repeats or n_rows > FEWEST
        if chooses and numbered and n_rows <= SCARCE:
            repeats *= 3
        if isinstance(cv, str):
            cv = 10 if n_rows <= FEWEST else 5
        elif hasattr(cv, "__next__"):
            cv = list(cv)  # an iterator would serve one trial only
        if isinstance(n_models, str):
            kept = None if not chooses else AVERAGED if repeats or is_table else 1
        else:
            kept = int(n_models)
        return cls(cv, repeats, kept, chooses)
