"""Samplers that weigh their draws: importance and leverage."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from krein import RandomFourier, approximation_error
from krein.kernels import (
    Cauchy,
    DeltaGaussian,
    Gaussian,
    GaussianCombination,
    Laplacian,
    Matern,
    Multiquadric,
    ShiftGaussian,
    Sigmoid,
    SphericalPolynomial,
)
from krein.measures import Normal
from krein.samplers import Importance, LeverageSampler, Orthogonal, one_of_each_group

DIMS = [1, 3, 8]
pytestmark = pytest.mark.usefixtures("solve_each_programme_once")


def mean_error(kernel, sampler, X, seeds=6):
    maps = [RandomFourier(kernel, 128, sampler=sampler, random_state=i) for i in range(seeds)]
    return np.mean([approximation_error(features.fit(X), X) for features in maps])


# --- importance -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", DIMS)
def test_importance_with_one_gaussian_is_monte_carlo(dim):
    measure = Gaussian(0.7).measure(dim)
    importance, iid = (measure.atoms(20, name, 1) for name in ("importance", "iid"))
    assert_allclose(importance.frequencies, iid.frequencies, rtol=1e-14)
    assert_allclose(importance.weights, iid.weights, rtol=1e-12)


@pytest.mark.parametrize("scale", [None, 1.4])
@pytest.mark.parametrize(
    "kernel",
    [DeltaGaussian(1.0, 2.0), GaussianCombination((1.0, -0.5, 0.2), (1.0, 2.0, 3.0))],
    ids=repr,
)
def test_importance_weights_are_the_density_ratio(kernel, scale):
    dim, n = 3, 50
    atoms = kernel.measure(dim).atoms(n, Importance(scale), 2)
    density = sum(
        a * stats.multivariate_normal(np.zeros(dim), s**-2.0).pdf(atoms.frequencies)
        for a, s in kernel._terms()
    )
    widths = [1 / s for _, s in kernel._terms()] if scale is None else [scale]
    each = [stats.multivariate_normal(np.zeros(dim), w**2).pdf(atoms.frequencies) for w in widths]
    # As many draws from each part as its mass asks for, up to rounding.
    masses = np.abs([a for a, _ in kernel._terms()]) if scale is None else np.ones(1)
    counts = np.round(n * masses / masses.sum())
    assert counts.sum() == n
    assert_allclose(atoms.weights, density / (counts @ each), rtol=1e-10)


@pytest.mark.parametrize("dim", [1, 3, 8, 20])
def test_importance_serves_parts_of_very_different_width(dim, rng):
    """From the widest part alone the other one, of a tenth of its width, was never drawn."""
    X = rng.standard_normal((200, dim))
    kernel = DeltaGaussian(np.sqrt(dim), 10 * np.sqrt(dim))
    assert mean_error(kernel, "importance", X) < 2 * mean_error(kernel, "iid", X) < 0.5


def test_importance_from_few_atoms_is_unbiased():
    measure = GaussianCombination((1.0, -0.5, 0.2), (1.0, 2.0, 3.0)).measure(2)
    differences = np.array([[0.0, 0.0], [0.7, -0.4]])
    draws = [measure.atoms(2, "importance", seed)(differences) for seed in range(4000)]
    error = np.std(draws, axis=0, ddof=1) / np.sqrt(len(draws))
    assert np.all(np.abs(np.mean(draws, axis=0) - measure.kernel(differences)) < 4.5 * error)


def test_importance_refuses_a_gaussian_without_overlap():
    measure = DeltaGaussian(1.0, 10.0).measure(8)
    message = (
        r"Importance\(scale=1\).*scale 0.1 in dimension 8: the 64 weights .*are worth .*orthogonal"
    )
    with pytest.raises(ValueError, match=message):
        measure.atoms(64, Importance(1.0), 0)
    assert len(measure.atoms(64, Importance(), 0)) == 64
    # The share of equal draws that the weights are worth, against a sample of them.
    part, scale, n = Normal(3, 0.5), 0.8, 200_000
    points = scale * np.random.default_rng(0).standard_normal((n, 3))
    weights = np.exp(part.log_density(points) - Normal(3, scale).log_density(points))
    worth = (0.5 / scale * np.sqrt(2 - (0.5 / scale) ** 2)) ** 3
    assert weights.sum() ** 2 / (weights**2).sum() / n == pytest.approx(worth, rel=0.05)


def test_importance_keeps_the_phase_of_a_directed_kernel():
    kernel = ShiftGaussian(1.2, (0.3, -0.5))
    atoms = kernel.measure(2).atoms(30, "importance", 0)
    expected = np.exp(1j * atoms.frequencies @ np.array([0.3, -0.5])) / 30
    assert_allclose(atoms.weights, expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("measure", "law"),
    [
        (Laplacian().measure(3), "ProductCauchy"),
        (Matern().measure(3), "Student"),
        (Cauchy().measure(3), "ExponentialMixture"),
        (SphericalPolynomial(2.0, 2).measure(3, diameter=1.0), "Sphere"),
        ((Gaussian() * Gaussian()).measure(3), "Convolution"),
        ((Gaussian() + Laplacian()).measure(3), "ProductCauchy"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_importance_refuses_laws_without_a_gaussian_bound(measure, law):
    with pytest.raises(ValueError, match=rf"importance sampler cannot draw from {law}: .*Use"):
        measure.atoms(8, "importance", 0)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, "wide"])
def test_importance_refuses_a_bad_scale(scale):
    with pytest.raises(ValueError, match="Importance needs scale"):
        Gaussian().measure(2).atoms(8, Importance(scale), 0)


# --- leverage -------------------------------------------------------------------------------------


def test_leverage_without_data_refuses():
    with pytest.raises(ValueError, match=r"leverage sampler .* pass X"):
        Gaussian().measure(3).atoms(8, "leverage", 0)


def test_leverage_keeps_atoms_of_the_pool_with_bounded_weights(rng):
    X = rng.standard_normal((30, 3))
    measure = Gaussian().measure(3)
    pool = measure.atoms(80, Orthogonal(), 7, X=X)
    atoms = measure.atoms(20, LeverageSampler(pool=4), 7, X=X)
    assert len(atoms) == 20
    assert {tuple(w) for w in atoms.frequencies} <= {tuple(w) for w in pool.frequencies}
    # The uniform half of the chances bounds each group by twice its share, up to one atom.
    assert np.all(atoms.weights > 0)
    assert np.all(atoms.weights <= 2 / 20 + 1 / 80 + 1e-12)


LEVERAGED = [
    (Gaussian(2.0), "any"),
    (DeltaGaussian(2.0, 20.0), "any"),
    (Multiquadric(2.0), "any"),
    (SphericalPolynomial(), "unit"),
    (Sigmoid(), "unit"),
]


@pytest.mark.parametrize(("kernel", "kind"), LEVERAGED, ids=str)
def test_leverage_is_no_worse_than_chance_draws(kernel, kind, rng):
    """Parts of opposite sign nearly cancel: their masses must be right in every draw."""
    X = rng.standard_normal((200, 5))
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if kind == "unit" else X
    assert mean_error(kernel, "leverage", X) < 1.2 * mean_error(kernel, "iid", X)
    features = RandomFourier(kernel, 128, sampler="leverage", random_state=0).fit(X)
    masses = sum(part.mass for part in features.measure_.parts)
    assert_allclose(features.weights_.sum(), masses, atol=1e-9 * features.total_mass_)


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_groups_cover_the_pool_once(n, rng):
    scores = rng.random(40)
    parts = np.repeat([0, 2, 3], [30, 9, 1])
    chosen, sizes = one_of_each_group(scores, scores / scores.sum(), parts, n, rng)
    assert len(set(chosen)) == len(chosen) == n
    assert sizes.sum() == 40
    if n >= 3:
        for part, count in ((0, 30), (2, 9), (3, 1)):
            assert sizes[parts[chosen] == part].sum() == count


def test_leverage_prefers_frequencies_that_see_the_data(rng):
    # Rows on the first axis: ridge leverage there grows with how fast the wave turns on the data.
    X = np.zeros((40, 2))
    X[:, 0] = rng.standard_normal(40)
    sampler = LeverageSampler(pool=8, ridge=1e-2)
    pool = Gaussian(0.5).measure(2).atoms(400, Orthogonal(), rng, X=X)
    scores = sampler._scores(pool, X)
    waves = np.exp(1j * X @ pool.frequencies.T) * np.sqrt(pool.weights)
    columns = np.concatenate([waves.real, waves.imag], axis=1)
    # The dense twin: diagonal of Z'(ZZ' + λI)^-1 Z as eigenvalue shrinkage.
    _, singular, right = np.linalg.svd(columns, full_matrices=False)
    shrink = singular**2 / (singular**2 + 1e-2 * 40 * pool.total_mass)
    expected = (right**2 * shrink[:, None]).sum(axis=0).reshape(2, -1).sum(axis=0)
    assert_allclose(scores, expected, rtol=1e-8)


@pytest.mark.parametrize("parameters", [{"pool": 0}, {"ridge": -1.0}])
def test_leverage_refuses_bad_parameters(parameters, rng):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"LeverageSampler needs {name}"):
        Gaussian().measure(2).atoms(
            8, LeverageSampler(**parameters), 0, X=rng.standard_normal((9, 2))
        )
