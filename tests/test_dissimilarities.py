"""Double centring, and dissimilarities made similarities."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from proximity_cases import dissimilarities, exact
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import KernelCenterer

import krein
from krein.proximity import DissimilarityToSimilarity, DoubleCentering

# --- double centring ------------------------------------------------------------------------------


def test_double_centring_is_minus_half_j_d2_j(rng):
    D = dissimilarities(20)
    J = np.eye(20) - 1 / 20
    exact(DoubleCentering().fit_transform(D), -0.5 * J @ D**2 @ J)


def test_double_centring_of_euclidean_distances_is_the_centred_gram_matrix(rng):
    X, new = rng.standard_normal((30, 4)), rng.standard_normal((7, 4))
    centred, moved = X - X.mean(axis=0), new - X.mean(axis=0)
    centring = DoubleCentering().fit(pairwise_distances(X))
    exact(centring.transform(pairwise_distances(X)), centred @ centred.T)
    exact(centring.transform(pairwise_distances(new, X)), moved @ centred.T)


def test_double_centring_equals_kernel_centerer_on_squares():
    D = dissimilarities(25)
    train, new = D[:20, :20], D[20:, :20]
    oracle = KernelCenterer().fit(-0.5 * train**2)
    centring = DoubleCentering().fit(train)
    exact(centring.transform(train), oracle.transform(-0.5 * train**2))
    exact(centring.transform(new), oracle.transform(-0.5 * new**2))
    exact(centring.column_means_, (train**2).mean(axis=0))
    exact(centring.grand_mean_, (train**2).mean())


def test_new_rows_are_centred_with_training_means_one_by_one():
    D = dissimilarities(25)
    new = D[20:, :20]
    centring = DoubleCentering().fit(D[:20, :20])
    for row, out in zip(new, centring.transform(new), strict=True):
        S = row**2 - np.mean(row**2) - (D[:20, :20] ** 2).mean(axis=0) + (D[:20, :20] ** 2).mean()
        exact(out, -0.5 * S)


def test_a_function_is_evaluated_for_both_directions_of_a_pair():
    with pytest.raises(ValueError, match="largest asymmetry"):
        DoubleCentering(metric=_directed).fit(np.arange(6.0)[:, None])


def _directed(x, y):
    return float(max(x[0] - y[0], 0))


def test_a_function_gives_the_same_as_its_metric(rng):
    X, new = rng.random((9, 3)), rng.random((4, 3))
    ours = DoubleCentering(metric=lambda x, y: float(np.abs(x - y).sum())).fit(X)
    exact(ours.transform(new), DoubleCentering("manhattan").fit(X).transform(new))


# --- dissimilarity to similarity ------------------------------------------------------------------

FORMULAS = {
    "exp": lambda D, gamma: np.exp(-gamma * D),
    "gaussian": lambda D, gamma: np.exp(-gamma * D**2),
}


@pytest.mark.parametrize("rule", FORMULAS)
def test_formula_with_a_given_rate(rule):
    D = dissimilarities(12)
    fitted = DissimilarityToSimilarity(rule, gamma=0.7).fit(D[:8, :8])
    exact(fitted.transform(D[8:, :8]), FORMULAS[rule](D[8:, :8], 0.7))


@pytest.mark.parametrize("rule", FORMULAS)
def test_median_rate_makes_the_median_training_pair_one_over_e(rule):
    D = dissimilarities(11)
    D[0, 1] = D[1, 0] = 0  # two equal objects have no say
    S = DissimilarityToSimilarity(rule).fit(D[:7, :7])
    pairs = D[:7, :7][np.triu_indices(7, 1)]
    exact(FORMULAS[rule](np.median(pairs[pairs > 0]), S.gamma_), np.exp(-1))
    exact(S.transform(D[7:, :7]), FORMULAS[rule](D[7:, :7], S.gamma_))


def test_median_rate_of_equal_objects_is_one():
    fitted = DissimilarityToSimilarity("exp").fit(np.zeros((3, 3)))
    assert fitted.gamma_ == 1
    assert_array_equal(fitted.transform(np.zeros((1, 3))), np.ones((1, 3)))


def test_max_keeps_the_training_maximum():
    fitted = DissimilarityToSimilarity("max").fit([[0, 2], [2, 0]])
    assert_array_equal(fitted.transform([[1, 5]]), [[1, -3]])


def test_double_centering_rule_is_the_class():
    D = dissimilarities(14)
    both = (DissimilarityToSimilarity("double_centering"), DoubleCentering())
    first, second = (e.fit(D[:10, :10]).transform(D[:, :10]) for e in both)
    exact(first, second)


@pytest.mark.parametrize("rule", ["exp", "gaussian", "max"])
def test_elementwise_rules_keep_an_asymmetric_matrix_asymmetric(rule, rng):
    D = rng.random((6, 6))
    np.fill_diagonal(D, 0)
    S = DissimilarityToSimilarity(rule).fit_transform(D)
    exact(DissimilarityToSimilarity(rule).fit_transform(D.T), S.T)
    assert np.abs(S - S.T).max() > 0.01


def test_refitting_by_another_method_leaves_no_trace():
    estimator = DissimilarityToSimilarity("max").fit(dissimilarities(5))
    estimator.set_params(method="exp").fit(dissimilarities(5))
    assert not hasattr(estimator, "max_")


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_a_median_whose_rate_is_beyond_floating_point_is_named(size, rng):
    D = size * np.abs(np.subtract.outer(x := rng.random(12), x))
    assert np.isfinite(DissimilarityToSimilarity("exp").fit_transform(D)).all()
    with pytest.raises(ValueError, match=r"median distance of .* beyond the range of floating"):
        DissimilarityToSimilarity("gaussian").fit(D)
    learner = krein.KreinClassifier("precomputed", dissimilarity=True)
    with pytest.raises(ValueError, match=r"^KreinClassifier\(dissimilarity=True\) finds a median"):
        learner.fit(D, x > np.median(x))
