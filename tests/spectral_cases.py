"""Data and maps of the tests of learned spectra."""

from __future__ import annotations

import numpy as np

from krein import NotSoRandomFeatures


def windmill(n, rng, a=12.0):
    """Classes by the sign of three waves at 120°, on the square."""
    X = rng.uniform(-1, 1, (2 * n, 2))
    angles = 2 * np.pi * np.arange(3) / 3
    s = np.sin(a * X @ np.stack([np.cos(angles), np.sin(angles)])).sum(axis=1)
    keep = np.abs(s) >= 0.03
    return X[keep][:n], np.where(s > 0, "in", "out")[keep][:n]


def checkerboard(n, rng):
    """Classes by the sign of sin 2φ sin 2θ, on the sphere."""
    X = rng.standard_normal((n, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    phi, theta = np.arctan2(X[:, 1], X[:, 0]), np.arccos(X[:, 2])
    return X, np.sin(2 * phi) * np.sin(2 * theta) > 0


def learner(**options):
    return NotSoRandomFeatures(**{"n_components": 20, "band": 25.0, "random_state": 0} | options)


def spherical(**options):
    settings = {"domain": "sphere", "n_rounds": 30, "max_degree": 8, "random_state": 0}
    return NotSoRandomFeatures(**settings | options)
