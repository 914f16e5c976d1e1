"""Signed Gaussian mixtures (DIGMM): errors, cost and accuracy beside the printed updates.

The RMSE of a kernel matrix is taken off the diagonal, on 1000 held-out rows, and divided by k(0).
Maps that were not made for the kernel (Gaussian features, the printed updates) get one factor that
fits them to the kernel on training rows. Accuracies are those of a linear SVM on the features of
the kernel divided by k(0), with the C of the paper (2⁻⁵ … 2⁵) and of a wider grid (… 2²¹).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import binary
import numpy as np
import spectra
from measuring import Row
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from spectra import Cell, Job, Known, by_width, compared, print_table, shown, values

import krein
from krein import MixtureFourier, Nystrom, RandomFourier
from krein.features._trig import fourier_features
from krein.features.calibrate import calibrate_fourier
from krein.kernels import (
    TL1,
    Gaussian,
    GaussianCombination,
    Hellinger,
    Kernel,
    Sigmoid,
    SphericalPolynomial,
)

ROWS, TEST_ROWS = 800, 1000
PAPER_C = tuple(2.0**k for k in range(-5, 6))
WIDE_C = tuple(2.0**k for k in range(-5, 22, 2))


@dataclass(frozen=True)
class Sizes:
    """Data sets, widths in units of d, and repetitions."""

    sets: tuple[str, ...]
    multiples: tuple[int, ...]
    table: tuple[int, ...]
    seeds: int
    kernels: tuple[str, ...]
    iterations: int = 20


FULL = Sizes(
    ("EEG", "ijcnn1", "skin", "spambase"),
    (2, 8, 32),
    (2, 8, 16),
    5,
    ("polynomial", "Hellinger", "TL1", "tanh"),
)
QUICK = Sizes((binary.MADE,), (2,), (2,), 1, ("polynomial",), 3)

# name: whether rows have norm 1, and the kernel with k(0) = 1 of the dimension.
KERNELS: dict[str, tuple[bool, Callable[[int], Kernel]]] = {
    "polynomial": (True, lambda d: SphericalPolynomial(a=2, degree=10)),
    "Hellinger": (True, lambda d: Hellinger()),
    "TL1": (False, lambda d: TL1(0.7 * d) / (0.7 * d)),
    "tanh": (True, lambda d: Sigmoid(1 / d, 1.0) / np.tanh(1 + 1 / d)),
    "combination": (False, lambda d: GaussianCombination([1, -0.6], [0.5, 0.25])),
}


def data_of(job: Job) -> tuple[Any, Kernel]:
    unit_rows, make = KERNELS[job.kernel]
    data = binary.load(job.set, unit_rows)
    assert data is not None
    return data, make(data.dim)


# --- methods --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Waves:
    """Frequencies with weights, and their features."""

    frequencies_: NDArray
    weights_: NDArray

    def transform(self, X: NDArray) -> NDArray:
        return fourier_features(X, self.frequencies_, np.sqrt(np.abs(self.weights_)))


def rescaled(found: Any, kernel: Kernel, X: NDArray) -> Waves:
    """Multiply the weights by the number that fits the kernel best off the diagonal."""
    K = kernel(X)
    approximate = spectra.fourier_matrix(found.frequencies_, found.weights_, X)
    off = ~np.eye(len(X), dtype=bool)
    size = float(approximate[off] @ approximate[off])
    factor = float(approximate[off] @ K[off]) / size if size else 1.0
    return Waves(found.frequencies_, found.weights_ * max(factor, 1e-12))


def gaussian(sigma: float | None) -> Callable[..., Waves]:
    def fit(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Waves:
        rows = X[np.random.default_rng(seed).permutation(len(X))[:ROWS]]
        bandwidth = float(np.median(pdist(rows))) if sigma is None else sigma
        found = RandomFourier(Gaussian(bandwidth), width, random_state=seed).fit(X)
        return rescaled(found, kernel, rows)

    return fit


def least_squares(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Waves:
    """Fit signed weights of the frequencies of a Gaussian kernel.

    Its bandwidth is the multiple of the median distance with the least error on training rows.
    """
    rows = X[np.random.default_rng(seed).permutation(len(X))[:ROWS]]
    K, median = kernel(rows), float(np.median(pdist(rows)))
    tried = []
    for multiple in (0.5, 1, 2, 4, 8):
        found = RandomFourier(Gaussian(multiple * median), width, random_state=seed).fit(rows)
        weights = calibrate_fourier(found.frequencies_, found.weights_, rows, K)
        tried.append(Waves(found.frequencies_, weights))
    return min(tried, key=lambda found: rmse(kernel, found, rows))


def ours(**options: Any) -> Callable[..., Any]:
    def fit(kernel: Kernel, width: int, X: NDArray, seed: int, iterations: int) -> MixtureFourier:
        n = min(ROWS, len(X))
        made = {"random_state": seed, "n_subsample": n, "max_iter": iterations, **options}
        return MixtureFourier(kernel, width, **made).fit(X)

    return fit


def printed(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Waves:
    """Fit by the paper's program: five rows, a shift, printed updates, 50 iterations."""
    options = {"inference": "taylor", "split": "shift", "n_subsample": 5, "max_iter": 50}
    found = MixtureFourier(kernel, width, random_state=seed, **options).fit(X)
    weights = np.full(len(found.weights_), 1 / len(found.weights_))
    rows = X[np.random.default_rng(seed).permutation(len(X))[:ROWS]]
    return rescaled(Waves(found.frequencies_, weights), kernel, rows)


