"""Feature maps: the contract, convergence, weights, ranges and the quality of the approximation."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.integrate import quad

import krein
from krein import RandomFourier, RandomGegenbauer, approximation_error
from krein.features import gegenbauer
from krein.features.calibrate import RIDGE
from krein.features.geometry import measure_extent
from krein.forms import Phase, Signature
from krein.kernels import (
    ArcCosine,
    Cauchy,
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
    ShiftGaussian,
    Sigmoid,
    SinhGaussian,
    SphericalPolynomial,
)
from krein.measures import Measure, Normal, Part, programme
from krein.samplers import Leverage, Orthogonal
from krein.testing import check_feature_map

POSITIVE = [Gaussian(), Laplacian(sigma=3.0), Matern(), Cauchy()]
SIGNED = [DeltaGaussian(), GaussianCombination((1.0, -0.3, 0.2), (1.0, 2.0, 5.0))]
COMPLEX = [ShiftGaussian(), SinhGaussian(), CoshGaussian(), ShiftGaussian() - Gaussian(sigma=3.0)]
CLOSED = [*POSITIVE, *SIGNED, *COMPLEX]
DIMS = [1, 2, 8]


@pytest.fixture(autouse=True, scope="module")
def _solve_each_programme_once():
    """Seeds and verbs share their linear programmes: remember the solutions."""
    solve, known = programme.least_mass, {}

    def remembered(basis, target, epsilon, costs):
        key = (basis.tobytes(), target.tobytes(), epsilon, costs.tobytes())
        if key not in known:
            known[key] = solve(basis, target, epsilon, costs)
        return None if known[key] is None else known[key].copy()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programme, "least_mass", remembered)
        yield


def _rows(n, dim, seed=0):
    return np.random.default_rng(seed).random((n, dim))


def _unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


# ------------------------------------------------------------------------------- the contract


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", CLOSED, ids=repr)
def test_contract_of_every_kind_of_kernel(kernel, dim):
    features = RandomFourier(kernel, 32, random_state=0).fit(_rows(40, dim))
    check_feature_map(features, _rows(20, dim, 1), _rows(15, dim, 2))


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", [Gaussian(), DeltaGaussian(), ShiftGaussian()], ids=repr)
@pytest.mark.parametrize(
    "sampler", ["iid", "orthogonal", "qmc", "importance", "leverage", Leverage(pool=2)], ids=repr
)
def test_contract_of_every_sampler(sampler, kernel, dim):
    features = RandomFourier(kernel, 32, sampler=sampler, random_state=0).fit(_rows(40, dim))
    check_feature_map(features, _rows(20, dim, 1), _rows(15, dim, 2))


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(
    "options",
    [
        {"weights": "calibrated"},
        {"decomposition": "jordan"},
        {"allocation": "equal"},
        {"decomposition": "jordan", "allocation": "equal", "sampler": "iid"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kernel", [DeltaGaussian(), SinhGaussian()], ids=repr)
def test_contract_of_every_option(options, kernel, dim):
    features = RandomFourier(kernel, 32, random_state=0, **options).fit(_rows(40, dim))
    check_feature_map(features, _rows(20, dim, 1), _rows(15, dim, 2))


@pytest.mark.parametrize(
    ("kernel", "dim"),
    [*((SphericalPolynomial(), dim) for dim in DIMS), (Multiquadric(), 2)],
    ids=repr,
)
def test_contract_of_kernels_with_a_range(kernel, dim):
    X = _rows(40, dim)
    features = RandomFourier(kernel, 32, random_state=0).fit(X)
    check_feature_map(features, X[:20], X[20:])


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(
    "kernel", [ArcCosine(), NeuralTangent(), Sigmoid(coef0=-1.0), Polynomial(degree=3)], ids=repr
)
def test_contract_on_the_sphere(kernel, dim):
    X = _rows(40, dim)
    for weights in ("measure", "calibrated"):
        features = RandomGegenbauer(kernel, 32, weights=weights, random_state=0).fit(X)
        check_feature_map(features, X[:20], X[20:])


@pytest.mark.parametrize("kernel", CLOSED, ids=repr)
def test_the_map_is_its_atoms(kernel):
    X, Y = _rows(10, 3, 1), _rows(8, 3, 2)
    features = RandomFourier(kernel, 20, random_state=0).fit(X)
    differences = X[:, None] - Y[None]
    waves = np.exp(1j * (differences @ features.frequencies_.T))
    assert features.frequencies_.shape == (10, 3)
    assert_allclose(features.approximate_kernel(X, Y), (waves @ features.weights_).real, atol=1e-12)
    Z = features.transform(X)
    projections = X @ features.frequencies_.T
    expected = np.hstack([np.cos(projections), np.sin(projections)])
    assert_allclose(Z, expected * np.sqrt(np.abs(np.tile(features.weights_, 2))), atol=1e-12)


@pytest.mark.parametrize("kernel", POSITIVE, ids=repr)
def test_form_of_a_positive_kernel_is_the_identity(kernel):
    features = RandomFourier(kernel, 32, random_state=0).fit(_rows(20, 3))
    assert features.form_.is_identity
    assert_array_equal(features.transform(_rows(5, 3)), features.transform_dual(_rows(5, 3)))


@pytest.mark.parametrize("kernel", SIGNED, ids=repr)
def test_form_of_an_indefinite_kernel_is_a_signature(kernel):
    features = RandomFourier(kernel, 32, random_state=0).fit(_rows(20, 3))
    assert isinstance(features.form_, Signature)
    assert set(features.form_.signs) == {-1.0, 1.0}
    assert_array_equal(np.sign(np.tile(features.weights_, 2)), features.form_.signs)
    assert features.weights_.dtype == np.float64


@pytest.mark.parametrize("kernel", COMPLEX, ids=repr)
def test_form_of_an_asymmetric_kernel_is_a_phase(kernel):
    X = _rows(20, 3)
    features = RandomFourier(kernel, 32, random_state=0).fit(X)
    assert isinstance(features.form_, Phase)
    assert_allclose(
        np.abs(features.weights_) * np.exp(1j * features.form_.angles), features.weights_
    )
    gram = features.approximate_kernel(X)
    assert np.abs(gram - gram.T).max() > 1e-3


@pytest.mark.parametrize("kernel", COMPLEX, ids=repr)
def test_transposed_kernel_has_the_transposed_form(kernel):
    X = _rows(20, 3)
    one = RandomFourier(kernel, 32, random_state=0).fit(X)
    other = RandomFourier(kernel.T, 32, random_state=0).fit(X)
    assert_allclose(other.approximate_kernel(X), one.approximate_kernel(X).T, atol=1e-12)


# ------------------------------------------------------------------------------- convergence


@pytest.mark.parametrize("kernel", [Gaussian(), DeltaGaussian(2.0, 0.5), SinhGaussian()], ids=repr)
def test_error_falls_like_one_over_the_root_of_the_width(kernel):
    """E‖K̃ − K‖² = C/N exactly for independent frequencies in equal shares: slope −1/2 in rms.

    The standard error of each mean over seeds comes from the seeds, that of the slope by
    propagation; five of them is a false alarm of 6e-7.
    """
    X, widths, n_seeds = 3 * _rows(30, 4), np.array([32, 128, 512, 2048]), 40
    K = kernel(X)
    logs, variances = [], []
    for width in widths:
        errors = []
        for seed in range(n_seeds):
            features = RandomFourier(
                kernel, int(width), sampler="iid", allocation="equal", random_state=seed
            )
            errors.append(np.sum((features.fit(X).approximate_kernel(X) - K) ** 2))
        logs.append(np.log(np.mean(errors)) / 2)
        variances.append(np.var(errors, ddof=1) / n_seeds / (2 * np.mean(errors)) ** 2)
    x = np.log(widths) - np.log(widths).mean()
    slope = x @ logs / (x @ x)
    standard_error = np.sqrt(x**2 @ variances) / (x @ x)
    assert standard_error < 0.03  # else the test could not tell −1/2 from −1/4
    assert abs(slope + 0.5) < 5 * standard_error


@pytest.mark.parametrize("kernel", [Gaussian(), DeltaGaussian(2.0, 0.5), ShiftGaussian()], ids=repr)
@pytest.mark.parametrize(("sampler", "dim"), [("orthogonal", 8), ("qmc", 2)])
def test_spread_samplers_beat_independent_ones(kernel, sampler, dim):
    X = _rows(50, dim)
    errors = {
        name: [
            approximation_error(RandomFourier(kernel, 128, sampler=name, random_state=s).fit(X), X)
            for s in range(20)
        ]
        for name in ("iid", sampler)
    }
    gap = np.mean(errors["iid"]) - np.mean(errors[sampler])
    assert gap > 5 * np.sqrt(sum(np.var(e, ddof=1) / 20 for e in errors.values()))


# ---------------------------------------------------------------------------- calibrated weights


def _calibrated_pair(kernel, X, width, **options):
    plain = RandomFourier(kernel, width, random_state=0, **options).fit(X)
    fitted = RandomFourier(kernel, width, random_state=0, weights="calibrated", **options).fit(X)
    assert_array_equal(plain.frequencies_, fitted.frequencies_)
    return plain, fitted


@pytest.mark.parametrize("kernel", [*CLOSED, SphericalPolynomial(), Multiquadric()], ids=repr)
def test_calibrated_is_never_worse_on_the_fitting_rows(kernel):
    X = _rows(60, 4)
    plain, fitted = _calibrated_pair(kernel, X, 32)
    before, after = approximation_error(plain, X), approximation_error(fitted, X)
    assert after <= before * (1 + 1e-9)
    assert after < 0.9 * before  # and in fact better: the frequencies are few


@pytest.mark.parametrize("kernel", [ArcCosine(0), NeuralTangent(), Sigmoid(coef0=-1.0)], ids=repr)
def test_calibrated_is_never_worse_on_the_sphere(kernel):
    X = _rows(60, 4)
    before, after = (
        approximation_error(RandomGegenbauer(kernel, 32, weights=w, random_state=0).fit(X), X)
        for w in ("measure", "calibrated")
    )
    assert after <= before * (1 + 1e-9)


@pytest.mark.parametrize("kernel", [*SIGNED, *COMPLEX, Gaussian()], ids=repr)
def test_calibrated_is_least_squares_over_all_pairs(kernel):
    """All n² equations by brute force, with the ridge as extra rows around the start."""
    X = _rows(25, 3)
    plain, fitted = _calibrated_pair(kernel, X, 12)
    phases = ((X[:, None] - X[None]).reshape(-1, 3)) @ plain.frequencies_.T
    start = plain.weights_
    halves = [(np.cos(phases), np.real(start))]
    if np.iscomplexobj(start):
        halves.append((-np.sin(phases), np.imag(start)))
    ridges = [np.full(6, RIDGE * np.sum(A**2) / 6) for A, _ in halves]
    design = np.hstack([A for A, _ in halves])
    around = np.concatenate([a for _, a in halves])
    penalty = np.sqrt(np.concatenate(ridges))
    target = kernel(X).ravel()
    solution = np.linalg.lstsq(
        np.vstack([design, np.diag(penalty)]), np.append(target, penalty * around)
    )[0]
    weights = solution[:6] + 1j * solution[6:] if len(solution) == 12 else solution
    assert_allclose(fitted.weights_, weights, rtol=1e-6, atol=1e-8)
    best = np.linalg.norm(design @ np.linalg.lstsq(design, target)[0] - target)
    reached = np.linalg.norm(fitted.approximate_kernel(X).ravel() - target)
    assert best <= reached * (1 + 1e-9)
    assert reached < 1.5 * best + 1e-3 * np.linalg.norm(target)  # the ridge is small


def test_calibrated_columns_on_the_sphere_are_least_squares():
    X, kernel = _unit(_rows(30, 3)), Sigmoid(gamma=2.0, coef0=-1.0)
    plain, fitted = (
        RandomGegenbauer(kernel, 12, weights=w, random_state=0).fit(X)
        for w in ("measure", "calibrated")
    )
    assert_array_equal(plain.directions_, fitted.directions_)
    # Column by column: x takes three columns with one weight in common.
    columns = plain.transform(X) / np.sqrt(np.abs(plain.weights_))
    groups = [[0], [1, 2, 3], *([j] for j in range(4, 12))]
    assert_allclose(plain.weights_[1], plain.weights_[[2, 3]])
    products = [np.sum([np.outer(columns[:, j], columns[:, j]) for j in g], axis=0) for g in groups]
    design = np.stack([product.ravel() for product in products], axis=1)
    start = np.array([plain.weights_[g[0]] for g in groups])
    penalty = np.full(len(groups), np.sqrt(RIDGE * np.sum(design**2) / len(groups)))
    solution = np.linalg.lstsq(
        np.vstack([design, np.diag(penalty)]), np.append(kernel(X).ravel(), penalty * start)
    )[0]
    assert_allclose(fitted.weights_[[g[0] for g in groups]], solution, rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------------------- the papers' method


def test_jordan_equal_iid_is_the_asymmetric_papers_method():
    """N draws each from μ_R⁺, μ_R⁻ and μ_I⁺, with the exact masses as weights."""
    dim, kernel = 4, ShiftGaussian(sigma=1.0, shift=0.5)
    features = RandomFourier(
        kernel, 60, decomposition="jordan", allocation="equal", sampler="iid", random_state=0
    ).fit(_rows(20, dim))
    # s = r·ω ~ N(0, ‖r‖²) and ‖r‖ = 1.
    masses = [
        factor
        * quad(
            lambda s, g=g: max(g(s), 0) * np.exp(-(s**2) / 2),
            -12,
            12,
            limit=500,
            points=list(np.arange(-7, 8) * np.pi / 2),
        )[0]
        / np.sqrt(2 * np.pi)
        for factor, g in ((1, np.cos), (-1, lambda s: -np.cos(s)), (2j, np.sin))
    ]
    expected = np.repeat(masses, 10) / 10
    assert_allclose(features.weights_, expected, rtol=1e-7)
    s = features.frequencies_ @ np.full(dim, 0.5)
    assert np.all(np.cos(s[:10]) >= 0)
    assert np.all(np.cos(s[10:20]) <= 0)
    assert np.all(np.sin(s[20:]) >= 0)


def test_jordan_equal_iid_is_the_signed_papers_method():
    features = RandomFourier(
        DeltaGaussian(),
        40,
        decomposition="jordan",
        allocation="equal",
        sampler="iid",
        random_state=0,
    ).fit(_rows(20, 3))
    assert_allclose(features.weights_, np.repeat([0.1, -0.1], 10))
    assert features.form_.signs.sum() == 0


def test_jordan_has_more_mass_and_a_larger_error_than_polar():
    X, kernel = _rows(60, 8), SinhGaussian(beta=0.3)
    errors = {
        split: [
            approximation_error(
                RandomFourier(kernel, 192, decomposition=split, sampler="iid", random_state=s).fit(
                    X
                ),
                X,
            )
            for s in range(20)
        ]
        for split in ("polar", "jordan")
    }
    gap = np.mean(errors["jordan"]) - np.mean(errors["polar"])
    assert gap > 5 * np.sqrt(sum(np.var(e, ddof=1) / 20 for e in errors.values()))


# ------------------------------------------------------------------------ kernel, measure, shapes


def test_no_kernel_is_the_gaussian():
    X = _rows(20, 3)
    assert_array_equal(
        RandomFourier(None, 16, random_state=0).fit_transform(X),
        RandomFourier(Gaussian(), 16, random_state=0).fit_transform(X),
    )
    assert_array_equal(
        RandomGegenbauer(None, 16, random_state=0).fit_transform(X),
        RandomGegenbauer(ArcCosine(), 16, random_state=0).fit_transform(X),
    )


@pytest.mark.parametrize("kernel", CLOSED, ids=repr)
def test_a_measure_stands_for_its_kernel(kernel):
    X = _rows(20, 3)
    by_kernel = RandomFourier(kernel, 16, random_state=0).fit(X)
    by_measure = RandomFourier(measure=kernel.measure(3), n_components=16, random_state=0).fit(X)
    assert_array_equal(by_kernel.transform_dual(X), by_measure.transform_dual(X))
    assert_allclose(by_measure.exact_kernel(X), kernel(X), atol=2e-6)
    assert by_measure.total_mass_ == kernel.measure(3).total_mass


def test_a_measure_without_a_kernel_object():
    measure = Measure([Part(Normal(3, 1.0), 2.0), Part(Normal(3, 0.2), -0.5)])
    X = _rows(50, 3)
    features = RandomFourier(measure=measure, n_components=512, random_state=0).fit(X)
    square = np.sum((X[:, None] - X[None]) ** 2, axis=-1)
    K = 2 * np.exp(-square / 2) - 0.5 * np.exp(-0.04 * square / 2)
    assert_allclose(features.exact_kernel(X), K, atol=1e-12)
    assert np.linalg.norm(features.approximate_kernel(X) - K) < 0.05 * np.linalg.norm(K)
    assert features.total_mass_ == 2.5


@pytest.mark.parametrize("kernel", [Gaussian(), DeltaGaussian(), ShiftGaussian()], ids=repr)
@pytest.mark.parametrize("weights", ["measure", "calibrated"])
def test_the_smallest_width_is_two(kernel, weights):
    X = _rows(20, 3)
    features = RandomFourier(kernel, 2, weights=weights, random_state=0).fit(X)
    Z = features.transform(X)
    assert Z.shape == (20, 2)
    # One wave: cos² + sin² = 1.
    assert_allclose(np.sum(Z**2, axis=1), np.abs(features.weights_[0]), atol=1e-12)


DEGENERATE = [
    RandomFourier(Gaussian(), 16),
    RandomFourier(DeltaGaussian(), 16),
    RandomFourier(ShiftGaussian(), 16),
    RandomFourier(DeltaGaussian(), 16, weights="calibrated"),
    RandomFourier(ShiftGaussian(), 16, weights="calibrated"),
    RandomFourier(DeltaGaussian(), 16, sampler="leverage"),
    RandomFourier(SphericalPolynomial(), 16),
    RandomGegenbauer(NeuralTangent(), 16),
    RandomGegenbauer(Sigmoid(coef0=-1.0), 16),
    RandomGegenbauer(Sigmoid(coef0=-1.0), 16, weights="calibrated"),
]


@pytest.mark.parametrize("features", DEGENERATE, ids=repr)
@pytest.mark.parametrize(
    "X",
    [
        np.array([[0.3, 0.1, 0.2]]),
        np.full((10, 3), 0.7),
        np.zeros((5, 3)),
        np.array([[0.3], [0.7], [2.0]]),
        np.tile([[0.123, 0.7, 0.31]], (4, 1)) * np.array([[1.0], [3.0], [7.0], [0.1]]),
    ],
    ids=["one row", "constant", "zero", "one column", "one direction"],
)
def test_degenerate_data_give_finite_features(features, X):
    fitted = features.set_params(random_state=0).fit(X)
    Z = fitted.transform(X)
    assert Z.shape == (len(X), 16)
    assert np.all(np.isfinite(Z))
    assert np.all(np.isfinite(fitted.approximate_kernel(X)))


@pytest.mark.parametrize("kernel", POSITIVE, ids=repr)
def test_a_positive_stationary_kernel_is_exact_on_the_diagonal(kernel):
    X = _rows(20, 3)
    features = RandomFourier(kernel, 16, random_state=0).fit(X)
    assert_allclose(np.diagonal(features.approximate_kernel(X)), 1.0, atol=1e-12)


WIDE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))  # fail, do not swap
import numpy as np
from scipy import sparse
from krein import RandomFourier
from krein.kernels import DeltaGaussian, Gaussian, ShiftGaussian
X = sparse.random_array((60, 20_000), density=1e-3, rng=np.random.default_rng(0), format="csr")
for kernel in (Gaussian(sigma=3.0), DeltaGaussian(3.0, 30.0), ShiftGaussian(3.0, 0.01)):
    features = RandomFourier(kernel, 512, sampler=sys.argv[1], random_state=0).fit(X)
    K = kernel(X)
    error = np.linalg.norm(features.approximate_kernel(X) - K) / np.linalg.norm(K)
    assert error < 0.2, (kernel, error)
    assert features.frequencies_.shape == (256, 20_000)
"""


