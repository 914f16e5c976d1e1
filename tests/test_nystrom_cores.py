"""Cores of Nyström maps: signs, dense twins, the contract, eigenvectors and quality."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from nystrom_cases import CORES, SYMMETRIC, _name, _relative
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem

from krein import Nystrom, approximation_error
from krein.kernels import (
    Custom,
    DeltaGaussian,
    Gaussian,
    Precomputed,
    ShiftGaussian,
    Sigmoid,
    SinhGaussian,
)
from krein.testing import check_feature_map

# The published cores do explode, and say so.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Nystrom explodes on rows:UserWarning"),
    pytest.mark.filterwarnings("ignore:.* rows are unlike the training rows:UserWarning"),
]

ONE_WAY = [ShiftGaussian(1.0, 0.4), SinhGaussian(1.0, 0.3)]


def _cut(K, k, symmetric=True):
    """The best approximation of rank k: by magnitude, from LAPACK."""
    if symmetric:
        values, U = np.linalg.eigh((K + K.T) / 2)
        top = np.argsort(-np.abs(values))[:k]
        return (U[:, top] * values[top]) @ U[:, top].T
    U, values, Vt = np.linalg.svd(K)
    return (U[:, :k] * values[:k]) @ Vt[:k]


def _main_directions(C, k):
    Q, singular, _ = np.linalg.svd(C, full_matrices=False)
    return Q[:, singular > 0.1 * singular[k - 1]]


def _best(K, k):
    """The relative error of the best approximation of rank k."""
    values = np.linalg.svd(K, compute_uv=False)
    return np.linalg.norm(values[k:]) / np.linalg.norm(values)


CASES = [
    pytest.param(kernel, core, id=f"{_name(kernel)}-{core}")
    for kernel in SYMMETRIC + ONE_WAY
    for core in CORES
    if kernel.is_symmetric or core != "squared"
]


# --- all points as landmarks ---------------------------------------------------------------------


@pytest.mark.parametrize(("kernel", "core"), CASES)
def test_all_points_as_landmarks_reproduce_the_kernel(rng, kernel, core):
    X = rng.standard_normal((60, 8))
    K = kernel(X)
    features = Nystrom(kernel, n_components=60, landmarks="all", core=core).fit(X)
    error = _relative(features.approximate_kernel(X), K)
    if core == "squared":  # the baseline squares the condition number, here 5 to 2e4
        assert error < 10 * np.finfo(float).eps * np.linalg.cond(K) ** 2
        return
    assert error < 1e-10
    new = rng.standard_normal((7, 8))
    assert features.approximate_kernel(new, X).shape == (7, 60)
    assert _relative(features.approximate_kernel(new, X), kernel(new, X)) < 1e-10
    assert _relative(features.approximate_kernel(X, new), kernel(X, new)) < 1e-10


@pytest.mark.parametrize(("kernel", "core"), CASES)
def test_all_points_as_landmarks_give_the_best_approximation_of_a_rank(rng, kernel, core):
    X = rng.standard_normal((60, 5))
    K = kernel(X)
    features = Nystrom(kernel, n_components=9, landmarks="all", core=core).fit(X)
    expected = _cut(K, 9, kernel.is_symmetric)
    assert features.transform(X).shape == (60, 9)
    assert _relative(features.approximate_kernel(X), expected) < 1e-8


@pytest.mark.parametrize("kernel", SYMMETRIC, ids=_name)
def test_the_form_has_the_signs_of_the_eigenvalues(rng, kernel):
    X = rng.standard_normal((50, 5))
    features = Nystrom(kernel, n_components=50, landmarks="all").fit(X)
    values = np.linalg.eigvalsh(kernel(X))
    expected = values[np.argsort(-np.abs(values))]
    assert_allclose(features.eigenvalues_, expected, atol=1e-10 * np.abs(expected).max())
    assert_array_equal(features.form_.signs, np.sign(features.eigenvalues_))
    assert features.form_.is_identity == isinstance(kernel, Gaussian)


# --- fewer landmarks, against dense twins --------------------------------------------------------


@pytest.mark.parametrize("kernel", SYMMETRIC + ONE_WAY, ids=_name)
def test_the_sketched_core_is_the_least_squares_fit_cut_to_its_rank(rng, kernel):
    # With n ≤ 6 m all rows are in the second sample: K̃ = P_C K P_R, cut; the projections leave out
    # directions that are small against those that the rank needs.
    X = rng.standard_normal((80, 3))
    K = kernel(X)
    features = Nystrom(kernel, 8, n_landmarks=20, random_state=0, landmarks="uniform").fit(X)
    chosen = features.component_indices_
    assert len(chosen) == 20
    Q, P = (_main_directions(C, 8) for C in (K[:, chosen], K[chosen].T))
    expected = _cut(Q @ (Q.T @ K @ P) @ P.T, 8, kernel.is_symmetric)
    assert _relative(features.approximate_kernel(X), expected) < 1e-8


@pytest.mark.parametrize("kernel", SYMMETRIC, ids=_name)
def test_the_published_core_is_the_top_of_the_dense_nystroem_matrix(rng, kernel):
    X = rng.standard_normal((80, 5))
    features = Nystrom(
        kernel, 6, n_landmarks=15, core="inverse", landmarks="uniform", random_state=0
    ).fit(X)
    Z = features.landmarks_
    dense = kernel(X, Z) @ np.linalg.solve(kernel(Z), kernel(Z, X))
    assert _relative(features.approximate_kernel(X), _cut(dense, 6)) < 1e-8


@pytest.mark.parametrize("core", ["truncated", "inverse"])
@pytest.mark.parametrize("kernel", ONE_WAY, ids=_name)
def test_direct_cores_of_one_way_kernels_are_the_cut_pseudo_inverse(rng, kernel, core):
    X = rng.standard_normal((80, 5))
    features = Nystrom(
        kernel, 6, n_landmarks=15, core=core, landmarks="uniform", random_state=0
    ).fit(X)
    Z = features.landmarks_
    U, values, Vt = np.linalg.svd(kernel(Z))
    inverse = (Vt[:6].T / values[:6]) @ U[:, :6].T
    expected = kernel(X, Z) @ inverse @ kernel(Z, X)
    assert _relative(features.approximate_kernel(X), expected) < 1e-8


@pytest.mark.parametrize(("kernel", "core"), CASES)
def test_the_order_of_the_landmarks_changes_nothing(rng, kernel, core):
    X = rng.standard_normal((100, 5))
    indices = rng.choice(100, 24, replace=False)
    first = Nystrom(kernel, 10, landmarks=indices, core=core, random_state=0).fit(X)
    second = clone(first).set_params(landmarks=rng.permutation(indices)).fit(X)
    expected = first.approximate_kernel(X)
    assert _relative(second.approximate_kernel(X), expected) < 1e-8
    assert_allclose(second.eigenvalues_, first.eigenvalues_, rtol=1e-8)


# --- scikit-learn's Nystroem ---------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [DeltaGaussian(), Sigmoid(0.3, -0.5)], ids=_name)
@pytest.mark.parametrize("core", ["sketch", "truncated", "inverse"])
def test_without_the_form_all_points_give_the_flipped_kernel_as_in_scikit_learn(rng, kernel, core):
    X = rng.standard_normal((50, 5))
    K = kernel(X)
    features = Nystrom(kernel, 50, landmarks="all", core=core).fit(X)
    Z = features.transform(X)
    theirs = Nystroem(kernel="precomputed", n_components=50).fit_transform(K)
    values, U = np.linalg.eigh(K)
    assert values.min() < -0.1 * values.max()
    assert _relative(theirs @ theirs.T, K) > 0.1
    assert_allclose(Z @ Z.T, (U * np.abs(values)) @ U.T, atol=1e-9)
    assert_allclose(Z @ Z.T, theirs @ theirs.T, atol=1e-9)
    assert_allclose(Z @ features.form_.dense() @ Z.T, K, atol=1e-9)


@pytest.mark.parametrize("core", ["inverse", "truncated"])
def test_without_the_form_some_landmarks_give_scikit_learns_nystroem(rng, core):
    X, new = rng.standard_normal((80, 5)), rng.standard_normal((9, 5))

    def scalar(x, y):  # scikit-learn evaluates a callable on one pair of rows at a time
        square = np.sum((x - y) ** 2)
        return np.exp(-square / 2) - np.exp(-square / 200)

    theirs = Nystroem(kernel=scalar, n_components=20, random_state=0).fit(X)
    ours = Nystrom(DeltaGaussian(), 20, landmarks=theirs.component_indices_, core=core).fit(X)
    product = ours.transform(new) @ ours.transform(X).T
    assert_allclose(product, theirs.transform(new) @ theirs.transform(X).T, atol=1e-9)


def test_on_a_positive_definite_kernel_scikit_learns_nystroem_is_the_published_core(rng):
    X = rng.standard_normal((80, 5))
    theirs = Nystroem(gamma=0.5, n_components=20, random_state=0).fit(X)
    ours = Nystrom(Gaussian(), 20, landmarks=theirs.component_indices_, core="inverse").fit(X)
    Z = theirs.transform(X)
    assert_allclose(ours.approximate_kernel(X), Z @ Z.T, atol=1e-9)


# --- the contract of a feature map ---------------------------------------------------------------


@pytest.mark.parametrize("landmarks", ["uniform", "leverage", "residual", "kmeans++", "all"])
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("kernel", SYMMETRIC, ids=_name)
def test_symmetric_kernels_keep_the_contract(rng, kernel, core, landmarks):
    X = rng.standard_normal((70, 5))
    X[rng.random((70, 5)) < 0.2] = 0
    features = Nystrom(kernel, 8, landmarks=landmarks, core=core, random_state=0).fit(X)
    check_feature_map(features, X, rng.standard_normal((6, 5)))
    assert len(features.get_feature_names_out()) == 8


@pytest.mark.parametrize("landmarks", ["uniform", "leverage", "residual", "kmeans++", "all"])
@pytest.mark.parametrize("kernel", ONE_WAY, ids=_name)
def test_one_way_kernels_have_two_maps_and_no_form(rng, kernel, landmarks):
    X, Y = rng.standard_normal((70, 3)), rng.standard_normal((6, 3))
    features = Nystrom(kernel, 30, landmarks=landmarks, random_state=0).fit(X)
    assert not hasattr(features, "form_")
    left, right = features.transform(X), features.transform_dual(Y)
    assert left.shape == (70, 30)
    assert right.shape == (6, 30)
    assert_allclose(features.approximate_kernel(X, Y), left @ right.T, atol=1e-12)
    error = _relative(left @ right.T, kernel(X, Y))
    swapped = _relative(left @ right.T, kernel(Y, X).T)
    assert error < 0.1 < swapped
    assert features.transform(X.astype(np.float32)).dtype == np.float32
    pieces = np.concatenate([features.transform_dual(Y[:2]), features.transform_dual(Y[2:])])
    assert_allclose(pieces, right, atol=1e-12)


def test_a_second_fit_forgets_the_form_of_the_first(rng):
    X = rng.standard_normal((40, 5))
    features = Nystrom(DeltaGaussian(), 40, landmarks="all").fit(X)
    kernel = ShiftGaussian()
    features.set_params(kernel=kernel).fit(X)
    assert not hasattr(features, "form_")
    assert _relative(features.approximate_kernel(X), kernel(X)) < 1e-10


def test_an_unfitted_map_says_so(rng):
    for verb in ("transform", "transform_dual", "approximate_kernel", "approximate_eigh"):
        with pytest.raises(NotFittedError):
            getattr(Nystrom(), verb)(rng.random((3, 2)))


def test_directions_the_kernel_does_not_have_are_dropped(rng):
    signature = np.array([1.0, 2.0, -1.0, -3.0])
    kernel = Custom(lambda X, Y: (X * signature) @ Y.T)
    X = rng.standard_normal((60, 4))
    for core in CORES:
        features = Nystrom(kernel, 20, n_landmarks=20, core=core, random_state=0).fit(X)
        assert features.transform(X).shape == (60, 4), core
        assert sorted(features.form_.signs) == [-1, -1, 1, 1]
        assert len(features.get_feature_names_out()) == 4
        assert _relative(features.approximate_kernel(X), kernel(X)) < 1e-10, core


def test_the_tolerance_drops_small_eigenvalues_of_either_sign(rng):
    U, _ = np.linalg.qr(rng.standard_normal((30, 30)))
    values = np.concatenate([[4.0, -3.0, 2.0], 1e-4 * rng.choice([-1.0, 1.0], 27)])
    K = (U * values) @ U.T
    for core in ("sketch", "truncated", "inverse"):
        features = Nystrom("precomputed", 30, landmarks="all", core=core, tol=1e-3).fit(K)
        assert_allclose(features.eigenvalues_, [4, -3, 2], atol=1e-10)
        assert len(clone(features).set_params(tol=1e-6).fit(K).eigenvalues_) == 30


# --- eigendecomposition --------------------------------------------------------------------------


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("kernel", SYMMETRIC, ids=_name)
def test_approximate_eigh_is_eigh_if_all_are_landmarks(rng, kernel, core):
    X = rng.standard_normal((50, 8))
    K = kernel(X)
    features = Nystrom(kernel, 50, landmarks="all", core=core).fit(X)
    values, vectors = features.approximate_eigh(X)
    expected = np.linalg.eigvalsh(K)
    size = np.abs(expected).max()
    assert_allclose(np.sort(values), expected, atol=1e-9 * size)
    assert np.all(np.diff(np.abs(values)) <= 1e-12 * size)
    assert_allclose(vectors.T @ vectors, np.eye(50), atol=1e-8)
    assert_allclose(K @ vectors, vectors * values, atol=1e-8 * size)


@pytest.mark.parametrize("core", ["sketch", "truncated", "inverse"])
@pytest.mark.parametrize("kernel", SYMMETRIC, ids=_name)
def test_approximate_eigh_decomposes_the_approximate_matrix_out_of_sample(rng, kernel, core):
    X, new = rng.standard_normal((100, 5)), rng.standard_normal((40, 5))
    features = Nystrom(kernel, 10, core=core, random_state=0).fit(X)
    values, vectors = features.approximate_eigh(new)
    assert vectors.shape == (40, 10)
    assert_allclose(vectors.T @ vectors, np.eye(10), atol=1e-9)
    approximate = features.approximate_kernel(new)
    assert_allclose((vectors * values) @ vectors.T, approximate, atol=1e-9)


def test_approximate_eigh_is_orthonormal_where_eigenvalues_span_many_orders(rng):
    X = rng.random((100, 2))
    features = Nystrom(Gaussian(0.5), 60, landmarks="all").fit(X)
    values, vectors = features.approximate_eigh(X)
    assert np.abs(values).min() < 1e-8 * np.abs(values).max()
    assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-9)


def test_a_one_way_kernel_has_no_eigendecomposition(rng):
    X = rng.standard_normal((20, 2))
    features = Nystrom(ShiftGaussian(), 5).fit(X)
    with pytest.raises(ValueError, match="not symmetric has no eigendecomposition"):
        features.approximate_eigh(X)


def test_the_squared_method_fails_where_an_eigenvalue_and_its_negative_both_occur(rng):
    U, _ = np.linalg.qr(rng.standard_normal((24, 24)))
    pairs = np.repeat(np.arange(12.0, 0.0, -1.0), 2)
    paired = (U * (pairs * np.tile([1.0, -1.0], 12))) @ U.T
    apart = (U * (pairs * np.tile([1.0, -0.93], 12))) @ U.T
    paired, apart = (paired + paired.T) / 2, (apart + apart.T) / 2

    def error(K, core):
        features = Nystrom("precomputed", 24, landmarks="all", core=core).fit(K)
        return _relative(features.approximate_kernel(K), K)

    assert error(apart, "squared") < 1e-10
    for core in ("sketch", "truncated", "inverse"):
        assert error(paired, core) < 1e-10
    assert error(paired, "squared") > 0.1


def test_the_squared_method_refuses_one_way_kernels(rng):
    with pytest.raises(ValueError, match=r"squared.* needs a symmetric kernel"):
        Nystrom(ShiftGaussian(), 3, core="squared").fit(rng.random((20, 2)))


# --- quality on real data ------------------------------------------------------------------------

REGRESSION = ["parkinsons_updrs", "ailerons", "california_housing", "cpusmall", "kin8nm", "abalone"]


@pytest.mark.parametrize("name", REGRESSION)
def test_default_settings_are_close_to_the_best_error_of_their_rank(load, name):
    (X,) = load(f"regression/{name}", "X")
    X = X[np.random.default_rng(0).choice(len(X), 600, replace=False)]
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    kernel, k = DeltaGaussian(), 30
    K = kernel(X)
    best = _best(K, k)
    ratios = []
    for seed in range(5):
        features = Nystrom(kernel, k, random_state=seed).fit(X)
        ratios.append(_relative(features.approximate_kernel(X), K) / best)
    assert min(ratios) >= 1 - 1e-9
    assert max(ratios) <= 1.7
    assert np.median(ratios) <= 1.4


def test_letter_at_width_256_is_within_two_thousandths(load):
    X, _ = load("letter")
    X = X[np.random.default_rng(0).choice(len(X), 1000, replace=False)].astype(float)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    features = Nystrom(DeltaGaussian(), 256, random_state=0).fit(X)
    assert approximation_error(features, X) <= 2e-3


@pytest.mark.parametrize("similarity", ["exponential", "negative square"])
def test_one_way_dissimilarities_are_close_to_the_best_error_of_their_rank(load, similarity):
    (D,) = load("dissimilarities/chickenpieces_20_60", "D")
    D = D / D.max()
    K = np.exp(-2 * D) if similarity == "exponential" else -(D**2)
    assert _relative(K.T, K) > 1e-3
    best = _best(K, 100)
    for seed in range(3):
        features = Nystrom(Precomputed(symmetric=False), 100, random_state=seed).fit(K)
        assert best * (1 - 1e-9) <= _relative(features.approximate_kernel(K), K) <= 1.6 * best
