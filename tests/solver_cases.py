"""Problems that the tests of the solvers share."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Ridge as SklearnRidge

from krein.forms import Signature
from krein.learning import (
    LeastSquares,
)
from krein.streaming import Moments

SIGNS = np.array([1.0, -1, 1, -1, 1])
FORM = Signature(SIGNS)


def _data(n=80, p=5, q=1, seed=0):
    """Correlated features with offsets, targets that depend on them, and weights."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p)) @ (np.eye(p) + 0.4 * rng.standard_normal((p, p))) + 0.5
    Y = Z @ rng.standard_normal((p, q)) + 0.5 * rng.standard_normal((n, q)) + 2
    return Z, Y, rng.random(n) + 0.1


def _problem(Z, Y, weight, fit_intercept=True):
    return LeastSquares.of(Moments.of(np.hstack([Z, Y]), weight), Y.shape[1], fit_intercept)


def _scaled_ridge(Z, Y, weight, alpha, alpha_neg, fit_intercept=True):
    """scikit-learn's Ridge, in which columns divided by √penalty make two penalties one."""
    root = np.sqrt(np.where(SIGNS > 0, alpha, alpha_neg))
    model = SklearnRidge(alpha=weight.sum(), fit_intercept=fit_intercept, solver="svd")
    return (model.fit(Z / root, Y, weight).coef_.reshape(-1, Z.shape[1]) / root).T


def _central(function, settings, step=1e-5):
    """Derivatives of function(*settings) by the logarithms of the settings."""
    logs = np.log(settings)
    moves = step * np.eye(len(logs))
    change = [function(*np.exp(logs + m)) - function(*np.exp(logs - m)) for m in moves]
    return np.array(change) / (2 * step)


class Pieces:
    """Features in memory, walked in blocks."""

    def __init__(self, Z, n_blocks=1):
        self.Z, self.n_blocks = Z, n_blocks
        self.n_rows, self.width = Z.shape

    def __iter__(self):
        for part in np.array_split(np.arange(self.n_rows), self.n_blocks):
            rows = slice(part[0], part[-1] + 1)
            yield rows, self.Z[rows]
