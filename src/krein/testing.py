"""Checkers: each compares an object of the library with its dense, slow twin.

If you add a kernel, law, measure, sampler, form or feature map, run its checker on it. The tests of
the library run the same checkers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from .forms import Form
from .kernels import Kernel
from .measures import Law, Measure
from .samplers import PointSampler


def check_kernel(
    kernel: Kernel, twin: Callable[[NDArray, NDArray], float], X: NDArray, Y: NDArray
) -> None:
    """Compare a kernel of vectors with a function of two rows.

    The checker compares values, diagonal, transpose, declared symmetry, symmetric and skew part,
    clones, float32 and CSR input.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    twin : callable
        Returns k(x, y) for two rows.
    X, Y : ndarray of shape (n, d) and (m, d)
        Rows.
    """
    expected = np.array([[twin(x, y) for y in Y] for x in X])
    scale = np.abs(expected).max()
    assert_allclose(kernel(X, Y), expected, rtol=1e-7, atol=1e-9 * scale)
    assert_allclose(kernel.diag(X), [twin(x, x) for x in X], rtol=1e-7, atol=1e-9 * scale)
    square = kernel(X)
    assert_allclose(np.diagonal(square), kernel.diag(X), rtol=1e-12)
    assert_allclose(kernel.T(X, Y), kernel(Y, X).T, rtol=1e-12, atol=1e-14 * scale)
    symmetric = bool(np.allclose(square, square.T, rtol=1e-9, atol=1e-12 * scale))
    assert symmetric == kernel.traits.is_symmetric, "is_symmetric does not say what the values do"
    parts = kernel.symmetric_part(X, Y) + kernel.skew_part(X, Y)
    assert_allclose(parts, kernel(X, Y), rtol=1e-9, atol=1e-12 * scale)
    assert clone(kernel) == kernel
    single = kernel(X.astype(np.float32), Y.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, expected, rtol=1e-3, atol=2e-3 * scale)
    dense, rows = kernel(X, Y), kernel(sparse.csr_array(X), sparse.csr_array(Y))
    assert_allclose(rows, dense, rtol=1e-7, atol=1e-9 * scale)


def check_form(form: Form, rng: np.random.Generator) -> None:
    """Check that a form is orthogonal and acts as its dense matrix.

    Parameters
    ----------
    form : Form
        The form.
    rng : Generator
        Source of randomness.
    """
    dense = form.dense()
    assert_allclose(dense @ dense.T, np.eye(form.width), atol=1e-12)
    Z = rng.standard_normal((5, form.width))
    assert_allclose(form.dual(Z), Z @ dense.T, atol=1e-12)
    assert_allclose(form.T.dense(), dense.T, atol=1e-12)
    assert form.is_symmetric == bool(np.allclose(dense, dense.T, atol=1e-12))
    assert form.is_identity == bool(np.allclose(dense, np.eye(form.width), atol=1e-12))
    assert_array_equal(form.flip().dense(), np.eye(form.width))
    assert_array_equal(form.clip(), np.diagonal(dense) > 0)
    assert form.dual(Z.astype(np.float32)).dtype == np.float32


def check_law(law: Law, rng: np.random.Generator, n: int = 40_000) -> None:
    """Compare the points of a law with its characteristic function, within 5 standard errors.

    Parameters
    ----------
    law : Law
        The law.
    rng : Generator
        Source of randomness.
    n : int, default=40000
        Number of points.
    """
    points = law.transport(rng.standard_normal((n, law.canonical_dim)))
    assert points.shape == (n, law.dim)
    # At differences of this size the waves are neither constant nor pure noise.
    scale = np.median(np.linalg.norm(points, axis=1)) / np.sqrt(law.dim)
    differences = rng.standard_normal((8, law.dim)) / (max(scale, 1e-3) * np.sqrt(law.dim))
    waves = np.exp(1j * (points @ differences.T))
    expected = np.broadcast_to(law.characteristic(differences), 8).astype(complex)
    for part in (np.real, np.imag):
        error = part(waves).std(axis=0) / np.sqrt(n) + 1e-6
        assert np.all(np.abs(part(waves).mean(axis=0) - part(expected)) < 5 * error)
    assert_allclose(law.characteristic(np.zeros((1, law.dim))), 1.0, atol=1e-6)


def check_sampler(sampler: PointSampler, dim: int, rng: np.random.Generator) -> None:
    """Check the mean, variance and fourth moment of canonical points, which are N(0, I).

    Parameters
    ----------
    sampler : PointSampler
        The sampler.
    dim : int
        Dimension of the points.
    rng : Generator
        Source of randomness.
    """
    n, repeats = 64, 200
    draws = np.stack([sampler.points(n, dim, rng) for _ in range(repeats)])
    assert draws.shape == (repeats, n, dim)
    # Points of one draw depend on each other, so the standard error is taken over repeated draws.
    for power, expected in ((1, 0.0), (2, 1.0), (4, 3.0)):
        means = (draws**power).mean(axis=1)
        error = means.std(axis=0, ddof=1) / np.sqrt(repeats) + 1e-9
        assert np.all(np.abs(means.mean(axis=0) - expected) < 5 * error + 1e-3)


def check_measure(measure: Measure, kernel: Kernel, X: NDArray) -> None:
    """Compare a measure with its kernel on the differences of rows.

    Parameters
    ----------
    measure : Measure
        The measure.
    kernel : Kernel
        The kernel that the measure represents.
    X : ndarray of shape (n, d)
        Rows.
    """
    differences = (X[:, None] - X[None]).reshape(-1, X.shape[1])
    expected = kernel(X).ravel()
    slack = measure.bias * 1.1 + 1e-6 * np.abs(expected).max()
    assert np.abs(measure.kernel(differences) - expected).max() <= slack
    assert measure.is_real == kernel.is_symmetric
    assert measure.total_mass >= np.abs(expected).max() - slack
    assert_allclose(measure.conj().kernel(differences), measure.kernel(-differences), atol=1e-9)
    doubled = (measure + measure).total_mass
    assert_allclose([doubled, (2.0 * measure).total_mass], 2 * measure.total_mass, rtol=1e-12)
    jordan = measure.jordan()
    assert jordan.total_mass >= measure.total_mass * (1 - 1e-5)


def check_feature_map(features: Any, X: NDArray, Y: NDArray) -> None:
    """Check `transform`, `transform_dual` and `form_` of a fitted map against each other.

    The identity is ``approximate_kernel = transform · transform_dualᵀ = Z M Zᵀ``. The checker also
    compares blocks of rows, float32 and CSR input, and the number of features.

    Parameters
    ----------
    features : FeatureMap
        The fitted map.
    X, Y : ndarray of shape (n, d) and (m, d)
        Rows.
    """
    Z, W = features.transform(X), features.transform_dual(Y)
    assert Z.shape == (len(X), features.form_.width) == (len(X), features.n_components)
    approximate = features.approximate_kernel(X, Y)
    assert_allclose(approximate, Z @ W.T, atol=1e-12)
    assert_allclose(W, features.transform(Y) @ features.form_.dense().T, atol=1e-10)
    pieces = np.concatenate([features.transform(X[:3]), features.transform(X[3:])])
    assert_allclose(pieces, Z, rtol=1e-10, atol=1e-12)
    single = features.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, Z, atol=2e-3 * np.abs(Z).max())
    assert_allclose(features.transform(sparse.csr_array(X)), Z, rtol=1e-9, atol=1e-10)
    if features.form_.is_symmetric:
        gram = features.approximate_kernel(X)
        assert_allclose(gram, gram.T, atol=1e-10)
