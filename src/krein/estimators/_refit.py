"""Cross-validation in which the map, too, is fitted without the rows that judge it.

A map that is fitted once on all rows has seen the rows of every fold, without their targets. On
many rows that is harmless. On a few dozen, where a row may be its own landmark, its features are
not those of a new row, and penalties chosen on them are wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._validation import as_generator
from ..streaming import Block, InMemory, split
from ._data import Data, Survey, survey

Array = NDArray[np.floating]
# What a learner knows of the targets before it learns.
TARGETS = (
    "classes_",
    "_class_weights",
    "_single",
    "n_features_in_",
    "_target_unit",
    "_weight_unit",
)


class Fold(NamedTuple):
    """A learner with its map fitted on the other rows, those rows, and the rows of the fold."""

    learner: Any
    data: Data
    seen: Survey
    Z: Array
    Y: Array
    weight: Array


def refitted(learner: Any, data: Data, seen: Survey) -> Iterator[Fold]:
    """One `Fold` after the other."""
    if not isinstance(data.container, InMemory):
        raise ValueError(
            f"{type(learner).__name__}(refit=True) fits the map anew for each fold, which needs "
            "data in memory: use refit=False for streams."
        )
    X, y, s = data.container.X, data.container.y, data.container.weight
    assert y is not None
    hashes = np.concatenate([piece.hashes for piece in data.pieces(2**16)])
    places = seen.folds(hashes, slice(None))
    counted = np.ones(len(places), dtype=bool) if s is None else s > 0
    for fold in range(seen.folds.n_folds):
        train, test = (
            np.flatnonzero(counted & where) for where in (places != fold, places == fold)
        )
        if not len(train) or not len(test):
            continue
        rows, new = _take(X, train, train, data.pairwise), _take(X, test, train, data.pairwise)
        part = Data(InMemory(rows, y[train], None if s is None else s[train]), data.pairwise)
        # Splits need no copy, which a generator does not allow.
        child = clone(type(learner)(**{**learner.get_params(deep=False), "cv": 2}))
        vars(child).update(
            {name: value for name, value in vars(learner).items() if name in TARGETS}
        )
        look = survey(part, 0, 2, learner._classifies, type(learner).__name__)
        with warnings.catch_warnings():
            # The user asked for a rank on all rows, not on those of a fold.
            warnings.filterwarnings("ignore", "There are .* rows, fewer than", UserWarning)
            child._fit_features(look, as_generator(learner.random_state))
        if part.columns is not None:
            new = new[:, part.columns]
        Z = np.concatenate(
            [child._transform(block.X) for block in split(Block(new), child._block_rows)]
        )
        weight = learner._weigh(y[test], None if s is None else s[test])
        if weight is None:
            weight = np.ones(len(test))
        yield Fold(child, part, look, Z, learner._encode(y[test]), weight)


def _take(X: Any, rows: NDArray[np.intp], columns: NDArray[np.intp], pairwise: bool) -> Any:
    if isinstance(X, list):
        return [X[i] for i in rows]
    return X[np.ix_(rows, columns)] if pairwise else X[rows]


def mistakes(outputs: Array, Y: Array) -> NDArray[np.bool_]:
    """Whether outputs (c, n, q) name another class than the targets ±1 (n, q); shape (c, n)."""
    if Y.shape[1] == 1:
        return (outputs[..., 0] > 0) != (Y[:, 0] > 0)
    return outputs.argmax(axis=2) != Y.argmax(axis=1)


class Scores:
    """Errors and losses of candidates, added up over folds."""

    def __init__(self, n_candidates: int):
        self.wrong, self.lost, self.squares, self.clipped = np.zeros((4, n_candidates))
        self.total = 0.0

    def add(self, outputs: Array, Y: Array, weight: Array, losses: Array) -> None:
        """Outputs (c, n, q) and losses (c, n) on rows with targets Y (n, q)."""
        self.total += float(weight.sum())
        self.lost += losses @ weight
        self.wrong += mistakes(outputs, Y) @ weight
        self.squares += np.square(outputs - Y).sum(axis=2) @ weight
        self.clipped += np.square(np.clip(outputs, -1, 1) - Y).sum(axis=2) @ weight

    @property
    def errors(self) -> Array:
        return self.wrong / (self.total or 1.0)

    @property
    def squared_errors(self) -> Array:
        return self.squares / (self.total or 1.0)

    @property
    def brier(self) -> Array:
        """The squared error of ½ (1 + f) as a probability; outputs f beyond ±1 are certain."""
        return self.clipped / (4 * self.total or 1.0)

    @property
    def losses(self) -> Array:
        return self.lost / (self.total or 1.0)
