"""Landmarks of the user's: indices, rows, objects, callables and rules."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from landmark_draws import _fit, _rows
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from krein import Nystrom
from krein.features import landmarks as rules
from krein.kernels import DeltaGaussian, Gaussian, Pairwise, ShiftGaussian

INDICES = [5, 17, 3, 80, 41, 60, 99, 8]


class _FirstRows(rules.LandmarkRule):
    """A rule of somebody else's."""

    def __init__(self, start=0):
        self.start = start

    def choose(self, source, n, draws):
        return np.arange(self.start, self.start + n)


GIVEN = {
    "list": lambda X: INDICES,
    "tuple": lambda X: tuple(INDICES),
    "array": lambda X: np.array(INDICES),
    "int32": lambda X: np.array(INDICES, dtype=np.int32),
    "unsigned": lambda X: np.array(INDICES, dtype=np.uint8),
    "Series": lambda X: pd.Series(INDICES),
    "callable to indices": lambda X: lambda data, n: np.array(INDICES)[:n],
    "rows": lambda X: X[INDICES],
    "list of rows": lambda X: X[INDICES].tolist(),
    "DataFrame": lambda X: pd.DataFrame(X[INDICES]),
    "callable to rows": lambda X: lambda data, n: data[INDICES],
}


@pytest.mark.parametrize("kernel", [DeltaGaussian(), ShiftGaussian()], ids=["sym", "asym"])
@pytest.mark.parametrize("core", ["sketch", "truncated"])
@pytest.mark.parametrize("name", GIVEN)
def test_landmarks_given_in_any_form_are_used(rng, name, core, kernel):
    X = rng.standard_normal((100, 3))
    expected = Nystrom(
        kernel, n_components=8, landmarks=INDICES, core=core, n_landmarks=8, random_state=0
    ).fit(X)
    features = clone(expected).set_params(landmarks=GIVEN[name](X)).fit(X)
    assert_allclose(features.landmarks_, X[INDICES])
    if "ows" in name or name == "DataFrame":
        assert features.component_indices_ is None
    else:
        assert_array_equal(features.component_indices_, INDICES)
    assert_allclose(features.approximate_kernel(X), expected.approximate_kernel(X), atol=1e-8)


def test_rows_that_are_not_among_the_data_are_landmarks(rng):
    X, Z = rng.standard_normal((50, 2)), rng.standard_normal((6, 2))
    features = Nystrom(DeltaGaussian(), 6, landmarks=Z, core="inverse").fit(X)
    kernel = DeltaGaussian()
    expected = kernel(X, Z) @ np.linalg.solve(kernel(Z), kernel(Z, X))
    assert_allclose(features.approximate_kernel(X), expected, rtol=1e-8, atol=1e-10)


def test_dense_rows_are_landmarks_of_sparse_data(rng):
    X = _rows(rng, 60)
    dense = Nystrom(n_components=5, landmarks=X[:5], random_state=0).fit(X)
    mixed = clone(dense).fit(sparse.csr_array(X))
    assert_allclose(mixed.approximate_kernel(X), dense.approximate_kernel(X), atol=1e-10)


def test_a_callable_gets_the_data_and_the_number_of_landmarks(rng):
    X = rng.standard_normal((30, 2))
    seen = []

    def choose(data, n):
        seen.append((data.shape, n))
        return range(n)

    assert len(Nystrom(n_components=4, landmarks=choose).fit(X).component_indices_) == 12
    Nystrom(n_components=4, n_landmarks=9, landmarks=choose).fit(X)
    assert seen == [((30, 2), 12), ((30, 2), 9)]


@pytest.mark.parametrize("found", [None, 3, np.array(3)], ids=repr)
def test_a_callable_that_returns_no_landmarks_is_named(rng, found):
    features = Nystrom(n_components=2, landmarks=lambda data, n: found)
    with pytest.raises(TypeError, match=r"landmarks must return indices of rows, or objects, got"):
        features.fit(rng.standard_normal((30, 2)))


