"""Outputs of each class against the rest, brought to one unit where that names more rows right."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_gaussian_quantiles

from krein import KreinClassifier
from krein.learning import Balance, OneVsRest, balanced


def rows(hidden, n=600):
    """Return the outputs of three classes; those of the middle class are small and shifted."""
    rng = np.random.default_rng(0)
    codes = np.arange(n) % 3
    outputs = np.where(codes[:, None] == np.arange(3), 1.0, -1.0) + 0.5 * rng.normal(size=(n, 3))
    outputs[:, 1] = outputs[:, 1] / 5 - hidden
    return outputs, rng.permutation(n), codes, rng.uniform(0.5, 1.5, n)


def shuffled(hidden):
    outputs, order, codes, weight = rows(hidden)
    return outputs[order], codes[order], weight


def test_a_balance_has_the_log_odds_of_each_class_against_the_rest():
    outputs, codes, weight = shuffled(2.0)
    odds = Balance.of(outputs, codes, weight)(outputs)
    parts = OneVsRest.of(outputs, codes, weight).parts
    for one, f, part in zip(odds.T, outputs.T, parts, strict=True):
        assert_allclose(one, part.slope * f + part.offset)


def test_units_of_outputs_do_not_matter_to_balanced_classes():
    outputs, codes, weight = shuffled(2.0)
    found = balanced(outputs, codes, weight)
    assert found is not None
    assert np.mean(outputs.argmax(axis=1) != codes) > 0.3  # the middle class is never named
    assert np.mean(found(outputs).argmax(axis=1) != codes) < 0.1
    others = outputs * [7.0, 0.01, 100.0] - [3.0, 50.0, 0.0]
    again = balanced(others, codes, weight)
    assert again is not None
    assert_allclose(again(others), found(outputs), rtol=1e-4, atol=1e-4)


def test_outputs_stay_as_they_are_without_evidence():
    outputs, codes, weight = shuffled(2.0)
    assert balanced(outputs[:90], codes[:90], weight[:90]) is None  # few rows
    assert balanced(outputs[:, :1], np.minimum(codes, 1), weight) is None  # two classes
    clear = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    assert balanced(clear, codes, weight) is None  # no row is wrong
    noise = np.random.default_rng(1).normal(size=clear.shape)
    assert balanced(noise, codes, weight) is None


def test_a_class_between_others_is_found():
    X, y = make_gaussian_quantiles(n_samples=2400, n_features=8, random_state=0)
    y = np.array(["inner", "middle", "outer"])[y]
    model = KreinClassifier(random_state=0).fit(X[:400], y[:400])
    new, wanted = X[400:], y[400:]
    largest = model.classes_[model._mean(new, "decision_function").argmax(axis=1)]
    assert np.mean(model.predict(new) != wanted) < 0.8 * np.mean(largest != wanted)
    for outputs in (model.decision_function(new), model.predict_proba(new)):
        assert_array_equal(model.classes_[outputs.argmax(axis=1)], model.predict(new))
    assert any("log-odds" in note for note in model.report_.notes)


def test_a_later_fit_forgets_the_balance():
    X, y = make_gaussian_quantiles(n_samples=400, n_features=8, random_state=0)
    model = KreinClassifier(random_state=0).fit(X, y).fit(*load_iris(return_X_y=True))
    fresh = KreinClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    rows = load_iris().data
    assert_allclose(model.decision_function(rows), fresh.decision_function(rows))
