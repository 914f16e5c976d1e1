"""Data, maps and learners that the tests of streaming learners share."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from krein import (
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    Nystrom,
    RandomFourier,
    VarianceConstrainedRegressor,
)
from krein.kernels import DeltaGaussian, Gaussian

N, D = 300, 4


def _data_set(n):
    """Multiples of 1/64, which every text format writes exactly; some zeros, some equal rows."""
    rng = np.random.default_rng(7)
    X = np.round(64 * rng.normal(size=(n, D))) / 64
    X[rng.random((n, D)) < 0.2] = 0.0
    X[-20:] = X[:20]
    signal = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])
    values = np.round(64 * (signal + 0.3 * rng.normal(size=n))) / 64 + 5.0
    labels = np.digitize(signal + 0.3 * rng.normal(size=n), [-0.6, 0.6]).astype(float)
    return X, values, labels


X, VALUES, LABELS = _data_set(N)
WEIGHTS = np.random.default_rng(8).integers(0, 4, N) / 2.0
T = np.round(64 * np.random.default_rng(9).normal(size=(50, D))) / 64

MAPS = {
    "nystrom": {"kernel": DeltaGaussian(1.0, 5.0), "n_components": 20, "random_state": 0},
    "fourier": {"features": RandomFourier(DeltaGaussian(1.0, 5.0), 32, random_state=0)},
    "pipeline": {
        "features": make_pipeline(StandardScaler(), Nystrom(Gaussian(1.5), 20, random_state=0)),
        "random_state": 0,
    },
}
FIXED = {"alpha": 1e-3, "alpha_neg": 1e-2}
LEARNERS = {
    "ridge": (KreinRidge, FIXED),
    "ridge_classifier": (KreinRidgeClassifier, FIXED),
    "variance": (VarianceConstrainedRegressor, {**FIXED, "spread": 0.8}),
    "svc": (KreinSVC, {**FIXED, "tol": 1e-12}),
}
GRID = {"alphas": [1e-4, 1e-2], "alphas_neg": [1e-4, 1e-1]}
TUNED = {
    "ridge": (KreinRidge, GRID),
    "ridge_classifier": (KreinRidgeClassifier, GRID),
    "variance": (VarianceConstrainedRegressor, GRID),
    "svc": (KreinSVC, {**GRID, "tol": 1e-12}),
}


def _target(learner):
    return VALUES if learner in ("ridge", "variance") else LABELS


def _make(learner, features="nystrom", table=LEARNERS):
    made, settings = table[learner]
    return clone(made(**settings, **MAPS[features]))


def _assert_same_model(model, other, rtol=1e-10):
    for name in ("coef_", "intercept_"):
        mine, theirs = np.asarray(getattr(model, name)), np.asarray(getattr(other, name))
        assert mine.shape == theirs.shape
        assert np.linalg.norm(mine - theirs) <= rtol * np.linalg.norm(theirs), name
    if hasattr(other, "classes_"):
        np.testing.assert_array_equal(model.classes_, other.classes_)


def _output(model, rows=T):
    return getattr(model, "decision_function", model.predict)(rows)


def _blocks(n_blocks, *parts):
    pieces = (np.array_split(part, n_blocks) for part in parts)
    return list(zip(*pieces, strict=True))
