"""One learning task: data, targets and a representation, which several learners may share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._hashing import Hashes, as_generator
from ..features.base import FewRowsWarning
from ..features.explosions import UnlikeRowsWarning
from ..kernels.values import UninformativeWarning
from ..rows import take
from ..streaming import (
    Block,
    Collected,
    Data,
    Folds,
    GivenFolds,
    HeldOut,
    Moments,
    Piece,
    Survey,
    fold,
    split,
)
from ..streaming.moments import FoldMoments
from ..streaming.survey import sample_of
from ._representation import Recipe, Representation
from ._targets import Targets

Array = NDArray[np.floating]

# Features of up to this size are kept between passes; larger ones are computed anew.
CACHE_BYTES = 2**30
# Features of up to this size are kept for a second pass of the same learner.
LIGHT_BYTES = 2**27


class FeatureBlock(NamedTuple):
    """Some rows as a learner sees them.

    Attributes
    ----------
    rows : slice
        The indices of the rows in the data.
    hashes : ndarray of uint64 of shape (n,)
        The hashes of the rows' content.
    Z : ndarray of shape (n, p)
    Y : ndarray of shape (n, q)
    weight : ndarray of shape (n,) or None
    """

    rows: slice
    hashes: Hashes
    Z: Array
    Y: Array
    weight: Array | None


@dataclass
class FeatureBlocks:
    """The features, targets and weights of data, walked block by block.

    Attributes
    ----------
    data : Data
    representation : Representation
    targets : Numbers or Classes
    n_rows : int
    keeps : bool
        True if the blocks of the first walk are kept for the later ones, as far as
        `CACHE_BYTES` allows.
    """

    data: Data
    representation: Representation
    targets: Targets
    n_rows: int
    keeps: bool = False
    _kept: list[FeatureBlock] = field(default_factory=list)

    @property
    def width(self) -> int:
        """The number of features."""
        return self.representation.width

    @property
    def is_small(self) -> bool:
        """True if all features together fit into `CACHE_BYTES`."""
        return self.n_bytes <= CACHE_BYTES

    @property
    def n_bytes(self) -> int:
        """The size of all features together."""
        return 8 * self.n_rows * self.width

    def __iter__(self) -> Iterator[FeatureBlock]:
        if self._kept:
            yield from self._kept
            return
        blocks = map(self._block, self.data.by(self.representation.block_rows))
        if self.keeps and self.is_small:
            kept = list(blocks)
            self._kept = kept
            yield from kept
        else:
            yield from blocks

    def _block(self, piece: Piece) -> FeatureBlock:
        Z = self.representation.transform(piece.X, piece.start)
        Y = self.targets.encode(piece.y)
        return FeatureBlock(
            piece.rows, piece.hashes, Z, Y, self.targets.weigh(piece.y, piece.weight)
        )

    def moments(self, folds: Folds | GivenFolds | None) -> list[Moments]:
        """Return the moments of [Z Y] of all rows, or of each fold and of the rows in no fold."""
        width = self.width + self.targets.n_outputs
        return fold(self, FoldMoments(width, folds)).moments()


@dataclass
class Fold:
    """A fold with a map of its own, fitted on the other rows.

    Attributes
    ----------
    blocks : FeatureBlocks
        The features of the other rows.
    hashes : ndarray of uint64 of shape (n,)
        The hashes of the content of the rows of the fold.
    Z : ndarray of shape (n, p)
        The features of the rows of the fold.
    Y : ndarray of shape (n, q)
        Their targets.
    weight : ndarray of shape (n,)
    """

    blocks: FeatureBlocks
    hashes: Hashes
    Z: Array
    Y: Array
    weight: Array

    @cached_property
    def moments(self) -> Moments:
        """The moments of [Z Y] of the other rows."""
        return self.blocks.moments(None)[0]


@dataclass
class Task:
    """What a learner solves; automatic learners share one task among several learners.

    Attributes
    ----------
    data : Data
    survey : Survey
    targets : Numbers or Classes
    recipe : Recipe
        How the map is made anew for a fold.
    representation : Representation
        The map that is fitted on all rows.
    is_shared : bool
        True if several learners solve the task: features are then kept between them.
    taught : ndarray of uint64 or None
        The content hashes of rows whose targets the map has seen, although it is not fitted anew
        for each fold. These rows are not held out.
    """

    data: Data
    survey: Survey
    targets: Targets
    recipe: Recipe
    representation: Representation
    is_shared: bool = False
    taught: Hashes | None = None

    def of_both_sides(self) -> Task:
        """Return the task for a learner that uses both sides of the kernel.

        It is the same task, with the same moments, if the map has a form.
        """
        representation = self.representation.of_both_sides()
        if representation == self.representation:
            return self
        recipe = replace(self.recipe, both_sides=True)
        return replace(self, recipe=recipe, representation=representation)

    @cached_property
    def blocks(self) -> FeatureBlocks:
        """The features of all rows."""
        return self._blocks(self.data, self.representation, self.survey.n_rows)

    @cached_property
    def moments(self) -> list[Moments]:
        """The moments of [Z Y] of all rows, as a list of one."""
        return self.blocks.moments(None)

    @cached_property
    def fold_moments(self) -> list[Moments]:
        """The moments of [Z Y] of each fold."""
        return self.blocks.moments(self.survey.folds)

    @cached_property
    def folds(self) -> list[Fold]:
        """The folds, each with a map of its own."""
        return list(self._nested())

    def held_out(self) -> HeldOut:
        """Return an empty statistic of outputs of rows that are held out."""
        return HeldOut(self.targets.n_outputs, without=self.taught)

    def keep_features(self) -> None:
        """Keep the features of all rows between passes if they are in memory and small."""
        self.blocks.keeps |= self.data.in_memory and self.blocks.n_bytes <= LIGHT_BYTES

    def _blocks(self, data: Data, representation: Representation, n_rows: int) -> FeatureBlocks:
        return FeatureBlocks(data, representation, self.targets, n_rows, self.is_shared)

    def _nested(self) -> Iterator[Fold]:
        """Fit the map anew without the rows of each fold.

        A map that is fitted once on all rows has seen the rows of every fold. If it has not seen
        their targets, that is harmless on many rows. On a few dozen rows a row may be its own
        landmark. Its features then differ from those of a new row, and penalties chosen on them are
        wrong. A map that has seen the targets misleads on any number of rows.
        """
        data, owner = self.data, self.recipe.owner
        if not data.in_memory and self.representation.is_supervised:
            raise ValueError(
                f"{owner} tunes penalties with features that use y, so the map is fitted anew for "
                "each fold, which needs data in memory: pass arrays, or give alpha as a number."
            )
        if not data.in_memory:
            raise ValueError(
                f"{owner}(nested=True) fits the map anew for each fold, which needs data in "
                "memory: use nested=False for streams."
            )
        places = self.survey.folds(data.hashes, slice(None))
        counted = data.counted
        for number in range(self.survey.folds.n_folds):
            train, test = counted[places[counted] != number], counted[places[counted] == number]
            if len(train) and len(test):
                yield self._fold(train, test)

    def _fold(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> Fold:
        part, new = self.data.part(train), self.data.memory
        X = take(new.X, test)
        if part.columns is not None:
            X = X[:, train[part.columns]]
        with warnings.catch_warnings():
            # The user asked for a rank on all rows, not on the rows of a fold.
            warnings.simplefilter("ignore", FewRowsWarning)
            warnings.simplefilter("ignore", UninformativeWarning)  # the fit on all rows has warned
            # The losses of the fold count what rows cost that are unlike the rows of other folds.
            warnings.simplefilter("ignore", UnlikeRowsWarning)
            rng = as_generator(self.recipe.random_state)
            representation = self.recipe.fit(sample_of(part, 0), self.targets, rng)
            pieces = split(Block(X), representation.block_rows)
            parts = fold(pieces, Collected(lambda b: representation.transform(b.X))).pieces
        y = new.y[test]  # type: ignore[index]  # a learner's data have targets
        weight = self.targets.weigh(y, None if new.weight is None else new.weight[test])
        return Fold(
            self._blocks(part, representation, len(train)),
            self.data.hashes[test],
            np.concatenate(parts),
            self.targets.encode(y),
            np.ones(len(test)) if weight is None else weight,
        )
