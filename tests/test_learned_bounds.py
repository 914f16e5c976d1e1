"""The bounds of learned spectra: formulas, vacuous cases, and that they bound."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from spectral_cases import checkerboard

from krein.bounds import Guarantee, game_excess, game_rounds, margin_risk, potential_rows
from krein.spectral.domains import Harmonics
from krein.spectral.game import Game
from krein.spectral.players import MarginPlayer, svm_value

# --- Theorem 4.1 and Corollary 4.2 ----------------------------------------------------------------


def _value(B, y, C):
    """The value of the game on finitely many actions: max 1ᵀα − s²/2 with |b_jᵀα| ≤ s."""
    cvxpy = pytest.importorskip("cvxpy")
    alpha, s = cvxpy.Variable(len(y)), cvxpy.Variable()
    limits = [alpha >= 0, alpha <= C, y @ alpha == 0, cvxpy.abs(B.T @ alpha) <= s]
    problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(alpha) - cvxpy.square(s) / 2), limits)
    return problem.solve(solver="CLARABEL")


@pytest.mark.parametrize("seed", range(3))
def test_the_game_keeps_its_bound(seed):
    rng = np.random.default_rng(seed)
    X, y = checkerboard(20, rng)
    signs, C, domain = np.where(y, 1.0, -1.0), 0.05, Harmonics(X, 2)
    diagonal = float(np.max(domain.values**2))
    value = _value(signs[:, None] * domain.values, signs, C)
    # The steps of the theorem, in the units of the player: C/√v with the first peak v.
    first = MarginPlayer(C).start(signs) * signs
    highest = np.max((domain.values.T @ first) ** 2)
    player = MarginPlayer(C, np.sqrt(highest) / (1 + diagonal * C * 20))
    for n_rounds in (100, 1000):
        game = Game(domain, signs[:, None], player)
        game.play(n_rounds, 1, rng)
        Z = game._columns(game.records[0])
        bound = game_excess(20, n_rounds, C, diagonal=diagonal)
        assert not bound.vacuous
        assert -1e-4 <= svm_value(Z @ Z.T, signs, C) - value <= bound.value
        (_, (regret,)) = game.gaps(rng)
        assert regret <= bound.value


def test_the_slope_of_the_payoff_exceeds_that_of_the_paper(rng):
    """G = √n (1 + C n) is reached by equal rows up to 1; the paper prints √n (1 + 2C)."""
    n, C = 50, 1.0
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    phases = np.pi * (y < 0)  # a wave that separates the classes
    waves = np.exp(1j * phases)
    slope = 1 - y * np.real((waves @ (y * C)) * waves.conj())
    largest = np.linalg.norm(slope)
    assert np.sqrt(n) * (1 + 2 * C) < largest <= np.sqrt(n) * (1 + C * n)


def test_rounds_and_excess_are_inverse():
    rounds = game_rounds(100, 0.1, 0.01)
    assert rounds.value == 900
    assert_allclose(game_excess(100, 900, 0.01).value, 0.1)
    more = game_rounds(100, 0.1, 0.01, peak_error=0.1)
    assert more.value == 3600
    assert_allclose(game_excess(100, 3600, 0.01, peak_error=0.1).value, 0.1)
    assert_allclose(game_excess(2000, 300).value, 1.5 * 2000 * 2001 / np.sqrt(300))


# --- Theorem 4.3 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("band", [0.01, 1.0, 10.0])
def test_the_complexity_of_learned_kernels(band):
    """E sup_ω |mean_i σ_i exp(i ω·x_i)| ≤ (1 + 3 R_ω R_x)/√n; without the 1 it fails."""
    rng = np.random.default_rng(0)
    X, signs = rng.uniform(-1, 1, 100), rng.choice([-1.0, 1.0], (300, 100))
    waves = np.exp(1j * np.outer(np.linspace(-band, band, 801), X))
    complexity = np.abs(signs @ waves.T).max(axis=1).mean() / 100
    assert complexity <= (1 + 3 * band) / 10
    assert complexity > 0.5 / 10
    assert (complexity > 3 * band / 10) == (band == 0.01)


def test_the_margin_bounds_the_error_of_new_rows():
    n, band = 20_000, 1.5
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.uniform(0.4, 1, 2 * n) * rng.choice([-1, 1], 2 * n)
        y = np.sign(X) * np.where(rng.random(2 * n) < 0.1, -1, 1)
        Z = np.column_stack([np.cos(band * X), np.sin(band * X)])  # a kernel of mass 1
        w = y[:n] @ Z[:n]
        margins = y * (Z @ w) / np.linalg.norm(w)
        error = np.mean(margins[n:] <= 0)
        for theta in (None, 0.5):
            bound = margin_risk(margins[:n], band, 1.0, theta=theta)
            assert 0.09 < error <= bound.value < 0.5
            assert not bound.vacuous


def test_the_best_margin_is_the_least_of_all_margins(rng):
    margins = rng.normal(0.3, 0.2, 500)

    def at(theta):
        rest = 2 * (2 + 6 * 2.0) / theta * np.sqrt(1 / 500) + np.sqrt(
            np.log(np.log2(2 / theta)) / 500
        )
        return np.mean(margins < theta) + rest + 3 * np.sqrt(np.log(2 / 0.05) / 1000)

    least = margin_risk(margins, 2.0, 1.0).value
    grid = np.linspace(1e-3, 1, 20_001)
    values = np.array([at(theta) for theta in grid])
    assert least <= values.min()
    assert_allclose(least, values.min(), rtol=1e-2)
    one = margin_risk(margins, 2.0, 1.0, theta=0.4).value
    expected = np.mean(margins < 0.4) + 14 / 0.4 / np.sqrt(500) + 3 * np.sqrt(np.log(40) / 1000)
    assert_allclose(one, expected)


# --- Theorem 4.4 ----------------------------------------------------------------------------------


def _limit(band):
    """Frequencies, and the limit |E y exp(iωx)|² for x uniform on [−1, 1] and y = sign x."""
    grid = np.linspace(-band, band, 400)
    return grid, ((1 - np.cos(grid)) / grid) ** 2


def test_the_mean_of_the_potential_is_not_its_limit():
    rng, (grid, limit) = np.random.default_rng(0), _limit(6.0)
    X = rng.uniform(-1, 1, (4000, 5))
    v = np.abs(np.mean(np.sign(X)[:, :, None] * np.exp(1j * X[:, :, None] * grid), axis=1)) ** 2
    error = v.std(axis=0) / np.sqrt(4000)
    assert np.all(np.abs(v.mean(axis=0) - (limit + (1 - limit) / 5)) < 4.5 * error)
    assert np.any(v.mean(axis=0) - limit > 20 * error)


@pytest.mark.parametrize("epsilon", [0.3, 0.6])
def test_potentials_are_near_their_limits(epsilon):
    bound = potential_rows(1, 6.0, 1.0, epsilon, delta=0.2)
    n, (grid, limit) = int(bound.value), _limit(6.0)
    rng, failures = np.random.default_rng(0), 0
    for _ in range(20):
        X = rng.uniform(-1, 1, n)
        v = np.abs(np.sign(X) @ np.exp(1j * np.outer(X, grid)) / n) ** 2
        failures += np.max(np.abs(v - limit)) > epsilon
    assert failures <= 4


def test_the_rows_solve_their_inequality():
    for dim, band, epsilon, delta in ((1, 6.0, 0.3, 0.2), (10, 30.0, 0.05, 0.01)):
        n = potential_rows(dim, band, 2.0, epsilon, delta).value
        needed = 8 * (dim * np.log(1 + 16 * band * 2 / epsilon) + np.log(2 / delta))
        assert n * (epsilon / 2 - 1 / n) ** 2 >= needed
        assert (n - 1) * (epsilon / 2 - 1 / (n - 1)) ** 2 < needed


# --- vacuous bounds and sentences -----------------------------------------------------------------


def test_vacuous_bounds_say_so():
    for bound, reason in (
        (game_excess(2000, 300), r"no objective exceeds C n = 2000"),
        (game_rounds(10, 20.0), r"no objective exceeds C n = 10"),
        (margin_risk(np.full(100, 0.1), 10.0, 1.0), "a chance never exceeds 1"),
        (potential_rows(2, 10.0, 1.0, epsilon=1.0), "potentials are at most 1"),
    ):
        assert isinstance(bound, Guarantee)
        assert bound.vacuous
        assert str(bound).endswith(f"The bound is vacuous: {reason}.")
    assert not potential_rows(2, 10.0, 1.0, epsilon=0.9).vacuous


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: game_excess(0, 10), "n_rows"),
        (lambda: game_excess(10, 1.5), "n_rounds"),
        (lambda: game_excess("10", 10), "n_rows"),
        (lambda: game_excess(10, np.inf), "n_rounds"),
        (lambda: game_excess(10, 10, C=0.0), "C"),
        (lambda: game_excess(10, 10, diagonal=np.nan), "diagonal"),
        (lambda: game_excess(10, 10, peak_error=-1.0), "peak_error"),
        (lambda: game_rounds(10, 0.1, peak_error=0.2), "excess"),
        (lambda: game_rounds(10, -0.1), "excess"),
        (lambda: margin_risk([], 1.0, 1.0), "n_rows"),
        (lambda: margin_risk([np.nan, 1.0], 1.0, 1.0), "margins"),
        (lambda: margin_risk([1.0], 0.0, 1.0), "band"),
        (lambda: margin_risk([1.0], 1.0, np.inf), "radius"),
        (lambda: margin_risk([1.0], 1.0, 1.0, theta=0.0), "theta"),
        (lambda: potential_rows(2.5, 1.0, 1.0), "dim"),
        (lambda: potential_rows(2, 1.0, 1.0, delta=1.0), "delta"),
    ],
)
def test_bad_arguments_get_a_sentence(call, name):
    with pytest.raises(ValueError, match=f"A bound needs {name} to be"):
        call()
