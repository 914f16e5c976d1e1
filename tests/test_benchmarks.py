"""The benchmarks run; their bars are for a quiet machine and the full sizes."""

import csv
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import krein

FOLDER = Path(__file__).parents[1] / "benchmarks"

# On a machine without the data the other variant takes the same path.
WITHOUT_DATA = pytest.param(False, marks=pytest.mark.slow)


def script(name, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))  # as if it were run: its neighbours can be imported
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    # Registered, because dataclasses look their module up by name.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_speed_prints_its_table(capsys, monkeypatch):
    rows = script("speed", monkeypatch).main(["--quick"])
    assert len(rows) >= 4
    out = capsys.readouterr().out
    assert all(row.name in out for row in rows)
    assert all(row.ours > 0 for row in rows if row.unit == "s")


def test_elastic_prints_its_table_and_why_aeon_is_skipped(capsys, monkeypatch):
    pytest.importorskip("dtaidistance")
    rows = script("elastic", monkeypatch).main(["--quick", "--repeats", "1", "--aeon", "no/python"])
    out = capsys.readouterr().out
    assert len(rows) == 4
    assert all(row.line(quick=True) in out for row in rows)
    assert "skipped, no/python does not exist" in out


@pytest.mark.parametrize("have_data", [True, WITHOUT_DATA])
def test_quality_prints_its_table(capsys, monkeypatch, have_data):
    quality = script("quality", monkeypatch)
    if not have_data:
        monkeypatch.setattr(quality, "load", lambda name: None)
    rows = quality.main(["--quick"])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in rows)
    assert rows[0].holds


@pytest.mark.parametrize("have_data", [True, False])
def test_nystrom_prints_its_table(capsys, monkeypatch, have_data):
    nystrom = script("nystrom", monkeypatch)
    if not have_data:
        monkeypatch.setattr(nystrom, "find", lambda name: None)
    rows = nystrom.main(["--quick"])
    out = capsys.readouterr().out
    assert len(rows) >= 4
    assert all(row.line(quick=True) in out for row in rows)
    # Counts do not depend on the machine.
    assert all(row.holds for row in rows if row.work.endswith("kernel evaluations"))


@pytest.fixture
def nystrom_quality(monkeypatch):
    """The script on made data: what is tested does not depend on the files that are here."""
    module = script("nystrom_quality", monkeypatch)
    rng = np.random.default_rng(0)
    made = {"X": rng.random((1200, 4)), "D": 1 - np.eye(150) * rng.random(150)}
    monkeypatch.setattr(module, "load", lambda name, key="X": made[key])
    return module


def test_nystrom_quality_writes_a_cell_for_each_method_rank_kernel_and_set(
    capsys, nystrom_quality, tmp_path
):
    rows = nystrom_quality.main(["--quick", "--csv", str(tmp_path / "cells.csv")])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in rows)
    with (tmp_path / "cells.csv").open(encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    sizes = nystrom_quality.QUICK
    kinds = [len(nystrom_quality.KERNELS), len(sizes.sets), len(sizes.ranks)]
    assert len(cells) == np.prod(kinds) * len(nystrom_quality.METHODS)
    # No matrix of rank k is better than the best one.
    assert all(float(c["best"]) <= float(c["median"]) * (1 + 1e-9) for c in cells)
    assert all(float(c["median"]) <= float(c["worst"]) for c in cells)
    assert len([row for row in rows if "over best" in row.work]) >= 2 * len(sizes.sets)


def test_nystrom_quality_draws_two_figures_for_each_kernel(nystrom_quality, tmp_path):
    pytest.importorskip("matplotlib")
    nystrom_quality.main(["--quick", "--only", "sigmoid", "--figures", str(tmp_path)])
    names = {"nystrom_sigmoid_rank.png", "nystrom_sigmoid_seconds.png"}
    assert {file.name for file in tmp_path.iterdir()} == names


def test_nystrom_quality_has_no_row_for_data_that_are_not_here(nystrom_quality, monkeypatch):
    monkeypatch.setattr(nystrom_quality, "load", lambda name, key="X": None)
    assert nystrom_quality.main(["--quick"]) == []


def test_the_best_error_of_a_rank_is_the_tail_of_the_spectrum(nystrom_quality):
    K = np.diag([3.0, -4.0, 0.0, 12.0])
    assert nystrom_quality.best_errors(K, [0, 1, 2, 3]) == pytest.approx([1, 5 / 13, 3 / 13, 0])
    skewed = np.roll(K, 1, axis=0)
    assert nystrom_quality.best_errors(skewed, [1], symmetric=False) == pytest.approx([5 / 13])


def test_nystrom_robust_prints_a_cell_for_each_kernel_and_set(capsys, monkeypatch):
    rows = script("nystrom_robust", monkeypatch).main(["--quick"])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in rows)
    assert len(rows) == 4
    assert "breast_cancer       delta_gaussian" in out
    # Rank 10 of 160 rows: as good as the full sizes.
    assert all(row.holds for row in rows[:2])


