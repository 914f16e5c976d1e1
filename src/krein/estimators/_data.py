"""The rows of one fit, wherever they are, and what one look at them tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets

from .._hashing import Draws, Hashes, hash_pairs, hash_rows
from ..kernels import Kernel
from ..kernels.errors import BadPairError
from ..streaming import Container, Folds, GivenFolds, InMemory, Reservoir, checked, split
from ..streaming.containers import concatenated, count
from ..streaming.reservoir import SALT

# A map is fitted on at most this many distinct rows, and as many bytes of float64.
MAP_ROWS, MAP_BYTES = 100_000, 2**28


class Piece(NamedTuple):
    """A block with its content hashes and the place of its first row."""

    X: Any
    y: Any
    weight: NDArray[np.floating] | None
    hashes: Hashes
    start: int

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def rows(self) -> slice:
        return slice(self.start, self.start + len(self.hashes))


class Data:
    """Rows that can be walked as often as needed, each with its hash.

    Parameters
    ----------
    container : Container
    pairwise : bool
        Whether X is a square matrix of kernel values: its rows are hashed without their order, and
        its columns are restricted to the rows that count.
    """

    def __init__(self, container: Container, pairwise: bool = False):
        self.container, self.pairwise = container, pairwise
        self._hashes: Hashes | None = None
        self.columns: NDArray[np.intp] | None = None
        if pairwise:
            if not isinstance(container, InMemory):
                raise ValueError(
                    "A precomputed kernel needs its whole square matrix in memory, not a stream: "
                    "pass an array."
                )
            K = container.X
            if K.shape[0] != K.shape[1]:
                raise ValueError(
                    f"A precomputed kernel needs the square matrix of all pairs, got {K.shape}."
                )
            # Rows of weight zero do not count, nor do their columns in the content of the others.
            s = container.weight
            used = np.arange(len(K)) if s is None else np.flatnonzero(s > 0)
            self._hashes = np.zeros(len(K), dtype=np.uint64)
            self._hashes[used] = hash_pairs(K if s is None else K[np.ix_(used, used)])

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Pieces of at most `rows` rows, checked."""
        start = 0
        keep = isinstance(self.container, InMemory)
        known, new = self._hashes, []
        for block in checked(self.container):
            for part in split(block, rows):
                n = count(part.X)
                hashes = hash_rows(part.X) if known is None else known[start : start + n]
                if keep and known is None:
                    new.append(hashes)
                X = part.X if self.columns is None else part.X[:, self.columns]
                yield Piece(X, part.y, part.weight, hashes, start)
                start += n
        if new:  # of data in memory the hashes are computed once
            self._hashes = np.concatenate(new)

    @property
    def n_rows(self) -> int:
        """The number of rows of data in memory."""
        assert isinstance(self.container, InMemory)
        return count(self.container.X)

    @property
    def in_memory(self) -> bool:
        return isinstance(self.container, InMemory)

    def gathered(self) -> Data:
        """The same rows in memory."""
        pieces = list(self.pieces(65_536))
        weight = None
        if any(piece.weight is not None for piece in pieces):
            ones = [np.ones(len(p)) if p.weight is None else p.weight for p in pieces]
            weight = np.concatenate(ones)
        y = np.concatenate([np.asarray(piece.y) for piece in pieces])
        return Data(InMemory(concatenated([piece.X for piece in pieces]), y, weight))

    def sample(self, key: int) -> NDArray[np.intp]:
        """Which of these rows a `Reservoir` keeps, without carrying them through it."""
        assert isinstance(self.container, InMemory)
        assert self._hashes is not None
        s = self.container.weight
        rows = np.arange(len(self._hashes)) if s is None else np.flatnonzero(s > 0)
        _, first = np.unique(self._hashes[rows], return_index=True)
        chosen = Draws(self._hashes[rows[first]], key).first(map_rows(self.container.X), SALT)
        return rows[first][chosen]

    def by_content(self) -> NDArray[np.intp]:
        """Indices of the rows of positive weight in an order that a permutation leaves."""
        assert isinstance(self.container, InMemory)
        assert self._hashes is not None
        order = np.argsort(self._hashes, kind="stable")
        s = self.container.weight
        return order if s is None else order[s[order] > 0]

    def rows_of(self, indices: NDArray[np.intp]) -> Any:
        """Some rows of data in memory."""
        assert isinstance(self.container, InMemory)
        X = self.container.X
        return [X[i] for i in indices] if isinstance(X, list) else X[indices]


@dataclass(frozen=True)
class Survey:
    """What the first pass tells.

    Attributes
    ----------
    sample : the rows that the map is fitted on
        Distinct, of positive weight, in the order of their clocks: neither the order of the rows
        nor duplicates nor rows of weight zero change them.
    n_rows : int
    weight : float
    labels : ndarray or None
        The distinct targets of classification in order.
    label_weights : ndarray or None
        Their weights.
    folds : Folds
        Dealt by class where all rows were remembered, by content alone where they are too many.
    places : ndarray or None
        Where in the data the rows of the sample are, if that is known.
    largest_target, largest_weight : float
        The largest magnitudes of numeric targets and of weights.
    """

    sample: Any
    n_rows: int
    weight: float
    n_outputs: int
    labels: NDArray | None
    label_weights: NDArray | None
    folds: Folds | GivenFolds
    places: NDArray[np.intp] | None = None
    largest_target: float = 0.0
    largest_weight: float = 0.0

    def resolved(self, kernel: Kernel) -> Kernel:
        """A copy of the kernel, its parameters that are to be taken from data from the sample."""
        try:
            return clone(kernel).resolved(self.sample)
        except BadPairError as bad:
            raise (bad if self.places is None else bad.among(self.places, self.places)) from None


