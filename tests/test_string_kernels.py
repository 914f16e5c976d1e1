"""Edit distances of strings against brute-force scalar twins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from object_twins import STRING_TWINS, levenshtein, table, words

from krein.kernels import EditDistance, Similarity


@pytest.mark.parametrize("metric", STRING_TWINS)
def test_edit_distance_equals_its_twin(metric, rng):
    X, Y = words(rng, 30), words(rng, 20)
    assert_allclose(EditDistance(metric)(X, Y), table(STRING_TWINS[metric], X, Y), atol=1e-12)
    assert_allclose(EditDistance(metric)(X), table(STRING_TWINS[metric], X, X), atol=1e-12)


@pytest.mark.parametrize(
    "container",
    [
        tuple,
        np.array,
        lambda s: np.array(s, dtype=object),
        pd.Series,
        lambda s: pd.Series(s, index=range(7, 7 + len(s))),
        lambda s: pd.Series(s, dtype=object),
    ],
)
def test_strings_come_in_any_sequence(container, rng):
    X = words(rng, 5)
    assert_array_equal(EditDistance()(container(X)), EditDistance()(X))


def test_n_jobs_change_nothing(rng):
    X = words(rng, 40)
    assert_array_equal(EditDistance(n_jobs=2)(X), EditDistance()(X))


def test_levenshtein_evaluates_each_pair_once_and_in_blocks(monkeypatch, rng):
    from rapidfuzz import process

    calls = []
    original = process.cdist

    def counting(queries, choices, **options):
        calls.append(len(queries) * len(choices))
        return original(queries, choices, **options)

    monkeypatch.setattr(process, "cdist", counting)
    monkeypatch.setattr("krein.kernels._against.Against.block_bytes", 8 * 30 * 25)
    X, Y = words(rng, 98), words(rng, 28)
    EditDistance()(X, Y)
    assert sum(calls) == len(X) * len(Y)
    assert calls == [25 * len(Y)] * 4  # 100 rows in blocks of 25: no call per pair
    calls.clear()
    EditDistance().diag(X)
    assert calls == []


def test_splice_strings_have_a_symmetric_similarity_with_unit_diagonal(data_dir):
    path = data_dir / "strings" / "splice.txt"
    if not path.is_file():
        pytest.skip("no strings/splice.txt in the data folder")
    strings = [line.split("\t")[2] for line in path.read_text().splitlines()[:300]]
    kernel = Similarity(EditDistance(), gamma=0.1)
    K = kernel(strings, list(strings))
    assert_allclose(K, K.T, rtol=1e-14)
    assert_array_equal(kernel.diag(strings), np.ones(300))
    assert_array_equal(np.diagonal(K), np.ones(300))
    for i, j in [(0, 1), (5, 250), (299, 17)]:
        assert K[i, j] == pytest.approx(np.exp(-0.1 * levenshtein(strings[i], strings[j])))
