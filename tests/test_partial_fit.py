"""Several calls of `partial_fit` are one fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from streaming_cases import (
    FIXED,
    LABELS,
    VALUES,
    WEIGHTS,
    D,
    N,
    T,
    X,
    _assert_same_model,
    _blocks,
    _output,
)

from krein import (
    KreinRidge,
    KreinRidgeClassifier,
    Nystrom,
    RandomFourier,
)
from krein.kernels import DeltaGaussian, Gaussian

ROWLESS = {  # maps that any rows leave as they are
    "fourier": RandomFourier(Gaussian(1.5), 32, random_state=0),
    "nystrom": Nystrom(DeltaGaussian(1.0, 5.0), 12, landmarks=X[:12], core="inverse"),
}
PARTIAL = {
    "ridge": KreinRidge(**FIXED),
    "ridge_classifier": KreinRidgeClassifier(**FIXED),
    "no_intercept": KreinRidge(alpha=1e-3, fit_intercept=False),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("features", ROWLESS)
@pytest.mark.parametrize("learner", PARTIAL)
def test_several_calls_of_partial_fit_are_one_fit(learner, features, weighted):
    y = LABELS if learner == "ridge_classifier" else VALUES
    model = clone(PARTIAL[learner]).set_params(features=ROWLESS[features])
    weight = WEIGHTS if weighted else np.ones(N)
    expected = clone(model).fit(X, y, sample_weight=weight)
    for A, b, w in _blocks(5, X, y, weight):
        assert model.partial_fit(A, b, sample_weight=w if weighted else None) is model
    _assert_same_model(model, expected)
    np.testing.assert_allclose(_output(model), _output(expected), rtol=1e-9, atol=1e-9)


def test_partial_fit_takes_streams():
    model = KreinRidge(**FIXED, features=ROWLESS["fourier"])
    expected = clone(model).fit(X, VALUES)
    model.partial_fit(_blocks(4, X[:100], VALUES[:100])).partial_fit(X[100:], VALUES[100:])
    _assert_same_model(model, expected)


def test_partial_fit_after_fit_learns_from_more_rows():
    model = KreinRidge(**FIXED, features=ROWLESS["fourier"], keep_statistics=True)
    model.fit(X[:100], VALUES[:100]).partial_fit(X[100:], VALUES[100:])
    whole = clone(model).fit(X, VALUES)
    _assert_same_model(model, whole)


def test_partial_fit_after_fit_without_statistics_starts_anew_and_says_so():
    model = KreinRidge(**FIXED, features=ROWLESS["fourier"]).fit(X[:100], VALUES[:100])
    with pytest.warns(UserWarning, match=r"KreinRidge\.partial_fit starts anew .* keep_statistics"):
        model.partial_fit(X[100:], VALUES[100:])
    _assert_same_model(model, clone(model).fit(X[100:], VALUES[100:]))


def test_fit_forgets_what_partial_fit_saw():
    model = KreinRidge(**FIXED, features=ROWLESS["fourier"])
    expected = clone(model).fit(X[100:], VALUES[100:])
    model.partial_fit(X[:100], VALUES[:100]).fit(X[100:], VALUES[100:])
    _assert_same_model(model, expected)


def test_classes_may_come_later_if_they_are_announced():
    model = KreinRidgeClassifier(**FIXED, features=ROWLESS["fourier"])
    expected = clone(model).fit(X, LABELS)
    order = np.argsort(LABELS, kind="stable")
    first, rest = order[: N // 3], order[N // 3 :]
    assert len(np.unique(LABELS[first])) < 3
    model.partial_fit(X[first], LABELS[first], classes=[2.0, 0.0, 1.0])
    model.partial_fit(X[rest], LABELS[rest])
    _assert_same_model(model, expected)


def test_rows_of_one_class_alone_need_the_other_classes_announced():
    first = LABELS == 2
    with pytest.raises(ValueError, match=r"partial_fit got rows of one class, 2.*classes="):
        KreinRidgeClassifier(**FIXED).partial_fit(X[first], LABELS[first])


def test_a_label_unseen_in_partial_fit_is_named_and_leaves_the_model_as_it_was():
    model = KreinRidgeClassifier(**FIXED, features=ROWLESS["fourier"])
    seen = LABELS < 2
    model.partial_fit(X[seen], LABELS[seen])
    before = model.coef_.copy(), model.predict(T)
    with pytest.raises(ValueError, match=r"(?s)2(\.0)?.*classes"):
        model.partial_fit(X, LABELS)
    np.testing.assert_array_equal(model.coef_, before[0])
    np.testing.assert_array_equal(model.predict(T), before[1])
    again = clone(model).partial_fit(X[seen], LABELS[seen]).partial_fit(X[seen], LABELS[seen])
    model.partial_fit(X[seen], LABELS[seen])
    _assert_same_model(model, again)


def test_a_bad_block_in_partial_fit_is_not_counted_in_part():
    model = KreinRidge(**FIXED, features=ROWLESS["fourier"]).partial_fit(X[:100], VALUES[:100])
    expected = clone(model).partial_fit(X[:100], VALUES[:100]).partial_fit(X[200:], VALUES[200:])
    bad = [(X[100:150], VALUES[100:150]), (np.full((3, D), np.nan), np.ones(3))]
    with pytest.raises(ValueError, match="nan"):
        model.partial_fit(bad)
    model.partial_fit(X[200:], VALUES[200:])
    _assert_same_model(model, expected)


def test_a_bad_first_call_leaves_nothing_fitted():
    model = KreinRidge(**FIXED, features=ROWLESS["fourier"])
    with pytest.raises(ValueError, match="nan"):
        model.partial_fit(np.full((5, D), np.nan), np.ones(5))
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


@pytest.mark.parametrize("alpha", [1e-3, "cv", "gradient"])
def test_one_call_of_partial_fit_is_fit(alpha):
    model = KreinRidge(alpha=alpha, features=ROWLESS["fourier"], random_state=0)
    _assert_same_model(clone(model).partial_fit(X, VALUES), model.fit(X, VALUES))


@pytest.mark.parametrize(
    ("first", "more", "said"),
    [
        (1, None, r"shape \(n,\) after shape \(n, 1\)"),
        (None, 2, r"shape \(n, 2\) after shape \(n,\)"),
        (2, 3, r"shape \(n, 3\) after shape \(n, 2\)"),
    ],
)
def test_targets_of_another_shape_are_named(first, more, said):
    y = {None: VALUES} | {k: np.tile(VALUES[:, None], k) for k in (1, 2, 3)}
    model = KreinRidge(**FIXED, features=ROWLESS["fourier"]).partial_fit(X, y[first])
    with pytest.raises(ValueError, match=f"other outputs than before: {said}"):
        model.partial_fit(X, y[more])
