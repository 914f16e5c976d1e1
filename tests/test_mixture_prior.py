"""The prior of the variational inference: covariances and the Dirichlet mixture."""

import numpy as np
import pytest
from mixture_cases import positive_definite
from numpy.testing import assert_allclose
from scipy.stats import beta, wishart

from krein.spectral.covariances import Diagonal, Full, covariances_of
from krein.spectral.dirichlet import (
    DirichletMixture,
    MixturePrior,
    beta_divergence,
    default_degrees,
    wishart_divergence,
)

# --- covariances ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_both_forms_of_covariances_are_their_dense_twins(dim):
    rng = np.random.default_rng(dim)
    x, weights = rng.standard_normal((6, dim)), rng.random((6, 3))
    dense = positive_definite(3, dim, rng)
    diagonal = np.stack([np.diag(np.diagonal(A)) for A in dense])
    for algebra, A in ((Full(dim), dense), (Diagonal(dim), diagonal)):
        V = np.stack([algebra.of(one) for one in A])
        assert_allclose(algebra.logdet(V), np.linalg.slogdet(A)[1])
        assert_allclose(algebra.inverse(V), [algebra.of(B) for B in np.linalg.inv(A)], atol=1e-12)
        assert_allclose(algebra.apply(V, x[:3]), np.einsum("kij,kj->ki", A, x[:3]))
        assert_allclose(algebra.trace(V, V), np.einsum("kij,kij->k", A, A))
        squares = algebra.squares(x) @ algebra.packed(V).T
        assert_allclose(squares, np.einsum("ni,kij,nj->nk", x, A, x), atol=1e-12)
        sums = algebra.unpacked(weights.T @ algebra.squares(x))
        twin = np.einsum("nk,ni,nj->kij", weights, x, x)
        assert_allclose(sums, [algebra.of(B) for B in twin], atol=1e-12)
        assert_allclose(algebra.outer(x), [algebra.of(np.outer(row, row)) for row in x])
        assert_allclose(algebra.mix(weights, V)[0], np.tensordot(weights[0], V, 1))


def test_many_columns_have_diagonal_covariances():
    assert isinstance(covariances_of(100), Full)
    assert isinstance(covariances_of(101), Diagonal)


# --- the mixture ----------------------------------------------------------------------------------


def test_divergences_are_those_of_samples():
    rng = np.random.default_rng(0)
    x = beta.rvs(2.0, 3.0, size=200_000, random_state=rng)
    sampled = np.mean(beta.logpdf(x, 2.0, 3.0) - beta.logpdf(x, 1.0, 1.5))
    assert_allclose(beta_divergence(np.array(2.0), np.array(3.0), 1.0, 1.5), sampled, atol=0.01)
    W, W0 = positive_definite(2, 2, rng) / 4
    draws = np.moveaxis(wishart.rvs(5, W, size=4000, random_state=rng), 0, -1)
    gaps = wishart.logpdf(draws, 5, W) - wishart.logpdf(draws, 3, W0)
    found = wishart_divergence(Full(2), np.array([5.0]), W[None], 3.0, np.linalg.inv(W0))[0]
    assert abs(found - gaps.mean()) < 5 * gaps.std() / np.sqrt(4000)
    assert_allclose(
        wishart_divergence(Full(2), np.array([3.0]), W0[None], 3.0, np.linalg.inv(W0)), 0, atol=1e-9
    )


def test_one_column_is_the_same_full_and_diagonal():
    rng = np.random.default_rng(1)
    points, labels = rng.standard_normal((30, 1)), np.eye(3)[rng.integers(3, size=30)]
    bounds = []
    for algebra, shape in ((Full(1), (1, 1)), (Diagonal(1), (1,))):
        prior = MixturePrior(algebra, 1.0, np.zeros(1), np.full(shape, 2.0), 1.0)
        mixture = DirichletMixture(prior, labels)
        spread = np.full((30, *shape), 0.1)
        for _ in range(5):
            mixture.update(points, spread)
        bounds.append(mixture.bound(points, spread))
    assert_allclose(bounds[0], bounds[1])


@pytest.mark.parametrize("kind", [Full, Diagonal])
def test_no_update_of_the_mixture_lowers_its_bound(kind):
    rng = np.random.default_rng(2)
    algebra = kind(3)
    points = rng.standard_normal((40, 3)) + 3 * rng.integers(3, size=(40, 1))
    spread = np.stack([algebra.of(A) for A in 0.1 * positive_definite(40, 3, rng)])
    precision = algebra.of(np.eye(3) / 4)
    prior = MixturePrior(algebra, 1.0, np.zeros(3), precision, default_degrees(algebra))
    mixture = DirichletMixture(prior, np.eye(4)[rng.integers(4, size=40)])
    steps = [
        mixture._break_sticks,
        lambda: mixture._move_means(points),
        lambda: mixture._fit_precisions(points, spread),
        lambda: mixture.update(points, spread),
    ]
    before = mixture.bound(points, spread)
    for _ in range(10):
        for step in steps:
            step()
            after = mixture.bound(points, spread)
            assert after >= before - 1e-9 * abs(before)
            before = after
    assert_allclose(mixture.fitted.weights.sum(), 1)
    assert_allclose(mixture.memberships.sum(axis=1), 1)


def test_the_mixture_finds_two_clusters():
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.normal(-4, 0.5, (50, 2)), rng.normal(4, 0.5, (50, 2))])
    prior = MixturePrior(Full(2), 1.0, np.zeros(2), np.eye(2) / 16, 2.0)
    mixture = DirichletMixture(prior, np.eye(5)[np.arange(100) // 20])
    for _ in range(200):
        mixture.update(points, np.tile(1e-3 * np.eye(2), (100, 1, 1)))
    fitted = mixture.fitted
    large = np.argsort(-fitted.weights)[:2]
    assert fitted.weights[large].sum() > 0.9
    assert_allclose(np.sort(fitted.means[large, 0]), [-4, 4], atol=0.5)
