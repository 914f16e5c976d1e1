"""The first frequencies of the mixture: widths of Gaussian spectra that fit the pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein import MixtureFourier
from krein.kernels import TL1, Laplacian
from krein.samplers import IID
from krein.spectral.branch import (
    WIDTHS,
    draw_frequencies,
    memberships,
    signed_width_mixture,
    width_mixture,
)
from krein.spectral.likelihood import Pairs


def test_the_start_finds_the_widths_of_a_kernel():
    rng = np.random.default_rng(10)
    differences = rng.standard_normal((500, 4)) / 2
    squares = (differences**2).sum(axis=1)
    bells = np.exp(-np.outer(squares, WIDTHS**2) / 2)
    truth = np.zeros(len(WIDTHS))
    truth[[3, 9]] = 0.7, 0.3
    assert_allclose(width_mixture(Pairs(differences, bells @ truth), 1.0), truth, atol=1e-4)
    signed = signed_width_mixture(Pairs(differences, bells[:, 3] - bells[:, 9] / 2), 0.5)
    assert_allclose(signed.sum(axis=1) @ [1, -1], 0.5, atol=0.05)
    assert signed[1].sum() > 0.2
    assert not signed_width_mixture(Pairs(differences, 0 * squares), 0.0).any()


def test_first_frequencies_have_the_widths():
    rng = np.random.default_rng(11)
    masses = np.zeros(len(WIDTHS))
    masses[[0, -1]] = 1.0, 3.0
    found = draw_frequencies(masses, 400, 3, IID(), rng)
    norms = np.linalg.norm(found, axis=1)
    wide = norms > 10 * WIDTHS[0]
    assert abs(wide.sum() - 300) < 5
    assert_allclose(np.mean(norms[wide] ** 2), 3 * WIDTHS[-1] ** 2, rtol=0.2)
    assert np.all(draw_frequencies(0 * masses, 4, 3, IID(), rng).any(axis=1))
    assert_allclose(memberships(found, 5).sum(axis=0), 80)


# Random rows of ten columns have about the same distance from each other, so that wide spectra
# nearly vanish on all pairs.
KERNELS = [TL1(rho=7.0) / 7, Laplacian(5.0)]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_masses_are_at_most_the_value_at_zero(kernel):
    for seed in range(5):
        X = np.random.default_rng(seed).random((60, 10))
        left, right = np.triu_indices(60, 1)
        differences = X[left] - X[right]
        differences /= np.median(np.linalg.norm(differences, axis=1))
        masses = width_mixture(Pairs(differences, kernel(X)[left, right]), 1.0)
        assert 0.5 < masses.sum() < 1 + 1e-5


@pytest.mark.parametrize(("kernel", "seed"), [(KERNELS[0], 0), (KERNELS[1], 2)])
def test_rows_at_equal_distances_do_not_mislead_the_start(kernel, seed):
    X = np.random.default_rng(seed).random((360, 10))
    with pytest.warns(UserWarning, match="60 distinct rows, fewer than n_subsample"):
        features = MixtureFourier(kernel, 100, random_state=seed).fit(X[:60])
    wrong = features.approximate_kernel(X[60:]) - kernel(X[60:])
    np.fill_diagonal(wrong, 0)
    assert np.sqrt(np.mean(wrong**2)) < 0.02  # the values vary by 0.1
