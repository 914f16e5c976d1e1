"""Retrieval with the features of a map, in both directions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from relation_twins import cyclic_blocks
from rounding import assert_rounded
from scipy import sparse

from krein import Nystrom, RandomFourier, RandomGegenbauer, SimilarityFeatures
from krein.features import retrieval
from krein.kernels import (
    DeltaGaussian,
    DirectedGraph,
    EditDistance,
    Gaussian,
    Pairwise,
    Polynomial,
    Precomputed,
    Relation,
    ShiftGaussian,
    Similarity,
)
from krein.kernels.errors import BadPairError

RNG = np.random.default_rng(0)
X = RNG.random((80, 3))
QUERIES, GALLERY = RNG.random((13, 3)), RNG.random((57, 3))


def ranked(features, queries, gallery, k, direction):
    """All products, sorted with ties by index: the twin of `nearest`."""
    if direction == "source":
        values = features.transform(queries) @ features.transform_dual(gallery).T
    else:
        values = features.transform_dual(queries) @ features.transform(gallery).T
    order = np.argsort(-values, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(values, order, axis=1)


MAPS = {
    "shift": RandomFourier(ShiftGaussian(0.5, 0.3), 64, random_state=0),
    "delta": RandomFourier(DeltaGaussian(0.3, 1.0), 64, random_state=0),
    "sphere": RandomGegenbauer(Polynomial(2), 64, random_state=0),
    "nystrom": Nystrom(Gaussian(0.5), 20, random_state=0),
    "two-sided nystrom": Nystrom(ShiftGaussian(0.5, 0.3), 20, random_state=0),
    "similarities": SimilarityFeatures(ShiftGaussian(0.5, 0.3), 20, random_state=0),
}


def rows_of(name, A):
    return A / np.linalg.norm(A, axis=1, keepdims=True) if name == "sphere" else A


@pytest.mark.parametrize("direction", ["source", "target"])
@pytest.mark.parametrize("k", [1, 7, 57])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("bytes_", [(2**26, 2**24), (5000, 8000), (1, 1)])
def test_nearest_is_a_sort_of_all_products(name, k, direction, bytes_, monkeypatch):
    monkeypatch.setattr(retrieval, "QUERY_BYTES", bytes_[0])
    monkeypatch.setattr(retrieval, "BLOCK_BYTES", bytes_[1])
    features = MAPS[name].fit(rows_of(name, X))
    queries, gallery = rows_of(name, QUERIES), rows_of(name, GALLERY)
    indices, values = features.nearest(queries, gallery, k, direction)
    expected = ranked(features, queries, gallery, k, direction)
    assert_array_equal(indices, expected[0])
    assert_rounded(values, expected[1], 1e-10)
    assert indices.dtype == np.intp


def test_the_directions_differ_by_the_order_of_the_arguments():
    features = RandomFourier(ShiftGaussian(0.5, 0.3), 64, random_state=0).fit(X)
    turned = RandomFourier(ShiftGaussian(0.5, 0.3).T, 64, random_state=0).fit(X)
    source, target = (features.nearest(X, X, 5, direction)[0] for direction in ("source", "target"))
    assert (source != target).any(axis=1).all()
    assert_array_equal(turned.nearest(X, X, 5, "source")[0], target)
    symmetric = Nystrom(DeltaGaussian(0.3, 1.0), 20, random_state=0).fit(X)
    both = [symmetric.nearest(X, X, 5, direction)[0] for direction in ("source", "target")]
    assert_array_equal(*both)


@pytest.mark.parametrize("bytes_", [(2**26, 2**24), (3000, 3000)])
@pytest.mark.parametrize("k", [1, 4, 30, 171])
def test_equal_rows_of_the_gallery_are_ordered_by_their_places(k, bytes_, monkeypatch):
    monkeypatch.setattr(retrieval, "QUERY_BYTES", bytes_[0])
    monkeypatch.setattr(retrieval, "BLOCK_BYTES", bytes_[1])
    features = MAPS["shift"].fit(X)
    order = np.random.default_rng(1).permutation(171)
    gallery = np.concatenate([GALLERY] * 3)[order]
    indices, values = features.nearest(QUERIES, gallery, k)
    # Each distinct row has three places, in ascending order.
    wanted = features.nearest(QUERIES, GALLERY, -(-k // 3))
    places = [np.flatnonzero(order % 57 == row) for row in range(57)]
    for found, kinds in zip(indices, wanted[0], strict=True):
        assert_array_equal(found, np.concatenate([places[kind] for kind in kinds])[:k])
    assert_rounded(values, np.repeat(wanted[1], 3, axis=1)[:, :k], 1e-10)


def test_equal_values_of_different_rows_are_ordered_by_their_places():
    constant = SimilarityFeatures(Pairwise(lambda a, b: float(len(a) == len(b))), 3)
    features = constant.fit(["a", "bb", "ccc"])
    gallery = ["x", "yy", "z", "y", "x", "zz", "x"]
    indices, values = features.nearest(["q", "qq"], gallery, 4)
    assert_array_equal(indices, [[0, 2, 3, 4], [1, 5, 0, 2]])
    assert_array_equal(values, [[1, 1, 1, 1], [1, 1, 0, 0]])


def test_top_takes_the_first_of_equal_values():
    values = np.random.default_rng(0).integers(4, size=(200, 30)).astype(float)
    for k in (1, 5, 29, 30, 40):
        expected = np.sort(np.argsort(-values, axis=1, kind="stable")[:, :k], axis=1)
        assert_array_equal(retrieval.top(values, k), expected)


def test_sparse_rows_objects_frames_and_single_precision():
    features = MAPS["two-sided nystrom"].fit(X)
    indices, values = features.nearest(QUERIES, GALLERY, 5)
    thin = features.nearest(sparse.csr_array(QUERIES), sparse.csr_array(GALLERY), 5)
    assert_array_equal(thin[0], indices)
    single = features.nearest(QUERIES.astype(np.float32), GALLERY.astype(np.float32), 5)
    assert single[1].dtype == np.float32
    assert_rounded(single[1].astype(float), values, 1e-3)
    lists = features.nearest(QUERIES.tolist(), GALLERY.tolist(), 5)
    assert_array_equal(lists[0], indices)
    pytest.importorskip("rapidfuzz")
    words = ["spring", "summer", "autumn", "winter", "sun", "rain"]
    strings = Nystrom(Similarity(EditDistance()), 6, landmarks="all", random_state=0).fit(words)
    assert_array_equal(strings.nearest(["sum", "gain"], words, 1)[0].ravel(), [4, 5])


def test_nodes_that_a_node_leads_to_and_that_lead_to_it():
    A, _ = cyclic_blocks(60)
    kernel, ids = DirectedGraph(A, self_loops=False), np.arange(60)
    features = Nystrom(kernel, 60, landmarks="all", random_state=0).fit(ids)
    P = kernel(ids)
    for direction, truth in (("source", P), ("target", P.T)):
        found, values = features.nearest(ids[:, None], ids, 1, direction)
        assert np.allclose(values[:, 0], truth.max(axis=1), atol=1e-9)
        assert np.allclose(truth[ids, found[:, 0]], truth.max(axis=1), atol=1e-9)


def test_precomputed_values_of_both_sides():
    K = ShiftGaussian(0.5, 0.3)(X)
    features = Nystrom(Precomputed(symmetric=False), 20, random_state=0).fit(K)
    expected = ranked(features, K, K.T, 3, "source")
    indices, values = features.nearest(K, K.T, 3)
    assert_array_equal(indices, expected[0])
    assert_rounded(values, expected[1], 1e-10)
    turned = features.nearest(K.T, K, 3, "target")[0]
    assert_array_equal(turned, ranked(features, K.T, K, 3, "target")[0])


@pytest.mark.parametrize(
    ("k", "direction", "sentence"),
    [
        (58, "source", r"cannot find k=58 neighbours in a gallery of 57 objects: use k ≤ 57\."),
        (0, "source", r"RandomFourier\.nearest needs k to be a whole number ≥ 1, got 0\."),
        (-3, "source", "a whole number ≥ 1, got -3"),
        (2.5, "source", r"a whole number ≥ 1, got 2\.5"),
        (True, "source", "a whole number ≥ 1, got True"),
        (3, "both", "direction to be one of 'source', 'target', got 'both'"),
    ],
)
def test_bad_arguments_get_a_sentence(k, direction, sentence):
    features = MAPS["shift"].fit(X)
    with pytest.raises(ValueError, match=sentence):
        features.nearest(QUERIES, GALLERY, k, direction)


def test_bad_rows_get_a_sentence(monkeypatch):
    features = MAPS["shift"].fit(X)
    with pytest.raises(ValueError, match=r"RandomFourier\.nearest, gallery: X has 2 features"):
        features.nearest(QUERIES, GALLERY[:, :2], 1)
    with pytest.raises(ValueError, match=r"nearest, queries: .*NaN"):
        features.nearest(QUERIES * np.nan, GALLERY, 1)
    nodes = Nystrom(Relation(np.eye(4)), 2, random_state=0).fit([0, 1, 2])
    with pytest.raises(ValueError, match=r"nearest, gallery: .* from 0 to 3, .* item 1 .* is 9"):
        nodes.nearest([0], [3, 9], 1)
    monkeypatch.setattr(retrieval, "BLOCK_BYTES", 1)
    holed = Pairwise(lambda a, b: np.nan if "?" in a + b else float(a == b))
    words = Nystrom(holed, 2, landmarks="all", random_state=0).fit(["a", "b"])
    with pytest.raises(BadPairError, match="object 2 of X"):
        words.nearest(["a"], ["a", "b", "c?"], 1)


def test_an_unfitted_map_finds_nothing():
    with pytest.raises(ValueError, match="not fitted"):
        RandomFourier().nearest(QUERIES, GALLERY, 1)
