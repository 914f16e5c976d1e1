"""Widths of columns by the gradient of the marginal likelihood of a Gaussian process.

The process has the covariance ``s² (k(WX) + λ diag(1/weight))`` with one factor w_j per column; s²
is eliminated. Columns that do not matter get small factors (automatic relevance determination).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

from .._blocks import mirror_upper
from .._compile import compiled
from ..kernels import Gaussian, Kernel, Laplacian, Matern
from ..kernels._distances import city_distances, distances

Array = NDArray[np.floating]

# Bounds of the factors and of the noise λ, and the noise at the start.
REACH, NOISE, START = (1e-3, 1e3), (1e-6, 1e2), 1e-2
# The slope of the Matérn kernel of ν = ½ grows without bound; distances below this many widths
# count as this many.
NEAREST = 1e-5
# The largest number of steps.
STEPS = 40
# A compiled loop adds up more differences than this; loading the loop takes a second.
COMPILED = 2_000_000
# The weight of the penalty Σ (log w_j − mean)² / 2 on the factors, because few rows tell little.
PRIOR = 0.05


def _gaussian(kernel: Any, z: Array) -> tuple[Array, Array]:
    K = np.exp(np.square(z) * (-0.5 / kernel.sigma**2))
    return K, K * (-1 / kernel.sigma**2)


def _matern(kernel: Any, z: Array) -> tuple[Array, Array]:
    if kernel.nu == 0.5:
        K = np.exp(-z / kernel.sigma)
        return K, -K / (kernel.sigma * np.maximum(z, NEAREST * kernel.sigma))
    t = np.sqrt(3) * z / kernel.sigma
    decay = np.exp(-t)
    return (1 + t) * decay, -3 / kernel.sigma**2 * decay


def _laplacian(kernel: Any, z: Array) -> tuple[Array, Array]:
    K = np.exp(-z / kernel.sigma)
    return K, -K / kernel.sigma


# k and its derivative by z²/2 of the Euclidean distance z, or by the city distance z.
SLOPES: dict[type[Kernel], Any] = {Gaussian: _gaussian, Matern: _matern, Laplacian: _laplacian}


@dataclass(frozen=True)
class Likelihood:
    """The negative log-likelihood per entry of Y, and its gradient by (log w, log λ).

    Attributes
    ----------
    X : ndarray of shape (n, d)
    Y : ndarray of shape (n, q)
        Centred targets.
    weight : ndarray of shape (n,)
    kernel : Gaussian, Matern or Laplacian
    """

    X: Array
    Y: Array
    weight: Array
    kernel: Kernel

    def __call__(self, logs: Array) -> tuple[float, Array]:
        """Return the value and the gradient at the logarithms of all factors and of the noise."""
        n, q = self.Y.shape
        Z, noise = self.X * np.exp(logs[:-1]), np.exp(logs[-1])
        is_city = isinstance(self.kernel, Laplacian)
        apart = (city_distances if is_city else distances)(Z, Z)
        np.fill_diagonal(apart, 0.0)  # without rounding errors
        K, slope = SLOPES[type(self.kernel)](self.kernel, apart)
        C = K  # the slope has an array of its own
        C.flat[:: n + 1] += noise / self.weight
        # LAPACK takes columns first: the transposes of symmetric matrices cost no copies.
        R, failed = dpotrf(C.T, clean=0, overwrite_a=1)
        if failed:
            return 1e10, np.zeros_like(logs)
        log_det = np.log(np.diagonal(R)).sum()
        inverse = mirror_upper(dpotri(R, overwrite_c=1)[0]).T
        solved = inverse @ self.Y
        square = float(np.sum(self.Y * solved)) / (n * q)
        value = 0.5 * np.log(square) + log_det / n
        # The derivative of the value by C, entry by entry, in place.
        solved /= np.sqrt(2 * n * q * square)
        inverse /= 2 * n
        inverse -= solved @ solved.T
        by_noise = noise * float(np.diagonal(inverse) @ (1 / self.weight))
        M = np.multiply(inverse, slope, out=slope)
        np.fill_diagonal(M, 0.0)  # a row has no distance to itself, and some slopes no value there
        columns = _by_column(Z, M, is_city)
        unequal = logs[:-1] - logs[:-1].mean()
        value += PRIOR * float(unequal @ unequal) / (2 * n * q)
        return float(value), np.append(columns + PRIOR * unequal / (n * q), by_noise)


def _by_column(Z: Array, M: Array, is_city: bool) -> Array:
    """Return ``Σ_ab M_ab |z_aj − z_bj|^p`` for each column j, with p = 1 or 2 and a symmetric M."""
    if not is_city:
        return 2 * (M.sum(axis=1) @ np.square(Z) - np.einsum("ij,ij->j", Z, M @ Z))
    loop = _city_loop() if Z.size * len(Z) > COMPILED else None
    if loop is None:
        return np.array([np.sum(M * np.abs(np.subtract.outer(z, z))) for z in Z.T])
    out = np.zeros(Z.shape[1])
    loop(np.ascontiguousarray(Z), M, out)
    return out


def _add_city_sums(Z: Array, M: Array, out: Array) -> None:
    """Add ``Σ_ab M_ab |z_aj − z_bj|`` to out[j], from the lower triangle of the symmetric M."""
    for a in range(Z.shape[0]):
        for b in range(a):
            twice = 2 * M[a, b]
            for j in range(Z.shape[1]):
                out[j] += twice * abs(Z[a, j] - Z[b, j])


@functools.cache
def _city_loop() -> Any:
    return compiled(_add_city_sums)


def column_factors(
    X: Array,
    Y: Array,
    weight: Array,
    kernel: Kernel,
    start: Array | None = None,
    steps: int = STEPS,
) -> Array:
    """Return the factor of each column that maximises the likelihood.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Standardised columns.
    Y : ndarray of shape (n, q)
    weight : ndarray of shape (n,)
    kernel : Gaussian, Matern or Laplacian
    start : ndarray of shape (d,), default=None
        The factors at the start; None means 1.
    steps : int, default=40
        The largest number of steps.
    """
    from scipy.optimize import minimize

    centred = Y - np.average(Y, axis=0, weights=weight)
    scale = np.sqrt(np.mean(np.square(centred)))
    if not scale > 0:
        return np.ones(X.shape[1])
    found = minimize(
        Likelihood(X.astype(float), centred / scale, weight / weight.mean(), kernel),
        np.append(np.zeros(X.shape[1]) if start is None else np.log(start), np.log(START)),
        jac=True,
        method="L-BFGS-B",
        bounds=[np.log(REACH)] * X.shape[1] + [np.log(NOISE)],
        options={"maxiter": steps},
    )
    return np.exp(found.x[:-1])
