"""Data that are legal and awkward: rare classes, tiny units, twins, index columns, Ctrl-C."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_same_outputs
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

import krein
from krein._hashing import hash_pairs
from krein.kernels import DeltaGaussian, EditDistance, Gaussian, Pairwise, Precomputed
from krein.learning import Newton
from krein.streaming import Moments, open_stream

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))
VALUES = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=100)
LABELS = (X[:, 0] > 0).astype(int)
KERNEL = DeltaGaussian(1.0, 3.0)
CLASSIFIERS = [krein.KreinRidgeClassifier, krein.VarianceConstrainedClassifier, krein.KreinSVC]
REGRESSORS = [krein.KreinRidge, krein.VarianceConstrainedRegressor]
FEW = {"n_components": 20, "random_state": 0}


class Identity(TransformerMixin, BaseEstimator):
    """A map that learns nothing, so that it does not matter on which rows it is fitted."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X

    def __sklearn_is_fitted__(self):
        return True


# --- cross-validation ----------------------------------------------------------------------------


def test_the_moments_of_the_rest_have_no_rounding_of_the_part():
    rows = RNG.normal(size=(60, 4))
    rows[7] = 1e9
    parts = [Moments.of(rows[i::5]) for i in range(5)]
    for i, rest in enumerate(Moments.rests(parts)):
        others = np.arange(60) % 5 != i
        twin = Moments.of(rows[others])
        assert rest.weight == twin.weight
        assert_allclose(rest.mean, twin.mean, rtol=1e-12)
        assert_allclose(rest.scatter, twin.scatter, rtol=1e-10, atol=1e-12 * twin.scatter.max())


@pytest.mark.parametrize("criterion", ["squared_error", "error"])
def test_a_class_of_one_row_leaves_a_judgement(criterion):
    y = LABELS.copy()
    y[0] = 2
    model = krein.VarianceConstrainedClassifier(KERNEL, criterion=criterion, **FEW).fit(X, y)
    assert np.isfinite(model.cv_results_["squared_error"]).all()
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("made", REGRESSORS)
def test_regressors_count_no_errors(made, refit):
    model = made(KERNEL, criterion="error", nested=refit, **FEW)
    with pytest.raises(ValueError, match=f"criterion='error'.*{made.__name__} predicts numbers"):
        model.fit(X, X[:, 0])
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("alpha", ["cv", "gradient"])
def test_an_output_that_does_not_vary_outside_a_fold_leaves_a_judgement(alpha, recwarn):
    Y = np.column_stack([VALUES, np.zeros(100)])
    Y[3, 1] = 1.0
    model = krein.VarianceConstrainedRegressor(KERNEL, alpha=alpha, **FEW).fit(X, Y)
    assert np.isfinite(model.cv_results_["squared_error"]).all()
    assert not [w for w in recwarn if w.category is RuntimeWarning]
    assert np.corrcoef(model.predict(X)[:, 0], VALUES)[0, 1] > 0.9


@pytest.mark.parametrize("alpha", ["cv", "gradient"])
@pytest.mark.parametrize("kind", REGRESSORS)
def test_the_units_of_the_targets_do_not_matter(kind, alpha):
    """Powers of two, so that everything else is exactly the same."""
    model = kind(KERNEL, alpha=alpha, **FEW).fit(X, VALUES)
    for unit in (2.0**-30, 2.0**30):
        other = kind(KERNEL, alpha=alpha, **FEW).fit(X, VALUES * unit)
        assert_allclose([other.alpha_, other.alpha_neg_], [model.alpha_, model.alpha_neg_])
        assert_allclose(other.predict(X) / unit, model.predict(X), atol=1e-9)


