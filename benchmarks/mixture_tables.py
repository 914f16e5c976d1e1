"""The tables of accuracies of the DIGMM paper, and its Figures 3 to 5, beside ours.

"accuracy" is Tables III and IV. "whole" has all rows of covtype at two widths. "digits" is Table V,
"gaussian" Table VI, "truncation" Table VII and "shift" Table VIII. "subsample" is Figures 3 and 4,
and "convergence" Figure 5. Maps are fitted on at most 10,000 rows. All cells have two seeds but the
ones of the bars, which have five, and the ones of MNIST and of all rows of covtype, which have one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import spectra
from measuring import Row
from mixture_data import DIGITS, WHOLE, Sizes, data_of, load, present
from mixture_methods import GAUSSIAN, LINEAR, METHODS, SHIFTS, TRUNCATIONS, ours, rmse
from mixture_published import published, published_truncation
from numpy.typing import NDArray
from spectra import Cell, Job, Known, compared, print_table, shown, values

PAPER_C = tuple(2.0**k for k in range(-5, 6))
WIDE_C = tuple(2.0**k for k in range(-5, 22, 2))
# The grid of MNIST, whose machines have ten classes; it is chosen from on fewer rows and folds.
DIGIT_C = (2.0, 2.0**5, 2.0**9, 2.0**13)
DIGIT_ROWS, DIGIT_FOLDS = 4000, 3
SEEDS = 2
# The maps of Tables III and IV.
BY_KERNEL = [name for name in METHODS if name not in ("signed least squares", "CRO")]
# Gaussian features depend on a kernel only by the norm of its rows: one kernel of each kind.
ONE_OF_A_KIND = {"polynomial", "TL1"}
WIDE_SETS = {"polynomial": ["MixtureFourier", "printed updates", "SRF", "Nystrom"]}

Run = Callable[..., list[Cell]]


# --- machines -------------------------------------------------------------------------------------


def accuracies(Z: NDArray, Z_test: NDArray, data: Any, known: Known) -> dict[str, float]:
    """Return the accuracies with the C of the paper's grid and of a wider one."""
    grids: list[tuple[str, Sequence[float]]] = [("accuracy", PAPER_C), ("accuracy, wide C", WIDE_C)]
    options: dict[str, int] = {}
    if data.name == DIGITS:
        grids, options = [("accuracy, wide C", DIGIT_C)], {"rows": DIGIT_ROWS, "cv": DIGIT_FOLDS}
    found: dict[str, float] = {}
    for name, grid in grids:
        C = known.get((0, f"C of {name}"), 0.0) or spectra.choose_C(Z, data.y, grid, **options)
        found[f"C of {name}"] = C
        found[name] = spectra.accuracy(Z, data.y, Z_test, data.y_test, C)
    return found


def measure_of(
    methods: dict[str, Callable[..., Any]], iterations: int, has_error: bool = False
) -> spectra.Measure:
    """Return a function that measures accuracies, seconds and, if wanted, errors of a map."""

    def measure(job: Job, seed: int, known: Known) -> dict[str, float]:
        data, kernel = data_of(job)
        X, y = data.X[: spectra.MAP_ROWS], data.y[: spectra.MAP_ROWS]
        begin = time.process_time()
        fitted = methods[job.method](kernel, job.width, X, seed, iterations=iterations, y=y)
        spent = time.process_time() - begin
        Z, Z_test = (np.asarray(fitted.transform(rows)) for rows in (data.X, data.X_test))
        found = accuracies(Z, Z_test, data, known) | {"fit seconds": spent}
        if has_error:
            found["error"] = rmse(kernel, fitted, data.X_test[: spectra.ERROR_ROWS])
        return found

    return measure


def lines_of(
    jobs: Sequence[Job], cells: Sequence[Cell], printed: Callable[[Job, int], float | None]
) -> Iterator[list[str]]:
    """Yield a line for each job, with the published accuracy if there is one."""
    for job in jobs:
        where = {"set": job.set, "kernel": job.kernel, "method": job.method, "width": job.width}
        multiple = job.width // data_of(job)[0].dim
        found, wide = (values(cells, name, **where) for name in ("accuracy", "accuracy, wide C"))
        columns = compared(printed(job, multiple), found if len(found) else wide, ".1f")
        seconds = shown(values(cells, "fit seconds", **where), ".1f")
        yield [*job.key[1:4], f"{multiple}d", *columns, shown(wide, ".1f"), seconds]


