"""The benchmarks run; their bars are for a quiet machine and the full sizes."""

import csv

import numpy as np
import pytest
from benchmark_scripts import WITHOUT_DATA, script


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


def test_everyday_costs_print_their_table(capsys, monkeypatch):
    costs = script("everyday_costs", monkeypatch)
    monkeypatch.setattr(costs, "find", lambda name: None)
    rows = costs.main(["--quick"])
    out = capsys.readouterr().out
    assert all(row.line(quick=True) in out for row in rows)
    assert rows[-1].work.startswith("KreinRidge alpha='cv', 500 x 64")
