"""Real spherical harmonics: orthonormal, and they satisfy the addition theorem."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rounding import assert_rounded
from scipy.special import sph_harm_y

import krein
from krein.measures import legendre, n_harmonics
from krein.spherical import area, degrees, harmonics


def _sphere(n, dim, rng):
    X = rng.standard_normal((n, dim))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize(("dim", "top"), [(3, 100), (4, 30), (5, 12), (10, 5)])
def test_addition_theorem(dim, top, rng):
    X = _sphere(30, dim, rng)
    # The poles of each coordinate, where the radii of the first coordinates vanish.
    X[:dim], X[dim : 2 * dim] = np.eye(dim), -np.eye(dim)
    Y, which = harmonics(X, top), degrees(dim, top)
    expected = legendre(dim, top, np.clip(X @ X.T, -1, 1))
    for degree in range(top + 1):
        block = Y[:, which == degree]
        assert block.shape[1] == n_harmonics(dim, degree)
        scale = n_harmonics(dim, degree) / area(dim)
        assert np.abs(block @ block.T - scale * expected[degree]).max() <= 1e-11 * scale


def test_harmonics_are_orthonormal_by_quadrature():
    top = 12
    nodes, weights = np.polynomial.legendre.leggauss(top + 1)
    angles = 2 * np.pi * np.arange(2 * top + 1) / (2 * top + 1)
    z, phi = (grid.ravel() for grid in np.meshgrid(nodes, angles, indexing="ij"))
    X = np.column_stack([np.sqrt(1 - z**2) * np.cos(phi), np.sqrt(1 - z**2) * np.sin(phi), z])
    measure = np.repeat(weights, len(angles)) * 2 * np.pi / len(angles)
    Y = harmonics(X, top)
    assert_allclose(Y.T @ (measure[:, None] * Y), np.eye(Y.shape[1]), atol=1e-12)


def test_harmonics_of_three_dimensions_are_those_of_scipy(rng):
    X = _sphere(20, 3, rng)
    theta, phi = np.arccos(X[:, 2]), np.arctan2(X[:, 1], X[:, 0])
    Y = harmonics(X, 5)[:, degrees(3, 5) == 5]
    for m in range(1, 6):
        theirs = np.sqrt(2) * (-1) ** m * sph_harm_y(5, m, theta, phi)
        assert_allclose(np.abs(Y[:, 2 * m - 1]), np.abs(theirs.real), atol=1e-12)
        assert_allclose(np.abs(Y[:, 2 * m]), np.abs(theirs.imag), atol=1e-12)


@pytest.mark.parametrize("dim", [3, 6])
def test_a_larger_degree_adds_columns_and_a_block_of_rows_changes_nothing(dim, rng, monkeypatch):
    X = _sphere(50, dim, rng)
    low, high = harmonics(X, 3), harmonics(X, 5)
    assert_rounded(high[:, : low.shape[1]], low)
    monkeypatch.setattr(krein.spherical, "row_blocks", lambda n, size: [slice(0, 7), slice(7, n)])
    assert_rounded(harmonics(X, 5), high)
    single = harmonics(X.astype(np.float32), 5)
    assert single.dtype == np.float32
    assert_allclose(single, high, atol=1e-5)


def test_refusals(rng, monkeypatch):
    X = _sphere(10, 3, rng)
    with pytest.raises(ValueError, match="row 4 has norm 2"):
        harmonics(np.where(np.arange(10)[:, None] == 4, 2.0, 1.0) * X, 3)
    with pytest.raises(ValueError, match="at least 3 columns"):
        harmonics(_sphere(10, 2, rng), 3)
    with pytest.raises(ValueError, match="needs max_degree to be a whole number"):
        harmonics(X, -1)
    with pytest.raises(ValueError, match=r"take at most 4 GB, got 100000\."):
        harmonics(X, 100_000)


def test_area_of_known_spheres():
    assert_allclose([area(2), area(3), area(4)], [2 * np.pi, 4 * np.pi, 2 * np.pi**2])
