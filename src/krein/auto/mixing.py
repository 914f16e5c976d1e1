"""Mixtures of models: weights in tenths, chosen by the loss of rows that were held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..streaming import HeldRows

Array = NDArray[np.floating]

# Weights are multiples of 1/STEPS: finer ones would fit the held-out rows, not new ones.
STEPS = 10
# A further model must lower the loss by this share, because it makes predictions slower.
WORTH = 0.02
# Another learner joins the first one if the mixture lowers the loss of the first one to this share.
CLEARLY = 0.95
# Factors by which outputs of classes are multiplied in comparisons: the outputs of least squares
# are smaller than the outputs of a margin machine that is right as often.
SCALES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0, 15.0)


def mixture(
    outputs: Sequence[Array], Y: Array, weight: Array, *, of_classes: bool = False
) -> tuple[float, ...]:
    """Return the weight of each model, at least 0 and together 1.

    Parameters
    ----------
    outputs : sequence of ndarray of shape (n, q)
        The outputs of each model for rows that it has not learned from.
    Y : ndarray of shape (n, q)
        The targets.
    weight : ndarray of shape (n,)
        The weights of the rows.
    of_classes : bool, default=False
        True if the targets are ±1, for classes: the log-loss is minimised.

    Returns
    -------
    tuple of float
        The weights that minimise ``loss · 1.02ᵏ`` for k models of positive weight, where the loss
        is the `scaled_error` of the mixture.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.auto.mixing import mixture
    >>> Y, error = np.zeros((4, 1)), np.array([[1.0], [-1], [1], [-1]])
    >>> mixture([error, -error, 5 * error], Y, np.ones(4))  # two errors cancel
    (0.5, 0.5, 0.0)
    """

    def order(shares: tuple[float, ...]) -> tuple[float, int]:
        """Return the loss, 2 % larger for each model, and the number of models as a tie-break."""
        mixed = sum(share * one for share, one in zip(shares, outputs, strict=True) if share)
        n_models = sum(share > 0 for share in shares)
        return scaled_error(mixed, Y, weight, of_classes) * (1 + WORTH) ** n_models, n_models

    tried = _simplex(len(outputs), STEPS)
    return min((tuple(tenth / STEPS for tenth in tenths) for tenths in tried), key=order)


def learner_weights(held: dict[str, HeldRows], first: str, of_classes: bool) -> tuple[float, ...]:
    """Return the weight of each learner; the first one is alone unless a mixture is clearly better.

    Parameters
    ----------
    held : dict of str to HeldRows
        The outputs of each learner for rows that were held out, by its name.
    first : str
        The name of the learner that is preferred. If it is missing, no learner is preferred.
    of_classes : bool
        True if the targets are ±1, for classes: the log-loss is minimised.
    """
    _, Y, weight = next(iter(held.values()))
    outputs = [rows.outputs for rows in held.values()]
    found = mixture(outputs, Y, weight, of_classes=of_classes)
    if first not in held:
        return found
    mixed, alone = (
        scaled_error(some, Y, weight, of_classes)
        for some in (np.tensordot(found, outputs, 1), held[first].outputs)
    )
    return found if mixed <= CLEARLY * alone else tuple(float(kind == first) for kind in held)


def scaled_error(outputs: Any, Y: Array, weight: Array, of_classes: bool) -> float:
    """Return the squared error; for classes, the log-loss of the best scaled outputs."""
    if not of_classes:
        return squared_error(outputs, Y, weight)
    return min(_log_loss(scale * outputs, Y, weight) for scale in SCALES)


def _log_loss(outputs: Any, Y: Array, weight: Array) -> float:
    """Return the log-loss of outputs as logits: one softmax if every row has one class of several,
    else a logistic function of each column.

    A target between −1 and 1 is the mean of the targets of equal rows.
    """
    shares = (1 + Y) / 2
    if Y.shape[1] > 1 and np.allclose(shares.sum(axis=1), 1):
        logits = outputs - outputs.max(axis=1, keepdims=True)
        lost = np.log(np.exp(logits).sum(axis=1)) - (shares * logits).sum(axis=1)
    else:
        lost = (np.logaddexp(0, outputs) - shares * outputs).sum(axis=1)
    return float(np.average(lost, weights=weight))


def squared_error(outputs: Any, Y: Array, weight: Array, clips: bool = False) -> float:
    """Return the mean squared error of outputs, summed over columns; ±1 limits clipped outputs."""
    if clips:
        outputs = np.clip(outputs, -1, 1)
    return float(np.average(np.square(outputs - Y).sum(axis=1), weights=weight))


def _simplex(n: int, total: int) -> Iterator[tuple[int, ...]]:
    """Yield all tuples of n non-negative integers with this sum."""
    if n == 1:
        yield (total,)
        return
    for first in range(total, -1, -1):
        for rest in _simplex(n - 1, total - first):
            yield (first, *rest)


def losses_of(held: HeldRows, targets: Any, names: tuple[str, ...]) -> tuple[float, ...]:
    """Return the losses of held-out rows that `cv_results_` calls by these names."""
    outputs, Y, weight = held
    values = {
        "squared_error": squared_error(outputs, Y, weight),
        "brier": squared_error(outputs, Y, weight, clips=True) / 4,
        "error": float(np.average(targets.mistakes(outputs[None], Y)[0], weights=weight)),
    }
    return tuple(values[name] for name in names)
