"""Random numbers that belong to the content of a row."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats

from krein import _hashing
from krein._hashing import Draws, as_key, hash_pairs, hash_rows, mix

KEYS = range(4000)  # one draw per key


def _data(rng: np.random.Generator, n: int = 40, d: int = 6) -> np.ndarray:
    """Rows with zeros in them and entries that float32 can hold."""
    X = np.round(rng.standard_normal((n, d)) * 16) / 16
    X[rng.random((n, d)) < 0.3] = 0
    return X


# --- hashes --------------------------------------------------------------------------------------


def _memmap(X, tmp_path):
    stored = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=X.shape)
    stored[:] = X
    return stored


CONTAINERS = {
    "Fortran order": lambda X, tmp_path: np.asfortranarray(X),
    "float32": lambda X, tmp_path: X.astype(np.float32),
    "CSR array": lambda X, tmp_path: sparse.csr_array(X),
    "CSR matrix": lambda X, tmp_path: sparse.csr_matrix(X),
    "CSC": lambda X, tmp_path: sparse.csc_array(X),
    "memmap": _memmap,
    "strided": lambda X, tmp_path: np.repeat(X, 2, axis=1)[:, ::2],
    "negative zeros": lambda X, tmp_path: np.where(X == 0, -0.0, X),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_equal_rows_in_other_containers_have_equal_hashes(rng, tmp_path, name):
    X = _data(rng)
    assert_array_equal(hash_rows(CONTAINERS[name](X, tmp_path)), hash_rows(X))


def test_csr_with_stored_zeros_unsorted_and_repeated_entries_has_the_hash_of_its_values():
    X = np.array([[0.0, 5.0, 2.0], [1.0, 0.0, 0.0]])
    odd = sparse.csr_array(
        (np.array([2.0, 3.0, 2.0, 0.0, 1.0]), np.array([2, 1, 1, 2, 0]), np.array([0, 3, 5])),
        shape=(2, 3),
    )
    assert_array_equal(odd.toarray(), X)
    assert_array_equal(hash_rows(odd), hash_rows(X))


def test_integers_have_the_hash_of_their_floats(rng):
    X = rng.integers(-3, 4, (30, 4))
    assert_array_equal(hash_rows(X), hash_rows(X.astype(float)))


def test_hashes_move_with_the_rows(rng):
    X = _data(rng)
    order = rng.permutation(len(X))
    assert_array_equal(hash_rows(X[order]), hash_rows(X)[order])


@pytest.mark.parametrize("rows_per_block", [1, 7])
def test_the_size_of_the_blocks_does_not_change_hashes(monkeypatch, rng, rows_per_block):
    X, K = _data(rng), _data(rng, 40, 40)
    expected = hash_rows(X), hash_pairs(K)
    calls = []

    def small(n_rows, bytes_per_row, budget=None):
        calls.append(n_rows)
        for start in range(0, n_rows, rows_per_block):
            yield slice(start, min(start + rows_per_block, n_rows))

    monkeypatch.setattr(_hashing, "row_blocks", small)
    monkeypatch.setattr(_hashing, "ALONE", 0)
    assert_array_equal(hash_rows(X), expected[0])
    assert_array_equal(hash_pairs(K), expected[1])
    assert calls == [40, 40]


def test_different_rows_have_different_hashes():
    # All 0/1 rows of 12 columns, and rows that hold the same values in other columns.
    bits = (np.arange(4096)[:, None] >> np.arange(12)) & 1
    rows = np.concatenate([bits, 2 * bits[1:], 0.5 * bits[1:]]).astype(float)
    assert len(np.unique(hash_rows(rows))) == len(rows)


def test_one_changed_bit_of_a_value_changes_half_the_bits_of_the_hash(rng):
    values = rng.standard_normal(4000)
    other = np.nextafter(values, np.inf)
    changed = np.bitwise_count(hash_rows(values[:, None]) ^ hash_rows(other[:, None]))
    # 64 fair bits: mean 32 with standard error 4/√4000 = 0.063.
    assert abs(changed.mean() - 32) < 5 * 4 / np.sqrt(4000)
    assert_array_equal(mix(np.arange(5, dtype=np.uint64)).dtype, np.uint64)


OBJECTS = {
    "strings": ["ACGT", "ACG", "", "ACGT ", "acgt"],
    "bytes": [b"ab", b"a", b"\x00"],
    "sets of integers": [{1, 2}, {1}, set(), {3}],
    "sets of integers with the same digits": [{1, 23}, {12, 3}, {123}, {1, 2, 3}],
    "sets of strings": [{"a", "bc"}, {"ab", "c"}, {"a'bc"}],
    "series": [np.arange(3.0), np.arange(4.0), np.arange(3.0)[::-1], np.zeros(3), np.zeros(4)],
    "shapes": [np.zeros((2, 3)), np.zeros((3, 2)), np.zeros(6)],
    "tuples": [(1, "a"), (1, "b"), ("a", 1), ()],
}


@pytest.mark.parametrize("name", OBJECTS)
def test_different_objects_have_different_hashes(name):
    assert len(np.unique(hash_rows(OBJECTS[name]))) == len(OBJECTS[name])


def test_equal_sets_have_equal_hashes_whatever_their_history():
    first = {f"w{i}" for i in range(100)}
    second = {f"w{i}" for i in reversed(range(1000))} - {f"w{i}" for i in range(100, 1000)}
    assert first == second
    hashes = hash_rows([first, second, frozenset(first)])
    assert hashes[0] == hashes[1] == hashes[2]


def test_equal_arrays_have_equal_hashes_whatever_their_layout():
    x = np.arange(6.0)
    views = [x, np.repeat(x, 2)[::2], x.copy()]
    assert len(np.unique(hash_rows(views))) == 1


def test_equal_tuples_have_equal_hashes_whatever_they_share():
    word = "".join(["AC", "GT"])
    shared, apart = (word, word), (word, "".join(["AC", "GT"]))
    assert shared == apart
    hashes = hash_rows([shared, apart])
    assert hashes[0] == hashes[1]


def test_hashes_of_objects_are_the_same_in_every_process():
    objects = ["ACGT", {"a", "b", "c", "d"}, frozenset("wxyz"), (1, "a"), b"x"]
    code = f"from krein._hashing import hash_rows; print(*hash_rows({objects!r}))"
    # The order in which sets of strings are walked depends on this seed.
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    output = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert output.split() == [str(value) for value in hash_rows(objects)]


def test_objects_survive_pickling_with_their_hashes():
    objects = ["ACGT", {"a", "b"}, np.arange(3.0), (1, ("a", 2.0))]
    assert_array_equal(hash_rows(pickle.loads(pickle.dumps(objects))), hash_rows(objects))


# --- rows of a matrix of pairs -------------------------------------------------------------------


@pytest.mark.parametrize("symmetric", [True, False])
def test_hashes_of_pairs_move_with_the_objects(rng, symmetric):
    K = rng.standard_normal((30, 30))
    K = K + K.T if symmetric else K
    order = rng.permutation(30)
    assert_array_equal(hash_pairs(K[np.ix_(order, order)]), hash_pairs(K)[order])
    assert len(np.unique(hash_pairs(K))) == 30


# --- draws ---------------------------------------------------------------------------------------


def test_clocks_are_standard_exponential():
    clocks = Draws(hash_rows(np.arange(20_000.0)[:, None]), 3).clocks(1)
    assert clocks.min() >= 0
    assert np.isfinite(clocks).all()
    assert stats.kstest(clocks, "expon").pvalue > 1e-5


@pytest.mark.parametrize(("key", "salt"), [(3, 2), (4, 1), (2**63 + 3, 1)])
def test_clocks_of_another_key_or_salt_are_independent(key, salt):
    hashes = hash_rows(np.arange(20_000.0)[:, None])
    first, second = Draws(hashes, 3).clocks(1), Draws(hashes, key).clocks(salt)
    # The correlation of independent columns has standard error 1/√n.
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(20_000)


def test_a_key_fixes_the_draw():
    hashes = hash_rows(np.arange(100.0)[:, None])
    assert_array_equal(Draws(hashes, 7).first(10, 1), Draws(hashes, 7).first(10, 1))
    assert set(Draws(hashes, 7).first(10, 1)) != set(Draws(hashes, 8).first(10, 1))
    assert as_key(np.random.default_rng(1)) == as_key(np.random.default_rng(1))


def test_a_longer_draw_begins_with_the_shorter_one():
    draws = Draws(hash_rows(np.arange(100.0)[:, None]), 5)
    assert_array_equal(draws.first(40, 1)[:15], draws.first(15, 1))
    assert sorted(draws.first(1000, 1)) == list(range(100))


def test_draws_do_not_depend_on_the_order_of_the_rows(rng):
    X, weights = _data(rng), rng.random(40)
    order = rng.permutation(40)
    for w in (None, weights):
        first = Draws(hash_rows(X), 1).first(9, 1, w)
        second = Draws(hash_rows(X[order]), 1).first(9, 1, None if w is None else w[order])
        assert_array_equal(X[order][second], X[first])


def _counts(hashes, n_rows, weights=None, salt=1):
    """How often each row is drawn first, over all keys."""
    chosen = [Draws(hashes, key).first(1, salt, weights)[0] for key in KEYS]
    return np.bincount(chosen, minlength=n_rows)


def _check_chances(counts, chances):
    """Chi-square, two-sided, with a false-alarm probability of 2e-5."""
    statistic = np.sum((counts - len(KEYS) * chances) ** 2 / (len(KEYS) * chances))
    tail = stats.chi2.sf(statistic, len(counts) - 1)
    assert 1e-5 < tail < 1 - 1e-5


def test_every_row_is_drawn_with_the_same_chance(rng):
    _check_chances(_counts(hash_rows(_data(rng, 20)), 20), np.full(20, 1 / 20))


def test_every_pair_is_drawn_with_the_same_chance():
    hashes = hash_rows(np.arange(6.0)[:, None])
    pairs = [tuple(sorted(Draws(hashes, key).first(2, 1))) for key in KEYS]
    counts = np.unique([6 * a + b for a, b in pairs], return_counts=True)[1]
    assert len(counts) == 15
    _check_chances(counts, np.full(15, 1 / 15))


def test_rows_are_drawn_with_chances_proportional_to_their_weights():
    weights = np.array([1.0, 2.0, 3.0, 10.0, 0.5])
    counts = _counts(hash_rows(np.arange(5.0)[:, None]), 5, weights)
    _check_chances(counts, weights / weights.sum())


def test_the_second_of_a_weighted_draw_has_the_chance_of_the_remaining_weights():
    weights = np.array([1.0, 2.0, 4.0])
    hashes = hash_rows(np.arange(3.0)[:, None])
    orders = [tuple(Draws(hashes, key).first(2, 1, weights)) for key in KEYS]
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    chances = [weights[a] / 7 * weights[b] / (7 - weights[a]) for a, b in pairs]
    _check_chances(np.array([orders.count(pair) for pair in pairs]), np.array(chances))


def test_a_row_that_occurs_five_times_is_drawn_first_five_times_as_often():
    rows = np.array([0, 1, 2, 2, 2, 2, 2, 3], dtype=float)[:, None]
    counts = _counts(hash_rows(rows), 8)
    assert_array_equal(counts[[3, 4, 5, 6]], 0)  # one of the five stands for all
    _check_chances(counts[[0, 1, 2, 7]], np.array([1, 1, 5, 1]) / 8)


def test_copies_add_their_weights():
    hashes = hash_rows(np.array([0.0, 1.0, 1.0])[:, None])
    alone = hash_rows(np.array([0.0, 1.0])[:, None])
    for key in range(200):
        joint = Draws(hashes, key).first(2, 1, np.array([1.0, 0.5, 2.5]))
        assert_array_equal(joint, Draws(alone, key).first(2, 1, np.array([1.0, 3.0])))


def test_identical_rows_are_drawn_once():
    rows = np.repeat(np.arange(4.0), 5)[:, None]
    assert sorted(rows[Draws(hash_rows(rows), 0).first(20, 1), 0]) == [0, 1, 2, 3]


def test_rows_of_weight_zero_are_never_drawn():
    weights = np.array([0.0, 1e-300, 0.0, 2.0, 0.0])
    hashes = hash_rows(np.arange(5.0)[:, None])
    for key in range(300):
        assert set(Draws(hashes, key).first(5, 1, weights)) <= {1, 3}
    assert len(Draws(hashes, 0).first(5, 1, np.zeros(5))) == 0


def test_weights_one_are_no_weights(rng):
    draws = Draws(hash_rows(_data(rng)), 11)
    assert_array_equal(draws.first(40, 2, np.ones(40)), draws.first(40, 2))
    assert_allclose(draws.clocks(2).mean(), 1, atol=5 / np.sqrt(40))


def test_the_compiled_loop_has_the_same_hashes(rng, monkeypatch):
    X = rng.normal(size=(200, 7))
    X[::3, 2], X[5, 1] = 0.0, -0.0
    expected = _hashing.hash_rows(X)
    monkeypatch.setattr(_hashing, "COMPILED", 0)
    assert np.array_equal(_hashing.hash_rows(X), expected)
    assert np.array_equal(_hashing.hash_rows(np.asfortranarray(X)), expected)
    assert np.array_equal(_hashing.hash_rows(X.astype(np.float32)[:0]), expected[:0])
