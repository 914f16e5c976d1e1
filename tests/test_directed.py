"""Kernels with a direction: matrices in both directions, and what the automatic learners try."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from rounding import assert_rounded
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

from krein import (
    KreinClassifier,
    KreinRegressor,
    KreinRidge,
    Nystrom,
    TwoSidedRidge,
    TwoSidedRidgeClassifier,
)
from krein.auto.maps import views
from krein.kernels import Custom, DeltaGaussian, Pairwise, Precomputed, Relation, ShiftGaussian
from krein.kernels.errors import BadPairError
from krein.rows import Sides, as_rows

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
NEW = RNG.standard_normal((9, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1]
KERNEL = ShiftGaussian(1.0, 0.6)
K = KERNEL(X)
PAIR = KERNEL(NEW, X), KERNEL(X, NEW).T
DIRECTED = Precomputed(symmetric=False)


def _ring(n, seed=0):
    """A digraph of four groups on a ring: its edges tell the groups, but not without direction."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 4)
    chance = np.where((y - y[:, None]) % 4 == 1, 0.3, 0.05)
    A = (rng.random((n, n)) < chance) + np.eye(n)
    return A / A.sum(axis=1, keepdims=True), y


def _parts(G, n):
    """The training matrix, and the pair of the other nodes."""
    return G[:n, :n], (G[n:, :n], G[:n, n:].T)


# -------------------------------------------------------------------- matrices of kernel values


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("cls", [TwoSidedRidge, TwoSidedRidgeClassifier])
def test_a_matrix_in_both_directions_is_the_kernel_of_its_rows(cls, nested):
    y = Y > 0 if cls is TwoSidedRidgeClassifier else Y
    features = Nystrom(KERNEL, 20, landmarks="all", core="truncated")
    options = {"nested": nested, "cv": 4, "alphas": [1e-3, 1e-2], "alphas_neg": [1e-2, 1.0]}
    folds = [(np.flatnonzero(np.arange(80) % 4 != i), np.arange(80)[i::4]) for i in range(4)]
    model = cls(features=features, **options).set_params(cv=folds).fit(X, y)
    matrix = clone(model).set_params(features__kernel=DIRECTED).fit(K, y)
    verb = "predict" if cls is TwoSidedRidge else "decision_function"
    assert_rounded(getattr(matrix, verb)(PAIR), getattr(model, verb)(NEW), 1e-8)
    assert matrix.score((K, K.T), y) == pytest.approx(model.score(X, y), rel=1e-9)


def test_the_second_side_matters():
    model = TwoSidedRidge(DIRECTED, 30, random_state=0).fit(K, Y)
    there, back = PAIR
    assert np.abs(model.predict((there, back)) - model.predict((there, there))).max() > 0.01


def test_columns_of_landmarks_are_enough():
    model = TwoSidedRidge(DIRECTED, 10, alpha=1e-3, random_state=0).fit(K, Y)
    places = model.landmark_indices_
    assert len(places) == 30
    some = PAIR[0][:, places], PAIR[1][:, places]
    assert_rounded(model.predict(some), model.predict(PAIR))
    for features in (Nystrom(DIRECTED, 40, random_state=0), Nystrom(DIRECTED, landmarks="all")):
        for weight in (np.ones(80), np.arange(80) % 5 > 0):
            model = TwoSidedRidge(features=features, alpha=1e-3).fit(K, Y, weight)
            places = model.landmark_indices_
            assert len(places) == weight.sum()
            some = PAIR[0][:, places], PAIR[1][:, places]
            assert_rounded(model.predict(some), model.predict(PAIR))
    with pytest.raises(AttributeError, match="no landmark_indices_"):
        TwoSidedRidge(KERNEL, 10, random_state=0).fit(X, Y).landmark_indices_  # noqa: B018  # the attribute raises


@pytest.mark.parametrize("combine", ["mean", "stack"])
def test_the_order_of_the_objects_changes_nothing(combine):
    learner = TwoSidedRidge(DIRECTED, 20, combine=combine, random_state=0)
    model = clone(learner).fit(K, Y)
    order = RNG.permutation(80)
    other = clone(learner).fit(K[np.ix_(order, order)], Y[order])
    turned = tuple(side[:, order] for side in PAIR)
    assert_rounded(other.predict(turned), model.predict(PAIR), 1e-8)


