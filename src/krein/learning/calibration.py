"""From outputs to probabilities: calibration on the outputs of rows that were held out.

The outputs of a machine say which class is likelier, and not how likely it is. A calibration learns
the probability of each class as a function of the outputs. The class that the outputs name always
has the largest probability: where the learned function disagrees, near the border between two
classes, both classes are equally likely up to a part in a million.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from .evidence import by_halves, is_clear
from .log_loss import least_log_loss

Array = NDArray[np.floating]

# With fewer than MANY rows of two classes, or SOME rows of more classes, the simpler calibration is
# always taken. It is also taken with more than SOME classes, whose offsets cost more than they
# gain.
MANY, SOME = 1000, 100
# The largest number of steps of an isotonic calibration that are kept.
STEPS = 1000
# The class that the outputs name is likelier than all others by this share.
AHEAD = 1e-6
# A probability is at least this, so that its logarithm is finite.
LEAST = 1e-15


class Calibration(Protocol):
    """Protocol of a calibration: it maps outputs to the probabilities of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import Calibration, Sigmoid
    >>> calibration: Calibration = Sigmoid(slope=2.0, offset=0.0)
    >>> calibration.probabilities(np.array([[0.0]])).round(2)
    array([[0.5, 0.5]])
    """

    def probabilities(self, outputs: Array) -> Array: ...


Fitter = Callable[[Array, NDArray[np.intp], Array], Calibration]


@dataclass(frozen=True)
class Sigmoid:
    """Platt's sigmoid of the output of two classes.

    ``P(second class) = 1 / (1 + exp(−slope · f − offset))``.

    Attributes
    ----------
    slope : float
        The factor of the output f.
    offset : float
        The logarithm of the odds at f = 0.

    References
    ----------
    J. Platt. Probabilistic Outputs for Support Vector Machines. 1999.

    H.-T. Lin, C.-J. Lin, R. Weng. A Note on Platt's Probabilistic Outputs for Support Vector
    Machines. Machine Learning 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import Sigmoid
    >>> Sigmoid(slope=2.0, offset=0.0).probabilities(np.array([[0.0], [1.0]])).round(2)
    array([[0.5 , 0.5 ],
           [0.12, 0.88]])
    """

    slope: float
    offset: float

    @classmethod
    def of(cls, outputs: Array, codes: NDArray[np.intp], weight: Array) -> Sigmoid:
        """Minimise the log-loss on held-out rows, with Platt's targets.

        A row of a class of weight N has the target ``(N + 1)/(N + 2)`` for its own class. The slope
        then stays finite if no row is wrong.

        Parameters
        ----------
        outputs : ndarray of shape (n, 1)
        codes : ndarray of int of shape (n,)
            1 for the second class, 0 for the first one.
        weight : ndarray of shape (n,)
        """
        weight = as_counts(weight)
        both = np.hstack([np.zeros_like(outputs), outputs])
        slope, _, offset = least_log_loss(both, _smoothed(codes, weight), weight, [0, 2])
        return cls(slope, offset)

    def probabilities(self, outputs: Array) -> Array:
        """Return the probabilities of both classes, shape (n, 2), for outputs of shape (n, 1)."""
        scores = self.slope * outputs + self.offset
        found = softmax(np.hstack([np.zeros_like(scores), scores]), axis=1)
        return _agreeing(found, (outputs[:, 0] > 0).astype(int))


@dataclass(frozen=True)
class Softmax:
    """A softmax of the outputs of k classes, with one temperature.

    ``P(c) ∝ exp(slope · f_c + offset_c)``.

    Attributes
    ----------
    slope : float
        The inverse temperature, which is not negative.
    offsets : ndarray of shape (k,)
        The offset of each class.

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun, K. Weinberger. On Calibration of Modern Neural Networks. ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import Softmax
    >>> Softmax(2.0, np.zeros(3)).probabilities(np.array([[1.0, 0.0, 0.0]])).round(2)
    array([[0.79, 0.11, 0.11]])
    """

    slope: float
    offsets: Array

    @classmethod
    def of(
        cls, outputs: Array, codes: NDArray[np.intp], weight: Array, *, shifts: bool = False
    ) -> Softmax:
        """Minimise the log-loss on held-out rows.

        A row has the target ``(N + 1)/(N + 2)`` for its own class, where N is the weight of all
        rows. The slope then stays finite if no row is wrong.

        Parameters
        ----------
        outputs : ndarray of shape (n, k)
        codes : ndarray of int of shape (n,)
            The index of the class of each row.
        weight : ndarray of shape (n,)
        shifts : bool, default=False
            True if offsets are learned too; their mean is zero.
        """
        k, weight = outputs.shape[1], as_counts(weight)
        least = 1 / (weight.sum() + 2)
        targets = np.full(outputs.shape, least / (k - 1))
        targets[np.arange(len(codes)), codes] = 1 - least
        slope, *offsets = least_log_loss(outputs, targets, weight, range(1 + k) if shifts else [0])
        return cls(max(0.0, slope), np.array(offsets) - np.mean(offsets))

    def probabilities(self, outputs: Array) -> Array:
        """Return the probabilities of the classes, shape (n, k), for outputs of shape (n, k)."""
        found = softmax(self.slope * outputs + self.offsets, axis=1)
        return _agreeing(found, outputs.argmax(axis=1))


@dataclass(frozen=True)
class Isotonic:
    """A probability of the second of two classes that grows with the output, step by step.

    Between the steps it is linear, as in `sklearn.isotonic.IsotonicRegression`. Beyond the first
    and the last step it is constant.

    Attributes
    ----------
    outputs : ndarray of shape (m,)
        The outputs at the ends of the steps, in order.
    values : ndarray of shape (m,)
        The probabilities there.

    References
    ----------
    B. Zadrozny, C. Elkan. Transforming Classifier Scores into Accurate Multiclass Probability
    Estimates. KDD 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import Isotonic
    >>> steps = Isotonic(np.array([-1.0, 1.0]), np.array([0.2, 0.8]))
    >>> steps.probabilities(np.array([[0.0], [5.0]])).round(2)
    array([[0.5, 0.5],
           [0.2, 0.8]])
    """

    outputs: Array
    values: Array

    @classmethod
    def of(cls, outputs: Array, codes: NDArray[np.intp], weight: Array) -> Isotonic:
        """Minimise the squared error, and the log-loss, among all growing functions.

        One row of each class is added at the smallest and at the largest output: no probability is
        then zero or one.

        Parameters
        ----------
        outputs : ndarray of shape (n, 1)
        codes : ndarray of int of shape (n,)
            1 for the second class, 0 for the first one.
        weight : ndarray of shape (n,)
        """
        from sklearn.isotonic import IsotonicRegression

        f = outputs[:, 0]
        ends = np.repeat([f.min(), f.max()], 2)
        found = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(
            np.append(f, ends),
            np.append(codes, [0, 1, 0, 1]),
            np.append(as_counts(weight), np.ones(4)),
        )
        at, values = found.X_thresholds_, found.y_thresholds_
        if len(at) > STEPS:
            kept = np.unique(np.linspace(0, len(at) - 1, STEPS).round().astype(int))
            at, values = at[kept], values[kept]
        return cls(at, values)

    def probabilities(self, outputs: Array) -> Array:
        """Return the probabilities of both classes, shape (n, 2), for outputs of shape (n, 1)."""
        second = np.interp(outputs[:, 0], self.outputs, self.values)
        found = np.stack([1 - second, second], axis=1)
        return _agreeing(found, (outputs[:, 0] > 0).astype(int))


@dataclass(frozen=True)
class OneVsRest:
    """A power of a sigmoid of the output of each class, divided by the sum over all classes.

    ``P(c) ∝ (1 + exp(−slope_c · f_c − offset_c))^(−power)``. Some classes may be hard to tell from
    the rest where others are easy. With the power 1, the probabilities are often too equal.

    Attributes
    ----------
    parts : tuple of Sigmoid
        The sigmoid of each class against the rest.
    power : float, default=1.0
        The power of the sigmoids, which is not negative.

    References
    ----------
    B. Zadrozny, C. Elkan. Transforming Classifier Scores into Accurate Multiclass Probability
    Estimates. KDD 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import OneVsRest, Sigmoid
    >>> each = OneVsRest((Sigmoid(2.0, 0.0), Sigmoid(2.0, 0.0), Sigmoid(0.0, 0.0)))
    >>> each.probabilities(np.array([[1.0, 0.0, 0.0]])).round(2)
    array([[0.47, 0.27, 0.27]])
    """

    parts: tuple[Sigmoid, ...]
    power: float = 1.0

    @classmethod
    def of(cls, outputs: Array, codes: NDArray[np.intp], weight: Array) -> OneVsRest:
        """Minimise the log-loss on held-out rows, first of each class against the rest.

        Parameters
        ----------
        outputs : ndarray of shape (n, k)
        codes : ndarray of int of shape (n,)
            The index of the class of each row.
        weight : ndarray of shape (n,)
        """
        labels = codes[:, None] == np.arange(outputs.shape[1])
        columns = zip(outputs.T, labels.T.astype(np.intp), strict=True)
        parts = tuple(Sigmoid.of(f[:, None], own, weight) for f, own in columns)
        return cls(parts, Softmax.of(cls(parts)._logs(outputs), codes, weight).slope)

    def probabilities(self, outputs: Array) -> Array:
        """Return the probabilities of the classes, shape (n, k), for outputs of shape (n, k)."""
        found = softmax(self.power * self._logs(outputs), axis=1)
        return _agreeing(found, outputs.argmax(axis=1))

    def _logs(self, outputs: Array) -> Array:
        """Return the logarithms of the sigmoids, which may all be as small as 1e-300."""
        slopes, offsets = np.array([(part.slope, part.offset) for part in self.parts]).T
        return -np.logaddexp(0, -slopes * outputs - offsets)


@dataclass(frozen=True)
class Separate:
    """The probabilities of several labels that a row may have at once.

    Attributes
    ----------
    parts : tuple of Sigmoid or Isotonic
        The calibration of each label.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import Separate, Sigmoid
    >>> both = Separate((Sigmoid(2.0, 0.0), Sigmoid(2.0, 0.0)))
    >>> both.probabilities(np.array([[0.0, 1.0]])).round(2)
    array([[0.5 , 0.88]])
    """

    parts: tuple[Calibration, ...]

    def probabilities(self, outputs: Array) -> Array:
        """Return the probability of each label, shape (n, q), for outputs of shape (n, q)."""
        columns = zip(self.parts, outputs.T, strict=True)
        return np.stack([part.probabilities(f[:, None])[:, 1] for part, f in columns], axis=1)


def calibrated(outputs: Array, codes: NDArray[np.intp], weight: Array) -> Calibration:
    """Return the calibration of held-out rows.

    Two classes get a `Sigmoid` or, if there is evidence for it, an `Isotonic` function. More
    classes get a `Softmax` without offsets or, if there is evidence for them, with offsets or
    sigmoids of `OneVsRest`. There is evidence if there are at least 1000 rows, or 100 rows of 3 to
    100 classes, and the log-loss is smaller by more than two standard errors, fitted on one half of
    the rows and measured on the other half, and vice versa.

    Parameters
    ----------
    outputs : ndarray of shape (n, q)
        q = 1 for two classes, otherwise one column for each class.
    codes : ndarray of int of shape (n,)
        The index of the class of each row.
    weight : ndarray of shape (n,)
        The weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import calibrated
    >>> outputs, codes = np.array([[-1.0], [-0.5], [0.5], [1.0]]), np.array([0, 0, 1, 1])
    >>> type(calibrated(outputs, codes, np.ones(4))).__name__
    'Sigmoid'
    """
    n, k = outputs.shape
    chosen: Fitter = Sigmoid.of if k == 1 else Softmax.of
    if n < (MANY if k == 1 else SOME) or k > SOME:
        return chosen(outputs, codes, weight)
    others: list[Fitter] = [Isotonic.of]
    if k > 1:
        others = [partial(Softmax.of, shifts=True), OneVsRest.of]
    least = by_halves(chosen, _log_losses, outputs, codes, weight)
    for other in others:
        losses = by_halves(other, _log_losses, outputs, codes, weight)
        if is_clear(least - losses, weight):
            chosen, least = other, losses
    return chosen(outputs, codes, weight)


def _log_losses(calibration: Calibration, outputs: Array, codes: NDArray[np.intp]) -> Array:
    """Return the log-loss of each row (n,)."""
    P = calibration.probabilities(outputs)
    return -np.log(np.maximum(P, LEAST))[np.arange(len(codes)), codes]


def as_counts(weight: Array) -> Array:
    """Return weights as numbers of rows: weights that sum to less than the rows are enlarged.

    A row of weight two counts as two rows. Weights that sum to one are shares and not counts.
    """
    total = float(weight.sum())
    return weight * max(1.0, len(weight) / total) if total > 0 else weight


def _agreeing(found: Array, named: NDArray[np.intp]) -> Array:
    """Return probabilities (n, k) that are largest for the class that the outputs name (n,)."""
    rows = np.arange(len(found))
    own = found[rows, named]
    found[rows, named] = 0.0
    others = found.max(axis=1)
    found[rows, named] = np.maximum(own, (1 + AHEAD) * others)
    return found / found.sum(axis=1, keepdims=True)


def _smoothed(codes: NDArray[np.intp], weight: Array) -> Array:
    """Return Platt's targets of two classes, shape (n, 2)."""
    of_class = np.bincount(codes, weights=weight, minlength=2)
    second = np.where(codes == 1, (of_class[1] + 1) / (of_class[1] + 2), 1 / (of_class[0] + 2))
    return np.stack([1 - second, second], axis=1)
