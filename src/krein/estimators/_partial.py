"""Learning from more rows, for numbers and for classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context

from .._validation import all_or_nothing
from .least_squares import LeastSquaresLearner


class PartialNumbers(LeastSquaresLearner):
    """Least squares on numbers that can continue with more rows."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; the map is fitted on the first ones.

        After the first call penalties are tuned by the squared error, since earlier rows cannot be
        seen again. The model keeps the moments of the data.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`

        Returns
        -------
        self
        """
        with self._threads(X), all_or_nothing(self):
            self._partial_fit(X, y, sample_weight, None)
        return self


class PartialLabels(LeastSquaresLearner):
    """Least squares on labels that can continue with more rows."""

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more rows; the map is fitted on the first ones.

        After the first call penalties are tuned by the squared error, since earlier rows cannot be
        seen again. The model keeps the moments of the data.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array-like of shape (k,), default=None
            All classes of all calls. The first call needs them unless its y contains all classes.

        Returns
        -------
        self
        """
        with self._threads(X), all_or_nothing(self):
            if isinstance(self.class_weight, str):
                raise ValueError(
                    "class_weight='balanced' needs all rows at once: give partial_fit a dict."
                )
            announced = None if classes is None else np.unique(np.asarray(classes))
            self._partial_fit(X, y, sample_weight, announced)
        return self
