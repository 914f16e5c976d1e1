"""The two forms of a Newton system, and least squares as the start of the squared hinge."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from solver_cases import Pieces

from krein.forms import Signature
from krein.learning import Hinge, Newton, Split, SquaredHinge
from krein.learning import newton_systems as systems
from krein.learning.newton import NewtonState
from krein.learning.newton_starts import Starts


def _case(n=60, p=12, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p))
    y = np.where(Z[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    weight = rng.random(n) * (rng.random(n) > 0.2)
    return Pieces(Z, 4), y, weight


def _dense(Z, active, diagonal, total, right):
    """The system by its definition; an infinite penalty removes a coefficient."""
    used = np.flatnonzero(np.isfinite(diagonal))
    R = np.column_stack([Z, np.ones(len(Z))])[:, used]
    A = R.T @ (active[:, None] / total * R) + np.diag(diagonal[used])
    return np.linalg.solve(A, right)


@pytest.mark.parametrize("n_active", [1, 3, 6, 7, 40])
@pytest.mark.parametrize("intercept", [0.0, np.inf], ids=["intercept", "none"])
@pytest.mark.parametrize("clipped", [False, True])
def test_both_forms_solve_the_system(n_active, intercept, clipped):
    rows, y, _ = _case()
    Z = rows.Z
    rng = np.random.default_rng(1)
    active = np.zeros(len(Z))
    active[rng.permutation(len(Z))[:n_active]] = rng.random(n_active) + 0.1
    diagonal = np.append(rng.random(12) + 1e-3, intercept)
    if clipped:
        diagonal[[2, 5]] = np.inf
    gram = systems.Gram(rows)
    gradient, solve = systems.newton_system(rows, active, y, diagonal, 30.0, gram)
    assert_allclose(gradient, np.append(Z.T @ y, y.sum()), atol=1e-12)
    right = rng.standard_normal(int(np.isfinite(diagonal).sum()))
    assert_allclose(solve(right), _dense(Z, active, diagonal, 30.0, right), rtol=1e-9, atol=1e-11)
    few = n_active <= systems.FEW_ROWS * np.isfinite(diagonal[:-1]).sum()
    assert (gram.values is None) == few  # the larger matrix is not even made


@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge()], ids=["squared", "hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_form_of_the_system_does_not_change_the_solution(monkeypatch, loss, fit_intercept):
    rows, y, weight = _case(n=80, p=60)
    solver = Newton(Signature(np.where(np.arange(60) % 3, 1.0, -1.0)), loss, fit_intercept, 1e-12)
    penalty = Split(1e-3, 1e-2)
    few = solver.solve(rows, y, weight, penalty, NewtonState.zero(rows))
    monkeypatch.setattr(systems, "FEW_ROWS", 0.0)
    many = solver.solve(rows, y, weight, penalty, NewtonState.zero(rows))
    assert_allclose(few.objective, many.objective, rtol=1e-9)
    assert_allclose(few.coef, many.coef, atol=1e-6 * np.abs(many.coef).max())


def test_a_penalty_of_zero_takes_the_larger_matrix():
    rows, y, _ = _case()
    Z = rows.Z
    active = np.zeros(len(Z))
    active[:3] = 1.0
    gram = systems.Gram(rows)
    systems.newton_system(rows, active, y, np.append(np.zeros(12), 0.0), 1.0, gram)
    assert gram.values is not None


# --- starts ---------------------------------------------------------------------------------------


def test_with_large_penalties_least_squares_is_the_minimum():
    rows, y, weight = _case()
    Y = np.stack([y, -y, np.roll(y, 1)], axis=1)
    solver = Newton(Signature(np.ones(12)), SquaredHinge(), True, 1e-12)
    penalties = [Split(100.0, 100.0), Split(1e-4, 1e-4)]
    starts = Starts.of(solver, rows, Y, weight, penalties)
    for k, target in enumerate(Y.T):
        state = starts.first(rows)
        assert starts.offer(0, k, target, state)
        exact = solver.solve(rows, target, weight, penalties[0], NewtonState.zero(rows))
        assert_allclose(state.coef, exact.coef, atol=1e-10)
        assert_allclose(state.outputs, exact.outputs, atol=1e-10)
        assert not starts.offer(1, k, target, state)
        found = solver.solve(rows, target, weight, penalties[1], state)
        exact = solver.solve(rows, target, weight, penalties[1], NewtonState.zero(rows))
        assert_allclose(found.objective, exact.objective, rtol=1e-9)


def test_a_worse_start_is_not_taken():
    rows, y, weight = _case()
    solver = Newton(Signature(np.ones(12)), SquaredHinge(), True, 1e-12)
    penalty = Split(1e-4, 1e-4)
    starts = Starts.of(solver, rows, y[:, None], weight, [penalty])
    best = solver.solve(rows, y, weight, penalty, NewtonState.zero(rows))
    before = best.coef.copy()
    starts.offer(0, 0, y, best)
    assert_array_equal(best.coef, before)


def test_a_shared_matrix_is_copied_before_it_changes():
    rows, y, weight = _case()
    gram = systems.Gram(rows)
    gram.bring_to(rows, weight, y)
    before = gram.values.copy()
    other = gram.shared()
    other.bring_to(rows, np.where(y > 0, weight, 0.0), y)
    assert_array_equal(gram.values, before)
    gram.bring_to(rows, weight / 2, y)
    ones = np.column_stack([rows.Z, np.ones(rows.n_rows)])
    expected = ones.T @ (weight[:, None] / 2 * ones)
    assert_allclose(np.triu(gram.values), np.triu(expected), atol=1e-10)


def test_other_losses_and_many_outputs_begin_at_zero():
    rows, y, weight = _case()
    form = Signature(np.ones(12))
    assert Starts.of(Newton(form, Hinge()), rows, y[:, None], weight, [Split(1, 1)]) is None
    many = [Split(1.0, 1.0)] * (2**20 // len(y) + 1)
    wide = np.repeat(y[:, None], 9, axis=1)
    assert Starts.of(Newton(form, SquaredHinge()), rows, wide, weight, many) is None
