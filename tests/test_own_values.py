"""Kernels with a diagonal that stands out: landmarks whose own values are replaced."""

from __future__ import annotations

import numpy as np
import pytest
from nystrom_cases import _relative
from rounding import assert_rounded
from scipy import sparse
from sklearn.datasets import load_digits

from krein import Nystrom
from krein.features.own_values import OwnValues
from krein.kernels import (
    DeltaGaussian,
    DynamicTimeWarping,
    Gaussian,
    Pairwise,
    Polynomial,
    Precomputed,
    ShiftGaussian,
    Sigmoid,
    Similarity,
)

RANK = 40


@pytest.fixture(scope="module")
def digits():
    """Standardised rows: the narrow part of the δ-Gaussian is the identity on them."""
    X = load_digits().data
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.fixture(scope="module")
def fitted(digits):
    return Nystrom(DeltaGaussian(1.0, 10.0), RANK, random_state=0).fit(digits[:1200])


def _extended_eigenvectors(K, K_new, rank):
    """The error of k(new, training) of the exact eigenvectors of the training matrix."""
    values, U = np.linalg.eigh(K)
    U = U[:, np.argsort(-np.abs(values))[:rank]]
    return _relative(K_new @ U @ U.T, K_new)


def test_new_rows_are_nearly_as_good_as_extended_eigenvectors(digits, fitted):
    whole = fitted.kernel_(digits)
    ideal = _extended_eigenvectors(whole[:1200, :1200], whole[1200:, :1200], RANK)
    found = fitted.approximate_kernel(digits[1200:], digits[:1200])
    assert _relative(found, whole[1200:, :1200]) < 1.5 * ideal  # it was 2.9 with k(z, z)


def test_the_own_values_are_predicted_by_the_wide_part(fitted):
    # k(z, z) is 1 − 1 = 0. Without the narrow part it is −1, of which the rank keeps a part.
    assert fitted.own_values_.max() < -0.2
    assert np.median(fitted.own_values_) < -0.6


@pytest.mark.parametrize(
    "kernel", [Gaussian(8.0), Polynomial(3, 1 / 61, 1.0), Sigmoid(1 / 61)], ids=repr
)
def test_other_kernels_keep_their_own_values(digits, kernel):
    assert Nystrom(kernel, RANK, random_state=0).fit(digits[:1200]).own_values_ is None


def test_kernels_that_are_not_symmetric_have_own_values_too(digits):
    kernel = DeltaGaussian(1.0, 10.0) + 0.3 * ShiftGaussian(10.0, 0.3)
    features = Nystrom(kernel, RANK, random_state=0).fit(digits[:1200])
    assert features.own_values_ is not None
    whole = kernel(digits)
    _, _, Vt = np.linalg.svd(whole[:1200, :1200])
    new = whole[1200:, :1200]
    ideal = _relative(new @ Vt[:RANK].T @ Vt[:RANK], new)
    assert _relative(features.approximate_kernel(digits[1200:], digits[:1200]), new) < 1.6 * ideal


def test_without_spare_rows_the_best_approximation_is_exact(digits):
    X = digits[:150]
    kernel = DeltaGaussian(1.0, 10.0)
    features = Nystrom(kernel, 20, landmarks="all", random_state=0).fit(X)
    assert features.own_values_ is None
    values = np.linalg.eigvalsh(kernel(X))
    values = np.sort(np.abs(values))[::-1]
    best = np.linalg.norm(values[20:]) / np.linalg.norm(values)
    assert_rounded(_relative(features.approximate_kernel(X), kernel(X)), best, tol=1e-9)


# --- every way of passing a landmark gives the same features ------------------------------------


def test_fit_transform_is_transform(digits):
    features = Nystrom(DeltaGaussian(1.0, 10.0), RANK, random_state=0)
    Z = features.fit_transform(digits[:1200])
    assert_rounded(Z, features.transform(digits[:1200]))


def test_precision_and_sparsity_change_nothing(digits, fitted):
    rows = digits[fitted.component_indices_[:20]]
    Z = fitted.transform(rows)
    single = fitted.transform(rows.astype(np.float32))
    assert single.dtype == np.float32
    assert np.abs(single - Z).max() < 1e-3 * np.abs(Z).max()
    assert_rounded(fitted.transform(sparse.csr_array(rows)), Z, tol=1e-9)


