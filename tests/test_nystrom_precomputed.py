"""Nyström maps of precomputed values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from nystrom_cases import SYMMETRIC, _name, _relative
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from krein import Nystrom, approximation_error
from krein.kernels import DeltaGaussian, Gaussian, Precomputed, ShiftGaussian

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


@pytest.mark.parametrize("landmarks", ["residual", "uniform", "all", np.arange(60)[::-1]])
@pytest.mark.parametrize("symmetric", [True, False])
def test_if_all_objects_are_landmarks_their_columns_have_one_order(rng, symmetric, landmarks):
    kernel = DeltaGaussian() if symmetric else ShiftGaussian()
    X, new = rng.standard_normal((60, 3)), rng.standard_normal((8, 3))
    features = Nystrom(Precomputed(symmetric), 20, landmarks=landmarks, random_state=0)
    features.fit(kernel(X))
    K, chosen = kernel(new, X), features.component_indices_
    assert len(chosen) == 60
    assert_allclose(features.transform(K[:, chosen]), features.transform(K), atol=1e-12)
    expected = Nystrom(kernel, 20, landmarks=landmarks, random_state=0).fit(X)
    found = features.transform(K) @ features.transform_dual(kernel(X, X).T).T
    assert_allclose(found, expected.approximate_kernel(new, X), atol=1e-8)


def test_a_frame_of_values_has_the_columns_of_the_fit(rng):
    names = [f"object {i}" for i in range(40)]
    frame = pd.DataFrame(ShiftGaussian()(rng.random((40, 2))), columns=names)
    features = Nystrom(Precomputed(symmetric=False), 5, random_state=0).fit(frame)
    some = [names[i] for i in features.component_indices_]
    for verb in (features.transform, features.transform_dual):
        assert_allclose(verb(frame[some]), verb(frame.to_numpy()), atol=1e-12)
        assert_allclose(verb(frame), verb(frame.to_numpy()), atol=1e-12)
        with pytest.raises(ValueError, match="feature names should match"):
            verb(frame[names[::-1]])


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
