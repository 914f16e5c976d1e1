"""Measures on the sphere: Legendre polynomials of the dimension, masses per degree, atoms."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import chebyt, gegenbauer
from scipy.stats import t as student

from krein.kernels import (
    TL1,
    ArcCosine,
    Gaussian,
    GeodesicGaussian,
    NeuralTangent,
    NoMeasureError,
    Polynomial,
    Sigmoid,
)
from krein.measures import GegenbauerMeasure, legendre, n_harmonics

KERNELS = [
    ArcCosine(0),
    ArcCosine(1),
    NeuralTangent(),
    Sigmoid(2.0, -1.0),
    Polynomial(3, 1.0, 0.5),
    GeodesicGaussian(1.0),
]


# --- polynomials ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [2, 3, 5, 10])
def test_legendre_is_the_normalised_gegenbauer_polynomial(dim):
    t = np.linspace(-1, 1, 41)
    values = legendre(dim, 12, t)
    assert values.shape == (13, 41)
    for degree in range(13):
        # The index (d − 2)/2 is 0 in the plane, where the limit is Chebyshev's polynomial.
        oracle = chebyt(degree) if dim == 2 else gegenbauer(degree, (dim - 2) / 2)
        assert_allclose(values[degree], oracle(t) / oracle(1.0), atol=1e-11)


@pytest.mark.parametrize("dim", [2, 3, 16, 100])
def test_legendre_is_one_at_one_and_bounded(dim):
    t = np.linspace(-1, 1, 2001)
    values = legendre(dim, 40, t)
    assert_allclose(values[:, -1], 1.0, atol=1e-10)
    assert_allclose(values[:, 0], (-1.0) ** np.arange(41), atol=1e-10)
    assert np.abs(values).max() <= 1 + 1e-10


@pytest.mark.parametrize("top", [0, 1])
def test_legendre_of_low_degree_is_the_constant_and_the_identity(top):
    assert_array_equal(legendre(5, top, np.array([0.3])), [[1.0], [0.3]][: top + 1])


def test_legendre_keeps_single_precision_and_takes_whole_numbers():
    assert legendre(3, 4, np.zeros(3, dtype=np.float32)).dtype == np.float32
    assert_allclose(legendre(3, 2, np.array([0, 1, -1]))[2], [-0.5, 1.0, 1.0])


def monomials(dim, degree):
    return sum(1 for _ in combinations_with_replacement(range(dim), degree)) if degree >= 0 else 0


@pytest.mark.parametrize("degree", range(7))
@pytest.mark.parametrize("dim", [2, 3, 4, 6])
def test_harmonics_are_monomials_less_those_divisible_by_the_square(dim, degree):
    assert n_harmonics(dim, degree) == monomials(dim, degree) - monomials(dim, degree - 2)


def test_harmonics_of_known_spheres():
    assert [n_harmonics(1, degree) for degree in range(4)] == [1, 1, 0, 0]  # two points
    assert [n_harmonics(2, degree) for degree in range(4)] == [1, 2, 2, 2]
    assert [n_harmonics(3, degree) for degree in range(4)] == [1, 3, 5, 7]


def sphere_grid(n):
    """Nodes and weights on S² that integrate polynomials of degree < 2n exactly."""
    height, weights = np.polynomial.legendre.leggauss(n)
    angle = 2 * np.pi * np.arange(2 * n) / (2 * n)
    ring = np.sqrt(1 - height**2)
    nodes = np.stack(
        [
            np.outer(ring, np.cos(angle)),
            np.outer(ring, np.sin(angle)),
            np.outer(height, np.ones(2 * n)),
        ],
        axis=-1,
    )
    return nodes.reshape(-1, 3), np.repeat(weights / 2, 2 * n) / (2 * n)


def test_mean_product_of_two_polynomials_is_the_reproducing_identity(rng):
    # E P_l(<x, w>) P_m(<w, y>) = [l = m] P_l(<x, y>) / N(3, l), exactly.
    top = 9
    nodes, weights = sphere_grid(top + 1)
    x, y = rng.standard_normal((2, 3))
    x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    left, right = legendre(3, top, nodes @ x), legendre(3, top, nodes @ y)
    means = np.einsum("ln,mn,n->lm", left, right, weights)
    counts = [n_harmonics(3, degree) for degree in range(top + 1)]
    expected = legendre(3, top, np.array(x @ y)) / counts
    assert_allclose(means, np.diag(expected), atol=1e-13)


# --- measures -------------------------------------------------------------------------------------


@lru_cache
def zonal(index, dim, lowest):
    return KERNELS[index].zonal_measure(dim, lowest)


@pytest.mark.parametrize("lowest", [-1.0, 0.2])
@pytest.mark.parametrize("dim", [3, 8, 16])
@pytest.mark.parametrize("index", range(len(KERNELS)), ids=map(repr, KERNELS))
def test_zonal_measure_is_within_its_bias_of_the_kernel(index, dim, lowest):
    measure, profile = zonal(index, dim, lowest), KERNELS[index].zonal_profile
    u = np.linspace(lowest, 1, 2503)  # not the programme's Chebyshev grid
    assert measure.dim == dim
    assert measure.lowest == lowest
    error = np.abs(measure.kernel(u) - profile(u)).max()
    assert error <= 1.02 * measure.bias  # 2 %: the peaks between the points of any grid
    assert measure.bias <= 1.01 * 0.1 * np.abs(profile(u)).max()  # the sweep's largest ε
    assert measure.total_mass >= np.abs(profile(u)).max() - 1.02 * measure.bias
    assert_allclose(measure.total_mass, np.abs(measure.coefficients).sum())


def test_zonal_measure_is_the_kernel_of_two_rows(rng):
    X = rng.standard_normal((12, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for index, kernel in enumerate(KERNELS):
        measure = zonal(index, 8, -1.0)
        products = np.clip(X @ X.T, -1, 1)
        assert np.abs(measure.kernel(products) - kernel(X)).max() <= 1.02 * measure.bias


@pytest.mark.parametrize("index", [0, 1, 2], ids=["arc-cosine 0", "arc-cosine 1", "NTK"])
@pytest.mark.parametrize("dim", [3, 8])
def test_positive_definite_kernels_carry_no_more_than_their_own_mass(index, dim):
    # All coefficients of these kernels are positive, so k(1) is a mass that suffices.
    measure = zonal(index, dim, -1.0)
    assert measure.total_mass <= KERNELS[index].zonal_profile(np.ones(1))[0] + measure.bias + 1e-9


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_in_dimension_one_the_sphere_is_two_points_and_the_measure_is_exact(kernel):
    # S⁰ = {−1, 1}: k(1) and k(−1) are λ₀ ± λ₁ for every kernel whatsoever.
    measure = kernel.zonal_measure(1)
    u = np.array([-1.0, 1.0])
    assert_allclose(measure.kernel(u), kernel.zonal_profile(u), atol=1e-6)


def test_a_kernel_that_is_no_function_of_the_product_is_refused():
    with pytest.raises(NoMeasureError, match=r"TL1.* not a function of ⟨x, y⟩.* Nyström"):
        TL1().zonal_measure(3)


# --- algebra --------------------------------------------------------------------------------------


def test_algebra_acts_on_the_kernels():
    first = GegenbauerMeasure(4, [1.0, -0.5, 0.25], lowest=-0.5, bias=0.1)
    second = GegenbauerMeasure(4, [0.0, 2.0], lowest=-1.0, bias=0.2)
    u = np.linspace(-0.5, 1, 9)
    total, difference = first + second, first - second
    assert_allclose(total.kernel(u), first.kernel(u) + second.kernel(u), atol=1e-14)
    assert_allclose(difference.kernel(u), first.kernel(u) - second.kernel(u), atol=1e-14)
    assert_allclose((3 * first).kernel(u), 3 * first.kernel(u), atol=1e-14)
    assert_allclose((first * -3).coefficients, -3 * first.coefficients)
    assert (total.lowest, difference.lowest) == (-0.5, -0.5)
    assert_allclose([total.bias, difference.bias, (first * -3).bias], [0.3, 0.3, 0.3])
    assert_allclose([first.total_mass, total.total_mass], [1.75, 2.75])


def test_signs_and_degrees():
    assert GegenbauerMeasure(3, [1.0, 0.0, 2.0]).is_positive
    signed = GegenbauerMeasure(3, [1.0, 0.0, -2.0, 0.5])
    assert not signed.is_positive
    assert signed.is_real
    assert_array_equal(signed.degrees(), [0, 2, 3])
    assert_array_equal(signed.degrees(3), [3])
    assert "signed measure on S^2" in repr(signed)


def test_measures_on_different_spheres_do_not_add():
    with pytest.raises(ValueError, match="dimension"):
        GegenbauerMeasure(3, [1.0, 0.5]) + GegenbauerMeasure(5, [1.0, 0.5])


# --- atoms ----------------------------------------------------------------------------------------


def estimates(atoms, pairs):
    """The kernel that zonal atoms stand for at pairs of rows, shape (n_pairs, 2, dim)."""
    dim = atoms.frequencies.shape[1]
    values = legendre(dim, int(atoms.degrees.max()), pairs @ atoms.frequencies.T)
    chosen = np.take_along_axis(values, atoms.degrees[None, None, None], axis=0)[0]
    return (chosen[:, 0] * chosen[:, 1]) @ atoms.weights


N_SEEDS = 300
PAIRS = 4
CASES = [
    (sampler, dim, n, aimed)
    for sampler in ("iid", "orthogonal", "qmc")
    for dim in (2, 3, 8)
    for n, aimed in ((2, False), (12, False), (12, True))
]


@pytest.mark.parametrize(("sampler", "dim", "n", "aimed"), CASES)
def test_zonal_atoms_are_unbiased(sampler, dim, n, aimed):
    # n = 2 is fewer than the degrees with mass: the degrees themselves are drawn. With data the
    # directions are aimed at them, for all rows and not only for those data.
    measure = GegenbauerMeasure(dim, [0.3, -0.5, 0.0, 0.6, -0.2])
    points = np.random.default_rng(1).standard_normal((PAIRS, 2, dim))
    points /= np.linalg.norm(points, axis=2, keepdims=True)
    cone = np.eye(dim)[:1] + 0.3 * np.random.default_rng(2).standard_normal((20, dim))
    X = cone / np.linalg.norm(cone, axis=1, keepdims=True) if aimed else None
    rng = np.random.default_rng([dim, n, aimed])
    draws = np.array(
        [
            estimates(atoms, points)
            for atoms in (measure.atoms(n, sampler, rng, X=X) for _ in range(N_SEEDS))
        ]
    )
    exact = measure.kernel(np.einsum("pd,pd->p", points[:, 0], points[:, 1]))
    error = draws.std(axis=0, ddof=1) / np.sqrt(N_SEEDS)
    threshold = student.isf(1e-3 / (2 * PAIRS * len(CASES)), N_SEEDS - 1)
    assert np.all(np.abs(draws.mean(axis=0) - exact) < threshold * error + 1e-12)


@pytest.mark.parametrize("dim", [3, 8])
@pytest.mark.parametrize("allocation", ["neyman", "equal"])
def test_zonal_atoms_are_unit_vectors_with_the_right_weights(allocation, dim):
    coefficients = np.array([0.3, -0.5, 0.0, 0.6])
    for sampler in ("iid", "orthogonal", "qmc"):
        measure = GegenbauerMeasure(dim, coefficients)
        atoms = measure.atoms(30, sampler, 3, allocation=allocation)
        assert atoms.frequencies.shape == (30, dim)
        assert_allclose(np.linalg.norm(atoms.frequencies, axis=1), 1.0, rtol=1e-12)
        assert set(atoms.degrees) == {0, 1, 3}
        for degree in (0, 1, 3):
            total = atoms.weights[atoms.degrees == degree].sum()
            assert_allclose(total, coefficients[degree] * n_harmonics(dim, degree))


def test_low_degrees_can_be_left_to_exact_features():
    measure = GegenbauerMeasure(4, [0.3, 0.5, 0.2, 0.1])
    assert set(measure.atoms(20, rng=0, lowest_degree=2).degrees) == {2, 3}
    assert len(GegenbauerMeasure(4, [0.3, 0.5]).atoms(20, rng=0, lowest_degree=2)) == 0


def test_atoms_in_dimension_one_are_exact():
    atoms = GegenbauerMeasure(1, [0.2, 0.5]).atoms(6, "iid", 0)
    pairs = np.array([[[-1.0], [-1.0]], [[-1.0], [1.0]], [[1.0], [1.0]]])
    assert_allclose(estimates(atoms, pairs), [0.7, -0.3, 0.7], atol=1e-14)


@pytest.mark.parametrize("name", ["importance", "leverage", "rejection"])
def test_samplers_that_need_more_than_directions_are_refused(name):
    with pytest.raises(ValueError, match="use sampler='orthogonal', 'qmc' or 'iid'"):
        GegenbauerMeasure(3, [1.0, 0.5]).atoms(5, name, 0)


def test_zonal_atoms_are_no_function_of_a_difference():
    atoms = GegenbauerMeasure(3, [1.0, 0.5]).atoms(5, rng=0)
    with pytest.raises(TypeError, match="two points"):
        atoms(np.zeros(3))


def test_a_radial_kernel_has_a_zonal_measure_too():
    measure = Gaussian(1.0).zonal_measure(5)
    u = np.linspace(-1, 1, 501)
    assert np.abs(measure.kernel(u) - np.exp(u - 1)).max() <= 1.02 * measure.bias
