"""Files of every format give the rows of the array they were written from, or a sentence."""

from __future__ import annotations

import bz2
import gzip
import os
import pickle
import re
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from krein.streaming import as_container, checked, open_stream
from krein.streaming.files import SUFFIXES

N, D = 37, 5


def _data(n=N):
    rng = np.random.default_rng(0)
    # Multiples of 1/16: decimal text holds them exactly.
    X = np.round(rng.standard_normal((n, D)) * 16) / 16
    X[rng.random((n, D)) < 0.3] = 0
    X[0, 0] = X[0, -1] = 1  # libsvm text shows the first and last column only where they are used
    return X, rng.integers(3, size=n).astype(float), np.round(rng.random(n) * 16) / 16


def _dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def _read(container):
    blocks = list(checked(container))
    y = None if blocks[0].y is None else np.concatenate([block.y for block in blocks])
    weight = None if blocks[0].weight is None else np.concatenate([b.weight for b in blocks])
    return np.concatenate([_dense(block.X) for block in blocks]), y, weight


# --- writers -------------------------------------------------------------------------------------

NAMES = [*(f"f{j}" for j in range(D)), "target"]


def _text(X, y, delimiter=",", header=True):
    lines = [delimiter.join(NAMES)] if header else []
    rows = np.column_stack([X, y]).tolist()
    return "\n".join(lines + [delimiter.join(map(repr, row)) for row in rows]) + "\n"


def _npy(path, X, y):
    np.save(path, X)
    np.save(path.with_name("y.npy"), y)
    return {"target": path.with_name("y.npy")}


def _npz(path, X, y):
    np.savez(path, X=X, y=y)


def _npz_compressed(path, X, y):
    np.savez_compressed(path, X=X, y=y)


def _csv(path, X, y):
    path.write_text(_text(X, y))


def _csv_bare(path, X, y):
    path.write_text(_text(X, y, header=False))


def _csv_gz(path, X, y):
    path.write_bytes(gzip.compress(_text(X, y).encode()))


def _csv_bz2(path, X, y):
    path.write_bytes(bz2.compress(_text(X, y).encode()))


def _csv_windows(path, X, y):
    path.write_bytes(b"\xef\xbb\xbf" + _text(X, y).replace("\n", "\r\n").encode() + b"\r\n")


def _csv_quoted(path, X, y):
    path.write_text("".join(f'"{line}"\n' for line in _text(X, y).replace(",", '","').split()))


def _tsv(path, X, y):
    path.write_text(_text(X, y, "\t"))


def _parquet(path, X, y):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    columns = dict(zip(NAMES, [*X.T, y], strict=True))
    pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=11)


def _libsvm(path, X, y, zero_based=False):
    dump_svmlight_file(X, y, str(path), zero_based=zero_based)


def _libsvm_zero(path, X, y):
    _libsvm(path, X, y, zero_based=True)


def _libsvm_gz(path, X, y):
    _libsvm(path, X, y)
    path.write_bytes(gzip.compress(path.read_bytes()))


def _libsvm_bz2(path, X, y):
    _libsvm(path, X, y)
    path.write_bytes(bz2.compress(path.read_bytes()))


FORMATS = {
    "npy": ("a.npy", _npy),
    "npy in Fortran order": ("a.npy", lambda path, X, y: _npy(path, np.asfortranarray(X), y)),
    "npz": ("a.npz", _npz),
    "npz compressed": ("a.npz", _npz_compressed),
    "csv": ("a.csv", _csv),
    "csv without header": ("a.csv", _csv_bare),
    "csv.gz": ("a.csv.gz", _csv_gz),
    "csv.bz2": ("a.b.CSV.bz2", _csv_bz2),
    "csv of Windows": ("a.csv", _csv_windows),
    "csv quoted": ("a.csv", _csv_quoted),
    "tsv": ("a.tsv", _tsv),
    "parquet": ("a.parquet", _parquet),
    "svm": ("a.svm", _libsvm),
    "svm from 0": ("a.libsvm", _libsvm_zero),
    "svm.gz": ("a.svmlight.gz", _libsvm_gz),
    "svm.bz2": ("a.libsvm.bz2", _libsvm_bz2),
}


