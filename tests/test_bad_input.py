"""Bad input gets one sentence that names the argument and the cure; nothing is half-fitted."""

from __future__ import annotations

import copy
import functools
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from krein import RandomFourier, RandomGegenbauer, diagnose
from krein.kernels import (
    TL1,
    ArcCosine,
    Custom,
    DeltaGaussian,
    Epanechnikov,
    Gaussian,
    GeodesicGaussian,
    Hellinger,
    Laplacian,
    Matern,
    NoMeasureError,
    Pairwise,
    Polynomial,
    Precomputed,
    ShiftGaussian,
    Sigmoid,
    SinhGaussian,
)
from krein.measures import InfiniteMassError

X = np.random.default_rng(0).random((30, 3))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)


def _with(value, at=(2, 1)):
    bad = X.copy()
    bad[at] = value
    return bad


def _linear(A, B):
    return np.asarray(A) @ np.asarray(B).T


def _wrong_shape(A, B):
    return np.zeros((len(A), len(B) + 1))


def _fourier(*args, **options):
    return RandomFourier(*args, random_state=0, **{"n_components": 16, **options})


def _sphere(*args, **options):
    return RandomGegenbauer(*args, random_state=0, **{"n_components": 16, **options})


# Map, data, type of error, what the sentence must contain.
REFUSED = {
    "NaN": (_fourier(), _with(np.nan), ValueError, "NaN"),
    "inf": (_fourier(), _with(np.inf), ValueError, "infinity"),
    "NaN in CSR": (_fourier(), sparse.csr_array(_with(np.nan)), ValueError, "NaN"),
    "NaN on the sphere": (_sphere(), _with(np.nan), ValueError, "NaN"),
    "inf on the sphere": (_sphere(), _with(-np.inf), ValueError, "infinity"),
    "one-dimensional": (_fourier(), X[0], ValueError, "2D array"),
    "no rows": (_fourier(), X[:0], ValueError, "0 sample"),
    "no columns": (_fourier(), X[:, :0], ValueError, "0 feature"),
    "words": (_fourier(), np.array([["a", "b"]] * 5), ValueError, "column 0 of X holds 'a'"),
    "odd width": (_fourier(n_components=17), X, ValueError, r"n_components must be even.*17.*18"),
    "zero width": (_fourier(n_components=0), X, ValueError, r"n_components.*\[1, inf\).*Got 0"),
    "negative width": (_fourier(n_components=-2), X, ValueError, r"n_components.*Got -2"),
    "fractional width": (_fourier(n_components=8.0), X, ValueError, r"n_components.*Got 8\.0"),
    "zero width, sphere": (_sphere(n_components=0), X, ValueError, r"n_components.*Got 0"),
    "string as kernel": (_fourier("rbf"), X, ValueError, r"needs kernel .*Gaussian.*got 'rbf'"),
    "string on the sphere": (
        _sphere("poly"),
        X,
        ValueError,
        r"needs kernel .*Polynomial.*got 'poly'",
    ),
    "function as kernel": (_fourier(_linear), X, ValueError, r"needs kernel .*Pairwise"),
    "class as kernel": (_fourier(Gaussian), X, ValueError, r"needs kernel .*Gaussian\(\)"),
    "string as measure": (_fourier(measure="normal"), X, ValueError, r"'measure' parameter"),
    "kernel and measure": (
        _fourier(Gaussian(), measure=Gaussian().measure(3)),
        X,
        ValueError,
        "kernel or measure, not both",
    ),
    "measure of another dimension": (
        _fourier(measure=Gaussian().measure(5)),
        X,
        ValueError,
        r"R\^5.*(3|R\^3)",
    ),
    "TL1": (_fourier(TL1(rho=2.0)), X, NoMeasureError, "TL1.*Nyström"),
    "Custom": (_fourier(Custom(_linear)), X, NoMeasureError, "Custom.*Nyström"),
    "Pairwise": (_fourier(Pairwise(np.dot)), X, NoMeasureError, "Pairwise.*Nyström"),
    "Precomputed": (_fourier(Precomputed()), X @ X.T, NoMeasureError, "Precomputed.*Nyström"),
    "TL1 plus Gaussian": (_fourier(TL1() + Gaussian()), X, NoMeasureError, "Nyström"),
    "Custom on the sphere": (_sphere(Custom(_linear)), X, NoMeasureError, "Nyström"),
    "ℓ1 on the sphere": (_sphere(Laplacian()), X, NoMeasureError, "Laplacian.*Nyström"),
    "asymmetric on the sphere": (_sphere(ShiftGaussian()), X, NoMeasureError, "Nyström"),
    "rows off the sphere": (_fourier(Polynomial()), X, ValueError, r"norm 1.*norm.*Normalizer"),
    "sum off the sphere": (_fourier(Sigmoid() + Gaussian()), X, ValueError, "rows of norm 1"),
    "geodesic off the sphere": (_fourier(GeodesicGaussian()), X, ValueError, "norm 1.*norm"),
    "zero row off the sphere": (
        _fourier(ArcCosine()),
        np.vstack([UNIT, [0, 0, 0]]),
        ValueError,
        r"rows of norm 1, but row 30 has norm 0",
    ),
    "normalize=False": (_sphere(normalize=False), X, ValueError, r"norm 1.*normalize=True"),
    "negative products": (
        _sphere(Hellinger()),
        X - 0.5,
        ValueError,
        "Hellinger.*(negative|product)",
    ),
    "infinite mass": (
        _fourier(Epanechnikov(sigma=0.05, degree=0.01)),
        X,
        InfiniteMassError,
        "finite mass.*Epanechnikov.*Nystrom",
    ),
    "mass beyond floating point": (
        _fourier(SinhGaussian(1.0, 30.0)),
        X,
        InfiniteMassError,
        "mass inf.*narrower kernel or krein.Nystrom",
    ),
    "negative diameter": (
        _fourier(diameter=-1.0),
        X,
        ValueError,
        r"'diameter' parameter.*Got -1\.0",
    ),
    "zero diameter": (_fourier(diameter=0.0), X, ValueError, r"'diameter' parameter"),
    "word as diameter": (_fourier(diameter="big"), X, ValueError, r"'diameter' parameter.*'big'"),
    "unknown sampler": (_fourier(sampler="sobol"), X, ValueError, r"'sampler' parameter.*'sobol'"),
    "unknown weights": (_fourier(weights="best"), X, ValueError, r"'weights' parameter"),
    "unknown split": (_fourier(decomposition="hahn"), X, ValueError, r"'decomposition' parameter"),
    "unknown shares": (_fourier(allocation="fair"), X, ValueError, r"'allocation' parameter"),
    "word as seed": (
        RandomFourier(random_state="x"),
        X,
        ValueError,
        r"'random_state' parameter",
    ),
    "zero sigma": (_fourier(Gaussian(sigma=0.0)), X, ValueError, r"Gaussian needs sigma.*0\.0"),
    "negative sigma": (_fourier(DeltaGaussian(sigma_neg=-1)), X, ValueError, r"sigma_neg.*-1"),
    "shift of another length": (
        _fourier(ShiftGaussian(shift=[1.0, 2.0])),
        X,
        ValueError,
        r"shift.*3 columns",
    ),
    "importance for heavy tails": (
        _fourier(Matern(), sampler="importance"),
        X,
        ValueError,
        r"importance sampler.*heavier.*sampler='orthogonal'",
    ),
    "rejection without a density": (
        _fourier(Laplacian(), sampler="rejection"),
        X,
        ValueError,
        r"rejection sampler.*radial density.*sampler='orthogonal'",
    ),
    "leverage on the sphere": (
        _sphere(sampler="leverage"),
        X,
        ValueError,
        r"sampler of points.*Leverage.*sampler='orthogonal'",
    ),
}


