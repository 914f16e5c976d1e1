"""`krein.compare`: every number against its definition, and one recommendation with `diagnose`."""

from __future__ import annotations

import sys
from dataclasses import asdict

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.frozen import FrozenEstimator

import krein
from krein import (
    KreinRidge,
    KreinRidgeClassifier,
    Nystrom,
    RandomFourier,
    RandomGegenbauer,
    TwoSidedRidge,
    approximation_error,
    compare,
    diagnose,
)
from krein._validation import as_generator
from krein.comparison import METHODS, Method, trials
from krein.comparison.methods import chosen
from krein.comparison.sample import Sample
from krein.kernels import (
    TL1,
    Custom,
    DeltaGaussian,
    EditDistance,
    Gaussian,
    Laplacian,
    OrthantProbability,
    Pairwise,
    Polynomial,
    Precomputed,
    ShiftGaussian,
    Sigmoid,
    Similarity,
    SphericalPolynomial,
)

X = np.random.default_rng(0).random((90, 3))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
WORDS = [a + b + c for a in "kt" for b in "aeiou" for c in ("n", "tt", "rein", "")]
BUILD = {
    "RandomFourier": lambda k, w, s: RandomFourier(k, w, random_state=s),
    "RandomFourier calibrated": lambda k, w, s: RandomFourier(
        k, w, weights="calibrated", random_state=s
    ),
    "RandomGegenbauer": lambda k, w, s: RandomGegenbauer(k, w, normalize=False, random_state=s),
    "Nystrom": lambda k, w, s: Nystrom(k, w, random_state=s),
}
CORE = list(BUILD)
MEASURED = ("method", "width", "error", "errors", "bytes", "score", "note")


def _compare(kernel, data=X, methods=None, widths=8, **options):
    """Compare the methods of `BUILD` that can serve the kernel, unless methods are given."""
    if methods is None:
        methods = [method for method in _able(kernel, data) if method.name in BUILD]
    return compare(kernel, data, methods, widths, random_state=0, **options)


def _able(kernel, data):
    """The methods that "auto" means."""
    data = kernel._check_data(data)
    return chosen("auto", Sample.of(kernel.resolved(data), data, 1000, 3, as_generator(0)))


def _folds(kernel, data=X, n_seeds=3):
    return Sample.of(kernel, data, 1000, n_seeds, as_generator(0)).folds


def _numbers(comparison):
    """What must not depend on the clock."""
    return [[getattr(row, name) for name in MEASURED] for row in comparison.rows]


def _assert_same(one, other):
    for left, right in zip(_numbers(one), _numbers(other), strict=True):
        assert left[:2] == right[:2]
        assert_allclose(left[3], right[3], rtol=1e-6, atol=1e-12)
        assert left[-1] == right[-1]


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
    found = _compare(kernel, data, names, widths=[4, 8])
    folds = _folds(kernel, data)
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
    found = _compare(Precomputed(symmetric), K)
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
    assert_allclose(row.error, _compare(kernel, methods="Nystrom").rows[0].error, rtol=0.5)


def test_a_kernel_made_of_a_precomputed_one_is_evaluated_first():
    K = Gaussian()(X)
    one, other = _compare(2 * Precomputed(), K), _compare(Precomputed(), K)
    # Other values have other hashes, so other rows are landmarks.
    assert_allclose(one.rows[0].error, other.rows[0].error, rtol=0.5)


def test_objects_have_landmarks_only():
    found = _compare(Similarity(EditDistance()), WORDS, widths=[2, 6])
    assert [(row.method, row.width) for row in found.rows] == [("Nystrom", 2), ("Nystrom", 6)]
    assert found.suggested_method == "Nystrom"
    assert found.rows[1].error < found.rows[0].error
    (row,) = _compare(Similarity(EditDistance()), WORDS, "RandomFourier").rows
    assert row.note == "RandomFourier takes vectors, but the data are objects."
    (row,) = _compare(Precomputed(), np.eye(12), "RandomFourier").rows
    assert "takes vectors, but the data are a matrix of kernel values" in row.note


# --- scores ---------------------------------------------------------------------------------------


def _labels(data):
    return np.where(data[:, 0] > data[:, 1], "above", "below")


