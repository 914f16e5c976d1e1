"""Bad targets, empty data and wide data, where a stream or objects hide them from scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import krein
from krein import KreinClassifier, KreinRidge, KreinRidgeClassifier, KreinSVC
from krein.estimators._representation import scaled_gaussian
from krein.kernels import DeltaGaussian, EditDistance, Pairwise, ShiftGaussian, Similarity
from krein.kernels.errors import BadPairError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
WORDS = ["aa", "ab", "ba", "bb"] * 10


@pytest.fixture
def strings():
    pytest.importorskip("rapidfuzz")
    return Similarity(EditDistance())


def test_text_is_no_target_of_regression(strings):
    with pytest.raises(ValueError, match="learns numbers, but y has 'p': labels are for"):
        KreinRidge(strings, 3, alpha=0.1).fit(WORDS, ["p", "q"] * 20)


@pytest.mark.parametrize("learner", [KreinRidgeClassifier, KreinSVC])
def test_numbers_in_a_stream_are_no_labels(learner):
    blocks = [(X[:30], X[:30, 0]), (X[30:], X[30:, 0])]
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        learner(n_components=5).fit(blocks)


def test_several_labels_per_row_that_are_no_indicators_are_refused():
    labels = np.c_[X[:, 0] > 0, X[:, 1] > 0] * np.array([1, 2])
    with pytest.raises(ValueError, match=r"one label per row, or a matrix of 0 and 1 .* 2 columns"):
        KreinRidgeClassifier(n_components=5).fit([(X, labels)])


def test_a_stream_of_another_width_is_refused_in_predict():
    model = KreinRidge(n_components=5, alpha=0.1).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="2 columns, but 3 are expected"):
        model.predict([(X[:5, :2], X[:5, 0])])


def test_nothing_cannot_be_predicted_for(strings):
    model = KreinRidge(strings, 3, alpha=0.1).fit(WORDS, [0.0, 1.0] * 20)
    with pytest.raises(ValueError, match="X has no rows"):
        model.predict([])


def test_the_automatic_learner_passes_a_bad_pair_on():
    kernel = Pairwise(lambda a, b: float("nan"))
    with pytest.raises(BadPairError, match="returned nan for object"):
        KreinClassifier(kernel, 3).fit(WORDS, [0, 1] * 20)


def test_the_default_width_of_sparse_rows_is_that_of_dense_ones():
    rows = sparse.random(50, 40, 0.1, format="csr", random_state=0)
    dense, wide = scaled_gaussian(rows.toarray()).sigma, scaled_gaussian(rows).sigma
    assert wide == pytest.approx(dense, rel=1e-12)


def test_very_wide_sparse_rows_are_not_made_dense():
    # As an array these 60 rows would take 24 GB.
    columns = RNG.integers(50_000_000, size=300)
    entries = RNG.normal(size=300), (np.repeat(np.arange(60), 5), columns)
    rows = sparse.csr_matrix(entries, shape=(60, 50_000_000))
    model = KreinRidge(n_components=5, alpha=0.1, random_state=0).fit(rows, X[:, 0])
    assert np.all(np.isfinite(model.predict(rows)))


@pytest.mark.parametrize("seed", range(4))
def test_few_features_in_single_precision(seed):
    """Their Gram matrix has negative eigenvalues by rounding, which no Cholesky factor survives."""
    X = (20 * np.random.default_rng(seed).random((20, 5))).astype(np.float32)
    y = np.arange(20.0) % 3
    kernel = DeltaGaussian(2.0, 20.0)
    for random_state in range(3):
        options = {"penalty": "l1", "alpha": 0.01, "random_state": random_state, "n_components": 20}
        single, double = (KreinRidge(kernel, **options).fit(A, y) for A in (X, X.astype(float)))
        assert np.abs(single.predict(X) - double.predict(X.astype(float))).max() < 0.2


@pytest.mark.parametrize(
    "features",
    [
        krein.RandomFourier(ShiftGaussian(1.0, 0.4), 16, random_state=0),
        krein.Nystrom(ShiftGaussian(1.0, 0.4), 8, random_state=0),
    ],
    ids=["phase", "two-sided"],
)
@pytest.mark.parametrize("kind", [krein.KreinRidgeClassifier, krein.KreinSVC])
def test_a_learner_of_one_side_says_that_it_ignores_direction(kind, features):
    rows = np.random.default_rng(0).standard_normal((60, 3))
    model = kind(features=features, alpha=1e-3)
    with pytest.warns(
        UserWarning, match=f"{kind.__name__} uses transform.*does not see the dir"
    ) as w:
        model.fit(rows, rows[:, 0] > 0)
    assert str(w[0].message).endswith("TwoSidedRidgeClassifier learns from both sides.")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        symmetric = {"features__kernel": DeltaGaussian()}
        clone(model).set_params(**symmetric).fit(rows, rows[:, 0] > 0)


@pytest.mark.parametrize("few", [2000, 10])
def test_an_automatic_learner_says_once_that_it_ignores_direction(few, monkeypatch):
    monkeypatch.setattr("krein.auto.plan.FEW", few)  # with more rows maps are fitted once
    rows = np.random.default_rng(0).standard_normal((60, 3))
    model = krein.KreinRegressor(ShiftGaussian(1.0, 0.4), 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(rows, rows[:, 0])  # the two-sided learner is one of the trials
    with pytest.warns(UserWarning, match="KreinRegressor uses transform") as seen:
        model.set_params(max_seconds=1e-9).fit(rows, rows[:, 0])
    assert len([w for w in seen if "uses transform" in str(w.message)]) == 1
    assert str(seen[0].message).endswith("TwoSidedRidge learns from both sides.")
