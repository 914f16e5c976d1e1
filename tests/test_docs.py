"""What the documents show runs and prints what they show."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.S)


def test_the_readme_prints_what_it_shows():
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=flags)
    assert result.attempted > 20
    assert result.failed == 0


def test_contributing_has_an_example_for_each_noun():
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize("code", EXAMPLES, ids=["kernel", "measure", "sampler"])
def test_an_example_of_contributing_passes_its_own_checker(code):
    exec(compile(code, "CONTRIBUTING.md", "exec"), {})


@pytest.mark.parametrize("code", EXAMPLES, ids=["kernel", "measure", "sampler"])
def test_an_example_of_contributing_is_short(code):
    body = [line for line in code.splitlines() if line and not line.startswith(("import", "from"))]
    assert len(body) <= 14
