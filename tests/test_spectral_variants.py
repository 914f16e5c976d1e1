"""Variants of the spectral game: the margin player, drawn harmonics, units of the columns."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC
from spectral_cases import checkerboard, learner, spherical, windmill

from krein.spectral.domains import Harmonics
from krein.spectral.game import Game
from krein.spectral.players import MarginPlayer, svm_value
from krein.testing import check_feature_map


@pytest.fixture
def flat(rng):
    return windmill(300, rng)


@pytest.fixture
def round_(rng):
    return checkerboard(300, rng)


# --- the margin player ----------------------------------------------------------------------------


def _squared_value(K, y, C):
    """The optimum of 1ᵀα − αᵀα/(4C) − ½ αᵀYKYα over 0 ≤ α, yᵀα = 0."""
    cvxpy = pytest.importorskip("cvxpy")
    alpha, root = cvxpy.Variable(len(y)), np.linalg.cholesky(K + np.eye(len(y)) / (2 * C))
    objective = cvxpy.sum(alpha) - cvxpy.sum_squares((root * y[:, None]).T @ alpha) / 2
    problem = cvxpy.Problem(cvxpy.Maximize(objective), [alpha >= 0, y @ alpha == 0])
    return problem.solve(solver="CLARABEL"), alpha.value


def test_the_squared_hinge_player_keeps_its_rules(rng):
    Z, y = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.4, 1.0, -1.0)
    player, C = MarginPlayer(0.7, squared=True), 0.7
    value, best = _squared_value(Z @ Z.T, y, C)
    assert_allclose(player.best_value(Z @ Z.T, y), value, rtol=1e-3)
    potential = np.sum((Z.T @ (y * best)) ** 2)
    assert_allclose(player.payoff(best, potential), value, rtol=1e-5)
    assert_allclose(player.refitted(Z, y), best, atol=1e-3)
    # The projection onto 0 ≤ α, yᵀα = 0 has no upper bound.
    moved = player.feasible(10 * rng.standard_normal(40), y)
    assert moved.min() == 0
    assert abs(y @ moved) < 1e-9
    assert moved.max() > 2
    # A step along the gradient: no step leads away from the optimum.
    outputs = Z @ (Z.T @ (y * best))
    assert_allclose(player.moved(best, y, outputs, 0.01), best, atol=1e-4)


def test_refitted_duals_are_those_of_the_machine(rng):
    Z, y = rng.standard_normal((80, 3)), np.where(rng.random(80) < 0.5, 1.0, -1.0)
    player = MarginPlayer(0.5)
    alpha = player.refitted(Z, y)
    value = player.payoff(alpha, np.sum((Z.T @ (y * alpha)) ** 2))
    # The corner of the hinge is rounded, by at most 0.025 for each row.
    assert value <= svm_value(Z @ Z.T, y, 0.5) <= value + 0.025 * 0.5 * 80
    assert abs(y @ alpha) < 1e-9


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "squared_hinge"},
        {"duals": "refit"},
        {"loss": "squared_hinge", "duals": "refit"},
        {"projection": "alternating", "step": 2.0},
    ],
    ids=repr,
)
def test_variants_of_the_game_learn(options, flat):
    X, y = flat
    features = learner(n_components=40, search="grid", **options).fit(X[:200], y[:200])
    model = SVC(kernel="linear", C=10).fit(features.transform(X[:200]), y[:200])
    assert model.score(features.transform(X[200:]), y[200:]) > 0.85
    assert features.duality_gap_[0] > 0
    step = options.get("step", 0.1)
    plain = learner(n_components=40, search="grid", step=step).fit(X[:200], y[:200])
    assert not np.allclose(plain.duals_, features.duals_)
    assert_allclose(plain.frequencies_[0], features.frequencies_[0])  # the same first peak


def test_the_squared_hinge_game_approaches_its_equilibrium(rng):
    X, y = checkerboard(60, rng)
    signs, domain = np.where(y, 1.0, -1.0), Harmonics(X, 3)
    gaps = []
    for n_rounds in (20, 1000):
        game = Game(domain, signs[:, None], MarginPlayer(0.5, 0.3, squared=True))
        game.play(n_rounds, 1, rng)
        (gap,), (regret,) = game.gaps(rng)
        assert gap <= regret + 1e-9  # the payoff is concave in the duals
        gaps.append(gap)
    assert 0 <= gaps[1] < gaps[0] / 3


def test_harmonics_are_drawn_by_their_potential(round_):
    X, y = round_
    signs = np.where(y, 1.0, -1.0)[:, None]
    v = (Harmonics(X, 3).values.T @ signs)[:, 0] ** 2
    expected = np.exp(4 * v / v.max()) / np.exp(4 * v / v.max()).sum()
    domain, rng = Harmonics(X, 3, beta=4.0), np.random.default_rng(0)
    drawn = np.bincount([domain.peaks(signs, 1, rng)[0][0] for _ in range(4000)], minlength=16)
    error = np.sqrt(expected * (1 - expected) / 4000)
    assert np.all(np.abs(drawn / 4000 - expected) < 4.5 * error)
    assert len(spherical(beta=1.0).fit(X, y).harmonics_) > len(spherical().fit(X, y).harmonics_)


# --- units of the columns -------------------------------------------------------------------------


def test_standardised_columns_change_units_and_nothing_else(flat):
    X, y = flat
    units = np.array([1e-3, 50.0])
    plain = learner(standardize=True, band=12.0, search="grid").fit(X, y)
    other = learner(standardize=True, band=12.0, search="grid").fit(X * units, y)
    assert_allclose(other.frequencies_ * units, plain.frequencies_, atol=1e-6)
    assert_allclose(other.scale_, units * X.std(axis=0))
    norms = np.linalg.norm(plain.frequencies_ * plain.scale_, axis=1)
    assert np.all(norms <= 12 * (1 + 1e-6))
    check_feature_map(other, X[:20] * units, X[20:40] * units)


def test_units_are_chosen_with_the_band(rng):
    X, y = windmill(500, rng)
    X = np.column_stack([X * [1.0, 500.0], np.zeros(500)])  # the third column is constant
    features = learner(standardize="auto", band="auto", n_components=40).fit(X, y)
    assert_allclose(features.scale_, [*X.std(axis=0)[:2], 1.0])
    raw = learner(standardize="auto", n_components=40).fit(X, y)
    assert_array_equal(raw.scale_, 1)  # a given band is in the units of X
    scores = [
        SVC(kernel="linear", C=10).fit(one.transform(X), y).score(one.transform(X), y)
        for one in (features, raw)
    ]
    assert scores[0] > scores[1] + 0.1


@pytest.mark.parametrize("unit", [1e-25, 1e25])
def test_very_large_and_small_units_are_served(unit, flat):
    X, y = flat
    plain = learner(band="auto", search="grid").fit(X, y)
    other = learner(band="auto", search="grid").fit(X * unit, y)
    assert_allclose(other.band_ * unit, plain.band_)
    assert np.all(np.isfinite(other.transform(X * unit)))
    momentum = learner(band=25 / unit).fit(X * unit, y)
    assert np.all(np.linalg.norm(momentum.frequencies_, axis=1) <= 25 / unit * (1 + 1e-6))
    assert momentum.potential_path_[0] > 0.5 * plain.potential_path_[0]


def test_progress_is_printed_on_request(flat, capsys):
    learner(verbose=4).fit(*flat)
    said = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in said] == [f"{n} of 10 actions" for n in (4, 8, 10)]
    learner().fit(*flat)
    assert capsys.readouterr().out == ""
