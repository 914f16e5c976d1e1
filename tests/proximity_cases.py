"""Proximity matrices and the estimators that take them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein.kernels import DeltaGaussian, Gaussian, Precomputed
from krein.proximity import DissimilarityToSimilarity, DoubleCentering, KreinPCA, SpectrumCorrector

exact = partial(assert_allclose, rtol=1e-9, atol=1e-9)

METHODS = ["flip", "clip", "shift", "square"]
RULES = ["double_centering", "exp", "gaussian", "max"]


def dissimilarities(n: int, seed: int = 0) -> np.ndarray:
    """Symmetric with a zero diagonal, far from Euclidean: the triangle inequality is violated."""
    A = np.random.default_rng(seed).random((n, n)) * 3
    D = A + A.T
    np.fill_diagonal(D, 0)
    return D


def similarities(n: int, seed: int = 0) -> np.ndarray:
    """Symmetric and indefinite, with eigenvalues well away from zero."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.where(np.arange(n) % 3 == 1, -1.0, 1.0) * rng.uniform(1, 4, n)
    K = (U * values) @ U.T
    return (K + K.T) / 2


# Estimator and training data of which it knows all pairs.
PRECOMPUTED = [
    (DoubleCentering(), dissimilarities),
    *((DissimilarityToSimilarity(rule), dissimilarities) for rule in RULES),
    (DissimilarityToSimilarity("exp", gamma=0.3), dissimilarities),
    *((SpectrumCorrector(method), similarities) for method in METHODS),
    (KreinPCA(), similarities),
    (KreinPCA(None), similarities),
    (KreinPCA(5, center=False), similarities),
    (KreinPCA(3, kernel=Precomputed()), similarities),
]
VECTORS = [
    DoubleCentering("euclidean"),
    DoubleCentering("cosine"),
    DissimilarityToSimilarity("exp", metric="manhattan"),
    KreinPCA(kernel=Gaussian()),
    KreinPCA(kernel=DeltaGaussian(), center=False),
]


def _id(value):
    return repr(value) if hasattr(value, "get_params") else getattr(value, "__name__", None)


precomputed = pytest.mark.parametrize(("estimator", "data"), PRECOMPUTED, ids=_id)
vectors = pytest.mark.parametrize("estimator", VECTORS, ids=repr)
