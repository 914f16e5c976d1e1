"""What every kernel of objects keeps to: contract, transforms, refusals and missing extras."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from object_twins import STRING_TWINS, ragged, words
from scipy import sparse
from sklearn.base import clone

from krein.kernels import (
    Custom,
    Dice,
    DirectedGraph,
    DynamicTimeWarping,
    EditDistance,
    ElasticDistance,
    Gaussian,
    Hausdorff,
    NoMeasureError,
    Precomputed,
    Relation,
    Similarity,
    Tanimoto,
    Tversky,
    base,
)
from krein.kernels._against import Against

# --- what every kernel of objects keeps to -------------------------------------------------------


def objects(name: str) -> list:
    rng = np.random.default_rng(1)
    if name == "strings":
        return words(rng, 7)
    if name == "series":
        return ragged(rng, [5, 9, 4, 7, 5, 6], 2)
    if name == "points":
        return ragged(rng, [3, 1, 6, 4, 2], 3)
    if name == "nodes":
        return [4, 0, 3, 1, 6]
    return [set(rng.choice(12, size=k, replace=False)) for k in (0, 3, 7, 5, 2, 1)]


GRAPH = np.random.default_rng(1).integers(3, size=(7, 7))
KERNELS = [
    *[(EditDistance(metric), "strings") for metric in STRING_TWINS],
    (DynamicTimeWarping(), "series"),
    *[(ElasticDistance(metric), "series") for metric in ("ddtw", "soft_dtw", "msm", "twe")],
    *[(Hausdorff(modified=m, directed=d), "points") for m in (0, 1) for d in (0, 1)],
    (Tanimoto(), "sets"),
    (Dice(), "sets"),
    (Tversky(0.8, 0.8), "sets"),
    (Tversky(1.0, 0.2), "sets"),
    (Similarity(EditDistance(), gamma=0.3), "strings"),
    (Similarity(DynamicTimeWarping(), "gaussian", gamma=0.1), "series"),
    (Similarity(Hausdorff(directed=True), "max", scale=5.0), "points"),
    (Similarity(1 - Tanimoto(), "negative"), "sets"),
    (Relation(GRAPH), "nodes"),
    (Relation(GRAPH + GRAPH.T), "nodes"),
    (DirectedGraph(sparse.csr_array(GRAPH), steps=2), "nodes"),
    (DirectedGraph(GRAPH, "katz", damping=0.1), "nodes"),
]


def test_a_kernel_that_mirrors_is_asked_for_half_of_the_pairs():
    class Counting(EditDistance):
        def _block(self, X, Y):
            asked.append(len(X) * len(Y))
            return super()._block(X, Y)

    asked: list[int] = []
    X = words(np.random.default_rng(0), 200)
    K = Counting()(X)
    assert sum(asked) < 0.65 * len(X) ** 2
    assert_array_equal(K, EditDistance()(X, list(X)))
    asked.clear()
    (-Counting())(X)
    Similarity(Counting())(X)
    assert sum(asked) < 1.3 * len(X) ** 2
    asked.clear()
    Counting()(X, X)
    assert sum(asked) == len(X) ** 2


@pytest.mark.parametrize(("kernel", "kind"), KERNELS, ids=str)
class TestContract:
    def test_symmetry_is_declared_as_it_is(self, kernel, kind):
        # Two lists: rapidfuzz evaluates half of the pairs of one list with itself.
        K = kernel(objects(kind), objects(kind))
        assert np.allclose(K, K.T, rtol=1e-12) is kernel.is_symmetric

    def test_diag_is_the_diagonal_of_a_block_and_of_the_whole(self, kernel, kind):
        X = objects(kind)
        assert_allclose(kernel.diag(X), np.diagonal(kernel(X, objects(kind))), atol=1e-12)
        assert_allclose(kernel.diag(X), np.diagonal(kernel(X)), atol=1e-12)

    def test_half_of_the_matrix_is_mirrored(self, kernel, kind, monkeypatch):
        X = objects(kind)
        whole = kernel(X, objects(kind))
        for n_bytes in (1, 8 * len(X) * 2, 2**20):
            monkeypatch.setattr(base, "BLOCK_BYTES", n_bytes)
            monkeypatch.setattr(Against, "block_bytes", n_bytes)
            assert_allclose(kernel(X), whole, rtol=1e-14)

    def test_rows_and_columns_of_blocks_are_those_of_the_whole(self, kernel, kind):
        X = objects(kind)
        K = kernel(X)
        assert K.dtype == np.float64
        assert_allclose(kernel(X[1:4], X[:2]), K[1:4, :2], rtol=1e-12, atol=1e-12)
        assert_allclose(kernel(X[2:3], X), K[2:3], rtol=1e-12, atol=1e-12)

    def test_clone_repr_and_equality_follow_the_parameters(self, kernel, kind):
        twin = clone(kernel)
        assert twin == kernel
        assert type(kernel).__name__ in repr(twin)
        assert_array_equal(twin(objects(kind)), kernel(objects(kind)))

    def test_algebra_acts_on_values(self, kernel, kind):
        X = objects(kind)
        K = kernel(X)
        joined = 2.0 * kernel - kernel * kernel + 1.0
        assert joined.takes_vectors is kernel.takes_vectors
        assert_allclose(joined(X), 2 * K - K * K + 1, rtol=1e-12)
        assert_allclose(kernel.T(X), K.T, rtol=1e-12, atol=1e-12)
        assert_allclose((-kernel)(X, X[:3]), -K[:, :3], rtol=1e-12, atol=1e-12)

    def test_there_is_no_measure(self, kernel, kind):
        with pytest.raises(NoMeasureError):
            kernel.measure(3)


def test_only_fingerprints_take_vectors():
    for kernel in (EditDistance(), DynamicTimeWarping(), Hausdorff()):
        assert not kernel.takes_vectors
        assert not Similarity(kernel).takes_vectors
    for kernel in (Tanimoto(), Dice(), Tversky()):
        assert kernel.takes_vectors


# --- similarity ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("transform", "formula"),
    [
        ("exp", lambda D: np.exp(-0.3 * D)),
        ("gaussian", lambda D: np.exp(-0.3 * D**2)),
        ("negative", lambda D: -D),
        ("negative_squared", lambda D: -(D**2) / 2),
        ("max", lambda D: 6.0 - D),
    ],
)
def test_transforms_are_their_formulas(transform, formula, rng):
    X, Y = words(rng, 9), words(rng, 6)
    kernel = Similarity(EditDistance(), transform, gamma=0.3, scale=6.0)
    assert_allclose(kernel(X, Y), formula(EditDistance()(X, Y)), rtol=1e-14)
    assert_allclose(kernel.diag(X), formula(np.zeros(11)), rtol=1e-14)


def test_similarity_of_the_euclidean_distance_is_the_gaussian_kernel(rng):
    X, Y = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))

    def euclidean(A, B):
        return np.linalg.norm(A[:, None] - B[None], axis=2)

    kernel = Similarity(euclidean, "gaussian", gamma=0.5)
    assert kernel.is_symmetric
    assert_allclose(kernel(X, Y), Gaussian(sigma=1.0)(X, Y), rtol=1e-12)
    assert not Similarity(Custom(euclidean, symmetric=False)).is_symmetric


def test_similarity_leaves_a_precomputed_matrix_as_it_was(rng):
    D = rng.random((6, 6))
    D = D + D.T
    before = D.copy()
    kernel = Similarity(Precomputed(), "gaussian", gamma=2.0)
    assert_allclose(kernel(D), np.exp(-2 * before**2), rtol=1e-14)
    assert_array_equal(D, before)
    assert_allclose(kernel(D[:2], D), np.exp(-2 * before[:2] ** 2), rtol=1e-14)


def test_parameters_of_the_distance_are_nested():
    kernel = Similarity(EditDistance()).set_params(distance__metric="lcs", gamma=0.5)
    assert kernel.distance.metric == "lcs"
    assert kernel.get_params()["distance__n_jobs"] == 1
    assert kernel(["ab"], ["ba"])[0, 0] == pytest.approx(np.exp(-0.5))


# --- bad input and missing extras ----------------------------------------------------------------

SERIES = [np.zeros(4), np.ones(5)]
FINGERPRINTS = np.array([[0.0, 1], [2, 1]])


@pytest.mark.parametrize(
    ("kernel", "args", "error", "message"),
    [
        (EditDistance(), (["a", 7],), TypeError, "item 1 of X is 7"),
        (EditDistance(), (["a"], ["b", None]), TypeError, "item 1 of Y is None"),
        (EditDistance(), (np.arange(3.0),), TypeError, "needs strings, but item 0"),
        (EditDistance(), ([],), ValueError, "at least one string, but X is empty"),
        (EditDistance(), ("ACGT",), TypeError, "X to be a sequence of strings, got 'ACGT'"),
        (EditDistance(), (pd.DataFrame({"s": ["a"]}),), TypeError, r"shape \(1, 1\)"),
        (EditDistance("hamming"), (["a"],), ValueError, "metric to be one of 'levenshtein'"),
        (EditDistance(n_jobs=0), (["a"],), ValueError, "n_jobs to be a whole number"),
        (DynamicTimeWarping(), ([],), ValueError, "list of series, but X is empty"),
        (DynamicTimeWarping(), ("abc",), TypeError, "X to be a list of series, got str"),
        (DynamicTimeWarping(), (["abc"],), TypeError, "series of numbers, but object 0 of X"),
        (DynamicTimeWarping(), ([1.0, 2.0],), ValueError, r"object 0 of X has shape \(\)"),
        (DynamicTimeWarping(), ([[1.0], []],), ValueError, "at least 1 point, but object 1"),
        (DynamicTimeWarping(), (SERIES, [[np.nan, 1.0]]), ValueError, "object 0 of Y is not"),
        (DynamicTimeWarping(), (SERIES, [np.ones((3, 2))]), ValueError, "1 channels and Y has 2"),
        (DynamicTimeWarping(), ([np.ones(3), np.ones((3, 2))],), ValueError, "of one width"),
        (DynamicTimeWarping(window=1.5), (SERIES,), ValueError, r"in \[0, 1\] or None, got 1.5"),
        (DynamicTimeWarping(window=-0.1), (SERIES,), ValueError, r"in \[0, 1\] or None, got -0.1"),
        (ElasticDistance("ddtw"), ([[1.0, 2.0]],), ValueError, "at least 3 points, but object 0"),
        (ElasticDistance("soft"), (SERIES,), ValueError, "metric to be one of 'dtw'"),
        (ElasticDistance("msm", c=-1), (SERIES,), ValueError, "c to be at least 0"),
        (ElasticDistance("edr", epsilon=0), (SERIES,), ValueError, "epsilon to be a finite number"),
        (Hausdorff(), ([],), ValueError, "list of point sets, but X is empty"),
        (Hausdorff(), ([np.ones((2, 2)), np.ones((0, 2))],), ValueError, "object 1 of X has shape"),
        (Hausdorff(), (np.ones((3, 2)),), ValueError, r"shape \(points, d\), but object 0"),
        (Hausdorff(), ([[[0.0, np.inf]]],), ValueError, "finite point sets, but object 0"),
        (Hausdorff(), ([np.ones((1, 2))], [np.ones((1, 3))]), ValueError, "2 coordinates and Y"),
        (
            Tanimoto(),
            (-FINGERPRINTS,),
            ValueError,
            "but the smallest entry of X is -2",
        ),
        (Dice(), (sparse.csr_array(-FINGERPRINTS),), ValueError, "entries ≥ 0"),
        (Tanimoto(), ([],), ValueError, "needs rows or sets, but X is empty"),
        (Tanimoto(), ({1, 2},), TypeError, "X to be a list of sets, not a set"),
        (Tanimoto(), ([{1}, 2],), TypeError, "item 1 is 2"),
        (Tanimoto(), ([{1}], FINGERPRINTS), TypeError, "only one of X and Y is a list of sets"),
        (Tanimoto(), (FINGERPRINTS, np.ones((1, 3))), ValueError, "2 columns and Y has 3"),
        (Tversky(-1, 0), (FINGERPRINTS,), ValueError, "alpha and beta ≥ 0"),
        (Tversky(0, 0), (FINGERPRINTS,), ValueError, "not both 0"),
        (Tversky(5, 0), (FINGERPRINTS,), ValueError, "only defined for rows of 0 and 1"),
        (Similarity(EditDistance(), "max"), (["a"],), ValueError, "needs scale"),
        (Similarity(EditDistance(), "log"), (["a"],), ValueError, "transform to be one of 'exp'"),
        (Similarity(EditDistance(), gamma=0), (["a"],), ValueError, "gamma to be a finite number"),
        (Similarity("euclidean"), (["a"],), TypeError, "distance to be a kernel or a function"),
        (Similarity(EditDistance), (["a"],), TypeError, "distance to be a kernel or a function"),
    ],
)
def test_bad_input_gets_one_sentence(kernel, args, error, message):
    with pytest.raises(error, match=message) as caught:
        kernel(*args)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kernel", "X", "missing", "cure"),
    [
        (EditDistance(), ["a"], ["rapidfuzz"], "krein[strings]"),
    ],
    ids=["strings"],
)
def test_a_missing_extra_is_named(kernel, X, missing, cure, monkeypatch):
    for module in missing:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError) as caught:
        kernel(X)
    assert f"pip install '{cure}'" in str(caught.value)


def test_importing_krein_imports_no_extra():
    import krein

    program = (
        f"import sys; sys.path.insert(0, {str(Path(krein.__file__).resolve().parents[1])!r})\n"
        "import krein, krein.kernels\n"
        "print([m for m in ('rapidfuzz', 'numba') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_similarity_of_precomputed_distances_leaves_them_as_they_are():
    pandas = pytest.importorskip("pandas")
    D = EditDistance()(objects("strings"))
    expected = np.exp(-D)
    for kernel, turned in ((Precomputed(), D), (Precomputed().T, D.T)):
        for data in (turned.copy(), pandas.DataFrame(turned.copy())):
            assert_allclose(Similarity(kernel, gamma=1.0)(data), expected)
            assert_array_equal(np.asarray(data), turned)