@pytest.mark.parametrize(
    "name",
    [
        "nystrom",
        "nystrom_quality",
        "nystrom_robust",
        "signed",
        "asymmetric",
        "learned",
        "mixtures",
    ],
)
def test_an_unknown_part_is_named(capsys, monkeypatch, name):
    with pytest.raises(SystemExit):
        script(name, monkeypatch).main(["--quick", "--only", "sped"])
    assert "sped" in capsys.readouterr().err


@pytest.mark.parametrize("have_data", [True, WITHOUT_DATA])
def test_learners_print_their_table(capsys, monkeypatch, have_data):
    learners = script("learners", monkeypatch)
    if not have_data:
        monkeypatch.setattr(learners, "find", lambda name: None)
    rows = learners.main(["--quick"])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in rows)
    # The objective does not depend on the machine.
    assert all(row.holds for row in rows if "objective" in row.work)
    assert len(rows) >= (10 if have_data and learners.find("ijcnn1/ijcnn1.npz") else 4)


def signed_with_a_short_fit(monkeypatch):
    """The program of the signed-measure paper; its slowest method makes one step."""
    signed = script("signed", monkeypatch)
    short = signed.made(signed.MixtureFourier, max_iter=1, n_subsample=60)
    monkeypatch.setitem(signed.METHODS, "DIGMM", short)
    return signed


@pytest.mark.usefixtures("solve_each_programme_once")
def test_signed_prints_the_figures_of_the_paper(capsys, monkeypatch, tmp_path):
    signed = signed_with_a_short_fit(monkeypatch)
    file = tmp_path / "cells.csv"
    rows = signed.main(["--quick", "--csv", str(file)])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in rows)
    assert [row.bar for row in rows] == [0.35]
    assert all(f"| {name} |" in out for name in [*signed.METHODS, *signed.SAMPLERS])
    assert all(title in out for title in ("Fig. 1", "Table 2", "Fig. 4", "Fig. 5", "published"))
    # What is in the file is not computed again.
    before = file.read_text(encoding="utf-8")
    assert signed.main(["--quick", "--csv", str(file)]) == rows
    assert file.read_text(encoding="utf-8") == before
    # One C for all seeds of a set, kernel, method and width.
    with file.open(encoding="utf-8") as lines:
        chosen = [line for line in csv.DictReader(lines) if line["quantity"] == "C"]
    keys = {(line["kernel"], line["method"], line["width"]) for line in chosen}
    kinds = {(line["kernel"], line["method"], line["width"], line["value"]) for line in chosen}
    assert len(chosen) == 2 * len(keys) == 2 * len(kinds)


