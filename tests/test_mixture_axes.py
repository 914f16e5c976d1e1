"""The coordinates in which the frequencies of wide rows are inferred."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from krein.spectral.axes import SHARE, Columns, principal_axes
from krein.spectral.covariances import Diagonal, Full


def low_rank(rng, n=60, dim=150, rank=4):
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, dim))


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_axes_are_orthonormal_and_hold_their_share(unit):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 150)) * np.arange(1, 151) ** -1.0
    axes = principal_axes(unit * X)
    assert isinstance(axes.covariances, Diagonal)
    assert_allclose(axes.directions @ axes.directions.T, np.eye(axes.dim), atol=1e-10)
    gaps = X - X.mean(axis=0)
    kept = [np.sum(np.square(gaps @ axes.directions[:n].T)) for n in (axes.dim, axes.dim - 1)]
    assert kept[1] < SHARE * np.sum(gaps**2) * (1 + 1e-6) <= kept[0] * (1 + 2e-6)


def test_rows_of_low_rank_lose_nothing():
    X = low_rank(np.random.default_rng(1))
    axes = principal_axes(X)
    assert axes.dim <= 4
    gaps = X - X.mean(axis=0)
    lost = gaps - axes.embedded(axes.coordinates(gaps))
    assert np.sum(lost**2) <= (1 - SHARE) * np.sum(gaps**2) * (1 + 1e-6)


def test_a_few_outliers_do_not_choose_the_axes():
    X = low_rank(np.random.default_rng(2))
    X[0] += 1e8
    gaps = X[1:] - X[1:].mean(axis=0)
    axes = principal_axes(X)
    lost = gaps - axes.embedded(axes.coordinates(gaps))
    assert np.sum(lost**2) < 0.05 * np.sum(gaps**2)


def test_constant_columns_and_repeated_rows():
    X = low_rank(np.random.default_rng(3))
    X[:, 7], X[:40] = 5.0, X[0]
    axes = principal_axes(X)
    assert not axes.directions[:, 7].any()
    assert np.all(np.isfinite(axes.directions))
    assert principal_axes(X[39:41]).dim == 1


@pytest.mark.parametrize(("dim", "form"), [(100, Full), (101, Diagonal)])
def test_columns_are_their_own_coordinates(dim, form):
    axes, x = Columns(dim), np.ones((2, dim))
    assert isinstance(axes.covariances, form)
    assert axes.dim == dim
    assert axes.directions is None
    assert_array_equal(axes.coordinates(x), x)
    assert_array_equal(axes.embedded(x), x)
