"""Least squares with a fixed variance of the predictions, solved by a secular equation.

This is the variance-constrained method (VC-LSM) of the scalable Kreĭn paper, §2.4. A penalty
shrinks the predictions towards a constant; the constraint fixes their variance instead. The problem
is not convex, but the root of one equation in one unknown gives its global minimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._threads import one_blas_thread
from ..forms import Form
from .losses import SquaredError
from .penalties import Constrained
from .problems import LeastSquares

Array = NDArray[np.floating]

# A penalty of more than HUGE times the variance of the features sets its coefficients to zero.
HUGE = 1e8


@dataclass(frozen=True)
class Secular:
    """Solver of least squares with a penalty and a fixed variance of the predictions.

    It minimises ``(1/W) Σ s_i (y_i − f(x_i))² + wᵀPw`` such that
    ``(1/W) Σ s_i (f(x_i) − f̄)² = ρ²``. For each output, ρ is `spread` times the standard deviation
    of the targets. The eigendecomposition ``G = B Δ² Bᵀ`` of the Gram matrix (without its null
    space) and ``γ = Δ Bᵀ w`` transform the problem to ``min γᵀCγ − 2 bᵀγ`` such that ``‖γ‖ = ρ``,
    with ``C = Δ⁻¹BᵀPBΔ⁻¹``. The function `on_sphere` solves the transformed problem.

    Attributes
    ----------
    form : Form
        The bilinear form of the features.
    tol : float, default=1e-10
        Directions whose variance is at most `tol` times the largest variance are dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.forms import Signature
    >>> from krein.learning import Constrained, LeastSquares, Secular
    >>> from krein.streaming import Moments
    >>> rows = np.array([[1.0, 0, 1], [0, 1, 2], [1, 1, 3], [0, 0, 0]])  # two features, one target
    >>> problem = LeastSquares.of(Moments.of(rows), n_outputs=1)
    >>> coef = Secular(Signature([1, -1])).solve(problem, Constrained(0.1, 0.2, spread=0.5))
    >>> float(np.round(np.std(rows[:, :2] @ coef) / np.std(rows[:, 2]), 6))
    0.5
    """

    form: Form
    tol: float = 1e-10
    loss: ClassVar[type] = SquaredError
    penalty: ClassVar[type] = Constrained

    def solve(self, problem: LeastSquares, penalty: Constrained) -> Array:
        """Return the coefficients, shape (p, q)."""
        return next(self.path(problem, [penalty]))

    def path(self, problem: LeastSquares, penalties: list[Constrained]) -> Iterator[Array]:
        """Yield the coefficients for each penalty."""
        spheres: dict[tuple[str, int], _Sphere] = {}
        bases: dict[int, Array] = {}
        found = []
        with one_blas_thread():
            for penalty in penalties:
                # C is proportional to the penalties, so equal ratios share one decomposition.
                used = _Sphere.used_by(self, problem, penalty)
                key = f"{penalty.alpha_neg / penalty.alpha:.10e}", len(used)
                if key not in spheres:
                    spheres[key] = _Sphere.of(self, problem, penalty, bases)
                sphere = spheres[key].scaled(penalty.alpha)
                found.append(sphere.solve(problem, penalty.spread)[0])
        yield from found

    def derivatives(self, problem: LeastSquares, penalty: Constrained) -> tuple[Array, Array]:
        """Return the coefficients and their derivatives by log alpha, log alpha_neg, log spread.

        The derivatives of ``(C − θI)γ = b`` and ``γᵀγ = ρ²`` are, with D = (C − θI)⁻¹,
        ``dγ = D(γ dθ − dC γ)`` and ``dθ = (ρ dρ + γᵀD dC γ)/(γᵀDγ)``.
        """
        sphere = _Sphere.of(self, problem, penalty)
        coef, gammas, thetas = sphere.solve(problem, penalty.spread)
        used, basis, V = sphere.used, sphere.basis, sphere.vectors
        change = np.zeros((3, *coef.shape))
        dP = penalty.derivatives(self.form)[:, used]
        for output, (gamma, theta) in enumerate(zip(gammas.T, thetas, strict=True)):
            if not np.isfinite(theta):  # the target is constant, and so are the predictions
                continue
            D = 1 / (sphere.values - theta)
            weights = D @ np.square(gamma)
            steps = [V.T @ (basis.T @ (d * (basis @ (V @ gamma)))) for d in dP]
            steps.append(np.zeros_like(gamma))
            for i, step in enumerate(steps):
                right = gamma @ (D * step) + (gamma @ gamma if i == 2 else 0.0)
                change[i][used, output] = basis @ (V @ (D * (gamma * (right / weights) - step)))
        return coef, change


@dataclass(frozen=True)
class _Sphere:
    """The problem in coordinates where the constraint is a sphere and C is diagonal."""

    used: NDArray[np.intp]
    basis: Array
    values: Array
    vectors: Array
    right: Array
    alpha: float

    @staticmethod
    def used_by(method: Secular, problem: LeastSquares, penalty: Constrained) -> NDArray[np.intp]:
        """Return the indices of the features whose coefficients are not set to zero.

        A penalty far above the others would cost them all digits, so it is treated as infinite.
        """
        scale = max(penalty.alpha, float(np.trace(problem.gram)))
        return np.flatnonzero(penalty.diagonal(method.form) <= HUGE * scale)

    def scaled(self, alpha: float) -> _Sphere:
        """Return the decomposition for another `alpha` with the same ratio alpha_neg / alpha."""
        return replace(self, values=self.values * (alpha / self.alpha), alpha=alpha)

    @classmethod
    def of(
        cls,
        method: Secular,
        problem: LeastSquares,
        penalty: Constrained,
        bases: dict[int, Array] | None = None,
    ) -> _Sphere:
        """Return the decomposition; `bases` caches the basis of the Gram matrix."""
        diagonal = penalty.diagonal(method.form)
        used = cls.used_by(method, problem, penalty)
        if bases is None or (basis := bases.get(len(used))) is None:
            squares, B = np.linalg.eigh(problem.gram[np.ix_(used, used)])
            keep = squares > method.tol * squares.max(initial=0)
            basis = B[:, keep] / np.sqrt(squares[keep])
            if bases is not None:
                bases[len(used)] = basis
        C = basis.T @ (diagonal[used, None] * basis)
        values, vectors = np.linalg.eigh(C)
        right = vectors.T @ (basis.T @ problem.cross[used])
        return cls(used, basis, values, vectors, right, penalty.alpha)

    def solve(self, problem: LeastSquares, spread: float) -> tuple[Array, Array, Array]:
        """Return coefficients (p, q), coordinates on the sphere (m, q) and multipliers (q,)."""
        radii = spread * np.sqrt(problem.square)
        found = [on_sphere(self.values, b, r) for b, r in zip(self.right.T, radii, strict=True)]
        gammas = np.stack([gamma for gamma, _ in found], axis=1)
        coef = np.zeros_like(problem.cross)
        coef[self.used] = self.basis @ (self.vectors @ gammas)
        return coef, gammas, np.array([theta for _, theta in found])


def on_sphere(c: Array, b: Array, radius: float) -> tuple[Array, float]:
    """Return the global minimum of ``Σ c_i γ_i² − 2 Σ b_i γ_i`` on the sphere ``‖γ‖ = radius``.

    The minimum is ``γ_i = b_i/(c_i − θ)``. The multiplier θ ≤ min c is the root of
    ``Σ b_i²/(c_i − θ)² = radius²`` (Gander, Golub and von Matt, 1989). The
    unknown t = min c − θ ≥ 0 avoids cancellation. In the hard case, b is zero in the directions of
    min c and the sum stays below radius². Then θ = min c, and one of the directions of min c
    supplies the missing length.

    Parameters
    ----------
    c : ndarray of shape (m,)
        The quadratic coefficients.
    b : ndarray of shape (m,)
        The linear coefficients.
    radius : float
        The radius of the sphere.

    Returns
    -------
    gamma : ndarray of shape (m,)
        The minimum.
    theta : float
        The multiplier. −inf if the radius is zero or m = 0.
    """
    if not len(c) or radius == 0:
        return np.zeros_like(c), -np.inf
    lowest = int(np.argmin(c))
    d = c - c[lowest]
    bottom = d <= 1e-14 * max(float(np.abs(c).max()), 1e-300)
    # In units of ‖b‖, the radius and the upper bound of the multiplier, no square overflows.
    b, whole = _direction(b)
    with np.errstate(over="ignore"):
        unit = np.float64(whole) / radius
        d = np.divide(d, unit, out=np.where(d > 0, np.inf, 0.0), where=unit > 0)
    at_bottom = float(np.linalg.norm(b[bottom]))
    if at_bottom <= 1e-14:
        with np.errstate(over="ignore", divide="ignore"):
            gamma = np.divide(b, d, out=np.zeros_like(b), where=~bottom & (b != 0))
        if np.abs(gamma).max() <= 1 and (short := 1 - float(gamma @ gamma)) >= 0:
            gamma[lowest] = np.sqrt(short)
            return radius * gamma, float(c[lowest])
    # The components of the unit vector b are at most 1.
    t = _root(d, b, max(at_bottom, float((np.abs(b) - d).max())))
    gamma = b / (d + t)
    return gamma * (radius / np.linalg.norm(gamma)), float(c[lowest] - t * unit)


def _direction(b: Array) -> tuple[Array, float]:
    """Return b / ‖b‖ and ‖b‖, without overflow or underflow of squares."""
    largest = float(np.abs(b).max())
    if not largest:
        return b, 0.0
    norm = float(np.linalg.norm(b / largest))
    return b / largest / norm, largest * norm


def _root(d: Array, b: Array, low: float) -> float:
    """Return the root t of ``‖b/(d + t)‖ = 1`` in [low, 1], by Newton's method on 1/‖·‖."""
    t, high = max(low, 1e-300), 1.0
    for _ in range(200):
        gamma = b / (d + t)
        norm = sqrt(float(gamma @ gamma))  # no entry exceeds 1
        if norm > 1:
            low = t
        else:
            high = t
        slope = float(gamma @ (gamma / (d + t))) / norm**3
        step = (1 - 1 / norm) / slope
        new = t + step
        if not low <= new <= high:
            new = (low + high) / 2
        if abs(new - t) <= 4e-16 * abs(new):
            return new
        t = new
    return t
