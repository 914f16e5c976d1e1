"""The command line and the quickstart behind it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata, util
from pathlib import Path

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

import krein
from krein import cli
from krein.examples import data, run, table
from krein.examples.contest import METHODS, contest
from krein.examples.results import Comparison, Contest, Outcome, Quickstart
from krein.examples.sentences import lesson, percent, verdict
from krein.examples.tasks import TASKS, graph
from krein.kernels import Gaussian

CLI = util.find_spec("typer") is not None and util.find_spec("rich") is not None
PLOT = util.find_spec("matplotlib") is not None
needs_cli = pytest.mark.skipif(not CLI, reason="needs krein[cli]")
needs_plot = pytest.mark.skipif(not PLOT, reason="needs krein[plot]")

KERNELS = ["Gaussian", "DeltaGaussian", "Sigmoid"]
WIDTHS = "8"
# Runs the command line with some modules made impossible to import.
BLOCKED = """
import sys
for name in {blocked!r}:
    sys.modules[name] = None
from krein.cli import main
sys.argv = ["krein", *{arguments!r}]
sys.exit(main())
"""


def krein_without(blocked: list[str], arguments: list[str], folder: Path) -> tuple[int, str, str]:
    """Exit code, output and errors of ``krein`` in a process that lacks some modules."""
    source = str(Path(krein.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED.format(blocked=blocked, arguments=arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
    )
    return done.returncode, done.stdout, done.stderr


def invoke(*arguments: str, columns: int = 80) -> tuple[int, str, str]:
    """Exit code, output and errors of ``krein`` in this process."""
    from typer.testing import CliRunner

    done = CliRunner(env={"COLUMNS": str(columns)}).invoke(cli.build_app(), list(arguments))
    return done.exit_code, done.stdout, done.stderr


def never(*_: object, **__: object) -> None:
    raise AssertionError("the computation was started")


@pytest.fixture(scope="module")
def result() -> Quickstart:
    return run.run(quick=True, random_state=0)


@pytest.fixture
def ready(result: Quickstart, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quickstart without its computation: what remains is parsing, printing and saving."""
    monkeypatch.setattr(run, "run", lambda *_, **__: result)


# --- the computation ----------------------------------------------------------------------------


def test_every_method_solves_every_task(result: Quickstart) -> None:
    assert len(result.contests) == len(TASKS) == 4
    for found in result.contests:
        assert [outcome.method for outcome in found.outcomes] == ["krein", *METHODS]
        assert all(0 <= outcome.accuracy <= 1 for outcome in found.outcomes)


def test_the_order_of_the_rows_does_not_change_krein(result: Quickstart) -> None:
    assert [found.outcomes[0].changed for found in result.contests] == [0.0] * 4


@pytest.mark.slow
def test_direction_is_worth_it_on_a_directed_graph() -> None:
    rng = np.random.default_rng(0)
    krein_, *others = contest(graph(160, rng), rng).outcomes
    assert krein_.accuracy > 0.6 > max(outcome.accuracy for outcome in others)


@pytest.mark.parametrize(
    ("accuracies", "changed", "said"),
    [
        ((0.9, 0.8), 0.0, "90.0% of 200 objects, the best of the others (B) on 80.0%."),
        ((0.9, 0.9), 0.0, "90.0% of 200 objects, and so is B."),
        ((0.8, 0.9), 0.1, "on 90.0%; the order of the rows changes 10.0% of what B predicts."),
    ],
)
def test_verdicts_are_honest(accuracies: tuple[float, float], changed: float, said: str) -> None:
    outcomes = Outcome("krein", accuracies[0], 0.0, 1.0), Outcome("B", accuracies[1], changed, 1.0)
    assert verdict(Contest("strings", "line", 100, 200, outcomes)).endswith(said)


def test_three_kernels_at_four_widths(result: Quickstart) -> None:
    assert [study.name for study in result.studies] == KERNELS
    for study in result.studies:
        assert tuple(row.width for row in study.comparisons) == run.QUICK_WIDTHS


def test_the_verdicts_are_right(result: Quickstart) -> None:
    expected = ["positive definite", "indefinite", "indefinite"]
    assert [study.verdict for study in result.studies] == expected


def test_only_the_gaussian_has_an_rbf_sampler(result: Quickstart) -> None:
    for study in result.studies:
        absent = [row.rbf_sampler is None for row in study.comparisons]
        assert absent == [study.name != "Gaussian"] * len(absent)


