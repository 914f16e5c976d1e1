"""What the learners must equal: dual formulas, scikit-learn, and themselves rearranged."""

from __future__ import annotations

import numpy as np
import pytest
from learner_cases import (
    CLASSIFIERS,
    DELTA,
    FIXED,
    LEARNERS,
    Signed,
    assert_same,
    data,
    make,
    outputs_of,
    targets,
)
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.svm import SVC, LinearSVC

import krein
from krein.kernels import TL1, Gaussian, Sigmoid
from krein.learning import newton

# ------------------------------------------------------------------------ the whole Kreĭn space


def _whole(**options):
    features = krein.Nystrom("precomputed", 80, landmarks="all", core="inverse")
    return krein.KreinRidge(features=features, fit_intercept=False, **options)


# Rows of an indefinite matrix that all training rows represent exactly: new ones explode.
STRANGE = "ignore:.* rows are unlike the training rows:UserWarning"


def _spectrum(n=80):
    """K of either sign, the rows of new objects, the eigenvectors and values of K, and y."""
    X, y = data()
    K = TL1(2.0)(X)
    values, U = np.linalg.eigh(K[:n, :n])
    assert values.min() < -1e-3 * values.max()
    return K[:n, :n], K[n:, :n], U, values, y[:n]


@pytest.mark.filterwarnings(STRANGE)
@pytest.mark.parametrize(("alpha", "alpha_neg"), [(1e-3, 1e-3), (1e-4, 0.3), (0.5, 1e-5)])
def test_ridge_is_the_corrected_dual_formula(alpha, alpha_neg):
    """α* = (H + nΛ)⁻¹ P y, H = |K|, P = U sign(D) Uᵀ, Λ = U(λ₊S₊ + λ₋|S₋|)Uᵀ."""
    K, K_new, U, values, y = _spectrum()
    H, P = (U * abs(values)) @ U.T, (U * np.sign(values)) @ U.T
    penalty = (U * np.where(values > 0, alpha, alpha_neg)) @ U.T
    dual = np.linalg.solve(H + len(y) * penalty, P @ y)
    model = _whole(alpha=alpha, alpha_neg=alpha_neg).fit(K, y)
    for rows in (K, K_new):
        assert_allclose(model.predict(rows), rows @ dual, rtol=0, atol=1e-8)


@pytest.mark.filterwarnings(STRANGE)
@pytest.mark.parametrize(
    ("alpha_neg", "negative"), [("auto", -1.0), ("equal", -1.0), (np.inf, 0.0)]
)
def test_equal_penalties_are_flip_and_an_infinite_one_is_clip(alpha_neg, negative):
    K, K_new, U, values, y = _spectrum()
    P = (U * np.where(values > 0, 1.0, negative)) @ U.T
    twin = KernelRidge(alpha=len(y) * 1e-3, kernel="precomputed").fit(K @ P, y)
    model = _whole(alpha=1e-3, alpha_neg=alpha_neg).fit(K, y)
    assert_allclose(model.predict(K_new), twin.predict(K_new @ P), rtol=0, atol=1e-8)


@pytest.mark.parametrize("alpha_neg", [1e6, 1e12])
@pytest.mark.parametrize("name", FIXED)
def test_large_penalties_of_the_negative_part_approach_clip(name, alpha_neg):
    X, y = data()
    clip = make(name, alpha_neg=np.inf).fit(X, targets(name, y))
    negative = clip.features_.form_.signs < 0
    assert negative.any() > clip.coef_[..., negative].any()
    assert_same(make(name, alpha_neg=alpha_neg).fit(X, targets(name, y)), clip, X)


