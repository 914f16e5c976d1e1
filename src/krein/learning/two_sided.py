"""Least squares with both sides of a kernel: the Kreĭn learner of [[0, K], [Kᵀ, 0]].

A kernel that is not symmetric has two sets of features, φ_s of a row as the first argument (source)
and φ_t of a row as the second (target), with ``k(x, y) ≈ φ_s(x)ᵀ φ_t(y)``. The doubled kernel
[[0, K], [Kᵀ, 0]] is symmetric and has the eigenvalues ±σ_i. Its Kreĭn least squares are the split
least squares of `krein.learning.cholesky` on rows that are seen twice, as a source and as a target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..forms import Form
from .problems import LeastSquares

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Views:
    """The features of both sides as linear functions of the features F of the rows.

    ``φ_s = F A`` and ``φ_t = F B``. If the map has a form M, then F = Z, A = D and B = Mᵀ D with
    D = diag(scale). Otherwise F = [Z, Z_dual], and A and B take one half of F each, times D.

    Attributes
    ----------
    form : Form or None
        M; None if F holds both sides.
    scale : ndarray of shape (p,)
        The factors of the columns of φ_s and φ_t.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.learning import Views
    >>> Views(None, np.ones(1)).split(np.array([[3.0, 5.0]]))  # F = [Z, Z_dual]
    (array([[3.]]), array([[5.]]))
    """

    form: Form | None
    scale: Array

    def split(self, rows: Array) -> tuple[Array, Array]:
        """Return ``rows A`` and ``rows B`` for rows of shape (n, r)."""
        p = len(self.scale)
        halves = (rows[:, :p], rows[:, p:]) if self.form is None else (rows, self.form.dual(rows))
        return halves[0] * self.scale, halves[1] * self.scale

    def joined(self, w: Array, v: Array) -> tuple[Array, Array]:
        """Return ``A w`` and ``B v``, shape (r, q), for coefficients of shape (p, q)."""
        w, v = w * self.scale[:, None], v * self.scale[:, None]
        if self.form is not None:
            return w, self.form.T.dual(v.T).T
        nothing = np.zeros_like(w)
        return np.concatenate([w, nothing]), np.concatenate([nothing, v])


@dataclass(frozen=True)
class Coupled:
    """Two functions of a row, ``f_s = φ_sᵀ w + b`` and ``f_t = φ_tᵀ v + b``, and their mean.

    ``min (1/W) Σ s_i [(y_i − f_s(x_i))² + (y_i − f_t(x_i))²] + (α/2) ‖w + v‖² + (α₋/2) ‖w − v‖²``.
    With ``w = a + c`` and ``v = a − c`` this is twice the least squares with the penalty
    ``α ‖a‖² + α₋ ‖c‖²`` on the 2W rows ``[φ_s, φ_s]`` and ``[φ_t, −φ_t]``, which `inner` solves.
    `solve` and `path` take problems in the features F, and return coefficients of F.

    Attributes
    ----------
    inner : solver
        The solver of the doubled problem; its form has p positive and p negative signs.
    views : Views
        The features of both sides.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.forms import Signature
    >>> from krein.learning import Cholesky, Coupled, LeastSquares, Split, Views
    >>> from krein.streaming import Moments
    >>> rows = np.array([[1.0, 0, 1], [0, 1, 2], [1, 1, 3], [0, 0, 0]])  # Z, Z_dual and the target
    >>> problem = LeastSquares.of(Moments.of(rows), 1, center_features=False)
    >>> solver = Coupled(Cholesky(Signature([1, -1])), Views(None, np.ones(1)))
    >>> w, v = solver.sides(problem, Split(0.5, 0.5))
    >>> w[:, 0].round(6), v[:, 0].round(6)
    (array([0.25, 0.  ]), array([0. , 0.5]))
    """

    inner: Any
    views: Views

    @property
    def form(self) -> Form:
        """The form of the doubled problem."""
        return self.inner.form

    def posed(self, problem: LeastSquares) -> LeastSquares:
        """Return the doubled problem of a problem in the features F."""
        (ss, _, _, tt), (s, t) = self._products(problem)
        alike, apart = (ss + tt) / 2, (ss - tt) / 2
        gram = np.block([[alike, apart], [apart, alike]])
        return self._with(problem, gram, np.concatenate([s + t, s - t]) / 2)

    def sides(self, problem: LeastSquares, penalty: Any) -> tuple[Array, Array]:
        """Return the coefficients of f_s and of f_t, each of shape (r, q)."""
        return self._sides(self.inner.solve(self.posed(problem), penalty))

    def solve(self, problem: LeastSquares, penalty: Any) -> Array:
        """Return the coefficients of ``(f_s + f_t)/2``, shape (r, q)."""
        return self._mean(self.inner.solve(self.posed(problem), penalty))

    def path(self, problem: LeastSquares, penalties: list[Any]) -> Iterator[Array]:
        """Yield the coefficients for each of several penalties."""
        yield from map(self._mean, self.inner.path(self.posed(problem), penalties))

    def derivatives(self, problem: LeastSquares, penalty: Any) -> tuple[Array, Array]:
        """Return the coefficients and their derivatives by the logarithms of the penalties."""
        coef, change = self.inner.derivatives(self.posed(problem), penalty)
        return self._mean(coef), np.stack([self._mean(part) for part in change])

    def _products(self, problem: LeastSquares) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Return the products of φ_s and φ_t with each other, and with the targets."""
        left, right = self.views.split(problem.gram)
        pairs = *self.views.split(left.T), *self.views.split(right.T)
        return pairs, tuple(side.T for side in self.views.split(problem.cross.T))

    def _with(self, problem: LeastSquares, gram: Array, cross: Array) -> LeastSquares:
        mean = np.zeros(len(gram))
        return LeastSquares(gram, cross, problem.square, mean, problem.y_mean, problem.weight)

    def _sides(self, coef: Array) -> tuple[Array, Array]:
        a, c = np.split(coef, 2)
        return self.views.joined(a + c, a - c)

    def _mean(self, coef: Array) -> Array:
        left, right = self._sides(coef)
        return (left + right) / 2


class Joint(Coupled):
    """One function of both sides, ``f = φ_sᵀ w + φ_tᵀ v + b``: ridge on the features [φ_s, φ_t].

    ``min (1/W) Σ s_i (y_i − f(x_i))² + α (‖w‖² + ‖v‖²)``. Its two sides are twice its two terms, so
    that f is their mean too.

    Attributes
    ----------
    inner : solver
        The solver of ridge on [φ_s, φ_t]; its form has 2p positive signs.
    views : Views
        The features of both sides.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.forms import Signature
    >>> from krein.learning import Cholesky, Joint, LeastSquares, Split, Views
    >>> from krein.streaming import Moments
    >>> rows = np.array([[1.0, 0, 1], [0, 1, 2], [1, 1, 3], [0, 0, 0]])  # Z, Z_dual and the target
    >>> problem = LeastSquares.of(Moments.of(rows), 1, center_features=False)
    >>> solver = Joint(Cholesky(Signature([1, 1])), Views(None, np.ones(1)))
    >>> solver.solve(problem, Split(0.25, 0.25)).shape
    (2, 1)
    """

    def posed(self, problem: LeastSquares) -> LeastSquares:
        """Return the problem of [φ_s, φ_t] of a problem in the features F."""
        (ss, st, ts, tt), sides = self._products(problem)
        return self._with(problem, np.block([[ss, st], [ts, tt]]), np.concatenate(sides))

    def _sides(self, coef: Array) -> tuple[Array, Array]:
        w, v = np.split(2 * coef, 2)
        return self.views.joined(w, v)