@pytest.mark.parametrize(
    ("kernel", "y", "learner", "method"),
    [
        (DeltaGaussian(), _labels(X), KreinRidgeClassifier, "RandomFourier"),
        (DeltaGaussian(), X[:, 0] ** 2, KreinRidge, "Nystrom"),
        (ShiftGaussian(shift=0.4), X[:, 0] ** 2, TwoSidedRidge, "Nystrom"),
    ],
)
def test_scores_are_those_of_a_learner_on_rows_that_it_has_not_seen(kernel, y, learner, method):
    (row,) = _compare(kernel, methods=method, y=y).rows
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
    (row,) = _compare(Precomputed(symmetric), kernel(X), y=X[:, 0]).rows
    assert row.score > 0.9
    assert not row.note


def test_targets_add_a_column_and_change_nothing_else():
    without, with_y = _compare(Gaussian()), _compare(Gaussian(), y=_labels(X))
    assert [row.errors for row in without.rows] == [row.errors for row in with_y.rows]
    assert without.suggested_method == with_y.suggested_method
    assert all(np.isnan(row.score) for row in without.rows)
    assert "score" not in str(without)
    assert "best score" in with_y.advice


def test_the_learner_can_be_chosen():
    counts = np.arange(90) % 7
    as_labels, as_numbers = (
        _compare(Gaussian(), methods="RandomFourier", y=counts, learner=learner).rows[0].score
        for learner in (None, KreinRidge())
    )
    assert 0 <= as_labels <= 1
    assert as_numbers < 0.2  # R² of numbers that have nothing to do with X
    assert as_labels != as_numbers


def test_a_score_that_does_not_exist_is_a_note():
    y = np.array(["rare"] + ["common"] * 89)
    found = _compare(Gaussian(), methods="RandomFourier", y=y)
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
    everything = _compare(kernel, data)
    errors = {row.method: row.error for row in everything.rows if row.is_measured}
    assert diagnosis.errors.keys() == errors.keys() & {CORE[0], CORE[2], CORE[3]}
    for name, error in diagnosis.errors.items():
        assert_allclose(error, errors[name], rtol=1e-6, atol=1e-12)
    same = _compare(kernel, data, list(diagnosis.errors))
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


def test_diagnose_says_why_there_are_no_landmarks():
    diagnosis = diagnose(Gaussian(), X, n_components=64, random_state=0)
    assert diagnosis.suggested_method == "RandomFourier"
    assert "Nystrom was not measured: Width 64 needs at least 64 rows to fit on, got 60." in (
        diagnosis.advice
    )


def test_the_least_error_at_any_width_is_recommended():
    """At width 64 there are too few rows for landmarks, but landmarks at width 32 are better."""
    found = _compare(Gaussian(), widths=[32, 64])
    assert found.suggested_method == "Nystrom"
    best = min((row for row in found.rows if row.is_measured), key=lambda row: row.error)
    assert f"Nystrom has the least error, {best.error:.2g} at width 32." in found.advice
    assert "Of the unbiased methods RandomFourier has the least error" in found.advice


def test_of_two_exact_maps_the_narrower_one_is_recommended():
    found = _compare(Polynomial(degree=1), widths=[2, 8, 16])
    assert max(row.error for row in found.rows[1:]) < 1e-10
    assert "at width 8" in found.advice


# --- what does not matter -------------------------------------------------------------------------


def test_the_seed_decides_and_the_order_of_the_rows_does_not():
    first = _compare(DeltaGaussian(), widths=[4, 8])
    _assert_same(first, _compare(DeltaGaussian(), widths=[8, 4]))
    order = np.random.default_rng(1).permutation(len(X))
    for data in (X[order], sparse.csr_array(X), X.tolist()):
        _assert_same(first, _compare(DeltaGaussian(), data, widths=[4, 8]))
    other = compare(DeltaGaussian(), X, widths=[4, 8], random_state=1)
    assert [row.errors for row in other.rows] != [row.errors for row in first.rows]


def test_at_most_max_rows_are_drawn():
    found = _compare(DeltaGaussian(), max_rows=31, n_seeds=2)
    assert (found.n_fitted, found.n_judged) == (15, 16)
    assert all(len(row.errors) == 2 for row in found.rows)


