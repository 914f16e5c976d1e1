"""`krein.compare`: every number against its definition, one recommendation with `diagnose`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from comparison_cases import (
    BUILD,
    CORE,
    UNIT,
    WORDS,
    X,
    assert_same,
    compared,
    folds_of,
    labels_of,
)
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.frozen import FrozenEstimator

from krein import (
    KreinRidge,
    KreinRidgeClassifier,
    Nystrom,
    TwoSidedRidge,
    approximation_error,
    compare,
    diagnose,
)
from krein._hashing import as_generator
from krein.comparison.advice import Advice
from krein.comparison.sample import Sample
from krein.kernels import (
    TL1,
    DeltaGaussian,
    EditDistance,
    Gaussian,
    Laplacian,
    Pairwise,
    Polynomial,
    Precomputed,
    ShiftGaussian,
    Similarity,
)

# --- what is measured -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "data", "names"),
    [
        (Gaussian(0.5), X, [CORE[0], CORE[1], CORE[3]]),
        (DeltaGaussian(), X.astype(np.float32), [CORE[0], CORE[1], CORE[3]]),
        (ShiftGaussian(shift=0.4), X, [CORE[0], CORE[1], CORE[3]]),
        (Gaussian(0.5), UNIT, CORE),
    ],
    ids=["vectors", "float32", "not symmetric", "unit rows"],
)
def test_errors_are_those_of_maps_on_rows_that_they_have_not_seen(kernel, data, names):
    found = compared(kernel, data, names, widths=[4, 8])
    folds = folds_of(kernel, data)
    seen = [set(map(bytes, np.asarray(fold.left))) for fold in folds]
    assert len(set.union(*seen)) == sum(map(len, seen)) == len(X)
    assert [row.method for row in found.rows] == [name for name in names for _ in range(2)]
    for row in found.rows:
        assert len(row.errors) == 3
        for fold, error in zip(folds, row.errors, strict=True):
            assert not set(map(bytes, fold.left)) & set(map(bytes, fold.fitted))
            features = BUILD[row.method](kernel, row.width, fold.seed).fit(fold.fitted)
            assert_allclose(error, approximation_error(features, fold.left), rtol=1e-4, atol=1e-7)
            K, approximate = kernel(fold.left), features.approximate_kernel(fold.left)
            assert_allclose(
                error, np.linalg.norm(approximate - K) / np.linalg.norm(K), rtol=1e-4, atol=1e-7
            )
        assert_allclose(row.error, np.mean(row.errors))
        assert row.is_measured
        assert row.fit_seconds > 0
        assert row.transform_seconds > 0


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_matrix_of_kernel_values_is_judged_on_values_that_no_map_has_seen(symmetric):
    kernel = DeltaGaussian() if symmetric else ShiftGaussian(shift=0.4)
    K = kernel(X)
    found = compared(Precomputed(symmetric), K)
    (row,) = found.rows
    assert (row.method, found.n_fitted, found.n_judged) == ("Nystrom", 60, 30)
    sample = Sample.of(Precomputed(symmetric), K, 1000, 3, as_generator(0))
    for fold, error in zip(sample.folds, row.errors, strict=True):
        T, H = (sample.places[some] for some in fold.places)
        features = Nystrom(Precomputed(symmetric), 8, random_state=fold.seed).fit(K[np.ix_(T, T)])
        left, right = K[np.ix_(H, T)], K[np.ix_(T, H)].T
        approximate = features.transform(left) @ features.transform_dual(right).T
        exact = K[np.ix_(H, H)]
        expected = np.linalg.norm(approximate - exact) / np.linalg.norm(exact)
        assert_allclose(error, expected, rtol=1e-6)
    # The same landmarks are drawn from other hashes, so the errors are alike and not equal.
    assert_allclose(row.error, compared(kernel, methods="Nystrom").rows[0].error, rtol=0.5)


def test_a_kernel_made_of_a_precomputed_one_is_evaluated_first():
    K = Gaussian()(X)
    one, other = compared(2 * Precomputed(), K), compared(Precomputed(), K)
    # Other values have other hashes, so other rows are landmarks.
    assert_allclose(one.rows[0].error, other.rows[0].error, rtol=0.5)


def test_objects_have_landmarks_only():
    found = compared(Similarity(EditDistance()), WORDS, widths=[2, 6])
    assert [(row.method, row.width) for row in found.rows] == [("Nystrom", 2), ("Nystrom", 6)]
    assert found.suggested_method == "Nystrom"
    assert found.rows[1].error < found.rows[0].error
    (row,) = compared(Similarity(EditDistance()), WORDS, "RandomFourier").rows
    assert row.note == "RandomFourier takes vectors, but the data are objects."
    (row,) = compared(Precomputed(), np.eye(12), "RandomFourier").rows
    assert "takes vectors, but the data are a matrix of kernel values" in row.note


# --- scores ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "y", "learner", "method"),
    [
        (DeltaGaussian(), labels_of(X), KreinRidgeClassifier, "RandomFourier"),
        (DeltaGaussian(), X[:, 0] ** 2, KreinRidge, "Nystrom"),
        (ShiftGaussian(shift=0.4), X[:, 0] ** 2, TwoSidedRidge, "Nystrom"),
    ],
)
def test_scores_are_those_of_a_learner_on_rows_that_it_has_not_seen(kernel, y, learner, method):
    (row,) = compared(kernel, methods=method, y=y).rows
    sample = Sample.of(kernel, X, 1000, 3, as_generator(0))
    scores = []
    for fold in sample.folds:
        T, H = (sample.places[some] for some in fold.places)
        model = learner(features=BUILD[method](kernel, 8, fold.seed)).fit(X[T], y[T])
        scores.append(model.score(X[H], y[H]))
    assert_allclose(row.score, np.mean(scores), atol=1e-3)
    assert row.score > 0.6


@pytest.mark.parametrize("symmetric", [True, False])
def test_scores_of_a_matrix_of_kernel_values(symmetric):
    kernel = DeltaGaussian() if symmetric else ShiftGaussian(shift=0.4)
    (row,) = compared(Precomputed(symmetric), kernel(X), y=X[:, 0]).rows
    assert row.score > 0.9
    assert not row.note


def test_targets_add_a_column_and_change_nothing_else():
    without, with_y = compared(Gaussian()), compared(Gaussian(), y=labels_of(X))
    assert [row.errors for row in without.rows] == [row.errors for row in with_y.rows]
    assert without.suggested_method == with_y.suggested_method
    assert all(np.isnan(row.score) for row in without.rows)
    assert "score" not in str(without)
    assert "best score" in with_y.advice


@pytest.mark.parametrize("y", [X @ [1.0, 2.0, 3.0], (X[:, 0] > 0.5).astype(int)], ids=["f", "i"])
def test_numbers_of_python_are_numbers(y):
    assert_same(*(compared(Gaussian(), y=target) for target in (y, y.astype(object))))


def test_whole_numbers_that_hardly_occur_twice_are_no_classes():
    y = np.round(100 * X[:, 0])
    (row,) = compared(Gaussian(), methods="Nystrom", y=y).rows
    (same,) = compared(Gaussian(), methods="Nystrom", y=y, learner=KreinRidge()).rows
    assert row.score == same.score > 0.9
    assert not row.note
    (row,) = compared(Gaussian(), methods="Nystrom", y=np.round(9 * X[:, 0])).rows
    assert (90 * row.score) == pytest.approx(round(90 * row.score))  # an accuracy: 3 folds of 30


def test_the_learner_can_be_chosen():
    counts = np.arange(90) % 7
    as_labels, as_numbers = (
        compared(Gaussian(), methods="RandomFourier", y=counts, learner=learner).rows[0].score
        for learner in (None, KreinRidge())
    )
    assert 0 <= as_labels <= 1
    assert as_numbers < 0.2  # R² of numbers that have nothing to do with X
    assert as_labels != as_numbers


def test_a_score_that_does_not_exist_is_a_note():
    y = np.array(["rare"] + ["common"] * 89)
    found = compared(Gaussian(), methods="RandomFourier", y=y)
    (row,) = found.rows
    assert row.is_measured
    assert row.note.startswith("No score: ")
    assert "No score: " in str(found)


def test_a_frozen_map_keeps_both_sides():
    kernel, y = ShiftGaussian(shift=0.4), X[:, 0] ** 2
    features = Nystrom(kernel, 8, random_state=0).fit(X)
    frozen = TwoSidedRidge(features=FrozenEstimator(features)).fit(X, y)
    free = TwoSidedRidge(features=Nystrom(kernel, 8, random_state=0)).fit(X, y)
    assert len(frozen.coef_) == len(free.coef_) == 16
    assert_allclose(frozen.predict(X), free.predict(X), atol=1e-3)


# --- one recommendation ---------------------------------------------------------------------------

ADVISED = [
    (Gaussian(0.05), X),
    (DeltaGaussian(), X),
    (Laplacian(), sparse.csr_array(X)),
    (ShiftGaussian(shift=0.4), X),
    (Gaussian(0.3), UNIT),
    (TL1(2.0), X),
    (Similarity(EditDistance()), WORDS),
    (Precomputed(), DeltaGaussian()(X)),
]


@pytest.mark.parametrize(("kernel", "data"), ADVISED, ids=[repr(kernel) for kernel, _ in ADVISED])
def test_diagnose_measures_and_recommends_what_compare_does(kernel, data):
    diagnosis = diagnose(kernel, data, n_components=8, random_state=0)
    everything = compared(kernel, data)
    errors = {row.method: row.error for row in everything.rows if row.is_measured}
    assert diagnosis.errors.keys() == errors.keys() & {CORE[0], CORE[2], CORE[3]}
    for name, error in diagnosis.errors.items():
        assert_allclose(error, errors[name], rtol=1e-6, atol=1e-12)
    same = compared(kernel, data, list(diagnosis.errors))
    assert diagnosis.suggested_method == same.suggested_method
    assert diagnosis.advice.startswith(same.advice)


def test_diagnose_does_not_evaluate_objects_again():
    calls = []

    def overlap(a, b):
        calls.append((a, b))
        return len(set(a) & set(b)) / (1 + len(set(a) ^ set(b)))

    diagnose(Pairwise(overlap), WORDS, n_components=4, random_state=0)
    diagonal = len(WORDS)
    assert len(calls) <= len(WORDS) ** 2 + 3 * diagonal


def test_diagnose_takes_all_rows_as_landmarks_if_they_are_fewer_than_the_width():
    diagnosis = diagnose(Gaussian(), X, n_components=64, random_state=0)
    assert diagnosis.widths == {"RandomFourier": 64, "Nystrom": 60}
    assert diagnosis.suggested_method == "Nystrom"
    assert diagnosis.errors["Nystrom"] < diagnosis.errors["RandomFourier"]
    assert "error of Nystrom, width 60" in str(diagnosis)


def test_the_least_error_at_any_width_is_recommended():
    """At width 64 there are too few rows for landmarks, but landmarks at width 32 are better."""
    found = compared(Gaussian(), widths=[32, 64])
    assert found.suggested_method == "Nystrom"
    best = min((row for row in found.rows if row.is_measured), key=lambda row: row.error)
    assert f"Nystrom has the least error, {best.error:.2g} at width 32." in found.advice
    assert "Among the unbiased methods, RandomFourier has the least" in found.advice


def test_of_two_exact_maps_the_narrower_one_is_recommended():
    found = compared(Polynomial(degree=1), widths=[2, 8, 16])
    assert max(row.error for row in found.rows[1:]) < 1e-10
    assert "at width 8" in found.advice


def test_of_two_exact_maps_of_one_width_the_more_accurate_one_is_recommended():
    rows = compared(Polynomial(degree=1), widths=[8]).rows
    landmarks = replace(rows[0], method="Nystrom", error=2e-16, unbiased=False)
    others = replace(rows[0], method="Others", error=0.0, unbiased=True)
    assert Advice.of([landmarks, others]).sentence == "Others has the least error, 0 at width 8."


# --- what does not matter -------------------------------------------------------------------------


def test_the_seed_decides_and_the_order_of_the_rows_does_not():
    first = compared(DeltaGaussian(), widths=[4, 8])
    assert_same(first, compared(DeltaGaussian(), widths=[8, 4]))
    order = np.random.default_rng(1).permutation(len(X))
    for data in (X[order], sparse.csr_array(X), X.tolist()):
        assert_same(first, compared(DeltaGaussian(), data, widths=[4, 8]))
    other = compare(DeltaGaussian(), X, widths=[4, 8], random_state=1)
    assert [row.errors for row in other.rows] != [row.errors for row in first.rows]


def test_at_most_max_rows_are_drawn():
    found = compared(DeltaGaussian(), max_rows=31, n_seeds=2)
    assert (found.n_fitted, found.n_judged) == (15, 16)
    assert all(len(row.errors) == 2 for row in found.rows)


def test_methods_do_not_disturb_each_other():
    both = compared(DeltaGaussian(), methods=["Nystrom", "RandomFourier"])
    alone = compared(DeltaGaussian(), methods="RandomFourier")
    assert [row.method for row in both.rows] == ["Nystrom", "RandomFourier"]
    assert both.rows[1].errors == alone.rows[0].errors
