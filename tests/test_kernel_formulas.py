"""Kernels of vectors: every formula against a scalar twin, and what is known of its sign."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from kernel_twins import TWINS, VECTOR, name, rows
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded
from scipy.integrate import quad
from scipy.linalg import null_space
from scipy.spatial.distance import cdist
from scipy.stats import gamma as gamma_law
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel, sigmoid_kernel

from krein._blocks import row_blocks
from krein.kernels import (
    TL1,
    ArcCosine,
    Cauchy,
    Constant,
    CoshGaussian,
    DeltaGaussian,
    Epanechnikov,
    Gaussian,
    GaussianCombination,
    GeodesicGaussian,
    Laplacian,
    Matern,
    Multiquadric,
    NeuralTangent,
    Polynomial,
    RectifiedSigmoid,
    ShiftGaussian,
    Sigmoid,
    SinhGaussian,
    SphericalPolynomial,
    ThinPlateSpline,
)
from krein.testing import check_kernel


@pytest.mark.parametrize(("kernel", "twin", "kind"), TWINS, ids=name)
def test_kernel_equals_its_scalar_formula(kernel, twin, kind):
    check_kernel(kernel, twin, rows(kind, 7, 1), rows(kind, 5, 2))


@pytest.mark.parametrize(("kernel", "twin", "kind"), TWINS, ids=name)
def test_values_do_not_depend_on_the_blocks(kernel, twin, kind, monkeypatch):
    X, Y = rows(kind, 40, 1), rows(kind, 9, 2)
    whole, square = kernel(X, Y), kernel(X)
    steps = []

    def three_rows_each(n_rows, bytes_per_row, budget):
        for block in row_blocks(n_rows, bytes_per_row, 3 * bytes_per_row):
            steps.append(block.stop - block.start)
            yield block

    monkeypatch.setattr("krein.kernels.base.row_blocks", three_rows_each)
    assert_allclose(kernel(X, Y), whole, rtol=1e-9, atol=1e-12)
    assert_allclose(kernel(X), square, rtol=1e-9, atol=1e-12)
    assert steps == 2 * ([3] * 13 + [1])


def test_row_blocks_cover_all_rows_once_and_keep_the_budget():
    for n, width, budget in [(0, 8, 64), (1, 8, 64), (10, 8, 24), (10, 80, 8), (7, 0, 3)]:
        blocks = list(row_blocks(n, width, budget))
        assert [i for block in blocks for i in range(block.start, block.stop)] == list(range(n))
        assert all(b.stop - b.start == 1 or (b.stop - b.start) * width <= budget for b in blocks)
        assert all(a.stop == b.start for a, b in pairwise(blocks))


def test_a_matrix_of_many_blocks_equals_a_direct_formula(rng):
    X, Y = rng.standard_normal((1500, 4)), rng.standard_normal((1100, 4))
    assert X.shape[0] * Y.shape[0] * 8 > 3 * 4 * 2**20  # several blocks by default
    assert_allclose(Cauchy(2.0)(X, Y), 1 / (1 + cdist(X, Y, "sqeuclidean") / 4), rtol=1e-10)
    shifted = np.exp(-cdist(X + 0.2, Y, "sqeuclidean") / 2)
    assert_allclose(ShiftGaussian(1.0, 0.2)(X, Y), shifted, rtol=1e-9)


# --- other people's implementations -----------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "other"),
    [
        (Gaussian(0.7), lambda X, Y: rbf_kernel(X, Y, gamma=1 / (2 * 0.7**2))),
        (Laplacian(0.7), lambda X, Y: laplacian_kernel(X, Y, gamma=1 / 0.7)),
        (Sigmoid(0.3, -0.2), lambda X, Y: sigmoid_kernel(X, Y, gamma=0.3, coef0=-0.2)),
        (
            Polynomial(3, 0.3, 0.7),
            lambda X, Y: polynomial_kernel(X, Y, degree=3, gamma=0.3, coef0=0.7),
        ),
        *[
            (Matern(0.9, nu), SklearnMatern(length_scale=0.9, nu=nu))
            for nu in (0.5, 0.7, 1.5, 2.5, 7.3, 40.0)
        ],
    ],
    ids=name,
)
def test_kernel_equals_scikit_learns(kernel, other):
    X, Y = rows("any", 30, 3), rows("any", 20, 4)
    assert_allclose(kernel(X, Y), other(X, Y), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("nu", [0.3, 30.0, 200.0, 1000.0])
@pytest.mark.parametrize("z", [1e-8, 1e-3, 0.1, 1.0, 3.0])
def test_matern_is_its_mixture_of_gaussians_for_small_and_large_nu(nu, z):
    # A Student-t frequency is a Gaussian one over √(g/ν), g ~ Gamma(ν): k(z) = E exp(−z²ν/2g).
    # The integral runs over log g, where the integrand is smooth.
    ends = np.log(gamma_law.ppf([1e-18, 0.1, 0.5, 0.9], nu))
    top = np.log(gamma_law.isf(1e-18, nu))

    def integrand(s):
        return np.exp(gamma_law.logpdf(np.exp(s), nu) + s - z**2 * nu / 2 * np.exp(-s))

    pieces = pairwise([*ends, top])
    expected = sum(quad(integrand, a, b, epsabs=1e-13, limit=200)[0] for a, b in pieces)
    assert_allclose(Matern(2.0, nu)([[0.0]], [[2 * z]]), expected, rtol=1e-8)


def test_matern_tends_to_the_gaussian_as_nu_grows():
    X = rows("any", 20, 5)
    gaps = [np.abs(Matern(1.0, nu)(X) - Gaussian(1.0)(X)).max() for nu in (10.0, 100.0, 1000.0)]
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.2)  # the gap is of order 1/ν
    assert gaps[1] / gaps[2] == pytest.approx(10, rel=0.2)


def test_arc_cosine_and_tangent_kernels_are_infinitely_wide_networks():
    # Units wᵢ ~ N(0, I): k₀ = 2 E[1(w·x>0) 1(w·y>0)], k₁ = 2 E[relu(w·x) relu(w·y)], and the
    # tangent kernel adds the gradients of both layers. 45 two-sided comparisons at 5.5 standard
    # errors: false alarm 45 · 3.8e-8 < 2e-6.
    X = rows("unit", 6, 6)
    W = np.random.default_rng(7).standard_normal((100_000, 3))
    before = W @ X.T
    on, out = (before > 0).astype(float), np.maximum(before, 0)
    kernels = ArcCosine(0)(X), ArcCosine(1)(X), NeuralTangent()(X)
    for i in range(6):
        for j in range(i):
            step, relu = 2 * on[:, i] * on[:, j], 2 * out[:, i] * out[:, j]
            gradients = relu + (X[i] @ X[j]) * step
            for samples, matrix in zip((step, relu, gradients), kernels, strict=True):
                error = samples.std() / np.sqrt(len(samples))
                assert error < 0.01
                assert abs(samples.mean() - matrix[i, j]) < 5.5 * error


@pytest.mark.parametrize("beta", [0.3, VECTOR], ids=["number", "vector"])
def test_cosh_gaussian_is_a_multiple_of_the_shift_gaussian(beta):
    X, Y, sigma = rows("any", 8, 1), rows("any", 6, 2), 1.3
    b = np.broadcast_to(beta, 3)
    shift = ShiftGaussian(sigma, -(sigma**2) * b)
    scale = np.exp(sigma**2 * (b @ b) / 2)
    assert_allclose(CoshGaussian(sigma, beta)(X, Y), scale * shift(X, Y), rtol=1e-10)


@pytest.mark.parametrize("make", [ShiftGaussian, SinhGaussian, CoshGaussian])
def test_a_number_stands_for_all_coordinates_of_the_vector(make):
    X = rows("any", 8, 1)
    assert_allclose(make(1.3, 0.4)(X), make(1.3, np.full(3, 0.4))(X), rtol=1e-14)


def test_shift_gaussian_at_zero_distance_is_not_one():
    assert_allclose(ShiftGaussian(2.0, VECTOR).diag(np.ones((2, 3))), np.exp(-VECTOR @ VECTOR / 8))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [ShiftGaussian, SinhGaussian, CoshGaussian])
def test_asymmetric_kernels_vanish_for_rows_far_apart(make, dtype):
    # e^{β·Δ} overflows on its own, but the Gaussian wins: exp(−1000²/2 + 1000) = 0.
    X, Y = np.array([[1000.0]], dtype), np.array([[0.0]], dtype)
    assert_array_equal([make(1.0, 1.0)(X, Y), make(1.0, 1.0)(Y, X)], np.zeros((2, 1, 1)))


# --- signs ------------------------------------------------------------------------------------


def form_on(matrix, directions):
    """Eigenvalues of the quadratic form of `matrix` on vectors orthogonal to `directions`."""
    basis = null_space(directions.T)
    return np.linalg.eigvalsh(basis.T @ matrix @ basis)


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_minus_multiquadric_is_conditionally_definite_of_order_one(dim, sigma, rng):
    X = rng.uniform(-2, 2, (25, dim))
    kernel = Multiquadric(sigma, 0.3)
    K = kernel(X)
    assert np.linalg.eigvalsh(K)[-1] > 1  # not definite without the condition
    assert form_on(K, np.ones((25, 1)))[-1] < 1e-12 * np.abs(K).max()


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("sigma", [0.5, 10.0])
def test_thin_plate_spline_is_conditionally_definite_of_order_two(dim, sigma, rng):
    X = rng.uniform(-2, 2, (25, dim))
    kernel = ThinPlateSpline(sigma)
    K = kernel(X)
    constants, linear = np.ones((25, 1)), np.column_stack([np.ones(25), X])
    assert form_on(K, linear)[0] > 0
    orders = [form_on(K, constants), form_on(ThinPlateSpline(0.5)(X), constants)]
    assert min(values[0] for values in orders) < -1e-3  # order 1 is not enough


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(0.7),
        Laplacian(),
        Matern(1.0, 0.5),
        Matern(1.0, 1.5),
        Cauchy(),
        Polynomial(2),
        Polynomial(5, 0.5, 0.0),
        SphericalPolynomial(2.0, 2),
        SphericalPolynomial(np.sqrt(2), 3),
        SphericalPolynomial(3.0, 4),
        ArcCosine(0),
        ArcCosine(1),
        NeuralTangent(),
        Constant(2.0),
    ],
    ids=name,
)
@pytest.mark.parametrize("dim", [2, 3, 8])
def test_kernel_is_positive_definite_on_unit_rows(kernel, dim):
    values = np.linalg.eigvalsh(kernel(rows("unit", 60, 8, dim)))
    assert values[0] > -1e-12 * values[-1]


@pytest.mark.parametrize(
    ("kernel", "kind", "share"),
    [
        (DeltaGaussian(), "unit", 0.1),
        (Sigmoid(2.0, -1.0), "unit", 0.1),
        (RectifiedSigmoid(1.0, -0.5), "unit", 1e-3),
        (TL1(2.1), "any", 1e-3),
        (Epanechnikov(2.0), "any", 1e-3),
        (SphericalPolynomial(1.0, 2), "unit", 1e-3),
        (GaussianCombination([1.0, -1.0], [1.0, 3.0]), "any", 0.1),
    ],
    ids=name,
)
def test_kernel_is_really_indefinite(kernel, kind, share):
    values = np.linalg.eigvalsh(kernel(rows(kind, 60, 8, 3)))
    assert values[-1] > 0
    assert values[0] < -share * values[-1]


def test_geodesic_gaussian_is_indefinite_on_a_great_circle():
    # Eight points around a circle: the eigenvalues are the cosine transform of exp(−θ²/2σ²).
    t = 2 * np.pi * np.arange(8) / 8
    X = np.column_stack([np.cos(t), np.sin(t)])
    theta = np.minimum(t, 2 * np.pi - t)
    waves = np.cos(np.outer(np.arange(8), t))
    expected = np.sort(waves @ np.exp(-(theta**2) / (2 * 3.0**2)))
    values = np.linalg.eigvalsh(GeodesicGaussian(3.0)(X))
    assert_allclose(values, expected, atol=1e-7)  # arccos at the antipode loses half the digits
    assert values[0] < -0.01


@pytest.mark.parametrize("kernel", [ArcCosine(0), ArcCosine(1), NeuralTangent()], ids=name)
def test_zero_rows_give_finite_values_that_agree_with_the_diagonal(kernel):
    X = np.array([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]])
    K = kernel(X)
    # A zero row is taken as orthogonal to all: order 0 gives κ₀(0) = ½, the others size 0.
    expected = 0.5 if kernel == ArcCosine(0) else 0.0
    assert_rounded(K[[0, 0, 0, 2, 1, 1], [0, 1, 2, 1, 0, 2]], np.full(6, expected))
    assert_rounded(kernel(X, X)[0], K[0])
    assert_rounded(kernel.diag(X), np.diagonal(K))


@pytest.mark.parametrize(
    ("kernel", "kind"), [(kernel, kind) for kernel, _, kind in TWINS], ids=name
)
def test_profiles_reproduce_the_kernel_on_unit_rows(kernel, kind):
    X = np.abs(rows("unit", 12, 9)) if kind == "positive" else rows("unit", 12, 9)
    z, u = cdist(X, X[:5]), X @ X[:5].T
    if kernel.radial_profile is None:
        assert isinstance(kernel, Laplacian | TL1 | ShiftGaussian | SinhGaussian | CoshGaussian)
        assert kernel.zonal_profile is None
        return
    scale = np.abs(kernel(X)).max()
    assert_allclose(kernel.radial_profile(z), kernel(X, X[:5]), atol=1e-6 * scale)
    assert_allclose(kernel.zonal_profile(u), kernel(X, X[:5]), atol=1e-6 * scale)
