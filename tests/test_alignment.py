"""The alignment of kernels and feature maps with classes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import krein
from krein.kernels import Gaussian


@pytest.fixture
def data(rng):
    X = rng.standard_normal((60, 3))
    return X, np.where(X[:, 0] + 0.3 > 0, "a", "b")


def test_two_classes_are_plus_and_minus_one(data):
    X, labels = data
    K, y = Gaussian()(X), np.where(labels == "a", 1.0, -1.0)
    expected = y @ K @ y / (60 * np.linalg.norm(K))
    assert_allclose(krein.alignment(Gaussian(), X, labels), expected)


def test_a_kernel_is_aligned_with_its_own_classes(data):
    _, labels = data
    y = np.where(labels == "a", 1.0, -1.0)
    same = krein.kernels.Precomputed()
    assert_allclose(krein.alignment(same, np.outer(y, y), labels), 1)
    three = np.arange(60) % 3
    T = np.where(three[:, None] == three, 1.0, -0.5)
    assert_allclose(krein.alignment(same, T, three), 1)
    assert_allclose(krein.alignment(same, -T, three), -1)


@pytest.mark.parametrize("factor", [-3.0, 1e-200, 1e200])
def test_the_unit_of_the_kernel_does_not_matter(data, factor):
    sign = np.sign(factor)
    for centered in (False, True):
        expected = sign * krein.alignment(Gaussian(), *data, centered=centered)
        assert_allclose(krein.alignment(factor * Gaussian(), *data, centered=centered), expected)


def test_centring_removes_constants(data):
    X, labels = data
    K = Gaussian()(X)
    H = np.eye(60) - 1 / 60
    y = np.where(labels == "a", 1.0, -1.0)
    Kc, Tc = H @ K @ H, H @ np.outer(y, y) @ H
    expected = np.sum(Kc * Tc) / (np.linalg.norm(Kc) * np.linalg.norm(Tc))
    same = krein.kernels.Precomputed()
    for shift in (0.0, 5.0):
        assert_allclose(krein.alignment(same, K + shift, labels, centered=True), expected)
    assert krein.alignment(same, np.ones((60, 60)), labels, centered=True) == 0


def test_a_learned_map_is_better_aligned_than_a_random_one(rng):
    X = rng.uniform(-1, 1, (300, 2))
    y = np.sin(9 * X[:, 0]) > 0
    learned = krein.NotSoRandomFeatures(4, band=20.0, game=False, random_state=0).fit(X, y)
    drawn = krein.RandomFourier(Gaussian(0.3), 4, random_state=0).fit(X)
    assert krein.alignment(learned, X, y) > krein.alignment(drawn, X, y) + 0.2
    assert_allclose(krein.alignment(learned, X, y), krein.alignment(learned.kernel_, X, y))


def test_refusals(data):
    X, y = data
    with pytest.raises(ValueError, match="alignment needs at least 2 classes"):
        krein.alignment(Gaussian(), X, np.ones(60))
    with pytest.raises(ValueError, match="one class for each of the 60 rows, got 10"):
        krein.alignment(Gaussian(), X, y[:10])
    with pytest.raises(ValueError, match="Unknown label type"):
        krein.alignment(Gaussian(), X, X[:, 0])
    for wrong, cure in (
        ("rbf", r"Gaussian\(sigma=1.0\)"),
        (lambda x, y: 1.0, r"Pairwise\(f\)"),
        ("precomputed", r"Precomputed\(\) for a matrix"),
        (None, "fitted feature map, got None"),
    ):
        with pytest.raises(ValueError, match=f"alignment needs kernel.*{cure}"):
            krein.alignment(wrong, X, y)
