"""Embeddings of proximities by an indefinite inner product."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from proximity_cases import dissimilarities, exact, similarities
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA, KernelPCA
from sklearn.pipeline import make_pipeline

from krein.forms import Signature
from krein.kernels import DeltaGaussian, Gaussian, Pairwise, Tanimoto
from krein.proximity import DoubleCentering, KreinPCA


def squared_distances(X: np.ndarray, form: Signature) -> np.ndarray:
    """(x_i − x_j)ᵀ M (x_i − x_j), pair by pair."""
    differences = X[:, None] - X[None]
    return np.einsum("ijk,kl,ijl->ij", differences, form.dense(), differences)


def test_indefinite_inner_product_reproduces_random_dissimilarities():
    D = dissimilarities(30)
    embedding = make_pipeline(DoubleCentering(), KreinPCA(n_components=None))
    X = embedding.fit_transform(D)
    form = embedding[-1].form_
    exact(squared_distances(X, form), D**2)
    assert X.shape == (30, 29)  # one direction is lost to centring
    assert 5 < (embedding[-1].signature_ < 0).sum() < 25


def test_indefinite_inner_product_reproduces_catcortex(load):
    D, _ = load("dissimilarities/catcortex", "D", "y")
    embedding = make_pipeline(DoubleCentering(), KreinPCA(n_components=None))
    X = embedding.fit_transform(D)
    assert (embedding[-1].signature_ < 0).any()
    exact(squared_distances(X, embedding[-1].form_), D**2)
    exact(embedding.transform(D), X)


@pytest.mark.parametrize("center", [True, False])
def test_inner_products_are_the_similarities(center):
    K = similarities(25)
    J = np.eye(25) - center / 25
    pca = KreinPCA(None, center=center).fit(K)
    exact(pca.transform(K) @ pca.transform_dual(K).T, J @ K @ J)


def test_new_objects_keep_their_inner_products_with_training_objects():
    D = dissimilarities(30)
    pipeline = make_pipeline(DoubleCentering(), KreinPCA(None)).fit(D[:20, :20])
    centred = pipeline[0].transform(D[20:, :20])
    train, new = pipeline.transform(D[:20, :20]), pipeline.transform(D[20:, :20])
    exact(new @ pipeline[-1].form_.dual(train).T, centred)


@pytest.mark.parametrize("n_components", [1, 4, 9])
def test_largest_magnitudes_are_kept_with_their_signs(n_components):
    K = similarities(20)
    values = np.linalg.eigvalsh(K)
    pca = KreinPCA(n_components, center=False).fit(K)
    expected = values[np.argsort(-np.abs(values))[:n_components]]
    exact(pca.eigenvalues_, expected)
    assert_array_equal(pca.signature_, np.sign(expected))
    assert_array_equal(pca.form_.signs, pca.signature_)
    exact(pca.transform(K), pca.eigenvectors_ * np.sqrt(np.abs(expected)))
    exact(pca.eigenvectors_.T @ pca.eigenvectors_, np.eye(n_components))
    exact(KreinPCA(9, center=False).fit_transform(K)[:, :n_components], pca.transform(K))


def test_euclidean_distances_give_principal_components(rng):
    X, new = rng.standard_normal((30, 4)) * [4, 3, 2, 1], rng.standard_normal((5, 4))
    pipeline = make_pipeline(DoubleCentering("euclidean"), KreinPCA(4)).fit(X)
    oracle = PCA(4).fit(X)
    assert pipeline[-1].form_.is_identity
    exact(np.abs(pipeline.transform(X)), np.abs(oracle.transform(X)), atol=1e-7)
    exact(np.abs(pipeline.transform(new)), np.abs(oracle.transform(new)), atol=1e-7)


def test_a_definite_kernel_gives_kernel_pca(rng):
    X, new = rng.random((30, 3)), rng.random((6, 3))
    ours = KreinPCA(5, kernel=Gaussian(0.5)).fit(X)
    oracle = KernelPCA(5, kernel="rbf", gamma=2.0).fit(X)
    assert ours.negative_mass_ == 0
    exact(ours.eigenvalues_, oracle.eigenvalues_)
    exact(np.abs(ours.transform(new)), np.abs(oracle.transform(new)), atol=1e-7)


def test_an_indefinite_kernel_is_embedded_with_negative_directions(rng):
    X = rng.random((30, 3))
    kernel = DeltaGaussian(0.3, 3.0)
    pca = KreinPCA(None, kernel=kernel, center=False).fit(X)
    assert pca.negative_mass_ > 0.1
    exact(pca.transform(X) @ pca.transform_dual(X).T, kernel(X))


def _common_letters(a, b):
    return float(len(set(a) & set(b)) - 0.5 * (len(a) != len(b)))


def test_objects_other_than_vectors():
    words = ["spring", "summer", "autumn", "winter", "sun", "rain"]
    pca = KreinPCA(3, kernel=Pairwise(_common_letters)).fit(words[:5])
    K = np.array([[_common_letters(a, b) for b in words] for a in words])
    twin = KreinPCA(3).fit(K[:5, :5])
    exact(pca.transform(words), twin.transform(K[:, :5]))
    assert list(pca.get_feature_names_out()) == ["kreinpca0", "kreinpca1", "kreinpca2"]


def test_sets_are_objects_though_their_kernel_takes_vectors_too():
    sets = [{"a", "b"}, {"b"}, {"a", "c"}, {"c", "d"}]
    pca = KreinPCA(2, kernel=Tanimoto()).fit(sets[:3])
    K = Tanimoto()(sets)
    exact(pca.transform(sets), KreinPCA(2).fit(K[:3, :3]).transform(K[:, :3]))


def test_sparse_rows_equal_dense_rows(rng):
    X = rng.random((20, 5)) * (rng.random((20, 5)) < 0.5)
    pca = KreinPCA(3, kernel=Gaussian())
    dense = clone(pca).fit_transform(X)
    exact(clone(pca).fit(sparse.csr_array(X)).transform(sparse.csr_array(X)), dense, atol=1e-7)


def test_zero_eigenvalues_are_dropped_with_a_warning(rng):
    A = rng.standard_normal((20, 3))
    K = A @ np.diag([1.0, -1.0, 2.0]) @ A.T
    with pytest.warns(UserWarning, match=r"n_components=5.*3 eigenvalue.*keeps 3"):
        pca = KreinPCA(5).fit(K)
    assert pca.transform(K).shape == (20, 3)
    assert pca.form_.width == 3
    assert sorted(pca.signature_) == [-1, 1, 1]
    assert KreinPCA(None).fit(K).form_.width == 3
    assert KreinPCA(None).fit(K.astype(np.float32)).form_.width == 3
