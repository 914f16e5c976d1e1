"""The one-liners on ordinary tables, compared with tuned kernel machines of scikit-learn.

    python benchmarks/everyday.py [--quick] [--only regression,classification,large]
                                  [--sets kin8nm,skin] [--rows 3000] [--splits 5]
                                  [--methods krein,SVC] [--csv FILE]

Every method sees the same random training rows (at most --rows) and test rows (at most 3000). Peers
are grid searches over 7 widths × 7 penalties with 5 folds on standardised columns. Scores are the
root mean squared error in standard deviations of the target, and the error rate. A set holds if
KreinRegressor or KreinClassifier with defaults is not worse than its best peer by more than two
paired standard errors and 1 %. Times are CPU seconds. HistGradientBoosting is printed beside. xGPR
is a peer if it is installed. "large" is covtype with 50,000 rows and one split. The rules of the
one-liners were chosen on abalone, kin8nm, Friedman 1 and spambase; the other sets are for judging.
The loss by which kernels of classes are compared was chosen with a look at letter, EEG, pendigits
and usps.
xGPR tunes the width of one kernel only, so it is compared with the fastest of KreinRegressor() with
defaults, with Gaussian("median") and with Matern("median", nu=1.5) whose error is at most 1 % above
that of xGPR.

Data come from $KREIN_DATA or ../shared/data. With --csv a run continues where the last one ended;
cells in the file count also if their method is not installed.
The exit code is 1 if a bar is missed; with --quick sizes are small and no bar is checked.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from everyday_peers import BESIDE, METHODS, ONE_WIDTH, OURS
from measuring import Row, append_cells, arguments, chosen_parts, find, read_cells, report
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning

Data = tuple[NDArray, NDArray]

# Sets on which the rules of the one-liners were chosen.
CHOSEN_ON = {"abalone", "kin8nm", "friedman1", "spambase"}
MOST_TEST = 3000
# The number of training rows of "large".
LARGE = 50_000


@dataclass(frozen=True)
class Cell:
    """One fit: a method on one split of one set."""

    part: str
    name: str
    n_train: int
    split: int
    method: str
    score: float
    fit_seconds: float
    predict_seconds: float


# --- data -----------------------------------------------------------------------------------------


def _file(path: str, *keys: str) -> Callable[[], Data | None]:
    def load() -> Data | None:
        found = find(path)
        if found is None:
            return None
        data = np.load(found)
        X, y = (data[key] for key in keys)
        return X.astype(float), y

    return load


def _both(path: str) -> Callable[[], Data | None]:
    """Return a loader of the training and test rows of a file together."""

    def load() -> Data | None:
        found = find(path)
        if found is None:
            return None
        data = np.load(found)
        X, y = (np.concatenate([data[f"{k}_train"], data[f"{k}_test"]]) for k in "Xy")
        return X.astype(float), y

    return load


def _letter() -> Data | None:
    found = _file("letter/letter.npz", "X", "y")()
    return None if found is None else (found[0], found[1] >= 13)


def _covtype() -> Data | None:
    found = _file("covtype/covtype.npz", "X", "y")()
    return None if found is None else (found[0], found[1] == 2)


def _friedman(number: int, noise: float) -> Callable[[], Data]:
    make = getattr(datasets, f"make_friedman{number}")
    return lambda: make(n_samples=6000, noise=noise, random_state=0)


SETS: dict[str, dict[str, Callable[[], Data | None]]] = {
    "regression": {
        "abalone": _file("regression/abalone.npz", "X", "y"),
        "ailerons": _file("regression/ailerons.npz", "X", "y"),
        "california": _file("regression/california_housing.npz", "X", "y"),
        "cpusmall": _file("regression/cpusmall.npz", "X", "y"),
        "kin8nm": _file("regression/kin8nm.npz", "X", "y"),
        "parkinsons": _file("regression/parkinsons_updrs.npz", "X", "total_UPDRS"),
        "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
        "friedman1": _friedman(1, 1.0),
        "friedman2": _friedman(2, 125.0),
        "friedman3": _friedman(3, 0.1),
    },
    "classification": {
        "letter": _letter,
        "spambase": _file("spambase/spambase.npz", "X", "y"),
        "EEG": _file("eeg_eye_state/eeg_eye_state.npz", "X", "y"),
        "pendigits": _both("pendigits/pendigits.npz"),
        "usps": _both("usps/usps.npz"),
        "skin": _file("skin/skin.npz", "X", "y"),
    },
    "large": {"covtype": _covtype},
}


# --- runs -----------------------------------------------------------------------------------------


def _split(data: Data, n_rows: int, number: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    X, y = data
    order = np.random.default_rng(number).permutation(len(X))
    n_train = min(n_rows, int(0.7 * len(X)))
    train, test = order[:n_train], order[n_train : n_train + MOST_TEST]
    return X[train], y[train], X[test], y[test]


def _score(part: str, found: NDArray, y: NDArray) -> float:
    if part != "regression":
        return float(np.mean(found != y))
    return float(np.sqrt(np.mean(np.square(found - y))) / y.std())


def _measured(part: str, name: str, split: int, method: str, model: Any, parts: Any) -> Cell:
    X, y, new, wanted = parts
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of peers with tiny penalties
        model.fit(X, y)
    fitted = time.process_time()
    found = model.predict(new)
    end = time.process_time()
    score = _score(part, found, wanted)
    return Cell(part, name, len(X), split, method, score, fitted - begin, end - fitted)


def _cells(options: Any, parts: list[str], done: list[Cell]) -> Iterator[Cell]:
    """Yield all cells, split by split, so that an interrupted run has all sets."""
    for split in range(options.splits):
        for part in parts:
            for name, load in SETS[part].items():
                if (options.sets and name not in options.sets) or (data := load()) is None:
                    continue
                if part == "large" and split:
                    continue
                rows = LARGE if part == "large" and not options.quick else options.rows
                pieces = _split(data, rows, split)
                methods = METHODS[part](data[0].shape[1], split, options.quick)
                key = name, len(pieces[0]), split
                known = {c.method: c for c in done if (c.name, c.n_train, c.split) == key}
                for method in dict.fromkeys([*methods, *known]):
                    if options.methods and method not in options.methods:
                        continue
                    cell = known.get(method)
                    if cell is None:
                        cell = _measured(part, name, split, method, methods[method], pieces)
                        append_cells([cell], options.csv)
                        print(cell, flush=True)
                    yield cell


def _mean(cells: list[Cell], column: str) -> float:
    return float(np.mean([getattr(cell, column) for cell in cells]))


def _by_method(cells: list[Cell]) -> dict[str, list[Cell]]:
    """Return the cells of each method, with as many splits as all methods have."""
    by: dict[str, list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.split):
        by.setdefault(cell.method, []).append(cell)
    n = min(map(len, by.values()))
    return {method: found[:n] for method, found in by.items()}


def _verdict(name: str, cells: list[Cell]) -> Iterator[Row]:
    """Yield the rows of one set: excess over the best peer, time of the fit, time of prediction."""
    by = _by_method(cells)
    beside = {OURS, BESIDE, *ONE_WIDTH}
    if OURS not in by or by.keys() <= beside:  # nothing to compare
        return
    n = len(by[OURS])
    scores = {m: _mean(c, "score") for m, c in by.items()}
    peers = {m: score for m, score in scores.items() if m not in beside}
    best = min(peers, key=peers.__getitem__)
    gaps = [a.score - b.score for a, b in zip(by[OURS], by[best], strict=True)]
    error = float(np.std(gaps, ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    unit = 100 / max(peers[best], 1e-12)
    trees = f"; {BESIDE} {scores[BESIDE]:.4f}" if BESIDE in by else ""
    note = f"{scores[OURS]:.4f} against {peers[best]:.4f} of {best}, {n} splits{trees}"
    kind = "chosen on" if name in CHOSEN_ON else "judged"
    bar = max(1.0, 2 * error * unit)
    excess = float(np.mean(gaps)) * unit
    yield Row(f"{name} ({kind}): excess over the best peer", excess, "%", bar, note=note)
    searched = {m: score for m, score in peers.items() if not m.startswith("xGPR")}
    if searched:
        best = min(searched, key=searched.__getitem__)
        yield _time(name, by, OURS, best, 0.5 if cells[0].part == "large" else 2.0)
    processes = {m: score for m, score in peers.items() if m not in searched}
    if processes:
        best = min(processes, key=processes.__getitem__)
        as_good = [m for m in (OURS, *ONE_WIDTH) if scores.get(m, np.inf) <= 1.01 * scores[best]]
        fastest = min(as_good or [OURS], key=lambda m: _mean(by[m], "fit_seconds"))
        yield _time(name, by, fastest, best, 0.3)
    if "KernelRidge" in by:
        ours, theirs = (_mean(by[m], "predict_seconds") for m in (OURS, "KernelRidge"))
        note = f"{1e3 * ours:.0f} against {1e3 * theirs:.0f} CPU ms"
        yield Row(f"{name}: prediction against KernelRidge", ours / theirs, "x", 1.5, note=note)


def _time(name: str, by: dict[str, list[Cell]], mine: str, peer: str, bar: float) -> Row:
    """Return the row of the time of a fit against that of a peer, with its tuning."""
    ours, theirs = (_mean(by[method], "fit_seconds") for method in (mine, peer))
    scores = " against ".join(f"{_mean(by[method], 'score'):.4f}" for method in (mine, peer))
    note = f"{ours:.1f} against {theirs:.1f} CPU s, {by[mine][0].n_train} rows, errors {scores}"
    work = f"{name}: time of a fit of {mine} against {peer}"
    return Row(work, ours / theirs, "x", bar, note=note)


def main(argv: Sequence[str] | None = None) -> list[Row]:
    """Run the selected sets and print the table."""
    parser = arguments(__doc__, SETS)
    parser.add_argument("--rows", type=int, default=3000, help="largest number of training rows")
    parser.add_argument("--splits", type=int, default=5, help="number of random splits")
    parser.add_argument("--sets", default="", help="names of sets, with commas in between")
    parser.add_argument("--methods", default="", help="names of methods, with commas in between")
    parser.add_argument("--csv", type=Path, default=None, help="file of finished cells")
    options = parser.parse_args(argv)
    parts = chosen_parts(parser, options, SETS)
    options.methods = [name for name in options.methods.split(",") if name]
    options.sets = [name for name in options.sets.split(",") if name]
    if options.quick:
        options.rows, options.splits = min(options.rows, 80), 1
        options.sets = options.sets or ["diabetes", "skin"]
    found = list(_cells(options, parts, read_cells(Cell, options.csv)))
    names = dict.fromkeys(cell.name for cell in found)
    rows = [row for name in names for row in _verdict(name, [c for c in found if c.name == name])]
    report(rows, options.quick)
    return rows


if __name__ == "__main__":
    main()
