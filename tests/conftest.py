"""Shared fixtures: a seeded generator, the optional data folder and solved programmes.

The data sets are not part of the repository. They are looked for in ``$KREIN_DATA`` and then in
``../shared/data`` next to the repository; tests that need them are skipped where neither exists.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]


def find_data() -> Path | None:
    """The first data folder that exists, or None."""
    named = os.environ.get("KREIN_DATA")
    candidates = [Path(named)] if named else []
    candidates.append(ROOT.parent / "shared" / "data")
    return next((folder for folder in candidates if folder.is_dir()), None)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    folder = find_data()
    if folder is None:
        pytest.skip("no data folder: set KREIN_DATA")
    return folder


@pytest.fixture(scope="session")
def load(data_dir: Path) -> Callable[..., tuple[np.ndarray, ...]]:
    """``load(name, *keys)``: arrays of a data set, by default its ``X`` and ``y``.

    ``load("letter")`` reads letter/letter.npz and ``load("regression/abalone")`` reads
    regression/abalone.npz; sets with other arrays name them, for instance
    ``load("pendigits", "X_train", "y_train")``.
    """
    cache: dict[tuple[str, str], np.ndarray] = {}

    def load(name: str, *keys: str) -> tuple[np.ndarray, ...]:
        keys = keys or ("X", "y")
        path = data_dir / (f"{name}.npz" if "/" in name else f"{name}/{name}.npz")
        if not path.is_file():
            pytest.skip(f"no {path.relative_to(data_dir)} in the data folder")
        missing = [key for key in keys if (name, key) not in cache]
        if missing:
            with np.load(path) as arrays:
                for key in missing:
                    array = arrays[key]
                    array.setflags(write=False)  # shared by all tests of the session
                    cache[name, key] = array
        return tuple(cache[name, key] for key in keys)

    return load


@pytest.fixture(scope="module")
def solve_each_programme_once():
    """Seeds and verbs share their linear programmes: remember the solutions."""
    from krein.measures import programme

    solve, known = programme.least_mass, {}

    def remembered(basis, target, epsilon, costs):
        key = (basis.tobytes(), target.tobytes(), epsilon, costs.tobytes())
        if key not in known:
            known[key] = solve(basis, target, epsilon, costs)
        return None if known[key] is None else known[key].copy()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programme, "least_mass", remembered)
        yield