@pytest.mark.parametrize(
    "rule",
    [
        rules.Uniform(),
        rules.Leverage(),
        rules.KMeansPlusPlus(),
        rules.Recursive(),
        rules.All(),
    ],
)
def test_a_rule_object_is_its_name(rng, rule):
    X = _rows(rng)
    name = next(name for name, cls in rules.RULES.items() if isinstance(rule, cls))
    first, second = _fit(rule, Gaussian(), X), _fit(name, Gaussian(), X)
    assert_array_equal(first.component_indices_, second.component_indices_)


def test_a_rule_of_somebody_elses_is_used_and_its_parameters_are_reached(rng):
    features = Nystrom(n_components=3, landmarks=_FirstRows())
    features.set_params(landmarks__start=4).fit(rng.standard_normal((30, 2)))
    assert_array_equal(features.component_indices_, np.arange(4, 13))


def test_a_rule_without_choose_says_so(rng):
    with pytest.raises(TypeError, match="LandmarkRule must define choose"):
        Nystrom(n_components=2, landmarks=rules.LandmarkRule()).fit(rng.random((9, 2)))


@pytest.mark.parametrize("kernel", [None, "precomputed"])
@pytest.mark.parametrize(
    ("given", "match"),
    [
        ([0, 30], r"indices must be .* 0 … 29"),
        ([-1, 3], r"indices must be .* 0 … 29"),
        ([], r"at least one of 0 … 29"),
        ([2, 5, 2], "distinct"),
        (np.arange(30) < 5, "(?i)mask|bool"),
        ([True, False], "(?i)mask|bool"),
    ],
    ids=["too large", "negative", "none", "repeated", "mask", "two booleans"],
)
def test_wrong_indices_are_refused_with_a_sentence_and_nothing_is_fitted(rng, kernel, given, match):
    X = rng.standard_normal((30, 30))
    features = Nystrom(kernel, n_components=2, landmarks=given)
    before = dict(vars(features))
    with pytest.raises(ValueError, match=match):
        features.fit(X @ X.T)
    assert vars(features) == before


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (np.ones((3, 2)), "(?i)landmarks"),
        (np.full((3, 5), np.nan), "NaN"),
    ],
    ids=["width", "NaN"],
)
def test_wrong_landmark_rows_are_refused_with_a_sentence(rng, given, match):
    features = Nystrom(n_components=2, landmarks=given)
    with pytest.raises(ValueError, match=match):
        features.fit(rng.standard_normal((20, 5)))
    assert not hasattr(features, "eigenvalues_")


def test_landmarks_of_a_precomputed_kernel_must_be_indices(rng):
    K = Gaussian()(rng.random((10, 2)))
    with pytest.raises(ValueError, match="precomputed kernel must be indices"):
        Nystrom("precomputed", 2, landmarks=K[:3]).fit(K)


def _equal_letters(x, y):
    return float(sum(a == b for a, b in zip(x, y, strict=False))) / max(len(x), len(y))


@pytest.mark.parametrize("wrap", [list, np.array, tuple], ids=["list", "array", "tuple"])
def test_objects_are_landmarks(wrap):
    words = ["kitten", "mitten", "bitten", "sitting", "knitting", "kit", "sit"]
    given = wrap(["kit", "mitten", "witness"])
    features = Nystrom(Pairwise(_equal_letters), 3, landmarks=given, core="inverse").fit(words)
    kernel = Pairwise(_equal_letters)
    expected = kernel(words, given) @ np.linalg.solve(kernel(given), kernel(given, words))
    assert list(features.landmarks_) == list(given)
    assert features.component_indices_ is None
    assert_allclose(features.approximate_kernel(words), expected, atol=1e-10)


def _overlap(x, y):
    return float(min(x.shape[0], y.shape[0]) * min(x.shape[1], y.shape[1]))


def test_arrays_of_different_shapes_are_landmarks():
    tables = [np.ones(shape) for shape in ((2, 3), (2, 4), (3, 3), (5, 1), (2, 6))]
    features = Nystrom(Pairwise(_overlap), 2, landmarks=tables[:2]).fit(tables)
    assert [table.shape for table in features.landmarks_] == [(2, 3), (2, 4)]
