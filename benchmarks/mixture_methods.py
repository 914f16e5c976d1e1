"""The maps that benchmarks/mixtures.py compares, each fitted to a kernel at a width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import spectra
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.preprocessing import FunctionTransformer

import krein
from krein import LearnedKernelFeatures, MixtureFourier, Nystrom, RandomFourier
from krein.features._trig import fourier_features
from krein.features.calibrate import calibrate_fourier
from krein.kernels import Gaussian, Kernel, OrthantProbability

# Training rows that maps are fitted to.
ROWS = 800


def rmse(kernel: Kernel, features: Any, X: NDArray) -> float:
    """Return the root mean squared error off the diagonal divided by |k(0)|."""
    if hasattr(features, "frequencies_"):
        approximate = spectra.fourier_matrix(features.frequencies_, features.weights_, X)
    else:
        approximate = features.approximate_kernel(X)
    error = approximate - kernel(X)
    np.fill_diagonal(error, 0)
    n = len(X)
    size = abs(float(kernel.diag(X[:1])[0]))
    return float(np.sqrt(np.sum(error**2) / (n * (n - 1)))) / size


@dataclass(frozen=True)
class Waves:
    """Frequencies with weights, and their features."""

    frequencies_: NDArray
    weights_: NDArray

    def transform(self, X: NDArray) -> NDArray:
        return fourier_features(X, self.frequencies_, np.sqrt(np.abs(self.weights_)))


def rescaled(found: Any, kernel: Kernel, X: NDArray) -> Waves:
    """Multiply the weights by the number that fits the kernel best off the diagonal."""
    K = kernel(X)
    approximate = spectra.fourier_matrix(found.frequencies_, found.weights_, X)
    off = ~np.eye(len(X), dtype=bool)
    size = float(approximate[off] @ approximate[off])
    factor = float(approximate[off] @ K[off]) / size if size else 1.0
    return Waves(found.frequencies_, found.weights_ * max(factor, 1e-12))


def gaussian(sigma: float | None) -> Callable[..., Waves]:
    def fit(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Waves:
        rows = X[np.random.default_rng(seed).permutation(len(X))[:ROWS]]
        bandwidth = float(np.median(pdist(rows))) if sigma is None else sigma
        found = RandomFourier(Gaussian(bandwidth), width, random_state=seed).fit(X)
        return rescaled(found, kernel, rows)

    return fit


def least_squares(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Waves:
    """Fit signed weights of the frequencies of a Gaussian kernel.

    Its bandwidth is the multiple of the median distance with the least error on training rows.
    """
    rows = X[np.random.default_rng(seed).permutation(len(X))[:ROWS]]
    K, median = kernel(rows), float(np.median(pdist(rows)))
    tried = []
    for multiple in (0.5, 1, 2, 4, 8):
        found = RandomFourier(Gaussian(multiple * median), width, random_state=seed).fit(rows)
        weights = calibrate_fourier(found.frequencies_, found.weights_, rows, K)
        tried.append(Waves(found.frequencies_, weights))
    return min(tried, key=lambda found: rmse(kernel, found, rows))


def ours(**options: Any) -> Callable[..., Any]:
    def fit(
        kernel: Kernel, width: int, X: NDArray, seed: int, iterations: int, **_: Any
    ) -> MixtureFourier:
        n = min(ROWS, len(X))
        made = {"random_state": seed, "n_subsample": n, "max_iter": iterations, **options}
        return MixtureFourier(kernel, width, **made).fit(X)

    return fit


def printed(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Waves:
    """Fit by the paper's program: five rows, a shift, printed updates, 50 iterations."""
    options = {"inference": "taylor", "split": "shift", "n_subsample": 5, "max_iter": 50}
    found = MixtureFourier(kernel, width, random_state=seed, **options).fit(X)
    weights = np.full(len(found.weights_), 1 / len(found.weights_))
    rows = X[np.random.default_rng(seed).permutation(len(X))[:ROWS]]
    return rescaled(Waves(found.frequencies_, weights), kernel, rows)


def nystrom(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Nystrom:
    return Nystrom(kernel, min(width, len(X) // 2), random_state=seed).fit(X)


def recursive(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Nystrom:
    return Nystrom(kernel, width, landmarks="recursive", random_state=seed).fit(X)


def importance(
    kernel: Kernel, width: int, X: NDArray, seed: int, y: NDArray, **_: Any
) -> LearnedKernelFeatures:
    return LearnedKernelFeatures(kernel, width, random_state=seed).fit(X, y)


def rank_order(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Any:
    """CRO has a kernel of its own, close to a Gaussian of ⟨x, y⟩."""
    return krein.ConcomitantRankOrder(OrthantProbability(), width, random_state=seed).fit(X)


def columns(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> FunctionTransformer:
    return FunctionTransformer().fit(X)


def rival(name: str) -> Callable[..., Any]:
    def fit(kernel: Kernel, width: int, X: NDArray, seed: int, **_: Any) -> Any:
        return getattr(krein, name)(kernel, width, random_state=seed).fit(X)

    return fit


METHODS: dict[str, Callable[..., Any]] = {
    "MixtureFourier": ours(),
    "printed updates": printed,
    "signed least squares": least_squares,
    "Gaussian, unit bandwidth": gaussian(1.0),
    "Gaussian, median bandwidth": gaussian(None),
    "Nystrom": nystrom,
}
RIVALS = {
    "SRF": "SphericalRandomFeatures",
    "random Maclaurin": "RandomMaclaurin",
    "TensorSketch": "TensorSketch",
    "TRP": "TensorizedProjection",
    "CRO": "ConcomitantRankOrder",
}
METHODS |= {short: rival(name) for short, name in RIVALS.items()}
BRANCHES = {
    "MixtureFourier": ours(),
    "MixtureFourier, joint=False": ours(joint=False),
    "MixtureFourier, split='shift'": ours(split="shift"),
    "signed least squares": least_squares,
    "Nystrom": nystrom,
}
# Tables VI, VII and VIII, and the linear machine of all tables.
GAUSSIAN = {"LKRF": importance, "recursive Nystrom": recursive, "CRO": rank_order}
LINEAR = {"linear": columns}
TRUNCATIONS = {f"MixtureFourier, T = {T}": ours(n_mixture=T) for T in (1, 5, 10)}
SHIFTS = {f"τ = {tau:g}": ours(split="shift", tau=tau) for tau in (1.1, 2.0, 5.0, 10.0, 20.0)}
