"""Kernels of every kind of measure, dimensions and rows for tests of feature maps."""

from __future__ import annotations

import numpy as np

from krein.kernels import (
    Cauchy,
    CoshGaussian,
    DeltaGaussian,
    Gaussian,
    GaussianCombination,
    Laplacian,
    Matern,
    ShiftGaussian,
    SinhGaussian,
)

POSITIVE = [Gaussian(), Laplacian(sigma=3.0), Matern(), Cauchy()]
SIGNED = [DeltaGaussian(), GaussianCombination((1.0, -0.3, 0.2), (1.0, 2.0, 5.0))]
COMPLEX = [ShiftGaussian(), SinhGaussian(), CoshGaussian(), ShiftGaussian() - Gaussian(sigma=3.0)]
CLOSED = [*POSITIVE, *SIGNED, *COMPLEX]
DIMS = [1, 2, 8]


def _rows(n, dim, seed=0):
    return np.random.default_rng(seed).random((n, dim))


def _unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)