def _written(name, tmp_path, n=N):
    file, write = FORMATS[name]
    X, y, _ = _data(n)
    options = write(tmp_path / file, X, y) or {}
    return tmp_path / file, options, X, y


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("rows", [1, 8, 1000])
def test_every_format_gives_the_rows_of_the_array_on_every_pass(name, rows, tmp_path):
    path, options, X, y = _written(name, tmp_path)
    container = open_stream(path, rows=rows, **options)
    assert max(block.X.shape[0] for block in container) <= rows
    assert container.n_rows in (N, None)
    for _ in range(2):
        got = _read(container)
        assert_array_equal(got[0], X)
        assert_array_equal(got[1], y)
        assert got[2] is None


@pytest.mark.parametrize("name", FORMATS)
def test_as_container_opens_paths(name, tmp_path):
    path, options, X, y = _written(name, tmp_path)
    for given in (path, str(path)):
        got = _read(as_container(given, options.get("target")))
        assert_array_equal(got[0], X)
        assert_array_equal(got[1], y)


@pytest.mark.parametrize("name", FORMATS)
def test_streams_can_be_sent_to_other_processes(name, tmp_path):
    path, options, X, _ = _written(name, tmp_path)
    copy = pickle.loads(pickle.dumps(open_stream(path, **options)))
    assert_array_equal(_read(copy)[0], X)


