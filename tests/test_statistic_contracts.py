"""Every statistic goes through the checker of statistics; a new one is one line in a list here."""

from __future__ import annotations

import numpy as np
import pytest
from contract_cases import FORM, LABELS, RNG, VALUES, WEIGHT, X

import krein
from krein._hashing import Draws, Salt, hash_rows, mix
from krein.estimators._hinge_search import _Gathered, _Squares
from krein.estimators._passes import Mistakes, OutsideFolds, Predictions
from krein.estimators._representation import Representation
from krein.estimators._targets import Classes, Numbers
from krein.estimators._task import FeatureBlock, FeatureBlocks
from krein.forms import Signature
from krein.learning.newton import Outputs
from krein.learning.newton_systems import ActiveRows, GramChange
from krein.streaming import (
    Block,
    Collected,
    Data,
    Folds,
    HeldOut,
    InMemory,
    Piece,
    Reservoir,
    Together,
)
from krein.streaming.moments import FoldMoments
from krein.streaming.reservoir import Sample
from krein.streaming.survey import FoldKeys, Labels, Totals
from krein.testing import (
    check_statistic,
)

PIECES = list(Data.of(InMemory(X, LABELS, WEIGHT)).by(13))
NUMBERS = [Piece(X[p.rows], VALUES[p.rows], WEIGHT[p.rows], p.hashes, p.start) for p in PIECES]
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
    "sides": (lambda: _Gathered(_features()), FEATURES, lambda s: s.Y[:, 0], VALUES),
    "sum of features": (lambda: _Gathered(_features()), FEATURES, lambda s: s.total, WEIGHT @ Z),
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
