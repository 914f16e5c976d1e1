"""What `compare` returns: a table of measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from textwrap import fill, shorten
from typing import Any

import numpy as np

from ..plots import plot_comparison
from .advice import Advice
from .measurement import Measurement

# Numbers of characters of a printed line and of a printed note; `Measurement.note` has the whole
# note.
LINE, LONGEST_NOTE = 100, 160


def _number(digits: int) -> Callable[[float], str]:
    return lambda value: f"{value:.{digits}g}" if np.isfinite(value) else "-"


def _bytes(value: float) -> str:
    return f"{value:,.0f}" if np.isfinite(value) else "-"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


# Heading, field and text of each column of the printed table.
COLUMNS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("width", "width", str),
    ("error", "error", _number(2)),
    ("seconds to fit", "fit_seconds", _number(2)),
    ("to transform", "transform_seconds", _number(2)),
    ("bytes", "bytes", _bytes),
    ("data-dependent", "data_dependent", _yes),
    ("unbiased", "unbiased", _yes),
    ("score", "score", _number(3)),
)


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`; it prints as a table.

    Attributes
    ----------
    kernel : str
        Text of the kernel.
    n_fitted : int
        Number of rows on which each map was fitted.
    n_judged : int
        Number of held-out rows on which each map was judged.
    rows : tuple of Measurement
        One row per method and width: in the order of the methods, narrow maps first.
    suggested_method : str or None
        The method with the least error; None if no method was measured.
    advice : str
        The recommendation and its reason.

    Examples
    --------
    >>> import numpy as np, krein
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> methods = ["RandomFourier", "Nystrom"]
    >>> kernel = krein.kernels.Gaussian()
    >>> found = krein.compare(kernel, X, methods, widths=[8, 32], random_state=0)
    >>> found.suggested_method
    'Nystrom'
    >>> found.rows[0].method, found.rows[0].width, found.rows[0].unbiased
    ('RandomFourier', 8, True)
    """

    kernel: str
    n_fitted: int
    n_judged: int
    rows: tuple[Measurement, ...]
    suggested_method: str | None
    advice: str

    @classmethod
    def of(
        cls, kernel: str, n_fitted: int, n_judged: int, rows: tuple[Measurement, ...]
    ) -> Comparison:
        """Return the comparison with its recommendation."""
        advice = Advice.of(rows)
        return cls(kernel, n_fitted, n_judged, rows, advice.method, advice.sentence)

    def __str__(self) -> str:
        head = (
            f"{self.kernel}: each map is fitted on {self.n_fitted} rows. Its error is "
            f"‖K̃ − K‖ / ‖K‖ on {self.n_judged} other rows."
        )
        notes = [fill(note, LINE, subsequent_indent="    ") for note in self._notes()]
        parts = [fill(head, LINE), *self._table(), *notes, fill(self.advice, LINE)]
        return "\n".join(parts)

    def _table(self) -> list[str]:
        """Return the lines of the table of all methods that were measured."""
        measured = [row for row in self.rows if row.is_measured]
        if not measured:
            return []
        scored = any(np.isfinite(row.score) for row in measured)
        columns = COLUMNS if scored else COLUMNS[:-1]
        cells = [["method", *(name for name, _, _ in columns)]]
        for row in measured:
            cells.append([row.method, *(text(getattr(row, name)) for _, name, text in columns)])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return [
            "  ".join(
                [line[0].ljust(widths[0])]
                + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
            )
            for line in cells
        ]

    def _notes(self) -> list[str]:
        """Return the first reason or warning of each method, with the widths that have one."""
        found: dict[tuple[str, bool], list[Measurement]] = {}
        for row in self.rows:
            if row.note:
                found.setdefault((row.method, row.is_measured), []).append(row)
        return [
            f"{method} at width {', '.join(str(row.width) for row in rows)}: "
            f"{shorten(rows[0].note, LONGEST_NOTE, placeholder=' …')}"
            for (method, _), rows in found.items()
        ]

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame, with one column per field of `Measurement`."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: install it with  pip install pandas, or use rows."
            ) from error
        return pandas.DataFrame([asdict(row) for row in self.rows])

    def plot(self, axes: Any = None) -> Any:
        """Plot the error against the width, and against the seconds to fit and transform.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, default=None
            Where to plot; None makes a new figure.

        Returns
        -------
        ndarray of two matplotlib Axes
        """
        return plot_comparison(self, axes)
