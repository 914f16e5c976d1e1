"""The linear system of a Newton step, in the form that is cheaper.

With the rows R of positive curvature, scaled by the roots of their weights and with a column of
ones for the intercept, a step solves ``(RᵀR + D) d = g`` with the diagonal D of the penalty. If
there are more such rows than features, RᵀR is factorised; it is kept between steps, and only rows
whose weight changes are added or taken away. If there are fewer rows, the smaller matrix
``I + R D⁻¹ Rᵀ`` is factorised instead (Woodbury's identity).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from ..streaming.fold import fold
from ..streaming.gram import add_gram

Array = NDArray[np.floating]
Piece = tuple[slice, Array]
Solve = Callable[[Array], Array]

# The number of rows of one product.
TOGETHER = 2048
# The smaller matrix is factorised if there are at most this many rows per feature.
FEW_ROWS = 0.5


class Rows(Protocol):
    """Features that can be walked in pieces ``(slice of rows, Z)`` as often as needed."""

    n_rows: int
    width: int

    def __iter__(self) -> Iterator[Piece]: ...


class Gram:
    """The Gram matrix ``Σ s_i (z_i, 1)(z_i, 1)ᵀ`` that steps share.

    Parameters
    ----------
    rows : Rows

    Attributes
    ----------
    counted : ndarray of shape (n,)
        The weights s with which the rows are in the matrix.
    values : ndarray of shape (p + 1, p + 1) or None
        The matrix; entries below the diagonal have no meaning. None if no step has needed it.
    """

    def __init__(self, rows: Rows):
        self.counted: Array = np.zeros(rows.n_rows)
        self.values: Array | None = None
        self._is_shared = False

    def shared(self) -> Gram:
        """Return the same matrix for another solution; it is copied when it is changed."""
        other = copy(self)
        other._is_shared = self._is_shared = True
        return other

    def bring_to(self, rows: Rows, weight: Array, residual: Array) -> Array:
        """Bring the matrix to other weights and return ``Zᵀ residual``, from one pass.

        Only rows whose weight changes are multiplied, unless more rows change than stay.
        """
        change: Array = weight - self.counted
        if self.values is None or np.count_nonzero(change) > np.count_nonzero(weight):
            self.values = np.zeros((rows.width + 1, rows.width + 1))
            change = weight
        elif self._is_shared:
            self.values = self.values.copy()
        self._is_shared = False
        found = fold(rows, GramChange(rows.width, change, residual))
        self.values += found.gram()
        self.counted = weight
        return found.gradient


def newton_system(
    rows: Rows, active: Array, residual: Array, diagonal: Array, total: float, gram: Gram
) -> tuple[Array, Solve]:
    """Return ``Zᵀ residual`` with a column of ones, and the solver of a Newton step.

    Parameters
    ----------
    rows : Rows
    active : ndarray of shape (n,)
        The weight of each row in the system, zero for most rows.
    residual : ndarray of shape (n,)
    diagonal : ndarray of shape (p + 1,)
        The penalties, that of the intercept last. An infinite penalty holds a coefficient at zero.
    total : float
        The sum of the weights of all rows, which the weights are divided by.
    gram : Gram
        The Gram matrix of an earlier step; it is changed if this step needs it.

    Returns
    -------
    gradient : ndarray of shape (p + 1,)
    solve : callable
        ``solve(right)`` returns the solution for the coefficients with a finite penalty.
    """
    used = np.flatnonzero(np.isfinite(diagonal))
    penalties = diagonal[:-1][np.isfinite(diagonal[:-1])]
    few = 0 < np.count_nonzero(active) <= FEW_ROWS * len(penalties)
    if few and penalties.min() > 0:
        found = fold(rows, ActiveRows(rows.width, active / total, residual))
        gradient, solve = found.gradient, dual(found.rows(), used, diagonal)
    else:
        gradient = gram.bring_to(rows, active, residual)
        assert gram.values is not None
        solve = primal(gram.values, used, diagonal, total)
    return np.append(gradient, residual.sum()), solve


def primal(gram: Array, used: NDArray[np.intp], diagonal: Array, total: float) -> Solve:
    """Factorise ``gram / total + D``, of which the upper triangle is given."""
    are_first = not len(used) or used[-1] == len(used) - 1  # a slice makes no copy
    A = (gram[: len(used), : len(used)] if are_first else gram[np.ix_(used, used)]) / total
    A.flat[:: len(A) + 1] += diagonal[used]
    # Without an active row, or with fewer active rows than features and a tiny penalty, the
    # system is singular. The larger shares are for products in single precision.
    for share in (0.0, 1e-12, 1e-9, 1e-6):
        B = A + share * (1 + np.trace(A)) * np.eye(len(A)) if share else A
        # The upper triangle of B is the lower one of Bᵀ, which LAPACK reads without a copy.
        L, failed = dpotrf(B.T, lower=1, clean=0)
        if not failed:
            return partial(_solved, L)
    raise LinAlgError("The Newton system is not positive definite.")


def _solved(L: Array, right: Array) -> Array:
    """Return the solution of a system with the Cholesky factor L."""
    return dpotrs(L, right, lower=1)[0]


def dual(R: Array, used: NDArray[np.intp], diagonal: Array) -> Solve:
    """Factorise ``C = I + R D⁻¹ Rᵀ``, with the features Z and the ones r of the rows R = [Z r].

    The solution for a right side (g, h) is ``b = (h − rᵀC⁻¹u) / (rᵀC⁻¹r)`` with ``u = Z D⁻¹ g``
    for the intercept, and ``D⁻¹(g − ZᵀC⁻¹(u + b r))`` for the other coefficients.

    Parameters
    ----------
    R : ndarray of shape (a, p + 1)
        The rows, scaled by the roots of their weights.
    used : ndarray of int
        The coefficients with a finite penalty.
    diagonal : ndarray of shape (p + 1,)
        The penalties, above 0 but for the intercept.
    """
    has_intercept = bool(used[-1] == len(diagonal) - 1)
    kept = used[:-1] if has_intercept else used
    Z, r, d = R[:, kept], R[:, -1], diagonal[kept]
    half = Z / np.sqrt(d)
    C = half @ half.T
    C.flat[:: len(C) + 1] += 1
    L, failed = dpotrf(C.T, lower=1, clean=0)
    if failed:
        raise LinAlgError("The Newton system is not positive definite.")

    inverse = partial(_solved, L)
    ones = inverse(r) if has_intercept else r

    def solve(right: Array) -> Array:
        g = right[: len(kept)]
        u = Z @ (g / d)
        v = inverse(u)
        if not has_intercept:
            return (g - Z.T @ v) / d
        b = (right[-1] - r @ v) / (r @ ones)
        return np.append((g - Z.T @ (v + b * ones)) / d, b)

    return solve


class ActiveRows:
    """The statistic of a step with few rows: ``Zᵀ residual`` and the rows of positive weight."""

    def __init__(self, width: int, active: Array, residual: Array):
        self.active, self.residual = active, residual
        self.gradient: Array = np.zeros(width)
        self._parts: list[tuple[int, Array]] = []

    def update(self, piece: Piece) -> ActiveRows:
        rows, Z = piece
        self.gradient += Z.T @ self.residual[rows].astype(Z.dtype)
        weight = self.active[rows]
        some = np.flatnonzero(weight)
        if len(some):
            root = np.sqrt(weight[some])[:, None]
            self._parts.append((rows.start, np.hstack([root * Z[some], root])))
        return self

    def merge(self, other: ActiveRows) -> ActiveRows:
        self.gradient += other.gradient
        self._parts += other._parts
        return self

    def rows(self) -> Array:
        """Return rows with a column of ones, times the roots of their weights, in data order."""
        return np.concatenate([part for _, part in sorted(self._parts, key=lambda pair: pair[0])])


class GramChange:
    """The statistic of a Newton step: ``Zᵀ residual`` and the change ``Zᵀ diag(change) Z``."""

    def __init__(self, width: int, change: Array, residual: Array):
        self.change, self.residual = change, residual
        self.gradient: Array = np.zeros(width)
        self._waiting = [_Waiting(width + 1, sign) for sign in (1.0, -1.0)]

    def update(self, piece: Piece) -> GramChange:
        rows, Z = piece
        self.gradient += Z.T @ self.residual[rows].astype(Z.dtype)
        for several in self._waiting:
            moved = np.flatnonzero(several.sign * self.change[rows] > 0)
            several.add(Z[moved], np.sqrt(np.abs(self.change[rows][moved])))
        return self

    def merge(self, other: GramChange) -> GramChange:
        self.gradient += other.gradient
        for mine, theirs in zip(self._waiting, other._waiting, strict=True):
            mine.total += theirs.sum()
        return self

    def gram(self) -> Array:
        """Return the change of the Gram matrix, shape (p + 1, p + 1), on and above the diagonal."""
        added, taken = (several.sum() for several in self._waiting)
        return added - taken


class _Waiting:
    """Rows that are multiplied when there are enough of them: small products are slow."""

    def __init__(self, width: int, sign: float):
        self.sign, self.n = sign, 0
        self.rows = np.empty((TOGETHER, width))
        self.total = np.zeros((width, width))

    def add(self, Z: Array, scale: Array) -> None:
        start = 0
        while start < len(Z):
            stop = min(len(Z), start + TOGETHER - self.n)
            here = self.rows[self.n : self.n + stop - start]
            here[:, :-1], here[:, -1] = Z[start:stop], 1.0
            here *= scale[start:stop, None]
            self.n, start = self.n + stop - start, stop
            if self.n == TOGETHER:
                self.sum()

    def sum(self) -> Array:
        """Multiply the rows that wait and return the sum of all products."""
        if self.n:
            A = self.rows[: self.n]
            add_gram([A], self.total)
            self.n = 0
        return self.total
