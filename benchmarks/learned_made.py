"""Parts of `learned.py`: made sets, time, the addition theorem and one search."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import learned_data
import numpy as np
from learned_data import Data, Sizes, drawn
from learned_maps import first_waves, machines, median_distance
from measuring import Row
from numpy.typing import NDArray
from scipy.special import eval_gegenbauer
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from spectra import Cell, Job, Known, print_table, shown, values

from krein import NotSoRandomFeatures
from krein.spectral import Momentum
from krein.spectral.potential import Potential, Problem
from krein.spherical import area, degrees, harmonics

SEEDS = 5
CONTROL = "Gaussian SVM"
# Dimensions and degrees of the addition theorem.
DEGREES = ((3, 100), (4, 24), (5, 14), (10, 5))
# Published test and train accuracy, and width.
PUBLISHED = {
    ("windmill", "T = 1000"): ("99.3", "99.7", ""),
    ("sphere", "T = 100"): ("99.1", "99.7", "29"),
}

Run = Callable[..., list[Cell]]


# --- accuracy on made sets ----------------------------------------------------------------------


def measure(job: Job, seed: int, known: Known, sizes: Sizes) -> dict[str, float]:
    """Return the accuracies of a learned map after several numbers of rounds, or of the control."""
    data = drawn(job.set, *sizes.rows, seed)
    if job.method == CONTROL:
        return {f"test C = {C:g}": control(data, C) for C in (1.0, 100.0)}
    if "sphere" in job.set:
        options = {"n_rounds": job.width, "max_degree": sizes.max_degree}
        features = NotSoRandomFeatures(domain="sphere", random_state=seed, **options)
        maps = {job.width: features.fit(data.X, data.y).atoms_}
    else:
        options = {"search": job.method, "random_state": seed}
        features = NotSoRandomFeatures(2 * job.width, **options).fit(data.X, data.y)
        rounds = [n for n in sizes.rounds if n <= job.width]
        maps = {n: first_waves(features, n) for n in rounds}
    found = {}
    for n, atoms in maps.items():
        Z, Z_test = atoms.columns(data.X), atoms.columns(data.X_test)
        model = SVC(C=1.0, kernel="linear").fit(Z, data.y)
        found[f"test {n}"] = 100 * model.score(Z_test, data.y_test)
        found[f"train {n}"] = 100 * model.score(Z, data.y)
        found[f"width {n}"] = float(atoms.width)
    return found


def control(data: Data, C: float) -> float:
    """Return the test accuracy of a Gaussian SVM; its width is chosen on held-out training rows."""
    gammas = 0.5 / median_distance(data.X) ** 2 * 4.0 ** np.arange(5)
    cut = 4 * len(data.X) // 5
    fitted = [SVC(C=C, gamma=gamma).fit(data.X[:cut], data.y[:cut]) for gamma in gammas]
    scores = [model.score(data.X[cut:], data.y[cut:]) for model in fitted]
    best = SVC(C=C, gamma=gammas[int(np.argmax(scores))]).fit(data.X, data.y)
    return 100 * best.score(data.X_test, data.y_test)


def windmill(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Measure the windmill with two searches, and the blades, where learning does not help."""
    few, many = sizes.rounds[0], sizes.rounds[-1]
    plan = [("windmill", "grid", many), ("windmill", "momentum", few), ("blades", "grid", few)]
    cells = _run_made("windmill", plan, sizes, run)
    rows = []
    for method in ("grid", "momentum"):
        some = [cell for cell in cells if (cell.set, cell.method) == ("windmill", method)]
        for part, bar in (("test", 99.2), ("train", 99.5)):
            figure = values(some, f"{part} {few}").mean()
            rows.append(Row(f"windmill, T = {few}, {method}: {part}", figure, "%", bar, True))
    return rows


