"""What the one-liners cost on ordinary tables: memory, and the time of tuning a wide ridge.

    python benchmarks/everyday_costs.py [--quick] [--repeats 3] [--only memory,wide]

"memory" is the peak memory of a fit beyond the data, for `max_megabytes` as it is by default and
for a quarter of it. "wide" compares the time of `KreinRidge(alpha="cv")` at width 4096 with that of
one alpha. Data come from $KREIN_DATA or ../shared/data; without a file, a made table of the same
size is used. The exit code is 1 if a bar is missed. With --quick the sizes are small, and no bar is
checked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from measuring import Row, find, memory_is_known, peak_memory, run, seconds
from numpy.typing import NDArray

from krein import KreinClassifier, KreinRegressor, KreinRidge, RandomFourier
from krein.kernels import Gaussian

# What a fit may need beyond `max_megabytes`, in megabytes.
SLACK = 100
# The share of the default `max_megabytes` that is measured too.
LITTLE = 0.25


def table(n: int, file: str, d: int) -> tuple[NDArray, NDArray]:
    """Return at most n rows of a file, or a made table with d columns."""
    path = find(file)
    if path is not None:
        with np.load(path) as data:
            return data["X"][:n].astype(float), data["y"][:n]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)


def memory_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Measure the peak memory of automatic fits."""
    if not memory_is_known():
        print("no RssAnon here: memory is left out.", file=sys.stderr)
        return
    n = 200 if quick else 13_000
    numbers, letters = table(n, "regression/ailerons.npz", 40), table(n, "letter/letter.npz", 16)
    works: dict[str, tuple[type, Any, Any]] = {
        "KreinRegressor, ailerons": (KreinRegressor, *numbers),
        "KreinRegressor, ailerons, 3400 rows": (KreinRegressor, *(a[:3400] for a in numbers)),
        "KreinClassifier, letter": (
            KreinClassifier,
            letters[0],
            letters[1] > np.median(letters[1]),
        ),
    }
    for work, (learner, X, y) in list(works.items())[:: 2 if quick else 1]:
        learner(random_state=0).fit(X[:200], y[:200])  # imports and compiles
        for share in (1.0, LITTLE):
            limit = share * learner().max_megabytes
            model = learner(max_megabytes=limit, random_state=0)
            peak = peak_memory(lambda m=model, X=X, y=y: m.fit(X, y))
            note = f"max_megabytes = {limit:g}, widths {[t.width for t in model.report_.trials]}"
            yield Row(f"{work}: peak beyond the data", peak, "MB", limit + SLACK, note=note)


def wide_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Compare tuning the penalty of a wide map with one penalty."""
    n, width = (500, 64) if quick else (13_000, 4096)
    X, y = table(n, "regression/ailerons.npz", 40)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    y = (y - y.mean()) / y.std()
    features = RandomFourier(Gaussian(np.sqrt(X.shape[1])), width, random_state=0)
    one = KreinRidge(features=features, alpha=1e-3)
    tuned = KreinRidge(features=features, alpha="cv")
    times = [
        (seconds(lambda: one.fit(X, y)), seconds(lambda: tuned.fit(X, y)))
        for _ in range(min(repeats, 2))
    ]
    single, several = (min(column) for column in zip(*times, strict=True))
    work = f"KreinRidge alpha='cv', {len(X)} x {width}: time over one alpha"
    note = f"{several:.2f} s against {single:.2f} s"
    yield Row(work, several / single, "x", 6.0, note=note)


PARTS: dict[str, Callable[[bool, int], Iterator[Row]]] = {
    "memory": memory_rows,
    "wide": wide_rows,
}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    return run(__doc__, PARTS, 2, argv)


if __name__ == "__main__":
    main()