def _fitted_attributes(features) -> list[str]:
    return [name for name in vars(features) if name.endswith("_") and not name.startswith("__")]


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_gets_one_sentence(name):
    features, data, error, sentence = REFUSED[name]
    with pytest.raises(error, match=re.compile(sentence, re.DOTALL)):
        clone(features).fit(data)


@pytest.mark.parametrize("name", REFUSED)
def test_nothing_is_half_fitted(name):
    features, data, error, _ = REFUSED[name]
    features = clone(features)
    before = dict(vars(features))
    with pytest.raises(error):
        features.fit(data)
    assert _fitted_attributes(features) == []
    assert vars(features).keys() == before.keys()
    for verb in ("transform", "transform_dual", "approximate_kernel"):
        with pytest.raises(NotFittedError):
            getattr(features, verb)(X)


@functools.cache
def _fitted(index):
    return clone(MAPS[index]).fit(X)


@pytest.mark.parametrize("name", REFUSED)
def test_a_failed_second_fit_leaves_the_first_one_whole(name):
    features, data, error, _ = REFUSED[name]
    first = _fitted(3 if isinstance(features, RandomGegenbauer) else 0)
    fitted = copy.deepcopy(first).set_params(**features.get_params(deep=False))
    learned = {key: vars(fitted)[key] for key in _fitted_attributes(fitted)}
    with pytest.raises(error):
        fitted.fit(data)
    assert {key: vars(fitted)[key] for key in _fitted_attributes(fitted)} == learned
    fitted.set_params(**first.get_params(deep=False))
    assert_array_equal(fitted.transform(X), first.transform(X))


