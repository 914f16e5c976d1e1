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

# From the bottom up. A module may import modules of lower layers, and of its own folder. A file of
# `published` has a layer of its own, directly below the folder that calls it.
ORDER = (
    ("_blas", "_blocks", "_threads", "_validation", "atoms", "published", "references", "rows"),
    ("_columns", "_compile"),
    ("_core", "_hashing", "_sampler", "forms"),
    ("published.acceptance", "published.allocation", "published.jordan"),
    ("published.rejection", "streaming"),
    ("samplers",),
    ("measures",),
    ("published.extension", "published.cores"),
    ("bounds", "spherical", "kernels", "learning"),
    ("published.masses",),
    ("features", "proximity"),
    ("published.taylor",),
    ("published.concatenated", "published.projection"),
    ("rivals", "spectral"),
    ("agreement", "plots", "testing"),
    ("estimators",),
    ("comparison",),
    ("diagnostics",),
    ("auto",),
    ("examples",),
    ("cli",),
    ("__main__",),
)
LAYERS = {name: height for height, names in enumerate(ORDER) for name in names}
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


def _layer(name: str) -> str | None:
    """The longest entry of `LAYERS` that a name is or begins with."""
    parts = name.split(".")
    entries = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((entry for entry in entries if entry in LAYERS), None)


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
    entry = _layer(_name(path))
    assert entry is not None
    assert entry != "published" or path.name == "__init__.py"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_imports_go_down(path):
    layer = _layer(_name(path))
    for target in _imports(path):
        if not _is(target, "krein"):
            continue
        assert target != "krein", f"{path.name} imports the whole package"
        other = _layer(target.removeprefix("krein."))
        if other is None:  # `from krein import RandomFourier`: the package's public face
            assert LAYERS[layer] > LAYERS["diagnostics"], f"{_name(path)} imports {target}"
            continue
        assert layer == other or LAYERS[other] < LAYERS[layer], f"{_name(path)} imports {target}"


# The command line imports what a command needs when the command runs; nothing imports it. Types of
# operands are imported for the type checker only.
NOT_LAZY = [path for path in MODULES if _name(path) not in ("cli", "kernels._arithmetic")]


@pytest.mark.parametrize("path", NOT_LAZY, ids=_name)
def test_no_lazy_import_hides_a_cycle(path):
    lazy = _imports(path) - _imports(path, top_level=True)
    assert not {name for name in lazy if _is(name, "krein")}


def test_the_operators_import_no_kernel_when_they_run():
    tree = ast.parse((PACKAGE / "kernels" / "_arithmetic.py").read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = [node for function in functions for node in ast.walk(function)]
    assert len(functions) > 8
    assert not [node for node in inside if isinstance(node, ast.Import | ast.ImportFrom)]


@pytest.mark.parametrize("path", [*MODULES, PACKAGE / "__init__.py"], ids=_name)
def test_heavy_packages_are_not_imported_at_the_top(path):
    heavy = [name for name in _imports(path, top_level=True) if any(_is(name, p) for p in LAZY)]
    assert not heavy


@pytest.mark.parametrize("optional", ["matplotlib", "typer", "rich"])
def test_only_plots_and_cli_know_the_extras(optional):
    users = {_name(path) for path in MODULES if any(_is(n, optional) for n in _imports(path))}
    bars = {"estimators._progress"} if optional == "rich" else set()
    assert users <= (
        {"plots._pyplot"} if optional == "matplotlib" else {"cli", "examples.table"} | bars
    )


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


def test_the_tree_of_contributing_is_that_of_the_layers():
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = text[text.index("src/krein/") :].split("\n\n")[0]
    listed = [line.split()[0].rstrip("/").removesuffix(".py") for line in tree.splitlines()[1:]]
    public = [
        name for names in ORDER for name in names if name[0] != "_" and "published" not in name
    ]
    assert set(listed) == set(public)
    assert sorted(listed, key=LAYERS.__getitem__) == listed