def print_lines(title: str, lines: Iterator[list[str]]) -> None:
    heads = ["set", "kernel", "method", "width", "published", "C ≤ 2⁵", "difference", "C ≤ 2²¹"]
    print_table(title, [*heads, "seconds of the map"], lines)


def _printed(job: Job, multiple: int) -> float | None:
    return published(job.set, job.kernel, job.method, multiple)


def _width(name: str, multiple: int) -> int:
    data = load(name, False)
    return 0 if data is None else multiple * data.dim


# --- Tables III and IV ----------------------------------------------------------------------------


def accuracy_jobs(sizes: Sizes, sets: Sequence[str]) -> list[Job]:
    """Return the jobs of Tables III and IV, narrow maps first."""
    jobs = [Job("accuracy", name, "none", "linear", _width(name, 1), 1) for name in sets]
    for multiple in sizes.table:
        for name in sets:
            for kernel in sizes.kernels:
                for method in BY_KERNEL:
                    if method.startswith("Gaussian") and kernel not in ONE_OF_A_KIND:
                        continue
                    # The bars are means of all seeds.
                    barred = (kernel, method, multiple) == ("polynomial", "MixtureFourier", 8)
                    seeds = sizes.seeds if barred else min(sizes.seeds, SEEDS)
                    key = "accuracy", name, kernel, method, _width(name, multiple)
                    jobs.append(Job(*key, seeds))
    return jobs


