"""Proximity data: centring, corrections, similarities and embeddings, in sample and out of it."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA, KernelPCA
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer
from sklearn.svm import SVC
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from krein.forms import Signature
from krein.kernels import Custom, DeltaGaussian, Gaussian, Pairwise, Precomputed, ShiftGaussian
from krein.proximity import (
    DissimilarityToSimilarity,
    DoubleCentering,
    KreinPCA,
    SpectrumCorrector,
    symmetrize,
)

exact = partial(assert_allclose, rtol=1e-9, atol=1e-9)

METHODS = ["flip", "clip", "shift", "square"]
RULES = ["double_centering", "exp", "gaussian", "max"]


def dissimilarities(n: int, seed: int = 0) -> np.ndarray:
    """Symmetric with a zero diagonal, far from Euclidean: the triangle inequality is violated."""
    A = np.random.default_rng(seed).random((n, n)) * 3
    D = A + A.T
    np.fill_diagonal(D, 0)
    return D


def similarities(n: int, seed: int = 0) -> np.ndarray:
    """Symmetric and indefinite, with eigenvalues well away from zero."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.where(np.arange(n) % 3 == 1, -1.0, 1.0) * rng.uniform(1, 4, n)
    K = (U * values) @ U.T
    return (K + K.T) / 2


# Estimator and training data of which it knows all pairs.
PRECOMPUTED = [
    (DoubleCentering(), dissimilarities),
    *((DissimilarityToSimilarity(rule), dissimilarities) for rule in RULES),
    (DissimilarityToSimilarity("exp", gamma=0.3), dissimilarities),
    *((SpectrumCorrector(method), similarities) for method in METHODS),
    (KreinPCA(), similarities),
    (KreinPCA(None), similarities),
    (KreinPCA(5, center=False), similarities),
    (KreinPCA(3, kernel=Precomputed()), similarities),
]
VECTORS = [
    DoubleCentering("euclidean"),
    DoubleCentering("cosine"),
    DissimilarityToSimilarity("exp", metric="manhattan"),
    KreinPCA(kernel=Gaussian()),
    KreinPCA(kernel=DeltaGaussian(), center=False),
]


def _id(value):
    return repr(value) if hasattr(value, "get_params") else getattr(value, "__name__", None)


precomputed = pytest.mark.parametrize(("estimator", "data"), PRECOMPUTED, ids=_id)
vectors = pytest.mark.parametrize("estimator", VECTORS, ids=repr)


# --- in sample and out of sample ------------------------------------------------------------------


@precomputed
def test_transform_of_the_training_rows_is_fit_transform(estimator, data):
    X = data(30)
    assert_array_equal(clone(estimator).fit(X).transform(X), estimator.fit_transform(X))


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
    if isinstance(estimator, KreinPCA):
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
    if isinstance(estimator, KreinPCA):  # columns are objects elsewhere; here up to their sign
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
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), fitted.transform(X))
    assert [name for name in vars(clone(fitted)) if name.endswith("_")] == []


@precomputed
def test_feature_names_are_class_name_and_number(estimator, data):
    fitted = clone(estimator).set_output(transform="pandas")
    out = fitted.fit_transform(data(15))
    prefix = type(estimator).__name__.lower()
    assert list(out.columns) == [f"{prefix}{j}" for j in range(out.shape[1])]


# --- double centring ------------------------------------------------------------------------------


def test_double_centring_is_minus_half_j_d2_j(rng):
    D = dissimilarities(20)
    J = np.eye(20) - 1 / 20
    exact(DoubleCentering().fit_transform(D), -0.5 * J @ D**2 @ J)


def test_double_centring_of_euclidean_distances_is_the_centred_gram_matrix(rng):
    X, new = rng.standard_normal((30, 4)), rng.standard_normal((7, 4))
    centred, moved = X - X.mean(axis=0), new - X.mean(axis=0)
    centring = DoubleCentering().fit(pairwise_distances(X))
    exact(centring.transform(pairwise_distances(X)), centred @ centred.T)
    exact(centring.transform(pairwise_distances(new, X)), moved @ centred.T)