def test_one_huge_entry_leaves_the_losses_of_explicit_refits():
    rows = X.copy()
    rows[5, 0] = 1e8
    folds = [(np.flatnonzero(np.arange(100) % 5 != i), np.arange(i, 100, 5)) for i in range(5)]
    model = krein.KreinRidge(features=Identity(), alphas=[1e-2, 1.0], cv=folds).fit(rows, VALUES)
    for i, alpha in enumerate(model.cv_results_["alpha"]):
        lost = 0.0
        for train, test in folds:
            one = krein.KreinRidge(features=Identity(), alpha=alpha).fit(rows[train], VALUES[train])
            lost += np.square(one.predict(rows[test]) - VALUES[test]).sum() / 100
        assert_allclose(model.cv_results_["squared_error"][i], lost, rtol=1e-6)


@pytest.mark.parametrize("kind", [krein.KreinSVC, krein.KreinRidgeClassifier])
def test_the_gradient_ends_where_nothing_is_lost(kind, recwarn):
    rows = 9.0 * LABELS[:, None] + 0.01 * X
    model = kind(Gaussian(3.0), 4, alpha="gradient", random_state=0).fit(rows, LABELS)
    assert model.score(rows, LABELS) == 1
    assert 0 < model.alpha_ < np.inf
    assert not [w for w in recwarn if w.category is RuntimeWarning]


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1.0, 1: 10.0}])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_refit_judges_by_the_weights_of_classes_too(kind, class_weight):
    y = (X[:, 0] + 0.3 * X[:, 1] > 0.8).astype(int)
    options = {"features": Identity(), "class_weight": class_weight, "random_state": 0}
    once, anew = (
        kind(alphas=[1e-3, 0.1, 1.0], nested=r, **options).fit(X, y) for r in (False, True)
    )
    for name in ("error", "squared_error"):
        assert_allclose(anew.cv_results_[name], once.cv_results_[name], rtol=1e-6, err_msg=name)


def test_refit_holds_for_a_tuned_radius_too():
    once, anew = (
        krein.VarianceConstrainedRegressor(KERNEL, alpha=1e-3, nested=r, **FEW).fit(X, VALUES)
        for r in (False, True)
    )
    assert not np.allclose(once.cv_results_["squared_error"], anew.cv_results_["squared_error"])


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_rows_that_are_all_the_same_cannot_judge(kind):
    y = LABELS if kind in CLASSIFIERS else VALUES
    with pytest.raises(ValueError, match=r"two distinct rows .* = 100 rows that are equal"):
        kind(Gaussian(), 1).fit(np.ones((100, 2)), y)


def test_results_of_an_earlier_search_do_not_stay():
    model = krein.KreinRidge(KERNEL, **FEW).fit(X, VALUES)
    assert not hasattr(model.set_params(alpha=0.1).fit(X, VALUES), "cv_results_")


def test_constant_columns_have_no_lasso_coefficient():
    model = krein.KreinRidge(features=Identity(), alpha=1.0, penalty="l1").fit(
        np.ones((9, 2)), X[:9, 0]
    )
    assert_array_equal(model.coef_, 0)


# --- objects that a matrix hardly tells apart ----------------------------------------------------


def _hamming(bits):
    return (bits[:, None] != bits[None]).sum(axis=2).astype(float)


def test_objects_with_the_same_values_in_another_order_are_told_apart():
    bits = RNG.integers(0, 2, size=(50, 6))
    D = _hamming(bits)
    hashes = hash_pairs(D)
    same = (bits[:, None] == bits[None]).all(axis=2)
    assert_array_equal(hashes[:, None] == hashes, same)
    order = RNG.permutation(50)
    assert_array_equal(hash_pairs(D[np.ix_(order, order)]), hashes[order])


def test_objects_that_are_alike_to_all_others_are_told_apart_by_place():
    bits = np.array(list(np.ndindex(*(2,) * 6)))
    bits = np.concatenate([bits, bits[:3]])  # three of them twice
    hashes = hash_pairs(_hamming(bits[:64]))
    assert len(np.unique(hashes)) == 64
    assert len(np.unique(hash_pairs(_hamming(bits)))) == 64


@pytest.mark.parametrize("kind", [*CLASSIFIERS, krein.KreinClassifier])
def test_the_corners_of_a_cube_can_be_learned(kind):
    bits = np.array(list(np.ndindex(*(2,) * 6)))
    S = np.exp(-_hamming(bits))
    assert kind("precomputed", 20, random_state=0).fit(S, bits[:, 0]).score(S, bits[:, 0]) > 0.9


