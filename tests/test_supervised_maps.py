"""Maps that use targets within learners: who gets targets, and that folds do not leak them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_same_outputs
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import krein
import krein.auto.automatic
from krein.auto.maps import Candidate
from krein.kernels import DeltaGaussian, Gaussian
from krein.streaming import Blocks


class Memoriser(TransformerMixin, BaseEstimator):
    """The training target of a row, looked up by the row's content; zeros for new rows."""

    def fit(self, X, y):
        Y = y if np.ndim(y) == 2 else np.asarray(y).reshape(len(y), 1)
        numbers = np.unique(Y, return_inverse=True)[1].reshape(Y.shape) - 0.5
        numbers = numbers if Y.dtype.kind not in "f" else Y
        self.seen_ = {row.tobytes(): n for row, n in zip(np.array(X), numbers, strict=True)}
        self.width_ = Y.shape[1]
        return self

    def transform(self, X):
        nothing = np.zeros(self.width_)
        known = [self.seen_.get(row.tobytes(), nothing) for row in np.array(X)]
        return np.hstack([np.stack(known), X[:, :1]])


class Witness(TransformerMixin, BaseEstimator):
    """The columns as they are; keeps what it was fitted on."""

    def fit(self, X, y=None):
        self.X_, self.y_ = np.array(X), None if y is None else np.array(y)
        return self

    def transform(self, X):
        return X


class SupervisedWitness(Witness):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _rows(n=160, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3))


NOISE = np.random.default_rng(1).standard_normal(160)
REGRESSORS = [krein.KreinRidge, krein.VarianceConstrainedRegressor, krein.TwoSidedRidge]
CLASSIFIERS = [
    krein.KreinRidgeClassifier,
    krein.VarianceConstrainedClassifier,
    krein.TwoSidedRidgeClassifier,
    krein.KreinSVC,
]


# ------------------------------------------------------------------------------------- no leakage


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("alpha", ["cv", "gradient"])
@pytest.mark.parametrize("kind", REGRESSORS)
def test_memorised_numbers_do_not_lower_the_loss_of_the_folds(kind, alpha, nested):
    X = _rows()
    model = kind(features=Memoriser(), alpha=alpha, nested=nested, random_state=0).fit(X, NOISE)
    assert np.min(model.cv_results_["squared_error"]) > 0.9 * NOISE.var()


def test_memorised_numbers_fit_the_training_rows():
    X = _rows()
    model = krein.KreinRidge(features=Memoriser(), alpha=1e-8).fit(X, NOISE)
    assert model.score(X, NOISE) > 0.999
    assert model.score(_rows(seed=5), NOISE) < 0.1


@pytest.mark.parametrize("alpha", ["cv", "gradient"])
@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_memorised_labels_do_not_lower_the_error_of_the_folds(kind, alpha, n_classes):
    X, y = _rows(), np.array(["a", "b", "c"])[np.argsort(NOISE) % n_classes]
    model = kind(features=Memoriser(), alpha=alpha, random_state=0).fit(X, y)
    results = model.cv_results_
    if alpha == "cv":
        # Chance is 1/2 or 2/3; its standard error on 160 rows is 0.04.
        assert np.min(results["error"]) > 1 - 1 / n_classes - 0.16
    else:
        loss = results["squared_hinge" if kind is krein.KreinSVC else "squared_error"]
        best = {2: 1.0, 3: 3 * (1 - 1 / 9)}[n_classes]  # of constant outputs
        assert loss > 0.9 * best


@pytest.mark.parametrize(
    "wrap",
    [
        lambda map_: make_pipeline(StandardScaler(), map_),
        lambda map_: make_pipeline(make_pipeline("passthrough", map_), FunctionTransformer()),
        lambda map_: FeatureUnion([("same", FunctionTransformer()), ("map", map_)]),
    ],
)
def test_a_map_that_has_a_supervised_part_is_supervised(wrap):
    X = _rows()
    model = krein.KreinRidge(features=wrap(Memoriser()), random_state=0).fit(X, NOISE)
    assert model.cv_results_["squared_error"].min() > 0.9 * NOISE.var()


def test_combined_sides_are_stacked_by_folds_with_maps_of_their_own():
    X = _rows()
    options = {"features": Memoriser(), "alpha": 1e-6, "random_state": 0}
    model = krein.TwoSidedRidge(combine="stack", **options).fit(X, NOISE)
    # With memorised outputs of the rows left out, the weights would reproduce all targets.
    assert model.score(X, NOISE) < 0.5


def test_the_automatic_learner_refits_supervised_maps_for_each_fold(monkeypatch):
    X = _rows()
    one = [Candidate("memory", 2, Memoriser())]
    monkeypatch.setattr(krein.auto.automatic, "candidates", lambda *args: one)
    monkeypatch.setattr(krein.auto.plan, "FEW", 0)  # otherwise few rows nest all maps
    model = krein.KreinRegressor(Gaussian(1.0), random_state=0).fit(X, NOISE)
    scores = [trial.score for trial in model.report_.trials]
    assert scores
    assert min(scores) > 0.9 * NOISE.var()


