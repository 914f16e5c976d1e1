"""The rank of a Nyström map by evidence on held-out rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rounding import assert_rounded
from sklearn.base import clone

import krein
from krein import KreinRidge, Nystrom, SimilarityFeatures
from krein.features import rank as ranking
from krein.features.landmarks import Uniform
from krein.features.source import Source
from krein.kernels import DeltaGaussian, Gaussian, Pairwise, Precomputed, ShiftGaussian
from krein.testing import check_feature_map

X = np.random.default_rng(0).random((400, 4))
# Kernels that need more than the first rank, symmetric and not.
NARROW = [Gaussian(0.5), DeltaGaussian(0.4, 5.0), ShiftGaussian(0.5, 0.1)]


def auto(kernel=None, **options):
    return Nystrom(kernel, "auto", **{"random_state": 0, **options})


def held_rows(data, kernel=None, seed=0):
    """The rows that a fit with this seed holds out, and the rows that it keeps."""
    source = Source(kernel or Gaussian(), data)
    key = ranking_key(seed)
    features = auto(kernel)
    trials = ranking.Trials(features.landmarks, features._design, source, key)
    return trials.held, trials.kept


def ranking_key(seed):
    from krein._hashing import as_key

    return as_key(np.random.default_rng(seed))


@pytest.mark.parametrize("kernel", NARROW, ids=repr)
def test_the_rank_doubles_until_the_error_is_small(kernel):
    features = auto(kernel).fit(X)
    tried = list(features.rank_errors_)
    assert tried == [32 * 2**i for i in range(len(tried))]
    assert len(tried) > 1
    assert features.n_components_ == tried[-1] == len(features.eigenvalues_)
    errors = list(features.rank_errors_.values())
    assert errors[-1] <= 0.01 < min(errors[:-1])
    assert krein.approximation_error(features, X) < 0.02
    assert features.n_components == "auto"


@pytest.mark.parametrize("kernel", NARROW, ids=repr)
def test_the_error_is_that_of_a_map_that_has_not_seen_the_rows(kernel):
    held, kept = held_rows(X, kernel)
    assert len(held) == 80
    assert len(kept) == 320
    features = auto(kernel).fit(X)
    for rank, error in features.rank_errors_.items():
        # On few rows the sample of the core is all rows, so the twin sees the same ones.
        twin = Nystrom(kernel, rank, random_state=0).fit(X[kept])
        assert krein.approximation_error(twin, X[held]) == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize("kernel", NARROW, ids=repr)
def test_the_map_is_that_of_the_rank_it_finds(kernel):
    features = auto(kernel).fit(X)
    twin = Nystrom(kernel, features.n_components_, random_state=0).fit(X)
    assert_array_equal(features.component_indices_, twin.component_indices_)
    assert_allclose(features.transform(X), twin.transform(X), atol=1e-12)
    check_feature_map(features, X[:20], X[20:40])


def test_the_order_of_the_rows_changes_nothing():
    order = np.random.default_rng(1).permutation(len(X))
    one, other = auto(NARROW[1]).fit(X), auto(NARROW[1]).fit(X[order])
    assert list(one.rank_errors_) == list(other.rank_errors_)
    errors = [np.array(list(f.rank_errors_.values())) for f in (one, other)]
    assert_rounded(*errors, 1e-6)


def test_copies_of_held_out_rows_are_held_out_too():
    twice = np.concatenate([X, X])
    held, kept = held_rows(twice)
    assert len(held) == 80
    assert len(kept) == 640
    assert not {row.tobytes() for row in twice[held]} & {row.tobytes() for row in twice[kept]}
    errors = [auto(NARROW[0]).fit(data).rank_errors_ for data in (X, twice)]
    # Scores of landmarks depend a little on the number of copies; a copy left in would give 0.
    assert errors[1] == pytest.approx(errors[0], rel=0.05)


def test_a_doubling_that_does_not_pay_is_undone():
    # Every row has a part of its own, which no map of fewer rows represents.
    kernel = Gaussian(2.0) + 0.5 * Gaussian(0.01)
    features = auto(kernel).fit(X)
    assert list(features.rank_errors_) == [32, 64]
    assert features.rank_errors_[64] > 0.9 * features.rank_errors_[32] > 0.01
    assert features.n_components_ == 32


def test_the_largest_rank_warns_with_its_error(monkeypatch):
    monkeypatch.setattr(ranking, "LAST", 64)
    with pytest.warns(UserWarning, match=r"rank 64, its largest one, .* still [0-9.]+ %: pass a l"):
        features = auto(Gaussian(0.3)).fit(X)
    assert features.n_components_ == 64
    assert f"{100 * features.rank_errors_[64]:.2g} %" != "0 %"


def test_the_number_of_rows_is_a_largest_rank_too():
    few = X[:60]
    with pytest.warns(UserWarning, match=r"rank 60, the number of distinct rows, .* fit on more"):
        features = auto(Gaussian(0.5)).fit(few)
    assert list(features.rank_errors_) == [32, 60]


@pytest.mark.parametrize("n", [1, 5, 32])
def test_few_rows_are_all_kept(n):
    features = auto(Gaussian(0.1)).fit(X[:n])
    assert features.n_components_ == n
    assert features.rank_errors_ == {}
    assert krein.approximation_error(features, X[:n]) < 1e-6


def test_ranks_double_up_to_the_number_of_rows():
    assert ranking.ranks(40) == [32, 40]
    assert ranking.ranks(64) == [32, 64]
    assert ranking.ranks(1000) == [32, 64, 128, 256, 512, 1000]
    assert ranking.ranks(10**6) == [32, 64, 128, 256, 512, 1024, 2048]


def test_a_number_is_taken_as_it_is():
    features = Nystrom(Gaussian(0.5), 7, random_state=0).fit(X)
    assert features.n_components_ == 7
    assert features.rank_errors_ == {}


# --- objects and matrices ------------------------------------------------------------------------

WORDS = ["".join(letters) for letters in np.random.default_rng(0).choice(list("abc"), (90, 6))]


def counted(symmetric, pairs):
    """A similarity of words that counts in `pairs` how often each pair is evaluated."""

    def similarity(x, y):
        pair = tuple(sorted((x, y))) if symmetric else (x, y)
        pairs[pair] = pairs.get(pair, 0) + 1
        same = sum(a == b for a, b in zip(x, y, strict=True))
        return 2.0 ** (same - 6) + (0.0 if symmetric else 0.1 * (x[0] > y[0]))

    return Pairwise(similarity, symmetric=symmetric)


@pytest.mark.parametrize("symmetric", [True, False])
def test_no_pair_of_objects_is_evaluated_twice(symmetric):
    words, pairs = sorted(set(WORDS)), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the largest rank may not be enough
        features = auto(counted(symmetric, pairs)).fit(words)
    assert len(features.rank_errors_) >= 2
    assert max(pairs.values()) == 1
    assert features.transform(words).shape[1] <= features.n_components_


@pytest.mark.parametrize("kernel", NARROW, ids=repr)
def test_a_precomputed_matrix_has_the_rank_of_its_kernel(kernel):
    K = kernel(X)
    features = auto(Precomputed(symmetric=kernel.is_symmetric)).fit(K)
    assert features.rank_errors_[features.n_components_] <= 0.01
    assert krein.approximation_error(features, K) < 0.02


# --- landmarks of all kinds ----------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", ["uniform", "leverage", "kmeans++", "all", Uniform()])
def test_every_rule_of_landmarks_has_a_rank(landmarks):
    features = auto(NARROW[0], landmarks=landmarks).fit(X)
    assert features.n_components_ > 32
    assert krein.approximation_error(features, X) < 0.03


def test_supervised_landmarks_have_a_rank():
    features = auto(Gaussian(1.0), landmarks="supervised").fit(X, X[:, 0])
    assert features.rank_errors_[features.n_components_] <= 0.01


# The squared core loses half of the digits, and how many are left depends on the machine.
@pytest.mark.parametrize(
    ("core", "most"), [("truncated", 0.01), ("inverse", 0.01), ("squared", 0.5)]
)
def test_every_core_has_a_rank(core, most):
    features = auto(Gaussian(1.0), core=core).fit(X)
    assert features.rank_errors_[features.n_components_] <= most


@pytest.mark.parametrize(
    "landmarks",
    [np.arange(0, 400, 2), X[::2] + 0.01, lambda data, n: np.arange(n)],
    ids=["indices", "objects", "function"],
)
def test_landmarks_of_the_user_have_a_rank(landmarks):
    features = auto(NARROW[0], landmarks=landmarks).fit(X)
    assert features.n_components_ > 32
    assert features.rank_errors_[features.n_components_] <= 0.01


def test_all_rows_as_landmarks_of_the_user_leave_nothing_to_hold_out():
    features = auto(NARROW[0], landmarks=np.arange(50)).fit(X[:50])
    assert features.n_components_ == 50
    assert features.rank_errors_ == {}


def test_a_number_of_landmarks_limits_the_rank():
    features = auto(Gaussian(0.3), n_landmarks=50).fit(X)
    assert len(features.landmarks_) == 50
    assert len(features.eigenvalues_) <= 50


# --- users ---------------------------------------------------------------------------------------


def test_a_learner_takes_the_automatic_rank():
    y = np.sin(5 * X[:, 0])
    model = KreinRidge(features=auto(Gaussian(0.5)), random_state=0).fit(X, y)
    assert model.features_.n_components_ > 32
    assert model.score(X, y) > 0.99


def test_features_of_the_fit_are_those_of_transform():
    words = sorted(set(WORDS))[:40]
    features = auto(counted(True, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = clone(features).fit_transform(words)
        assert_allclose(Z, clone(features).fit(words).transform(words), atol=1e-9)


@pytest.mark.parametrize("make", [Nystrom, SimilarityFeatures])
def test_other_words_are_refused(make):
    with pytest.raises(ValueError, match="'n_components' parameter"):
        make(n_components="best").fit(X)
    with pytest.raises(ValueError, match="'n_components' parameter of SimilarityFeatures"):
        SimilarityFeatures(n_components="auto").fit(X)
