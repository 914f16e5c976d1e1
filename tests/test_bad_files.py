"""Files and paths that cannot be read are refused with a sentence that says where."""

from __future__ import annotations

import re
import sys
import zipfile

import numpy as np
import pytest
from written_files import FORMATS, D, N, _written

from krein.streaming import checked, open_stream
from krein.streaming.files import SUFFIXES

# --- bad files -----------------------------------------------------------------------------------

CUT = {
    "npy": r"a\.npy is cut off in row 18: its header says shape \(37, 5\)",
    "npz": r"a\.npz is cut off or damaged at its end, where the list of members is",
    "npz compressed": r"a\.npz is cut off or damaged at its end",
    "csv": r"a\.csv: line \d+ has \d columns instead of 6: the file is cut off or damaged there",
    "csv.gz": r"a\.csv\.gz is cut off or damaged after line \d+",
    "csv.bz2": r"a\.b\.CSV\.bz2 is cut off or damaged at its start",
    "parquet": r"a\.parquet is not a complete Parquet file: its footer, at the end, cannot be read",
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
    with pytest.raises(
        ValueError,
        match=r"member 'X' is cut off in row 7: .* shape \(10, 2\), 160 bytes, but it has 120",
    ):
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
    "not text": ("a.csv", b"a,b\n1,2\n\xff\xfe,3\n", "is not UTF-8 text after line"),
    "bad pair": ("a.svm", "1 1:2\n0 1:2 3=4 5:6\n", "line 2: '3=4' is not index:value"),
    "bad last pair": ("a.svm", "1 1:2\n0 1:2 3\n", "line 2: '3' is not index:value"),
    "bad value": ("a.svm", "1 1:2\n0 1:2 3:abc 4:1\n", "line 2: '3:abc' is not index:value"),
    "bad index": ("a.svm", "1 1:2\n0 -1:2 3:1\n", "line 2: '-1:2' is not index:value"),
    "bad label": ("a.svm", "1 1:2\nyes 1:2\n", "line 2: the label 'yes' is not a number"),
    "not increasing": ("a.svm", "1 1:2\n\n1 3:2 2:1 4:1\n", "line 3: index 2 is not one of 1 to 4"),
    "large index": ("a.svm", "1 1:2\n1 99999999999:2\n", "line 2: the index 99999999999 is above"),
    "long index": (
        "a.svm",
        f"1 1:2\n1 {'9' * 5000}:2\n",
        "line 2: the index 99999999999999999999 ",
    ),
    "underscore": ("a.svm", "1 1:2 2:1_0 3:1\n", "line 1: '_' is not a character of libsvm text"),
    "other space": (
        "a.svm",
        "1 1:2\n\x0b\n1 1:2\n",
        "line 2: '\\x0b' is not a character of libsvm",
    ),
    "other digits": ("a.svm", "1 1:2\n1 1:2 2:٣ 3:4\n", "line 2: '٣' is not a character of libsvm"),
    "zero byte": ("a.svm", b"1 1:2\n1 1:\x002\n", "line 2 has a zero byte"),
    "no text": ("a.svm", b"1 1:2\n1 1:2 # \xff\n", "is not UTF-8 text after line 1"),
    "no feature": ("a.svm", "1\n0\n", "has no features: pass n_features"),
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


def _parquet(path, table, metadata=None):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), path)
    return path


@pytest.mark.parametrize("name", ["target", "feature"])
def test_parquet_columns_of_one_name_are_refused(name, tmp_path):
    pa = pytest.importorskip("pyarrow")
    names = {"target": ["a", "y", "y"], "feature": ["a", "a", "y"]}[name]
    table = pa.Table.from_arrays([pa.array([1.0, 2.0])] * 3, names=names)
    path = _parquet(tmp_path / "a.parquet", table)
    with pytest.raises(
        ValueError, match=r"a\.parquet has several columns '[ay]' \(\d, \d, counted"
    ):
        open_stream(path)


@pytest.mark.parametrize(
    "written", ["{", "[]", "7", "{}", '{"index_columns": 3}', "\udcff", "[" * 10**5]
)
def test_odd_metadata_of_pandas_gets_our_sentence(written, tmp_path):
    pa = pytest.importorskip("pyarrow")
    metadata = {b"pandas": written.encode(errors="surrogateescape")}
    path = _parquet(tmp_path / "a.parquet", pa.table({"a": [1.0], "y": [2.0]}), metadata)
    with pytest.raises(ValueError, match=r"a\.parquet: the pandas metadata in the footer"):
        open_stream(path)


@pytest.mark.parametrize("row", [0, 3])
@pytest.mark.parametrize("values", [["a", "b", "a", "b"], [1.0, 2.0, 3.0, 4.0], [1, 2, 3, 4]])
def test_an_empty_target_in_parquet_is_located(values, row, tmp_path):
    pa = pytest.importorskip("pyarrow")
    y = [None if i == row else value for i, value in enumerate(values)]
    path = _parquet(tmp_path / "a.parquet", pa.table({"a": [1.0] * 4, "y": y}))
    with pytest.raises(
        ValueError, match=rf"a\.parquet: row {row}, column 'y': the target is empty"
    ):
        list(checked(open_stream(path)))


