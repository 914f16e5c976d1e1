"""Folds of a cross-validation, assigned to rows by their content or by their position."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._hashing import Draws, Hashes, Salt


@dataclass(frozen=True)
class Folds:
    """Folds by the content of the rows.

    Equal rows are in the same fold, so no row is tested by a model that was trained on its copy.

    Parameters
    ----------
    n_folds : int
        The number of folds.
    key : int
        The seed.
    dealt : tuple (hashes, folds), default=None
        The sorted content hashes of all rows, and the fold of each hash. With None, the hash of a
        row alone decides its fold, and the folds are not stratified.

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
        """Assign the distinct rows of each stratum to the folds in turn, in random order.

        Parameters
        ----------
        hashes : ndarray of uint64 of shape (n,)
            The content hashes of the rows.
        strata : ndarray of shape (n,)
            The class labels. Every fold gets an equal share of each class. For regression all
            strata are equal.
        n_folds : int
            The number of folds.
        key : int
            The seed.
        """
        _, codes = np.unique(strata, return_inverse=True)
        # Rows of equal content but different strata belong to the smallest stratum.
        order = np.lexsort((codes, hashes))
        first = np.append(True, np.diff(hashes[order]) > 0)
        rows = order[first]
        clocks = Draws(hashes[rows], key).clocks(Salt.FOLDS)
        turn = np.empty(len(rows), dtype=np.intp)
        # Each stratum continues at the fold where the previous stratum ended, for equal sizes.
        turn[np.lexsort((clocks, codes[rows]))] = np.arange(len(rows)) % n_folds
        return cls(n_folds, key, (hashes[rows], turn))

    def __call__(self, hashes: Hashes, rows: slice | None = None) -> NDArray[np.intp]:
        """Return the fold of each row; the argument `rows` is ignored."""
        if self.dealt is None:
            # The clocks are exponential; their distribution function makes them uniform.
            uniform = -np.expm1(-Draws(hashes, self.key).clocks(Salt.FOLDS))
            return np.minimum((uniform * self.n_folds).astype(np.intp), self.n_folds - 1)
        known, folds = self.dealt
        places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        if not np.array_equal(known[places], hashes):
            raise ValueError("hashes has rows that are not in the data that Folds.deal has seen.")
        return folds[places]


@dataclass(frozen=True)
class GivenFolds:
    """Folds by the position of the rows, from a splitter of scikit-learn, for data in memory.

    Parameters
    ----------
    n_folds : int
        The number of folds.
    places : ndarray of int of shape (n,)
        The fold that tests each row. −1 for a row that is never tested.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import KFold
    >>> from krein.streaming import GivenFolds
    >>> GivenFolds.of(KFold(2).split(np.zeros((4, 1))), n_rows=4).places
    array([0, 0, 1, 1])
    """

    n_folds: int
    places: NDArray[np.intp]

    @classmethod
    def of(cls, splits: Iterable[tuple[NDArray, NDArray]], n_rows: int) -> GivenFolds:
        """Return the folds of the pairs (train, test) that a splitter yields.

        Parameters
        ----------
        splits : iterable of (train, test)
            Indices of the training rows and of the test rows. Each pair contains every row once,
            and no row is tested twice.
        n_rows : int
            The number of rows of the data.
        """
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
                    f"cv must test each row once, but split {number} tests a row again: "
                    "use a KFold, not a RepeatedKFold."
                )
            places[test] = number
        if not np.any(places >= 0):
            raise ValueError(
                "cv yields no test rows. A generator yields its splits once, and copies of the "
                "learner share it: pass a list, cv=list(splitter.split(X, y))."
            )
        return cls(number + 1, places)

    def __call__(self, hashes: Hashes, rows: slice) -> NDArray[np.intp]:
        """Return the fold of each row at the positions `rows`; the hashes are ignored."""
        return self.places[rows]
