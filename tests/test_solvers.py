"""The solvers on statistics, against scikit-learn, grids on the sphere and differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge as SklearnRidge
from solver_cases import FORM, SIGNS, _central, _data, _problem, _scaled_ridge

from krein.forms import Signature
from krein.learning import (
    L1,
    SOLVERS,
    Cholesky,
    Constrained,
    CoordinateDescent,
    Indefinite,
    Secular,
    Split,
    SquaredError,
    SquaredHinge,
    SymmetricIndefinite,
    solver_for,
)
from krein.learning.secular import on_sphere
from krein.learning.selection import FoldProblems, along_gradient, best
from krein.streaming import Moments

# --------------------------------------------------------------------------------------- ridge


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("penalty", [(0.3, 0.3), (0.01, 2.0), (5.0, 1e-4)])
def test_ridge_is_the_ridge_of_scikit_learn(penalty, fit_intercept):
    Z, Y, weight = _data(q=3)
    mine = Cholesky(FORM).solve(_problem(Z, Y, weight, fit_intercept), Split(*penalty))
    assert_allclose(mine, _scaled_ridge(Z, Y, weight, *penalty, fit_intercept), rtol=1e-9)


def test_ridge_without_the_negative_part_is_clip_and_large_penalties_approach_it():
    Z, Y, weight = _data(q=2)
    problem, plus = _problem(Z, Y, weight), SIGNS > 0
    clip = Cholesky(FORM).solve(problem, Split(0.1, np.inf))
    assert not clip[~plus].any()
    model = SklearnRidge(alpha=0.1 * weight.sum()).fit(Z[:, plus], Y, weight)
    assert_allclose(clip[plus], model.coef_.T, rtol=1e-9)
    away = [abs(Cholesky(FORM).solve(problem, Split(0.1, a)) - clip).max() for a in (1e4, 1e6, 1e8)]
    assert_allclose(np.divide(away[:-1], away[1:]), 100, rtol=1e-2)
    assert away[-1] < 1e-7


@pytest.mark.parametrize("n", [80, 4])
@pytest.mark.parametrize("kind", ["ridge", "indefinite ridge", "lasso"])
def test_a_path_has_the_solution_of_each_penalty(kind, n):
    solver = {
        "lasso": CoordinateDescent(FORM, tol=1e-12),
        "ridge": Cholesky(FORM),
    }.get(kind, SymmetricIndefinite(FORM))
    problem = _problem(*_data(n=n, q=2))
    made = L1 if kind == "lasso" else Split
    grid = [made(a, b) for a in (1e-3, 0.1, 5.0) for b in (1e-2, 1.0, np.inf)]
    if kind == "indefinite ridge":
        grid = [Indefinite(a) for a in (0.013, 0.17, 5.0)]
    path = list(solver.path(problem, grid))
    assert len(path) == len(grid)
    for coef, penalty in zip(path, grid, strict=True):
        alone = solver.solve(problem, penalty)
        assert_allclose(coef, alone, rtol=0, atol=1e-9 * abs(alone).max())


@pytest.mark.parametrize("penalty", [(0.3, 0.3), (0.01, 2.0), (0.2, np.inf)])
def test_ridge_derivatives_are_those_of_central_differences(penalty):
    problem = _problem(*_data(q=2))
    coef, mine = Cholesky(FORM).derivatives(problem, Split(*penalty))
    assert_allclose(coef, Cholesky(FORM).solve(problem, Split(*penalty)), rtol=1e-12)
    free = [p for p in penalty if np.isfinite(p)]

    def solve(*settings):
        return Cholesky(FORM).solve(problem, Split(*settings, *penalty[len(settings) :]))

    assert_allclose(mine[: len(free)], _central(solve, free), rtol=0, atol=1e-8)
    assert not mine[len(free) :].any()


@pytest.mark.parametrize("alpha", [0.05, 0.4, 30.0])
def test_the_indefinite_ridge_is_a_stationary_point(alpha):
    problem = _problem(*_data(q=2))
    coef = SymmetricIndefinite(FORM).solve(problem, Indefinite(alpha))
    gradient = problem.gram @ coef + alpha * SIGNS[:, None] * coef - problem.cross
    assert_allclose(gradient, 0, atol=1e-11)


def test_the_indefinite_ridge_warns_where_alpha_meets_an_eigenvalue():
    problem = _problem(*_data())
    roots = -np.linalg.eigvals(SIGNS[:, None] * problem.gram)  # det(G + αM) = det(MG + α)
    alpha = float(max(roots.real[abs(roots.imag) < 1e-12]))
    assert alpha > 0
    with pytest.warns(Warning, match="alpha"):
        SymmetricIndefinite(FORM).solve(problem, Indefinite(alpha))


# --------------------------------------------------------------------------------------- lasso


@pytest.mark.parametrize("penalty", [(0.3, 0.3), (2.0, 0.05), (0.01, 1.5)])
@pytest.mark.parametrize("q", [1, 2])
def test_lasso_meets_the_conditions_of_a_minimum(penalty, q):
    problem = _problem(*_data(q=q))
    coef = CoordinateDescent(FORM, tol=1e-12).solve(problem, L1(*penalty))
    bound = np.where(SIGNS > 0, *penalty)[:, None] * np.ones(q)
    slope = 2 * (problem.cross - problem.gram @ coef)
    used = coef != 0
    assert_allclose(slope[used], (bound * np.sign(coef))[used], rtol=1e-5)
    assert (abs(slope[~used]) <= bound[~used] * (1 + 1e-6)).all()


def test_only_the_solution_of_one_penalty_warns_that_lasso_has_not_converged():
    problem, hasty = _problem(*_data()), CoordinateDescent(FORM, max_iter=1)
    assert len(list(hasty.path(problem, [L1(1e-3, 1e-3), L1(1e-2, 1e-3)]))) == 2
    with pytest.warns(ConvergenceWarning, match=r"1 rounds for alpha=0.001.*larger penalties"):
        hasty.solve(problem, L1(1e-3, 1e-3))


def test_lasso_leaves_out_every_feature_at_the_largest_slope_and_not_below():
    problem = _problem(*_data())
    largest = 2 * abs(problem.cross).max()
    assert not CoordinateDescent(FORM).solve(problem, L1(1.001 * largest, 1.001 * largest)).any()
    below = CoordinateDescent(FORM).solve(problem, L1(0.9 * largest, 0.9 * largest))
    assert 0 < np.count_nonzero(below) < 5
    clip = CoordinateDescent(FORM).solve(problem, L1(0.1, np.inf))
    assert not clip[SIGNS < 0].any()
    assert clip.any()


# ------------------------------------------------------------------------- variance constrained


def _sphere(m):
    """A fine grid of unit vectors, (k, m): spacing 2e-4 on the circle, 1e-2 on the sphere."""
    if m == 2:
        t = np.linspace(0, 2 * np.pi, 31416, endpoint=False)
        return np.column_stack([np.cos(t), np.sin(t)])
    t, u = np.meshgrid(np.arange(0, 2 * np.pi, 1e-2), np.arange(0, np.pi + 1e-2, 1e-2))
    return np.column_stack(
        [(np.cos(t) * np.sin(u)).ravel(), (np.sin(t) * np.sin(u)).ravel(), np.cos(u).ravel()]
    )


SPHERES = {
    "easy": ([1.0, 3.0], [0.5, -0.7], 1.3),
    "easy 3-d": ([1.0, 3.0, 0.2], [0.5, -0.7, 0.1], 0.4),
    "hard": ([1.0, 3.0], [0.0, 0.4], 1.0),
    "hard 3-d": ([3.0, 0.5, 1.0], [0.3, 0.0, -0.2], 2.0),
    "nearly hard": ([1.0, 3.0, 2.0], [1e-13, 0.4, 0.1], 1.0),
    "not hard: the rest is long enough": ([1.0, 3.0], [0.0, 5.0], 1.0),
    "degenerate": ([1.0, 1.0, 4.0], [0.3, -0.2, 0.5], 1.5),
    "degenerate and hard": ([1.0, 1.0, 4.0], [0.0, 0.0, 0.5], 1.5),
    "all equal": ([2.0, 2.0, 2.0], [0.3, -0.2, 0.5], 0.7),
    "no slope": ([1.0, 3.0, 2.0], [0.0, 0.0, 0.0], 1.0),
    "negative curvature": ([-1.0, -3.0, 2.0], [0.1, 0.2, -0.5], 1.0),
    "small sphere": ([1.0, 30.0, 0.0], [4.0, -7.0, 2.0], 1e-6),
    "large sphere": ([1.0, 3.0, 0.0], [0.4, -0.7, 0.2], 1e5),
    "wide spectrum": ([1e-8, 1.0, 1e8], [1e-5, -0.7, 30.0], 1.0),
}


@pytest.mark.parametrize("name", SPHERES)
def test_no_point_of_a_fine_grid_on_the_sphere_is_better(name):
    c, b, radius = (np.array(v) if isinstance(v, list) else v for v in SPHERES[name])
    gamma, theta = on_sphere(c, b, radius)
    assert abs(np.linalg.norm(gamma) / radius - 1) < 1e-10
    assert theta <= c.min() + 1e-12 * abs(c).max()
    stationary = (c - theta) * gamma - b
    assert abs(stationary).max() <= 1e-9 * max(abs(b).max(), abs(c).max() * radius)

    def objective(points):
        return points**2 @ c - 2 * points @ b

    grid = objective(radius * _sphere(len(c)))
    scale = radius**2 * abs(c).max() + radius * abs(b).max()
    assert objective(gamma) <= grid.min() + 1e-12 * scale
    assert objective(gamma) >= grid.min() - 1e-4 * scale  # half the curvature times spacing²


@pytest.mark.parametrize("p", [2, 3])
@pytest.mark.parametrize("settings", [(0.1, 0.1, 0.5), (0.01, 2.0, 1.2), (3.0, 1e-3, 0.9)])
def test_no_coefficients_of_that_variance_have_a_smaller_objective(p, settings):
    Z, Y, weight = _data(p=p, q=2)
    problem, signs = _problem(Z, Y, weight), SIGNS[:p]
    coef = Secular(Signature(signs)).solve(problem, Constrained(*settings))
    penalty = np.where(signs > 0, *settings[:2])
    directions = _sphere(p)
    length = np.sqrt(np.einsum("ki,ij,kj->k", directions, problem.gram, directions))
    for j in range(2):
        rho = settings[2] * np.sqrt(problem.square[j])
        assert abs(coef[:, j] @ problem.gram @ coef[:, j] / rho**2 - 1) < 1e-10

        def objective(w, j=j):
            quadratic = np.einsum("...i,ij,...j", w, problem.gram, w)
            return quadratic - 2 * w @ problem.cross[:, j] + w**2 @ penalty

        grid = objective(rho * directions / length[:, None])
        assert objective(coef[:, j]) <= grid.min() + 1e-11
        assert objective(coef[:, j]) >= grid.min() - 1e-3


def test_variance_is_met_with_dependent_features_and_without_the_negative_part():
    Z, Y, weight = _data()
    Z[:, 2] = Z[:, 0] + Z[:, 1]
    problem = _problem(Z, Y, weight)
    for alpha_neg in (0.5, np.inf):
        settings = Constrained(0.1, alpha_neg, 0.8)
        coef = Secular(FORM).solve(problem, settings)
        variance = np.cov((Z @ coef)[:, 0], aweights=weight, ddof=0)
        assert_allclose(variance, 0.64 * problem.square[0], rtol=1e-10)
        assert np.isinf(alpha_neg) <= (not coef[SIGNS < 0].any())


def test_the_radius_of_the_ridge_gives_the_ridge():
    problem = _problem(*_data())
    ridge = Cholesky(FORM).solve(problem, Split(0.2, 0.7))
    radius = float(np.sqrt((ridge * (problem.gram @ ridge)).sum() / problem.square[0]))
    mine = Secular(FORM).solve(problem, Constrained(0.2, 0.7, radius))
    assert_allclose(mine, ridge, rtol=1e-9)


@pytest.mark.parametrize("settings", [(0.1, 0.1, 0.5), (0.01, 2.0, 1.1), (0.7, 0.02, 0.9)])
def test_variance_constrained_derivatives_are_those_of_central_differences(settings):
    problem, solver = _problem(*_data(q=2)), Secular(FORM)
    coef, mine = solver.derivatives(problem, Constrained(*settings))
    grid = [Constrained(*settings), Constrained(1.0, np.inf, 0.3)]
    for alone, other in zip(grid, solver.path(problem, grid), strict=True):
        assert_allclose(solver.solve(problem, alone), other, rtol=1e-9)
    assert_allclose(coef, solver.solve(problem, Constrained(*settings)), rtol=1e-10)
    numeric = _central(lambda *s: solver.solve(problem, Constrained(*s)), settings)
    assert_allclose(mine, numeric, rtol=0, atol=1e-7 * abs(numeric).max())


# ------------------------------------------------------------------------------------- selection


@pytest.mark.parametrize(
    ("solver", "kind", "settings"),
    [
        (Cholesky(FORM), Split, (0.02, 0.7)),
        (Secular(FORM), Constrained, (0.02, 0.7, 0.9)),
    ],
)
def test_the_gradient_of_the_folds_loss_is_that_of_central_differences(solver, kind, settings):
    Z, Y, weight = _data(q=2)
    parts = [Moments.of(np.hstack([Z, Y])[k::4], weight[k::4]) for k in range(4)]
    problems = FoldProblems.of([*parts, Moments.zero(7)], 2, True)
    loss, mine = problems.loss_and_gradient(solver, kind(*settings))

    def left_out(*s):
        return problems.losses(problems.coefficients(solver, [kind(*s)]))[0]

    assert_allclose(loss, left_out(*settings), rtol=1e-12)
    numeric = _central(left_out, settings)
    assert_allclose(mine, numeric, rtol=0, atol=1e-6 * abs(numeric).max())


def test_the_best_is_the_smallest_loss_then_the_smallest_tie_then_the_first():
    losses = np.array([3.0, 1, 1, 1, 2])
    assert best(losses) == 1
    assert best(losses, np.array([0, 5, 4, 4, 0])) == 2
    assert best(losses, np.array([0, 5, 5, 5, 0]), np.array([9, 3, 2, 1, 0])) == 3


BOX = {"alpha": (1e-3, 1e3), "alpha_neg": (1e-3, 10.0)}


def test_the_search_along_the_gradient_finds_the_minimum_within_its_bounds():
    centre = np.log([0.3, 50.0])

    def bowl(penalty):
        logs = np.log([penalty.alpha, penalty.alpha_neg])
        return 1 + float(((logs - centre) ** 2).sum()), 2 * (logs - centre)

    found, loss, n_evaluations = along_gradient(bowl, Split(5.0, 0.1), ["alpha", "alpha_neg"], BOX)
    assert_allclose([found.alpha, found.alpha_neg], [0.3, 10.0], rtol=1e-4)
    assert_allclose(loss, 1 + np.log(5) ** 2, rtol=1e-6)
    assert n_evaluations > 0


@pytest.mark.parametrize("unit", [2.0**-40, 1.0, 2.0**40])
def test_the_search_along_the_gradient_does_not_depend_on_the_unit(unit):
    def bowl(penalty):
        log = np.log(penalty.alpha / 0.3)
        return unit * (1 + log**2), unit * np.array([2 * log, 0.0])

    found, loss, n = along_gradient(bowl, Split(5.0, 1.0), ["alpha"], BOX, unit=unit)
    one = along_gradient(
        lambda p: (bowl(p)[0] / unit, bowl(p)[1] / unit), Split(5.0, 1.0), ["alpha"], BOX
    )
    assert (found, loss / unit, n) == one
    assert found.alpha_neg == 1.0


def test_a_tied_penalty_follows_along_the_sum_of_both_slopes():
    def bowl(penalty):
        logs = np.log([penalty.alpha / 0.1, penalty.alpha_neg / 0.9])
        return 1 + float((logs**2).sum()), 2 * logs

    found, *_ = along_gradient(bowl, Split(5.0, 5.0), ["alpha"], BOX, tied=True)
    assert found.alpha == found.alpha_neg
    assert_allclose(found.alpha, 0.3, rtol=1e-4)


def test_a_wrong_gradient_does_not_end_above_its_start():
    def misleading(penalty):
        logs = np.log([penalty.alpha, penalty.alpha_neg])
        return 1 + float((logs**2).sum()), -2 * logs

    start = Split(*np.exp([0.5, -0.5]).tolist())
    found, loss, _ = along_gradient(misleading, start, ["alpha", "alpha_neg"], BOX)
    assert loss <= misleading(start)[0] * (1 + 1e-12)
    assert_allclose(misleading(found)[0], loss, rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_each_combination_has_the_solver_that_declares_it(solver):
    assert solver_for(solver.loss, solver.penalty) is solver


def test_a_combination_without_a_solver_is_refused_with_both_names():
    with pytest.raises(ValueError, match=r"SquaredHinge and the penalty L1 .*combined with Split"):
        solver_for(SquaredHinge, L1)
    with pytest.raises(ValueError, match=r"CoordinateDescent.*SquaredError.*L1.*alpha='cv'"):
        solver_for(SquaredError, L1, derivatives=True)


@pytest.mark.parametrize("solver", [Cholesky, Secular])
def test_features_that_are_all_left_out_have_no_coefficients(solver):
    form = Signature(-np.ones(5))
    penalty = Split(0.1, np.inf) if solver is Cholesky else Constrained(0.1, np.inf, 1.0)
    assert not solver(form).solve(_problem(*_data(q=2)), penalty).any()
