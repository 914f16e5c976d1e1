"""Every instance of a noun of the upper half goes through the checker of that noun.

A new penalty, solver, container, landmark rule or learner is one line in a list here.
"""

from __future__ import annotations

import numpy as np
import pytest
from contract_cases import FORM, LABELS, RNG, VALUES, WEIGHT, X
from scipy import sparse
from scipy.optimize import minimize

import krein
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
from krein.streaming import (
    Blocks,
    Collected,
    InMemory,
    Moments,
    fold,
    open_stream,
)
from krein.testing import (
    check_container,
    check_feature_map,
    check_landmark_rule,
    check_learner,
    check_penalty,
    check_solver,
)

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
