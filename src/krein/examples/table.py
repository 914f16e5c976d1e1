"""The table that ``krein quickstart`` prints."""

from __future__ import annotations

from typing import Any

from .results import Quickstart, Score
from .sentences import lesson, percent

TABLE_WIDTH = 80


def print_result(console: Any, result: Quickstart) -> None:
    """Print the table and one sentence per kernel.

    Parameters
    ----------
    console : rich.console.Console
        Where to print.
    result : Quickstart
        The results of the tour.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    # A narrow terminal would truncate figures, so it gets the errors only.
    wide = console.width >= TABLE_WIDTH
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column("kernel", no_wrap=True)
    table.add_column("\nwidth", justify="right", no_wrap=True)
    for name in ("krein", "RBFSampler", "Nystroem"):
        style = "bold" if name == "krein" else ""
        table.add_column(f"{name}\nerror", justify="right", no_wrap=True, style=style)
        if wide:
            table.add_column("\naccuracy", justify="right", no_wrap=True, style=style)
    for study in result.studies:
        # The first two rows of each kernel show its name and its kind.
        notes = [Text(study.name, "bold"), Text(study.verdict.removeprefix("positive "), "dim")]
        last = study.comparisons[-1]
        for i, row in enumerate(study.comparisons):
            scores = [cells(score) for score in (row.krein, row.rbf_sampler, row.nystroem)]
            shown = [cell for score in scores for cell in score[: 2 if wide else 1]]
            note = notes[i] if i < len(notes) else ""
            table.add_row(note, str(row.width), *shown, end_section=row is last)
    console.print(
        f"Handwritten digits: {result.n_train} rows to fit, {result.n_test} rows to judge. The "
        "error is that of the kernel matrix (relative, Frobenius); the accuracy is that of a "
        "linear model on the features."
    )
    console.print()
    console.print(table)
    console.print()
    for study in result.studies:
        if study.data != result.studies[0].data:
            console.print(f"{study.name}: {study.data}; elsewhere {result.studies[0].data}.")
    for study in result.studies:
        console.print()
        console.print(lesson(study), markup=False)


def cells(score: Score | None) -> tuple[str, str]:
    """Return error and accuracy as text; dashes if there is no score."""
    return ("–", "–") if score is None else (percent(score.error), percent(score.accuracy))
