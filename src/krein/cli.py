"""The command line: it parses, calls one public function, prints and returns an exit code.

typer and rich are imported when a command runs, so that an error message can name a missing
package. There is no ``from __future__ import annotations`` in this file: typer evaluates the
annotations, and as strings they could not refer to a module that is imported inside a function.
"""

import os
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

OUTPUT = Path("krein-quickstart.png")
FORMATS = (".png", ".pdf", ".svg")
CLI_HINT = "The command line needs typer and rich: install them with  pip install 'krein[cli]'."


def main() -> int:
    """Run the command ``krein`` and return its exit code."""
    try:
        import rich  # noqa: F401  # the tables
        import typer  # noqa: F401  # the commands
    except ImportError:
        print(CLI_HINT, file=sys.stderr)
        return 1
    build_app()(prog_name="krein")
    return 0


def build_app() -> Any:
    """Return the typer application with all commands."""
    import typer

    app = typer.Typer(
        no_args_is_help=True,
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
        seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 0,
        quick: Annotated[
            bool, typer.Option("--quick", help="Use fewer rows and finish in seconds.")
        ] = False,
    ) -> None:
        """Solve four tasks and approximate three kernels, beside scikit-learn."""
        _run("quickstart", _quickstart, output, widths, seed, quick)

    @app.command()
    def cite(
        method: Annotated[str, typer.Argument(help="A class or a method, e.g. Nystrom.")],
    ) -> None:
        """Print the BibTeX of the papers behind a class or a method."""
        _run("cite", _cite, method)

    return app


def _run(name: str, work: Callable[..., None], *arguments: Any) -> None:
    """Run a command; its error is one sentence, and the exit code 1."""
    import typer

    try:
        work(*arguments)
    except (ValueError, OSError) as error:
        print(f"krein {name}: {error}", file=sys.stderr)
        raise typer.Exit(1) from None


def _cite(method: str) -> None:
    from .references import citations

    print(citations(method).bibtex)


def _version(wanted: bool) -> None:
    if wanted:
        import typer

        try:
            print(f"krein {metadata.version('krein')}")
        except metadata.PackageNotFoundError:
            print("krein, not installed: run from its sources")
        raise typer.Exit()


def _quickstart(output: Path, widths: str, seed: int, quick: bool) -> None:
    """Check the arguments, run the tour, print the table and the lessons, save the plot."""
    from rich.console import Console

    from .examples.plot import save_plot
    from .examples.run import run
    from .examples.table import print_result

    _check_output(output)
    chosen = _parse_widths(widths)
    console = Console(highlight=False)
    with console.status("Starting") as status:
        result = run(chosen, quick=quick, random_state=seed, progress=status.update)
    print_result(console, result)
    console.print()
    console.print(save_plot(result, output), soft_wrap=True, markup=False)


def _check_output(path: Path) -> None:
    """Raise if the plot cannot be saved, before the computation starts."""
    folder = path.parent
    if path.suffix.lower() not in FORMATS:
        listed = ", ".join(FORMATS)
        raise ValueError(f"--output must be a file that ends in one of {listed}, got {path}.")
    if not folder.is_dir():
        raise ValueError(f"--output is {path}, but there is no folder {folder}: create it first.")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise ValueError(f"--output is {path}, but it cannot be written: choose another file.")


def _parse_widths(text: str) -> list[int] | None:
    if not text.strip():
        return None
    try:
        return [int(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise ValueError(f"--widths takes numbers such as 64,128,256, got {text!r}.") from None


if __name__ == "__main__":
    sys.exit(main())
