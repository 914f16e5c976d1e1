"""What a newcomer passes: names of kernels, bare functions, tables with text and gaps, units."""

from __future__ import annotations

import subprocess
import sys
import warnings
from decimal import Decimal

import numpy as np
import pytest
from rounding import assert_rounded
from scipy import sparse
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import krein
from krein.estimators._copies import CopiesWarning
from krein.estimators._units import UnscaledWarning
from krein.kernels import Gaussian
from krein.kernels.values import UninformativeWarning

RNG = np.random.default_rng(0)
X = RNG.random((60, 3))
Y = (X[:, 0] > 0.5).astype(int)
OWNERS = (
    krein.Nystrom,
    krein.RandomFourier,
    krein.KreinRidgeClassifier,
    krein.KreinClassifier,
    krein.CorrectedSVC,
    krein.KreinPCA,
)


@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: owner.__name__)
@pytest.mark.parametrize(
    ("kernel", "cure"),
    [
        (lambda x, y: 1.0, r"Pairwise\(f\).*Custom\(f\)"),
        ("rbf", r"krein\.kernels\.Gaussian\(sigma=1\.0\), got 'rbf'"),
        ("median", r"krein\.kernels\.Gaussian\(sigma='median'\), got 'median'"),
        ("linear", r"Polynomial\(degree=1, coef0=0\.0\)"),
        (Gaussian, r"here Gaussian\(\)"),
    ],
    ids=["function", "rbf", "median", "linear", "class"],
)
def test_what_is_no_kernel_gets_the_kernel_to_use(owner, kernel, cure):
    with pytest.raises(ValueError, match=f"^{owner.__name__} needs kernel to be .*{cure}"):
        owner(kernel=kernel).fit(X, Y)


@pytest.mark.parametrize("owner", OWNERS[:4], ids=lambda owner: owner.__name__)
def test_columns_of_text_and_gaps_are_named_with_a_cure(owner):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": X[:, 0], "age": X[:, 1]})
    with pytest.raises(ValueError, match=r"column 'colour' of X holds 'red'.*OneHotEncoder"):
        owner().fit(frame.assign(colour=["red", "blue"] * 30), Y)
    with pytest.raises(ValueError, match=r"column 'colour' of X holds 'red'.*OneHotEncoder"):
        owner().fit(frame.assign(colour=pandas.Categorical(["red", "blue"] * 30)), Y)
    for gap in (np.nan, None, pandas.NA):
        holed = frame.astype({"age": "Float64"} if gap is pandas.NA else {"age": object})
        holed.loc[7, "age"] = gap
        with pytest.raises(ValueError, match=r"column 'age' of X is missing \(NaN\) in row 7"):
            owner().fit(holed, Y)


@pytest.mark.parametrize("owner", OWNERS[:4], ids=lambda owner: owner.__name__)
def test_columns_of_dates_and_objects_are_named_with_a_cure(owner):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": X[:, 0]})
    days = pandas.date_range("2020-01-01", periods=60)
    for dates in (days, days.tz_localize("UTC"), [day.date() for day in days]):
        with pytest.raises(ValueError, match=r"column 'day' of X holds '2020-01-01.*days since"):
            owner().fit(frame.assign(day=dates), Y)
    spans = days - days[0]
    for durations in (spans, spans.to_pytimedelta()):
        with pytest.raises(ValueError, match=r"column 'span' of X .* turn the durations"):
            owner().fit(frame.assign(span=durations), Y)
    for column in (days.to_period(), [[1, 2]] * 60, pandas.cut(X[:, 1], 3)):
        with pytest.raises(ValueError, match=r"column 'other' of X holds .*OneHotEncoder"):
            owner().fit(frame.assign(other=column), Y)
    for kept in (np.array([True, False] * 30, dtype=object), [Decimal(i) for i in range(60)]):
        assert krein.Nystrom(n_components=3).fit_transform(frame.assign(kept=kept)).shape == (60, 3)
    with pytest.raises(ValueError, match="X is a table with 0 columns"):
        owner().fit(frame[[]], Y)
    with pytest.raises(ValueError, match=r"got a dict: pass pandas\.DataFrame\(X\)"):
        owner().fit({"size": X[:, 0]}, Y)