def survey(data: Data, key: int, cv: Any, classify: bool, needs_y: str) -> Survey:
    """One pass over the data.

    Parameters
    ----------
    data : Data
    key : int
        The seed of the sample and the folds.
    cv : int, splitter, iterable of (train, test) or None, which is 5
    classify : bool
        Whether the targets are labels.
    needs_y : str
        Who needs targets, for the sentence if there are none.
    """
    cv = 5 if cv is None else cv
    reservoir: Reservoir | None = None
    n_rows, weight, shape = 0, 0.0, (1,)
    hashes, strata, positive = [], [], []
    totals: dict[Any, float] = {}
    largest_target = largest_weight = 0.0
    for piece in data.pieces(65_536):
        if piece.y is None:
            raise ValueError(
                f"{needs_y} requires y to be passed, but the target y is None: give y, or blocks "
                "(X, y), or a file with a target column."
            )
        n_rows += len(piece)
        shape = np.shape(piece.y)[1:] or (1,)
        s = np.ones(len(piece)) if piece.weight is None else piece.weight
        weight += float(s.sum())
        largest_weight = max(largest_weight, float(s.max(initial=0)))
        if not classify:
            largest_target = max(largest_target, _largest(piece.y))
        if classify:
            # Of data in memory this is known; a stream shows its labels block by block.
            check_labels(piece.y)
            if np.ndim(piece.y) > 1 and np.shape(piece.y)[1] > 1:
                raise ValueError(f"{needs_y} takes one label per row, got y of several columns.")
            found, codes = np.unique(np.ravel(piece.y), return_inverse=True)
            for label, total in zip(found, np.bincount(codes, weights=s), strict=True):
                totals[label] = totals.get(label, 0.0) + float(total)
        if not data.in_memory:
            if reservoir is None:
                reservoir = Reservoir.zero(map_rows(piece.X), key)
            reservoir = reservoir.update(piece.X, piece.weight)
        if n_rows <= MAP_ROWS:
            hashes.append(piece.hashes)
            strata.append(np.ravel(piece.y) if classify else np.zeros(len(piece)))
            positive.append(s > 0)
    if not weight > 0:
        raise ValueError(f"{needs_y} needs rows of positive weight, but all weights are zero.")
    folds: Folds | GivenFolds
    if not isinstance(cv, Integral):
        folds = _given(cv, data, n_rows)
    elif n_rows <= MAP_ROWS:
        counted = np.concatenate(positive)
        all_hashes, all_strata = np.concatenate(hashes), np.concatenate(strata)
        folds = _deal(all_hashes, all_strata, counted, int(cv), key)
    else:
        folds = Folds(int(cv), key)
    places = None
    if data.pairwise:
        data.columns = data.by_content()
        sample = data.rows_of(data.columns)[:, data.columns]
    elif data.in_memory:
        places = data.sample(key)
        sample = data.rows_of(places)
    else:
        assert reservoir is not None
        sample = reservoir.rows
    try:
        labels = np.array(sorted(label for label, total in totals.items() if total > 0))
    except TypeError as error:  # of one type in one block and of another in the next
        raise _mixed(list(totals)) from error
    label_weights = np.array([totals[label] for label in labels])
    return Survey(
        sample,
        n_rows,
        weight,
        int(shape[0]),
        labels if classify else None,
        label_weights if classify else None,
        folds,
        places,
        largest_target,
        largest_weight,
    )


def _largest(y: Any) -> float:
    """The largest magnitude of numbers; 0 of targets that are none, which are refused later."""
    y = np.asarray(y)
    return float(np.abs(y.astype(float)).max(initial=0)) if y.dtype.kind in "iuf" else 0.0


def check_labels(y: Any) -> None:
    """Refuse targets that are not classes, or are classes without an order."""
    try:
        check_classification_targets(y)
    except TypeError as error:  # scikit-learn sorts them
        raise _mixed(np.ravel(y)) from error


def _mixed(labels: Iterable[Any]) -> ValueError:
    kinds = sorted({type(label).__name__ for label in labels})
    return ValueError(
        f"Labels must be of one type, y has {' and '.join(kinds)}: make them all text or all "
        "numbers."
    )


def _given(cv: Any, data: Data, n_rows: int) -> GivenFolds:
    """The folds of a splitter."""
    if not isinstance(data.container, InMemory):
        raise ValueError(
            f"cv={cv!r} numbers rows, which needs data in memory: give a stream a number of folds."
        )
    y = data.container.y
    splits = cv.split(np.zeros((n_rows, 1)), y) if hasattr(cv, "split") else cv
    return GivenFolds.of(splits, n_rows)


def _deal(hashes: Hashes, strata: NDArray, counted: NDArray, n_folds: int, key: int) -> Folds:
    """Folds of the rows that count; the others, which no fold needs, go anywhere."""
    if counted.all():
        return Folds.deal(hashes, strata, n_folds, key)
    dealt = Folds.deal(hashes[counted], strata[counted], n_folds, key).dealt
    assert dealt is not None
    rest = np.setdiff1d(hashes[~counted], dealt[0])
    everyone = np.concatenate([dealt[0], rest])
    order = np.argsort(everyone)
    folds = np.concatenate([dealt[1], np.zeros(len(rest), dtype=np.intp)])
    return Folds(n_folds, key, (everyone[order], folds[order]))


def map_rows(X: Any) -> int:
    """How many rows a map is fitted on at most."""
    if isinstance(X, list):
        return MAP_ROWS
    return max(1000, min(MAP_ROWS, MAP_BYTES // (8 * max(1, X.shape[1]))))
