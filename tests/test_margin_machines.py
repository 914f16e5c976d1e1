"""Losses of the margin and the Newton solver, against cvxpy and differences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from solver_cases import FORM, SIGNS, Pieces, _central, _data

from krein.learning import (
    Hinge,
    Newton,
    Split,
    SquaredHinge,
)
from krein.learning.newton import NewtonState, outputs, warm_start

SQUARED = SquaredHinge()
LOSSES = pytest.mark.parametrize("loss", [SQUARED, Hinge(), Hinge(0.5)])


@LOSSES
def test_derivatives_of_a_loss_are_those_of_differences(loss):
    m, step = np.linspace(-4, 4, 1003), 1e-6
    slope = (loss.value(m + step) - loss.value(m - step)) / (2 * step)
    assert_allclose(2 * loss.half_slope(m), slope, rtol=0, atol=1e-5)
    bend = (loss.half_slope(m + step) - loss.half_slope(m - step)) / (2 * step)
    kinks = np.abs(np.diff(loss.half_curvature(np.stack([m - step, m + step])), axis=0)[0]) > 0
    assert_allclose(loss.half_curvature(m)[~kinks], bend[~kinks], rtol=0, atol=1e-6)
    assert loss.stages[-1] is loss


@pytest.mark.parametrize("width", [0.05, 0.1, 0.7, 2.0, 5.0])
def test_the_hinge_is_rounded_in_its_corner_alone(width):
    m = np.linspace(-8, 8, 4001)
    excess = Hinge(width).value(m) - np.maximum(0, 1 - m)
    assert_allclose(excess.max(), width / 4, rtol=1e-2)
    assert (excess > -1e-12).all()
    assert_allclose(excess[np.abs(1 - m) > width], 0, rtol=0, atol=1e-12)
    widths = [loss.width for loss in Hinge(width).stages]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == max(2.0, width)
    assert all(a <= 2.000001 * b for a, b in pairwise(widths))


def _classes(n=80):
    Z, Y, weight = _data(n)
    weight[::9] = 0
    return Z, np.where(Y[:, 0] > np.median(Y), 1.0, -1.0), weight


def _hinge(Z, y, weight, penalty, n_blocks=1, fit_intercept=True, loss=SQUARED, **options):
    rows = Pieces(Z, n_blocks)
    solver = Newton(FORM, loss, fit_intercept, **{"tol": 1e-12, **options})
    return rows, solver, solver.solve(rows, y, weight, Split(*penalty), NewtonState.zero(rows))


def _squared(cvxpy, u):
    return cvxpy.square(cvxpy.pos(u))


def _rounded(cvxpy, u, h=0.1):
    """u/2 + |u|/2 of u = 1 − m, with the corner of |u| rounded between −h and h."""
    return u / 2 + cvxpy.huber(u, h) / (4 * h) + h / 4


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("penalty", [(0.1, 0.1), (1e-3, 0.5), (2.0, 1e-2), (0.05, np.inf)])
@pytest.mark.parametrize(("loss", "twin"), [(SQUARED, _squared), (Hinge(), _rounded)])
def test_a_margin_machine_is_the_optimum_of_cvxpy(penalty, fit_intercept, loss, twin):
    cvxpy = pytest.importorskip("cvxpy")
    Z, y, weight = _classes()
    _, _, state = _hinge(Z, y, weight, penalty, fit_intercept=fit_intercept, loss=loss)
    used = (SIGNS > 0) | np.isfinite(penalty[1])
    diagonal = np.where(SIGNS > 0, *penalty)[used]
    w, b = cvxpy.Variable(used.sum()), cvxpy.Variable() if fit_intercept else 0.0
    lost = twin(cvxpy, 1 - cvxpy.multiply(y, Z[:, used] @ w + b))
    objective = weight @ lost / weight.sum() + diagonal @ cvxpy.square(w)
    exact = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    value = cvxpy.Problem(cvxpy.Minimize(objective)).solve(solver="CLARABEL", **exact)
    assert_allclose(state.objective, value, rtol=1e-8)
    assert_allclose(state.coef[:-1][used], w.value, rtol=0, atol=1e-5)
    assert not state.coef[:-1][~used].any()
    assert_allclose(state.coef[-1], b.value if fit_intercept else 0, rtol=0, atol=1e-5)
    assert state.converged
    assert 0 < state.n_iter <= 15 + 5 * len(loss.stages)


@pytest.mark.parametrize("n_blocks", [1, 7, 80])
@pytest.mark.parametrize("fit_intercept", [True, False])
@LOSSES
def test_the_gradient_vanishes_at_the_solution(n_blocks, fit_intercept, loss):
    Z, y, weight = _classes()
    rows, _, state = _hinge(Z, y, weight, (0.02, 0.3), n_blocks, fit_intercept, loss)
    f = Z @ state.coef[:-1] + state.coef[-1]
    assert_allclose(state.outputs, f, rtol=0, atol=1e-11)
    assert_allclose(outputs(rows, state.coef), f, rtol=0, atol=1e-11)
    slope = weight * loss.half_slope(y * f) * y / weight.sum()
    assert_allclose(Z.T @ slope + np.where(SIGNS > 0, 0.02, 0.3) * state.coef[:-1], 0, atol=1e-10)
    assert abs(slope.sum()) < 1e-10 or not fit_intercept
    assert (state.coef[-1] == 0) is not fit_intercept


@LOSSES
def test_newton_goes_on_from_any_state_to_the_same_solution(rng, loss):
    Z, y, weight = _classes()
    rows, solver, cold = _hinge(Z, y, weight, (0.02, 0.3), loss=loss)
    penalty = Split(0.02, 0.3)
    other = solver.solve(rows, -y, rng.random(len(y)), Split(1.0, 1e-3), NewtonState.zero(rows))
    random = NewtonState.at(rows, rng.standard_normal(6))
    warm = warm_start(solver, rows, y, weight, penalty, rng.random(len(y)))
    for state in (other, random, warm):
        again = solver.solve(rows, y, weight, penalty, state)
        assert again is state
        assert_allclose(again.coef, cold.coef, rtol=0, atol=1e-10)
        assert_allclose(again.objective, cold.objective, rtol=1e-12)


@LOSSES
def test_newton_stops_at_max_iter_with_a_lower_objective(loss):
    Z, y, weight = _classes()
    _, _, state = _hinge(Z, y, weight, (1e-3, 1e-3), max_iter=1, loss=loss)
    assert state.n_iter == 1
    assert not state.converged
    assert state.objective < 1  # that of w = 0


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("penalty", [(0.1, 0.1), (1e-3, 0.5), (2.0, 1e-2)])
@LOSSES
def test_newton_derivatives_are_those_of_central_differences(penalty, fit_intercept, loss):
    Z, y, weight = _classes()
    options = {"fit_intercept": fit_intercept, "loss": loss}
    rows, solver, state = _hinge(Z, y, weight, penalty, **options)
    mine = solver.derivatives(rows, weight, y, Split(*penalty), state)
    numeric = _central(lambda *s: _hinge(Z, y, weight, s, **options)[2].coef, penalty)
    assert mine.shape == (2, 6)
    assert_allclose(mine, numeric, rtol=0, atol=1e-6 * abs(numeric).max())