def test_methods_do_not_disturb_each_other():
    both = _compare(DeltaGaussian(), methods=["Nystrom", "RandomFourier"])
    alone = _compare(DeltaGaussian(), methods="RandomFourier")
    assert [row.method for row in both.rows] == ["Nystrom", "RandomFourier"]
    assert both.rows[1].errors == alone.rows[0].errors


# --- methods that cannot --------------------------------------------------------------------------


def test_a_method_that_refuses_is_a_row_with_its_reason():
    found = _compare(TL1(2.0), methods=["RandomFourier", "RandomGegenbauer", "Nystrom"])
    fourier, gegenbauer, nystrom = found.rows
    assert "TL1(rho=2.0) has no spectral measure" in fourier.note
    assert "unit rows" in gegenbauer.note
    assert nystrom.is_measured
    assert np.isnan([fourier.error, fourier.seconds, fourier.bytes]).all()
    assert found.suggested_method == "Nystrom"
    assert "RandomFourier at width 8: TL1(rho=2.0) has no" in str(found)


def test_widths_that_a_method_does_not_have():
    found = _compare(Gaussian(), methods=["RandomFourier", "Nystrom"], widths=[3, 70])
    odd, _, _, wide = found.rows
    assert "n_components must be even" in odd.note
    assert wide.note == "Width 70 needs at least 70 rows to fit on, got 60."
    nothing = _compare(Gaussian(), methods="Nystrom", widths=70)
    assert nothing.suggested_method is None
    assert nothing.advice.startswith("No method could be measured. Width 70 needs")
    assert nothing.advice in str(nothing)


STATIONARY = {"RandomFourier", "RandomFourier calibrated", "MixtureFourier", "Nystrom"}
ON_SPHERE = STATIONARY | {"RandomGegenbauer", "SphericalRandomFeatures"}
POLYNOMIAL = {"RandomMaclaurin", "TensorSketch", "TensorizedProjection"}
PRODUCTS = Custom(lambda A, B: np.asarray(A) @ np.asarray(B).T)


