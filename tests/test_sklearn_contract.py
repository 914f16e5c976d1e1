"""Every public estimator keeps scikit-learn's contract, with no expected failure.

Estimators are discovered, so that a new one cannot be forgotten: it is checked as it is built
without arguments, and a test below demands that it has variants too.
"""

from __future__ import annotations

import inspect
import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import krein
import krein.features
import krein.published
from krein import (
    AsymmetricEmbedding,
    ConcomitantRankOrder,
    CorrectedSVC,
    DissimilarityToSimilarity,
    DoubleCentering,
    KreinClassifier,
    KreinPCA,
    KreinRegressor,
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    LearnedKernelFeatures,
    MixtureFourier,
    NotSoRandomClassifier,
    NotSoRandomFeatures,
    Nystrom,
    RandomArcCosine,
    RandomFourier,
    RandomGegenbauer,
    RandomMaclaurin,
    SimilarityFeatures,
    SpectrumCorrector,
    SphericalRandomFeatures,
    TensorizedProjection,
    TensorSketch,
    TwoSidedRidge,
    TwoSidedRidgeClassifier,
    VarianceConstrainedClassifier,
    VarianceConstrainedRegressor,
)
from krein.auto.columns import Columns
from krein.features import FeatureMap
from krein.kernels import (
    DeltaGaussian,
    Gaussian,
    NeuralTangent,
    Polynomial,
    ShiftGaussian,
    Sigmoid,
    SphericalPolynomial,
)
from krein.measures import Measure, Normal, Part
from krein.published import ConcatenatedFourier


def _public_estimators() -> list[type]:
    modules = (krein, krein.features, krein.published)
    found = {getattr(module, name) for module in modules for name in module.__all__}
    return sorted(
        (
            thing
            for thing in found
            if inspect.isclass(thing)
            and issubclass(thing, BaseEstimator)
            and hasattr(thing, "fit")
            and thing is not FeatureMap  # the base, which cannot be fitted
        ),
        key=lambda cls: cls.__name__,
    )


ESTIMATORS = _public_estimators()

# Small widths: the checks are about the contract, not about accuracy.
fourier = partial(RandomFourier, n_components=16, random_state=0)
gegenbauer = partial(RandomGegenbauer, n_components=16, random_state=0)
nystrom = partial(Nystrom, n_components=3, random_state=0)
mixture = partial(MixtureFourier, n_components=4, max_iter=1, n_subsample=20, random_state=0)
learned = partial(NotSoRandomFeatures, n_components=6, n_starts=4, random_state=0)


def rival(cls, kernel=None, **options):
    return cls(kernel, n_components=64, random_state=0, **options)


# The checks fit a handful of rows, on which Nystrom says that all of them are landmarks.
pytestmark = [
    pytest.mark.filterwarnings("ignore:There are .* rows, fewer than:UserWarning"),
    pytest.mark.filterwarnings("ignore:The map differs from .* % of the kernel:UserWarning"),
    # The checks fit the same few data hundreds of times.
    pytest.mark.usefixtures("solve_each_programme_once"),
]

