"""Nyström maps: cores, signs, precomputed values, objects, bad input and quality."""

from __future__ import annotations

import re

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

from krein import Nystrom, approximation_error
from krein.kernels import (
    TL1,
    Custom,
    DeltaGaussian,
    EditDistance,
    Gaussian,
    Hausdorff,
    Pairwise,
    Precomputed,
    ShiftGaussian,
    Sigmoid,
    Similarity,
    SinhGaussian,
    Tanimoto,
    Tversky,
)
from krein.testing import check_feature_map

SYMMETRIC = [Gaussian(), DeltaGaussian(), Sigmoid(0.3, -0.5), TL1(9.0)]
ONE_WAY = [ShiftGaussian(1.0, 0.4), SinhGaussian(1.0, 0.3)]
CORES = ["sketch", "truncated", "inverse", "squared"]


def _name(kernel):
    return type(kernel).__name__


def _relative(approximate, exact):
    return np.linalg.norm(approximate - exact) / np.linalg.norm(exact)


def _cut(K, k, symmetric=True):
    """The best approximation of rank k: by magnitude, from LAPACK."""
    if symmetric:
        values, U = np.linalg.eigh((K + K.T) / 2)
        top = np.argsort(-np.abs(values))[:k]
        return (U[:, top] * values[top]) @ U[:, top].T
    U, values, Vt = np.linalg.svd(K)
    return (U[:, :k] * values[:k]) @ Vt[:k]


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
    # With n ≤ 4 m all rows are in the second sample: K̃ = P_C K P_R, cut.
    X = rng.standard_normal((80, 3))
    K = kernel(X)
    features = Nystrom(kernel, 8, n_landmarks=20, random_state=0, landmarks="uniform").fit(X)
    chosen = features.component_indices_
    assert len(chosen) == 20
    Q, _ = np.linalg.qr(K[:, chosen])
    P, _ = np.linalg.qr(K[chosen].T)
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


@pytest.mark.parametrize("landmarks", ["uniform", "leverage", "kmeans++", "all"])
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("kernel", SYMMETRIC, ids=_name)
def test_symmetric_kernels_keep_the_contract(rng, kernel, core, landmarks):
    X = rng.standard_normal((70, 5))
    X[rng.random((70, 5)) < 0.2] = 0
    features = Nystrom(kernel, 8, landmarks=landmarks, core=core, random_state=0).fit(X)
    check_feature_map(features, X, rng.standard_normal((6, 5)))
    assert len(features.get_feature_names_out()) == 8


@pytest.mark.parametrize("landmarks", ["uniform", "leverage", "kmeans++", "all"])
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


# --- precomputed values --------------------------------------------------------------------------

LANDMARKS = np.array([3, 44, 20, 7, 11, 59, 30, 31, 2, 50])


@pytest.mark.parametrize("core", ["sketch", "truncated", "inverse", "squared"])
@pytest.mark.parametrize("kernel", SYMMETRIC, ids=_name)
def test_precomputed_values_give_what_the_kernel_gives(rng, kernel, core):
    X, new = rng.standard_normal((40, 5)), rng.standard_normal((8, 5))
    landmarks = LANDMARKS % 40
    # 4 · 10 rows: the second sample is all of them, whatever the keys.
    expected = Nystrom(kernel, 6, landmarks=landmarks, core=core).fit(X)
    features = clone(expected).set_params(kernel="precomputed").fit(kernel(X))
    assert_array_equal(features.landmarks_, landmarks)
    assert_array_equal(features.component_indices_, landmarks)
    product = features.transform(kernel(new, X)) @ features.transform_dual(kernel(X)).T
    assert_allclose(product, expected.approximate_kernel(new, X), atol=1e-8)
    assert _relative(features.approximate_kernel(kernel(X)), expected.approximate_kernel(X)) < 1e-8


def test_precomputed_one_way_values_give_what_the_kernel_gives(rng):
    X, new = rng.standard_normal((40, 5)), rng.standard_normal((8, 5))
    kernel = ShiftGaussian(1.0, 0.4)
    landmarks = LANDMARKS % 40
    expected = Nystrom(kernel, 6, landmarks=landmarks).fit(X)
    features = Nystrom(Precomputed(symmetric=False), 6, landmarks=landmarks).fit(kernel(X))
    assert not hasattr(features, "form_")
    assert_allclose(
        features.approximate_kernel(kernel(X)), expected.approximate_kernel(X), atol=1e-9
    )
    # The second argument holds k(training objects, y), one row per y.
    both = features.approximate_kernel(kernel(new, X), kernel(X, new).T)
    assert_allclose(both, expected.approximate_kernel(new), atol=1e-9)


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_error_of_precomputed_values_is_that_of_their_kernel(rng, symmetric):
    X = rng.standard_normal((40, 3))
    kernel = DeltaGaussian() if symmetric else ShiftGaussian(1.0, 0.4)
    K = kernel(X)
    features = Nystrom(Precomputed(symmetric), 6, landmarks=LANDMARKS % 40).fit(K)
    expected = _relative(features.approximate_kernel(K), K)
    assert expected < 0.9
    assert approximation_error(features, K) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("symmetric", [True, False])
