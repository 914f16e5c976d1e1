"""Factors of columns that are learned anew for each fold, so that no held-out row teaches them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._hashing import Hashes, hash_rows
from ..estimators._left_out import EqualRows
from ..estimators._representation import Recipe, Representation
from ..estimators._targets import Targets
from ..kernels import Kernel
from ..streaming.survey import Rows
from .choice import LEARNED
from .relevance import column_factors

Array = NDArray[np.floating]


@dataclass(frozen=True, kw_only=True)
class Relearning(Recipe):
    """A recipe that learns the factors of columns anew from the rows that it is fitted on.

    Attributes
    ----------
    features : Pipeline
        Its step "columns" is `Columns` with the factors that all rows have taught.
    teacher : Kernel
        The kernel whose likelihood the factors maximise.
    equal : EqualRows
        The targets and the weights of all rows.
    known : dict of bytes to ndarray
        The factors that were learned, by the hashes of the rows. Maps of different widths share
        them.
    """

    teacher: Kernel
    equal: EqualRows
    known: dict[bytes, Array]

    @classmethod
    def of(cls, recipe: Recipe, **more: Any) -> Relearning:
        """Return the recipe of the same map, with factors that are learned anew."""
        return cls(**{field.name: getattr(recipe, field.name) for field in fields(recipe)}, **more)

    def fit(self, sample: Rows, targets: Targets, rng: np.random.Generator) -> Representation:
        """Learn the factors and fit a copy of the map, both on the same rows."""
        hashes = hash_rows(sample.X)
        key = hashes.tobytes()
        if key not in self.known:
            self.known[key] = self._factors(sample.X, hashes)
        features = clone(self.features).set_params(columns__factors=self.known[key])
        found = Recipe.fit(replace(self, features=features), sample, targets, rng)
        return replace(found, is_supervised=True)

    def _factors(self, X: Array, hashes: Hashes) -> Array:
        """Return the factors that some rows teach.

        The search does not start near the factors of all rows: with about as many columns as rows,
        it would stop before it has forgotten the rows of the fold.
        """
        Y, weight = self.equal.of(hashes)
        used = np.flatnonzero(weight)[:LEARNED]
        columns = clone(self.features["columns"]).set_params(factors=None)
        rows = columns.fit(X).transform(X[used])
        return column_factors(rows, Y[used], weight[used], self.teacher)