# --- targets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [{0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0}, {0: 0.0, 1: 0.0}])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_weights_of_classes_are_numbers_from_zero_on(kind, weights):
    with pytest.raises(ValueError, match="class_weight must hold numbers of at least 0"):
        kind(KERNEL, alpha=0.1, class_weight=weights, **FEW).fit(X, LABELS)


def test_batches_cannot_be_balanced():
    model = krein.KreinRidgeClassifier(KERNEL, alpha=0.1, class_weight="balanced", **FEW)
    with pytest.raises(ValueError, match="needs all rows at once"):
        model.partial_fit(X, LABELS)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, krein.KreinClassifier])
def test_labels_may_be_a_column(kind):
    words = ["".join(RNG.choice(list("abc"), 5)) for _ in range(40)]
    y = np.array([word[0] for word in words])
    for rows, column in (
        (words, y[:, None]),
        ([(X[:60], LABELS[:60, None]), (X[60:], LABELS[60:, None])], None),
    ):
        kernel = Pairwise(lambda a, b: float(a[0] == b[0])) if rows is words else KERNEL
        model = kind(kernel, 5, random_state=0).fit(rows, column)
        assert model.predict(words if rows is words else X).ndim == 1


def test_labels_of_another_type_in_another_block_are_refused():
    blocks = [(X[:50], LABELS[:50]), (X[50:], np.where(LABELS[50:], "yes", "no"))]
    with pytest.raises(ValueError, match="Labels must be of one type"):
        krein.KreinRidgeClassifier(KERNEL, alpha=0.1, **FEW).fit(blocks)


# --- matrices of kernel values -------------------------------------------------------------------


def test_later_rows_of_kernel_values_are_against_the_first_objects():
    first, new = X[:60], X[60:93]
    options = {"alpha": 1e-3, "random_state": 0}
    model = krein.KreinRidge("precomputed", 20, **options).partial_fit(KERNEL(first), VALUES[:60])
    Z = model.features_.transform(KERNEL(X[:93], first)[:, model._columns])
    model.partial_fit(KERNEL(new, first), VALUES[60:93])
    twin = krein.KreinRidge(features=Identity(), alpha=1e-3)
    expected = twin.fit(Z, VALUES[:93]).predict(Z)
    assert_allclose(model.predict(KERNEL(X[:93], first)), expected, atol=1e-9)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS, krein.KreinClassifier])
def test_a_sparse_matrix_of_kernel_values_is_refused(kind):
    K = sparse.csr_array(KERNEL(X))
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        kind("precomputed", 5).fit(K, LABELS)


def test_dissimilarities_may_be_a_precomputed_kernel():
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    models = [
        krein.KreinClassifier(kernel, 10, dissimilarity=True, random_state=0).fit(D, LABELS)
        for kernel in ("precomputed", Precomputed())
    ]
    assert_same_outputs(*models, D)


def test_bad_dissimilarities_have_the_place_that_the_caller_knows():
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    model = krein.KreinClassifier("precomputed", 10, dissimilarity=True, random_state=0)
    lopsided = D.copy()
    lopsided[3, 7] = 50
    with pytest.raises(ValueError, match=r"^KreinClassifier needs a symmetric.*X\[3, 7\] = 50"):
        model.fit(lopsided, LABELS)
    below = D.copy()
    below[10, 12] = below[12, 10] = -5
    weight = np.where(np.arange(100) < 5, 0.0, 1.0)
    with pytest.raises(ValueError, match=r"X\[10, 12\] = -5"):
        model.fit(below, LABELS, sample_weight=weight)


