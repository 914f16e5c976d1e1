"""Detection of rows on which a Nyström map explodes: |k(x, x)| is far above all kernel values.

The map divides by the singular values of k(S, Z). If a new row has a larger share of a direction
with a small singular value than any row of the sample S, its features can be arbitrarily large.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Core
from .._hashing import Salt
from .._validation import outside_level
from ..rows import take
from .source import Source

# Number of rows that `fit` holds out.
N_HELD = 64
# Largest ratio of an approximate |k(x, x)| to the largest kernel value: EXPLODED for training rows
# that `fit` held out, STRANGE for new rows, which may be unusual although the map is fine.
EXPLODED = 2.0
STRANGE = 10.0


def check_held_out(
    owner: Any, source: Source, landmarks: NDArray, sample: NDArray, core: Core, key: int
) -> float:
    """Warn if the map explodes on held-out rows; return the largest |k| of training rows."""
    held = source.draws(key).others(sample, N_HELD, Salt.HELD)
    rows = held if len(held) else landmarks[:N_HELD]
    left = source.values(rows, landmarks)
    right = left if source.is_symmetric else source.turned(rows, landmarks)
    seen = (left, right, source.diagonal(rows))
    largest = max(float(np.abs(values).max()) for values in seen)
    own = np.abs(np.einsum("ij,ij->i", left @ core.left, right @ core.right))
    if len(held) and own.max() > EXPLODED * largest:
        warnings.warn(
            f"{type(owner).__name__} explodes on rows that it has not seen: the approximate "
            f"k(x, x) of row {held[own.argmax()]} is {own.max():.3g}, but values of the "
            f"kernel are at most {largest:.3g}. {_cure(owner, len(landmarks))}",
            UserWarning,
            stacklevel=outside_level(),
        )
    return largest


def _cure(owner: Any, n_landmarks: int) -> str:
    if owner.core != "sketch":
        return f"core={owner.core!r} inverts the kernel matrix of the landmarks: use core='sketch'."
    return (
        f"Use more landmarks than components (there are {n_landmarks} landmarks, n_components="
        f"{owner.n_components}) and landmarks='two-round', or a smaller n_components."
    )


def check_new(
    X: Any, own: NDArray[np.floating], largest: float, diagonal: Callable[[Any], NDArray] | None
) -> float:
    """Warn if the map explodes on new rows.

    Parameters
    ----------
    X : array-like, sparse matrix or sequence of objects
        The new rows.
    own : ndarray of shape (n,)
        The approximate |k(x, x)|.
    largest : float
        The largest |k| of training rows.
    diagonal : callable or None
        Returns the exact k(x, x), evaluated where `own` is large; None if it is not known.

    Returns
    -------
    float
        `largest`, or infinity after a warning, so that the map warns once.
    """
    far = np.flatnonzero(own > STRANGE * largest)
    if len(far) and diagonal is not None:
        truth = np.abs(diagonal(take(X, far)))
        far = far[own[far] > STRANGE * np.maximum(truth, largest)]
    if not len(far):
        return largest
    worst = int(far[own[far].argmax()])
    warnings.warn(
        f"The features of {len(far)} of {len(own)} rows explode, because these rows are unlike the "
        f"training rows: the approximate k(x, x) of row {worst} is {own[worst]:.3g}, but values of "
        f"the kernel are at most {largest:.3g}. Predictions for these rows are extrapolations; fit "
        "on data that contain similar rows.",
        UserWarning,
        stacklevel=outside_level(),
    )
    return float("inf")
