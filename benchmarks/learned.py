"""Learned spectra (Bullins, Zhang and Zhang, ICLR 2018), beside the paper's and other features.

    python benchmarks/learned.py [--quick] [--only windmill,images,…] [--sets 4/9,…] [--seeds 10]
                                 [--csv FILE] [--figures FOLDER] [--jobs 2]

"windmill" and "sphere" are the made sets of the paper, each with a negative control, the blades and
the rotated sphere. "images" is CIFAR-10 automobile/truck on 512 histograms of gradients. "digits"
is MNIST 4/9 and 3/5 on pixels with up to 500 columns, and "wide" the same with up to 5000. "users"
compares `NotSoRandomClassifier` with a tuned Gaussian SVM on letter, ijcnn1 and spambase. "time"
measures the CPU seconds of fits with 100 frequencies, "addition" the addition theorem of the
harmonics, and "search" one search for peaks.

The band of learned frequencies is chosen by `band="auto"` on held-out training rows; step and C of
the game are the defaults. The machine on top is a linear SVM of the hinge. Its C is 1 on made sets,
as in the paper. On images and digits C and the bandwidth of random features are chosen on held-out
training rows of the first seed, for each set, map and width. Nothing is chosen on test rows. A
narrow learned map is the beginning of a wide one, so one game serves several widths. Values that
the paper shows in a picture only are left blank.

The exit code is 1 if a bar is missed. With --quick the sizes are small, no file is needed and no
bar is checked. With --csv the file stores every measurement, and a later run continues from it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import binary
import learned_data
import numpy as np
import nystrom_quality
import spectra
from learned_data import IMAGES, QUICK, USERS, Data, Sizes
from learned_made import SEEDS, addition, search, sphere, times, windmill
from learned_maps import LKRF, MAPS, OURS, RBF, choose, machines, median_distance, widths_of
from measuring import Row
from sklearn.svm import SVC
from spectra import Cell, Job, Known, print_table, shown, values

from krein import NotSoRandomClassifier, NotSoRandomFeatures
from krein.plots import plot_harmonics, plot_rounds, pyplot

# The set of "images" has few seeds; the others are sets of "digits".
IMAGE = "automobile/truck"
# Rows on which the Gaussian SVM is tuned, and its grid; bandwidths are multiples of the median.
TUNE_ROWS = 4_000
SVM_CS, SVM_BANDWIDTHS = (1.0, 10.0, 100.0), (0.125, 0.25, 0.5, 1.0, 2.0)
TUNED = "tuned Gaussian SVM"

Groups = Sequence[Sequence[int]]
Run = Callable[..., list[Cell]]


# --- images and digits --------------------------------------------------------------------------


def measure(job: Job, seed: int, known: Known, groups: Groups) -> dict[str, float]:
    """Return the accuracies of a map at all widths of the group that ends at the job's width."""
    widths = next(group for group in groups if group[-1] == job.width)
    data, kind = learned_data.load(job.set), MAPS[job.method]
    if (0, f"C {widths[0]}") in known:
        chosen = {w: (known[0, f"bandwidth {w}"], known[0, f"C {w}"]) for w in widths}
    else:
        chosen = choose(kind, data, widths)
    bandwidths = {width: bandwidth for width, (bandwidth, _) in chosen.items()}
    found = {}
    for width, transform in widths_of(kind, data.X, data.y, widths, bandwidths, seed).items():
        (machine,) = machines(transform, data.X, data.y, [chosen[width][1]])
        found[f"test {width}"] = machine.accuracy(data.X_test, data.y_test)
        found[f"train {width}"] = machine.accuracy(data.X, data.y)
        found[f"bandwidth {width}"], found[f"C {width}"] = chosen[width]
    return found