def _open_files():
    return sorted(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
@pytest.mark.parametrize("name", FORMATS)
def test_files_are_closed_also_when_the_consumer_stops_early(name, tmp_path):
    path, options, *_ = _written(name, tmp_path)
    list(open_stream(path, rows=4, **options))
    before = _open_files()
    container = open_stream(path, rows=4, **options)
    assert _open_files() == before
    walk = iter(container)
    next(walk)
    del walk
    assert _open_files() == before


@pytest.mark.parametrize("name", ["npz", "npz compressed", "csv", "csv.gz", "parquet", "svm"])
def test_a_pass_holds_a_few_blocks_only(name, tmp_path):
    n, rows = 20_000, 200
    path, options, X, _ = _written(name, tmp_path, n)
    container = open_stream(path, rows=rows, **options)
    next(iter(container))  # what is loaded once is not counted
    tracemalloc.start()
    n_seen = sum(block.X.shape[0] for block in container)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_seen == n
    # The whole matrix has 800 kB; text in Python objects takes about 20 times its numbers.
    assert peak < X.nbytes / 2


@pytest.mark.parametrize("dtype", ["float32", "int16"])
@pytest.mark.parametrize("name", ["npy", "npz", "parquet"])
def test_binary_formats_keep_float32(name, dtype, tmp_path):
    X, y, _ = _data()
    file, write = FORMATS[name]
    options = write(tmp_path / file, (X * 16).astype(dtype), y) or {}
    got = _read(open_stream(tmp_path / file, **options))[0]
    assert got.dtype == ("float32" if dtype == "float32" else "float64")
    assert_array_equal(got, X * 16)


# --- where y and the weights are -----------------------------------------------------------------


def test_npy_takes_arrays_for_y_and_weights(tmp_path):
    X, y, weight = _data()
    np.save(tmp_path / "X.npy", X)
    got = _read(open_stream(tmp_path / "X.npy", target=y, weight=weight, rows=5))
    for mine, wanted in zip(got, (X, y, weight), strict=True):
        assert_array_equal(mine, wanted)
    assert _read(open_stream(tmp_path / "X.npy"))[1] is None


def test_npz_finds_weights_and_takes_names(tmp_path):
    X, y, weight = _data()
    labels = y.astype(int).astype(str)
    np.savez(tmp_path / "a.npz", X=X, y=y, sample_weight=weight, X2=2 * X, labels=labels)
    assert_array_equal(_read(open_stream(tmp_path / "a.npz", rows=5))[2], weight)
    names = {"data": "X2", "target": "labels", "weight": "y"}
    got = _read(open_stream(tmp_path / "a.npz", rows=5, **names))
    for mine, wanted in zip(got, (2 * X, labels, y), strict=True):
        assert_array_equal(mine, wanted)
    assert _read(open_stream(tmp_path / "a.npz", target=False))[1] is None


@pytest.mark.parametrize("name", ["csv", "parquet"])
@pytest.mark.parametrize(("target", "weight"), [("f1", "f3"), (1, 3), (-5, -3), ("f1", 3)])
def test_columns_are_chosen_by_name_or_index(name, target, weight, tmp_path):
    path, _, X, y = _written(name, tmp_path)
    table = np.column_stack([X, y])
    got = _joined(open_stream(path, target=target, weight=weight, rows=5))
    wanted = table[:, [0, 2, 4, 5]], table[:, 1], table[:, 3]
    for mine, theirs in zip(got, wanted, strict=True):
        assert_array_equal(mine, theirs)


def _joined(container):
    blocks = list(container)
    return [np.concatenate([block[i] for block in blocks]) for i in range(3)]


@pytest.mark.parametrize("name", ["csv", "csv without header", "parquet"])
def test_a_file_may_have_no_target(name, tmp_path):
    path, _, X, y = _written(name, tmp_path)
    got = _read(open_stream(path, target=False, rows=5))
    assert_array_equal(got[0], np.column_stack([X, y]))
    assert got[1] is None


@pytest.mark.parametrize("header", [True, False])
def test_labels_in_csv_may_be_text(header, tmp_path):
    X, y, _ = _data()
    labels = np.array(["low", "mid", "very high"])[y.astype(int)]
    lines = _text(X, y, header=header).splitlines()
    start = int(header)
    lines[start:] = [
        f"{line.rpartition(',')[0]},{label}"
        for line, label in zip(lines[start:], labels, strict=True)
    ]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    got = _read(open_stream(tmp_path / "a.csv", rows=5))
    assert_array_equal(got[0], X)
    assert_array_equal(got[1], labels)


def test_blank_lines_are_no_rows(tmp_path):
    (tmp_path / "a.csv").write_text("\na,b\n\n1,2\n\n\n\n3,4\n\n")
    assert_array_equal(_read(open_stream(tmp_path / "a.csv", rows=2))[0], [[1], [3]])
    (tmp_path / "a.svm").write_text("# two rows\n1 1:2 # first\n\n\n\n0 2:1\n2\n")
    X, y, _ = _read(open_stream(tmp_path / "a.svm", rows=2))
    assert_array_equal(X, [[2, 0], [0, 1], [0, 0]])
    assert_array_equal(y, [1, 0, 2])


def test_libsvm_width_and_base_can_be_given(tmp_path):
    (tmp_path / "a.svm").write_text("1 qid:4 1:2 3:5\n0 2:1\n")
    one, zero = [[2, 0, 5], [0, 1, 0]], [[0, 2, 0, 5], [0, 0, 1, 0]]
    wider = [[*row, 0, 0] for row in one]
    cases = [({}, one), ({"n_features": 5}, wider), ({"zero_based": True}, zero)]
    cases.append(({"zero_based": True, "n_features": 4}, zero))
    for options, wanted in cases:
        container = open_stream(tmp_path / "a.svm", **options)
        assert_array_equal(_read(container)[0], wanted)
        assert container.n_rows == (None if len(options) == 2 else 2)


# --- bad files -----------------------------------------------------------------------------------

CUT = {
    "npy": r"a\.npy is cut off in row 18: its header says shape \(37, 5\)",
    "npz": r"a\.npz is cut off or damaged at its end, where the list of members is",
    "npz compressed": r"a\.npz is cut off or damaged at its end",
    "csv": r"a\.csv: line \d+ has \d columns instead of 6: the file is cut off or damaged there",
    "csv.gz": r"a\.csv\.gz is cut off or damaged after line \d+",
    "csv.bz2": r"a\.b\.CSV\.bz2 is cut off or damaged after line \d+",
    "parquet": r"a\.parquet is no complete Parquet file: its footer, at the end, cannot be read",
    "svm": r"a\.svm: line \d+: '\d+:' is not index:value",
    "svm.gz": r"a\.svmlight\.gz is cut off or damaged after line \d+",
}


@pytest.mark.parametrize("name", CUT)
def test_a_file_cut_off_in_the_middle_says_where(name, tmp_path):
    path, options, *_ = _written(name, tmp_path)
    content = path.read_bytes()
    middle = len(content) // 2
    if name == "npy":
        middle = len(content) - N * D * 8 // 2
    elif name == "csv":
        middle = content.index(b"\n", middle) + 6
    elif name == "svm":
        middle = content.index(b":", middle) + 1
    path.write_bytes(content[:middle])
    with pytest.raises(ValueError, match=CUT[name]):
        list(open_stream(path, rows=8, **options))


@pytest.mark.parametrize("name", ["npy", "npz", "csv.gz", "csv", "parquet"])
def test_an_empty_file_gets_a_sentence(name, tmp_path):
    path, options, *_ = _written(name, tmp_path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=re.escape(str(path))):
        list(open_stream(path, **options))


@pytest.mark.parametrize("name", ["npz", "npz compressed"])
def test_a_byte_changed_in_an_archive_is_noticed(name, tmp_path):
    path, *_ = _written(name, tmp_path, 5000)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"cut off or damaged near row \d+ of member 'X'"):
        list(open_stream(path, rows=8))


