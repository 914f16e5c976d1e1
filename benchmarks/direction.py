"""What the direction of an asymmetric kernel is worth, compared with required bars.

    python benchmarks/direction.py [--quick] [--only retrieval]

Each part prints the figure of the symmetrised kernel beside its own. Data come from $KREIN_DATA or
../shared/data; without the files, random rows are used. The exit code is 1 if a bar is missed. With
--quick the sizes are small, and no bar is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from measuring import Row, load, run
from numpy.typing import NDArray

from krein import RandomFourier
from krein.kernels import Kernel, ShiftGaussian

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


PARTS: dict[str, Callable[[bool, int], Iterator[Row]]] = {
    "retrieval": retrieval_rows,
}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    return run(__doc__, PARTS, 10, argv)


if __name__ == "__main__":
    main()
