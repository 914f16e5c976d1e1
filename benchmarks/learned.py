"""Accuracy and speed of `NotSoRandomFeatures`, compared with required bars.

    python benchmarks/learned.py [--quick] [--repeats 5] [--only windmill,sphere,…]

Accuracies are means over as many seeds as --repeats says. The band is chosen by `band="auto"` on
held-out training rows, and step and C are the defaults; nothing is chosen on test rows. The final
classifier is a linear support vector machine with C = 1 on the learned features. Controls are
support vector machines with a Gaussian kernel, C = 1 and C = 100, whose width is chosen on held-out
training rows. Sets on which learning does not help are printed without a bar. The exit code is 1 if
a bar is missed. With --quick the sizes are small, and no bar is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from measuring import Row, run, seconds
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from krein import NotSoRandomFeatures
from krein.spectral import Momentum
from krein.spectral.potential import Potential, Problem

Sample = Callable[[int, np.random.Generator], tuple[NDArray, NDArray]]

# --- data ---------------------------------------------------------------------------------------


def windmill(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return rows of the square, labelled by the sign of three waves at 120°."""
    angles = 2 * np.pi * np.arange(3) / 3
    X = rng.uniform(-1, 1, (n + n // 4, 2))
    s = np.sin(18 * X @ np.stack([np.cos(angles), np.sin(angles)])).sum(axis=1)
    keep = np.flatnonzero(np.abs(s) >= 0.03)[:n]
    return X[keep], np.sign(s[keep])


def blades(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return rows of the disk, labelled by the sign of sin 8θ, a negative control."""
    radius, angle = np.sqrt(rng.random(n)), rng.uniform(0, 2 * np.pi, n)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, np.where(np.sin(8 * angle) > 0, 1.0, -1.0)


def checkerboard(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return rows of the sphere, labelled by the sign of sin 4φ sin 4θ."""
    X = rng.standard_normal((n, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    waves = np.sin(4 * np.arctan2(X[:, 1], X[:, 0])) * np.sin(4 * np.arccos(X[:, 2]))
    return X, np.where(waves > 0, 1.0, -1.0)


def rotated(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return the checkerboard in another orientation, where more harmonics are needed."""
    X, y = checkerboard(n, rng)
    turn, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))
    return X @ turn, y


# --- accuracy -----------------------------------------------------------------------------------


def accuracies(
    sample: Sample, features: NotSoRandomFeatures, quick: bool, seeds: int
) -> NDArray[np.floating]:
    """Return the means over seeds of train, test, width, and the controls with C = 1 and 100."""
    sizes = (300, 500) if quick else (2_000, 50_000)
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng((seed, 2018))
        (X, y), (X_test, y_test) = (sample(n, rng) for n in sizes)
        features.set_params(random_state=seed)
        Z, Z_test = features.fit_transform(X, y), features.transform(X_test)
        model = SVC(C=1.0, kernel="linear").fit(Z, y)
        gamma = 0.5 / np.median(pdist(X[:500])) ** 2
        widths = gamma * 4.0 ** np.arange(5)
        controls = [_best_gaussian(X, y, X_test, y_test, C, widths) for C in (1.0, 100.0)]
        scores = [model.score(Z, y), model.score(Z_test, y_test), *controls]
        found.append([*(100 * np.array(scores)), Z.shape[1]])
    return np.mean(found, axis=0)


def _best_gaussian(
    X: NDArray, y: NDArray, X_test: NDArray, y_test: NDArray, C: float, gammas: Sequence[float]
) -> float:
    """Return the test accuracy of the width that is best on the last fifth of the training rows."""
    cut = 4 * len(X) // 5
    scores = [SVC(C=C, gamma=g).fit(X[:cut], y[:cut]).score(X[cut:], y[cut:]) for g in gammas]
    best = gammas[int(np.argmax(scores))]
    return SVC(C=C, gamma=best).fit(X, y).score(X_test, y_test)


def accuracy_rows(name: str, figures: NDArray, bars: tuple[float, float]) -> Iterator[Row]:
    """Yield the rows of test and train accuracy."""
    train, test, low, high, width = figures
    note = f"width {width:.4g}; Gaussian SVM {low:.2f} (C = 1), {high:.2f} (C = 100)"
    yield Row(f"{name}: test accuracy", test, "%", bars[0], True, note)
    yield Row(f"{name}: train accuracy", train, "%", bars[1], True)


def print_control(name: str, figures: NDArray) -> None:
    """Print the accuracies on a set on which learning does not help."""
    train, test, low, high, width = figures
    print(
        f"control, {name}: test {test:.2f} %, train {train:.2f} %, width {width:.4g}; Gaussian SVM "
        f"{low:.2f} (C = 1), {high:.2f} (C = 100)"
    )


def windmill_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Measure the windmill with two searches, and the blades, where learning does not help."""
    width = 40 if quick else 600
    for search in ("grid", "momentum"):
        features = NotSoRandomFeatures(width, search=search)
        figures = accuracies(windmill, features, quick, repeats)
        yield from accuracy_rows(f"windmill, T = {width // 2}, {search}", figures, (99.2, 99.5))
    features = NotSoRandomFeatures(width, search="grid")
    print_control(f"blades, T = {width // 2}", accuracies(blades, features, quick, repeats))


def sphere_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Measure the checkerboard on the sphere, aligned with the axes and rotated."""
    degree = 12 if quick else "auto"
    features = NotSoRandomFeatures(domain="sphere", n_rounds=100, max_degree=degree)
    figures = accuracies(checkerboard, features, quick, repeats)
    yield from accuracy_rows("sphere, T = 100", figures, (99.3, 99.0))
    yield Row("sphere, T = 100: harmonics", figures[-1], "", 25)
    print_control("sphere rotated, T = 100", accuracies(rotated, features, quick, repeats))


# --- speed --------------------------------------------------------------------------------------


def search_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Compare the time of one search with the time of its matrix products alone."""
    n, d = (1_000, 64) if quick else (10_000, 512)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) / np.sqrt(d)
    problem = Problem(Potential(X), np.sign(X[:, :1]), band=float(np.sqrt(d)))
    W = rng.standard_normal((d, 24)).astype(np.float32)
    search, rows = Momentum(n_steps=30), problem.potential.X

    def products() -> None:
        for _ in range(search.n_steps + 1):
            (rows @ W).T @ rows

    times = [
        (seconds(lambda: search.peaks(problem, 5, 24, rng)), seconds(products))
        for _ in range(repeats)
    ]
    ours, alone = (min(column) for column in zip(*times, strict=True))
    work = f"one search, {n} x {d}, 24 starts x 30 steps, over its products"
    yield Row(work, ours / alone, "x", 2.5, note=f"{ours:.2f} s against {alone:.2f} s")


PARTS: dict[str, Callable[[bool, int], Iterator[Row]]] = {
    "windmill": windmill_rows,
    "sphere": sphere_rows,
    "search": search_rows,
}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    return run(__doc__, PARTS, 5, argv)


if __name__ == "__main__":
    main()
