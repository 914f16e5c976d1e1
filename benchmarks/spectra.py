"""What the benchmarks of the two random-feature papers share: cells, linear machines, tables.

A `Job` is one method at one width on one data set. It yields cells, one per seed and quantity. The
cells are lines of a CSV file, and a later run continues from the file.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from binary import MADE, SETS
from measuring import Row, append_cells, arguments, chosen_parts, read_cells, report
from numpy.typing import NDArray
from sklearn.preprocessing import FunctionTransformer

from krein import KreinSVC
from krein.features import FeatureMap
from krein.kernels import Kernel

# Rows on which C is chosen, rows on which a map is fitted, and rows of the error of the kernel.
TUNE_ROWS, MAP_ROWS, ERROR_ROWS = 10_000, 10_000, 1_000
# Widths above this multiple of the dimension have fewer seeds.
MANY_SEEDS = 16
SEEDS, FEW_SEEDS = 10, 2


# --- cells --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One method at one width on one set; `seeds` are repeated draws."""

    table: str
    set: str
    kernel: str
    method: str
    width: int
    seeds: int

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        return self.table, self.set, self.kernel, self.method, self.width


@dataclass(frozen=True)
class Cell:
    """One measured quantity of one job and seed; `seconds` is its processor time."""

    table: str
    set: str
    kernel: str
    method: str
    width: int
    seed: int
    quantity: str
    value: float
    seconds: float = 0.0
    warned: str = ""

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        return self.table, self.set, self.kernel, self.method, self.width


Known = dict[tuple[int, str], float]
# Returns the quantities of a job at a seed; it may look up quantities of earlier seeds.
Measure = Callable[[Job, int, Known], dict[str, float]]


def seeds_of(width: int, dim: int, most: int = SEEDS) -> int:
    """Return the number of seeds at a width: fewer beyond 16·d."""
    return most if width <= MANY_SEEDS * dim else min(most, FEW_SEEDS)


def attempt(job: Job, seed: int, known: Known, measure: Measure) -> tuple[dict[str, float], str]:
    """Return the quantities; if the library refuses the job, no number and the reason."""
    try:
        return measure(job, seed, known), ""
    except ValueError as refused:
        return {"refused": float("nan")}, f"refused, {refused}"


def cells_of(job: Job, seed: int, measure: Measure, known: Known) -> list[Cell]:
    """Return the cells of a job at a seed, computed on one core."""
    from threadpoolctl import threadpool_limits

    begin = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, refused = attempt(job, seed, known, measure)
    spent = round(time.process_time() - begin, 3)
    said = {refused} if refused else {str(w.message) for w in caught}
    warned = "; ".join(sorted(text.split(":")[0][:100] for text in said))
    return [Cell(*job.key, seed, *item, spent, warned) for item in found.items()]


def run_jobs(jobs: Sequence[Job], measure: Measure, file: Path | None, n_jobs: int) -> list[Cell]:
    """Return the cells of all jobs; cells in the file are not computed again.

    The first seeds of all jobs come before the other seeds, which use what the first ones chose.
    """
    from joblib import Parallel, delayed

    wanted = {job.key for job in jobs}
    cells = [cell for cell in read_cells(Cell, file) if cell.key in wanted]
    known: dict[tuple, Known] = {job.key: {} for job in jobs}
    for cell in cells:
        known[cell.key][cell.seed, cell.quantity] = cell.value
    for is_first in (True, False):
        work = [
            delayed(cells_of)(job, seed, measure, known[job.key])
            for job in jobs
            for seed in range(job.seeds)
            if (seed == 0) is is_first and all(number != seed for number, _ in known[job.key])
        ]
        for some in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(work):
            append_cells(some, file)
            cells += some
            for cell in some:
                known[cell.key][cell.seed, cell.quantity] = cell.value
    return cells


# --- errors and linear machines -----------------------------------------------------------------


def relative_error(kernel: Kernel, features: Any, X: NDArray) -> float:
    """Return ``‖K̃ − K‖ / ‖K‖`` on rows X."""
    K = kernel(X)
    if hasattr(features, "frequencies_"):
        approximate = fourier_matrix(features.frequencies_, features.weights_, X)
    elif isinstance(features, FeatureMap):
        approximate = features.approximate_kernel(X)
    else:
        Z = np.asarray(features.transform(X))
        approximate = Z @ Z.T
    return float(np.linalg.norm(approximate - K) / np.linalg.norm(K))


