"""`Nystrom`: speed, memory, kernel evaluations and quality, against their bars.

    python benchmarks/nystrom.py [--quick] [--repeats 5] [--only speed,memory,…]

Speed is a ratio within one run: runs of both sides alternate and the best of each counts. Errors
are relative Frobenius errors, divided by the best error of their rank where the bar says so. Data
come from $KREIN_DATA or ../shared/data; what is not here is replaced (strings) or left out, and
said so. The exit code is 1 if a bar is missed, except with --quick, which only shows that it runs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from measuring import find, memory_is_known, peak_memory, seconds
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem

from krein import Nystrom
from krein.features.nystrom import BLOCK_BYTES
from krein.kernels import DeltaGaussian, EditDistance, Gaussian, Precomputed, Similarity

REGRESSION = (
    "parkinsons_updrs",
    "ailerons",
    "california_housing",
    "cpusmall",
    "kin8nm",
    "abalone",
)
RULES = ("uniform", "leverage", "kmeans++")
# core, number of landmarks for rank k among n rows; the first is the default, which has the bars
SETTINGS: tuple[tuple[str, str, Callable[[int, int], int]], ...] = (
    ("sketch", "3k", lambda k, n: 3 * k),
    ("truncated", "3k", lambda k, n: 3 * k),
    ("inverse", "3k", lambda k, n: 3 * k),
    ("inverse", "k", lambda k, n: k),
    ("inverse", "k ln n", lambda k, n: int(k * np.log(n))),
)


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure and the bar it is held against."""

    work: str
    figure: float
    unit: str
    bar: float
    at_least: bool = False
    note: str = ""

    @property
    def holds(self) -> bool:
        return self.figure >= self.bar if self.at_least else self.figure <= self.bar

    def line(self, quick: bool) -> str:
        verdict = "-" if quick else "met" if self.holds else "MISSED"
        bar = f"{'≥' if self.at_least else '≤'} {self.bar:.6g} {self.unit}"
        note = f"  ({self.note})" if self.note else ""
        return f"{self.work:<66} {self.figure:>12.6g}  {bar:<18} {verdict}{note}"


# --- data ---------------------------------------------------------------------------------------


def load(name: str, key: str = "X") -> NDArray | None:
    path = find(name)
    return None if path is None else np.load(path)[key].astype(float)


def normal(n: int, d: int) -> NDArray:
    return np.random.default_rng(0).standard_normal((n, d))


def mutated_strings(n: int) -> list[str]:
    """Splice sequences, or random ones, each with six letters put in at random places."""
    rng = np.random.default_rng(0)
    path = find("strings/splice.txt")
    if path is None:
        first = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(3000)]
    else:
        first = [line.split("\t")[2] for line in path.read_text().splitlines()]
    letters = np.array([list(first[i % len(first)]) for i in range(n)])
    places = rng.integers(60, size=(n, 6))
    letters[np.arange(n)[:, None], places] = rng.choice(list("ACGT"), size=(n, 6))
    return ["".join(row) for row in letters]


# --- speed and memory ---------------------------------------------------------------------------


def uniform_map(d: int, n_components: int, cls: type[Nystrom] = Nystrom, **options: Any) -> Nystrom:
    settings = {"landmarks": "uniform", "n_landmarks": n_components, "random_state": 0} | options
    return cls(Gaussian(sigma=np.sqrt(d)), n_components, **settings)


def speed_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """fit_transform against scikit-learn's Nystroem."""
    n, d, width = (5_000, 54, 50) if quick else (100_000, 54, 500)
    X = normal(n, d)
    ours = uniform_map(d, width)
    peer = Nystroem(n_components=width, kernel="rbf", gamma=0.5 / d, random_state=0)
    ours.fit_transform(X[:2000])
    times = [
        (seconds(lambda: peer.fit_transform(X)), seconds(lambda: ours.fit_transform(X)))
        for _ in range(repeats)
    ]
    slow, fast = (min(column) for column in zip(*times, strict=True))
    work = f"fit_transform {n} x {d} -> {width}, uniform, against Nystroem"
    yield Row(work, slow / fast, "x", 1.5, True, f"{slow:.2f} s against {fast:.2f} s")


