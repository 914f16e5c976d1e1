"""Learning from both sides of kernels that are not symmetric, compared with required bars.

    python benchmarks/two_sided.py [--quick] [--repeats 5] [--only digraph,cora,speed]

Nodes of a directed graph are classified from the edges among the training nodes and between the
training nodes and the new ones. All penalties are tuned by the same cross-validation, with a map of
its own for each fold. The symmetrised learners get the mean of both directions. Citations come from
$KREIN_DATA or ../shared/data. The exit code is 1 if a bar is missed. With --quick the sizes are
small, and no bar is checked.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measuring import Row, find, memory_is_known, peak_memory, run, seconds
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from krein import KreinRidge, KreinSVC, Nystrom, RandomFourier, TwoSidedRidge
from krein import TwoSidedRidgeClassifier as Classifier
from krein.kernels import Precomputed, ShiftGaussian

# --- graphs -------------------------------------------------------------------------------------


class Split(NamedTuple):
    """The kernel values and labels of training nodes and of new nodes.

    `square` holds the pairs of training nodes. Row i of `there` holds the values from new node i to
    the training nodes, row i of `back` the values from the training nodes to new node i.
    """

    square: NDArray
    there: NDArray
    back: NDArray
    labels: NDArray
    new_labels: NDArray

    @property
    def symmetrised(self) -> Split:
        mean = (self.there + self.back) / 2
        return self._replace(square=(self.square + self.square.T) / 2, there=mean, back=mean)


def divided(K: NDArray, y: NDArray, train: NDArray, new: NDArray) -> Split:
    there, back = K[np.ix_(new, train)], K[np.ix_(train, new)].T
    return Split(K[np.ix_(train, train)], there, back, y[train], y[new])


def walk(A: NDArray) -> NDArray:
    """Return the transition matrix of a walk along the edges of A, with self-loops."""
    looped = A + np.eye(len(A))
    return looped / looped.sum(axis=1, keepdims=True)


def cyclic(n: int, seed: int) -> Split:
    """Return a digraph of four groups on a ring, with half of its nodes for training."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 4)
    A = rng.random((n, n)) < np.where((y - y[:, None]) % 4 == 1, 0.12, 0.02)
    np.fill_diagonal(A, 0)
    order = rng.permutation(n)
    return divided(walk(A), y, order[: n // 2], order[n // 2 :])


def citations() -> tuple[NDArray, NDArray] | None:
    """Return the walk from citing to cited papers and the classes of the papers.

    The file holds normalised entries with the cited paper as the row, so the edges are its entries
    off the diagonal, transposed.
    """
    path = find("graphs/cora.npz")
    if path is None:
        print("graphs/cora.npz is not found (set KREIN_DATA): left out.", file=sys.stderr)
        return None
    with np.load(path) as file:
        n, row, col, y = int(file["n"]), file["row"], file["col"], file["y"]
    A = np.zeros((n, n))
    A[col[row != col], row[row != col]] = 1
    return walk(A), y


# --- learners -----------------------------------------------------------------------------------


class Judged(NamedTuple):
    """A fitted setting: its cross-validated error and squared error, and its accuracy."""

    error: float
    squared_error: float
    accuracy: float


def judged(make: Callable[[Any], Any], split: Split, symmetric: bool) -> Judged:
    """Fit a learner of precomputed values and classify the new nodes, in per cent."""
    split = split.symmetrised if symmetric else split
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that are unlike the training rows are expected
        model = make(Precomputed(symmetric)).fit(split.square, split.labels)
        new = split.there if symmetric else (split.there, split.back)
        accuracy = 100 * model.score(new, split.new_labels)
    found = model.cv_results_
    losses = (float(found[name][found["chosen"]]) for name in ("error", "squared_error"))
    return Judged(*losses, accuracy)


def two_sided(kernel: Any, rank: int, landmarks: str = "residual", **options: Any) -> Any:
    """Return a two-sided ridge; on a symmetric kernel it is the split ridge."""
    features = Nystrom(kernel, rank, landmarks=landmarks, random_state=0)
    return Classifier(features=features, nested=True, random_state=0, **options)


def machine(kernel: Any, rank: int) -> Any:
    return KreinSVC(kernel, rank, nested=True, random_state=0)


# --- parts --------------------------------------------------------------------------------------


def digraph_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Classify the nodes of digraphs whose groups follow each other on a ring."""
    n, n_graphs = (160, 2) if quick else (600, 10)
    rank = n // 6
    methods = {
        "split": (partial(two_sided, rank=rank), False),
        "joint": (partial(two_sided, rank=rank, coupling="joint"), False),
        "AsK-LS": (partial(two_sided, rank=rank, coupling="askls"), False),
        "symmetrised ridge": (partial(two_sided, rank=rank), True),
        "symmetrised SVM": (partial(machine, rank=rank), True),
    }
    splits = [cyclic(n, seed) for seed in range(n_graphs)]
    means = {
        name: np.mean([judged(make, split, symmetric).accuracy for split in splits])
        for name, (make, symmetric) in methods.items()
    }
    others = [f"{name} {value:.1f}" for name, value in means.items() if name != "split"]
    work = f"ring of four groups, {n} nodes, {n_graphs} graphs: two-sided accuracy"
    yield Row(work, float(means["split"]), "%", 96, True, ", ".join(others))


def best(split: Split, symmetric: bool) -> float:
    """Return the accuracy of the setting with the smallest cross-validated error."""
    couplings = ("split",) if symmetric else ("split", "joint")
    make = partial(two_sided, rank=len(split.labels), landmarks="all")
    settings = [{"coupling": c, "power": p} for c in couplings for p in (0.5, 1)]
    return min(judged(partial(make, **some), split, symmetric) for some in settings).accuracy


def cora_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Classify papers by whom they cite and by whom they are cited."""
    graph = citations()
    if graph is None:
        return
    K, y = graph
    if quick:  # the papers with the most citations
        kept = np.argsort(-np.count_nonzero(K, axis=0), kind="stable")[:200]
        K, y = K[np.ix_(kept, kept)], y[kept]
    n_splits = 2 if quick else 5
    dealt = StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=0).split(K, y)
    splits = [divided(K, y, train, new) for train, new in dealt]
    pairs = [[best(split, side) for side in (False, True)] for split in splits]
    two, one = np.mean(pairs, axis=0)
    gains = [pair[0] - pair[1] for pair in pairs]
    note = f"symmetrised {one:.1f}; gains {', '.join(f'{gain:+.1f}' for gain in gains)}"
    work = f"cora, {n_splits} splits in halves: accuracy of the best two-sided"
    yield Row(work, float(two), "%", 69, True, note)
    yield Row("the same, symmetrised minus two-sided", float(one - two), "points", 1)


def speed_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Compare the time and memory of a fit on a file with those of one-sided ridge."""
    n, width = (4_000, 32) if quick else (200_000, 512)
    features = RandomFourier(ShiftGaussian(4.0, 0.5), width, random_state=0)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*uses transform")  # one-sided on purpose
        paths = [Path(folder) / name for name in ("X.npy", "y.npy")]
        X = rng.standard_normal((n, 22))
        np.save(paths[0], X)
        np.save(paths[1], np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n))
        del X
        for alpha in (1e-4, "cv"):
            one, two = (
                cls(features=features, alpha=alpha, random_state=0)
                for cls in (KreinRidge, TwoSidedRidge)
            )
            times = [
                [seconds(lambda m=model: m.fit(*paths)) for model in (one, two)]
                for _ in range(repeats)
            ]
            slow, fast = np.min(times, axis=0)[::-1]
            work = f"TwoSidedRidge over KreinRidge, {n} rows, width {width}, alpha={alpha!r}"
            yield Row(work, slow / fast, "x", 1.5, note=f"{slow:.2f} s against {fast:.2f} s")
        if memory_is_known():
            yield Row("the memory of the latter", peak_memory(lambda: two.fit(*paths)), "MB", 400)


PARTS: dict[str, Callable[[bool, int], Iterator[Row]]] = {
    "digraph": digraph_rows,
    "cora": cora_rows,
    "speed": speed_rows,
}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    return run(__doc__, PARTS, 5, argv)


if __name__ == "__main__":
    main()
