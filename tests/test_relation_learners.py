"""Maps and learners of relations: ids in all forms, landmarks, cross-validation and search."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from relation_twins import FORMS, cyclic_blocks
from rounding import assert_rounded
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline

from krein import KreinClassifier, KreinRidgeClassifier, Nystrom, SimilarityFeatures
from krein.kernels import DirectedGraph, Pairwise, Relation
from krein.kernels.values import UninformativeWarning

CYCLE, BLOCKS = cyclic_blocks(160)
NODES = np.random.default_rng(2).permutation(160)
LABELS = BLOCKS[NODES]
one_sided = pytest.mark.filterwarnings("ignore:.*uses transform.* alone:UserWarning")


@pytest.mark.parametrize("form", ["vector", "column", "list", "series"])
def test_a_map_of_all_nodes_is_the_matrix_in_both_directions(form):
    kernel, ids = DirectedGraph(CYCLE), FORMS[form](NODES[:90])
    features = Nystrom(kernel, 90, landmarks="all", random_state=0).fit(ids)
    assert_allclose(features.approximate_kernel(ids), kernel(ids), atol=1e-10)
    assert features.landmarks_.shape == (90, 1)
    assert_array_equal(features.landmarks_[:, 0], NODES[:90])


@one_sided
@pytest.mark.parametrize("form", ["column", "list", "floats", "series"])
def test_the_form_of_the_ids_does_not_change_a_learner(form):
    model = KreinRidgeClassifier(DirectedGraph(CYCLE), 30, alpha=1e-3, random_state=0)
    first = clone(model).fit(NODES[:100], LABELS[:100]).decision_function(NODES[100:])
    ids = FORMS[form](NODES)
    found = clone(model).fit(ids[:100], LABELS[:100]).decision_function(ids[100:])
    assert_rounded(found, first, 1e-8)


def test_the_order_of_the_ids_does_not_change_the_landmarks():
    features = Nystrom(DirectedGraph(CYCLE), 10, random_state=0)
    first = features.fit(NODES).landmarks_.ravel()
    second = clone(features).fit(np.sort(NODES)).landmarks_.ravel()
    assert_array_equal(np.sort(first), np.sort(second))


@one_sided
def test_cross_validation_is_a_loop_over_parts_of_the_matrix():
    K = DirectedGraph(CYCLE)(np.arange(160))
    pipeline = make_pipeline(
        Nystrom(Relation(K), 100, landmarks="all", random_state=0), LogisticRegression()
    )
    scores = cross_val_score(pipeline, NODES, LABELS, cv=KFold(4))
    expected = []
    for train, test in KFold(4).split(NODES):
        features = Nystrom(Relation(K[np.ix_(NODES, NODES)]), 100, landmarks="all", random_state=0)
        model = LogisticRegression().fit(features.fit_transform(train), LABELS[train])
        expected.append(model.score(features.transform(test), LABELS[test]))
    assert_allclose(scores, expected, rtol=1e-12)
    assert np.mean(scores) > 0.7  # chance is 0.25


@one_sided
def test_grid_search_and_automatic_learners_take_ids():
    ridge = KreinRidgeClassifier(DirectedGraph(CYCLE), 40, alpha=1e-3, random_state=0)
    search = GridSearchCV(ridge, {"kernel__steps": [1, 2], "kernel__self_loops": [0, 1]}, cv=3)
    assert search.fit(NODES[:, None], LABELS).best_score_ > 0.9
    assert search.best_estimator_.kernel.adjacency is CYCLE
    automatic = KreinClassifier(DirectedGraph(CYCLE), 20, random_state=0)
    found = cross_val_predict(automatic, NODES, LABELS, cv=2)
    assert np.mean(found == LABELS) > 0.8


def test_integers_as_landmarks_are_rows_and_columns_of_integers_are_nodes():
    kernel, train = DirectedGraph(CYCLE), np.arange(100, 150)
    rows = Nystrom(kernel, 2, landmarks=[3, 5], random_state=0).fit(train)
    assert_array_equal(rows.landmarks_, [[103], [105]])
    assert_array_equal(rows.component_indices_, [3, 5])
    nodes = Nystrom(kernel, 2, landmarks=[[3], [5]], random_state=0).fit(train)
    assert_array_equal(nodes.landmarks_, [[3], [5]])
    assert nodes.component_indices_ is None
    # A function returns objects as it gets them.
    chosen = Nystrom(kernel, 2, landmarks=lambda X, n: X[:n], n_landmarks=4, random_state=0)
    assert_array_equal(chosen.fit(train).landmarks_[:, 0], train[:4])
    with pytest.raises(ValueError, match=r"indices must be at least one of 0 … 49"):
        Nystrom(kernel, 2, landmarks=train[:2]).fit(train)
    similarities = SimilarityFeatures(kernel, 2, landmarks=[[3], [5]]).fit_transform(train)
    assert_array_equal(similarities, kernel(train, [3, 5]))


def test_numbers_that_are_objects_need_no_second_dimension():
    X, y = np.linspace(0, 1, 60), np.arange(60) // 20
    kernel = Pairwise(lambda a, b: float(np.exp(-20 * abs(a - b))))
    model = KreinRidgeClassifier(kernel, 20, alpha=1e-3, random_state=0)
    for rows in (X, X.tolist()):
        assert clone(model).fit(rows, y).score(rows, y) > 0.95


@pytest.mark.parametrize("make", [DirectedGraph, lambda A: Relation(A + sparse.eye_array(400))])
def test_few_nodes_of_a_sparse_graph_are_no_reason_to_warn(make):
    A = sparse.csr_array(np.random.default_rng(0).random((400, 400)) < 0.001).astype(float)
    features = Nystrom(make(A), 20, landmarks="uniform", random_state=0)
    features.fit(np.arange(400))
    dense = Relation(make(A)(np.arange(400)))
    with pytest.warns(UninformativeWarning, match="nearly the identity"):
        clone(features).set_params(kernel=dense).fit(np.arange(400))


def test_an_unknown_node_is_refused_in_fit_and_in_prediction():
    model = KreinRidgeClassifier(Relation(CYCLE + CYCLE.T), 20, alpha=1.0, random_state=0)
    with pytest.raises(ValueError, match=r"from 0 to 159, but item 1 of X is 160\."):
        model.fit([0, 160], [0, 1])
    model.fit(NODES, LABELS)
    with pytest.raises(ValueError, match=r"from 0 to 159, but item 2 of X is -1\."):
        model.predict([0, 3, -1])


def test_an_unknown_node_among_landmarks_is_named():
    features = Nystrom(Relation(np.eye(5)), 2, landmarks=[[1], [7]])
    with pytest.raises(ValueError, match=r"from 0 to 4, but item 1 of landmarks is 7"):
        features.fit([0, 1, 2])
