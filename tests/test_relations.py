"""Relations as kernels: matrices and graphs whose objects are node ids."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from relation_twins import FORMS, digraph, katz, row_walk
from rounding import assert_rounded
from scipy import sparse
from sklearn.base import clone

from krein import Nystrom
from krein.kernels import (
    DirectedGraph,
    Gaussian,
    Relation,
    Similarity,
    _walks,
)

N = 40
VALUES = np.random.default_rng(0).standard_normal((N, N))
IDS = np.random.default_rng(1).permutation(N)

# --- relations ----------------------------------------------------------------------------------

THIN = np.where(VALUES > 1, VALUES, 0.0)
MATRICES = {
    "dense": VALUES,
    "lists": VALUES.tolist(),
    "frame": pd.DataFrame(VALUES),
    "csr": sparse.csr_array(THIN),
    "csc": sparse.csc_array(THIN),
    "old csr": sparse.csr_matrix(THIN),
    "coo with entries twice": sparse.coo_array(
        (np.tile(THIN[THIN > 0] / 2, 2), tuple(np.tile(side, 2) for side in np.nonzero(THIN)))
    ),
    "flags": THIN > 0,
    "bytes": sparse.csr_array((THIN > 0).astype(np.uint8)),
    "single": VALUES.astype(np.float32),
}


@pytest.mark.parametrize("name", MATRICES)
def test_a_relation_is_its_matrix(name):
    matrix = MATRICES[name]
    dense = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
    kernel = Relation(matrix)
    x, y = IDS[:30], IDS[10:]
    assert_array_equal(kernel(x, y), dense[np.ix_(x, y)].astype(float))
    assert_array_equal(kernel(x), dense[np.ix_(x, x)].astype(float))
    assert_array_equal(kernel.diag(x), np.diagonal(dense)[x].astype(float))
    assert_array_equal(kernel.T(x, y), kernel(y, x).T)
    assert_array_equal((kernel + kernel)(x, y), 2 * dense[np.ix_(x, y)].astype(float))
    assert kernel(x, y).dtype == np.float64
    assert not kernel.is_symmetric
    assert not kernel.takes_vectors


@pytest.mark.parametrize("form", FORMS)
def test_ids_have_one_or_two_dimensions(form):
    assert_array_equal(Relation(VALUES)(FORMS[form](IDS)), VALUES[np.ix_(IDS, IDS)])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_symmetry_is_found_up_to_round_off_or_declared(make):
    symmetric = VALUES + VALUES.T
    assert Relation(make(symmetric)).is_symmetric
    assert Relation(make(symmetric), symmetric=True).is_symmetric
    assert not Relation(make(symmetric), symmetric=False).is_symmetric
    assert Relation(make(symmetric), symmetric=np.True_).is_symmetric
    nearly = symmetric.copy()
    nearly[0, 1] *= 1 + 1e-15
    assert Relation(make(nearly)).is_symmetric
    nearly[0, 1] += 1e-9
    assert not Relation(make(nearly)).is_symmetric
    assert Relation(make(symmetric.astype(np.float32))).is_symmetric
    assert Relation(make(np.ones((3, 3), dtype=bool))).is_symmetric
    with pytest.raises(ValueError, match=r"symmetric=True\) needs a symmetric matrix"):
        Relation(make(VALUES), symmetric=True)([0])


def test_a_distance_between_nodes_becomes_a_similarity():
    D = np.abs(VALUES)
    kernel = Similarity(Relation(D), gamma=0.5)
    assert_allclose(kernel(IDS, IDS[:4]), np.exp(-0.5 * D[np.ix_(IDS, IDS[:4])]), rtol=1e-12)
    assert Similarity(Relation(D)).resolved(IDS).is_resolved


# --- walks --------------------------------------------------------------------------------------

GRAPH = digraph(N)
DENSE = GRAPH.toarray()
RADIUS = np.abs(np.linalg.eigvals(DENSE)).max()


def check_graph(kernel, expected):
    """All ways to ask for values; walks start from the smaller side."""
    scale = np.abs(expected).max()
    for x, y in ((IDS[:25], IDS[5:]), (IDS, IDS[:3]), (IDS[:3], IDS), (IDS[:1], IDS[:1])):
        assert_allclose(kernel(x, y), expected[np.ix_(x, y)], rtol=1e-10, atol=1e-15 * scale)
    assert_allclose(kernel(IDS), expected[np.ix_(IDS, IDS)], rtol=1e-10, atol=1e-15 * scale)
    assert_allclose(kernel.diag(IDS), expected[IDS, IDS], rtol=1e-10, atol=1e-15 * scale)
    assert_allclose(kernel.T(IDS), expected[np.ix_(IDS, IDS)].T, rtol=1e-10, atol=1e-15 * scale)
    assert not kernel.is_symmetric


@pytest.mark.parametrize("block_bytes", [2**22, 1000, 1])
@pytest.mark.parametrize("loops", [True, False, 0.3])
@pytest.mark.parametrize(("steps", "damping"), [(1, 1.0), (2, 1.0), (3, 0.5), (5, 2.0)])
def test_a_row_walk_is_the_sum_of_powers(steps, damping, loops, block_bytes, monkeypatch):
    monkeypatch.setattr(_walks, "BLOCK_BYTES", block_bytes)
    kernel = DirectedGraph(GRAPH, steps=steps, damping=damping, self_loops=loops)
    check_graph(kernel, row_walk(DENSE.copy(), steps, damping, float(loops)))


@pytest.mark.parametrize("block_bytes", [2**22, 1000, 1])
@pytest.mark.parametrize("share", [1e-6, 0.5, 0.99])
def test_katz_is_the_sum_of_all_powers(share, block_bytes, monkeypatch):
    monkeypatch.setattr(_walks, "BLOCK_BYTES", block_bytes)
    damping = share / RADIUS
    check_graph(DirectedGraph(GRAPH, "katz", damping=damping), katz(DENSE, damping))


@pytest.mark.parametrize("make", [np.asarray, sparse.csc_array, sparse.coo_matrix])
def test_a_graph_has_any_format(make):
    check_graph(DirectedGraph(make(DENSE)), row_walk(DENSE.copy(), 1, 1.0, 1.0))
    flags = make((DENSE > 0).astype(np.int8))
    check_graph(DirectedGraph(flags), row_walk((DENSE > 0).astype(float), 1, 1.0, 1.0))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, np.longdouble])
def test_a_graph_has_any_precision(dtype):
    edges = (DENSE > 0).astype(float)
    expected = DirectedGraph(edges)(np.arange(40))
    assert_rounded(DirectedGraph(edges.astype(dtype))(np.arange(40)), expected)
    assert_rounded(Relation(edges.astype(dtype))(np.arange(40)), edges)


def test_self_loops_may_come_from_an_array():
    for loops in np.array([True, False]):
        expected = DirectedGraph(GRAPH, self_loops=bool(loops))
        assert_array_equal(DirectedGraph(GRAPH, self_loops=loops)([0, 3]), expected([0, 3]))


def test_a_node_without_edges_is_legal():
    assert_array_equal(DirectedGraph(GRAPH)([0], IDS)[0], IDS == 0)
    for kernel in (
        DirectedGraph(GRAPH, steps=3, self_loops=False),
        DirectedGraph(GRAPH, "katz", damping=0.05),
    ):
        assert not kernel([0], IDS).any()
        assert not kernel(IDS, [0]).any()
    empty = sparse.csr_array((5, 5))
    assert not DirectedGraph(empty, self_loops=False)(np.arange(5)).any()
    assert not DirectedGraph(empty, "katz", damping=100.0)(np.arange(5)).any()


def test_katz_of_a_graph_without_cycles_takes_any_damping():
    path = sparse.diags_array(np.full(9, 2.0), offsets=1, shape=(10, 10))
    K = DirectedGraph(path, "katz", damping=50.0)(np.arange(10))
    lengths = np.arange(10) - np.arange(10)[:, None]
    assert_allclose(K, np.where(lengths > 0, 100.0 ** np.maximum(lengths, 0), 0), rtol=1e-12)


@pytest.mark.parametrize("factor", [1 + 1e-9, 1.5, 1e9, 1e308])
def test_katz_refuses_a_damping_at_which_the_sum_diverges(factor):
    sentence = rf"damping to be below 1/ρ\(A\) = {1 / RADIUS:.4g}, where the sum of walk='katz'"
    with pytest.raises(ValueError, match=sentence):
        DirectedGraph(GRAPH, "katz", damping=factor / RADIUS)([0])


def test_katz_refuses_the_limit_itself():
    ring = sparse.csr_array(np.roll(np.eye(6), 1, axis=1))
    with pytest.raises(
        ValueError, match=r"below 1/ρ\(A\) = 1, where the sum of walk='katz' converges, got 1\.0"
    ):
        DirectedGraph(ring, "katz")([0])
    assert np.isfinite(DirectedGraph(ring, "katz", damping=1 - 1e-9)([0])).all()


def test_the_spectral_radius_of_large_graphs(monkeypatch):
    A = digraph(60)
    expected = np.abs(np.linalg.eigvals(A.toarray())).max()
    assert _walks.spectral_radius(A) == pytest.approx(expected)
    monkeypatch.setattr(_walks, "FEW", 5)
    assert _walks.spectral_radius(A) == pytest.approx(expected)
    # All eigenvalues of a ring have one magnitude, and those of a path are 0.
    ring = sparse.csr_array(3 * np.roll(np.eye(60), 1, axis=1))
    assert _walks.spectral_radius(ring) == pytest.approx(3)
    path = sparse.diags_array(np.ones(699), offsets=1, shape=(700, 700), format="csr")
    assert _walks.spectral_radius(path) == 0

    def fails(*_, **__):
        raise _walks.ArpackNoConvergence("", np.empty(0), np.empty(0))

    monkeypatch.setattr(_walks, "eigs", fails)
    assert _walks.spectral_radius(A) >= expected


@pytest.mark.parametrize("options", [{"steps": 3}, {"walk": "katz", "damping": 0.4}], ids=str)
def test_a_large_graph_stays_sparse(options):
    n = 60_000  # a dense matrix would need 29 GB
    parents = (np.arange(1, n) - 1) // 2
    tree = sparse.csr_array((np.ones(n - 1), (np.arange(1, n), parents)), shape=(n, n))
    kernel = DirectedGraph(tree, **options)
    assert kernel(np.arange(n), [499]).shape == (n, 1)
    ancestors = [1000, 499, 249, 124, 61]
    found = kernel([1000], ancestors)[0]
    if "walk" in options:
        assert_allclose(found, [0, *0.4 ** np.arange(1, 5)], rtol=1e-12)
    else:
        assert_allclose(found, row_walk(np.diag(np.ones(4), 1), 3, 1.0, 1.0)[0], rtol=1e-12)


# --- parameters ---------------------------------------------------------------------------------

KERNELS = {
    "dense relation": Relation(VALUES),
    "sparse relation": Relation(sparse.csr_array(THIN)),
    "row": DirectedGraph(GRAPH, steps=2),
    "katz": DirectedGraph(GRAPH, "katz", damping=0.5 / RADIUS),
}


@pytest.mark.parametrize("name", KERNELS)
def test_clones_and_pickles_are_equal_and_have_the_same_values(name):
    kernel = KERNELS[name]
    K = kernel(IDS)
    for twin in (clone(kernel), pickle.loads(pickle.dumps(kernel)), clone(2.0 * kernel).kernel):
        assert twin == kernel
        assert twin is not kernel
        assert hash(twin) == hash(kernel)
        assert_array_equal(twin(IDS), K)


@pytest.mark.parametrize("name", KERNELS)
def test_a_clone_does_not_copy_a_matrix(name):
    kernel = KERNELS[name]
    large = next(iter({"matrix", "adjacency"} & kernel.get_params().keys()))
    for twin in (clone(kernel), clone(Nystrom(3.0 * kernel)).kernel.kernel):
        assert getattr(twin, large) is getattr(kernel, large)


def test_a_graph_is_prepared_once_for_all_clones(monkeypatch):
    made = []

    class Counted(_walks.AllSteps):
        def __init__(self, B):
            made.append(B)
            super().__init__(B)

    monkeypatch.setattr("krein.kernels.relations.AllSteps", Counted)
    kernel = DirectedGraph(GRAPH, "katz", damping=0.05)
    first, second = clone(kernel), clone(kernel)
    K = first(IDS)
    assert_array_equal(second(IDS), K)
    assert_array_equal(kernel(IDS), K)
    assert len(made) == 1
    # A parameter of one clone is not a parameter of the others.
    second.set_params(damping=0.01)
    assert_allclose(second(IDS), katz(DENSE, 0.01)[np.ix_(IDS, IDS)], rtol=1e-10)
    assert_array_equal(clone(first)(IDS), K)
    second.adjacency = 2 * GRAPH
    assert_allclose(second(IDS), katz(2 * DENSE, 0.01)[np.ix_(IDS, IDS)], rtol=1e-10)
    assert len(made) == 3


def test_equality_is_that_of_the_entries():
    for make in (DirectedGraph, Relation):
        kernel = make(GRAPH)
        assert kernel == make(GRAPH.copy()) == make(GRAPH.tocsc())
        assert kernel != make(2 * GRAPH)
        assert kernel != make(GRAPH[:5, :5])
        assert kernel != make(DENSE)
        assert make(DENSE) == make(DENSE.copy())
        assert make(DENSE) != make(2 * DENSE)
    assert DirectedGraph(GRAPH) != DirectedGraph(GRAPH, steps=2)
    assert len({DirectedGraph(GRAPH), DirectedGraph(GRAPH.copy())}) == 1


def test_a_graph_is_joined_with_a_kernel_of_vectors_as_a_relation():
    rows = VALUES[:, :3]
    for joined in (DirectedGraph(GRAPH) + Gaussian(), Gaussian() * DirectedGraph(GRAPH)):
        for call in (joined, Nystrom(joined, 2).fit, lambda ids, k=joined: k(ids, ids)):
            with pytest.raises(ValueError, match=r"but one of .* of rows, e\.g\. Relation\("):
                call([[0], [1], [3]])
    kernel = DirectedGraph(GRAPH) * Relation(Gaussian()(rows)) + 1
    expected = DirectedGraph(GRAPH)(IDS) * Gaussian()(rows[IDS]) + 1
    assert_rounded(kernel(IDS), expected)


# --- bad input ----------------------------------------------------------------------------------

NEGATIVE, HOLED = DENSE.copy(), DENSE.copy()
NEGATIVE[3, 7], HOLED[2, 5] = -1.5, np.nan

REFUSED = {
    "oblong adjacency": (DirectedGraph(DENSE[:5]), [0], r"square matrix .* got shape \(5, 40\)"),
    "oblong sparse": (DirectedGraph(GRAPH[:5]), [0], r"adjacency to be a square .* \(5, 40\)"),
    "a vector": (Relation(np.ones(5)), [0], r"matrix to be a square matrix .* got shape \(5,\)"),
    "no nodes": (Relation(np.empty((0, 0))), [0], r"got shape \(0, 0\)"),
    "ragged": (Relation([[1, 2], [3]]), [0], r"matrix to be a square matrix .* got shape \(2,\)"),
    "ragged graph": (DirectedGraph([[1, 2], [3]]), [0], r"adjacency to be a square matrix"),
    "text": (Relation([["a"]]), [0], "matrix to hold real numbers, got dtype <U1"),
    "complex": (DirectedGraph(1j * GRAPH), [0], "real numbers, got dtype complex128"),
    "negative": (DirectedGraph(NEGATIVE), [0], r"≥ 0, but adjacency\[3, 7\] is -1\.5: use Rel"),
    "negative sparse": (
        DirectedGraph(sparse.csr_array(NEGATIVE), "katz"),
        [0],
        r"weights ≥ 0, but adjacency\[3, 7\] is -1\.5",
    ),
    "nan": (DirectedGraph(HOLED), [0], r"finite entries, but adjacency\[2, 5\] is nan"),
    "nan sparse": (Relation(sparse.csc_array(HOLED)), [0], r"but matrix\[2, 5\] is nan"),
    "nan in a relation": (Relation(HOLED), [0], r"finite entries, but matrix\[2, 5\] is nan"),
    "large weights": (DirectedGraph(np.full((3, 3), 1e308)), [0], "Row 0 of adjacency .* multiply"),
    "walk": (DirectedGraph(GRAPH, "rows"), [0], "walk to be one of 'row', 'katz', got 'rows'"),
    "no steps": (DirectedGraph(GRAPH, steps=0), [0], "steps to be a whole number ≥ 1, got 0"),
    "half a step": (DirectedGraph(GRAPH, steps=1.5), [0], "a whole number ≥ 1, got 1.5"),
    "no damping": (DirectedGraph(GRAPH, damping=0), [0], "damping to be a finite number above 0"),
    "loops": (DirectedGraph(GRAPH, self_loops=-1), [0], "self_loops to be True, False or a weig"),
    "symmetric": (Relation(VALUES, "yes"), [0], "symmetric to be one of 'auto', True, False"),
    "not there": (Relation(VALUES), [0, 40], "from 0 to 39, but item 1 of X is 40"),
    "below 0": (DirectedGraph(GRAPH), [-1], "from 0 to 39, but item 0 of X is -1"),
    "fraction": (Relation(VALUES), [1.0, 2.5], r"whole numbers .* item 1 of X is 2\.5"),
    "nan id": (Relation(VALUES), [np.nan], "item 0 of X is nan"),
    "infinite id": (Relation(VALUES), [np.inf], "item 0 of X is inf"),
    "named node": (Relation(VALUES), ["a"], "needs node ids, whole .* item 0 of X is 'a'"),
    "mixed": (Relation(VALUES), np.array([1, None]), "item 1 of X is None"),
    "huge id": (Relation(VALUES), [2**70], f"item 0 of X is {2**70}"),
    "mask": (Relation(VALUES), np.ones(40, dtype=bool), r"mask: pass np\.flatnonzero\(mask\)"),
    "two columns": (Relation(VALUES), np.ones((4, 2)), r"\(n, 1\), got ndarray of shape \(4, 2\)"),
    "sparse ids": (Relation(VALUES), GRAPH[:, :1], r"got csr_array of shape \(40, 1\)"),
    "ragged ids": (Relation(VALUES), [[1], [2, 3]], "item 0 of X is|got list of shape"),
    "a number": (Relation(VALUES), 3, r"got int of shape \(\)"),
    "no ids": (DirectedGraph(GRAPH), [], "at least one node id, but X is empty"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_gets_one_sentence(name):
    kernel, X, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence) as caught:
        kernel(X)
    assert str(caught.value).count("\n") == 0
    assert str(caught.value).endswith(".")
