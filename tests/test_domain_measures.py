"""Measures of kernels on a range: least mass, extension by zero and refusals."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.special import hyp0f1
from scipy.stats import t as student

from krein.kernels import (
    TL1,
    ArcCosine,
    Custom,
    Epanechnikov,
    FromMeasure,
    Gaussian,
    GeodesicGaussian,
    Hellinger,
    Multiquadric,
    NeuralTangent,
    NoMeasureError,
    Polynomial,
    ShiftGaussian,
    Sigmoid,
    SphericalPolynomial,
    ThinPlateSpline,
)
from krein.kernels.profiles import Radial
from krein.measures import InfiniteMassError

# --- measures of least mass -----------------------------------------------------------------------

DOMAIN = [
    (SphericalPolynomial(2.0, 2), 16, 1.06),
    (SphericalPolynomial(2.0, 2), 1, 2.0),
    (Epanechnikov(1.0, 2), 3, 1.5),
    (Multiquadric(1.0, 1.0), 3, 2.0),
    (ThinPlateSpline(1.0), 8, 1.5),
    (GeodesicGaussian(1.0), 8, 1.9),
    (GeodesicGaussian(1.0), 1, 2.0),
    (Sigmoid(1.0, 0.0), 8, 2.0),
    (ArcCosine(0), 3, 1.41),
    (ArcCosine(1), 3, 1.41),
    (NeuralTangent(), 8, 1.41),
    (Hellinger(), 16, 1.4),
    (Polynomial(3, 1.0, 1.0), 8, 2.0),
]
DOMAIN_IDS = [f"{kernel!r}-d{dim}-R{diameter}" for kernel, dim, diameter in DOMAIN]


@lru_cache
def domain(index):
    kernel, dim, diameter = DOMAIN[index]
    return kernel.measure(dim, diameter)


def along_axis(z, dim):
    return np.outer(z, np.eye(dim)[0])


@pytest.mark.parametrize("index", range(len(DOMAIN)), ids=DOMAIN_IDS)
def test_domain_measure_is_within_its_bias_of_the_kernel(index):
    kernel, dim, diameter = DOMAIN[index]
    measure = domain(index)
    assert measure.diameter == diameter
    z = np.linspace(0, diameter, 1237)  # not the programme's Chebyshev grid
    target = kernel.radial_profile(z)
    error = np.abs(measure.kernel(along_axis(z, dim)) - target).max()
    assert error <= 1.02 * measure.bias  # 2 %: the peaks between the points of any grid
    assert measure.bias <= 1.01 * 0.1 * np.abs(target).max()  # the sweep's largest ε, on its grid
    assert measure.is_real


def coarse_least_mass(profile, dim, diameter, epsilon):
    """An independent programme: equidistant differences, other radii, and the dual problem."""
    z = np.linspace(0, diameter, 100)
    radii = np.concatenate([[0.0], np.geomspace(0.1, 80, 200)]) * np.sqrt(dim) / diameter
    waves = (
        np.cos(np.outer(z, radii)) if dim == 1 else hyp0f1(dim / 2, -(np.outer(z, radii) ** 2) / 4)
    )
    # The dual programme: the largest ⟨profile, y⟩ − ε‖y‖₁ with |⟨wave_j, y⟩| ≤ 1 for every radius.
    target = profile(z)
    result = linprog(
        np.concatenate([epsilon - target, epsilon + target]),
        A_ub=np.block([[waves.T, -waves.T], [-waves.T, waves.T]]),
        b_ub=np.ones(2 * len(radii)),
        method="highs-ipm",
    )
    assert result.success
    return -result.fun


@pytest.mark.parametrize("index", range(len(DOMAIN)), ids=DOMAIN_IDS)
def test_domain_measure_has_the_least_mass(index):
    kernel, dim, diameter = DOMAIN[index]
    measure, profile = domain(index), kernel.radial_profile
    largest = np.abs(profile(np.linspace(0, diameter, 1237))).max()
    assert measure.total_mass >= largest - 1.02 * measure.bias
    assert measure.total_mass <= 1.05 * coarse_least_mass(profile, dim, diameter, measure.bias)


def test_more_frequencies_ask_for_less_bias():
    kernel = SphericalPolynomial(2.0, 2)
    coarse, fine = (kernel.measure(8, 2.0, n_atoms=n) for n in (16, 10_000))
    assert fine.bias < coarse.bias
    assert fine.total_mass > coarse.total_mass


def test_domain_measure_is_the_kernel_of_unit_rows(rng):
    X = np.abs(rng.standard_normal((12, 16)))
    X /= np.linalg.norm(X, axis=1, keepdims=True)  # non-negative: no two rows beyond √2
    kernel = Hellinger()
    measure = domain([k == kernel for k, _, _ in DOMAIN].index(True))
    error = np.abs(FromMeasure(measure)(X) - kernel(X)).max()
    assert error <= 1.02 * measure.bias


# --- extension by zero ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cut():
    kernel = SphericalPolynomial(2.0, 3)
    return kernel, {j: kernel.measure(3, extension="zero", jacobian=j) for j in (True, False)}


def test_zero_extension_with_the_jacobian_is_the_kernel(cut):
    kernel, measures = cut
    z = np.linspace(0, 1.9, 60)
    values = measures[True].kernel(along_axis(z, 3))
    assert np.isfinite(measures[True].total_mass)
    assert_allclose(values, kernel.radial_profile(z), atol=2e-4)
    # Beyond the sphere's diameter it is zero, not the polynomial.
    assert_allclose(measures[True].kernel(along_axis(np.array([2.2, 2.6]), 3)), 0, atol=2e-4)


def test_zero_extension_without_the_jacobian_is_another_kernel(cut):
    kernel, measures = cut
    z = np.linspace(0, 1.9, 60)
    values = measures[False].kernel(along_axis(z, 3))
    assert_allclose(values[0], kernel.radial_profile(z)[0], rtol=1e-6)  # right at 0 only
    assert np.abs(values - kernel.radial_profile(z)).max() > 0.2


@pytest.mark.parametrize("jacobian", [True, False])
def test_atoms_of_the_zero_extension_are_unbiased_for_its_own_kernel(cut, jacobian):
    measure, n_seeds = cut[1][jacobian], 200
    differences = along_axis(np.linspace(0.1, 1.9, 7), 3)
    rng = np.random.default_rng(0)
    draws = np.stack([measure.atoms(16, "iid", rng)(differences) for _ in range(n_seeds)])
    error = draws.std(axis=0, ddof=1) / np.sqrt(n_seeds)
    threshold = student.isf(1e-4 / (2 * 7), n_seeds - 1)
    assert np.all(np.abs(draws.mean(axis=0) - measure.kernel(differences)) < threshold * error)


# --- refusals -------------------------------------------------------------------------------------


class Ball(Radial):
    """A jump at distance `sigma`."""

    def __init__(self, sigma=0.7):
        self.sigma = sigma

    def _profile(self, z):
        return (z < self.sigma).astype(float)


@pytest.mark.parametrize(
    ("kernel", "dim"),
    [
        (SphericalPolynomial(2.5, 2), 16),
        (SphericalPolynomial(2.5, 2), 1),
        (SphericalPolynomial(2.0, 2), 8),
        (SphericalPolynomial(2.0, 1), 3),
    ],
    ids=repr,
)
def test_zero_extension_of_infinite_mass_is_refused(kernel, dim):
    match = rf"beyond 2, .* infinite mass in dimension {dim}: .* Use extension='domain'"
    with pytest.raises(InfiniteMassError, match=match):
        kernel.measure(dim, extension="zero")


@pytest.mark.parametrize("dim", [4, 8])
def test_a_finite_mass_that_converges_slowly_is_not_called_infinite(dim):
    with pytest.raises(InfiniteMassError, match=r"slowly converging or .* for degree > dim/2"):
        SphericalPolynomial(2.0, dim // 2).measure(dim, extension="zero")
    kernel = SphericalPolynomial(2.0, dim // 2 + 1)
    z = np.linspace(0, 2, 9)
    found = kernel.measure(dim, extension="zero").kernel(z[:, None] * np.eye(1, dim))
    np.testing.assert_allclose(found, (1 - z**2 / 4) ** kernel.degree, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("kernel", "dim"),
    [
        (ArcCosine(0), 3),
        (ArcCosine(0), 8),
        (NeuralTangent(), 3),
        (NeuralTangent(), 8),
        (ArcCosine(1), 5),
        (ArcCosine(1), 8),
    ],
    ids=repr,
)
def test_a_singularity_at_the_antipode_is_refused(kernel, dim):
    match = r"No measure of finite mass .* singular .* Use a Nyström approximation"
    with pytest.raises(InfiniteMassError, match=match):
        kernel.measure(dim, diameter=2.0)


@pytest.mark.parametrize("dim", [1, 3, 8])
def test_a_jump_within_the_data_is_refused(dim):
    with pytest.raises(InfiniteMassError, match=r"Ball\(.* has a jump, .* on \[0, 1.5\]"):
        Ball(0.7).measure(dim, diameter=1.5)


def test_a_kernel_that_is_not_finite_is_refused():
    class Logarithm(Radial):
        def _profile(self, z):
            with np.errstate(divide="ignore"):
                return -np.log(z)

    with pytest.raises(InfiniteMassError, match=r"not finite on \[0, 1\]"):
        Logarithm().measure(3, diameter=1.0)


@pytest.mark.parametrize("kernel", [TL1(), Custom(np.dot)], ids=["TL1", "Custom"])
def test_a_kernel_without_a_measure_says_so_and_points_to_nystroem(kernel):
    with pytest.raises(NoMeasureError, match=r"has no spectral measure: .* Nyström"):
        kernel.measure(3)


def test_a_missing_or_bad_radius_is_refused():
    with pytest.raises(ValueError, match=r"Multiquadric.measure needs diameter"):
        Multiquadric().measure(3)
    for diameter in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="needs diameter to be a finite number above 0"):
            Multiquadric().measure(3, diameter)
    with pytest.raises(ValueError, match="extension to be one of 'domain', 'zero', got 'mirror'"):
        Multiquadric().measure(3, 1.0, extension="mirror")


def test_too_few_features_are_not_taken_for_an_infinite_mass():
    kernel = Polynomial(5, gamma=0.6, coef0=-0.7)
    with pytest.raises(ValueError, match=r"mostly noise: .* Use more features") as raised:
        kernel.measure(3, 1.7, n_atoms=2)
    assert not isinstance(raised.value, InfiniteMassError)
    z = np.linspace(0, 1.7, 100)[:, None]
    differences = np.concatenate([z, 0 * z, 0 * z], axis=1)
    found = kernel.measure(3, 1.7, n_atoms=10**6).kernel(differences)
    assert_allclose(found, kernel.radial_profile(z[:, 0]), atol=2e-3)


def test_a_product_with_a_directed_kernel_has_no_measure():
    with pytest.raises(NoMeasureError, match=r"not symmetric.* has no known .*: use krein.Nystrom"):
        (ShiftGaussian() * Gaussian()).measure(3)