def test_a_matrix_gives_the_features_of_its_kernel(digits, fitted):
    K = fitted.kernel_(digits[:1200])
    options = {"landmarks": fitted.component_indices_, "n_landmarks": 3 * RANK, "random_state": 0}
    of_matrix = Nystrom("precomputed", RANK, **options).fit(K)
    before = K.copy()
    assert of_matrix.own_values_ is not None
    error = _relative(of_matrix.approximate_kernel(K), K)
    assert error < 1.05 * _relative(fitted.approximate_kernel(digits[:1200]), K)
    Z = of_matrix.transform(K)
    only = np.ascontiguousarray(K[:, of_matrix.component_indices_])
    assert_rounded(of_matrix.transform(only), Z)
    assert np.array_equal(K, before)
    assert np.array_equal(only, before[:, of_matrix.component_indices_])


def test_a_matrix_that_is_not_symmetric_knows_its_landmarks_on_both_sides(digits):
    X = digits[:900]
    K = (DeltaGaussian(1.0, 10.0) + 0.3 * ShiftGaussian(10.0, 0.3))(X)
    features = Nystrom(Precomputed(symmetric=False), RANK, random_state=0).fit(K)
    assert features.own_values_ is not None
    chosen = features.component_indices_[:5]
    for rows, values in ((features.transform, K[chosen]), (features.transform_dual, K.T[chosen])):
        shifted = values.copy()
        shifted[:, chosen] += 1e-3 * np.eye(5)  # the rows are not those of a landmark any more
        assert np.abs(rows(values) - rows(shifted)).max() > 1e-3


def test_objects_know_their_landmarks(digits):
    X = digits[:700, :30]
    kernel = DeltaGaussian(0.7, 10.0)
    table = {row.tobytes(): i for i, row in enumerate(X)}
    K = kernel(X)

    def similarity(x, y):
        return K[table[x.tobytes()], table[y.tobytes()]]

    objects = list(X)
    features = Nystrom(Pairwise(similarity, symmetric=True), 30, random_state=0)
    Z = features.fit_transform(objects)
    assert features.own_values_ is not None
    assert_rounded(features.transform(objects), Z)
    K_approximate = features.approximate_kernel(objects)
    on_vectors = Nystrom(kernel, 30, random_state=0).fit(X)
    assert on_vectors.own_values_ is not None
    assert _relative(K_approximate, K) < 1.1 * _relative(on_vectors.approximate_kernel(X), K)


def test_lists_of_numbers_know_their_landmarks_in_fit_transform(rng):
    series = [rng.standard_normal(3 + i % 4).tolist() for i in range(9)]
    kernel = Similarity(DynamicTimeWarping())
    features = Nystrom(kernel, 1, landmarks="uniform", random_state=0)
    Z = features.fit_transform(series)
    assert features.own_values_ is not None
    assert_rounded(features.transform(series), Z)


def test_the_values_of_many_equal_rows_are_kept(digits):
    # Each row stands there thirty times: equal rows are pairs like all others.
    X = np.repeat(digits[:120], 30, axis=0)
    features = Nystrom(DeltaGaussian(1.0, 10.0), 20, n_landmarks=40, random_state=0).fit(X)
    assert features.own_values_ is None


def test_put_replaces_the_values_of_landmarks_only(rng):
    landmarks = rng.standard_normal((6, 3))
    own = OwnValues(landmarks, np.arange(6.0))
    X = np.concatenate([landmarks[[4, 1]], rng.standard_normal((3, 3))])
    K = np.full((5, 6), 9.0)
    found = own.put(K, X)
    expected = np.full((5, 6), 9.0)
    expected[0, 4], expected[1, 1] = 4.0, 1.0
    assert np.array_equal(found, expected)
    assert (K == 9).all()


def test_large_ids_are_not_confused():
    ids = [2**24, 2**24 + 1]  # equal in single precision
    K = OwnValues(ids[:1], np.array([5.0])).put(np.zeros((2, 1)), ids)
    assert np.array_equal(K, [[5.0], [0.0]])