def sphere(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Measure the checkerboard on the sphere, aligned with the axes and rotated."""
    n = sizes.harmonic_rounds
    plan = [("sphere", "harmonics", n), ("sphere rotated", "harmonics", n)]
    cells = _run_made("sphere", plan, sizes, run)
    aligned = [cell for cell in cells if cell.set == "sphere"]
    test, width = (values(aligned, f"{name} {n}").mean() for name in ("test", "width"))
    work = f"sphere, T = {n}"
    return [
        Row(f"{work}: test", test, "%", 99.3, True),
        Row(f"{work}: harmonics", width, "", 25),
    ]


def _run_made(
    table: str, plan: Sequence[tuple[str, str, int]], sizes: Sizes, run: Run
) -> list[Cell]:
    """Run the plan and a control for each set; print the table."""
    seeds = min(sizes.seeds, SEEDS)
    controls = [(name, CONTROL, 0) for name in dict.fromkeys(name for name, *_ in plan)]
    jobs = [Job(table, name, "", method, n, seeds) for name, method, n in [*plan, *controls]]
    cells = run(jobs, partial(measure, sizes=sizes))
    lines = []
    for name, method in dict.fromkeys((cell.set, cell.method) for cell in cells):
        some = [cell for cell in cells if (cell.set, cell.method) == (name, method)]
        for label in dict.fromkeys(c.quantity[5:] for c in some if c.quantity.startswith("test")):
            test, train, width = (
                shown(values(some, f"{part} {label}"), ".2f") for part in ("test", "train", "width")
            )
            after = label if method == CONTROL else f"T = {label}"
            published = PUBLISHED.get((name, after), ("", "", ""))
            lines.append([name, method, after, test, train, width, *published])
    heads = ["set", "method", "", "test, %", "train, %", "width"]
    heads += [f"published {part}" for part in ("test", "train", "width")]
    n, n_test = sizes.rows
    print_table(f"{table}: {n} training rows, {n_test} test rows, {seeds} seeds", heads, lines)
    return cells


# --- time ---------------------------------------------------------------------------------------


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of all threads of this process."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def measure_time(job: Job, seed: int, known: Known, sizes: Sizes) -> dict[str, float]:
    """Return the CPU seconds of a fit with its machine, and of random features with theirs."""
    made = job.set in learned_data.MADE
    data = drawn(job.set, sizes.rows[0], 1, 0) if made else learned_data.load(job.set)
    if job.method == "harmonics":
        options = {"domain": "sphere", "n_rounds": job.width, "max_degree": sizes.max_degree}
    else:
        first = NotSoRandomFeatures(2, search=job.method, random_state=seed).fit(data.X, data.y)
        options = {"n_components": 2 * job.width, "search": job.method, "band": first.band_}
    features = NotSoRandomFeatures(random_state=seed, **options)

    def ours() -> None:
        machines(features.fit(data.X, data.y).transform, data.X, data.y, [1.0])

    gamma = 0.5 / median_distance(data.X) ** 2
    sampler = RBFSampler(gamma=gamma, n_components=sizes.unit_width, random_state=seed)
    # Few steps suffice to compare times, and a warning would say that more are needed.
    other = make_pipeline(sampler, LinearSVC(C=1.0, max_iter=10_000))
    return {"ours": cpu_seconds(ours), "unit": cpu_seconds(lambda: other.fit(data.X, data.y))}


def times(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Compare fits with T = 100 with `RBFSampler` and `LinearSVC`, in CPU seconds of one thread."""
    n = sizes.harmonic_rounds
    plan = [("windmill", "grid"), ("windmill", "momentum"), ("sphere", "harmonics")]
    if "automobile/truck" in sets and learned_data.load("automobile/truck"):
        plan.append(("automobile/truck", "momentum"))
    jobs = [Job("time", name, "", method, n, min(3, sizes.seeds)) for name, method in plan]
    cells = run(jobs, partial(measure_time, sizes=sizes))
    rows = []
    for name, method in plan:
        found = {q: values(cells, q, set=name, method=method) for q in ("ours", "unit")}
        note = f"{found['ours'].min():.2f} s against {found['unit'].min():.2f} s"
        figure = float(found["ours"].min() / found["unit"].min())
        work = f"time of {name}, T = {n}, {method}, over RBFSampler + LinearSVC"
        rows.append(Row(work, figure, "x", 3, note=note))
    return rows


def search(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Compare the time of one search with the time of its matrix products alone."""
    n, d = sizes.search_shape
    cells = run([Job("search", f"{n} x {d}", "", "momentum", 24, 3)], measure_search)
    ours, alone = (values(cells, quantity).min() for quantity in ("search", "products"))
    work = f"one search, {n} x {d}, 24 starts x 30 steps, over its products"
    return [Row(work, ours / alone, "x", 2.5, note=f"{ours:.2f} s against {alone:.2f} s")]


def measure_search(job: Job, seed: int, known: Known) -> dict[str, float]:
    n, d = map(int, job.set.split(" x "))
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) / np.sqrt(d)
    problem = Problem(Potential(X), np.sign(X[:, :1]), band=float(np.sqrt(d)))
    W = rng.standard_normal((d, job.width)).astype(np.float32)
    method, rows = Momentum(n_steps=30), problem.potential.X

    def products() -> None:
        for _ in range(method.n_steps + 1):
            (rows @ W).T @ rows

    return {
        "search": cpu_seconds(lambda: method.peaks(problem, 5, job.width, rng)),
        "products": cpu_seconds(products),
    }


# --- the addition theorem -----------------------------------------------------------------------


def addition(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Compare sums of products of harmonics with the Legendre polynomials of the dimension."""
    rng = np.random.default_rng(0)
    rows = []
    for dim, degree in DEGREES:
        X = rng.standard_normal((60, dim))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        work = f"addition theorem, d = {dim}, degrees up to {degree}: relative error"
        rows.append(Row(work, addition_error(X, degree), "", 1e-11))
    return rows


def addition_error(X: NDArray, max_degree: int) -> float:
    """Return the largest error of ``Σ_j Y_ℓj(x) Y_ℓj(y)``, relative to its value at x = y."""
    dim = X.shape[1]
    Y, of = harmonics(X, max_degree), degrees(dim, max_degree)
    cosines, index = np.clip(X @ X.T, -1, 1), (dim - 2) / 2
    worst = 0.0
    for degree in range(max_degree + 1):
        some = Y[:, of == degree]
        top = some.shape[1] / area(dim)
        expected = eval_gegenbauer(degree, index, cosines) / eval_gegenbauer(degree, index, 1.0)
        worst = max(worst, float(np.abs(some @ some.T / top - expected).max()))
    return worst
