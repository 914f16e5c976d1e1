"""The squared-hinge machine: SH-SVM of the scalable Kreĭn paper (§2.5), by Newton's method.

    min (1/W) Σ s_i max(0, 1 − y_i f(x_i))² + wᵀ P w,    f(x) = wᵀz(x) + b

The loss is piecewise quadratic: with the active rows A = {i : y_i f(x_i) < 1} known, the minimum is
one linear system. A Newton step solves it, an exact line search follows, and only the rows that
enter or leave A are added to or taken from the Gram matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve

from .penalties import Penalty

Array = NDArray[np.floating]

# Rows of one product.
TOGETHER = 2048


class Rows(Protocol):
    """Features that can be walked in blocks as often as needed."""

    n_rows: int
    width: int

    def __iter__(self) -> Iterator[tuple[slice, Array]]: ...


@dataclass
class NewtonState:
    """Where the solver is: it may go on from here with other penalties or weights.

    Attributes
    ----------
    coef : ndarray of shape (p + 1,)
        The intercept last.
    outputs : ndarray of shape (n,)
        f(x_i) for all rows, also those of weight zero.
    """

    coef: Array
    outputs: Array
    # The weights with which rows are in the Gram matrix, and that matrix.
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
        """The state at given coefficients: one pass."""
        state = cls.zero(rows)
        state.coef = np.array(coef, dtype=float)
        state.outputs = outputs(rows, state.coef)
        return state


@dataclass(frozen=True)
class SquaredHinge:
    """The solver.

    Attributes
    ----------
    signs : ndarray of shape (p,)
    fit_intercept : bool
    tol : float
        Stop when a step lowers the objective by less than this share of it.
    max_iter : int
    """

    signs: Array
    fit_intercept: bool = True
    tol: float = 1e-6
    max_iter: int = 100

    def solve(
        self, rows: Rows, y: Array, weight: Array, penalty: Penalty, state: NewtonState
    ) -> NewtonState:
        """Minimise from `state`, which is changed and returned.

        Parameters
        ----------
        rows : Rows
        y : ndarray of shape (n,)
            −1 or +1.
        weight : ndarray of shape (n,)
            Rows of weight zero are not learned from.
        penalty : Penalty
        state : NewtonState
        """
        state.n_iter, state.converged = 0, False
        diagonal = self._diagonal(penalty)
        if np.any(state.coef[~np.isfinite(diagonal)]):
            state.coef[~np.isfinite(diagonal)] = 0.0
            state.outputs = outputs(rows, state.coef)
        state.objective = self._objective(y, weight, diagonal, state.coef, state.outputs)
        try:
            while state.n_iter < self.max_iter and not state.converged:
                self._step(rows, y, weight, diagonal, state)
        except KeyboardInterrupt:
            state.interrupted = True
        return state

    def _diagonal(self, penalty: Penalty) -> Array:
        # Infinite: the coefficient is held at zero.
        return np.append(penalty.diagonal(self.signs), 0.0 if self.fit_intercept else np.inf)

    def _objective(self, y: Array, weight: Array, diagonal: Array, coef: Array, f: Array) -> float:
        used = np.isfinite(diagonal)
        loss = weight @ np.square(np.maximum(0, 1 - y * f)) / weight.sum()
        return float(loss + diagonal[used] @ np.square(coef[used]))

    def _step(
        self, rows: Rows, y: Array, weight: Array, diagonal: Array, state: NewtonState
    ) -> None:
        active = np.where(y * state.outputs < 1, weight, 0.0)
        total = weight.sum()
        gradient = update_gram(rows, active, active * (y - state.outputs), state)
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
        same = np.array_equal(np.where(y * f < 1, weight, 0.0) > 0, active > 0)
        # With an unchanged active set and a full step the minimum is exact.
        state.converged = (same and abs(step - 1) < 1e-9) or decrease <= self.tol * objective

    def _solve(
        self, gram: Array, used: NDArray, diagonal: Array, total: float, right: Array
    ) -> Array:
        A = (gram if len(used) == len(gram) else gram[np.ix_(used, used)]) / total
        A[np.diag_indices_from(A)] += diagonal[used]
        # No active row, or fewer than features at a tiny penalty: the intercept has no say.
        # The larger ones are for the rounding of products in single precision.
        for share in (0.0, 1e-12, 1e-9, 1e-6):
            B = A + share * (1 + np.trace(A)) * np.eye(len(A)) if share else A
            try:
                L = np.linalg.cholesky(B)
                return cho_solve((L, True), right, check_finite=False)
            except LinAlgError:
                continue
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
        margin, rate = 1 - y * state.outputs, y * change
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(60):
            slack = margin - t * rate
            on = np.where(slack > 0, weight, 0.0)
            slope = linear + t * curved - float(on @ (slack * rate)) / total
            bend = curved + float(on @ np.square(rate)) / total
            if slope < 0:
                low = t
            else:
                high = t
            if bend <= 0 or abs(slope) <= 1e-14 * (abs(linear) + bend):
                break
            new = t - slope / bend
            if not low < new < high:
                new = (low + high) / 2 if np.isfinite(high) else 2 * t
            if abs(new - t) <= 1e-12 * t:
                return new
            t = new
        return t

    def derivatives(
        self, rows: Rows, weight: Array, y: Array, penalty: Penalty, state: NewtonState
    ) -> Array:
        """``∂(w, b) / ∂(log alpha, log alpha_neg)`` at a solution, shape (2, p + 1).

        On the active set ``(ZᵀSZ/W + P)w = ZᵀSy/W``, hence ``∂w = −(ZᵀSZ/W + P)⁻¹ ∂P w``; the set
        itself does not move with the penalties but for single points (Chapelle et al., 2002).
        """
        diagonal = self._diagonal(penalty)
        used = np.flatnonzero(np.isfinite(diagonal))
        active = np.where(y * state.outputs < 1, weight, 0.0)
        update_gram(rows, active, np.zeros_like(active), state)
        change = np.zeros((2, len(state.coef)))
        for out, d in zip(change, penalty.derivatives(self.signs), strict=True):
            right = (np.append(d, 0.0) * state.coef)[used]
            out[used] = -self._solve(state.gram, used, diagonal, weight.sum(), right)
        return change


def outputs(rows: Rows, coef: Array) -> Array:
    """``Z w + b`` in one pass; coef has the intercept last."""
    out = np.empty(rows.n_rows)
    for part, Z in rows:
        out[part] = Z @ coef[:-1].astype(Z.dtype) + coef[-1]
    return out


def update_gram(rows: Rows, counted: Array, residual: Array, state: NewtonState) -> Array:
    """Bring ``ZᵀSZ`` to the weights `counted`, and return ``Zᵀ residual``, both with a column of 1.

    Only rows whose weight changes are multiplied, unless more change than stay.
    """
    change: Array = counted - state.counted
    if np.count_nonzero(change) > np.count_nonzero(counted):
        state.gram[...] = 0.0
        change = counted
    gradient: Array = np.zeros(rows.width + 1)
    waiting = {sign: _Waiting(rows.width + 1, sign, state.gram) for sign in (1.0, -1.0)}
    for part, Z in rows:
        gradient[:-1] += Z.T @ residual[part].astype(Z.dtype)
        for sign, several in waiting.items():
            moved = np.flatnonzero(sign * change[part] > 0)
            several.add(Z[moved], np.sqrt(np.abs(change[part][moved])))
    for several in waiting.values():
        several.multiply()
    gradient[-1] = residual.sum()
    state.counted = counted
    return gradient


class _Waiting:
    """Rows that are multiplied when there are enough of them: small products are slow."""

    def __init__(self, width: int, sign: float, gram: Array):
        self.rows = np.empty((TOGETHER, width))
        self.n, self.sign, self.gram = 0, sign, gram

    def add(self, Z: Array, scale: Array) -> None:
        start = 0
        while start < len(Z):
            stop = min(len(Z), start + TOGETHER - self.n)
            here = self.rows[self.n : self.n + stop - start]
            here[:, :-1], here[:, -1] = Z[start:stop], 1.0
            here *= scale[start:stop, None]
            self.n, start = self.n + stop - start, stop
            if self.n == TOGETHER:
                self.multiply()

    def multiply(self) -> None:
        if self.n:
            A = self.rows[: self.n]
            # NumPy knows that this is symmetric. BLAS of NumPy and SciPy are two, each with threads
            # that wait for work on the other's time: one of them is enough.
            product = A.T @ A
            self.gram += product if self.sign > 0 else -product
            self.n = 0


def warm_start(
    solver: SquaredHinge,
    rows: Rows,
    y: Array,
    weight: Array,
    penalty: Penalty,
    clocks: Array,
    shares: Iterable[float] = (1 / 16, 1 / 4),
) -> NewtonState:
    """A state near the solution, from growing parts of the rows, the first in the order of clocks.

    At w = 0 every row is active: a step on a sixteenth of them finds most of the active set.
    """
    state = NewtonState.zero(rows)
    rough = replace(solver, tol=1e-2)
    for share in shares:
        part = np.where(clocks <= np.quantile(clocks, share), weight, 0.0)
        # Both classes and enough rows to say something.
        if min(np.count_nonzero(part[y > 0]), np.count_nonzero(part[y < 0])) >= 50:
            rough.solve(rows, y, part, penalty, state)
        if state.interrupted:
            break
    return state
