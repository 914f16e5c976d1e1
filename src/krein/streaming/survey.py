"""The first pass over data: statistics that a fit needs before it fits a feature map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from .._hashing import Hashes
from ..rows import take
from .data import MAP_ROWS, Data, Piece, map_rows
from .fold import Together, fold
from .folds import Folds, GivenFolds
from .reservoir import Sample

Array = NDArray[np.floating]


class Rows(NamedTuple):
    """Distinct rows of positive weight with their targets and weights.

    Attributes
    ----------
    X : ndarray, CSR matrix or list of objects
        The rows.
    y : ndarray or None
        The targets of the rows.
    weight : ndarray of shape (n,)
        The weights of the rows.
    places : ndarray of int, default=None
        The indices of the rows in the data. None if the indices are unknown.
    """

    X: Any
    y: NDArray | None
    weight: Array
    places: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class Survey:
    """Result of the first pass over the data.

    Construct a survey with `Survey.of`.

    Parameters
    ----------
    sample : Rows
        The rows that a map is fitted on. The sample does not depend on the order of the rows in the
        data, on duplicates, or on rows of weight zero.
    n_rows : int
        The number of rows.
    weight : float
        The sum of the weights.
    n_outputs : int
        The number of columns of numeric targets.
    is_vector : bool
        True if the targets are a vector, False if they are a matrix.
    labels : ndarray or None
        The distinct labels of rows of positive weight, in order; None for numeric targets. For an
        indicator matrix, the indices of its columns.
    label_weights : ndarray or None
        The total weight of each label; None for numeric targets.
    folds : Folds or GivenFolds
        The folds of the cross-validation. Folds by content are stratified by class if the data have
        at most 100,000 rows.
    largest_target : float, default=0.0
        The largest magnitude of a numeric target.
    largest_weight : float, default=0.0
        The largest weight.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Data, InMemory, Survey
    >>> data = Data.of(InMemory(np.arange(6.0)[:, None], np.array(list("aabbbb"))))
    >>> survey = Survey.of(data, key=0, cv=2, classify=True, owner="Example")
    >>> survey.n_rows, survey.labels.tolist(), survey.label_weights.tolist()
    (6, ['a', 'b'], [2.0, 4.0])
    """

    sample: Rows
    n_rows: int
    weight: float
    n_outputs: int
    is_vector: bool
    labels: NDArray | None
    label_weights: Array | None
    folds: Folds | GivenFolds
    largest_target: float = 0.0
    largest_weight: float = 0.0

    @classmethod
    def of(cls, data: Data, key: int, cv: Any, classify: bool, owner: str) -> Survey:
        """Return the survey of the data, in one pass.

        Parameters
        ----------
        data : Data
            The rows.
        key : int
            The seed of the sample and of the folds.
        cv : int, splitter, iterable of (train, test) or None
            The folds of the cross-validation. None means 5 folds.
        classify : bool
            True if the targets are labels.
        owner : str
            The name of the estimator, for error messages.
        """
        sample = () if data.in_memory else (Sample(map_rows, key),)
        start = Totals(owner, classify), Labels(owner, classify), FoldKeys(classify), *sample
        seen = fold(data, Together(*start))
        totals, labels, keys, *reservoirs = seen.statistics
        if not totals.weight > 0:
            raise ValueError(f"{owner} needs rows of positive weight, but all weights are zero.")
        names, weights = labels.sorted()
        return cls(
            sample_of(data, key) if data.in_memory else _drawn(reservoirs[0]),
            totals.n_rows,
            totals.weight,
            totals.n_outputs,
            totals.is_vector,
            names,
            weights,
            keys.folds(5 if cv is None else cv, data, key),
            totals.largest_target,
            totals.largest_weight,
        )

    def with_labels(self, announced: NDArray) -> Survey:
        """Return the survey with all labels of a `partial_fit`, including labels not yet seen.

        Parameters
        ----------
        announced : ndarray
            The sorted labels that are passed to `partial_fit` as `classes`.
        """
        assert self.labels is not None
        known = np.isin(self.labels, announced)
        if not known.all():
            raise ValueError(
                f"y has the labels {self.labels[~known].tolist()}, which are not among the "
                f"classes {announced.tolist()} of partial_fit."
            )
        totals = np.zeros(len(announced))
        totals[np.searchsorted(announced, self.labels)] = self.label_weights
        return replace(self, labels=announced, label_weights=totals)


def sample_of(data: Data, key: int) -> Rows:
    """Return the rows of data in memory that a map is fitted on."""
    if data.pairwise:
        places = data.columns
        assert places is not None
        X, weight = data.memory.X[np.ix_(places, places)], data.memory.weight
        s = np.ones(len(places)) if weight is None else weight[places]
    else:
        places, s = data.sample(key)
        X = take(data.memory.X, places)
    y = data.memory.y
    return Rows(X, None if y is None else y[places], s, None if data.pairwise else places)


def _drawn(sample: Sample) -> Rows:
    reservoir = sample.reservoir
    assert reservoir is not None
    return Rows(reservoir.rows, reservoir.y, reservoir.weight)


@dataclass
class Totals:
    """A statistic: the number of rows, their weight, and the sizes of targets and weights."""

    owner: str
    classify: bool
    n_rows: int = 0
    weight: float = 0.0
    n_outputs: int = 1
    is_vector: bool = True
    largest_target: float = 0.0
    largest_weight: float = 0.0

    def update(self, piece: Piece) -> Totals:
        if piece.y is None:
            raise ValueError(
                f"{self.owner} requires y to be passed, but the target y is None: pass y, blocks "
                "(X, y), or a file with a target column."
            )
        s = np.ones(len(piece)) if piece.weight is None else piece.weight
        self.n_rows += len(piece)
        self.weight += float(s.sum())
        self.n_outputs = int((np.shape(piece.y)[1:] or (1,))[0])
        self.is_vector = np.ndim(piece.y) == 1
        self.largest_weight = max(self.largest_weight, float(s.max(initial=0)))
        if not self.classify:
            self.largest_target = max(self.largest_target, _largest(piece.y))
        return self

    def merge(self, other: Totals) -> Totals:
        self.n_rows += other.n_rows
        self.weight += other.weight
        self.n_outputs = max(self.n_outputs, other.n_outputs)
        self.is_vector = self.is_vector and other.is_vector
        self.largest_target = max(self.largest_target, other.largest_target)
        self.largest_weight = max(self.largest_weight, other.largest_weight)
        return self


class Labels:
    """A statistic: the total weight of each label, or nothing for numeric targets."""

    def __init__(self, owner: str, classify: bool):
        self.owner, self.classify = owner, classify
        self.totals: dict[Any, float] = {}
        # The number of columns of an indicator matrix; 0 for one label per row.
        self.n_columns = 0

    def update(self, piece: Piece) -> Labels:
        if not self.classify:
            return self
        # A stream has no array of all labels, so every block is checked.
        check_labels(piece.y)
        if has_columns(piece.y):
            return self._add_columns(np.asarray(piece.y), piece.weight)
        found, codes = np.unique(np.ravel(piece.y), return_inverse=True)
        weights = np.bincount(codes, weights=piece.weight, minlength=len(found))
        return self._add(zip(found, weights, strict=True))

    def _add_columns(self, y: NDArray, weight: Array | None) -> Labels:
        """Add the weight of each label of an indicator matrix; the labels are the columns."""
        if not np.isin(y, (0, 1)).all():
            raise ValueError(
                f"{self.owner} takes one label per row, or a matrix of 0 and 1 with one column per "
                f"label, but y has {y.shape[1]} columns with other values."
            )
        self.n_columns = y.shape[1]
        totals = (np.ones(len(y)) if weight is None else weight) @ y.astype(float)
        return self._add(enumerate(totals))

    def merge(self, other: Labels) -> Labels:
        self.n_columns = max(self.n_columns, other.n_columns)
        return self._add(other.totals.items())

    def _add(self, pairs: Iterable[tuple[Any, float]]) -> Labels:
        for label, weight in pairs:
            self.totals[label] = self.totals.get(label, 0.0) + float(weight)
        return self

    def sorted(self) -> tuple[NDArray, Array] | tuple[None, None]:
        """Return the labels of positive weight in order, and their weights."""
        if not self.classify:
            return None, None
        if self.n_columns:
            return np.arange(self.n_columns), np.array([*self.totals.values()])
        try:
            labels = np.array(sorted(label for label, total in self.totals.items() if total > 0))
        except TypeError as error:  # the labels of different blocks have different types
            raise _mixed(list(self.totals)) from error
        return labels, np.array([self.totals[label] for label in labels])


class FoldKeys:
    """A statistic: the hashes, labels and weights of up to `MAP_ROWS` rows, for the folds."""

    def __init__(self, classify: bool):
        self.classify, self.n_rows = classify, 0
        # The hashes, the strata and whether the weight is positive, of each piece.
        self.keys: list[tuple[Hashes, NDArray, NDArray[np.bool_]]] = []

    def update(self, piece: Piece) -> FoldKeys:
        self.n_rows += len(piece)
        if self.n_rows <= MAP_ROWS:
            n = len(piece)
            one_label = self.classify and not has_columns(piece.y)
            strata = np.ravel(piece.y) if one_label else np.zeros(n)
            counted = np.ones(n, bool) if piece.weight is None else piece.weight > 0
            self.keys.append((piece.hashes, strata, counted))
        return self

    def merge(self, other: FoldKeys) -> FoldKeys:
        self.n_rows += other.n_rows
        self.keys += other.keys
        return self

    def folds(self, cv: Any, data: Data, key: int) -> Folds | GivenFolds:
        """Return the folds for the argument `cv` of a learner."""
        if not isinstance(cv, Integral):
            return _given(cv, data, self.n_rows)
        if self.n_rows > MAP_ROWS:
            return Folds(int(cv), key)
        hashes, strata, counted = map(np.concatenate, zip(*self.keys, strict=True))
        return _deal(hashes, strata, counted, int(cv), key)


def _given(cv: Any, data: Data, n_rows: int) -> GivenFolds:
    """Return the folds of a splitter or of an iterable of (train, test)."""
    if not data.in_memory:
        raise ValueError(
            f"cv={cv!r} yields row indices, so X must be in memory. For a stream, pass an integer "
            "number of folds."
        )
    from sklearn.model_selection._split import GroupsConsumerMixin

    if isinstance(cv, GroupsConsumerMixin):
        raise ValueError(
            f"cv={cv!r} needs the group of each row, which fit does not take: pass the folds "
            "themselves, cv=list(splitter.split(X, y, groups))."
        )
    splits = cv.split(np.zeros((n_rows, 1)), data.memory.y) if hasattr(cv, "split") else cv
    return GivenFolds.of(splits, n_rows)


def _deal(hashes: Hashes, strata: NDArray, counted: NDArray, n_folds: int, key: int) -> Folds:
    """Return folds that are balanced over the rows of positive weight."""
    if counted.all():
        return Folds.deal(hashes, strata, n_folds, key)
    dealt = Folds.deal(hashes[counted], strata[counted], n_folds, key).dealt
    assert dealt is not None
    rest = np.setdiff1d(hashes[~counted], dealt[0])
    everyone = np.concatenate([dealt[0], rest])
    order = np.argsort(everyone)
    folds = np.concatenate([dealt[1], np.zeros(len(rest), dtype=np.intp)])
    return Folds(n_folds, key, (everyone[order], folds[order]))


def _largest(y: Any) -> float:
    """Return the largest magnitude of numeric targets; other targets give 0 and fail later."""
    y = np.asarray(y)
    return float(np.abs(y.astype(float)).max(initial=0)) if y.dtype.kind in "iuf" else 0.0


def has_columns(y: Any) -> bool:
    """Return True if targets are a matrix of several columns."""
    y = y if hasattr(y, "shape") else np.asarray(y)
    return len(y.shape) > 1 and y.shape[1] > 1


def check_labels(y: Any) -> None:
    """Raise a ValueError if the targets are not labels, or are labels of several types."""
    try:
        check_classification_targets(y)
    except TypeError as error:  # scikit-learn cannot sort labels of several types
        raise _mixed(np.ravel(y)) from error


def _mixed(labels: Iterable[Any]) -> ValueError:
    kinds = sorted({type(label).__name__ for label in labels})
    return ValueError(
        f"Labels must be of one type, but y has {' and '.join(kinds)}: make all labels text or all "
        "labels numbers."
    )
