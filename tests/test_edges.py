"""The edges: high dimensions, huge masses, far offsets, parameters that change after fit."""

import pickle
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.integrate import quad

import krein
from krein import RandomFourier, RandomGegenbauer
from krein.kernels import (
    ArcCosine,
    CoshGaussian,
    Custom,
    DeltaGaussian,
    Epanechnikov,
    FromMeasure,
    Gaussian,
    Hellinger,
    Multiquadric,
    NeuralTangent,
    ShiftGaussian,
    SphericalPolynomial,
)
from krein.measures import InfiniteMassError
from krein.measures.special import sphere_wave


@pytest.fixture
def X(rng):
    return rng.random((200, 4))


@pytest.mark.parametrize("dim", [99, 100, 200, 784, 5000])
@pytest.mark.parametrize("tau", [0.0, 0.3, 1.0, 3.0, 8.0, 20.0])
def test_the_wave_of_a_high_dimension_is_its_integral(dim, tau):
    def density(x):
        return np.exp((dim - 3) / 2 * np.log1p(-(x**2) / dim))

    end = min(np.sqrt(dim), 12.0) * (1 - 1e-12)
    top = quad(lambda x: np.cos(tau * x) * density(x), 0, end, limit=500, epsabs=1e-13)[0]
    expected = top / quad(density, 0, end, epsabs=1e-13)[0]
    assert_allclose(sphere_wave(dim, np.array([tau * np.sqrt(dim)])), expected, atol=1e-10)


def test_a_programme_kernel_has_features_in_784_dimensions(rng):
    X = rng.random((50, 784))
    features = RandomFourier(Multiquadric(20.0), random_state=0).fit(X)
    assert krein.approximation_error(features, X) < 0.05


def test_a_mass_beyond_floating_point_is_refused(rng):
    with pytest.raises(InfiniteMassError, match="mass inf"):
        RandomFourier(CoshGaussian(10.0, 1.0), 64).fit(rng.random((60, 57)))


def test_features_that_are_noise_come_with_a_warning(rng):
    with pytest.warns(UserWarning, match="mostly noise"):
        RandomFourier(CoshGaussian(3.0, 0.5), random_state=0).fit(rng.random((60, 20)))


@pytest.mark.parametrize("in_learner", [False, True])
def test_a_warning_of_a_map_points_to_the_caller(rng, in_learner):
    X = rng.random((60, 20))
    model = RandomFourier(CoshGaussian(3.0, 0.5), random_state=0)
    if in_learner:
        model = krein.TwoSidedRidge(features=model, alpha=1.0)
    with pytest.warns(UserWarning, match="mostly noise") as seen:
        model.fit(X, X[:, 0])
    assert {w.filename for w in seen if "mostly noise" in str(w.message)} == {__file__}


@pytest.mark.parametrize("n", [0, 2.5, -1])
def test_a_measure_draws_a_whole_number_of_atoms(n):
    with pytest.raises(ValueError, match="needs n to be a whole number ≥ 1"):
        Gaussian().measure(2).atoms(n)


def test_rows_off_the_sphere_are_refused_at_transform(X):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    features = RandomFourier(ArcCosine(1), random_state=0).fit(unit)
    for verb in (features.transform, features.transform_dual):
        with pytest.raises(ValueError, match=r"rows of norm 1, but row 0 has norm 0\.8"):
            verb(0.8 * unit)


def test_hellinger_takes_histograms_with_nothing_in_common():
    rows = np.sqrt(np.eye(5))
    features = RandomGegenbauer(Hellinger(), random_state=0).fit(rows)
    assert features.measure_.lowest == 0
    assert np.isfinite(features.transform(rows)).all()


def test_new_rows_across_the_fitted_ones_are_warned_about():
    features = RandomFourier(SphericalPolynomial(1.5), 64, random_state=0).fit(np.eye(16))
    with pytest.warns(UserWarning, match="beyond it the map is off by"):
        features.transform(-np.eye(16))


def test_an_offset_of_ten_million_loses_nothing(X):
    far = 5 * X + 1e7
    features = RandomFourier(Multiquadric(), random_state=0).fit(far)
    assert krein.approximation_error(features, far) < 0.05


