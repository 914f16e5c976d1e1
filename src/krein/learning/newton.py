"""A loss of the margin with a split penalty, by Newton's method.

    min (1/W) Σ s_i ℓ(y_i f(x_i)) + wᵀ P w,    f(x) = wᵀz(x) + b

With the squared hinge this is the SH-SVM of the scalable Kreĭn paper, §2.5. The losses are
piecewise quadratic: once the piece of every row is known, the minimum is one linear system. A
Newton step solves it, an exact line search follows, and only the rows whose curvature changes are
added to or taken from the Gram matrix. A loss whose corner is too narrow for that at w = 0 has
stages with wider corners, and the solution of each stage is the start of the next one.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._threads import one_blas_thread
from ..forms import Form
from ..streaming.fold import fold
from .losses import MarginLoss
from .newton_systems import Gram, Piece, Rows, newton_system
from .penalties import Split

Array = NDArray[np.floating]

# Up to this number of features the solver uses one BLAS thread.
WIDE = 2048
# The tolerance of solutions that only serve as the start of another solution.
ROUGH = 1e-2
# A solution is no minimum if the derivative of the objective along its coefficients is above this
# share of the penalty.
STUCK = 0.1
# Newton's method is then repeated from zero with the penalty times these factors, one by one.
FALLING = 10.0 ** np.arange(10, 0, -1)


@dataclass
class NewtonState:
    """The state of the solver, which may continue from it with other penalties or weights.

    Attributes
    ----------
    coef : ndarray of shape (p + 1,)
        The coefficients, then the intercept.
    outputs : ndarray of shape (n,)
        f(x_i) for all rows, rows of weight zero included.
    gram : Gram
        The Gram matrix of the rows.
    """

    coef: Array
    outputs: Array
    gram: Gram
    n_iter: int = 0
    converged: bool = False
    interrupted: bool = False
    objective: float = np.inf

    @classmethod
    def zero(cls, rows: Rows) -> NewtonState:
        return cls(np.zeros(rows.width + 1), np.zeros(rows.n_rows), Gram(rows))

    @classmethod
    def at(cls, rows: Rows, coef: Array) -> NewtonState:
        """Return the state at given coefficients, from one pass."""
        state = cls.zero(rows)
        state.coef = np.array(coef, dtype=float)
        state.outputs = outputs(rows, state.coef)
        return state


@dataclass(frozen=True)
class Newton:
    """Solver of a loss of the margin with a split penalty, by Newton's method.

    Attributes
    ----------
    form : Form
        The form M of the features.
    of : MarginLoss
        The loss.
    fit_intercept : bool, default=True
        True if the model has an intercept, which is not penalised.
    tol : float
        The solver stops when a step lowers the objective by less than this share of it.
    max_iter : int, default=100
        The largest number of Newton steps, all stages together.

    Examples
    --------
    >>> from krein.forms import Signature
    >>> from krein.learning import Newton, Split, SquaredHinge
    >>> solver = Newton(Signature([1, -1]), SquaredHinge())
    >>> solver.diagonal(Split(0.1, 2.0))  # the intercept, which is last, has no penalty
    array([0.1, 2. , 0. ])
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
        diagonal = self.diagonal(penalty)
        if np.any(state.coef[~np.isfinite(diagonal)]):
            state.coef[~np.isfinite(diagonal)] = 0.0
            state.outputs = outputs(rows, state.coef)
        *earlier, _ = self.of.stages
        # Threads of BLAS that wait for the next product would compete with the threads of
        # `add_gram`. Only the factorisation of a wide matrix gains more from several threads than
        # it loses.
        with one_blas_thread() if rows.width <= WIDE else nullcontext():
            try:
                for loss in earlier:
                    replace(self, of=loss, tol=max(self.tol, ROUGH))._descend(
                        rows, y, weight, diagonal, state
                    )
                self._descend(rows, y, weight, diagonal, state)
                if state.converged and self._is_stuck(y, weight, diagonal, state):
                    self._descend_slowly(rows, y, weight, diagonal, state)
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

    def _is_stuck(self, y: Array, weight: Array, diagonal: Array, state: NewtonState) -> bool:
        """Return True if the loss is small and other lengths of the coefficients would be better.

        With a tiny penalty and more features than rows the first step interpolates the targets, so
        that all margins are near 1, where the curvature jumps. Steps are tiny there.
        """
        used = np.isfinite(diagonal)
        size = float(diagonal[used] @ np.square(state.coef[used]))
        slopes = weight * self.of.half_slope(y * state.outputs)
        slope = size + float(slopes @ (y * (state.outputs - state.coef[-1]))) / weight.sum()
        return state.objective < 2 * size and abs(slope) > STUCK * size

    def _descend_slowly(
        self, rows: Rows, y: Array, weight: Array, diagonal: Array, state: NewtonState
    ) -> None:
        """Minimise along penalties that fall to the wanted one, from zero coefficients."""
        n_steps = state.n_iter
        state.coef, state.outputs = np.zeros_like(state.coef), np.zeros_like(state.outputs)
        rough = replace(self, tol=max(self.tol, ROUGH))
        for solver, factor in [*((rough, factor) for factor in FALLING), (self, 1.0)]:
            state.n_iter = 0
            solver._descend(rows, y, weight, factor * diagonal, state)
            n_steps += state.n_iter
        state.n_iter = n_steps

    def objective(
        self, y: Array, weight: Array, penalty: Split, coef: Array, outputs: Array
    ) -> float:
        """Return the objective of coefficients, which must be zero where the penalty is infinite.

        Parameters
        ----------
        y : ndarray of shape (n,)
        weight : ndarray of shape (n,)
        penalty : Split
        coef : ndarray of shape (p + 1,)
        outputs : ndarray of shape (n,)
            The outputs of the coefficients.
        """
        return self._objective(y, weight, self.diagonal(penalty), coef, outputs)

    def diagonal(self, penalty: Split) -> Array:
        """Return the penalty of each coefficient, shape (p + 1,), that of the intercept last."""
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
        total = float(weight.sum())
        downhill = -weight * y * self.of.half_slope(margin)
        gradient, solve = newton_system(rows, active, downhill, diagonal, total, state.gram)
        used = np.isfinite(diagonal)
        slope = diagonal[used] * state.coef[used] - gradient[used] / total
        direction = np.zeros_like(state.coef)
        direction[used] = -solve(slope)
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

    def _line_search(
        self,
        y: Array,
        weight: Array,
        diagonal: Array,
        state: NewtonState,
        direction: Array,
        change: Array,
    ) -> float:
        """Return the exact minimum along a direction; the derivative rises piecewise linearly."""
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
        """Return ``∂(w, b) / ∂(log alpha, log alpha_neg)`` at a solution, shape (2, p + 1).

        On the active set ``(ZᵀSZ/W + P)w = ZᵀSy/W``, hence ``∂w = −(ZᵀSZ/W + P)⁻¹ ∂P w``; the
        active set changes with the penalties only at isolated points (Chapelle et al., 2002).
        """
        diagonal = self.diagonal(penalty)
        used = np.isfinite(diagonal)
        active = weight * self.of.half_curvature(y * state.outputs)
        none, total = np.zeros_like(active), float(weight.sum())
        _, solve = newton_system(rows, active, none, diagonal, total, state.gram)
        change = np.zeros((2, len(state.coef)))
        for out, d in zip(change, penalty.derivatives(self.form), strict=True):
            out[used] = -solve((np.append(d, 0.0) * state.coef)[used])
        return change


