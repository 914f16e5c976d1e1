"""Rows that are left out in turn, in closed form, against refits without them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein import KreinRidge, KreinRidgeClassifier, KreinSVC, Nystrom, RandomFourier
from krein.forms import Signature
from krein.kernels import DeltaGaussian, Gaussian, Matern, Polynomial
from krein.learning import Cholesky, LeastSquares, LeftOut, Split
from krein.streaming import Moments

RNG = np.random.default_rng(0)
N, P = 24, 5
X = RNG.normal(size=(60, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=60)
PENALTIES = [Split(0.1, 0.1), Split(0.1, 1.0), Split(1e-5, np.inf), Split(0.01, 0.1)]


def _rows(kind):
    """Features, targets and weights; the features of "diagonal" have a diagonal second moment."""
    Z, Y = RNG.normal(size=(N, P)) + 3, RNG.normal(size=(N, 2))
    if kind == "diagonal":
        return np.linalg.svd(Z, full_matrices=False)[0] * [3, 2, 1, 0.5, 0.1], Y, np.ones(N)
    return Z, Y, RNG.random(N) + 0.5


@pytest.mark.parametrize("kind", ["plain", "diagonal"])
@pytest.mark.parametrize("signs", [[1.0] * P, [1.0, -1, 1, -1, 1]])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_outputs_are_those_of_refits(kind, signs, fit_intercept):
    Z, Y, weight = _rows(kind)
    form = Signature(np.array(signs))

    def problem(rows):
        moments = Moments.of(np.hstack([Z, Y])[rows], weight[rows])
        return LeastSquares.of(moments, 2, fit_intercept)

    models = LeftOut(problem(np.arange(N)), form, PENALTIES, fit_intercept)
    assert all((part.vectors is None) == (kind == "diagonal") for part in models._parts)
    found = models.outputs(Z, Y, weight)
    for place, penalty in enumerate(PENALTIES):
        assert_allclose(models.at(place).outputs(Z, Y, weight)[0], found[place], atol=1e-12)
        for i in range(N):
            rest = np.delete(np.arange(N), i)
            # The loss is a mean over the weights, so the penalty of fewer rows is larger.
            factor = weight.sum() / weight[rest].sum()
            train = problem(rest)
            coef = Cholesky(form).solve(
                train, Split(penalty.alpha * factor, penalty.alpha_neg * factor)
            )
            assert_allclose(found[place, i], Z[i] @ coef + train.intercept(coef), atol=1e-8)


def _refitted(features, alpha, rows, new, **options):
    """The prediction for new rows by ridge on some rows, with the same total penalty."""
    model = KreinRidge(features=features, alpha=alpha * len(X) / len(rows), **options)
    return model.fit(X[rows], y[rows]).predict(X[new])


def test_ridge_leaves_out_every_row():
    # The map does not depend on the rows, so that refits have the same features.
    features = RandomFourier(Gaussian(1.0), 20, random_state=0)
    model = KreinRidge(features=features, cv="loo", random_state=0).fit(X, y)
    results, chosen = model.cv_results_, model.cv_results_["chosen"]
    assert len(results["alpha"]) > 20
    missed = [
        y[i] - _refitted(features, model.alpha_, np.delete(np.arange(60), i), [i])[0]
        for i in range(60)
    ]
    assert_allclose(results["squared_error"][chosen], np.mean(np.square(missed)), rtol=1e-6)
    low, high = model.predict_interval(X).T
    assert_allclose(np.mean(high - low), np.diff(np.quantile(missed, [0.05, 0.95]))[0], rtol=0.1)


def test_copies_of_a_row_are_left_out_together():
    features = RandomFourier(Gaussian(1.0), 20, random_state=0)
    plain = KreinRidge(features=features, cv="loo", random_state=0).fit(X, y)
    twice = KreinRidge(features=features, cv="loo", random_state=0)
    twice.fit(np.vstack([X, X]), np.append(y, y))
    weighted = KreinRidge(features=features, cv="loo", random_state=0)
    weighted.fit(X, y, sample_weight=np.full(60, 2.0))
    for other in (twice, weighted):
        assert_allclose(other.predict(X), plain.predict(X), atol=1e-8)
        found, expected = (m.cv_results_["squared_error"] for m in (other, plain))
        assert_allclose(found, expected, rtol=1e-7)


def test_rows_of_weight_zero_count_for_nothing():
    features = RandomFourier(Gaussian(1.0), 20, random_state=0)
    plain = KreinRidge(features=features, cv="loo", random_state=0).fit(X[:50], y[:50])
    more = KreinRidge(features=features, cv="loo", random_state=0)
    more.fit(X, y, sample_weight=np.repeat([1.0, 0.0], [50, 10]))
    assert_allclose(more.predict(X), plain.predict(X), atol=1e-8)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), DeltaGaussian(0.5, 3.0)])
def test_blocks_of_a_stream_change_nothing(kernel):
    features = RandomFourier(kernel, 20, random_state=0)
    model = KreinRidge(features=features, cv="loo", random_state=0)
    whole = model.fit(X, y).predict(X)
    blocks = [(X[i : i + 17], y[i : i + 17]) for i in range(0, 60, 17)]
    assert_allclose(model.fit(blocks).predict(X), whole, atol=1e-7)


@pytest.mark.parametrize("labels", [y > 0, np.digitize(y, [-0.5, 0.5])])
def test_classes_are_judged_by_other_rows(labels):
    features = Nystrom(Gaussian(1.0), 60, landmarks="all", core="truncated")
    model = KreinRidgeClassifier(features=features, cv="loo", random_state=0).fit(X, labels)
    results, chosen = model.cv_results_, model.cv_results_["chosen"]
    assert results["error"][chosen] == results["error"].min()
    wrong = []
    for i in range(60):
        rest = np.delete(np.arange(60), i)
        other = KreinRidgeClassifier(features=features, alpha=model.alpha_ * 60 / 59)
        wrong.append(other.fit(X[rest], labels[rest]).predict(X[[i]])[0] != labels[i])
    assert results["error"][chosen] == pytest.approx(np.mean(wrong))
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_a_given_penalty_is_calibrated_by_rows_left_out():
    features = RandomFourier(Gaussian(1.0), 20, random_state=0)
    tuned = KreinRidge(features=features, cv="loo", random_state=0).fit(X, y)
    given = KreinRidge(features=features, alpha=tuned.alpha_, cv="loo", calibrate=True).fit(X, y)
    assert_allclose(given.predict_interval(X), tuned.predict_interval(X), atol=1e-7)
    assert not hasattr(given, "_left_out")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"penalty": "l1"}, "penalty='split' only, got penalty='l1'"),
        ({"penalty": "krein"}, "penalty='split' only, got penalty='krein'"),
        ({"alpha": "gradient"}, "got alpha='gradient'"),
        ({"nested": True}, "nested=True needs a map for each fold"),
        (
            {"features": Nystrom(Gaussian(), 5, landmarks="supervised")},
            "a map that uses y needs a map for each fold",
        ),
    ],
)
def test_what_has_no_closed_form_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        KreinRidge(**{"n_components": 5, "cv": "loo", **options}).fit(X, y)


def test_one_distinct_row_cannot_be_left_out():
    with pytest.raises(ValueError, match="at least two distinct rows"):
        KreinRidge(n_components=2, features=RandomFourier(n_components=4), cv="loo").fit(
            np.ones((5, 2)), np.arange(5.0)
        )


def test_other_learners_have_no_rows_left_out():
    with pytest.raises(ValueError, match="'cv' parameter of KreinSVC"):
        KreinSVC(cv="loo").fit(X, y > 0)


@pytest.mark.parametrize("kind", ["plain", "diagonal"])
def test_tiny_penalties_have_the_limit_of_small_ones(kind):
    """Without a floor 1 − h would be a rounding error, and the smallest penalty the best one."""
    rows = np.linspace(0, 1, 40)[:, None]
    targets = np.sin(5 * rows) + 0.5 * np.random.default_rng(1).normal(size=rows.shape)
    features = Nystrom(Matern(1.0, 0.5), 40, landmarks="all", core="truncated")
    Z = features.fit_transform(rows)
    if kind == "plain":
        Z = Z @ np.linalg.qr(np.random.default_rng(2).normal(size=(40, 40)))[0]
    problem = LeastSquares.of(Moments.of(np.hstack([Z, targets])), 1)
    alphas = [1e-11, 1e-13, 1e-16, 1e-20]
    models = LeftOut(problem, Signature(np.ones(40)), [Split(a, a) for a in alphas])
    found = np.square(models.outputs(Z, targets) - targets).mean(axis=(1, 2))
    assert_allclose(found, found[0], rtol=1e-2)


def test_the_loss_of_a_penalty_does_not_depend_on_the_other_penalties():
    """Second moments are diagonal or not whatever the penalties: a large one must not decide."""
    rng = np.random.default_rng(9)
    rows = rng.normal(size=(80, 3))
    rows[0] *= 300 ** rng.random(3)
    targets, weight = rows[:, 1] + 0.3 * rng.normal(size=80), rng.choice([1.0, 2.0, 5.0], size=80)
    features = Nystrom(Polynomial(degree=1), 10, landmarks="all", core="truncated")
    found = []
    for alphas in ([5.0], [1e-6, 5.0]):
        model = KreinRidge(features=features, alphas=alphas, cv="loo")
        model.fit(rows, targets, sample_weight=weight)
        found.append(model.cv_results_["squared_error"][-1])
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_equal_ratios_of_penalties_share_a_decomposition():
    grid = np.geomspace(1e-8, 1, 9)
    penalties = [Split(a, b) for a in grid for b in [*grid, np.inf]]
    Z, Y, weight = _rows("plain")
    problem = LeastSquares.of(Moments.of(np.hstack([Z, Y]), weight), 2)
    assert len(LeftOut(problem, Signature([1.0, -1, 1, -1, 1]), penalties)._parts) == 18
    extreme = LeftOut(problem, Signature([1.0, -1, 1, -1, 1]), [Split(1e-3, 1e-300)])
    assert np.isfinite(extreme.outputs(Z, Y, weight)).all()


def test_partial_fit_says_that_all_rows_are_needed():
    model = KreinRidge(features=RandomFourier(Gaussian(), 8, random_state=0), cv="loo")
    with pytest.raises(ValueError, match=r"needs all rows at once.*number of folds"):
        model.partial_fit(X, y)
