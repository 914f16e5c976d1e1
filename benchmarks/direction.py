"""What the direction of an asymmetric kernel is worth, compared with required bars.

    python benchmarks/direction.py [--quick] [--only retrieval,nystrom] [--figures FOLDER]

"retrieval" looks for the successor of each row, and "nystrom" compares the error of `Nystrom` on
kernels that are not symmetric with the best error of the same rank. --figures draws a directed
graph, embedded with both sides and by its symmetric part. The retrieval part prints the figure of
the symmetrised kernel beside its own. Data come from $KREIN_DATA or ../shared/data; without the
files, random rows are used. The exit code is 1 if a bar is missed. With
--quick the sizes are small, and no bar is checked.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from measuring import Row, load, run
from numpy.typing import NDArray

from krein import AsymmetricEmbedding, KreinPCA, Nystrom, RandomFourier
from krein.kernels import DirectedGraph, Kernel, Precomputed, ShiftGaussian
from krein.plots import pyplot

# --- retrieval ----------------------------------------------------------------------------------


def letters(n: int) -> NDArray:
    """Return n rows of letter with columns in [0, 1], or random rows if there is no file."""
    X = load("letter/letter.npz")
    rng = np.random.default_rng(0)
    return rng.random((n, 16)) if X is None else rng.permutation(X)[:n] / 15


def own_successor_first(kernel: Kernel, X: NDArray, r: NDArray, width: int, seed: int) -> float:
    """Return the share of rows x whose nearest row of {x_i + r} ∪ {x_i − r} is x + r.

    A row that equals x + r, because x occurs twice, counts as well.
    """
    gallery = np.concatenate([X + r, X - r])
    features = RandomFourier(kernel, width, random_state=seed).fit(X)
    found, _ = features.nearest(X, gallery, k=1, direction="source")
    return float(np.mean(np.all(gallery[found[:, 0]] == X + r, axis=1)))


def retrieval_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Find the successor x + r of each row x, at which the kernel exp(−‖x − y + r‖²/2σ²) is 1."""
    n, width = (200, 64) if quick else (1000, 256)
    X = letters(n)
    r = np.full(X.shape[1], 0.1)
    kernel = ShiftGaussian(sigma=0.5, shift=r)
    shares = [
        np.mean([own_successor_first(k, X, r, width, seed) for seed in range(repeats)])
        for k in (kernel, kernel.symmetric_part)
    ]
    work = f"successors of {n} rows of letter, width {width}: ranked first"
    yield Row(work, float(shares[0]), "", 0.98, True, f"symmetrised: {shares[1]:.3f}")


# --- rank ---------------------------------------------------------------------------------------


def best_error(K: NDArray, rank: int) -> float:
    values = np.linalg.svd(K, compute_uv=False)
    return float(np.linalg.norm(values[rank:]) / np.linalg.norm(values))


def matrices(quick: bool) -> Iterator[tuple[str, NDArray, int]]:
    """Yield directed similarities of shapes, each with the rank of its map."""
    D = load("dissimilarities/chickenpieces_20_60.npz", "D")
    if D is None:
        gaps = np.subtract.outer(*[np.random.default_rng(0).random(60)] * 2)
        D = np.abs(gaps) + 0.3 * np.maximum(gaps, 0)
    rank = 10 if quick else 100
    yield "chickenpieces, exp(-2D/median D)", np.exp(-2 * D / np.median(D)), rank
    yield "chickenpieces, -D²", -np.square(D), rank


def nystrom_rows(quick: bool, repeats: int) -> Iterator[Row]:
    """Compare the worst error of several draws with the best error of the rank."""
    for name, K, rank in matrices(quick):
        errors = []
        for seed in range(repeats):
            features = Nystrom(Precomputed(symmetric=False), rank, random_state=seed).fit(K)
            found = features.transform(K) @ features.transform_dual(K.T).T
            errors.append(float(np.linalg.norm(found - K) / np.linalg.norm(K)))
        yield ratio_row(name, errors, best_error(K, rank), rank)
    rank = 20 if quick else 200
    X = letters(300 if quick else 1000)
    kernel = ShiftGaussian(sigma=0.5, shift=np.full(X.shape[1], 0.1))
    K = kernel(X)
    errors = []
    for seed in range(repeats):
        features = Nystrom(kernel, rank, random_state=seed).fit(X)
        found = features.approximate_kernel(X)
        errors.append(float(np.linalg.norm(found - K) / np.linalg.norm(K)))
    yield ratio_row("letter, shift-Gaussian", errors, best_error(K, rank), rank)


def ratio_row(name: str, errors: list[float], best: float, rank: int) -> Row:
    work = f"{name}, rank {rank}: worst of {len(errors)} over the best"
    return Row(work, max(errors) / best, "", 1.2, note=f"best error {best:.2g}")


# --- the picture --------------------------------------------------------------------------------

COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")


def ring(n: int = 600, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Return a graph whose edges mostly lead from a block to the next of four, and the blocks."""
    block = np.arange(n) % 4
    chance = np.where((block - block[:, None]) % 4 == 1, 0.12, 0.02)
    return (np.random.default_rng(seed).random((n, n)) < chance).astype(float), block


def draw(folder: Path) -> None:
    """Save the picture of the ring, embedded with both sides and by its symmetric part."""
    A, block = ring()
    nodes, kernel = np.arange(len(A)), DirectedGraph(A)
    both = AsymmetricEmbedding(n_components=3, kernel=kernel).fit(nodes)
    # The first singular vectors are nearly constant and tell the degrees of the nodes.
    sources, targets = both.transform(nodes)[:, 1:], both.transform_dual(nodes)[:, 1:]
    one = KreinPCA(n_components=2, kernel=kernel.symmetric_part).fit_transform(nodes)
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
    for i, color in enumerate(COLORS):
        rows = block == i
        left.scatter(*sources[rows].T, s=14, color=color, label=f"block {i}")
        left.scatter(*targets[rows].T, s=16, facecolors="none", edgecolors=color, linewidths=0.8)
        right.scatter(*one[rows].T, s=14, color=color)
    left.set_title("both sides: sources (dots) and targets (circles)")
    right.set_title("the symmetric part")
    left.legend(frameon=False, loc="upper right")
    for axes in (left, right):
        axes.set_xticks([])
        axes.set_yticks([])
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "direction_embedding.png", dpi=110)
    plt.close(figure)


PARTS: dict[str, Callable[[bool, int], Iterator[Row]]] = {
    "retrieval": retrieval_rows,
    "nystrom": nystrom_rows,
}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--figures", type=Path)
    options, rest = parser.parse_known_args(argv)
    if options.figures:
        draw(options.figures)
    return run(__doc__, PARTS, 10, rest)


if __name__ == "__main__":
    main()