def test_an_object_of_weight_zero_is_not_there():
    weight = np.ones(80)
    weight[[3, 40]] = 0
    kept = np.flatnonzero(weight)
    learner = TwoSidedRidge(DIRECTED, 20, random_state=0)
    model = clone(learner).fit(K, Y, weight)
    without = clone(learner).fit(K[np.ix_(kept, kept)], Y[kept])
    assert_rounded(model.predict(PAIR), without.predict((PAIR[0][:, kept], PAIR[1][:, kept])), 1e-8)


def test_float32_matrices_and_partial_fit():
    learner = TwoSidedRidge(DIRECTED, 10, alpha=1e-2, keep_statistics=True, random_state=0)
    single, new = K.astype(np.float32), tuple(side.astype(np.float32) for side in PAIR)
    model = clone(learner).fit(single.astype(float), Y)
    found = clone(learner).fit(single, Y).predict(new)
    np.testing.assert_allclose(found, model.predict(PAIR), rtol=0, atol=1e-3)
    more = clone(model).fit(K, Y).partial_fit(PAIR, np.ones(9))
    assert np.square(more.predict(PAIR) - 1).mean() < np.square(model.predict(PAIR) - 1).mean()


@pytest.mark.parametrize("cls", [TwoSidedRidge, KreinRegressor])
def test_one_matrix_where_two_are_needed_gets_a_sentence(cls):
    model = cls(DIRECTED, 10, random_state=0).fit(K, Y)
    there, back = PAIR
    said = r"both directions.*pass a pair \(k\(x, T\), k\(T, x\)\.T\).*shape \(m, 80\)"
    for bad, found in [
        (there, "got one ndarray"),
        (there.tolist(), "got one list"),
        ((there, back.T), r"got arrays of shape \(9, 80\), \(80, 9\)"),
        ((there, back, back), r"got arrays of shape \(9, 80\), \(9, 80\), \(9, 80\)"),
        ((there[:, :7], back[:, :7]), r"got arrays of shape \(9, 7\), \(9, 7\)"),
        ((there, back[:5]), r"got arrays of shape \(9, 80\), \(5, 80\)"),
    ]:
        with pytest.raises(ValueError, match=f"{said}.*{found}"):
            model.predict(bad)
    with pytest.raises(ValueError, match="NaN"):
        model.predict((there, np.full_like(back, np.nan)))
    with pytest.raises(ValueError, match=f"{said}.*got one ndarray"):
        model.score(K, Y)
    with pytest.raises(ValueError, match="square matrix"):
        clone(model).fit(there, np.ones(9))
    with pytest.raises(ValueError, match=r"fit takes one square matrix K .* tuple of 2 arrays"):
        clone(model).fit((K, K.T), Y)


@pytest.mark.parametrize("cls", [TwoSidedRidge, TwoSidedRidgeClassifier])
def test_more_rows_of_one_direction_are_refused(cls):
    y = Y > 0 if cls is TwoSidedRidgeClassifier else Y
    model = cls(DIRECTED, 10, alpha=1e-2, random_state=0).partial_fit(K, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=r"both directions.*got one ndarray"):
        model.partial_fit(PAIR[0], y[:9])
    assert_array_equal(model.coef_, before)
    twice = model.partial_fit((K, K.T), y)
    assert_rounded(twice.coef_, before, 1e-9)


def test_cross_validation_over_a_matrix_says_what_it_lacks():
    with pytest.raises(ValueError, match=r"both directions.*Relation\(K\) and the row indices"):
        cross_val_score(TwoSidedRidge(DIRECTED, 10), K, Y, error_score="raise")
    scores = cross_val_score(TwoSidedRidge(Relation(K), 10, random_state=0), np.arange(80), Y)
    assert np.isfinite(scores).all()


def test_a_symmetric_matrix_needs_one_side():
    S = (K + K.T) / 2
    model = TwoSidedRidge("precomputed", 20, alpha=1e-3, random_state=0).fit(S, Y)
    rows = (PAIR[0] + PAIR[1]) / 2
    assert_rounded(model.predict((rows, rows)), model.predict(rows))