# One variant for each path through the code; the others are for `make test-slow`.
VARIANTS = [
    fourier(DeltaGaussian()),
    fourier(ShiftGaussian(), weights="calibrated"),
    fourier(DeltaGaussian(), sampler="leverage"),
    fourier(ShiftGaussian(), decomposition="jordan", masses="subset"),
    ConcatenatedFourier(ShiftGaussian(), n_components=16, random_state=0),
    gegenbauer(Polynomial(degree=3), weights="calibrated", sampler="qmc"),
    learned(band=3.0, early_stopping=True),
    mixture(DeltaGaussian(2.0, 20.0)),
    rival(RandomMaclaurin, -Polynomial(3, 0.1, -1.0), degrees="coefficients"),
    rival(ConcomitantRankOrder, projection="cosine"),
    rival(SphericalRandomFeatures, DeltaGaussian(3.0, 1.0) + 1, sampler="orthogonal"),
    rival(TensorizedProjection, -Polynomial(3)),
    rival(TensorSketch, Polynomial(3)),
    LearnedKernelFeatures(n_components=6, rho=0.5, random_state=0),
    RandomArcCosine(16, order=0, sampler="orthogonal", random_state=0),
    nystrom(ShiftGaussian(), landmarks="kmeans++"),
    nystrom(core="inverse", landmarks="recursive"),
    Nystrom(Gaussian(5.0), "auto", random_state=0),
    DoubleCentering("euclidean"),
    DissimilarityToSimilarity("exp"),
    SpectrumCorrector("shift"),
    KreinPCA(kernel=Gaussian()),
    AsymmetricEmbedding(kernel=ShiftGaussian()),
    SimilarityFeatures(DeltaGaussian(), 3, random_state=0),
    KreinRidge(DeltaGaussian(2.0, 20.0), alpha="gradient", random_state=0),
    KreinRidge(DeltaGaussian(2.0, 20.0), alpha=0.01, penalty="l1", random_state=0),
    KreinRidgeClassifier(features=fourier(DeltaGaussian()), alpha=1e-4),
    TwoSidedRidge(ShiftGaussian(2.0, 0.5), alpha=1e-4, combine="stack", random_state=0),
    TwoSidedRidgeClassifier(features=fourier(ShiftGaussian()), coupling="joint", alpha=1e-4),
    VarianceConstrainedRegressor(DeltaGaussian(2.0, 20.0), alpha=1e-4, spread=1, random_state=0),
    VarianceConstrainedClassifier(features=fourier(DeltaGaussian()), alpha="gradient"),
    KreinSVC(DeltaGaussian(), alpha=1e-4, random_state=0),
    KreinSVC(DeltaGaussian(), loss="hinge", alpha=1e-4, random_state=0),
    KreinSVC(features=nystrom(landmarks="supervised"), random_state=0),
    NotSoRandomClassifier(4, C=10.0, band=3.0, n_starts=2, game=False, random_state=0),
    KreinRegressor(DeltaGaussian(2.0, 20.0), 20, max_seconds=1e-9, random_state=0),
    KreinClassifier(DeltaGaussian(), 5, max_seconds=1e-9, random_state=0),
    CorrectedSVC(DeltaGaussian(), correction="clip", calibrate=True),
    Columns(),
]
MORE = [
    KreinRegressor(random_state=0),
    KreinClassifier(n_components=5, random_state=0),
    fourier(ShiftGaussian()),
    fourier(weights="calibrated"),
    fourier(ShiftGaussian(), decomposition="jordan", allocation="equal"),
    fourier(SphericalPolynomial(), extension="zero", jacobian=False),
    fourier(DeltaGaussian(), sampler="iid"),
    mixture(inference="taylor", split="shift"),
    fourier(DeltaGaussian(), sampler="qmc"),
    fourier(DeltaGaussian(), sampler="importance"),
    gegenbauer(Sigmoid(coef0=-1.0), sampler="iid", allocation="equal"),
    nystrom(DeltaGaussian(), landmarks="uniform"),
    nystrom(Gaussian(2.0), core="truncated"),  # of an indefinite kernel it may explode, and warns
    KreinRidge(DeltaGaussian(2.0, 20.0), alpha=1e-4, alpha_neg=1e-3, random_state=0),
    KreinRidge(Gaussian(2.0), alpha=1e-4, penalty="krein", random_state=0),
    KreinSVC(alpha="gradient", random_state=0),
]


def test_estimators_are_discovered():
    assert {RandomFourier, RandomGegenbauer} <= set(ESTIMATORS)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_every_estimator_has_variants_here(cls):
    assert any(type(variant) is cls for variant in VARIANTS)


# What tries many things tries one: the checks fit it hundreds of times.
QUICK: dict[type, dict] = {
    KreinClassifier: {"max_seconds": 1e-9},
    KreinRegressor: {"max_seconds": 1e-9},
    MixtureFourier: {"n_components": 4, "max_iter": 1},
    NotSoRandomClassifier: {"n_components": 8, "band": 1.0, "n_starts": 2, "cv": 4},
}
BUILT = [cls(**QUICK.get(cls, {})) for cls in ESTIMATORS]


# Apart from the variants, which are also fitted without targets below.
NEEDS_Y = nystrom(landmarks="supervised")


@parametrize_with_checks([*BUILT, *VARIANTS, NEEDS_Y])
def test_scikit_learn_default_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(MORE)
def test_scikit_learn_default_checks_of_more_variants(estimator, check):
    check(estimator)


# Checks of scikit-learn that its own estimators run and `parametrize_with_checks` leaves out.
EXTRA = [
    "check_dataframe_column_names_consistency",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_get_feature_names_out_error",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_inplace_ensure_writeable",
    "check_n_features_in_after_fitting",
    "check_param_validation",
    "check_parameters_default_constructible",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]


def _extra_checks() -> list[str]:
    """The extra checks of the installed release; names come and go between releases."""
    return [name for name in EXTRA if hasattr(estimator_checks, name)]


@pytest.mark.parametrize("name", [name for name in EXTRA if "pandas" in name or "polars" in name])
def test_no_data_frame_check_is_lost(name):
    assert name in _extra_checks()


# The data frame checks fit on a frame and transform an array, or the other way round, which is
# what scikit-learn's own validation warns of.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        (estimator, check)
        for estimator in [
            *BUILT,
            fourier(DeltaGaussian()),
            fourier(ShiftGaussian(), weights="calibrated"),
            gegenbauer(Sigmoid(coef0=-1.0)),
        ]
        for check in _extra_checks()
        if hasattr(estimator, "transform") or not ("output" in check or "names_out" in check)
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value),
)
def test_scikit_learn_checks_outside_the_default_set(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, estimator)


