"""Choosing penalties: a whole grid over all folds from one pass, or along the gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..streaming.moments import Moments
from .penalties import Split
from .problems import LeastSquares

Array = NDArray[np.floating]
# A loss below this share of the targets' own square counts as none.
ROUNDING = 1e-10


class Solver(Protocol):
    """What turns a least-squares problem and settings into coefficients."""

    def solve(self, problem: LeastSquares, penalty: Any) -> Array: ...

    def path(self, problem: LeastSquares, penalties: list[Any]) -> Iterator[Array]: ...


@dataclass(frozen=True)
class FoldProblems:
    """For each fold the problem of the other rows, which is solved, and its own, which judges.

    Attributes
    ----------
    whole : LeastSquares
        All rows.
    pairs : list of (LeastSquares, LeastSquares)
        Training and test problem of every fold that has rows in both.
    folds : list of int
        The fold of each pair.
    """

    whole: LeastSquares
    pairs: list[tuple[LeastSquares, LeastSquares]]
    folds: list[int]

    @classmethod
    def of(cls, parts: Sequence[Moments], n_outputs: int, fit_intercept: bool) -> FoldProblems:
        """From the moments of [Z Y] of each fold, which is tested on what all others teach.

        The last part is never tested.
        """

        def problem(moments: Moments) -> LeastSquares:
            return LeastSquares.of(moments, n_outputs, fit_intercept)

        pairs, folds = [], []
        for number, (part, rest) in enumerate(zip(parts[:-1], Moments.rests(parts), strict=False)):
            if part.weight and rest.weight:
                # A test row keeps its own mean, with an intercept or without.
                pairs.append((problem(rest), LeastSquares.of(part, n_outputs)))
                folds.append(number)
        return cls(problem(Moments.total(parts)), pairs, folds)

    def coefficients(self, solver: Solver, candidates: list[Any]) -> Iterator[tuple[Array, Array]]:
        """For each fold the coefficients (c, p, q) and intercepts (c, q) of all candidates."""
        for train, _ in self.pairs:
            coefs = list(solver.path(train, candidates))
            yield np.stack(coefs), np.stack([train.intercept(coef) for coef in coefs])

    def losses(self, fitted: Iterable[tuple[Array, Array]]) -> Array:
        """The squared error of each candidate of `coefficients`, every row when it was left out."""
        found: Any = 0.0
        everything = sum(test.weight for _, test in self.pairs)
        for (_, test), (coefs, intercepts) in zip(self.pairs, fitted, strict=True):
            pairs = zip(coefs, intercepts, strict=True)
            of_fold = np.array([test.loss(coef, intercept) for coef, intercept in pairs])
            found = found + test.weight / everything * of_fold
        return np.asarray(found)

    def loss_and_gradient(self, solver: Any, penalty: Split) -> tuple[float, Array]:
        """The same for one candidate, with its derivatives by the logarithms of the settings."""
        loss, gradient = 0.0, 0.0
        everything = sum(test.weight for _, test in self.pairs)
        for train, test in self.pairs:
            coef, change = solver.derivatives(train, penalty)
            intercept = train.intercept(coef)
            by_coef, by_intercept = test.loss_gradient(coef, intercept)
            # The intercept follows the coefficients: ∂b = −z̄ᵀ ∂w.
            by_coef = by_coef - np.outer(train.z_mean, by_intercept)
            share = test.weight / everything
            loss += share * test.loss(coef, intercept)
            gradient = gradient + share * np.einsum("kpq,pq->k", change, by_coef)
        return loss, np.asarray(gradient)


def best(losses: Array, *ties: Array) -> int:
    """The index of the smallest loss; equal losses are compared by `ties`, then by index."""
    keys = [np.round(values, 12) for values in (losses, *ties)]
    return int(np.lexsort((np.arange(len(losses)), *reversed(keys)))[0])


def along_gradient(
    objective: Callable[[Any], tuple[float, Array]],
    start: Any,
    free: Sequence[str],
    bounds: dict[str, tuple[float, float]],
    *,
    tied: bool = False,
    unit: float = 1.0,
    max_iter: int = 50,
) -> tuple[Any, float, int]:
    """Minimise a loss of penalties along its gradient, by the logarithms of some settings.

    Parameters
    ----------
    objective : callable
        ``objective(penalty)`` returns a loss and its derivatives by the logarithms of all settings
        of the penalty, in the order of its fields.
    start : Split or Constrained
        Where the search begins.
    free : sequence of str
        The settings that change.
    bounds : dict
        The smallest and the largest value of each free setting.
    tied : bool, default=False
        True if alpha_neg follows alpha.
    unit : float, default=1.0
        What the loss is measured in, so that the search does not depend on the targets' unit.
    max_iter : int, default=50

    Returns
    -------
    penalty : Split or Constrained
    loss : float
    n_evaluations : int
    """
    from scipy.optimize import minimize

    names = [field.name for field in fields(start)]

    def settings(logs: Array) -> Any:
        changed = dict(zip(free, np.exp(logs).tolist(), strict=True))
        return replace(start, **changed, **({"alpha_neg": changed["alpha"]} if tied else {}))

    def function(logs: Array) -> tuple[float, Array]:
        loss, gradient = objective(settings(logs))
        slope = dict(zip(names, gradient, strict=False))
        slope["alpha"] += slope["alpha_neg"] if tied else 0.0
        # The logarithm is a scale that the tolerances of the search understand. What is left of
        # the loss below ROUNDING is rounding, and no guide to penalties.
        share = loss / unit + ROUNDING
        return float(np.log(share)), np.array([slope[name] for name in free]) / unit / share

    limits = np.log([bounds[name] for name in free])
    first = np.clip(np.log([getattr(start, name) for name in free]), *limits.T)
    found = minimize(
        function,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=limits,
        options={"maxiter": max_iter},
    )
    lost = max(0.0, float(np.exp(found.fun)) - ROUNDING) * unit
    return settings(found.x), lost, int(found.nfev)