def test_double_centring_equals_kernel_centerer_on_squares():
    D = dissimilarities(25)
    train, new = D[:20, :20], D[20:, :20]
    oracle = KernelCenterer().fit(-0.5 * train**2)
    centring = DoubleCentering().fit(train)
    exact(centring.transform(train), oracle.transform(-0.5 * train**2))
    exact(centring.transform(new), oracle.transform(-0.5 * new**2))
    exact(centring.column_means_, (train**2).mean(axis=0))
    exact(centring.grand_mean_, (train**2).mean())


def test_new_rows_are_centred_with_training_means_one_by_one():
    D = dissimilarities(25)
    new = D[20:, :20]
    centring = DoubleCentering().fit(D[:20, :20])
    for row, out in zip(new, centring.transform(new), strict=True):
        S = row**2 - np.mean(row**2) - (D[:20, :20] ** 2).mean(axis=0) + (D[:20, :20] ** 2).mean()
        exact(out, -0.5 * S)


def test_a_function_is_evaluated_for_both_directions_of_a_pair():
    with pytest.raises(ValueError, match="largest asymmetry"):
        DoubleCentering(metric=_directed).fit(np.arange(6.0)[:, None])


def _directed(x, y):
    return float(max(x[0] - y[0], 0))


def _hole(x, y):
    return np.nan if {x[0], y[0]} == {1.0, 3.0} else float(abs(x[0] - y[0]))


def test_a_function_gives_the_same_as_its_metric(rng):
    X, new = rng.random((9, 3)), rng.random((4, 3))
    ours = DoubleCentering(metric=lambda x, y: float(np.abs(x - y).sum())).fit(X)
    exact(ours.transform(new), DoubleCentering("manhattan").fit(X).transform(new))


# --- dissimilarity to similarity ------------------------------------------------------------------

FORMULAS = {
    "exp": lambda D, gamma: np.exp(-gamma * D),
    "gaussian": lambda D, gamma: np.exp(-gamma * D**2),
}


@pytest.mark.parametrize("rule", FORMULAS)
def test_formula_with_a_given_rate(rule):
    D = dissimilarities(12)
    fitted = DissimilarityToSimilarity(rule, gamma=0.7).fit(D[:8, :8])
    exact(fitted.transform(D[8:, :8]), FORMULAS[rule](D[8:, :8], 0.7))


@pytest.mark.parametrize("rule", FORMULAS)
def test_median_rate_makes_the_median_training_pair_one_over_e(rule):
    D = dissimilarities(11)
    D[0, 1] = D[1, 0] = 0  # two equal objects have no say
    S = DissimilarityToSimilarity(rule).fit(D[:7, :7])
    pairs = D[:7, :7][np.triu_indices(7, 1)]
    exact(FORMULAS[rule](np.median(pairs[pairs > 0]), S.gamma_), np.exp(-1))
    exact(S.transform(D[7:, :7]), FORMULAS[rule](D[7:, :7], S.gamma_))


def test_median_rate_of_equal_objects_is_one():
    fitted = DissimilarityToSimilarity("exp").fit(np.zeros((3, 3)))
    assert fitted.gamma_ == 1
    assert_array_equal(fitted.transform(np.zeros((1, 3))), np.ones((1, 3)))


def test_max_keeps_the_training_maximum():
    fitted = DissimilarityToSimilarity("max").fit([[0, 2], [2, 0]])
    assert_array_equal(fitted.transform([[1, 5]]), [[1, -3]])


def test_double_centering_rule_is_the_class():
    D = dissimilarities(14)
    both = (DissimilarityToSimilarity("double_centering"), DoubleCentering())
    first, second = (e.fit(D[:10, :10]).transform(D[:, :10]) for e in both)
    assert_array_equal(first, second)


@pytest.mark.parametrize("rule", ["exp", "gaussian", "max"])
def test_elementwise_rules_keep_an_asymmetric_matrix_asymmetric(rule, rng):
    D = rng.random((6, 6))
    np.fill_diagonal(D, 0)
    S = DissimilarityToSimilarity(rule).fit_transform(D)
    exact(DissimilarityToSimilarity(rule).fit_transform(D.T), S.T)
    assert np.abs(S - S.T).max() > 0.01


