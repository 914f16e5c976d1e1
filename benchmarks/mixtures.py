"""Signed Gaussian mixtures (DIGMM): errors, cost and accuracy beside the printed updates.

    python benchmarks/mixtures.py [--quick] [--only error,accuracy,…] [--sets EEG,…] [--seeds 5]
                                  [--csv FILE] [--figures FOLDER] [--jobs 2]

"error" has the bars of the RMSE, "branches" a strongly indefinite kernel, and "cost" the CPU
seconds of a fit. The other parts are the tables and figures of the paper; mixture_tables.py
describes them.

The RMSE of a kernel matrix is taken off the diagonal, on 1000 held-out rows, and divided by k(0).
Maps that were not made for the kernel (Gaussian features, the printed updates) get one factor that
fits them to the kernel on training rows. Accuracies are those of a linear SVM on the features of
the kernel divided by k(0), with the C of the paper (2⁻⁵ … 2⁵) and of a wider grid (… 2²¹).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import binary
import mixture_tables
import numpy as np
import spectra
from measuring import Row
from mixture_data import DIGITS, FULL, QUICK, Sizes, data_of, load
from mixture_methods import BRANCHES, METHODS, rmse
from spectra import Cell, Job, Known, by_width, print_table, values

from krein import MixtureFourier, Nystrom
from krein.kernels import Gaussian

TEST_ROWS = 1000


# --- errors ---------------------------------------------------------------------------------------


def largest_fall(features: Any) -> float:
    """Return the largest fall of the objective within a phase, relative to its size."""
    falls = [0.0]
    for path in getattr(features, "objective_", {}).values():
        if len(path) > 1:
            falls.append(float(np.max(-np.diff(path) / np.abs(path[1:]))))
    return max(falls)


def errors_of(methods: dict[str, Callable[..., Any]], iterations: int) -> spectra.Measure:
    def measure(job: Job, seed: int, known: Known) -> dict[str, float]:
        data, kernel = data_of(job)
        begin = time.process_time()
        features = methods[job.method](kernel, job.width, data.X, seed, iterations=iterations)
        spent = time.process_time() - begin
        rows = data.X_test[np.random.default_rng(seed).permutation(len(data.X_test))[:TEST_ROWS]]
        found = {"error": rmse(kernel, features, rows), "fit seconds": spent}
        return found | {"fall": largest_fall(features)}

    return measure


def error_jobs(
    table: str, sizes: Sizes, kernels: Sequence[str], methods: Sequence[str], name: str
) -> list[Job]:
    data = load(name, False)
    if data is None:
        print(f"{name} is not found")
        return []
    widths = [multiple * data.dim for multiple in sizes.multiples]
    keys = [(k, m, w) for k in kernels for m in methods for w in widths]
    return [Job(table, name, k, m, w, sizes.seeds) for k, m, w in keys]


BARS = {"polynomial": (0.015, 0.006, 0.005), "TL1": (0.020, 0.013, 0.010)}


def errors(sizes: Sizes, sets: Sequence[str], run: Callable[..., list[Cell]]) -> list[Row]:
    """Print the errors of all methods on the first set."""
    jobs = error_jobs("error", sizes, list(BARS), list(METHODS), sets[0])
    cells = run(jobs, errors_of(METHODS, sizes.iterations))
    if not cells:
        return []
    widths = sorted({cell.width for cell in cells})
    heads = ["set", "kernel", "method", *map(str, widths)]
    print_table("RMSE off the diagonal / k(0)", heads, by_width(cells, "error", ".4f"))
    rows = []
    for kernel, bars in BARS.items():
        for width, bar in zip(widths, bars, strict=False):
            mean, note = _mean(cells, "MixtureFourier", kernel, width)
            rows.append(Row(f"error, {sets[0]}, {kernel}, width {width}", mean, "", bar, note=note))
        rows += _ratios(cells, kernel, widths[0])
    fall = max((c.value for c in cells if c.quantity == "fall"), default=0.0)
    rows.append(Row("largest fall of an objective, relative", fall, "", 1e-8))
    return rows


def _mean(cells: Sequence[Cell], method: str, kernel: str, width: int) -> tuple[float, str]:
    found = values(cells, "error", method=method, kernel=kernel, width=width)
    return float(found.mean()) if len(found) else float("nan"), f"{len(found)} seeds"


def _ratios(cells: Sequence[Cell], kernel: str, width: int) -> list[Row]:
    """Return our error over those of two rivals at the smallest width."""
    mine = _mean(cells, "MixtureFourier", kernel, width)[0]
    rows = []
    for method, bar in (("signed least squares", 1 / 2), ("SRF", 1 / 3)):
        theirs = _mean(cells, method, kernel, width)[0]
        if np.isfinite(theirs):
            rows.append(
                Row(f"error over {method}, {kernel}, width {width}", mine / theirs, "", bar)
            )
    return rows


def branches(sizes: Sizes, sets: Sequence[str], run: Callable[..., list[Cell]]) -> list[Row]:
    """Print what the joint refinement does for a strongly indefinite kernel."""
    few = replace(sizes, multiples=(8,))
    jobs = error_jobs("branches", few, ["combination"], list(BRANCHES), sets[0])
    cells = run(jobs, errors_of(BRANCHES, sizes.iterations))
    if not cells:
        return []
    width = cells[0].width
    title = "GaussianCombination([1, −0.6], [0.5, 0.25]), RMSE off the diagonal / k(0), k(0) = 0.4"
    heads = ["set", "kernel", "method", str(width)]
    print_table(title, heads, by_width(cells, "error", ".4f"))
    mean, note = _mean(cells, "MixtureFourier", "combination", width)
    note += f", {mean:.4f} divided by k(0) = 0.4"
    work = f"RMSE, {sets[0]}, combination, joint, width {width}"
    fall = max(c.value for c in cells if c.quantity == "fall")
    rows = [Row(work, 0.4 * mean, "", 0.03, note=note)]
    return [*rows, Row("largest fall of an objective, combination", fall, "", 1e-8)]


# --- cost -----------------------------------------------------------------------------------------


def cost(sizes: Sizes, sets: Sequence[str], run: Callable[..., list[Cell]]) -> list[Row]:
    """Compare CPU seconds of a fit with those of a Nyström map of 50,000 rows."""
    from threadpoolctl import threadpool_limits

    quick = sizes is QUICK
    X = np.random.default_rng(0).standard_normal((5_000 if quick else 50_000, 14))

    def cpu(work: Callable[[], Any]) -> float:
        begin = time.process_time()
        work()
        return time.process_time() - begin

    def unit() -> Any:
        return Nystrom(Gaussian(4.0), 112, random_state=0).fit_transform(X)

    def fit() -> Any:
        options = {"n_pairs": 4000, "max_iter": sizes.iterations, "random_state": 0}
        return MixtureFourier(Gaussian(4.0), 112, **options).fit(X)

    with threadpool_limits(1):
        unit()  # compiles and imports
        fit()
        times = [(cpu(unit), cpu(fit)) for _ in range(1 if quick else 3)]
    units, fits = np.median(times, axis=0)
    note = f"{fits:.2f} s of CPU, unit {units:.2f} s"
    work = "fit, 112 features, 4000 pairs, d = 14, in units"
    return [Row(work, float(fits / units), "", 25.0, note=note)]


# --- the program ----------------------------------------------------------------------------------

PARTS: dict[str, spectra.Part] = {
    "error": errors,
    "branches": branches,
    "cost": cost,
    **mixture_tables.PARTS,
}


def figures(cells: Sequence[Cell], folder: Path) -> None:
    some = [cell for cell in cells if cell.table == "error"]
    if some:
        spectra.draw(some, "error", "RMSE / k(0)", folder / "mixtures_error.png")


def main(argv: Sequence[str] | None = None) -> list[Row]:
    names = (*binary.SETS, DIGITS, binary.MADE)
    return spectra.main(__doc__, PARTS, QUICK, FULL, figures, argv, names)


if __name__ == "__main__":
    main()