MAPS = [_fourier(), _fourier(DeltaGaussian()), _fourier(ShiftGaussian()), _sphere()]
VERBS = ["transform", "transform_dual", "approximate_kernel"]


@pytest.mark.parametrize("features", MAPS, ids=repr)
@pytest.mark.parametrize("verb", VERBS)
def test_verbs_need_a_fitted_map(features, verb):
    with pytest.raises(NotFittedError, match=f"{type(features).__name__} instance is not fitted"):
        getattr(clone(features), verb)(X)


@pytest.mark.parametrize("index", range(len(MAPS)))
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (X[:, :2], "X has 2 features, but .* is expecting 3"),
        (np.hstack([X, X]), "X has 6 features, but .* is expecting 3"),
        (_with(np.nan), "NaN"),
        (_with(np.inf), "infinity"),
        (X[0], "2D array"),
    ],
    ids=["narrow", "wide", "NaN", "inf", "1-d"],
)
def test_bad_rows_at_transform(index, verb, data, sentence):
    with pytest.raises(ValueError, match=sentence):
        getattr(_fitted(index), verb)(data)


@pytest.mark.parametrize("index", range(len(MAPS)))
def test_bad_second_argument_of_the_kernel(index):
    with pytest.raises(ValueError, match="X has 2 features"):
        _fitted(index).approximate_kernel(X, X[:, :2])


def test_rows_off_the_sphere_are_refused_at_transform_too():
    fitted = _sphere(normalize=False).fit(UNIT)
    with pytest.raises(ValueError, match=r"rows of norm 1, but row 0 has norm .*normalize=True"):
        fitted.transform(X)


@pytest.mark.parametrize("kernel", [Custom(_wrong_shape), Custom(lambda A, B: 1.0)])
def test_a_callable_of_the_wrong_shape(kernel):
    with pytest.raises(ValueError, match=r"must return shape \(30, 30\).*got \(.*\)"):
        kernel(X)
    with pytest.raises(ValueError, match="must return shape"):
        diagnose(kernel, X)


def test_a_pairwise_callable_that_returns_vectors():
    with pytest.raises(ValueError, match=r"Pairwise.*must return shape \(30, 30\)"):
        Pairwise(lambda x, y: x + y)(X)


def test_a_callable_that_returns_nan_words_or_complex_numbers():
    with pytest.raises(ValueError, match=r"returned nan.*finite number for every pair"):
        Custom(lambda A, B: np.full((len(A), len(B)), np.nan))(X)
    with pytest.raises(ValueError, match="real numbers"):
        Custom(lambda A, B: np.full((len(A), len(B)), "a"))(X)
    with pytest.raises(ValueError, match="real numbers"):
        Custom(lambda A, B: np.full((len(A), len(B)), 1j))(X)


def test_a_matrix_that_is_not_symmetric_where_symmetry_is_needed():
    said = r"not symmetric: .* differ by up to 3, .* entry is 3\. If .*symmetric=False"
    with pytest.raises(ValueError, match=said):
        Precomputed()(3 * np.triu(np.ones((4, 4))))