class Outputs:
    """The statistic ``Z W + b`` of all rows; the intercepts are the last row of the coefficients.

    Parameters
    ----------
    n_rows : int
    coef : ndarray of shape (p + 1,) or (p + 1, q)
    """

    def __init__(self, n_rows: int, coef: Array):
        self.values, self.coef = np.full((n_rows, *coef.shape[1:]), np.nan), coef

    def update(self, piece: Piece) -> Outputs:
        rows, Z = piece
        self.values[rows] = Z @ self.coef[:-1].astype(Z.dtype) + self.coef[-1]
        return self

    def merge(self, other: Outputs) -> Outputs:
        np.copyto(self.values, other.values, where=np.isnan(self.values))
        return self


def outputs(rows: Rows, coef: Array) -> Array:
    """Return ``Z W + b``, shape (n,) or (n, q), from one pass; see `Outputs`."""
    return fold(rows, Outputs(rows.n_rows, coef)).values


def warm_start(
    solver: Newton,
    rows: Rows,
    y: Array,
    weight: Array,
    penalty: Split,
    clocks: Array,
) -> NewtonState:
    """Return a state near the solution, from growing parts of the rows, smallest clocks first.

    At w = 0 every row is active: a step on a sixteenth of the rows finds most of the active set.
    """
    state = NewtonState.zero(rows)
    rough = replace(solver, tol=ROUGH)
    for share in (1 / 16, 1 / 4):
        part = np.where(clocks <= np.quantile(clocks, share), weight, 0.0)
        # The part needs enough rows of both classes.
        if min(np.count_nonzero(part[y > 0]), np.count_nonzero(part[y < 0])) >= 50:
            rough.solve(rows, y, part, penalty, state)
        if state.interrupted:
            break
    return state
