"""The maps that the papers compare against, each against its own definition."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.kernel_approximation import PolynomialCountSketch

import krein
from krein.kernels import (
    TL1,
    ArcCosine,
    Constant,
    Custom,
    DeltaGaussian,
    Gaussian,
    GaussianCombination,
    Hellinger,
    Laplacian,
    Matern,
    NeuralTangent,
    OrthantProbability,
    Polynomial,
    RectifiedSigmoid,
    ShiftGaussian,
    Sigmoid,
    SphericalPolynomial,
)
from krein.rivals import (
    ConcomitantRankOrder,
    RandomMaclaurin,
    SphericalRandomFeatures,
    TensorizedProjection,
    TensorSketch,
)
from krein.rivals.spherical import PositivePart
from krein.testing import check_feature_map

X = np.random.default_rng(0).standard_normal((40, 4))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)

# --- the contract -------------------------------------------------------------------------------

MAPS = [
    RandomMaclaurin(Polynomial(3, 0.3, -1.0), 60, random_state=0),
    RandomMaclaurin(Sigmoid(0.05), 60, degrees="coefficients", random_state=0),
    TensorSketch(-0.5 * Polynomial(3, 0.2, 0.0), 32, random_state=0),
    TensorizedProjection(-0.5 * Polynomial(3, 0.2, 0.7), 32, random_state=0),
    ConcomitantRankOrder(n_components=64, random_state=0),
    ConcomitantRankOrder(-2 * (0.5 * OrthantProbability(0.1)), 64, random_state=0),
    ConcomitantRankOrder(OrthantProbability(0.3), 64, projection="cosine", random_state=0),
    SphericalRandomFeatures(Gaussian(2.0), 32, random_state=0),
]


@pytest.mark.parametrize("features", MAPS, ids=lambda f: repr(f).replace("\n", ""))
def test_contract(features):
    check_feature_map(features.fit(X), X[:15], X[15:])
    from_csr = type(features)(**features.get_params(deep=False)).fit(sparse.csr_array(X))
    assert_allclose(from_csr.transform(X), features.transform(X), rtol=1e-9, atol=1e-12)
    assert features.form_.width == features.n_components
    assert type(features) is getattr(krein, type(features).__name__)


# --- expectation: 20 pairs, 200 seeds -----------------------------------------------------------

N_SEEDS = 200
UNBIASED = {
    "RM, negative coefficients": (RandomMaclaurin(Polynomial(3, 0.4, -0.8), 200), X[:20] / 2),
    "RM, tanh": (RandomMaclaurin(Sigmoid(0.4, 0.3), 200), UNIT[:20]),
    "RM, Gaussian on the sphere": (RandomMaclaurin(Gaussian(2.0), 200), UNIT[:20]),
    "RM, coefficients": (
        RandomMaclaurin(DeltaGaussian(1.0, 2.0), 100, degrees="coefficients"),
        UNIT[:20],
    ),
    "TS": (TensorSketch(2 * Polynomial(3, 0.5, 1.0), 50), X[:20]),
    "TS, on the sphere": (TensorSketch(SphericalPolynomial(1.8, 4), 50), UNIT[:20]),
    "TRP": (TensorizedProjection(-2 * Polynomial(3, 0.5, 1.0), 50), X[:20]),
    "TRP, on the sphere": (TensorizedProjection(SphericalPolynomial(1.8, 4), 50), UNIT[:20]),
    "CRO": (ConcomitantRankOrder(OrthantProbability(0.1), 2000), np.abs(X[:20])),
    "CRO, cosine": (
        ConcomitantRankOrder(OrthantProbability(0.1), 2000, projection="cosine"),
        np.abs(X[:20]),
    ),
}


@pytest.mark.parametrize("name", UNBIASED)
def test_the_mean_of_200_seeds_is_the_kernel_within_4_standard_errors(name):
    """20 pairs of rows, two-sided; a pair is off by chance in 6e-5 of the cases."""
    features, rows = UNBIASED[name]
    found = np.empty((N_SEEDS, 20))
    for seed in range(N_SEEDS):
        fitted = features.set_params(random_state=seed).fit(rows)
        found[seed] = np.sum(fitted.transform(rows) * np.roll(fitted.transform_dual(rows), 1, 0), 1)
    exact = np.diagonal(fitted.exact_kernel(rows, np.roll(rows, 1, axis=0)))
    errors = found.std(axis=0, ddof=1) / np.sqrt(N_SEEDS)
    assert np.all(errors > 0)
    assert np.abs((found.mean(axis=0) - exact) / errors).max() < 4
    # The test has power: the standard errors are small compared with the values of the kernel.
    assert np.sqrt(np.mean(errors**2)) < 0.1 * np.sqrt(np.mean(exact**2))


# --- series -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(3, 0.5, -1.5),
        Polynomial(0),
        Sigmoid(0.6, -0.3),
        Constant(2.0),
        Gaussian(0.7),
        DeltaGaussian(0.8, 3.0),
        SphericalPolynomial(1.7, 4),
        ArcCosine(0),
        ArcCosine(1),
        NeuralTangent(),
        2 * Gaussian() * Sigmoid() - Polynomial(2) / 3,
    ],
    ids=repr,
)
def test_the_series_sums_to_the_kernel(kernel):
    u = np.linspace(-0.9, 0.9, 7)
    for n in (1, 2, 3, 200):
        series = kernel.maclaurin(n, unit_rows=True)
        assert series.shape == (n,)
    values = np.polynomial.polynomial.polyval(u, series)
    assert_allclose(values, kernel.zonal_profile(u), atol=1e-11)


def test_which_kernels_have_a_series():
    for kernel in (TL1(), Laplacian(), Hellinger(), RectifiedSigmoid(), Gaussian() + TL1()):
        assert kernel.maclaurin(3, unit_rows=True) is None
    for kernel in (Gaussian(), SphericalPolynomial(), ArcCosine(), Polynomial() * Gaussian()):
        assert kernel.maclaurin(3) is None
    for kernel in (Polynomial(), Sigmoid(), Polynomial() * 2 + Sigmoid() * 3 - 1):
        assert_allclose(kernel.maclaurin(4), kernel.maclaurin(4, unit_rows=True))


# --- random Maclaurin features ------------------------------------------------------------------


def test_maclaurin_columns_are_products_of_projections():
    fitted = RandomMaclaurin(Polynomial(3), 50, random_state=0).fit(X)
    signs = [part.astype(float) for part in fitted._signs]
    for j in (0, 20, 49):
        column = np.full(len(X), np.sqrt(abs(fitted.weights_[j])))
        for k in range(fitted.degrees_[j]):
            column *= X @ signs[k][j]
        assert_allclose(fitted.transform(X)[:, j], column, rtol=1e-12)
    assert set(np.unique(np.concatenate(signs))) == {-1.0, 1.0}


def test_maclaurin_degrees():
    kernel = Polynomial(3, 1.0, -2.0)  # −8, 12, −6, 1
    fitted = RandomMaclaurin(kernel, 20_000, random_state=0).fit(X)
    shares = np.bincount(fitted.degrees_) / 20_000
    assert_allclose(shares, np.array([8, 4, 2, 1]) / 15, atol=0.015)  # 4 standard errors
    assert np.all((fitted.form_.signs < 0) == (fitted.degrees_ % 2 == 0))
    r = np.linalg.norm(X, axis=1).max()
    fitted = RandomMaclaurin(kernel, 20_000, degrees="coefficients", random_state=0).fit(X)
    expected = np.array([8, 12, 6, 1]) * r ** (2 * np.arange(4))
    assert_allclose(np.bincount(fitted.degrees_) / 20_000, expected / expected.sum(), atol=0.015)
    odd = RandomMaclaurin(Sigmoid(0.1), 500, random_state=0).fit(X)
    assert np.all(odd.degrees_ % 2 == 1)  # degrees without a coefficient are not drawn


def test_maclaurin_features_of_nothing():
    for kernel in (Constant(-2.0), Polynomial() * 0.0, Polynomial(0)):
        fitted = RandomMaclaurin(kernel, 7, random_state=0).fit(X)
        assert_allclose(fitted.approximate_kernel(X), kernel(X), atol=1e-12)
    for degrees in ("geometric", "coefficients"):
        zeros = RandomMaclaurin(Polynomial(), 2000, degrees=degrees, random_state=0).fit(0 * X)
        assert_allclose(zeros.approximate_kernel(0 * X), 1, atol=0.1)


# --- sketches -----------------------------------------------------------------------------------


def test_tensor_sketch_is_that_of_scikit_learn():
    fitted = TensorSketch(9 * Polynomial(3, 0.5, 2.0), 40, random_state=0).fit(X)
    options = {"gamma": 0.5, "coef0": 2.0, "degree": 3, "n_components": 40}
    theirs = PolynomialCountSketch(random_state=fitted.sketch_.random_state, **options).fit(X)
    assert_allclose(fitted.transform(X), 3 * theirs.transform(X), rtol=1e-12, atol=1e-14)


def test_projection_columns_are_products_of_projections_of_longer_rows():
    fitted = TensorizedProjection(Polynomial(3, 0.5, 2.0), 40, random_state=0).fit(X)
    longer = np.hstack([np.sqrt(0.5) * X, np.full((len(X), 1), np.sqrt(2.0))])
    expected = np.prod([longer @ part.T.astype(float) for part in fitted._signs], axis=0)
    assert_allclose(fitted.transform(X), expected / np.sqrt(40), rtol=1e-12, atol=1e-14)


# --- concomitant rank order ---------------------------------------------------------------------


@pytest.mark.parametrize("projection", ["gaussian", "cosine"])
def test_rank_order_features_are_binary_and_depend_on_the_direction_only(projection):
    kernel = OrthantProbability(0.2)
    fitted = ConcomitantRankOrder(kernel, 100, projection=projection, random_state=0).fit(X)
    Z = fitted.transform(X)
    assert set(np.unique(Z)) == {0.0, 0.1}
    assert fitted.n_chosen_ == 20
    assert np.all((Z > 0).sum(axis=1) == 20)
    assert_allclose(fitted.transform(7 * X), Z)
    assert not np.any(Z * fitted.transform(-X))  # the smallest projections of −x are others
    few = ConcomitantRankOrder(kernel, 7, projection=projection, random_state=0).fit(X)
    assert few.kernel_ == OrthantProbability(1 / 7)
    assert few.kernel.alpha == 0.2


@pytest.mark.parametrize("factor", [2.0, -0.5, 0.0])
def test_rank_order_features_of_a_multiple(factor):
    plain = ConcomitantRankOrder(OrthantProbability(0.2), 50, random_state=0).fit(X)
    fitted = ConcomitantRankOrder(factor * OrthantProbability(0.2), 50, random_state=0).fit(X)
    assert_allclose(fitted.transform(X), np.sqrt(abs(factor)) * plain.transform(X), rtol=1e-12)
    assert_allclose(fitted.exact_kernel(X), factor * plain.exact_kernel(X), rtol=1e-12)
    assert np.all(fitted.form_.signs == (1 if factor >= 0 else -1))


def test_gaussian_rank_order_is_that_of_the_projections():
    fitted = ConcomitantRankOrder(OrthantProbability(0.1), 50, random_state=0).fit(X)
    ranks = np.argsort(np.argsort(X @ fitted._directions, axis=1), axis=1)
    assert np.array_equal(fitted.transform(X) > 0, ranks < 5)


# --- spherical random features ------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 3, 16, 120])
def test_gradient_of_the_fit(dim):
    fit = PositivePart(SphericalPolynomial(2.0, 3).radial_profile, dim, 2.0, 4)
    theta = np.concatenate([np.log([0.4, 0.7, 1.1, 1.6]), [0.5, -0.2, 0.6, 0.3]])
    value, gradient = fit.loss(theta)
    numeric = approx_fprime(theta, lambda t: fit.loss(t)[0], 1e-7)
    assert_allclose(gradient, numeric, atol=1e-4 * np.abs(numeric).max())
    best = np.concatenate([np.log(fit.scales), fit.coefficients])
    assert fit.loss(best)[0] < value


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("dim", "a", "degree"), [(4, 1.0, 3), (16, 0.5, 3), (57, 0.7, 5)])
def test_a_search_that_meets_a_sum_without_positive_part_goes_on(dim, a, degree):
    """The best kernel would be zero, but the spectrum has the mass k(0)."""
    fit = PositivePart(SphericalPolynomial(a, degree).radial_profile, dim, 2.0, 10)
    assert_allclose(fit.law.characteristic(np.zeros((1, dim))), 1)
    nothing = np.concatenate([np.log(fit.scales), np.full(10, -1.0)])
    best = np.concatenate([np.log(fit.scales), fit.coefficients])
    assert fit.loss(best)[0] <= fit.loss(nothing)[0]
    assert not fit.loss(nothing)[1].any()


def test_a_gaussian_is_its_own_spectrum():
    fitted = SphericalRandomFeatures(3 * Gaussian(0.8), 16, random_state=0).fit(UNIT)
    Z = np.linspace(0, 2, 20)[:, None] * np.eye(1, 4)
    assert_allclose(fitted.measure_.kernel(Z), (3 * Gaussian(0.8))(Z, 0 * Z[:1])[:, 0], atol=3e-3)
    assert fitted.total_mass_ == pytest.approx(3)


def test_spherical_features_of_the_polynomial_are_biased_and_positive():
    """A positive definite function of R^16 is not (1 − z²/4)²: the features converge elsewhere."""
    rows = np.random.default_rng(1).standard_normal((60, 16))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    kernel = SphericalPolynomial(2.0, 2)
    fitted = SphericalRandomFeatures(kernel, 8000, random_state=0).fit(rows)
    assert fitted.form_.is_identity
    assert np.any(fitted.coefficients_ < 0)  # the density is the positive part of a signed sum
    z = np.linspace(0, 2, 50)[:, None] * np.eye(1, 16)
    bias = fitted.measure_.kernel(z) - kernel(z, 0 * z[:1])[:, 0]
    assert 0.01 < np.sqrt(np.mean(bias**2)) < 0.05
    K = fitted.approximate_kernel(rows)
    limit = fitted.measure_.kernel(rows[:, None] - rows)
    assert np.abs(K - limit).max() < 4 / np.sqrt(4000)
    assert_allclose(np.diagonal(K), 1)


def test_spherical_features_of_other_rows_are_fitted_up_to_their_diameter():
    fitted = SphericalRandomFeatures(Matern(2.0, 1.5), 400, random_state=0).fit(X)
    assert fitted.measure_.diameter > 2
    error = np.abs(fitted.approximate_kernel(X) - Matern(2.0, 1.5)(X)).max()
    assert error < 0.25
    kernel = GaussianCombination((1.0, -0.5), (3.0, 1.0)) + 3 * SphericalPolynomial(9.0, 1)
    fitted = SphericalRandomFeatures(kernel, 40, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="represents the kernel only up to the distance"):
        fitted.transform(9 * X)


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "rows", "said"),
    [
        (RandomMaclaurin(TL1()), X, r"series .* none is known for TL1\(\): use krein.Nystrom"),
        (RandomMaclaurin(Hellinger()), np.abs(UNIT), "none is known for Hellinger"),
        (RandomMaclaurin(Custom(np.dot)), X, r"none is known for Custom\(dot\)"),
        (RandomMaclaurin(Gaussian()), X, "of norm 1 only, and X has other rows.*Normalizer"),
        (RandomMaclaurin(Sigmoid()), 9 * X, "512 terms of the Maclaurin series"),
        (RandomMaclaurin(Gaussian(0.01)), UNIT, "512 terms of the Maclaurin series"),
        (TensorSketch(Gaussian()), UNIT, r"not Gaussian\(\) .*RandomMaclaurin .*Nystrom"),
        (TensorSketch(SphericalPolynomial()), X, "SphericalPolynomial on rows of norm 1, not Sph"),
        (TensorSketch(Polynomial(2, 1.0, -1.0)), X, "coef0 ≥ 0, .* c = -1: use krein.RandomMac"),
        (TensorSketch(Polynomial(0)), X, "degree of at least 1"),
        (TensorizedProjection(SphericalPolynomial(1.0)), UNIT, "γ = 2 and c = -1"),
        (TensorizedProjection(Polynomial(2, -1.0)), X, "needs gamma > 0 .* γ = -1"),
        (TensorizedProjection(Polynomial() + 1), X, "sketches polynomials"),
        (TensorizedProjection(Polynomial(1.5)), X, "degree to be a whole number"),
        (TensorizedProjection(Polynomial(2, np.nan)), X, "gamma to be a finite number"),
        (ConcomitantRankOrder(Gaussian()), X, r"only, not Gaussian\(\): use krein.RandomFourier"),
        (ConcomitantRankOrder(OrthantProbability(1.5)), X, "alpha to be a number above 0 and at"),
        (ConcomitantRankOrder(OrthantProbability(0)), X, "alpha to be a finite number above 0"),
        (
            SphericalRandomFeatures(TL1()),
            X,
            r"of ‖x − y‖, and TL1\(\) is not one.*Nystr",
        ),
        (SphericalRandomFeatures(ShiftGaussian()), X, "and ShiftGaussian.* is not one"),
        (SphericalRandomFeatures(DeltaGaussian()), X, r"k\(0\) = 0. Use krein.RandomFourier"),
        (SphericalRandomFeatures(Sigmoid()), X, "needs rows of norm 1"),
        (SphericalRandomFeatures(n_components=3), X, "n_components must be even"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_refusals(features, rows, said):
    with pytest.raises(ValueError, match=said):
        features.fit(rows)
    assert not [name for name in vars(features) if name.endswith("_")]


@pytest.mark.parametrize("features", MAPS, ids=lambda f: repr(f).replace("\n", ""))
@pytest.mark.filterwarnings("ignore::krein.kernels.values.UninformativeWarning")
@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e30, 1e200])
def test_rows_of_any_size_have_finite_features_or_a_sentence(features, size):
    try:
        Z = features.fit(size * X).transform(size * X)
    except ValueError as error:
        assert "divide the" in str(error)  # noqa: PT017  # or no error at all
    else:
        assert np.all(np.isfinite(Z))


@pytest.mark.parametrize(
    "features",
    [
        RandomMaclaurin(Gaussian(), 8),
        TensorSketch(SphericalPolynomial(), 8),
        TensorizedProjection(SphericalPolynomial(), 8),
    ],
    ids=lambda features: type(features).__name__,
)
def test_new_rows_must_have_norm_1_if_the_training_rows_had_to(features):
    fitted = features.fit(UNIT)
    with pytest.raises(ValueError, match=r"needs rows of norm 1, but row 3 has norm 2\. Scale"):
        fitted.transform(UNIT * np.where(np.arange(40) == 3, 2, 1)[:, None])