def test_a_learner_of_one_side_takes_the_first_of_a_pair():
    model = KreinRidge(DIRECTED, 20, alpha=1e-3, random_state=0)
    with pytest.warns(UserWarning, match="TwoSidedRidge learns from both sides"):
        model.fit(K, Y)
    assert_rounded(model.predict(PAIR), model.predict(PAIR[0]))


@pytest.mark.parametrize("cls", [TwoSidedRidge, KreinRegressor])
def test_a_pair_of_frames_has_the_columns_of_the_fit(cls):
    names = [f"object {i}" for i in range(80)]
    frame, there, back = (pd.DataFrame(values, columns=names) for values in (K, *PAIR))
    model = cls(DIRECTED, 10, random_state=0).fit(frame, Y)
    assert_rounded(model.predict((there, back)), model.predict(PAIR))
    for bad in [(there[names[::-1]], back), (there, back[names[::-1]])]:
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(bad)
    if cls is TwoSidedRidge:
        some = [names[i] for i in model.landmark_indices_]
        assert_rounded(model.predict((there[some], back[some])), model.predict(PAIR))
        model = cls(DIRECTED, 10, alpha=1e-2, random_state=0).partial_fit(frame, Y)
        assert model.partial_fit((there, back), Y[:9]).n_features_in_ == 80


def test_sides_are_indexed_together():
    sides = Sides.of(K)
    some = sides[np.ix_([1, 2], [3, 4, 5])]
    assert_array_equal(some.left, K[1:3, 3:6])
    assert_array_equal(some.right, K[3:6, 1:3].T)
    assert (some.shape, len(some), some.ndim, some.dtype) == ((2, 3), 2, 2, K.dtype)
    assert as_rows(sides) is sides


# ------------------------------------------------------------------------------ automatic learners


@pytest.fixture(scope="module")
def automatic():
    G, y = _ring(160)
    train, new = _parts(G, 120)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return KreinClassifier(DIRECTED, 60, random_state=0).fit(train, y[:120]), new, y[120:]


def test_both_sides_and_the_symmetric_part_are_tried(automatic):
    model, *_ = automatic
    trials = {(t.features, t.learner): t.score for t in model.report_.trials}
    assert {("Nystrom", "ridge"), ("Nystrom", "two-sided"), ("symmetrised", "ridge")} <= {*trials}
    assert ("symmetrised", "two-sided") not in trials
    assert trials["Nystrom", "two-sided"] < trials["symmetrised", "ridge"]
    assert all(np.isfinite(score) for score in trials.values())
    assert isinstance(model.best_estimator_, TwoSidedRidgeClassifier)
    assert "two-sided" in str(model.report_)


def test_direction_is_what_an_automatic_learner_learns_from(automatic):
    model, new, y = automatic
    assert model.score(new, y) > 0.9
    assert_array_equal(
        model.predict(new), model.classes_[model.decision_function(new).argmax(axis=1)]
    )
    symmetric = tuple((new[0] + new[1]) / 2 for _ in range(2))
    assert model.score(symmetric, y) < 0.8


def test_the_symmetrised_map_is_that_of_the_symmetric_part():
    options = {"landmarks": "all", "core": "truncated"}
    for kernel, data, new in ((DIRECTED, Sides.of(K), Sides(*PAIR)), (KERNEL, X, NEW)):
        given, symmetrised = views(kernel, 80, None)
        assert (given.kernel, symmetrised.name) == (kernel, "symmetrised")
        features = symmetrised.map(Nystrom, 80, **options).fit(data)
        plain = Nystrom("precomputed", 80, **options).fit((K + K.T) / 2)
        mean = (PAIR[0] + PAIR[1]) / 2
        products = features.transform(new) @ features.transform(new).T
        expected = plain.transform(mean) @ plain.transform(mean).T
        assert_rounded(products, expected, 1e-6)


def test_an_average_with_the_symmetrised_map_predicts_for_a_pair():
    noise = np.random.default_rng(1).standard_normal(40)  # no trial is better than another
    model = KreinRegressor(DIRECTED, random_state=0).fit(K[:40, :40], noise)
    assert "symmetrised" in {model.report_.trials[i].features for i in model.report_.averaged}
    there, back = (side[:, :40] for side in PAIR)
    found = model.predict((there, back))
    assert found.shape == (9,)
    assert np.abs(found - model.predict((there, there))).max() > 1e-3


