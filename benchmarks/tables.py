"""Errors of the learners on proximity sets, compared with published errors; error against rank.

    python benchmarks/tables.py [--quick] [--only chickenpieces,…] [--csv FILE]
                                [--figures FOLDER] [--jobs 2]

The script repeats tables 1–2 and figures 3 and 7 of Oglic and Gärtner (ICML 2019). Dissimilarities
are symmetrised, squared and double-centred on the training rows. Penalties are chosen within the
training rows. All methods use the same 5 × 10 stratified folds of a set. The problems of one class
against the rest use the first ten folds. The last row of a table is `KreinClassifier`. It takes the
dissimilarities unchanged and makes all its choices within the training rows. The exit code is 1 if
its error exceeds that of the best other method by more than one standard error on a set. With
--quick the sizes are small, and no bar is checked. With --csv the file stores every fold, and a
later run continues from the file.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import proximities
from measuring import Row, append_cells, arguments, chosen_parts, read_cells, report
from numpy.typing import NDArray
from proximities import Proximities, Split
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from krein import KreinClassifier, KreinRidgeClassifier, KreinSVC, Nystrom
from krein import VarianceConstrainedClassifier as VarianceConstrained
from krein.features import SimilarityFeatures
from krein.proximity import SpectrumCorrector

RANK = 100
# Values of C, to be divided by the mean diagonal of the matrix.
CS = np.geomspace(1e-2, 1e3, 6)
# Seeds of the divisions into folds. The rules of KreinClassifier were chosen on other divisions
# (smaller seeds) of the same objects; those of the smallest sets were chosen last.
FIRST_KEY, FIRST_KEYS = 7000, {"catcortex": 6000, "promoters": 6000}
# libsvm may not converge on an indefinite matrix.
SVC_STEPS = 100_000

Predict = Callable[[NDArray, NDArray, NDArray], tuple[NDArray, str]]


# --- methods ------------------------------------------------------------------------------------


def fitted(learner: Callable, features: Any, S: NDArray, y: NDArray, T: NDArray) -> tuple:
    """Return predictions with penalties chosen by loss, and maps fitted without the test fold."""
    loss = "squared_hinge" if learner is KreinSVC else "squared_error"
    model = learner(features=features, nested=True, criterion=loss, random_state=0).fit(S, y)
    return model.predict(T), ""


def low_rank(learner: Callable, rank: int, S: NDArray, y: NDArray, T: NDArray) -> tuple:
    return fitted(learner, Nystrom("precomputed", min(rank, len(S))), S, y, T)


def as_features(rank: int | None, S: NDArray, y: NDArray, T: NDArray) -> tuple:
    rule = "all" if rank is None else "uniform"
    width = len(S) if rank is None else min(rank, len(S))
    features = SimilarityFeatures("precomputed", width, landmarks=rule)
    return fitted(KreinRidgeClassifier, features, S, y, T)


def whole_space(S: NDArray, y: NDArray, T: NDArray) -> tuple:
    return fitted(VarianceConstrained, Nystrom("precomputed", len(S), landmarks="all"), S, y, T)


def corrected(correction: str | None, S: NDArray, y: NDArray, T: NDArray) -> tuple:
    """Return predictions like `krein.CorrectedSVC`, with one correction per fold for all C."""
    A, B = correct(correction, S, T)
    penalties = CS / np.diagonal(A).mean()
    wrong = np.zeros(len(penalties))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(S, y):
        inner = correct(correction, S[np.ix_(train, train)], S[np.ix_(test, train)])
        wrong += [np.sum(hinge(C, *inner, y[train]) != y[test]) for C in penalties]
    return hinge(penalties[np.argmin(wrong)], A, B, y), ""


def correct(correction: str | None, S: NDArray, T: NDArray) -> tuple[NDArray, NDArray]:
    if correction is None:
        return S, T
    corrector = SpectrumCorrector(correction).fit(S)
    return corrector.transform(S), corrector.transform(T)


def hinge(C: float, S: NDArray, T: NDArray, y: NDArray) -> NDArray:
    return SVC(kernel="precomputed", C=C, max_iter=SVC_STEPS).fit(S, y).predict(T)


def automatic(D: NDArray, y: NDArray, E: NDArray) -> tuple:
    """Return the predictions of KreinClassifier on dissimilarities, and the chosen trial."""
    model = KreinClassifier("precomputed", dissimilarity=True, random_state=0).fit(D, y)
    best = model.report_.trials[model.report_.chosen]
    return model.predict(E), f"{best.learner}, {best.features}"


CURVES: dict[str, Callable[[int], Predict]] = {
    "VC-LSM": lambda rank: partial(low_rank, VarianceConstrained, rank),
    "LSM": lambda rank: partial(low_rank, KreinRidgeClassifier, rank),
    "SH-SVM": lambda rank: partial(low_rank, KreinSVC, rank),
    "SF-LSM": lambda rank: partial(as_features, rank),
}
OURS = "KreinClassifier"
OTHERS = "other half"
METHODS: dict[str, Predict] = {
    **{f"{name} {RANK}": make(RANK) for name, make in CURVES.items()},
    "K-SVM = SVC flip": partial(corrected, "flip"),
    "SF-LSM all": partial(as_features, None),
    "VC-LSM all": whole_space,
    "SVC clip": partial(corrected, "clip"),
    "SVC raw": partial(corrected, None),
    OURS: automatic,
}

# Table 2 of the paper in %, in the order of METHODS: four of rank 100, three of full rank.
PUBLISHED: dict[str, tuple[str, tuple[float, ...]]] = {
    "coilyork": ("coilyork", (32.22, 31.21, 38.20, 35.33, 32.91, 26.03, 22.56)),
    "balls3d": ("balls 3D", (1.00, 0.50, 0.00, 0.50, 0.00, 0.00, 0.00)),
    "protein": ("protein", (4.19, 3.72, 5.23, 5.15, 5.17, 2.83, 0.00)),
    "chickenpieces": ("chicken25", (19.29, 20.41, 25.77, 18.17, 17.72, 16.38, 4.73)),
    "polydish57": ("pdish57", (3.40, 3.40, 2.73, 3.03, 0.42, 0.20, 0.35)),
    "polydism57": ("pdism57", (0.38, 0.38, 0.30, 0.63, 0.13, 0.15, 0.11)),
}


# --- folds --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sizes:
    """The sizes of the measurement."""

    folds: int = 10
    repeats: int = 5
    ranks: tuple[int, ...] = (10, 25, 50, 200)
    sets: dict[str, Callable[[], Proximities | None]] = field(
        default_factory=lambda: proximities.SETS
    )


QUICK = Sizes(
    folds=2,
    repeats=1,
    ranks=(5,),
    sets={"balls3d": partial(proximities.balls3d, 15), "polygons": proximities.polygons},
)


@dataclass(frozen=True)
class Cell:
    """The error of one method in one fold of one problem.

    The problem is "all" (all classes), the label of one class against the rest, or `OTHERS` (all
    classes on the objects outside the folds).
    """

    set: str
    problem: str
    method: str
    repeat: int
    fold: int
    wrong: int
    tested: int
    seconds: float
    chosen: str = ""
    warned: str = ""

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        return self.set, self.problem, self.method, self.repeat, self.fold

    @property
    def error(self) -> float:
        return 100 * self.wrong / self.tested


def problems(data: Proximities, repeat: int) -> Iterator[tuple[str, Proximities]]:
    """Yield the problem of all classes, and in the first repetition each class against the rest."""
    yield ("all" if repeat >= 0 else OTHERS), data
    if repeat == 0 and len(data.classes) > 2:
        for label in data.classes:
            yield str(label), data.against_rest(label)


def methods(problem: str, repeat: int, n_train: int, sizes: Sizes) -> Iterator[tuple[str, Predict]]:
    """Yield the methods of the table, and in the first repetition the ranks of the figure."""
    for name, predict in METHODS.items():
        if name != OURS or problem == "all":
            yield name, predict
    if repeat == 0 and problem == "all":
        for rank in sizes.ranks:
            if rank < n_train:
                yield from ((f"{name} {rank}", make(rank)) for name, make in CURVES.items())


def cells_of(
    data: Proximities, repeat: int, fold: int, split: Split, sizes: Sizes, known: set
) -> list[Cell]:
    """Return the cells of one fold that are not yet known, computed on one core."""
    from threadpoolctl import threadpool_limits

    train, test = split
    similarities, dissimilarities = data.similarities(split), data.dissimilarities(split)
    cells = []
    with threadpool_limits(1):
        for problem, part in problems(data, repeat):
            for name, predict in methods(problem, repeat, len(train), sizes):
                if (data.name, problem, name, repeat, fold) in known:
                    continue
                S, T = dissimilarities if name == OURS else similarities
                begin = time.perf_counter()
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    said, chosen = predict(S, part.y[train], T)
                warned = "; ".join(sorted({str(w.message).split(":")[0][:60] for w in caught}))
                wrong = int(np.sum(said != part.y[test]))
                spent = round(time.perf_counter() - begin, 3)
                where = (data.name, problem, name, repeat, fold)
                cells.append(Cell(*where, wrong, len(test), spent, chosen, warned))
    return cells


def measure(data: Proximities, sizes: Sizes, jobs: int, file: Path | None) -> list[Cell]:
    """Return all cells of a set; cells in the file are not computed again."""
    from joblib import Parallel, delayed

    cells = [cell for cell in read_cells(Cell, file) if cell.set == data.name]
    known = {cell.key for cell in cells}
    first = FIRST_KEYS.get(data.name, FIRST_KEY)
    work = [
        delayed(cells_of)(data, repeat, fold, split, sizes, known)
        for repeat in range(sizes.repeats)
        for fold, split in enumerate(data.folds(sizes.folds, first + repeat))
    ]
    if data.others is not None:
        work.append(delayed(cells_of)(data, -1, 0, data.others, sizes, known))
    for some in Parallel(n_jobs=jobs, return_as="generator_unordered")(work):
        append_cells(some, file)
        cells += some
    return cells


# --- tables -------------------------------------------------------------------------------------


def by_fold(cells: Sequence[Cell], problem: str, method: str) -> NDArray:
    """Return the errors of a method in the order of the folds, for paired comparisons."""
    found = [cell for cell in cells if (cell.problem, cell.method) == (problem, method)]
    return np.array([c.error for c in sorted(found, key=lambda c: (c.repeat, c.fold))])


def print_table(data: Proximities, cells: Sequence[Cell], sizes: Sizes) -> None:
    """Print the errors of the first ten folds, of all folds, and of the binary problems."""
    binary = [str(label) for label in data.classes] if len(data.classes) > 2 else []
    more = [*binary, *([OTHERS] if data.others is not None else [])]
    about, numbers = PUBLISHED.get(data.name, ("", ()))
    published = dict(zip(METHODS, numbers, strict=False))
    note = f"; {data.note}" if data.note else ""
    print(
        f"\n### {data.name} ({data.kind}, {len(data.y)} objects, {len(data.classes)} classes{note})"
    )
    heads = [f"{sizes.folds} folds", f"{sizes.repeats} × {sizes.folds} folds", "seconds"]
    heads += [f"{name} : rest" if name in binary else name for name in more]
    heads += [f"paper: {about}"] if about else []
    print(f"\n| error, % | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for name in METHODS:
        errors = by_fold(cells, "all", name)
        first = errors[: sizes.folds]
        spent = np.median([cell.seconds for cell in cells if cell.method == name])
        line = [f"{first.mean():.2f} ± {first.std():.2f}", f"{errors.mean():.2f}", f"{spent:.2f}"]
        parts = [by_fold(cells, part, name) for part in more]
        line += [f"{found.mean():.2f}" if len(found) else "" for found in parts]
        line += [f"{published[name]:.2f}" if name in published else ""] if about else []
        print(f"| {name} | {' | '.join(line)} |")


def comparison(data: Proximities, cells: Sequence[Cell]) -> Row:
    """Compare `KreinClassifier` with the best other method, in standard errors of the difference.

    The best method is known only after the fact, so its error is partly due to luck.
    """
    ours = by_fold(cells, "all", OURS)
    others = {name: by_fold(cells, "all", name) for name in METHODS if name != OURS}
    best = min(others, key=lambda name: others[name].mean())
    difference = ours - others[best]
    mean, error = difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))
    figure = mean / error if error > 0 else np.sign(mean) * np.inf if mean else 0.0
    note = f"{ours.mean():.2f} − {others[best].mean():.2f} = {mean:+.2f}, s.e. {error:.2f}"
    return Row(f"{data.name}: {OURS} − {best}", float(figure), "s.e.", 1.0, note=note)


def print_choices(data: Proximities, cells: Sequence[Cell]) -> None:
    """Print how often each trial was chosen, and which methods warned."""
    chosen = Counter(c.chosen for c in cells if c.problem == "all" and c.method == OURS)
    print(f"\nchosen: {'; '.join(f'{n} × {name}' for name, n in chosen.most_common())}")
    for (method, text), n in Counter((c.method, c.warned) for c in cells if c.warned).items():
        print(f"warned: {method}, {n} fits: {text}")


# --- figure -------------------------------------------------------------------------------------


def draw(cells: Sequence[Cell], file: Path) -> None:
    """Plot the mean error over ten folds against the rank, one panel per set."""
    from matplotlib.figure import Figure
    from nystrom_quality import save

    names = list(dict.fromkeys(cell.set for cell in cells))
    columns = min(4, len(names))
    lines = -(-len(names) // columns)
    figure = Figure(figsize=(3.1 * columns, 2.6 * lines + 0.6), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    looks = zip(CURVES, ("#0072b2", "#c2185b", "#009e73", "#e69f00"), "osD^", strict=True)
    styles = {name: {"color": colour, "marker": marker} for name, colour, marker in looks}
    for ax in axes[len(names) :]:
        ax.set_axis_off()
    for ax, name in zip(axes, names, strict=False):
        some = [cell for cell in cells if (cell.set, cell.repeat) == (name, 0)]
        ranks = sorted({int(c.method.split()[-1]) for c in some if c.method.split()[-1].isdigit()})
        for method in CURVES:
            errors = [np.mean(by_fold(some, "all", f"{method} {rank}")) for rank in ranks]
            ax.plot(ranks, errors, markersize=5, label=method, alpha=0.8, **styles[method])
        ax.set(xscale="log", ylim=(0, None))
        ax.set_title(name, fontsize=10)
        ax.set_xticks(ranks, [str(rank) for rank in ranks])
        ax.minorticks_off()
    figure.supxlabel("rank (SF-LSM: landmarks)", fontsize=10)
    figure.supylabel("error, %, mean of ten folds", fontsize=10)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    file.parent.mkdir(parents=True, exist_ok=True)
    save(figure, file)


def main(argv: Sequence[str] | None = None) -> list[Row]:
    parser = arguments(__doc__, ["all"])
    parser.add_argument("--csv", type=Path, help="file of all folds; those in it are not repeated")
    parser.add_argument("--figures", type=Path, help="folder for the figure")
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one core each")
    options = parser.parse_args(argv)
    sizes, jobs = (QUICK, 1) if options.quick else (Sizes(), options.jobs)
    if options.only == "all":
        options.only = ",".join(sizes.sets)
    rows, everything = [], []
    for name in chosen_parts(parser, options, sizes.sets):
        data = sizes.sets[name]()
        if data is None:
            print(f"{name} is not found (set KREIN_DATA): left out.")
            continue
        cells = measure(data, sizes, jobs, options.csv)
        print_table(data, cells, sizes)
        print_choices(data, cells)
        rows.append(comparison(data, cells))
        print(f"\n{rows[-1].line(options.quick)}", flush=True)
        everything += cells
    if options.figures and everything:
        draw(everything, options.figures / "learners_rank.png")
    report(rows, options.quick)
    return rows


if __name__ == "__main__":
    main()
