"""Nyström maps of objects that are no vectors, and input that is refused."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from nystrom_cases import CORES, _relative
from rounding import assert_rounded
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline

from krein import Nystrom
from krein.kernels import (
    Custom,
    DeltaGaussian,
    EditDistance,
    Gaussian,
    Hausdorff,
    Pairwise,
    Similarity,
    Tanimoto,
    Tversky,
)

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
    "point sets": (Similarity(Hausdorff(), "gaussian", gamma=1.0), _points()),
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
        # Directions of close eigenvalues are known to fewer digits than their span.
        assert_rounded(together.transform(WORDS), alone.transform(WORDS), 1e-9)
        assert_rounded(together.transform_dual(WORDS[:5]), alone.transform_dual(WORDS[:5]), 1e-9)
        assert_rounded(together.approximate_kernel(WORDS), alone.approximate_kernel(WORDS), 1e-11)


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


@pytest.mark.parametrize(
    "landmarks", ["uniform", "leverage", "residual", "kmeans++", "recursive", "all"]
)
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


@pytest.mark.parametrize("X", [WORDS, np.array(WORDS), np.array(WORDS, object)])
def test_strings_are_refused_where_numbers_are_needed(X):
    features = Nystrom(Gaussian(), 3)
    with pytest.raises(ValueError, match="row 0 of X is 'ACGT': choose a kernel of str"):
        features.fit(X)
    assert not hasattr(features, "eigenvalues_")


def test_numbers_are_refused_where_strings_are_needed(rng):
    pytest.importorskip("rapidfuzz")
    with pytest.raises(TypeError, match="EditDistance needs X to be a sequence of strings"):
        Nystrom(-EditDistance(), 3).fit(rng.random((20, 2)))


def test_another_number_of_columns_is_refused(rng):
    features = Nystrom(n_components=3).fit(rng.random((20, 4)))
    with pytest.raises(ValueError, match="X has 3 features, but Nystrom is expecting 4"):
        features.transform(rng.random((5, 3)))


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_distances_of_the_median_are_not_computed_again(symmetric):
    words = ["".join(word) for word in np.random.default_rng(2).choice([*"abcdef"], (150, 8))]
    calls = []

    def distance(a, b):
        calls.append((a, b) if not symmetric else tuple(sorted((a, b))))
        return float(sum(x != y for x, y in zip(a, b, strict=True))) + 0.1 * (a > b)

    kernel = Similarity(Pairwise(distance, symmetric=symmetric))
    Nystrom(kernel, 20, random_state=0).fit(words)
    assert len(calls) == len(set(calls))


def test_the_table_of_values_has_room_only_for_what_was_requested():
    words = [f"{i:06d}" for i in range(60_000)]
    kernel = Custom(lambda X, Y: np.minimum.outer([float(x) for x in X], [float(y) for y in Y]))
    tracemalloc.start()
    Nystrom(kernel, 30, landmarks="uniform", random_state=0).fit(words)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20  # a line of 60,000 values for each of 270 columns has 124 MB