def test_rows_are_on_the_sphere_for_the_sigmoid_alone(result: Quickstart) -> None:
    assert ["norm 1" in study.data for study in result.studies] == [False, False, True]


def test_features_follow_the_diagnosis(result: Quickstart) -> None:
    for study in result.studies:
        errors = study.diagnosis.errors
        assert errors[study.method] == min(e for name, e in errors.items() if name != "Nystrom")
        assert study.method in lesson(study)
        assert f"suggests krein.{study.diagnosis.suggested_method}" in lesson(study)


@pytest.mark.parametrize("index", [1, 2])
def test_nystroem_approximates_the_flipped_kernel(result: Quickstart, index: int) -> None:
    widest = result.studies[index].comparisons[-1]
    assert widest.nystroem_flip_error < widest.krein.error * 3 < widest.nystroem.error
    assert "flips" in lesson(result.studies[index])


def test_a_definite_kernel_has_nothing_to_flip(result: Quickstart) -> None:
    for row in result.studies[0].comparisons:
        assert row.nystroem_flip_error == pytest.approx(row.nystroem.error, rel=1e-6)
    assert "flips" not in lesson(result.studies[0])


def test_lessons_quote_the_figures_of_the_table(result: Quickstart) -> None:
    for study in result.studies:
        widest = study.comparisons[-1]
        for share in (widest.krein.error, widest.nystroem.error, widest.krein.accuracy):
            assert percent(share) in lesson(study)
        assert study.diagnosis.evidence in lesson(study)


def test_same_seed_same_result() -> None:
    def study(seed: int) -> tuple[Comparison, ...]:
        rng = np.random.default_rng(seed)
        split = data.digits(100, 100, rng)
        return run._study(Gaussian(3.0), split, (8,), rng).comparisons

    assert study(3) == study(3) != study(4)


def test_precomputed_nystroem_is_scikit_learns_own(rng: np.random.Generator) -> None:
    rows = rng.random((40, 3))
    split = data.Split(rows, rows, np.arange(40), np.arange(40))
    own = Nystroem(kernel="rbf", gamma=0.5, n_components=40, random_state=0).fit_transform(rows)
    ours = run._nystroem(Gaussian(1.0), split, 40, rng)[0]
    np.testing.assert_allclose(ours @ ours.T, own @ own.T, atol=1e-6)


@pytest.mark.parametrize("widths", [[], [0], [7], [16, 400], [-2]])
def test_bad_widths_are_one_sentence(widths: list[int]) -> None:
    with pytest.raises(ValueError, match=r"^widths must be even numbers from 2 to 300, got .*\.$"):
        run.run(widths, quick=True)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0123, "1.2%"),
        (0.973, "97.3%"),
        (1.0, "100%"),
        (0.9996, "100%"),
        (1.958, "196%"),
        (0.0017, "0.17%"),
        (0.0, "0.00%"),
    ],
)
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text


# --- the command --------------------------------------------------------------------------------


@needs_cli
@needs_plot
@pytest.mark.slow
def test_quickstart_prints_a_table_and_saves_a_plot(tmp_path: Path) -> None:
    output = tmp_path / "plot.png"
    arguments = ["quickstart", "--quick", "--widths", WIDTHS, "--output", str(output)]
    code, out, errors = krein_without([], arguments, tmp_path)
    assert (code, errors) == (0, "")
    assert output.read_bytes().startswith(b"\x89PNG")
    assert f"Plot: {output}" in out
    for name in KERNELS:
        assert len(re.findall(f"^{name} is (?:positive|in)", out, re.MULTILINE)) == 1


@needs_cli
@needs_plot
@pytest.mark.usefixtures("ready")
def test_every_lesson_and_figure_is_printed(result: Quickstart, tmp_path: Path) -> None:
    code, out, _ = invoke("quickstart", "--output", str(tmp_path / "plot.png"), columns=100)
    assert code == 0
    words = " ".join(out.split())
    for found in result.contests:
        assert verdict(found) in words
        assert found.line in words
        for outcome in found.outcomes:
            figures = percent(outcome.accuracy), percent(outcome.changed)
            assert " ".join([outcome.method, *figures, f"{outcome.seconds:.1f}"]) in words
    for study in result.studies:
        assert lesson(study) in words
        for row in study.comparisons:
            scores = (row.krein, row.nystrom, row.rbf_sampler, row.nystroem)
            cells = [cell for score in scores for cell in table.cells(score)]
            assert " ".join([str(row.width), *cells]) in words