@pytest.mark.filterwarnings(STRANGE)
def test_the_machine_of_loosli_is_flip_followed_by_a_plain_machine():
    """Prop. 3: with α̃ of the flipped matrix, f = k_xᵀ α + b for α = P α̃."""
    K, K_new, U, values, y = _spectrum()
    labels = targets("svc", y, n_classes=2)
    P = (U * np.sign(values)) @ U.T
    Z = krein.Nystrom("precomputed", 80, landmarks="all", core="inverse").fit(K)
    linear = SVC(kernel="linear", C=2.0, tol=1e-10).fit(Z.transform(K), labels)
    model = krein.CorrectedSVC("precomputed", correction="flip", C=2.0).fit(K, labels)
    outputs = linear.decision_function(Z.transform(K_new)), model.decision_function(K_new)
    for tol, f in zip((1e-10, 1e-3), outputs, strict=True):  # the latter is libsvm's default
        flipped = SVC(kernel="precomputed", C=2.0, tol=tol).fit(K @ P, labels)
        dual = np.zeros(len(y))
        dual[flipped.support_] = flipped.dual_coef_[0]
        assert_allclose(f, K_new @ (P @ dual) + flipped.intercept_, rtol=0, atol=1e-7)


# -------------------------------------------------------------------- scikit-learn on the features


def test_a_positive_definite_kernel_gives_the_ridge_of_scikit_learn():
    X, y = data()
    model = make("ridge", kernel=Gaussian(), alpha_neg="auto").fit(X, y)
    twin = Ridge(alpha=1e-3 * len(y), solver="svd").fit(model.features_.transform(X), y)
    assert_allclose(model.coef_, twin.coef_, rtol=0, atol=1e-8 * abs(twin.coef_).max())
    assert_allclose(model.intercept_, twin.intercept_, rtol=0, atol=1e-8)


def test_a_positive_definite_kernel_gives_the_machine_of_scikit_learn():
    """Without an intercept, which liblinear penalises; its own tolerance limits the comparison."""
    X, y = data()
    labels = targets("svc", y)
    model = make("svc", kernel=Gaussian(), alpha_neg="auto", fit_intercept=False).fit(X, labels)
    twin = LinearSVC(C=1 / (2e-3 * len(y)), fit_intercept=False, dual=False, tol=1e-12)
    twin.fit(model.features_.transform(X), labels)
    assert_allclose(model.coef_, twin.coef_, rtol=0, atol=1e-6 * abs(twin.coef_).max())


def test_the_indefinite_penalty_is_stationary_and_warns_near_an_eigenvalue():
    X, y = data()
    Z, signs = X - X.mean(axis=0), np.array([-1.0, -1, 1])
    gram = Z.T @ Z / len(X)
    model = krein.KreinRidge(features=Signed(), alpha=0.07, penalty="krein").fit(X, y)
    gradient = gram @ model.coef_ + 0.07 * signs * model.coef_ - Z.T @ y / len(X)
    assert_allclose(gradient, 0, atol=1e-10)
    alpha = float(-np.linalg.eigvals(signs[:, None] * gram).real.min())
    with pytest.warns(Warning, match="alpha"):
        krein.KreinRidge(features=Signed(), alpha=alpha * (1 + 1e-13), penalty="krein").fit(X, y)


@pytest.mark.parametrize("alpha_neg", [5.0, np.inf, "tune"])
def test_the_krein_penalty_refuses_a_second_penalty(alpha_neg):
    X, y = data()
    one = krein.KreinRidge(features=Signed(), alpha=0.07, penalty="krein", alpha_neg=alpha_neg)
    two = krein.TwoSidedRidge(TL1(2.0), alpha=0.07, coupling="askls", alpha_neg=alpha_neg)
    for model in (one, two):
        with pytest.raises(ValueError, match=r"has one penalty, alpha, got alpha_neg=.*'split'"):
            model.fit(X, y)


