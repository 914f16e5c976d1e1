"""Where Newton's method for the squared hinge begins: least squares of all classes at once.

A row counts if its margin is below 1. If all rows count, the minimum is that of least squares with
the targets ±1, and one factorisation serves all classes. That is the case for large penalties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..streaming.fold import fold
from .losses import SquaredHinge
from .newton import Newton, NewtonState, outputs
from .newton_systems import Gram, Piece, Rows, primal
from .penalties import Split

Array = NDArray[np.floating]

# Starts are computed if their outputs for all rows, classes and penalties fit into this memory.
MOST_BYTES = 2**26


class Products:
    """The statistic of the products of the features, and a column of ones, with some columns.

    Parameters
    ----------
    right : ndarray of shape (n, q)
    width : int
        The number of features p.
    """

    def __init__(self, right: Array, width: int):
        self.right, self.total = right, np.zeros((width, right.shape[1]))

    def update(self, piece: Piece) -> Products:
        rows, Z = piece
        self.total += Z.T @ self.right[rows].astype(Z.dtype)
        return self

    def merge(self, other: Products) -> Products:
        self.total += other.total
        return self

    def with_ones(self) -> Array:
        """Return the products, shape (p + 1, q); the last row belongs to the column of ones."""
        return np.vstack([self.total, self.right.sum(axis=0)])


@dataclass(frozen=True)
class Starts:
    """Solutions of least squares for several penalties.

    Attributes
    ----------
    solver : Newton
    weight : ndarray of shape (n,)
    penalties : sequence of Split
    gram : Gram
        The Gram matrix of all rows.
    coefs : ndarray of shape (c, p + 1, q)
    outputs : ndarray of shape (n, c, q)
    """

    solver: Newton
    weight: Array
    penalties: Sequence[Split]
    gram: Gram
    coefs: Array
    outputs: Array

    @classmethod
    def of(
        cls, solver: Newton, rows: Rows, Y: Array, weight: Array, penalties: Sequence[Split]
    ) -> Starts | None:
        """Solve the least squares; None if the loss is another one or memory is short.

        Parameters
        ----------
        solver : Newton
        rows : Rows
        Y : ndarray of shape (n, q)
            −1 or +1.
        weight : ndarray of shape (n,)
        penalties : sequence of Split
        """
        (n, q), c = Y.shape, len(penalties)
        if not isinstance(solver.of, SquaredHinge) or 8 * n * c * q > MOST_BYTES:
            return None
        gram, total = Gram(rows), float(weight.sum())
        gram.bring_to(rows, weight, np.zeros(n))
        assert gram.values is not None
        right = fold(rows, Products(weight[:, None] * Y, rows.width)).with_ones() / total
        coefs = np.zeros((c, rows.width + 1, q))
        for coef, penalty in zip(coefs, penalties, strict=True):
            diagonal = solver.diagonal(penalty)
            used = np.flatnonzero(np.isfinite(diagonal))
            coef[used] = primal(gram.values, used, diagonal, total)(right[used])
        flat = coefs.transpose(1, 0, 2).reshape(rows.width + 1, c * q)
        return cls(solver, weight, penalties, gram, coefs, outputs(rows, flat).reshape(n, c, q))

    def first(self, rows: Rows) -> NewtonState:
        """Return the state at zero, with the Gram matrix of all rows."""
        state = NewtonState.zero(rows)
        state.gram = self.gram.shared()
        return state

    def offer(self, i: int, k: int, y: Array, state: NewtonState) -> bool:
        """Move a state to the solution of penalty i and class k if the objective is lower there.

        A solution that interpolates the targets is not used: all its margins are near 1, where the
        curvature jumps, and Newton's method makes tiny steps. Return True if the solution is the
        minimum: all rows count.
        """
        coef, f = self.coefs[i, :, k], self.outputs[:, i, k]
        here = self.solver.objective(y, self.weight, self.penalties[i], state.coef, state.outputs)
        there = self.solver.objective(y, self.weight, self.penalties[i], coef, f)
        all_count = bool(np.all((y * f < 1) | (self.weight == 0)))
        diagonal = self.solver.diagonal(self.penalties[i])
        used = np.isfinite(diagonal)
        interpolates = there < 2 * float(diagonal[used] @ np.square(coef[used]))
        if all_count or (there < here and not interpolates):
            state.coef, state.outputs, state.objective = coef.copy(), f.copy(), there
        state.n_iter, state.converged = 0, all_count
        return all_count
