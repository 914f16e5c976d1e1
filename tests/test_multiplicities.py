"""Equal training rows: a Nyström map fits them as often as the training rows contain them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from nystrom_cases import _name

from krein import Nystrom
from krein.features.cores import direct_core
from krein.features.multiplicities import Multiplicities
from krein.features.scores import row_scores
from krein.features.source import Source
from krein.kernels import DeltaGaussian, Gaussian, Precomputed, ShiftGaussian

KERNELS = [Gaussian(1.0), DeltaGaussian(1.0, 3.0), ShiftGaussian(1.0, 0.4)]


def _repeated(n_kinds: int, rng: np.random.Generator) -> np.ndarray:
    """Distinct rows of which a few are repeated often, in random order."""
    counts = np.where(np.arange(n_kinds) % 10, 1, 30)
    return rng.permutation(np.repeat(rng.standard_normal((n_kinds, 3)), counts, axis=0))


def _best(K, rank):
    U, values, Vt = np.linalg.svd(K)
    return (U[:, :rank] * values[:rank]) @ Vt[:rank]


@pytest.mark.parametrize("kernel", KERNELS, ids=_name)
def test_with_all_rows_as_landmarks_the_map_is_the_best_of_its_rank(kernel, rng):
    X = _repeated(60, rng)
    K = kernel(X)
    features = Nystrom(kernel, 12, landmarks="all", random_state=0).fit(X)
    assert len(features.landmarks_) == 60
    assert_allclose(features.approximate_kernel(X), _best(K, 12), atol=1e-8 * np.abs(K).max())


@pytest.mark.parametrize("kernel", KERNELS, ids=_name)
@pytest.mark.parametrize("rank", [10, 30])
def test_the_error_on_repeated_rows_is_near_the_best_one(kernel, rank, rng):
    X = _repeated(150, rng)
    K = kernel(X)
    best = np.linalg.norm(K - _best(K, rank))
    for seed in range(5):
        features = Nystrom(kernel, rank, random_state=seed).fit(X)
        assert np.linalg.norm(K - features.approximate_kernel(X)) < 1.6 * best


def test_distinct_rows_and_objects_of_a_matrix_have_the_weight_one(rng):
    X = rng.standard_normal((40, 2))
    twice = np.concatenate([X, X])
    sources = [
        Source(Gaussian(), X),
        Source(Gaussian(), twice),
        Source(Precomputed(), Gaussian()(twice)),
    ]
    for source in sources:
        assert_array_equal(Multiplicities.of(source, np.arange(25)).roots, 1)


@pytest.mark.parametrize("kernel", KERNELS, ids=_name)
def test_residuals_are_sums_over_all_rows_if_all_rows_are_probes(kernel, rng):
    source = Source(kernel, X := _repeated(30, rng))
    kinds = source.draws(0).kinds[0]
    landmarks, probes = kinds[:8], kinds[8:]
    core = direct_core(source, landmarks, 8, 1e-10)
    K = kernel(X)
    errors = np.square(K - K[:, landmarks] @ core.left @ core.right.T @ K[landmarks])
    if not kernel.is_symmetric:
        # The errors of both arguments, and the own value once.
        errors += errors.T
        errors[np.diag_indices_from(errors)] /= 2
    others = np.isin(source.kinds[1], source.kinds[1][probes])
    expected = errors[:, others].sum(axis=1)
    expected[~others] += np.diagonal(errors)[~others]
    found = row_scores(source, landmarks, core, probes).residual
    unit = max(np.abs(K[:, landmarks]).max(), np.abs(K[landmarks]).max())
    assert_allclose(found * unit**2, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("size", [20, 50])
def test_the_rows_of_a_sample_stand_for_all_rows(size, rng):
    # Each kind has the chance p and the weight w = c m / p, so the expected sum of the weights is
    # c times the number of rows. The draw without replacement has these chances nearly.
    X = _repeated(50, rng)
    source = Source(Gaussian(), X)
    sums = []
    for key in range(200):
        sample = source.draws(key).first(size, 0)
        weights = np.square(Multiplicities.of(source, sample).roots)
        often = np.bincount(source.kinds[1])[source.kinds[1][sample]] > 1
        sums.append(weights[often].sum() / weights.sum())
    assert_allclose(np.mean(sums), 150 / 195, atol=0.05)


def test_equal_pairs_are_counted_per_entry_of_the_diagonal():
    X = np.repeat(np.arange(4.0), [1, 1, 2, 4])[:, None]
    whole = Multiplicities.of(source := Source(Gaussian(), X), source.draws(0).kinds[0])
    assert_allclose(np.square(whole.roots), [1, 1, 2, 4])
    # m (m − 1) pairs of equal rows, in units of m² pairs of rows.
    assert_allclose(whole.equal, [0, 0, 1 / 2, 3 / 4])
