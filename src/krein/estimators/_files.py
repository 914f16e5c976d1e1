"""Learners and files: which columns a fit saw, and the same columns of later files."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._validation import outside_level
from ..streaming import Container, as_container, checked
from ..streaming.columns import Layout
from ..streaming.containers import is_block, is_path
from ..streaming.files import open_like


def is_stream(X: Any) -> bool:
    """Whether X brings its own targets, as containers, paths and blocks do."""
    if isinstance(X, Container) or hasattr(X, "__fspath__") or isinstance(X, str):
        return True
    if hasattr(X, "shape") or isinstance(X, tuple | set | dict):
        return False
    if isinstance(X, list):
        return any(map(is_block, X[:1]))
    return callable(X) or hasattr(X, "__iter__")


class Reading:
    """Remembers the columns of a fit and finds them in later files."""

    n_features_in_: int
    feature_names_in_: Any
    _seen_layout: Layout | None = None

    def _opened(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Container:
        """A stream for a fit; with `reset` its columns are remembered, else they are matched."""
        container = as_container(X, y, sample_weight)
        if is_path(X) and container.assumed_target is not None:
            _warn_of_target(container)
        if reset:
            self._remember(container)
            return container
        layout = self._layout
        return container if layout is None else container.rows_for(layout, target=True)

    def _remember(self, container: Container) -> None:
        self._seen_layout = container.layout
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if container.feature_names is not None:
            self.feature_names_in_ = np.array(container.feature_names, dtype=object)

    def _recall(self, other: Reading) -> None:
        """What another learner has remembered."""
        for name in ("n_features_in_", "feature_names_in_", "_seen_layout"):
            self.__dict__.pop(name, None)
            if name in vars(other):
                setattr(self, name, vars(other)[name])

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

    def _new_rows(self, X: Any) -> Container:
        """A stream to predict for: the features of the fit, whatever else is in the file."""
        layout = self._layout
        if layout is None:
            return as_container(X)
        return open_like(X, layout) if is_path(X) else as_container(X).rows_for(layout)


def _warn_of_target(container: Container) -> None:
    column = container.assumed_target
    warnings.warn(
        f"{container.path}: no target is named, so the last column, {column!r}, is taken as y. "
        f"fit(path, y={column!r}) says the same without this warning; name another column if y is "
        "elsewhere.",
        UserWarning,
        stacklevel=outside_level(),
    )


class ScoringStreams:
    """Scores on files and other streams by the targets that they carry."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The score of scikit-learn, R² or the accuracy.

        Parameters
        ----------
        X : as in `predict`
        y : array-like of shape (n,) or (n, k), default=None
            For a path: also the column of the targets, None for that of the fit. Blocks and
            containers carry their own.
        sample_weight : array-like of shape (n,), default=None
            For a path: also the column of the weights.

        Returns
        -------
        float
        """
        if is_stream(X) and (y is None or isinstance(y, str | int)):
            X, y, sample_weight = self._with_targets(X, y, sample_weight)
        return super().score(X, y, sample_weight)  # type: ignore[misc]  # of scikit-learn's mixin

    def _with_targets(self: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        layout = self._layout
        if is_path(X) and layout is not None and y is None:
            y = layout.target
        if is_path(X):
            container = as_container(X, y, sample_weight)
        else:
            container = as_container(X)
        if layout is not None:
            container = container.rows_for(layout, target=True)
        blocks = [(block.y, block.weight) for block in checked(container)]
        ys, weights = zip(*blocks, strict=True)
        if ys[0] is None:
            raise ValueError(
                f"{type(self).__name__}.score needs targets, but the data carry none: pass y."
            )
        weight = sample_weight if weights[0] is None else np.concatenate(weights)
        return container, np.concatenate(ys), weight
