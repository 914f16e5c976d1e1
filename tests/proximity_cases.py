"""Proximity matrices and the estimators that take them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein.kernels import DeltaGaussian, Gaussian, Precomputed, ShiftGaussian
from krein.proximity import (
    AsymmetricEmbedding,
    DissimilarityToSimilarity,
    DoubleCentering,
    KreinPCA,
    SpectrumCorrector,
)

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


def directed(n: int, seed: int = 0) -> np.ndarray:
    """Not symmetric, with singular values that are apart."""
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    return (U * np.linspace(5, 1, n)) @ V.T


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
    (AsymmetricEmbedding(), similarities),
    (AsymmetricEmbedding(None, center=True), similarities),
    (AsymmetricEmbedding(4), directed),
]
VECTORS = [
    DoubleCentering("euclidean"),
    DoubleCentering("cosine"),
    DissimilarityToSimilarity("exp", metric="manhattan"),
    KreinPCA(kernel=Gaussian()),
    KreinPCA(kernel=DeltaGaussian(), center=False),
    AsymmetricEmbedding(kernel=ShiftGaussian()),
]


def _id(value):
    return repr(value) if hasattr(value, "get_params") else getattr(value, "__name__", None)


precomputed = pytest.mark.parametrize(("estimator", "data"), PRECOMPUTED, ids=_id)
vectors = pytest.mark.parametrize("estimator", VECTORS, ids=repr)
