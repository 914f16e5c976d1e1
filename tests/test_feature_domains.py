"""Where feature maps approximate a kernel: its range of distances, and the sphere."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from feature_data import _rows, _unit
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded
from scipy import sparse

from krein import RandomFourier, RandomGegenbauer, approximation_error
from krein.features.geometry import measure_extent
from krein.kernels import (
    DeltaGaussian,
    Epanechnikov,
    Gaussian,
    GaussianCombination,
    GeodesicGaussian,
    Multiquadric,
    NeuralTangent,
    Polynomial,
    ShiftGaussian,
    Sigmoid,
    SphericalPolynomial,
    ThinPlateSpline,
)

pytestmark = pytest.mark.usefixtures("solve_each_programme_once")


# ---------------------------------------------------------------------------------- the range


def test_auto_radius_is_the_estimated_diameter():
    X = _rows(50, 3)
    features = RandomFourier(SphericalPolynomial(), 16, random_state=0).fit(X)
    assert features.measure_.diameter == pytest.approx(measure_extent(X).diameter, rel=1e-12)
    given = RandomFourier(SphericalPolynomial(), 16, diameter=2.5, random_state=0).fit(X)
    assert given.measure_.diameter == 2.5
    assert given.total_mass_ > features.total_mass_  # a larger range costs mass


def test_on_the_sphere_the_range_ends_at_two():
    X = np.vstack([np.eye(3), -np.eye(3)])
    features = RandomFourier(Polynomial(), 32, random_state=0).fit(X)
    assert features.measure_.diameter == 2.0


def test_rows_beyond_the_range_warn_exactly_once():
    X = _rows(50, 3)
    features = RandomFourier(SphericalPolynomial(), 16, random_state=0).fit(X)
    extent = measure_extent(X)
    sizes = np.linalg.norm(X - extent.center, axis=1, keepdims=True)
    outward = sizes.max() * (X - extent.center) / sizes
    features.transform(X)  # a warning would be an error
    with pytest.warns(UserWarning, match="RandomFourier represents .*larger diameter") as caught:
        features.transform(extent.center + 2 * outward)
    assert len(caught) == 1
    features.transform(extent.center + 5 * outward)  # not a second time
    features.transform_dual(extent.center + 5 * outward)
    features.fit(X)
    with pytest.warns(UserWarning, match="larger diameter"):
        features.approximate_kernel(5 * X)


@pytest.mark.parametrize("kernel", [ThinPlateSpline(), NeuralTangent(), Multiquadric()], ids=repr)
@pytest.mark.parametrize("factor", [1.02, 1.1, 1.15])
def test_the_warning_says_how_far_off_the_kernel_is(kernel, factor):
    """Thin plates are half their size off where the neural tangent kernel is right."""
    angles = np.linspace(0, 0.5 * np.pi, 40)
    X = (
        np.stack([np.cos(angles), np.sin(angles)], axis=1)
        if kernel.traits.unit_rows
        else np.eye(2)[:1] * (angles - np.pi / 4)[:, None]
    )
    features = RandomFourier(kernel, 256, random_state=0).fit(X)
    reach = factor * features.measure_.diameter
    turn = 2 * np.arcsin(reach / 2)
    far = (
        np.array([[np.cos(turn), np.sin(turn)]])
        if kernel.traits.unit_rows
        else X[:1] + reach * np.eye(2)[:1]
    )
    z = np.linspace(0, features.measure_.diameter, 500)
    size = np.abs(kernel.radial_profile(z)).max()
    measured = features.measure_.kernel(np.array([[reach, 0.0]]))[0]
    error = abs(measured - kernel.radial_profile(np.array([reach]))[0]) / size
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        features.transform(far)
    bias = features.measure_.bias / size
    assert bool(caught) == (error > max(0.1, 1.5 * bias))
    if caught:
        stated = float(re.search(r"off by ([\d.]+) %", str(caught[0].message))[1])
        assert stated == pytest.approx(100 * error, rel=0.1)


def test_ten_per_cent_beyond_the_range_thin_plates_are_half_off():
    X = _rows(50, 3)
    features = RandomFourier(ThinPlateSpline(X.std() * 5), 256, random_state=0).fit(X)
    far = X[:1] + 1.1 * features.measure_.diameter * np.eye(3)[:1]
    with pytest.warns(UserWarning, match=r"off by \d\d"):
        features.transform(far)


@pytest.mark.parametrize(
    "features",
    [
        RandomFourier(Gaussian(), 16),
        RandomFourier(DeltaGaussian(), 16),
        RandomFourier(ShiftGaussian(), 16),
        RandomFourier(SphericalPolynomial(a=200.0), 16, diameter=100.0),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:.*nearly constant:UserWarning")  # a = 200 on rows of size 1
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
    with pytest.warns(UserWarning, match="RandomGegenbauer represents the kernel") as caught:
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
    assert_rounded(features.transform(X), other.transform(X))  # nothing random is left


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
