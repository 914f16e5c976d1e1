"""Sine and cosine in one vectorised loop, which `krein.features._trig` uses.

The loop is compiled with Numba. Without Numba it does not exist.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._compile import compiled

Array = np.ndarray

# x = k π/2 + r with |r| <= π/4. Adding 1.5 * 2**52 rounds x * 2/π to the integer k and leaves k in
# the low bits of the sum. π/2 is split into three parts. The product of k and the first two parts
# is exact up to the bound (33 bits and k < 2**20 in double precision, 11 bits and k < 2**13 in
# single). The rounding error of the second subtraction is carried into the third. The polynomials
# are those of fdlibm and Cephes.
#
# Every single-precision constant is a float32: one Python float would promote the whole loop.

D_BOUND, D_ROUND, D_SCALE = 2.0**20, 1.5 * 2.0**52, 2 / np.pi
D_P1, D_P2, D_P3 = 1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21
D_S1, D_S2 = -1.66666666666666324348e-01, 8.33333333332248946124e-03
D_S3, D_S4 = -1.98412698298579493134e-04, 2.75573137070700676789e-06
D_S5, D_S6 = -2.50507602534068634195e-08, 1.58969099521155010221e-10
D_C1, D_C2 = 4.16666666666666019037e-02, -1.38888888888741095749e-03
D_C3, D_C4 = 2.48015872894767294178e-05, -2.75573143513906633035e-07
D_C5, D_C6 = 2.08757232129817482790e-09, -1.13596475577881948265e-11

_f, _i = np.float32, np.int32
F_BOUND, F_ROUND, F_SCALE = _f(2.0**13), _f(1.5 * 2.0**23), _f(2 / np.pi)
F_P1, F_P2, F_P3 = _f(1.5703125), _f(4.83751296997070312e-04), _f(7.5497901264043322e-08)
F_S1, F_S2, F_S3 = _f(-1.6666654611e-01), _f(8.3321608736e-03), _f(-1.9515295891e-04)
F_C1, F_C2, F_C3 = _f(4.166664568298827e-02), _f(-1.388731625493765e-03), _f(2.44331571180995e-05)
F_ONE, F_HALF = _f(1), _f(0.5)
I0, I1, I2 = _i(0), _i(1), _i(2)


def _kernel_double(
    P: Array, phases: Array, amplitudes: Array, out: Array, order: Array, start: int
) -> np.integer:
    """Write a tile: ``out[i, :, l] = amplitudes[l] * (cos x, sin x)``.

    ``x = P[i, j] + phases[l]`` and ``l = start + j``, where `P` is (m, c), `out` is (m, 2, N),
    `phases` and `amplitudes` are (N,). The result is nonzero if some ``|x|`` exceeds the bound or
    is NaN. The features of such an x have no meaning; all others are within 1.6 units in the last
    place.

    `order` is ``arange(m)``. Without it LLVM would test whether the two halves of `out` overlap for
    all rows together; the halves interleave, so LLVM would run the scalar loop.
    """
    beyond = np.int64(0)
    for row in range(order.shape[0]):
        i = order[row]
        for j in range(P.shape[1]):
            column = np.uintp(start + j)  # unsigned: no test for a negative index
            x = P[i, j] + phases[column]
            beyond |= np.int64(not (abs(x) <= D_BOUND))
            t = np.float64(x * D_SCALE + D_ROUND)
            q = t.view(np.int64)
            k = t - D_ROUND
            u = x - k * D_P1
            v = k * D_P2
            w = u - v
            r = w - (k * D_P3 - ((u - w) - v))
            z = r * r
            s = D_S1 + z * (D_S2 + z * (D_S3 + z * (D_S4 + z * (D_S5 + z * D_S6))))
            c = D_C1 + z * (D_C2 + z * (D_C3 + z * (D_C4 + z * (D_C5 + z * D_C6))))
            s = r + r * (z * s)
            c = 1.0 + z * (-0.5 + z * c)
            swap = (q & 1) != 0
            cosine = s if swap else c
            sine = c if swap else s
            a = amplitudes[column]
            out[i, 0, column] = -a * cosine if (q + 1) & 2 else a * cosine
            out[i, 1, column] = -a * sine if q & 2 else a * sine
    return beyond


def _kernel_single(
    P: Array, phases: Array, amplitudes: Array, out: Array, order: Array, start: int
) -> np.integer:
    """`_kernel_double` in single precision; integers are cast back to 32 bits at every step.

    Near the zeros of sine and cosine the error grows by up to 2e-11, far less than the rounding
    error of ``x``.
    """
    beyond = I0
    for row in range(order.shape[0]):
        i = order[row]
        for j in range(P.shape[1]):
            column = np.uintp(start + j)
            x = P[i, j] + phases[column]
            beyond = np.int32(beyond | np.int32(not (abs(x) <= F_BOUND)))
            t = np.float32(x * F_SCALE + F_ROUND)
            q = t.view(np.int32)
            k = t - F_ROUND
            u = x - k * F_P1
            v = k * F_P2
            w = u - v
            r = w - (k * F_P3 - ((u - w) - v))
            z = r * r
            s = r + r * (z * (F_S1 + z * (F_S2 + z * F_S3)))
            c = F_ONE + z * (-F_HALF + z * (F_C1 + z * (F_C2 + z * F_C3)))
            swap = np.int32(q & I1) != I0
            cosine = s if swap else c
            sine = c if swap else s
            a = amplitudes[column]
            out[i, 0, column] = -a * cosine if np.int32(np.int32(q + I1) & I2) != I0 else a * cosine
            out[i, 1, column] = -a * sine if np.int32(q & I2) != I0 else a * sine
    return beyond


@functools.cache
def sincos_kernel(dtype: np.dtype) -> Callable[..., Any] | None:
    """Return the compiled kernel for `dtype`; None if Numba is not installed."""
    # "contract" allows fused multiply-adds only. Other fast-math flags would optimise away the
    # rounding and the test for NaN.
    function = _kernel_single if dtype == np.float32 else _kernel_double
    return compiled(function, fastmath={"contract"})


def bound(dtype: np.dtype) -> np.floating | float:
    """Return the largest |x| that the kernel for `dtype` accepts."""
    return F_BOUND if dtype == np.float32 else D_BOUND