@pytest.mark.parametrize("name", ["npz", "npz compressed"])
@pytest.mark.parametrize("rows", [8, 5000])
def test_a_member_that_does_not_match_its_checksum_is_refused(name, rows, tmp_path):
    path, *_ = _written(name, tmp_path, 5000)
    with zipfile.ZipFile(path) as archive:
        checksum = archive.getinfo("X.npy").CRC
    right, wrong = (value.to_bytes(4, "little") for value in (checksum, checksum ^ 1))
    path.write_bytes(path.read_bytes().replace(right, wrong))
    with pytest.raises(ValueError, match=r"near row \d+ of member 'X' or before it \(Bad CRC"):
        list(open_stream(path, rows=rows))


def test_an_archive_with_fewer_rows_than_its_header_says(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((10, 2)))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", (tmp_path / "X.npy").read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"damaged near row 8 of member 'X' .*10 rows"):
        list(open_stream(tmp_path / "a.npz", rows=4))


def test_a_parquet_file_damaged_inside_says_after_which_row(tmp_path):
    path, *_ = _written("parquet", tmp_path)
    content = bytearray(path.read_bytes())
    content[4:1200] = bytes(1196)
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"a\.parquet breaks off or is damaged after row \d+ of 37"
    ):
        list(open_stream(path, rows=4))


