"""Learners and files: what a fit remembers of the columns, and where later files have them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import dump_svmlight_file

from krein import KreinClassifier, KreinRegressor, KreinRidge, KreinRidgeClassifier, Nystrom
from krein.estimators import CorrectedSVC
from krein.kernels import Gaussian
from krein.streaming import InMemory, checked, open_stream

pytest.importorskip("pyarrow")

RNG = np.random.default_rng(0)
N, NAMES = 60, ["a", "b", "c"]
X = np.round(RNG.standard_normal((N, 3)) * [1, 3, 9], 3)
Y = np.round(X @ [1.0, 0.5, 0.1] + 0.1 * RNG.standard_normal(N), 3)
LABELS = np.where(np.median(Y) < Y, "high", "low")
WEIGHTS = np.round(0.5 + RNG.random(N), 3)
TABLE = pd.DataFrame(X, columns=NAMES)


def _ridge():
    return KreinRidge(Gaussian(3.0), n_components=20, random_state=0, alpha=0.1)


def _automatic():
    return KreinRegressor(Gaussian(3.0), 20, cv=2, n_models=1, random_state=0)


LEARNERS = {"ridge": _ridge, "automatic": _automatic}
EACH = pytest.mark.parametrize("learner", LEARNERS)
FORMATS = pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])


def _write(path, table, header=True):
    if path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    else:
        separator = "\t" if ".tsv" in path.name else ","
        table.to_csv(path, index=False, header=header, sep=separator)
    return path


# --- with names ----------------------------------------------------------------------------------

NEW = {
    "the file of the fit": TABLE.assign(y=Y),
    "without the target": TABLE,
    "in another order": TABLE[["c", "a", "b"]],
    "target in front": TABLE.assign(y=Y)[["y", "b", "c", "a"]],
    "with other columns": TABLE.assign(id=[f"row {i}" for i in range(N)], w=WEIGHTS)[
        ["id", "c", "w", "b", "a"]
    ],
    "with targets not known yet": TABLE.assign(y=[None] * N),
}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Learners that were fitted to a file, one per learner and format."""
    made = {}

    def fit(learner, suffix):
        if (learner, suffix) not in made:
            path = _write(tmp_path_factory.mktemp("fit") / f"a{suffix}", TABLE.assign(y=Y))
            made[learner, suffix] = LEARNERS[learner]().fit(path, "y")
        return made[learner, suffix]

    return fit


@FORMATS
@EACH
@pytest.mark.parametrize("name", NEW)
def test_columns_of_later_files_are_found_by_name(name, learner, suffix, fitted, tmp_path):
    model = fitted(learner, suffix)
    assert model.feature_names_in_.tolist() == NAMES
    new = _write(tmp_path / f"new{suffix}", NEW[name])
    expected = model.predict(TABLE)
    assert_allclose(model.predict(new), expected, rtol=1e-10, atol=1e-12)
    # A container of Parquet refuses columns that are neither features nor a target.
    stream = open_stream(new, target="a", rows=7) if "with" not in name else new
    assert_allclose(model.predict(stream), expected, rtol=1e-10, atol=1e-12)


@EACH
def test_a_fit_on_one_format_predicts_from_another(learner, fitted, tmp_path):
    model = fitted(learner, ".csv")
    expected = model.predict(TABLE)
    assert_allclose(model.predict(_write(tmp_path / "a.parquet", TABLE[["b", "c", "a"]])), expected)
    in_memory = LEARNERS[learner]().fit(TABLE, Y)
    assert_allclose(in_memory.predict(tmp_path / "a.parquet"), expected, rtol=1e-6, atol=1e-8)


@FORMATS
@EACH
def test_a_missing_column_is_named(learner, suffix, fitted, tmp_path):
    model = fitted(learner, ".csv")
    path = _write(tmp_path / f"new{suffix}", TABLE.drop(columns="b").assign(y=Y))
    sentence = r"new\..* has no column 'b', which the fit used: its columns are 'a', 'c', 'y'"
    with pytest.raises(ValueError, match=sentence):
        model.predict(path)
    with pytest.raises(ValueError, match=sentence):
        model.predict(open_stream(path))


def test_a_column_that_is_there_twice_is_refused(tmp_path):
    model = _ridge().fit(TABLE, Y)
    (tmp_path / "a.csv").write_text("a,b,b,c\n1,2,3,4\n")
    with pytest.raises(ValueError, match=r"several columns 'b' \(1, 2"):
        model.predict(tmp_path / "a.csv")