def test_an_empty_label_in_an_archive_is_located(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((3, 2)), y=np.array(["a", "", "b"]))
    with pytest.raises(ValueError, match=r"a\.npz: y is empty in row 1 "):
        list(checked(open_stream(tmp_path / "a.npz")))


def test_parquet_targets_are_numbers_or_labels(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import datetime

    days = [datetime.date(2020, 1, day) for day in (1, 2)]
    table = pa.table({"a": [1.0, 2.0], "y": days})
    path = _parquet(tmp_path / "a.parquet", table)
    with pytest.raises(ValueError, match=r"column 'y' holds date32.*, but the target must be"):
        open_stream(path)
    table = pa.table({"a": [1.0, 2.0], "y": ["cat", "dog"]})
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        path = _parquet(tmp_path / "b.parquet", table.set_column(1, "y", table["y"].cast(kind)))
        assert next(iter(open_stream(path))).y.tolist() == ["cat", "dog"]


@pytest.mark.parametrize("name", ["csv", "parquet"])
@pytest.mark.parametrize("columns", [("target", "target"), (-1, "target"), (2, 2)])
def test_one_column_is_not_both_target_and_weight(name, columns, tmp_path):
    path, *_ = _written(name, tmp_path)
    with pytest.raises(ValueError, match="cannot be both the target and the weight"):
        open_stream(path, target=columns[0], weight=columns[1])


def test_one_array_is_not_both_target_and_weight(tmp_path):
    path, options, _, y = _written("npy", tmp_path)
    for target in (options["target"], y):
        with pytest.raises(ValueError, match="target and weight are the same array"):
            open_stream(path, target=target, weight=target)
    path, *_ = _written("npz", tmp_path)
    with pytest.raises(ValueError, match="member 'y' cannot be both the target and the weight"):
        open_stream(path, weight="y")


@pytest.mark.parametrize("name", ["csv", "parquet"])
@pytest.mark.parametrize("column", ["price", 6, -7, 1.5, True])
def test_a_missing_column_is_named_with_those_there_are(name, column, tmp_path):
    path, *_ = _written(name, tmp_path)
    for role in ("target", "weight"):
        sentence = f"has no column {column!r} for {role}: its columns are "
        with pytest.raises(ValueError, match=re.escape(sentence)):
            open_stream(path, **{role: column})


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_targets_of_a_file_with_columns_are_a_column(name, tmp_path):
    path, *_ = _written(name, tmp_path)
    with pytest.raises(ValueError, match=r"the target must be the name or the index .* ndarray"):
        open_stream(path, target=np.ones(3))


def test_a_string_of_the_data_is_told_from_a_path():
    with pytest.raises(FileNotFoundError, match=r"no file acgt\. If 'acgt' is one .*: \['acgt'\]"):
        open_stream("acgt")
    with pytest.raises(FileNotFoundError, match=r"no file acgt\.csv\.$"):
        open_stream("acgt.csv")


def test_columns_separated_by_semicolons_are_noticed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b;y\n1;2;0\n3;4;1\n")
    with pytest.raises(ValueError, match=r"are 'a;b;y'\. .*semicolons: .*read_csv\(path, sep=';'"):
        open_stream(path, target="y")


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
    with pytest.raises(ImportError, match=r'pip install "krein\[files\]"'):
        open_stream(tmp_path / "a.parquet")


# --- bad paths -----------------------------------------------------------------------------------


def test_a_missing_file_is_named_with_the_one_it_may_be(tmp_path):
    (tmp_path / "letters.csv").write_text("1,2\n")
    with pytest.raises(FileNotFoundError, match=r"letter\.csv\. Did you mean letters\.csv\?"):
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


@pytest.mark.parametrize("text", ["ACGT" * 100, "a/" * 3000, "a\0b.csv"])
def test_a_text_that_is_no_path_gets_a_sentence(text):
    with pytest.raises(
        FileNotFoundError, match=r"There is no file|is not a path of a file .* list"
    ):
        open_stream(text)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ValueError, match="is a folder: pass the path of one file"):
        open_stream(tmp_path)


@pytest.mark.parametrize("options", [{"target": "y"}, {"weight": 3}])
def test_libsvm_takes_no_target(options, tmp_path):
    path, *_ = _written("svm", tmp_path)
    with pytest.raises(ValueError, match="libsvm files take no target"):
        open_stream(path, **options)


@pytest.mark.parametrize("name", FORMATS)
def test_the_length_of_a_block_is_checked(name, tmp_path):
    path, options, *_ = _written(name, tmp_path)
    with pytest.raises(ValueError, match="rows, the length of a block, must be a whole number"):
        open_stream(path, rows=0, **options)
