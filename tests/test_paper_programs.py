"""The benchmarks that repeat the tables and figures of the papers run."""

import csv

import numpy as np
import pytest
from benchmark_scripts import WITHOUT_DATA, script

import krein


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


def test_mixtures_print_every_table_of_the_paper(capsys, monkeypatch):
    mixtures = script("mixtures", monkeypatch)
    parts = [name for name in mixtures.PARTS if name not in ("error", "branches", "cost")]
    assert mixtures.main(["--quick", "--only", ",".join(parts)]) == []
    out = capsys.readouterr().out
    titles = ("Tables III and IV", *(f"Table {n}" for n in ("V", "VI", "VII", "VIII")))
    assert all(f"({title})" in out for title in (*titles, "Fig. 3 and 4", "Fig. 5"))
    # The shift changes nothing off the diagonal, so all lines of Table VIII are alike.
    lines = [line.split("|")[5:9] for line in out.splitlines() if "| τ = " in line]
    assert len(lines) == 5
    assert all(line == lines[0] for line in lines)


def test_published_accuracies_stand_in_their_cells(monkeypatch):
    printed = script("mixture_published", monkeypatch)
    assert printed.published("EEG", "TL1", "SRF", 32) == 89.8
    assert printed.published("EEG", "TL1", "SRF", 4) is None
    assert printed.published("MNIST", "TL1", "MixtureFourier", 2) == 95.2
    assert printed.published("skin", "Gaussian", "LKRF", 32) == 97.9
    assert printed.published("skin", "none", "linear", 1) == 91.1
    assert printed.published_truncation("ijcnn1", "TL1", 5, 4) == 91.7
    assert printed.published_truncation("EEG", "TL1", 5, 4) is None


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
