"""The inference: rounds of coordinate ascent on the evidence lower bound.

A phase fits one branch to its part of the kernel matrix, or both branches to the kernel itself.
The objective of a phase is

    E log p(y | ω, a) − ρ P/(2σ²) Σ_branches aᵀ(I − 11ᵀ/m) a + Σ_branches bound of the mixture,

and no step of a round lowers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .branch import Branch
from .likelihood import ExpectedLikelihood, Pairs

# Weight ρ of the term that pulls the weights of a branch towards each other.
EVENNESS = 1e-4
# Rounds in which all weights of a branch are equal. Weights that vary from the start ruin the fit
# of kernels with a kink, and weights that stay equal waste frequencies.
EQUAL_ROUNDS = 2
# Steps of L-BFGS per round, and dampings of the covariances that are tried.
STEPS, DAMPINGS = 20, (1.0, 0.5, 0.25, 0.1)


class Phase:
    """Coordinate ascent for some branches on some pairs.

    Parameters
    ----------
    pairs : Pairs
        What is fitted.
    branches : sequence of Branch
        The branches; `run` changes them.
    noise : float
        Standard deviation of the values.
    """

    def __init__(self, pairs: Pairs, branches: Sequence[Branch], noise: float):
        self.branches, self.noise = branches, noise
        self.algebra = branches[0].mixture.algebra
        signs = np.repeat([branch.sign for branch in branches], [len(b) for b in branches])
        self.likelihood = ExpectedLikelihood(pairs, signs, noise, self.algebra)
        ends = np.cumsum([0, *(len(branch) for branch in branches)])
        self._parts = [slice(a, b) for a, b in pairwise(ends)]

    def run(self, max_iter: int, tol: float, equal_rounds: int = EQUAL_ROUNDS) -> NDArray:
        """Run rounds until the objective changes by less than `tol`, relative to its size.

        Parameters
        ----------
        max_iter : int
            Largest number of rounds.
        tol : float
            The relative change.
        equal_rounds : int
            Number of rounds with equal weights.

        Returns
        -------
        ndarray of shape (n_rounds,)
            The objective after each round.
        """
        path: list[float] = []
        for i in range(max_iter):
            self.fit_weights(equal=i < equal_rounds)
            if i == 0:
                self.start_spread()
            self._climb(equal=i < equal_rounds)
            self._fit_spread()
            for branch in self.branches:
                branch.mixture.update(branch.frequencies, branch.spread)
            path.append(self.objective())
            small = i > equal_rounds and path[-1] - path[-2] < tol * abs(path[-1])
            if small:
                break
        return np.array(path)

    # --- the state --------------------------------------------------------------------------------

    def _joined(self, name: str) -> NDArray[np.floating]:
        return np.concatenate([getattr(branch, name) for branch in self.branches])

    def _divide(self, name: str, joined: NDArray) -> None:
        for branch, part in zip(self.branches, self._parts, strict=True):
            setattr(branch, name, joined[part])

    @property
    def frequencies(self) -> NDArray[np.floating]:
        return self._joined("frequencies")

    @property
    def weights(self) -> NDArray[np.floating]:
        return self._joined("weights")

    @property
    def spread(self) -> NDArray[np.floating]:
        return self._joined("spread")

    def objective(self) -> float:
        """Return the evidence lower bound with the term of the weights."""
        value = self.likelihood.value(self.frequencies, self.weights)
        value -= self._unevenness(self.weights)[0]
        return value + sum(branch.bound() for branch in self.branches)

    # --- the steps --------------------------------------------------------------------------------

    def fit_weights(self, equal: bool) -> None:
        """Set the weights to their maximum: non-negative least squares."""
        gram, moments = self.likelihood.normal_equations(self.frequencies)
        for part in self._parts:
            m = part.stop - part.start
            gram[part, part] += EVENNESS * len(self.likelihood.pairs) * (np.eye(m) - 1 / m)
        if equal:
            members = np.zeros((len(gram), len(self._parts)))
            for column, part in enumerate(self._parts):
                members[part, column] = 1.0
            found = members @ quadratic_nnls(members.T @ gram @ members, members.T @ moments)
        else:
            found = quadratic_nnls(gram, moments)
        before = self.weights
        # The solver stops at its own tolerance, so a weight that is already best may stay.
        if _parabola(gram, moments, found) <= _parabola(gram, moments, before):
            self._divide("weights", found)

    def _climb(self, equal: bool) -> None:
        """Move all frequencies, and weights that are free, uphill by some steps of L-BFGS."""
        from scipy.optimize import minimize

        pulls = [branch.mixture.pull() for branch in self.branches]
        B, b = (np.concatenate(side) for side in zip(*pulls, strict=True))
        start, first = self.frequencies, self.weights
        scales = self._scales(first, self.algebra.diagonal(B))
        rough = self.likelihood.rough()  # the steps; `height` decides in double precision

        def divided(flat: NDArray) -> tuple[NDArray, NDArray]:
            return flat[: start.size].reshape(start.shape) / scales, flat[start.size :]

        def loss(flat: NDArray) -> tuple[float, NDArray]:
            points, weights = divided(flat)
            value, slope, lift = rough.value_and_slopes(points, weights)
            pulled = self.algebra.apply(B, points)
            value += float(((b - pulled / 2) * points).sum())
            penalty, push = self._unevenness(weights)
            lift = 0 * lift if equal else lift - push
            slopes = np.concatenate([((slope + b - pulled) / scales).ravel(), lift])
            return penalty - value, -slopes

        def height(points: NDArray, weights: NDArray) -> float:
            pull = ((b - self.algebra.apply(B, points) / 2) * points).sum()
            value = self.likelihood.value(points, weights) + float(pull)
            return value - self._unevenness(weights)[0]

        begin = np.concatenate([(start * scales).ravel(), first])
        bounds = [(None, None)] * start.size + [(0, None)] * first.size
        options = {"maxiter": STEPS}
        found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        least, reached = height(start, first), divided(found.x)
        if height(*reached) >= least:
            self._divide("frequencies", reached[0])
            self._divide("weights", reached[1])

    def _scales(self, weights: NDArray, precisions: NDArray) -> NDArray[np.floating]:
        """Return factors of the frequencies after which all curvatures are about the same.

        The curvature of a weight is about ``P / 2σ²``. That of a frequency is smaller in proportion
        to its squared weight and to the squares of the column. The precision that the mixture gives
        the frequency decides in columns that hardly vary.
        """
        pairs = self.likelihood.pairs
        squares = np.mean(pairs.near**2, axis=0) * np.mean(weights**2)
        return np.sqrt(squares + precisions * (2 * self.noise**2 / len(pairs)))

    def _unevenness(self, weights: NDArray) -> tuple[float, NDArray[np.floating]]:
        """Return the term of the weights in the objective, positive, and its gradient."""
        factor = EVENNESS * len(self.likelihood.pairs) / self.noise**2
        gaps = np.concatenate([weights[part] - weights[part].mean() for part in self._parts])
        return factor * float(gaps @ gaps) / 2, factor * gaps

    def _wanted_precision(self) -> NDArray[np.floating]:
        """Return the precision of each frequency: that of the mixture and that of the values."""
        pulls = np.concatenate([branch.mixture.pull()[0] for branch in self.branches])
        return pulls + self.likelihood.curvature(self.frequencies, self.weights)

    def start_spread(self) -> None:
        """Set the covariances to their fixed point."""
        spread = self.algebra.inverse(self._wanted_precision())
        self._divide("spread", spread)
        self.likelihood.set_spread(spread)

    def _fit_spread(self) -> None:
        """Move the covariances towards their fixed point, unless the objective falls."""
        before, value = self.spread, self.objective()
        old, wanted = self.algebra.inverse(before), self._wanted_precision()
        for damping in DAMPINGS:
            spread = self.algebra.inverse((1 - damping) * old + damping * wanted)
            self._divide("spread", spread)
            self.likelihood.set_spread(spread)
            if self.objective() >= value:
                return
        self._divide("spread", before)
        self.likelihood.set_spread(before)

    def settle(self) -> None:
        """Fit the weights once more, for frequencies that are known to be their expectations."""
        self.likelihood.forget_spread()
        self.fit_weights(equal=False)


def _parabola(gram: NDArray, moments: NDArray, a: NDArray) -> float:
    return float(a @ gram @ a - 2 * moments @ a)


def quadratic_nnls(gram: NDArray, moments: NDArray) -> NDArray[np.floating]:
    """Return the a ≥ 0 that minimises ``aᵀ G a − 2 bᵀ a``.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
        The matrix G, positive semi-definite.
    moments : ndarray of shape (m,)
        The vector b.
    """
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    # Frequencies that are alike make the matrix singular up to rounding.
    jitter = 1e-10 * np.trace(gram) / len(gram)
    root = np.linalg.cholesky(gram + (jitter or 1.0) * np.eye(len(gram)))
    target = solve_triangular(root, moments, lower=True)
    try:
        return nnls(root.T, target)[0]
    except RuntimeError:  # too many steps; the caller compares the result with what it has
        return np.maximum(solve_triangular(root.T, target), 0)
