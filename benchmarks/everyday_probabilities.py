"""How sure the learners are: log-loss and time of probabilities, coverage of intervals.

    python benchmarks/everyday_probabilities.py [--quick] [--only probabilities,intervals,automatic]
        [--repeats 5] [--cells FILE]

"probabilities" compares the log-loss of `predict_proba` with that of scikit-learn's
`CalibratedClassifierCV` around the same learner, by a sigmoid and by isotonic regression, on the
same random splits and the same five folds. The difference may be at most two paired standard errors
and one per cent. "intervals" measures the share of new targets in the intervals of `KreinRidge`,
and "automatic" that of `KreinRegressor` on 500 rows: it may differ from the nominal 90 % by two
points or two standard errors. Times are CPU seconds of one BLAS thread. --cells names a .csv file
from which a later run continues. Data come from $KREIN_DATA or ../shared/data; sets without a file
are left out. The exit code is 1 if a bar is missed. With --quick the sizes are small, and no bar is
checked.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Row, append_cells, load, read_cells, run
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from krein import KreinRegressor, KreinRidge, KreinRidgeClassifier, KreinSVC

Data = tuple[NDArray, NDArray]
WIDTH = 200
COVERAGE = 0.9


@dataclass(frozen=True)
class Cell:
    """One figure of one split."""

    part: str
    data: str
    learner: str
    split: int
    figure: str
    value: float


def from_file(name: str, x: str = "X", y: str = "y") -> Data | None:
    X = load(name, x)
    return None if X is None else (X, load(name, y))


def letters() -> Data | None:
    found = from_file("letter/letter.npz")
    return None if found is None else (found[0], found[1] > 12)


def eeg() -> Data | None:
    """The states of eyes, with the few huge outliers clipped."""
    found = from_file("eeg_eye_state/eeg_eye_state.npz")
    if found is None:
        return None
    low, high = np.quantile(found[0], [0.001, 0.999], axis=0)
    return np.clip(found[0], low, high), found[1]


CLASSES: dict[str, Callable[[], Data | None]] = {
    "breast cancer": partial(datasets.load_breast_cancer, return_X_y=True),
    "digits": partial(datasets.load_digits, return_X_y=True),
    "spambase": partial(from_file, "spambase/spambase.npz"),
    "letter A-M/N-Z": letters,
    "EEG": eeg,
    "pendigits": partial(from_file, "pendigits/pendigits.npz", "X_train", "y_train"),
}
NUMBERS: dict[str, Callable[[], Data | None]] = {
    "diabetes": partial(datasets.load_diabetes, return_X_y=True),
    "Friedman 1": partial(datasets.make_friedman1, 1000, noise=1.0, random_state=0),
    "Friedman 2": partial(datasets.make_friedman2, 1000, noise=100.0, random_state=0),
    "Friedman 3": partial(datasets.make_friedman3, 1000, noise=0.1, random_state=0),
    "abalone": partial(from_file, "regression/abalone.npz"),
    "ailerons": partial(from_file, "regression/ailerons.npz"),
    "california": partial(from_file, "regression/california_housing.npz"),
    "cpusmall": partial(from_file, "regression/cpusmall.npz"),
    "kin8nm": partial(from_file, "regression/kin8nm.npz"),
    "parkinsons": partial(from_file, "regression/parkinsons_updrs.npz", y="total_UPDRS"),
}
# The largest numbers of training rows.
MOST_ROWS = {"probabilities": 4000, "intervals": 5000, "automatic": 500}


def parted(data: Data, n_train: int, split: int, strata: bool) -> tuple[NDArray, ...]:
    """Return training and test rows, standardised, and their targets."""
    X, y = data
    n_train = min(n_train, int(0.7 * len(X)))
    n_test = min(len(X) - n_train, 3000)
    X, X2, y, y2 = train_test_split(
        X,
        y,
        train_size=n_train,
        test_size=n_test,
        stratify=y if strata else None,
        random_state=split,
    )
    scale = StandardScaler().fit(X)
    return scale.transform(X), scale.transform(X2), y, y2


# --- probabilities ------------------------------------------------------------------------------


def measured(model: Any, X: NDArray, y: NDArray, X2: NDArray, y2: NDArray) -> tuple[float, float]:
    """Return the log-loss of a model on new rows and the CPU seconds of its fit."""
    begin = time.process_time()
    model.fit(X, y)
    spent = time.process_time() - begin
    return float(log_loss(y2, model.predict_proba(X2))), spent


def probability_cells(data: Data, learner: Any, n_train: int, split: int) -> dict[str, float]:
    X, X2, y, y2 = parted(data, n_train, split, True)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=split).split(X, y))
    found = {}
    found["ours"], found["our seconds"] = measured(
        clone(learner).set_params(cv=folds), X, y, X2, y2
    )
    for method in ("sigmoid", "isotonic"):
        peer = CalibratedClassifierCV(clone(learner), method=method, cv=folds)
        found[method], found[f"{method} seconds"] = measured(peer, X, y, X2, y2)
    return found


def probability_rows(quick: bool, repeats: int, file: Path | None) -> Iterator[Row]:
    width, most = (20, 300) if quick else (WIDTH, MOST_ROWS["probabilities"])
    learners = {
        "ridge": KreinRidgeClassifier(n_components=width, random_state=0),
        "SVC": KreinSVC(n_components=width, random_state=0),
    }
    for kind, learner in learners.items():
        # What is compiled or imported first is not timed.
        clone(learner).fit(*datasets.load_breast_cancer(return_X_y=True))
        for name, made in (dict(list(CLASSES.items())[:1]) if quick else CLASSES).items():
            if (data := made()) is not None:
                work = partial(probability_cells, data, learner, most)
                cells = collected("probabilities", name, kind, repeats, file, work)
                yield from probability_figures(f"{name}, {kind}", cells)


def probability_figures(name: str, cells: dict[str, NDArray]) -> Iterator[Row]:
    """The rows of one learner on one set, against the better peer of all splits together."""
    ours = cells["ours"]
    best = min("sigmoid", "isotonic", key=lambda method: cells[method].mean())
    gap = ours - cells[best]
    error = float(gap.std(ddof=1) / np.sqrt(len(gap)))
    peers = f"sigmoid {cells['sigmoid'].mean():.4f}, isotonic {cells['isotonic'].mean():.4f}"
    bar = 1.01 * float(cells[best].mean()) + 2 * error
    yield Row(f"{name}: log-loss", float(ours.mean()), "", bar, note=peers)
    ratio = float(cells["our seconds"].sum() / cells["sigmoid seconds"].sum())
    spent = f"{cells['our seconds'].mean():.2f} s"
    yield Row(f"{name}: CPU time over the sigmoid's", ratio, "", 0.5, note=spent)


# --- intervals ----------------------------------------------------------------------------------


def coverage_cells(data: Data, learner: Any, n_train: int, split: int) -> dict[str, float]:
    X, X2, y, y2 = parted(data, n_train, split, False)
    begin = time.process_time()
    low, high = clone(learner).fit(X, y).predict_interval(X2, coverage=COVERAGE).T
    spent = time.process_time() - begin
    inside = float(np.mean((low <= y2) & (y2 <= high)))
    return {"coverage": inside, "width": float(np.mean(high - low) / y2.std()), "seconds": spent}


def coverage_rows(
    part: str, learner: Any, quick: bool, repeats: int, file: Path | None
) -> Iterator[Row]:
    most = 200 if quick else MOST_ROWS[part]
    for name, made in (dict(list(NUMBERS.items())[:1]) if quick else NUMBERS).items():
        if (data := made()) is None:
            continue
        task = partial(coverage_cells, data, learner, most)
        cells = collected(part, name, type(learner).__name__, repeats, file, task)
        found = cells["coverage"]
        error = float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else 0.0
        yield Row(
            f"{name}, {type(learner).__name__}: |coverage - {COVERAGE}|",
            abs(float(found.mean()) - COVERAGE),
            "",
            max(0.02, 2 * error),
            note=f"coverage {found.mean():.3f} ± {error:.3f}, width {cells['width'].mean():.2f} "
            f"std(y), {cells['seconds'].mean():.1f} s",
        )


def interval_rows(quick: bool, repeats: int, file: Path | None) -> Iterator[Row]:
    learner = KreinRidge(n_components=20 if quick else WIDTH, nested=False, random_state=0)
    return coverage_rows("intervals", learner, quick, repeats, file)


def automatic_rows(quick: bool, repeats: int, file: Path | None) -> Iterator[Row]:
    learner = KreinRegressor(n_components=20 if quick else 100, random_state=0)
    return coverage_rows("automatic", learner, quick, repeats, file)


# --- all ----------------------------------------------------------------------------------------


def collected(
    part: str,
    data: str,
    learner: str,
    repeats: int,
    file: Path | None,
    work: Callable[[int], dict[str, float]],
) -> dict[str, NDArray]:
    """Return the figures of all splits; those that a file has are not measured again."""
    key = part, data, learner
    known = [c for c in read_cells(Cell, file) if (c.part, c.data, c.learner) == key]
    done = {cell.split for cell in known}
    for split in range(repeats):
        if split in done:
            continue
        with threadpool_limits(1):
            found = [Cell(*key, split, figure, value) for figure, value in work(split).items()]
        append_cells(found, file)
        known += found
    known.sort(key=lambda cell: cell.split)
    names = dict.fromkeys(cell.figure for cell in known)
    return {
        n: np.array([c.value for c in known if c.figure == n and c.split < repeats]) for n in names
    }


def main(argv: Sequence[str] | None = None) -> list[Row]:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--cells", type=Path)
    options, rest = parser.parse_known_args(argv)
    parts: dict[str, Callable[[bool, int], Iterator[Row]]] = {
        "probabilities": partial(probability_rows, file=options.cells),
        "intervals": partial(interval_rows, file=options.cells),
        "automatic": partial(automatic_rows, file=options.cells),
    }
    return run(__doc__, parts, 5, rest)


if __name__ == "__main__":
    main()
