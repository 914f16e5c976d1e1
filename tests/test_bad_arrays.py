"""Bad .npy and .npz files get one clear sentence."""

from __future__ import annotations

import re
import zipfile

import numpy as np
import pytest
from written_files import _written

from krein.streaming import open_stream

ARRAYS = {
    "Fortran order": ({"X": np.ones((4, 3), order="F")}, "'X' is in Fortran order and cannot be"),
    "objects": ({"X": np.array([[1, None]], dtype=object)}, "member 'X' holds objects"),
    "scalar": ({"X": np.array(3.0)}, "member 'X' holds a single value"),
    "vector": ({"X": np.ones(3)}, "member 'X' for X is an array of shape (3,), not a matrix"),
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


def _npy_with(header):
    text = header.encode() + b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(240)


DESCRIBED = "{'descr': '<f8', 'fortran_order': False, 'shape': "
HEADERS = {
    "open bracket": (DESCRIBED + "(10, 3), ", "the header cannot be read"),
    "nested": ("(" * 110, "the header cannot be read"),
    "unclosed text": ("{'descr': '<f8", "the header cannot be read"),
    "odd type": ("{'descr': 3, 'fortran_order': False, 'shape': (10, 3)}", "header cannot be read"),
    "objects": ("{'descr': '|O', 'fortran_order': False, 'shape': (10, 3)}", "holds objects"),
    "dates": (
        "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (10, 3)}",
        "of type datetime64",
    ),
    "records": (
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (30, 1)}",
        "of type [(",
    ),
    "empty text": ("{'descr': '<U0', 'fortran_order': False, 'shape': (10, 3)}", "of type <U0"),
    "huge": (
        DESCRIBED + "(409600000000000, 3)}",
        "is cut off in row 10: its header says shape (4096",
    ),
    "wide": (DESCRIBED + "(10, 9223372036854775808)}", "the header says shape"),
    "wide and empty": (
        DESCRIBED + "(0, 10000000000000000000000)}",
        "the header says shape",
    ),
    "negative": (DESCRIBED + "(-10, -3)}", "the header says shape"),
    "truth": (DESCRIBED + "(30, True)}", "the header says shape"),
    "no columns": (DESCRIBED + "(10, 0)}", "is longer than its header says"),
    "fewer rows": (DESCRIBED + "(9, 3)}", "is longer than its header says: its header says shape"),
    "old Python": ("{'descr': '<f8', 'fortran_order': False, 'shape': (99L, 3L)}", "is cut off"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", HEADERS)
def test_odd_headers_of_arrays_get_our_sentence(name, packed, tmp_path):
    header, sentence = HEADERS[name]
    path, content = tmp_path / "a.npy", _npy_with(header)
    path.write_bytes(content)
    if packed:
        path = tmp_path / "a.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("X.npy", content)
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        list(open_stream(path))
    assert str(caught.value).startswith(str(path))


def test_an_array_without_columns_is_no_matrix(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((5, 0)))
    np.savez(tmp_path / "a.npz", X=np.ones((5, 0)))
    for file in ("a.npy", "a.npz"):
        with pytest.raises(ValueError, match=r"shape \(5, 0\), not a matrix with columns"):
            open_stream(tmp_path / file)


def test_text_that_holds_no_characters_is_refused(tmp_path):
    y = np.array(["low", "high", "low"])
    y.view("u4")[5] = 0x110000
    np.savez(tmp_path / "a.npz", X=np.ones((3, 2)), y=y)
    with pytest.raises(ValueError, match=r"a\.npz: member 'y' is damaged in row 1: its text"):
        list(open_stream(tmp_path / "a.npz", rows=1))


def test_members_without_the_suffix_of_arrays_are_none(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X", b"1,2,3")
    with pytest.raises(ValueError, match=r"no member 'X' for X: it holds no array; .* NAME\.npy"):
        open_stream(tmp_path / "a.npz")


def test_an_encrypted_archive_is_refused(tmp_path):
    path, *_ = _written("npz", tmp_path)
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := content.find(mark, at + 1)) >= 0:
            content[at + offset] |= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.npz is cut off or damaged .*encrypted"):
        open_stream(path)


def test_an_archive_that_says_it_is_huge_is_refused(tmp_path):
    content = _npy_with(DESCRIBED + "(1000000000, 3)}")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", content)
    stored = (tmp_path / "a.npz").read_bytes()
    size, claimed = (n.to_bytes(4, "little") for n in (len(content), 2**32 - 2))
    (tmp_path / "a.npz").write_bytes(stored.replace(size, claimed))
    with pytest.raises(ValueError, match=r"a\.npz: member 'X' (is cut off|cannot hold)"):
        open_stream(tmp_path / "a.npz")
