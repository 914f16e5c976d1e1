"""Every closed-form kernel times every sampler is unbiased.

For each cell (kernel, dimension, decomposition, sampler) 200 seeds draw a few frequencies; the
mean estimate at 20 fixed pairs is compared with the kernel's exact values by a two-sided t test.
The threshold is Bonferroni's over all pairs of all cells, at a false-alarm level of 1e-3.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from scipy.stats import t as student

from krein.kernels import (
    Cauchy,
    Constant,
    CoshGaussian,
    DeltaGaussian,
    Gaussian,
    GaussianCombination,
    Laplacian,
    Matern,
    ShiftGaussian,
    SinhGaussian,
)
from krein.measures import Atoms
from krein.samplers import IID, Importance, LeverageSampler, Orthogonal, QuasiMonteCarlo

N_PAIRS, N_SEEDS, N_ATOMS = 20, 200, 16
LEVEL = 1e-3
DIMS = (1, 3, 8)
# What tables (the Cauchy kernel's law, Jordan parts) may be off by; far below any standard error.
TABLE_ERROR = 1e-6

DIRECTED = {"shift": ShiftGaussian, "sinh": SinhGaussian, "cosh": CoshGaussian}


def make_kernel(name, dim):
    if name in DIRECTED:
        # A vector that is neither symmetric nor along an axis, of norm 0.8.
        vector = np.arange(1.0, dim + 1)
        return DIRECTED[name](1.2, 0.8 * vector / np.linalg.norm(vector))
    return {
        "gaussian": Gaussian(1.3),
        "laplacian": Laplacian(1.5),
        "exponential": Matern(1.5, 0.5),
        "matern": Matern(1.2, 2.5),
        "cauchy": Cauchy(1.5),
        "delta": DeltaGaussian(1.0, 10.0),
        "narrow delta": DeltaGaussian(1.0, 1.3),  # a bounded ratio for the importance sampler
        "combination": GaussianCombination((1.0, -0.7, 0.4, -0.2), (1.0, 1.1, 1.2, 1.3)),
        "sum": Gaussian(1.3) - 0.5 * Matern(1.2, 1.5) + Constant(0.3),
        "product": Gaussian(2.0) * Laplacian(2.0),
        "symmetric part": ShiftGaussian(1.2, 0.8 / np.sqrt(dim)).symmetric_part,
    }[name]


SYMMETRIC = ("gaussian", "laplacian", "exponential", "matern", "cauchy", "delta", "combination")
COMPOSED = ("sum", "product", "symmetric part")
GAUSSIANS = ("gaussian", "narrow delta", "combination", "symmetric part", *DIRECTED)
SAMPLERS = {
    "iid": IID(),
    "orthogonal": Orthogonal(),
    "sobol": QuasiMonteCarlo("sobol"),
    "halton": QuasiMonteCarlo("halton"),
    "leverage": LeverageSampler(pool=2),
    "importance": Importance(),
}
POINTS = ("iid", "orthogonal", "sobol")

KINDS = [
    *((name, "polar", s, N_ATOMS) for name in (*SYMMETRIC, *COMPOSED, *DIRECTED) for s in POINTS),
    *((name, "jordan", s, N_ATOMS) for name in DIRECTED for s in (*POINTS, "importance")),
    *((name, "polar", "halton", N_ATOMS) for name in ("gaussian", "laplacian", "sinh")),
    *((name, "polar", "leverage", N_ATOMS) for name in (*SYMMETRIC, *COMPOSED, *DIRECTED)),
    *((name, "jordan", "leverage", N_ATOMS) for name in DIRECTED),
    *((name, "polar", "importance", N_ATOMS) for name in GAUSSIANS),
    # Fewer frequencies than parts: the parts themselves are drawn.
    *(("combination", "polar", s, 3) for s in POINTS),
]
CELLS = [(*kind, dim) for kind in KINDS for dim in DIMS]
IDS = [f"{name}-{split}-{sampler}-n{n}-d{dim}" for name, split, sampler, n, dim in CELLS]
THRESHOLD = student.isf(LEVEL / (2 * N_PAIRS * len(CELLS)), N_SEEDS - 1)


def fixed_pairs(dim):
    """20 pairs at distances up to about 3; the last pair is a point with itself."""
    rng = np.random.default_rng(dim)
    X = rng.standard_normal((N_PAIRS, dim)) / np.sqrt(dim)
    Y = rng.standard_normal((N_PAIRS, dim)) / np.sqrt(dim)
    Y[-1] = X[-1]
    return X, Y


@lru_cache
def spectrum(name, split, dim):
    # Once per cell: `atoms(..., decomposition="jordan")` would tabulate the parts for each seed.
    measure = make_kernel(name, dim).measure(dim)
    return measure.jordan() if split == "jordan" else measure


def largest_statistic(name, split, sampler, n, dim, seed, rows=0, allocation="equal"):
    """The largest |t| over the pairs; infinite where a constant estimate is not the kernel."""
    kernel = make_kernel(name, dim)
    X, Y = fixed_pairs(dim)
    exact = np.array([kernel(x[None], y[None])[0, 0] for x, y in zip(X, Y, strict=True)])
    source = spectrum(name, split, dim)
    rng = np.random.default_rng(seed)
    data = X[:rows] if rows else None
    draws = np.stack(
        [
            source.atoms(n, sampler, rng, X=data, allocation=allocation)(X - Y)
            for _ in range(N_SEEDS)
        ]
    )
    error = np.maximum(np.abs(draws.mean(axis=0) - exact) - TABLE_ERROR, 0)
    spread = draws.std(axis=0, ddof=1) / np.sqrt(N_SEEDS)
    constant = spread < 1e-12 * source.total_mass
    statistics = np.where(constant, 0.0, error / np.where(constant, 1.0, spread))
    statistics[constant & (error > 0)] = np.inf
    return statistics.max()


@pytest.mark.parametrize("cell", range(len(CELLS)), ids=IDS)
def test_mean_estimate_is_the_kernel(cell):
    name, split, sampler, n, dim = CELLS[cell]
    options = {"rows": N_PAIRS} if sampler == "leverage" else {"allocation": "neyman"}
    statistic = largest_statistic(name, split, SAMPLERS[sampler], n, dim, seed=cell, **options)
    assert statistic < THRESHOLD


@pytest.mark.parametrize("sampler", ["orthogonal", "leverage"])
def test_shares_that_follow_the_data_stay_unbiased(sampler):
    statistic = largest_statistic(
        "delta", "polar", SAMPLERS[sampler], N_ATOMS, 3, seed=1, rows=10, allocation="neyman"
    )
    assert statistic < THRESHOLD


class Stretched(IID):
    """Radii 5 % too long."""

    def points(self, n, dim, rng):
        return 1.05 * super().points(n, dim, rng)


class StretchedBlocks(Orthogonal):
    """The same in orthogonal blocks."""

    def points(self, n, dim, rng):
        return 1.05 * super().points(n, dim, rng)


class Conjugated(Orthogonal):
    """The wrong sign of the phase: right for symmetric kernels, the transpose of directed ones."""

    def select(self, pool, *args):
        return Atoms(pool.frequencies, np.conj(pool.weights))


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("sampler", [Stretched(), StretchedBlocks()], ids=["iid", "orthogonal"])
def test_a_five_per_cent_error_in_the_radii_is_caught(sampler, dim):
    # Many frequencies per seed, so that the standard error is below the bias.
    assert largest_statistic("gaussian", "polar", sampler, 128, dim, seed=0) > THRESHOLD


@pytest.mark.parametrize(
    ("name", "caught"), [*((name, True) for name in DIRECTED), ("delta", False)]
)
def test_a_wrong_sign_of_the_phase_is_caught_for_directed_kernels(name, caught):
    statistic = largest_statistic(name, "polar", Conjugated(), 64, 3, seed=0)
    assert (statistic > THRESHOLD) == caught


@pytest.mark.parametrize("name", DIRECTED)
def test_jordan_atoms_are_the_atoms_of_the_jordan_measure(name):
    measure = make_kernel(name, 3).measure(3)
    asked = measure.atoms(N_ATOMS, "orthogonal", 5, decomposition="jordan")
    made = measure.jordan().atoms(N_ATOMS, "orthogonal", 5)
    np.testing.assert_array_equal(asked.frequencies, made.frequencies)
    np.testing.assert_array_equal(asked.weights, made.weights)