def test_the_l1_penalty_meets_its_conditions_and_gives_zeros():
    X, y = data()
    model = make("lasso", alpha=0.02, alpha_neg=0.05).fit(X, y)
    Z, signs = model.features_.transform(X), model.features_.form_.signs
    slope = 2 * (Z - Z.mean(axis=0)).T @ (y - model.predict(X)) / len(y)
    bound, used = np.where(signs > 0, 0.02, 0.05), model.coef_ != 0
    assert 0 < used.sum() < len(used)
    assert_allclose(slope[used], (bound * np.sign(model.coef_))[used], rtol=1e-3)
    assert (abs(slope[~used]) <= bound[~used] * (1 + 1e-3)).all()


def test_the_default_kernel_prints_as_it_is_written():
    X, y = data()
    assert repr(krein.KreinRidge(alpha=1.0).fit(X, y).kernel_).startswith("Gaussian(sigma=1.")


def test_small_l1_penalties_that_are_only_tried_warn_nobody():
    rng = np.random.default_rng(1)
    X = rng.random((60, 3))
    y = np.sin(4 * X[:, 0]) + 0.1 * rng.normal(size=60)  # Lasso does not converge for 1e-8
    kernel = krein.kernels.DeltaGaussian(0.5, 2.0)
    model = krein.KreinRidge(kernel, 20, penalty="l1", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


# ----------------------------------------------------------------------- rows, weights and columns


@pytest.mark.parametrize("name", LEARNERS)
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(name):
    X, y = data()
    y, weight = targets(name, y), np.arange(len(y)) % 4
    weighted = make(name).fit(X, y, sample_weight=weight)
    repeated = make(name).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same(weighted, repeated, X)


@pytest.mark.parametrize("landmarks", ["uniform", "leverage", "kmeans++", "all"])
@pytest.mark.parametrize("name", LEARNERS)
def test_permuting_the_rows_changes_no_prediction(name, landmarks, rng):
    X, y = data()
    y, order = targets(name, y), rng.permutation(len(y))
    model = make(name, landmarks).fit(X, y)
    assert_same(make(name, landmarks).fit(X[order], y[order]), model, X)


@pytest.mark.parametrize("kind", [krein.KreinClassifier, krein.KreinRegressor])
def test_permuting_the_rows_changes_no_choice(kind, rng):
    X, y = data()
    y, order = (y > 0 if kind is krein.KreinClassifier else y), rng.permutation(len(y))
    model = kind(DELTA, 12, random_state=0)
    assert_same(clone(model).fit(X, y), clone(model).fit(X[order], y[order]), X)


@pytest.mark.parametrize("rows", ["permuted", "of weight zero"])
@pytest.mark.parametrize("landmarks", ["uniform", "leverage", "kmeans++", "all"])
@pytest.mark.parametrize("name", [*FIXED, "ridge cv", "ridge classifier cv", "svc cv"])
def test_rows_of_a_matrix_of_kernel_values_change_nothing_if(rows, name, landmarks, rng):
    X, y = data()
    K, y = DELTA(X), targets(name, y)[:100]
    weight = np.ones(100) if rows == "permuted" else (np.arange(100) % 3 > 0).astype(float)
    order = rng.permutation(100) if rows == "permuted" else np.flatnonzero(weight)
    learner = make(name, landmarks, kernel="precomputed")
    f = outputs_of(clone(learner).fit(K[:100, :100], y, sample_weight=weight), K[100:, :100])
    g = outputs_of(clone(learner).fit(K[np.ix_(order, order)], y[order]), K[100:, order])
    assert_allclose(f, g, rtol=0, atol=1e-8 * abs(g).max())


def test_the_machine_of_scikit_learn_on_an_indefinite_kernel_depends_on_the_order(rng):
    """The contrast: its problem is not convex, and where libsvm stops depends on the rows."""
    X, y = data()
    K, order = Sigmoid(1.0, -1.0)(X), rng.permutation(len(y))
    svc = SVC(kernel="precomputed", C=10.0, max_iter=10**6)
    one, two = clone(svc).fit(K, y > 0), clone(svc).fit(K[order][:, order], y[order] > 0)
    assert (one.predict(K) != two.predict(K[:, order])).any()


@pytest.mark.parametrize("name", LEARNERS)
def test_an_offset_of_the_features_changes_no_prediction(name):
    X, y = data()
    y = targets(name, y)
    learner = clone(LEARNERS[name]).set_params(features=Signed(), cv=KFold(5))
    f, g = (outputs_of(clone(learner).fit(A, y), A) for A in (X, X + 2**20))
    assert_allclose(g, f, rtol=0, atol=1e-8 * abs(f).max())


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in CLASSIFIERS])
def test_an_offset_of_the_targets_moves_the_predictions_by_it(name):
    X, y = data()
    y = np.round(2**10 * y) / 2**10
    f, g = make(name).fit(X, y).predict(X), make(name).fit(X, y + 2**20).predict(X)
    assert_allclose(g - 2**20, f, rtol=0, atol=1e-8 * abs(f).max())


