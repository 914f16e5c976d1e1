"""What all learners share, automatic ones included: data in, columns remembered, progress."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_array
from sklearn.utils.validation import _check_feature_names, _check_sample_weight, validate_data

from .._columns import check_numeric_columns, check_targets
from .._validation import NestedParameters, outside_level
from ..rows import Sides, as_objects, column_names, count, dense, is_objects, is_table
from ..streaming import Blocks, Collected, Container, Data, InMemory, as_container, checked, fold
from ..streaming.columns import Layout
from ..streaming.containers import is_block, is_path
from ..streaming.files import open_like
from ..streaming.survey import Survey, check_labels, has_columns
from . import _progress
from ._representation import Recipe, Representation
from ._targets import Numbers, Targets, labels_of
from ._units import warn_of_units


def is_stream(X: Any) -> bool:
    """Return True if X brings its own targets, as containers, paths and blocks do."""
    if isinstance(X, Container) or is_path(X):
        return True
    if hasattr(X, "shape") or isinstance(X, tuple | set | dict):
        return False
    if isinstance(X, list):
        return any(map(is_block, X[:1]))
    return callable(X) or hasattr(X, "__iter__")


class Estimator(NestedParameters, _progress.CallbackSupportMixin):
    """Base of all learners: it opens data of any kind and remembers their columns.

    A subclass defines `_recipe`, how its map is made, and is a regressor or a classifier of
    scikit-learn.
    """

    n_features_in_: int
    feature_names_in_: Any
    # Where the columns of a file were; None if the fit saw no file.
    _seen_layout: Layout | None = None

    @property
    def _recipe(self) -> Recipe:
        raise TypeError(f"{type(self).__name__} must define _recipe.")

    @property
    def _needs_both_sides(self) -> bool:
        """True if new rows of a precomputed kernel are needed in both directions."""
        return False

    @property
    def _classifies(self) -> bool:
        return isinstance(self, ClassifierMixin)

    @property
    def _name(self) -> str:
        return type(self).__name__

    @property
    def _two_sided_name(self) -> str:
        """The name of the learner that uses both sides of a kernel that is not symmetric."""
        return "TwoSidedRidgeClassifier" if self._classifies else "TwoSidedRidge"

    def show_progress(self, show: bool = True) -> Self:
        """Show a bar during `fit`; needs rich (``pip install "krein[cli]"``).

        ``set_callbacks(sklearn.callback.ProgressBar())`` does the same with scikit-learn 1.9.

        Parameters
        ----------
        show : bool, default=True
            False shows no bar.

        Returns
        -------
        self
        """
        return _progress.show(self, show)

    # --- data of a fit --------------------------------------------------------------------------

    def _open(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> Data:
        """Return the data as blocks; an array is validated as scikit-learn does it."""
        if is_stream(X):
            container = self._opened(X, y, sample_weight, reset)
            first = next(iter(checked(container)))
            if not is_objects(first.X):
                self.n_features_in_ = first.X.shape[1]
            return Data.of(container, self._recipe.pairwise)
        if reset:
            self._seen_layout = None
        if y is None:
            raise ValueError(f"{self._name} requires y to be passed, but the target y is None.")
        X, y = self._validated(X, y, reset)
        if sample_weight is not None:
            like = X if hasattr(X, "shape") else np.empty((len(X), 0))
            sample_weight = _check_sample_weight(
                sample_weight, like, dtype=np.float64, ensure_non_negative=True
            )
        if not reset:
            return Data.of(InMemory(self._restricted(X), y, sample_weight))
        X = Sides.of(X) if self._recipe.is_directed else X
        return Data.of(InMemory(X, y, sample_weight), self._recipe.pairwise)

    def _targets_of(self, survey: Survey) -> Targets:
        """Return what the targets of a fit are."""
        if self._classifies:
            return labels_of(survey, self._name, self.class_weight)
        return Numbers.of(survey, self._name)

    def _warn_of_units(self, survey: Survey) -> None:
        """Warn if one column of a fit hides the other columns from a kernel of distances."""
        if self._recipe.depends_on_units(survey.sample.X):
            warn_of_units(self._name, survey.sample.X, vars(self).get("feature_names_in_"))

    def _warn_of_direction(self, representation: Representation) -> None:
        """Warn if the kernel of a fit has two sides and the learner uses one of them."""
        if not self._recipe.both_sides:
            representation.warn_if_two_sided(self._name, self._two_sided_name)

    def _restricted(self, X: Any) -> Any:
        """Return later rows as the fitted map takes them."""
        return X

    def _validated(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray]:
        """Return a matrix or a list of objects, and the targets, both validated."""
        check_targets(self, y, self._classifies)
        if self._is_pair(X):
            if reset:
                raise ValueError(
                    f"{self._name}.fit takes one square matrix K with K[i, j] = k(x_i, x_j), got a "
                    f"tuple of {len(X)} arrays: a pair of both directions is for new rows."
                )
            sides = self._sides(X)
            left, y = self._validated_rows(X[0], y, reset)
            return Sides(left, sides.right), y
        if self._needs_both_sides and not reset:
            raise self._no_pair(f"got one {type(X).__name__}")
        return self._validated_rows(X, y, reset)

    def _validated_rows(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray]:
        """Return validated rows, or one side of a pair, and their targets."""
        if self._recipe.takes_matrix(X):
            check_numeric_columns(self, X)
            if self._classifies:
                options = {"multi_output": has_columns(y)}
            else:
                options = {"multi_output": True, "y_numeric": True}
            X, y = validate_data(self, X, y, reset=reset, **self._formats, **options)
            y = dense(y)
        else:
            # The kernel brings equal objects into one form; its errors name the index of an object.
            X, y = self._recipe.kernel_of_rows._check_data(as_objects(X)), np.asarray(y)
        if self._classifies:
            check_labels(y)
            y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
        return X, y

    @property
    def _formats(self) -> dict[str, Any]:
        """The formats of X that `validate_data` accepts."""
        formats = False if self._recipe.pairwise else "csr"
        return {"accept_sparse": formats, "dtype": [np.float64, np.float32]}

    def _opened(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Container:
        """Return a stream for a fit; its columns are remembered, or matched with earlier ones."""
        container = as_container(X, y, sample_weight)
        if is_path(X) and container.assumed_target is not None:
            _warn_of_target(container)
        if reset:
            self._seen_layout = container.layout
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
            if container.feature_names is not None:
                self.feature_names_in_ = np.array(container.feature_names, dtype=object)
            return container
        layout = self._layout
        return container if layout is None else container.rows_for(layout, target=True)

    @property
    def _layout(self) -> Layout | None:
        """Where the features of the fit are in a file; None if the rows were objects."""
        n_features = vars(self).get("n_features_in_")
        if n_features is None:
            return None
        names = vars(self).get("feature_names_in_")
        layout = self._seen_layout or Layout(n_features)
        named = None if names is None else tuple(names)
        return layout._replace(n_features=n_features, names=named)

    # --- new rows -------------------------------------------------------------------------------

    def _new_rows(self, X: Any) -> Container:
        """Return new rows as a container, with the features of the fit."""
        if isinstance(X, Sides) or self._is_pair(X):
            return InMemory(X if isinstance(X, Sides) else self._sides(X))
        if self._needs_both_sides:
            raise self._no_pair(f"got one {type(X).__name__}")
        layout = self._layout
        if self._is_blocks(X):
            return Blocks(X) if layout is None else Blocks(X).rows_for(layout)
        if is_stream(X):
            if layout is None:
                return as_container(X)
            return open_like(X, layout) if is_path(X) else as_container(X).rows_for(layout)
        if self._recipe.takes_matrix(X):
            check_numeric_columns(self, X)
            X = validate_data(self, X, reset=False, **self._formats)
        else:
            X = as_objects(X)
        if not count(X):
            raise ValueError(f"X has no rows: {self._name} needs at least one row to predict.")
        return InMemory(X, rows=count(X))

    def _is_blocks(self, X: Any) -> bool:
        """Return True if X is a list of matrices, which are blocks of rows without targets.

        A kernel of objects takes each matrix as one object.
        """
        if not isinstance(X, list) or not X or not self._recipe.takes_matrix(X):
            return False
        return all(is_table(rows) and len(rows.shape) == 2 for rows in X)

    def _is_pair(self, X: Any) -> bool:
        """Return True if X holds kernel values in both directions."""
        pairs = isinstance(X, tuple) and len(X) and all(np.ndim(side) == 2 for side in X)
        return bool(pairs) and self._recipe.pairwise

    def _sides(self, X: Any) -> Sides:
        """Return a pair (k(x, T), k(T, x)ᵀ) of new rows, validated."""
        options = {"dtype": [np.float64, np.float32], "input_name": "X"}
        arrays = [check_array(side, **options) for side in X]
        shapes = [array.shape for array in arrays]
        if len(arrays) != 2 or shapes[0] != shapes[1] or shapes[0][1] not in self._row_widths:
            raise self._no_pair(f"got arrays of shape {', '.join(map(str, shapes))}")
        for side in X:
            # The columns of a data frame must be the training rows, in their order.
            if column_names(side) is not None and shapes[0][1] == self.n_features_in_:
                _check_feature_names(self, side, reset=False)
        return Sides(*arrays)

    @property
    def _row_widths(self) -> set[int]:
        """The numbers of columns that new rows of a precomputed kernel may have."""
        return {self.n_features_in_}

    def _no_pair(self, found: str) -> ValueError:
        n = vars(self).get("n_features_in_", "n")
        return ValueError(
            f"{self._name} needs the kernel values of m new rows x in both directions, because "
            "k(x, y) differs from k(y, x): pass a pair (k(x, T), k(T, x).T) of two arrays of shape "
            f"(m, {n}), where T are the {n} training rows, {found}. For the training rows the pair "
            "is (K, K.T). For cross-validation, pass kernel=Relation(K) and the row indices as X."
        )

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R² or the accuracy.

        Parameters
        ----------
        X : as in `predict`
        y : array-like of shape (n,) or (n, k), default=None
            The targets. For a path, y may be the column of the targets, and None is the column of
            the fit. Blocks and containers carry their own targets.
        sample_weight : array-like of shape (n,), default=None
            The weights. For a path, the column of the weights.

        Returns
        -------
        float
        """
        if is_stream(X) and (y is None or isinstance(y, str | int)):
            X, y, sample_weight = self._with_targets(X, y, sample_weight)
        if y is None:
            raise ValueError(f"{self._name}.score needs targets, but y is None: pass y.")
        if self._classifies:
            return super().score(X, y, sample_weight)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        found = self.predict(X)
        unit = float(np.abs(y).max(initial=0)) or 1.0  # squares must not overflow or underflow
        return float(r2_score(y / unit, found / unit, sample_weight=sample_weight))

    def _with_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        layout = self._layout
        if is_path(X) and layout is not None and y is None:
            y = layout.target
        container = as_container(X, y, sample_weight) if is_path(X) else as_container(X)
        if layout is not None:
            container = container.rows_for(layout, target=True)
        sides = fold(checked(container), Collected(lambda block: (block.y, block.weight))).pieces
        ys, weights = zip(*sides, strict=True)
        if ys[0] is None:
            raise ValueError(f"{self._name}.score needs targets, but the data carry none: pass y.")
        weight = sample_weight if weights[0] is None else np.concatenate(weights)
        return container, np.concatenate(ys), weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._recipe.pairwise
        tags.input_tags.sparse = not self._recipe.pairwise
        tags.target_tags.required = True
        tags.target_tags.multi_output = not self._classifies
        if self._classifies:
            tags.classifier_tags.multi_label = True
        return tags


def _warn_of_target(container: Container) -> None:
    column = container.assumed_target
    warnings.warn(
        f"{container.path}: no target is named, so the last column, {column!r}, is taken as y. "
        f"fit(path, y={column!r}) says the same without this warning; name another column if y is "
        "elsewhere.",
        UserWarning,
        stacklevel=outside_level(),
    )
