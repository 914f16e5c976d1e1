"""The solvers on statistics, against scikit-learn, cvxpy, grids on the sphere and differences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge as SklearnRidge

from krein.forms import Signature
from krein.learning import (
    L1,
    SOLVERS,
    Cholesky,
    Constrained,
    CoordinateDescent,
    Hinge,
    Indefinite,
    LeastSquares,
    Newton,
    Secular,
    Split,
    SquaredError,
    SquaredHinge,
    SymmetricIndefinite,
    solver_for,
)
from krein.learning.newton import NewtonState, outputs, warm_start
from krein.learning.secular import on_sphere
from krein.learning.selection import FoldProblems, along_gradient, best
from krein.streaming import Moments

SIGNS = np.array([1.0, -1, 1, -1, 1])
FORM = Signature(SIGNS)


def _data(n=80, p=5, q=1, seed=0):
    """Correlated features with offsets, targets that depend on them, and weights."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p)) @ (np.eye(p) + 0.4 * rng.standard_normal((p, p))) + 0.5
    Y = Z @ rng.standard_normal((p, q)) + 0.5 * rng.standard_normal((n, q)) + 2
    return Z, Y, rng.random(n) + 0.1


def _problem(Z, Y, weight, fit_intercept=True):
    return LeastSquares.of(Moments.of(np.hstack([Z, Y]), weight), Y.shape[1], fit_intercept)


def _scaled_ridge(Z, Y, weight, alpha, alpha_neg, fit_intercept=True):
    """scikit-learn's Ridge, in which columns divided by √penalty make two penalties one."""
    root = np.sqrt(np.where(SIGNS > 0, alpha, alpha_neg))
    model = SklearnRidge(alpha=weight.sum(), fit_intercept=fit_intercept, solver="svd")
    return (model.fit(Z / root, Y, weight).coef_.reshape(-1, Z.shape[1]) / root).T


def _central(function, settings, step=1e-5):
    """Derivatives of function(*settings) by the logarithms of the settings."""
    logs = np.log(settings)
    moves = step * np.eye(len(logs))
    change = [function(*np.exp(logs + m)) - function(*np.exp(logs - m)) for m in moves]
    return np.array(change) / (2 * step)


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


# ---------------------------------------------------------------------------------- squared hinge


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


class _Rows:
    """Features in memory, walked in blocks."""

    def __init__(self, Z, n_blocks=1):
        self.Z, self.n_blocks = Z, n_blocks
        self.n_rows, self.width = Z.shape

    def __iter__(self):
        for part in np.array_split(np.arange(self.n_rows), self.n_blocks):
            rows = slice(part[0], part[-1] + 1)
            yield rows, self.Z[rows]


def _classes(n=80):
    Z, Y, weight = _data(n)
    weight[::9] = 0
    return Z, np.where(Y[:, 0] > np.median(Y), 1.0, -1.0), weight


def _hinge(Z, y, weight, penalty, n_blocks=1, fit_intercept=True, loss=SQUARED, **options):
    rows = _Rows(Z, n_blocks)
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