def accuracy(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Print Tables III and IV beside the published values."""
    jobs = accuracy_jobs(sizes, present([name for name in sets if name != DIGITS]))
    cells = run(jobs, measure_of(METHODS | LINEAR, sizes.iterations))
    lines = lines_of(jobs, cells, _printed)
    print_lines("Accuracy of a linear SVM, % (Tables III and IV)", lines)
    rows = []
    for name, dim, bar in (("EEG", 14, 77.0), ("ijcnn1", 22, 93.5)):
        where = {"set": name, "kernel": "polynomial", "method": "MixtureFourier", "width": 8 * dim}
        found, wide = (values(cells, grid, **where) for grid in ("accuracy", "accuracy, wide C"))
        if len(found):
            work = f"accuracy, {name}, polynomial, MixtureFourier, width {8 * dim}"
            note = f"with the paper's C {found.mean():.1f} %"
            rows.append(Row(work, float(wide.mean()), "%", bar, at_least=True, note=note))
    return rows


# --- the other tables -----------------------------------------------------------------------------


def table(
    title: str,
    jobs: Sequence[Job],
    methods: dict[str, Callable[..., Any]],
    iterations: int,
    run: Run,
    printed: Callable[[Job, int], float | None] = _printed,
) -> list[Row]:
    """Run the jobs and print a line for each; there is no bar."""
    cells = run(jobs, measure_of(methods, iterations))
    print_lines(title, lines_of(jobs, cells, printed))
    return []


def whole(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Print the accuracies on all rows of covtype."""
    name = WHOLE if "covtype" in sets else sets[0]
    some = present([name])
    jobs = [Job("whole", one, "none", "linear", _width(one, 1), 1) for one in some]
    jobs += [
        Job("whole", one, kernel, method, _width(one, multiple), 1)
        for one in some
        for multiple in sizes.table[:2]
        for kernel, methods in WIDE_SETS.items()
        for method in [*methods, "Gaussian, median bandwidth"]
    ]
    title = "Accuracy on all rows of covtype, %"

    def printed(job: Job, multiple: int) -> float | None:
        known = job.set == WHOLE
        return published("covtype", job.kernel, job.method, multiple) if known else None

    return table(title, jobs, METHODS | LINEAR, sizes.iterations, run, printed)


def digits(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Print Table V."""
    some = present([DIGITS if sets[0] in FILES else sets[0]])
    jobs = [Job("digits", name, "none", "linear", _width(name, 1), 1) for name in some]
    jobs += [
        Job("digits", name, kernel, method, _width(name, 2), 1)
        for name in some
        for kernel in sizes.kernels
        if kernel in ONE_OF_A_KIND
        for method in BY_KERNEL
        if method != "TRP"
    ]
    title = "Accuracy on MNIST, % (Table V)"
    return table(title, jobs, METHODS | LINEAR, sizes.iterations, run)


def gaussian(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Print Table VI."""
    multiple = sizes.multiples[-1]
    jobs = [
        Job("gaussian", name, "Gaussian", method, _width(name, multiple), min(SEEDS, sizes.seeds))
        for name in present([name for name in sets if name != DIGITS])
        for method in GAUSSIAN
    ]
    title = "Accuracy with Gaussian kernels of median bandwidth, % (Table VI)"
    return table(title, jobs, GAUSSIAN, sizes.iterations, run)


def truncation(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Print Table VII."""
    jobs = _of_one_set("truncation", sizes, sets, TRUNCATIONS, sizes.multiples)

    def printed(job: Job, multiple: int) -> float | None:
        T = int(job.method.rpartition(" ")[2])
        return published_truncation(job.set, job.kernel, T, multiple)

    title = "Accuracy by the truncation T, % (Table VII)"
    return table(title, jobs, TRUNCATIONS, sizes.iterations, run, printed)


def shift(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Print Table VIII, whose values cannot be read in the text of the paper."""
    jobs = _of_one_set("shift", sizes, sets, SHIFTS, sizes.multiples[:1])
    title = "Accuracy by the shift τ, % (Table VIII)"
    return table(title, jobs, SHIFTS, sizes.iterations, run)


def _of_one_set(
    name: str, sizes: Sizes, sets: Sequence[str], methods: Any, multiples: Sequence[int]
) -> list[Job]:
    """Return the jobs of ijcnn1, or of the only set."""
    some = [one for one in sets if one == "ijcnn1"] or list(sets[:1])
    return [
        Job(name, one, kernel, method, _width(one, multiple), min(SEEDS, sizes.seeds))
        for one in present(some)
        for multiple in multiples
        for kernel in sizes.kernels
        if kernel in ONE_OF_A_KIND
        for method in methods
    ]


# --- figures --------------------------------------------------------------------------------------


def subsample(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Print error, accuracy and seconds for several sizes of the subsample (Figures 3 and 4)."""
    methods = {f"N = {n}": ours(n_subsample=n) for n in sizes.subsamples}
    jobs = _of_one_set("subsample", sizes, sets, methods, sizes.multiples[:2][-1:])
    cells = run(jobs, measure_of(methods, sizes.iterations, has_error=True))
    lines = []
    for job in jobs:
        where = {"set": job.set, "kernel": job.kernel, "method": job.method}
        digits_of = {"error": ".4f", "accuracy, wide C": ".1f", "fit seconds": ".1f"}
        found = [shown(values(cells, name, **where), kind) for name, kind in digits_of.items()]
        lines.append([*job.key[1:4], *found])
    heads = ["set", "kernel", "rows", "RMSE / k(0)", "accuracy, %", "seconds of the map"]
    print_table("The size of the subsample (Fig. 3 and 4)", heads, lines)
    return []


def convergence(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Print how the objective of the first phase approaches its limit (Figure 5)."""
    kernel = "TL1" if "TL1" in sizes.kernels else sizes.kernels[0]
    some = present([name for name in sets if name != DIGITS])
    jobs = [Job("convergence", n, kernel, "MixtureFourier", _width(n, 2), 1) for n in some]

    def measure(job: Job, seed: int, known: Known) -> dict[str, float]:
        data, kernel = data_of(job)
        fitted = ours()(kernel, job.width, data.X[: spectra.MAP_ROWS], seed, sizes.iterations)
        path = next(iter(fitted.objective_.values()))
        gaps = (path[-1] - path) / max(1.0, abs(float(path[-1])))
        found = {f"gap {i}": float(gap) for i, gap in enumerate(gaps)}
        return found | {"rounds": float(len(path))}

    cells = run(jobs, measure)
    at = (0, 1, 2, 5, 10)
    lines = []
    for name in some:
        gaps = [shown(values(cells, f"gap {i}", set=name), ".1e") for i in at]
        lines.append([name, *gaps, shown(values(cells, "rounds", set=name), ".0f")])
    heads = ["set", *(f"round {i}" for i in at), "rounds"]
    print_table("Objective below its last value, relative (Fig. 5)", heads, lines)
    return []


# Sets that come from files; the quick run has none.
FILES = set(spectra.SETS)

PARTS: dict[str, spectra.Part] = {
    "accuracy": accuracy,
    "gaussian": gaussian,
    "truncation": truncation,
    "shift": shift,
    "subsample": subsample,
    "convergence": convergence,
    "whole": whole,
    "digits": digits,
}