def memory_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Memory of transform beyond its output."""
    if not memory_is_known():
        print("no RssAnon here: memory is left out.", file=sys.stderr)
        return
    block = BLOCK_BYTES / 2**20
    width = 50 if quick else 500
    for n in (2_000, 8_000) if quick else (20_000, 200_000):
        X = normal(n, 54)
        fitted = uniform_map(54, width).fit(X[:5000])
        fitted.transform(X[:1000])
        beyond = peak_memory(lambda f=fitted, X=X: f.transform(X))
        work = f"transform {n} x 54 -> {width}: memory beyond the output"
        yield Row(work, beyond, "MB", 64 + block)


class TimedChoice(Nystrom):
    """Notes the seconds that choosing landmarks takes, hashing included."""

    def _choose(self, *arguments: Any) -> Any:
        begin = time.perf_counter()
        chosen = super()._choose(*arguments)
        self.choosing_ = time.perf_counter() - begin
        return chosen


def choice_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """The share of fit_transform that choosing landmarks takes."""
    n, d, width = (5_000, 54, 50) if quick else (100_000, 54, 500)
    X = normal(n, d)
    for rule in ("leverage", "kmeans++"):
        runs = []
        for _ in range(repeats):
            features = uniform_map(d, width, TimedChoice, landmarks=rule)
            whole = seconds(lambda f=features: f.fit_transform(X))
            runs.append((whole, features.choosing_))
        whole, choosing = min(runs)
        note = f"{choosing:.2f} s of {whole:.2f} s"
        work = f"choosing {width} of {n} rows by {rule}: share of fit_transform"
        yield Row(work, 100 * choosing / whole, "%", 50, note=note)


class CountedEditDistance(EditDistance):
    """Edit distance that counts its evaluations, all instances together."""

    evaluations = 0

    def _block(self, X: Any, Y: Any) -> NDArray:
        type(self).evaluations += len(X) * len(Y)
        return super()._block(X, Y)


def string_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """A kernel of strings: evaluations counted, time against the same evaluations alone."""
    try:
        from rapidfuzz import distance, process
    except ImportError:
        print("rapidfuzz is not here: strings are left out.", file=sys.stderr)
        return
    n, rank, m = (1_000, 10, 30) if quick else (30_000, 100, 300)
    strings = mutated_strings(n)
    kernel = Similarity(CountedEditDistance(), gamma=0.1)
    features = Nystrom(kernel, rank, landmarks="uniform", n_landmarks=m, random_state=0)

    def alone() -> None:
        options = {"scorer": distance.Levenshtein.distance, "workers": 1}
        process.cdist(strings, strings[:m], **options)
        # Two lists: of one, only a triangle would be computed.
        process.cdist(strings[: 4 * m], strings[: 4 * m].copy(), **options)

    times = []
    for _ in range(repeats):
        CountedEditDistance.evaluations = 0
        times.append((seconds(alone), seconds(lambda: features.fit(strings).transform(strings))))
    bar = n * m + (4 * m) ** 2
    work = f"Levenshtein, {n} strings, {m} landmarks: kernel evaluations"
    yield Row(work, CountedEditDistance.evaluations, "", bar)
    slow, fast = (min(column) for column in zip(*times, strict=True))
    note = f"{fast:.2f} s against {slow:.2f} s"
    yield Row("the same, time over rapidfuzz alone", fast / slow, "x", 1.3, note=note)


def growth_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """The cost of fit against the number of rows (Fig. 8 of the scalable Kreĭn paper)."""
    largest, rank = (20_000, 10) if quick else (2_000_000, 100)
    sizes = np.geomspace(largest / 100, largest, 3 if quick else 5).astype(int)
    X = normal(largest, 10)
    features = Nystrom(Gaussian(sigma=np.sqrt(10)), rank, random_state=0)
    features.fit(X[:1000])
    repeats = min(repeats, 3)
    times = [min(seconds(lambda n=n: features.fit(X[:n])) for _ in range(repeats)) for n in sizes]
    exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    last = np.log(times[-1] / times[-2]) / np.log(sizes[-1] / sizes[-2])
    seen = ", ".join(f"{n:.2g}: {t:.2f} s" for n, t in zip(sizes, times, strict=True))
    work = f"fit, rank {rank}, leverage, {sizes[0]:.0e} … {largest:.0e} rows: exponent"
    yield Row(work, float(exponent), "", 1.05, note=f"{seen}; last step {last:.2f}")


# --- quality ------------------------------------------------------------------------------------


def standardised(X: NDArray, n_rows: int) -> NDArray:
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[np.random.default_rng(0).choice(len(X), min(n_rows, len(X)), replace=False)]


def best_error(K: NDArray, rank: int) -> float:
    """The relative error of the best matrix of that rank."""
    singular = np.linalg.svd(K, compute_uv=False)
    return float(np.linalg.norm(singular[rank:]) / np.linalg.norm(singular))


def errors(
    make: Callable[..., Nystrom], X: NDArray, K: NDArray, keys: int
) -> tuple[NDArray, float]:
    """Relative errors for several keys and the median seconds of a fit."""
    found, times = [], []
    for key in range(keys):
        features = make(random_state=key)
        times.append(seconds(lambda f=features: f.fit(X)))
        found.append(np.linalg.norm(features.approximate_kernel(X) - K) / np.linalg.norm(K))
    return np.array(found), float(np.median(times))


def rank_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Error against rank on the regression sets, relative to the best rank-k error."""
    n_rows, ranks, keys = (200, (10,), 1) if quick else (2000, (50, 100), 10)
    kernel = DeltaGaussian(1.0, 10.0)
    print(f"\nδ-Gaussian, {n_rows} rows, error / best rank-k error: median (worst) of {keys}, fit")
    heads = [f"{core}, {m}" for core, m, _ in SETTINGS]
    print(f"{'set':<20}{'k':>4} {'best':>7} {'landmarks':<10}" + "".join(f"{h:>24}" for h in heads))
    for name in REGRESSION[:2] if quick else REGRESSION:
        X = load(f"regression/{name}.npz")
        if X is None:
            print(f"{name} is not here (set KREIN_DATA): left out.", file=sys.stderr)
            continue
        X = standardised(X, n_rows)
        K = kernel(X)
        for k in ranks:
            best = best_error(K, k)
            for rule in RULES:
                cells = []
                for core, _, landmarks in SETTINGS:
                    m = landmarks(k, len(X))
                    make = partial(Nystrom, kernel, k, landmarks=rule, n_landmarks=m, core=core)
                    found, fit = errors(make, X, K, keys)
                    found /= best
                    median, worst = float(np.median(found)), float(found.max())
                    cells.append(f"{median:.3g} ({worst:.3g}) {fit:.2f}s")
                    if core == "sketch" and rule == "leverage":
                        default = (median, worst)
                line = f"{name:<20}{k:>4} {best:>7.4f} {rule:<10}"
                print(line + "".join(f"{cell:>24}" for cell in cells), flush=True)
            yield Row(f"{name}, rank {k}, default: median over best", default[0], "", 1.4)
            yield Row(f"{name}, rank {k}, default: worst over best", default[1], "", 1.7)


