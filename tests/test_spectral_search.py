"""The parts of the spectral game: projection, potential, searches."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

from krein.published import alternating_projection
from krein.spectral import peaks, potential
from krein.spectral.peaks import SEARCHES
from krein.spectral.potential import Potential, Problem, derivatives, distinct
from krein.spectral.projection import project

# --- projection -----------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.3, 1.0, 50.0])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_projection_is_that_of_a_quadratic_programme(C, share, rng):
    cvxpy = pytest.importorskip("cvxpy")
    y = np.where(rng.random(40) < share, 1.0, -1.0)
    alpha = C * (0.5 + 2 * rng.standard_normal(40))
    free = cvxpy.Variable(40)
    constraints = [free >= 0, free <= C, y @ free == 0]
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(free - alpha)), constraints).solve(
        solver="CLARABEL", tol_gap_abs=1e-12, tol_feas=1e-12, tol_gap_rel=1e-12
    )
    found = project(alpha, y, C)
    assert_allclose(found, free.value, atol=1e-6 * C)
    assert abs(y @ found) < 1e-12 * C * 40


def test_projection_keeps_feasible_points_and_handles_ties(rng):
    y = np.array([1.0, 1, -1, -1])
    feasible = np.array([0.2, 0.5, 0.7, 0.0])
    assert_allclose(project(feasible, y, 1.0), feasible, atol=1e-15)
    assert_allclose(project(np.full(4, 9.0), y, 1.0), np.ones(4))
    assert_allclose(project(np.full(4, -9.0), y, 1.0), np.zeros(4))


def test_alternating_projection_is_feasible_but_not_nearest(rng):
    y = np.where(np.arange(30) < 6, 1.0, -1.0)
    alpha = 0.5 + rng.standard_normal(30)
    printed, exact = alternating_projection(alpha, y, 1.0, 200), project(alpha, y, 1.0)
    assert abs(y @ printed) < 1e-10
    assert_allclose(np.clip(printed, 0, 1), printed, atol=1e-6)
    distances = [np.linalg.norm(point - alpha) for point in (exact, printed)]
    assert distances[0] < distances[1] * (1 - 1e-6)


# --- potential ------------------------------------------------------------------------------------


@pytest.fixture
def game(rng):
    X = rng.standard_normal((150, 3)) + 5
    B = rng.standard_normal((150, 2))
    return X, B, rng.standard_normal((6, 3)), np.array([0, 0, 1, 0, 1, 1])


def test_potential_is_the_alignment_of_all_pairs(game):
    X, B, W, games = game
    values, _ = Potential(X, np.float64)(B, W, games)
    differences = X[:, None] - X[None]
    for value, w, k in zip(values, W, games, strict=True):
        alignment = B[:, k] @ np.cos(differences @ w) @ B[:, k]
        assert_allclose(value, alignment, rtol=1e-10)


@pytest.mark.parametrize("height", [1, 2**15])
def test_gradient_is_that_of_finite_differences(game, height, monkeypatch):
    # One block of rows, and several.
    monkeypatch.setattr("krein.spectral.potential.BLOCK_VALUES", height)
    X, B, W, games = game
    potential, eps = Potential(X, np.float64), 1e-6
    _, slopes = potential(B, W, games)
    for axis, step in enumerate(eps * np.eye(3)):
        high, low = (potential(B, W + sign * step, games)[0] for sign in (1, -1))
        assert_allclose((high - low) / (2 * eps), slopes[:, axis], rtol=1e-5, atol=1e-4)


def test_second_derivatives_are_those_of_finite_differences(game):
    X, B, W, _ = game
    values, slopes, curvatures = derivatives(X, B[:, 0], W)
    mine = Potential(X, np.float64)(B[:, :1], W, np.zeros(6, int))
    assert_allclose(values, mine[0], rtol=1e-9)
    assert_allclose(slopes, mine[1], rtol=1e-8, atol=1e-8 * np.abs(slopes).max())
    for axis, step in enumerate(1e-6 * np.eye(3)):
        high, low = (derivatives(X, B[:, 0], W + sign * step)[1] for sign in (1, -1))
        scale = np.abs(curvatures).max()
        assert_allclose((high - low) / 2e-6, curvatures[:, axis], rtol=1e-5, atol=1e-7 * scale)


def test_single_precision_is_kept_and_agrees(game):
    X, B, W, games = game
    single, double = (Potential(X, dtype)(B, W, games) for dtype in (np.float32, np.float64))
    for few, many in zip(single, double, strict=True):
        assert few.dtype == np.float32
        assert_allclose(few, many, rtol=1e-3, atol=1e-4 * np.abs(many).max())


def test_the_number_of_threads_does_not_change_the_potential(rng):
    X, B = rng.standard_normal((5000, 20)), rng.standard_normal((5000, 1))
    W, games = rng.standard_normal((24, 20)), np.zeros(24, int)
    potential = Potential(X)
    with threadpool_limits(1):
        alone = potential(B, W, games)
    with threadpool_limits(2):
        together = potential(B, W, games)
    for one, two in zip(alone, together, strict=True):
        assert_allclose(one, two, rtol=1e-5, atol=1e-5 * np.abs(one).max())


# --- searches -------------------------------------------------------------------------------------

WAVES = np.array([[6.0, 2.0], [-3.0, 7.0]])


@pytest.fixture
def waves(rng):
    """Two games on the square, each with the labels of one wave."""
    X = rng.uniform(-1, 1, (600, 2))
    return X, np.sign(np.sin(X @ WAVES.T))


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_find_the_wave_of_each_game(name, waves, rng):
    X, B = waves
    # The authors' Langevin step is for rows of unit variance and finds most of a peak.
    share = 0.8 if name == "langevin" else 0.999
    problem = Problem(Potential(X), B, band=12.0)
    found = SEARCHES[name]().peaks(problem, 3, 24, rng)
    assert len(found) == 2
    fine = np.stack(np.meshgrid(*[np.linspace(-9, 9, 181)] * 2), -1).reshape(-1, 2)
    for k, tops in enumerate(found):
        top = np.abs(np.exp(1j * fine @ X.T) @ B[:, k]).max() ** 2
        assert tops.values[0] >= share * top
        assert np.all(np.linalg.norm(tops.frequencies, axis=1) <= 12 * (1 + 1e-6))
        assert np.all(np.diff(tops.values) <= 0)
        if share > 0.9:
            nearest = min(np.linalg.norm(tops.frequencies[0] - s * WAVES[k]) for s in (1, -1))
            assert nearest < 0.5


def test_the_band_limits_the_frequencies(waves, rng):
    X, B = waves
    for search in SEARCHES.values():
        for tops in search().peaks(Problem(Potential(X), B, band=3.0), 5, 16, rng):
            assert len(tops)  # the highest point of the ball is on its boundary
            assert np.all(np.linalg.norm(tops.frequencies, axis=1) <= 3 * (1 + 1e-6))


def test_a_grid_serves_one_column_and_refuses_three(rng):
    X = rng.uniform(-1, 1, (300, 1))
    problem = Problem(Potential(X), np.sign(np.sin(9 * X)), band=30.0)
    found = SEARCHES["grid"]().peaks(problem, 2, 1, rng)
    assert abs(abs(found[0].frequencies[0, 0]) - 9) < 0.3
    wide = Problem(Potential(rng.random((9, 3))), np.ones((9, 1)), band=1.0)
    with pytest.raises(ValueError, match="'momentum' or 'langevin' for 3 columns"):
        SEARCHES["grid"]().peaks(wide, 1, 1, rng)
    with pytest.raises(ValueError, match="needs band to be at most"):
        SEARCHES["grid"]().peaks(Problem(Potential(X), problem.B, band=1e9), 1, 1, rng)


def test_opposite_and_close_frequencies_are_one_peak():
    W = np.array([[1.0, 0], [-1.01, 0], [0, 1], [1.02, 0]])
    peaks = distinct(W, np.array([3.0, 4, 1, 2]), 5, apart=0.1)
    assert_allclose(peaks.frequencies, [[-1.01, 0], [0, 1]])
    assert_allclose(peaks.values, [4, 1])
    assert len(distinct(W, np.array([3.0, 4, 1, 2]), 1, apart=0.1)) == 1


@pytest.mark.parametrize("d", [1, 2])
def test_blocks_of_rows_and_of_frequencies_change_no_potential(d, rng, monkeypatch):
    X, b = rng.standard_normal((90, d)), rng.standard_normal(90)
    axes = [np.linspace(-3, 3, 7)] * d
    grid, W = peaks.grid_values(X, b, axes), rng.standard_normal((12, d))
    problem = Potential(X), b[:, None], W, np.zeros(12, int)
    values, slopes = problem[0](*problem[1:])
    monkeypatch.setattr(peaks, "BLOCK_BYTES", 16 * 14 * 11)  # blocks of 11 or 22 rows
    monkeypatch.setattr(potential, "WAVE_BYTES", 8 * 90 * 5)  # 5 frequencies at a time
    assert_allclose(peaks.grid_values(X, b, axes), grid, rtol=1e-10)
    assert_allclose(problem[0](*problem[1:])[0], values, rtol=1e-4)
    assert_allclose(problem[0](*problem[1:])[1], slopes, rtol=1e-3, atol=1e-3 * abs(slopes).max())
