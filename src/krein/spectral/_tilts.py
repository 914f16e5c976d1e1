"""The loop over waves that the gradient of the expected likelihood needs, compiled with Numba."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._compile import compiled

# A fit with fewer waves takes less time than compiling the loop.
COMPILED = 2**17


def numpy_tilts(
    Z: NDArray, decay: NDArray, values: NDArray, signed: NDArray, lift: NDArray, excess: NDArray
) -> float:
    """Return ``Σ r²`` over a block of pairs, and write the terms of the gradient.

    The residual of a pair is ``r = y − Σ_m ε_m a_m e^(−s/2) cos t``.

    Parameters
    ----------
    Z : ndarray of shape (n, 2, m)
        The cosines and the sines of t. The sines are overwritten by
        ``sin t ((e^(−s) − e^(−2s)) cos t ε a + e^(−s/2) r)``.
    decay : ndarray of shape (n, m)
        The factors ``e^(−s/2)``.
    values : ndarray of shape (n,)
        The values y.
    signed : ndarray of shape (m,)
        The signed weights ``ε a``.
    lift, excess : ndarray of shape (m,)
        Receive ``Σ r e^(−s/2) cos t`` and ``Σ (e^(−s) − e^(−2s)) cos² t``, sums over the block.
    """
    cosines, sines = Z[:, 0], Z[:, 1]
    expected = decay * cosines
    residual = values - expected @ signed
    square = decay**2
    scaled = (square - square**2) * cosines
    lift[:] = residual @ expected
    excess[:] = np.einsum("pm,pm->m", scaled, cosines)
    sines *= scaled * signed + decay * residual[:, None]
    return float(residual @ residual)


def _tilts(
    Z: NDArray,
    decay: NDArray,
    values: NDArray,
    signed: NDArray,
    lift: NDArray,
    excess: NDArray,
) -> float:
    """Do what `numpy_tilts` does, in two sweeps over each row."""
    lift[:] = 0
    excess[:] = 0
    loss = 0.0
    for i in range(Z.shape[0]):
        residual = values[i]
        for j in range(Z.shape[2]):
            residual -= decay[i, j] * Z[i, 0, j] * signed[j]
        loss += np.float64(residual) * np.float64(residual)
        for j in range(Z.shape[2]):
            cosine, factor = Z[i, 0, j], decay[i, j]
            square = factor * factor
            scaled = (square - square * square) * cosine
            lift[j] += residual * factor * cosine
            excess[j] += scaled * cosine
            Z[i, 1, j] *= scaled * signed[j] + factor * residual
    return loss


@functools.cache
def _loop() -> Callable[..., Any]:
    # "reassoc" lets the sum over a row be vectorised.
    return compiled(_tilts, fastmath={"contract", "reassoc"}) or numpy_tilts


def tilts_of(n_waves: int) -> Callable[..., float]:
    """Return the compiled loop for many waves and `numpy_tilts` for few."""
    return _loop() if n_waves >= COMPILED else numpy_tilts
