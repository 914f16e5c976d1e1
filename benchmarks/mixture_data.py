"""The kernels and data sets of benchmarks/mixtures.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import binary
import numpy as np
from binary import Data
from measuring import find
from spectra import Job

from krein.kernels import (
    TL1,
    Gaussian,
    GaussianCombination,
    Hellinger,
    Kernel,
    Sigmoid,
    SphericalPolynomial,
)

DIGITS = "MNIST"
# All rows of covtype; "covtype" has 50,000 and 20,000 rows.
WHOLE = "covtype, whole"


@dataclass(frozen=True)
class Sizes:
    """Data sets, widths in units of d, and repetitions."""

    sets: tuple[str, ...]
    multiples: tuple[int, ...]
    table: tuple[int, ...]
    seeds: int
    kernels: tuple[str, ...]
    iterations: int = 20
    subsamples: tuple[int, ...] = (5, 10, 50, 100, 800)


FULL = Sizes(
    ("EEG", "ijcnn1", "skin", "spambase", "covtype"),
    (2, 8, 32),
    (2, 8, 16, 32),
    5,
    ("polynomial", "Hellinger", "TL1", "tanh"),
)
QUICK = Sizes((binary.MADE,), (2,), (2,), 1, ("polynomial",), 3, (20,))

# name: whether rows have norm 1, and the kernel with k(0) = 1 of the dimension.
KERNELS: dict[str, tuple[bool, Callable[[int], Kernel]]] = {
    "polynomial": (True, lambda d: SphericalPolynomial(a=2, degree=10)),
    "Hellinger": (True, lambda d: Hellinger()),
    "TL1": (False, lambda d: TL1(0.7 * d) / (0.7 * d)),
    "tanh": (True, lambda d: Sigmoid(1 / d, 1.0) / np.tanh(1 + 1 / d)),
    "combination": (False, lambda d: GaussianCombination([1, -0.6], [0.5, 0.25])),
    "Gaussian": (True, lambda d: Gaussian("median")),
    "none": (False, lambda d: Gaussian("median")),
}


def load(name: str, unit_rows: bool) -> Data | None:
    """Return a data set; None without a file."""
    return _digits(unit_rows) if name == DIGITS else binary.load(name, unit_rows)


def data_of(job: Job) -> tuple[Data, Kernel]:
    """Return the data and the kernel of a job."""
    unit_rows, make = KERNELS[job.kernel]
    data = load(job.set, unit_rows)
    assert data is not None
    return data, make(data.dim)


def present(sets: tuple[str, ...] | list[str]) -> list[str]:
    """Return the sets that have a file."""
    found = [name for name in sets if load(name, False) is not None]
    for name in sets:
        if name not in found:
            print(f"{name} is not found")
    return found


@lru_cache(maxsize=1)
def _digits(unit_rows: bool) -> Data | None:
    path = find("mnist/mnist.npz")
    if path is None:
        return None
    with np.load(path) as arrays:
        X, X_test = (arrays[f"X_{part}"] / 255.0 for part in ("train", "test"))
        y, y_test = (arrays[f"y_{part}"] for part in ("train", "test"))
    if unit_rows:
        X, X_test = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (X, X_test))
    return Data(DIGITS, X, y, X_test, y_test)
