"""Widths of columns that are learned from targets."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from krein.auto import relevance
from krein.auto.choice import choose_kernel
from krein.auto.relevance import Likelihood, _by_column, column_factors
from krein.kernels import Gaussian, Laplacian, Matern

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = np.stack([np.sin(X[:, 0]), X[:, 1] ** 2], axis=1)
WEIGHT = RNG.uniform(0.5, 2.0, 30)


def test_the_likelihood_has_the_gradient_of_central_differences():
    for kernel in (Gaussian(1.3), Matern(1.3, 0.5), Matern(1.3, 1.5), Laplacian(2.0)):
        value = Likelihood(X, Y - Y.mean(axis=0), WEIGHT, kernel)
        logs = np.array([0.2, -0.4, 0.1, -2.0])
        _, gradient = value(logs)
        steps = 1e-5 * np.eye(4)
        numeric = [(value(logs + h)[0] - value(logs - h)[0]) / 2e-5 for h in steps]
        assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-8)


def test_columns_that_do_not_matter_get_small_factors():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(150, 5))
    y = np.sin(2 * rows[:, :1]) + rows[:, 1:2] ** 2
    factors = column_factors(rows, y, np.ones(150), Gaussian(2.0))
    assert factors[:2].min() > 10 * factors[2:].max()
    choice = choose_kernel(rows, y, np.ones(150), None)
    assert choice.options[0].columns.factors is not None
    assert "lowers the loss" in str(choice)
    noise = choose_kernel(rows, rng.normal(size=(150, 1)), np.ones(150), None)
    assert [option.columns.factors for option in noise.options] == [None]


def test_a_compiled_loop_adds_up_the_same_differences(monkeypatch):
    logs = np.array([0.2, -0.4, 0.1, -2.0])
    value = Likelihood(X, Y - Y.mean(axis=0), WEIGHT, Laplacian(2.0))
    plain = value(logs)[1]
    monkeypatch.setattr(relevance, "COMPILED", 0)
    assert_allclose(value(logs)[1], plain, rtol=1e-10, atol=1e-12 * np.abs(plain).max())


@pytest.mark.parametrize("is_city", [False, True])
def test_sums_by_column_are_those_of_all_pairs(is_city):
    rng = np.random.default_rng(0)
    Z, M = rng.normal(size=(300, 3)), rng.normal(size=(300, 300))  # several blocks of rows
    M += M.T
    apart = np.abs(Z[:, None] - Z) ** (1 if is_city else 2)
    expected = np.einsum("ab,abj->j", M, apart)
    # Rounding errors of sums of 90,000 terms of either sign are in units of the sum of their sizes.
    size = np.abs(M).sum()
    assert_allclose(_by_column(Z, M, is_city), expected, rtol=0, atol=1e-14 * size)
