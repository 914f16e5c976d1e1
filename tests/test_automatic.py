"""The automatic learners: what they try, remember and average."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from krein import KreinClassifier, KreinRegressor, KreinRidgeClassifier, Nystrom, SimilarityFeatures
from krein.estimators._candidates import MANY, candidates
from krein.estimators._memory import Memory, Remembered
from krein.kernels import DeltaGaussian, Gaussian, Pairwise
from krein.kernels.custom import BadPairError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
LABELS = np.where(np.hypot(*X.T) > 1.2, "far", "near")
WORDS = ["".join(RNG.choice(list("abc"), 5)) for _ in range(50)]
NEW = ["".join(RNG.choice(list("abcd"), 5)) for _ in range(9)]
HAS_A = np.array(["a" in word[:2] for word in WORDS])


class Counting:
    """Shared letters by position, less half the difference of the counts of a; counts its calls."""

    def __init__(self):
        self.calls = 0

    def __deepcopy__(self, memo):
        return self  # scikit-learn's clone copies parameters

    def __call__(self, a, b):
        self.calls += 1
        return sum(p == q for p, q in zip(a, b, strict=True)) - 0.5 * abs(
            a.count("a") - b.count("a")
        )


# --- memory --------------------------------------------------------------------------------------


def _remembered(objects=WORDS):
    function = Counting()
    kernel = Pairwise(function)
    return Remembered(kernel, Memory(kernel, objects)), kernel, function


def test_a_remembered_kernel_is_the_kernel():
    remembered, kernel, _ = _remembered()
    some = [WORDS[i] for i in (7, 3, 3, 40)]
    for left, right in ((WORDS, None), (WORDS, some), (some, WORDS), (NEW, some), (NEW, WORDS)):
        np.testing.assert_array_equal(remembered(left, right), kernel(left, right))
    # Columns that were never seen are computed as always.
    for left, right in ((some, NEW), (NEW, NEW), (NEW, None)):
        np.testing.assert_array_equal(remembered(left, right), kernel(left, right))
    np.testing.assert_array_equal(remembered.diag(NEW), kernel.diag(NEW))
    assert remembered.is_symmetric == kernel.is_symmetric


def test_nothing_is_computed_twice():
    remembered, _, function = _remembered()
    function.calls = 0
    remembered(WORDS)
    remembered(WORDS[:20], WORDS[5:9])
    assert function.calls == 0
    remembered(NEW, WORDS[:10])
    assert function.calls == 9 * len(set(WORDS[:10]))
    function.calls = 0
    remembered(NEW, WORDS[3:12])
    assert function.calls == 9 * len(set(WORDS[3:12]) - set(WORDS[:10]))


def test_copies_share_the_memory_and_pickles_have_no_values():
    remembered, kernel, _ = _remembered()
    assert clone(remembered).memory is remembered.memory
    assert deepcopy(remembered).memory is remembered.memory
    before = len(pickle.dumps(remembered.memory))
    remembered(NEW, WORDS)
    assert len(pickle.dumps(remembered.memory)) == before
    remembered.memory.forget()
    np.testing.assert_array_equal(remembered(WORDS), kernel(WORDS))
    again = pickle.loads(pickle.dumps(remembered.memory))
    np.testing.assert_array_equal(again.values(kernel, NEW, WORDS), kernel(NEW, WORDS))


def test_a_bad_pair_of_a_new_object_has_its_place():
    kernel = Pairwise(lambda a, b: float("nan") if {a, b} == {"new", WORDS[4]} else 1.0)
    remembered = Remembered(kernel, Memory(kernel, WORDS))
    with pytest.raises(BadPairError) as bad:
        remembered(["other", "new"], [WORDS[9], WORDS[4]])
    assert (bad.value.row, bad.value.column) == (1, 1)


@pytest.mark.parametrize("learner", [KreinClassifier, KreinRegressor])
def test_a_slow_kernel_is_evaluated_once_per_pair(learner):
    function = Counting()
    model = learner(Pairwise(function), random_state=0)
    model.fit(WORDS, HAS_A if learner is KreinClassifier else HAS_A.astype(float))
    assert len(model.report_.trials) > 5
    n = len(WORDS)
    # k(x, x) is asked for by rules that choose landmarks.
    assert function.calls <= n * n + 40 * n
    function.calls = 0
    model.predict(NEW)
    assert function.calls <= len(NEW) * n


def test_remembering_changes_no_prediction():
    kernel = Pairwise(Counting())
    model = KreinClassifier(kernel, 10, random_state=0, n_models=1).fit(WORDS, HAS_A)
    best = model.report_.trials[model.report_.chosen]
    assert best.features == "Nystrom"
    twin = clone(model.best_estimator_).set_params(features__kernel=kernel).fit(WORDS, HAS_A)
    np.testing.assert_allclose(
        model.decision_function(NEW), twin.decision_function(NEW), rtol=1e-9, atol=1e-12
    )


def test_a_fitted_learner_of_objects_is_pickled():
    model = KreinClassifier(Pairwise(_same_letters), random_state=0).fit(WORDS, HAS_A)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))


def _same_letters(a, b):
    return float(sum(p == q for p, q in zip(a, b, strict=True)))


# --- scaled similarities -------------------------------------------------------------------------


def test_scaled_similarities_have_unit_spread_over_the_landmarks():
    features = SimilarityFeatures(DeltaGaussian(), 20, scale=True, random_state=0).fit(X)
    Z = features.transform(features.landmarks_)
    assert Z.var(axis=0).sum() == pytest.approx(1.0, rel=1e-12)
    plain = SimilarityFeatures(DeltaGaussian(), 20, random_state=0).fit(X).transform(X)
    spread = np.sqrt(DeltaGaussian()(features.landmarks_).var(axis=0).sum())
    np.testing.assert_allclose(features.transform(X) * spread, plain, atol=1e-12)


def test_equal_similarities_are_not_divided_by_zero():
    kernel = Pairwise(lambda a, b: 2.0)
    Z = SimilarityFeatures(kernel, 3, scale=True, random_state=0).fit_transform(WORDS)
    np.testing.assert_array_equal(Z, 2.0)


def test_a_gaussian_of_similarities_is_what_it_says():
    scaled = SimilarityFeatures("precomputed", len(X), landmarks="all", scale=True)
    pipeline = make_pipeline(scaled, Nystrom(Gaussian(1.4), len(X), landmarks="all"))
    K = DeltaGaussian(1.0, 5.0)(X)
    Z = pipeline.fit_transform(K)
    rows = K / np.sqrt(K.var(axis=0).sum())
    distances = np.square(rows[:, None] - rows).sum(axis=2)
    np.testing.assert_allclose(Z @ Z.T, np.exp(-distances / (2 * 1.4**2)), atol=1e-8)
    model = KreinRidgeClassifier(features=pipeline, refit=True, random_state=0).fit(K, LABELS)
    assert model.score(K, LABELS) > 0.9


# --- what is tried -------------------------------------------------------------------------------


def _names(kernel, n_rows, n_components="auto", megabytes=1024.0):
    return [(c.name, c.width) for c in candidates(kernel, n_rows, n_components, megabytes, seed=0)]


def test_what_is_tried_depends_on_the_rows():
    similar = ["similarities", "Gaussian of similarities"]
    few = [("Nystrom", 25), ("Nystrom", 100), ("Nystrom (all)", 200)]
    assert _names("precomputed", 200) == [*few, *((name, 200) for name in similar)]
    many = [("Nystrom", 25), ("Nystrom", 100), ("Nystrom", 300), *((name, 900) for name in similar)]
    assert _names("precomputed", MANY) == many
    assert _names(Gaussian(), MANY) == [*many, ("RandomFourier", 600)]
    assert _names(Pairwise(max), MANY) == many
    assert _names(Gaussian(), 10)[0] == ("Nystrom", 10)
    assert _names(Gaussian(), 200, 7) == [("Nystrom", 7)]
    assert ("Nystrom", 300) not in _names(Gaussian(), MANY, megabytes=1.0)


def test_the_rows_of_a_stream_are_not_its_blocks():
    blocks = [(X[:30], LABELS[:30]), (X[30:], LABELS[30:])]
    model = KreinClassifier(random_state=0, max_seconds=1e-9).fit(blocks)
    widths = [trial.width for trial in model.report_.trials if trial.features == "Nystrom"]
    assert widths[1:3] == [100, 300]
    # The default kernel is as wide as the data here, too.
    width = KreinClassifier(random_state=0, max_seconds=1e-9).fit([(1e3 * X, LABELS)])
    assert width.score(1e3 * X, LABELS) > 0.9


def test_more_models_do_not_disagree_with_their_report():
    model = KreinClassifier(DeltaGaussian(1.0, 5.0), n_models=2, random_state=0).fit(X, LABELS)
    assert 1 <= len(model.report_.averaged) <= 2
    text = str(model.report_)
    assert text.count(" *") == len(model.report_.averaged)
