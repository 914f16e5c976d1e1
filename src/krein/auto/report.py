"""What an automatic learner tried, what it chose and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from textwrap import shorten
from typing import Any

import numpy as np

from .choice import Choice

# Number of characters of a note in the printed report; `Trial.note` has the whole note.
LONGEST_NOTE = 100
# The names of losses in a report.
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

    Examples
    --------
    >>> from krein.auto.report import Trial
    >>> print(Trial("Nystrom", "ridge", 25, (0.1,), 0.5, "", {"alpha": 0.001}))
    ridge (alpha = 0.001) on Nystrom features of width 25
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
        The losses by which trials are compared; the later ones break ties of the earlier ones.
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
    weights : list of float
        The weights of the averaged trials.

    Examples
    --------
    >>> import numpy as np, krein
    >>> from krein.kernels import Gaussian
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> report = krein.KreinRegressor(Gaussian(), 10, random_state=0).fit(X, X[:, 0]).report_
    >>> report.criteria, len(report.averaged) <= len(report.trials)
    (('squared_error',), True)
    """

    criteria: tuple[str, ...]
    trials: list[Trial] = field(default_factory=list)
    averaged: list[int] = field(default_factory=list)
    reason: str = ""
    kernel: Choice | None = None
    notes: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    @property
    def chosen(self) -> int:
        """The index of the best trial."""
        return self.averaged[0]

    def weight_of(self, place: int) -> float:
        """Return the weight of a trial in the average; 0 if the trial is not kept."""
        return dict(zip(self.averaged, self.weights, strict=True)).get(place, 0.0)

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

    def to_frame(self) -> Any:
        """Return the trials as a pandas DataFrame, one row per trial.

        Returns
        -------
        pandas.DataFrame
            The columns "features", "width", "learner", one column per loss, "seconds", "averaged"
            (True if the outputs of the trial are averaged), "weight" (the weight of the trial in
            the average), one column per penalty, and "note".

        Examples
        --------
        >>> import numpy as np
        >>> from krein import KreinRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> report = KreinRegressor(n_components=10, random_state=0).fit(X, X[:, 0]).report_
        >>> list(report.to_frame().columns)[:4]
        ['features', 'width', 'learner', 'squared_error']
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("Report.to_frame needs pandas: pip install pandas.") from error
        return pandas.DataFrame([self._line(i, trial) for i, trial in enumerate(self.trials)])

    def _line(self, place: int, trial: Trial) -> dict[str, Any]:
        """Return a row of `to_frame`."""
        return {
            "features": trial.features,
            "width": trial.width,
            "learner": trial.learner,
            **dict(zip(self.criteria, trial.losses, strict=False)),
            "seconds": trial.seconds,
            "averaged": place in self.averaged,
            "weight": self.weight_of(place),
            **trial.penalties,
            "note": trial.note,
        }

    def _repr_html_(self) -> str:
        """Return the report for a notebook: averaged trials are bold."""
        heads = ["features", "width", "learner", *(NAMES[name] for name in self.criteria[:2])]
        rows = []
        for place, t in enumerate(self.trials):
            losses = [f"{loss:.4g}" if np.isfinite(loss) else "–" for loss in t.losses[:2]]
            weight = f"{self.weight_of(place):.2g}" if place in self.averaged else ""
            cells = [
                t.features,
                str(t.width),
                t.learner,
                *losses,
                weight,
                f"{t.seconds:.2f}",
                t.note,
            ]
            style = ' style="font-weight: bold"' if place in self.averaged else ""
            rows.append(f"<tr{style}>{_cells('td', cells)}</tr>")
        head = _cells("th", [*heads, "weight", "seconds", "note"])
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        chosen = "" if self.kernel is None else f"<pre>{escape(str(self.kernel))}</pre>"
        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in [self.reason, *self.notes])
        return f"{chosen}{table}{said}"


def _cells(tag: str, texts: list[str]) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)