@pytest.mark.parametrize(
    ("kernel", "data", "names"),
    [
        (Gaussian(), X, STATIONARY | {"SphericalRandomFeatures"}),
        (DeltaGaussian(), X, STATIONARY),
        (ShiftGaussian(shift=0.4), X, STATIONARY - {"MixtureFourier"}),
        (TL1(2.0), X, STATIONARY),
        (Sigmoid(), X, {"Nystrom"}),  # the series of tanh diverges beyond π/2
        (Sigmoid(0.2), X, {"Nystrom", "RandomMaclaurin"}),
        (Polynomial(), X, {"Nystrom"} | POLYNOMIAL),
        (SphericalPolynomial(), UNIT, ON_SPHERE | POLYNOMIAL),
        (OrthantProbability(), X, {"Nystrom", "ConcomitantRankOrder"}),
        (PRODUCTS, X, {"Nystrom"}),
        (Similarity(EditDistance()), WORDS, {"Nystrom"}),
        (Precomputed(), np.eye(20), {"Nystrom"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_auto_takes_the_methods_that_can_serve_the_kernel(kernel, data, names):
    found = [method.name for method in _able(kernel, data)]
    assert set(found) == names
    assert found == [method.name for method in METHODS if method.name in names]


def test_the_other_methods_are_measured_and_flagged():
    names = ["MixtureFourier", "SphericalRandomFeatures", *sorted(POLYNOMIAL)]
    found = _compare(SphericalPolynomial(), UNIT, names, widths=4, n_seeds=2)
    made = {method.name: method for method in METHODS}
    assert [row.method for row in found.rows] == names
    for row in found.rows:
        assert row.is_measured, row.note
        assert type(made[row.method].build(Gaussian(), 4, 0)).__name__ == row.method
        assert row.unbiased == (row.method in POLYNOMIAL)
        assert row.data_dependent == (row.method == "MixtureFourier")
    (row,) = _compare(OrthantProbability(), methods="ConcomitantRankOrder").rows
    assert row.is_measured
    assert not row.unbiased


def test_no_map_is_fitted_after_max_seconds(monkeypatch):
    now = [0.0]

    class Clock:
        @staticmethod
        def perf_counter():
            now[0] += 1.0
            return now[0]

    monkeypatch.setattr(trials, "time", Clock)
    found = _compare(
        Gaussian(), methods=["RandomFourier", "Nystrom"], widths=[2, 4], max_seconds=12
    )
    measured = [(row.method, row.width) for row in found.rows if row.is_measured]
    assert measured == [("RandomFourier", 2)]
    assert found.rows[3].note == "not measured within max_seconds = 12"


def test_warnings_of_maps_are_notes():
    narrow = _compare(Gaussian(1e-3), methods="Nystrom")
    assert "nearly the identity" in narrow.rows[0].note
    assert narrow.rows[0].is_measured


# --- the table ------------------------------------------------------------------------------------


def test_the_table_shows_every_row():
    found = _compare(DeltaGaussian(), widths=[4, 8], y=_labels(X))
    head, titles, *lines = str(found).splitlines()
    assert head.startswith("DeltaGaussian(): each map is fitted on 60 rows.")
    for title in ("method", "width", "error", "seconds to fit", "bytes", "unbiased", "score"):
        assert title in titles
    table = lines[: len(found.rows)]
    assert len({len(line) for line in [titles, *table]}) == 1  # columns are aligned
    for row, line in zip(found.rows, table, strict=True):
        assert line.startswith(row.method)
        assert f" {row.width} " in line
        assert f" {row.error:.2g} " in line
        assert line.endswith(f"{row.score:.3g}")
        assert ("yes" if row.unbiased else "no") in line
    assert "\n".join(lines[len(table) :]).replace("\n", " ") == found.advice


def test_a_comparison_is_frozen_and_has_rows_as_data():
    pandas = pytest.importorskip("pandas")
    found = _compare(Gaussian())
    with pytest.raises(AttributeError):
        found.rows = ()
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(asdict(found.rows[0]))
    assert list(frame["error"]) == [row.error for row in found.rows]


def test_a_frame_without_pandas_names_the_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas: install it"):
        _compare(Gaussian(), methods="RandomFourier").to_frame()


def test_bytes_are_the_size_of_the_map():
    widths = [8, 64]
    fourier = _compare(Gaussian(), methods="RandomFourier", widths=widths).rows
    floats = 8 * (3 + 2)  # frequency, weight and amplitude
    growth = fourier[1].bytes - fourier[0].bytes
    assert_allclose(growth, (32 - 4) * floats, rtol=0.5)
    (row,) = _compare(Custom(lambda A, B: np.asarray(A) @ np.asarray(B).T)).rows
    assert row.bytes > 8 * 24 * 3  # landmarks

    class Locked:
        def __reduce__(self):
            raise TypeError("cannot be pickled")

    features = RandomFourier(Gaussian(), 8, random_state=0).fit(X)
    features.extra = Locked()
    assert np.isnan(trials.size_of(features))


def test_plot_draws_error_against_width_and_seconds():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found = _compare(TL1(2.0), X, ["RandomFourier", "Nystrom"], widths=[4, 8])
    axes = found.plot()
    assert len(axes) == 2
    (line,) = axes[0].get_lines()  # a method that refuses has no line
    assert_allclose(line.get_xdata(), [4, 8])
    assert_allclose(line.get_ydata(), [row.error for row in found.rows[2:]])
    assert_allclose(axes[1].get_lines()[0].get_xdata(), [row.seconds for row in found.rows[2:]])
    assert [text.get_text() for text in axes[1].get_legend().get_texts()] == ["Nystrom"]
    given = plt.figure().subplots(1, 2)
    assert found.plot(given)[0] is given[0]
    nothing = _compare(TL1(2.0), methods="RandomFourier").plot()
    assert not nothing[0].get_lines()
    plt.close("all")


def test_a_method_is_one_object():
    thin = Method("thin", lambda k, w, s: Nystrom(k, w, n_landmarks=w, random_state=s), True, False)
    found = _compare(Gaussian(), methods=[thin, "Nystrom"])
    assert [row.method for row in found.rows] == ["thin", "Nystrom"]
    assert found.rows[0].error > found.rows[1].error
    assert [method.name for method in METHODS][:3] == CORE[:3]


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"methods": "nystroem"}, ValueError, "no method 'nystroem'. Did you mean 'Nystrom'?"),
        ({"methods": ["Fourier"]}, ValueError, "Did you mean 'RandomFourier'?"),
        ({"methods": "?"}, ValueError, "The methods are 'RandomFourier', 'RandomFourier cal"),
        ({"methods": []}, ValueError, "needs methods to be 'auto', or names"),
        ({"methods": None}, ValueError, "needs methods to be 'auto', or names"),
        ({"methods": ["Nystrom", "Nystrom"]}, ValueError, "contains 'Nystrom' twice"),
        ({"widths": 0}, ValueError, "needs widths to be one or more whole numbers ≥ 1, got 0"),
        ({"widths": [4, -2]}, ValueError, "whole numbers ≥ 1, got [4, -2]"),
        ({"widths": 2.5}, ValueError, "whole numbers ≥ 1, got 2.5"),
        ({"widths": True}, ValueError, "whole numbers ≥ 1, got True"),
        ({"widths": []}, ValueError, "whole numbers ≥ 1, got []"),
        ({"widths": "auto"}, ValueError, "whole numbers ≥ 1, got 'auto'"),
        ({"y": [1, 2]}, ValueError, "one target for each of the 90 rows of X, got y of shape (2,)"),
        ({"y": np.full(90, np.nan)}, ValueError, "y is nan in row 0"),
        ({"y": np.ones(90, dtype=int)}, ValueError, "needs at least two classes"),
        ({"y": np.eye(90, dtype=int)}, ValueError, "y is of the kind 'multilabel-indicator'"),
        ({"y": X[:, 0], "learner": Gaussian}, ValueError, "a learner with a parameter features"),
        ({"y": X[:, 0], "learner": krein.KreinRegressor()}, ValueError, "a parameter features"),
        ({"learner": KreinRidge()}, ValueError, "needs y to score a learner, got y=None"),
        ({"max_rows": 1}, ValueError, "needs max_rows to be a whole number ≥ 2, got 1"),
        ({"n_seeds": 1}, ValueError, "needs n_seeds to be a whole number ≥ 2, got 1"),
        ({"n_seeds": 50}, ValueError, "at least 100 distinct rows for n_seeds=50, got 90"),
        ({"max_seconds": 0}, ValueError, "max_seconds to be a finite number above 0 or None"),
        ({"data": X[:1]}, ValueError, "at least two rows, got 1"),
        ({"data": np.ones((90, 3))}, ValueError, "at least 6 distinct rows for n_seeds=3, got 1"),
        ({"data": np.where(X > 0.99, np.nan, X)}, ValueError, "NaN"),
        ({"kernel": "rbf"}, TypeError, "takes a kernel object, got str: wrap"),
        ({"kernel": 0 * Gaussian()}, ValueError, "The kernel is zero on these rows"),
        ({"data": "rows.csv"}, TypeError, "needs rows in memory, got a stream (str)"),
        ({"data": [(X, X[:, 0])]}, TypeError, "needs rows in memory, got a stream (list)"),
        ({"data": iter(X)}, TypeError, "krein.streaming.sample(container, 1000, key=0).rows"),
    ],
)
def test_bad_input_gets_a_sentence(options, error, message):
    options = {"kernel": Gaussian(), "data": X, "methods": "RandomFourier", **options}
    with pytest.raises(error) as caught:
        compare(options.pop("kernel"), options.pop("data"), **options)
    assert message in str(caught.value)


def test_the_cure_for_streams_works():
    stream = krein.streaming.Blocks([(X[:50], None), (X[50:], None)])
    with pytest.raises(TypeError, match="got a stream"):
        diagnose(Gaussian(), stream)
    rows = krein.streaming.sample(stream, 1000, key=0).rows
    _assert_same(_compare(Gaussian(), rows), _compare(Gaussian()))


def test_a_bad_kernel_value_names_the_rows_of_the_data():
    def hole(a, b):
        return np.nan if a[0] == X[7, 0] and b[0] == X[7, 0] else 1.0 + a[0] * b[0]

    with pytest.raises(ValueError, match="object 7 of X and object 7 of Y"):
        _compare(Pairwise(hole), X)
