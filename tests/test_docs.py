"""What the documents show runs and prints what they show."""

import doctest
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.S)


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("README.md", 21),
        ("docs/asymmetric.md", 21),
        ("docs/learners.md", 13),
        ("docs/learned.md", 15),
        ("docs/everyday.md", 18),
    ],
)
def test_a_page_prints_what_it_shows(page, least):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=flags)
    assert result.attempted >= least
    assert result.failed == 0


NOUNS = ["kernel", "measure", "sampler", "landmark rule", "penalty", "container", "learner"]


def test_contributing_has_an_example_for_each_noun():
    assert len(EXAMPLES) == len(NOUNS)


@pytest.mark.parametrize("code", EXAMPLES, ids=NOUNS)
def test_an_example_of_contributing_passes_its_own_checker(code, monkeypatch):
    module = ModuleType("contributed")  # so that its classes can be pickled
    monkeypatch.setitem(sys.modules, "contributed", module)
    exec(compile(code, "CONTRIBUTING.md", "exec"), vars(module))


@pytest.mark.parametrize("code", EXAMPLES, ids=NOUNS)
def test_an_example_of_contributing_is_short(code):
    body = [line for line in code.splitlines() if line and not line.startswith(("import", "from"))]
    assert len(body) <= 26


def test_every_module_of_the_map_exists():
    text = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    modules = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", text))
    assert len(modules) > 25
    for module in modules:
        assert (ROOT / "src" / "krein" / module).exists() or (ROOT / module).exists(), module


def test_every_test_file_of_the_makefile_exists():
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    lists = re.findall(r"\$\(addprefix tests/test_,(.*?)\)", text)
    assert len(lists) == 2
    for name in " ".join(lists).split():
        assert (ROOT / "tests" / f"test_{name}").exists(), name
