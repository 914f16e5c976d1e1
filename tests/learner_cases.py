"""Learners with a small map, rows and targets for them, and what makes two of them the same."""

from __future__ import annotations

import numpy as np
from rounding import assert_same_outputs
from sklearn.base import clone

import krein
from krein.features.base import FeatureMap
from krein.forms import Signature
from krein.kernels import DeltaGaussian, Polynomial

DELTA = DeltaGaussian(1.0, 4.0)
LEARNERS = {
    "ridge": krein.KreinRidge(alpha=1e-3, alpha_neg=0.1),
    "ridge cv": krein.KreinRidge(alpha="cv"),
    "ridge gradient": krein.KreinRidge(alpha="gradient"),
    "lasso": krein.KreinRidge(alpha=1e-2, penalty="l1"),
    "ridge classifier": krein.KreinRidgeClassifier(alpha=1e-3, alpha_neg=0.1),
    "ridge classifier cv": krein.KreinRidgeClassifier(alpha="cv"),
    "variance": krein.VarianceConstrainedRegressor(alpha=1e-3, alpha_neg=0.1, spread=0.9),
    "variance cv": krein.VarianceConstrainedRegressor(alphas=[1e-4, 1e-2]),
    "variance classifier": krein.VarianceConstrainedClassifier(alpha=1e-3, spread=0.9),
    "svc": krein.KreinSVC(alpha=1e-3, alpha_neg=0.1, tol=1e-12),
    "svc cv": krein.KreinSVC(alpha="cv", tol=1e-12),
    "svc hinge": krein.KreinSVC(loss="hinge", alpha=1e-3, alpha_neg=0.1, tol=1e-12),
}
CLASSIFIERS = [name for name in LEARNERS if "classifier" in name or "svc" in name]
FIXED = [name for name in LEARNERS if not name.endswith(("cv", "gradient"))]


class Signed(FeatureMap):
    """The columns as they are, the first two with a negative sign."""

    random_state = None

    def _resolved_kernel(self):
        return Polynomial(degree=1, coef0=0.0)

    def _learn(self, X, y, rng):
        self.form_ = Signature(np.where(np.arange(X.shape[1]) < 2, -1.0, 1.0))

    def _map(self, X):
        return X


def data(n=120):
    """Rows on a grid of 2⁻¹⁰, so that offsets are exact, and targets that depend on them."""
    rng = np.random.default_rng(0)
    X = np.round(2**10 * rng.standard_normal((n, 3))) / 2**10
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n)


def targets(name, y, n_classes=3):
    """Targets for the learner: the numbers, or labels of unequal classes."""
    cuts = np.quantile(y, [0.4, 0.7])[: n_classes - 1]
    return np.array(["a", "b", "c"])[np.digitize(y, cuts)] if name in CLASSIFIERS else y


def make(name, landmarks="leverage", kernel=DELTA, **options):
    features = krein.Nystrom(kernel, 12, landmarks=landmarks, n_landmarks=36)
    return clone(LEARNERS[name]).set_params(features=features, random_state=0, **options)


def outputs_of(model, X):
    return getattr(model, "decision_function", model.predict)(X)


def assert_same(one, two, X, tol=1e-8):
    assert_same_outputs(one, two, X, tol)
