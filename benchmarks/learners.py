"""Speed and memory of the learners, compared with required bars.

    python benchmarks/learners.py [--quick] [--only svc,cv,ridge,memmap,strings,threads]
                                   [--repeats 3]

Speed is the ratio of two times in one run. Runs of krein and of its peer alternate, and the fastest
run of each counts. The grid search of "cv" and the largest memory map run once. Data come from
$KREIN_DATA or ../shared/data. The exit code is 1 if a bar is missed. With --quick the sizes are
small, and no bar is checked.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

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
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from krein import (
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    Nystrom,
    RandomFourier,
    SimilarityFeatures,
)
from krein.kernels import DeltaGaussian, EditDistance, Gaussian, Similarity


def ijcnn1(n: int | None) -> tuple[NDArray, NDArray] | None:
    path = find("ijcnn1/ijcnn1.npz")
    if path is None:
        print("ijcnn1 is not found (set KREIN_DATA): left out.", file=sys.stderr)
        return None
    data = np.load(path)
    return data["X_train"][:n], data["y_train"][:n].astype(float)


def best_of(repeats: int, *works: Callable[[], object]) -> list[float]:
    """Return the fastest time of each work; the runs alternate."""
    times = [[seconds(work) for work in works] for _ in range(repeats)]
    return [min(column) for column in zip(*times, strict=True)]


def svc_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Compare KreinSVC with LinearSVC on the same features, including the time of the features."""
    found = ijcnn1(3000 if quick else None)
    if found is None:
        return
    X, y = found
    width = 64 if quick else 1408
    features = RandomFourier(Gaussian(1.0), width, random_state=0)
    Z = features.fit_transform(X)
    for C in (1, 10, 100):
        alpha = 1 / (2 * C * len(y))
        ours = KreinSVC(features=features, alpha=alpha, fit_intercept=False, tol=1e-5)
        peer = make_pipeline(
            features, LinearSVC(C=C, loss="squared_hinge", fit_intercept=False, random_state=0)
        )
        slow, fast = best_of(
            1 if quick else min(repeats, 2), lambda p=peer: p.fit(X, y), lambda o=ours: o.fit(X, y)
        )

        def objective(w: NDArray, alpha: float = alpha) -> float:
            return float(np.mean(np.maximum(0, 1 - y * (Z @ w)) ** 2) + alpha * (w @ w))

        mine, theirs = objective(ours.coef_), objective(peer[-1].coef_[0])
        work = f"KreinSVC against LinearSVC, {len(y)} x {width}, C = {C}"
        note = f"{slow:.2f} s against {fast:.2f} s, {ours.n_iter_} steps"
        yield Row(work, slow / fast, "x", 5 if C == 100 else 3, True, note)
        note = f"{mine:.8g} against {theirs:.8g}"
        yield Row(
            "  objective: relative excess over LinearSVC", mine / theirs - 1, "", 1e-4, note=note
        )


def cv_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Compare a grid of penalties in one pass with a grid search that fits at every point."""
    found = ijcnn1(2000 if quick else None)
    if found is None:
        return
    X, y = found
    width, n = (32, 3) if quick else (512, 9)
    features = RandomFourier(DeltaGaussian(1.0, 10.0), width, random_state=0)
    alphas = np.geomspace(1e-8, 1, n)
    folds = KFold(5, shuffle=True, random_state=0)
    ours = KreinRidge(features=features, alphas=alphas, alphas_neg=alphas, cv=folds)
    grid = {"alpha": alphas.tolist(), "alpha_neg": alphas.tolist()}
    peer = GridSearchCV(
        KreinRidge(features=features), grid, cv=folds, scoring="neg_mean_squared_error"
    )
    fast = min(seconds(lambda: ours.fit(X, y)) for _ in range(repeats))
    slow = seconds(lambda: peer.fit(X, y))
    same = (peer.best_params_["alpha"], peer.best_params_["alpha_neg"])
    mine = (float(ours.alpha_), float(ours.alpha_neg_))
    note = f"{slow:.1f} s against {fast:.2f} s; both chose {mine}" if same == mine else f"{same}"
    work = f"KreinRidge alpha='cv', {n} x {n} grid, 5 folds, {len(y)} x {width}, against a search"
    yield Row(work, slow / fast, "x", 30, True, note)


def ridge_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Compare time and memory of KreinRidge on many rows with a pipeline of scikit-learn."""
    n, d, width = (5_000, 54, 64) if quick else (200_000, 54, 1024)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n)
    features = RandomFourier(Gaussian(np.sqrt(d)), width, random_state=0)
    ours = KreinRidge(features=features, alpha=1e-3)
    peer = make_pipeline(
        RBFSampler(gamma=0.5 / d, n_components=width, random_state=0),
        Ridge(alpha=1e-3 * n, solver="cholesky"),
    )
    ours.fit(X[:3000], y[:3000])
    single = X.astype(np.float32)
    ours.fit(single[:3000], y[:3000])
    slow, fast, faster = best_of(
        repeats,
        lambda: peer.fit(X, y),
        lambda: ours.fit(X, y),
        lambda: ours.fit(single, y),
    )
    work = f"KreinRidge, {n} x {d} -> {width}, against RBFSampler and Ridge"
    yield Row(work, slow / fast, "x", 4, True, f"{slow:.2f} s against {fast:.2f} s")
    work = "  the same on float32 rows, against the float64 peer"
    yield Row(work, slow / faster, "x", 6, True, f"{slow:.2f} s against {faster:.2f} s")
    if memory_is_known():
        mine = peak_memory(lambda: ours.fit(X, y))
        theirs = peak_memory(lambda: peer.fit(X, y))
        note = f"{mine:.0f} MB against {theirs:.0f} MB"
        yield Row("  peak memory over scikit-learn's", mine / theirs, "", 0.2, note=note)


