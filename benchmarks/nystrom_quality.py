"""Error of `Nystrom` against rank and time, compared with the best error of each rank.

    python benchmarks/nystrom_quality.py [--quick] [--only delta_gaussian,letter,…]
                                         [--csv FILE] [--figures FOLDER] [--jobs 2]

The script repeats figures 1, 2 and 4–6 of Oglic and Gärtner (ICML 2019): relative Frobenius errors
of rank k on standardised data, median and worst of ten draws. (k | l) is the published method: rank
k from l landmarks with the core K_ZZ⁻¹. `default` is the default of krein: 3k landmarks by residual
and the sketched core. The paper gives no parameters of its kernels; KERNELS lists the parameters
used here. Data come from $KREIN_DATA or ../shared/data. Missing sets are reported and left out. The
exit code is 1 if a bar is missed. With --quick the sizes are small, and no bar is checked.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Row, arguments, chosen_parts, load, report, seconds
from numpy.typing import NDArray

from krein import Nystrom
from krein.kernels import (
    DeltaGaussian,
    Epanechnikov,
    Kernel,
    Precomputed,
    RectifiedSigmoid,
    Sigmoid,
)

SETS = ("parkinsons_updrs", "ailerons", "california_housing", "cpusmall", "kin8nm", "abalone")

# Kernels for d columns. Standardised rows have ‖x − y‖² ≈ 2d, hence the radius √(2d).
KERNELS: dict[str, Callable[[int], Kernel]] = {
    "delta_gaussian": lambda d: DeltaGaussian(1.0, 10.0),
    "sigmoid": lambda d: Sigmoid(gamma=1 / d),
    "rectified_sigmoid": lambda d: RectifiedSigmoid(gamma=1 / d),
    "epanechnikov": lambda d: Epanechnikov(sigma=float(np.sqrt(2 * d))),
}
TITLES = {
    "delta_gaussian": "δ-Gaussian (1, 10)",
    "sigmoid": "sigmoid tanh(⟨x, y⟩/d)",
    "rectified_sigmoid": "rectified sigmoid max(0, ⟨x, y⟩/d)",
    "epanechnikov": "Epanechnikov, radius √(2d)",
}


@dataclass(frozen=True)
class Method:
    """A landmark rule, a core, and the number of landmarks for a rank."""

    rule: str
    setting: str
    core: str = "inverse"

    def landmarks(self, rank: int, n: int) -> int:
        spare = min(2 * rank, 300)
        return {"k": rank, "default": rank + spare, "k ln n": int(rank * np.log(n))}[self.setting]

    @property
    def label(self) -> str:
        return f"{self.rule} (k | {self.setting})" if self.core == "inverse" else "default"


DEFAULT = Method("residual", "default", "sketch")
METHODS = (
    DEFAULT,
    *(Method(rule, m) for m in ("k", "k ln n") for rule in ("uniform", "leverage", "kmeans++")),
)


@dataclass(frozen=True)
class Sizes:
    """The sizes of the measurement."""

    rows: int = 2000
    ranks: tuple[int, ...] = (10, 25, 50, 100, 200)
    barred: tuple[int, ...] = (50, 100)
    draws: int = 10
    sets: tuple[str, ...] = SETS


QUICK = Sizes(rows=200, ranks=(5, 10), barred=(10,), draws=2, sets=SETS[:2])


@dataclass(frozen=True)
class Cell:
    """The relative Frobenius errors of one method at one rank, and the median time of a fit."""

    kernel: str
    set: str
    rows: int
    rank: int
    method: str
    landmarks: int
    best: float
    median: float
    worst: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.median / self.best:.3g} ({self.worst / self.best:.3g}) {self.seconds:.3f}s"


# --- errors -------------------------------------------------------------------------------------


def standardised(X: NDArray, n_rows: int) -> NDArray:
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[np.random.default_rng(0).choice(len(X), min(n_rows, len(X)), replace=False)]


def best_errors(K: NDArray, ranks: Sequence[int], symmetric: bool = True) -> list[float]:
    """Return the relative errors of the best matrices of several ranks."""
    singular = np.linalg.svd(K, compute_uv=False, hermitian=symmetric)
    return [float(np.linalg.norm(singular[k:]) / np.linalg.norm(singular)) for k in ranks]


def errors(
    make: Callable[..., Nystrom], X: NDArray, K: NDArray, draws: int
) -> tuple[NDArray, float]:
    """Return the relative errors for several seeds, and the median seconds of a fit."""
    found, times = [], []
    for key in range(draws):
        features = make(random_state=key)
        with warnings.catch_warnings():  # the published core explodes with a warning
            warnings.simplefilter("ignore", UserWarning)
            times.append(seconds(lambda f=features: f.fit(X)))
            error = features.approximate_kernel(X) - K
        found.append(np.linalg.norm(error) / np.linalg.norm(K))
    return np.array(found), float(np.median(times))


def cells_of(kernel_name: str, set_name: str, sizes: Sizes) -> list[Cell]:
    """Return the cells of all methods at all ranks for one kernel on one set, on one core.

    Settings with more than half of the rows as landmarks are left out.
    """
    from threadpoolctl import threadpool_limits

    X = load(f"regression/{set_name}.npz")
    if X is None:
        return []
    X = standardised(X, sizes.rows)
    n, d = X.shape
    kernel = KERNELS[kernel_name](d)
    K = kernel(X)
    cells = []
    with threadpool_limits(1):
        for rank, best in zip(sizes.ranks, best_errors(K, sizes.ranks), strict=True):
            for method in METHODS:
                m = method.landmarks(rank, n)
                if 2 * m > n:
                    continue
                options: dict[str, Any] = {
                    "landmarks": method.rule,
                    "n_landmarks": m,
                    "core": method.core,
                }
                found, fit = errors(partial(Nystrom, kernel, rank, **options), X, K, sizes.draws)
                figures = (best, float(np.median(found)), float(found.max()), fit)
                cells.append(Cell(kernel_name, set_name, n, rank, method.label, m, *figures))
    return cells


def print_cells(cells: Sequence[Cell]) -> None:
    """Print one line per rank and one column per method."""
    for rank in dict.fromkeys(cell.rank for cell in cells):
        line = {cell.method: cell for cell in cells if cell.rank == rank}
        first = next(iter(line.values()))
        columns = "".join(f"{line.get(method.label, '-')!s:>28}" for method in METHODS)
        print(f"{first.set:<19}{rank:>4} {first.best:>8.3g}{columns}", flush=True)


def rank_cells(kernels: Sequence[str], sizes: Sizes, jobs: int) -> list[Cell]:
    """Return and print the cells of all kernels on all sets."""
    from joblib import Parallel, delayed

    work = [(kernel, name) for kernel in kernels for name in sizes.sets]
    found = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(cells_of)(kernel, name, sizes) for kernel, name in work
    )
    cells: list[Cell] = []
    heads = "".join(f"{method.label:>28}" for method in METHODS)
    for (kernel, name), some in zip(work, found, strict=True):
        if name == sizes.sets[0]:
            what = f"median (worst) of {sizes.draws} draws over the best rank-k error, fit"
            print(f"\n{TITLES[kernel]}, {sizes.rows} rows: {what}")
            print(f"{'set':<19}{'k':>4} {'best':>8}{heads}")
        print_cells(some)
        cells += some
    return cells


# --- bars ---------------------------------------------------------------------------------------


def rank_rows(cells: Sequence[Cell], ranks: Sequence[int]) -> Iterator[Row]:
    """Yield the bars of the default on the δ-Gaussian."""
    for cell in cells:
        barred = cell.kernel == "delta_gaussian" and cell.rank in ranks
        if barred and cell.method == DEFAULT.label:
            work = f"{cell.set}, δ-Gaussian, rank {cell.rank}, default"
            yield Row(f"{work}: median over best", cell.median / cell.best, "", 1.4)
            yield Row(f"{work}: worst over best", cell.worst / cell.best, "", 1.7)


def letter_rows(quick: bool) -> Iterator[Row]:
    """Yield the bar on letter: δ-Gaussian, width 256, fitted on all rows, measured on some."""
    X = load("letter/letter.npz")
    if X is None:
        return
    X = X / X.max(axis=0)
    n_fit, n_rows, width, draws = (1000, 300, 32, 1) if quick else (len(X), 2000, 256, 10)
    rows = np.random.default_rng(0).choice(n_fit, n_rows, replace=False)
    K = DeltaGaussian()(X[rows])
    found = []
    for key in range(draws):
        features = Nystrom(DeltaGaussian(), width, random_state=key).fit(X[:n_fit])
        found.append(np.linalg.norm(features.approximate_kernel(X[rows]) - K) / np.linalg.norm(K))
    work = f"letter, δ-Gaussian, width {width}: worst error of {draws}"
    note = f"{n_fit} rows, median {np.median(found):.2g}"
    yield Row(work, float(max(found)), "", 2e-3, note=note)


def asymmetric_rows(quick: bool) -> Iterator[Row]:
    """Yield the bars on asymmetric dissimilarities as a precomputed kernel."""
    D = load("dissimilarities/chickenpieces_20_60.npz", "D")
    if D is None:
        return
    D = D / D.max()
    rank, draws = (20, 2) if quick else (100, 10)
    for name, K in (("exp(−2D)", np.exp(-2 * D)), ("−D²", -np.square(D))):
        (best,) = best_errors(K, [rank], symmetric=False)
        found, _ = errors(partial(Nystrom, Precomputed(symmetric=False), rank), K, K, draws)
        note = f"median {np.median(found) / best:.3g}, best {best:.3g}"
        work = f"chickenpieces, {name}, rank {rank}: worst of {draws} over best"
        yield Row(work, float(found.max() / best), "", 1.6, note=note)


# --- files --------------------------------------------------------------------------------------

# The zero matrix has a relative error of 1; the published core reaches 10⁵.
CEILING = 10.0
COLOURS = {"uniform": "#e69f00", "leverage": "#0072b2", "kmeans++": "#009e73"}


def write_csv(cells: Sequence[Cell], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, [field.name for field in fields(Cell)])
        writer.writeheader()
        writer.writerows(asdict(cell) for cell in cells)


def style(method: Method) -> dict[str, Any]:
    if method is DEFAULT:
        return {"color": "#c2185b", "marker": "D", "linewidth": 2.2, "zorder": 3}
    few = method.setting == "k"
    return {
        "color": COLOURS[method.rule],
        "marker": "o" if few else "s",
        "markerfacecolor": "white" if few else COLOURS[method.rule],
        "linestyle": "-" if few else (0, (4, 1.5)),
        "linewidth": 1.3,
    }


def panel(ax: Any, cells: Sequence[Cell], against: str) -> None:
    """Plot one set: medians with markers, the best error in black, the worst draw dotted."""
    best = {cell.rank: cell.best for cell in cells}
    if against == "rank":
        ax.plot(list(best), list(best.values()), "k-", linewidth=2, label="best rank k")
        ax.set_xticks(list(best), [str(rank) for rank in best], minor=False)
        ax.minorticks_off()
    else:
        ax.xaxis.set_minor_formatter("")
        ax.hlines(list(best.values()), 0, 1, "k", lw=0.7, transform=ax.get_yaxis_transform())
        for rank in (min(best), max(best)):  # labels of the ranks in between would overlap
            where = (1.01, best[rank])
            ax.annotate(
                f"{rank}", where, xycoords=ax.get_yaxis_transform(), fontsize=8, va="center"
            )
    for method in METHODS:
        line = [cell for cell in cells if cell.method == method.label]
        x = [getattr(cell, against) for cell in line]
        look = style(method)
        ax.plot(x, [c.median for c in line], markersize=4.5, label=method.label, **look)
        if against == "rank":
            ax.plot(x, [c.worst for c in line], ":", color=look["color"], linewidth=0.9, alpha=0.8)
    ax.set_ylim(0.7 * min(best.values()), min(CEILING, 2 * max(cell.worst for cell in cells)))
    ax.set_title(cells[0].set, fontsize=10)


def save(figure: Any, file: Path) -> None:
    """Save a figure as a PNG with 64 colours, which has a third of the size."""
    from PIL import Image  # a dependency of matplotlib

    picture = io.BytesIO()
    figure.savefig(picture, dpi=80)
    with Image.open(picture) as image:
        image.convert("RGB").quantize(64).save(file, optimize=True)


AXES = {
    "rank": ("rank k", "dotted: worst draw"),
    "seconds": ("seconds of fit, one core", "black: best errors of ranks"),
}


def draw(cells: Sequence[Cell], folder: Path) -> None:
    """Plot the error of each kernel against rank and against seconds, one panel per set."""
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    for kernel in dict.fromkeys(cell.kernel for cell in cells):
        sets = list(dict.fromkeys(cell.set for cell in cells if cell.kernel == kernel))
        for against, (words, note) in AXES.items():
            figure = Figure(figsize=(12, 7.4), layout="constrained")
            axes = figure.subplots(2, 3, squeeze=False).ravel()
            for ax in axes[len(sets) :]:
                ax.set_axis_off()
            for ax, name in zip(axes, sets, strict=False):
                ax.set(xscale="log", yscale="log", xlabel=words, ylabel="relative error")
                some = [cell for cell in cells if (cell.kernel, cell.set) == (kernel, name)]
                panel(ax, some, against)
            figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
            frame = f"above {CEILING:g} out of the frame"
            figure.suptitle(f"{TITLES[kernel]}: median of the draws ({note}; {frame})")
            save(figure, folder / f"nystrom_{kernel}_{against}.png")


OTHERS: dict[str, Callable[[bool], Iterator[Row]]] = {
    "letter": letter_rows,
    "asymmetric": asymmetric_rows,
}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    parser = arguments(__doc__, [*KERNELS, *OTHERS])
    parser.add_argument("--csv", type=Path, help="file for all cells of the error against rank")
    parser.add_argument("--figures", type=Path, help="folder for the figures")
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one core each")
    options = parser.parse_args(argv)
    parts = chosen_parts(parser, options, [*KERNELS, *OTHERS])
    sizes, jobs = (QUICK, 1) if options.quick else (Sizes(), options.jobs)
    cells = rank_cells([part for part in parts if part in KERNELS], sizes, jobs)
    if options.csv:
        write_csv(cells, options.csv)
    if options.figures and cells:
        draw(cells, options.figures)
    rows = list(rank_rows(cells, sizes.barred))
    rows += [row for part in parts if part in OTHERS for row in OTHERS[part](options.quick)]
    report(rows, options.quick)
    return rows


if __name__ == "__main__":
    main()
