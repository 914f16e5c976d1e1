"""The nouns of the variational inference: likelihood, split, start, phases."""

import numpy as np
import pytest
from mixture_cases import positive_definite
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from krein.kernels import DeltaGaussian, Gaussian
from krein.published.taylor import draw, printed_updates
from krein.spectral._tilts import _loop, numpy_tilts
from krein.spectral.branch import (
    memberships,
    sample_covariance,
    start_branch,
)
from krein.spectral.covariances import Diagonal, Full, covariances_of
from krein.spectral.dirichlet import (
    DirichletMixture,
    MixturePrior,
    default_degrees,
)
from krein.spectral.likelihood import ExpectedLikelihood, Pairs
from krein.spectral.phases import Phase, quadratic_nnls
from krein.spectral.sketch import Sketch, default_pairs
from krein.spectral.split import shift_split, spectral_split

# --- the likelihood -------------------------------------------------------------------------------


@pytest.mark.parametrize("s", [0.0, 0.3, 4.0])
@pytest.mark.parametrize("t", [0.0, 1.0, 7.0])
def test_the_expected_likelihood_of_one_wave_is_that_of_quadrature(s, t):
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    waves, weights = np.cos(t + np.sqrt(s) * nodes), weights / weights.sum()
    noise, y = 0.3, 0.7
    pairs = Pairs(np.ones((1, 1)), np.array([y]))
    found = ExpectedLikelihood(pairs, np.ones(1), noise, Full(1))
    found.set_spread(np.full((1, 1, 1), s))
    value, _, _ = found.value_and_slopes(np.full((1, 1), t), np.ones(1))
    logs = -((y - waves) ** 2) / (2 * noise**2) - np.log(2 * np.pi * noise**2) / 2
    assert_allclose(value, weights @ logs, atol=1e-10)


def likelihood(kind, rng, m=4, dim=3, n=50):
    algebra = kind(dim)
    pairs = Pairs(rng.standard_normal((n, dim)), rng.standard_normal(n))
    found = ExpectedLikelihood(pairs, np.array([1.0, -1.0, 1.0, 1.0])[:m], 0.3, algebra)
    spread = np.stack([algebra.of(A) for A in 0.2 * positive_definite(m, dim, rng)])
    return found, spread, rng.standard_normal((m, dim)), rng.random(m)


@pytest.mark.parametrize("kind", [Full, Diagonal])
def test_the_expected_likelihood_is_that_of_random_frequencies(kind):
    rng = np.random.default_rng(4)
    found, spread, means, weights = likelihood(kind, rng)
    found.set_spread(spread)
    value = found.value_and_slopes(means, weights)[0]
    draws = 10_000
    dense = spread if kind is Full else np.stack([np.diag(v) for v in spread])
    waves = [
        weight
        * sign
        * np.cos(multivariate_normal.rvs(mean, V, draws, rng) @ found.pairs.differences.T)
        for weight, sign, mean, V in zip(weights, found.signs, means, dense, strict=True)
    ]
    residuals = found.pairs.values - sum(waves)
    logs = -(residuals**2).sum(axis=1) / (2 * 0.09) - 50 * np.log(2 * np.pi * 0.09) / 2
    assert abs(value - logs.mean()) < 5 * logs.std() / np.sqrt(draws)


@pytest.mark.parametrize("kind", [Full, Diagonal])
def test_gradients_are_those_of_differences(kind):
    found, spread, means, weights = likelihood(kind, np.random.default_rng(5))
    found.set_spread(spread)
    _, slope, lift = found.value_and_slopes(means, weights)
    step = 1e-6

    def change(d_means, d_weights):
        up = found.value_and_slopes(means + d_means, weights + d_weights)[0]
        return (up - found.value_and_slopes(means - d_means, weights - d_weights)[0]) / (2 * step)

    units = np.eye(means.size).reshape(-1, *means.shape)
    numeric = [change(step * unit, 0) for unit in units]
    assert_allclose(slope.ravel(), numeric, rtol=1e-5, atol=1e-5 * np.abs(slope).max())
    numeric = [change(0, step * unit) for unit in np.eye(len(weights))]
    assert_allclose(lift, numeric, rtol=1e-5, atol=1e-5 * np.abs(lift).max())


