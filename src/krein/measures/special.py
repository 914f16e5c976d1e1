"""Special functions: mean waves of a sphere, the Matérn profile, means of periodic functions."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, hyp0f1, kve


def sphere_wave(dim: int, t: NDArray) -> NDArray[np.floating]:
    """Return ``Ω_d(t) = 0F1(; d/2; −t²/4)``, the mean of exp(i t⟨u, e⟩) over unit vectors u."""
    if dim == 1:
        return np.cos(t)  # the same function; the series would lose digits
    if dim < HIGH_DIM:
        return hyp0f1(dim / 2, -np.square(t) / 4)
    scaled = np.abs(t) / np.sqrt(dim)
    return np.where(scaled < WAVE_END, _high_wave(dim)(np.minimum(scaled, WAVE_END)), 0.0)


# From HIGH_DIM on, 0F1 overflows. The wave is then nearly exp(−t²/2d), and below 1e-26 for t beyond
# WAVE_END √d.
HIGH_DIM, WAVE_END = 100, 12.0


@functools.lru_cache(maxsize=8)
def _high_wave(dim: int) -> Callable[[NDArray], NDArray]:
    """Return the function Ω_d(√d τ) of τ on [0, WAVE_END], with an error below 1e-10.

    The function is the mean of cos(τ x) for x = √d u₁, which has the density
    ``(1 − x²/d)^((d−3)/2)``. The trapezoid rule converges geometrically for this density. A cubic
    spline interpolates in τ.
    """
    from scipy.interpolate import CubicSpline

    x = np.linspace(0, min(np.sqrt(dim), 12.0), 2048, endpoint=False)
    weights = np.exp((dim - 3) / 2 * np.log1p(-(x**2) / dim))
    weights[0] /= 2
    tau = np.linspace(0, WAVE_END, 4096)
    return CubicSpline(tau, np.cos(np.outer(tau, x)) @ (weights / weights.sum()))


# Beyond this t the function t^ν K_ν(t) is zero for all orders up to DEBYE_NU.
FARTHEST = 1e5
# The profile of these orders is e^{−t} times a polynomial of t, highest degree first.
HALVES = {1.5: (1.0, 1.0), 2.5: (1 / 3, 1.0, 1.0)}
# Above this order the profile equals a Gaussian to all digits.
GAUSSIAN_NU = 1e16


def matern_profile(z: NDArray, nu: float) -> NDArray[np.floating]:
    """Return ``2^(1−ν)/Γ(ν) t^ν K_ν(t)`` at t = √(2ν) z, which is 1 at z = 0."""
    z = np.asarray(z)
    if nu == 0.5:
        return np.exp(-z)
    if nu > GAUSSIAN_NU:
        return np.exp(-0.5 * np.square(z))
    # The cut keeps t finite: infinities of opposite sign would add up to NaN below.
    t = np.asarray(np.sqrt(2 * nu) * z.astype(float, copy=False))
    np.minimum(t, FARTHEST, out=t)
    if nu > DEBYE_NU:
        x = np.sqrt(2 / nu) * np.minimum(z.astype(float), 1e100)
        return _matern_debye(x, nu).astype(z.dtype)
    if nu in HALVES:
        value = np.full_like(t, HALVES[nu][0])
        for coefficient in HALVES[nu][1:]:
            value *= t
            value += coefficient
        value *= np.exp(np.negative(t, out=t), out=t)
        return value.astype(z.dtype, copy=False)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        log_value = (1 - nu) * np.log(2) - gammaln(nu) + nu * np.log(t) + np.log(kve(nu, t)) - t
    # K_ν overflows for t below 1e-3, where the kernel differs from 1 by less than 1e-8.
    return np.where(np.isfinite(log_value) | (t > 1), np.exp(log_value), 1.0).astype(z.dtype)


# Above this order K_ν overflows at distances where the kernel is neither 0 nor 1.
DEBYE_NU = 50.0


def _matern_debye(x: NDArray, nu: float) -> NDArray[np.floating]:
    """Return the Matérn profile at t = ν x by four terms of Debye's uniform expansion.

    The large terms cancel analytically. The logarithm of the profile is
    ``ν (log((1 + r)/2) − (r − 1)) − ½ log r + log S(1/r)/S(1)`` with r = √(1 + x²), and the error
    is below 1e-9.
    """
    r = np.sqrt(1 + x**2)
    excess = x**2 / (r + 1)  # r − 1 without cancellation

    def series(p: NDArray | float) -> NDArray | float:
        u1 = (3 * p - 5 * p**3) / 24
        u2 = (81 * p**2 - 462 * p**4 + 385 * p**6) / 1152
        u3 = (30375 * p**3 - 369603 * p**5 + 765765 * p**7 - 425425 * p**9) / 414720
        return 1 - u1 / nu + u2 / nu**2 - u3 / nu**3

    exponent = nu * (np.log1p(excess / 2) - excess)
    return np.exp(exponent) / np.sqrt(r) * series(1 / r) / series(1.0)


def periodic_mean(g: Callable[[NDArray], NDArray], tau: float) -> float:
    """Return ``E g(s)`` for s ~ N(0, τ²) and a 2π-periodic g with kinks at multiples of π/2.

    Gauss-Legendre quadrature between the kinks reaches machine precision. For τ > 40 the phase is
    uniform. Gauss-Hermite quadrature would reach only 7e-3 at d = 1, because of the kinks of the
    Jordan parts.
    """
    points, weights = np.polynomial.legendre.leggauss(24)
    cell = np.pi / 2
    # Panels halve towards the kinks, because |1 − iA sin s| varies there on the scale 1/A.
    halves = cell * 0.5 ** np.arange(1, 16)
    panels = np.unique(np.concatenate([[0.0], halves, cell - halves]))
    if tau > 40:
        edges = np.append((np.arange(4)[:, None] * cell + panels).ravel(), 4 * cell)
    else:
        reach = 9.5 * tau
        n_cells = int(np.ceil(reach / cell))
        edges = (np.arange(-n_cells, n_cells)[:, None] * cell + panels).ravel()
        # With a small τ all the mass lies inside one cell, which needs panels of its own.
        edges = np.unique(np.concatenate([edges, np.linspace(-reach, reach, 41)]))
        edges = edges[np.abs(edges) <= reach]
    left, width = edges[:-1], np.diff(edges)
    s = left[:, None] + width[:, None] * (points + 1) / 2
    density = 1 / (4 * cell) if tau > 40 else np.exp(-((s / tau) ** 2) / 2) / tau / _ROOT_2PI
    return float(np.sum(g(s) * density * weights * width[:, None] / 2))


_ROOT_2PI = np.sqrt(2 * np.pi)