# --- objects -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*CLASSIFIERS, krein.KreinClassifier])
def test_bad_objects_have_the_place_that_the_caller_knows(kind):
    words = ["".join(RNG.choice(list("abc"), 5)) for _ in range(40)]
    y = np.array(["a" in word[:2] for word in words])

    def apart(a, b):
        return np.nan if {a, b} == {words[3], words[4]} else float(a == b)

    with pytest.raises(ValueError, match=r"object (3|4) of X and object (3|4) of Y"):
        kind(Pairwise(apart), 20, random_state=0).fit(words, y)  # all words are landmarks
    pytest.importorskip("rapidfuzz")
    with pytest.raises(TypeError, match="item 0 of X is None"):
        kind(EditDistance(), 5, random_state=0).fit([None, *words[1:]], y)


def test_an_array_of_series_is_a_collection_of_objects():
    series = RNG.normal(size=(30, 8, 2))
    y = np.arange(30) % 2
    kernel = Pairwise(lambda a, b: float(np.exp(-np.square(a - b).mean())))
    for kind in (krein.KreinRidgeClassifier, krein.KreinClassifier):
        model, twin = (kind(kernel, 5, random_state=0).fit(S, y) for S in (series, list(series)))
        assert_allclose(model.decision_function(series), twin.decision_function(list(series)))


# --- files ---------------------------------------------------------------------------------------


def test_the_index_of_a_table_is_no_feature(tmp_path):
    pd, pq = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=VALUES).sample(80, random_state=0)
    table.to_parquet(tmp_path / "t.parquet")
    stored = json.loads(pq.read_schema(tmp_path / "t.parquet").metadata[b"pandas"])
    assert isinstance(stored["index_columns"][0], str)  # a column, and no range
    for target in (None, "y"):
        block = next(iter(open_stream(tmp_path / "t.parquet", target=target)))
        assert_allclose(block.X, table[["a", "b", "c"]])
        assert_allclose(block.y, table["y"])
    named = table.rename_axis("id")
    named.to_parquet(tmp_path / "u.parquet")
    block = next(iter(open_stream(tmp_path / "u.parquet", target="id")))
    assert_allclose(block.y, named.index)
    assert block.X.shape[1] == 4


def test_numbers_of_columns_are_a_header(tmp_path):
    rows = np.column_stack([X[:, :2], VALUES])
    lines = ["0,1,2", *(",".join(map(repr, row)) for row in rows.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.warns(UserWarning, match="column numbers"):
        data = open_stream(tmp_path / "t.csv")
    assert_allclose(np.concatenate([block.X for block in data]), X[:, :2])
    (tmp_path / "u.csv").write_text("\n".join(["0,1", "1,0", "0,0"]))
    assert_array_equal(next(iter(open_stream(tmp_path / "u.csv"))).y, [1, 0, 0])


# --- Ctrl-C --------------------------------------------------------------------------------------


def _interrupt(monkeypatch, after):
    calls, step = [], Newton._step

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == after:
            raise KeyboardInterrupt
        return step(self, *arguments)

    monkeypatch.setattr(Newton, "_step", interrupted)
    return calls


def test_an_interruption_ends_all_classes(monkeypatch):
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    calls = _interrupt(monkeypatch, 2)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = krein.KreinSVC(KERNEL, alpha=1e-5, **FEW).fit(X, y)
    assert len(calls) == 2
    assert model.coef_.shape == (3, 20)


def test_an_interrupted_search_keeps_what_was_finished(monkeypatch):
    _interrupt(monkeypatch, 5)
    model = krein.KreinClassifier(KERNEL, 10, random_state=0)
    with pytest.warns(ConvergenceWarning, match="the best of 2 finished trials is kept"):
        model.fit(X, LABELS)
    assert {trial.learner for trial in model.report_.trials} == {"ridge", "VC-LSM"}
    outputs = [one.decision_function(X) for one in model.estimators_]
    assert len(outputs) == len(model.report_.averaged)
    assert_allclose(model.decision_function(X), np.mean(outputs, axis=0))


def test_an_interruption_before_anything_is_finished_leaves_nothing(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(krein.KreinRidgeClassifier, "_solve", interrupted)
    model = krein.KreinClassifier(KERNEL, 10)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, LABELS)
    assert not hasattr(model, "estimators_")