def run_maps(
    table: str, sets: Sequence[str], plan: Sequence[tuple[Sequence[int], str]], run: Run, seeds: int
) -> list[Cell]:
    """Measure groups of widths of maps in the order of the plan; print a line for each width."""
    groups = list(dict.fromkeys(group for group, _ in plan))
    jobs = [
        Job(table, name, "", method, group[-1], spectra.seeds_of(group[-1], dim_of(name), seeds))
        for group, method in plan
        for name in present(sets)
    ]
    cells = run(jobs, partial(measure, groups=groups))
    one_width = unrolled(cells)
    lines = []
    for name in dict.fromkeys(cell.set for cell in cells):
        for width in (width for group in groups for width in group):
            for method in MAPS:
                where = {"set": name, "method": method, "width": width}
                quantities = ("test", "train", "bandwidth", "C")
                test, train, scale, C = (values(one_width, q, **where) for q in quantities)
                if len(test):
                    line = [name, f"{width}", method, shown(test, ".2f"), shown(train, ".2f")]
                    chosen = f"{scale[0]:g}" if len(MAPS[method].bandwidths) > 1 else ""
                    lines.append([*line, f"{C[0]:g}", chosen, f"{len(test)}"])
    heads = ["set", "width", "map", "test, %", "train, %", "C", "bandwidth / median", "seeds"]
    if lines:
        print_table(f"{table} (published: a picture)", heads, lines)
    return cells


