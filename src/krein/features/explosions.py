"""Rows on which a Nyström map explodes: the approximate |k(x, x)| is far above all kernel values.

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
from .source import Source

# Number of rows that `fit` holds out.
N_HELD = 64
# Number of landmarks whose values show the range of the kernel if no row is held out.
FEW = 16
# Ratios of an approximate |k(x, x)| to the largest kernel value. `fit` warns if rows that it held
# out are above EXPLODED, and new rows above EXPLODED are damped. `transform` warns above STRANGE,
# because new rows may be unusual although the map is fine.
EXPLODED = 2.0
STRANGE = 10.0
# Rows are damped to just below the bound, so that rounding does not lead above it.
BELOW = 1 - 1e-6


def guarded(
    owner: Any, source: Source, landmarks: NDArray, sample: NDArray, core: Core, key: int
) -> Guard | None:
    """Warn if the map explodes on held-out rows; return the guard against new rows that explode.

    There is no guard without spare landmarks: the columns may then be rotated, so that no
    eigenvalue belongs to a column. There is also no guard if all examined kernel values are zero.
    """
    largest = _check_held_out(owner, source, landmarks, sample, core, key)
    spare = source.is_symmetric and owner.core == "sketch" and len(core.left) > len(core.values)
    return Guard(largest, core.values) if spare and largest > 0 else None


def _check_held_out(
    owner: Any, source: Source, landmarks: NDArray, sample: NDArray, core: Core, key: int
) -> float:
    """Warn if the map explodes on held-out rows; return the largest |k| of training rows."""
    held = source.draws(key).others(sample, N_HELD, Salt.HELD)
    rows = held if len(held) else landmarks[:FEW]
    left = source.values(rows, landmarks)
    right = left if source.is_symmetric else source.turned(rows, landmarks)
    # The held-out rows may all have small values, although some landmarks have large ones.
    seen = (left, right, source.diagonal(rows), source.diagonal(landmarks))
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
    spare = n_landmarks > owner.n_components
    by_residual = isinstance(owner.landmarks, str) and owner.landmarks == "residual"
    rule = "" if by_residual else " and landmarks='residual'"
    return (
        f"Use {'even ' if spare else ''}more landmarks than components (there are {n_landmarks} "
        f"landmarks, n_components={owner.n_components}){rule}, or a smaller n_components."
    )


class UnlikeRowsWarning(UserWarning):
    """New rows are so unlike the training rows that their features would explode."""


class Guard:
    """Keeps the features of new rows from exploding.

    Let z be the features of a row x, and λ the eigenvalues of the core on the sample S. The map
    fits ``k(x, S)`` by least squares. If ``|zᵀMz|`` exceeds twice the largest |k| of training rows
    and the largest known ``|k(x, ·)|``, z is replaced by the least-squares fit with ``|zᵀMz|`` at
    this bound: features whose eigenvalue has the sign of ``zᵀMz`` are multiplied by
    ``|λ_i| / (|λ_i| + τ)``, and the others by ``|λ_i| / (|λ_i| − τ)``. No feature grows to more
    than twice its size; if the bound is not reached in this way, the features of the first kind
    shrink further. Mainly the features with small eigenvalues change: they contribute little to
    k(x, S) and most of the excess.

    Parameters
    ----------
    largest : float
        The largest |k| of training rows.
    eigenvalues : ndarray of shape (p,)
        The signed eigenvalues λ.
    """

    def __init__(self, largest: float, eigenvalues: NDArray):
        self.largest = largest
        self.sizes = np.abs(eigenvalues) / np.abs(eigenvalues).max()
        self.signs = np.where(eigenvalues < 0, -1.0, 1.0)
        self.has_warned = False

    def __call__(
        self, Z: NDArray, own: NDArray[np.floating], own_range: Callable[[NDArray], NDArray]
    ) -> None:
        """Damp the features of exploding rows, in place; warn the first time.

        Parameters
        ----------
        Z : ndarray of shape (n, p)
            The features.
        own : ndarray of shape (n,)
            The approximate |k(x, x)|.
        own_range : callable
            Returns the largest exact |k(x, ·)| that is known of the rows with the given indices.
        """
        far = np.flatnonzero(own > EXPLODED * self.largest)
        if not len(far):
            return
        truth = np.maximum(own_range(far), self.largest)
        exploding = own[far] > EXPLODED * truth
        far, truth = far[exploding], truth[exploding]
        Z[far] = self._damped(Z[far].astype(float), BELOW * EXPLODED * truth)
        self._warn(far[own[far] > STRANGE * truth], own)

    def range_of(self, K: NDArray, diagonal: NDArray | None) -> NDArray[np.floating]:
        """Return the largest of |k(x, x)| and |k(x, z)| for each row x and all landmarks z.

        Parameters
        ----------
        K : ndarray of shape (n, m)
            The values k(x, z).
        diagonal : ndarray of shape (n,) or None
            The values k(x, x). If they are not known, their lower bound by Cauchy and Schwarz is
            used.
        """
        across = np.abs(K).max(axis=1)
        least = np.square(across) / self.largest
        return np.maximum(across, least if diagonal is None else np.abs(diagonal))

    def _damped(self, Z: NDArray, bound: NDArray) -> NDArray:
        """Return features with ``|zᵀMz| ≤ bound``."""
        unit = np.abs(Z).max(axis=1, initial=np.finfo(float).tiny)  # squares must not overflow
        squares, bound = np.square(Z / unit[:, None]), bound / unit / unit
        sign = np.sign(squares @ self.signs)[:, None]
        same = self.signs == sign
        # At τ = enough the part of ‖z‖² with the sign of zᵀMz is below the bound.
        enough = np.sqrt(np.maximum(squares.sum(axis=1) / bound, 1))
        doubled = np.where(same, np.inf, self.sizes).min(axis=1) / 2
        factors = np.ones_like(squares)
        for other, most in ((-1.0, np.minimum(doubled, enough)), (0.0, enough)):
            rates = np.where(same, 1.0, other)
            found = self._factors(squares * factors**2 * self.signs * sign, rates, bound, most)
            factors = factors * found
        return Z * factors

    def _factors(self, forms: NDArray, rates: NDArray, bound: NDArray, most: NDArray) -> NDArray:
        """Return the factors ``|λ_i| / (|λ_i| + τ rates_i)``.

        τ is the least number for which ``Σ forms · factors²`` is at most `bound`, or `most`. The
        sum falls with τ, so log τ is found by bisection.
        """
        low, high = np.full(len(forms), np.log(self.sizes.min()) - 20), np.log(most)
        for _ in range(50):
            middle = (low + high) / 2
            factors = self.sizes / (self.sizes + np.exp(middle)[:, None] * rates)
            above = np.sum(forms * factors**2, axis=1) > bound
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        factors = self.sizes / (self.sizes + np.exp(high)[:, None] * rates)
        # A sum that an earlier call has brought to the bound exceeds it only by rounding errors.
        return np.where((forms.sum(axis=1) > bound * (1 + 1e-9))[:, None], factors, 1.0)

    def _warn(self, far: NDArray[np.intp], own: NDArray) -> None:
        if not len(far) or self.has_warned:
            return
        self.has_warned = True
        worst = int(far[own[far].argmax()])
        warnings.warn(
            f"The features of {len(far)} of {len(own)} rows would explode, because these rows are "
            f"unlike the training rows: the approximate k(x, x) of row {worst} is "
            f"{own[worst]:.3g}, but values of the kernel are at most {self.largest:.3g}. The "
            "features are damped, and predictions for these rows are extrapolations; fit on data "
            "that contain similar rows.",
            UnlikeRowsWarning,
            stacklevel=outside_level(),
        )