def test_asymmetric_prints_the_figures_of_the_paper(capsys, monkeypatch, tmp_path):
    asymmetric = script("asymmetric", monkeypatch)
    file = tmp_path / "cells.csv"
    rows = asymmetric.main(["--quick", "--csv", str(file)])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in rows)
    assert [row.bar for row in rows] == [0.35]
    methods = [*asymmetric.ERROR_METHODS, "Asy", "Sym", "RBF", "RBF, as many columns", "linear"]
    assert all(f"| {name} |" in out for name in methods)
    assert all(title in out for title in ("Fig. 1", "Fig. 2", "Fig. 3", "Table 1", "published"))
    before = file.read_text(encoding="utf-8")
    assert asymmetric.main(["--quick", "--csv", str(file)]) == rows
    assert file.read_text(encoding="utf-8") == before


def test_mixtures_print_errors_cost_and_accuracy(capsys, monkeypatch, tmp_path):
    mixtures = script("mixtures", monkeypatch)
    file = tmp_path / "cells.csv"
    rows = mixtures.main(["--quick", "--csv", str(file), "--only", "error,branches,accuracy"])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in rows)
    assert all(f"| {name} |" in out for name in [*mixtures.METHODS, *mixtures.BRANCHES])
    # No objective falls, whatever the machine; and the printed updates are far behind.
    assert all(row.holds for row in rows if "fall" in row.work)
    assert next(row for row in rows if "combination, joint" in row.work).holds
    with file.open(encoding="utf-8") as lines:
        cells = [line for line in csv.DictReader(lines) if line["quantity"] == "error"]
    means = {m: np.mean([float(c["value"]) for c in cells if c["method"] == m]) for m in ALL_MIXED}
    assert means["MixtureFourier"] < means["signed least squares"] < means["printed updates"]
    before = file.read_text(encoding="utf-8")
    mixtures.main(["--quick", "--csv", str(file), "--only", "error"])
    assert file.read_text(encoding="utf-8") == before


ALL_MIXED = ("MixtureFourier", "signed least squares", "printed updates")


def test_the_programs_of_the_papers_draw_figures(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    parts = ["--quick", "--figures", str(tmp_path), "--only"]
    signed_with_a_short_fit(monkeypatch).main([*parts, "curve"])
    script("asymmetric", monkeypatch).main([*parts, "masses,errors"])
    names = {"signed_curve.png", "asymmetric_masses.png", "asymmetric_error.png"}
    assert {file.name for file in tmp_path.iterdir()} == names


@pytest.mark.parametrize("name", ["signed", "asymmetric", "mixtures"])
def test_sets_without_a_file_are_left_out(name, capsys, monkeypatch):
    program = script(name, monkeypatch)
    monkeypatch.setattr(program.binary, "find", lambda file: None)
    program.binary.load.cache_clear()
    part = {"signed": "grid", "mixtures": "error,accuracy"}.get(name, "errors,accuracy")
    assert program.main(["--quick", "--sets", "letter", "--only", part]) == []
    assert "letter is not found" in capsys.readouterr().out


def test_a_job_that_the_library_refuses_is_a_cell_with_its_reason(monkeypatch, capsys, tmp_path):
    spectra = script("spectra", monkeypatch)
    job = spectra.Job("table", "set", "kernel", "method", 8, 2)

    def refuse(job, seed, known):
        raise ValueError("No features exist: use Nystrom.")

    cells = spectra.run_jobs([job], refuse, tmp_path / "cells.csv", 1)
    assert [cell.quantity for cell in cells] == ["refused", "refused"]
    spectra.print_spent(cells)
    assert "method: refused, No features exist" in capsys.readouterr().out
    # A refused job is known, and not tried again.
    assert len(spectra.run_jobs([job], refuse, tmp_path / "cells.csv", 1)) == 2


def test_an_error_of_a_program_is_that_of_the_library(monkeypatch):
    spectra = script("spectra", monkeypatch)
    X = np.random.default_rng(0).random((40, 3))
    for kernel in (krein.kernels.DeltaGaussian(), krein.kernels.ShiftGaussian()):
        for features in (krein.RandomFourier(kernel, 64), krein.Nystrom(kernel, 10)):
            features.set_params(random_state=0).fit(X)
            expected = krein.approximation_error(features, X)
            assert spectra.relative_error(kernel, features, X) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("have_data", [True, False])
def test_direction_prints_its_table(capsys, monkeypatch, have_data):
    direction = script("direction", monkeypatch)
    if not have_data:
        monkeypatch.setattr(direction, "load", lambda name, key="X": None)
    rows = direction.main(["--quick", "--only", "retrieval"])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in rows)
    # Shares do not depend on the machine, and chance is 0.5 for the symmetrised kernel.
    assert all(row.holds for row in rows)
    assert all("symmetrised: 0." in row.note for row in rows)


