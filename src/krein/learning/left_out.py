"""Outputs for rows by the least-squares model of all other rows, for many penalties at once.

With ``gram = V diag(s) Vᵀ``, total weight W, and a row z of weight c and target y, let
``t = Vᵀ(z − z̄)``. The model of all rows with the penalty α has the output
``f = ȳ + tᵀ (s + α)⁻¹ Vᵀ cross``, and the row has the leverage ``h = (c/W) (1 + tᵀ (s + α)⁻¹ t)``.
The model of all other rows has the output ``y − (y − f)/(1 − h)``.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._threads import blas_threads_for
from ..forms import Form
from .penalties import Split
from .problems import LeastSquares

Array = NDArray[np.floating]

# 1 − h is at least this; a smaller value is a rounding error.
LEAST = 1e-12
# A penalty below this share of the largest eigenvalue counts as this share: with a smaller one
# 1 − h would be a rounding error, whereas the outputs have a limit.
SMALLEST = 1e-12
# The matrix of second moments is treated as diagonal if the Frobenius norm of its off-diagonal part
# is at most DIAGONAL times the smallest penalty, and at most DIAGONAL times TINY times its trace,
# whatever the penalties.
DIAGONAL, TINY = 0.2, 1e-8
# Ratios of the two penalties that agree to this many digits share one decomposition.
DIGITS = 9
# The largest finite ratio of the two penalties, and the inverse of the smallest one.
MOST = 1e16


class Decomposition(NamedTuple):
    """The eigenvectors of one matrix, and the penalties that they serve.

    Features of the negative part are divided by √ratio, so that one penalty serves both parts. If
    ``gram + z̄z̄ᵀ`` is diagonal, its eigenvectors are the unit vectors and no decomposition is
    computed. The features of an exact kernel matrix are such a case. Otherwise the eigenvectors are
    those of gram.

    Attributes
    ----------
    places : list of int
        The places of the penalties among all penalties.
    alphas : ndarray of shape (k,)
        Their penalties of the positive part.
    scales : ndarray of shape (p,)
        The factor of each feature.
    vectors : ndarray of shape (p, p) or None
        The eigenvectors of the scaled features; None if they are the unit vectors.
    values : ndarray of shape (p,)
        The eigenvalues s.
    mean : ndarray of shape (p,)
        The mean z̄ in the coordinates of the eigenvectors if the eigenvectors belong to
        ``gram + z̄z̄ᵀ``, else 0.
    """

    places: list[int]
    alphas: Array
    scales: Array
    vectors: Array | None
    values: Array
    mean: Array

    @classmethod
    def of(
        cls, problem: LeastSquares, scales: Array, places: list[int], alphas: Array
    ) -> Decomposition:
        """Decompose the matrix of a problem with scaled features."""
        gram, mean = problem.gram, problem.z_mean * scales
        if (scales != 1).any():
            gram = gram * scales * scales[:, None]
        values = np.diagonal(gram) + np.square(mean)
        others = gram + np.outer(mean, mean)
        np.fill_diagonal(others, 0.0)
        if np.linalg.norm(others) <= DIAGONAL * min(alphas.min(), TINY * values.sum()):
            return cls(places, alphas, scales, None, values, mean)
        del others
        with blas_threads_for(gram):
            values, vectors = np.linalg.eigh(gram)
        zero = np.zeros_like(mean)
        return cls(places, alphas, scales, vectors, np.maximum(values, 0.0), zero)

    def turned(self, A: Array) -> Array:
        """Return rows of features in the coordinates of the eigenvectors."""
        scaled = A * self.scales
        return scaled if self.vectors is None else scaled @ self.vectors

    def solved(self, T: Array, cross: Array) -> tuple[Array, Array]:
        """Return ``tᵀ(gram + α)⁻¹t`` of rows t, shape (n, k), and coefficients, shape (k, p, q).

        ``gram = diag(s) − mmᵀ`` with the mean m, so ``(gram + α)⁻¹ = A + A m mᵀ A / (1 − mᵀ A m)``
        with ``A = diag(1/(s + α))``.
        """
        floor = SMALLEST * self.values.max(initial=0.0)
        inverse = 1 / (self.values[:, None] + np.maximum(self.alphas, floor))  # (p, k)
        pulled = inverse * self.mean[:, None]
        rest = 1 - self.mean @ pulled
        squares = np.square(T) @ inverse + np.square(T @ pulled) / rest
        coefs = inverse.T[:, :, None] * cross
        coefs += pulled.T[:, :, None] * ((pulled.T @ cross) / rest[:, None])[:, None]
        return squares, coefs


class LeftOut:
    """The outputs for rows by the models of all other rows.

    Parameters
    ----------
    problem : LeastSquares
        The problem of all rows, with centred features if there is an intercept.
    form : Form
        The form of the features.
    penalties : list of Split
        The penalties. Penalties with the same ratio of alpha_neg to alpha share one
        eigendecomposition.
    fit_intercept : bool, default=True
        True if the model has an intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.forms import Signature
    >>> from krein.learning import LeastSquares, LeftOut, Split
    >>> from krein.streaming import Moments
    >>> Z, Y = np.array([[0.0], [1], [2], [4]]), np.array([[0.0], [1], [1], [3]])
    >>> problem = LeastSquares.of(Moments.of(np.hstack([Z, Y])), n_outputs=1)
    >>> model = LeftOut(problem, Signature([1.0]), [Split(1e-9, 1e-9)])
    >>> model.outputs(Z[3:], Y[3:]).round(3)  # the line through the first three rows
    array([[[2.167]]])
    """

    def __init__(
        self,
        problem: LeastSquares,
        form: Form,
        penalties: list[Split],
        fit_intercept: bool = True,
    ):
        self.problem, self.n_penalties = problem, len(penalties)
        self.fit_intercept = fit_intercept
        ratios: dict[float, list[int]] = {}
        for place, penalty in enumerate(penalties):
            ratio = _ratio(penalty) if np.any(form.signs < 0) else 1.0
            ratios.setdefault(ratio, []).append(place)
        self._parts = [
            Decomposition.of(
                problem,
                np.where(form.signs < 0, ratio**-0.5, 1.0),
                places,
                np.array([penalties[place].alpha for place in places]),
            )
            for ratio, places in ratios.items()
        ]

    def at(self, place: int) -> LeftOut:
        """Return the models of one of the penalties, without another eigendecomposition."""
        one = copy.copy(self)
        part = next(part for part in self._parts if place in part.places)
        alphas = part.alphas[[part.places.index(place)]]
        one.n_penalties, one._parts = 1, [part._replace(places=[0], alphas=alphas)]
        return one

    def outputs(self, Z: Array, Y: Array, weight: Array | None = None) -> Array:
        """Return the outputs for rows, each by the model of all other rows.

        Parameters
        ----------
        Z : ndarray of shape (n, p)
            The features of rows of the problem.
        Y : ndarray of shape (n, q)
            Their targets. For several equal rows, the mean of their targets.
        weight : ndarray of shape (n,), default=None
            Their weights; None means 1. For equal rows, the sum of their weights.

        Returns
        -------
        ndarray of shape (c, n, q)
            The outputs for each penalty. Equal rows are left out together.
        """
        problem = self.problem
        share = (1.0 if weight is None else weight[:, None]) / problem.weight
        centred = np.subtract(Z, problem.z_mean, dtype=float)
        found = np.empty((self.n_penalties, *Y.shape))
        for part in self._parts:
            T = part.turned(centred)
            squares, coefs = part.solved(T, part.turned(problem.cross.T).T)
            left = np.maximum(1 - share * (self.fit_intercept + squares), LEAST)
            for place, coef, rest in zip(part.places, coefs, left.T, strict=True):
                missed = Y - problem.y_mean - T @ coef
                found[place] = Y - missed / rest[:, None]
        return found


def _ratio(penalty: Split) -> float:
    """Return alpha_neg over alpha, rounded; a finite ratio is limited."""
    if np.isinf(penalty.alpha_neg):
        return np.inf
    exponent = np.log10(penalty.alpha_neg) - np.log10(penalty.alpha)
    limit = float(np.log10(MOST))
    return float(f"{10 ** float(np.clip(exponent, -limit, limit)):.{DIGITS}g}")