@needs_cli
@needs_plot
@pytest.mark.parametrize("columns", [50, 80, 120])
@pytest.mark.usefixtures("ready")
def test_the_table_fits_into_the_terminal(columns: int, result: Quickstart, tmp_path: Path) -> None:
    _, out, _ = invoke("quickstart", "--output", str(tmp_path / "plot.png"), columns=columns)
    text, path = out.split("Plot: ")
    code = [found.line for found in result.contests]  # is never broken
    lines = [line for line in text.splitlines() if line.strip() not in code]
    assert max(len(line) for line in lines if not line.startswith("  ")) <= columns
    assert (text.count("accuracy") > 4) == (columns >= 96)
    assert "…" not in text
    assert path.strip() == str(tmp_path / "plot.png")  # a long path is never broken


@needs_cli
@needs_plot
@pytest.mark.parametrize("suffix", cli.FORMATS)
@pytest.mark.usefixtures("ready")
def test_the_promised_formats_are_saved(suffix: str, tmp_path: Path) -> None:
    output = tmp_path / f"plot{suffix}"
    assert invoke("quickstart", "--output", str(output))[0] == 0
    assert output.stat().st_size > 1000


@needs_cli
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "missing/plot.png"], "there is no folder missing"),
        (["--output", "plot.xyz"], "ends in one of .png, .pdf, .svg, got plot.xyz"),
        (["--output", "plot"], "ends in one of"),
        (["--output", "folder.png"], "cannot be written"),
        (["--widths", "64,many"], "--widths takes numbers such as 64,128,256, got '64,many'"),
    ],
)
def test_bad_arguments_are_one_sentence_before_the_work(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    monkeypatch.setattr(run, "run", never)
    code, out, errors = invoke("quickstart", *arguments)
    assert (code, out) == (1, "")
    assert message in errors
    assert len(errors.splitlines()) == 1


@needs_cli
def test_odd_widths_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, errors = invoke("quickstart", "--widths", "64,65")
    assert code == 1
    assert errors.strip() == (
        "krein quickstart: widths must be even numbers from 2 to 1000, got 64, 65."
    )


@needs_cli
def test_version() -> None:
    code, out, _ = invoke("--version")
    try:
        expected = f"krein {metadata.version('krein')}"
    except metadata.PackageNotFoundError:
        expected = "krein, not installed: run from its sources"
    assert (code, out.strip()) == (0, expected)


@needs_cli
@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_names_the_command(arguments: list[str]) -> None:
    _, out, errors = invoke(*arguments)
    assert "quickstart" in out + errors


@needs_cli
@pytest.mark.parametrize(
    "arguments", [["quikstart"], ["quickstart", "--sed", "1"], ["quickstart", "--seed", "-1"]]
)
def test_typos_are_usage_errors(arguments: list[str]) -> None:
    code, _, errors = invoke(*arguments)
    assert code == 2
    assert "Usage" in errors
    assert "Traceback" not in errors


@needs_cli
def test_cite_prints_bibtex_or_a_guess() -> None:
    assert invoke("cite", "nystrom") == (0, krein.citations("Nystrom").bibtex + "\n", "")
    code, out, errors = invoke("cite", "Nystroem")
    assert (code, out) == (1, "")
    assert "krein cite: No reference is known for 'Nystroem': did you mean 'Nystrom'?" in errors
    assert invoke("cite")[0] == 2


# --- without the extras -------------------------------------------------------------------------


@pytest.mark.parametrize("blocked", ["typer", "rich"])
def test_without_the_cli_extra_it_is_named(blocked: str, tmp_path: Path) -> None:
    code, out, errors = krein_without([blocked], ["quickstart"], tmp_path)
    assert (code, out, errors.strip()) == (1, "", cli.CLI_HINT)
    assert "krein[cli]" in errors


@needs_cli
@pytest.mark.usefixtures("ready")
def test_without_matplotlib_the_table_is_printed_and_the_extra_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)  # an import of it fails
    code, out, errors = invoke("quickstart", "--output", str(tmp_path / "plot.png"))
    assert (code, errors) == (0, "")
    assert "RBFSampler" in out
    assert "No plot was saved. Plots need matplotlib" in out
    assert "krein[plot]" in out
    assert not list(tmp_path.iterdir())


@needs_cli
def test_help_loads_neither_matplotlib_nor_the_quickstart(tmp_path: Path) -> None:
    code, _, errors = krein_without(["matplotlib", "krein.examples.run"], ["--help"], tmp_path)
    assert (code, errors) == (0, "")
