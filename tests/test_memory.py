"""Kernels of objects that are evaluated once per pair."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import ClassVar

import numpy as np
import pytest
from rounding import assert_same_outputs
from sklearn.base import clone

from krein import KreinClassifier, KreinRegressor
from krein.kernels import DynamicTimeWarping, Hausdorff, Pairwise, Similarity
from krein.kernels.errors import BadPairError
from krein.kernels.memory import Memory, Remembered

RNG = np.random.default_rng(0)
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


def _remembered(objects=WORDS):
    function = Counting()
    kernel = Pairwise(function)
    return Remembered(kernel, Memory(objects)), kernel, function


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
    remembered(WORDS[:20], WORDS[5:9])
    assert function.calls == 4 * len(WORDS)  # whole columns: other folds ask for the other rows
    remembered(WORDS)
    assert function.calls == len(set(WORDS)) * len(WORDS)
    remembered(WORDS)
    function.calls = 0
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
    remembered = Remembered(kernel, Memory(WORDS))
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
    assert function.calls <= n * n
    function.calls = 0
    model.predict(NEW)
    assert function.calls <= len(NEW) * n


class CountingSeries(DynamicTimeWarping):
    """Counts the pairs that are computed."""

    pairs: ClassVar[list[int]] = []

    def _block(self, X, Y):
        self.pairs.append(len(X) * len(Y))
        return super()._block(X, Y)


class CountingSets(Hausdorff):
    """Counts the pairs that are computed."""

    pairs: ClassVar[list[int]] = []

    def _block(self, X, Y):
        self.pairs.append(len(X) * len(Y))
        return super()._block(X, Y)


SERIES = np.cumsum(np.random.default_rng(2).standard_normal((40, 7)), axis=1)
FORMS = {
    "a matrix of series": (CountingSeries(), lambda: SERIES),
    "arrays (time,)": (CountingSeries(), lambda: list(SERIES)),
    "arrays (time, 1)": (CountingSeries(), lambda: list(SERIES[:, :, None])),
    "Python lists": (CountingSeries(), lambda: SERIES.tolist()),
    "point sets in Python lists": (
        CountingSets(),
        lambda: SERIES[:, :6].reshape(-1, 3, 2).tolist(),
    ),
    "point sets": (CountingSets(), lambda: list(SERIES[:, :6].reshape(-1, 3, 2))),
}


@pytest.mark.parametrize("dissimilarity", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_series_and_sets_in_any_form_are_evaluated_once_per_pair(form, dissimilarity):
    kernel, make = FORMS[form]
    objects, y = make(), SERIES[:, -1] > 0
    train, new = objects[:32], objects[32:]
    kernel = kernel if dissimilarity else Similarity(kernel, gamma=0.2)
    model = KreinClassifier(kernel, dissimilarity=dissimilarity, random_state=0)
    pairs = (kernel if dissimilarity else kernel.kernel).pairs
    pairs.clear()
    model.fit(train, y[:32])
    assert 0 < sum(pairs) <= 32 * 32
    pairs.clear()
    model.predict(new)
    assert 0 < sum(pairs) <= 8 * 32


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
    assert_same_outputs(again, model, NEW)


def _same_letters(a, b):
    return float(sum(p == q for p, q in zip(a, b, strict=True)))