def test_refitting_by_another_method_leaves_no_trace():
    estimator = DissimilarityToSimilarity("max").fit(dissimilarities(5))
    estimator.set_params(method="exp").fit(dissimilarities(5))
    assert not hasattr(estimator, "max_")


# --- spectrum correction --------------------------------------------------------------------------

SPECTRA = {
    "flip": np.abs,
    "clip": lambda values: np.maximum(values, 0),
    "shift": lambda values: values - values.min(),
    "square": np.square,
}


@pytest.mark.parametrize("method", METHODS)
def test_corrected_spectrum(method):
    K = similarities(20)
    values, U = np.linalg.eigh(K)
    corrector = SpectrumCorrector(method).fit(K)
    exact(corrector.transform(K), (U * SPECTRA[method](values)) @ U.T)
    exact(np.sort(corrector.eigenvalues_), values)
    exact(corrector.negative_mass_, -values[values < 0].sum() / np.abs(values).sum())


@pytest.mark.parametrize("method", METHODS)
def test_new_rows_go_through_one_matrix(method):
    K = similarities(30)
    train, new = K[:20, :20], K[20:, :20]
    values, U = np.linalg.eigh(train)
    P = (U * (SPECTRA[method](values) / values)) @ U.T
    corrector = SpectrumCorrector(method).fit(train)
    exact(corrector.correction_, P)
    exact(corrector.transform(new), new @ P)


def test_shift_enlarges_self_similarities_only():
    K = similarities(15)
    shifted = SpectrumCorrector("shift").fit_transform(K)
    exact(shifted - K, -np.linalg.eigvalsh(K)[0] * np.eye(15))


def test_square_is_k_times_k():
    K = similarities(25)
    corrector = SpectrumCorrector("square").fit(K[:18, :18])
    exact(corrector.transform(K[:, :18]), K[:, :18] @ K[:18, :18])


@pytest.mark.parametrize("method", ["flip", "clip", "shift"])
@pytest.mark.parametrize("width", [2, 40], ids=["rank deficient", "full rank"])
def test_a_semi_definite_matrix_is_left_as_it_is_and_so_are_new_rows(method, width, rng):
    A = rng.standard_normal((30, width))
    K = A @ A.T
    corrector = SpectrumCorrector(method).fit(K[:20, :20])
    assert corrector.negative_mass_ == 0
    assert_array_equal(corrector.transform(K[:20, :20]), K[:20, :20])
    assert_array_equal(corrector.transform(K[20:, :20]), K[20:, :20])


@pytest.mark.parametrize("method", ["flip", "clip", "shift"])
def test_a_zero_eigenvalue_has_no_sign_and_is_dropped(method):
    S = DoubleCentering().fit_transform(dissimilarities(20))  # S 1 = 0
    corrector = SpectrumCorrector(method).fit(S)
    exact(corrector.correction_ @ np.ones(20), 0)
    exact(corrector.transform(np.ones((1, 20))), 0)


@pytest.mark.parametrize("method", ["flip", "clip", "shift"])
def test_corrected_matrix_is_semi_definite(method, load):
    D, _ = load("dissimilarities/catcortex", "D", "y")
    S = DoubleCentering().fit_transform(D)
    values = np.linalg.eigvalsh(S)
    assert values[0] < -0.05 * values[-1]  # there is something to correct
    corrected = SpectrumCorrector(method).fit_transform(S)
    exact(corrected, corrected.T)
    assert np.linalg.eigvalsh((corrected + corrected.T) / 2)[0] > -1e-10 * values[-1]


@pytest.mark.parametrize("method", METHODS)
def test_all_zero_similarities_stay_zero(method):
    assert_array_equal(SpectrumCorrector(method).fit_transform(np.zeros((4, 4))), np.zeros((4, 4)))


