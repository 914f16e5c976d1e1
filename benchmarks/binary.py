"""The binary problems of the random-feature papers, each with a fixed split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from measuring import find
from numpy.typing import NDArray


@dataclass(frozen=True)
class Data:
    """A binary problem with a fixed split; the targets are −1 and +1."""

    name: str
    X: NDArray
    y: NDArray
    X_test: NDArray
    y_test: NDArray

    @property
    def dim(self) -> int:
        return self.X.shape[1]

    def rows(self, n: int, seed: int) -> NDArray:
        """Return at most n random training rows."""
        order = np.random.default_rng(seed).permutation(len(self.X))
        return self.X[np.sort(order[:n])]


# Name of the file, which labels are +1, and the numbers of training and test rows. None: the split
# of the file. Letter is A–M against N–Z. The test part of cod-RNA is a fifth of its training file.
# Rows of EEG are a time series and are split at random.
SETS: dict[str, tuple[str, Callable[[NDArray], NDArray], tuple[int, int] | None]] = {
    "letter": ("letter/letter.npz", lambda y: y < 13, (12_000, 6_000)),
    "ijcnn1": ("ijcnn1/ijcnn1.npz", lambda y: y > 0, None),
    "cod-RNA": ("cod_rna/cod_rna.npz", lambda y: y > 0, (47_628, 11_907)),
    "covtype": ("covtype/covtype.npz", lambda y: y == 2, (50_000, 20_000)),
    "covtype, whole": ("covtype/covtype.npz", lambda y: y == 2, (464_810, 116_202)),
    "spambase": ("spambase/spambase.npz", lambda y: y > 0, (2_760, 1_841)),
    "EEG": ("eeg_eye_state/eeg_eye_state.npz", lambda y: y > 0, (7_490, 7_490)),
    "skin": ("skin/skin.npz", lambda y: y == 1, (122_529, 122_528)),
}
# Percentiles at which columns are clipped before they are scaled: EEG has huge outliers.
CLIPS = {"EEG": (0.1, 99.9)}
# A set that needs no file, for --quick.
MADE = "made"


@lru_cache(maxsize=2)
def load(name: str, unit_rows: bool) -> Data | None:
    """Return a data set with columns in [0, 1], and rows of norm 1 if wanted; None without a file.

    The split is the same for all seeds, so that seeds differ in the maps alone.
    """
    if name == MADE:
        X, y = _made()
        parts = (400, 200)
    else:
        file, positive, parts = SETS[name]
        path = find(file)
        if path is None:
            return None
        with np.load(path) as arrays:
            keys = [key for key in ("X", "X_train", "X_test") if key in arrays]
            X = np.concatenate([arrays[key].astype(float) for key in keys])
            labels = np.concatenate([arrays[key.replace("X", "y")] for key in keys])
            y = np.where(positive(labels), 1.0, -1.0)
            n_train = len(arrays[keys[0]])
    low, high = np.percentile(X, CLIPS.get(name, (0, 100)), axis=0)
    X = np.clip(X, low, high)
    X = (X - low) / np.where(high > low, high - low, 1)
    if unit_rows:
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        X = np.where(norms > 0, X / np.where(norms > 0, norms, 1), 1 / np.sqrt(X.shape[1]))
    if parts is None:
        train, test = np.arange(n_train), np.arange(n_train, len(X))
    else:
        order = np.random.default_rng(0).permutation(len(X))
        train, test = order[: parts[0]], order[parts[0] : sum(parts)]
    return Data(name, X[train], y[train], X[test], y[test])


def _made() -> tuple[NDArray, NDArray]:
    rng = np.random.default_rng(0)
    X = rng.random((600, 5))
    return X, np.where(np.sin(6 * X[:, 0]) + X[:, 1] > 0.5, 1.0, -1.0)
