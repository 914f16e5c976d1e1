"""Two-sided ridge: identities, the published method, and one pass against explicit refits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from learner_cases import outputs_of, targets
from numpy.testing import assert_allclose
from rounding import assert_rounded, assert_same_outputs
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import krein
from krein import KreinRidge, KreinRidgeClassifier, TwoSidedRidge, TwoSidedRidgeClassifier
from krein.forms import Phase, Signature
from krein.kernels import DeltaGaussian, Gaussian, Precomputed, ShiftGaussian
from krein.learning import Cholesky, Coupled, Joint, LeastSquares, Split, Views
from krein.streaming import Blocks, InMemory, Moments
from krein.testing import check_solver

RNG = np.random.default_rng(0)
X = np.round(64 * RNG.standard_normal((90, 3))) / 64
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * RNG.standard_normal(90) + 3
SHIFT = ShiftGaussian(1.0, 0.6)
K = SHIFT(X)
ALL = krein.Nystrom(Precomputed(symmetric=False), 90, landmarks="all", core="truncated")
MAPS = {
    "phase": krein.RandomFourier(SHIFT, 24, random_state=0),
    "signature": krein.Nystrom(DeltaGaussian(1.0, 4.0), 12, random_state=0),
    "two maps": krein.Nystrom(SHIFT, 12, random_state=0),
    "two maps in a pipeline": make_pipeline(
        StandardScaler(), krein.Nystrom(SHIFT, 12, random_state=0)
    ),
    "no form": StandardScaler(),
}


def _sides(model, rows):
    """The features of both sides, as the public verbs of the map return them."""
    features = model.features_
    if not hasattr(features, "steps"):
        dual = getattr(features, "transform_dual", features.transform)
        return features.transform(rows), dual(rows)
    return features.transform(rows), features[-1].transform_dual(features[:-1].transform(rows))


def _dense(S, T, y, alpha, alpha_neg, weight=None):
    """The minimiser of the objective in the docstring, from its stationarity in (w, v)."""
    s = np.ones(len(y)) if weight is None else weight
    W, p = s.sum(), S.shape[1]
    mean, neg = (alpha + alpha_neg) / 2, (alpha - alpha_neg) / 2
    y = y.reshape(len(y), -1)
    y = y - s @ y / W
    A = np.block(
        [
            [S.T @ (s[:, None] * S) / W + mean * np.eye(p), neg * np.eye(p)],
            [neg * np.eye(p), T.T @ (s[:, None] * T) / W + mean * np.eye(p)],
        ]
    )
    b = np.concatenate([S.T @ (s[:, None] * y), T.T @ (s[:, None] * y)]) / W
    return np.split(np.linalg.solve(A, b), 2)


# ------------------------------------------------------------------------------------ identities


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("weight", [None, RNG.integers(0, 4, 90).astype(float)])
def test_the_coefficients_minimise_the_objective(name, weight):
    model = TwoSidedRidge(features=MAPS[name], alpha=1e-2, alpha_neg=0.3).fit(X, Y, weight)
    S, T = _sides(model, X)
    w, v = _dense(S, T, Y, 1e-2, 0.3, weight)
    expected = (S @ w + T @ v)[:, 0] / 2 + np.average(Y, weights=weight)
    assert_rounded(model.predict(X), expected, 1e-9)
    assert_allclose(model.intercept_, np.average(Y, weights=weight), rtol=1e-12)


@pytest.mark.parametrize("alpha", [1e-3, "cv", "gradient"])
@pytest.mark.parametrize("alpha_neg", [0.1, "auto", np.inf])
def test_on_a_symmetric_kernel_the_mean_is_the_split_ridge(alpha, alpha_neg):
    options = {"alpha": alpha, "alpha_neg": alpha_neg, "fit_intercept": False, "random_state": 0}
    kernel = DeltaGaussian(1.0, 4.0)
    two, one = (cls(kernel, 12, **options).fit(X, Y) for cls in (TwoSidedRidge, KreinRidge))
    assert_rounded(two.predict(X), one.predict(X), 1e-7 if alpha == "gradient" else 1e-10)
    assert_allclose(two.alpha_, one.alpha_, rtol=1e-5)


def test_on_a_symmetric_kernel_the_classifier_is_the_split_ridge():
    labels, options = targets("svc", Y), {"fit_intercept": False, "random_state": 0}
    kernel = DeltaGaussian(1.0, 4.0)
    two = TwoSidedRidgeClassifier(kernel, 12, **options).fit(X, labels)
    one = KreinRidgeClassifier(kernel, 12, **options).fit(X, labels)
    assert_rounded(two.decision_function(X), one.decision_function(X), 1e-9)
    assert_allclose(two.cv_results_["error"], one.cv_results_["error"], rtol=1e-12)


def test_concatenated_sides_of_a_definite_kernel_have_twice_its_products():
    features = krein.RandomFourier(SHIFT, 64, random_state=0).fit(X)
    Z, dual = features.transform(X), features.transform_dual(X)
    both = np.hstack([Z, dual])
    assert_rounded(both @ both.T, 2 * Z @ Z.T)
    one = KreinRidge(Gaussian(), 12, alpha=2e-2, fit_intercept=False, random_state=0).fit(X, Y)
    joint = TwoSidedRidge(
        Gaussian(), 12, coupling="joint", alpha=4e-2, fit_intercept=False, random_state=0
    )
    assert_rounded(joint.fit(X, Y).predict(X), one.predict(X), 1e-9)


@pytest.mark.parametrize("name", MAPS)
def test_joint_is_ridge_on_concatenated_features(name):
    model = TwoSidedRidge(features=MAPS[name], coupling="joint", alpha=1e-2).fit(X, Y)
    both = np.hstack(_sides(model, X))
    ridge = Ridge(alpha=1e-2 * len(X), fit_intercept=False, solver="svd").fit(both, Y - Y.mean())
    assert_rounded(model.predict(X), ridge.predict(both) + Y.mean(), 1e-9)


@pytest.mark.parametrize(("alpha", "alpha_neg"), [(1e-3, 1e-2), (0.1, 1e-3), (1e-2, np.inf)])
def test_with_all_rows_as_landmarks_the_solution_is_that_of_one_svd(alpha, alpha_neg):
    model = TwoSidedRidge(features=ALL, alpha=alpha, alpha_neg=alpha_neg).fit(K, Y)
    U, sigma, Vt = np.linalg.svd(K)
    p, q = U.T @ (Y - Y.mean()), Vt @ (Y - Y.mean())
    a = (p + q) / 2 / (sigma + 90 * alpha)
    c = -(p - q) / 2 / (sigma + 90 * alpha_neg)
    new = np.round(64 * RNG.standard_normal((7, 3))) / 64
    for rows in (X, new):
        there, back = SHIFT(rows, X), SHIFT(X, rows).T
        mean = (there @ Vt.T @ (a - c) + back @ U @ (a + c)) / 2 + Y.mean()
        assert_rounded(model.predict((there, back)), mean, 1e-7)


def test_with_a_power_of_one_the_features_are_those_of_the_squared_singular_values():
    """Of UΣ and VΣ: the penalty of the matrix U Σ² Vᵀ."""
    model = TwoSidedRidge(features=ALL, alpha=1e-3, alpha_neg=1e-2, power=1).fit(K, Y)
    U, sigma, Vt = np.linalg.svd(K)
    w, v = _dense(U * sigma, Vt.T * sigma, Y, 1e-3, 1e-2)
    mean = (U * sigma @ w + Vt.T * sigma @ v)[:, 0] / 2 + Y.mean()
    assert_rounded(model.predict((K, K.T)), mean, 1e-8)


@pytest.mark.parametrize("alpha", [1e-4, 3e-3, 1.0])
def test_askls_is_the_dense_block_system(alpha):
    model = TwoSidedRidge(features=ALL, coupling="askls", alpha=alpha).fit(K, Y)
    ridge = 90 * alpha * np.eye(90)
    system = np.block([[ridge, K], [K.T, ridge]])
    a, b = np.split(np.linalg.solve(system, np.tile(Y - Y.mean(), 2)), 2)
    assert_rounded(model.predict((K, K.T)), (K @ b + K.T @ a) / 2 + Y.mean(), 1e-7)


def test_askls_warns_at_a_singular_value_and_stays_finite():
    M = np.diag([3.0, 2.0, 1.0, 0.5])
    directed = np.roll(M, 1, axis=1)
    model = TwoSidedRidge(
        Precomputed(symmetric=False), 4, coupling="askls", alpha=0.5, fit_intercept=False
    )
    with pytest.warns(UserWarning, match=r"alpha = 0\.5 meets an eigenvalue.*coupling='split'"):
        model.fit(directed, np.arange(4.0))
    assert np.isfinite(model.predict((directed, directed.T))).all()


def test_askls_tunes_among_the_singular_values_and_beyond():
    model = TwoSidedRidge(SHIFT, 12, coupling="askls", random_state=0).fit(X, Y)
    S, T = _sides(model, X)
    largest = np.linalg.eigvalsh(S.T @ S + T.T @ T)[-1] / 180
    alphas = model.cv_results_["alpha"]
    assert alphas.min() < largest < alphas.max()
    assert model.score(X, Y) > 0.8


# ---------------------------------------------------------------------------------- one pass

GRID = {"alphas": [1e-4, 1e-2, 1.0], "alphas_neg": [1e-3, 0.5]}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_grid_of_one_pass_is_that_of_explicit_refits(name, n_outputs):
    y = Y if n_outputs == 1 else np.column_stack([Y, X[:, 2] ** 2])
    model = TwoSidedRidge(features=MAPS[name], cv=KFold(4), **GRID).fit(X, y)
    S, T = _sides(model, X)
    table = model.cv_results_
    for alpha, alpha_neg, found in zip(
        table["alpha"], table["alpha_neg"], table["squared_error"], strict=True
    ):
        loss = 0.0
        for train, test in KFold(4).split(X):
            w, v = _dense(S[train], T[train], y[train], alpha, alpha_neg)
            out = (S[test] @ w + T[test] @ v) / 2 + y[train].mean(axis=0)
            loss += np.square(out - y[test].reshape(out.shape)).sum()
        assert_allclose(found, loss / len(X), rtol=1e-8)
    assert len(table["alpha"]) == 6
    chosen = (table["alpha"] == model.alpha_) & (table["alpha_neg"] == model.alpha_neg_)
    assert_allclose(table["squared_error"][chosen], table["squared_error"].min(), rtol=1e-12)


@pytest.mark.parametrize("nested", [False, True])
def test_stack_is_a_ridge_on_explicit_predictions_out_of_fold(nested):
    options = {"alpha": 1e-3, "alpha_neg": 1e-2, "cv": KFold(4), "features": MAPS["two maps"]}
    model = TwoSidedRidge(combine="stack", nested=nested, **options).fit(X, Y)
    outside = np.empty((len(X), 2))
    for train, test in KFold(4).split(X):
        rows = X[train] if nested else X
        part = TwoSidedRidge(**options).fit(rows, Y[train] if nested else Y)
        S, T = _sides(part, X)
        w, v = _dense(S[train], T[train], Y[train], 1e-3, 1e-2)
        outside[test] = np.hstack([S @ w, T @ v])[test] + Y[train].mean()
    S, T = _sides(model, X)
    w, v = _dense(S, T, Y, 1e-3, 1e-2)
    inside = np.hstack([S @ w, T @ v]) + Y.mean()
    scale = outside.var(axis=0).sum()
    losses = {}
    for share in np.geomspace(1e-8, 1, 9):
        left = [
            Ridge(share * scale * len(a), solver="svd").fit(outside[a], Y[a]).predict(outside[b])
            - Y[b]
            for a, b in KFold(4).split(X)
        ]
        losses[share] = np.square(np.concatenate(left)).sum()
    best = min(losses, key=losses.get)
    ridge = Ridge(best * scale * len(X), solver="svd").fit(outside, Y)
    assert_rounded(model.predict(X), ridge.predict(inside), 1e-7)


@pytest.mark.parametrize("combine", ["mean", "stack"])
@pytest.mark.parametrize("name", ["phase", "two maps"])
def test_order_blocks_weights_and_precision_change_nothing(name, combine):
    learner = TwoSidedRidge(features=MAPS[name], combine=combine, cv=3, random_state=0)
    model = clone(learner).fit(X, Y)
    order = RNG.permutation(len(X))
    assert_same_outputs(clone(learner).fit(X[order], Y[order]), model, X)
    blocks = Blocks([(X[i : i + 7], Y[i : i + 7]) for i in range(0, len(X), 7)])
    assert_same_outputs(clone(learner).fit(blocks), model, X)
    weight = 1.0 + np.arange(len(X)) % 3
    repeated = np.repeat(np.arange(len(X)), weight.astype(int))
    weighted = clone(learner).fit(X, Y, weight)
    assert_same_outputs(clone(learner).fit(X[repeated], Y[repeated]), weighted, X)
    single = clone(learner).set_params(alpha=1e-2).fit(X.astype(np.float32), Y)
    double = clone(learner).set_params(alpha=1e-2).fit(X, Y)
    assert_allclose(single.predict(X.astype(np.float32)), double.predict(X), atol=1e-3)


def test_partial_fit_goes_on_where_fit_has_ended():
    learner = TwoSidedRidge(SHIFT, 12, alpha=1e-2, alpha_neg=0.1, random_state=0)
    learner.set_params(features=MAPS["phase"])
    first = clone(learner).partial_fit(X[:50], Y[:50])
    both = clone(learner).fit(X, Y)
    S = first.features_.transform(X), both.features_.transform(X)
    assert_rounded(S[0], S[1])  # a Fourier map does not depend on the rows
    assert_same_outputs(first.partial_fit(X[50:], Y[50:]), both, X)
    labels = targets("svc", Y)
    classifier = TwoSidedRidgeClassifier(features=MAPS["phase"], alpha=1e-2, random_state=0)
    parts = clone(classifier).partial_fit(X[:50], labels[:50], classes=np.unique(labels))
    parts = parts.partial_fit(X[50:], labels[50:])
    assert_same_outputs(parts, clone(classifier).fit(X, labels), X)


def test_files_and_arrays_are_the_same(tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    learner = TwoSidedRidge(features=MAPS["phase"], random_state=0)
    one = clone(learner).fit(tmp_path / "X.npy", tmp_path / "y.npy")
    two = clone(learner).fit(InMemory(X, Y))
    assert_rounded(one.predict(tmp_path / "X.npy"), two.predict(X), 1e-8)


def test_classes_are_judged_by_their_errors():
    labels = targets("svc", Y)
    model = TwoSidedRidgeClassifier(SHIFT, 12, cv=KFold(4), random_state=0, **GRID).fit(X, labels)
    S, T = _sides(model, X)
    codes = np.searchsorted(model.classes_, labels)
    signs = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    table = model.cv_results_
    for alpha, alpha_neg, found in zip(
        table["alpha"], table["alpha_neg"], table["error"], strict=True
    ):
        wrong = 0
        for train, test in KFold(4).split(X):
            w, v = _dense(S[train], T[train], signs[train], alpha, alpha_neg)
            out = (S[test] @ w + T[test] @ v) / 2 + signs[train].mean(axis=0)
            wrong += (out.argmax(axis=1) != codes[test]).sum()
        assert_allclose(found, wrong / len(X), rtol=1e-12)
    assert outputs_of(model, X).shape == (90, 3)


# ----------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"features": MAPS["phase"], "power": 1}, r"power=1\) needs .* RandomFourier has none"),
        (
            {"features": krein.SimilarityFeatures(SHIFT, 5), "power": 1},
            "SimilarityFeatures has none: use power=0.5",
        ),
        (
            {"features": krein.Nystrom(Gaussian(), 8, n_landmarks=8), "power": 1},
            "rotated: use power=0.5, or n_landmarks above n_components",
        ),
        ({"kernel": SHIFT, "coupling": "joint", "combine": "stack"}, "has one prediction, not two"),
        ({"kernel": SHIFT, "coupling": "both"}, "'coupling' parameter .* must be a str among"),
        ({"kernel": SHIFT, "power": 2}, "'power' parameter .* must be"),
        ({"kernel": SHIFT, "combine": "max"}, "'combine' parameter .* must be a str among"),
        (
            {"kernel": SHIFT, "coupling": "askls", "alpha": "gradient"},
            "no derivatives .*coupling='split' of a two-sided learner",
        ),
        ({"kernel": SHIFT, "criterion": "error"}, "counts wrong classes"),
    ],
)
def test_bad_parameters_get_their_sentence(options, said):
    with pytest.raises(ValueError, match=said):
        TwoSidedRidge(n_components=8, **options).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"alpha": 1.0}, r"\(combine='stack'\) needs .* distinct rows.*: use combine='mean'"),
        ({}, r"\(alpha='cv'\) needs .* distinct rows.*: give alpha a number"),
    ],
)
def test_a_stack_of_one_distinct_row_is_refused(options, said):
    same = np.ones((5, 3))
    model = TwoSidedRidge(SHIFT, 1, combine="stack", **options)
    with pytest.raises(ValueError, match=said) as caught:
        model.fit(same, Y[:5])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# -------------------------------------------------------------------------------- the solvers


@pytest.mark.parametrize("form", [None, Phase(RNG.standard_normal(3)), Signature([1, -1, 1])])
def test_views_are_two_matrices(form):
    p = 3 if form is None else form.width
    scale = 1 + np.arange(p)
    views = Views(form, scale)
    if form is None:
        A, B = np.vstack([np.eye(3), np.zeros((3, 3))]), np.vstack([np.zeros((3, 3)), np.eye(3)])
    else:
        A, B = np.eye(p), form.dense().T
    rows, w, v = RNG.standard_normal((5, len(A))), *RNG.standard_normal((2, p, 2))
    for found, side in zip(views.split(rows), (A, B), strict=True):
        assert_rounded(found, rows @ (side * scale))
    for found, side, coef in zip(views.joined(w, v), (A, B), (w, v), strict=True):
        assert_rounded(found, side @ (scale[:, None] * coef))


def test_many_penalties_share_one_reduction():
    """One factorisation per alpha serves all alpha_neg; the solutions are those of each alone."""
    p, q = 80, 3
    B = RNG.standard_normal((p, p)) * np.geomspace(1, 1e-5, p)
    rows = np.hstack([RNG.standard_normal((200, p)) @ B, RNG.standard_normal((200, q))])
    problem = LeastSquares.of(Moments.of(rows), q)
    solver = Cholesky(Signature(np.where(np.arange(p) % 3, 1.0, -1.0)))
    seconds = [1e-12, 1e-4, 1.0, 1e3, np.inf]
    penalties = [Split(a, b) for a in (1e-8, 1e-2, 10.0) for b in seconds]
    for penalty, found in zip(penalties, solver.path(problem, penalties), strict=True):
        expected = solver.solve(problem, penalty)
        assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
        used = np.isfinite(penalty.diagonal(solver.form))
        A = problem.gram[np.ix_(used, used)] + np.diag(penalty.diagonal(solver.form)[used])
        assert_rounded(A @ found[used], problem.cross[used], 1e-9)


@pytest.mark.parametrize("kind", [Coupled, Joint])
def test_solvers_of_both_sides_have_their_dense_twins(kind):
    p, scale = 4, np.arange(1.0, 5.0)
    rows = RNG.standard_normal((60, 2 * p + 2))
    y = rows[:, 2 * p :] - rows[:, 2 * p :].mean(axis=0)
    S, T = rows[:, :p] * scale, rows[:, p : 2 * p] * scale
    both = np.hstack([S, T])

    def twin(penalty):
        if kind is Joint:
            A = both.T @ both / 60 + penalty.alpha * np.eye(2 * p)
            sides = 2 * np.linalg.solve(A, both.T @ y / 60)
        else:
            sides = np.concatenate(_dense(S, T, y, penalty.alpha, penalty.alpha_neg))
        return np.tile(scale, 2)[:, None] * sides / 2

    signs = np.ones(2 * p) if kind is Joint else np.repeat([1.0, -1.0], p)
    solver = kind(Cholesky(Signature(signs)), Views(None, scale))
    problem = LeastSquares.of(Moments.of(rows), 2, center_features=False)
    check_solver(solver, problem, [Split(0.1, 0.5), Split(1.0, 1e-3)], twin)
