"""Landmarks chosen by what their similarities tell about the targets."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from krein import KreinRidge, KreinRidgeClassifier, Nystrom, SimilarityFeatures
from krein.features.forward import as_columns, forward_selection
from krein.features.landmarks import Supervised
from krein.kernels import Custom, EditDistance, Gaussian, Precomputed, Similarity, Tanimoto

KERNEL = Gaussian(0.5)


def _objective(A, T, ridge):
    """The least value of ``‖T − A B‖² + ridge ‖B‖²``."""
    B = np.linalg.solve(A.T @ A + ridge * np.eye(A.shape[1]), A.T @ T)
    return np.square(T - A @ B).sum() + ridge * np.square(B).sum()


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("ridge", [1e-6, 0.5, 100.0])
def test_each_column_lowers_the_objective_most(rng, outputs, ridge):
    A = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 15))
    A += 0.1 * rng.standard_normal(A.shape)
    T = rng.standard_normal((40, outputs))
    chosen = forward_selection(A.T @ A, A.T @ T, 8, ridge).tolist()
    assert len(set(chosen)) == 8
    for step, column in enumerate(chosen):
        free = [j for j in range(15) if j not in chosen[:step]]
        values = {j: _objective(A[:, [*chosen[:step], j]], T, ridge) for j in free}
        assert_allclose(values[column], min(values.values()), rtol=1e-9)


def test_all_columns_can_be_chosen_and_equal_ones_in_order(rng):
    A = rng.standard_normal((20, 2))
    places = np.repeat([0, 1], 3)  # of products: those of equal columns are equal to the last bit
    gram = (A.T @ A)[np.ix_(places, places)]
    chosen = forward_selection(gram, gram[:, :1], 6, 1e-3)
    assert chosen[0] == 0
    assert sorted(chosen) == list(range(6))
    arguments = [gram, gram[:, :1].copy()]
    before = [values.copy() for values in arguments]
    forward_selection(*arguments, 6, 1e-3)
    for values, copy in zip(arguments, before, strict=True):
        assert_array_equal(values, copy)


def _hidden(rng, n=200, d=4):
    """Targets that depend on the similarity to three of the rows."""
    X = rng.standard_normal((n, d))
    return X, Gaussian(1.0)(X, X[:3]) @ [3.0, -2.0, 1.5]


@pytest.mark.parametrize("kernel", [Gaussian(1.0), "precomputed"])
def test_the_objects_that_matter_are_found(rng, kernel):
    # Greedy steps find them where columns are nearly orthogonal.
    X = 2 * rng.standard_normal((200, 4))
    y = Gaussian(1.0)(X, X[:3]) @ [3.0, -2.0, 1.5]
    data = Gaussian(1.0)(X) if kernel == "precomputed" else X
    rule = Supervised(candidates=100, ridge=1e-6)
    features = SimilarityFeatures(kernel, 3, landmarks=rule, random_state=0).fit(data, y)
    assert sorted(features.component_indices_) == [0, 1, 2]


def test_they_are_worth_more_than_random_ones():
    scores = {"uniform": [], "supervised": []}
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((1200, 6))
        y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
        for rule, found in scores.items():
            chosen = SimilarityFeatures(Gaussian(1.5), 20, landmarks=rule, random_state=0)
            chosen.fit(X[:800], y[:800])
            features = SimilarityFeatures(Gaussian(1.5), 20, landmarks=chosen.landmarks_)
            model = KreinRidgeClassifier(features=features).fit(X[:800], y[:800])
            found.append(model.score(X[800:], y[800:]))
    # 0.84 against 0.67; 60 random ones reach that.
    assert np.mean(scores["supervised"]) > np.mean(scores["uniform"]) + 0.1


@pytest.mark.parametrize("few", [30, 5])
def test_the_order_of_the_rows_does_not_matter(rng, few):
    X, y = _hidden(rng)
    order = rng.permutation(len(X))
    rule = Supervised(candidates=2)  # some are candidates, others judge
    fits = [
        SimilarityFeatures(KERNEL, few, landmarks=rule, random_state=1).fit(*data)
        for data in ((X, y), (X[order], y[order]))
    ]
    assert_array_equal(fits[0].landmarks_, fits[1].landmarks_)
    assert_rounded(fits[0].transform(X), fits[1].transform(X))


def test_a_copy_counts_twice_and_all_copies_together_change_nothing(rng):
    X, y = _hidden(rng, 60)
    rule = Supervised(candidates=100)

    def chosen(X, y):
        return SimilarityFeatures(KERNEL, 6, landmarks=rule, random_state=0).fit(X, y).landmarks_

    alone = chosen(X, y)
    assert_array_equal(chosen(np.tile(X, (3, 1)), np.tile(y, 3)), alone)
    # Copies with opposite targets say nothing: what is left is what the others say.
    noise = rng.standard_normal(60)
    assert_array_equal(chosen(np.tile(X, (2, 1)), np.concatenate([y + noise, y - noise])), alone)
    assert not np.array_equal(chosen(np.tile(X, (2, 1)), np.concatenate([y, y + 9 * noise])), alone)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_an_offset_of_the_similarities_does_not_change_the_choice(rng, offset):
    X, y = _hidden(rng)
    kernel = Custom(lambda A, B: Gaussian(1.0)(A, B) + offset)
    features = SimilarityFeatures(kernel, 10, landmarks="supervised", random_state=0).fit(X, y)
    plain = SimilarityFeatures(Gaussian(1.0), 10, landmarks="supervised", random_state=0).fit(X, y)
    assert_array_equal(features.component_indices_, plain.component_indices_)


def test_few_judges_in_blocks_are_the_same_as_one_block(rng, monkeypatch):
    from krein.features import landmarks

    X, y = _hidden(rng)
    rule = Supervised(candidates=3)
    whole = SimilarityFeatures(KERNEL, 12, landmarks=rule, random_state=0).fit(X, y)
    monkeypatch.setattr(landmarks, "BLOCK_BYTES", 8 * 36 * 5 // 16)
    parts = SimilarityFeatures(KERNEL, 12, landmarks=rule, random_state=0).fit(X, y)
    assert_array_equal(whole.component_indices_, parts.component_indices_)


def test_kernel_values_are_bounded_by_candidates_times_judges(rng):
    pairs = []

    def counting(A, B):
        pairs.append(len(A) * len(B))
        return KERNEL(A, B)

    X = rng.standard_normal((3000, 2))
    rule = Supervised(candidates=4)
    SimilarityFeatures(Custom(counting), 10, landmarks=rule, random_state=0).fit(X, X[:, 0])
    assert 0 < sum(pairs) <= 40 * 200


def test_it_works_for_strings_sets_and_one_sided_kernels(rng):
    words = ["".join(rng.choice(list("abc"), 6)) for _ in range(80)]
    ends = [word[-1] for word in words]
    kernel = Similarity(EditDistance(), gamma=0.3)
    features = SimilarityFeatures(kernel, 10, landmarks="supervised", random_state=0)
    model = make_pipeline(features, KreinRidgeClassifier(features=Nystrom(Gaussian(), 20)))
    assert model.fit(words, ends).score(words, ends) > 0.6
    sets = rng.integers(0, 2, (50, 8)).astype(float)
    assert Nystrom(Tanimoto(), 5, landmarks="supervised").fit(sets, sets[:, 0]).form_.width == 5
    one_way = Custom(lambda A, B: A @ B.T + A.sum(axis=1)[:, None], symmetric=False)
    assert Nystrom(one_way, 2, landmarks="supervised").fit(sets, sets[:, 0]).landmarks_.shape


# --- targets --------------------------------------------------------------------------------------


def test_labels_are_indicators_and_numbers_have_variance_one(rng):
    assert_array_equal(as_columns(["b", "a", "b"], 3), [[0, 1], [1, 0], [0, 1]])
    assert_array_equal(as_columns(np.array([2, 7, 2]), 3), [[1, 0], [0, 1], [1, 0]])
    numbers = rng.standard_normal((30, 2)) * [1.0, 100.0]
    assert_allclose(as_columns(numbers, 30).std(axis=0), 1)
    assert_allclose(as_columns(numbers[:, 0], 30), numbers[:, :1] / numbers[:, 0].std())
    counts = np.arange(200)
    assert as_columns(counts, 200).shape == (200, 1)
    assert as_columns(counts.astype(str), 200).shape == (200, 200)
    assert_array_equal(as_columns(np.full(4, 2.5), 4), [[2.5]] * 4)


def test_targets_that_are_all_equal_or_similarities_that_are_leave_a_uniform_draw(rng):
    X = rng.standard_normal((50, 3))
    uniform = SimilarityFeatures(KERNEL, 5, landmarks="uniform", random_state=0).fit(X)
    constant = Custom(lambda A, B: np.ones((len(A), len(B))))
    for kernel, y in ((KERNEL, np.ones(50)), (constant, X[:, 0])):
        features = SimilarityFeatures(kernel, 5, landmarks="supervised", random_state=0).fit(X, y)
        assert_array_equal(features.component_indices_, uniform.component_indices_)


# --- bad input ------------------------------------------------------------------------------------


def test_without_targets_there_is_a_sentence_and_nothing_is_fitted(rng):
    X = rng.standard_normal((30, 2))
    features = Nystrom(KERNEL, 5, landmarks="supervised")
    with pytest.raises(ValueError, match=r"requires y to be passed.*or use landmarks='uniform'"):
        features.fit(X)
    assert not hasattr(features, "landmarks_")
    with pytest.raises(ValueError, match="y has 29 targets, but X has 30 rows"):
        features.fit(X, X[:-1, 0])
    with pytest.raises(ValueError, match="y contains NaN"):
        features.fit(X, np.where(np.arange(30) == 3, np.nan, X[:, 0]))
    for mixed in ([1, "a"], ["a", 1]):
        with pytest.raises(ValueError, match="labels of one type or numbers, got int and str"):
            features.fit(X, np.array(mixed * 15, dtype=object))
    assert not hasattr(features, "landmarks_")


def test_scikit_learn_is_told_that_targets_are_needed():
    assert get_tags(Nystrom(landmarks="supervised")).target_tags.required
    assert get_tags(SimilarityFeatures(landmarks=Supervised(2))).target_tags.required
    for landmarks in ("uniform", [0, 1], np.ones((2, 2)), len):
        assert not get_tags(Nystrom(landmarks=landmarks)).target_tags.required


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (Supervised(candidates=0.5), "candidates to be at least 1, got 0.5"),
        (Supervised(ridge=0), "ridge to be at least 1e-10, got 0"),
        (Supervised(ridge=float("nan")), "ridge to be at least 1e-10, got nan"),
    ],
)
def test_bad_settings_are_named(rng, rule, sentence):
    X = rng.standard_normal((30, 2))
    with pytest.raises(ValueError, match=sentence):
        Nystrom(KERNEL, 5, landmarks=rule).fit(X, X[:, 0])


def test_a_learner_passes_targets_to_its_map(rng):
    X, y = _hidden(rng)
    inside = KreinRidge(features=Nystrom(KERNEL, 5, landmarks="supervised", random_state=0))
    alone = Nystrom(KERNEL, 5, landmarks="supervised", random_state=0).fit(X, y)
    found, expected = inside.fit(X, y).features_.landmarks_, alone.landmarks_
    assert_array_equal(np.sort(found, axis=0), np.sort(expected, axis=0))


def test_similarities_with_supervised_landmarks_may_come_before_a_learner(rng):
    X, y = _hidden(rng)
    model = make_pipeline(
        SimilarityFeatures(Precomputed(), 5, landmarks="supervised"),
        KreinRidge(features=Nystrom(Gaussian(3.0), 5)),
    )
    assert model.fit(Gaussian(1.0)(X), y).predict(Gaussian(1.0)(X)).shape == y.shape


def test_fewer_objects_than_landmarks_are_all_used(rng):
    X = rng.standard_normal((15, 2))
    features = SimilarityFeatures(KERNEL, 40, landmarks="supervised")
    with pytest.warns(UserWarning, match="15 rows, fewer than the 40 landmarks"):
        features.fit(X, X[:, 0])
    assert sorted(features.component_indices_) == list(range(15))
