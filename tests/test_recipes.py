"""The recipes of the README run, are short, and learn what they say they learn."""

import importlib.util
import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
# Name, packages it needs (any one of them), number of classes, least accuracy.
RECIPES = [
    ("dna_strings", ["rapidfuzz"], 3, 0.85),
    ("dtw_series", [], 3, 0.9),
    ("lab_dissimilarities", [], 4, 0.75),
    ("fingerprints", [], 2, 0.9),
    ("python_function", [], 3, 0.85),
    ("citations", [], 4, 0.9),
    ("learned_spectrum", [], 2, 0.97),
]


def test_every_recipe_is_tested():
    assert {path.stem for path in FOLDER.glob("*.py")} == {name for name, *_ in RECIPES}


@pytest.mark.parametrize(("name", "packages", "classes", "least"), RECIPES)
def test_a_recipe_beats_chance_and_its_baseline(capsys, name, packages, classes, least):
    if packages and not any(importlib.util.find_spec(package) for package in packages):
        pytest.skip(f"needs {' or '.join(packages)}")
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    out = capsys.readouterr().out
    (baseline,) = map(float, re.findall(r"baseline (\d\.\d+)", out))
    accuracies = [float(found) for found in re.findall(r"accuracy (\d\.\d+)", out)]
    assert accuracies
    assert min(accuracies) >= least > 1.5 / classes
    assert min(accuracies) > baseline + 0.2


@pytest.mark.parametrize("name", [name for name, *_ in RECIPES])
def test_a_recipe_has_at_most_30_lines(name):
    lines = (FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 100
