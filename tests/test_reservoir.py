"""A sample that depends on the rows and the key, and on nothing else."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from krein._hashing import Draws, hash_rows
from krein.streaming import Blocks, InMemory, Reservoir, sample

KINDS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "int": lambda X: (16 * X).astype(np.int64),
    "CSR array": sparse.csr_array,
    "CSR matrix": lambda X: sparse.csr_matrix(X.astype(np.float32)),
    "objects": lambda X: [" ".join(map(str, row)) for row in X.tolist()],
}


def _data(n=300, distinct=120, seed=0):
    """Rows with duplicates and zeros, and weights that are no round numbers, some of them zero."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((distinct, 4)) * 16) / 16
    X[rng.random(X.shape) < 0.3] = 0
    weight = rng.random(n) * 10.0 ** rng.integers(-12, 12, size=n)
    weight[rng.random(n) < 0.1] = 0
    return X[rng.integers(distinct, size=n)], weight


def _take(X, rows):
    return [X[i] for i in rows] if isinstance(X, list) else X[rows]


def _dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def _assert_same(mine, other):
    """Equal to the last bit."""
    assert type(mine.rows) is type(other.rows)
    assert_array_equal(_dense(mine.rows), _dense(other.rows))
    if not isinstance(mine.rows, list):
        assert mine.rows.dtype == other.rows.dtype
        bits = [np.signbit(_dense(r.rows)) for r in (mine, other)]
        assert_array_equal(*bits)
    assert_array_equal(mine.hashes, other.hashes)
    assert (mine.n_seen, mine.is_complete) == (other.n_seen, other.is_complete)


def _slow(X, weight, size, key):
    """The definition, row by row: hashes, clocks and a dictionary."""
    hashes = hash_rows(X)
    clocks = Draws(hashes, key).clocks(1)
    firsts = {}
    for i, h in enumerate(hashes.tolist()):
        if weight[i] > 0:
            firsts.setdefault(h, i)
    order = sorted(firsts, key=lambda h: (clocks[firsts[h]], h))[:size]
    return [firsts[h] for h in order], len(firsts) <= size


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 7, 50, 500])
def test_the_sample_is_the_one_of_the_definition(kind, size):
    X, weight = _data()
    X = KINDS[kind](X)
    rows, complete = _slow(X, weight, size, key=3)
    got = sample(InMemory(X, None, weight, rows=17), size, key=3)
    assert_array_equal(_dense(got.rows), _dense(_take(X, rows)))
    assert_array_equal(got.hashes, hash_rows(X)[rows])
    assert got.is_complete == complete
    assert got.n_seen == len(weight)
    assert len(got) == len(rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_order_blocks_and_merging_change_no_bit(kind, weighted, seed):
    X, weight = _data()
    X = KINDS[kind](X)
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 150))
    whole = Reservoir.zero(size, 5).update(X, weight if weighted else None)
    order = rng.permutation(len(weight))
    cuts = np.sort(rng.integers(len(order) + 1, size=rng.integers(1, 40)))
    parts = [Reservoir.zero(size, 5)]
    for rows in np.split(order, cuts):
        if rng.random() < 0.3:
            parts.append(Reservoir.zero(size, 5))
        which = rng.integers(len(parts))
        parts[which] = parts[which].update(_take(X, rows), weight[rows] if weighted else None)
    while len(parts) > 1:
        a, b = (parts.pop(rng.integers(len(parts))) for _ in range(2))
        parts.append(a.merge(b))
    _assert_same(parts[0], whole)


def test_row_by_row_is_the_same_as_at_once():
    X, weight = _data()
    one = Reservoir.zero(20, 1)
    for i in range(len(X)):
        one = one.update(X[i : i + 1], weight[i : i + 1])
    _assert_same(one, Reservoir.zero(20, 1).update(X, weight))


def test_distinct_rows_are_drawn_like_uniform_landmarks():
    X = np.random.default_rng(0).standard_normal((500, 3))
    wanted = Draws(hash_rows(X), 9).first(40, salt=1)
    assert_array_equal(sample(InMemory(X, rows=64), 40, 9).rows, X[wanted])


