"""Text files: as many rows as records, whatever the block, the quotes and the parser."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from krein.streaming import arrow_csv, as_container, checked, open_stream, raw

BLOCKS = (1, 7, 64, 4096)


def _write(path, text):
    content = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def _read(path, rows=4096, **options):
    blocks = list(open_stream(path, rows=rows, **options))
    y = None if blocks[0].y is None else np.concatenate([block.y for block in blocks])
    return np.concatenate([block.X for block in blocks]), y


@pytest.fixture(params=["pyarrow", "without pyarrow"])
def parser(request, monkeypatch):
    if request.param == "pyarrow":
        pytest.importorskip("pyarrow")
    else:
        monkeypatch.setattr(arrow_csv, "is_installed", lambda: False)
    return request.param


# --- quotes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", BLOCKS)
@pytest.mark.parametrize("file", ["a.csv", "a.csv.gz"])
def test_an_unclosed_quote_is_refused_with_its_line(file, rows, parser, tmp_path):
    lines = ["a,b,y", *(f"{i},{i / 4},{'dog' if i % 3 else 'cat'}" for i in range(1000))]
    lines[101] = '100,25.0,"dog'
    path = _write(tmp_path / file, "\n".join(lines) + "\n")
    with pytest.raises(ValueError, match="line 102: the quote that opens a cell there is not"):
        _read(path, rows)


def test_a_quote_that_is_not_closed_for_long_is_refused_before_the_file_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("krein.streaming.records.LONGEST", 2**16)
    lines = ["a,b,y", "1,2,cat", '3,4,"dog', *["5,6,cat"] * 20_000]
    path = _write(tmp_path / "a.csv", "\n".join(lines))
    with pytest.raises(ValueError, match=r"line 3: the quote .* is not closed in the 0 MiB after"):
        _read(path)


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("krein.streaming.records.LONGEST", 2**16)
    path = _write(tmp_path / "a.csv", "a,b\n1,2\n" + "3" * 2**18)
    with pytest.raises(ValueError, match="line 3 has more than"):
        _read(path)
    monkeypatch.setattr(raw, "LONGEST", 2**16)
    path = _write(tmp_path / "a.svm", "1 1:2\n" + "3" * 2**18)
    with pytest.raises(ValueError, match="line 2 has more than"):
        open_stream(path)


@pytest.mark.parametrize("rows", BLOCKS)
def test_a_quoted_line_break_is_part_of_its_cell(rows, parser, tmp_path):
    labels = ["one\nline", "two\r\n\nlines", 'a ""quoted"" word', "plain, but for a comma", "x"]
    lines = [f'{i},{2 * i},"{labels[i % 5]}"' for i in range(300)]
    path = _write(tmp_path / "a.csv", "a,b,y\n" + "\n".join(lines))
    X, y = _read(path, rows)
    assert_array_equal(X, [[i, 2 * i] for i in range(300)])
    assert y.tolist() == [labels[i % 5].replace('""', '"') for i in range(300)]


def test_a_record_longer_than_a_piece_of_the_file(parser, tmp_path):
    blank = "\n" * 900
    path = _write(tmp_path / "a.csv", f'a,y\n1,"{blank}end"\n2,"{blank}end"\n' * 1)
    X, y = _read(path, rows=1)
    assert_array_equal(X, [[1], [2]])
    assert y.tolist() == [blank + "end"] * 2
    many = "a,y\n" + f'1,"{blank}end"\n' * 200
    assert _read(_write(path, many), rows=1)[0].shape == (200, 1)


@pytest.mark.parametrize("rows", BLOCKS)
def test_a_quote_within_a_bare_cell_is_a_character(rows, parser, tmp_path):
    lines = [f'{i},{i},pipe of {i % 2 + 1}" ' for i in range(500)]
    path = _write(tmp_path / "a.csv", "a,b,y\n" + "\n".join(lines))
    X, y = _read(path, rows)
    assert_array_equal(X[:, 0], np.arange(500))
    assert set(y) == {'pipe of 1" ', 'pipe of 2" '}


@pytest.mark.parametrize("rows", BLOCKS)
def test_text_behind_a_closing_quote_is_refused_with_its_line(rows, parser, tmp_path):
    path = _write(tmp_path / "a.csv", 'a,b,y\n1,2,cat\n"3",4,dog\n5,"6"7,cat\n8,9,dog\n')
    with pytest.raises(ValueError, match=r"line 4: the quoted cell .* is followed by '7,cat'"):
        _read(path, rows)


def test_all_ends_of_lines_count(parser, tmp_path):
    text = 'a,b\r1,2\r\n3,4\n\r\r\n"5",6\r\r7,8\n   \n9,x'
    with pytest.raises(ValueError, match="line 10, column 'b': 'x' is not a number"):
        _read(_write(tmp_path / "a.csv", text))
    assert_array_equal(_read(_write(tmp_path / "a.csv", text[:-3]))[0], [[1], [3], [5], [7]])


@pytest.mark.parametrize("where", ["X", "y"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_long_cells_are_refused_with_their_line(where, quote, parser, tmp_path):
    cell = quote + "7" * 140_000 + quote
    row = f"{cell},2,cat" if where == "X" else f"3,4,{cell}"
    path = _write(tmp_path / "a.csv", f"a,b,y\n1,2,cat\n{row}\n3,4,dog\n")
    with pytest.raises(ValueError, match=r"a\.csv: line 3: a cell has more than 131,072 char"):
        _read(path)


@pytest.mark.parametrize("n_bytes", [1, 2, 5, 2**14])
def test_one_mark_of_byte_order_is_left_out(n_bytes, parser, tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "LEAST_BYTES", n_bytes)
    monkeypatch.setattr(raw, "MOST_BYTES", n_bytes)
    path = _write(tmp_path / "a.csv", "\ufeffa,y\n1,2\n3,4\n")
    assert open_stream(path, target="y").names == ["a", "y"]
    path = _write(tmp_path / "a.csv", "\ufeff\ufeff1,2\n3,4\n5,6\n")
    with pytest.raises(ValueError, match=r"line 1, column '0': '\\ufeff1' is not a number"):
        _read(path, header=False)
    path = _write(tmp_path / "a.svm", "\ufeff1 1:2\n\ufeff3 1:4\n")
    with pytest.raises(ValueError, match=r"line 2: '\\ufeff' is not a character of libsvm text"):
        _read(path)


def test_long_lines_of_short_cells_are_read(parser, tmp_path):
    width = 60_000
    line = ",".join(["1.5"] * width)
    path = _write(tmp_path / "a.csv", f"{line}\n{line}\n")
    assert _read(path)[0].shape == (2, width - 1)


def test_a_label_of_a_thousand_characters_is_none(parser, tmp_path):
    path = _write(tmp_path / "a.csv", f"a,y\n1,cat\n2,{'dog' * 400}\n")
    with pytest.raises(ValueError, match="line 3, column 'y': the label has 1200 characters"):
        _read(path)


# --- the fast reader against the slow one --------------------------------------------------------

CELLS = [
    *(
        "1",
        "+1",
        "-1.5e3",
        " 1 ",
        "\t1",
        "1.",
        ".5",
        "1e",
        "1e+5",
        "1E5",
        "00012",
        "-0",
        "--1",
        "1,",
    ),
    *("nan", "NaN", "-nan", "nan(1)", "inf", "Infinity", "-INF", "infinit", "1e400", "1e-400"),
    *("0x10", "0x1p3", "1_000", "1d5", "1f", "1L", "1j", "(1)", "1;5", "1 000", "1,000"),
    *("", " ", '""', '" "', '"1"', '" 1 "', '"1"2', '1"', '"', "'1'", "NULL", "NA", "N/A", "null"),
    *("true", "True", "2020-01-01", "12:30", "٣", "1\u00a0", "\u20281", "1\x0b", "\x0c1", "1\x1f"),
    *("é", "1\x00", "\ufeff1", "#", "1#", "%", "1%", "$1", "∞", "1\\", "\\N", "-", "+", "."),
    *("9" * 400, "0." + "3" * 400, "1e999999999999", "123456789012345678901234567890", "4.9e-324"),
]


@pytest.mark.parametrize("place", ["X", "label", "number"])
@pytest.mark.parametrize("cell", CELLS)
def test_both_parsers_read_a_cell_alike(cell, place, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    target = {"X": "7", "label": "cat", "number": "7"}[place]
    odd = f"{cell},2,{target}" if place == "X" else f"1,2,{cell}"
    path = _write(tmp_path / "a.csv", f"a,b,y\n5,6,{target}\n{odd}\n8,9,{target}\n")
    fast = _outcome(path)
    monkeypatch.setattr(arrow_csv, "is_installed", lambda: False)
    _assert_same(fast, _outcome(path))


def _outcome(path):
    try:
        return _read(path)
    except ValueError as error:
        return str(error)


def _assert_same(fast, slow):
    if isinstance(fast, str) or isinstance(slow, str):
        assert fast == slow
        assert "a.csv" in fast
    else:
        assert_array_equal(fast[0], slow[0])
        assert_array_equal(fast[1], slow[1])


def test_numbers_come_back_to_the_last_bit(parser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4)) * 10.0 ** rng.integers(-300, 300, (3000, 4))
    text = "\n".join(",".join(map(repr, row)) for row in X.tolist())
    assert_array_equal(np.column_stack(_read(_write(tmp_path / "a.csv", text), rows=100)), X)


@pytest.mark.parametrize("rows", BLOCKS)
def test_blocks_are_as_long_as_asked_with_both_parsers(rows, parser, tmp_path):
    path = _write(tmp_path / "a.csv", "a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(5000)))
    lengths = [len(block.X) for block in open_stream(path, rows=rows)]
    assert lengths[:-1] == [rows] * (5000 // rows - (5000 % rows == 0))
    assert sum(lengths) == 5000


def test_a_byte_that_is_no_text_is_located(parser, tmp_path):
    for byte, sentence in (
        (b"\xff", "is not UTF-8 text after line 2"),
        (b"\0", "line 3 has a zero"),
    ):
        path = _write(tmp_path / "a.csv", b"a,y\n1,cat\n2,d" + byte + b"og\n")
        with pytest.raises(ValueError, match=f"a.csv.* {sentence}|a.csv: {sentence}"):
            _read(path)


# --- header --------------------------------------------------------------------------------------

HEADERS = {
    "names": ("a,b,y\n1,2,3\n", True),
    "names with a blank one": (",a,b,y\n0,1,2,3\n", True),
    "numbers": ("1,2,3\n4,5,6\n", False),
    "a label that comes again": ("1,2,cat\n3,4,dog\n5,6,cat\n", False),
    "equal features": ("1,1,cat\n3,4,dog\n", False),
    "one row": ("1,2,cat\n", False),
    "an empty target": ("1,2,\n3,4,5\n", False),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_clear_first_line_is_names_or_a_row(name, tmp_path):
    text, has_header = HEADERS[name]
    path = _write(tmp_path / "a.csv", text)
    assert open_stream(path).has_names is has_header
    assert open_stream(path, header=not has_header).has_names is not has_header
    assert as_container(path, header=not has_header).has_names is not has_header


AMBIGUOUS = {
    "years": ("2019,2020,label\n1,2,cat\n3,4,dog\n5,6,cat\n", "'label'"),
    "years above numbers": ("2019,2020,price\n1,2,3\n4,5,6\n", "'price'"),
    "a name among numbers": ("id,2019,price\n1,2,3\n4,5,6\n", "'id'"),
    "an index among numbers": (",2019,2020,y\n0,1,2,3\n1,4,5,6\n", "''"),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_a_first_line_that_may_be_either_is_refused(name, tmp_path):
    text, cell = AMBIGUOUS[name]
    path = _write(tmp_path / "a.csv", text)
    with pytest.raises(ValueError, match=rf"line 1, .* {cell} is not a number.*header=True") as it:
        open_stream(path)
    assert "header=False" in str(it.value)
    first, *others = text.splitlines()
    assert len(_read(path, header=True)[0]) == len(others)
    assert open_stream(path, target=first.split(",")[-1]).has_names  # a name implies names


def test_a_header_of_numbers_as_pandas_writes_it_warns(tmp_path):
    for text in ("0,1,2\n5,6,7\n", "0,1,2,y\n5,6,7,8\n"):
        path = _write(tmp_path / "a.csv", text)
        with pytest.warns(UserWarning, match="that pandas writes.*header=False"):
            assert open_stream(path).has_names
        assert not open_stream(path, header=False).has_names


def test_bad_headers_get_a_sentence(tmp_path):
    path = _write(tmp_path / "a.csv", "1,2\n3,4\n")
    for header in ("yes", 1, None):
        with pytest.raises(ValueError, match=f'header must be "auto", True or False.*{header!r}'):
            open_stream(path, header=header)
    with pytest.raises(ValueError, match="'y' names a column, but header=False"):
        open_stream(path, target="y", header=False)
    np.save(tmp_path / "a.npy", np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"header=True is for \.csv and \.tsv files"):
        open_stream(tmp_path / "a.npy", header=True)


# --- targets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty", ["", " ", '""'])
@pytest.mark.parametrize("row", [0, 1, 3])
@pytest.mark.parametrize("label", ["cat", "7"])
def test_an_empty_target_is_refused_with_its_place(label, row, empty, parser, tmp_path):
    labels = [empty if i == row else label for i in range(5)]
    text = "a,b,y\n" + "".join(f"{i},{i},{y}\n" for i, y in enumerate(labels))
    path = _write(tmp_path / "a.csv", text)
    sentence = f"line {row + 2}, column 'y': the target is empty"
    with pytest.raises(ValueError, match=re.escape(f"{path}: {sentence}")):
        _read(path)


@pytest.mark.parametrize("header", [True, False])
def test_one_text_above_numbers_is_no_label(header, parser, tmp_path):
    text = "a,b,y\n" * header + "1,1,2_0\n" + "3,4,2\n" * 30
    path = _write(tmp_path / "a.csv", text)
    with pytest.raises(ValueError, match=rf"line {1 + header}, column .*: '2_0' is not a number"):
        _read(path)
    mixed = _write(tmp_path / "b.csv", text + "5,6,other\n")
    assert _read(mixed)[1].tolist() == ["2_0", *["2"] * 30, "other"]


def test_two_columns_of_one_name_cannot_be_the_target(tmp_path):
    path = _write(tmp_path / "a.csv", "a,y,y\n1,2,3\n4,5,6\n")
    with pytest.raises(ValueError, match=r"several columns 'y' \(1, 2, counted from 0\)"):
        open_stream(path, target="y")
    assert _read(path, target=1)[1].tolist() == [2, 5]


@pytest.mark.parametrize("first", ["?,?,a", "NA,NA,1", "nan,null,b", "-,x,1"])
def test_a_first_line_of_missing_values_may_be_a_row(first, parser, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"{first}\n1,2,b\n3,4,a\n")
    with pytest.raises(ValueError, match=r"a\.csv: line 1, column '[01]'.*header=False"):
        open_stream(path)


def test_a_line_of_tabs_is_a_record(parser, tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("a\tb\ty\n1\t2\t0\n\t\t\n3\t4\t1\n")
    with pytest.raises(ValueError, match=r"a\.tsv: line 3"):
        list(checked(open_stream(path)))
