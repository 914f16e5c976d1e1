"""What a learner's targets are, numbers or classes, and what its outputs say about them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_class_weight

from ._data import Survey, check_labels
from ._files import ScoringStreams

Array = NDArray[np.floating]


class Regressing(ScoringStreams, RegressorMixin):
    """Predictions are the outputs."""

    def predict(self, X: Any) -> Array:
        """The predictions for the rows of X, shape (n,) or (n, k).

        Parameters
        ----------
        X : as in `fit`
            In a file the columns of the fit are found by name, in any order and whatever else is
            there; without names by place.
        """
        found = self._decide(X)
        return found[:, 0] if np.ndim(self.coef_) == 1 else found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class Classifying(ScoringStreams, ClassifierMixin):
    """Targets are ±1 for each class against the rest; predictions are the largest output."""

    classes_: NDArray
    _classifies = True

    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, Any]:
        X, y = super()._validate(X, y, reset)
        check_labels(y)
        return X, y

    def _check_targets(self, y: Any) -> NDArray:
        y = super()._check_targets(y)
        check_labels(y)
        return y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y

    def _prepare(self, seen: Survey) -> None:
        assert seen.labels is not None
        assert seen.label_weights is not None
        self.classes_ = seen.labels
        if len(seen.labels) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, but all rows of positive "
                f"weight have one class: {seen.labels.tolist()[0]!r}."
            )
        self._class_weights = self._weights_of_classes(seen.labels, seen.label_weights)
        self._single = len(seen.labels) == 2

    def _weights_of_classes(self, labels: NDArray, totals: Array) -> Array | None:
        wanted = getattr(self, "class_weight", None)
        if wanted is None:
            return None
        if isinstance(wanted, str):
            return totals.sum() / (len(labels) * totals)
        found = compute_class_weight(dict(wanted), classes=labels, y=labels)
        bad = ~(np.isfinite(found) & (found >= 0))
        if bad.any() or not found @ totals > 0:
            raise ValueError(
                f"class_weight must be numbers from 0 on, with one above 0, got {wanted!r}."
            )
        return found

    def _codes(self, y: Any) -> NDArray[np.intp]:
        """The place of each label among the classes."""
        y = np.ravel(y)  # one column is one label per row
        codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        unknown = self.classes_[codes] != y
        if unknown.any():
            # A class whose rows all have weight zero; in partial_fit this is refused before.
            codes = np.where(unknown, 0, codes)
        return codes

    def _encode(self, y: Any) -> Array:
        codes = self._codes(y)
        if len(self.classes_) == 2:
            return np.where(codes == 1, 1.0, -1.0)[:, None]
        return np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)

    def _weigh(self, y: Any, weight: Array | None) -> Array | None:
        weight = super()._weigh(y, weight)
        if self._class_weights is None:
            return weight
        of_class = self._class_weights[self._codes(y)]
        return of_class if weight is None else of_class * weight

    def decision_function(self, X: Any) -> Array:
        """The outputs: shape (n,) for two classes, where positive means the second; else (n, k)."""
        found = self._decide(X)
        return found[:, 0] if len(self.classes_) == 2 else found

    def predict(self, X: Any) -> NDArray:
        """The class of each row of X."""
        return decide(self.decision_function(X), self.classes_)


def decide(outputs: Array, classes: NDArray) -> NDArray:
    """The classes that outputs (n,) or (n, k) name."""
    codes = (outputs > 0).astype(int) if outputs.ndim == 1 else outputs.argmax(axis=1)
    return classes[codes]
