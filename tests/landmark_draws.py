"""Rows, and a Nyström map whose rule draws landmarks among them."""

from __future__ import annotations

import numpy as np

from krein import Nystrom


def _rows(rng: np.random.Generator, n: int = 200, d: int = 3) -> np.ndarray:
    """Rows with zeros whose entries float32 can hold."""
    X = np.round(rng.standard_normal((n, d)) * 256) / 256
    X[rng.random((n, d)) < 0.2] = 0
    return X


def _fit(rule, kernel, X, seed=0, n_landmarks=20):
    features = Nystrom(
        kernel, n_components=10, n_landmarks=n_landmarks, landmarks=rule, random_state=seed
    )
    return features.fit(X)
