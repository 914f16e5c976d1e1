"""Every instance of a noun of the upper half goes through the checker of that noun.

A new penalty, solver, statistic, container, landmark rule or learner is one line in a list here.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

import krein
from krein._hashing import Draws, Salt, hash_rows, mix
from krein.estimators._hinge_search import _Sides, _Squares
from krein.estimators._passes import Mistakes, OutsideFolds, Predictions
from krein.estimators._representation import Representation
from krein.estimators._targets import Classes, Numbers
from krein.estimators._task import FeatureBlock, FeatureBlocks
from krein.features.landmarks import RULES
from krein.forms import Phase, Signature
from krein.kernels import DeltaGaussian, Gaussian, ShiftGaussian
from krein.learning import (
    L1,
    Cholesky,
    Constrained,
    CoordinateDescent,
    Indefinite,
    LeastSquares,
    Secular,
    Split,
    SymmetricIndefinite,
)
from krein.learning.newton import Outputs
from krein.learning.newton_systems import ActiveRows, GramChange
from krein.streaming import (
    Block,
    Blocks,
    Collected,
    Data,
    Folds,
    HeldOut,
    InMemory,
    Moments,
    Piece,
    Reservoir,
    Together,
    fold,
    open_stream,
)
from krein.streaming.moments import FoldMoments
from krein.streaming.reservoir import Sample
from krein.streaming.survey import FoldKeys, Labels, Totals
from krein.testing import (
    check_container,
    check_feature_map,
    check_landmark_rule,
    check_learner,
    check_penalty,
    check_solver,
    check_statistic,
)

RNG = np.random.default_rng(0)
X = np.round(64 * RNG.standard_normal((60, 3))) / 64
VALUES = np.sin(2 * X[:, 0]) + X[:, 1]
LABELS = np.array(["a", "b", "c"])[np.digitize(VALUES, [-0.7, 0.7])]
WEIGHT = RNG.integers(0, 4, 60).astype(float)

# ------------------------------------------------------------------------------------- penalties

FORMS = [
    Signature([1.0, -1, 1, -1, 1]),
    Signature(np.ones(3)),
    Phase([0.0, 1.0, np.pi, 2.5]),
]
PENALTIES = [
    Split(0.3, 2.0),
    Split(0.3, np.inf),
    L1(0.1, 0.2),
    Constrained(0.5, 0.1, 0.9),
    Indefinite(0.7),
]


@pytest.mark.parametrize("form", FORMS, ids=repr)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_penalties(penalty, form):
    check_penalty(penalty, form)


# --------------------------------------------------------------------------------------- solvers

FORM = Signature([1.0, -1, 1, -1, 1])


def _problem():
    Z = RNG.standard_normal((80, 5)) + 0.5
    Y = Z @ RNG.standard_normal((5, 2)) + RNG.standard_normal((80, 2))
    return LeastSquares.of(Moments.of(np.hstack([Z, Y])), 2)


PROBLEM = _problem()


def _linear(penalty):
    """The solution of a quadratic problem: one linear system, infinite penalties left out."""
    P = penalty.matrix(FORM)
    used = np.isfinite(np.diagonal(P))
    coef = np.zeros_like(PROBLEM.cross)
    A = (PROBLEM.gram + np.where(np.isfinite(P), P, 0))[np.ix_(used, used)]
    coef[used] = np.linalg.solve(A, PROBLEM.cross[used])
    return coef


def _shrunk(penalty):
    """The solution of an ℓ1 problem as positive and negative parts, by bounded descent."""
    weights = np.tile(penalty.diagonal(FORM), 2)
    columns = []
    for c in PROBLEM.cross.T:

        def objective(v, c=c):
            w = v[:5] - v[5:]
            slope = 2 * (PROBLEM.gram @ w - c)
            value = w @ PROBLEM.gram @ w - 2 * c @ w + weights @ v
            return value, np.concatenate([slope, -slope]) + weights

        options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000}
        found = minimize(objective, np.ones(10), jac=True, bounds=[(0, None)] * 10, options=options)
        columns.append(found.x[:5] - found.x[5:])
    return np.stack(columns, axis=1)


def _on_the_sphere(penalty):
    """The best of many descents in coordinates in which the constraint is a sphere."""
    values, vectors = np.linalg.eigh(PROBLEM.gram)
    basis = vectors / np.sqrt(values)
    C = basis.T @ penalty.matrix(FORM) @ basis
    columns = []
    for c, square in zip(PROBLEM.cross.T, PROBLEM.square, strict=True):
        b, radius = basis.T @ c, penalty.spread * np.sqrt(square)

        def objective(v, b=b, radius=radius):
            norm = np.linalg.norm(v)
            g = radius * v / norm
            slope = 2 * (C @ g - b)
            return g @ C @ g - 2 * b @ g, radius / norm * (slope - (slope @ v) * v / norm**2)

        starts = [b, -b, *np.random.default_rng(1).standard_normal((6, 5))]
        options = {"gtol": 1e-12, "maxiter": 5000}
        found = min((minimize(objective, s, jac=True, options=options) for s in starts), key=_value)
        columns.append(basis @ (radius * found.x / np.linalg.norm(found.x)))
    return np.stack(columns, axis=1)


def _value(found):
    return found.fun


SOLVERS = [
    (Cholesky(FORM), [Split(0.02, 0.7), Split(3.0, 1e-3), Split(0.1, np.inf)], _linear),
    (SymmetricIndefinite(FORM), [Indefinite(0.013), Indefinite(5.0)], _linear),
    (CoordinateDescent(FORM, tol=1e-12), [L1(0.1, 0.3), L1(0.5, 0.02)], _shrunk),
    (Secular(FORM), [Constrained(0.02, 0.7, 0.9), Constrained(0.3, 0.1, 0.4)], _on_the_sphere),
]


@pytest.mark.parametrize(
    ("solver", "penalties", "twin"), SOLVERS, ids=[type(s[0]).__name__ for s in SOLVERS]
)
def test_solvers(solver, penalties, twin):
    check_solver(solver, PROBLEM, penalties, twin)


# ------------------------------------------------------------------------------------ statistics

PIECES = list(Data.of(InMemory(X, LABELS, WEIGHT)).by(13))
NUMBERS = [
    Piece(X[i : i + 13], VALUES[i : i + 13], WEIGHT[i : i + 13], PIECES[i // 13].hashes, i)
    for i in range(0, 60, 13)
]
Z = X
Y = VALUES[:, None]
FEATURES = [FeatureBlock(p.rows, p.hashes, Z[p.rows], Y[p.rows], WEIGHT[p.rows]) for p in NUMBERS]
ROWS = [(block.rows, block.Z) for block in FEATURES]
FOLDS = Folds(3, 0)
HASHES = np.concatenate([p.hashes for p in PIECES])
COEF = np.array([0.3, -1.0, 2.0, 0.7])
IDENTITY = Representation(krein.RandomFourier(n_components=4, random_state=0).fit(X), FORM)


def _features():
    data = Data.of(InMemory(X, VALUES, WEIGHT))
    return FeatureBlocks(
        data, Representation(None, Signature(np.ones(3))), Numbers("x", 1, True), 60
    )


def _scatter(A, weight):
    total = weight.sum()
    mean = weight @ A / total
    return (A - mean).T @ (weight[:, None] * (A - mean))


def _wrong():
    out = Z @ COEF[:3] + COEF[3]
    judged = FOLDS(HASHES) == 1
    wrong = (out > 0) != (VALUES > 0)
    return WEIGHT[judged] @ wrong[judged] / WEIGHT[judged].sum()


def _sampled_outputs(size):
    """Outputs of the rows of fold 1 with the smallest clocks; no two rows are equal."""
    used = (FOLDS(HASHES) == 1) & (WEIGHT > 0)
    pairs = mix(HASHES[used] + mix(hash_rows(Y[used])))
    first = np.argsort(Draws(pairs, 0).clocks(Salt.UNIFORM))[:size]
    return (Z @ COEF[:3] + COEF[3])[used][first]


CHANGE = RNG.choice([-1.0, 0.0, 2.0], 60)
ONES = np.column_stack([Z, np.ones(60)])
FITTED = {1: (COEF[None, :3, None], COEF[None, 3:])}
STATISTICS = {
    "totals": (
        lambda: Totals("x", False),
        NUMBERS,
        lambda t: [t.n_rows, t.weight, t.n_outputs, t.largest_target, t.largest_weight],
        [60, WEIGHT.sum(), 1, np.abs(VALUES).max(), WEIGHT.max()],
    ),
    "labels": (
        lambda: Labels("x", True),
        PIECES,
        lambda found: found.sorted()[1],
        [WEIGHT[label == LABELS].sum() for label in "abc"],
    ),
    "fold keys": (
        lambda: FoldKeys(True),
        PIECES,
        lambda found: np.concatenate([counted for _, _, counted in found.keys]),
        WEIGHT > 0,
    ),
    "sample": (
        lambda: Sample(lambda rows: 100, 0),
        NUMBERS,
        lambda s: np.sort(s.reservoir.rows[:, 0]),
        np.unique(X[WEIGHT > 0], axis=0)[:, 0],
    ),
    "weights of a sample": (
        lambda: Sample(lambda rows: 100, 0),
        NUMBERS,
        lambda s: np.sort(s.reservoir.weight * s.reservoir.y),
        np.sort((WEIGHT * VALUES)[WEIGHT > 0]),
    ),
    "moments": (
        lambda: FoldMoments(4),
        FEATURES,
        lambda found: found.moments()[0].scatter,
        _scatter(np.column_stack([Z, Y]), WEIGHT),
    ),
    "moments of a fold": (
        lambda: FoldMoments(4, FOLDS),
        FEATURES,
        lambda found: found.moments()[1].scatter,
        _scatter(np.column_stack([Z, Y])[FOLDS(HASHES) == 1], WEIGHT[FOLDS(HASHES) == 1]),
    ),
    "mistakes": (
        lambda: Mistakes(FOLDS, FITTED, Classes("x", np.arange(2))),
        FEATURES,
        lambda m: m.errors,
        [_wrong()],
    ),
    "outputs of folds": (
        lambda: OutsideFolds(FOLDS, {1: (COEF[:3, None], COEF[3:])}, HeldOut(1)),
        FEATURES,
        lambda found: np.sort(found.held.rows.outputs[:, 0]),
        np.sort((Z @ COEF[:3] + COEF[3])[(FOLDS(HASHES) == 1) & (WEIGHT > 0)]),
    ),
    "sampled outputs of folds": (
        lambda: OutsideFolds(FOLDS, {1: (COEF[:3, None], COEF[3:])}, HeldOut(1, size=7)),
        FEATURES,
        lambda found: found.held.rows.outputs[:, 0],
        _sampled_outputs(7),
    ),
    "outputs": (lambda: Outputs(60, COEF), ROWS, lambda out: out.values, ONES @ COEF),
    "gradient": (
        lambda: GramChange(3, CHANGE, VALUES),
        ROWS,
        lambda found: found.gradient,
        Z.T @ VALUES,
    ),
    "gradient beside few rows": (
        lambda: ActiveRows(3, np.abs(CHANGE), VALUES),
        ROWS,
        lambda found: found.gradient,
        Z.T @ VALUES,
    ),
    "few rows of a step": (
        lambda: ActiveRows(3, np.abs(CHANGE), VALUES),
        ROWS,
        lambda found: found.rows(),
        (np.sqrt(np.abs(CHANGE))[:, None] * ONES)[CHANGE != 0],
    ),
    "change of a gram matrix": (
        lambda: GramChange(3, CHANGE, VALUES),
        ROWS,
        lambda found: np.triu(found.gram()),  # entries below the diagonal have no meaning
        np.triu(ONES.T @ (CHANGE[:, None] * ONES)),
    ),
    "sides": (lambda: _Sides(_features()), FEATURES, lambda s: s.Y[:, 0], VALUES),
    "sum of features": (lambda: _Sides(_features()), FEATURES, lambda s: s.total, WEIGHT @ Z),
    "squares": (
        lambda: _Squares(WEIGHT),
        ROWS,
        lambda found: found.total,
        WEIGHT @ np.square(Z).sum(axis=1),
    ),
    "predictions": (
        lambda: Predictions(IDENTITY, np.ones((1, 4))),
        [Block(X[i : i + 13]) for i in range(0, 60, 13)],
        lambda found: found.outputs[:, 0],
        IDENTITY.transform(X).sum(axis=1),
    ),
    "pieces": (
        lambda: Collected(len),
        PIECES,
        lambda found: found.pieces,
        [len(p) for p in PIECES],
    ),
    "together": (
        lambda: Together(Totals("x", False), Collected(len)),
        NUMBERS,
        lambda found: found.statistics[0].weight,
        WEIGHT.sum(),
    ),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics(name):
    check_statistic(*STATISTICS[name])


def test_a_sample_keeps_the_smallest_target_and_the_whole_weight_of_equal_rows():
    rows, y, weight = (
        np.array([[1.0], [2.0], [1.0]]),
        np.array([5.0, 4.0, 3.0]),
        np.array([1, 2, 4]),
    )
    for order in ([0, 1, 2], [2, 1, 0]):
        found = Reservoir.zero(5, 0)
        for i in order:
            found = found.update(rows[i : i + 1], weight[i : i + 1], y[i : i + 1])
        where = np.argsort(found.rows[:, 0])
        assert found.y[where].tolist() == [3.0, 4.0]
        assert found.weight[where].tolist() == [5.0, 2.0]


# ------------------------------------------------------------------------------------ containers


def _files(folder):
    table = np.column_stack([X, VALUES])
    np.savetxt(folder / "a.csv", table, delimiter=",", header="a,b,c,y", comments="", fmt="%.17g")
    np.savez(folder / "a.npz", X=X, y=VALUES)
    np.save(folder / "a.npy", X)
    np.save(folder / "y.npy", VALUES)
    return {
        "csv": open_stream(folder / "a.csv", target="y", rows=7),
        "npz": open_stream(folder / "a.npz", rows=7),
        "npy": open_stream(folder / "a.npy", target=folder / "y.npy", rows=7),
    }


@pytest.mark.parametrize("name", ["memory", "sparse", "blocks", "csv", "npz", "npy"])
def test_containers(name, tmp_path):
    made = {
        "memory": InMemory(X, VALUES, rows=7),
        "sparse": InMemory(sparse.csr_array(X), VALUES, rows=7),
        "blocks": Blocks([(X[:20], VALUES[:20]), (X[20:], VALUES[20:])]),
        **_files(tmp_path),
    }
    check_container(made[name], X, VALUES)


def test_containers_with_weights():
    check_container(InMemory(X, VALUES, WEIGHT, rows=11), X, VALUES, WEIGHT)


# ------------------------------------------------------------------------- maps, rules, learners


@pytest.mark.parametrize(
    "features",
    [
        krein.RandomFourier(DeltaGaussian(), 16, random_state=0),
        krein.RandomFourier(ShiftGaussian(), 16, random_state=0),
        krein.MixtureFourier(DeltaGaussian(), 8, n_subsample=20, max_iter=2, random_state=0),
        krein.Nystrom(DeltaGaussian(1.0, 4.0), 8, random_state=0),
        krein.Nystrom(ShiftGaussian(1.0, 0.4), 8, random_state=0),
        krein.RandomArcCosine(16, random_state=0),
        krein.LearnedKernelFeatures(n_components=16, random_state=0),
        krein.NotSoRandomFeatures(6, band=2.0, n_starts=2, random_state=0),
    ],
    ids=repr,
)
def test_feature_maps_of_one_and_of_two_sides(features):
    check_feature_map(features.fit(X, LABELS), X[:20], X[20:40])


@pytest.mark.parametrize("name", RULES)
def test_landmark_rules(name):
    rows = np.unique(X, axis=0)
    n = {"all": len(rows), "supervised": 3}.get(name, 12)  # few: then not all rows are candidates
    check_landmark_rule(RULES[name](), Gaussian(), rows, n, np.sin(rows[:, 0]))


LEARNERS = [
    krein.KreinRidge(Gaussian(1.0), 10, alpha=1e-3, random_state=0),
    krein.KreinRidge(Gaussian(1.0), 10, random_state=0),
    krein.KreinRidgeClassifier(DeltaGaussian(1.0, 4.0), 10, alpha=1e-3, random_state=0),
    krein.TwoSidedRidge(ShiftGaussian(1.0, 0.4), 10, random_state=0),
    krein.TwoSidedRidge(
        features=krein.RandomFourier(ShiftGaussian(1.0, 0.4), 16, random_state=0), alpha=1e-3
    ),
    krein.TwoSidedRidgeClassifier(ShiftGaussian(1.0, 0.4), 10, combine="stack", random_state=0),
    krein.VarianceConstrainedRegressor(Gaussian(1.0), 10, alpha=1e-3, random_state=0),
    krein.VarianceConstrainedClassifier(Gaussian(1.0), 10, alpha=1e-3, random_state=0),
    krein.KreinSVC(DeltaGaussian(1.0, 4.0), 10, alpha=1e-3, tol=1e-10, random_state=0),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_learners(learner):
    y = LABELS if hasattr(learner, "class_weight") else VALUES
    check_learner(learner, X, y)


# C belongs to a sum over the rows: with all weights doubled the model is another one.
SUMMED = [krein.NotSoRandomClassifier(6, C=1.0, band=2.0, n_starts=2, tol=1e-10, random_state=0)]


@pytest.mark.parametrize("learner", LEARNERS + SUMMED, ids=lambda learner: type(learner).__name__)
def test_learners_see_data_only_through_folds(learner):
    """The model of a fold over pieces of another size is the same."""
    y = LABELS if hasattr(learner, "class_weight") else VALUES
    blocks = Blocks([(X[i : i + 9], y[i : i + 9]) for i in range(0, 60, 9)])
    one, other = (np.asarray(learner.fit(data).coef_) for data in (blocks, InMemory(X, y)))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-6 * np.abs(other).max())
    assert fold(blocks, Collected(lambda block: len(block.X))).pieces == [9] * 6 + [6]