def test_transform_takes_all_training_columns_or_those_of_the_landmarks(rng, symmetric):
    kernel = DeltaGaussian() if symmetric else ShiftGaussian()
    X, new = rng.standard_normal((60, 3)), rng.standard_normal((8, 3))
    features = Nystrom(Precomputed(symmetric), 10, random_state=0).fit(kernel(X))
    chosen = features.component_indices_
    assert len(chosen) == 30
    K = kernel(new, X)
    for verb in (features.transform, features.transform_dual):
        assert_allclose(verb(K[:, chosen]), verb(K), atol=1e-12)
    for width in (29, 31, 59, 61, 10):
        match = rf"{width} columns.* all 60 training objects or .* 30 landmarks"
        with pytest.raises(ValueError, match=match):
            features.transform(np.zeros((8, width)))


def test_a_matrix_that_is_not_symmetric_must_say_so(rng):
    K = ShiftGaussian()(rng.random((30, 2)))
    for kernel in ("precomputed", Precomputed()):
        features = Nystrom(kernel, 5)
        before = dict(vars(features))
        with pytest.raises(ValueError, match=r"not symmetric: .* Precomputed\(symmetric=False\)"):
            features.fit(K)
        assert vars(features) == before


def test_a_matrix_that_is_not_square_is_refused(rng):
    with pytest.raises(ValueError, match=r"square matrix .* \(30, 20\)"):
        Nystrom("precomputed", 5).fit(rng.random((30, 20)))


def test_only_precomputed_maps_have_the_pairwise_tag():
    assert get_tags(Nystrom("precomputed")).input_tags.pairwise
    assert get_tags(Nystrom(Precomputed(symmetric=False))).input_tags.pairwise
    assert not get_tags(Nystrom(Gaussian())).input_tags.pairwise
    assert not get_tags(Nystrom()).input_tags.pairwise


def test_cross_validation_of_precomputed_values_takes_rows_and_columns(rng):
    X = rng.standard_normal((90, 3))
    y = (np.linalg.norm(X, axis=1) > 1.5).astype(int)
    K = DeltaGaussian()(X)
    model = make_pipeline(Nystrom("precomputed", 12, random_state=0), LogisticRegression())
    folds = list(StratifiedKFold(3).split(X, y))
    scores = cross_val_score(model, K, y, cv=folds)
    expected = []
    for train, test in folds:
        fitted = clone(model).fit(K[np.ix_(train, train)], y[train])
        expected.append(fitted.score(K[np.ix_(test, train)], y[test]))
    assert_allclose(scores, expected, atol=1e-12)
    assert np.mean(scores) > 0.7


# --- objects -------------------------------------------------------------------------------------

WORDS = sorted(
    {a + b + c for a in ("kit", "mitt", "sit") for b in ("", "ten", "ing") for c in ("", "s", "e")}
    | {"ACGT" * k for k in (1, 2, 3)}
)


def _shared_letters(x, y):
    return len(set(x) & set(y)) - 0.5 * abs(len(x) - len(y))


def _prefix(x, y):
    return float(y.startswith(x[:2])) + 0.1 * len(x)


def _block_of_lengths(X, Y):
    return np.array([[np.cos(len(x) - len(y)) + (x == y) for y in Y] for x in X])


def _warp(x, y):
    """exp(−dynamic time warping) of two series of any lengths."""
    cost = np.full((len(x) + 1, len(y) + 1), np.inf)
    cost[0, 0] = 0
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            cost[i + 1, j + 1] = abs(a - b) + min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
    return float(np.exp(-0.2 * cost[-1, -1]))


def _series():
    rng = np.random.default_rng(5)
    return [rng.standard_normal(3 + i % 5) for i in range(25)]


def _sets():
    rng = np.random.default_rng(6)
    drawn = {frozenset(rng.choice(30, size=2 + i % 6).tolist()) for i in range(30)}
    return sorted((set(items) for items in drawn), key=sorted)