# --- symmetrisation -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "rule"), [("average", lambda a, b: (a + b) / 2), ("min", min), ("max", max)]
)
def test_symmetrize_pair_by_pair(how, rule, rng):
    D = rng.random((5, 5))
    expected = [[rule(D[i, j], D[j, i]) for j in range(5)] for i in range(5)]
    assert_array_equal(symmetrize(D, how), expected)
    # Rows of new objects, of which both directions are known, agree with the whole.
    assert_array_equal(symmetrize(D[3:, :3], how, D[:3, 3:]), symmetrize(D, how)[3:, :3])
    assert symmetrize(D.astype(np.float32), how).dtype == np.float32


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([[0, 1], [2, 0]], "mean"), r"how to be \"average\", \"min\" or \"max\", got 'mean'"),
        (([[0, 1, 2]],), r"square matrix .* got shape \(1, 3\)"),
        (([[0, 1, 2]], "min", [[0, 1, 2]]), r"reverse .* \(3, 1\), got \(1, 3\)"),
        (([[np.nan]],), "D contains NaN"),
    ],
)
def test_symmetrize_refuses(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        symmetrize(*arguments)


# --- embedding ------------------------------------------------------------------------------------


def squared_distances(X: np.ndarray, form: Signature) -> np.ndarray:
    """(x_i − x_j)ᵀ M (x_i − x_j), pair by pair."""
    differences = X[:, None] - X[None]
    return np.einsum("ijk,kl,ijl->ij", differences, form.dense(), differences)


def test_indefinite_inner_product_reproduces_random_dissimilarities():
    D = dissimilarities(30)
    embedding = make_pipeline(DoubleCentering(), KreinPCA(n_components=None))
    X = embedding.fit_transform(D)
    form = embedding[-1].form_
    exact(squared_distances(X, form), D**2)
    assert X.shape == (30, 29)  # one direction is lost to centring
    assert 5 < (embedding[-1].signature_ < 0).sum() < 25


def test_indefinite_inner_product_reproduces_catcortex(load):
    D, _ = load("dissimilarities/catcortex", "D", "y")
    embedding = make_pipeline(DoubleCentering(), KreinPCA(n_components=None))
    X = embedding.fit_transform(D)
    assert (embedding[-1].signature_ < 0).any()
    exact(squared_distances(X, embedding[-1].form_), D**2)
    exact(embedding.transform(D), X)


@pytest.mark.parametrize("center", [True, False])
def test_inner_products_are_the_similarities(center):
    K = similarities(25)
    J = np.eye(25) - center / 25
    pca = KreinPCA(None, center=center).fit(K)
    exact(pca.transform(K) @ pca.transform_dual(K).T, J @ K @ J)


def test_new_objects_keep_their_inner_products_with_training_objects():
    D = dissimilarities(30)
    pipeline = make_pipeline(DoubleCentering(), KreinPCA(None)).fit(D[:20, :20])
    centred = pipeline[0].transform(D[20:, :20])
    train, new = pipeline.transform(D[:20, :20]), pipeline.transform(D[20:, :20])
    exact(new @ pipeline[-1].form_.dual(train).T, centred)


@pytest.mark.parametrize("n_components", [1, 4, 9])
def test_largest_magnitudes_are_kept_with_their_signs(n_components):
    K = similarities(20)
    values = np.linalg.eigvalsh(K)
    pca = KreinPCA(n_components, center=False).fit(K)
    expected = values[np.argsort(-np.abs(values))[:n_components]]
    exact(pca.eigenvalues_, expected)
    assert_array_equal(pca.signature_, np.sign(expected))
    assert_array_equal(pca.form_.signs, pca.signature_)
    exact(pca.transform(K), pca.eigenvectors_ * np.sqrt(np.abs(expected)))
    exact(pca.eigenvectors_.T @ pca.eigenvectors_, np.eye(n_components))
    exact(KreinPCA(9, center=False).fit_transform(K)[:, :n_components], pca.transform(K))


def test_euclidean_distances_give_principal_components(rng):
    X, new = rng.standard_normal((30, 4)) * [4, 3, 2, 1], rng.standard_normal((5, 4))
    pipeline = make_pipeline(DoubleCentering("euclidean"), KreinPCA(4)).fit(X)
    oracle = PCA(4).fit(X)
    assert pipeline[-1].form_.is_identity
    exact(np.abs(pipeline.transform(X)), np.abs(oracle.transform(X)), atol=1e-7)
    exact(np.abs(pipeline.transform(new)), np.abs(oracle.transform(new)), atol=1e-7)


def test_a_definite_kernel_gives_kernel_pca(rng):
    X, new = rng.random((30, 3)), rng.random((6, 3))
    ours = KreinPCA(5, kernel=Gaussian(0.5)).fit(X)
    oracle = KernelPCA(5, kernel="rbf", gamma=2.0).fit(X)
    assert ours.negative_mass_ == 0
    exact(ours.eigenvalues_, oracle.eigenvalues_)
    exact(np.abs(ours.transform(new)), np.abs(oracle.transform(new)), atol=1e-7)


def test_an_indefinite_kernel_is_embedded_with_negative_directions(rng):
    X = rng.random((30, 3))
    kernel = DeltaGaussian(0.3, 3.0)
    pca = KreinPCA(None, kernel=kernel, center=False).fit(X)
    assert pca.negative_mass_ > 0.1
    exact(pca.transform(X) @ pca.transform_dual(X).T, kernel(X))


def _common_letters(a, b):
    return float(len(set(a) & set(b)) - 0.5 * (len(a) != len(b)))


def test_objects_other_than_vectors():
    words = ["spring", "summer", "autumn", "winter", "sun", "rain"]
    pca = KreinPCA(3, kernel=Pairwise(_common_letters)).fit(words[:5])
    K = np.array([[_common_letters(a, b) for b in words] for a in words])
    twin = KreinPCA(3).fit(K[:5, :5])
    exact(pca.transform(words), twin.transform(K[:, :5]))
    assert list(pca.get_feature_names_out()) == ["kreinpca0", "kreinpca1", "kreinpca2"]


def test_sparse_rows_equal_dense_rows(rng):
    X = rng.random((20, 5)) * (rng.random((20, 5)) < 0.5)
    pca = KreinPCA(3, kernel=Gaussian())
    dense = clone(pca).fit_transform(X)
    exact(clone(pca).fit(sparse.csr_array(X)).transform(sparse.csr_array(X)), dense, atol=1e-7)


def test_zero_eigenvalues_are_dropped_with_a_warning(rng):
    A = rng.standard_normal((20, 3))
    K = A @ np.diag([1.0, -1.0, 2.0]) @ A.T
    with pytest.warns(UserWarning, match=r"n_components=5.*3 eigenvalue.*keeps 3"):
        pca = KreinPCA(5).fit(K)
    assert pca.transform(K).shape == (20, 3)
    assert pca.form_.width == 3
    assert sorted(pca.signature_) == [-1, 1, 1]
    assert KreinPCA(None).fit(K).form_.width == 3
    assert KreinPCA(None).fit(K.astype(np.float32)).form_.width == 3


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
    assert_array_equal(scores, expected)
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
        r"got nan from metric for object 1 of X and training object 3",
    ),
    "no pairs, metric": (DoubleCentering(), GOOD_D[:4], r"shape \(4, 6\).*choose a metric"),
    "no pairs, kernel": (KreinPCA(), GOOD_K[:, :4], r"shape \(6, 4\).*choose a kernel"),
    "no pairs": (SpectrumCorrector(), GOOD_K[:4], r"shape \(4, 6\): pass D\[np\.ix_"),
    "method": (SpectrumCorrector("flop"), GOOD_K, r"'method' parameter.*Got 'flop'"),
    "rule": (DissimilarityToSimilarity("cos"), GOOD_D, r"'method' parameter.*Got 'cos'"),
    "rate": (DissimilarityToSimilarity("exp", gamma=0), GOOD_D, r"'gamma' parameter.*Got 0"),
    "metric": (DoubleCentering("hamming-ish"), GOOD_D, r"'metric' parameter.*hamming-ish"),
    "components": (KreinPCA(0), GOOD_K, r"'n_components' parameter.*Got 0"),
    "kernel": (KreinPCA(kernel="rbf"), GOOD_K, r"'kernel' parameter.*Got 'rbf'"),
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
    for bad in (_with(data(5), np.nan, (0, 1)), data(5)[:3], _with(data(5), -50.0, (0, 1))):
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
