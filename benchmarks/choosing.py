"""Which method for which kernel: `krein.compare` on five kernels × three data sets.

    python benchmarks/choosing.py [--quick] [--only letter,spambase,mnist] [--csv FILE]
                                  [--page docs/choosing.md] [--figure FILE] [--report]

Columns are scaled to [0, 1], and rows to norm 1 for the polynomial. Each map is fitted on 1000 rows
and judged on 500 others, with three seeds. σ is the median distance of 500 rows. With --csv the
file stores every measurement, and a later run continues from it. With --page the table replaces the
one between the two comments of the page. --report measures nothing and shows what is in the file.
--quick needs no data.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from measuring import append_cells, arguments, chosen_parts, find, read_cells
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from krein import compare
from krein.comparison import METHODS, Method
from krein.comparison.sample import Sample
from krein.kernels import (
    TL1,
    DeltaGaussian,
    Gaussian,
    Kernel,
    ShiftGaussian,
    SphericalPolynomial,
)
from krein.plots import pyplot
from krein.plots.comparison import MARKERS, ROUNDING

SETS = {
    "letter": ("letter/letter.npz", "X", "y"),
    "spambase": ("spambase/spambase.npz", "X", "y"),
    "mnist": ("mnist/mnist.npz", "X_train", "y_train"),
}
# The kernel of rows with d columns and the median distance σ.
KERNELS: dict[str, Callable[[int, float], Kernel]] = {
    "Gaussian": lambda d, sigma: Gaussian(sigma),
    "δ-Gaussian": lambda d, sigma: DeltaGaussian(sigma, 10 * sigma),
    "polynomial": lambda d, sigma: SphericalPolynomial(a=2.0, degree=10),
    "TL1": lambda d, sigma: TL1(0.7 * d),
    "shift-Gaussian": lambda d, sigma: ShiftGaussian(sigma, shift=0.5 * sigma / d**0.5),
}
N_SEEDS = 3
WIDTHS, MAX_ROWS = (32, 128, 512), 1500
QUICK_WIDTHS, QUICK_ROWS = (8, 16), 90
# Methods that are measured last, and not at the largest width: a fit takes a minute there.
SLOW = ("MixtureFourier",)
MADE = "made"
BEGIN, END = "<!-- table: benchmarks/choosing.py -->", "<!-- end -->"


@dataclass(frozen=True)
class Cell:
    """One row of a comparison: a method at a width for a kernel on a set."""

    set: str
    kernel: str
    method: str
    width: int
    error: float
    fit_seconds: float
    transform_seconds: float
    bytes: float
    score: float
    note: str


@lru_cache
def load(name: str) -> tuple[NDArray, NDArray] | None:
    """Return rows with columns in [0, 1], and labels; None if there is no file."""
    if name == MADE:
        rng = np.random.default_rng(0)
        X = rng.random((300, 4))
        return X, (X[:, 0] > X[:, 1]).astype(int)
    file, rows, labels = SETS[name]
    path = find(file)
    if path is None:
        print(f"{file} is not found (set KREIN_DATA): left out.", file=sys.stderr)
        return None
    data = np.load(path)
    X = data[rows].astype(float)
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0), data[labels]


def problem(kernel: str, X: NDArray, y: NDArray) -> tuple[Kernel, NDArray, NDArray]:
    """Return the kernel, its rows and their labels."""
    if kernel == "polynomial":
        sizes = np.linalg.norm(X, axis=1)
        X, y = X[sizes > 0] / sizes[sizes > 0, None], y[sizes > 0]
    some = X[np.random.default_rng(0).choice(len(X), min(500, len(X)), replace=False)]
    return KERNELS[kernel](X.shape[1], float(np.median(pdist(some)))), X, y


def measured(name: str, kernel: str, method: Method, quick: bool) -> list[Cell]:
    """Return the cells of one method, or none if it cannot serve the kernel."""
    data = load(name)
    if data is None:
        return []
    k, X, y = problem(kernel, *data)
    widths, rows = (QUICK_WIDTHS, QUICK_ROWS) if quick else (WIDTHS, MAX_ROWS)
    if method.name in SLOW:
        widths = widths[:-1]
    if not method.can_serve(Sample.of(k, X, rows, N_SEEDS, np.random.default_rng(0))):
        return []
    found = compare(k, X, method, widths, y, max_rows=rows, n_seeds=N_SEEDS, random_state=0)
    print(f"\n{name}, {kernel}\n{found}", flush=True)
    names = [column.name for column in fields(Cell)][2:]
    return [Cell(name, kernel, *(getattr(row, n) for n in names)) for row in found.rows]


def table(cells: Sequence[Cell], width: int) -> list[str]:
    """Return the lines of a table of errors at one width, and the methods that are best."""
    methods = [m.name for m in METHODS if any(cell.method == m.name for cell in cells)]
    lines = [
        "| kernel | data | " + " | ".join(methods) + " | best score |",
        "|---" * (len(methods) + 3) + "|",
    ]
    for kernel in KERNELS:
        for name in dict.fromkeys(cell.set for cell in cells):
            row = {
                c.method: c for c in cells if (c.kernel, c.set, c.width) == (kernel, name, width)
            }
            if not row:
                continue
            shown = {m: "·" for m in SLOW if KERNELS[kernel](1, 1.0).is_symmetric}
            shown |= {m: f"{c.error:.2g}".replace("nan", "–") for m, c in row.items()}
            errors = [shown.get(method, "") for method in methods]
            least = f"{min(c.error for c in row.values() if np.isfinite(c.error)):.2g}"
            errors = [f"**{error}**" if error == least else error for error in errors]
            best = max((c for c in row.values() if np.isfinite(c.score)), key=lambda c: c.score)
            score = f"{best.method} {100 * best.score:.1f} %"
            lines.append(f"| {kernel} | {name} | " + " | ".join([*errors, score]) + " |")
    return lines


def plot(cells: Sequence[Cell], path: Path) -> None:
    """Draw the error against the width: one row per set, one column per kernel."""
    sets = list(dict.fromkeys(cell.set for cell in cells))
    plt = pyplot()
    figure, axes = plt.subplots(
        len(sets),
        len(KERNELS),
        figsize=(13, 1.2 + 2.6 * len(sets)),
        sharex=True,
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    present = {cell.method for cell in cells if np.isfinite(cell.error)}
    for i, method in enumerate(method for method in METHODS if method.name in present):
        style: dict[str, Any] = {"marker": MARKERS[i % len(MARKERS)], "color": f"C{i % 10}"}
        style |= {"markersize": 4, "linewidth": 1.2, "label": method.name}
        for row, name in zip(axes, sets, strict=True):
            for ax, kernel in zip(row, KERNELS, strict=True):
                key = (name, kernel, method.name)
                line = [c for c in cells if (c.set, c.kernel, c.method) == key]
                line = [c for c in line if np.isfinite(c.error)]
                errors = [max(c.error, ROUNDING) for c in line]
                ax.loglog([c.width for c in line], errors, **style)
    widths = sorted({cell.width for cell in cells})
    for row, name in zip(axes, sets, strict=True):
        row[0].set_ylabel(f"{name}\nrelative error")
        for ax in row:
            ax.set_xticks(widths, [str(width) for width in widths], minor=False)
            ax.minorticks_off()
            ax.grid(alpha=0.25, linewidth=0.5)
    for ax, kernel in zip(axes[0], KERNELS, strict=True):
        ax.set_title(kernel)
    for ax in axes[-1]:
        ax.set_xlabel("width")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def write_page(lines: Sequence[str], page: Path) -> None:
    """Replace the table of a page, which stands between two comments."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + "\n".join([BEGIN, "", *lines, "", END]) + after, encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> list[Cell]:
    parser = arguments(__doc__, SETS)
    parser.add_argument("--report", action="store_true", help="measure nothing, read --csv")
    for name in ("--csv", "--page", "--figure"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args(argv)
    sets = [MADE] if options.quick else chosen_parts(parser, options, SETS)
    cells = [cell for cell in read_cells(Cell, options.csv) if cell.set in sets]
    known = {(cell.set, cell.kernel, cell.method) for cell in cells}
    methods = sorted(METHODS, key=lambda method: method.name in SLOW)
    for method, name, kernel in product(() if options.report else methods, sets, KERNELS):
        if (name, kernel, method.name) not in known:
            new = measured(name, kernel, method, options.quick)
            append_cells(new, options.csv)
            cells += new
    if not cells:
        return cells
    lines = table(cells, sorted({cell.width for cell in cells})[1])
    print("\n".join(["", *lines]))
    if options.page is not None:
        write_page(lines, options.page)
    if options.figure is not None:
        plot(cells, options.figure)
    return cells


if __name__ == "__main__":
    main()
