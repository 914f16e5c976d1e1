"""Files of every format give the rows of the array they were written from."""

from __future__ import annotations

import os
import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from written_files import FORMATS, N, _data, _read, _text, _written

from krein.streaming import as_container, open_stream


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
