"""The support vector machine on learned features, in one estimator."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.svm import SVC

from krein import KreinSVC, NotSoRandomClassifier, NotSoRandomFeatures
from krein.spectral import FewPeaksWarning
from krein.streaming import Blocks


@pytest.fixture
def board(rng):
    """A checkerboard of 9 × 9 cells."""
    X = rng.uniform(-1, 1, (400, 2))
    return X, np.where(np.sin(9 * X[:, 0]) * np.sin(9 * X[:, 1]) > 0, "black", "white")


OFF = np.random.default_rng(0).standard_normal((400, 3))
OFF *= np.where(np.arange(400) == 17, 2, 1)[:, None] / np.linalg.norm(OFF, axis=1, keepdims=True)
PAIRS = np.repeat(np.random.default_rng(0).random((200, 2)), 2, axis=0)


def classifier(**options):
    settings = {"n_components": 20, "C": 10.0, "band": 20.0, "n_starts": 8, "random_state": 0}
    return NotSoRandomClassifier(**settings | options)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_it_is_the_map_and_the_machine(board, loss):
    X, y = board
    model = classifier(loss=loss).fit(X, y)
    features = NotSoRandomFeatures(20, C=10.0, band=20.0, loss=loss, n_starts=8)
    alpha = 1 / (2 * 10.0 * 400)
    twin = KreinSVC(features=features, loss=loss, alpha=alpha, tol=1e-4, random_state=0).fit(X, y)
    assert_allclose(model.decision_function(X), twin.decision_function(X), rtol=1e-10)
    assert_array_equal(model.classes_, ["black", "white"])
    assert model.coef_.shape == (20,)
    assert_allclose(model.C_, 10.0)
    assert_allclose(model.kernel_(X), model.features_.approximate_kernel(X), atol=1e-12)
    assert not hasattr(model, "alpha_")


def test_c_is_that_of_scikit_learn(board):
    X, y = board
    for C in (0.3, 30.0):
        model = classifier(C=C, tol=1e-8).fit(X, y)
        Z = model.features_.transform(X)
        twin = SVC(kernel="linear", C=C, tol=1e-6).fit(Z, y)
        signs = np.where(y == "white", 1, -1)

        def objective(w, b, Z=Z, C=C, signs=signs):
            return w @ w / 2 + C * np.maximum(0, 1 - signs * (Z @ w + b)).sum()

        best = objective(twin.coef_[0], twin.intercept_[0])
        ours = objective(model.coef_, model.intercept_)
        # The corner of the hinge is rounded, by at most 0.025 for each row.
        assert best * (1 - 1e-4) <= ours <= best + 0.025 * C * len(X)
        assert np.mean(model.predict(X) == twin.predict(Z)) > 0.97


def test_cross_validation_does_not_see_the_rows_it_judges(rng):
    X, y = rng.random((120, 4)), rng.random(120) < 0.5  # nothing can be learned
    overfitted = classifier(C=100.0, n_components=80, band=30.0).fit(X, y)
    assert overfitted.score(X, y) > 0.9
    model = classifier(C="cv", n_components=80, band=30.0, cv=3).fit(X, y)
    errors = model.cv_results_["error"]
    # A share of 120 rows that are guessed has the standard error 0.046.
    assert np.all(np.abs(errors - 0.5) < 0.2)
    assert_array_equal(model.cv_results_["C"].round(9), [0.01, 0.1, 1, 10, 100, 1000])
    assert_allclose(model.C_, model.cv_results_["C"][model.cv_results_["chosen"]])


def test_c_is_chosen_and_defaults_learn(board):
    X, y = board
    model = NotSoRandomClassifier(random_state=0, cv=2).fit(X[:250], y[:250])
    assert model.score(X[250:], y[250:]) > 0.85
    assert model.coef_.shape == (200,)


def test_several_classes_share_the_width(rng):
    X = rng.uniform(-1, 1, (400, 2))
    y = np.digitize(np.sin(9 * X[:, 0]), [-0.5, 0.5]) + 5
    model = classifier(n_components=32).fit(X[:300], y[:300])
    assert_array_equal(model.classes_, [5, 6, 7])
    assert model.coef_.shape == (3, 32)
    assert model.decision_function(X).shape == (400, 3)
    assert model.score(X[300:], y[300:]) > 0.85


def test_the_sphere_and_early_stopping(rng):
    X = rng.standard_normal((300, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = X[:, 0] * X[:, 1] * X[:, 2] > 0
    options = {"domain": "sphere", "n_components": None, "band": "auto", "n_rounds": 20}
    model = classifier(max_degree=6, early_stopping=True, **options).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.9
    assert model.coef_.shape == (len(model.features_.harmonics_),)
    assert np.isnan(model.features_.duals_).sum() == 40


def test_weights_are_copies_and_zeros_are_absent(board):
    X, y = board
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = classifier(tol=1e-10).fit(X, y, sample_weight=weight)
    repeated = classifier(tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(weighted.features_.frequencies_, repeated.features_.frequencies_)
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-4)
    plain = classifier(tol=1e-10).fit(X, y)
    assert np.abs(plain.decision_function(X) - weighted.decision_function(X)).max() > 1e-2


def test_the_order_of_the_rows_changes_nothing(board, rng):
    X, y = board
    order = rng.permutation(len(X))
    one = classifier(C="cv", cv=2, tol=1e-8).fit(X, y)
    other = classifier(C="cv", cv=2, tol=1e-8).fit(X[order], y[order])
    assert_allclose(other.decision_function(X), one.decision_function(X), atol=1e-4)
    assert_allclose(other.cv_results_["hinge"], one.cv_results_["hinge"], rtol=1e-4)


def test_equal_rows_have_the_label_of_most_of_them(rng):
    X = rng.integers(0, 2, (600, 4)).astype(float)  # 16 distinct rows, each with both labels
    y = (X[:, 0] != X[:, 1]) ^ (rng.random(600) < 0.2)
    model = classifier(n_components=8, band=5.0).fit(X, y)
    assert np.mean(model.predict(X) == (X[:, 0] != X[:, 1])) == 1
    # A weight counts as so many copies: with other weights the minority decides.
    weight = np.where(y == (X[:, 0] != X[:, 1]), 1, 50)
    turned = classifier(n_components=8, band=5.0).fit(X, y, sample_weight=weight)
    assert np.mean(turned.predict(X) == (X[:, 0] != X[:, 1])) == 0


def test_streams_need_a_number_for_c(board):
    X, y = board
    blocks = Blocks([(X[:200], y[:200]), (X[200:], y[200:])])
    with pytest.raises(ValueError, match=r"C='cv'\) learns the features anew.*give C a number"):
        classifier(C="cv").fit(blocks)
    model, whole = (classifier().fit(*data) for data in ((blocks,), board))
    assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-4)


@pytest.mark.parametrize(
    ("options", "change", "sentence"),
    [
        ({"n_components": 7}, {}, "n_components must be even"),
        ({"n_rounds": 7}, {}, "needs n_rounds to be None on R.d"),
        ({"C": 0.0}, {}, "'C' parameter of NotSoRandomClassifier must be"),
        ({"loss": "log"}, {}, "'loss' parameter of NotSoRandomClassifier must be"),
        ({}, {"y": None}, "requires y to be passed"),
        ({}, {"y": np.full(400, "black")}, "1 class|one class|single class"),
        ({}, {"y": np.linspace(0, 1, 400)}, "Unknown label type"),
        ({}, {"X": np.ones((400, 2))}, "needs at least 3 distinct rows, got 1"),
        ({}, {"X": PAIRS, "y": np.arange(400) % 2}, "at each distinct row the class '0'"),
        ({}, {"rows": [0, -1]}, "needs at least 3 distinct rows, got 2"),
        ({"C": "cv", "cv": 2}, {"rows": [0, 1, -1, -2]}, "got 4 distinct rows in classes of 2, 2"),
        ({"C": "cv"}, {"rows": [*range(20), -1]}, "of at least two distinct rows.* e.g. C=1.0"),
        ({"domain": "sphere", "n_components": None}, {"X": OFF}, "Classifier .* row 17 has norm 2"),
    ],
)
def test_bad_input_gets_a_sentence(options, change, sentence, board):
    X, y = change.get("X", board[0]), change.get("y", board[1])
    if "rows" in change:
        order = np.argsort(y)
        X, y = X[order][change["rows"]], y[order][change["rows"]]
    model = classifier(**options)
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_a_class_of_one_row_is_learned_where_C_is_a_number(board):
    rows = np.argsort(board[1])[[*range(20), -1]]
    model = classifier(C=1.0).fit(board[0][rows], board[1][rows])
    assert len(model.classes_) == 2


def test_sparse_rows_are_refused_and_few_peaks_warn(board):
    X, y = board
    with pytest.raises(TypeError, match="Sparse data was passed"):
        classifier().fit(sparse.csr_array(X), y)
    with pytest.warns(FewPeaksWarning, match="increase n_starts or band"):
        classifier(game=False, n_components=400, band=3.0, n_starts=4).fit(X, y)


def test_several_labels_per_row_get_a_sentence():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 2)), rng.integers(0, 2, (20, 3))
    with pytest.raises(ValueError, match="takes one label per row, but y has 3 columns"):
        NotSoRandomClassifier(4, C=1.0, band=1.0).fit(X, Y)