@pytest.mark.parametrize("kernel", [None, Gaussian()])
def test_targets_that_are_none_get_a_sentence(kernel):
    words = np.array(["few", "many"])[Y]
    regressors = krein.KreinRegressor(kernel), krein.KreinRidge(kernel)
    for learner in (*regressors, krein.KreinClassifier(kernel), krein.KreinSVC(kernel)):
        with pytest.raises(ValueError, match=r"got y='size', which names .* table\['size'\]"):
            learner.fit(X, "size")
        with pytest.raises(ValueError, match=r"different lengths: .*MultiLabelBinarizer"):
            learner.fit(X, [["few"], ["few", "many"]] * 30)
    for learner in regressors:
        with pytest.raises(ValueError, match=r"but y has 'few': labels .*KreinClassifier"):
            learner.fit(X, np.sort(words))
    for gap in (None, np.nan):
        holed = [*words[:5], gap, *words[6:]]
        with pytest.raises(ValueError, match="KreinClassifier: y is missing in row 5"):
            krein.KreinClassifier(kernel).fit(X, np.array(holed, dtype=object))


@pytest.mark.parametrize("mark", ["NA", "NaT"])
def test_gaps_of_pandas_among_labels_are_named_wherever_labels_come_from(mark):
    gap = getattr(pytest.importorskip("pandas"), mark)
    y = np.array(["few", "many"], dtype=object)[Y]
    y[5] = gap
    learner = krein.KreinRidgeClassifier(Gaussian())
    for learn in (
        lambda: learner.fit(X, y),
        lambda: learner.fit([(X, y)]),
        lambda: krein.compare(Gaussian(), X, y=y),
    ):
        with pytest.raises(ValueError, match=r"y is (missing|empty|<NA>|NaT) in row 5\b"):
            learn()


@pytest.mark.parametrize("owner", OWNERS[:4], ids=lambda owner: owner.__name__)
def test_other_data_than_rows_of_numbers_get_a_sentence(owner):
    with pytest.raises(ValueError, match=r"column 3 of X holds 'red'.*OneHotEncoder"):
        owner().fit(np.column_stack([X.astype(object), ["red", "blue"] * 30]), Y)
    with pytest.raises(ValueError, match=r"row 0 of X is 'red': choose .*EditDistance"):
        owner().fit(["red", "blue"] * 30, Y)
    with pytest.raises(ValueError, match=r"row 0 of X has 2 entries and row 1 has 3: .*Warping"):
        owner().fit([[0.0, 1.0], [0.0, 1.0, 2.0]] * 30, Y)


@pytest.mark.parametrize("owner", OWNERS[:4], ids=lambda owner: owner.__name__)
def test_a_lazy_table_is_named_with_the_cure(owner):
    polars = pytest.importorskip("polars")
    lazy = polars.LazyFrame({"a": X[:, 0], "b": X[:, 1]})
    with pytest.raises(ValueError, match=r"got a LazyFrame: pass X\.collect\(\)"):
        owner().fit(lazy, Y)


def test_rows_that_are_all_equal_are_no_news_of_kernels_that_nobody_named():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = krein.KreinRegressor(random_state=0).fit(np.ones((30, 2)), RNG.random(30))
        with pytest.raises(ValueError, match="at least two distinct rows"):
            krein.KreinRegressor(random_state=0).fit(X[:1], Y[:1])
    assert np.ptp(model.predict(X[:, :2])) == 0


@pytest.mark.parametrize("weights", [{0: 0.0, 1: 1.0}, {0: 0.0, 1: 1.0, 2: 1.0}])
def test_class_weight_zero_leaves_a_class_out(weights):
    y = np.arange(60) % len(weights)
    model = krein.KreinClassifier(class_weight=weights, random_state=0).fit(X, y)
    assert not (model.predict(X) == 0).any()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("cell", ["red", ""])
