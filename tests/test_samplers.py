"""Samplers: canonical points are N(0, I), well spread, and a pair that cannot work says so."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from krein.kernels import (
    Cauchy,
    DeltaGaussian,
    Gaussian,
    GaussianCombination,
    Laplacian,
    Matern,
    SinhGaussian,
    SphericalPolynomial,
)
from krein.measures.drawing import shares
from krein.published.rejection import Rejection
from krein.samplers import (
    IID,
    SAMPLERS,
    Orthogonal,
    QuasiMonteCarlo,
    as_sampler,
)
from krein.testing import check_sampler

POINTS = [IID(), Orthogonal(), QuasiMonteCarlo("sobol"), QuasiMonteCarlo("halton")]
NAMES = ["iid", "orthogonal", "sobol", "halton"]
DIMS = [1, 3, 8]


# --- points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("sampler", POINTS, ids=NAMES)
def test_points_are_standard_normal(sampler, dim, rng):
    check_sampler(sampler, dim, rng)


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_the_check_of_points_can_fail(factor, rng):
    class Stretched(IID):
        def points(self, n, dim, rng):
            return factor * super().points(n, dim, rng)

    with pytest.raises(AssertionError):
        check_sampler(Stretched(), 3, rng)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("sampler", POINTS, ids=NAMES)
def test_one_row_of_each_draw_has_the_normal_law(sampler, dim, rng):
    # Kolmogorov-Smirnov over independent draws, both in a coordinate and in the norm.
    rows = np.stack([sampler.points(5, dim, rng)[3] for _ in range(1000)])
    assert stats.kstest(rows[:, -1], stats.norm.cdf).pvalue > 1e-5
    assert stats.kstest((rows**2).sum(axis=1), stats.chi2(dim).cdf).pvalue > 1e-5


@pytest.mark.parametrize("n", [1, 2, 7, 8, 33])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("sampler", POINTS, ids=NAMES)
def test_any_number_of_points_is_finite_and_repeats_with_its_seed(sampler, dim, n):
    first = sampler.points(n, dim, np.random.default_rng(3))
    assert first.shape == (n, dim)
    assert np.all(np.isfinite(first))
    assert_array_equal(first, sampler.points(n, dim, np.random.default_rng(3)))
    assert not np.array_equal(first, sampler.points(n, dim, np.random.default_rng(4)))


@pytest.mark.parametrize("dim", [2, 3, 8, 16])
def test_orthogonal_blocks_are_orthogonal(dim, rng):
    points = Orthogonal().points(2 * dim + 1, dim, rng)
    directions = points / np.linalg.norm(points, axis=1, keepdims=True)
    for block in (directions[:dim], directions[dim : 2 * dim]):
        assert_allclose(block @ block.T, np.eye(dim), atol=1e-13)
    # A new block is a new rotation.
    assert np.abs(directions[:dim] @ directions[dim : 2 * dim].T).max() < 1 - 1e-6


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Matern(1.0, 0.5), Cauchy(2.0)], ids=repr)
def test_radial_laws_keep_the_blocks_orthogonal(kernel):
    W = kernel.measure(5).atoms(5, "orthogonal", 0).frequencies
    directions = W / np.linalg.norm(W, axis=1, keepdims=True)
    assert_allclose(directions @ directions.T, np.eye(5), atol=1e-13)


def test_the_product_law_does_not_keep_them_and_stays_what_it_is():
    W = Laplacian(1.0).measure(5).atoms(5, "orthogonal", 0).frequencies
    canonical = Orthogonal().points(5, 5, np.random.default_rng(0))
    assert_allclose(W, np.tan(np.pi * (stats.norm.cdf(canonical) - 0.5)), rtol=1e-9)
    assert np.abs(np.tril(W @ W.T, -1)).max() > 1e-3


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("n", [1, 10, 64])
def test_orthogonal_radii_hit_each_stratum_once(n, dim, rng):
    square = (Orthogonal().points(n, dim, rng) ** 2).sum(axis=1)
    strata = np.floor(n * stats.chi2(dim).cdf(square)).astype(int)
    assert_array_equal(np.sort(strata), np.arange(n))


@pytest.mark.parametrize("engine", ["sobol", "halton"])
@pytest.mark.parametrize("dim", DIMS)
def test_sixteen_quasi_random_points_are_balanced_in_each_coordinate(engine, dim, rng):
    # 16 = 2^4 is whole for Sobol; Halton is balanced in its first coordinate (base 2).
    points = QuasiMonteCarlo(engine).points(16, dim, rng)
    columns = points.T if engine == "sobol" else points.T[:1]
    for column in columns:
        cells = np.floor(16 * stats.norm.cdf(column)).astype(int)
        assert_array_equal(np.sort(cells), np.arange(16))


def errors(sampler, dim, n, seeds=30):
    """Root mean square error of the Gaussian kernel over fixed differences, one per seed."""
    kernel = Gaussian(np.sqrt(dim))
    differences = np.random.default_rng(99).standard_normal((200, dim))
    exact = np.exp(-0.5 * (differences**2).sum(axis=1) / dim)
    measure = kernel.measure(dim)
    return np.array(
        [
            np.sqrt(np.mean((measure.atoms(n, sampler, seed)(differences) - exact) ** 2))
            for seed in range(seeds)
        ]
    )


@pytest.mark.parametrize(("dim", "ratio"), [(3, 0.5), (8, 0.5), (16, 0.5)])
def test_orthogonal_error_is_well_below_monte_carlo(dim, ratio):
    iid, orthogonal = (errors(name, dim, 4 * dim) for name in ("iid", "orthogonal"))
    # The margin: five standard errors of the difference of the two means.
    difference = iid - orthogonal
    assert difference.mean() > 5 * difference.std(ddof=1) / np.sqrt(len(difference))
    assert orthogonal.mean() < ratio * iid.mean()


def test_quasi_monte_carlo_error_is_below_monte_carlo():
    iid, qmc = (errors(name, 3, 64) for name in ("iid", "qmc"))
    difference = iid - qmc
    assert difference.mean() > 5 * difference.std(ddof=1) / np.sqrt(len(difference))


# --- rejection ------------------------------------------------------------------------------------

ZERO = SphericalPolynomial(2.0, 3)


@lru_cache
def zero_extension(jacobian=True):
    return ZERO.measure(3, extension="zero", jacobian=jacobian)


@pytest.mark.parametrize("bound", [10.0, 5.0])
@pytest.mark.parametrize("n_points", [10_000, 1_000])
@pytest.mark.parametrize("jacobian", [True, False])
def test_rejection_draws_the_cut_radial_density(jacobian, n_points, bound):
    measure = zero_extension(jacobian)
    atoms = measure.atoms(60, Rejection(n_points, bound), 0)
    assert len(atoms) == 60
    radii = np.linalg.norm(atoms.frequencies, axis=1)
    assert radii.max() <= bound
    for part in measure.parts:
        mine = np.sign(atoms.weights) == np.sign(part.mass)
        assert_allclose(atoms.weights[mine].sum(), part.mass)
        grid = np.linspace(0, bound, 4001)
        cumulated = np.cumsum(part.law.radial_density(grid))
        law = stats.kstest(np.interp(radii[mine], grid, cumulated / cumulated[-1]), "uniform")
        assert law.pvalue > 1e-5


def test_rejection_gives_more_atoms_than_it_accepted():
    atoms = zero_extension().atoms(600, Rejection(1_000, 10.0), 0)
    assert len(atoms) == 600
    assert len(np.unique(np.linalg.norm(atoms.frequencies, axis=1).round(10))) < 600


@pytest.mark.parametrize(
    ("kernel", "law"),
    [(Gaussian(), "Normal"), (Matern(), "Student"), (Laplacian(), "ProductCauchy")],
    ids=repr,
)
def test_rejection_refuses_other_measures(kernel, law):
    with pytest.raises(ValueError, match=rf"rejection sampler .*{law} does not have.*extension="):
        kernel.measure(3).atoms(8, "rejection", 0)


# --- all ------------------------------------------------------------------------------------------


def test_an_unknown_name_lists_the_choices():
    with pytest.raises(ValueError, match="got 'sobol'") as caught:
        Gaussian().measure(2).atoms(8, "sobol", 0)
    assert all(repr(name) in str(caught.value) for name in SAMPLERS)


def test_an_unknown_engine_lists_the_choices():
    with pytest.raises(ValueError, match="one of 'sobol', 'halton', got 'faure'"):
        Gaussian().measure(2).atoms(8, QuasiMonteCarlo("faure"), 0)


@pytest.mark.parametrize("name", SAMPLERS)
def test_names_stand_for_the_default_samplers(name):
    sampler = as_sampler(name)
    assert type(sampler) is SAMPLERS[name]
    assert as_sampler(sampler) is sampler
    assert sampler.get_params() == SAMPLERS[name]().get_params()


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_same_seed_draws_the_same_atoms(name, rng):
    measure = zero_extension() if name == "rejection" else SinhGaussian(1.2, 0.3).measure(3)
    X = rng.standard_normal((10, 3))
    first, again, other = (measure.atoms(12, name, seed, X=X) for seed in (5, 5, 6))
    assert_array_equal(first.frequencies, again.frequencies)
    assert_array_equal(first.weights, again.weights)
    assert not np.array_equal(first.frequencies, other.frequencies)
    generator = measure.atoms(12, name, np.random.default_rng(5), X=X)
    assert_array_equal(generator.frequencies, first.frequencies)


@pytest.mark.parametrize("name", ["iid", "orthogonal", "qmc"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 17])
def test_any_number_of_atoms_is_shared_by_the_parts(name, n, rng):
    measure = GaussianCombination((1.0, -2.0, 0.5, 0.1), (1.0, 2.0, 3.0, 4.0)).measure(3)
    for X in (None, rng.standard_normal((20, 3))):
        for allocation in ("neyman", "equal"):
            counts, factors = shares(measure.parts, n, as_sampler(name), rng, X, allocation)
            assert counts.sum() == n
            if n >= 4:
                assert counts.min() >= 1
                assert_allclose(counts * factors, 1.0)
            atoms = measure.atoms(n, name, rng, X=X, allocation=allocation)
            assert atoms.frequencies.shape == (n, 3)
            assert np.all(np.isfinite(atoms.weights))


def test_equal_shares_are_equal_and_neyman_prefers_the_part_that_varies(rng):
    measure = DeltaGaussian(1.0, 10.0).measure(4)
    X = rng.standard_normal((50, 4))
    equal, _ = shares(measure.parts, 64, IID(), rng, X, "equal")
    assert_array_equal(equal, [32, 32])
    neyman, _ = shares(measure.parts, 64, IID(), rng, X, "neyman")
    assert neyman[0] > 3 * neyman[1]
    by_mass, _ = shares(measure.parts, 64, IID(), rng, None, "neyman")
    assert_array_equal(by_mass, [32, 32])


@pytest.mark.parametrize("option", ["decomposition", "allocation"])
def test_unknown_options_list_the_choices(option):
    with pytest.raises(ValueError, match=rf"{option} to be one of .*, got 'best'"):
        Gaussian().measure(2).atoms(8, "iid", 0, **{option: "best"})


@pytest.mark.parametrize("sampler", POINTS, ids=NAMES)
@pytest.mark.parametrize("weights", [(0.0,), (1.0, 0.0)], ids=["zero", "one zero part"])
def test_a_part_without_mass_draws_finite_atoms(weights, sampler):
    kernel = GaussianCombination(weights, np.arange(1.0, len(weights) + 1))
    for n in (1, 4):
        atoms = kernel.measure(2).atoms(n, sampler, 0)
        assert len(atoms) == n
        assert_allclose(atoms.weights.sum(), sum(weights))
