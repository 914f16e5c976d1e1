"""Whatever the data are in, blocks come out; and bad blocks are refused in one sentence."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from krein.streaming import Block, Blocks, Container, Data, InMemory, as_container, checked, split


def _data(n=23, d=4):
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((n, d)) * 16) / 16
    return X, rng.integers(3, size=n), rng.random(n)


def _dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def _joined(container):
    """X, y and weight of all blocks in one piece."""
    blocks = list(container)
    X = np.concatenate([_dense(block.X) for block in blocks])
    sides = zip(*((block.y, block.weight) for block in blocks), strict=True)
    return X, *(None if side[0] is None else np.concatenate(side) for side in sides)


def _partition(n, rng):
    """Random cuts of range(n), empty pieces included."""
    cuts = np.sort(rng.integers(n + 1, size=rng.integers(6)))
    return [slice(a, b) for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


class Anew:
    """Starts anew on every walk."""

    def __init__(self, blocks):
        self.blocks = blocks

    def __iter__(self):
        return iter(self.blocks)


# --- the same rows from everything ---------------------------------------------------------------


def _memmap(X, tmp_path):
    stored = np.memmap(tmp_path / "X", dtype=X.dtype, mode="w+", shape=X.shape)
    stored[:] = X
    return stored


MATRICES = {
    "array": lambda X, _: X,
    "Fortran order": lambda X, _: np.asfortranarray(X),
    "memmap": _memmap,
    "CSR array": lambda X, _: sparse.csr_array(X),
    "CSR matrix": lambda X, _: sparse.csr_matrix(X),
    "CSC": lambda X, _: sparse.csc_array(X),
    "pandas": lambda X, _: pd.DataFrame(X),
    "polars": lambda X, _: pl.DataFrame(X),
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_of_every_kind_give_the_same_rows(name, tmp_path):
    X, y, weight = _data()
    container = as_container(MATRICES[name](X, tmp_path), y, weight)
    for got, wanted in zip(_joined(checked(container)), (X, y, weight), strict=True):
        assert_array_equal(got, wanted)
    assert container.n_rows == len(X)


@pytest.mark.parametrize("rows", [1, 4, 23, 100])
def test_in_memory_blocks_have_the_asked_length_and_are_views(rows):
    X, y, weight = _data()
    blocks = list(InMemory(X, y, weight, rows=rows))
    assert [len(block.X) for block in blocks[:-1]] == [rows] * (len(blocks) - 1)
    assert all(np.shares_memory(block.X, X) and np.shares_memory(block.y, y) for block in blocks)
    assert_array_equal(_joined(blocks)[0], X)


OBJECTS = {
    "list": ["ACG", "T", "", "GG", "AC"],
    "tuple": ("ACG", "T", "", "GG", "AC"),
    "object array": np.array(["ACG", "T", "", "GG", "AC"], dtype=object),
    "text array": np.array(["ACG", "T", "", "GG", "AC"]),
    "pandas Series": pd.Series(["ACG", "T", "", "GG", "AC"]),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_sequences_of_objects_become_lists(name):
    container = as_container(OBJECTS[name], np.arange(5))
    blocks = list(checked(InMemory(container.X, container.y, rows=2)))
    assert [block.X for block in blocks] == [["ACG", "T"], ["", "GG"], ["AC"]]


def test_lists_of_matrices_and_of_other_tuples_are_objects():
    series = [np.ones((3, 2)), np.ones((5, 2))]
    assert next(iter(as_container(series))).X is series
    pairs = [(np.ones((3, 2)), "name"), (np.ones((4, 2)), "other")]
    assert isinstance(as_container(pairs), InMemory)


SOURCES = {
    "list": lambda blocks: blocks,
    "callable": lambda blocks: lambda: iter(blocks),
    "generator function": lambda blocks: lambda: (block for block in blocks),
    "re-iterable": Anew,
    "Blocks": lambda blocks: Blocks(blocks),
    "list of Blocks": lambda blocks: [Block(*block) for block in blocks],
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("seed", range(5))
def test_blocks_in_any_partition_give_the_same_rows_on_every_pass(source, seed):
    X, y, weight = _data()
    pieces = _partition(len(X), np.random.default_rng(seed))
    made = [(X[piece], y[piece], weight[piece]) for piece in pieces]
    container = as_container(SOURCES[source](made))
    assert isinstance(container, Blocks)
    for _ in range(2):
        for got, wanted in zip(_joined(checked(container)), (X, y, weight), strict=True):
            assert_array_equal(got, wanted)
    assert container.n_rows == (len(X) if "list" in source or source == "Blocks" else None)


def test_blocks_without_y_are_taken_as_x():
    X, _, _ = _data()
    got = _joined(checked(Blocks([X[:7], X[7:]])))
    assert_array_equal(got[0], X)
    assert got[1:] == (None, None)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, lambda X: [str(x) for x in X]])
@pytest.mark.parametrize("rows", [1, 5, 23, 50])
def test_split_cuts_all_parts_alike(kind, rows):
    X, y, _ = _data()
    pieces = list(split(Block(kind(X), y, None), rows))
    assert max(len(piece.y) for piece in pieces) == min(rows, 23)
    assert_array_equal(np.concatenate([piece.y for piece in pieces]), y)
    for piece in pieces:
        assert (piece.X.shape[0] if hasattr(piece.X, "shape") else len(piece.X)) == len(piece.y)
        assert piece.weight is None


def test_as_container_leaves_a_container_alone():
    container = InMemory(np.ones((3, 2)))
    assert as_container(container) is container


def test_containers_pickle():
    import pickle

    X, y, weight = _data()
    copy = pickle.loads(pickle.dumps(InMemory(X, y, weight)))
    assert_array_equal(_joined(copy)[0], X)


# --- what checked makes of a block ---------------------------------------------------------------

DTYPES = {
    "float32": "float32",
    "float64": "float64",
    "float16": "float64",
    "int8": "float64",
    "uint64": "float64",
    "bool": "float64",
    "object": "float64",
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_become_floats_and_float32_stays(dtype):
    X = np.array([[0, 1], [1, 1]]).astype(dtype)
    (block,) = checked(InMemory(X))
    assert block.X.dtype == DTYPES[dtype]
    assert_array_equal(block.X, [[0, 1], [1, 1]])


def test_float32_sums_that_overflow_are_finite_data():
    X = np.full((4, 2), 3e38, dtype=np.float32)
    (block,) = checked(InMemory(X))
    assert block.X is X


def test_text_labels_and_several_outputs_pass():
    X, _, _ = _data(4)
    (block,) = checked(InMemory(X, ["a", "b", "a", "c"]))
    assert block.y.tolist() == ["a", "b", "a", "c"]
    (block,) = checked(InMemory(X, X[:, :2]))
    assert_array_equal(block.y, X[:, :2])


def test_objects_pass_unchecked():
    (block,) = checked(InMemory([np.nan, "x", None]))
    assert [np.nan, "x", None] == block.X


# --- bad data ------------------------------------------------------------------------------------


def _spoilt(part, value, row, column, kind=np.asarray):
    """Three blocks of 10 rows, with one bad value in the middle one."""
    rng = np.random.default_rng(1)
    X, y, weight = rng.random((30, 4)) + 1, rng.random((30, 2)), rng.random(30)
    if part == "weight":
        weight[10 + row] = value
    else:
        {"X": X, "y": y}[part][10 + row, column] = value
    cuts = [slice(0, 10), slice(10, 20), slice(20, 30)]
    return Blocks([(kind(X[cut]), y[cut], weight[cut]) for cut in cuts])


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("part", ["X", "y", "weight"])
@pytest.mark.parametrize("column", [0, 1])
def test_values_that_are_not_finite_are_located(part, value, kind, column):
    at = "" if part == "weight" else f" in column {column}"
    sentence = f"{part} is {value} in row 7 of block 1 (row 17 of the data){at}:"
    walk = checked(_spoilt(part, value, 7, column, kind))
    next(walk)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        next(walk)


ONES = np.ones((3, 2))
BAD_BLOCKS = {
    "width": ([ONES, np.ones((3, 3))], "Block 1 has 3 columns, but 2 are expected"),
    "length of y": ([(ONES, [1, 2])], "Block 0 has 3 rows of X, but y has length 2"),
    "length of weight": ([(ONES, None, [1.0])], "Block 0 has 3 rows of X, but weight has length 1"),
    "length of y of objects": ([(["a", "b"], [1])], "Block 0 has 2 rows of X, but y has length 1"),
    "negative weight": (
        [(ONES, None, [1, 1, 1]), (ONES, None, [0, 2, -1])],
        "weight is -1 in row 2 of block 1 (row 5 of the data): weights must not be negative",
    ),
    "text weight": ([(ONES, None, ["a", "b", "c"])], "weight of block 0 has shape (3,) and dtype"),
    "matrix of weights": ([(ONES, None, ONES)], "weight of block 0 has shape (3, 2)"),
    "text": ([np.array([["a", "1"]])], "X of block 0 has dtype <U1, but real numbers are needed"),
    "digits as text": ([np.array([["1", 2]], dtype=object)], "has dtype object, but real numbers"),
    "complex": ([ONES * 1j], "has dtype complex128, but real numbers"),
    "vector": ([np.ones(3)], "X of block 0 has 1 dimension: pass a matrix"),
    "cube": ([np.ones((3, 2, 2))], "X of block 0 has 3 dimensions"),
    "cube of targets": ([(ONES, np.ones((3, 1, 1)))], "y of block 0 has 3 dimensions"),
    "y missing later": ([(ONES, [1, 2, 3]), (ONES,)], "Block 1 has no y, but the blocks before"),
    "y missing before": ([(ONES,), (ONES, [1, 2, 3])], "Block 1 has a y, but the blocks before"),
    "weight missing": ([(ONES, None, [1, 2, 3]), (ONES,)], "Block 1 has no weight"),
    "other outputs": ([(ONES, ONES), (ONES, [1, 2, 3])], "y of block 1 has shape (3,)"),
    "objects and numbers": ([ONES, ["a"]], "Block 1 mixes lists of objects with matrices"),
    "four members": ([(ONES, [1, 2, 3], None, 5)], "Block 0 is a tuple of 4"),
    "a number": ([ONES, 5.0], "X of block 1 must be a matrix or a list of objects, got float"),
    "a text": (["abc"], "X of block 0 must be a matrix or a list of objects, got str"),
    "no block": ([], "The data have no rows"),
    "empty blocks": ([np.ones((0, 2)), np.ones((0, 2))], "The data have no rows"),
}


@pytest.mark.parametrize("name", BAD_BLOCKS)
def test_bad_blocks_get_one_sentence(name):
    blocks, sentence = BAD_BLOCKS[name]
    with pytest.raises(ValueError, match=re.escape(sentence)):
        list(checked(Blocks(blocks)))


def test_the_expected_number_of_columns_can_be_given():
    with pytest.raises(ValueError, match="Block 0 has 2 columns, but 5 are expected"):
        list(checked(InMemory(ONES), n_columns=5))


def test_empty_blocks_are_left_out_and_counted():
    X = np.ones((2, 2))
    X[1, 0] = np.nan
    walk = checked(Blocks([ONES, np.ones((0, 2)), X]))
    assert len(next(walk).X) == 3
    with pytest.raises(ValueError, match=r"row 1 of block 2 \(row 4 of the data\) in column 0"):
        next(walk)


ONE_SHOT = {
    "generator": lambda: (block for block in [ONES]),
    "iterator": lambda: iter([ONES]),
    "zip": lambda: zip([ONES], [[1, 2, 3]], strict=True),
}


@pytest.mark.parametrize("name", ONE_SHOT)
@pytest.mark.parametrize("take", [Blocks, as_container])
def test_one_shot_iterators_are_refused(name, take):
    sentence = "several passes over the data: pass a list, a callable .* or a file"
    with pytest.raises(ValueError, match=sentence):
        take(ONE_SHOT[name]())


def test_a_callable_that_returns_the_same_iterator_is_noticed_on_the_second_pass():
    once = iter([ONES])
    container = Blocks(lambda: once)
    assert len(list(checked(container))) == 1
    with pytest.raises(ValueError, match="can be iterated only once"):
        list(checked(container))


BAD_ARGUMENTS = {
    "number": ((5,), "X must be an array, .* got int"),
    "None": ((None,), "got NoneType"),
    "dict": (({"a": 1},), "got dict"),
    "bytes": ((b"abc",), "got bytes"),
    "set": (({1, 2},), "got set"),
    "tuple (X, y)": (
        ((ONES, [1, 2, 3]),),
        "X and y as two arguments, or a list",
    ),
    "short y": ((ONES, [1, 2]), "X has 3 rows and y has 2"),
    "short weight": ((ONES, None, [1, 2]), "X has 3 rows and weight has 2"),
    "short y of objects": ((["a", "b"], [1]), "X has 2 rows and y has 1"),
    "y beside a container": (
        (InMemory(ONES), [1, 2, 3]),
        r"y is given together with blocks \(InMemory\)",
    ),
    "weight beside blocks": (
        ([(ONES, [1, 2, 3])], None, [1, 1, 1]),
        r"sample_weight is given together with blocks \(list\)",
    ),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_bad_arguments_get_one_sentence(name):
    arguments, sentence = BAD_ARGUMENTS[name]
    with pytest.raises(ValueError, match=sentence):
        as_container(*arguments)


@pytest.mark.parametrize("rows", [0, -1, 2.5, True, None])
def test_the_length_of_a_block_is_a_whole_number(rows):
    with pytest.raises(ValueError, match="rows, the length of a block, must be a whole number"):
        InMemory(ONES, rows=rows)


def test_blocks_needs_something_to_walk_over():
    with pytest.raises(ValueError, match=r"Blocks needs a re-iterable .* got int"):
        Blocks(3)


def test_a_container_must_say_how_to_walk():
    with pytest.raises(TypeError, match="Container must define __iter__"):
        iter(Container())


@pytest.mark.parametrize(
    ("rows", "sizes"), [(100, [60]), (60, [60]), (59, [30, 30]), (13, [12] * 5)]
)
def test_pieces_of_a_block_have_about_the_same_size(rows, sizes):
    pieces = list(Data.of(InMemory(np.ones((60, 2)))).by(rows))
    assert [len(piece) for piece in pieces] == sizes
    assert [piece.start for piece in pieces] == [0, *np.cumsum(sizes)[:-1]]
