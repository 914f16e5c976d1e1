"""Kernels of vectors: every formula against a scalar twin, and what is known of its sign."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.linalg import null_space
from scipy.spatial.distance import cdist
from scipy.special import gamma as gamma_function
from scipy.stats import gamma as gamma_law
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import (
    laplacian_kernel,
    polynomial_kernel,
    rbf_kernel,
    sigmoid_kernel,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from krein import RandomFourier
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
    Hellinger,
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

VECTOR = np.array([0.3, -0.2, 0.5])


def distance(x, y):
    return np.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def taxi(x, y):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def dot(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def cosine(x, y):
    return min(1.0, max(-1.0, dot(x, y) / np.sqrt(dot(x, x) * dot(y, y))))


def gaussian(x, y, sigma):
    return np.exp(-(distance(x, y) ** 2) / (2 * sigma**2))


def matern(x, y, sigma, nu):
    """From ``K_ν(t) = ∫₀^∞ exp(−t cosh s) cosh(νs) ds``, without a Bessel function."""
    t = np.sqrt(2 * nu) * distance(x, y) / sigma
    if t == 0:
        return 1.0
    bessel = quad(lambda s: np.exp(-t * np.cosh(s)) * np.cosh(nu * s), 0, 12, epsabs=1e-13)[0]
    return 2 ** (1 - nu) / gamma_function(nu) * t**nu * bessel


def plate(x, y, sigma):
    t = distance(x, y) / sigma
    return t**2 * np.log(t) if t > 0 else 0.0


def step_network(u):
    return 1 - np.arccos(u) / np.pi


def relu_network(u):
    angle = np.arccos(u)
    return (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi


def size(x, y):
    return np.sqrt(dot(x, x) * dot(y, y))


def tangent(x, y):
    u = cosine(x, y)
    return size(x, y) * (u * step_network(u) + relu_network(u))


def directed(x, y, beta):
    return dot(np.broadcast_to(beta, len(x)), x - y)


# (kernel, scalar twin, kind of rows it takes)
TWINS = [
    (Gaussian(1.3), lambda x, y: gaussian(x, y, 1.3), "any"),
    (Laplacian(1.7), lambda x, y: np.exp(-taxi(x, y) / 1.7), "any"),
    (Matern(1.2, 0.5), lambda x, y: np.exp(-distance(x, y) / 1.2), "any"),
    (Matern(1.2, 0.7), lambda x, y: matern(x, y, 1.2, 0.7), "any"),
    (Matern(1.2, 1.5), lambda x, y: matern(x, y, 1.2, 1.5), "any"),
    (Matern(0.8, 2.5), lambda x, y: matern(x, y, 0.8, 2.5), "any"),
    (Matern(0.8, 20.0), lambda x, y: matern(x, y, 0.8, 20.0), "any"),
    (Cauchy(0.8), lambda x, y: 1 / (1 + distance(x, y) ** 2 / 0.8**2), "any"),
    (GeodesicGaussian(0.9), lambda x, y: np.exp(-(np.arccos(cosine(x, y)) ** 2) / 1.62), "unit"),
    (DeltaGaussian(), lambda x, y: gaussian(x, y, 1) - gaussian(x, y, 10), "any"),
    (DeltaGaussian(0.5, 2.0), lambda x, y: gaussian(x, y, 0.5) - gaussian(x, y, 2.0), "any"),
    (
        GaussianCombination([2.0, -0.5, 0.25], [0.5, 1.0, 3.0]),
        lambda x, y: 2 * gaussian(x, y, 0.5) - gaussian(x, y, 1) / 2 + gaussian(x, y, 3) / 4,
        "any",
    ),
    (Epanechnikov(2.0), lambda x, y: max(0, 1 - distance(x, y) ** 2 / 4), "any"),
    (Epanechnikov(2.5, 3), lambda x, y: max(0, 1 - distance(x, y) ** 2 / 6.25) ** 3, "any"),
    (Epanechnikov(2.5, 0.5), lambda x, y: max(0, 1 - distance(x, y) ** 2 / 6.25) ** 0.5, "any"),
    (TL1(2.1), lambda x, y: max(0, 2.1 - taxi(x, y)), "any"),
    (Multiquadric(0.7, 1.4), lambda x, y: np.sqrt((distance(x, y) / 0.7) ** 2 + 1.96), "any"),
    (ThinPlateSpline(0.6), lambda x, y: plate(x, y, 0.6), "any"),
    (Sigmoid(0.7, -0.4), lambda x, y: np.tanh(0.7 * dot(x, y) - 0.4), "any"),
    (RectifiedSigmoid(0.7, -0.4), lambda x, y: max(0, 0.7 * dot(x, y) - 0.4), "any"),
    (Polynomial(3, 0.5, 1.5), lambda x, y: (0.5 * dot(x, y) + 1.5) ** 3, "any"),
    (Polynomial(0), lambda x, y: 1.0, "any"),
    (SphericalPolynomial(), lambda x, y: (1 - distance(x, y) ** 2 / 4) ** 2, "any"),
    (SphericalPolynomial(1.5, 3), lambda x, y: (1 - distance(x, y) ** 2 / 2.25) ** 3, "any"),
    (SphericalPolynomial(2.0, 3), lambda x, y: ((1 + dot(x, y)) / 2) ** 3, "unit"),
    (ArcCosine(0), lambda x, y: step_network(cosine(x, y)), "any"),
    (ArcCosine(1), lambda x, y: size(x, y) * relu_network(cosine(x, y)), "any"),
    (NeuralTangent(), tangent, "any"),
    (Hellinger(), lambda x, y: np.sqrt(dot(x, y)), "positive"),
    (ShiftGaussian(1.2, 0.3), lambda x, y: np.exp(-sum((x - y + 0.3) ** 2) / 2.88), "any"),
    (ShiftGaussian(1.2, VECTOR), lambda x, y: np.exp(-sum((x - y + VECTOR) ** 2) / 2.88), "any"),
    (
        SinhGaussian(1.2, 0.3),
        lambda x, y: gaussian(x, y, 1.2) * (1 + np.sinh(directed(x, y, 0.3))),
        "any",
    ),
    (
        SinhGaussian(1.2, VECTOR),
        lambda x, y: gaussian(x, y, 1.2) * (1 + np.sinh(directed(x, y, VECTOR))),
        "any",
    ),
    (
        CoshGaussian(1.2, 0.3),
        lambda x, y: gaussian(x, y, 1.2) * np.exp(directed(x, y, 0.3)),
        "any",
    ),
    (
        CoshGaussian(1.2, list(VECTOR)),
        lambda x, y: gaussian(x, y, 1.2) * np.exp(directed(x, y, VECTOR)),
        "any",
    ),
    (Constant(-2.5), lambda x, y: -2.5, "any"),
]


def rows(kind, n, seed, dim=3):
    """Rows of one kind, with some zeros so that CSR input has something to leave out."""
    X = np.random.default_rng(seed).standard_normal((n, dim))
    X[::3, 1] = 0.0
    if kind == "positive":
        return np.abs(X)
    return X / np.linalg.norm(X, axis=1, keepdims=True) if kind == "unit" else X


def name(case):
    return " ".join(str(case).split()) if not callable(case) or hasattr(case, "diag") else ""


@pytest.mark.parametrize(("kernel", "twin", "kind"), TWINS, ids=name)
def test_kernel_equals_its_scalar_formula(kernel, twin, kind):
    check_kernel(kernel, twin, rows(kind, 7, 1), rows(kind, 5, 2))


@pytest.mark.parametrize(("kernel", "twin", "kind"), TWINS, ids=name)
def test_values_do_not_depend_on_the_blocks(kernel, twin, kind, monkeypatch):
    X, Y = rows(kind, 40, 1), rows(kind, 9, 2)
    whole, square = kernel(X, Y), kernel(X)
    steps = []

    def three_rows_each(n_rows, bytes_per_row):
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
    assert kernel.conditional_order == 1
    assert np.linalg.eigvalsh(K)[-1] > 1  # not definite without the condition
    assert form_on(K, np.ones((25, 1)))[-1] < 1e-12 * np.abs(K).max()


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("sigma", [0.5, 10.0])
def test_thin_plate_spline_is_conditionally_definite_of_order_two(dim, sigma, rng):
    X = rng.uniform(-2, 2, (25, dim))
    kernel = ThinPlateSpline(sigma)
    K = kernel(X)
    assert kernel.conditional_order == 2
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
    assert_array_equal(K[[0, 0, 0, 2, 1, 1], [0, 1, 2, 1, 0, 2]], np.full(6, expected))
    assert_array_equal(kernel(X, X)[0], K[0])
    assert_array_equal(kernel.diag(X), np.diagonal(K))


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


# --- algebra ----------------------------------------------------------------------------------

G, L, S = Gaussian(1.2), Laplacian(0.8), ShiftGaussian(1.1, VECTOR)


def values(X, Y):
    return G(X, Y), L(X, Y), S(X, Y)


ALGEBRA = [
    ("G + L", lambda: G + L, lambda g, w, s: g + w),
    ("G - L", lambda: G - L, lambda g, w, s: g - w),
    ("G * L", lambda: G * L, lambda g, w, s: g * w),
    ("G + 2", lambda: G + 2, lambda g, w, s: g + 2),
    ("2 + G", lambda: 2 + G, lambda g, w, s: g + 2),
    ("G - 2", lambda: G - 2, lambda g, w, s: g - 2),
    ("2 - G", lambda: 2 - G, lambda g, w, s: 2 - g),
    ("G * 3", lambda: G * 3, lambda g, w, s: 3 * g),
    ("3 * G", lambda: 3 * G, lambda g, w, s: 3 * g),
    ("G / 4", lambda: G / 4, lambda g, w, s: g / 4),
    ("-G", lambda: -G, lambda g, w, s: -g),
    ("numpy number * G", lambda: np.float64(0.5) * G, lambda g, w, s: g / 2),
    ("G * numpy number", lambda: G * np.int64(2), lambda g, w, s: 2 * g),
    ("numpy number - G", lambda: np.float32(1) - G, lambda g, w, s: 1 - g),
    ("sum", lambda: sum([G, L, S]), lambda g, w, s: g + w + s),
    ("S + G", lambda: S + G, lambda g, w, s: s + g),
    ("S * G - 1", lambda: S * G - 1, lambda g, w, s: s * g - 1),
    ("mixture", lambda: 2 * (G - L) * S / 3 + 1, lambda g, w, s: 2 * (g - w) * s / 3 + 1),
]


@pytest.mark.parametrize(
    ("make", "expected"), [a[1:] for a in ALGEBRA], ids=[a[0] for a in ALGEBRA]
)
def test_arithmetic_acts_on_the_values(make, expected):
    kernel = make()
    X, Y = rows("any", 4, 1), rows("any", 3, 2)

    def twin(x, y):
        return expected(*(v[0, 0] for v in values(x[None], y[None])))

    check_kernel(kernel, twin, X, Y)
    assert_allclose(kernel(X, Y), expected(*values(X, Y)), rtol=1e-13)


@pytest.mark.parametrize("other", ["one", None, 1j, np.ones(3), Gaussian], ids=repr)
@pytest.mark.parametrize("sign", ["+", "-", "*"])
def test_arithmetic_with_anything_else_is_a_type_error(other, sign):
    operation = {
        "+": lambda: Gaussian() + other,
        "-": lambda: Gaussian() - other,
        "*": lambda: Gaussian() * other,
    }[sign]
    with pytest.raises(TypeError):
        operation()


def test_only_numbers_divide_kernels():
    with pytest.raises(TypeError):
        G / L
    with pytest.raises(TypeError):
        1 / G


@pytest.mark.parametrize("kernel", [S, SinhGaussian(1.0, VECTOR), S * G - 2 * S.T], ids=name)
def test_transpose_and_the_two_parts_are_those_of_the_matrix(kernel):
    X, Y = rows("any", 7, 1), rows("any", 5, 2)
    forth, back = kernel(X, Y), kernel(Y, X).T
    assert_allclose(kernel.T(X, Y), back, rtol=1e-13)
    assert_allclose(kernel.T(X), kernel(X).T, rtol=1e-13)
    assert kernel == kernel.T.T
    assert_allclose(kernel.symmetric_part(X, Y), (forth + back) / 2, rtol=1e-12)
    assert_allclose(kernel.skew_part(X, Y), (forth - back) / 2, rtol=1e-9, atol=1e-14)
    skew = kernel.skew_part(X)
    assert_allclose(skew, -skew.T, atol=1e-15)
    assert not kernel.skew_part.is_symmetric


@pytest.mark.parametrize("kernel", [S, CoshGaussian(1.0, VECTOR)], ids=name)
def test_the_symmetric_part_of_an_asymmetric_kernel_says_that_it_is_symmetric(kernel):
    X = rows("any", 7, 1)
    K = kernel.symmetric_part(X)
    assert_allclose(K, K.T, rtol=1e-13)
    assert kernel.symmetric_part.is_symmetric


def test_a_symmetric_kernel_is_its_own_transpose_and_has_no_skew_part():
    X, Y = rows("any", 7, 1), rows("any", 5, 2)
    kernel = DeltaGaussian() * 2 + TL1(1.0)
    assert kernel.T is kernel
    assert kernel.symmetric_part is kernel
    assert_array_equal(kernel.skew_part(X, Y), np.zeros((7, 5)))


def test_the_parts_of_the_sinh_gaussian_are_the_gaussian_and_its_odd_half():
    X, Y = rows("any", 7, 1), rows("any", 5, 2)
    kernel = SinhGaussian(1.2, VECTOR)
    gauss, odd = Gaussian(1.2)(X, Y), np.sinh(np.subtract.outer(X @ VECTOR, Y @ VECTOR))
    assert_allclose(kernel.symmetric_part(X, Y), gauss, rtol=1e-9)
    assert_allclose(kernel.skew_part(X, Y), gauss * odd, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("join", [lambda a, b: a + b, lambda a, b: a * b], ids=["sum", "product"])
@pytest.mark.parametrize("flip", [False, True], ids=["sphere first", "sphere second"])
def test_a_compound_checks_the_data_for_both_of_its_kernels(join, flip):
    pair = (GeodesicGaussian(), Gaussian())
    kernel = join(*(pair[::-1] if flip else pair))
    with pytest.raises(ValueError, match="GeodesicGaussian is defined on unit rows"):
        kernel([[3.0, 4.0], [1.0, 0.0]])


# --- parameters -------------------------------------------------------------------------------


def test_nested_parameters_are_set_by_path():
    kernel = (Gaussian(1.0) + Laplacian(2.0)).set_params(left__sigma=3.0)
    assert kernel == Gaussian(3.0) + Laplacian(2.0)
    assert kernel.get_params()["right__sigma"] == 2.0
    X = rows("any", 5, 1)
    assert_allclose(kernel(X), Gaussian(3.0)(X) + Laplacian(2.0)(X))
    scaled = clone(2 * S.T).set_params(factor=0.5, kernel__kernel__sigma=3.0)
    assert_allclose(scaled(X), ShiftGaussian(3.0, VECTOR)(X).T / 2)


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (Gaussian(), "Gaussian()"),
        (Gaussian(2.0), "Gaussian(sigma=2.0)"),
        (Gaussian(1.0) + Laplacian(2.0), "Sum(left=Gaussian(), right=Laplacian(sigma=2.0))"),
        (-Gaussian(), "Scaled(factor=-1.0, kernel=Gaussian())"),
        (ShiftGaussian().T, "Transposed(kernel=ShiftGaussian())"),
    ],
    ids=str,
)
def test_repr_is_the_expression_that_makes_the_kernel(kernel, text):
    assert " ".join(repr(kernel).split()) == text


@pytest.mark.parametrize("kernel", [*(case[0] for case in TWINS), 2 * S.T + G * L], ids=name)
def test_clones_and_pickles_are_equal_but_not_the_same(kernel):
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert copy == kernel
        assert copy is not kernel


def test_kernels_differ_by_type_and_by_parameters():
    distinct = [
        Gaussian(),
        Gaussian(2.0),
        Laplacian(),
        Matern(1.0, 0.5),
        Cauchy(),
        ShiftGaussian(1.0, 0.1),
        ShiftGaussian(1.0, [0.1, 0.2]),
        CoshGaussian(1.0, 0.1),
        SinhGaussian(1.0, 0.1),
        G + L,
        L + G,
        G * L,
        G * 2,
        -G,
        "Gaussian()",
    ]
    for i, left in enumerate(distinct):
        for j, right in enumerate(distinct):
            assert (left == right) == (i == j)
            assert (left != right) == (i != j)


@pytest.mark.parametrize(
    ("kernel", "path"),
    [
        (Gaussian(), "randomfourier__kernel__sigma"),
        (0.5 * Gaussian() + Laplacian(), "randomfourier__kernel__left__kernel__sigma"),
    ],
    ids=["plain", "nested"],
)
def test_grid_search_reaches_the_parameters_of_the_kernel(kernel, path, rng):
    X = rng.uniform(-1, 1, (160, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    before = clone(kernel)
    pipeline = make_pipeline(RandomFourier(kernel, 64, random_state=0), RidgeClassifier())
    search = GridSearchCV(pipeline, {path: [1e-3, 0.7, 1e3]}, cv=3).fit(X, y)
    fitted = search.best_estimator_.named_steps["randomfourier"].kernel
    prefix = "randomfourier__kernel__"
    assert fitted.get_params()[path.removeprefix(prefix)] == search.best_params_[path]
    assert kernel == before
    if kernel == Gaussian():  # the three bandwidths memorise, learn and cannot see the exclusive or
        assert search.best_params_[path] == 0.7
        assert search.best_score_ > 0.85


# --- bad input --------------------------------------------------------------------------------


def refuse(call, *fragments, error=ValueError):
    """`call` raises one sentence that contains every fragment."""
    with pytest.raises(error) as caught:
        call()
    for fragment in fragments:
        assert fragment in str(caught.value)


X2 = np.array([[0.6, 0.8], [1.0, 0.0]])


@pytest.mark.parametrize("value", [-1.0, 0.0, np.nan, np.inf, "wide"], ids=repr)
@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (Gaussian, "sigma"),
        (Laplacian, "sigma"),
        (Matern, "sigma"),
        (Matern, "nu"),
        (Cauchy, "sigma"),
        (GeodesicGaussian, "sigma"),
        (DeltaGaussian, "sigma"),
        (DeltaGaussian, "sigma_neg"),
        (Epanechnikov, "sigma"),
        (Epanechnikov, "degree"),
        (TL1, "rho"),
        (Multiquadric, "sigma"),
        (Multiquadric, "c"),
        (ThinPlateSpline, "sigma"),
        (SphericalPolynomial, "a"),
        (ShiftGaussian, "sigma"),
        (SinhGaussian, "sigma"),
        (CoshGaussian, "sigma"),
    ],
)
def test_a_scale_that_is_not_positive_is_refused(make, argument, value):
    refuse(
        lambda: make(**{argument: value})(X2),
        f"{make.__name__} needs {argument} to be a finite number above 0, got {value!r}.",
    )


@pytest.mark.parametrize("degree", [2.5, -1, np.nan, np.inf, "two"], ids=repr)
@pytest.mark.parametrize("make", [Polynomial, SphericalPolynomial])
def test_a_degree_that_is_not_a_whole_number_is_refused(make, degree):
    refuse(
        lambda: make(degree=degree)(X2),
        f"{make.__name__} needs degree to be a whole number ≥ 0, got {degree!r}.",
    )


@pytest.mark.parametrize("order", [2, -1, 0.5, "one"], ids=repr)
def test_an_arc_cosine_order_other_than_0_and_1_is_refused(order):
    refuse(lambda: ArcCosine(order)(X2), f"ArcCosine needs order to be one of 0, 1, got {order!r}.")


@pytest.mark.parametrize("argument", ["gamma", "coef0"])
@pytest.mark.parametrize("make", [Sigmoid, RectifiedSigmoid, Polynomial])
@pytest.mark.parametrize("value", [np.nan, "steep"], ids=repr)
def test_a_slope_or_offset_that_is_not_finite_is_refused(make, argument, value):
    refuse(lambda: make(**{argument: value})(X2), make.__name__, argument, repr(value))


@pytest.mark.parametrize(
    "make", [lambda a: Constant(a), lambda a: a * Gaussian()], ids=["Constant", "Scaled"]
)
def test_a_constant_or_factor_that_is_not_finite_is_refused(make):
    refuse(lambda: make(np.nan)(X2), "nan")


@pytest.mark.parametrize(
    ("make", "argument"),
    [(ShiftGaussian, "shift"), (SinhGaussian, "beta"), (CoshGaussian, "beta")],
)
def test_a_vector_parameter_of_the_wrong_length_is_refused(make, argument):
    sentence = (
        f"{make.__name__} needs {argument} to be a finite number, or one for each of the data's 2"
    )
    refuse(lambda: make(1.0, [1.0, 2.0, 3.0])(X2), sentence, "[1.0, 2.0, 3.0]")
    refuse(lambda: make(1.0, [[1.0, 2.0]])(X2), sentence, "[[1.0, 2.0]]")
    refuse(lambda: make(1.0, np.nan)(X2), sentence, "nan")
    refuse(lambda: make(1.0, [0.1, np.inf])(X2), sentence, "inf")


def test_weights_and_sigmas_of_different_lengths_are_refused():
    refuse(
        lambda: GaussianCombination([1.0, -1.0], [1.0])(X2),
        "GaussianCombination needs as many finite weights as sigmas",
        "got weights [1.0, -1.0] and sigmas [1.0]",
    )
    refuse(lambda: GaussianCombination([], [])(X2), "at least one", "got weights [] and sigmas []")
    refuse(lambda: GaussianCombination([1.0], [-1.0])(X2), "sigmas", "above 0, got -1.0")
    refuse(lambda: GaussianCombination([1.0, np.nan], [1.0, 2.0])(X2), "weights", "nan")


@pytest.mark.parametrize("kernel", [Gaussian(), S, G + L], ids=name)
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_nan_and_infinity_in_the_data_are_refused_by_name(kernel, value, word):
    bad = np.array([[1.0, 2.0, value]])
    refuse(lambda: kernel(bad), "Input X", word)
    refuse(lambda: kernel.diag(bad), "Input X", word)
    refuse(lambda: kernel(bad, np.ones((1, 3))), "Input X", word)
    refuse(lambda: kernel(np.ones((1, 3)), bad), "Input Y", word)


@pytest.mark.parametrize("kernel", [Gaussian(), TL1(), Sigmoid(), ShiftGaussian()], ids=name)
def test_rows_of_different_widths_are_refused(kernel):
    refuse(
        lambda: kernel(np.ones((2, 3)), np.ones((2, 4))),
        f"{type(kernel).__name__} compares rows of equal width",
        "X has 3 columns and Y has 4",
    )


def test_rows_off_the_sphere_are_refused_by_the_geodesic_gaussian():
    kernel, off = GeodesicGaussian(), np.array([[1.0, 0.0], [3.0, 4.0]])
    parts = ("GeodesicGaussian", "row 1 has norm 5", "Normalizer")
    for call in (lambda: kernel(off), lambda: kernel(X2, off), lambda: kernel.diag(off)):
        refuse(call, *parts)
    refuse(lambda: kernel(np.zeros((1, 2))), "row 0 has norm 0")
    assert kernel(X2.astype(np.float32)).shape == (2, 2)  # rounded to float32 is still a sphere


def test_negative_products_are_refused_by_the_hellinger_kernel():
    refuse(
        lambda: Hellinger()([[1.0, -2.0]], [[0.0, 0.5]]),
        "Hellinger",
        "a product is -1",
        "non-negative columns",
    )


def test_an_unknown_parameter_is_refused():
    refuse(lambda: Gaussian().set_params(gamma=1.0), "Invalid parameter 'gamma'", "Gaussian")
