"""Ordinary tables: the chosen kernel, columns in any units, and maps that fit the budget."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rounding import assert_rounded
from scipy import sparse
from sklearn.model_selection import KFold

from krein import KreinClassifier, KreinRegressor, KreinRidge, Nystrom, SimilarityFeatures
from krein.auto import clock
from krein.auto.choice import Choice, Option, choose_kernel
from krein.auto.columns import Columns
from krein.auto.costs import exact_megabytes, ridge_megabytes
from krein.auto.search import FACTORS, Sample, Search, families
from krein.auto.sizes import EXACT, FEW, OPERATIONS, WIDE
from krein.auto.tables import Table
from krein.estimators import least_squares
from krein.forms import Signature
from krein.kernels import (
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    ShiftGaussian,
    Sigmoid,
    UnresolvedError,
)
from krein.kernels.medians import stretched
from krein.learning import Cholesky, Split
from krein.learning.leave_one_out import LeaveOneOut, held_out, left_out, settings
from krein.learning.selection import FoldProblems, Walk
from krein.streaming import Moments

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = np.column_stack([np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=90), X[:, 1] * X[:, 2]])
WEIGHT = RNG.uniform(0.5, 2, size=90)


# --- widths that are medians ----------------------------------------------------------------------


def _median(values):
    return np.median(values[np.triu_indices(len(values), 1)])


def test_a_width_may_be_the_median_distance():
    far = _median(np.linalg.norm(X[:, None] - X, axis=2))
    city = _median(np.abs(X[:, None] - X).sum(axis=2))
    for kernel in (Gaussian("median"), Matern("median"), ShiftGaussian("median")):
        assert kernel.resolved(X).sigma == pytest.approx(far)
    assert Laplacian("median").resolved(X).sigma == pytest.approx(city)
    assert Sigmoid("median").resolved(X).gamma == pytest.approx(1 / _median(np.abs(X @ X.T)))
    both = (Gaussian("median") + Matern(2.0)).resolved(X)
    assert_allclose(both(X), Gaussian(far)(X) + Matern(2.0)(X))


def test_a_width_that_waits_for_data_is_a_number_in_what_is_fitted():
    kernel = Gaussian("median")
    assert not kernel.is_resolved
    assert Gaussian(1.0).is_resolved
    with pytest.raises(UnresolvedError, match="sigma='median'"):
        kernel(X, X[:3])
    features = Nystrom(kernel, 10, random_state=0).fit(X)
    assert features.kernel_ == kernel.resolved(X)
    assert_allclose(kernel(X), features.kernel_(X))
    with pytest.warns(UserWarning, match="finds no two rows that differ"):
        assert kernel.resolved(np.ones((5, 2))).sigma == 1.0


def test_only_widths_from_data_are_stretched():
    kernel = Gaussian("median") * Matern(3.0)
    found = stretched(kernel, kernel.resolved(X), 2.0)
    assert_allclose(
        found(X), Gaussian(2 * Gaussian("median").resolved(X).sigma)(X) * Matern(3.0)(X)
    )


# --- leave one out --------------------------------------------------------------------------------


def test_leave_one_out_is_what_it_says():
    K = Gaussian(1.5)(X)
    whole = LeaveOneOut.of(K, Y, WEIGHT)
    share, _ = settings(True)[8]
    alpha = share * np.abs(whole.values).sum()
    centred = Y - np.average(Y, axis=0, weights=WEIGHT)
    missed = np.empty_like(Y)
    for i in range(90):
        rest = np.delete(np.arange(90), i)
        A = K[np.ix_(rest, rest)] + alpha * np.diag(1 / WEIGHT[rest])
        missed[i] = centred[i] - K[i, rest] @ np.linalg.solve(A, centred[rest])
    assert_allclose(whole.residuals()[..., 8], missed, rtol=1e-6, atol=1e-6 * np.abs(missed).max())
    best, outputs = left_out(K, Y, WEIGHT)
    assert best.loss <= np.average(np.square(missed).sum(axis=1), weights=WEIGHT) * (1 + 1e-6)
    assert best.loss == pytest.approx(np.average(np.square(Y - outputs).sum(1), weights=WEIGHT))


def test_rows_of_an_indefinite_kernel_are_held_out():
    K = DeltaGaussian(1.0, 3.0)(X)
    found, (share, _) = held_out(K, Y, np.ones(90))[..., 4], settings(False)[4]
    places = np.arange(90) % 3
    for k in range(3):
        train, test = places != k, places == k
        values, U = np.linalg.eigh(K[np.ix_(train, train)])
        alpha = share * np.abs(values).sum()
        mean = Y[train].mean(axis=0)
        coef = U @ (
            (U.T @ (Y[train] - mean)) * (np.sign(values) / (np.abs(values) + alpha))[:, None]
        )
        missed = Y[test] - mean - K[np.ix_(test, train)] @ coef
        assert_allclose(found[test], missed, rtol=1e-8, atol=1e-8 * np.abs(missed).max())


# --- the kernel -----------------------------------------------------------------------------------


def test_the_kernel_is_that_of_the_smallest_error_of_refits():
    """Brute force: every family and width, every row left out in turn."""
    rows, y = X[:40], Y[:40, :1]
    kinds = [kind for kind in families(rows) if kind.handicap == 1]
    search = Search(Sample(rows, y, np.ones(40)), kinds, lambda: True)
    search.run()
    on_grid = [tried for tried in search.tried if tried.factor in FACTORS]
    assert len(on_grid) == len(kinds) * len(FACTORS)
    best = min(on_grid, key=lambda tried: tried.loss)

    def refits(kernel):
        K = kernel(rows)
        total = np.abs(np.linalg.eigvalsh(K)).sum()
        centred = y - y.mean()
        lost = []
        for share in np.geomspace(1e-8, 1, 17):
            inverse = np.linalg.inv(K + share * total * np.eye(40))
            lost.append(np.square(inverse @ centred / np.diag(inverse)[:, None]).mean())
        return min(lost)

    brute = {(kind.name, factor): refits(kind.at(factor)) for kind in kinds for factor in FACTORS}
    assert min(brute, key=brute.__getitem__) == (best.name, best.factor)
    assert best.loss == pytest.approx(min(brute.values()), rel=1e-5)


def test_numbers_that_were_given_are_kept():
    model = KreinRegressor(Gaussian(0.7), 10, random_state=0).fit(X, Y[:, 0])
    assert model.kernel_ == Gaussian(0.7)
    assert "Kernel: Gaussian(sigma=0.7), as given." in str(model.report_)
    tuned = KreinRegressor(Matern("median", 2.5), 10, random_state=0).fit(X, Y[:, 0])
    assert isinstance(tuned.kernel_, Matern)
    assert tuned.kernel_.nu == 2.5
    losses = {tried.factor: tried.loss for tried in tuned.report_.kernel.tried}
    assert len(losses) >= len(FACTORS)
    assert "squared error" in str(tuned.report_)


def test_ridge_on_a_given_positive_kernel_is_exact():
    """It is kernel ridge with the penalty that left-out rows choose."""
    y = Y[:, 0]
    model = KreinRegressor(Gaussian(0.7), random_state=0).fit(X, y)
    assert [(trial.features, trial.learner) for trial in model.report_.trials] == [
        ("Nystrom (all)", "ridge")
    ]
    exact = KreinRidge(
        features=Nystrom(Gaussian(0.7), len(X), landmarks="all"), cv="loo", random_state=0
    )
    found = [one.fit(X, y).predict(X + 0.05) for one in (model, exact)]
    assert_allclose(*found, atol=0.02 * y.std())
    tried = KreinRegressor(DeltaGaussian(0.7, 7.0), random_state=0).fit(X, y).report_.trials
    assert {"ridge", "VC-LSM"} <= {trial.learner for trial in tried}


def test_a_search_without_time_ends_after_the_first_family():
    choice = choose_kernel(X, Y, WEIGHT, None, lambda: False)
    assert {tried.name for tried in choice.tried} == {"Gaussian"}
    assert "max_seconds" in str(choice)


def test_a_refinement_ends_with_the_time():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    sample = Sample(rows, rows.sum(axis=1, keepdims=True), np.ones(60))  # wider is better for ever
    laplacian = families(rows)[3:4]
    free = Search(sample, laplacian, lambda: True)
    assert free.run().factor > FACTORS[-1]
    checks = iter([True])  # one check after the comparison of all widths, the others refine
    assert Search(sample, laplacian, lambda: next(checks, False)).run().factor == FACTORS[-1]


def test_a_clock_counts_from_the_beginning_and_knows_what_trials_cost(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(clock.time, "perf_counter", lambda: now[0])
    limited, free = clock.Clock(10.0), clock.Clock(None)
    now[0] += 4.0
    assert limited.is_early()
    assert limited.excuse(6.0) == ""
    assert (
        limited.excuse(6.1) == "left out: 4.0 s of 10 s are used, and about 6.1 s more are expected"
    )
    now[0] += 1.0
    assert not limited.is_early()
    assert free.is_early()
    assert free.excuse(1e9) == ""
    assert limited.expected(OPERATIONS) == 60
    limited.learn(OPERATIONS / 2, 6.0)
    assert limited.expected(OPERATIONS) == 12
    limited.learn(1.0, 1.0)  # a small trial, which takes more time per operation
    assert limited.expected(OPERATIONS) == 12


def test_a_map_of_many_operations_is_not_begun_without_time_for_it():
    rows = np.random.default_rng(0).normal(size=(700, 3))
    model = KreinRegressor(max_seconds=1e-9, random_state=0).fit(rows, rows[:, 0])
    first, *others = model.report_.trials
    assert np.isfinite(first.score)
    assert [trial.width for trial in others] == [300, 700]
    assert all("more are expected" in trial.note for trial in others)


# --- columns in any units -------------------------------------------------------------------------

TABLE = np.random.default_rng(2).normal(size=(240, 3))
TARGET = (
    np.sin(2 * TABLE[:, 0]) + 0.5 * TABLE[:, 1] + 0.05 * np.random.default_rng(3).normal(size=240)
)
TRAIN, NEW = slice(160), slice(160, None)


def _fitted(rows, y=TARGET, learner=KreinRegressor):
    model = learner(cv=KFold(5, shuffle=True, random_state=0), n_models=1, random_state=0)
    return model.fit(rows[TRAIN], y[TRAIN])


def test_units_do_not_matter():
    other = TABLE * [1e3, 1e-6, 7.0] + [0.0, 5.0, -1e4]
    one, two = _fitted(TABLE), _fitted(other)
    assert one.score(TABLE[NEW], TARGET[NEW]) > 0.95
    # Rows are drawn by their content, which the units change: the models differ a little.
    gap = one.predict(TABLE[NEW]) - two.predict(other[NEW])
    assert np.sqrt(np.mean(gap**2)) < 0.1 * TARGET.std()


def test_an_outlier_and_a_constant_do_no_harm():
    rows = np.column_stack([TABLE, np.full(240, 3.0)])
    rows[5, 1] = 1e6
    model = _fitted(rows)
    assert model.score(rows[NEW], TARGET[NEW]) > 0.95
    new = rows[NEW].copy()
    new[:, 3] = -1e9
    assert_rounded(model.predict(new), model.predict(rows[NEW]))


def test_the_order_of_rows_changes_nothing():
    order = np.random.default_rng(4).permutation(160)
    one = KreinRegressor(random_state=0).fit(TABLE[TRAIN], TARGET[TRAIN])
    two = KreinRegressor(random_state=0).fit(TABLE[TRAIN][order], TARGET[TRAIN][order])
    assert one.report_.reason == two.report_.reason
    assert_allclose(one.predict(TABLE[NEW]), two.predict(TABLE[NEW]), rtol=1e-6, atol=1e-6)


def test_a_classifier_of_a_table_is_good_and_sparse_rows_are_taken():
    labels = np.where(TARGET > 0, "up", "down")
    model = _fitted(TABLE, labels, KreinClassifier)
    assert model.score(TABLE[NEW], labels[NEW]) > 0.9
    rows = sparse.csr_matrix(np.where(TABLE > 0.3, TABLE, 0.0))
    again = KreinClassifier("auto", random_state=0).fit(rows[TRAIN], labels[TRAIN])
    assert again.score(rows[NEW], labels[NEW]) > 0.6


@pytest.mark.parametrize("n_rows", [2, 3, 7, 8, 12])
def test_few_rows_are_enough(n_rows):
    rows, y = TABLE[:n_rows], TARGET[:n_rows]
    assert np.isfinite(KreinRegressor(random_state=0).fit(rows, y).predict(rows)).all()


# --- maps that fit the budget ---------------------------------------------------------------------


def _table(n_rows, megabytes=1024.0, hurried=False, n_outputs=1):
    choice = Choice([Option(Gaussian(), Columns())], [])
    return Table(choice, n_rows, 3, n_outputs, 5, megabytes, hurried, 0)


def _widths(table, kinds=("ridge", "VC-LSM")):
    return [candidate.width for candidate in table.candidates("auto", list(kinds))]


def test_maps_are_exact_or_as_wide_as_fits():
    assert _widths(_table(700)) == [700]
    assert _widths(_table(EXACT)) == [EXACT]
    assert _widths(_table(20_000)) == [WIDE[-1]]
    assert _widths(_table(200_000))[0] < WIDE[-1]
    assert _widths(_table(700, hurried=True)) == [100, 300, 700]
    assert _widths(_table(EXACT, hurried=True)) == [100, 300, 1000, EXACT]
    (small,) = _widths(_table(EXACT, megabytes=100.0))
    assert ridge_megabytes(small, 5) <= 100
    assert exact_megabytes(EXACT) <= 1024
    both = ("ridge", "squared hinge")
    assert _widths(_table(FEW), both) == [FEW, 1000]
    assert _widths(_table(EXACT), both) == [EXACT]
    assert _widths(_table(2 * EXACT), both) == [WIDE[-1], 1000]
    assert _widths(_table(FEW, n_outputs=10_000), both) == [FEW]
    assert [c.width for c in _table(700).candidates(20, ["ridge"])] == [20]
    assert _table(700).notes(["ridge"]) == []
    (said,) = _table(EXACT, megabytes=100.0).notes(["ridge"])
    assert f"maps wider than {small}" in said
    assert len(_table(FEW, n_outputs=10_000).notes(["squared hinge"])) == 1
    (said,) = _table(EXACT).notes(["squared hinge"])
    assert "more time than ridge on the exact kernel" in said


@pytest.mark.parametrize("n_rows", [130, 300])
def test_a_limit_of_time_that_is_not_reached_changes_nothing(n_rows):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n_rows, 3))
    noisy = rows[:, 0] * rows[:, 1] + rng.normal(size=n_rows) > 0
    made = [KreinClassifier(max_seconds=limit, random_state=0) for limit in (None, 1e9)]
    free, limited = (model.fit(rows, noisy).decision_function(rows) for model in made)
    assert_allclose(limited, free, atol=1e-9)
    assert len(made[1].report_.trials) > len(made[0].report_.trials)  # the stopgap


def test_a_stopgap_is_kept_only_while_its_learner_has_no_other_map():
    many = 2 * EXACT
    hurried = _table(many, hurried=True).candidates("auto", ["ridge", "squared hinge"])
    assert [candidate.width for candidate in hurried] == [100, 300, 1000, WIDE[-1], 1000]
    assert [candidate.is_stopgap for candidate in hurried] == [True, True, True, False, False]
    assert hurried[0].kinds == ("ridge", "squared hinge")
    without = _table(many, hurried=True, n_outputs=10_000)
    assert without.candidates("auto", ["ridge", "squared hinge"])[0].kinds == ("ridge",)


@pytest.mark.slow
def test_memory_is_obeyed():
    rows = np.random.default_rng(0).normal(size=(4000, 5))
    model = KreinRegressor(max_megabytes=20, random_state=0)
    tracemalloc.start()
    model.fit(rows, np.sin(rows[:, 0]) + rows[:, 1])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 120 * 2**20
    assert "max_megabytes=20" in str(model.report_)


def test_outputs_of_a_map_need_no_features():
    for features in (
        Nystrom(Gaussian(), 12, core="truncated", n_landmarks=12, random_state=0),
        SimilarityFeatures(Gaussian(), 12, random_state=0),
        Nystrom(Gaussian(), 12, random_state=0),
    ):
        model = KreinRidge(features=features, alpha=1e-3).fit(X, Y)
        expected = model.features_.transform(X) @ model.coef_.T + model.intercept_
        assert_allclose(model.predict(X), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("signs", [np.ones(5), np.array([1.0, -1, 1, -1, 1])])
def test_a_walk_finds_the_best_equal_penalties_with_fewer_factorisations(signs):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 5)) * [3.0, 1, 0.3, 0.1, 0.03]
    y = Z @ rng.normal(size=(5, 1)) + rng.normal(size=(200, 1))
    parts = [Moments.of(np.hstack([Z, y])[k::5]) for k in range(5)]
    problems = FoldProblems.of([*parts, Moments.zero(6)], 1, True)
    solver = Cholesky(Signature(signs))
    path = [Split(float(a), float(a)) for a in np.geomspace(1e-8, 1, 9) * 10]
    walk = Walk(problems, solver)
    place = walk.along(path)
    losses = problems.losses(problems.coefficients(solver, path))
    assert losses[place] == losses.min()
    assert len(walk.tried) < len(path)
    (coefs, _), *_ = walk.fitted()
    assert len(coefs) == len(walk.tried)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), DeltaGaussian(1.0, 4.0)])
def test_wide_maps_choose_the_same_penalty_with_less_work(monkeypatch, kernel):
    features = Nystrom(kernel, 30, random_state=0)
    whole = KreinRidge(features=features, random_state=0).fit(X, Y[:, 0])
    monkeypatch.setattr(least_squares, "LARGE", 5)
    monkeypatch.setattr("krein.learning.selection.LARGE", 5)
    short = KreinRidge(features=features, random_state=0).fit(X, Y[:, 0])
    assert len(short.cv_results_["alpha"]) < len(whole.cv_results_["alpha"])
    least = [m.cv_results_["squared_error"].min() for m in (short, whole)]
    assert least[0] <= 1.1 * least[1]
