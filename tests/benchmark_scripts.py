"""The programs of the folder `benchmarks`, loaded as modules."""

import importlib.util
import sys
from pathlib import Path

import pytest

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