def test_another_key_draws_other_rows():
    X = np.random.default_rng(0).standard_normal((500, 3))
    one, other = (set(sample(InMemory(X), 50, key).hashes.tolist()) for key in (1, 2))
    # Of 50 rows about 5 are in both, with standard deviation 2.
    assert len(one & other) < 17


@pytest.mark.parametrize("size", [10, 1000])
def test_weight_two_is_the_row_twice(size):
    X, _ = _data()
    twice = Reservoir.zero(size, 0).update(X).update(X)
    weighted = Reservoir.zero(size, 0).update(X, np.full(len(X), 2.0))
    assert_array_equal(twice.rows, weighted.rows)


def test_a_complete_sample_has_every_distinct_row():
    X, _ = _data()
    values = np.unique(X, axis=0)
    got = sample(InMemory(X, rows=7), len(values), 0)
    order = np.lexsort(got.rows.T[::-1])
    assert got.is_complete
    assert_array_equal(got.rows[order], values)
    assert not sample(InMemory(X, rows=7), len(values) - 1, 0).is_complete


@pytest.mark.parametrize("cut", range(1, 6))
@pytest.mark.parametrize("backwards", [False, True])
def test_one_row_too_many_makes_a_sample_incomplete(cut, backwards):
    X = np.random.default_rng(0).standard_normal((6, 2))
    X = Reservoir.zero(6, 0).update(X).rows  # by clock: the last one is the one to leave out
    X = X[::-1] if backwards else X
    for size, complete in ((6, True), (5, False)):
        zero = Reservoir.zero(size, 0)
        one, other = zero.update(X[:cut]), zero.update(X[cut:])
        for got in (one.update(X[cut:]), one.merge(other), other.merge(one)):
            assert (len(got), got.is_complete) == (size, complete)
            assert got.update(X[:1]).is_complete == complete


def test_rows_of_weight_zero_are_seen_but_never_kept():
    X = np.arange(6.0).reshape(3, 2)
    got = Reservoir.zero(1, 0).update(X, [0, 1, 0])
    assert_array_equal(got.rows, X[1:2])
    assert (got.n_seen, got.is_complete) == (3, True)
    none = Reservoir.zero(1, 0).update(X, [0, 0, 0])
    assert none.rows.shape == (0, 2)
    assert (len(none), none.is_complete) == (0, True)


def test_rows_that_differ_in_the_sign_of_zero_are_kept_in_one_form():
    plus, minus = np.array([[0.0, 1.0]]), np.array([[-0.0, 1.0]])
    one, other = (
        Reservoir.zero(2, 0).update(a).update(b) for a, b in ((plus, minus), (minus, plus))
    )
    _assert_same(one, other)
    assert len(one) == 1


def test_dtypes_are_promoted_whatever_comes_first():
    X = np.random.default_rng(0).standard_normal((50, 2))
    single = X[:25].astype(np.float32)
    one = Reservoir.zero(5, 0).update(single).update(X[25:])
    other = Reservoir.zero(5, 0).update(X[25:]).update(single)
    _assert_same(one, other)
    assert one.rows.dtype == np.float64


def test_sparse_rows_in_any_form_are_the_same_and_the_callers_stay_as_they_are():
    content = [2.0, 3.0, 2.0, 0.0, 1.0], [2, 1, 1, 2, 0], [0, 3, 5]
    odd = sparse.csr_array(tuple(map(np.array, content)), shape=(2, 3))
    for array in (odd.data, odd.indices, odd.indptr):
        array.setflags(write=False)
    got = Reservoir.zero(5, 0).update(odd)
    plain = sparse.csr_array(np.array([[0.0, 5.0, 2.0], [1.0, 0.0, 0.0]]))
    _assert_same(got, Reservoir.zero(5, 0).update(plain))
    for array, wanted in zip((odd.data, odd.indices, odd.indptr), content, strict=True):
        assert array.tolist() == wanted


def test_the_sample_holds_copies():
    X = np.arange(6.0).reshape(3, 2)
    got = Reservoir.zero(5, 0).update(X)
    before = got.rows.copy()
    X[:] = -1
    got.rows[:] = -2
    got.hashes[:] = 0
    assert_array_equal(got.rows, before)
    assert got.hashes.all()