def test_text_and_gaps_in_a_file_are_located_once(cell, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"size,colour,y\n1,{cell},0\n2,{cell},1\n")
    with pytest.raises(
        ValueError, match=f"line 2, column 'colour': '{cell}' is not a number: fill"
    ) as it:
        krein.KreinClassifier().fit(path, "y")
    assert str(it.value).count("table.csv") == 1


def test_categories_that_are_numbers_are_numbers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.Categorical([1, 2] * 30), "b": X[:, 0]})
    assert krein.Nystrom(n_components=3).fit_transform(frame).shape == (60, 3)


class TestUnits:
    @pytest.mark.parametrize(
        "learner",
        [
            krein.KreinRidge(n_components=5),
            krein.KreinRidge(Gaussian(), 5),
            krein.KreinSVC(features=krein.RandomFourier(Gaussian(), 6)),
            krein.KreinRegressor(Gaussian(), 5),
            krein.KreinClassifier(Gaussian("median"), 5),
        ],
        ids=str,
    )
    def test_a_column_that_hides_the_others_is_named(self, learner):
        large = X * [1, 1000, 1]
        with warnings.catch_warnings():
            # With a width of 1 the matrix is also nearly the identity.
            warnings.simplefilter("ignore", UninformativeWarning)
            with pytest.warns(UnscaledWarning, match=r"Column 1 of X .*StandardScaler"):
                learner.fit(large, Y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            make_pipeline(StandardScaler(), learner).fit(large, Y)

    def test_the_column_has_its_name(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X * [1, 1, 1000], columns=["a", "b", "income"])
        with pytest.warns(UnscaledWarning, match="Column 'income' of X"):
            krein.KreinRidge(n_components=5).fit(frame, Y)

    @pytest.mark.parametrize(
        "rows",
        [X * 1000, X * [1, 20, 1], X[:, :1] * 1e6, X * [0, 1000, 0], X[:, [0]] * [1, 0]],
        ids=["all large", "less than 30 times", "one column", "others constant", "constant"],
    )
    def test_ordinary_units_are_fine(self, rows):
        krein.KreinRidge(n_components=5).fit(rows, Y)

    def test_kernels_of_other_data_have_no_units(self):
        matrix = Gaussian(0.5)(X) * np.linspace(1, 1e4, 60) * np.linspace(1, 1e4, 60)[:, None]
        krein.KreinRidge("precomputed", 5).fit(matrix, Y)
        scaled = make_pipeline(StandardScaler(), krein.Nystrom(Gaussian(), 5))
        krein.KreinRidge(features=scaled).fit(X * [1, 1000, 1], Y)


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "krein", "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"krein {krein.__version__}\n")


def test_copies_are_divided_among_the_folds_if_nearly_all_rows_are_copies():
    level = np.arange(100) % 5  # one column of five categories
    one_hot, y = np.eye(5)[level], level * 3.0 % 5 + 0.1 * RNG.standard_normal(100)
    model = krein.KreinRegressor(random_state=0).fit(one_hot, y)
    assert model.score(one_hot, y) > 0.99
    assert any("only 5 of 100 rows are distinct" in note for note in model.report_.notes)
    classes = (level > 2).astype(int)
    found = krein.KreinClassifier(random_state=0).fit(one_hot, classes).predict_proba(one_hot)
    assert np.all(found[np.arange(100), classes] > 0.9)
    order = RNG.permutation(100)
    other = krein.KreinRegressor(random_state=0).fit(one_hot[order], y[order])
    np.testing.assert_allclose(other.predict(one_hot), model.predict(one_hot), rtol=1e-6)


@pytest.mark.parametrize("owner", [krein.KreinRegressor, krein.KreinClassifier])
def test_copies_of_measurements_stay_together(owner):
    # A table that is repeated as a whole: a divided copy would be learned by heart.
    rows, noisy = X[:40], X[:40, 0] + 0.5 * RNG.standard_normal(40)
    y = noisy if owner is krein.KreinRegressor else (noisy > 0.5).astype(int)
    once = owner(random_state=0).fit(rows, y)
    copied = owner(random_state=0).fit(np.tile(rows, (6, 1)), np.tile(y, 6))
    assert not any("divided" in note for note in copied.report_.notes)
    np.testing.assert_allclose(copied.predict(X[40:]), once.predict(X[40:]), atol=1e-4)
    noisy_copies = np.tile(y, 6) + (RNG.random(240) < 0.2) * 1
    repeated = owner(random_state=0).fit(np.tile(rows, (6, 1)), noisy_copies)
    assert any("divided" in note for note in repeated.report_.notes)


def test_copies_that_are_held_out_together_are_said():
    level = np.arange(100) % 5
    cure = r"^Only 5 of 100 rows of X are distinct\. KreinRegressor with a number.*cv='auto'"
    with pytest.warns(CopiesWarning, match=cure):
        krein.KreinRegressor(cv=5, random_state=0).fit(np.eye(5)[level], level * 1.0)


def test_some_copies_are_no_news():
    krein.KreinRegressor(random_state=0).fit(np.repeat(X, 3, axis=0), np.repeat(X[:, 0], 3))


@pytest.mark.parametrize("owner", [krein.KreinClassifier, krein.KreinRegressor, krein.Nystrom])
def test_no_processes_at_all_are_refused_before_work_begins(owner):
    with pytest.raises(ValueError, match=r"'n_jobs' parameter .* Got 0 instead"):
        owner(n_jobs=0).fit(X, Y)


@pytest.mark.parametrize(
    "learner",
    [
        krein.KreinRidge(Gaussian(1.0), 40, random_state=0),
        krein.KreinRegressor(Gaussian(1.0), random_state=0),
        krein.KreinRegressor(Gaussian("median"), random_state=0),
        krein.KreinRegressor(random_state=0),
    ],
    ids=str,
)
def test_single_precision_of_rows_costs_no_accuracy(learner):
    # A smooth kernel has eigenvalues below the rounding errors of single precision.
    rows = X.astype(np.float32)
    y = np.sin(3 * rows).sum(axis=1).astype(float)
    double = learner.fit(rows[:40].astype(float), y[:40]).predict(rows[40:].astype(float))
    single = learner.fit(rows[:40], y[:40]).predict(rows[40:])
    np.testing.assert_allclose(single, double, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("owner", [krein.KreinRegressor, krein.KreinClassifier])
def test_a_sparse_matrix_without_zeros_is_a_table(owner):
    rows = RNG.random((120, 3)) * [1, 1, 1000]
    y = (rows[:, 0] > 0.5).astype(int)  # one column matters
    dense = owner(random_state=0).fit(rows[:80], y[:80])
    stored = owner(random_state=0).fit(sparse.csr_matrix(rows[:80]), y[:80])
    assert stored.report_.reason == dense.report_.reason
    new = sparse.csr_matrix(rows[80:])
    np.testing.assert_allclose(stored.predict(new), dense.predict(rows[80:]), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", [None, Gaussian("median")])
def test_data_frames_between_the_steps_change_nothing(kernel, dtype):
    rows = X.astype(dtype)
    model = krein.KreinRegressor(kernel, random_state=0)
    expected = model.fit(rows, Y).predict(rows)
    features = krein.Nystrom(Gaussian(), 10, random_state=0)
    ridge = krein.KreinRidge(features=features, alpha=1e-3, random_state=0)
    outputs = ridge.fit(rows, Y).predict(rows)
    with config_context(transform_output="pandas"):
        assert_rounded(model.fit(rows, Y).predict(rows), expected)
        assert_rounded(ridge.fit(rows, Y).predict(rows), outputs)


@pytest.mark.parametrize("kind", [krein.KreinRegressor, krein.KreinClassifier])
def test_a_matrix_of_all_pairs_is_not_silently_a_table(kind):
    rows = np.random.default_rng(0).standard_normal((40, 3))
    D = np.linalg.norm(rows[:, None] - rows, axis=2)
    y = (rows[:, 0] > 0).astype(int)
    with pytest.warns(UserWarning, match=r"symmetric matrix of 40 rows.*kernel='precomputed'"):
        kind(random_state=0).fit(D, y)
    kind(random_state=0).fit(D + rows[:, :1], y)  # not symmetric, so it may be a table
