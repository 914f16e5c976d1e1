"""The command line: parses, calls one public function, prints, returns a code.

typer and rich are imported when a command runs, so that a missing one can be named. There is no
``from __future__ import annotations`` here: typer reads the annotations, and as strings they could
not refer to a module that is imported inside a function.
"""

import os
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

if TYPE_CHECKING:
    from .quickstart import Quickstart, Score

OUTPUT = Path("krein-quickstart.png")
FORMATS = (".png", ".pdf", ".svg")
TABLE_WIDTH = 80
CLI_HINT = "The command line needs typer and rich: install them with  pip install 'krein[cli]'."


def main() -> int:
    """Run the command line; the entry point ``krein``."""
    try:
        import rich  # noqa: F401  # the tables
        import typer  # noqa: F401  # the commands
    except ImportError:
        print(CLI_HINT, file=sys.stderr)
        return 1
    build_app()(prog_name="krein")
    return 0


def build_app() -> Any:
    """The typer application with all commands."""
    import typer

    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )

    @app.callback()
    def common(
        version: Annotated[
            bool,
            typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
        ] = False,
    ) -> None:
        """Learning with kernels that are not positive definite."""

    @app.command()
    def quickstart(
        output: Annotated[
            Path, typer.Option(help=f"Where to save the plot ({', '.join(FORMATS)}).")
        ] = OUTPUT,
        widths: Annotated[
            str, typer.Option(help="Numbers of features, e.g. 64,128,256.", show_default=False)
        ] = "",
        seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
        quick: Annotated[bool, typer.Option("--quick", help="Fewer rows: seconds.")] = False,
    ) -> None:
        """Approximate three kernels on scikit-learn's digits, next to scikit-learn itself."""
        try:
            _quickstart(output, widths, seed, quick)
        except (ValueError, OSError) as error:
            print(f"krein quickstart: {error}", file=sys.stderr)
            raise typer.Exit(1) from None

    return app


def _version(wanted: bool) -> None:
    if wanted:
        import typer

        try:
            print(f"krein {metadata.version('krein')}")
        except metadata.PackageNotFoundError:
            print("krein, not installed: run from its sources")
        raise typer.Exit()


def _quickstart(output: Path, widths: str, seed: int, quick: bool) -> None:
    """Check the arguments, run, print the table and the lessons, save the plot."""
    from rich.console import Console

    from .quickstart import run

    _check_output(output)
    chosen = _parse_widths(widths)
    console = Console(highlight=False)
    with console.status("Loading the digits") as status:
        result = run(chosen, quick=quick, random_state=seed, progress=status.update)
    _print_result(console, result)
    console.print()
    console.print(_save(result, output), soft_wrap=True, markup=False)


def _check_output(path: Path) -> None:
    """Raise now rather than after the computation."""
    folder = path.parent
    if path.suffix.lower() not in FORMATS:
        listed = ", ".join(FORMATS)
        raise ValueError(f"--output must be a file that ends in one of {listed}, got {path}.")
    if not folder.is_dir():
        raise ValueError(f"--output is {path}, but there is no folder {folder}: create it first.")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise ValueError(f"--output is {path}, which cannot be written: choose another file.")


def _parse_widths(text: str) -> list[int] | None:
    if not text.strip():
        return None
    try:
        return [int(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise ValueError(f"--widths takes numbers such as 64,128,256, got {text!r}.") from None


def _print_result(console: Any, result: "Quickstart") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    # Cut figures mislead: a narrow terminal gets the errors alone.
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
        # The name and the verdict stand in the first two rows of each kernel.
        notes = [Text(study.name, "bold"), Text(study.verdict.removeprefix("positive "), "dim")]
        last = study.comparisons[-1]
        for i, row in enumerate(study.comparisons):
            scores = [_cells(score) for score in (row.krein, row.rbf_sampler, row.nystroem)]
            cells = [cell for score in scores for cell in score[: 2 if wide else 1]]
            note = notes[i] if i < len(notes) else ""
            table.add_row(note, str(row.width), *cells, end_section=row is last)
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
    for lesson in result.lessons:
        console.print()
        console.print(lesson, markup=False)


def _cells(score: "Score | None") -> tuple[str, str]:
    from .quickstart import percent

    return ("–", "–") if score is None else (percent(score.error), percent(score.accuracy))


def _save(result: "Quickstart", output: Path) -> str:
    """Save the plot; return what happened."""
    from .plots import plot_quickstart

    try:
        figure = plot_quickstart(result)
    except ImportError as error:
        return f"No plot was saved. {error}"
    figure.savefig(output, dpi=160)
    return f"Plot: {output}"


if __name__ == "__main__":
    sys.exit(main())
