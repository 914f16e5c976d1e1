"""Parameters that are taken from data: one verb, a number in whatever is fitted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import krein
from krein import (
    CorrectedSVC,
    KreinClassifier,
    KreinPCA,
    KreinRidge,
    KreinRidgeClassifier,
    KreinSVC,
    Nystrom,
    SimilarityFeatures,
)
from krein.kernels import (
    Constant,
    Custom,
    Gaussian,
    Hausdorff,
    Kernel,
    Pairwise,
    Precomputed,
    Similarity,
    UnresolvedError,
)
from krein.kernels.sampling import SAMPLED
from krein.kernels.values import BadPairError


def gap(X, Y):
    """Distances of numbers in a large unit."""
    return 40.0 * np.abs(np.subtract.outer(np.ravel(X), np.ravel(Y)))


def distance(x, y):
    return 40.0 * abs(np.ravel(x)[0] - np.ravel(y)[0])


@pytest.fixture
def X():
    return np.random.default_rng(3).normal(size=(60, 1))


@pytest.fixture
def y(X):
    return (X[:, 0] > 0).astype(int)


def median(X):
    D = gap(X, X)
    return np.median(D[np.triu_indices(len(X), 1)])


# --- the number -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("transform", "power"), [("exp", 1), ("gaussian", 2)])
def test_a_median_pair_has_the_similarity_one_over_e(X, transform, power):
    kernel = Similarity(gap, transform)
    assert kernel.gamma == "median"
    found = kernel.resolved(X)
    assert found.gamma == pytest.approx(median(X) ** -power)
    K = found(X)
    assert np.median(K[np.triu_indices(60, 1)]) == pytest.approx(np.exp(-1), rel=0.02)
    assert kernel.gamma == "median"


@pytest.mark.parametrize("transform", ["negative", "negative_squared", "max"])
def test_transforms_without_a_rate_wait_for_nothing(transform):
    kernel = Similarity(gap, transform, scale=1.0)
    assert kernel.is_resolved
    assert kernel.resolved([[0.0]]) is kernel


def test_a_kernel_of_numbers_is_its_own():
    for kernel in (Gaussian(), 2.0 * Gaussian() + 1.0, Similarity(gap, gamma=0.3)):
        assert kernel.is_resolved
        assert kernel.resolved(np.zeros((2, 1))) is kernel


def test_duplicates_and_the_order_of_rows_do_not_change_the_unit(X, rng):
    kernel = Similarity(gap)
    rate = kernel.resolved(X).gamma
    assert kernel.resolved(X[rng.permutation(60)]).gamma == rate
    assert kernel.resolved(np.repeat(X, 3, axis=0)).gamma == rate


def test_many_rows_are_sampled_by_content(rng):
    X = rng.normal(size=(2000, 1))
    kernel = Similarity(gap)
    rate = kernel.resolved(X).gamma
    assert kernel.resolved(X[rng.permutation(2000)]).gamma == rate
    assert rate == pytest.approx(1 / median(X), rel=0.2)


@pytest.mark.parametrize("symmetric", [True, False])
def test_each_pair_of_the_sample_is_evaluated_once(rng, symmetric):
    calls: list[tuple[float, float]] = []

    def counted(x, y):
        calls.append((float(x), float(y)))
        return distance(x, y)

    X = rng.normal(size=300)
    Similarity(Pairwise(counted, symmetric)).resolved(X)
    assert len(calls) == len(set(calls)) <= SAMPLED**2
    if symmetric:
        assert len({frozenset(pair) for pair in calls}) == len(calls) == SAMPLED * (SAMPLED - 1) / 2


def test_a_call_on_all_data_computes_no_distance_twice(rng):
    calls = []

    def counted(x, y):
        calls.append((x, y))
        return distance(x, y)

    X = rng.normal(size=20)
    K = Similarity(Pairwise(counted))(X)
    assert len(calls) == 400
    assert_allclose(K, Similarity(Pairwise(distance)).resolved(X)(X), rtol=1e-13)


def test_of_a_matrix_of_distances_the_matrix_is_the_data(X):
    D = gap(X, X)
    kernel = Similarity(Precomputed())
    assert kernel.resolved(D).gamma == pytest.approx(1 / median(X))
    assert_allclose(kernel(D), np.exp(-D / median(X)), rtol=1e-12)
    assert "nearly" not in krein.diagnose(kernel, D, n_components=8, max_rows=40).advice


def test_distances_that_are_all_zero_have_no_unit():
    with pytest.warns(UserWarning, match=r"no two objects with a distance above 0.*gamma=1.0"):
        assert Similarity(gap).resolved(np.ones((5, 1))).gamma == 1.0


def test_distances_beyond_floating_point_are_a_sentence(X):
    kernel = Similarity(lambda A, B: 1e200 * gap(A, B), "gaussian")
    with pytest.raises(ValueError, match=r"median distance of .*e\+20.*divide the distances"):
        kernel.resolved(X)


def test_a_bad_distance_is_named_by_its_place_in_the_data(X):
    def broken(x, y):
        return np.nan if {*np.ravel(x), *np.ravel(y)} == {X[7, 0], X[31, 0]} else 1.0

    with pytest.raises(BadPairError) as bad:
        Similarity(Pairwise(broken)).resolved(X)
    assert {bad.value.row, bad.value.column} == {7, 31}
    with pytest.raises(BadPairError) as bad:
        KreinRidge(Similarity(Pairwise(broken)), 5).fit(list(X[:, 0]), X[:, 0])
    assert {bad.value.row, bad.value.column} == {7, 31}


# --- algebra --------------------------------------------------------------------------------------


def directed(X, Y):
    D = np.subtract.outer(np.ravel(X), np.ravel(Y))
    return 40.0 * np.where(D > 0, D, -2 * D)


WAITING = [
    ("sum", lambda k: k + Gaussian(), lambda k: k.left),
    ("product", lambda k: 1.0 * Gaussian() * k, lambda k: k.right),
    ("multiple", lambda k: -2.0 * k + 1, lambda k: k.left.kernel),
    ("transpose", lambda k: k.T, lambda k: k.kernel),
    ("symmetric part", lambda k: k.symmetric_part, lambda k: k.kernel),
    ("skew part", lambda k: k.skew_part, lambda k: k.kernel),
    (
        "nested",
        lambda k: Similarity(Constant(1.0) - k, gamma=0.5),
        lambda k: k.distance.right.kernel,
    ),
]


@pytest.mark.parametrize(
    ("derive", "find"), [case[1:] for case in WAITING], ids=[c[0] for c in WAITING]
)
def test_resolving_reaches_the_kernels_that_a_kernel_is_made_of(derive, find, X):
    inner = Similarity(Custom(directed, symmetric=False))
    kernel = derive(inner)
    assert not kernel.is_resolved
    found = kernel.resolved(X)
    assert found.is_resolved
    assert find(found) == inner.resolved(X)
    assert_allclose(kernel(X), derive(inner.resolved(X))(X), rtol=1e-12, atol=1e-14)
    assert_allclose(found(X[:5], X), found(X)[:5], rtol=1e-12, atol=1e-14)
    assert not kernel.is_resolved
    with pytest.raises(UnresolvedError, match=r"resolved\(X_train\).*kernel_"):
        kernel(X, X[:3])
    with pytest.raises(UnresolvedError, match="new rows must not change it"):
        kernel.diag(X)


def test_a_similarity_of_an_unresolved_similarity(X):
    kernel = Similarity(1.0 - Similarity(gap))
    inner = Similarity(gap).resolved(X)
    found = kernel.resolved(X)
    assert found.distance.right.kernel == inner
    assert_allclose(kernel(X), found(X), rtol=1e-12)


def test_parameters_stay_what_the_user_gave(X):
    kernel = Similarity(gap)
    assert clone(kernel) == kernel
    assert kernel != kernel.resolved(X)
    assert kernel.set_params(gamma=0.5).is_resolved
    assert not kernel.set_params(gamma="median").is_resolved
    with pytest.raises(ValueError, match="gamma to be a finite number above 0 or 'median', got 'm"):
        Similarity(gap, gamma="mean")(X)


# --- whatever fits --------------------------------------------------------------------------------

FITTED = [
    Nystrom(Similarity(gap), 5, random_state=0),
    SimilarityFeatures(Similarity(gap), 5, random_state=0),
    KreinPCA(kernel=Similarity(gap)),
    CorrectedSVC(Similarity(gap)),
    KreinRidgeClassifier(Similarity(gap), 5, alpha=0.1, random_state=0),
    KreinRidgeClassifier(Similarity(gap), 5, nested=True, random_state=0),
    KreinSVC(Similarity(gap), 5, alpha=0.1, random_state=0),
    KreinClassifier(Similarity(Pairwise(distance)), 5, random_state=0),
    KreinClassifier(Similarity(gap), 5, cv=2, random_state=0),
]


@pytest.mark.parametrize("estimator", FITTED, ids=lambda e: type(e).__name__)
def test_what_is_fitted_has_the_number(estimator, X, y):
    fitted = clone(estimator).fit(X, y)
    assert fitted.kernel_.gamma == pytest.approx(1 / median(X))
    assert fitted.kernel.gamma == "median"
    verb = "predict" if hasattr(fitted, "predict") else "transform"
    explicit = clone(estimator).set_params(kernel__gamma=fitted.kernel_.gamma).fit(X, y)
    new = np.linspace(-2, 2, 7)[:, None]
    assert_allclose(getattr(fitted, verb)(new), getattr(explicit, verb)(new), rtol=1e-9, atol=1e-12)
    # Two new rows by themselves: their own distance plays no part.
    both = getattr(fitted, verb)(new)
    assert_allclose(getattr(fitted, verb)(new[:2]), both[:2], rtol=1e-9, atol=1e-12)


def test_the_units_of_a_distance_do_not_matter(X, y):
    def in_metres(A, B):
        return gap(A, B) / 1000

    outputs = [
        KreinRidgeClassifier(Similarity(f), 5, alpha=0.1, random_state=0)
        .fit(X, y)
        .decision_function(X)
        for f in (gap, in_metres)
    ]
    assert_allclose(*outputs, rtol=1e-7)


def test_streams_resolve_on_their_sample(X, y):
    blocks = [(X[:20], y[:20]), (X[20:], y[20:])]
    model = KreinRidgeClassifier(Similarity(gap), 5, alpha=0.1).fit(blocks)
    assert model.kernel_.gamma == pytest.approx(1 / median(X))


def test_a_grid_search_compares_the_median_with_numbers(X, y):
    model = make_pipeline(Nystrom(Similarity(gap), 5, random_state=0), LogisticRegression())
    grid = {"nystrom__kernel__gamma": ["median", 1e-2]}
    found = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert found.best_score_ > 0.9


def test_diagnose_names_the_resolved_kernel(X):
    assert (
        f"gamma={1 / median(X):.3g}"[:12]
        in krein.diagnose(Similarity(gap), X, n_components=8).kernel
    )


def test_the_default_learns_where_a_rate_of_one_does_not():
    """DNA with a motif, by edit distance: chance is a half."""
    pytest.importorskip("rapidfuzz")
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)

    def string(kind):
        ends = ["".join(rng.choice(list("ACGT"), 15)) for _ in range(2)]
        return ends[0] + ["", "CAGGTAAGTATCAGG"][kind] + ends[1] + ["ACCTTGACGATTTCA", ""][kind]

    words = [string(kind) for kind in y]
    from krein.kernels import EditDistance

    def accuracy(**rate):
        kernel = Similarity(EditDistance(), **rate)
        model = make_pipeline(Nystrom(kernel, 20, random_state=0), LogisticRegression())
        return model.fit(words[:200], y[:200]).score(words[200:], y[200:])

    assert accuracy() > 0.9


def test_a_kernel_of_a_users_class_resolves_its_kernels(X):
    class Squared(Kernel):
        def __init__(self, inner):
            self.inner = inner

        def _block(self, X, Y):
            return self.inner._block(X, Y) ** 2

    kernel = Squared(Similarity(gap))
    assert_array_equal(kernel(X), kernel.resolved(X)(X))
    assert kernel.resolved(X).inner.gamma == pytest.approx(1 / median(X))


def test_objects_of_any_kind(rng):
    points = [rng.normal(size=(4, 2)) for _ in range(12)]
    D = Hausdorff()(points)
    expected = 1 / np.median(D[np.triu_indices(12, 1)])
    assert Similarity(Hausdorff()).resolved(points).gamma == pytest.approx(expected)
    as_lists = [p.tolist() for p in points]
    assert Similarity(Hausdorff()).resolved(as_lists).gamma == pytest.approx(expected)
