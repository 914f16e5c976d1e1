"""Widths of columns by the gradient of the marginal likelihood of a Gaussian process.

The process has the covariance ``s² (k(WX) + λ diag(1/weight))`` with one factor w_j per column; s²
is eliminated. Columns that do not matter get small factors (automatic relevance determination).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from .._blocks import CACHE_BYTES, Scratch, mirror_upper, row_blocks
from .._compile import compiled
from ..kernels import Gaussian, Kernel, Laplacian, Matern
from ..kernels._against import write_distances

Array = NDArray[np.floating]

# Bounds of the factors and of the noise λ, and the noise at the start. If many labels are wrong, a
# search that starts from a smaller noise can widen all columns and stay at a linear model.
REACH, NOISE, START = (1e-3, 1e3), (1e-6, 1e2), 0.1
# The slope of the Matérn kernel of ν = ½ grows without bound; distances below this many widths
# count as this many.
NEAREST = 1e-5
# The largest number of steps.
STEPS = 40
# More differences than this are added up by a compiled loop, which takes up to a second to load.
COMPILED = 2**26
# The weight of the penalty Σ (log w_j − mean)² / 2 on the factors, because few rows tell little.
PRIOR = 0.05


def _exponential(kernel: Any, z: Array, slope: Array) -> float:
    np.exp(np.negative(z, out=z), out=z)
    slope[...] = z
    width = kernel.sigma
    return -1 / width if isinstance(kernel, Laplacian) else -1 / width**2


def _matern(kernel: Any, z: Array, slope: Array) -> float:
    if kernel.nu == 0.5:
        np.maximum(z, NEAREST, out=slope)
        np.exp(np.negative(z, out=z), out=z)
        np.divide(z, slope, out=slope)
        return -1 / kernel.sigma**2
    np.exp(np.negative(z, out=slope), out=slope)
    z += 1
    z *= slope
    return -3 / kernel.sigma**2


# Each function gets distances, or squared distances, in the unit of the kernel's `_shape`, and
# replaces them by the values of the kernel. `slope` times the factor that the function returns is
# the derivative of the kernel by z²/2 for the Euclidean distance z, or by z for the city distance.
SLOPES: dict[type[Kernel], Any] = {
    Gaussian: _exponential,
    Matern: _matern,
    Laplacian: _exponential,
}


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
    _scratch: Scratch = field(default_factory=Scratch, repr=False)

    def __call__(self, logs: Array) -> tuple[float, Array]:
        """Return the value and the gradient at the logarithms of all factors and of the noise."""
        n, q = self.Y.shape
        Z, noise = self.X * np.exp(logs[:-1]), np.exp(logs[-1])
        C, slope = (self._scratch.array(name, (n, n)) for name in ("C", "slope"))
        factor = self._fill(Z, C, slope)
        C.flat[:: n + 1] += noise / self.weight
        # The transpose has the order of LAPACK, which therefore works in place.
        R, failed = dpotrf(C.T, overwrite_a=True, clean=0)
        if failed:
            return 1e10, np.zeros_like(logs)
        solved = dpotrs(R, self.Y)[0]
        square = float(np.sum(self.Y * solved)) / (n * q)
        value = 0.5 * np.log(square) + np.log(np.diagonal(R)).sum() / n
        # The derivative of the value by C, entry by entry.
        inverse, share = dpotri(R, overwrite_c=True)[0], 1 / (2 * n)
        M = dsyrk(-share / (q * square), solved, share, inverse, overwrite_c=True)
        by_noise = noise * float(np.diagonal(M) @ (1 / self.weight))
        M = mirror_upper(M).T
        M *= slope
        np.fill_diagonal(M, 0.0)  # some slopes are not defined at the distance 0
        columns = factor * _by_column(Z, M, isinstance(self.kernel, Laplacian))
        unequal = logs[:-1] - logs[:-1].mean()
        value += PRIOR * float(unequal @ unequal) / (2 * n * q)
        return float(value), np.append(columns + PRIOR * unequal / (n * q), by_noise)

    def _fill(self, Z: Array, K: Array, slope: Array) -> float:
        """Write the kernel matrix to K and its derivative by distances to `slope`.

        `slope` times the factor that is returned is the derivative.
        """
        write_distances(self.kernel, Z, K)
        np.fill_diagonal(K, 0.0)  # without rounding errors
        return SLOPES[type(self.kernel)](self.kernel, K, slope)


def _by_column(Z: Array, M: Array, is_city: bool) -> Array:
    """Return ``Σ_ab M_ab |z_aj − z_bj|^p`` for each column j, with p = 1 or 2 and a symmetric M."""
    if not is_city:
        return 2 * (M.sum(axis=1) @ np.square(Z) - np.einsum("ij,ij->j", Z, M @ Z))
    loop = _city_loop() if Z.size * len(Z) > COMPILED else None
    if loop is not None:
        out = np.zeros(Z.shape[1])
        loop(np.ascontiguousarray(Z), M, out)
        return out
    columns, scratch = np.ascontiguousarray(Z.T), Scratch()
    parts = row_blocks(len(M), 8 * len(M), CACHE_BYTES // 4)
    return np.sum([_city_sums(columns, M, rows, scratch) for rows in parts], axis=0)


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


def _city_sums(columns: Array, M: Array, rows: slice, scratch: Scratch) -> Array:
    """Return ``Σ M_ab |z_aj − z_bj|`` over the pairs of `rows` and over the pairs of them and later
    rows, in both orders.
    """
    weights = M[rows, rows.start :].copy()
    weights[:, len(weights) :] *= 2
    apart = scratch.array("apart", weights.shape)

    def of(z: Array) -> float:
        np.subtract.outer(z[rows], z[rows.start :], out=apart)
        return float(np.vdot(np.abs(apart, out=apart), weights))

    return np.array([of(z) for z in columns])


def column_factors(
    X: Array,
    Y: Array,
    weight: Array,
    kernel: Kernel,
    start: Array | None = None,
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
        options={"maxiter": STEPS},
    )
    return np.exp(found.x[:-1])
