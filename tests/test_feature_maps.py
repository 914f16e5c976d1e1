"""Feature maps: the contract, the form, the data they take and reproducibility."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from feature_data import CLOSED, COMPLEX, DIMS, POSITIVE, SIGNED, _rows
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded
from scipy import sparse

import krein
from krein import RandomFourier, RandomGegenbauer
from krein.forms import Phase, Signature
from krein.kernels import (
    ArcCosine,
    DeltaGaussian,
    Gaussian,
    Multiquadric,
    NeuralTangent,
    Polynomial,
    ShiftGaussian,
    Sigmoid,
    SinhGaussian,
    SphericalPolynomial,
)
from krein.measures import Measure, Normal, Part
from krein.samplers import LeverageSampler
from krein.testing import check_feature_map

pytestmark = pytest.mark.usefixtures("solve_each_programme_once")


# ------------------------------------------------------------------------------- the contract


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", CLOSED, ids=repr)
def test_contract_of_every_kind_of_kernel(kernel, dim):
    features = RandomFourier(kernel, 32, random_state=0).fit(_rows(40, dim))
    check_feature_map(features, _rows(20, dim, 1), _rows(15, dim, 2))


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kernel", [Gaussian(), DeltaGaussian(), ShiftGaussian()], ids=repr)
@pytest.mark.parametrize(
    "sampler",
    ["iid", "orthogonal", "qmc", "importance", "leverage", LeverageSampler(pool=2)],
    ids=repr,
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
    assert_rounded(features.transform(_rows(5, 3)), features.transform_dual(_rows(5, 3)))


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
    assert_rounded(by_kernel.transform_dual(X), by_measure.transform_dual(X))
    assert_allclose(by_measure.exact_kernel(X), kernel(X), atol=2e-6)
    assert by_measure.total_mass_ == pytest.approx(kernel.measure(3).total_mass, rel=1e-12)


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
import os, resource, sys
import numpy as np
from scipy import sparse
from krein import RandomFourier
from krein.kernels import DeltaGaussian, Gaussian, ShiftGaussian
if os.path.exists("/proc/self/statm"):  # a square of 3.2 GB is refused, neither made nor factored
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**31, used + 2**31))
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
    # One thread: each further one reserves address space.
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    env = {**os.environ, **one, "PYTHONPATH": str(Path(krein.__file__).resolve().parents[1])}
    command = [sys.executable, "-c", WIDE, sampler]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
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


# ----------------------------------------------------------------------------- reproducibility
