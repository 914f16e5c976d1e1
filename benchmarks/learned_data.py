"""The data of `learned.py`: made sets of any size, and images from files with a fixed split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import binary
import numpy as np
from binary import Data
from measuring import find
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

Sample = Callable[[int, np.random.Generator], tuple[NDArray, NDArray]]


@dataclass(frozen=True)
class Sizes:
    """The sizes of the measurement.

    The maps of a group of widths are fitted together: a narrow learned map is the beginning of a
    wide one. Groups that end above 1000 columns have two seeds.
    """

    sets: tuple[str, ...] = ("automobile/truck", "4/9", "3/5", "letter", "ijcnn1", "spambase")
    rows: tuple[int, int] = (2_000, 50_000)
    rounds: tuple[int, ...] = (300, 1000)
    harmonic_rounds: int = 100
    max_degree: int | str = "auto"
    image_widths: tuple[tuple[int, ...], ...] = ((200, 1000), (5000,))
    digit_widths: tuple[int, ...] = (50, 100, 200, 500)
    wide_widths: tuple[int, ...] = (1000, 2000, 5000)
    user_options: dict[str, Any] = field(default_factory=dict)
    unit_width: int = 5000
    search_shape: tuple[int, int] = (10_000, 512)
    seeds: int = 10


QUICK = Sizes(
    sets=(binary.MADE,),
    rows=(300, 500),
    rounds=(10, 20),
    harmonic_rounds=20,
    max_degree=12,
    image_widths=((8, 12),),
    digit_widths=(8,),
    wide_widths=(16,),
    user_options={"n_components": 8, "C": 1.0},
    unit_width=100,
    search_shape=(1_000, 64),
    seeds=2,
)


# --- made sets ----------------------------------------------------------------------------------


def windmill(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return rows of the square, labelled by the sign of three waves at 120°."""
    angles = 2 * np.pi * np.arange(3) / 3
    X = rng.uniform(-1, 1, (n + n // 4, 2))
    s = np.sin(18 * X @ np.stack([np.cos(angles), np.sin(angles)])).sum(axis=1)
    keep = np.flatnonzero(np.abs(s) >= 0.03)[:n]
    return X[keep], np.sign(s[keep])


def blades(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return rows of the disk, labelled by the sign of sin 8θ, a negative control."""
    radius, angle = np.sqrt(rng.random(n)), rng.uniform(0, 2 * np.pi, n)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, np.where(np.sin(8 * angle) > 0, 1.0, -1.0)


def checkerboard(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return rows of the sphere, labelled by the sign of sin 4φ sin 4θ."""
    X = rng.standard_normal((n, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    waves = np.sin(4 * np.arctan2(X[:, 1], X[:, 0])) * np.sin(4 * np.arccos(X[:, 2]))
    return X, np.where(waves > 0, 1.0, -1.0)


def rotated(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return the checkerboard in another orientation, where more harmonics are needed."""
    X, y = checkerboard(n, rng)
    turn, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))
    return X @ turn, y


MADE: dict[str, Sample] = {
    "windmill": windmill,
    "blades": blades,
    "sphere": checkerboard,
    "sphere rotated": rotated,
}


def drawn(name: str, n: int, n_test: int, seed: int) -> Data:
    """Return training and test rows of a made set."""
    rng = np.random.default_rng((seed, 2018))
    (X, y), (X_test, y_test) = (MADE[name](size, rng) for size in (n, n_test))
    return Data(name, X, y, X_test, y_test)


# --- images -------------------------------------------------------------------------------------


def hog(images: NDArray, n_orientations: int = 8, cell: int = 4) -> NDArray[np.floating]:
    """Return histograms of oriented gradients: one histogram per cell, normalised on its own.

    Parameters
    ----------
    images : ndarray of shape (n, height, width, 3)
        Colours between 0 and 255.
    n_orientations : int, default=8
        Number of directions between 0° and 180°.
    cell : int, default=4
        Height and width of a cell in pixels.

    Returns
    -------
    ndarray of shape (n, (height / cell) · (width / cell) · n_orientations)
    """
    grey = images @ np.array([0.299, 0.587, 0.114]) / 255
    down, right = np.zeros_like(grey), np.zeros_like(grey)
    down[:, 1:-1], right[:, :, 1:-1] = grey[:, 2:] - grey[:, :-2], grey[:, :, 2:] - grey[:, :, :-2]
    strength, angle = np.hypot(down, right), np.arctan2(down, right) % np.pi
    direction = np.minimum(n_orientations * angle / np.pi, n_orientations - 1).astype(int)
    n, height, width = grey.shape
    histograms = np.empty((n, height // cell, width // cell, n_orientations))
    for k in range(n_orientations):
        some = np.where(direction == k, strength, 0)
        some = some.reshape(n, height // cell, cell, width // cell, cell)
        histograms[..., k] = some.mean(axis=(2, 4))
    for most in (0.2, 1.0):  # clipped at 0.2 and normalised again, as by Dalal and Triggs
        histograms /= np.sqrt(np.sum(histograms**2, axis=-1, keepdims=True) + 1e-10)
        histograms = np.minimum(histograms, most)
    return histograms.reshape(n, -1)


def _pixels(images: NDArray) -> NDArray[np.floating]:
    return images.reshape(len(images), -1) / 255


# Name of the file, the labels of the classes +1 and −1, and the map from images to rows.
IMAGES: dict[str, tuple[str, tuple[int, int], Callable[[NDArray], NDArray]]] = {
    "automobile/truck": ("cifar10/cifar10_automobile_truck.npz", (1, 9), hog),
    "4/9": ("mnist/mnist.npz", (4, 9), _pixels),
    "3/5": ("mnist/mnist.npz", (3, 5), _pixels),
}
# Sets of a user, with the split of `binary.py`.
USERS = ("letter", "ijcnn1", "spambase")


@lru_cache(maxsize=1)
def load(name: str) -> Data | None:
    """Return a set with a fixed split, or None without a file."""
    if name == binary.MADE:
        return binary.load(name, False)
    return _images(name) if name in IMAGES else _standardised(name)


def _images(name: str) -> Data | None:
    file, labels, rows = IMAGES[name]
    path = find(file)
    if path is None:
        return None
    parts = []
    with np.load(path) as arrays:
        for part in ("train", "test"):
            X, y = arrays[f"X_{part}"], arrays[f"y_{part}"]
            chosen = np.isin(y, labels)
            parts += [rows(X[chosen]), np.where(y[chosen] == labels[0], 1.0, -1.0)]
    return Data(name, *parts)


def _standardised(name: str) -> Data | None:
    data = binary.load(name, False)
    if data is None:
        return None
    scaler = StandardScaler().fit(data.X)
    return Data(name, scaler.transform(data.X), data.y, scaler.transform(data.X_test), data.y_test)
