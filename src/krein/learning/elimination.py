"""Elimination of the positive part of least squares, for many penalties of the negative part.

The penalties of a grid share few values of alpha. For each of them the positive part is eliminated
once, and what is left of the negative part is reduced to a tridiagonal matrix. Each alpha_neg then
costs a product instead of a factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dsyrk, dtrsm
from scipy.linalg.lapack import dormqr, dpotrf, dpttrf, dpttrs, dsytrd

from .problems import LeastSquares

Array = NDArray[np.floating]
# Rounding errors of a Gram matrix, relative to its size and trace: of its factorisation, and of
# products in double and in single precision. A smaller penalty has no effect.
FLOORS = (0.0, 1e-14, 1e-9, 1e-7)
# A problem with fewer features is solved faster without elimination.
WIDE = 64


def triangle(gram: Array, diagonal: Array) -> Array:
    """Return R with ``RᵀR = gram + diag(diagonal)``; penalties below rounding errors are raised."""
    if not len(gram):
        return gram
    for floor in FLOORS:
        A = gram.copy()
        seen = floor * len(A) * np.trace(A)
        A.flat[:: len(A) + 1] += np.maximum(diagonal, seen)
        R, failed = dpotrf(A.T, overwrite_a=1, clean=0)  # A is symmetric, and Aᵀ is not copied
        if not failed:
            return R
    raise LinAlgError("The Gram matrix is not positive semi-definite.")


@dataclass(frozen=True)
class Shifted:
    """``S + shift · I`` for every shift, from ``S = Q T Qᵀ`` with T tridiagonal.

    Attributes
    ----------
    reflectors, tau : ndarray
        Q, which does not change the first entry of a vector, as LAPACK stores it.
    diagonal : ndarray of shape (p,)
        The diagonal of T.
    beside : ndarray of shape (p − 1,)
        The entries of T beside its diagonal.
    """

    reflectors: Array
    tau: Array
    diagonal: Array
    beside: Array

    @classmethod
    def of(cls, S: Array) -> Shifted:
        """Reduce a symmetric matrix, of which the lower triangle is read, to a tridiagonal one."""
        packed, diagonal, beside, tau, _ = dsytrd(S, lower=1, lwork=64 * len(S))
        return cls(np.asfortranarray(packed[1:, :-1]), tau, diagonal, beside)

    def solve(self, shift: float, right: Array) -> Array | None:
        """Return ``(S + shift · I)⁻¹ right``, or None if the matrix is not positive definite."""
        diagonal, beside, failed = dpttrf(self.diagonal + shift, self.beside)
        if failed:
            return None
        return self._turned(dpttrs(diagonal, beside, self._turned(right, "T"))[0], "N")

    def _turned(self, right: Array, trans: str) -> Array:
        """Return ``Q right``, or ``Qᵀ right`` if `trans` is "T"."""
        out = np.array(right, order="F")
        out[1:] = dormqr("L", trans, self.reflectors, self.tau, out[1:], 64 * out.shape[1])[0]
        return out


@dataclass(frozen=True)
class Divided:
    """A problem divided into the features of the positive and of the negative part.

    Attributes
    ----------
    negative : ndarray of bool of shape (p,)
        The features of the negative part.
    plus, beside, minus : ndarray
        The products ``G₊₊``, ``G₊₋`` and ``G₋₋``, in the order of columns that LAPACK takes.
    first, second : ndarray
        The products with the targets, ``c₊`` and ``c₋``.
    """

    negative: NDArray[np.bool_]
    plus: Array
    beside: Array
    minus: Array
    first: Array
    second: Array

    @classmethod
    def of(cls, problem: LeastSquares, negative: NDArray[np.bool_]) -> Divided | None:
        """Divide a problem; None if it is too small for this to pay."""
        plus, minus = np.flatnonzero(~negative), np.flatnonzero(negative)
        if problem.width < WIDE or not len(plus) or len(minus) < 2:
            return None
        gram, cross = problem.gram, problem.cross
        return cls(
            negative,
            np.asfortranarray(gram[np.ix_(plus, plus)]),
            np.asfortranarray(gram[np.ix_(plus, minus)]),
            np.asfortranarray(gram[np.ix_(minus, minus)]),
            cross[plus],
            cross[minus],
        )

    def reduced(self, penalty: Array) -> Reduced:
        """Eliminate the positive part, whose features have these penalties."""
        R = triangle(self.plus, penalty)
        Y, t = (dtrsm(1.0, R, right, trans_a=1) for right in (self.beside, self.first))
        rest = Shifted.of(dsyrk(-1.0, Y, beta=1.0, c=self.minus, trans=1, lower=1))
        return Reduced(self.negative, R, Y, t, rest, self.second - Y.T @ t)


@dataclass(frozen=True)
class Reduced:
    """A problem whose positive part is eliminated: it serves all penalties of the negative part.

    With ``G₊₊ + P₊ = RᵀR``, ``Y = R⁻ᵀ G₊₋`` and ``t = R⁻ᵀ c₊`` the coefficients are
    ``w₋ = (G₋₋ − YᵀY + alpha_neg I)⁻¹ (c₋ − Yᵀt)`` and ``w₊ = R⁻¹ (t − Y w₋)``.

    Attributes
    ----------
    negative : ndarray of bool of shape (p,)
        The features of the negative part.
    R, Y, t : ndarray
    rest : Shifted
        ``G₋₋ − YᵀY``.
    right : ndarray
        ``c₋ − Yᵀt``.
    """

    negative: NDArray[np.bool_]
    R: Array
    Y: Array
    t: Array
    rest: Shifted
    right: Array

    def solve(self, alpha_neg: float) -> Array | None:
        """Return the coefficients (p, q), or None if rounding errors make the matrix indefinite."""
        second = np.zeros_like(self.right)
        if np.isfinite(alpha_neg):
            found = self.rest.solve(alpha_neg, self.right)
            if found is None:
                return None
            second = found
        coef = np.empty((len(self.negative), self.right.shape[1]))
        coef[self.negative] = second
        coef[~self.negative] = dtrsm(1.0, self.R, self.t - self.Y @ second)
        return coef
