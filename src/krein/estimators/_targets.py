"""What a learner's targets are, numbers or classes, and what its outputs say about them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from .._validation import unit_of
from ..learning import Balance, Calibration, Residuals, Separate, balanced, calibrated
from ..streaming import HeldRows, Survey

Array = NDArray[np.floating]
# A column whose spread is below this share of its largest value is constant up to rounding.
CONSTANT = 1e-12


class _Columns:
    """What all kinds of targets share: weights of rows, and outputs with a column per target."""

    is_vector: Any
    weight_unit: float

    def weigh(self, y: Any, weight: Array | None) -> Array | None:
        """Return the weights of rows; None if all are 1."""
        return None if weight is None else weight * self.weight_unit

    def decision(self, outputs: Array) -> Array:
        """Return outputs (n, q) as scikit-learn does: (n,) for one vector of targets."""
        return outputs[:, 0] if self.is_vector else outputs

    def balance(self, held: HeldRows) -> Balance | None:
        """Return the balance of the outputs of classes; None if outputs are taken as they are."""
        return None


@dataclass(frozen=True)
class Numbers(_Columns):
    """Targets that are numbers; an output is a prediction.

    Attributes
    ----------
    owner : str
        The name of the learner, for error messages.
    n_outputs : int
        The number of columns of the targets.
    is_vector : bool
        True if targets and predictions are vectors.
    unit : float or ndarray of shape (n_outputs,)
        A power of two by which targets are multiplied, so that their squares do not overflow, or a
        factor for each column.
    weight_unit : float
        A power of two by which weights are multiplied, for the same reason.
    """

    owner: str
    n_outputs: int
    is_vector: bool
    unit: float | Array = 1.0
    weight_unit: float = 1.0

    @classmethod
    def of(cls, survey: Survey, owner: str) -> Numbers:
        units = unit_of(survey.largest_target), unit_of(survey.largest_weight)
        return cls(owner, survey.n_outputs, survey.is_vector, *units)

    def alike(self, y: Any) -> Numbers:
        """Return targets whose columns count alike in a sum of squared errors.

        The unit of each of several columns is its standard deviation in y. Constant columns and a
        single column stay as they are.
        """
        if self.n_outputs == 1:
            return self
        y = np.asarray(y, dtype=float)
        units = np.array([unit_of(float(largest)) for largest in np.abs(y).max(axis=0)])
        spread, largest = (y * units).std(axis=0), np.abs(y * units).max(axis=0)
        varies = spread > CONSTANT * largest
        return replace(self, unit=np.where(varies, units / np.where(varies, spread, 1.0), units))

    def encode(self, y: Any) -> Array:
        """Return the targets as columns of numbers, shape (n, q)."""
        try:
            return np.asarray(y, dtype=float).reshape(len(y), -1) * self.unit
        except ValueError as error:
            raise ValueError(
                f"{self.owner} learns numbers, but y has {np.ravel(y).tolist()[0]!r}: labels are "
                "for the classifiers."
            ) from error

    def check_more(self, survey: Survey, announced: NDArray | None) -> None:
        """Raise if the targets of further rows have another shape."""
        check_like(self.owner, "outputs", _shape(self), _shape(survey))

    def for_map(self, y: Any) -> NDArray:
        """Return the targets as a map takes them: numbers of shape (n,) or (n, q)."""
        return self.decision(self.encode(y) / self.unit)

    def decode(self, outputs: Array) -> NDArray:
        """Return the predictions of outputs (n, q)."""
        return self.decision(outputs)

    def mistakes(self, outputs: Array, Y: Array) -> Array:
        """Return zeros of shape (c, n): only classes can be wrong, not numbers."""
        return np.zeros(outputs.shape[:2])

    def calibration(self, held: HeldRows) -> Residuals:
        """Return the errors of predictions on held-out rows."""
        return Residuals.of((held.Y - held.outputs) / self.unit, held.weight)


@dataclass(frozen=True)
class Classes(_Columns):
    """Targets that are labels: ±1 for each class against the rest; the largest output wins.

    Attributes
    ----------
    owner : str
        The name of the learner, for error messages.
    labels : ndarray of shape (k,)
        The classes in order.
    class_weights : ndarray of shape (k,) or None
        Factors of the weights.
    weight_unit : float
        A power of two by which weights are multiplied, so that their products do not overflow.
    unit : float
        The unit of the outputs, which is 1 for labels.
    """

    owner: str
    labels: NDArray
    class_weights: Array | None = None
    weight_unit: float = 1.0
    unit: float = 1.0

    @classmethod
    def of(cls, survey: Survey, owner: str, class_weight: Any = None) -> Classes:
        labels, totals = survey.labels, survey.label_weights
        assert labels is not None
        assert totals is not None
        if len(labels) < 2:
            raise ValueError(
                f"{owner} needs at least two classes, but all rows of positive weight have one "
                f"class: {labels.tolist()[0]!r}."
            )
        factors = _factors(class_weight, labels, totals)
        return cls(owner, labels, factors, unit_of(survey.largest_weight))

    @property
    def n_outputs(self) -> int:
        return 1 if len(self.labels) == 2 else len(self.labels)

    @property
    def is_vector(self) -> bool:
        """True if there is one output, for two classes."""
        return len(self.labels) == 2

    def check_more(self, survey: Survey, announced: NDArray | None) -> None:
        """Raise if further rows have other labels, or several labels per row."""
        _check_labels(self.labels, survey, announced)
        check_like(self.owner, "outputs", 1, survey.n_outputs)

    def for_map(self, y: Any) -> NDArray:
        """Return the targets as a map takes them: labels of shape (n,)."""
        return np.ravel(y)

    def codes(self, y: Any) -> NDArray[np.intp]:
        """Return the index of each label among the classes.

        A label that is not among the classes has only rows of weight zero; it gets the index 0.
        """
        y = np.ravel(y)  # a column has one label per row
        codes = np.minimum(np.searchsorted(self.labels, y), len(self.labels) - 1)
        return np.where(self.labels[codes] != y, 0, codes)

    def encode(self, y: Any) -> Array:
        """Return the labels as columns of −1 and +1, shape (n, q)."""
        codes = self.codes(y)
        if self.is_vector:
            return np.where(codes == 1, 1.0, -1.0)[:, None]
        return np.where(codes[:, None] == np.arange(len(self.labels)), 1.0, -1.0)

    def weigh(self, y: Any, weight: Array | None) -> Array | None:
        """Return the weights of rows; None if all are 1."""
        weight = super().weigh(y, weight)
        if self.class_weights is None:
            return weight
        of_class = self.class_weights[self.codes(y)]
        return of_class if weight is None else of_class * weight

    def decode(self, outputs: Array) -> NDArray:
        """Return the class that each row of outputs (n, q) names."""
        return decide(self.decision(outputs), self.labels)

    def mistakes(self, outputs: Array, Y: Array) -> NDArray[np.bool_]:
        """Return whether outputs (c, n, q) name another class than Y (n, q), shape (c, n)."""
        if self.is_vector:
            return (outputs[..., 0] > 0) != (Y[:, 0] > 0)
        return outputs.argmax(axis=2) != Y.argmax(axis=1)

    def balance(self, held: HeldRows) -> Balance | None:
        """Return the balance of the outputs if it clearly names fewer wrong classes."""
        return balanced(held.outputs, self._codes_of(held), held.weight)

    def calibration(self, held: HeldRows) -> Calibration:
        """Return the probabilities of the classes, calibrated on held-out rows."""
        return calibrated(held.outputs, self._codes_of(held), held.weight)

    def _codes_of(self, held: HeldRows) -> NDArray[np.intp]:
        return (held.Y[:, 0] > 0).astype(np.intp) if self.is_vector else held.Y.argmax(axis=1)


@dataclass(frozen=True)
class Tags(_Columns):
    """Targets that are several labels per row: ±1 for each label, each decided on its own.

    Attributes
    ----------
    owner : str
        The name of the learner, for error messages.
    n_outputs : int
        The number of labels.
    weight_unit : float
        A power of two by which weights are multiplied, so that their products do not overflow.
    unit : float
        The unit of the outputs, which is 1 for labels.
    """

    owner: str
    n_outputs: int
    weight_unit: float = 1.0
    unit: float = 1.0
    is_vector = False

    @classmethod
    def of(cls, survey: Survey, owner: str, class_weight: Any = None) -> Tags:
        if class_weight is not None:
            raise ValueError(
                f"{owner}(class_weight={class_weight!r}) takes one label per row, but y has "
                f"{survey.n_outputs} columns: use sample_weight."
            )
        return cls(owner, survey.n_outputs, unit_of(survey.largest_weight))

    @property
    def labels(self) -> NDArray:
        """The indices of the columns of y."""
        return np.arange(self.n_outputs)

    def check_more(self, survey: Survey, announced: NDArray | None) -> None:
        """Raise if further rows have another number of labels."""
        _check_labels(self.labels, survey, announced)
        check_like(self.owner, "outputs", self.n_outputs, survey.n_outputs)

    def for_map(self, y: Any) -> NDArray:
        """Return the targets as a map takes them: 0 and 1, shape (n, q)."""
        return np.asarray(y)

    def encode(self, y: Any) -> Array:
        """Return 0 and 1 as −1 and +1, shape (n, q)."""
        return np.where(np.asarray(y) > 0, 1.0, -1.0)

    def decode(self, outputs: Array) -> NDArray:
        """Return 1 for each label that outputs (n, q) name, 0 for the others."""
        return (outputs > 0).astype(int)

    def mistakes(self, outputs: Array, Y: Array) -> Array:
        """Return the share of wrong labels of each row, shape (c, n), of outputs (c, n, q)."""
        return ((outputs > 0) != (Y > 0)).mean(axis=2)

    def calibration(self, held: HeldRows) -> Calibration:
        """Return the probability of each label, calibrated on held-out rows."""
        outputs, Y, weight = held
        codes = (Y > 0).astype(np.intp)
        return Separate(
            tuple(calibrated(outputs[:, [i]], codes[:, i], weight) for i in range(self.n_outputs))
        )


Targets = Numbers | Classes | Tags


def labels_of(survey: Survey, owner: str, class_weight: Any) -> Classes | Tags:
    """Return the targets of a classifier: one label per row, or several."""
    kind = Classes if survey.is_vector or survey.n_outputs == 1 else Tags
    return kind.of(survey, owner, class_weight)


def check_like(owner: str, what: str, had: Any, has: Any) -> None:
    """Raise if further rows of `partial_fit` differ from the first ones in what is named."""
    if had != has:
        raise ValueError(
            f"{owner}.partial_fit got rows with other {what} than before: {has} after {had}."
        )


def _shape(seen: Numbers | Survey) -> str:
    return "shape (n,)" if seen.is_vector else f"shape (n, {seen.n_outputs})"


def _check_labels(labels: NDArray, survey: Survey, announced: NDArray | None) -> None:
    """Raise if further rows of `partial_fit` have labels that the first rows did not have."""
    if announced is not None and not np.array_equal(announced, labels):
        raise ValueError(
            f"classes {announced.tolist()} differ from those of the first call to partial_fit, "
            f"{labels.tolist()}."
        )
    assert survey.labels is not None
    unseen = ~np.isin(survey.labels, labels)
    if unseen.any():
        raise ValueError(
            f"y has the labels {survey.labels[unseen].tolist()}, which the first call to "
            "partial_fit did not have: pass all labels there as classes=…"
        )


def decide(outputs: Array, labels: NDArray) -> NDArray:
    """Return the labels that outputs (n,) or (n, k) name."""
    codes = (outputs > 0).astype(int) if outputs.ndim == 1 else outputs.argmax(axis=1)
    return labels[codes]


def _factors(wanted: Any, labels: NDArray, totals: Array) -> Array | None:
    """Return the factors of the classes' weights that `class_weight` asks for."""
    if wanted is None:
        return None
    if isinstance(wanted, str):
        return totals.sum() / (len(labels) * totals)
    found = compute_class_weight(dict(wanted), classes=labels, y=labels)
    bad = ~(np.isfinite(found) & (found >= 0))
    if bad.any() or not found @ totals > 0:
        raise ValueError(
            f"class_weight must hold numbers of at least 0, one of them above 0, got {wanted!r}."
        )
    return found
