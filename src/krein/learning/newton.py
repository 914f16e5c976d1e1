"""A loss of the margin with a split penalty, by Newton's method.

    min (1/W) Σ s_i ℓ(y_i f(x_i)) + wᵀ P w,    f(x) = wᵀz(x) + b

With the squared hinge this is the SH-SVM of the scalable Kreĭn paper, §2.5. The losses are
piecewise quadratic: once the piece of every row is known, the minimum is one linear system. A
Newton step solves it, an exact line search follows, and only the rows whose curvature changes are
added to or taken from the Gram matrix. A loss whose corner is too narrow for that at w = 0 has
stages with wider corners, and the solution of each stage is the start of the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from .._threads import one_blas_thread
from ..forms import Form
from ..streaming.fold import fold
from ..streaming.moments import add_gram
from .losses import MarginLoss
from .penalties import Split

Array = NDArray[np.floating]
Piece = tuple[slice, Array]

# Rows of one product.
TOGETHER = 2048
# Up to this number of features the solver uses one BLAS thread.
WIDE = 2048
# The tolerance of solutions that another solution begins with.
ROUGH = 1e-2


class Rows(Protocol):
    """Features that can be walked in pieces ``(slice of rows, Z)`` as often as needed."""

    n_rows: int
    width: int

    def __iter__(self) -> Iterator[Piece]: ...


@dataclass
class NewtonState:
    """Where the solver is; it may go on from here with other penalties or weights.

    Attributes
    ----------
    coef : ndarray of shape (p + 1,)
        The coefficients, then the intercept.
    outputs : ndarray of shape (n,)
        f(x_i) for all rows, rows of weight zero included.
    counted : ndarray of shape (n,)
        The weights with which the rows are in the Gram matrix.
    gram : ndarray of shape (p + 1, p + 1)
        The Gram matrix of the rows; entries below the diagonal have no meaning.
    """

    coef: Array
    outputs: Array
    counted: Array
    gram: Array
    n_iter: int = 0
    converged: bool = False
    interrupted: bool = False
    objective: float = np.inf

    @classmethod
    def zero(cls, rows: Rows) -> NewtonState:
        p = rows.width + 1
        return cls(np.zeros(p), np.zeros(rows.n_rows), np.zeros(rows.n_rows), np.zeros((p, p)))

    @classmethod
    def at(cls, rows: Rows, coef: Array) -> NewtonState:
        """The state at given coefficients, from one pass."""
        state = cls.zero(rows)
        state.coef = np.array(coef, dtype=float)
        state.outputs = outputs(rows, state.coef)
        return state


@dataclass(frozen=True)
class Newton:
    """The solver.

    Attributes
    ----------
    form : Form
    of : MarginLoss
        The loss.
    fit_intercept : bool
    tol : float
        The solver stops when a step lowers the objective by less than this share of it.
    max_iter : int
    """

    form: Form
    of: MarginLoss
    fit_intercept: bool = True
    tol: float = 1e-6
    max_iter: int = 100
    loss: ClassVar[type] = MarginLoss
    penalty: ClassVar[type] = Split

    def solve(
        self, rows: Rows, y: Array, weight: Array, penalty: Split, state: NewtonState
    ) -> NewtonState:
        """Minimise from `state`, which is changed and returned.

        Parameters
        ----------
        rows : Rows
        y : ndarray of shape (n,)
            −1 or +1.
        weight : ndarray of shape (n,)
            Rows of weight zero are not learned from.
        penalty : Split
        state : NewtonState
        """
        state.n_iter, state.converged = 0, False
        diagonal = self._diagonal(penalty)
        if np.any(state.coef[~np.isfinite(diagonal)]):
            state.coef[~np.isfinite(diagonal)] = 0.0
            state.outputs = outputs(rows, state.coef)
        *earlier, _ = self.of.stages
        # Threads of BLAS that wait for the next product would compete with the threads of
        # `add_gram`. Only a wide matrix is factorised so much faster by several threads.
        with one_blas_thread() if rows.width <= WIDE else nullcontext():
            try:
                for loss in earlier:
                    replace(self, of=loss, tol=max(self.tol, ROUGH))._descend(
                        rows, y, weight, diagonal, state
                    )
                self._descend(rows, y, weight, diagonal, state)
            except KeyboardInterrupt:
                state.interrupted = True
        state.objective = self._objective(y, weight, diagonal, state.coef, state.outputs)
        return state

    def _descend(
        self, rows: Rows, y: Array, weight: Array, diagonal: Array, state: NewtonState
    ) -> None:
        """Minimise one stage."""
        state.converged = False
        state.objective = self._objective(y, weight, diagonal, state.coef, state.outputs)
        while state.n_iter < self.max_iter and not state.converged:
            self._step(rows, y, weight, diagonal, state)

    def _diagonal(self, penalty: Split) -> Array:
        # An infinite penalty holds the coefficient at zero.
        return np.append(penalty.diagonal(self.form), 0.0 if self.fit_intercept else np.inf)

    def _objective(self, y: Array, weight: Array, diagonal: Array, coef: Array, f: Array) -> float:
        used = np.isfinite(diagonal)
        loss = weight @ self.of.value(y * f) / weight.sum()
        return float(loss + diagonal[used] @ np.square(coef[used]))

    def _step(
        self, rows: Rows, y: Array, weight: Array, diagonal: Array, state: NewtonState
    ) -> None:
        margin = y * state.outputs
        active = weight * self.of.half_curvature(margin)
        total = weight.sum()
        downhill = -weight * y * self.of.half_slope(margin)
        gradient = update_gram(rows, active, downhill, state)
        used = np.flatnonzero(np.isfinite(diagonal))
        slope = diagonal[used] * state.coef[used] - gradient[used] / total
        direction = np.zeros_like(state.coef)
        direction[used] = -self._solve(state.gram, used, diagonal, total, slope)
        change = outputs(rows, direction)
        step = self._line_search(y, weight, diagonal, state, direction, change)
        coef, f = state.coef + step * direction, state.outputs + step * change
        objective = self._objective(y, weight, diagonal, coef, f)
        state.n_iter += 1
        decrease = state.objective - objective
        if decrease > 0:
            state.coef, state.outputs, state.objective = coef, f, objective
        same = np.array_equal(weight * self.of.half_curvature(y * f), active)
        # With unchanged pieces and a full step the minimum is exact.
        state.converged = (same and abs(step - 1) < 1e-9) or decrease <= self.tol * objective

    def _solve(
        self, gram: Array, used: NDArray, diagonal: Array, total: float, right: Array
    ) -> Array:
        first = len(used) == used[-1] + 1 if len(used) else True
        A = (gram[: len(used), : len(used)] if first else gram[np.ix_(used, used)]) / total
        A.flat[:: len(A) + 1] += diagonal[used]
        # Without an active row, or with fewer active rows than features and a tiny penalty, the
        # system is singular. The larger shares are for products in single precision.
        for share in (0.0, 1e-12, 1e-9, 1e-6):
            B = A + share * (1 + np.trace(A)) * np.eye(len(A)) if share else A
            # The upper triangle of B is the lower one of Bᵀ, which LAPACK reads without a copy.
            L, failed = dpotrf(B.T, lower=1, clean=0)
            if not failed:
                return dpotrs(L, right, lower=1)[0]
        raise LinAlgError("The Newton system is not positive definite.")

    def _line_search(
        self,
        y: Array,
        weight: Array,
        diagonal: Array,
        state: NewtonState,
        direction: Array,
        change: Array,
    ) -> float:
        """The exact minimum along the direction: the derivative is piecewise linear and rises."""
        used = np.isfinite(diagonal)
        total = weight.sum()
        linear = float(diagonal[used] @ (state.coef[used] * direction[used]))
        curved = float(diagonal[used] @ np.square(direction[used]))
        start, rate = y * state.outputs, y * change
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(60):
            margin = start + t * rate
            on = weight * self.of.half_curvature(margin)
            slope = (
                linear + t * curved + float(weight @ (self.of.half_slope(margin) * rate)) / total
            )
            bend = curved + float(on @ np.square(rate)) / total
            if slope < 0:
                low = t
            else:
                high = t
            if abs(slope) <= 1e-14 * (abs(linear) + bend):
                break
            new = t - slope / bend if bend > 0 else np.nan  # no bend: all rows on linear pieces
            if not low < new < high:
                new = (low + high) / 2 if np.isfinite(high) else 2 * t
            if abs(new - t) <= 1e-12 * t:
                return new
            t = new
        return t

    def derivatives(
        self, rows: Rows, weight: Array, y: Array, penalty: Split, state: NewtonState
    ) -> Array:
        """``∂(w, b) / ∂(log alpha, log alpha_neg)`` at a solution, shape (2, p + 1).

        On the active set ``(ZᵀSZ/W + P)w = ZᵀSy/W``, hence ``∂w = −(ZᵀSZ/W + P)⁻¹ ∂P w``; the set
        does not move with the penalties but for single points (Chapelle et al., 2002).
        """
        diagonal = self._diagonal(penalty)
        used = np.flatnonzero(np.isfinite(diagonal))
        active = weight * self.of.half_curvature(y * state.outputs)
        update_gram(rows, active, np.zeros_like(active), state)
        change = np.zeros((2, len(state.coef)))
        for out, d in zip(change, penalty.derivatives(self.form), strict=True):
            right = (np.append(d, 0.0) * state.coef)[used]
            out[used] = -self._solve(state.gram, used, diagonal, weight.sum(), right)
        return change


class Outputs:
    """The statistic ``Z w + b`` of all rows; coef has the intercept last."""

    def __init__(self, n_rows: int, coef: Array):
        self.values, self.coef = np.full(n_rows, np.nan), coef

    def update(self, piece: Piece) -> Outputs:
        rows, Z = piece
        self.values[rows] = Z @ self.coef[:-1].astype(Z.dtype) + self.coef[-1]
        return self

    def merge(self, other: Outputs) -> Outputs:
        np.copyto(self.values, other.values, where=np.isnan(self.values))
        return self


def outputs(rows: Rows, coef: Array) -> Array:
    """``Z w + b`` from one pass; coef has the intercept last."""
    return fold(rows, Outputs(rows.n_rows, coef)).values


def update_gram(rows: Rows, counted: Array, residual: Array, state: NewtonState) -> Array:
    """Bring ``ZᵀSZ`` to the weights `counted` and return ``Zᵀ residual``, with a column of ones.

    Only rows whose weight changes are multiplied, unless more rows change than stay.
    """
    change: Array = counted - state.counted
    if np.count_nonzero(change) > np.count_nonzero(counted):
        state.gram[...] = 0.0
        change = counted
    found = fold(rows, GramChange(rows.width, change, residual))
    state.gram += found.gram()
    state.counted = counted
    return np.append(found.gradient, residual.sum())


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
        """The change of the Gram matrix, shape (p + 1, p + 1), on and above the diagonal."""
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


def warm_start(
    solver: Newton,
    rows: Rows,
    y: Array,
    weight: Array,
    penalty: Split,
    clocks: Array,
    shares: Iterable[float] = (1 / 16, 1 / 4),
) -> NewtonState:
    """A state near the solution, from growing parts of the rows in the order of their clocks.

    At w = 0 every row is active: a step on a sixteenth of the rows finds most of the active set.
    """
    state = NewtonState.zero(rows)
    rough = replace(solver, tol=ROUGH)
    for share in shares:
        part = np.where(clocks <= np.quantile(clocks, share), weight, 0.0)
        # The part needs enough rows of both classes.
        if min(np.count_nonzero(part[y > 0]), np.count_nonzero(part[y < 0])) >= 50:
            rough.solve(rows, y, part, penalty, state)
        if state.interrupted:
            break
    return state
