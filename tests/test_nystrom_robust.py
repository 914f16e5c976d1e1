"""A Nyström map that does not explode: poor landmarks, outlying rows, new rows, bad values."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rounding import assert_rounded
from sklearn.datasets import load_digits

from krein import KreinClassifier, KreinRidge, Nystrom, approximation_error
from krein.features.landmarks import sample_size
from krein.features.pairs import Pairs
from krein.kernels import (
    Custom,
    DeltaGaussian,
    Gaussian,
    Pairwise,
    Polynomial,
    Precomputed,
    RectifiedSigmoid,
    ShiftGaussian,
    Sigmoid,
    Similarity,
)


def _of_very_different_norms(n, seed=0):
    """Rows exp(1.5 N(0, 1)) · N(0, I₃₂), columns scaled to unit size."""
    rng = np.random.default_rng(seed)
    X = np.exp(1.5 * rng.standard_normal((n, 1))) * rng.standard_normal((n, 32))
    return X / np.sqrt(np.square(X).mean(axis=0))


def _standardised_digits():
    X = load_digits().data
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _own(features, X):
    """The approximate k(x, x)."""
    return np.einsum("ij,ij->i", features.transform(X), features.transform_dual(X))


def _best(K, rank):
    values = np.linalg.svd(K, compute_uv=False)
    return np.linalg.norm(values[rank:]) / np.linalg.norm(values)


# --- the cut --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [350, 400, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_new_rows_do_not_explode(n, seed):
    X = _of_very_different_norms(n + 500, seed)
    features = Nystrom(Gaussian(4.0), 100, random_state=0).fit(X[:n])
    assert np.abs(_own(features, X[n:])).max() < 1.1  # the truth is 1


def test_uniform_landmarks_that_miss_outlying_rows_do_not_explode(rng):
    X = _of_very_different_norms(1500)[:, :8]
    kernel = RectifiedSigmoid(1 / 8)
    K = kernel(X)
    for key in range(4):
        features = Nystrom(kernel, 50, landmarks="uniform", random_state=key).fit(X)
        assert approximation_error(features, X) < 1  # the zero matrix has 1
    assert _best(K, 50) < 0.05


def test_with_as_many_components_as_landmarks_nothing_is_cut(rng):
    X = rng.standard_normal((60, 3))
    chosen = np.arange(20)
    features = Nystrom(Gaussian(), 20, landmarks=chosen, n_landmarks=20).fit(X)
    assert features.transform(X).shape == (60, 20)
    K = Gaussian()(X)
    Q, _ = np.linalg.qr(K[:, chosen])
    assert_allclose(features.approximate_kernel(X), Q @ Q.T @ K @ Q @ Q.T, atol=1e-7)


def _saturated(key=0, **options):
    """tanh on rows of very different norms, with as many components as landmarks."""
    X = _of_very_different_norms(1500)[:, :8]
    options = {"landmarks": "uniform", "n_landmarks": 50, "random_state": key} | options
    return Nystrom(Sigmoid(1 / 8), 50, **options), X


@pytest.mark.parametrize("key", range(3))
def test_fit_warns_where_held_out_rows_explode(key):
    features, X = _saturated(key)
    with pytest.warns(
        UserWarning, match=r"explodes on rows .* k\(x, x\) of row \d+ is .*landmarks"
    ):
        features.fit(X[:1200])


@pytest.mark.parametrize("precomputed", [False, True])
def test_the_range_of_the_kernel_includes_the_landmarks(precomputed):
    # Nearly all rows have no similarity to any row: the values of the held-out rows are all zero.
    rng = np.random.default_rng(0)
    X = np.where(np.arange(640)[:, None] % 32 > 0, 0.01, 1.0) * rng.standard_normal((640, 8))
    kernel = RectifiedSigmoid(1.0, -1.0)
    K = kernel(X)
    features = Nystrom("precomputed" if precomputed else kernel, 5, random_state=0)
    Z = features.fit(K[:600, :600] if precomputed else X[:600]).transform(
        K[:, :600] if precomputed else X
    )
    assert np.isfinite(Z).all()
    assert np.abs(features.form_.signs @ np.square(Z).T).max() <= 2 * np.abs(K).max()


def test_spare_landmarks_keep_the_same_map_from_exploding():
    features, X = _saturated(n_landmarks=150, landmarks="residual")
    features.fit(X[:1200])
    assert np.abs(_own(features, X[:1200])).max() < 2


def test_transform_warns_once_where_new_rows_explode(rng):
    X = rng.standard_normal((1000, 4))
    features = Nystrom(Sigmoid(1 / 4), 60, random_state=0).fit(X)
    strange = np.concatenate([X[:5], 30 * X[5:6]])
    with pytest.warns(UserWarning, match=r"1 of 6 rows would explode.* row 5 is .* at most 0.99"):
        features.transform(strange)
    features.transform(strange)


def _strange(rng, dtype=np.float64):
    """Return a map of a bounded kernel, its training rows, and new rows of which one explodes."""
    X = rng.standard_normal((1000, 4)).astype(dtype)
    features = Nystrom(Sigmoid(1 / 4), 60, random_state=0).fit(X)
    return features, X, np.concatenate([rng.standard_normal((5, 4)), 30 * X[5:6]]).astype(dtype)


@pytest.mark.filterwarnings("ignore:The features of 1 of:UserWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exploding_features_are_damped_and_still_fit_the_training_rows(rng, dtype):
    features, X, new = _strange(rng, dtype)
    own = np.abs(_own(features, new))
    undamped = features.kernel_(new, features.landmarks_) @ features._left
    assert np.abs(np.square(undamped[5]) @ features.form_.signs) > 10
    assert own.max() < 2.001
    K = features.kernel_(new[5:], X)
    error = np.linalg.norm(features.approximate_kernel(new[5:], X) - K) / np.linalg.norm(K)
    worse = np.linalg.norm(undamped[5:] @ features.transform_dual(X).T - K) / np.linalg.norm(K)
    assert error < worse + 0.01
    tol = 1e-12 if dtype == np.float64 else 1e-4
    assert_rounded(features.transform(new)[:5], undamped[:5].astype(dtype), tol)


@pytest.mark.filterwarnings("ignore:The features of 1 of:UserWarning")
def test_damping_one_row_changes_no_other_row_and_needs_no_other(rng):
    features, _, new = _strange(rng)
    together = features.transform(new)
    assert_rounded(features.transform(new[5:]), together[5:])
    assert_rounded(features.transform(new[[5, 0, 5]]), together[[5, 0, 5]])


@pytest.mark.filterwarnings("ignore:The features of 1 of:UserWarning")
def test_a_matrix_of_values_is_damped_too(rng):
    X = rng.standard_normal((300, 4))
    new = 30 * X[5:6]
    kernel = Sigmoid(1 / 4)
    features = Nystrom("precomputed", 60, random_state=0).fit(kernel(X))
    # The matrix does not tell k(x, x): the bound is a little above twice its lower bound.
    assert np.abs(_own(features, kernel(new, X))).max() < 2.1


def test_larger_new_rows_of_an_unbounded_kernel_are_no_explosion(rng):
    X = rng.standard_normal((300, 4))
    Nystrom(Polynomial(2), 20, random_state=0).fit(X).transform(100 * X)


# --- landmarks ------------------------------------------------------------------------------------


def test_the_default_finds_rows_with_large_values_of_themselves():
    X = _standardised_digits()
    d = X.shape[1]
    kernel = Polynomial(3, 1 / d, 1.0)
    best = _best(kernel(X), 50)
    for key in range(2):
        features = Nystrom(kernel, 50, random_state=key).fit(X)
        assert approximation_error(features, X) < 1.6 * best


def test_landmarks_by_residual_are_the_default():
    assert Nystrom().landmarks == "residual"


@pytest.mark.parametrize("rule", ["leverage", "residual"])
def test_rules_look_at_both_arguments(rng, rule):
    # k(x, y) = exp(−‖x − y‖²/2) h(y), with a few rows of large h: they matter as columns only.
    X = np.column_stack([rng.standard_normal((600, 3)), np.exp(1.5 * rng.standard_normal(600))])

    def heavy(X, Y):
        return Gaussian()(X[:, :3], Y[:, :3]) * Y[:, 3]

    ratios = []
    for f in (heavy, lambda X, Y: heavy(Y, X).T):
        kernel = Custom(f, symmetric=False)
        best = _best(kernel(X), 40)
        found = [
            approximation_error(Nystrom(kernel, 40, landmarks=rule, random_state=key).fit(X), X)
            for key in range(6)
        ]
        ratios.append(np.median(found) / best)
    assert max(ratios) < 1.25 * min(ratios)
    assert max(ratios) < (1.4 if rule == "residual" else 2.0)


def test_residuals_that_are_rounding_do_not_choose_landmarks(rng):
    # A kernel of rank 4: after the first round nothing is left but rounding.
    X = rng.standard_normal((400, 3))
    order = rng.permutation(400)
    kernel = Polynomial(1, 1.0, 1.0)
    first = Nystrom(kernel, 20, random_state=0).fit(X)
    second = Nystrom(kernel, 20, random_state=0).fit(X[order])
    assert set(order[second.component_indices_]) == set(first.component_indices_)


# --- non-symmetric kernels ------------------------------------------------------------------------


@pytest.mark.parametrize("n", [63, 64, 65, 130])
def test_all_rows_as_landmarks_reproduce_a_kernel_that_is_not_symmetric(rng, n):
    X = rng.standard_normal((n, 3))
    features = Nystrom(ShiftGaussian(1.0, 0.4), n, landmarks="all").fit(X)
    assert approximation_error(features, X) < 1e-10


# --- values that are no numbers -------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("seed", range(8))
def test_an_infinite_value_is_a_sentence(seed):
    X = np.random.default_rng(seed).standard_normal((8, 2))
    X[3, 1] = 1e300
    with pytest.raises(
        ValueError, match=r"RectifiedSigmoid\(\) returned inf for object 3 of X and"
    ):
        Nystrom(RectifiedSigmoid(), 7, random_state=seed).fit(X)


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_an_infinite_value_of_a_new_row_is_a_sentence(rng):
    X = rng.standard_normal((30, 2))
    features = Nystrom(RectifiedSigmoid(), 5, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"RectifiedSigmoid\(\) returned .*inf for object 0 of X"):
        features.transform(np.full((1, 2), 1e308))


# --- a user's function ----------------------------------------------------------------------------


def _counted(symmetric):
    seen = []

    def similarity(x, y):
        seen.append((x, y) if not symmetric else (min(x, y), max(x, y)))
        return float(np.exp(-abs(x - y)) + (0 if symmetric else 0.1 * np.tanh(x - y)))

    return seen, Pairwise(similarity, symmetric)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("rule", ["residual", "leverage", "uniform", "kmeans++", "supervised"])
@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_no_pair_is_computed_twice(rng, rule, symmetric, method):
    objects = rng.standard_normal(120).tolist()
    seen, kernel = _counted(symmetric)
    features = Nystrom(kernel, 10, landmarks=rule, random_state=0)
    made = getattr(features, method)(objects, np.asarray(objects) > 0)
    assert len(seen) == len(set(seen)) > 0
    if method == "fit_transform":
        assert_allclose(made, features.transform(objects), atol=1e-12)


@pytest.mark.parametrize(
    "wrap", [lambda k: 2 * k, lambda k: Similarity(k, gamma=0.5), lambda k: k + k]
)
def test_no_pair_is_computed_twice_by_kernels_made_of_a_function(rng, wrap):
    objects = rng.standard_normal(100).tolist()
    seen, kernel = _counted(symmetric=True)
    made = wrap(kernel)
    Nystrom(made, 10, random_state=0).fit(objects)
    assert len(seen) <= (2 if made == kernel + kernel else 1) * len(set(seen))


def test_given_landmarks_and_processes_compute_no_pair_twice(rng):
    objects = rng.standard_normal(80).tolist()
    given = [0.5, 1.5, 2.5, -1.0, 0.1, 3.0]
    seen, kernel = _counted(symmetric=True)
    Z = Nystrom(kernel, 5, landmarks=given, random_state=0).fit_transform(objects)
    assert len(seen) == len(set(seen))
    _, again = _counted(symmetric=True)
    features = Nystrom(again, 5, landmarks=given, n_jobs=2, random_state=0)
    assert_allclose(features.fit_transform(objects), Z, atol=1e-10)


def test_remembered_values_stay_within_their_memory(monkeypatch, rng):
    from krein.features import pairs

    monkeypatch.setattr(pairs, "MOST_BYTES", 8 * 50 * 3)
    K = rng.standard_normal((50, 50))
    K = K + K.T
    remembered = Pairs(lambda i, j, wanted: K[np.ix_(i, j)], lambda i: K[i, i], 50, True)
    for _ in range(5):
        rows, columns = rng.permutation(50)[:30], rng.permutation(50)[:20]
        assert_allclose(remembered.values(rows, columns), K[np.ix_(rows, columns)], atol=0)
    assert remembered._table.nbytes <= 8 * 50 * 3


# --- cost -----------------------------------------------------------------------------------------


def test_oversampling_shrinks_as_the_rank_grows(rng):
    X = rng.standard_normal((2000, 2))
    for rank, landmarks in ((10, 30), (150, 450), (300, 600)):
        features = Nystrom(DeltaGaussian(0.1, 1.0), rank, random_state=0)
        assert len(features.fit(X).component_indices_) == landmarks
    assert len(Nystrom(Gaussian(0.1), 20, random_state=0).fit(X).component_indices_) == 60
    assert [sample_size(m) for m in (30, 150, 1300)] == [330, 900, 2600]


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("kernel", [Gaussian(), ShiftGaussian(1.0, 0.4)], ids=repr)
@pytest.mark.parametrize("factor", [1e-305, 1e200, 1e306])
def test_values_of_any_size_are_represented(kernel, factor):
    rows = np.random.default_rng(0).standard_normal((200, 3))
    plain, scaled = (Nystrom(k, 8, random_state=0).fit(rows) for k in (kernel, factor * kernel))
    root = np.sqrt(factor)
    expected = np.abs(plain.transform(rows))
    assert_allclose(np.abs(scaled.transform(rows)) / root, expected, atol=1e-7 * expected.max())


@pytest.mark.parametrize("fit", [Nystrom(Gaussian(1e-4), 20), KreinRidge(Gaussian(1e-4), 20)])
def test_a_kernel_matrix_that_is_nearly_the_identity_is_said(fit):
    rows = np.random.default_rng(0).standard_normal((200, 3))
    with pytest.warns(UserWarning, match="nearly the identity") as seen:
        fit.fit(rows, rows[:, 0])
    assert len(seen) == 1


def test_automatic_learners_say_once_that_a_kernel_matrix_is_nearly_the_identity():
    rows = np.random.default_rng(0).standard_normal((60, 3))
    with pytest.warns(UserWarning, match="nearly the identity") as seen:
        KreinClassifier(Gaussian(1e-4), 20).fit(rows, rows[:, 0] > 0)
    assert len(seen) == 1


def test_a_multiple_of_a_precomputed_kernel_is_refused():
    with pytest.raises(ValueError, match="Nystrom takes a matrix of kernel values as it is"):
        Nystrom(1.0 * Precomputed(), 10).fit(np.eye(20))