@pytest.mark.parametrize("sampler", ["orthogonal", "iid"])
def test_wide_sparse_rows(sampler):
    """20,000 columns: nothing may need a square of the number of columns."""
    env = {**os.environ, "PYTHONPATH": str(Path(krein.__file__).resolve().parents[1])}
    command = [sys.executable, "-c", WIDE, sampler]
    run = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=env)
    assert run.returncode == 0, run.stderr[-500:]


@pytest.mark.parametrize(
    "features",
    [
        RandomFourier(DeltaGaussian(), 32),
        RandomFourier(ShiftGaussian(), 32),
        RandomGegenbauer(NeuralTangent(), 32),
    ],
    ids=repr,
)
def test_single_precision_data_give_the_same_map(features):
    X = _rows(30, 4).astype(np.float32)
    single = features.set_params(random_state=0).fit(X)
    Z, W, K = single.transform(X), single.transform_dual(X), single.approximate_kernel(X)
    assert Z.dtype == W.dtype == K.dtype == np.float32
    double = features.fit(X.astype(float))
    assert_allclose(Z, double.transform(X.astype(float)), atol=1e-4 * np.abs(Z).max())


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.coo_matrix])
def test_sparse_rows_give_the_same_map(make):
    X = _rows(30, 6) * (_rows(30, 6, 1) < 0.4)
    X[:, 0] += 0.1  # no zero rows
    for features in (
        RandomFourier(DeltaGaussian(), 16, random_state=0),
        RandomFourier(SphericalPolynomial(), 16, random_state=0),
        RandomGegenbauer(NeuralTangent(), 16, random_state=0),
    ):
        dense = features.fit(X).transform_dual(X)
        assert_allclose(features.fit(make(X)).transform_dual(make(X)), dense, rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------------------------- the range


def test_auto_radius_is_the_estimated_diameter():
    X = _rows(50, 3)
    features = RandomFourier(SphericalPolynomial(), 16, random_state=0).fit(X)
    assert features.measure_.radius == measure_extent(X).diameter
    given = RandomFourier(SphericalPolynomial(), 16, radius=2.5, random_state=0).fit(X)
    assert given.measure_.radius == 2.5
    assert given.total_mass_ > features.total_mass_  # a larger range costs mass


def test_on_the_sphere_the_range_ends_at_two():
    X = np.vstack([np.eye(3), -np.eye(3)])
    features = RandomFourier(Polynomial(), 32, random_state=0).fit(X)
    assert features.measure_.radius == 2.0


def test_rows_beyond_the_range_warn_exactly_once():
    X = _rows(50, 3)
    features = RandomFourier(SphericalPolynomial(), 16, random_state=0).fit(X)
    extent = measure_extent(X)
    outward = (X - extent.center) / np.linalg.norm(X - extent.center, axis=1, keepdims=True)
    features.transform(extent.center + 1.09 * extent.reach * outward)  # a warning would be an error
    with pytest.warns(UserWarning, match="RandomFourier was fitted on.*larger radius") as caught:
        features.transform(extent.center + 1.11 * extent.reach * outward)
    assert len(caught) == 1
    features.transform(extent.center + 5 * extent.reach * outward)  # not a second time
    features.transform_dual(extent.center + 5 * extent.reach * outward)
    features.fit(X)
    with pytest.warns(UserWarning, match="larger radius"):
        features.approximate_kernel(5 * X)


@pytest.mark.parametrize(
    "features",
    [
        RandomFourier(Gaussian(), 16),
        RandomFourier(DeltaGaussian(), 16),
        RandomFourier(ShiftGaussian(), 16),
        RandomFourier(SphericalPolynomial(a=200.0), 16, radius=100.0),
    ],
    ids=repr,
)
def test_closed_forms_and_given_radii_never_warn(features):
    X = _rows(50, 3)
    features.set_params(random_state=0).fit(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        features.transform(20 * X)
        features.transform_dual(20 * X)
    assert not caught


def test_the_sphere_warns_when_directions_leave_the_range():
    narrow = np.array([1.0, 0.0, 0.0]) + 0.1 * _rows(50, 3)
    features = RandomGegenbauer(NeuralTangent(), 16, random_state=0).fit(narrow)
    features.transform(7 * narrow)  # the same directions
    with pytest.warns(UserWarning, match="RandomGegenbauer was fitted on") as caught:
        features.transform(-narrow)
    assert len(caught) == 1
    features.transform(-narrow)  # not a second time


@pytest.mark.parametrize(
    "kernel", [SphericalPolynomial(), Epanechnikov(sigma=3.0, degree=2), Multiquadric()], ids=repr
)
def test_kernels_with_a_range_are_approximated_inside_it(kernel):
    X = _rows(80, 3)
    features = RandomFourier(kernel, 256, random_state=0).fit(X)
    assert approximation_error(features, X) < 0.05
    assert features.measure_.bias < 0.05 * np.abs(kernel(X)).max()


# ----------------------------------------------------------------------------------- the sphere


def test_normalize_makes_the_map_scale_free():
    X = _rows(40, 4)
    features = RandomGegenbauer(NeuralTangent(), 32, random_state=0).fit(X)
    scales = np.random.default_rng(1).uniform(0.1, 10, (40, 1))
    assert_allclose(features.transform(scales * X), features.transform(X), atol=1e-12)
    assert_allclose(features.exact_kernel(X), NeuralTangent()(_unit(X)), atol=1e-12)


def test_without_normalize_unit_rows_give_the_same_map():
    X = _unit(_rows(40, 4))
    one = RandomGegenbauer(NeuralTangent(), 32, random_state=0).fit(X)
    other = RandomGegenbauer(NeuralTangent(), 32, normalize=False, random_state=0).fit(X)
    assert_allclose(one.transform(X), other.transform(X), atol=1e-10)


@pytest.mark.parametrize("width", [1, 2, 3, 8, 9, 17, 18, 64])
@pytest.mark.parametrize("weights", ["measure", "calibrated"])
def test_any_width_on_the_sphere(width, weights):
    X = _rows(40, 8)
    features = RandomGegenbauer(NeuralTangent(), width, weights=weights, random_state=0).fit(X)
    assert features.transform(X).shape == (40, width)
    assert features.weights_.shape == (width,)
    assert len(features.directions_) == len(features.degrees_) <= width
    assert np.all(np.isfinite(features.approximate_kernel(X)))


def test_negative_coefficients_are_in_the_form():
    X = _rows(60, 4)
    kernel = Sigmoid(gamma=1.0, coef0=-1.0)
    features = RandomGegenbauer(kernel, 128, random_state=0).fit(X)
    assert features.measure_.coefficients.min() < 0
    assert set(features.form_.signs) == {-1.0, 1.0}
    assert_array_equal(features.form_.signs, np.where(features.weights_ < 0, -1, 1))
    assert approximation_error(features, X) < 0.05
    assert np.linalg.eigvalsh(features.approximate_kernel(X))[0] < -0.1


@pytest.mark.parametrize("kernel", [Polynomial(degree=1), Polynomial(degree=1, coef0=-0.5)])
@pytest.mark.parametrize("weights", ["measure", "calibrated"])
def test_degrees_zero_and_one_are_exact(kernel, weights):
    X = _rows(40, 4)
    features = RandomGegenbauer(kernel, 32, weights=weights, random_state=0).fit(X)
    # The ridge of the calibration leaves 1e-4 of what was wrong before.
    tolerance = 1e-8 if weights == "measure" else 1e-6
    assert_allclose(features.approximate_kernel(X), kernel(_unit(X)), rtol=0, atol=tolerance)


def test_low_degrees_need_no_directions():
    X = _rows(40, 4)
    features = RandomGegenbauer(Polynomial(degree=1), 32, random_state=0).fit(X)
    assert len(features.directions_) == 0
    assert_array_equal(features.transform(X)[:, 5:], 0)
    other = RandomGegenbauer(Polynomial(degree=1), 32, random_state=1).fit(X)
    assert_array_equal(features.transform(X), other.transform(X))  # nothing random is left


def test_zero_rows_stay_zero():
    X = np.vstack([_rows(30, 4), np.zeros((2, 4))])
    features = RandomGegenbauer(Polynomial(degree=2), 256, random_state=0).fit(X)
    K = features.approximate_kernel(X)
    assert_allclose(features.exact_kernel(X)[30:], 1.0)  # (0 + 1)²
    assert_allclose(K[30:], 1.0, atol=0.15)
    sparse_rows = features.transform(sparse.csr_array(X))
    assert_allclose(sparse_rows, features.transform(X), atol=1e-12)


def test_radial_kernels_are_allowed_on_the_sphere():
    X = _rows(60, 4)
    for kernel in (Gaussian(), GeodesicGaussian(), GaussianCombination((1, -0.3), (1, 2))):
        features = RandomGegenbauer(kernel, 256, random_state=0).fit(X)
        assert_allclose(features.exact_kernel(X), kernel(_unit(X)), atol=1e-9)
        assert approximation_error(features, X) < 0.05


# ----------------------------------------------------------------------------- reproducibility

MAPS = [
    functools.partial(RandomFourier, DeltaGaussian(), 64),
    functools.partial(RandomFourier, ShiftGaussian(), 64, weights="calibrated"),
    functools.partial(RandomFourier, Gaussian(), 64, sampler="leverage"),
    functools.partial(RandomGegenbauer, NeuralTangent(), 64),
]


@pytest.mark.parametrize("make", MAPS, ids=lambda m: f"{m.func.__name__}{m.args}{m.keywords}")
@pytest.mark.parametrize(
    "seed",
    [lambda: 5, lambda: np.random.RandomState(5), lambda: np.random.default_rng(5)],
    ids=["int", "RandomState", "Generator"],
)
def test_the_same_seed_draws_the_same_map(make, seed):
    X = _rows(1200, 3)  # more than the rows that are sampled
    first, second = (make(random_state=seed()).fit(X).transform_dual(X[:50]) for _ in range(2))
    assert_array_equal(first, second)
    assert not np.array_equal(first, make(random_state=6).fit(X).transform_dual(X[:50]))


def test_a_generator_moves_on():
    X, state = _rows(20, 3), np.random.default_rng(0)
    first, second = (RandomFourier(Gaussian(), 16, random_state=state).fit(X) for _ in range(2))
    assert not np.array_equal(first.frequencies_, second.frequencies_)


@pytest.mark.parametrize("make", MAPS, ids=lambda m: f"{m.func.__name__}{m.args}{m.keywords}")
@pytest.mark.parametrize("size", [1, 100])
def test_the_size_of_blocks_changes_nothing(make, size):
    X = _rows(320, 3)
    features = make(random_state=0).fit(X)
    for verb in (features.transform, features.transform_dual):
        pieces = np.concatenate([verb(X[i : i + size]) for i in range(0, 320, size)])
        assert_allclose(pieces, verb(X), rtol=0, atol=1e-12)


def test_inner_blocks_on_the_sphere_change_nothing(monkeypatch):
    X = _rows(300, 3)
    features = RandomGegenbauer(NeuralTangent(), 64, random_state=0).fit(X)
    whole = features.transform(X)
    small = functools.partial(gegenbauer.row_blocks, budget=1)
    monkeypatch.setattr(gegenbauer, "row_blocks", small)
    assert len(list(small(300, 8))) == 300
    assert_allclose(features.transform(X), whole, rtol=0, atol=1e-12)


def test_samplers_as_names_and_as_objects_agree():
    X = _rows(20, 3)
    assert_array_equal(
        RandomFourier(sampler="orthogonal", random_state=0).fit_transform(X),
        RandomFourier(sampler=Orthogonal(), random_state=0).fit_transform(X),
    )


# ------------------------------------------------------------------------- quality on real data


@pytest.fixture(scope="module")
def letter(load):
    X = np.asarray(load("letter")[0], dtype=float)
    rows = X[np.random.default_rng(0).choice(len(X), 1000, replace=False)]
    low, high = X.min(axis=0), X.max(axis=0)
    return {"unit": _unit(rows), "scaled": (rows - low) / (high - low)}


# Width 256, relative Frobenius error on 1000 rows.
BARS = [
    (RandomFourier, SphericalPolynomial(a=2.0, degree=2), "measure", "unit", 0.03),
    (RandomFourier, SphericalPolynomial(a=2.0, degree=2), "calibrated", "unit", 0.006),
    (RandomFourier, DeltaGaussian(1.0, 10.0), "measure", "scaled", 0.05),
    (RandomFourier, DeltaGaussian(1.0, 10.0), "calibrated", "scaled", 0.025),
    (RandomGegenbauer, ArcCosine(0), "measure", "unit", 0.04),
    (RandomGegenbauer, NeuralTangent(), "measure", "unit", 0.06),
    (RandomFourier, Hellinger(), "measure", "unit", 0.025),
]


@pytest.mark.parametrize(("cls", "kernel", "weights", "rows", "bar"), BARS, ids=str)
def test_quality_on_letter(letter, cls, kernel, weights, rows, bar):
    X = letter[rows]
    for seed in range(2):
        features = cls(kernel, 256, weights=weights, random_state=seed).fit(X)
        K = kernel(X)
        error = np.linalg.norm(features.approximate_kernel(X) - K) / np.linalg.norm(K)
        assert error <= bar


def test_neyman_allocation_beats_equal_shares_on_letter(letter):
    X = letter["scaled"]
    errors = {
        rule: [
            approximation_error(
                RandomFourier(DeltaGaussian(), 256, allocation=rule, random_state=s).fit(X), X
            )
            for s in range(4)
        ]
        for rule in ("neyman", "equal")
    }
    assert max(errors["neyman"]) < min(errors["equal"])
