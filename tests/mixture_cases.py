"""Small maps and rows for the tests of `MixtureFourier`."""

import numpy as np

from krein import MixtureFourier
from krein.kernels import (
    GaussianCombination,
)

INDEFINITE = GaussianCombination([1.0, -0.6], [1.0, 0.4])


def made(kernel=None, n_components=12, **options):
    options = {"n_subsample": 60, "n_pairs": 400, "max_iter": 4, "random_state": 0, **options}
    return MixtureFourier(kernel, n_components, **options)


def rows(n=80, dim=3, seed=0):
    return np.random.default_rng(seed).random((n, dim))


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def waves(features, X):
    """The kernel of the atoms, by its definition."""
    gaps = X[:, None] - X[None]
    return np.cos(gaps @ features.frequencies_.T) @ features.weights_


def off_diagonal(features, X):
    error = features.approximate_kernel(X) - features.exact_kernel(X)
    return np.sqrt(np.mean(error[~np.eye(len(X), dtype=bool)] ** 2))


def positive_definite(n, dim, rng):
    A = rng.standard_normal((n, dim, dim + 2))
    return A @ np.swapaxes(A, 1, 2) / dim
