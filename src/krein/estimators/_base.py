"""What all learners share: data in, features on the way, decisions out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .._hashing import as_key
from .._threads import blas_threads_for
from .._validation import (
    NestedParameters,
    all_or_nothing,
    as_generator,
    check_numeric_columns,
    unit_of,
)
from ..features import FeatureMap, Nystrom
from ..kernels import Gaussian, Kernel
from ..kernels.errors import BadPairError
from ..streaming import (
    Block,
    Folds,
    GivenFolds,
    InMemory,
    Moments,
    MomentsSum,
    checked,
    split,
)
from ..streaming.containers import count
from ._data import Data, Piece, Survey, survey
from ._files import Reading, is_stream
from ._progress import Progressing, with_callbacks

Array = NDArray[np.floating]

# A block of features: large enough for BLAS, small beside what a user's machine has.
FEATURE_BYTES = 2**25


class KreinLearner(NestedParameters, Reading, Progressing, BaseEstimator):
    """Base of the learners ``f(x) = wᵀZ(x) + b``.

    A learner never sees X. It opens the data as a container, fits the map Z on a sample of distinct
    rows, and folds statistics over blocks of features. Subclasses define `_learn`.
    """

    features_: Any
    kernel_: Kernel
    coef_: Array
    intercept_: Any

    _parameter_constraints: dict = {
        "kernel": [Kernel, StrOptions({"precomputed"}), None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "features": "no_validation",
        "fit_intercept": ["boolean"],
        "cv": ["cv_object"],
        "refit": ["boolean"],
        "alphas": ["array-like", None],
        "alphas_neg": ["array-like", None],
        "alpha_neg": [Interval(Real, 0, None, closed="right"), StrOptions({"equal"}), None],
        "random_state": ["random_state", np.random.Generator],
    }
    _classifies = False

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the data.

        Parameters
        ----------
        X : array-like, CSR, memory map, list of objects, path, container or re-iterable of blocks
            A path, a container and blocks carry their own targets and weights; see
            `krein.streaming`.
        y : array-like of shape (n,) or (n, k), default=None
            For a path: the name or index of the column of y (`target` of
            `krein.streaming.open_stream`). None takes the last column, with a warning.
        sample_weight : array-like of shape (n,), default=None
            For a path: the name or index of the column of weights.

        Returns
        -------
        self
        """
        with self._reporting(n_stages=3), self._threads(X), all_or_nothing(self):
            self.__dict__.pop("cv_results_", None)  # of an earlier fit
            rng = as_generator(self.random_state)
            key = self._key(rng)
            with self._stage("first look"):
                data = self._open(X, y, sample_weight)
                seen = survey(data, key, self.cv, self._classifies, type(self).__name__)
                self._prepare(seen)
                self._set_units(seen)
            with self._stage("features"):
                self._fit_features(seen, rng)
                self._columns = data.columns
            with self._stage("learning"):
                self._learn(data, seen)
        return self

    def _threads(self, X: Any) -> AbstractContextManager[Any]:
        """One BLAS thread while the data and the map are small."""
        names = self.get_params(deep=True).items()
        widths = [v for name, v in names if name.endswith("n_components") and isinstance(v, int)]
        return blas_threads_for(None if is_stream(X) else X, *widths)

    def _key(self, rng: np.random.Generator) -> int:
        """The seed of samples and folds: without a random state always the same."""
        return 0 if self.random_state is None else as_key(rng)

    def _learn(self, data: Data, seen: Survey) -> None:
        raise TypeError(f"{type(self).__name__} must define _learn.")

    def _no_folds(self, seen: Survey) -> ValueError:
        return ValueError(
            f"{type(self).__name__}(alpha={self.alpha!r}) needs at least two distinct rows for "
            f"cross-validation, got n_samples = {seen.n_rows}: give alpha a number."
        )

    def _prepare(self, seen: Survey) -> None:
        """Remember what the targets are."""

    def _set_units(self, seen: Survey) -> None:
        """Powers of two by which targets and weights are multiplied while learning."""
        self._target_unit = unit_of(seen.largest_target)
        self._weight_unit = unit_of(seen.largest_weight)

    # --- data -----------------------------------------------------------------------------------

    def _open(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> Data:
        """The data as blocks, validated as scikit-learn does where they are one array."""
        if is_stream(X):
            container = self._opened(X, y, sample_weight, reset)
            first = next(iter(checked(container)))
            if not isinstance(first.X, list):
                self.n_features_in_ = first.X.shape[1]
            self._single = first.y is None or np.ndim(first.y) == 1
            return Data(container, self._pairwise)
        if reset:
            self._seen_layout = None
        if self._takes_matrix(X):
            check_numeric_columns(self, X)
            X, y = self._validate(X, y, reset)
        else:
            X = as_objects(X)
            kernel = self._kernel_of_rows
            if isinstance(kernel, Kernel):  # here an object that it cannot take has its own place
                kernel._check_data(X)
            y = self._check_targets(y)
        if sample_weight is not None:
            like = X if hasattr(X, "shape") else np.empty((len(X), 0))
            sample_weight = _check_sample_weight(
                sample_weight, like, dtype=np.float64, ensure_non_negative=True
            )
        self._single = np.ndim(y) == 1
        if reset or not self._pairwise:
            return Data(InMemory(X, y, sample_weight), self._pairwise)
        # Later rows of kernel values are against the objects of the first ones.
        return Data(InMemory(X[:, self._columns], y, sample_weight))

    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, Any]:
        options = {"multi_output": True, "y_numeric": True}
        return validate_data(
            self,
            X,
            y,
            reset=reset,
            accept_sparse=False if self._pairwise else "csr",
            dtype=[np.float64, np.float32],
            **({} if self._classifies else options),
        )

    def _check_targets(self, y: Any) -> NDArray:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but y is None.")
        return np.asarray(y)

    def _map(self, sample: Any) -> Any:
        """The map that is fitted, a copy."""
        if self.features is None:
            kernel = scaled_gaussian(sample) if self.kernel is None else self.kernel
            return Nystrom(kernel, self.n_components)
        if not hasattr(self.features, "transform") or isinstance(self.features, type):
            raise ValueError(
                f"{type(self).__name__} needs features to be a transformer, e.g. "
                f"krein.RandomFourier(kernel), or a Pipeline that ends in one; got "
                f"{self.features!r}."
            )
        return clone(self.features)

    @property
    def _pairwise(self) -> bool:
        features = self.features
        if features is None:
            return bool(Nystrom(self.kernel)._precomputed)
        return bool(get_tags(features).input_tags.pairwise) if hasattr(features, "fit") else False

    @property
    def _kernel_of_rows(self) -> Any:
        """The kernel that sees the rows first, if one does."""
        features = self.features
        if hasattr(features, "steps"):
            features = features.steps[0][1]
        return self.kernel if features is None else getattr(features, "kernel", None)

    def _takes_matrix(self, X: Any) -> bool:
        """Whether X is a matrix of numbers for the map, or a collection of objects."""
        kernel = self._kernel_of_rows
        return not isinstance(kernel, Kernel) or kernel.takes_matrix(X)

    def _fit_features(self, seen: Survey, rng: np.random.Generator) -> None:
        features = self._map(seen.sample)
        if self.random_state is not None or self.features is None:
            _seed(features, rng)
        try:
            self.features_ = features.fit(seen.sample)
        except BadPairError as bad:
            if seen.places is None:
                raise
            raise bad.among(seen.places, seen.places) from None
        except (TypeError, ValueError) as error:
            if not re.search(r"requires y|target y is None|argument: 'y'", str(error)):
                raise
            steps = [step for _, step in getattr(features, "steps", [("", features)])]
            names = ", ".join(type(step).__name__ for step in steps)
            raise ValueError(
                f"features ({names}) needs y to be fitted, and a map within a learner is fitted "
                "without: put it into a Pipeline in front of the learner, so that cross-validation "
                "refits it for each fold."
            ) from error
        self.__dict__.pop("kernel_", None)  # of an earlier fit
        if self.features is None:
            self.kernel_ = self.features_.kernel_
        last = features[-1] if hasattr(features, "steps") else features
        form = getattr(last, "form_", None)
        signs = np.ones(self._width(seen)) if form is None else form.signs
        # A feature in which the symmetric part vanishes counts as positive.
        self._signs = np.where(signs < 0, -1.0, 1.0)

    def _width(self, seen: Survey) -> int:
        last = self.features_[-1] if hasattr(self.features_, "steps") else self.features_
        if isinstance(last, FeatureMap):
            return last._n_features_out
        return int(self._transform(seen.sample[:1]).shape[1])

    # --- features -------------------------------------------------------------------------------

    def _transform(self, X: Any, start: int = 0) -> Array:
        """The features of rows; a bad pair is named by its place if `start` rows come before."""
        try:
            Z = self.features_.transform(X)
        except BadPairError as bad:
            raise bad.after(start) from None
        return Z.toarray() if sparse.issparse(Z) else np.asarray(Z)

    @property
    def _block_rows(self) -> int:
        return max(256, min(8192, FEATURE_BYTES // (8 * max(1, len(self._signs)))))

    def _blocks(self, data: Data) -> Iterator[tuple[Piece, Array, Array, Array | None]]:
        """One pass: pieces with features (n, p), targets (n, q) and weights."""
        for piece in data.pieces(self._block_rows):
            weight = self._weigh(piece.y, piece.weight)
            yield piece, self._transform(piece.X, piece.start), self._encode(piece.y), weight

    def _encode(self, y: Any) -> Array:
        """Targets as columns of numbers."""
        try:
            return np.asarray(y, dtype=float).reshape(len(y), -1) * self._target_unit
        except ValueError as error:
            raise ValueError(
                f"{type(self).__name__} learns numbers, but y has {np.ravel(y).tolist()[0]!r}: "
                "labels are for the classifiers."
            ) from error

    def _weigh(self, y: Any, weight: Array | None) -> Array | None:
        """What each row counts."""
        return None if weight is None else weight * self._weight_unit

    def _moments(self, data: Data, folds: Folds | GivenFolds | None) -> list[Moments]:
        """The moments of [Z Y] in one pass: of all rows, or of each fold and of the rest."""
        sums: list[MomentsSum] = []
        for piece, Z, Y, weight in self._blocks(data):
            if not sums:
                width = Z.shape[1] + Y.shape[1]
                sums = [MomentsSum(width) for _ in range(folds.n_folds + 1 if folds else 1)]
            places = None if folds is None else folds(piece.hashes, piece.rows)
            # Rows that no fold tests, if there are any, are the last part.
            for fold, total in enumerate(sums):
                part = fold if fold < len(sums) - 1 else -1
                rows = slice(None) if places is None else places == part
                total.add(Z[rows], Y[rows], weight=None if weight is None else weight[rows])
        return [total.freeze() for total in sums]

    # --- prediction -----------------------------------------------------------------------------

    def _decide(self, X: Any) -> Array:
        """``Z w + b``, shape (n, q), block by block."""
        check_is_fitted(self)
        with blas_threads_for(None if is_stream(X) else X, len(self._signs)):
            return self._outputs(X)

    def _outputs(self, X: Any) -> Array:
        coef = np.atleast_2d(self.coef_)
        if is_stream(X):
            width = getattr(self, "n_features_in_", None)
            blocks: Iterator[Any] = (block.X for block in checked(self._new_rows(X), width))
        else:
            if self._takes_matrix(X):
                X = self._validate_new(X)
            X = X if self._takes_matrix(X) else as_objects(X)
            if not count(X):
                raise ValueError(f"X has no rows: {type(self).__name__} predicts for at least one.")
            blocks = iter([X])
        out: list[Array] = []
        start = 0
        for block in blocks:
            for part in split(Block(block), self._block_rows):
                Z = self._transform(part.X, start)
                out.append((Z @ coef.T.astype(Z.dtype)).astype(float))
                start += len(Z)
        return np.concatenate(out) + np.atleast_1d(self.intercept_)

    def _validate_new(self, X: Any) -> Any:
        formats = "csr" if self._columns is None else False
        check_numeric_columns(self, X)
        X = validate_data(
            self, X, reset=False, accept_sparse=formats, dtype=[np.float64, np.float32]
        )
        return X if self._columns is None else X[:, self._columns]

    def _store(self, coef: Array, intercept: Array) -> None:
        """Keep coefficients (p, q) and intercepts (q,) in scikit-learn's shapes."""
        coef, intercept = coef / self._target_unit, intercept / self._target_unit
        one = coef.shape[1] == 1 and self._single
        self.coef_ = coef[:, 0].copy() if one else coef.T.copy()
        self.intercept_ = float(intercept[0]) if one else np.asarray(intercept, dtype=float)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        tags.input_tags.sparse = not self._pairwise
        tags.target_tags.required = True
        return tags


def as_objects(X: Any) -> Any:
    """A collection of objects: an array of one or two dimensions as it is, all else as a list."""
    return X if hasattr(X, "shape") and len(X.shape) < 3 else list(X)


def scaled_gaussian(X: Any) -> Gaussian:
    """A Gaussian as wide as the data, σ² = d · var / 2: scikit-learn's ``gamma="scale"``."""
    if sparse.issparse(X):
        variance = float(X.multiply(X).mean() - X.mean() ** 2)
    else:
        X = np.asarray(X)
        variance = float(X.var(dtype=float)) if X.size else 0.0
    return Gaussian(np.sqrt(X.shape[-1] * (variance if variance > 0 else 1.0) / 2))


def _seed(features: Any, rng: np.random.Generator) -> None:
    """Give every part of a map that has no random state one of ours."""
    parameters = features.get_params(deep=True)
    seeds = {
        name: int(rng.integers(2**31))
        for name in sorted(parameters)
        if (name == "random_state" or name.endswith("__random_state")) and parameters[name] is None
    }
    if seeds:
        features.set_params(**seeds)
