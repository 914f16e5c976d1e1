"""Algebra of measures: sums, multiples, products and atoms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from krein.kernels import CoshGaussian, Gaussian, ShiftGaussian, SinhGaussian
from krein.measures import Atoms, Measure, Normal, Part, Sphere, Student


@pytest.fixture
def pair():
    first = Measure([Part(Normal(3, 1.0), 2.0), Part(Sphere(3, 1.5), -0.5)], diameter=4.0, bias=0.1)
    second = Measure([Part(Student(3, 1.0, 3), 0.7)], diameter=3.0, bias=0.2)
    return first, second


def test_algebra_acts_on_the_kernels(pair, rng):
    first, second = pair
    D = rng.standard_normal((20, 3))
    k, g = first.kernel(D), second.kernel(D)
    assert_allclose((first + second).kernel(D), k + g)
    assert_allclose((first - second).kernel(D), k - g, atol=1e-15)
    assert_allclose((-first).kernel(D), -k)
    assert_allclose((3 * first).kernel(D), 3 * k)
    assert_allclose((first * -3.0).kernel(D), -3 * k)
    assert_allclose(first.convolve(second).kernel(D), k * g)
    assert_allclose(first.conj().kernel(D), k)


def test_algebra_keeps_masses_radii_and_biases(pair):
    first, second = pair
    assert_allclose([first.total_mass, second.total_mass], [2.5, 0.7])
    assert_allclose((first - second).total_mass, 3.2)
    assert_allclose((first * -3.0).total_mass, 7.5)
    assert_allclose(first.convolve(second).total_mass, 2.5 * 0.7)
    assert (first + second).diameter == first.convolve(second).diameter == 3.0
    assert_allclose([(first + second).bias, (first - second).bias, (first * -3).bias], 0.3)


def test_the_bias_of_a_product_bounds_its_error(pair):
    # k̂ = k + b and ĝ = g + c: the worst case of |k̂ĝ − kg| with |k̂|, |ĝ| at their masses.
    first, second = pair
    for b in (-first.bias, first.bias):
        for c in (-second.bias, second.bias):
            k, g = first.total_mass - b, second.total_mass - c
            error = abs(first.total_mass * second.total_mass - k * g)
            assert error <= first.convolve(second).bias + 1e-12


def test_measures_of_different_dimensions_do_not_mix():
    two, three = Gaussian().measure(2), Gaussian().measure(3)
    for operation in (lambda: two + three, lambda: two - three, lambda: two.convolve(three)):
        with pytest.raises(ValueError, match="dimension"):
            operation()


def test_measures_combine_with_numbers_and_measures_only(pair):
    first, _ = pair
    for operation in (lambda: first + 1, lambda: first - 1, lambda: first * "2"):
        with pytest.raises(TypeError):
            operation()
    with pytest.raises(ValueError, match="at least one part"):
        Measure([])


def test_atoms_are_a_measure(rng):
    weights = np.array([1.0, -0.5, 0.25j])
    atoms = Atoms(rng.standard_normal((3, 2)), weights)
    D = rng.standard_normal((4, 5, 2))
    expected = sum(
        (c * np.exp(1j * D @ w)).real for c, w in zip(weights, atoms.frequencies, strict=True)
    )
    assert_allclose(atoms(D), expected, atol=1e-14)
    assert len(atoms) == 3
    assert_allclose(atoms.total_mass, 1.75)
    with pytest.raises(ValueError, match="one weight per frequency, got 3 frequencies and 2"):
        Atoms(atoms.frequencies, weights[:2])


def test_zero_vectors_make_directed_kernels_symmetric():
    for kernel in (ShiftGaussian(1.0, 0.0), SinhGaussian(1.0, 0.0), CoshGaussian(1.0, 0.0)):
        measure = kernel.measure(3)
        assert_allclose(measure.total_mass, 1.0)
        assert measure.is_positive
        assert_array_equal(measure.atoms(4, rng=0).weights, np.full(4, 0.25))
