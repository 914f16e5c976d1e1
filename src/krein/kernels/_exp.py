"""``exp(P)`` for a block P, by NumPy or in a compiled loop.

NumPy's exponential of float64 takes four to five times as long as the compiled loop on a processor
if NumPy has no code for the vector instructions of the processor. Loading the compiled loop takes
up to a second, so it serves large matrices only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._compile import compiled

Array = np.ndarray

# x = k ln 2 + r with |r| <= ln(2)/2. Adding 1.5 * 2**52 rounds x / ln 2 to the integer k and leaves
# k in the low bits of the sum. These bits are added to the exponent of exp(r). ln 2 is split in two
# numbers, so that k times the first one is exact. The error of Taylor's polynomial of degree 13 is
# at most 4e-18.
ROUND, SCALE = 1.5 * 2.0**52, 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
LOWEST = -708.0  # exp(x) of a smaller x is below the smallest normal number, and is set to 0
HIGHEST = 709.0
C2, C3, C4, C5, C6, C7 = 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
C8, C9, C10, C11 = 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800
C12, C13 = 1 / 479001600, 1 / 6227020800
SHIFT = np.int64(52)
# The compiled loop serves matrices of at least this many entries; NumPy without vector instructions
# takes a third of a second for them.
COMPILED = 2**26


def _kernel(P: Array) -> None:
    """Replace P by ``exp(min(P, HIGHEST))``, with an error of up to 2 ulp."""
    for i in range(P.shape[0]):
        for j in range(P.shape[1]):
            x = min(P[i, j], HIGHEST)
            low = x < LOWEST
            x = max(x, LOWEST)
            t = np.float64(x * SCALE + ROUND)
            k = t - ROUND
            r = (x - k * LN2_HIGH) - k * LN2_LOW
            p = C8 + r * (C9 + r * (C10 + r * (C11 + r * (C12 + r * C13))))
            p = C2 + r * (C3 + r * (C4 + r * (C5 + r * (C6 + r * (C7 + r * p)))))
            e = np.float64(1.0 + (r + r * r * p))
            bits = np.int64(e.view(np.int64) + (t.view(np.int64) << SHIFT))
            P[i, j] = 0.0 if low else bits.view(np.float64)


@functools.cache
def _loop() -> Callable[..., Any] | None:
    # "contract" allows fused multiply-adds, but no optimisation that would remove the rounding.
    return compiled(_kernel, fastmath={"contract"})


def exp_in_place(P: Array, n_entries: int | None = None) -> Array:
    """Replace P by ``exp(P)`` and return P.

    Parameters
    ----------
    P : ndarray of shape (n, m)
        A matrix or a block of one.
    n_entries : int, default=None
        The number of entries of the whole matrix; None means that P is the whole matrix.

    Returns
    -------
    ndarray of shape (n, m)
        P itself.
    """
    is_large = (P.size if n_entries is None else n_entries) >= COMPILED
    loop = _loop() if is_large and P.dtype == np.float64 and P.ndim == 2 else None
    if loop is None:
        return np.exp(P, out=P)
    loop(P)
    return P