def test_reservoirs_are_frozen_and_older_ones_stay_as_they_were():
    X, weight = _data()
    one = Reservoir.zero(30, 0).update(X[:100], weight[:100])
    before = pickle.loads(pickle.dumps(one))
    one.update(X[100:], weight[100:])
    one.merge(Reservoir.zero(30, 0).update(X))
    _assert_same(one, before)
    with pytest.raises(FrozenInstanceError):
        one.size = 4


def test_nothing_seen_is_neutral():
    X, weight = _data()
    zero, one = Reservoir.zero(30, 0), Reservoir.zero(30, 0).update(X, weight)
    _assert_same(zero.merge(one), one)
    _assert_same(one.merge(zero), one)
    _assert_same(one.update(X[:0], weight[:0]), one)
    assert (zero.rows.shape, len(zero), zero.is_complete) == ((0, 0), 0, True)


def test_every_distinct_row_is_drawn_with_the_same_chance():
    n, size, keys = 20, 5, 2000
    X = np.arange(float(n))[:, None]
    X = np.repeat(X, np.arange(1, n + 1), axis=0)  # multiplicity must not matter
    hits = np.zeros(n)
    for key in range(keys):
        hits[sample(InMemory(X), size, key).rows[:, 0].astype(int)] += 1
    p = size / n
    deviation = (hits - keys * p) / np.sqrt(keys * p * (1 - p))
    # The largest of 20 standard normals exceeds 4 with a chance of 1e-3.
    assert np.abs(deviation).max() < 4


def test_equal_objects_of_several_blocks_are_one():
    words = ["a", "b", "a", "c", "a"]
    got = sample(Blocks([words[:2], words[2:]]), 3, 0)
    assert sorted(got.rows) == ["a", "b", "c"]


# --- bad input -----------------------------------------------------------------------------------

ONES = np.ones((3, 2))
ZERO = Reservoir.zero(5, 1)
BAD = {
    "size": (lambda: ZERO.merge(Reservoir.zero(6, 1)), "size 5 and size 6 cannot be merged"),
    "key": (lambda: ZERO.merge(Reservoir.zero(5, 2)), "key 1 and key 2 cannot be merged"),
    "width": (
        lambda: ZERO.update(ONES).merge(ZERO.update(np.ones((3, 4)))),
        "rows of width 2 cannot take rows of width 4",
    ),
    "width of an update": (
        lambda: ZERO.update(ONES).update(np.ones((3, 4))),
        "rows of width 2 cannot take rows of width 4",
    ),
    "kind": (
        lambda: ZERO.update(ONES).merge(ZERO.update(sparse.csr_array(ONES))),
        "reservoir of dense rows cannot take sparse rows",
    ),
    "objects": (lambda: ZERO.update(["a"]).update(ONES), "objects rows cannot take dense rows"),
    "length of weight": (lambda: ZERO.update(ONES, [1.0]), r"weight has shape \(1,\) for 3 rows"),
    "negative weight": (lambda: ZERO.update(ONES, [1, -2, 1]), "weight is -2 in row 1: weights"),
    "NaN weight": (lambda: ZERO.update(ONES, [1, 1, np.nan]), "weight is nan in row 2: weights"),
    "infinite weight": (lambda: ZERO.update(ONES, [np.inf, 1, 1]), "weight is inf in row 0"),
    "vector": (lambda: ZERO.update(np.ones(3)), r"takes a matrix .* got an array of shape \(3,\)"),
    "text": (lambda: ZERO.update(np.array([["a"]])), "takes a matrix of real numbers or a list"),
    "size 0": (lambda: Reservoir.zero(0, 1), "size to be a whole number ≥ 1, got 0"),
    "size 2.5": (lambda: Reservoir.zero(2.5, 1), "size to be a whole number ≥ 1, got 2.5"),
    "key None": (lambda: Reservoir.zero(2, None), "key to be a whole number, got None"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_sentence(name):
    act, sentence = BAD[name]
    with pytest.raises(ValueError, match=sentence):
        act()
