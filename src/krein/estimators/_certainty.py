"""How sure a learner is: probabilities of classes, and intervals of numbers."""

from __future__ import annotations

from numbers import Real
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..learning import Calibration, Residuals

Array = NDArray[np.floating]


class _OfClassifiers:
    """A method of classifiers that have probabilities, or will have them after `fit`.

    Other learners do not have the attribute. `sklearn.utils.metaestimators.available_if` does the
    same, but its own error hides the reason.
    """

    def __init__(self, method: Any):
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, learner: Any, owner: Any = None) -> Any:
        if learner is None:
            return self.method
        if not is_classifier(learner):
            name = self.method.__name__
            raise AttributeError(f"{type(learner).__name__} is not a classifier: it has no {name}.")
        if reason := learner._doubt(self.method.__name__):
            raise AttributeError(reason)
        return MethodType(self.method, learner)


class Certainty:
    """Mixin for learners that calibrate their outputs on held-out rows.

    A subclass defines `_is_calibrated` and sets `_calibration` in `fit`.
    """

    # Probabilities or quantiles of errors; absent if nothing was held out.
    _calibration: Any

    @property
    def _is_calibrated(self) -> bool:
        """True if `fit` holds rows out and calibrates the outputs."""
        raise TypeError(f"{type(self).__name__} must define _is_calibrated.")

    def _doubt(self, verb: str) -> str:
        """Return why the learner cannot say how sure it is; empty if it can."""
        if hasattr(self, "_calibration"):
            return ""
        if not self._is_calibrated:
            given = f"alpha={self.alpha!r}, " if hasattr(self, "alpha") else ""
            wanted = getattr(self, "calibrate", False)
            name = f"{type(self).__name__}({given}calibrate={wanted!r})"
            return f"{verb} needs held-out rows, and {name} holds none out: use calibrate=True."
        if hasattr(self, "coef_"):
            return (
                f"{verb} needs held-out rows, and {type(self).__name__}.partial_fit holds none "
                "out: use fit."
            )
        return ""

    @_OfClassifiers
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, shape (n, k), in the order of `classes_`.

        The outputs of `decision_function` are calibrated on the outputs of rows that were held
        out. Two classes have Platt's sigmoid, or an isotonic function if there are at least 1000
        rows and it is clearly better. More classes have a softmax with one temperature. If that is
        clearly better, it has an offset for each class, or each class has a sigmoid against the
        rest, and a power of the sigmoids is divided by its sum over the classes. The likeliest
        class is the class of `predict`. Weights of rows and classes count as they do in `fit`. For
        y with one column per label, the probabilities of the labels have the shape of y.

        Parameters
        ----------
        X : as in `predict`
        """
        check_is_fitted(self)
        outputs = self.decision_function(X)  # type: ignore[attr-defined]  # of classifiers
        calibration: Calibration = self._calibration
        return calibration.probabilities(outputs.reshape(len(outputs), -1))

    @_OfClassifiers
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of `predict_proba`, shape (n, k).

        Parameters
        ----------
        X : as in `predict`
        """
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(found)

    @available_if(lambda self: not is_classifier(self))
    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """Return intervals that contain a new target with a given probability.

        An interval is the prediction plus two quantiles of the errors of rows that were held out.
        All intervals have the same width. The coverage is that of all rows together, for new rows
        from the distribution of the data.

        Parameters
        ----------
        X : as in `predict`
        coverage : float, default=0.9
            The probability that the target is in the interval. Targets below and above it are
            equally likely.

        Returns
        -------
        ndarray of shape (n, 2), or (n, 2, k) for k outputs
            The lower and the upper bounds.
        """
        check_is_fitted(self)
        if not isinstance(coverage, Real) or not 0 < coverage < 1:
            raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}.")
        if doubt := self._doubt("predict_interval"):
            raise ValueError(doubt)
        predictions = self.predict(X)
        residuals: Residuals = self._calibration
        bounds = residuals.interval(float(coverage))
        return predictions[:, None] + (bounds[:, 0] if predictions.ndim == 1 else bounds)
