"""Source and target coordinates of similarities that are not symmetric."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from proximity_cases import directed, exact, similarities
from relation_twins import cyclic_blocks
from rounding import assert_rounded
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from krein import AsymmetricEmbedding, KreinPCA, Nystrom
from krein.kernels import TL1, DirectedGraph, Gaussian, Precomputed, Relation, ShiftGaussian

N = 24
K = directed(N)


def test_products_are_the_similarities():
    embedding = AsymmetricEmbedding(None).fit(K)
    exact(embedding.transform(K) @ embedding.transform_dual(K.T).T, K)


@pytest.mark.parametrize("n_components", [1, 3, 10])
def test_coordinates_are_singular_vectors_times_roots(n_components):
    U, s, Vt = np.linalg.svd(K)
    embedding = AsymmetricEmbedding(n_components).fit(K)
    source, target = embedding.transform(K), embedding.transform_dual(K.T)
    exact(embedding.singular_values_, s[:n_components])
    signs = np.sign(np.sum(source * U[:, :n_components], axis=0))
    exact(source, signs * U[:, :n_components] * np.sqrt(s[:n_components]))
    exact(target, signs * Vt[:n_components].T * np.sqrt(s[:n_components]))
    exact(source, embedding.source_vectors_ * np.sqrt(embedding.singular_values_))
    exact(target, embedding.target_vectors_ * np.sqrt(embedding.singular_values_))
    # No other products of this rank are closer to K.
    error = np.linalg.norm(source @ target.T - K)
    assert error == pytest.approx(np.sqrt(np.square(s[n_components:]).sum()))


def test_the_first_coordinates_do_not_depend_on_their_number():
    wide, narrow = AsymmetricEmbedding(9).fit(K), AsymmetricEmbedding(4).fit(K)
    assert_rounded(narrow.transform(K), wide.transform(K)[:, :4])
    assert_rounded(narrow.transform_dual(K.T), wide.transform_dual(K.T)[:, :4])
    assert_rounded(AsymmetricEmbedding(4).fit_transform(K), narrow.transform(K))


def test_transposing_swaps_the_two_sides():
    one, other = AsymmetricEmbedding(5).fit(K), AsymmetricEmbedding(5).fit(K.T)
    products = one.transform(K) @ one.transform_dual(K.T).T
    exact(other.transform_dual(K) @ other.transform(K.T).T, products)


def test_centring_removes_the_means_of_both_sides():
    J = np.eye(N) - 1 / N
    embedding = AsymmetricEmbedding(None, center=True).fit(K + 7)
    source, target = embedding.transform(K + 7), embedding.transform_dual(K.T + 7)
    exact(source @ target.T, J @ K @ J)
    exact(source.mean(axis=0), 0)
    exact(target.mean(axis=0), 0)


@pytest.mark.parametrize("center", [True, False])
def test_a_symmetric_similarity_has_the_coordinates_of_krein_pca(center):
    S = similarities(N)
    ours = AsymmetricEmbedding(6, center=center).fit(S)
    pca = KreinPCA(6, center=center).fit(S)
    exact(ours.singular_values_, np.abs(pca.eigenvalues_))
    exact(np.abs(ours.transform(S)), np.abs(pca.transform(S)))
    signs = np.sign(np.sum(ours.transform(S) * ours.transform_dual(S), axis=0))
    assert_array_equal(signs, pca.signature_)
    exact(ours.transform_dual(S), signs * ours.transform(S))


@pytest.mark.parametrize("kernel", [ShiftGaussian(0.2, 0.1), Gaussian(0.2), TL1(0.5)])
def test_a_kernel_of_vectors_out_of_sample(kernel, rng):
    X, new = rng.random((30, 3)), rng.random((7, 3))
    ours = AsymmetricEmbedding(5, kernel=kernel).fit(X)
    twin = AsymmetricEmbedding(5).fit(kernel(X))
    exact(ours.transform(new), twin.transform(kernel(new, X)))
    exact(ours.transform_dual(new), twin.transform_dual(kernel(X, new).T))
    # With all components new objects keep their similarities to training objects.
    whole = AsymmetricEmbedding(None, kernel=kernel).fit(X)
    exact(whole.transform(new) @ whole.transform_dual(X).T, kernel(new, X))
    exact(whole.transform(X) @ whole.transform_dual(new).T, kernel(X, new))


def test_a_full_map_of_nystrom_has_the_same_products(rng):
    X, new = rng.random((30, 3)), rng.random((7, 3))
    kernel = ShiftGaussian(0.7, 0.5)
    ours = AsymmetricEmbedding(5, kernel=kernel).fit(X)
    map_ = Nystrom(kernel, 5, landmarks="all", random_state=0).fit(X)
    products = ours.transform(X) @ ours.transform_dual(X).T
    exact(map_.approximate_kernel(X), products, atol=1e-7)
    exact(ours.transform(new) @ ours.transform_dual(new).T, map_.approximate_kernel(new), atol=1e-5)


def test_node_ids_of_a_graph():
    A, y = cyclic_blocks(120)
    ids = np.arange(120)
    for X in (ids, ids[:, None], ids.tolist()):
        embedding = AsymmetricEmbedding(8, kernel=DirectedGraph(A)).fit(X[:100])
        P = DirectedGraph(A)(ids)
        twin = AsymmetricEmbedding(8).fit(P[:100, :100])
        exact(embedding.transform(X[100:]), twin.transform(P[100:, :100]))
        exact(embedding.transform_dual(X[100:]), twin.transform_dual(P[:100, 100:].T))
    pipeline = make_pipeline(AsymmetricEmbedding(8, kernel=Relation(P)), LogisticRegression(C=1e3))
    assert cross_val_score(pipeline, ids, y, cv=3).mean() > 0.8  # chance is 0.25


def test_sparse_rows_and_single_precision(rng):
    X = rng.random((20, 5)) * (rng.random((20, 5)) < 0.5)
    embedding = AsymmetricEmbedding(3, kernel=ShiftGaussian(shift=0.5))
    dense = clone(embedding).fit(X)
    thin = clone(embedding).fit(sparse.csr_array(X))
    exact(thin.transform_dual(sparse.csr_array(X)), dense.transform_dual(X), atol=1e-7)
    single = AsymmetricEmbedding(3).fit(K.astype(np.float32))
    assert single.transform_dual(K.T.astype(np.float32)).dtype == np.float32
    exact(single.transform_dual(K.T), AsymmetricEmbedding(3).fit(K).transform_dual(K.T), atol=1e-4)


def test_zero_singular_values_are_dropped_with_a_warning(rng):
    low = rng.standard_normal((N, 3)) @ rng.standard_normal((3, N))
    with pytest.warns(UserWarning, match=r"n_components=5.*3 singular value.*keeps 3"):
        embedding = AsymmetricEmbedding(5).fit(low)
    assert embedding.transform_dual(low.T).shape == (N, 3)
    assert len(embedding.get_feature_names_out()) == 3
    assert AsymmetricEmbedding(None).fit(low.astype(np.float32)).transform(low).shape == (N, 3)


@pytest.mark.parametrize(
    ("embedding", "X", "sentence"),
    [
        (AsymmetricEmbedding(), K[:5], r"square matrix of all pairs .* shape \(5, 24\)"),
        (AsymmetricEmbedding(), np.zeros((3, 3)), "no singular value other than zero"),
        (AsymmetricEmbedding(center=True), np.ones((4, 4)), "or use center=False"),
        (AsymmetricEmbedding(kernel=Precomputed()), K, "symmetric=True.* is not symmetric"),
        (AsymmetricEmbedding(0), K, "'n_components' parameter"),
        (AsymmetricEmbedding(kernel=Relation(K)), [0, 24], "item 1 of X is 24"),
    ],
)
def test_bad_input_gets_a_sentence(embedding, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        embedding.fit(X)


def test_rows_of_new_objects_have_one_value_per_training_object():
    embedding = AsymmetricEmbedding().fit(K)
    for verb in (embedding.transform, embedding.transform_dual):
        with pytest.raises(ValueError, match=r"X has 5 features.*one column per training object"):
            verb(K[:, :5])
    exact(
        AsymmetricEmbedding(kernel=Precomputed(symmetric=False)).fit(K).transform(K[:2]),
        embedding.transform(K[:2]),
    )