def test_a_later_block_of_rows_is_matched_by_name_too(tmp_path):
    table = TABLE.assign(y=Y)
    first = _write(tmp_path / "a.csv", table[:40])
    second = _write(tmp_path / "b.csv", table[40:][["y", "c", "b", "a"]])
    model = _ridge().partial_fit(first, "y").partial_fit(second, "y")
    expected = _ridge().partial_fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])
    assert_allclose(model.predict(TABLE), expected.predict(X), rtol=1e-9, atol=1e-10)


# --- without names -------------------------------------------------------------------------------


@EACH
@pytest.mark.parametrize("target", [0, 1, -1])
def test_columns_without_names_are_found_by_place(learner, target, tmp_path):
    places = [0, 1, 2]
    places.insert(target % 4, "y")
    table = pd.DataFrame(dict(enumerate(X.T)) | {"y": Y})
    fitted = _write(tmp_path / "fit.csv", table[places], header=False)
    model = LEARNERS[learner]().fit(fitted, target)
    assert not hasattr(model, "feature_names_in_")
    expected = model.predict(X)
    for new in (fitted, _write(tmp_path / "new.csv", table[[0, 1, 2]], header=False)):
        assert_allclose(model.predict(new), expected, rtol=1e-10, atol=1e-12)
    named = _write(tmp_path / "named.csv", TABLE)
    assert_allclose(model.predict(named), expected, rtol=1e-10, atol=1e-12)
    wide = _write(tmp_path / "wide.csv", table.assign(z=0, u=0), header=False)
    with pytest.raises(ValueError, match="has 6 columns, but the fit had 3 features"):
        model.predict(wide)


def test_weights_among_columns_without_names_are_left_out(tmp_path):
    table = pd.DataFrame({"w": WEIGHTS, **dict(enumerate(X.T)), "y": Y})
    path = _write(tmp_path / "a.csv", table, header=False)
    model = _ridge().fit(path, -1, 0)
    expected = model.predict(X)
    assert_allclose(model.predict(path), expected, rtol=1e-10, atol=1e-12)
    bare = _write(tmp_path / "b.csv", table.drop(columns=["w", "y"]), header=False)
    assert_allclose(model.predict(bare), expected, rtol=1e-10, atol=1e-12)
    for missing in ("w", "y"):  # which of the two is missing cannot be seen
        one = _write(tmp_path / "c.csv", table.drop(columns=missing), header=False)
        with pytest.raises(ValueError, match="has 4 columns, but the fit had 3 features"):
            model.predict(one)


def test_labels_may_stand_behind_columns_without_names(tmp_path):
    model = KreinRidgeClassifier(Gaussian(3.0), n_components=20, random_state=0, alpha=0.1)
    path = _write(tmp_path / "a.csv", TABLE.assign(y=LABELS), header=False)
    model.fit(X, LABELS)
    assert model.predict(path).tolist() == model.predict(X).tolist()


def test_one_feature_is_a_file_of_one_column(tmp_path):
    model = _ridge().fit(TABLE[["b"]], Y)
    path = _write(tmp_path / "a.csv", TABLE[["b"]])
    assert_allclose(model.predict(path), model.predict(TABLE[["b"]]))


def test_libsvm_files_have_the_width_and_base_of_the_fit(tmp_path):
    sparse = np.where(np.arange(3) == 2, 0.0, X)
    for base in (True, False):
        dump_svmlight_file(X, Y, str(tmp_path / "a.svm"), zero_based=base)
        model = _ridge().fit(tmp_path / "a.svm")
        # The last column, which is empty, is not in the file, nor is the first one.
        narrow = np.where(np.arange(3) == 0, 0.0, sparse)
        dump_svmlight_file(narrow, Y, str(tmp_path / "b.svm"), zero_based=base)
        expected = model.predict(narrow)
        assert_allclose(model.predict(tmp_path / "b.svm"), expected, rtol=1e-10, atol=1e-12)


# --- scores --------------------------------------------------------------------------------------