def letter_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """letter, δ-Gaussian, width 256: fitted on all rows, measured on some of them."""
    X = load("letter/letter.npz")
    if X is None:
        print("letter is not here (set KREIN_DATA): left out.", file=sys.stderr)
        return
    X = X / X.max(axis=0)
    n_fit, n_rows, width, keys = (1000, 300, 32, 1) if quick else (len(X), 2000, 256, 10)
    rows = np.random.default_rng(0).choice(n_fit, n_rows, replace=False)
    K = DeltaGaussian()(X[rows])
    found = []
    for key in range(keys):
        features = Nystrom(DeltaGaussian(), width, random_state=key).fit(X[:n_fit])
        found.append(np.linalg.norm(features.approximate_kernel(X[rows]) - K) / np.linalg.norm(K))
    note = f"{n_fit} rows, median {np.median(found):.2g}"
    yield Row(
        f"letter, δ-Gaussian, width {width}: worst error of {keys}", max(found), "", 2e-3, note=note
    )


def asymmetric_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Dissimilarities that are not symmetric, as a precomputed kernel."""
    D = load("dissimilarities/chickenpieces_20_60.npz", "D")
    if D is None:
        print("chickenpieces is not here (set KREIN_DATA): left out.", file=sys.stderr)
        return
    D = D / D.max()
    rank, keys = (20, 2) if quick else (100, 10)
    for name, K in (("exp(−2D)", np.exp(-2 * D)), ("−D²", -np.square(D))):
        best = best_error(K, rank)
        found, _ = errors(partial(Nystrom, Precomputed(symmetric=False), rank), K, K, keys)
        note = f"median {np.median(found) / best:.3g}, best {best:.3g}"
        work = f"chickenpieces, {name}, rank {rank}: worst of {keys} over best"
        yield Row(work, found.max() / best, "", 1.6, note=note)


PARTS: dict[str, Callable[[bool, int], Iterator[Row]]] = {
    "speed": speed_rows,
    "memory": memory_rows,
    "choice": choice_rows,
    "strings": string_rows,
    "growth": growth_rows,
    "rank": rank_rows,
    "letter": letter_rows,
    "asymmetric": asymmetric_rows,
}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, no verdict")
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the best counts")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas in between")
    options = parser.parse_args(argv)
    parts = options.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"--only takes {', '.join(PARTS)}; got {', '.join(sorted(unknown))}")
    repeats = 2 if options.quick else options.repeats
    rows = [row for part in parts for row in PARTS[part](options.quick, repeats)]
    print()
    for row in rows:
        print(row.line(options.quick))
    missed = [row.work for row in rows if not row.holds]
    if not options.quick:
        print("missed: " + "; ".join(missed) if missed else "all bars met")
        if missed:
            sys.exit(1)
    return rows


if __name__ == "__main__":
    main()