def test_direction_compares_errors_with_the_best_of_the_rank(monkeypatch, tmp_path):
    direction = script("direction", monkeypatch)
    monkeypatch.setattr(direction, "load", lambda name, key="X": None)
    options = ["--quick", "--only", "nystrom", "--figures", str(tmp_path)]
    assert all(1 <= row.figure < 1.5 for row in direction.main(options))
    assert (tmp_path / "direction_embedding.png").stat().st_size > 10_000


@pytest.mark.parametrize("have_data", [True, WITHOUT_DATA])
def test_two_sided_prints_its_table(capsys, monkeypatch, have_data):
    two_sided = script("two_sided", monkeypatch)
    if not have_data:
        monkeypatch.setattr(two_sided, "find", lambda name: None)
    rows = two_sided.main(["--quick", "--only", "digraph,cora,speed" if have_data else "cora"])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in rows)
    assert len(rows) >= (3 if have_data else 0)


def test_learned_prints_the_figures_of_the_paper(capsys, monkeypatch, tmp_path):
    learned = script("learned", monkeypatch)
    file, folder = tmp_path / "cells.csv", tmp_path / "figures"
    options = ["--quick", "--csv", str(file)]
    rows = learned.main([*options, "--figures", str(folder)])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in rows)
    # Identities and small numbers of harmonics do not depend on sizes and on the machine.
    sure = [row for row in rows if "addition" in row.work or row.work.endswith(": harmonics")]
    assert len(sure) == 5
    assert all(row.holds for row in sure)
    assert all(f"| {name} |" in out for name in ("blades", "sphere rotated", *learned.MAPS))
    names = {"learned_rounds.png", "learned_harmonics.png", "learned_digits.png"}
    assert {path.name for path in folder.iterdir()} == names
    # What is in the file is not computed again.
    before = file.read_text(encoding="utf-8")
    assert learned.main(options) == rows
    assert file.read_text(encoding="utf-8") == before


def test_learned_leaves_out_sets_without_a_file(capsys, monkeypatch):
    learned = script("learned", monkeypatch)
    monkeypatch.setattr(learned.learned_data, "find", lambda file: None)
    learned.learned_data.load.cache_clear()
    assert learned.main(["--only", "images,digits", "--sets", "4/9,automobile/truck"]) == []
    assert "4/9 is not found" in capsys.readouterr().out