BAD_TEXT = {
    "bad number": ("a.csv", "a,b,c\n1,2,3\n4,x5,6\n", "line 3, column 'b': 'x5' is not a number"),
    "bad first line": ("a.csv", "1,oops,3\n4,5,6\n", "line 1, column '1': 'oops' is not a number"),
    "missing number": ("a.csv", "a,b\n1,2\n\n,4\n", "line 4, column 'a': '' is not a number"),
    "bad target": ("a.csv", "1,2,3\n4,5,no\n", "line 2, column '2': 'no' is not a number"),
    "bad tsv": ("a.tsv", "1\t2\n3\t4,5\n", "line 2, column '1': '4,5' is not a number"),
    "more columns": ("a.csv", "1,2\n3,4\n5,6,7\n", "line 3 has 3 columns instead of 2"),
    "all lines longer": ("a.csv", "a,b\n5,6,7\n", "line 2 has 3 columns instead of 2"),
    "nothing": ("a.csv", "\n\n", "is empty: it has no line with columns"),
    "one column": ("a.csv", "a\n1\n", "has no column left for X"),
    "not text": ("a.csv", b"a,b\n1,2\n\xff\xfe,3\n", "is no UTF-8 text after line"),
    "bad pair": ("a.svm", "1 1:2\n0 1:2 3=4 5:6\n", "line 2: '3=4' is not index:value"),
    "bad last pair": ("a.svm", "1 1:2\n0 1:2 3\n", "line 2: '3' is not index:value"),
    "bad value": ("a.svm", "1 1:2\n0 1:2 3:abc 4:1\n", "line 2: '3:abc' is not index:value"),
    "bad index": ("a.svm", "1 1:2\n0 -1:2 3:1\n", "line 2: '-1:2' is not index:value"),
    "bad label": ("a.svm", "1 1:2\nyes 1:2\n", "line 2: the label 'yes' is not a number"),
    "not increasing": ("a.svm", "1 1:2\n\n1 3:2 2:1 4:1\n", "line 3: index 2 is not one of 1 to 4"),
    "no feature": ("a.svm", "1\n0\n", "has no features: give n_features"),
}