@FORMATS
def test_scores_of_files_take_the_target_of_the_fit(suffix, tmp_path):
    table = TABLE.assign(y=LABELS, w=WEIGHTS)
    path = _write(tmp_path / f"fit{suffix}", table[["y", "w", "c", "a", "b"]])
    model = KreinRidgeClassifier(Gaussian(3.0), n_components=20, random_state=0, alpha=0.1)
    model.fit(path, "y", "w")
    new = _write(tmp_path / f"new{suffix}", table[["a", "b", "c", "w", "y"]])
    expected = model.score(TABLE[["c", "a", "b"]], LABELS)
    assert expected > 0.5
    assert model.score(new) == model.score(new, "y") == model.score(new, LABELS) == expected
    weighted = model.score(TABLE[["c", "a", "b"]], LABELS, WEIGHTS)
    assert model.score(new, sample_weight="w") == pytest.approx(weighted, rel=1e-12)
    with pytest.raises(ValueError, match="has no column 'y' for target"):
        model.score(_write(tmp_path / f"bare{suffix}", TABLE))


def test_scores_of_blocks_take_their_targets():
    model = _ridge().fit(X, Y)
    expected = model.score(X, Y)
    assert model.score([(X[:30], Y[:30]), (X[30:], Y[30:])]) == pytest.approx(expected, rel=1e-12)
    assert model.score(InMemory(X, Y, rows=7)) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match=r"KreinRidge\.score needs targets"):
        model.score(lambda: iter([X]))


def test_the_automatic_classifier_scores_files(tmp_path):
    path = _write(tmp_path / "a.csv", TABLE.assign(y=LABELS))
    model = KreinClassifier(Gaussian(3.0), 20, cv=2, n_models=1, random_state=0).fit(path, "y")
    assert model.score(path) == model.score(TABLE, LABELS)
    assert model.decision_function(path).shape == (N,)


# --- which column is y ---------------------------------------------------------------------------


@FORMATS
@EACH
def test_a_target_that_nobody_named_is_said_once(learner, suffix, tmp_path):
    path = _write(tmp_path / f"a{suffix}", TABLE.assign(price=Y))
    with pytest.warns(UserWarning, match=r"the last column, 'price', is taken as y") as seen:
        model = LEARNERS[learner]().fit(path)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert "fit(path, y='price')" in str(seen[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = LEARNERS[learner]().fit(path, "price")
        model.predict(path)
    assert_allclose(model.predict(TABLE), named.predict(TABLE))


def test_without_names_the_warning_gives_the_index(tmp_path):
    path = _write(tmp_path / "a.csv", TABLE.assign(y=Y), header=False)
    with pytest.warns(UserWarning, match=r"the last column, 3, is taken as y.*y=3"):
        _ridge().fit(path)


def test_files_that_carry_y_do_not_warn(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    dump_svmlight_file(X, Y, str(tmp_path / "a.svm"))
    for path in (tmp_path / "a.npz", tmp_path / "a.svm"):
        _ridge().fit(path)


# --- columns of text -----------------------------------------------------------------------------

CITY = TABLE.assign(city=["Paris"] * N)[["a", "city", "b", "c"]]
NEEDS_NUMBERS = {
    "ridge": _ridge,
    "automatic": _automatic,
    "Nystrom": lambda: Nystrom(Gaussian(), 5),
    "CorrectedSVC": lambda: CorrectedSVC(Gaussian()),
}


@pytest.mark.parametrize("name", NEEDS_NUMBERS)
@pytest.mark.parametrize("kind", ["text", "dates", "polars"])
def test_a_column_of_a_table_that_is_text_is_named(name, kind):
    table = CITY
    if kind == "dates":
        table = TABLE.assign(city=pd.Timestamp("2020-01-01"))
    elif kind == "polars":
        table = pytest.importorskip("polars").from_pandas(CITY)
    y = LABELS if name == "CorrectedSVC" else Y
    with pytest.raises(ValueError, match=r"needs numbers, but column 'city' of X holds '[P2]"):
        NEEDS_NUMBERS[name]().fit(table, y)
    with pytest.raises(ValueError, match=r"column \d \('city'\) holds '?(Paris|Timestamp)"):
        list(checked(InMemory(table)))


@FORMATS
def test_a_column_of_a_file_that_is_text_is_named(suffix, tmp_path):
    path = _write(tmp_path / f"a{suffix}", CITY.assign(y=Y))
    with pytest.raises(ValueError, match=r"a\..* column 'city'(: 'Paris' is not| holds .*string)"):
        _ridge().fit(path, "y")


def test_a_number_that_is_missing_in_a_file_is_named_with_its_column(tmp_path):
    path = _write(tmp_path / "a.parquet", TABLE.assign(b=TABLE.b.where(TABLE.index != 4), y=Y))
    with pytest.raises(ValueError, match=r"a\.parquet: X is nan in row 4 .* in column 1 \('b'\)"):
        _ridge().fit(path, "y")