def unrolled(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of several widths, such as "test 50" of a map of 500, as cells of one."""
    found = []
    for cell in cells:
        quantity, _, width = cell.quantity.partition(" ")
        if width.isdigit():
            found.append(replace(cell, quantity=quantity, width=int(width)))
    return found


def dim_of(name: str) -> int:
    return learned_data.load(name).X.shape[1]


def present(sets: Sequence[str]) -> list[str]:
    """Return the sets that have a file."""
    found = [name for name in sets if learned_data.load(name) is not None]
    for name in set(sets) - set(found):
        print(f"{name} is not found (set KREIN_DATA): left out.")
    return found


def images(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Compare few learned frequencies with many random ones, seed by seed."""
    some = [name for name in sets if name in (IMAGE, binary.MADE)]
    # No map of the game has as many columns as the widest random ones.
    plan = [
        (group, method)
        for group in sizes.image_widths
        for method in (OURS, RBF, LKRF)
        if method != OURS or group == sizes.image_widths[0]
    ]
    cells = run_maps("images", some, plan, run, min(sizes.seeds, SEEDS))
    if not cells:
        return []
    few, many = sizes.image_widths[0]
    widest = sizes.image_widths[-1][-1]
    ours = {width: values(cells, f"test {width}", method=OURS) for width in (few, many)}
    rows = [Row(f"images, T = {few // 2}: test", ours[few].mean(), "%", 85.0, True)]
    fall = ours[many].mean() - ours[few].mean()
    rows.append(Row(f"images, T = {many // 2} − T = {few // 2}: test", fall, "", -0.5, True))
    for method in (RBF, LKRF):
        difference, note = paired(ours[few], values(cells, f"test {widest}", method=method))
        work = f"images, {few} columns, {OURS} − {widest} columns, {method}"
        rows.append(Row(work, difference, "", 0.0, True, note))
    return rows


def paired(ours: np.ndarray, other: np.ndarray) -> tuple[float, str]:
    """Return the mean difference over the seeds that both have, with its standard error."""
    n = min(len(ours), len(other))
    difference = ours[:n] - other[:n]
    if n == 1:
        return float(difference[0]), "1 seed"
    error = difference.std(ddof=1) / np.sqrt(n)
    return float(difference.mean()), f"{n} seeds, s.e. {error:.2f}"


def digit_sets(sets: Sequence[str]) -> list[str]:
    return [name for name in sets if name in (*IMAGES, binary.MADE) and name != IMAGE]


def wide(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Compare learned and random frequencies at widths at which the game takes long."""
    plan = [(sizes.wide_widths, method) for method in MAPS]
    run_maps("wide", digit_sets(sets), plan, run, sizes.seeds)
    return []


def digits(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Compare learned and random frequencies at equal width."""
    some = digit_sets(sets)
    plan = [(sizes.digit_widths, method) for method in MAPS]
    cells = run_maps("digits", some, plan, run, sizes.seeds)
    rows = []
    for name in dict.fromkeys(cell.set for cell in cells):
        leads = {}
        for width in sizes.digit_widths:
            found = [values(cells, f"test {width}", set=name, method=m) for m in (OURS, RBF)]
            leads[width] = paired(*found)[0]
        note = ", ".join(f"{width}: {lead:+.2f}" for width, lead in leads.items())
        work = f"digits {name}, up to {max(leads)} columns: least lead over {RBF}"
        rows.append(Row(work, min(leads.values()), "", 0.0, True, note))
    return rows


# --- what a user has ----------------------------------------------------------------------------


def tuned(data: Data, options: dict[str, Any]) -> SVC:
    """Return a Gaussian SVM; bandwidth and C are chosen on held-out rows of a sub-sample."""
    order = np.random.default_rng(0).permutation(len(data.X))[:TUNE_ROWS]
    held, train = np.split(order, [len(order) // 5])
    typical = median_distance(data.X[order])
    grid = [
        SVC(C=C, gamma=0.5 / (scale * typical) ** 2) for C in SVM_CS for scale in SVM_BANDWIDTHS
    ]
    fitted = [model.fit(data.X[train], data.y[train]) for model in grid]
    scores = [model.score(data.X[held], data.y[held]) for model in fitted]
    return grid[int(np.argmax(scores))].fit(data.X, data.y)


def default(data: Data, options: dict[str, Any]) -> NotSoRandomClassifier:
    """Return `NotSoRandomClassifier` with its defaults; with --quick the map is narrow."""
    return NotSoRandomClassifier(random_state=0, **options).fit(data.X, data.y)


USER_METHODS = {"NotSoRandomClassifier": default, TUNED: tuned}


def measure_user(job: Job, seed: int, known: Known, sizes: Sizes) -> dict[str, float]:
    data = learned_data.load(job.set)
    begin = time.process_time()
    model = USER_METHODS[job.method](data, sizes.user_options)
    seconds = time.process_time() - begin
    return {
        "test": 100 * model.score(data.X_test, data.y_test),
        "train": 100 * model.score(data.X, data.y),
        "CPU seconds": seconds,
    }


def users(sizes: Sizes, sets: Sequence[str], run: Run) -> list[Row]:
    """Compare the defaults with a tuned Gaussian SVM; whatever the table says, there is no bar."""
    some = present([name for name in sets if name in (*USERS, binary.MADE)])
    jobs = [Job("users", name, "", method, 0, 1) for name in some for method in USER_METHODS]
    cells = run(jobs, partial(measure_user, sizes=sizes))
    lines = []
    for name in some:
        for method in USER_METHODS:
            where = {"set": name, "method": method}
            quantities = ("test", "train", "CPU seconds")
            found = [shown(values(cells, quantity, **where), ".2f") for quantity in quantities]
            lines.append([name, method, *found])
    if lines:
        print_table("users", ["set", "method", "test, %", "train, %", "CPU seconds"], lines)
    return []


# --- the program --------------------------------------------------------------------------------

PARTS = {
    "windmill": windmill,
    "sphere": sphere,
    "images": images,
    "digits": digits,
    "wide": wide,
    "users": users,
    "time": times,
    "addition": addition,
    "search": search,
}


def draw(cells: Sequence[Cell], folder: Path) -> None:
    """Draw what is learned on the windmill and on the sphere, and accuracy against width."""
    folder.mkdir(parents=True, exist_ok=True)
    if rounds := [cell.width for cell in cells if cell.set == "windmill"]:
        draw_rounds(folder / "learned_rounds.png", max(rounds))
    if rounds := [cell.width for cell in cells if cell.set == "sphere"]:
        draw_harmonics(folder / "learned_harmonics.png", max(rounds))
    if some := [cell for cell in unrolled(cells) if cell.table in ("digits", "wide")]:
        spectra.draw(some, "test", "accuracy, %", folder / "learned_digits.png")


def draw_rounds(file: Path, most: int) -> None:
    rounds = [n for n in (1, 10, 100, 300) if n <= most]
    data = learned_data.drawn("windmill", min(2_000, 20 * most), 1, 0)
    features = NotSoRandomFeatures(2 * rounds[-1], search="grid", random_state=0)
    axes = plot_rounds(features.fit(data.X, data.y), data.X, data.y, rounds)
    _save(axes[0, 0].figure, file)


def draw_harmonics(file: Path, n_rounds: int) -> None:
    data = learned_data.drawn("sphere", 2_000, 1, 0)
    features = NotSoRandomFeatures(domain="sphere", n_rounds=n_rounds, random_state=0)
    axes = plot_harmonics(features.fit(data.X, data.y), data.X, data.y)
    _save(axes[0].figure, file)


def _save(figure: Any, file: Path) -> None:
    nystrom_quality.save(figure, file)
    pyplot().close(figure)


def main(argv: Sequence[str] | None = None) -> list[Row]:
    return spectra.main(__doc__, PARTS, QUICK, Sizes(), draw, argv, (*IMAGES, *USERS, binary.MADE))


if __name__ == "__main__":
    main()
