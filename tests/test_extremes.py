"""Targets and weights of any size: a learner is the same learner in other units."""

from __future__ import annotations

import numpy as np
import pytest
from learner_cases import CLASSIFIERS, LEARNERS, data, make, outputs_of, targets
from rounding import assert_rounded
from sklearn.base import clone

import krein
from krein.features.forward import as_columns
from krein.forms import Signature
from krein.kernels import DeltaGaussian, Gaussian, ShiftGaussian
from krein.learning import L1, Cholesky, CoordinateDescent, Split
from krein.learning.problems import LeastSquares
from krein.learning.secular import on_sphere

X, VALUES = data(90)
FACTORS = [10.0**power for power in (-200, -150, -100, 100, 150, 200)]
AUTO = {
    "automatic regressor": krein.KreinRegressor(DeltaGaussian(), 10, n_models=2, random_state=0),
    "automatic classifier": krein.KreinClassifier(DeltaGaussian(), 10, n_models=2, random_state=0),
}
# An L1 penalty is no square: other units of y are other penalties.
REGRESSORS = [name for name in LEARNERS if name not in CLASSIFIERS and name != "lasso"]


def _make(name):
    return clone(AUTO[name]) if name in AUTO else make(name)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", [*REGRESSORS, "automatic regressor"])
def test_targets_in_other_units_are_predicted_in_those_units(name, factor):
    y = np.column_stack([VALUES, -3 * VALUES]) if name == "ridge" else VALUES
    expected = _make(name).fit(X, y).predict(X)
    found = _make(name).fit(X, factor * y).predict(X)
    assert_rounded(found / factor, expected, 1e-6)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", [*LEARNERS, *AUTO])
def test_weights_in_other_units_change_nothing(name, factor):
    y = VALUES > 0 if name == "automatic classifier" else targets(name, VALUES)
    weight = 0.5 + np.random.default_rng(1).random(len(X))
    expected = outputs_of(_make(name).fit(X, y, sample_weight=weight), X)
    found = outputs_of(_make(name).fit(X, y, sample_weight=factor * weight), X)
    assert_rounded(found, expected, 1e-6)
    assert np.ptp(found) > 0.1


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_blocks_and_later_rows_have_the_units_of_the_first(factor):
    weight = 0.5 + np.random.default_rng(1).random(len(X))
    model = krein.KreinRidge(features=krein.RandomFourier(n_components=16, random_state=0))
    model.set_params(alpha=1e-3)
    expected = clone(model).fit(X, VALUES, sample_weight=weight).predict(X)
    pieces = [
        (X[rows], factor * VALUES[rows], factor * weight[rows])
        for rows in (slice(40), slice(40, None))
    ]
    stream = clone(model).fit(pieces)
    later = clone(model)
    for rows, y, s in pieces:
        later.partial_fit(rows, y, sample_weight=s)
    for found in (stream, later):
        assert_rounded(found.predict(X) / factor, expected, 1e-9)


@pytest.mark.parametrize("factor", [1e-200, 1e-20, 1e20, 1e200])
def test_a_lasso_at_any_size_of_the_targets_is_finite(factor):
    """Large targets are fitted without a penalty that counts, small ones by their mean alone."""
    model = make("lasso").fit(X, factor * VALUES)
    found = model.predict(X) / factor
    assert np.isfinite(found).all()
    if factor < 1:
        assert_rounded(found, np.full(len(X), VALUES.mean()), 1e-9)
    else:
        assert np.square(found - VALUES).mean() < 0.7 * VALUES.var()


@pytest.mark.parametrize("radius", [1e-300, 1e-150, 1e150, 1e300])
def test_a_variance_of_any_size_is_reached(radius):
    model = make("variance").set_params(spread=radius).fit(X, VALUES)
    found = model.predict(X)
    assert np.isfinite(found).all()
    if radius > 1:  # next to the mean of y a spread of 1e-150 is not seen
        assert np.std(found / radius) == pytest.approx(np.std(VALUES), rel=1e-8)
    norm = np.linalg.norm(model.coef_ / radius)
    assert np.isfinite(norm)
    assert norm > 0


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1.0, 1e100, 1e200])
@pytest.mark.parametrize("radius", [1e-300, 1e-3, 2.0, 1e300])
def test_the_sphere_has_its_radius_at_any_scale(scale, radius):
    rng = np.random.default_rng(0)
    c, b = rng.random(6), scale * rng.standard_normal(6)
    for right in (b, np.where(c == c.min(), 0, b), np.zeros(6)):
        gamma, theta = on_sphere(c, right, radius)
        assert np.linalg.norm(gamma / radius) == pytest.approx(1, rel=1e-12)
        assert theta <= c.min() * (1 + 1e-12)


def test_supervised_landmarks_take_targets_of_any_size():
    expected = as_columns(VALUES, len(VALUES))
    for factor in FACTORS:
        assert_rounded(as_columns(factor * VALUES, len(VALUES)), expected)


@pytest.mark.parametrize(
    ("solver", "penalty"), [(Cholesky, Split(1e-9, 1e-9)), (CoordinateDescent, L1(1e-2, 1e-2))]
)
@pytest.mark.parametrize("rounding", [1e-16, 1e-9, 6e-8])
def test_products_in_single_precision_have_a_factorisation(solver, penalty, rounding):
    """Rounding makes the smallest eigenvalues of a Gram matrix negative, by luck of the CPU."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((8, 20))  # rank 8 of 20
    gram = Z.T @ Z / 8
    gram -= rounding * np.trace(gram) * np.eye(20)
    cross = Z.T @ rng.standard_normal((8, 1)) / 8
    problem = LeastSquares(gram, cross, np.ones(1), np.zeros(20), np.zeros(1), 8.0)
    coef = solver(Signature(np.ones(20))).solve(problem, penalty)
    assert np.isfinite(coef).all()
    assert np.linalg.norm(coef) > 0


@pytest.mark.parametrize("factor", [1e-200, 1e155, 1e200])
def test_scores_do_not_depend_on_the_unit_of_the_targets(factor):
    model = krein.KreinRidge(DeltaGaussian(), 10, alpha=1e-3, random_state=0)
    expected = clone(model).fit(X, VALUES).score(X, VALUES)
    assert model.fit(X, factor * VALUES).score(X, factor * VALUES) == pytest.approx(expected)


@pytest.mark.parametrize("verb", ["transform", "transform_dual"])
@pytest.mark.parametrize("kernel", [Gaussian(1e-170), ShiftGaussian(1e-170, 1e-170)])
def test_projections_that_overflow_are_named(kernel, verb):
    features = krein.RandomFourier(kernel, 8, random_state=0).fit(1e-170 * X)
    assert np.isfinite(getattr(features, verb)(1e100 * X)).all()
    with pytest.raises(ValueError, match=r"entries up to .*e\+200 by frequencies up to .*e\+17"):
        getattr(features, verb)(1e200 * X)