def _folds(n, k=4):
    place = np.arange(n) % k
    return [(np.flatnonzero(place != i), np.flatnonzero(place == i)) for i in range(k)]


@pytest.mark.parametrize("kind", [krein.KreinRidgeClassifier, krein.KreinSVC])
def test_the_error_of_the_folds_is_that_of_fits_without_their_rows(kind):
    X = _rows()
    y = X[:, 0] + NOISE > 0.3
    options = {"features": make_pipeline(StandardScaler(), SelectKBest(k=1)), "alpha_neg": "equal"}
    alphas = [1e-3, 3.0]
    model = kind(alphas=alphas, cv=_folds(160), **options).fit(X, y)
    for alpha, error in zip(alphas, model.cv_results_["error"], strict=True):
        wrong = [
            kind(alpha=alpha, **options).fit(X[train], y[train]).predict(X[test]) != y[test]
            for train, test in _folds(160)
        ]
        assert_allclose(error, np.mean(wrong), rtol=1e-12)


@pytest.mark.parametrize("kind", [krein.KreinRidge, krein.KreinSVC])
def test_the_gradient_follows_the_loss_of_folds_with_maps_of_their_own(kind):
    X = _rows()
    y = X[:, 0] - X[:, 2] + NOISE
    y = y > 0 if kind is krein.KreinSVC else y
    options = {"features": SelectKBest(f_regression, k=2), "alpha_neg": "equal", "cv": _folds(160)}
    if kind is krein.KreinSVC:
        options |= {"criterion": "squared_hinge", "tol": 1e-12}
    name = options.get("criterion", "squared_error")
    found = kind(alpha="gradient", **options).fit(X, y)
    around = found.alpha_ * np.array([0.5, 1.0, 2.0])
    losses = kind(alphas=around, **options).fit(X, y).cv_results_[name]
    assert_allclose(found.cv_results_[name], losses[1], rtol=1e-8)
    assert losses[1] <= losses.min() * (1 + 1e-6)


# ------------------------------------------------------------------------------ which targets


def _pairs(features):
    return sorted(zip(features.X_.tolist(), features.y_.tolist(), strict=True))


@pytest.mark.parametrize("size", [7, 50, 160])
@pytest.mark.parametrize("seed", [None, 0])
def test_targets_belong_to_their_rows_for_any_blocks_and_order(size, seed):
    X = np.round(_rows(), 3)
    y = np.array([f"row {x:.3f}"[:6] for x in X[:, 0]])
    order = np.arange(160) if seed is None else np.random.default_rng(seed).permutation(160)
    parts = [order[i : i + size] for i in range(0, 160, size)]
    model = krein.KreinSVC(features=SupervisedWitness(), alpha=0.1)
    inside = model.fit(Blocks([(X[part], y[part]) for part in parts])).features_
    assert _pairs(inside) == sorted(zip(X.tolist(), y.tolist(), strict=True))
    assert_array_equal(inside.X_, clone(model).fit(Blocks([(X, y)])).features_.X_)
    assert _pairs(clone(model).fit(X[order], y[order]).features_) == _pairs(inside)


def test_rows_of_weight_zero_and_copies_give_the_map_nothing():
    X, y = np.repeat(_rows(40), 2, axis=0), np.repeat(NOISE[:40], 2)
    weight = np.where(np.arange(80) < 10, 0.0, 1.0)
    seen = krein.KreinRidge(features=SupervisedWitness(), alpha=0.1).fit(X, y, weight).features_
    assert _pairs(seen) == sorted(zip(X[10::2].tolist(), y[10::2].tolist(), strict=True))


def test_regressors_pass_numbers_of_all_outputs():
    X, Y = _rows(), np.stack([NOISE, 1e80 * NOISE**2], axis=1)
    model = krein.KreinRidge(features=SupervisedWitness(), random_state=0).fit(X, Y)
    assert _pairs(model.features_) == sorted(zip(X.tolist(), Y.tolist(), strict=True))
    assert model.predict(X).shape == (160, 2)
    assert (
        np.min(krein.KreinRidge(features=Memoriser()).fit(X, Y[:, :1]).cv_results_["squared_error"])
        > 0.9 * NOISE.var()
    )
    text = Blocks([(X, np.array(["a", "b"] * 80))])
    with pytest.raises(ValueError, match="learns numbers, but y has"):
        krein.KreinRidge(features=SupervisedWitness(), alpha=1.0).fit(text)


def test_other_maps_do_not_get_targets():
    model = krein.KreinRidge(features=Witness(), alpha=0.1).fit(_rows(), NOISE)
    assert model.features_.y_ is None


