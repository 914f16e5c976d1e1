"""The automatic learners: what they try, remember and average."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from rounding import assert_rounded, assert_same_outputs, clear_rows
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from krein import KreinClassifier, KreinRegressor, KreinRidgeClassifier, Nystrom, SimilarityFeatures
from krein._hashing import hash_rows
from krein.auto.maps import MANY, candidates, views
from krein.kernels import TL1, DeltaGaussian, EditDistance, Gaussian, Pairwise, Similarity

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
LABELS = np.where(np.hypot(*X.T) > 1.2, "far", "near")
WORDS = ["".join(RNG.choice(list("abc"), 5)) for _ in range(50)]
NEW = ["".join(RNG.choice(list("abcd"), 5)) for _ in range(9)]
HAS_A = np.array(["a" in word[:2] for word in WORDS])


def _same_letters(a, b):
    return float(sum(p == q for p, q in zip(a, b, strict=True)))


# --- scaled similarities -------------------------------------------------------------------------


def test_scaled_similarities_have_unit_spread_over_the_landmarks():
    features = SimilarityFeatures(DeltaGaussian(), 20, scale=True, random_state=0).fit(X)
    Z = features.transform(features.landmarks_)
    assert Z.var(axis=0).sum() == pytest.approx(1.0, rel=1e-12)
    plain = SimilarityFeatures(DeltaGaussian(), 20, random_state=0).fit(X).transform(X)
    spread = np.sqrt(DeltaGaussian()(features.landmarks_).var(axis=0).sum())
    np.testing.assert_allclose(features.transform(X) * spread, plain, atol=1e-12)


def test_equal_similarities_are_not_divided_by_zero():
    kernel = Pairwise(lambda a, b: 2.0)
    Z = SimilarityFeatures(kernel, 3, scale=True, random_state=0).fit_transform(WORDS)
    np.testing.assert_array_equal(Z, 2.0)


def test_a_gaussian_of_similarities_is_what_it_says():
    scaled = SimilarityFeatures("precomputed", len(X), landmarks="all", scale=True)
    pipeline = make_pipeline(scaled, Nystrom(Gaussian(1.4), len(X), landmarks="all"))
    K = DeltaGaussian(1.0, 5.0)(X)
    Z = pipeline.fit_transform(K)
    rows = K / np.sqrt(K.var(axis=0).sum())
    distances = np.square(rows[:, None] - rows).sum(axis=2)
    np.testing.assert_allclose(Z @ Z.T, np.exp(-distances / (2 * 1.4**2)), atol=1e-8)
    model = KreinRidgeClassifier(features=pipeline, nested=True, random_state=0).fit(K, LABELS)
    assert model.score(K, LABELS) > 0.9


# --- what is tried -------------------------------------------------------------------------------


def _names(kernel, n_rows, n_components="auto", megabytes=1024.0, median=None):
    seen = views(kernel, n_rows, median)
    return [(c.name, c.width) for c in candidates(seen, n_rows, n_components, megabytes, seed=0)]


def test_what_is_tried_depends_on_the_rows():
    similar = ["similarities", "Gaussian of similarities"]
    few = [("Nystrom", 25), ("Nystrom", 100), ("Nystrom (all)", 200)]
    assert _names("precomputed", 200) == [*few, *((name, 200) for name in similar)]
    many = [("Nystrom", 25), ("Nystrom", 100), ("Nystrom", 300), *((name, 900) for name in similar)]
    assert _names("precomputed", MANY) == many
    wide = [("Nystrom", 1000), ("RandomFourier", 600)]
    assert _names(Gaussian(), MANY) == [*many[:-1], *wide]
    assert _names(Pairwise(max), MANY) == many
    assert _names(Gaussian(), 10)[0] == ("Nystrom", 10)
    assert _names(Gaussian(), 200, 7) == [("Nystrom", 7)]
    assert ("Nystrom", 300) not in _names(Gaussian(), MANY, megabytes=1.0)


def test_of_dissimilarities_several_similarities_are_tried():
    shapes = ["exp(−D)", "exp(−3 D)", "exp(−D²)", "exp(−3 D²)"]
    for kernel in ("precomputed", EditDistance()):
        for n, some in ((201, shapes), (200, shapes[::2])):
            names = _names(kernel, n, median=2.0)
            assert [pair for pair in names if pair[0] in shapes] == [(name, n) for name in some]
            rest = [pair for pair in names if pair[0] not in shapes]
            of_values = [("dissimilarities", n), ("Gaussian of dissimilarities", n)]
            assert rest == [*_names(kernel, n), *of_values]
        assert _names(kernel, 300, 7, median=2.0) == [(name, 7) for name in ("Nystrom", *shapes)]
        # Too many rows for the whole space.
        assert ("exp(−D)", 300) in _names(kernel, MANY, median=2.0)


def test_of_the_fewest_dissimilarities_their_values_are_features():
    names = ["similarities", "rows of exp(−D)", "rows of exp(−D²)", "dissimilarities"]
    for kernel in ("precomputed", EditDistance()):
        assert _names(kernel, 100, median=2.0) == [(name, 100) for name in names]
        assert _names(kernel, 100, 7, median=2.0)[0] == ("Nystrom", 7)
        assert _names(kernel, 100)[0] == ("Nystrom", 25)


def test_a_similarity_of_a_matrix_is_that_of_its_objects():
    D = EditDistance()(WORDS)
    pairs = zip(
        views("precomputed", 300, 2.0)[1:-1], views(EditDistance(), 300, 2.0)[1:-1], strict=True
    )
    for matrix, objects in pairs:
        assert matrix.name == objects.name
        np.testing.assert_allclose(matrix.before.fit_transform(D), objects.kernel(WORDS))
    first = views(EditDistance(), 300, 2.0)[0].kernel(WORDS)
    J = np.eye(len(D)) - 1 / len(D)
    centred = views("precomputed", 300, 2.0)[0].before.fit_transform(D)
    np.testing.assert_allclose(J @ first @ J, centred, atol=1e-9)
    for kernel in ("precomputed", EditDistance()):
        assert views(kernel, 300, 2.0)[-1] == ("dissimilarities", kernel, None, False)


@pytest.mark.parametrize("learner", [KreinClassifier, KreinRegressor])
def test_dissimilarities_of_objects_and_their_matrix_are_learned_from(learner):
    rng = np.random.default_rng(5)
    words = ["".join(rng.choice(list("ab"), 8)) for _ in range(90)]
    y = np.array([word.count("a") for word in words])
    y = np.where(y > 4, "many", "few") if learner is KreinClassifier else y.astype(float)
    D = EditDistance()(words)
    model = learner("precomputed", dissimilarity=True, random_state=0).fit(D[:60, :60], y[:60])
    objects = learner(EditDistance(), dissimilarity=True, random_state=0).fit(words[:60], y[:60])
    for found in (model.score(D[60:, :60], y[60:]), objects.score(words[60:], y[60:])):
        assert found > 0.75
    tried = {trial.features for trial in model.report_.trials}
    assert {"rows of exp(−D)", "rows of exp(−D²)", "similarities", "dissimilarities"} == tried
    assert "exp(−D)" in str(model.report_)


def test_dissimilarities_are_computed_once():
    calls = []

    def distance(a, b):
        calls.append((a, b))
        return float(sum(p != q for p, q in zip(a, b, strict=True)))

    model = KreinClassifier(Pairwise(distance), dissimilarity=True, **QUICK).fit(WORDS, HAS_A)
    # Of the diagonal each value may be asked for apart.
    assert len(calls) <= len(WORDS) ** 2 + 20 * len(WORDS)
    calls.clear()
    model.predict(NEW)
    assert len(calls) <= len(NEW) * len(set(WORDS))


@pytest.mark.parametrize(
    ("kernel", "data", "sentence"),
    [
        (None, X, r"KreinClassifier\(dissimilarity=True\) needs a kernel whose values are diss"),
        ("precomputed", Gaussian()(X), "zero diagonal.*use dissimilarity=False"),
        (Gaussian(), X, r"zero diagonal, but the kernel has 1\. .*use dissimilarity=False"),
        ("precomputed", np.diag(np.arange(60) == 7) + np.ones((60, 60)) * 0, r"X\[7, 7\] = 1"),
        ("precomputed", X @ X.T * (1 - np.eye(60)), "Negative values.*KreinClassifier"),
        ("precomputed", np.triu(np.ones((60, 60)), 1), "symmetric"),
        ("precomputed", np.full((60, 60), np.nan), "NaN"),
    ],
)
def test_what_is_no_dissimilarity_gets_a_sentence(kernel, data, sentence):
    model = KreinClassifier(kernel, dissimilarity=True)
    with pytest.raises(ValueError, match=sentence):
        model.fit(data, LABELS)
    assert not hasattr(model, "estimators_")


def test_the_rows_of_a_stream_are_not_its_blocks():
    blocks = [(1e3 * X[:30], LABELS[:30]), (1e3 * X[30:], LABELS[30:])]
    model = KreinClassifier(random_state=0, max_seconds=1e-9).fit(blocks)
    # A map of all 60 rows, up to its numerical rank; a block has 30 rows.
    assert all(30 < trial.width <= 60 for trial in model.report_.trials)
    # The columns are standardised here, too.
    assert model.score(1e3 * X, LABELS) > 0.9


def test_more_models_do_not_disagree_with_their_report():
    model = KreinClassifier(DeltaGaussian(1.0, 5.0), n_models=2, random_state=0).fit(X, LABELS)
    assert 1 <= len(model.report_.averaged) <= 2
    text = str(model.report_)
    assert text.count(" *") == len(model.report_.averaged)


# --- what users bring ----------------------------------------------------------------------------

QUICK = {"random_state": 0, "n_models": 2}


def _outputs(model, rows):
    name = "decision_function" if isinstance(model, KreinClassifier) else "predict"
    return getattr(model, name)(rows)


def _close(model, twin, rows):
    np.testing.assert_allclose(_outputs(model, rows), _outputs(twin, rows), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("learner", [KreinClassifier, KreinRegressor])
def test_weights_are_rows_for_the_default_kernel(learner):
    y = LABELS if learner is KreinClassifier else X[:, 0]
    weight = np.ones(len(X))
    weight[:20], weight[50:] = 2, 0
    rows = np.r_[:50, :20]
    weighted = learner(**QUICK).fit(X, y, weight)
    repeated = learner(**QUICK).fit(X[rows], y[rows])
    assert len(weighted.report_.trials) == len(repeated.report_.trials)
    _close(weighted, repeated, X)


def test_a_series_is_taken_by_place():
    pandas = pytest.importorskip("pandas")
    order = np.random.default_rng(1).permutation(len(WORDS))
    kernel = Pairwise(_same_letters)
    expected = KreinClassifier(kernel, **QUICK).fit([WORDS[i] for i in order], HAS_A[order])
    series = pandas.Series(WORDS).iloc[order]
    model = KreinClassifier(kernel, **QUICK).fit(series, HAS_A[order])
    assert_same_outputs(model, expected, WORDS)
    assert_rounded(model.decision_function(series), model.decision_function(list(series)))


def test_several_threads_may_predict():
    model = KreinClassifier(Pairwise(_same_letters), **QUICK).fit(WORDS, HAS_A)
    batches = [[*NEW[i:], *WORDS[: i + 1]] for i in range(9)] * 3
    expected = [model.decision_function(batch) for batch in batches]
    with ThreadPoolExecutor(4) as threads:
        for found, wanted in zip(
            threads.map(model.decision_function, batches), expected, strict=True
        ):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_map_that_does_not_suit_is_noted(monkeypatch):
    monkeypatch.setattr("krein.auto.maps.MANY", 30)
    model = KreinRegressor(TL1(), random_state=0).fit(X, X[:, 0])
    notes = {t.features: t.note for t in model.report_.trials if not np.isfinite(t.score)}
    assert list(notes) == ["RandomFourier"]
    assert "has no spectral measure" in notes["RandomFourier"]


def test_nothing_half_fitted_and_no_foreign_names():
    zero = Pairwise(lambda a, b: 0.0)
    model = KreinClassifier(zero, random_state=0)
    with pytest.raises(ValueError, match=r"^Pairwise\(.*is zero on all"):
        model.fit(WORDS, HAS_A)
    assert not hasattr(model, "report_")
    fitted = KreinClassifier(Pairwise(_same_letters), 5, **QUICK).fit(WORDS, HAS_A)
    with pytest.raises(ValueError, match="X has no rows: KreinClassifier needs"):
        fitted.predict([])
    with pytest.raises(
        ValueError, match=r"^KreinRegressor needs at least two distinct rows .*\d\.$"
    ):
        KreinRegressor(Gaussian()).fit(X[:1], X[:1, 0])
    with pytest.raises(NotFittedError, match="KreinClassifier"):
        _ = KreinClassifier().classes_


def test_objects_without_content_are_named():
    objects = [*WORDS[:3], lambda: 0, *WORDS[4:]]
    with pytest.raises(ValueError, match="Object 3 of type function cannot be hashed"):
        KreinClassifier(Pairwise(lambda a, b: 1.0), random_state=0).fit(objects, HAS_A)


def test_rows_of_mixed_types_are_known_by_content():
    rows = [np.array([word[0], i % 7], dtype=object) for i, word in enumerate(WORDS)]
    again = [np.array(["".join(list(r[0])), int(r[1])], dtype=object) for r in rows]
    np.testing.assert_array_equal(hash_rows(rows), hash_rows(again))


@pytest.mark.parametrize(("n_rows", "n_folds"), [(7, 7), (60, 10), (100, 10), (101, 5), (240, 5)])
def test_few_rows_are_judged_by_more_folds(n_rows, n_folds):
    X = np.random.default_rng(1).normal(size=(n_rows, 2))
    reason = KreinRegressor(DeltaGaussian(), 5, **QUICK).fit(X, X[:, 0]).report_.reason
    assert f"{n_folds}-fold cross-validation" in reason
    assert ("three times" in reason) == (100 < n_rows <= 200)


@pytest.mark.parametrize("cv", [None, KFold(3), "generator"])
def test_folds_may_be_given(cv):
    folds = KFold(3).split(X) if cv == "generator" else cv
    model = KreinRegressor(DeltaGaussian(), 10, cv=folds, **QUICK).fit(X, X[:, 0])
    words = "5-fold cross-validation" if cv is None else "on the given folds"
    assert words in model.report_.reason


def test_matrices_larger_than_allowed_are_not_tried():
    model = KreinRegressor(DeltaGaussian(), max_megabytes=0.05, random_state=0).fit(X, X[:, 0])
    assert {trial.width for trial in model.report_.trials} == {25}


def test_sparse_rows_may_be_objects():
    rows = sparse.random(40, 12, 0.4, format="csr", random_state=0)
    y = np.arange(40) % 2 == 0
    kernel = Pairwise(lambda a, b: float((a @ b.T).sum()))
    model = KreinClassifier(kernel, 5, **QUICK).fit(rows, y)
    np.testing.assert_allclose(
        model.decision_function(rows[7:20]), model.decision_function(rows)[7:20], atol=1e-9
    )


def test_a_long_stream_is_not_gathered():
    rng = np.random.default_rng(0)
    blocks = [(rows, rows[:, 0] > 0) for rows in rng.normal(size=(3, 700, 2))]
    model = KreinClassifier(Gaussian(1.5), 10, random_state=0, max_seconds=1e-9).fit(blocks)
    assert not model.best_estimator_.nested
    assert model.score(*blocks[0]) > 0.9


def test_labels_of_several_types_are_refused():
    mixed = np.array(["a", 1] * 30, dtype=object)
    for rows in ((X, mixed), ([(X, mixed)],)):
        with pytest.raises(
            ValueError, match="one type, but y has int and str: make all labels text"
        ):
            KreinClassifier(random_state=0).fit(*rows)


def test_blocks_without_targets_are_predicted_for():
    model = KreinClassifier(Gaussian(), 10, **QUICK).fit(X, LABELS)
    blocks = [(X[:30], None), (X[30:], None)]
    found, expected = model.decision_function(blocks), model.decision_function(X)
    assert_rounded(found, expected)
    clear = clear_rows(expected)
    np.testing.assert_array_equal(model.predict(blocks)[clear], model.predict(X)[clear])


@pytest.mark.parametrize("dissimilarity", [False, True])
@pytest.mark.parametrize("n_components", [2, 25, 60])
@pytest.mark.parametrize("n_distinct", [2, 3, 5])
@pytest.mark.parametrize("learner", [KreinClassifier, KreinRegressor])
def test_few_distinct_objects_are_what_there_is(learner, n_distinct, n_components, dissimilarity):
    words = (["abc", "xyzw", "abd", "q", "xyz"][:n_distinct] * 60)[:60]
    y = np.array([word[0] == "a" for word in words])
    kernel = EditDistance() if dissimilarity else Similarity(EditDistance(), gamma=0.3)
    model = learner(kernel, n_components, dissimilarity=dissimilarity, **QUICK)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(words, y if learner is KreinClassifier else y.astype(float))
    few = [str(w.message) for w in caught if "fewer than" in str(w.message)]
    assert len(caught) == len(few)
    assert bool(few) == (n_components > n_distinct)
    assert np.isfinite(_outputs(model, words)).all()
    if n_components > n_distinct == 5:
        assert model.score(words, y) > 0.9


def test_the_first_error_is_raised_where_no_map_suits_the_data():
    model = KreinClassifier(0.0 * Gaussian(), 10, **QUICK)
    with pytest.raises(ValueError, match="is zero on all"):
        model.fit(X, LABELS)
    assert not hasattr(model, "report_")


# --- processes ------------------------------------------------------------------------------------


def _similar(x, y):
    return float(len(set(x) & set(y))) / len(set(x) | set(y))


@pytest.mark.parametrize("n", [40, 140])
def test_processes_change_nothing_but_time(n):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), rng.integers(2, 7))) for _ in range(n)]
    y = np.array(["a" in word for word in words])
    kernel = Pairwise(_similar, symmetric=True)
    options = {"n_components": 5, "random_state": 0}
    one = KreinClassifier(kernel, **options).fit(words, y)
    two = KreinClassifier(kernel, n_jobs=2, **options).fit(words, y)
    new = ["abc", "hgf", "dd"]
    assert_rounded(two.decision_function(new), one.decision_function(new), 1e-8)
