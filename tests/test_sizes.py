"""Functions fit a screen, and files stay small: if one grows, a noun is missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

import krein

PACKAGE = Path(krein.__file__).resolve().parent
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FILE, LONGEST_BODY, MEDIAN_BODY = 400, 45, 4
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def body_lines(source: str) -> Iterator[tuple[str, int]]:
    """Yield the name of each function and the number of lines of its body without docstring."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, FUNCTIONS):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield node.name, body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_bodies_are_counted_without_docstrings():
    source = 'def f():\n    """One.\n\n    Two.\n    """\n    a = 1\n\n    return a\n'
    assert list(body_lines(source)) == [("f", 3)]
    assert list(body_lines('def f():\n    """One."""\n')) == [("f", 0)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_and_functions_stay_small(path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= LONGEST_FILE
    assert {name: n for name, n in body_lines(source) if n > LONGEST_BODY} == {}


def test_most_functions_have_few_lines():
    sources = [path.read_text(encoding="utf-8") for path in FILES]
    assert median(n for source in sources for _, n in body_lines(source)) <= MEDIAN_BODY