def test_maps_of_scikit_learn_that_need_labels_work():
    X = _rows()
    y = np.where(X[:, 0] + 0.2 * NOISE > 0, "yes", "no")
    for features in (LinearDiscriminantAnalysis(), SelectKBest(k=1)):
        model = krein.KreinSVC(features=features, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.85
        assert model.coef_.shape == (1,)


def test_a_precomputed_kernel_gets_the_targets_of_its_rows():
    X = _rows()
    y, order = np.sin(2 * X[:, 0]) + 0.1 * NOISE, np.random.default_rng(3).permutation(160)
    features = krein.Nystrom("precomputed", 8, landmarks="supervised", random_state=0)
    K = DeltaGaussian(1.0, 4.0)(X)
    one = krein.KreinRidge(features=features, random_state=0).fit(K, y)
    two = krein.KreinRidge(features=features, random_state=0).fit(K[np.ix_(order, order)], y[order])
    assert_allclose(two.predict(K[:, order]), one.predict(K), rtol=0, atol=1e-6)
    assert one.score(K, y) > 0.5


def test_clones_and_pickles_are_the_same_model():
    X = _rows()
    features = krein.Nystrom(Gaussian(1.0), 5, landmarks="supervised")
    model = krein.KreinRidge(features=features, random_state=0).fit(X, NOISE)
    assert not hasattr(features, "landmarks_")
    assert_same_outputs(clone(model).fit(X, NOISE), model, X, 1e-9)
    assert_same_outputs(pickle.loads(pickle.dumps(model)), model, X, 1e-12)


# ------------------------------------------------------------------------------- what is refused


def test_a_frozen_map_is_used_as_it_is():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 2))
    y, kernel = X[:, 0] * X[:, 1], Gaussian(1.0)
    frozen = FrozenEstimator(krein.Nystrom(kernel, 12, random_state=0).fit(X))
    plain = krein.KreinRidge(kernel, 12, random_state=0)
    model = clone(plain).set_params(kernel=None, features=frozen)
    given = plain.set_params(features=frozen.estimator).fit(X, y)
    stream = [(X[:25], y[:25]), (X[25:], y[25:])]
    assert_allclose(clone(model).fit(stream).predict(X), given.predict(X), atol=1e-8)
    for other in (clone(model).partial_fit(X, y), clone(model).set_params(cv="loo").fit(X, y)):
        assert other.score(X, y) > 0.9


def test_streams_cannot_tune_with_a_supervised_map():
    X = _rows()
    stream = Blocks([(X[:80], NOISE[:80]), (X[80:], NOISE[80:])])
    for alpha in ("cv", "gradient"):
        with pytest.raises(ValueError, match=r"KreinRidge tunes .* use y.*alpha as a number"):
            krein.KreinRidge(features=Memoriser(), alpha=alpha).fit(stream)
    model = krein.KreinRidge(features=Memoriser(), alpha=1e-6).fit(stream)
    whole = krein.KreinRidge(features=Memoriser(), alpha=1e-6).fit(X, NOISE)
    assert_same_outputs(model, whole, X, 1e-8)


def test_partial_fit_cannot_tune_with_a_supervised_map():
    X = _rows()
    model = krein.KreinRidge(features=Memoriser(), keep_statistics=True)
    with pytest.raises(ValueError, match=r"partial_fit cannot tune.*alpha as a number"):
        model.partial_fit(X, NOISE)
    with pytest.raises(ValueError, match=r"partial_fit cannot tune.*alpha as a number"):
        model.fit(X, NOISE).partial_fit(X, NOISE)
    fixed = krein.KreinRidge(features=Memoriser(), alpha=1e-3).partial_fit(X[:80], NOISE[:80])
    assert len(fixed.partial_fit(X[80:], NOISE[80:]).features_.seen_) == 80


class Undeclared(Witness):
    def fit(self, X, y=None):
        if y is None:
            raise ValueError("no targets")
        return super().fit(X, y)


class Broken(Witness):
    def fit(self, X, y=None):
        raise ValueError("with targets" if y is not None else "without targets")


def test_a_map_that_fails_without_targets_gets_targets():
    X = _rows()
    model = krein.KreinSVC(features=Undeclared()).fit(X, NOISE > 0)
    assert _pairs(model.features_) == sorted(zip(X.tolist(), (NOISE > 0).tolist(), strict=True))
    with pytest.raises(ValueError, match="without targets"):
        krein.KreinSVC(features=Broken()).fit(X, NOISE > 0)


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (None, False),
        (krein.Nystrom(), False),
        (krein.Nystrom(landmarks="supervised"), True),
        (make_pipeline(StandardScaler(), krein.RandomFourier()), False),
        (make_pipeline(StandardScaler(), krein.Nystrom(landmarks="supervised")), True),
        (make_pipeline(SelectKBest(k=2), krein.RandomFourier()), True),
        (make_pipeline(SelectFromModel(LogisticRegression()), krein.RandomFourier()), True),
        (Memoriser(), True),
    ],
)
def test_which_maps_use_targets(features, expected):
    X = _rows()
    model = krein.KreinRidgeClassifier(features=features, alpha=1.0, random_state=0)
    assert model.fit(X, X[:, 0] > 0)._representation.is_supervised is expected