@pytest.mark.parametrize("name", FIXED)
def test_several_outputs_or_classes_are_fitted_as_each_alone(name):
    X, y = data()
    Y = np.column_stack([y, np.cos(X[:, 2]), 5 * X[:, 0] * X[:, 1]])
    if name in CLASSIFIERS:
        Y = targets(name, y)[:, None] == ["a", "b", "c"]
    both = outputs_of(make(name).fit(X, targets(name, y) if Y.dtype == bool else Y), X)
    assert both.shape == Y.shape
    for j in range(3):
        alone = outputs_of(make(name).fit(X, Y[:, j]), X)
        assert_allclose(both[:, j], alone, rtol=0, atol=1e-9 * abs(both).max())


@pytest.mark.parametrize("class_weight", ["balanced", {"a": 3.0, "c": 0.5}])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_class_weights_are_the_weights_of_their_rows(name, class_weight):
    X, y = data()
    labels, weight = targets(name, y), 1.0 + np.arange(len(y)) % 2
    factor = {c: weight.sum() / (3 * weight[labels == c].sum()) for c in "abc"}
    if class_weight != "balanced":
        factor = {"b": 1.0, **class_weight}
    by_class = make(name, class_weight=class_weight).fit(X, labels, sample_weight=weight)
    by_row = make(name).fit(X, labels, sample_weight=weight * [factor[c] for c in labels])
    assert_same(by_class, by_row, X)


# ------------------------------------------------------------------------------- what users rely on


@pytest.mark.parametrize("name", ["ridge classifier", "variance classifier", "svc"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_by_calibration(name, n_classes):
    X, y = data()
    labels = targets(name, y, n_classes)
    model = CalibratedClassifierCV(make(name), cv=3).fit(X, labels)
    assert model.predict_proba(X).shape == (len(X), n_classes)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, labels) > 0.6


def test_one_step_warns_and_many_are_not_needed():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        short = make("svc", alpha=1e-6, alpha_neg=1e-6, max_iter=1).fit(X, y > 0)
    full = make("svc", alpha=1e-6, alpha_neg=1e-6).fit(X, y > 0)
    assert short.n_iter_ == 1
    assert 1 < full.n_iter_ <= 30
    assert full.objective_ < short.objective_ < 1


def test_an_interrupted_machine_is_fitted_with_its_best_iterate(monkeypatch):
    X, y = data()
    calls, update = [], newton.newton_system

    def interrupted(*args):
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return update(*args)

    monkeypatch.setattr(newton, "newton_system", interrupted)
    with pytest.warns(ConvergenceWarning):
        model = make("svc", alpha=1e-6, alpha_neg=1e-6).fit(X, y > 0)
    assert len(calls) == 3
    f = np.where(y > 0, 1, -1) * model.decision_function(X)
    objective = (np.maximum(0, 1 - f) ** 2).mean() + 1e-6 * (model.coef_**2).sum()
    assert_allclose(objective, model.objective_, rtol=1e-9)
    assert objective < 1