def _points():
    rng = np.random.default_rng(7)
    return [rng.standard_normal((2 + i % 3, 2)) for i in range(20)]


OBJECTS = {
    "strings, function of a pair": (Pairwise(_shared_letters), WORDS),
    "strings, one-way function": (Pairwise(_prefix, symmetric=False), WORDS),
    "strings, function of blocks": (Custom(_block_of_lengths), WORDS),
    "strings, edit distance": (Similarity(EditDistance(), gamma=0.5), WORDS),
    "strings, negative edit distance": (-EditDistance(), WORDS),
    "series of any length": (Pairwise(_warp), _series()),
    "sets": (Tanimoto(), _sets()),
    "sets, one-way": (Tversky(0.9, 0.1), _sets()),
    "point sets": (Similarity(Hausdorff(), "gaussian"), _points()),
}


def _skip_without(kernel):
    if "EditDistance" in repr(kernel):
        pytest.importorskip("rapidfuzz")


@pytest.mark.parametrize("name", OBJECTS)
def test_all_objects_as_landmarks_reproduce_any_similarity(name):
    kernel, objects = OBJECTS[name]
    _skip_without(kernel)
    n = len(objects)
    features = Nystrom(kernel, n, landmarks="all").fit(objects)
    assert len(features.landmarks_) == n
    assert _relative(features.approximate_kernel(objects), kernel(objects)) < 1e-10
    assert hasattr(features, "form_") == kernel.is_symmetric
    few = objects[3:7]
    assert _relative(features.approximate_kernel(few, objects), kernel(few, objects)) < 1e-10


@pytest.mark.parametrize("name", OBJECTS)
def test_the_order_of_objects_does_not_change_landmarks(name, rng):
    kernel, objects = OBJECTS[name]
    _skip_without(kernel)
    order = rng.permutation(len(objects))
    first = Nystrom(kernel, 4, random_state=0).fit(objects)
    second = clone(first).fit([objects[i] for i in order])
    assert set(order[second.component_indices_]) == set(first.component_indices_)
    assert len(first.component_indices_) == 12


def test_processes_give_the_same_numbers():
    for kernel in (Pairwise(_shared_letters), Pairwise(_prefix, symmetric=False)):
        alone = Nystrom(kernel, 6, random_state=0).fit(WORDS)
        together = clone(alone).set_params(n_jobs=2).fit(WORDS)
        assert_array_equal(together.component_indices_, alone.component_indices_)
        assert_array_equal(together.transform(WORDS), alone.transform(WORDS))
        assert_array_equal(together.transform_dual(WORDS[:5]), alone.transform_dual(WORDS[:5]))


def test_strings_go_through_pipelines_and_grid_search(rng):
    pytest.importorskip("rapidfuzz")
    stems = ["kitten", "sitting", "ACGTACGT"]
    letters = list("abcdefgh")
    words, y = [], []
    for i in range(60):
        word = list(stems[i % 3])
        for place in rng.integers(0, len(word), 3):
            word[place] = letters[rng.integers(8)]
        words.append("".join(word))
        y.append(i % 3)
    model = Pipeline(
        [
            ("nystrom", Nystrom(Similarity(EditDistance()), 10, random_state=0)),
            ("classifier", LogisticRegression(max_iter=1000)),
        ]
    )
    grid = {
        "nystrom__kernel__gamma": [0.1, 0.5],
        "nystrom__kernel__distance__metric": ["levenshtein", "normalized"],
    }
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(words, y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ > 0.8
    assert set(search.predict(stems)) == {0, 1, 2}
    best = clone(model).set_params(**search.best_params_).fit(words, y)
    assert_array_equal(best.predict(words), search.predict(words))


@pytest.mark.parametrize("name", ["sets", "series of any length"])
def test_other_objects_go_through_pipelines_and_grid_search(name):
    kernel, objects = OBJECTS[name]
    y = np.array([len(x) > 4 for x in objects])
    model = make_pipeline(Nystrom(kernel, 4, random_state=0), LogisticRegression())
    search = GridSearchCV(model, {"nystrom__n_components": [2, 4]}, cv=2, error_score="raise")
    assert search.fit(objects, y).predict(objects).shape == (len(objects),)


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", ["uniform", "leverage", "kmeans++", "recursive", "all"])
@pytest.mark.parametrize("core", CORES)
def test_a_zero_kernel_is_refused_and_nothing_is_fitted(rng, landmarks, core):
    features = Nystrom(0.0 * Gaussian(), 3, landmarks=landmarks, core=core)
    before = dict(vars(features))
    with pytest.raises(ValueError, match=r"is zero on all .* landmarks"):
        features.fit(rng.random((20, 2)))
    assert vars(features) == before


def test_a_failed_fit_leaves_the_last_one(rng):
    X = rng.standard_normal((40, 3))
    features = Nystrom(DeltaGaussian(), 5, random_state=0).fit(X)
    expected = features.transform(X)
    with pytest.raises(ValueError, match="zero on all"):
        features.set_params(kernel=0.0 * Gaussian()).fit(rng.random((20, 2)))
    assert_array_equal(features.set_params(kernel=DeltaGaussian()).transform(X), expected)


@pytest.mark.parametrize("core", CORES)
def test_a_singular_landmark_block_is_cut_not_inverted(core):
    # The landmarks see one direction of two: K_ZZ has rank 1, and nothing explodes.
    X = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.0, 1.0]])
    kernel = Custom(lambda X, Y: X @ Y.T)
    features = Nystrom(kernel, 3, landmarks=[0, 1, 2], core=core).fit(X)
    assert len(features.eigenvalues_) == 1
    expected = np.outer(X[:, 0], X[:, 0])
    if core == "sketch":  # the least-squares fit on all four rows
        Q = X[:, :1] / np.linalg.norm(X[:, 0])
        expected = Q @ (Q.T @ kernel(X) @ Q) @ Q.T
    assert_allclose(features.approximate_kernel(X), expected, atol=1e-10)