@pytest.mark.parametrize("kind", [Full, Diagonal])
def test_normal_equations_are_the_likelihood(kind):
    found, spread, means, weights = likelihood(kind, np.random.default_rng(6))
    for _ in range(2):
        gram, moments = found.normal_equations(means)
        values = [
            found.value_and_slopes(means, a)[0] + (a @ gram @ a - 2 * moments @ a) / (2 * 0.09)
            for a in (weights, 2 * weights, np.zeros(4))
        ]
        assert_allclose(values, values[0])
        found.set_spread(spread)
    twin = np.sin(found.pairs.differences @ means.T) ** 2
    squares = [found.algebra.of(np.outer(D, D)) for D in found.pairs.differences]
    curvature = np.tensordot((twin * weights**2 / 0.09).T, squares, axes=1)
    assert_allclose(found.curvature(means, weights), curvature)


def test_blocks_of_pairs_change_nothing(monkeypatch):
    rng = np.random.default_rng(7)
    found, spread, means, weights = likelihood(Full, rng)
    results = []
    for size in (2**19, 200):
        for name in ("BLOCK_BYTES", "SQUARES_BYTES"):
            monkeypatch.setattr(f"krein.spectral.likelihood.{name}", size)
        found.set_spread(spread)
        value, slope, lift = found.value_and_slopes(means, weights)
        gram, moments = found.normal_equations(means)
        parts = (slope, lift, gram, moments, found.curvature(means, weights))
        results.append(np.concatenate([[value], *(part.ravel() for part in parts)]))
    assert_allclose(results[0], results[1], rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_compiled_loop_is_its_numpy_twin(dtype):
    rng = np.random.default_rng(8)
    Z, decay = rng.uniform(-1, 1, (9, 2, 21)).astype(dtype), rng.random((9, 21)).astype(dtype)
    values, signed = rng.standard_normal(9).astype(dtype), rng.standard_normal(21).astype(dtype)
    results = []
    for tilts in (_loop(), numpy_tilts):
        waves, sums = Z.copy(), np.full((2, 21), np.nan, dtype)
        loss = tilts(waves, decay, values, signed, *sums)
        assert waves.dtype == dtype
        results.append(np.concatenate([[loss], waves.ravel(), sums.ravel()]))
    assert_allclose(results[0], results[1], atol=100 * np.finfo(dtype).eps)


def test_single_precision_is_the_likelihood_to_five_digits(monkeypatch):
    found, spread, means, weights = likelihood(Full, np.random.default_rng(9), n=300)
    found.set_spread(spread)
    assert found.rough() is found  # few waves
    exact = found.value_and_slopes(means, weights)
    for module in ("likelihood", "_tilts"):
        monkeypatch.setattr(f"krein.spectral.{module}.COMPILED", 0)
    rough = found.rough()
    assert rough.pairs.differences.dtype == np.float32
    for one, other in zip(rough.value_and_slopes(means, weights), exact, strict=True):
        assert_allclose(one, other, rtol=1e-5, atol=1e-5 * np.abs(other).max())
        assert np.asarray(one).dtype == np.float64


def test_products_of_columns_in_single_precision(monkeypatch):
    """Many waves take the products in single precision, and the curvature of half of the pairs."""
    rng = np.random.default_rng(10)
    exact, spread, means, weights = likelihood(Full, rng, n=320)
    exact.pairs = Pairs(np.repeat(exact.pairs.differences[::2], 2, axis=0), exact.pairs.values)
    exact.set_spread(spread)
    value, curvature = exact.value(means, weights), exact.curvature(means, weights)
    monkeypatch.setattr("krein.spectral.likelihood.COMPILED", 0)
    exact.set_spread(spread)
    assert exact._dtype_of_squares() == np.float32
    assert exact._decay.max() <= 1
    assert_allclose(exact.value(means, weights), value, rtol=1e-5)
    # Every pair is there twice, so every second pair is enough.
    assert_allclose(exact.curvature(means, weights), curvature, rtol=1e-4, atol=1e-4)


def test_squares_of_outliers_keep_double_precision(monkeypatch):
    found, spread, means, weights = likelihood(Full, np.random.default_rng(12))
    found.pairs.differences[0] = 1e25
    monkeypatch.setattr("krein.spectral.likelihood.COMPILED", 0)
    found.set_spread(spread)
    assert np.isfinite(found.value(means, weights))
    assert np.all(np.isfinite(found.curvature(means, weights)))


def test_the_remembered_value_follows_every_change():
    found, spread, means, weights = likelihood(Full, np.random.default_rng(11))
    for change in (
        found.forget_spread,
        lambda: found.set_spread(spread),
        lambda: found.set_spread(2 * spread),
        lambda: weights.__imul__(2),
        lambda: means.__imul__(2),
    ):
        change()
        for _ in range(2):
            assert found.value(means, weights) == found.value_and_slopes(means, weights)[0]


# --- split and start ------------------------------------------------------------------------------


def test_splits_are_positive_and_add_up():
    X = np.random.default_rng(8).random((40, 3))
    K = (Gaussian() - 0.7 * Gaussian(0.5))(X)
    for split in (spectral_split(K), shift_split(K, 1.1)):
        assert_allclose(split.positive - split.negative, K, atol=1e-12)
        for part in (split.positive, split.negative):
            assert np.linalg.eigvalsh(part)[0] > -1e-10
    assert spectral_split(K).signs == [1.0, -1.0]
    # The shift leaves nothing off the diagonal.
    assert shift_split(K, 1.1).signs == [1.0]
    assert shift_split(K, 5.0).share > shift_split(K, 1.1).share > 0


def test_a_matrix_of_one_sign_has_one_part():
    K = Gaussian()(np.random.default_rng(9).random((30, 2)))
    for split in (spectral_split, lambda K: shift_split(K, 1.1)):
        assert split(K).signs == [1.0]
    assert spectral_split(-K).signs == [-1.0]
    assert spectral_split(np.zeros((3, 3))).signs == []


def test_pairs_are_distinct_and_in_natural_units():
    X = np.random.default_rng(12).random((30, 2)) * 1e5
    K = 7.0 * Gaussian(1e5)(X)
    split = spectral_split(K)
    sketch = Sketch.of(X, K, split, 100, 0)
    assert len(sketch.pairs) == 100
    assert_allclose(np.median(np.linalg.norm(sketch.pairs.differences, axis=1)), 1)
    assert_allclose([sketch.at_zero, sketch.scale], [1, 7])
    assert len(np.unique(sketch.pairs.differences, axis=0)) == 100
    assert len(Sketch.of(X, K, split, 10**6, 0).pairs) == 30 * 29 // 2
    # With k(0) = 0 the largest value is the unit.
    K = DeltaGaussian(1e5, 1e6)(X)
    assert_allclose(Sketch.of(X, K, spectral_split(K), 100, 0).scale, np.abs(K).max())


def test_the_number_of_pairs_is_bounded():
    assert default_pairs(10, 10, 10) == 4000
    assert default_pairs(1000, 10, 10) == 10_000
    assert default_pairs(10_000, 100, 100) == 40_000
    assert default_pairs(50, 120, 120) == 6000
    assert default_pairs(50, 120, 80) == 12_000  # principal axes
    assert default_pairs(10, 10**6, 500) == 40_000
    assert default_pairs(10, 10**6, 10**6) < 100


# --- phases ---------------------------------------------------------------------------------------


def test_non_negative_quadratic_programme():
    rng = np.random.default_rng(13)
    A, y = rng.standard_normal((50, 8)), rng.standard_normal(50)
    found = quadratic_nnls(A.T @ A, A.T @ y)
    slope = A.T @ (A @ found - y)
    assert np.all(found >= 0)
    assert np.all(slope >= -1e-8)
    assert_allclose(found * slope, 0, atol=1e-8)
    # Two equal columns share a weight.
    twice = np.hstack([A[:, :1], A[:, :1]])
    target = A[:, 0]
    assert_allclose(quadratic_nnls(twice.T @ twice, twice.T @ target).sum(), 1, rtol=1e-6)
    assert not quadratic_nnls(np.zeros((2, 2)), np.zeros(2)).any()


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("signs", [(1.0,), (1.0, -1.0)])
@pytest.mark.parametrize("compiled", [0, 2**17])
def test_no_step_of_a_round_lowers_the_objective(dim, signs, compiled, monkeypatch):
    for module in ("likelihood", "_tilts"):
        monkeypatch.setattr(f"krein.spectral.{module}.COMPILED", compiled)
    rng = np.random.default_rng(14)
    differences = rng.standard_normal((300, dim))
    squares = (differences**2).sum(axis=1)
    values = np.exp(-squares / 2) - (0.5 * np.exp(-2 * squares) if len(signs) == 2 else 0)
    algebra, branches = covariances_of(dim), []
    for sign in signs:
        points = rng.standard_normal((6, dim))
        precision = algebra.inverse(algebra.of(sample_covariance(points)))
        prior = MixturePrior(algebra, 1.0, np.zeros(dim), precision, default_degrees(algebra))
        branches.append(start_branch(sign, points, 1.0, prior, 3))
    phase = Phase(Pairs(differences, values), branches, 0.01)
    phase.fit_weights(equal=True)
    phase.start_spread()
    before = phase.objective()

    def mix():
        for branch in branches:
            branch.mixture.update(branch.frequencies, branch.spread)

    steps = [lambda: phase._climb(False), phase._fit_spread, mix, lambda: phase.fit_weights(False)]
    for _ in range(4):
        for step in steps:
            step()
            after = phase.objective()
            assert after >= before - 1e-8 * abs(before)
            before = after
    assert np.all(phase.weights >= 0)


# --- the printed updates --------------------------------------------------------------------------


def test_printed_updates_keep_the_prior():
    rng = np.random.default_rng(15)
    points = rng.standard_normal((200, 3))
    prior = MixturePrior(Full(3), 1.0, np.zeros(3), np.eye(3), 3.0)
    mixture = DirichletMixture(prior, memberships(points, 5))
    differences = rng.standard_normal((100, 3))
    pairs = Pairs(differences, np.exp(-50 * (differences**2).sum(axis=1)))
    path = printed_updates(mixture, pairs, 0.01, 50, 1e-5)
    assert path[-1] <= 1e-5 or len(path) == 50
    # Whatever the kernel: all frequencies shrink to zero.
    assert np.abs(mixture.means).max() < 0.1


@pytest.mark.parametrize("diagonal", [False, True])
def test_draws_from_a_mixture_have_its_moments(diagonal):
    rng = np.random.default_rng(16)
    means, precisions = np.array([[5.0, 0.0], [-5.0, 1.0]]), positive_definite(2, 2, rng)
    if diagonal:
        precisions = np.stack([np.diagonal(A) for A in precisions])
    dense = np.stack([np.diag(A) for A in precisions]) if diagonal else precisions
    found = draw(np.array([0.75, 0.25]), means, precisions, 40_000, rng)
    first = found[:, 0] > 0
    assert_allclose(first.mean(), 0.75, atol=0.02)
    for k, some in enumerate((first, ~first)):
        assert_allclose(found[some].mean(axis=0), means[k], atol=0.1)
        assert_allclose(np.cov(found[some].T), np.linalg.inv(dense[k]), rtol=0.1, atol=0.05)
