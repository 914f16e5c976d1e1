"""Time and memory of ``RandomFourier.transform`` and of ``import krein``.

The peer is scikit-learn: ``RBFSampler.transform`` at the same output width, and the import of its
module. Runs of krein and of the peer alternate in this process, and the fastest run of each counts.
Every run allocates its output. Compilation is not measured. Memory is the peak of the process
during a transform, without the output.

    python benchmarks/speed.py [--quick] [--repeats 5]

The exit code is 1 if a bar is missed. With --quick the sizes are small, and no bar is checked.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from measuring import memory_is_known, peak_memory, seconds
from sklearn.kernel_approximation import RBFSampler

from krein.features import RandomFourier
from krein.kernels import Gaussian

# n, d, output width, precision, least ratio to the peer
TRANSFORMS = [
    (100_000, 54, 2048, "float64", 5.0),
    (100_000, 54, 2048, "float32", 1.7),
    (20_000, 512, 4096, "float64", 3.0),
]
QUICK_TRANSFORMS = [
    (4_000, 54, 256, "float64", 5.0),
    (4_000, 54, 256, "float32", 1.7),
    (1_000, 512, 512, "float64", 3.0),
]
MEMORY_ROWS, QUICK_MEMORY_ROWS = (20_000, 100_000), (2_000, 8_000)
MEMORY_BAR = 64.0  # MB
IMPORT_BAR = 1.3  # times the peer's seconds


@dataclass
class Row:
    """A row of the table; `ratio` is peer / krein, or None if the bar concerns krein alone."""

    name: str
    unit: str
    peer: float | None
    ours: float
    ratio: float | None
    bar: str
    met: bool | None

    def cells(self, quick: bool) -> list[str]:
        verdict = "-" if self.met is None or quick else "met" if self.met else "MISSED"
        peer = "-" if self.peer is None else f"{self.peer:.3f}"
        ratio = "-" if self.ratio is None else f"{self.ratio:.2f}"
        return [self.name, self.unit, peer, f"{self.ours:.3f}", ratio, self.bar, verdict]


def data(n: int, d: int, dtype: str) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d)).astype(dtype)


def features(X: np.ndarray, width: int) -> RandomFourier:
    """Return a fitted and compiled map of a Gaussian kernel with sigma √d for d columns."""
    kernel = Gaussian(sigma=np.sqrt(X.shape[1]))
    fitted = RandomFourier(kernel, n_components=width, random_state=0).fit(X[:1000])
    fitted.transform(X[:3000])
    return fitted


def transform_row(n: int, d: int, width: int, dtype: str, bar: float, repeats: int) -> Row:
    X = data(n, d, dtype)
    ours = features(X, width)
    peer = RBFSampler(gamma=0.5 / d, n_components=width, random_state=0).fit(X[:1000])
    times = [
        (seconds(lambda: peer.transform(X)), seconds(lambda: ours.transform(X)))
        for _ in range(repeats)
    ]
    slow, fast = (min(column) for column in zip(*times, strict=True))
    name = f"transform {n} x {d} -> {width} {dtype}"
    return Row(name, "s", slow, fast, slow / fast, f">= {bar:g} x", slow / fast >= bar)


def memory_row(n: int, width: int) -> Row:
    X = data(n, 54, "float64")
    fitted = features(X, width)
    beyond = peak_memory(lambda: fitted.transform(X))
    name = f"memory beyond output, {n} x 54 -> {width}"
    return Row(name, "MB", None, beyond, None, f"<= {MEMORY_BAR:g} MB", beyond <= MEMORY_BAR)


def import_seconds(module: str) -> float:
    """Return the seconds of importing `module` in a new interpreter."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def import_row(ours: str, repeats: int) -> Row:
    peer = "sklearn.kernel_approximation"
    times = [(import_seconds(peer), import_seconds(ours)) for _ in range(repeats)]
    slow, fast = (min(column) for column in zip(*times, strict=True))
    met = fast <= IMPORT_BAR * slow
    bar = f">= {1 / IMPORT_BAR:.2f} x"
    return Row(f"import {ours} (peer: {peer})", "s", slow, fast, slow / fast, bar, met)


def measure(quick: bool, repeats: int) -> list[Row]:
    rows = [
        transform_row(*sizes, repeats=repeats)
        for sizes in (QUICK_TRANSFORMS if quick else TRANSFORMS)
    ]
    if memory_is_known():
        width = 256 if quick else 2048
        rows += [memory_row(n, width) for n in (QUICK_MEMORY_ROWS if quick else MEMORY_ROWS)]
    # Public names are imported at their first use. The second row measures that import.
    rows += [import_row(name, 1 if quick else 2 * repeats) for name in ("krein", "krein.features")]
    return rows


def print_table(rows: list[Row], quick: bool) -> None:
    head = ["work", "unit", "peer", "krein", "ratio", "bar", "verdict"]
    table = [head] + [row.cells(quick) for row in rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    for line in table:
        left, *right = (cell.ljust(w) for cell, w in zip(line, widths, strict=True))
        print(left, *right, sep="  ")


def main(argv: Sequence[str] | None = None) -> list[Row]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, no verdict")
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the best counts")
    options = parser.parse_args(argv)
    rows = measure(options.quick, 2 if options.quick else options.repeats)
    print_table(rows, options.quick)
    missed = [row.name for row in rows if row.met is False]
    if not options.quick:
        print("missed: " + "; ".join(missed) if missed else "all bars met")
        if missed:
            sys.exit(1)
    return rows


if __name__ == "__main__":
    main()
