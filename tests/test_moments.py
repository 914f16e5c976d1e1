"""Statistics that merge, and folds that follow the content of rows."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold

from krein.forms import Signature
from krein.learning import Cholesky, LeastSquares, Split
from krein.learning.selection import FoldProblems
from krein.streaming import Folds, GivenFolds, Moments, MomentsSum


def _rows(n=90, p=4, seed=0):
    """Rows of moderate offsets whose values are exact in float32, and weights, some zero."""
    rng = np.random.default_rng(seed)
    A = np.round(64 * (rng.standard_normal((n, p)) + np.arange(p))) / 64
    weight = rng.random(n)
    weight[rng.random(n) < 0.2] = 0
    return A, weight


def _assert_same(mine, other, rtol=1e-12):
    assert_allclose(mine.weight, other.weight, rtol=rtol)
    assert_allclose(mine.mean, other.mean, rtol=rtol, atol=rtol)
    assert_allclose(mine.scatter, other.scatter, rtol=rtol, atol=rtol * abs(other.scatter).max())


# ------------------------------------------------------------------------------------- Moments


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_the_weighted_mean_and_covariance(weighted):
    A, weight = _rows()
    weight = weight if weighted else None
    moments = Moments.of(A, weight)
    total = len(A) if weight is None else weight.sum()
    assert_allclose(moments.weight, total, rtol=1e-14)
    assert_allclose(moments.mean, np.average(A, axis=0, weights=weight), rtol=1e-12)
    assert_allclose(moments.scatter, np.cov(A.T, aweights=weight, ddof=0) * total, rtol=1e-11)
    assert_array_equal(moments.scatter, moments.scatter.T)
    assert moments.width == A.shape[1]


@pytest.mark.parametrize("cuts", [[0], [1], [45], [20, 21, 60], list(range(1, 90))])
def test_moments_do_not_depend_on_how_rows_are_cut(cuts):
    A, weight = _rows()
    rows = np.split(np.arange(len(A)), cuts)
    parts = [Moments.of(A[i], weight[i]) for i in rows]
    whole = Moments.of(A, weight)
    chain = Moments.zero(A.shape[1])
    for part in parts:
        chain = chain.merge(part)
    _assert_same(Moments.total(parts), whole)
    _assert_same(chain, whole)


def test_merging_is_commutative_and_zero_is_neutral():
    A, weight = _rows()
    one, two = Moments.of(A[:30], weight[:30]), Moments.of(A[30:], weight[30:])
    _assert_same(one.merge(two), two.merge(one))
    zero = Moments.zero(A.shape[1])
    assert zero.weight == 0
    for merged in (one.merge(zero), zero.merge(one), Moments.total([zero, one, zero])):
        _assert_same(merged, one, rtol=1e-15)


def test_weight_two_is_the_row_twice_and_weight_zero_no_row():
    A, _ = _rows()
    weight = np.arange(len(A)) % 3
    _assert_same(Moments.of(A, weight.astype(float)), Moments.of(np.repeat(A, weight, axis=0)))


@pytest.mark.parametrize("offset", [2.0**20, -(2.0**20)])
def test_an_offset_changes_the_mean_and_nothing_else(offset):
    """Offsets are powers of two, so that the shifted rows are exact."""
    A, weight = _rows(n=300)
    blocks = range(0, 300, 30)
    plain = Moments.of(A, weight)
    moved = Moments.total(Moments.of(A[i : i + 30] + offset, weight[i : i + 30]) for i in blocks)
    assert_allclose(moved.mean - offset, plain.mean, atol=1e-15 * abs(offset) * 4, rtol=0)
    assert_allclose(moved.scatter, plain.scatter, atol=1e-8 * abs(plain.scatter).max(), rtol=0)


def test_moments_are_frozen():
    moments = Moments.of(_rows()[0])
    with pytest.raises(FrozenInstanceError):
        moments.weight = 1.0


@pytest.mark.parametrize("verb", ["merge"])
def test_moments_of_another_width_are_refused_by_naming_both(verb):
    A, _ = _rows()
    with pytest.raises(ValueError, match=r"(?s)(4.*3|3.*4)"):
        getattr(Moments.of(A), verb)(Moments.of(A[:, :3]))


# ---------------------------------------------------------------------------------- MomentsSum


@pytest.mark.parametrize("n_blocks", [1, 7, 90])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_growing_sum_is_the_moments_of_all_rows(n_blocks, weighted):
    A, weight = _rows()
    growing = MomentsSum(A.shape[1])
    for rows in np.array_split(np.arange(len(A)), n_blocks):
        growing.add(A[rows], weight=weight[rows] if weighted else None)
    _assert_same(growing.freeze(), Moments.of(A, weight if weighted else None))


def test_a_growing_sum_takes_columns_in_several_arrays():
    A, weight = _rows()
    growing = MomentsSum(4)
    growing.add(A[:50, :1], A[:50, 1:3], A[:50, 3:], weight=weight[:50])
    growing.add(A[50:], weight=weight[50:])
    _assert_same(growing.freeze(), Moments.of(A, weight))


def test_a_frozen_sum_does_not_move_when_more_is_added():
    A, _ = _rows()
    growing = MomentsSum(4)
    growing.add(A[:40])
    first = growing.freeze()
    before = first.mean.copy(), first.scatter.copy()
    growing.add(A[40:])
    assert_array_equal(first.mean, before[0])
    assert_array_equal(first.scatter, before[1])
    _assert_same(growing.freeze(), Moments.of(A))


def test_an_empty_sum_or_block_is_the_moments_of_no_rows():
    A, _ = _rows()
    growing = MomentsSum(4)
    assert growing.freeze().weight == 0
    growing.add(A[:0])
    growing.add(A[:5], weight=np.zeros(5))
    growing.add(A)
    _assert_same(growing.freeze(), Moments.of(A))


@pytest.mark.parametrize("offset", [0.0, 2.0**10])
def test_float32_blocks_are_summed_in_float64(offset):
    """The values are exact in float32; products and sums of a few rows are rounded, no others."""
    A = np.tile(_rows(n=2000)[0], (5, 1)) + offset
    growing = MomentsSum(4)
    for block in np.array_split(A.astype(np.float32), 100):
        growing.add(block)
    exact, mine = Moments.of(A), growing.freeze()
    assert mine.scatter.dtype == mine.mean.dtype == np.float64
    assert_allclose(mine.mean, exact.mean, rtol=1e-7)
    assert_allclose(mine.scatter, exact.scatter, atol=2e-6 * abs(exact.scatter).max(), rtol=0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_and_reused_memory_do_not_change_the_moments(dtype, weighted):
    """Large blocks take threads. Rows are moved into memory of an earlier, longer block."""
    A = (np.random.default_rng(0).standard_normal((3000, 130)) + 50).astype(dtype)
    weight = np.random.default_rng(1).random(3000) if weighted else None
    growing = MomentsSum(130)
    for rows in (slice(1500), slice(1500, 1600), slice(1600, 3000)):
        growing.add(A[rows], weight=None if weight is None else weight[rows])
    s = np.ones(3000) if weight is None else weight
    mean = s @ A.astype(float) / s.sum()
    near = A - mean
    mine, eps = pickle.loads(pickle.dumps(growing)).freeze(), np.finfo(dtype).eps
    assert_allclose(mine.mean, mean, rtol=100 * eps)
    scatter = near.T @ (s[:, None] * near)
    assert_allclose(mine.scatter, scatter, rtol=0, atol=100 * eps * scatter.max())


def test_targets_keep_their_digits_beside_float32_features():
    A, _ = _rows()
    y = np.random.default_rng(1).standard_normal((len(A), 1)) + 1e6
    growing = MomentsSum(5)
    growing.add(A.astype(np.float32), y)
    exact = Moments.of(np.hstack([A, y]))
    assert_allclose(growing.freeze().mean, exact.mean, rtol=1e-7)
    assert_allclose(
        growing.freeze().scatter, exact.scatter, atol=2e-6 * abs(exact.scatter).max(), rtol=0
    )


def test_a_block_of_another_width_is_refused():
    growing = MomentsSum(4)
    with pytest.raises(ValueError, match=r"(?s)(4.*3|3.*4)"):
        growing.add(_rows()[0][:, :3])


# --------------------------------------------------------------------------------------- folds


def _hashes(n=200, distinct=80, seed=0):
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 2**64, size=distinct, dtype=np.uint64)
    hashes = np.concatenate([pool, pool[rng.integers(distinct, size=n - distinct)]])
    return hashes, (hashes % np.uint64(3)).astype(int)


def test_equal_rows_share_a_fold_and_each_stratum_is_dealt_evenly():
    hashes, strata = _hashes()
    fold = Folds.deal(hashes, strata, n_folds=5, key=0)(hashes)
    for h in np.unique(hashes):
        assert len(np.unique(fold[hashes == h])) == 1
    for label in np.unique(strata):
        _, first = np.unique(hashes[strata == label], return_index=True)
        counts = np.bincount(fold[strata == label][first], minlength=5)
        assert len(counts) == 5
        assert counts.max() - counts.min() <= 1


def test_folds_follow_the_rows_when_these_are_permuted(rng):
    hashes, strata = _hashes()
    order = rng.permutation(len(hashes))
    fold = Folds.deal(hashes, strata, n_folds=4, key=7)(hashes)
    again = Folds.deal(hashes[order], strata[order], n_folds=4, key=7)
    assert_array_equal(again(hashes[order]), fold[order])
    assert_array_equal(again(hashes[:11]), fold[:11])


def test_another_key_gives_other_folds():
    hashes, strata = _hashes()
    one, two = (Folds.deal(hashes, strata, n_folds=5, key=key)(hashes) for key in (0, 1))
    assert (one != two).any()
    one, two = (Folds(5, key)(hashes) for key in (0, 1))
    assert (one != two).any()


def test_folds_by_clock_alone_are_even_and_a_function_of_the_row():
    """Counts of a fair deal: χ² with 4 degrees of freedom, mean 4, within (0.05, 25)."""
    hashes = np.random.default_rng(0).integers(0, 2**64, size=5000, dtype=np.uint64)
    fold = Folds(5, 3)(hashes)
    counts = np.bincount(fold, minlength=5)
    assert counts.shape == (5,)
    assert 0.05 < ((counts - 1000) ** 2 / 1000).sum() < 25
    assert_array_equal(Folds(5, 3)(hashes[::-1]), fold[::-1])


@pytest.mark.parametrize("splitter", [KFold(4), StratifiedKFold(3, shuffle=True, random_state=0)])
def test_given_folds_are_those_of_the_splitter(splitter):
    y = np.arange(30) % 2
    folds = GivenFolds.of(splitter.split(y, y), 30)
    assert folds.n_folds == splitter.get_n_splits()
    for k, (_, test) in enumerate(splitter.split(y, y)):
        assert_array_equal(np.flatnonzero(folds.places == k), test)
    rows = slice(7, 19)
    assert_array_equal(folds(np.zeros(12, dtype=np.uint64), rows), folds.places[rows])


def test_rows_that_are_never_tested_have_no_fold():
    splits = [(np.r_[2:6], np.r_[0:2]), (np.r_[0:2, 4:6], np.r_[2:4])]
    assert_array_equal(GivenFolds.of(splits, 6).places, [0, 0, 1, 1, -1, -1])


@pytest.mark.parametrize(
    "splits",
    [
        pytest.param([([2, 3], [0, 1]), ([0, 3], [1, 2])], id="tested twice"),
        pytest.param([([2], [0, 1]), ([0, 1], [2, 3])], id="left out of one split"),
        pytest.param([([0, 1, 2, 3], [0, 1]), ([0, 1], [2, 3])], id="trained and tested"),
    ],
)
def test_splits_that_moments_cannot_subtract_are_refused(splits):
    with pytest.raises(ValueError, match="cv"):
        GivenFolds.of([(np.array(a), np.array(b)) for a, b in splits], 4)


# ---------------------------------------------------------------------------------- LeastSquares


def _problem(fit_intercept, q=2):
    A, weight = _rows(p=3 + q)
    return A[:, :3], A[:, 3:], weight, LeastSquares.of(Moments.of(A, weight), q, fit_intercept)


def test_without_centred_features_only_the_targets_lose_their_mean():
    A, weight = _rows(p=5)
    share = weight / weight.sum()
    Z, Y = A[:, :3], A[:, 3:] - share @ A[:, 3:]
    problem = LeastSquares.of(Moments.of(A, weight), 2, center_features=False)
    assert_allclose(problem.gram, Z.T @ (share[:, None] * Z), rtol=1e-10)
    assert_allclose(problem.cross, Z.T @ (share[:, None] * Y), rtol=0, atol=1e-10)
    assert_allclose(problem.y_mean, share @ A[:, 3:], rtol=1e-12)
    assert not problem.z_mean.any()


def test_moments_of_combined_columns_are_those_of_the_combined_rows():
    A, weight = _rows(p=4)
    matrix, shift = np.random.default_rng(1).standard_normal((4, 2)), np.array([1.0, -3.0])
    found, expected = (
        Moments.of(A, weight).mapped(matrix, shift),
        Moments.of(A @ matrix + shift, weight),
    )
    assert found.weight == expected.weight
    assert_allclose(found.mean, expected.mean, rtol=1e-10)
    assert_allclose(found.scatter, expected.scatter, rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_problem_has_the_weighted_products_of_its_rows(fit_intercept):
    Z, Y, weight, problem = _problem(fit_intercept)
    share = weight / weight.sum()
    if fit_intercept:
        assert_allclose(problem.z_mean, share @ Z, rtol=1e-12)
        assert_allclose(problem.y_mean, share @ Y, rtol=1e-12)
        Z, Y = Z - share @ Z, Y - share @ Y
    else:
        assert not problem.z_mean.any()
        assert not problem.y_mean.any()
    assert_allclose(problem.gram, Z.T * share @ Z, rtol=0, atol=1e-12)
    assert_allclose(problem.cross, Z.T * share @ Y, rtol=0, atol=1e-12)
    assert_allclose(problem.square, share @ Y**2, rtol=1e-12)
    assert_allclose(problem.weight, weight.sum(), rtol=1e-14)
    assert (problem.width, problem.n_outputs) == (3, 2)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_loss_is_that_of_the_rows_for_any_coefficients(fit_intercept, rng):
    Z, Y, weight, problem = _problem(fit_intercept)
    coef, intercept = rng.standard_normal((3, 2)), rng.standard_normal(2)
    if not fit_intercept:
        intercept[:] = 0
    residual = Y - Z @ coef - intercept
    direct = weight @ (residual**2).sum(axis=1) / weight.sum()
    assert_allclose(problem.loss(coef, intercept), direct, rtol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_intercept_and_solution_are_those_of_least_squares(fit_intercept):
    Z, Y, weight, problem = _problem(fit_intercept)
    model = LinearRegression(fit_intercept=fit_intercept).fit(Z, Y, weight)
    coef = np.linalg.solve(problem.gram, problem.cross)
    assert_allclose(coef, model.coef_.T, rtol=1e-9)
    assert_allclose(problem.intercept(coef), model.intercept_ * np.ones(2), rtol=0, atol=1e-10)


def test_loss_gradient_is_that_of_finite_differences(rng):
    _, _, _, problem = _problem(True)
    start = rng.standard_normal(8)

    def loss(flat):
        return problem.loss(flat[:6].reshape(3, 2), flat[6:])

    by_coef, by_intercept = problem.loss_gradient(start[:6].reshape(3, 2), start[6:])
    mine = np.concatenate([by_coef.ravel(), by_intercept])
    step = 1e-4  # the loss is quadratic: central differences are exact up to round-off
    central = (approx_fprime(start, loss, step) + approx_fprime(start, loss, -step)) / 2
    assert_allclose(mine, central, rtol=1e-8, atol=1e-8)


# -------------------------------------------------------------------------------------- by folds


def _parts(places):
    A, weight = _rows(p=5)
    return (
        A[:, :3],
        A[:, 3:],
        weight,
        [Moments.of(A[places == k], weight[places == k]) for k in (0, 1, 2, -1)],
    )


@pytest.mark.parametrize("rest", [0, 20])
def test_losses_are_those_of_refits_without_each_fold(rest):
    places = np.arange(90) % 3
    places[:rest] = -1
    Z, Y, weight, parts = _parts(places)
    signs, grid = np.array([1.0, -1, 1]), [Split(1e-3, 4.0), Split(0.3, 1e-2)]
    problems = FoldProblems.of(parts, 2, True)
    assert problems.folds == [0, 1, 2]
    expected = np.zeros(2)
    for i, penalty in enumerate(grid):
        scaled = Z / np.sqrt(np.where(signs > 0, penalty.alpha, penalty.alpha_neg))
        for k in range(3):
            train, test = places != k, places == k
            model = Ridge(alpha=weight[train].sum(), solver="svd")
            model.fit(scaled[train], Y[train], weight[train])
            expected[i] += weight[test] @ ((Y - model.predict(scaled)) ** 2)[test].sum(axis=1)
    losses = problems.losses(problems.coefficients(Cholesky(Signature(signs)), grid))
    assert_allclose(losses, expected / weight[places >= 0].sum(), rtol=1e-8)


def test_folds_without_rows_are_left_out():
    *_, parts = _parts(np.arange(90) % 3)
    problems = FoldProblems.of([parts[0], Moments.zero(5), *parts[1:]], 2, True)
    assert problems.folds == [0, 2, 3]
