"""Proximity estimators: in and out of sample, pipelines, bad input, scikit-learn's checks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from proximity_cases import (
    METHODS,
    VECTORS,
    dissimilarities,
    exact,
    precomputed,
    similarities,
    vectors,
)
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from krein.kernels import Custom, Gaussian, Precomputed, ShiftGaussian
from krein.proximity import (
    AsymmetricEmbedding,
    DissimilarityToSimilarity,
    DoubleCentering,
    KreinPCA,
    SpectrumCorrector,
)
from krein.proximity._embedding import Embedding

# --- in sample and out of sample ------------------------------------------------------------------


@precomputed
def test_transform_of_the_training_rows_is_fit_transform(estimator, data):
    X = data(30)
    exact(clone(estimator).fit(X).transform(X), estimator.fit_transform(X))


@precomputed
def test_training_objects_among_new_rows_get_their_training_rows(estimator, data):
    X = data(40)
    train = np.arange(30)
    fitted = clone(estimator).fit(X[np.ix_(train, train)])
    together = fitted.transform(X[:, train])  # 30 known and 10 new objects
    exact(together[:30], fitted.transform(X[np.ix_(train, train)]))
    exact(np.vstack([fitted.transform(X[[i]][:, train]) for i in range(40)]), together)


@vectors
def test_vectors_give_the_same_as_their_matrix(estimator, rng):
    X, new = rng.random((25, 3)), rng.random((6, 3))
    fitted = clone(estimator).fit(X)
    if isinstance(estimator, Embedding):
        kernel = estimator.kernel
        K, rows = kernel(X), kernel(new, X)
        twin = clone(estimator).set_params(kernel="precomputed").fit(K)
    else:
        K = pairwise_distances(X, metric=estimator.metric)
        rows = pairwise_distances(new, X, metric=estimator.metric)
        twin = clone(estimator).set_params(metric="precomputed").fit(K)
    exact(fitted.transform(new), twin.transform(rows))
    exact(fitted.transform(X), twin.transform(K), atol=1e-7)  # distances of x to x: √precision
    exact(clone(estimator).fit_transform(X), twin.transform(K))


@vectors
def test_later_changes_of_the_training_data_do_not_reach_the_estimator(estimator, rng):
    X, new = rng.random((12, 3)), rng.random((4, 3))
    fitted = clone(estimator).fit(X)
    before = fitted.transform(new)
    X[:] = 0
    assert_array_equal(fitted.transform(new), before)


@precomputed
def test_order_of_training_objects_does_not_matter(estimator, data):
    X = data(24)
    order = np.random.default_rng(1).permutation(24)
    straight = estimator.fit_transform(X)
    turned = clone(estimator).fit_transform(X[np.ix_(order, order)])
    if isinstance(estimator, Embedding):  # columns are objects elsewhere; here up to their sign
        exact(np.abs(turned), np.abs(straight[order]))
    else:
        exact(turned, straight[np.ix_(order, order)])


@precomputed
def test_float32_is_kept_and_close_to_float64(estimator, data):
    X = data(30)
    narrow = clone(estimator).fit_transform(X.astype(np.float32))
    wide = clone(estimator).fit_transform(X)
    assert narrow.dtype == np.float32
    assert wide.dtype == np.float64
    # Far from float32's 6e-8: distances are squared and centred, spectra have gaps of about 0.1.
    assert_allclose(narrow, wide, rtol=0, atol=1e-5 * np.abs(wide).max())


@precomputed
def test_data_are_not_changed_nor_returned(estimator, data):
    X = data(12)
    X.setflags(write=False)
    before = X.copy()
    out = clone(estimator).fit_transform(X)
    assert not np.shares_memory(out, X)
    assert_array_equal(X, before)


@precomputed
def test_pickle_and_clone(estimator, data):
    X = data(15)
    fitted = clone(estimator).fit(X)
    exact(pickle.loads(pickle.dumps(fitted)).transform(X), fitted.transform(X))
    assert [name for name in vars(clone(fitted)) if name.endswith("_")] == []


@precomputed
def test_feature_names_are_class_name_and_number(estimator, data):
    fitted = clone(estimator).set_output(transform="pandas")
    out = fitted.fit_transform(data(15))
    prefix = type(estimator).__name__.lower()
    assert list(out.columns) == [f"{prefix}{j}" for j in range(out.shape[1])]


# --- pipelines and cross-validation ---------------------------------------------------------------


@precomputed
def test_precomputed_is_tagged_pairwise_and_so_is_its_pipeline(estimator, data):
    assert get_tags(estimator).input_tags.pairwise
    assert get_tags(make_pipeline(estimator, SVC())).input_tags.pairwise


@vectors
def test_vectors_are_not_pairwise(estimator):
    assert not get_tags(estimator).input_tags.pairwise


PIPELINES = {
    "corrected": lambda: [DoubleCentering(), SpectrumCorrector("clip"), SVC(kernel="precomputed")],
    "flipped": lambda: [DissimilarityToSimilarity("exp"), SpectrumCorrector(), _svc()],
    "shifted": lambda: [DissimilarityToSimilarity("max"), SpectrumCorrector("shift"), _svc()],
    "embedded": lambda: [DoubleCentering(), KreinPCA(4), SVC(kernel="linear")],
}


def _svc():
    return SVC(kernel="precomputed")


@pytest.fixture
def labelled(load):
    return load("dissimilarities/catcortex", "D", "y")


@pytest.mark.parametrize("steps", PIPELINES.values(), ids=PIPELINES)
def test_cross_validation_equals_a_loop(steps, rng):
    # Two groups in a plane, and a distance between them that is no metric.
    points = rng.standard_normal((60, 2)) + np.repeat([[0, 0], [1.5, 0]], 30, axis=0)
    y = np.repeat([0, 1], 30)
    D = pairwise_distances(points) ** 1.7
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    expected = []
    for train, test in cv.split(D, y):
        *maps, model = steps()
        rows, new = D[np.ix_(train, train)], D[np.ix_(test, train)]
        for step in maps:
            step.fit(rows)
            rows, new = step.transform(rows), step.transform(new)
        expected.append(model.fit(rows, y[train]).score(new, y[test]))
    scores = cross_val_score(make_pipeline(*steps()), D, y, cv=cv)
    assert_allclose(scores, expected, rtol=1e-12)
    assert scores.mean() > 0.65  # chance is 0.5 with a standard error of 0.065
    assert np.ptp(scores) > 0  # not a constant that any slicing would give


def test_cross_validated_svm_on_a_real_matrix(labelled):
    D, y = labelled
    steps = make_pipeline(DoubleCentering(), SpectrumCorrector("clip"), SVC(kernel="precomputed"))
    scores = cross_val_score(steps, D, y, cv=StratifiedKFold(5, shuffle=True, random_state=0))
    largest = np.bincount(y - y.min()).max() / len(y)
    assert scores.mean() > largest + 0.2


def test_grid_search_over_the_correction(labelled):
    D, y = labelled
    steps = make_pipeline(DoubleCentering(), SpectrumCorrector(), SVC(kernel="precomputed"))
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(steps, {"spectrumcorrector__method": METHODS}, cv=cv).fit(D, y)
    expected = [
        cross_val_score(steps.set_params(spectrumcorrector__method=method), D, y, cv=cv).mean()
        for method in METHODS
    ]
    assert_allclose(search.cv_results_["mean_test_score"], expected)


# --- bad input ------------------------------------------------------------------------------------

GOOD_D, GOOD_K = dissimilarities(6), similarities(6)


def _hole(x, y):
    return np.nan if {x[0], y[0]} == {1.0, 3.0} else float(abs(x[0] - y[0]))


def _with(X, value, *places):
    bad = X.copy()
    for place in places:
        bad[place] = value
    return bad


ASYMMETRIC_D = _with(GOOD_D, 9.0, (1, 2))
ASYMMETRIC_K = _with(GOOD_K, 9.0, (1, 2))
both = _with(GOOD_D, -0.5, (1, 2), (2, 1))

# Estimator, data that it must refuse in fit, what the sentence must contain.
REFUSED = {
    "negative": (DoubleCentering(), both, r"Negative values.*X\[1, 2\] = -0\.5.*leave"),
    "negative, exp": (DissimilarityToSimilarity("exp"), both, r"Negative values.*X\[1, 2\]"),
    "diagonal": (
        DoubleCentering(),
        _with(GOOD_D, 0.5, (3, 3)),
        r"zero diagonal, but X\[3, 3\] = 0\.5.*fill_diagonal",
    ),
    "similarities as dissimilarities": (
        DissimilarityToSimilarity("max"),
        np.exp(-GOOD_D),
        r"zero diagonal, but X\[0, 0\] = 1.*leave this step out",
    ),
    "asymmetric D": (
        DoubleCentering(),
        ASYMMETRIC_D,
        r"symmetric matrix X, but X\[1, 2\] = 9 and X\[2, 1\].*symmetrize\(X, \"average\"\)",
    ),
    "asymmetric D, rule": (DissimilarityToSimilarity(), ASYMMETRIC_D, "largest asymmetry"),
    "asymmetric K": (SpectrumCorrector(), ASYMMETRIC_K, r"largest asymmetry \(\d.*symmetrize"),
    "asymmetric K, PCA": (KreinPCA(), ASYMMETRIC_K, "largest asymmetry"),
    "asymmetric kernel": (
        KreinPCA(kernel=ShiftGaussian()),
        np.ones((3, 2)),
        r"symmetric kernel, got kernel=ShiftGaussian.*symmetric_part",
    ),
    "matrix declared asymmetric": (
        KreinPCA(kernel=Precomputed(symmetric=False)),
        GOOD_K,
        r"symmetric kernel, got kernel=Precomputed",
    ),
    "kernel that lies": (
        KreinPCA(kernel=Custom(lambda A, B: np.subtract.outer(A[:, 0], B[:, 0]))),
        GOOD_D,
        "largest asymmetry",
    ),
    "nothing to embed": (KreinPCA(), np.full((4, 4), 0.1), r"no eigenvalue.*4 sample.*differ"),
    "zeros": (KreinPCA(center=False), np.zeros((4, 4)), r"no eigenvalue other than zero"),
    "NaN from a function": (
        DoubleCentering(metric=_hole),
        np.arange(5.0)[:, None],
        r"metric of DoubleCentering returned nan for object 1 of X and object 3 of Y",
    ),
    "no pairs, metric": (DoubleCentering(), GOOD_D[:4], r"shape \(4, 6\).*choose a metric"),
    "no pairs, kernel": (KreinPCA(), GOOD_K[:, :4], r"shape \(6, 4\).*choose a kernel"),
    "no pairs": (SpectrumCorrector(), GOOD_K[:4], r"shape \(4, 6\): pass D\[np\.ix_"),
    "method": (SpectrumCorrector("flop"), GOOD_K, r"'method' parameter.*Got 'flop'"),
    "rule": (DissimilarityToSimilarity("cos"), GOOD_D, r"'method' parameter.*Got 'cos'"),
    "rate": (DissimilarityToSimilarity("exp", gamma=0), GOOD_D, r"'gamma' parameter.*Got 0"),
    "metric": (DoubleCentering("hamming-ish"), GOOD_D, r"'metric' parameter.*hamming-ish"),
    "components": (KreinPCA(0), GOOD_K, r"'n_components' parameter.*Got 0"),
    "kernel": (KreinPCA(kernel="rbf"), GOOD_K, r"needs kernel .*Gaussian.*got 'rbf'"),
}


@pytest.mark.parametrize(("estimator", "X", "sentence"), REFUSED.values(), ids=REFUSED)
def test_fit_refuses_in_one_sentence_and_learns_nothing(estimator, X, sentence):
    estimator = clone(estimator)
    before = dict(vars(estimator))
    with pytest.raises(ValueError, match=sentence) as caught:
        estimator.fit(X)
    assert "\n" not in str(caught.value)
    assert vars(estimator) == before
    with pytest.raises(ValueError, match=sentence):
        estimator.fit_transform(X)
    assert vars(estimator) == before


@precomputed
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_inf_are_refused_in_fit_and_transform(estimator, data, value):
    X = data(6)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        clone(estimator).fit(_with(X, value, (0, 1), (1, 0)))
    fitted = clone(estimator).fit(X)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted.transform(_with(X, value, (0, 1)))


@precomputed
def test_a_failed_refit_leaves_the_first_fit(estimator, data):
    X = data(8)
    fitted = clone(estimator).fit(X)
    expected = fitted.transform(X)
    directed = _with(data(5), -50.0, (0, 1))
    if isinstance(estimator, AsymmetricEmbedding):  # it takes any square matrix of numbers
        directed = directed[1:]
    for bad in (_with(data(5), np.nan, (0, 1)), data(5)[:3], directed):
        with pytest.raises(ValueError, match=r"NaN|square|Negative|asymmetry"):
            fitted.fit(bad)
        assert_array_equal(fitted.transform(X), expected)


@precomputed
@pytest.mark.parametrize("columns", [5, 7])
def test_wrong_number_of_columns_in_transform(estimator, data, columns):
    fitted = clone(estimator).fit(data(6))
    sentence = rf"X has {columns} features.*expecting 6 .*one column per training object.*np\.ix_"
    with pytest.raises(ValueError, match=sentence):
        fitted.transform(data(7)[:2, :columns])


@pytest.mark.parametrize("estimator", [DoubleCentering(), DissimilarityToSimilarity("gaussian")])
def test_negative_new_dissimilarities_are_refused(estimator):
    fitted = clone(estimator).fit(GOOD_D)
    with pytest.raises(ValueError, match=r"Negative values.*X\[0, 4\] = -2"):
        fitted.transform(_with(GOOD_D, -2.0, (0, 4))[:1])


@precomputed
def test_round_off_asymmetry_is_not_an_error(estimator, data):
    X = data(10)
    noisy = X * (1 + 1e-12 * np.random.default_rng(0).standard_normal(X.shape))
    assert_allclose(clone(estimator).fit_transform(noisy), estimator.fit_transform(X), atol=1e-8)


# --- scikit-learn's checks ------------------------------------------------------------------------

CHECKED = [
    DoubleCentering(),
    DoubleCentering("euclidean"),
    DissimilarityToSimilarity(),
    DissimilarityToSimilarity("exp"),
    SpectrumCorrector("flip"),
    SpectrumCorrector("shift"),
    SpectrumCorrector("square"),
    KreinPCA(),
    KreinPCA(None, center=False),
    KreinPCA(kernel=Gaussian()),
    AsymmetricEmbedding(None, center=True),
]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_default_checks(estimator, check):
    check(estimator)


EXTRA = [
    "check_dataframe_column_names_consistency",
    "check_get_feature_names_out_error",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_inplace_ensure_writeable",
    "check_param_validation",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]


# The data frame checks fit on a frame and transform an array, or the other way round.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.parametrize("check", [name for name in EXTRA if hasattr(estimator_checks, name)])
@pytest.mark.parametrize(
    "estimator",
    [DoubleCentering(), DissimilarityToSimilarity(), SpectrumCorrector(), KreinPCA(), VECTORS[3]],
    ids=repr,
)
def test_scikit_learn_checks_outside_the_default_set(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, estimator)