def test_histograms_of_gradients_know_the_direction_and_not_the_contrast(monkeypatch):
    hog = script("learned_data", monkeypatch).hog
    steps = np.repeat(np.arange(0, 160, 5), 32).reshape(32, 32)  # brighter from row to row
    images = np.stack([steps, steps.T, steps // 5], axis=0)[..., None] * np.ones(3)
    down, right, faint = hog(images).reshape(3, 8, 8, 8)
    assert hog(images).shape == (3, 512)
    # Every cell has one direction, 90° or 0°, of norm 1.
    assert np.all(down.argmax(axis=-1) == 4)
    assert np.all(right.argmax(axis=-1) == 0)
    np.testing.assert_allclose(np.linalg.norm(down, axis=-1), 1, rtol=1e-6)
    np.testing.assert_allclose(faint[:, 1:-1], down[:, 1:-1], atol=1e-3)


def test_tables_print_a_row_for_each_method(capsys, monkeypatch, tmp_path):
    tables = script("tables", monkeypatch)
    file = tmp_path / "cells.csv"
    rows = tables.main(["--quick", "--csv", str(file)])
    out = capsys.readouterr().out
    assert len(rows) == len(tables.QUICK.sets)
    assert all(f"| {name} |" in out for name in tables.METHODS)
    # What is in the file is not computed again.
    before = file.read_text(encoding="utf-8")
    tables.main(["--quick", "--csv", str(file)])
    assert file.read_text(encoding="utf-8") == before


@pytest.fixture
def choosing(monkeypatch):
    """The script with three cheap methods and two kernels."""
    module = script("choosing", monkeypatch)
    cheap = ("RandomFourier", "Nystrom", "TensorSketch")
    monkeypatch.setattr(module, "METHODS", [m for m in module.METHODS if m.name in cheap])
    few = {name: module.KERNELS[name] for name in ("Gaussian", "TL1")}
    monkeypatch.setattr(module, "KERNELS", few)
    return module


def test_choosing_writes_its_table_and_its_plot(capsys, choosing, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    csv_file, page, figure = (tmp_path / name for name in ("cells.csv", "page.md", "plot.png"))
    page.write_text(f"before\n{choosing.BEGIN}\nold\n{choosing.END}\nafter\n", encoding="utf-8")
    paths = ["--csv", str(csv_file), "--page", str(page), "--figure", str(figure)]
    cells = choosing.main(["--quick", *paths])
    # The Gaussian has two methods, TL1 has one and a reason; at two widths each.
    assert len(cells) == 8
    assert sum(cell.note != "" for cell in cells) == 2
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- table")
    assert text.endswith("<!-- end -->\nafter\n")
    assert "| TL1 | made | – | **" in text
    assert "old" not in text
    assert figure.stat().st_size > 1000
    capsys.readouterr()
    assert len(choosing.main(["--quick", "--csv", str(csv_file)])) == len(cells)
    assert "each map is fitted" not in capsys.readouterr().out  # nothing is measured again


def test_choosing_leaves_out_sets_without_a_file(choosing, monkeypatch):
    monkeypatch.setattr(choosing, "find", lambda name: None)
    assert choosing.main(["--only", "letter"]) == []


def test_everyday_probabilities_prints_its_table_and_continues(capsys, monkeypatch, tmp_path):
    everyday = script("everyday_probabilities", monkeypatch)
    monkeypatch.setattr(everyday, "load", lambda *name: None)
    arguments = ["--quick", "--cells", str(tmp_path / "cells.csv")]
    rows = everyday.main(arguments)
    out = capsys.readouterr().out
    assert len(rows) == 6
    assert all(row.line(quick=True) in out for row in rows)
    monkeypatch.setattr(everyday, "parted", None)  # nothing is measured again
    assert [row.figure for row in everyday.main(arguments)] == [row.figure for row in rows]


def test_everyday_prints_its_table_and_goes_on_where_it_ended(capsys, monkeypatch, tmp_path):
    everyday = script("everyday", monkeypatch)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    monkeypatch.setitem(
        everyday.SETS["classification"], "skin", lambda: (rows, np.where(rows[:, 0] > 0, 1, 2))
    )
    csv_file = str(tmp_path / "cells.csv")
    found = everyday.main(["--quick", "--csv", csv_file])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in found)
    assert {row.work.split()[0].rstrip(":") for row in found} == {"diabetes", "skin"}
    monkeypatch.setattr(everyday, "_measured", None)  # nothing is measured again
    assert everyday.main(["--quick", "--csv", csv_file]) == found
