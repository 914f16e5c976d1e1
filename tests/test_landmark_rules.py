"""Landmarks that a rule draws: order, chances, duplicates and cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from landmark_draws import _fit, _rows
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import circulant

from krein import Nystrom, approximation_error
from krein.features import projection, source
from krein.features.chances import chances
from krein.features.explosions import N_HELD
from krein.features.landmarks import sample_size
from krein.kernels import (
    TL1,
    Custom,
    DeltaGaussian,
    Gaussian,
    Polynomial,
    Precomputed,
    ShiftGaussian,
    Sigmoid,
    Tanimoto,
)

RULES = ["uniform", "leverage", "residual", "kmeans++", "recursive", "all"]
SYMMETRIC = {
    "uniform": DeltaGaussian(),
    "leverage": DeltaGaussian(),
    "residual": DeltaGaussian(),
    "kmeans++": DeltaGaussian(),
    "recursive": Gaussian(),
    "all": TL1(),
}
ONE_WAY = {rule: ShiftGaussian() for rule in SYMMETRIC if rule != "recursive"}
CASES = [
    pytest.param(rule, kernel, id=f"{rule}-{type(kernel).__name__}")
    for kernels in (SYMMETRIC, ONE_WAY)
    for rule, kernel in kernels.items()
]


def _content(X, indices):
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
    return {tuple(row) for row in X[indices]}


# --- what a draw does not depend on --------------------------------------------------------------


@pytest.mark.parametrize(("rule", "kernel"), CASES)
def test_landmarks_are_distinct_rows_of_the_data(rng, rule, kernel):
    X = _rows(rng)
    features = _fit(rule, kernel, X)
    n = len(_content(X, slice(None))) if rule == "all" else 20
    assert len(_content(X, features.component_indices_)) == n == len(features.component_indices_)
    assert_array_equal(features.landmarks_, X[features.component_indices_])


@pytest.mark.parametrize(("rule", "kernel"), CASES)
def test_the_order_of_the_rows_does_not_change_landmarks_or_features(rng, rule, kernel):
    X = _rows(rng)
    order = rng.permutation(len(X))
    first, second = _fit(rule, kernel, X), _fit(rule, kernel, X[order])
    assert _content(X[order], second.component_indices_) == _content(X, first.component_indices_)
    assert_allclose(second.approximate_kernel(X), first.approximate_kernel(X), atol=1e-8)


@pytest.mark.parametrize("rule", ["uniform", "leverage", "residual", "kmeans++"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_order_of_precomputed_objects_does_not_change_landmarks(rng, rule, symmetric):
    X = rng.standard_normal((120, 3))
    kernel = DeltaGaussian() if symmetric else ShiftGaussian()
    K, order = kernel(X), rng.permutation(120)
    first = _fit(rule, Precomputed(symmetric), K).component_indices_
    second = _fit(rule, Precomputed(symmetric), K[np.ix_(order, order)]).component_indices_
    assert set(order[second]) == set(first)


@pytest.mark.parametrize("rows_per_block", [1, 7])
@pytest.mark.parametrize(("rule", "kernel"), CASES)
def test_the_size_of_the_blocks_does_not_change_landmarks_or_features(
    monkeypatch, rng, rule, kernel, rows_per_block
):
    X = _rows(rng)
    expected = _fit(rule, kernel, X)
    Z = expected.transform(X)
    monkeypatch.setattr(projection, "BLOCK_BYTES", 8 * 20 * rows_per_block)
    monkeypatch.setattr(source, "BLOCK_BYTES", 20 * rows_per_block)
    features = _fit(rule, kernel, X)
    assert_array_equal(features.component_indices_, expected.component_indices_)
    assert_allclose(expected.transform(X), Z, atol=1e-10)


def _memmap(X, tmp_path):
    stored = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=X.shape)
    stored[:] = X
    return stored


CONTAINERS = {
    "CSR": lambda X, tmp_path: sparse.csr_array(X),
    "float32": lambda X, tmp_path: X.astype(np.float32),
    "memmap": _memmap,
    "Fortran order": lambda X, tmp_path: np.asfortranarray(X),
    "DataFrame": lambda X, tmp_path: pd.DataFrame(X, columns=list("abc")),
    "list": lambda X, tmp_path: X.tolist(),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("rule", ["uniform", "leverage", "residual", "kmeans++", "recursive"])
def test_the_container_does_not_change_landmarks(rng, tmp_path, rule, container):
    X = _rows(rng)
    expected = _fit(rule, SYMMETRIC[rule], X)
    other = _fit(rule, SYMMETRIC[rule], CONTAINERS[container](X, tmp_path))
    assert_array_equal(other.component_indices_, expected.component_indices_)


@pytest.mark.parametrize("rule", ["uniform", "leverage", "residual", "kmeans++", "recursive"])
def test_random_state_is_the_key_of_the_draw(rng, rule):
    X = _rows(rng)
    first, again = (_fit(rule, SYMMETRIC[rule], X, seed=3) for _ in range(2))
    assert_array_equal(first.component_indices_, again.component_indices_)
    other = _fit(rule, SYMMETRIC[rule], X, seed=4)
    assert set(other.component_indices_) != set(first.component_indices_)


# --- chances -------------------------------------------------------------------------------------


def test_a_row_that_occurs_five_times_is_the_first_landmark_five_times_as_often(rng):
    rows = rng.standard_normal((6, 2))
    X = np.concatenate([rows, np.repeat(rows[:1], 4, axis=0)])
    seeds = 400
    features = Nystrom(n_components=1, n_landmarks=1, landmarks="uniform")
    hits = [
        bool(np.all(features.set_params(random_state=seed).fit(X).landmarks_[0] == rows[0]))
        for seed in range(seeds)
    ]
    # 5 of 10 rows: standard error √(¼ / 400) = 0.025.
    assert abs(np.mean(hits) - 0.5) < 4.5 * np.sqrt(0.25 / seeds)


def _share_of_rare(rule, kernel, X, rare, seeds, n_landmarks):
    """Mean share of the landmarks that are rare rows, and its standard error over the seeds."""
    shares = [
        rare[_fit(rule, kernel, X, seed, n_landmarks).component_indices_].mean()
        for seed in range(seeds)
    ]
    return np.mean(shares), np.std(shares, ddof=1) / np.sqrt(seeds)


@pytest.mark.filterwarnings("ignore:Nystrom explodes on rows:UserWarning")  # uniform landmarks
@pytest.mark.parametrize("rule", ["leverage", "kmeans++"])
def test_rare_clusters_are_chosen_more_often_than_by_the_uniform_rule(rng, rule):
    # 95 rows in a hundred are nearly alike; the others are spread out and far from them.
    X = np.concatenate([0.1 * rng.standard_normal((570, 2)), 4 + 2 * rng.standard_normal((30, 2))])
    rare = np.arange(600) >= 570
    uniform, error = _share_of_rare("uniform", DeltaGaussian(2.0), X, rare, 60, 40)
    assert abs(uniform - 0.05) < 5 * error
    share, error = _share_of_rare(rule, DeltaGaussian(2.0), X, rare, 60, 40)
    assert share - 5 * error > 2 * 0.05
    assert share < 1


@pytest.mark.filterwarnings("ignore:.*nearly the identity:UserWarning")
def test_leverage_is_uniform_where_all_rows_matter_alike(rng):
    # A kernel that is nearly the identity: every row has the same leverage.
    X = 100 * rng.standard_normal((200, 3))
    half = np.arange(200) < 60
    share, error = _share_of_rare("leverage", Gaussian(), X, half, 100, 20)
    assert abs(share - 0.3) < 5 * error


def test_kmeans_centres_cover_clusters_of_very_different_size(rng):
    centres = 3 * rng.standard_normal((8, 2))
    sizes = [700, 50, 40, 30, 20, 20, 20, 20]
    labels = np.repeat(np.arange(8), sizes)
    X = centres[labels] + 0.01 * rng.standard_normal((len(labels), 2))

    def covered(rule):
        return np.mean(
            [
                len(set(labels[_fit(rule, Gaussian(3.0), X, seed, 16).component_indices_]))
                for seed in range(20)
            ]
        )

    assert covered("kmeans++") > covered("uniform") + 2


# --- the recursive rule --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "match"),
    [
        (DeltaGaussian(), r"recursive.* positive definite .* eigenvalue -.*leverage"),
        (Sigmoid(0.1, -1.0), r"recursive.* positive definite .* eigenvalue -.*leverage"),
        (ShiftGaussian(), r"recursive.* positive definite .* not symmetric.*leverage"),
    ],
)
def test_recursive_refuses_kernels_that_are_not_positive_definite(rng, kernel, match):
    features = Nystrom(kernel, n_components=5, landmarks="recursive", random_state=0)
    before = dict(vars(features))
    with pytest.raises(ValueError, match=match):
        features.fit(rng.standard_normal((100, 6)))
    assert vars(features) == before


def test_recursive_is_as_accurate_as_leverage_on_a_positive_definite_kernel(rng):
    X = rng.standard_normal((500, 3)) * [3, 1, 1]

    def error(rule):
        return np.median(
            [
                approximation_error(
                    Nystrom(Gaussian(1.5), 30, landmarks=rule, random_state=seed).fit(X), X
                )
                for seed in range(5)
            ]
        )

    assert error("recursive") < 1.15 * error("leverage")


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Polynomial(2)], ids=repr)
def test_recursive_takes_rows_in_single_precision(rng, kernel):
    # Rounding errors of single precision make small eigenvalues negative.
    X = rng.standard_normal((60, 1)).astype(np.float32)
    features = Nystrom(kernel, 10, landmarks="recursive", random_state=0).fit(X)
    assert approximation_error(features, X) < 1e-5


def test_recursive_works_on_precomputed_values(rng):
    X = rng.standard_normal((100, 3))
    K = Gaussian()(X)
    features = _fit("recursive", "precomputed", K)
    given = _fit(features.component_indices_, "precomputed", K)
    assert len(set(features.component_indices_)) == 20
    assert_allclose(features.approximate_kernel(K), given.approximate_kernel(K), atol=1e-10)


# --- all points ----------------------------------------------------------------------------------

STRUCTURED = {
    "identity": np.eye(5),
    "two objects": np.array([[2.0, 1.0], [1.0, 2.0]]),
    "circulant": circulant([3.0, 1.0, 0.5, 0.2, 0.5, 1.0]),
    "a grid": np.exp(-np.abs(np.subtract.outer(np.arange(7.0), np.arange(7.0)))),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_precomputed_objects_with_the_same_values_in_another_order_are_not_duplicates(name):
    K = STRUCTURED[name]
    features = Nystrom("precomputed", n_components=len(K), landmarks="all").fit(K)
    assert_allclose(features.approximate_kernel(K), K, atol=1e-10)


@pytest.mark.parametrize("rule", ["uniform", "leverage", "residual", "kmeans++"])
def test_a_precomputed_ring_has_as_many_landmarks_as_asked_for(rule):
    angle = 2 * np.pi * np.arange(60) / 60
    K = Gaussian(0.5)(np.column_stack([np.cos(angle), np.sin(angle)]).round(12))
    assert len(_fit(rule, "precomputed", K).component_indices_) == 20


def test_sets_of_integers_with_the_same_digits_are_not_duplicates():
    sets = [{1, 23}, {12, 3}, {123}, {1, 2, 3}]
    features = Nystrom(Tanimoto(), n_components=4, landmarks="all").fit(sets)
    assert_allclose(features.approximate_kernel(sets), Tanimoto()(sets), atol=1e-10)


def test_duplicates_are_one_landmark(rng):
    rows = rng.standard_normal((5, 2))
    X = np.repeat(rows, 4, axis=0)
    features = Nystrom(n_components=5, landmarks="all").fit(X)
    assert _content(X, features.component_indices_) == _content(rows, slice(None))
    assert len(features.component_indices_) == 5


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "all"])
def test_fewer_rows_than_landmarks_are_all_used_with_a_warning(rng, rule):
    X = rng.standard_normal((15, 6))
    features = Nystrom(n_components=10, n_landmarks=40, landmarks=rule, random_state=0)
    with pytest.warns(UserWarning, match=r"15 rows, fewer than the 40 landmarks"):
        features.fit(X)
    assert sorted(features.component_indices_) == list(range(15))
    assert features.transform(X).shape == (15, 10)


def test_three_landmarks_per_component_are_the_default(rng):
    features = Nystrom(n_components=7, random_state=0).fit(rng.standard_normal((100, 2)))
    assert features.landmarks_.shape == (21, 2)


# --- what a draw costs ---------------------------------------------------------------------------


def _counting():
    """A block function that notes how many pairs it is asked for, and its notes."""
    pairs = []

    def similarity(X, Y):
        pairs.append(len(X) * len(Y))
        return DeltaGaussian()(X, Y)

    return similarity, pairs


@pytest.mark.parametrize(("rule", "columns"), [("uniform", 0), ("leverage", 15), ("residual", 38)])
def test_kernel_evaluations_are_linear_in_the_number_of_rows(rng, rule, columns):
    n, m = 1000, 30
    similarity, pairs = _counting()
    X = rng.standard_normal((n, 3))
    features = Nystrom(Custom(similarity), n_components=10, landmarks=rule, random_state=0)
    features.fit(X)
    fitted = sum(pairs)
    features.transform(X)
    assert sum(pairs) - fitted == n * m
    # The columns that a rule looks at, a few samples of up to 6 rows per landmark, held-out rows.
    assert fitted <= n * columns + n + 2 * sample_size(m) ** 2 + N_HELD * (m + 1)


@pytest.mark.parametrize("rule", ["uniform", "leverage", "residual", "kmeans++"])
def test_fit_never_asks_for_all_pairs(rng, rule):
    n, m = 3000, 12
    similarity, pairs = _counting()
    X = rng.standard_normal((n, 3))
    Nystrom(Custom(similarity), 4, landmarks=rule, random_state=0).fit(X)
    # The matrix of the sample, which has at least 300 rows, is larger than the n × m values here.
    assert 0 < sum(pairs) <= 3 * n * m
    assert sample_size(m) ** 2 > 2 * n * m


# --- chances of the rule "residual" ---------------------------------------------------------------


def test_chances_add_up_and_are_proportional_to_the_scores(rng):
    scores = rng.random(200)
    found = chances(scores, 20)
    assert_allclose(found.sum(), 20, rtol=1e-12)
    assert_allclose(found, 20 * scores / scores.sum(), rtol=1e-12)


def test_huge_scores_are_certain_and_the_others_share_the_rest(rng):
    scores = np.concatenate([[1e30, 1e12, 50.0], rng.random(300)])
    found = chances(scores, 10)
    assert_array_equal(found[:2], 1.0)
    assert_allclose(found.sum(), 10, rtol=1e-12)
    assert_allclose(found[3:] / found[3], scores[3:] / scores[3], rtol=1e-12)


@pytest.mark.parametrize(
    ("scores", "n", "expected"),
    [
        ([0.0, 0.0, 0.0], 2, [0.0, 0.0, 0.0]),
        ([3.0, 0.0, 1.0], 2, [1.0, 0.0, 1.0]),
        ([3.0, 0.0, 1.0], 3, [1.0, 0.0, 1.0]),
        ([1.0, 1.0], 0.5, [0.25, 0.25]),
    ],
)
def test_few_positive_scores(scores, n, expected):
    assert_allclose(chances(np.array(scores), n), expected)


def test_rows_of_few_patterns_need_several_rounds():
    """Indicators of a few rare groups: a draw in two rounds missed directions of the kernel."""
    rng = np.random.default_rng(0)
    groups = rng.geometric(0.25, size=(1200, 3))
    X = np.hstack([groups == i for i in range(1, 20)]).astype(float)
    X = np.hstack([X, 0.1 * rng.random((1200, 4))])
    kernel = Sigmoid(1 / X.shape[1])
    values = np.sort(np.abs(np.linalg.eigvalsh(kernel(X))))
    best = np.linalg.norm(values[:-50]) / np.linalg.norm(values)
    for key in range(3):
        features = Nystrom(kernel, 50, random_state=key).fit(X)
        assert approximation_error(features, X) < 2 * best


def test_rows_of_large_energy_are_landmarks_however_large_the_largest_is():
    """One row may have nearly all of the residual; the next ones are still landmarks."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 6))
    X[:8] *= np.array([1000.0, 100, 50, 40, 30, 25, 20, 15])[:, None]
    kernel = Polynomial(3, 1 / 6, 1.0)
    for key in range(5):
        features = Nystrom(kernel, 20, random_state=key).fit(X)
        assert np.isin(np.arange(8), features.component_indices_).all()
