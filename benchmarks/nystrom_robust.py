"""Worst draw of `Nystrom` with its defaults on many kernels and sets, also on new rows.

    python benchmarks/nystrom_robust.py [--quick] [--only gaussian,sigmoid,…] [--rank 50] [--jobs 2]

Each set is standardised, and a fifth of its rows is held out as new rows. Errors are relative
Frobenius errors over ten draws:

* train: the error of k(training, training), divided by the best error of the rank (worst and median
  draw);
* new: the error of k(new, training), divided by the error of the exact eigenvectors of the training
  matrix (singular vectors if the kernel is not symmetric), extended to the new rows;
* diagonal: the largest approximate |k(x, x)| of new rows, divided by the largest |k| of all rows;
* exact: the same ratio for the extended eigenvectors.

Cells with a best error below 1e-6 are left out. Data come from $KREIN_DATA or ../shared/data and
from scikit-learn. The exit code is 1 if a bar is missed, except with --quick.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from measuring import Row, arguments, chosen_parts, load, report
from numpy.typing import NDArray
from nystrom_quality import SETS, standardised
from sklearn import datasets

from krein import Nystrom
from krein.kernels import (
    TL1,
    DeltaGaussian,
    Epanechnikov,
    Gaussian,
    Kernel,
    Laplacian,
    Multiquadric,
    Polynomial,
    RectifiedSigmoid,
    ShiftGaussian,
    Sigmoid,
)

# Kernels for d columns. Standardised rows have ‖x − y‖² ≈ 2d and ‖x − y‖₁ ≈ 1.1 d.
KERNELS: dict[str, Callable[[int], Kernel]] = {
    "gaussian": lambda d: Gaussian(float(np.sqrt(d))),
    "delta_gaussian": lambda d: DeltaGaussian(1.0, 10.0),
    "sigmoid": lambda d: Sigmoid(1 / d),
    "rectified_sigmoid": lambda d: RectifiedSigmoid(1 / d),
    "rectified_sigmoid_-1": lambda d: RectifiedSigmoid(1 / d, -1.0),
    "polynomial_2": lambda d: Polynomial(2, 1 / d, 1.0),
    "polynomial_3": lambda d: Polynomial(3, 1 / d, 1.0),
    "epanechnikov": lambda d: Epanechnikov(float(np.sqrt(2 * d))),
    "tl1": lambda d: TL1(0.7 * d),
    "laplacian": lambda d: Laplacian(float(d)),
    "multiquadric": lambda d: Multiquadric(float(np.sqrt(d))),
    "shift_gaussian": lambda d: ShiftGaussian(float(np.sqrt(d)), 0.3),
}
TOYS: dict[str, Callable] = {
    "digits": datasets.load_digits,
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
}
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Cell:
    """The results of one kernel on one set; all fields except `best` are ratios."""

    kernel: str
    set: str
    best: float
    median: float
    worst: float
    new: float
    diagonal: float
    exact: float

    def __str__(self) -> str:
        ratios = (self.median, self.worst, self.new, self.diagonal, self.exact)
        return f"{self.set:<20}{self.kernel:<22}{self.best:>9.2e}" + "".join(
            f"{ratio:>9.3g}" for ratio in ratios
        )


def rows_of(name: str, n_rows: int) -> NDArray | None:
    X = TOYS[name]().data if name in TOYS else load(f"regression/{name}.npz")
    return None if X is None else standardised(X, n_rows)


@dataclass(frozen=True)
class Best:
    """The best matrix ``U Σ Vᵀ`` of a rank; ``k(new, training) V Vᵀ`` extends it to new rows."""

    U: NDArray
    values: NDArray
    V: NDArray
    error: float

    @classmethod
    def of(cls, K: NDArray, rank: int, symmetric: bool) -> Best:
        if symmetric:
            values, U = np.linalg.eigh(K)
            order = np.argsort(-np.abs(values))
            values, U = values[order], U[:, order]
            V = U
        else:
            U, values, Vt = np.linalg.svd(K)
            V = Vt.T
        left = np.linalg.norm(values[rank:]) / np.linalg.norm(values)
        return cls(U[:, :rank], values[:rank], V[:, :rank], float(left))

    def extended(self, K_new: NDArray) -> NDArray:
        return K_new @ self.V @ self.V.T

    def diagonal(self, K_new: NDArray, turned: NDArray) -> NDArray:
        """Return k̃(x, x) of new rows, given k(new, training) and k(training, new)ᵀ."""
        return np.einsum("ij,ij->i", K_new @ self.V / self.values, turned @ self.U)


def relative(found: NDArray, K: NDArray) -> float:
    return float(np.linalg.norm(found - K) / np.linalg.norm(K))


def cell_of(kernel_name: str, set_name: str, rank: int, n_rows: int, draws: int) -> Cell | None:
    """Return the errors of one kernel on one set, computed on one core."""
    from threadpoolctl import threadpool_limits

    X = rows_of(set_name, n_rows)
    if X is None:
        return None
    n = 4 * len(X) // 5
    kernel = KERNELS[kernel_name](X.shape[1])
    whole = kernel(X)
    K, K_new, turned = whole[:n, :n], whole[n:, :n], whole[:n, n:].T
    with threadpool_limits(1):
        best = Best.of(K, rank, kernel.is_symmetric)
        if best.error < NEGLIGIBLE:
            return None
        ideal, scale = relative(best.extended(K_new), K_new), float(np.abs(whole).max())
        train, new, diagonal = [], [], []
        for key in range(draws):
            features = Nystrom(kernel, rank, random_state=key)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                features.fit(X[:n])
                left, right = features.transform(X), features.transform_dual(X)
            train.append(relative(left[:n] @ right[:n].T, K) / best.error)
            new.append(relative(left[n:] @ right[:n].T, K_new) / ideal)
            own = np.einsum("ij,ij->i", left[n:], right[n:])
            diagonal.append(float(np.abs(own).max()) / scale)
        exact = float(np.abs(best.diagonal(K_new, turned)).max()) / scale
    figures = (float(np.median(train)), max(train), max(new), max(diagonal), exact)
    return Cell(kernel_name, set_name, best.error, *figures)


def bars(cells: Sequence[Cell]) -> list[Row]:
    """Return the bars: the worst of all cells, and the median of the medians."""

    def worst(name: str, work: str, bar: float) -> Row:
        cell = max(cells, key=lambda cell: getattr(cell, name))
        above = [c for c in cells if getattr(c, name) > bar]
        listed = ", ".join(f"{c.kernel} on {c.set} {getattr(c, name):.3g}" for c in above)
        note = f"above: {listed}" if above else f"{cell.kernel} on {cell.set}"
        return Row(work, getattr(cell, name), "", bar, note=note)

    middle = float(np.median([cell.median for cell in cells]))
    return [
        worst("worst", f"{len(cells)} cells: worst draw over the best error", 1.6),
        Row("median draw over the best error, median of the cells", middle, "", 1.2),
        worst("new", "new rows: worst draw over the extended eigenvectors", 1.5),
        worst("diagonal", "new rows: approximate k(x, x) over the largest |k|", 2.0),
    ]


def main(argv: Sequence[str] | None = None) -> list[Row]:
    from joblib import Parallel, delayed

    parser = arguments(__doc__, KERNELS)
    parser.add_argument("--rank", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one core each")
    options = parser.parse_args(argv)
    kernels = chosen_parts(parser, options, KERNELS)
    sets = [*SETS, *TOYS]
    size, jobs = ((options.rank, 2000, 10), options.jobs)
    if options.quick:
        kernels, sets, size, jobs = kernels[:2], sets[:1] + sets[-2:], (10, 200, 2), 1
    work = [(kernel, name) for name in sets for kernel in kernels]
    found = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(cell_of)(*pair, *size) for pair in work
    )
    heads = ("median", "worst", "new", "diagonal", "exact")
    print(f"{'set':<20}{'kernel':<22}{'best':>9}" + "".join(f"{head:>9}" for head in heads))
    cells = []
    for cell in found:
        if cell is not None:
            print(cell, flush=True)
            cells.append(cell)
    rows = bars(cells)
    report(rows, options.quick)
    return rows


if __name__ == "__main__":
    main()