@pytest.mark.parametrize("name", BAD_TEXT)
@pytest.mark.parametrize("rows", [1, 100])
def test_bad_text_is_located(name, rows, tmp_path):
    file, text, sentence = BAD_TEXT[name]
    path = tmp_path / file
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        list(open_stream(path, rows=rows))
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(("base", "least"), [(True, 0), (False, 1)])
def test_libsvm_indices_outside_the_given_width_are_refused(base, least, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2\n0 0:1 7:2\n" if base else "1 1:2\n0 1:1 7:2\n")
    stream = open_stream(tmp_path / "a.svm", n_features=3, zero_based=base)
    with pytest.raises(ValueError, match=f"line 2: index 7 is not one of {least} to {least + 2}"):
        list(stream)


def test_index_0_in_a_file_read_as_one_based_is_refused(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2\n0 0:1 2:2\n")
    stream = open_stream(tmp_path / "a.svm", zero_based=False)
    with pytest.raises(ValueError, match="line 2: index 0 is not one of 1 to 2"):
        list(stream)


ARRAYS = {
    "Fortran order": ({"X": np.ones((4, 3), order="F")}, "'X' is in Fortran order and cannot be"),
    "objects": ({"X": np.array([[1, None]], dtype=object)}, "member 'X' holds objects"),
    "scalar": ({"X": np.array(3.0)}, "member 'X' holds a single value"),
    "vector": ({"X": np.ones(3)}, "member 'X' for X has shape (3,), but X must be a matrix"),
    "short y": ({"X": np.ones((3, 2)), "y": np.ones(2)}, "member 'y' for y has shape (2,)"),
    "no X": ({"Z": np.ones((3, 2)), "t": np.ones(3)}, "no member 'X' for X: it holds Z, t"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_archives_that_cannot_be_read_by_rows_are_refused(name, tmp_path):
    arrays, sentence = ARRAYS[name]
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        open_stream(tmp_path / "a.npz")


@pytest.mark.parametrize("part", ["target", "weight"])
def test_an_archive_names_the_members_it_has(part, tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((3, 2)), y=np.ones(3))
    with pytest.raises(ValueError, match=r"no member 'z' for .*: it holds X, y"):
        open_stream(tmp_path / "a.npz", **{part: "z"})
    with pytest.raises(ValueError, match="no member array"):
        open_stream(tmp_path / "a.npz", **{part: np.ones(3)})


NPY = {
    "objects": (np.array([[1, None]], dtype=object), None, "a.npy holds objects"),
    "vector": (np.ones(3), None, "a.npy holds an array of shape (3,), not a matrix"),
    "short y": (np.ones((3, 2)), [1, 2], "a.npy: X has 3 rows and y has 2"),
}


@pytest.mark.parametrize("name", NPY)
def test_npy_files_that_are_no_matrix_are_refused(name, tmp_path):
    array, target, sentence = NPY[name]
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        open_stream(tmp_path / "a.npy", target=target)


@pytest.mark.parametrize("name", ["csv", "parquet"])
@pytest.mark.parametrize("column", ["price", 6, -7, 1.5, True])
def test_a_missing_column_is_named_with_those_there_are(name, column, tmp_path):
    path, *_ = _written(name, tmp_path)
    for role in ("target", "weight"):
        sentence = f"has no column {column!r} for {role}: its columns are "
        with pytest.raises(ValueError, match=re.escape(sentence)):
            open_stream(path, **{role: column})


def test_parquet_columns_of_text_are_refused_and_nulls_located(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    table = pa.table({"a": ["x", "y"], "b": [1, None], "c": [True, None], "y": [0, 1]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="column 'a' holds string, but features must be numbers"):
        open_stream(tmp_path / "a.parquet")
    for keep, column in (("b", 0), ("c", 0)):
        pyarrow.parquet.write_table(table.select([keep, "y"]), tmp_path / "b.parquet")
        with pytest.raises(ValueError, match=f"X is nan in row 1 .* in column {column}"):
            list(checked(open_stream(tmp_path / "b.parquet")))
    labels = open_stream(tmp_path / "b.parquet", target="c")
    assert labels.n_rows == 2


def test_without_pyarrow_the_error_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r'pip install "krein\[parquet\]"'):
        open_stream(tmp_path / "a.parquet")


# --- bad paths -----------------------------------------------------------------------------------


def test_a_missing_file_is_named_with_the_one_it_may_be(tmp_path):
    (tmp_path / "letters.csv").write_text("1,2\n")
    with pytest.raises(FileNotFoundError, match=r"letter\.csv\. Is it letters\.csv\?"):
        open_stream(tmp_path / "letter.csv")
    with pytest.raises(FileNotFoundError, match=r"wine\.parquet\.$"):
        open_stream(tmp_path / "wine.parquet")
    with pytest.raises(FileNotFoundError, match=r"nowhere.a\.csv\.$"):
        open_stream(tmp_path / "nowhere" / "a.csv")


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_removed_between_two_passes_is_missing_not_damaged(name, tmp_path):
    path, options, *_ = _written(name, tmp_path)
    container = open_stream(path, **options)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        list(container)


@pytest.mark.parametrize("file", ["a.xlsx", "a", "a.gz", "a.npy.gz", "a.parquet.bz2", ".csv"])
def test_an_unknown_suffix_lists_the_known_ones(file, tmp_path):
    (tmp_path / file).write_bytes(b"1,2\n")
    with pytest.raises(ValueError, match="has no known suffix") as caught:
        open_stream(tmp_path / file)
    assert all(suffix in str(caught.value) for suffix in (*SUFFIXES, ".gz", ".bz2"))


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ValueError, match="is a folder: pass the path of one file"):
        open_stream(tmp_path)


@pytest.mark.parametrize("options", [{"target": "y"}, {"weight": 3}])
def test_libsvm_takes_no_target(options, tmp_path):
    path, *_ = _written("svm", tmp_path)
    with pytest.raises(ValueError, match="libsvm text"):
        open_stream(path, **options)


@pytest.mark.parametrize("name", FORMATS)
def test_the_length_of_a_block_is_checked(name, tmp_path):
    path, options, *_ = _written(name, tmp_path)
    with pytest.raises(ValueError, match="rows, the length of a block, must be a whole number"):
        open_stream(path, rows=0, **options)