# Random features: the rest of this file is about their seeds and verbs.
ALL = [
    *(
        cls(random_state=0, **QUICK.get(cls, {}))
        for cls in ESTIMATORS
        if issubclass(cls, FeatureMap)
    ),
    *(variant for variant in [*VARIANTS, *MORE] if isinstance(variant, FeatureMap)),
]


@pytest.fixture
def X(rng):
    return rng.random((60, 4))


@pytest.fixture
def y(X):
    """Classes, for the maps that need them; the others ignore them."""
    return (X[:, 0] > X[:, 1]).astype(int)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_same_seed_gives_the_same_features(estimator, X, y):
    first = clone(estimator).set_params(random_state=7).fit(X, y)
    second = clone(estimator).set_params(random_state=7).fit(X, y)
    other = clone(estimator).set_params(random_state=8).fit(X, y)
    assert_array_equal(first.transform(X), second.transform(X))
    assert_array_equal(first.transform_dual(X), second.transform_dual(X))
    assert not np.array_equal(first.transform(X), other.transform(X))


@pytest.mark.parametrize("estimator", ALL, ids=repr)
@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_random_state_may_be_a_state_or_a_generator(estimator, make, X, y):
    first, second = (clone(estimator).set_params(random_state=make(3)).fit(X, y) for _ in range(2))
    assert_array_equal(first.transform(X), second.transform(X))


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_pickle_keeps_all_verbs(estimator, X, y):
    fitted = clone(estimator).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    for verb in ("transform", "transform_dual", "approximate_kernel", "exact_kernel"):
        assert_rounded(getattr(copy, verb)(X), getattr(fitted, verb)(X))
    assert_array_equal(copy.get_feature_names_out(), fitted.get_feature_names_out())


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_clone_is_unfitted_and_equal_in_parameters(estimator, X, y):
    fitted = clone(estimator).fit(X, y)
    copy = clone(fitted)
    assert [name for name in vars(copy) if name.endswith("_")] == []
    assert repr(copy) == repr(fitted)
    assert copy.get_params().get("kernel") == fitted.get_params().get("kernel")
    assert_array_equal(copy.fit(X, y).transform(X), fitted.transform(X))


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_fit_does_not_change_parameters_or_data(estimator, X, y):
    before, seen = repr(estimator), X.copy()
    clone(estimator).fit(X, y).transform(X)
    assert repr(estimator) == before
    assert_array_equal(X, seen)


def test_a_measure_as_parameter_survives_clone_and_pickle(X):
    features = fourier(measure=Measure([Part(Normal(4, 1.0)), Part(Normal(4, 0.1), -0.5)]))
    fitted = clone(features).fit(X)
    copy = pickle.loads(pickle.dumps(fitted))
    assert_rounded(copy.transform_dual(X), fitted.transform_dual(X))


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_feature_names_are_class_name_and_number(estimator, X, y):
    fitted = clone(estimator).fit(X, y)
    prefix = type(estimator).__name__.lower()
    expected = [f"{prefix}{j}" for j in range(fitted.transform(X).shape[1])]
    assert list(fitted.get_feature_names_out()) == expected


@pytest.mark.parametrize(
    "kernel", [Gaussian(), DeltaGaussian(), ShiftGaussian()], ids=lambda k: type(k).__name__
)
def test_grid_search_over_the_kernel_equals_a_loop(kernel, rng):
    X = rng.random((90, 2))
    y = np.sin(6 * X[:, 0]) + X[:, 1]
    sigmas = [0.3, 1.0, 10.0]
    steps = [("features", fourier(kernel, n_components=64)), ("model", Ridge(alpha=1e-3))]
    grid = {"features__kernel__sigma": sigmas}
    search = GridSearchCV(Pipeline(steps), grid, cv=KFold(3)).fit(X, y)
    expected = []
    for sigma in sigmas:
        scores = []
        for train, test in KFold(3).split(X):
            features = fourier(clone(kernel).set_params(sigma=sigma), n_components=64)
            model = Ridge(alpha=1e-3).fit(features.fit_transform(X[train]), y[train])
            scores.append(model.score(features.transform(X[test]), y[test]))
        expected.append(np.mean(scores))
    assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-9)
    assert search.best_params_["features__kernel__sigma"] == sigmas[int(np.argmax(expected))]
    assert search.best_estimator_[0].kernel.sigma == search.best_params_["features__kernel__sigma"]
    assert kernel.sigma == 1.0  # the caller's kernel is not touched


@pytest.mark.parametrize("features", [fourier(DeltaGaussian()), gegenbauer(NeuralTangent())])
def test_pipeline_with_a_classifier_learns(features, rng):
    X = rng.standard_normal((300, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)  # four quadrants: chance for a linear model
    wide = clone(features).set_params(n_components=64)
    model = make_pipeline(wide, LogisticRegression(C=100.0, max_iter=2000)).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.85  # chance would be 0.5 ± 0.05
    assert model[:-1].get_feature_names_out().shape == (64,)
