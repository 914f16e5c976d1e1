"""The feature maps that `learned.py` compares, and the linear machine on their features.

All maps are scaled so that the mean of k(x, x) is 1, so C means the same for all maps. Bandwidth
and C are chosen on held-out training rows of the first seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import spectra
from binary import Data
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from krein import LearnedKernelFeatures, NotSoRandomFeatures, RandomArcCosine, RandomFourier
from krein.kernels import Gaussian
from krein.spectral import WaveAtoms

# The grid of C, and of bandwidths as multiples of the median distance.
CS = (0.1, 1.0, 10.0, 100.0, 1000.0)
BANDWIDTHS = (0.5, 1.0, 2.0, 4.0)
# Share of the rows that is held out where bandwidth and C are chosen.
HELD_OUT = 0.2
# Beyond this width the machine solves its dual on the matrix of inner products.
WIDE = 1000

Transform = Callable[[NDArray], NDArray]


@dataclass(frozen=True)
class Map:
    """A kind of feature map.

    Parameters
    ----------
    fit : callable
        ``fit(X, y, width, bandwidth, seed)`` returns a fitted map.
    bandwidths : tuple of float
        The bandwidths to choose from, as multiples of the median distance; (1.0,) means none.
    nested : bool
        True if the first frequencies of a wide map are the map of smaller width.
    tune_rows : int
        Largest number of rows on which bandwidth and C are chosen.
    """

    fit: Callable[[NDArray, NDArray, int, float, int], Any]
    bandwidths: tuple[float, ...] = (1.0,)
    nested: bool = False
    tune_rows: int = 10_000


def learned(X: NDArray, y: NDArray, width: int, bandwidth: float, seed: int) -> Any:
    return NotSoRandomFeatures(width, random_state=seed).fit(X, y)


def gaussian(X: NDArray, y: NDArray, width: int, bandwidth: float, seed: int) -> Any:
    kernel = Gaussian(bandwidth * median_distance(X))
    return RandomFourier(kernel, width, random_state=seed).fit(X)


def weighted(X: NDArray, y: NDArray, width: int, bandwidth: float, seed: int) -> Any:
    kernel = Gaussian(bandwidth * median_distance(X))
    return LearnedKernelFeatures(kernel, width, random_state=seed).fit(X, y)


def arc_cosine(X: NDArray, y: NDArray, width: int, bandwidth: float, seed: int) -> Any:
    return RandomArcCosine(width, random_state=seed).fit(X)


OURS, RBF, LKRF = "not so random", "Gaussian", "LKRF"
MAPS: dict[str, Map] = {
    OURS: Map(learned, nested=True, tune_rows=6_000),
    RBF: Map(gaussian, BANDWIDTHS),
    LKRF: Map(weighted, BANDWIDTHS),
    "arc-cosine": Map(arc_cosine),
}


def median_distance(X: NDArray) -> float:
    return float(np.median(pdist(X[:500])))


def first_waves(features: NotSoRandomFeatures, n: int) -> WaveAtoms:
    """Return the first n frequencies of a learned map; they share the mass equally."""
    return WaveAtoms(features.frequencies_[:n], np.full(n, 1 / n))


def widths_of(
    kind: Map,
    X: NDArray,
    y: NDArray,
    widths: Sequence[int],
    bandwidths: dict[int, float],
    seed: int,
) -> dict[int, Transform]:
    """Return the fitted map of each width; one fit serves all widths if the maps are nested."""
    if kind.nested:
        widest = kind.fit(X, y, max(widths), 1.0, seed)
        return {width: first_waves(widest, width // 2).columns for width in widths}
    return {width: kind.fit(X, y, width, bandwidths[width], seed).transform for width in widths}


# --- the machine --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """A linear support vector machine of the hinge on features of mean squared norm 1."""

    transform: Transform
    scale: float
    coef: NDArray
    intercept: float

    def accuracy(self, X: NDArray, y: NDArray) -> float:
        """Return the percentage of correct rows."""
        outputs = self.transform(X) @ (self.coef * self.scale) + self.intercept
        return 100 * float(np.mean(np.where(outputs > 0, 1, -1) == y))


def machines(transform: Transform, X: NDArray, y: NDArray, Cs: Sequence[float]) -> list[Machine]:
    """Return the machine of each C."""
    Z = transform(X)
    scale = 1 / float(np.sqrt(np.mean(np.sum(Z**2, axis=1))))
    Z = Z * scale
    solve = _dual if Z.shape[1] > WIDE else _primal
    return [Machine(transform, scale, *solution) for solution in solve(Z, y, Cs)]


def _primal(Z: NDArray, y: NDArray, Cs: Sequence[float]) -> list[tuple[NDArray, float]]:
    models = [spectra.machine(C, len(Z), loss="hinge", random_state=0).fit(Z, y) for C in Cs]
    return [(np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])) for model in models]


def _dual(Z: NDArray, y: NDArray, Cs: Sequence[float]) -> list[tuple[NDArray, float]]:
    small = Z.astype(np.float32)
    K = (small @ small.T).astype(float)
    models = [SVC(C=C, kernel="precomputed", cache_size=1000).fit(K, y) for C in Cs]
    return [(m.dual_coef_[0] @ Z[m.support_], float(m.intercept_[0])) for m in models]


def choose(kind: Map, data: Data, widths: Sequence[int]) -> dict[int, tuple[float, float]]:
    """Return bandwidth and C of each width with the fewest errors on held-out training rows."""
    order = np.random.default_rng(0).permutation(len(data.X))[: kind.tune_rows]
    cut = round((1 - HELD_OUT) * len(order))
    train, held = order[:cut], order[cut:]
    found: dict[int, list[tuple[float, float, float]]] = {width: [] for width in widths}
    for bandwidth in kind.bandwidths:
        given = dict.fromkeys(widths, bandwidth)
        fitted = widths_of(kind, data.X[train], data.y[train], widths, given, 0)
        for width, transform in fitted.items():
            trained = machines(transform, data.X[train], data.y[train], CS)
            for C, machine in zip(CS, trained, strict=True):
                right = machine.accuracy(data.X[held], data.y[held])
                found[width].append((right, bandwidth, C))
    # Of equally good pairs the first, with the smallest C.
    return {width: max(some, key=lambda one: one[0])[1:] for width, some in found.items()}
