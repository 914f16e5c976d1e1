"""The score of a learner on the features of a map."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.multiclass import type_of_target

from .._columns import missing
from .._validation import ArgumentError
from ..estimators import (
    KreinRidge,
    KreinRidgeClassifier,
    TwoSidedRidge,
    TwoSidedRidgeClassifier,
)
from ..features import FeatureMap
from .sample import Fold, Sample


@dataclass(frozen=True)
class Scoring:
    """A learner, and the targets of the rows of a sample.

    Attributes
    ----------
    learner : estimator
        The learner, which has a parameter `features`.
    y : ndarray of shape (n,) or (n, k)
        The targets of the rows of the sample.
    """

    learner: Any
    y: NDArray

    @classmethod
    def of(cls, learner: Any, y: Any, sample: Sample, n_rows: int) -> Scoring:
        """Check the targets of all n rows, and choose a learner for them if none is given."""
        y = _checked(y, n_rows)[sample.places]
        if learner is None:
            return cls(_learner_for(y, sample), y)
        is_object = hasattr(learner, "get_params") and not isinstance(learner, type)
        if not is_object or "features" not in learner.get_params(deep=False):
            needed = "a learner with a parameter features, e.g. krein.KreinSVC()"
            raise ArgumentError("compare", "learner", needed, learner)
        return cls(learner, y)

    def score(self, features: FeatureMap, sample: Sample, fold: Fold) -> float:
        """Fit the learner on the rows of the map, and return its score on the judged rows."""
        fitted, judged = fold.places
        # A learner of a matrix of kernel values fits the map anew on the columns of each fold.
        is_matrix = sample.kernel.is_pairwise
        made = clone(features) if is_matrix else FrozenEstimator(features)
        learner = clone(self.learner).set_params(features=made)
        learner.fit(fold.fitted, self.y[fitted])
        return float(learner.score(sample.judged_sides(fold), self.y[judged]))


def _checked(y: Any, n_rows: int) -> NDArray:
    if isinstance(y, str) or hasattr(y, "tocsr"):
        needed = f"an array of one target for each of the {n_rows} rows of X"
        raise ArgumentError("compare", "y", needed, y)
    y = np.asarray(y)
    if y.ndim not in (1, 2) or len(y) != n_rows:
        raise ValueError(
            f"compare needs one target for each of the {n_rows} rows of X, got y of shape "
            f"{y.shape}."
        )
    if y.dtype.kind in "mMc":
        raise ValueError(
            f"compare scores classes or numbers, but y has the dtype {y.dtype}: convert y to "
            "numbers, or pass y=None."
        )
    bad = np.flatnonzero(~np.isfinite(y)) if y.dtype.kind == "f" else missing(y.ravel())
    if len(bad):
        place = bad[0] * n_rows // y.size
        raise ValueError(f"y is {y[place]} in row {place}: leave the row out, or repair it.")
    # Numbers of Python, e.g. of a pandas column of objects, are numbers.
    is_numeric = y.dtype.kind == "O" and all(isinstance(one, Real) for one in y.ravel())
    return y.astype(np.float64) if is_numeric else y


def _learner_for(y: NDArray, sample: Sample) -> Any:
    """Return ridge for classes or for numbers, with both sides of a kernel if they differ."""
    kernel, kind = sample.kernel, type_of_target(y, input_name="y")
    if kind == "multiclass" and _are_no_classes(y, len(sample.seeds)):
        kind = "continuous"
    if kind in ("binary", "multiclass"):
        if len(np.unique(y)) < 2:
            raise ValueError(
                f"y is {y.flat[0]} in all rows that were drawn: a score needs at least two "
                "classes, or pass y=None."
            )
        return KreinRidgeClassifier() if kernel.is_symmetric else TwoSidedRidgeClassifier()
    if kind.startswith("continuous"):
        return KreinRidge() if kernel.is_symmetric else TwoSidedRidge()
    raise ValueError(
        f"compare scores classes or numbers, but y is of the kind {kind!r}: pass one label or one "
        "number per row, or a learner for these targets."
    )


def _are_no_classes(y: NDArray, n_folds: int) -> bool:
    """Return True if whole numbers occur fewer than `n_folds` times on average.

    Most of the classes would then be absent from some of the folds.
    """
    return y.dtype.kind in "iuf" and len(np.unique(y)) * n_folds > len(y)