def fourier_matrix(frequencies: NDArray, weights: NDArray, X: NDArray) -> NDArray:
    """Return ``Re Σ_j c_j exp(i ω_j·(x − y))`` for all pairs of rows, block by block.

    Hundreds of thousands of features do not fit into memory. Beyond 8192 frequencies single
    precision is accurate enough.
    """
    n = len(weights)
    kind = np.float32 if n > 8192 else np.float64
    X = X.astype(kind)
    total = np.zeros((len(X), len(X)))
    for block in np.array_split(np.arange(n), 1 + n // 4096):
        angles = X @ frequencies[block].T.astype(kind)
        C, S = np.cos(angles), np.sin(angles)
        a, b = weights[block].real.astype(kind), weights[block].imag.astype(kind)
        total += C @ (C * a + S * b).T
        total += S @ (S * a - C * b).T
    return total


def machine(C: float, n: int, **options: Any) -> KreinSVC:
    """Return a linear SVM of the squared hinge, ``C Σ max(0, 1 − y f)² + ½‖w‖²``."""
    return KreinSVC(features=FunctionTransformer(), alpha=1 / (2 * C * n), **options)


def choose_C(
    Z: NDArray, y: NDArray, grid: Sequence[float], rows: int = TUNE_ROWS, cv: int = 5
) -> float:
    """Return the C of the least error in cross-validation on at most so many rows."""
    order = np.random.default_rng(0).permutation(len(Z))[:rows]
    alphas = [1 / (2 * C * (1 - 1 / cv) * len(order)) for C in grid]
    options = {"alpha": "cv", "alphas": alphas, "alpha_neg": "equal", "cv": cv, "random_state": 0}
    model = KreinSVC(features=FunctionTransformer(), **options).fit(Z[order], y[order])
    return float(grid[int(np.argmin(np.abs(np.log(np.array(alphas) / model.alpha_))))])


def accuracy(Z: NDArray, y: NDArray, Z_test: NDArray, y_test: NDArray, C: float) -> float:
    """Return the percentage of correct test rows."""
    return 100 * float(machine(C, len(Z), random_state=0).fit(Z, y).score(Z_test, y_test))


# --- tables -------------------------------------------------------------------------------------


def values(cells: Iterable[Cell], quantity: str, **where: Any) -> NDArray:
    """Return the values of a quantity in the order of the seeds."""
    chosen = [
        cell
        for cell in cells
        if cell.quantity == quantity and all(getattr(cell, k) == v for k, v in where.items())
    ]
    return np.array([cell.value for cell in sorted(chosen, key=lambda cell: cell.seed)])


def shown(found: NDArray, digits: str = ".3g") -> str:
    """Return mean ± standard deviation; blank without values."""
    if not len(found):
        return ""
    spread = f" ± {found.std():{digits}}" if len(found) > 1 else ""
    return f"{found.mean():{digits}}{spread}"


def print_table(title: str, heads: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    print(f"\n### {title}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for line in lines:
        print(f"| {' | '.join(line)} |")


def compared(published: float | None, found: NDArray, digits: str = ".2f") -> tuple[str, str, str]:
    """Return the columns published | ours | difference; values of a picture are left blank."""
    mean = float(found.mean()) if len(found) else float("nan")
    if published is None:
        return "", shown(found, digits), ""
    return f"{published:{digits}}", shown(found, digits), f"{mean - published:+{digits}}"


def by_width(cells: Sequence[Cell], quantity: str, digits: str) -> Iterator[list[str]]:
    """Yield a line for each set, kernel and method of a table, with a column for each width."""
    widths = sorted({cell.width for cell in cells})
    for name, kernel, method in dict.fromkeys((c.set, c.kernel, c.method) for c in cells):
        where = {"set": name, "kernel": kernel, "method": method}
        line = [shown(values(cells, quantity, width=w, **where), digits) for w in widths]
        yield [name, kernel, method, *line]


def print_spent(cells: Sequence[Cell]) -> None:
    """Print the processor time of all measurements, and of the warnings what they say."""
    spent = {(*cell.key, cell.seed): cell.seconds for cell in cells}
    print(f"\n{len(spent)} measurements, {sum(spent.values()) / 60:.1f} minutes of one core")
    for method, text in dict.fromkeys((c.method, c.warned) for c in cells if c.warned):
        print(f"warned: {method}: {text}")


def ratio_row(work: str, cells: Sequence[Cell], ours: str, printed: str, bar: float) -> Row:
    """Return the geometric mean over all cells of the error of one method over that of another."""
    logs = []
    for name, kernel, width in dict.fromkeys((c.set, c.kernel, c.width) for c in cells):
        where = {"set": name, "kernel": kernel, "width": width}
        mine, theirs = (values(cells, "error", method=m, **where) for m in (ours, printed))
        if len(mine) and len(theirs):
            logs.append(np.log(mine.mean() / theirs.mean()))
    figure = float(np.exp(np.mean(logs))) if logs else float("nan")
    return Row(work, figure, "", bar, note=f"{len(logs)} cells")


# The colours of the methods of a figure, which seldom has more than nine.
COLOURS = (
    *("#c2185b", "#0072b2", "#009e73", "#e69f00", "#56b4e9"),
    *("#333333", "#7b4fa3", "#8c564b", "#999999"),
)


def draw(cells: Sequence[Cell], quantity: str, label: str, file: Path) -> None:
    """Plot a quantity against the width, one panel per kernel and set, one line per method."""
    from matplotlib.figure import Figure
    from nystrom_quality import save

    sets, kernels = (list(dict.fromkeys(getattr(c, n) for c in cells)) for n in ("set", "kernel"))
    methods = list(dict.fromkeys(cell.method for cell in cells))
    size = (3.0 * len(sets) + 0.5, 2.4 * len(kernels) + 0.7)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(kernels), len(sets), squeeze=False)
    for i, kernel in enumerate(kernels):
        for j, name in enumerate(sets):
            for k, method in enumerate(methods):
                some = [c for c in cells if (c.set, c.kernel, c.method) == (name, kernel, method)]
                widths = sorted({c.width for c in some if c.quantity == quantity})
                means = [values(some, quantity, width=width).mean() for width in widths]
                look = {"color": COLOURS[k % 9], "marker": "osD^vPX*d"[k % 9], "markersize": 4}
                axes[i, j].plot(widths, means, label=method, alpha=0.8, **look)
            axes[i, j].set_xscale("log", base=2)
            axes[i, j].set_yscale("log" if quantity == "error" else "linear")
            axes[i, j].set_title(", ".join(filter(None, (name, kernel))), fontsize=9)
    figure.supxlabel("width (columns)", fontsize=10)
    figure.supylabel(label, fontsize=10)
    handles = {h.get_label(): h for ax in axes.flat for h in ax.get_lines()}
    figure.legend(handles=list(handles.values()), loc="outside upper center", ncols=3, fontsize=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    save(figure, file)


# --- the program --------------------------------------------------------------------------------

# ``part(sizes, sets, run)`` prints a table and returns its bars; ``run(jobs, measure)`` returns the
# cells of jobs.
Part = Callable[[Any, Sequence[str], Callable[[Sequence[Job], Measure], list[Cell]]], list[Row]]


def main(
    doc: str | None,
    parts: dict[str, Part],
    quick: Any,
    full: Any,
    draw_figures: Callable[[Sequence[Cell], Path], None],
    argv: Sequence[str] | None,
    names: Collection[str] = (*SETS, MADE),
) -> list[Row]:
    """Parse the options, run the selected parts, draw the figures and print the bars."""
    parser = arguments(doc, parts)
    parser.add_argument("--sets", help="data sets, with commas in between")
    parser.add_argument("--csv", type=Path, help="file of all cells; those in it are not repeated")
    parser.add_argument("--figures", type=Path, help="folder for the figures")
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one core each")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="largest number of seeds")
    options = parser.parse_args(argv)
    sizes, n_jobs = (quick, 1) if options.quick else (full, options.jobs)
    sizes = replace(sizes, seeds=min(sizes.seeds, options.seeds))
    sets = options.sets.split(",") if options.sets else list(sizes.sets)
    if unknown := set(sets) - set(names):
        parser.error(f"--sets takes {', '.join(names)}; got {', '.join(sorted(unknown))}")
    everything: list[Cell] = []

    def run(jobs: Sequence[Job], measure: Measure) -> list[Cell]:
        cells = run_jobs(jobs, measure, options.csv, n_jobs)
        everything.extend(cells)
        return cells

    chosen = chosen_parts(parser, options, parts)
    rows = [row for part in chosen for row in parts[part](sizes, sets, run)]
    if options.figures and everything:
        draw_figures(everything, options.figures)
    print_spent(everything)
    report(rows, options.quick)
    return rows