def test_a_product_of_complex_measures_is_refused(X):
    kernel = FromMeasure(ShiftGaussian(shift=0.5).measure(4).jordan())
    with pytest.raises(ValueError, match="not symmetric"):
        RandomFourier(kernel * kernel).fit(X)


def test_jordan_measures_can_be_pickled():
    measure = ShiftGaussian(shift=0.5).measure(4).jordan()
    copy = pickle.loads(pickle.dumps(measure))
    assert copy == measure


def test_a_sum_of_a_directed_and_a_programme_kernel_has_features(X):
    features = RandomFourier(ShiftGaussian() + Epanechnikov(3.0), random_state=0).fit(X)
    assert krein.approximation_error(features, X) < 0.05


def test_calibration_on_few_rows_stays_near_the_measure(rng):
    rows, new = rng.standard_normal((20, 4)), rng.standard_normal((200, 4))
    errors = {
        weights: krein.approximation_error(
            RandomFourier(Gaussian(), weights=weights, random_state=0).fit(rows), new
        )
        for weights in ("measure", "calibrated")
    }
    assert errors["calibrated"] < 1.1 * errors["measure"]


@pytest.mark.parametrize("features", [RandomFourier(), RandomGegenbauer(NeuralTangent(), 64)])
def test_parameters_set_after_fit_change_nothing(X, features):
    Z = features.set_params(random_state=0).fit(X).transform(X)
    features.set_params(n_components=2)
    assert_allclose(features.transform(X), Z)


def test_a_fitted_map_keeps_its_kernel(X):
    kernel = Gaussian(sigma=1.0)
    features = RandomFourier(kernel, random_state=0).fit(X)
    before = krein.approximation_error(features, X)
    kernel.sigma = 0.01
    assert krein.approximation_error(features, X) == before


def test_diagnose_does_not_believe_a_declaration(X):
    skewed = Custom(lambda A, B: A @ np.triu(np.ones((4, 4))) @ B.T)
    diagnosis = krein.diagnose(skewed, X, random_state=0)
    assert diagnosis.asymmetry > 0.1
    assert not diagnosis.is_positive_definite
    assert "although declared" in diagnosis.evidence


def test_diagnose_believes_a_proof_before_round_off(X):
    diagnosis = krein.diagnose(Gaussian(), X + 1e5, random_state=0)
    assert diagnosis.is_positive_definite
    assert "Bochner" in diagnosis.evidence


@pytest.mark.parametrize("n_components", [0, 255])
def test_diagnose_refuses_a_width_that_no_map_has(X, n_components):
    with pytest.raises(ValueError, match=f"needs n_components to be .*, got {n_components}"):
        krein.diagnose(Gaussian(), X, n_components=n_components)


def test_the_error_is_the_same_for_data_frames_and_any_sparse_format(X):
    features = RandomFourier(DeltaGaussian(), random_state=0).fit(X)
    expected = krein.approximation_error(features, X)
    assert_allclose(krein.approximation_error(features, sparse.coo_array(X)), expected, rtol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        framed = RandomFourier(DeltaGaussian(), random_state=0).set_output(transform="pandas")
        assert_allclose(krein.approximation_error(framed.fit(X), X), expected)


def test_every_public_name_is_found_listed_and_nothing_else():
    for name in krein.__all__:
        assert getattr(krein, name).__name__ == name
        assert name in dir(krein)
    assert krein.kernels.Gaussian is Gaussian
    with pytest.raises(AttributeError, match="no attribute 'Nystroem'"):
        _ = krein.Nystroem


def test_the_version_is_that_of_the_installed_package(monkeypatch):
    from importlib import metadata

    monkeypatch.setattr(metadata, "version", lambda name: {"krein": "1.2.3"}[name])
    assert krein.__version__ == "1.2.3"
    assert "__version__" in dir(krein)

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    assert krein.__version__ == "0+unknown"


def test_the_files_that_name_the_version_agree():
    root = Path(__file__).resolve().parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert f"version: {project['version']}\n" in (root / "CITATION.cff").read_text()
