"""Relative Frobenius errors of the feature maps on 1000 rows, averaged over seeds.

    python benchmarks/quality.py            all tables, 10 seeds
    python benchmarks/quality.py --quick    two seeds, fewer rows; for the tests

The exit code is 1 if a bar is missed. With --quick no bar is checked. The data set letter comes
from $KREIN_DATA or ../shared/data. Without the file its results are left out, with a message.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
from measuring import Row, find, report
from numpy.typing import NDArray

import krein
from krein import Nystrom, RandomFourier, RandomGegenbauer
from krein.kernels import (
    ArcCosine,
    CoshGaussian,
    DeltaGaussian,
    Hellinger,
    Kernel,
    NeuralTangent,
    ShiftGaussian,
    SinhGaussian,
    SphericalPolynomial,
)


def load(name: str) -> NDArray | None:
    """Return the (training) rows of a data set, or None if there is no file."""
    path = find(f"{name}/{name}.npz")
    if path is None:
        return None
    file = np.load(path)
    return file["X" if "X" in file else "X_train"].astype(float)


def mean_error(
    make: Callable[[int], krein.features.FeatureMap], X: NDArray, seeds: int, n_rows: int
) -> float:
    """Return the mean error over seeds; each seed draws its own rows and frequencies."""
    errors = []
    for seed in range(seeds):
        rows = np.random.default_rng(seed).choice(len(X), min(n_rows, len(X)), replace=False)
        errors.append(krein.approximation_error(make(seed).fit(X[rows]), X[rows]))
    return float(np.mean(errors))


# The four data sets of the asymmetric paper, by their number of columns.
PAPER_DATA = {8: "cod_rna", 16: "letter", 22: "ijcnn1", 57: "spambase"}
QUICK_DIMS = (8, 16)
# The kernels for which a map is suggested; --quick takes the first one.
SUGGESTED: tuple[Kernel, ...] = (ArcCosine(0), NeuralTangent(), Hellinger())


def rows_of(dim: int) -> NDArray:
    """Return the paper's data of `dim` columns scaled to [0, 1], or uniform rows without a file."""
    X = load(PAPER_DATA[dim])
    if X is None:
        return np.random.default_rng(dim).random((5000, dim))
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1)


def asymmetric_table(seeds: int, n_rows: int, dims: tuple[int, ...]) -> list[Row]:
    """Compare the default with the method as printed, at equal width 24·d (asymmetric paper)."""
    print("\nAsymmetric kernels, columns in [0, 1], width 24·d")
    print(f"{'kernel':<16}{'d':>4}{'as printed':>12}{'default':>10}{'ratio':>8}")
    ratios = []
    for dim in dims:
        X = rows_of(dim)
        kernels: list[Kernel] = [
            ShiftGaussian(sigma=2.0, shift=2 / dim),
            SinhGaussian(sigma=2.0, beta=0.5 * np.pi / dim),
            CoshGaussian(sigma=2.0, beta=0.5 * np.pi / dim),
        ]
        for kernel in kernels:
            width = 24 * dim

            def printed(seed: int, kernel: Kernel = kernel, width: int = width) -> RandomFourier:
                # M draws each from μ_R⁺, μ_R⁻ and μ_I⁺ with exact masses; null parts are skipped.
                return RandomFourier(
                    kernel,
                    width,
                    sampler="iid",
                    decomposition="jordan",
                    allocation="equal",
                    random_state=seed,
                )

            def default(seed: int, kernel: Kernel = kernel, width: int = width) -> RandomFourier:
                return RandomFourier(kernel, width, random_state=seed)

            paper, ours = (mean_error(make, X, seeds, n_rows) for make in (printed, default))
            ratios.append(ours / paper)
            name = type(kernel).__name__
            print(f"{name:<16}{dim:>4}{paper:>12.4f}{ours:>10.4f}{ours / paper:>8.3f}")
    figure = float(np.exp(np.mean(np.log(ratios))))
    return [Row("asymmetric kernels: default / as printed, geometric mean", figure, "", 0.5)]


def letter_table(X: NDArray, seeds: int, n_rows: int) -> list[Row]:
    """Measure the errors at width 256 on letter."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    box = X / X.max(axis=0)
    work: list[tuple[str, type, Kernel, NDArray, dict, float]] = [
        (
            "SphericalPolynomial(2, 2), default",
            RandomFourier,
            SphericalPolynomial(),
            unit,
            {},
            0.03,
        ),
        (
            "SphericalPolynomial(2, 2), calibrated",
            RandomFourier,
            SphericalPolynomial(),
            unit,
            {"weights": "calibrated"},
            0.006,
        ),
        ("DeltaGaussian, default", RandomFourier, DeltaGaussian(), box, {}, 0.05),
        (
            "DeltaGaussian, calibrated",
            RandomFourier,
            DeltaGaussian(),
            box,
            {"weights": "calibrated"},
            0.025,
        ),
        ("ArcCosine(0)", RandomGegenbauer, ArcCosine(0), unit, {}, 0.04),
        ("NeuralTangent", RandomGegenbauer, NeuralTangent(), unit, {}, 0.06),
        ("Hellinger", RandomFourier, Hellinger(), unit, {}, 0.025),
    ]
    rows = []
    for name, estimator, kernel, data, options, bar in work:

        def make(
            seed: int, estimator: type = estimator, kernel: Kernel = kernel, options: dict = options
        ) -> krein.features.FeatureMap:
            return estimator(kernel, 256, random_state=seed, **options)

        label = f"letter, {name}, {estimator.__name__}"
        rows.append(Row(label, mean_error(make, data, seeds, n_rows), "", bar))
    return rows


def suggestion_table(X: NDArray, seeds: int, n_rows: int, kernels: tuple[Kernel, ...]) -> list[Row]:
    """Check that `diagnose` suggests the map with the smaller error on other rows."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    rows, width = [], min(256, n_rows // 2)
    for kernel in kernels:
        errors = {
            estimator.__name__: mean_error(
                lambda seed, e=estimator, k=kernel: e(k, width, random_state=seed),
                unit,
                seeds,
                n_rows,
            )
            for estimator in (RandomFourier, RandomGegenbauer, Nystrom)
        }
        suggested = krein.diagnose(kernel, unit, random_state=1).suggested_method
        ratio = errors[suggested] / min(errors.values())
        rows.append(Row(f"{kernel!r}: error of {suggested}, suggested / best", ratio, "", 1.0))
    return rows


def main(argv: list[str] | None = None) -> list[Row]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two seeds and 200 rows, no verdict")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args(argv)
    seeds, n_rows = (2, 200) if options.quick else (options.seeds, 1000)
    dims = QUICK_DIMS if options.quick else tuple(PAPER_DATA)
    rows = asymmetric_table(seeds, n_rows, dims)
    X = load("letter")
    if X is None:
        print("\nletter is not found (set KREIN_DATA): its rows are left out.", file=sys.stderr)
    else:
        rows += letter_table(X, seeds, n_rows)
        rows += suggestion_table(X, seeds, n_rows, SUGGESTED[:1] if options.quick else SUGGESTED)
    print(f"\nMean relative Frobenius error over {seeds} seeds")
    report(rows, options.quick)
    return rows


if __name__ == "__main__":
    main()
