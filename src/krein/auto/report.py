"""What an automatic learner tried, what it chose and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import shorten

import numpy as np

from .choice import Choice

# Number of characters of a note in the printed report; `Trial.note` has the whole note.
LONGEST_NOTE = 100
# What losses are called in a report.
NAMES = {"brier": "Brier score", "error": "error", "squared_error": "squared error"}


@dataclass
class Trial:
    """One thing that was tried.

    Attributes
    ----------
    features : str
        The name of the map.
    learner : str
        The name of the learner.
    width : int
        The number of features.
    losses : tuple of float
        The cross-validated losses of the best penalties, in the order of `Report.criteria`.
    seconds : float
        The time that the trial took.
    note : str
        The reason why the trial was not finished; empty if it was finished.
    penalties : dict
        The penalties that were chosen, by name.
    """

    features: str
    learner: str
    width: int
    losses: tuple[float, ...]
    seconds: float
    note: str = ""
    penalties: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The first loss; infinite if the trial was not finished."""
        return self.losses[0]

    def __str__(self) -> str:
        penalties = ", ".join(f"{name} = {value:.3g}" for name, value in self.penalties.items())
        return f"{self.learner} ({penalties}) on {self.features} features of width {self.width}"


@dataclass
class Report:
    """What was tried, what was chosen and why.

    Attributes
    ----------
    criteria : tuple of str
        The losses by which trials are compared, the first one before the others.
    trials : list of Trial
        Everything that was tried.
    averaged : list of int
        The indices of the trials whose outputs are averaged, the best one first.
    reason : str
        A sentence that says what was chosen and why.
    kernel : Choice or None
        The kernels that were compared, if the kernel or its width was chosen.
    notes : list of str
        Sentences that say what was left out and why.
    """

    criteria: tuple[str, ...]
    trials: list[Trial] = field(default_factory=list)
    averaged: list[int] = field(default_factory=list)
    reason: str = ""
    kernel: Choice | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def chosen(self) -> int:
        """The index of the best trial."""
        return self.averaged[0]

    def __str__(self) -> str:
        names = "".join(f"{NAMES[name]:>15}" for name in self.criteria[:2])
        lines = [f"{'features':<28}{'width':>6}  {'learner':<13}{names}{'seconds':>9}"]
        for i, t in enumerate(self.trials):
            mark = "*" if i in self.averaged else " "
            found = [f"{loss:.4g}" if np.isfinite(loss) else "-" for loss in t.losses[:2]]
            losses = "".join(f"{loss:>15}" for loss in found)
            row = f"{t.features:<28}{t.width:>6}  {t.learner:<13}{losses}{t.seconds:>9.2f}"
            note = shorten(t.note, LONGEST_NOTE, placeholder=" …")
            lines.append(f"{row} {mark} {note}".rstrip())
        chosen = [] if self.kernel is None else [str(self.kernel), ""]
        return "\n".join([*chosen, *lines, self.reason, *self.notes])
