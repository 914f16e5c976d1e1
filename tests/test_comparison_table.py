"""`krein.compare`: methods that refuse, the table, and bad input."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace

import numpy as np
import pytest
from comparison_cases import (
    CORE,
    UNIT,
    WORDS,
    X,
    able_methods,
    assert_same,
    compared,
    labels_of,
)
from numpy.testing import assert_allclose

import krein
from krein import (
    KreinRidge,
    Nystrom,
    RandomFourier,
    compare,
    diagnose,
)
from krein.comparison import METHODS, Method, trials
from krein.comparison.advice import Advice
from krein.kernels import (
    TL1,
    Custom,
    DeltaGaussian,
    EditDistance,
    Gaussian,
    OrthantProbability,
    Pairwise,
    Polynomial,
    Precomputed,
    ShiftGaussian,
    Sigmoid,
    Similarity,
    SphericalPolynomial,
)

# --- methods that cannot --------------------------------------------------------------------------


def test_a_method_that_refuses_is_a_row_with_its_reason():
    found = compared(TL1(2.0), methods=["RandomFourier", "RandomGegenbauer", "Nystrom"])
    fourier, gegenbauer, nystrom = found.rows
    assert "TL1(rho=2.0) has no spectral measure" in fourier.note
    assert "rows of norm 1" in gegenbauer.note
    assert nystrom.is_measured
    assert np.isnan([fourier.error, fourier.seconds, fourier.bytes]).all()
    assert found.suggested_method == "Nystrom"
    assert "RandomFourier at width 8: TL1(rho=2.0) has no" in str(found)


@pytest.mark.parametrize("kind", [set, iter, np.array, tuple])
def test_widths_come_in_any_container(kind):
    found = compared(Gaussian(), methods="Nystrom", widths=kind([8, 4]))
    assert [row.width for row in found.rows] == [4, 8]


def test_widths_that_a_method_does_not_have():
    found = compared(Gaussian(), methods=["RandomFourier", "Nystrom"], widths=[3, 70])
    odd, _, _, wide = found.rows
    assert "n_components must be even" in odd.note
    assert wide.note == "Width 70 needs at least 70 rows to fit on, got 60."
    nothing = compared(Gaussian(), methods="Nystrom", widths=70)
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
    found = [method.name for method in able_methods(kernel, data)]
    assert set(found) == names
    assert found == [method.name for method in METHODS if method.name in names]


def test_the_other_methods_are_measured_and_flagged():
    names = ["MixtureFourier", "SphericalRandomFeatures", *sorted(POLYNOMIAL)]
    found = compared(SphericalPolynomial(), UNIT, names, widths=4, n_seeds=2)
    made = {method.name: method for method in METHODS}
    assert [row.method for row in found.rows] == names
    for row in found.rows:
        assert row.is_measured, row.note
        assert type(made[row.method].build(Gaussian(), 4, 0)).__name__ == row.method
        assert row.unbiased == (row.method in POLYNOMIAL)
        assert row.data_dependent == (row.method == "MixtureFourier")
    (row,) = compared(OrthantProbability(), methods="ConcomitantRankOrder").rows
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
    found = compared(
        Gaussian(), methods=["RandomFourier", "Nystrom"], widths=[2, 4], max_seconds=12
    )
    measured = [(row.method, row.width) for row in found.rows if row.is_measured]
    assert measured == [("RandomFourier", 2)]
    assert found.rows[3].note == "Not measured within max_seconds = 12"


def test_slow_methods_come_after_all_widths_of_the_others(monkeypatch):
    tried = []

    def recorded(method, width, *rest):
        tried.append((method.name, width))
        return trials.Trial(method, width, note="not measured")

    monkeypatch.setattr(trials, "_trial", recorded)
    names = ["MixtureFourier", "Nystrom"]
    found = compared(Gaussian(), methods=names, widths=[2, 4], n_seeds=2)
    order = [(name, width) for name in reversed(names) for width in (2, 4)]
    assert list(dict.fromkeys(tried)) == order
    assert list(dict.fromkeys(row.method for row in found.rows)) == names


def test_warnings_of_maps_are_notes():
    narrow = compared(Gaussian(1e-3), methods="Nystrom")
    assert "nearly the identity" in narrow.rows[0].note
    assert narrow.rows[0].is_measured


# --- the table ------------------------------------------------------------------------------------


def test_the_table_shows_every_row():
    found = compared(DeltaGaussian(), widths=[4, 8], y=labels_of(X))
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
    found = compared(Gaussian())
    with pytest.raises(AttributeError):
        found.rows = ()
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(asdict(found.rows[0]))
    assert list(frame["error"]) == [row.error for row in found.rows]


def test_a_frame_without_pandas_names_the_cure(monkeypatch):
    found = compared(Gaussian(), methods="RandomFourier")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas: install it"):
        found.to_frame()


def test_bytes_are_the_size_of_the_map():
    widths = [8, 64]
    fourier = compared(Gaussian(), methods="RandomFourier", widths=widths).rows
    floats = 8 * (3 + 2)  # frequency, weight and amplitude
    growth = fourier[1].bytes - fourier[0].bytes
    assert_allclose(growth, (32 - 4) * floats, rtol=0.5)
    (row,) = compared(Custom(lambda A, B: np.asarray(A) @ np.asarray(B).T)).rows
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

    found = compared(TL1(2.0), X, ["RandomFourier", "Nystrom"], widths=[4, 8])
    axes = found.plot()
    assert len(axes) == 2
    (line,) = axes[0].get_lines()  # a method that refuses has no line
    assert_allclose(line.get_xdata(), [4, 8])
    assert_allclose(line.get_ydata(), [row.error for row in found.rows[2:]])
    assert_allclose(axes[1].get_lines()[0].get_xdata(), [row.seconds for row in found.rows[2:]])
    assert [text.get_text() for text in axes[1].get_legend().get_texts()] == ["Nystrom"]
    given = plt.figure().subplots(1, 2)
    assert found.plot(given)[0] is given[0]
    for wrong in (given[0], given[:1], plt.figure().subplots(2, 2)):
        with pytest.raises(ValueError, match="plot needs axes to be a sequence of two matplotlib"):
            found.plot(wrong)
    nothing = compared(TL1(2.0), methods="RandomFourier").plot()
    assert not nothing[0].get_lines()
    plt.close("all")


def test_a_method_is_one_object():
    thin = Method("thin", lambda k, w, s: Nystrom(k, w, n_landmarks=w, random_state=s), True, False)
    found = compared(Gaussian(), methods=[thin, "Nystrom"])
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
        ({"y": [None, *"ab" * 44, "a"]}, ValueError, "y is None in row 0: leave the row out"),
        ({"y": np.arange(90).astype("M8[D]")}, ValueError, "but y has the dtype datetime64[D]"),
        ({"y": "label"}, ValueError, "y to be an array of one target for each of the 90 rows"),
        ({"y": 1j * X[:, 0]}, ValueError, "but y has the dtype complex128"),
        ({"y": np.eye(90, dtype=int)}, ValueError, "y is of the kind 'multilabel-indicator'"),
        ({"y": X[:, 0], "learner": Gaussian}, ValueError, "a learner with a parameter features"),
        ({"y": X[:, 0], "learner": krein.KreinRegressor()}, ValueError, "a parameter features"),
        ({"learner": KreinRidge()}, ValueError, "needs y to score a learner, got y=None"),
        ({"random_state": "x"}, ValueError, "random_state must be None, a whole number ≥ 0"),
        ({"max_rows": 1}, ValueError, "needs max_rows to be a whole number ≥ 2, got 1"),
        ({"n_seeds": 1}, ValueError, "needs n_seeds to be a whole number ≥ 2, got 1"),
        ({"n_seeds": 50}, ValueError, "at least 100 distinct rows for n_seeds=50, got 90"),
        ({"n_seeds": 10**12}, ValueError, "n_seeds to be at most half of max_rows=1000"),
        ({"max_seconds": 0}, ValueError, "max_seconds to be a finite number above 0 or None"),
        ({"data": X[:1]}, ValueError, "at least two rows, got 1"),
        ({"data": np.ones((90, 3))}, ValueError, "at least 6 distinct rows for n_seeds=3, got 1"),
        ({"data": np.where(X > 0.99, np.nan, X)}, ValueError, "NaN"),
        ({"kernel": "rbf"}, TypeError, "takes a kernel object, here krein.kernels.Gaussian("),
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
    assert_same(compared(Gaussian(), rows), compared(Gaussian()))


def test_a_bad_kernel_value_names_the_rows_of_the_data():
    def hole(a, b):
        return np.nan if a[0] == X[7, 0] and b[0] == X[7, 0] else 1.0 + a[0] * b[0]

    with pytest.raises(ValueError, match="object 7 of X and object 7 of Y"):
        compared(Pairwise(hole), X)


def test_scores_that_print_alike_count_as_equal():
    row = compared(Gaussian(), methods="Nystrom").rows[0]
    made = {"Nystrom": (0.01, 0.99999), "RandomFourier": (0.1, 1.0)}
    rows = [
        replace(row, method=method, error=error, score=score)
        for method, (error, score) in made.items()
    ]
    assert "Nystrom also has the best score, 1 at width 8." in Advice.of(rows).sentence


def test_a_long_title_is_wrapped_and_each_width_has_a_tick():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    kernel = sum((Gaussian(sigma) for sigma in range(2, 9)), Gaussian())
    axes = compared(kernel, methods="Nystrom", widths=[8, 12, 16]).plot()
    assert max(map(len, axes[0].get_title(loc="left").split("\n"))) <= 60
    assert [text.get_text() for text in axes[0].get_xticklabels()] == ["8", "12", "16"]
    plt.close("all")
