"""The tables that ``krein quickstart`` prints."""

from __future__ import annotations

from typing import Any

from .results import Contest, Quickstart, Score
from .sentences import lesson, percent, verdict

# Widths of a terminal that has room for accuracies, and for scikit-learn's RBFSampler.
WIDE, MIDDLE = 96, 64
# Names of the maps in the table, and where a comparison has their scores.
MAPS = {
    "random": "krein",
    "Nystrom": "nystrom",
    "RBFSampler": "rbf_sampler",
    "Nystroem": "nystroem",
}
NEXT = """What to type next, with your own objects:
  help(krein.kernels)  # strings, series, sets, graphs, vectors; Pairwise(f)
  print(krein.diagnose(kernel, objects))
  model = krein.KreinClassifier(kernel).fit(objects, classes)
  print(model.report_)"""


def print_result(console: Any, result: Quickstart) -> None:
    """Print both tables, one sentence per task and kernel, and what to type next.

    Parameters
    ----------
    console : rich.console.Console
        Where to print.
    result : Quickstart
        The results of the tour.
    """
    _print_contests(console, result.contests)
    console.print()
    _print_studies(console, result)
    console.print()
    console.print(NEXT, markup=False, soft_wrap=True)


def _table(*heads: str) -> Any:
    """Return an empty table whose first column is text and whose others are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for i, head in enumerate(heads):
        style = "bold" if head.startswith(("krein", "Nystrom\n")) else ""
        table.add_column(head, justify="right" if i else "left", no_wrap=True, style=style)
    return table


def _print_contests(console: Any, contests: tuple[Contest, ...]) -> None:
    from rich.text import Text

    console.print(
        "Four tasks, half of the objects to learn from and half to judge by. SVC and 1-NN get the "
        "matrix of the same kernel; penalties are chosen by cross-validation. 'Changed' is the "
        "share of predictions that change if the training objects are permuted."
    )
    console.print()
    table = _table("task\nmethod", "\naccuracy", "\nchanged", "\nseconds")
    for contest in contests:
        table.add_row(Text(contest.name, "bold"), "", "", "")
        for outcome in contest.outcomes:
            last = outcome is contest.outcomes[-1]
            style = "bold" if outcome is contest.outcomes[0] else ""
            figures = percent(outcome.accuracy), percent(outcome.changed), f"{outcome.seconds:.1f}"
            table.add_row(f"  {outcome.method}", *figures, end_section=last, style=style)
    console.print(table)
    for contest in contests:
        console.print()
        console.print(verdict(contest), markup=False)
        console.print(f"  {contest.line}", markup=False, soft_wrap=True)


def _print_studies(console: Any, result: Quickstart) -> None:
    from rich.text import Text

    # A narrow terminal would truncate figures, so it gets fewer.
    n_figures = 2 if console.width >= WIDE else 1
    maps = {name: at for name, at in MAPS.items() if console.width >= MIDDLE or at != "rbf_sampler"}
    heads = [(f"{name}\nerror", "\naccuracy")[:n_figures] for name in maps]
    table = _table("kernel", "\nwidth", *(head for pair in heads for head in pair))
    for study in result.studies:
        # The first two rows of each kernel show its name and its kind.
        notes = [Text(study.name, "bold"), Text(study.verdict.removeprefix("positive "), "dim")]
        last = study.comparisons[-1]
        for i, row in enumerate(study.comparisons):
            scores = [cells(getattr(row, at)) for at in maps.values()]
            shown = [cell for score in scores for cell in score[:n_figures]]
            note = notes[i] if i < len(notes) else ""
            table.add_row(note, str(row.width), *shown, end_section=row is last)
    console.print(
        f"Approximation, handwritten digits: {result.n_train} rows to fit, {result.n_test} rows to "
        "judge. The error is that of the kernel matrix (relative, Frobenius); the accuracy is that "
        "of a linear model on the features. 'random' and 'Nystrom' are maps of krein, 'RBFSampler' "
        "and 'Nystroem' of scikit-learn."
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
