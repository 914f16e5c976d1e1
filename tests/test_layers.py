"""Imports go one way, and heavy packages are imported where they are used."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import krein

PACKAGE = Path(krein.__file__).resolve().parent

# A module may import modules of lower layers, and of its own layer within one folder.
LAYERS = {
    "_blocks": 0,
    "_compile": 0,
    "_groups": 0,
    "_hashing": 1,
    "_threads": 0,
    "_validation": 0,
    "atoms": 1,
    "forms": 1,
    "samplers": 1,
    "measures": 2,
    "rows": 0,
    "streaming": 2,
    "kernels": 3,
    "learning": 3,
    "features": 4,
    "proximity": 4,
    "diagnostics": 5,
    "plots": 5,
    "testing": 5,
    "estimators": 6,
    "auto": 7,
    "quickstart": 8,
    "cli": 9,
}
SAME_LAYER = {("samplers", "atoms"), ("diagnostics", "plots")}
# Slow to import or optional: never at the top of a module.
LAZY = (
    "matplotlib",
    "typer",
    "rich",
    "pandas",
    "polars",
    "numba",
    "scipy.stats",
    "scipy.optimize",
    "pyarrow",
)

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def _name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def _imports(path: Path, *, top_level: bool = False) -> set[str]:
    """Absolute names of what a module imports, `krein.` written out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = ["krein", *path.relative_to(PACKAGE).parts[:-1]]
    found = set()
    for node in _top_level(tree) if top_level else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{stem}.{alias.name}" for alias in node.names}
    return found


def _top_level(tree: ast.AST):
    """Nodes that run on import: everything outside functions and `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _top_level(node)


def _is(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def test_the_parser_sees_imports_of_every_kind(tmp_path):
    source = (
        "import a.b\nfrom c import d\ndef f():\n    import lazy\ntry:\n    import e\nfinally: 0\n"
    )
    path = PACKAGE / "measures" / "made_up.py"

    class Fake(type(path)):
        def read_text(self, **_):
            return source + "from ..atoms import Atoms\nfrom . import laws\n"

    fake = Fake(path)
    here = {"a.b", "c.d", "e", "krein.atoms.Atoms", "krein.measures.laws"}
    assert _imports(fake, top_level=True) == here
    assert _imports(fake) == here | {"lazy"}


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_every_module_has_a_layer(path):
    assert _name(path).split(".")[0] in LAYERS


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_imports_go_down(path):
    layer = _name(path).split(".")[0]
    for target in _imports(path):
        if not _is(target, "krein"):
            continue
        parts = target.split(".")
        assert len(parts) > 1, f"{path.name} imports the whole package"
        other = parts[1]
        if other not in LAYERS:  # `from krein import RandomFourier`: the package's public face
            assert LAYERS[layer] > LAYERS["diagnostics"], f"{_name(path)} imports {target}"
            continue
        ok = layer == other or LAYERS[other] < LAYERS[layer] or (layer, other) in SAME_LAYER
        assert ok, f"{_name(path)} imports {target}"


@pytest.mark.parametrize("path", [*MODULES, PACKAGE / "__init__.py"], ids=_name)
def test_heavy_packages_are_not_imported_at_the_top(path):
    heavy = [name for name in _imports(path, top_level=True) if any(_is(name, p) for p in LAZY)]
    assert not heavy


@pytest.mark.parametrize("optional", ["matplotlib", "typer", "rich"])
def test_only_plots_and_cli_know_the_extras(optional):
    users = {_name(path) for path in MODULES if any(_is(n, optional) for n in _imports(path))}
    bars = {"estimators._progress"} if optional == "rich" else set()
    assert users <= ({"plots"} if optional == "matplotlib" else {"cli", "quickstart"} | bars)


IMPORTS = """
import json, sys
import sklearn.kernel_approximation
before = set(sys.modules)
import krein, krein.features, krein.kernels, krein.measures, krein.testing
print(json.dumps([sorted(before), sorted(set(sys.modules) - before)]))
"""


@pytest.fixture(scope="module")
def loaded() -> list[list[str]]:
    """What scikit-learn's own kernel approximation loads, and what krein loads beyond it."""
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-c", IMPORTS]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return json.loads(run.stdout)


@pytest.mark.parametrize("package", ["numba", "matplotlib", "typer"])
def test_import_does_not_load(package, loaded):
    before, after = loaded
    assert "sklearn.kernel_approximation" in before
    assert "krein.features.fourier" in after
    assert not [name for name in before + after if _is(name, package)]


def test_import_loads_no_heavy_package_that_scikit_learn_does_not_load_itself(loaded):
    assert not [name for name in loaded[1] if any(_is(name, package) for package in LAZY)]


def test_import_brings_no_other_package_than_krein(loaded):
    before, after = loaded
    known = {name.split(".")[0] for name in before} | set(sys.stdlib_module_names)
    assert {name.split(".")[0] for name in after} - known == {"krein"}
