"""Which rows belong to which fold of a cross-validation, by content and not by place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._hashing import Draws, Hashes, Salt


@dataclass(frozen=True)
class Folds:
    """Rows with the same content share a fold, so a duplicate never tests what it trained.

    Attributes
    ----------
    n_folds : int
    key : int
        The seed.
    dealt : (hashes, folds) or None
        Hashes in order and the fold of each; None: a row's clock alone decides.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Folds
    >>> hashes = np.arange(10, dtype=np.uint64)
    >>> folds = Folds.deal(hashes, np.repeat([0, 1], 5), n_folds=5, key=0)
    >>> sorted(folds(hashes)[:5].tolist())
    [0, 1, 2, 3, 4]
    """

    n_folds: int
    key: int
    dealt: tuple[Hashes, NDArray[np.intp]] | None = None

    @classmethod
    def deal(cls, hashes: Hashes, strata: NDArray, n_folds: int, key: int) -> Folds:
        """Deal the distinct rows of each stratum to the folds in turn, in the order of clocks.

        Parameters
        ----------
        hashes : ndarray of uint64 of shape (n,)
            The content hashes of the rows.
        strata : ndarray of shape (n,)
            Class labels, which every fold gets its share of; all equal for regression.
        n_folds, key : int
        """
        _, codes = np.unique(strata, return_inverse=True)
        # One stratum for rows of equal content: the smallest.
        order = np.lexsort((codes, hashes))
        first = np.append(True, np.diff(hashes[order]) > 0)
        rows = order[first]
        clocks = Draws(hashes[rows], key).clocks(Salt.FOLDS)
        turn = np.empty(len(rows), dtype=np.intp)
        # The next stratum goes on where the last one ended, so that folds are of equal size.
        turn[np.lexsort((clocks, codes[rows]))] = np.arange(len(rows)) % n_folds
        return cls(n_folds, key, (hashes[rows], turn))

    def __call__(self, hashes: Hashes, rows: slice | None = None) -> NDArray[np.intp]:
        """The fold of each row; where the rows are in the data does not matter."""
        if self.dealt is None:
            # The clocks are exponential; their distribution function makes them uniform.
            uniform = -np.expm1(-Draws(hashes, self.key).clocks(Salt.FOLDS))
            return np.minimum((uniform * self.n_folds).astype(np.intp), self.n_folds - 1)
        known, folds = self.dealt
        places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        if not np.array_equal(known[places], hashes):
            raise ValueError("These rows are not those that the folds were dealt to.")
        return folds[places]


@dataclass(frozen=True)
class GivenFolds:
    """Folds by place, as a splitter of scikit-learn gives them, for data in memory.

    Attributes
    ----------
    n_folds : int
    places : ndarray of shape (n,)
        The fold in which a row is tested; −1 if it only trains.
    """

    n_folds: int
    places: NDArray[np.intp]

    @classmethod
    def of(cls, splits: Iterable[tuple[NDArray, NDArray]], n_rows: int) -> GivenFolds:
        """From pairs (train, test) of indices, each row in one of the two and tested once."""
        places = np.full(n_rows, -1, dtype=np.intp)
        number = -1
        for number, (train, test) in enumerate(splits):
            if len(np.union1d(train, test)) < n_rows or len(train) + len(test) != n_rows:
                raise ValueError(
                    f"cv must split all {n_rows} rows into training and test rows, but split "
                    f"{number} has {len(train)} and {len(test)}: use a KFold, not a ShuffleSplit."
                )
            if np.any(places[test] >= 0):
                raise ValueError(
                    f"cv must test each row once, but split {number} tests rows of an earlier one: "
                    "use a KFold, not a repeated one."
                )
            places[test] = number
        return cls(number + 1, places)

    def __call__(self, hashes: Hashes, rows: slice) -> NDArray[np.intp]:
        """The fold of each of some rows."""
        return self.places[rows]
