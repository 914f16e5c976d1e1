"""Speed, memory and kernel evaluations of `Nystrom`, compared with required bars.

    python benchmarks/nystrom.py [--quick] [--repeats 5] [--only speed,memory,…]

Speed is the ratio of two times in one run. Runs of krein and of its peer alternate, and the fastest
run of each counts. Strings come from $KREIN_DATA or ../shared/data; without the file, random
strings are used. The exit code is 1 if a bar is missed. With --quick the sizes are small, and no
bar is checked. nystrom_quality.py measures the errors of `Nystrom`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from measuring import (
    Row,
    find,
    memory_is_known,
    peak_memory,
    run,
    seconds,
)
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem

from krein import Nystrom
from krein._blocks import BLOCK_BYTES
from krein.features.landmarks import RULES, LandmarkRule
from krein.kernels import DeltaGaussian, EditDistance, Gaussian, Similarity

# --- data ---------------------------------------------------------------------------------------


def normal(n: int, d: int) -> NDArray:
    return np.random.default_rng(0).standard_normal((n, d))


def mutated_strings(n: int) -> list[str]:
    """Return splice or random sequences, each with six letters inserted at random positions."""
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
    """Compare the time of fit_transform with that of scikit-learn's Nystroem."""
    n, d, width = (5_000, 54, 50) if quick else (100_000, 54, 500)
    X = normal(n, d)
    ours = uniform_map(d, width)
    peer = Nystroem(n_components=width, kernel="rbf", gamma=0.5 / d, random_state=0)
    ours.fit_transform(X[:2000])
    times = [
        (seconds(lambda: peer.fit_transform(X)), seconds(lambda: ours.fit_transform(X)))
        for _ in range(repeats if quick else max(repeats, 12))  # runs of a second are noisy
    ]
    slow, fast = (min(column) for column in zip(*times, strict=True))
    work = f"fit_transform {n} x {d} -> {width}, uniform, against Nystroem"
    yield Row(work, slow / fast, "x", 1.5, True, f"{slow:.2f} s against {fast:.2f} s")


def memory_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Measure the memory of transform beyond its output."""
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


class TimedRule(LandmarkRule):
    """A landmark rule that records the seconds of choosing landmarks, including hashing."""

    def __init__(self, rule: str):
        self.rule = rule

    def choose(self, source: Any, n: int, draws: Any) -> Any:
        chosen = RULES[self.rule]().choose(source, n, draws)
        self.end = time.perf_counter()
        return chosen


def choice_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Measure the share of the time of fit_transform that is spent on choosing landmarks."""
    n, d, width = (5_000, 54, 50) if quick else (100_000, 54, 500)
    X = normal(n, d)
    for rule, bar in (("leverage", 50), ("residual", 60), ("kmeans++", 50)):
        runs = []
        for _ in range(repeats):
            timed = TimedRule(rule)
            features = uniform_map(d, width, landmarks=timed)
            begin = time.perf_counter()
            features.fit_transform(X)
            runs.append((time.perf_counter() - begin, timed.end - begin))
        whole, choosing = min(runs)
        note = f"{choosing:.2f} s of {whole:.2f} s"
        work = f"choosing {width} of {n} rows by {rule}: share of fit_transform"
        yield Row(work, 100 * choosing / whole, "%", bar, note=note)


def wide_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Compare the time of a fit of large rank with that of one eigendecomposition."""
    n, rank, size = (2_000, 50, 200) if quick else (20_000, 1000, 2000)
    X = normal(n, 8)
    A = normal(size, size)
    A = A + A.T
    for kernel in (Gaussian(2.0), DeltaGaussian(1.0, 10.0)):
        features = Nystrom(kernel, rank, random_state=0)
        times = [
            (seconds(lambda: np.linalg.eigh(A)), seconds(lambda f=features: f.fit(X)))
            for _ in range(min(repeats, 3))
        ]
        peer, ours = (min(column) for column in zip(*times, strict=True))
        work = f"fit {n} x 8, {type(kernel).__name__}, rank {rank}, over eigh of {size} x {size}"
        yield Row(work, ours / peer, "x", 5, note=f"{ours:.2f} s against {peer:.2f} s")


class CountedEditDistance(EditDistance):
    """Edit distance that counts its evaluations over all instances."""

    evaluations = 0

    def _block(self, X: Any, Y: Any) -> NDArray:
        type(self).evaluations += len(X) * len(Y)
        return super()._block(X, Y)


def string_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Count the evaluations of a string kernel, and compare the time with evaluations alone."""
    try:
        from rapidfuzz import distance, process
    except ImportError:
        print("rapidfuzz is not installed: strings are left out.", file=sys.stderr)
        return
    n, rank, m = (1_000, 70, 200) if quick else (30_000, 100, 300)
    strings = mutated_strings(n)
    kernel = Similarity(CountedEditDistance(), gamma=0.1)
    features = Nystrom(kernel, rank, landmarks="uniform", n_landmarks=m, random_state=0)

    def alone() -> None:
        options = {"scorer": distance.Levenshtein.distance, "workers": 1}
        process.cdist(strings, strings[:m], **options)
        # With a single list, rapidfuzz would compute only one triangle.
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
    """Measure the time of fit for several numbers of rows (Fig. 8, scalable Kreĭn paper)."""
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
    work = f"fit, rank {rank}, {sizes[0]:.0e} … {largest:.0e} rows: exponent"
    yield Row(work, float(exponent), "", 1.05, note=f"{seen}; last step {last:.2f}")


PARTS: dict[str, Callable[[bool, int], Iterator[Row]]] = {
    "speed": speed_rows,
    "memory": memory_rows,
    "choice": choice_rows,
    "wide": wide_rows,
    "strings": string_rows,
    "growth": growth_rows,
}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    return run(__doc__, PARTS, 5, argv)


if __name__ == "__main__":
    main()