@pytest.mark.parametrize(
    ("landmarks", "n_jobs"),
    [("all", None), ("uniform", None), ("leverage", None), ("uniform", 2)],
)
def test_nan_from_a_function_of_the_users_names_the_pair(landmarks, n_jobs):
    bad = {"kitten", "mitts"}

    def similarity(x, y):
        return np.nan if {x, y} == bad else _shared_letters(x, y)

    features = Nystrom(Pairwise(similarity), 20, landmarks=landmarks, n_jobs=n_jobs, random_state=0)
    before = dict(vars(features))
    # Threads cut the rows into the pieces that processes would get, without starting any.
    with (
        parallel_config(backend="threading"),
        pytest.raises(ValueError, match="returned nan for object") as raised,
    ):
        features.fit(WORDS)
    assert vars(features) == before
    named = {WORDS[int(i)] for i in re.findall(r"object (\d+)", str(raised.value))}
    assert named == bad or all(word in str(raised.value) for word in bad)


def test_nan_at_transform_names_the_pair():
    def similarity(x, y):
        return np.nan if "?" in x else _shared_letters(x, y)

    features = Nystrom(Pairwise(similarity), 5, landmarks="uniform", random_state=0).fit(WORDS)
    with pytest.raises(ValueError, match="returned nan for object 1 of X"):
        features.transform(["kit", "k?t"])


@pytest.mark.parametrize(
    ("kernel", "match"),
    [
        (Custom(lambda X, Y: np.zeros(len(X))), r"must return shape .* got"),
        (Custom(lambda X, Y: np.zeros((len(Y) + 1, len(X)))), r"must return shape .* got"),
        (Pairwise(lambda x, y: [1.0, 2.0]), r"must return shape .* got"),
        (Pairwise(lambda x, y: "close"), "must return real numbers"),
    ],
    ids=["vector", "wrong shape", "list", "string"],
)
def test_a_function_that_returns_something_else_is_refused(kernel, match):
    features = Nystrom(kernel, 3, random_state=0)
    with pytest.raises(ValueError, match=match):
        features.fit(WORDS)
    assert not hasattr(features, "eigenvalues_")


@pytest.mark.parametrize("X", [WORDS, np.array(WORDS), [[w] for w in WORDS]])
def test_strings_are_refused_where_numbers_are_needed(X):
    features = Nystrom(Gaussian(), 3)
    with pytest.raises(ValueError, match="could not convert string to float"):
        features.fit(X)
    assert not hasattr(features, "eigenvalues_")


def test_numbers_are_refused_where_strings_are_needed(rng):
    pytest.importorskip("rapidfuzz")
    with pytest.raises(TypeError, match="EditDistance needs a sequence of strings"):
        Nystrom(-EditDistance(), 3).fit(rng.random((20, 2)))


def test_another_number_of_columns_is_refused(rng):
    features = Nystrom(n_components=3).fit(rng.random((20, 4)))
    with pytest.raises(ValueError, match="X has 3 features, but Nystrom is expecting 4"):
        features.transform(rng.random((5, 3)))


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