class Halved(TransformerMixin, BaseEstimator):
    """A step that learns nothing and does not say so."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X / 2


@pytest.mark.parametrize("kernel", [KERNEL, DeltaGaussian(1.0, 4.0)])
def test_a_step_that_learns_nothing_may_stand_before_the_map(kernel):
    for first in (Halved(), "passthrough"):
        steps = Pipeline([("first", first), ("map", Nystrom(kernel, 10, random_state=0))])
        model = TwoSidedRidge(features=steps, alpha=1e-2).fit(X, Y)
        scale = 1 if first == "passthrough" else 2
        alone = TwoSidedRidge(features=steps["map"], alpha=1e-2).fit(X / scale, Y)
        assert_rounded(model.predict(NEW), alone.predict(NEW / scale))


@pytest.mark.parametrize("few", [2000, 10])
@pytest.mark.parametrize(
    ("kernel", "rows"),
    [
        (ShiftGaussian(1.0, 0.6), X),
        (Custom(lambda A, B: KERNEL(np.array(A), np.array(B)), symmetric=False), X),
        (Pairwise(lambda a, b: float(a[0] - b[-1]), symmetric=False), X.tolist()),
    ],
    ids=["vectors", "objects", "a function"],
)
def test_kernels_with_a_direction_are_tried_with_both_sides(kernel, rows, few, monkeypatch):
    monkeypatch.setattr("krein.auto.plan.FEW", few)
    model = KreinRegressor(kernel, 10, random_state=0).fit(rows, Y)
    finished = {(t.features, t.learner) for t in model.report_.trials if np.isfinite(t.score)}
    assert {("Nystrom", "two-sided"), ("symmetrised", "ridge")} <= finished
    assert model.predict(rows).shape == (80,)


def test_no_pair_of_objects_is_evaluated_twice_in_the_same_direction():
    asked = []

    def after(a, b):
        asked.append((a, b))
        return float(ord(a[0]) - 2 * ord(b[-1]))

    words = ["".join(RNG.choice(list("abcdefgh"), 4)) for _ in range(60)]
    new = ["xyzz", "abba", "qqqa"]
    model = KreinRegressor(Pairwise(after, symmetric=False), 5, n_models=4, random_state=0)
    model.fit(words, [float(ord(word[-1])) for word in words])
    asked.clear()
    model.predict(new)
    assert {(a in new, b in new) for a, b in asked} == {(True, False), (False, True)}
    assert len(asked) == len(set(asked))


def test_a_bad_value_of_the_second_side_names_its_pair():
    kernel = Pairwise(lambda a, b: np.nan if b == "bad" else float(len(a)), symmetric=False)
    rows = [f"w{'o' * i}" for i in range(9)]
    model = TwoSidedRidge(kernel, 1, alpha=1e-3, random_state=0).fit(rows, np.arange(9.0))
    for before in (1, 40):
        with pytest.raises(BadPairError, match=f"nan for object {before} of X and object"):
            model.predict(["w"] * before + ["bad"])
    turned = kernel.T
    with pytest.raises(BadPairError, match="object 1 of X and object 0 of Y"):
        turned(["w", "bad"], ["w"])
    with pytest.raises(BadPairError, match="object 1 of X and object 0 of Y"):
        kernel.symmetric_part(["w", "bad"], ["w"])


def test_a_symmetric_kernel_has_no_such_trials():
    model = KreinRegressor(n_components=10, random_state=0).fit(X, Y)
    assert {t.learner for t in model.report_.trials} == {"ridge", "VC-LSM"}
    assert {t.features for t in model.report_.trials} == {"Nystrom"}


def test_dissimilarities_must_be_symmetric():
    D = np.abs(X[:, :1] - X[:, 1])
    np.fill_diagonal(D, 0)
    with pytest.raises(ValueError, match=r"KreinClassifier needs .* symmetric"):
        KreinClassifier(DIRECTED, dissimilarity=True).fit(D, Y > 0)
