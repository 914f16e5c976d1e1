"""Statistics of passes in which every row is judged by the model of all other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._hashing import Hashes
from ..learning import LeftOut
from ..streaming import HeldOut, Piece
from ._passes import Scores
from ._targets import Targets
from ._task import FeatureBlock

Array = NDArray[np.floating]


class EqualRows:
    """A statistic: the total weight and the mean target of all rows with the same content.

    A row is left out together with its copies: the model of all other rows would have learned from
    the copies.

    Parameters
    ----------
    targets : Numbers or Classes or Tags
    """

    def __init__(self, targets: Targets):
        self.targets = targets
        self._pieces: list[tuple[Hashes, Array, Array]] = []

    def update(self, piece: Piece) -> EqualRows:
        """Add the rows of one piece, in place."""
        Y = self.targets.encode(piece.y)
        weight = self.targets.weigh(piece.y, piece.weight)
        weight = np.ones(len(Y)) if weight is None else weight
        counted = weight > 0
        self._pieces.append((piece.hashes[counted], Y[counted], weight[counted]))
        return self

    def merge(self, other: EqualRows) -> EqualRows:
        """Add the rows of `other`, in place."""
        self._pieces += other._pieces
        return self

    def freeze(self) -> EqualRows:
        """Compute the totals; no rows can be added afterwards."""
        hashes, Y, weight = (np.concatenate(part) for part in zip(*self._pieces, strict=True))
        self._hashes, kinds = np.unique(hashes, return_inverse=True)
        self._weight = np.bincount(kinds, weights=weight)
        sums = [np.bincount(kinds, weights=weight * column) for column in Y.T]
        self._mean = np.stack(sums, axis=1) / self._weight[:, None]
        self._pieces = []
        return self

    def __len__(self) -> int:
        """Return the number of different rows of positive weight."""
        return len(self._hashes)

    def of(self, hashes: Hashes) -> tuple[Array, Array]:
        """Return the mean target and the total weight of all copies of rows with these hashes.

        Rows of weight zero, which no model has learned from, have the weight zero.
        """
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self) - 1)
        known = self._hashes[places] == hashes
        return self._mean[places], np.where(known, self._weight[places], 0.0)


class LeftOutScores:
    """The statistic of the losses of candidates; each row is judged by all other rows.

    Parameters
    ----------
    models : LeftOut
    equal : EqualRows
    scores : Scores
        Takes the losses.
    """

    def __init__(self, models: LeftOut, equal: EqualRows, scores: Scores):
        self.models, self.equal, self.scores = models, equal, scores

    def update(self, block: FeatureBlock) -> LeftOutScores:
        """Add the losses of the rows of a block, in place."""
        outputs = self.models.outputs(block.Z, *self.equal.of(block.hashes))
        weight = np.ones(len(block.Z)) if block.weight is None else block.weight
        self.scores.add(outputs, block.Y, weight, np.square(outputs - block.Y).sum(axis=2))
        return self

    def merge(self, other: LeftOutScores) -> LeftOutScores:
        """Add the losses of `other`, in place."""
        self.scores.merge(other.scores)
        return self


class LeftOutRows:
    """The statistic of the outputs of all rows, each by the model of all other rows.

    Parameters
    ----------
    models : LeftOut
        The models of one penalty.
    equal : EqualRows
    held : HeldOut
        Takes the outputs.
    """

    def __init__(self, models: LeftOut, equal: EqualRows, held: HeldOut):
        self.models, self.equal, self.held = models, equal, held

    def update(self, block: FeatureBlock) -> LeftOutRows:
        """Add the outputs of the rows of a block, in place."""
        (outputs,) = self.models.outputs(block.Z, *self.equal.of(block.hashes))
        self.held.add(block.hashes, outputs, block.Y, block.weight)
        return self

    def merge(self, other: LeftOutRows) -> LeftOutRows:
        """Add the outputs of `other`, in place."""
        self.held.merge(other.held)
        return self


def check_left_out(learner: Any, is_split: bool, is_supervised: bool) -> None:
    """Raise if the parameters of a learner cannot be combined with ``cv="loo"``."""
    name = f"{type(learner).__name__}(cv='loo')"
    if not is_split:
        raise ValueError(
            f"{name} has a closed form for penalty='split' only, got "
            f"penalty={learner.penalty!r}: use a number of folds."
        )
    if learner.alpha == "gradient":
        raise ValueError(
            f"{name} compares a grid of penalties, got alpha='gradient': use alpha='cv', or a "
            "number of folds."
        )
    if learner.nested or is_supervised:
        why = "nested=True" if learner.nested else "a map that uses y"
        raise ValueError(
            f"{name} fits the map once on all rows, but {why} needs a map for each fold: use a "
            "number of folds."
        )