def memmap_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Measure the peak and the growth of memory on a memory map of many rows."""
    largest, d, width = (20_000, 22, 64) if quick else (2_000_000, 22, 512)
    sizes = np.geomspace(largest / 10, largest, 3).astype(int)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        X = np.lib.format.open_memmap(path, "w+", dtype=np.float32, shape=(largest, d))
        for start in range(0, largest, 100_000):
            block = X[start : start + 100_000]
            block[...] = rng.standard_normal(block.shape, dtype=np.float32)
        y = np.sin(np.asarray(X[:, 0]))
        X.flush()
        mapped = np.load(path, mmap_mode="r")
        features = RandomFourier(Gaussian(np.sqrt(d)), width, random_state=0)
        model = KreinRidge(features=features, alpha=1e-4)
        model.fit(mapped[:1000], y[:1000])
        if memory_is_known():
            peak = peak_memory(lambda: model.fit(mapped, y))
            work = f"fit on a {largest} x {d} float32 memory map, {width} features: peak"
            yield Row(work, peak, "MB", 800)
        times = [
            min(seconds(lambda n=n: model.fit(mapped[:n], y[:n])) for _ in range(2)) for n in sizes
        ]
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    seen = ", ".join(f"{n}: {t:.2f} s" for n, t in zip(sizes, times, strict=True))
    yield Row("  time against rows: exponent", exponent, "", 1.05, note=seen)


def string_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Compare landmarks with the whole kernel matrix on strings, including the kernel values."""
    path = find("strings/splice.txt")
    if path is None:
        print("splice is not found (set KREIN_DATA): left out.", file=sys.stderr)
        return
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    labels, texts = np.array([line[0] for line in lines]), np.array([line[2] for line in lines])
    n, m, used, candidates = (250, 40, 400, 5) if quick else (2200, 300, len(lines), 9)
    kernel = Similarity(EditDistance(n_jobs=-1), gamma=0.03)
    ours = make_pipeline(
        SimilarityFeatures(kernel, m, landmarks="supervised", scale=True, random_state=0),
        KreinRidgeClassifier(
            features=Nystrom(Gaussian(), m, n_landmarks=m, landmarks="uniform", core="truncated"),
            alphas=np.geomspace(1e-6, 1e-2, candidates),
            criterion="squared_error",
            random_state=0,
        ),
    )
    scores: dict[str, list[float]] = {"ours": [], "peer": []}

    def landmarks() -> None:
        said = ours.fit(strings[:n], y[:n]).predict(strings[n:])
        scores["ours"].append(float(np.mean(said == y[n:])))

    def everything() -> None:
        K = kernel(strings[:n])
        grid = {"C": np.geomspace(0.1, 1000, candidates)}
        search = GridSearchCV(SVC(kernel="precomputed"), grid, cv=5).fit(K, y[:n])
        said = search.predict(kernel(strings[n:], strings[:n]))
        scores["peer"].append(float(np.mean(said == y[n:])))

    times = []
    # The accuracy on one test set of 990 strings varies by a point, so several divisions are used.
    for seed in range(2 if quick else 10):
        order = np.random.default_rng(seed).permutation(len(lines))[:used]
        y, strings = labels[order], texts[order].tolist()
        times.append((seconds(everything), seconds(landmarks)))
    slow, fast = np.min(times, axis=0)
    work = f"splice, {n} strings, {m} landmarks: time over a grid search of SVC on the matrix"
    yield Row(work, fast / slow, "x", 0.2, note=f"{fast:.2f} s against {slow:.2f} s")
    lost = 100 * (np.array(scores["peer"]) - np.array(scores["ours"]))
    note = f"mean of {len(lost)} divisions, {np.mean(scores['ours']):.4f} against "
    note += f"{np.mean(scores['peer']):.4f}; each: {', '.join(f'{points:.1f}' for points in lost)}"
    yield Row("  accuracy: points below the grid search", float(lost.mean()), "", 1.0, note=note)


SMALL = """
import sys, time
import numpy as np
from krein import KreinClassifier
X = np.random.default_rng(0).standard_normal((int(sys.argv[1]), 3))
y = np.hypot(*X[:, :2].T) > 1
KreinClassifier(max_seconds=1e-9, random_state=0).fit(X, y)  # imports and compiles
begin = time.process_time()
KreinClassifier(random_state=0).fit(X, y)
print(time.process_time() - begin)
"""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def cpu_seconds(n: int, one_thread: bool) -> float:
    """Return the CPU seconds of a small fit in a new process with one BLAS thread or with all."""
    env = {name: value for name, value in os.environ.items() if name not in THREADS}
    env |= dict.fromkeys(THREADS, "1") if one_thread else {}
    command = [sys.executable, "-c", SMALL, str(n)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    return float(done.stdout)


def thread_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Check that a small fit does not take more CPU time with many threads than with one."""
    n = 40 if quick else 150
    times = [(cpu_seconds(n, True), cpu_seconds(n, False)) for _ in range(1 if quick else repeats)]
    one, several = np.min(times, axis=0)
    work = f"KreinClassifier, {n} x 3: CPU seconds with threads over without"
    yield Row(work, several / one, "x", 1.3, note=f"{several:.2f} s against {one:.2f} s")


PARTS: dict[str, Callable[[bool, int], Iterator[Row]]] = {
    "svc": svc_rows,
    "cv": cv_rows,
    "ridge": ridge_rows,
    "memmap": memmap_rows,
    "strings": string_rows,
    "threads": thread_rows,
}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    return run(__doc__, PARTS, 3, argv)


if __name__ == "__main__":
    main()
