"""The benchmarks run; their bars are for a quiet machine and the full sizes."""

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


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


@pytest.mark.parametrize("have_data", [True, False])
def test_quality_prints_its_table(capsys, monkeypatch, have_data):
    quality = script("quality", monkeypatch)
    if not have_data:
        monkeypatch.setattr(quality, "load", lambda name: None)
    rows = quality.main(["--quick"])
    out = capsys.readouterr().out
    assert all(str(row) in out for row in rows)
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