def nystrom(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Nystrom:
    return Nystrom(kernel, min(width, len(X) // 2), random_state=seed).fit(X)


def rival(name: str) -> Callable[..., Any]:
    def fit(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Any:
        return getattr(krein, name)(kernel, width, random_state=seed).fit(X)

    return fit


METHODS: dict[str, Callable[..., Any]] = {
    "MixtureFourier": ours(),
    "printed updates": printed,
    "signed least squares": least_squares,
    "Gaussian, unit bandwidth": gaussian(1.0),
    "Gaussian, median bandwidth": gaussian(None),
    "Nystrom": nystrom,
}
RIVALS = {
    "SRF": "SphericalRandomFeatures",
    "random Maclaurin": "RandomMaclaurin",
    "TensorSketch": "TensorSketch",
    "TRP": "TensorizedProjection",
    "CRO": "ConcomitantRankOrder",
}
METHODS |= {short: rival(name) for short, name in RIVALS.items()}
BRANCHES = {
    "MixtureFourier": ours(),
    "MixtureFourier, joint=False": ours(joint=False),
    "MixtureFourier, split='shift'": ours(split="shift"),
    "signed least squares": least_squares,
    "Nystrom": nystrom,
}
TRUNCATIONS = {f"MixtureFourier, T = {T}": ours(n_mixture=T) for T in (1, 5, 10)}


# --- errors ---------------------------------------------------------------------------------------


def rmse(kernel: Kernel, features: Any, X: NDArray) -> float:
    """Return the root mean squared error off the diagonal divided by |k(0)|."""
    if hasattr(features, "frequencies_"):
        approximate = spectra.fourier_matrix(features.frequencies_, features.weights_, X)
    else:
        approximate = features.approximate_kernel(X)
    error = approximate - kernel(X)
    np.fill_diagonal(error, 0)
    n = len(X)
    size = abs(float(kernel.diag(X[:1])[0]))
    return float(np.sqrt(np.sum(error**2) / (n * (n - 1)))) / size


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
    data = binary.load(name, False)
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


def truncation(sizes: Sizes, sets: Sequence[str], run: Callable[..., list[Cell]]) -> list[Row]:
    """Print the errors for several numbers of components (Table VII of the paper)."""
    few = replace(sizes, seeds=min(2, sizes.seeds), multiples=sizes.multiples[:2])
    jobs = error_jobs("truncation", few, list(BARS), list(TRUNCATIONS), sets[0])
    cells = run(jobs, errors_of(TRUNCATIONS, sizes.iterations))
    widths = sorted({cell.width for cell in cells})
    heads = ["set", "kernel", "method", *map(str, widths)]
    print_table("RMSE by the truncation T", heads, by_width(cells, "error", ".4f"))
    return []


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


# --- accuracy -------------------------------------------------------------------------------------

# Tables III and IV: accuracy of the paper's own method at 2d, 8d, 16d and 32d features.
PUBLISHED: dict[tuple[str, str], tuple[float, float, float, float]] = {
    ("ijcnn1", "polynomial"): (90.0, 95.7, 97.3, 97.8),
    ("skin", "polynomial"): (98.0, 98.1, 98.2, 98.2),
    ("EEG", "polynomial"): (68.7, 80.9, 83.9, 85.1),
    ("spambase", "polynomial"): (79.9, 86.7, 88.4, 90.9),
    ("skin", "Hellinger"): (98.3, 98.2, 98.2, 98.2),
    ("EEG", "Hellinger"): (69.3, 81.0, 83.9, 84.3),
    ("spambase", "Hellinger"): (78.4, 84.6, 87.6, 88.2),
    ("ijcnn1", "TL1"): (89.8, 95.0, 97.1, 97.4),
    ("skin", "TL1"): (98.0, 98.1, 98.1, 98.2),
    ("EEG", "TL1"): (69.0, 80.6, 85.2, 86.9),
    ("spambase", "TL1"): (79.9, 86.7, 88.0, 88.9),
    ("ijcnn1", "tanh"): (90.1, 95.6, 97.5, 97.9),
    ("skin", "tanh"): (97.2, 98.2, 98.2, 98.2),
    ("EEG", "tanh"): (69.3, 80.2, 83.4, 84.5),
    ("spambase", "tanh"): (76.2, 85.6, 87.0, 87.2),
}
MULTIPLES = (2, 8, 16, 32)
ACCURACY = [name for name in METHODS if name != "signed least squares"]


def accuracy_of(iterations: int) -> spectra.Measure:
    def measure(job: Job, seed: int, known: Known) -> dict[str, float]:
        data, kernel = data_of(job)
        X = data.X[: spectra.MAP_ROWS]
        features = METHODS[job.method](kernel, job.width, X, seed, iterations=iterations)
        Z, Z_test = (np.asarray(features.transform(rows)) for rows in (data.X, data.X_test))
        found = {}
        for name, grid in (("accuracy", PAPER_C), ("accuracy, wide C", WIDE_C)):
            C = known.get((0, f"C of {name}"), 0.0) or spectra.choose_C(Z, data.y, grid)
            found[f"C of {name}"] = C
            found[name] = spectra.accuracy(Z, data.y, Z_test, data.y_test, C)
        return found

    return measure


def accuracy_jobs(sizes: Sizes, sets: Sequence[str]) -> list[Job]:
    jobs = []
    for name in sets:
        data = binary.load(name, False)
        if data is None:
            print(f"{name} is not found")
            continue
        for kernel in sizes.kernels:
            for multiple in sizes.table:
                seeds = min(sizes.seeds, 2)
                width = multiple * data.dim
                jobs += [Job("accuracy", name, kernel, m, width, seeds) for m in ACCURACY]
    return jobs


def accuracy(sizes: Sizes, sets: Sequence[str], run: Callable[..., list[Cell]]) -> list[Row]:
    """Print Tables III and IV beside the published values."""
    jobs = accuracy_jobs(sizes, sets)
    cells = run(jobs, accuracy_of(sizes.iterations))
    lines = []
    for job in jobs:
        where = {"set": job.set, "kernel": job.kernel, "method": job.method, "width": job.width}
        data = binary.load(job.set, False)
        multiple = job.width // data.dim if data else 0
        known = PUBLISHED.get((job.set, job.kernel))
        shows = known is not None and job.method == "MixtureFourier" and multiple in MULTIPLES
        published = known[MULTIPLES.index(multiple)] if known and shows else None
        columns = compared(published, values(cells, "accuracy", **where), ".1f")
        wide = shown(values(cells, "accuracy, wide C", **where), ".1f")
        lines.append([job.set, job.kernel, job.method, f"{multiple}d", *columns, wide])
    heads = ["set", "kernel", "method", "width", "published", "C ≤ 2⁵", "difference", "C ≤ 2²¹"]
    print_table("Accuracy of a linear SVM, % (Tables III and IV)", heads, lines)
    rows = []
    for name, dim, bar in (("EEG", 14, 77.0), ("ijcnn1", 22, 93.5)):
        where = {"set": name, "kernel": "polynomial", "method": "MixtureFourier", "width": 8 * dim}
        found, wide = (values(cells, grid, **where) for grid in ("accuracy", "accuracy, wide C"))
        if len(found):
            work = f"accuracy, {name}, polynomial, MixtureFourier, width {8 * dim}"
            note = f"with the paper's C {found.mean():.1f} %"
            rows.append(Row(work, float(wide.mean()), "%", bar, at_least=True, note=note))
    return rows


# --- the program ----------------------------------------------------------------------------------

PARTS: dict[str, spectra.Part] = {
    "error": errors,
    "branches": branches,
    "truncation": truncation,
    "cost": cost,
    "accuracy": accuracy,
}


def figures(cells: Sequence[Cell], folder: Path) -> None:
    some = [cell for cell in cells if cell.table == "error"]
    if some:
        spectra.draw(some, "error", "RMSE / k(0)", folder / "mixtures_error.png")


def main(argv: Sequence[str] | None = None) -> list[Row]:
    return spectra.main(__doc__, PARTS, QUICK, FULL, figures, argv)


if __name__ == "__main__":
    main()
