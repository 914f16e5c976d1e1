"""Choice of penalties by cross-validation, over a grid or along the gradient.

One pass over the data gives the moments of each fold, which are enough for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._threads import LARGE
from ..streaming.moments import Moments
from .penalties import Split
from .problems import LeastSquares

Array = NDArray[np.floating]
# A loss below this share of the squared targets is rounding error.
ROUNDING = 1e-10


class Solver(Protocol):
    """Protocol of a solver: it returns the coefficients of a least-squares problem."""

    def solve(self, problem: LeastSquares, penalty: Any) -> Array: ...

    def path(self, problem: LeastSquares, penalties: list[Any]) -> Iterator[Array]: ...


@dataclass(frozen=True)
class FoldProblems:
    """The training problem and the test problem of each fold.

    Attributes
    ----------
    whole : LeastSquares
        The problem of all rows.
    pairs : sequence of (LeastSquares, LeastSquares)
        The training problem and the test problem of each fold. Folds without training rows or
        without test rows are left out. Wide problems are made when they are asked for.
    folds : list of int
        The number of the fold of each pair.
    """

    whole: LeastSquares
    pairs: Sequence[tuple[LeastSquares, LeastSquares]]
    folds: list[int]

    @classmethod
    def of(
        cls,
        parts: Sequence[Moments],
        n_outputs: int,
        fit_intercept: bool,
        center_features: bool = True,
    ) -> FoldProblems:
        """Return the problems of each fold, given the moments of [Z Y].

        Parameters
        ----------
        parts : sequence of Moments
            The moments of each fold. The last part contains rows that are never tested.
        n_outputs : int
            The number of columns of Y.
        fit_intercept : bool
            True if the model has an intercept.
        center_features : bool, default=True
            False if only the targets are centred.
        """

        def problem(moments: Moments) -> LeastSquares:
            return LeastSquares.of(moments, n_outputs, fit_intercept, center_features)

        total = Moments.total(parts)
        folds = [
            number
            for number, part in enumerate(parts[:-1])
            if part.weight and any(o.weight for o in parts if o is not part)
        ]
        pairs = _Pairs([parts[number] for number in folds], parts, problem, n_outputs)
        if total.width > LARGE:
            return cls(problem(total), pairs, folds)
        rests = list(Moments.rests(parts))
        kept = [(problem(rests[number]), pairs.test(parts[number])) for number in folds]
        return cls(problem(total), kept, folds)

    @property
    def weight(self) -> float:
        """The weight of all rows that are tested."""
        if isinstance(self.pairs, _Pairs):
            return sum(part.weight for part in self.pairs.tested)
        return sum(test.weight for _, test in self.pairs)

    def tests(self) -> Iterator[LeastSquares]:
        """Yield the test problem of each fold."""
        if isinstance(self.pairs, _Pairs):
            yield from map(self.pairs.test, self.pairs.tested)
        else:
            yield from (test for _, test in self.pairs)

    def coefficients(self, solver: Solver, candidates: list[Any]) -> Iterator[tuple[Array, Array]]:
        """Yield, for each fold, coefficients (c, p, q) and intercepts (c, q) of c candidates."""
        for train, _ in self.pairs:
            coefs = list(solver.path(train, candidates))
            yield np.stack(coefs), np.stack([train.intercept(coef) for coef in coefs])

    def losses(self, fitted: Iterable[tuple[Array, Array]]) -> Array:
        """Return the cross-validated squared error of each candidate.

        Parameters
        ----------
        fitted : iterable of (ndarray, ndarray)
            The coefficients and intercepts of each fold, as `coefficients` yields them.
        """
        found: Any = 0.0
        everything = 0.0
        for test, (coefs, intercepts) in zip(self.tests(), fitted, strict=True):
            pairs = zip(coefs, intercepts, strict=True)
            of_fold = np.array([test.loss(coef, intercept) for coef, intercept in pairs])
            found, everything = found + test.weight * of_fold, everything + test.weight
        return np.asarray(found / everything)

    def loss_and_gradient(self, solver: Any, penalty: Split) -> tuple[float, Array]:
        """Return the cross-validated squared error of one penalty, and its gradient.

        The gradient is taken by the logarithms of the settings of the penalty.
        """
        loss, gradient = 0.0, 0.0
        everything = self.weight
        for train, test in self.pairs:
            coef, change = solver.derivatives(train, penalty)
            intercept = train.intercept(coef)
            by_coef, by_intercept = test.loss_gradient(coef, intercept)
            # The intercept depends on the coefficients: ∂b = −z̄ᵀ ∂w.
            by_coef = by_coef - np.outer(train.z_mean, by_intercept)
            share = test.weight / everything
            loss += share * test.loss(coef, intercept)
            gradient = gradient + share * np.einsum("kpq,pq->k", change, by_coef)
        return loss, np.asarray(gradient)


@dataclass(frozen=True)
class _Pairs(Sequence):
    """The problems of each fold, made anew whenever they are asked for.

    Attributes
    ----------
    tested : list of Moments
        The moments of the folds.
    parts : sequence of Moments
        The moments of all rows, in parts.
    problem : callable
        Makes a training problem of moments.
    n_outputs : int
    """

    tested: list[Moments]
    parts: Sequence[Moments]
    problem: Callable[[Moments], LeastSquares]
    n_outputs: int

    def __len__(self) -> int:
        return len(self.tested)

    def __getitem__(self, place: Any) -> Any:
        part = self.tested[place]
        # The other parts are merged: subtracting a part from the total would lose digits.
        rest = Moments.total(other for other in self.parts if other is not part)
        return self.problem(rest), self.test(part)

    def test(self, part: Moments) -> LeastSquares:
        """Return the test problem of a fold; its loss needs the means of the fold's rows."""
        return LeastSquares.of(part, self.n_outputs)


def best(losses: Array, *ties: Array) -> int:
    """Return the index of the smallest loss; equal losses are compared by `ties`, then by index."""
    keys = [np.round(values, 12) for values in (losses, *ties)]
    return int(np.lexsort((np.arange(len(losses)), *reversed(keys)))[0])


class Walk:
    """A search for the best of many penalties that factorises few times.

    Wide problems cost a factorisation for every penalty and fold. The loss falls and rises once
    along a path of penalties, so few of them need to be tried.

    Parameters
    ----------
    problems : FoldProblems
    solver : Solver
    """

    def __init__(self, problems: FoldProblems, solver: Solver):
        self.problems, self.solver = problems, solver
        self.tried: list[Any] = []
        self.losses: list[float] = []
        self._fitted: list[list[tuple[Array, Array]]] = []

    def attempt(self, penalties: list[Any]) -> None:
        """Fit penalties that were not tried before, on all folds."""
        new = [penalty for penalty in dict.fromkeys(penalties) if penalty not in self.tried]
        if new:
            fitted = list(self.problems.coefficients(self.solver, new))
            self.losses.extend(self.problems.losses(fitted).tolist())
            self.tried.extend(new)
            self._fitted.append(fitted)

    def along(self, path: list[Any], stride: int = 2, start: int | None = None) -> int:
        """Return the index of the best penalty of a path, from its middle or `start` downhill.

        First three penalties are tried, `stride` apart, then further ones as long as the loss
        falls, and at last the neighbours of the best one.
        """
        at = len(path) // 2 if start is None else start
        around = [i for i in (at - stride, at, at + stride) if 0 <= i < len(path)]
        self.attempt([path[i] for i in around])
        while stride:
            at = min(around, key=lambda i: self._loss(path[i]))
            further = [i for i in (at - stride, at + stride) if 0 <= i < len(path)]
            if set(further) <= set(around):
                stride //= 2
                continue
            self.attempt([path[i] for i in further])
            around = sorted({*around, *further})
        return at

    def best(self) -> Any:
        """Return the penalty with the smallest loss so far."""
        return self.tried[int(np.argmin(self.losses))]

    def _loss(self, penalty: Any) -> float:
        return self.losses[self.tried.index(penalty)]

    def fitted(self) -> list[tuple[Array, Array]]:
        """Return coefficients and intercepts of all penalties that were tried, for each fold."""
        by_fold = zip(*self._fitted, strict=True)
        return [
            (np.concatenate([c for c, _ in parts]), np.concatenate([b for _, b in parts]))
            for parts in by_fold
        ]


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
    """Minimise a loss over the logarithms of some settings of a penalty, along its gradient.

    Parameters
    ----------
    objective : callable
        ``objective(penalty)`` returns the loss and its derivatives by the logarithms of all
        settings of the penalty, in the order of its fields.
    start : Split or Constrained
        The penalty at which the search begins.
    free : sequence of str
        The names of the settings that are varied.
    bounds : dict
        The smallest and the largest value of each free setting.
    tied : bool, default=False
        True if alpha_neg is always equal to alpha.
    unit : float, default=1.0
        The scale of the loss. The search then does not depend on the units of the targets.
    max_iter : int, default=50
        The largest number of iterations.

    Returns
    -------
    penalty : Split or Constrained
        The penalty with the smallest loss found.
    loss : float
        The loss of that penalty.
    n_evaluations : int
        The number of evaluations of the objective.
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
        # The tolerances of the search suit the logarithm of the loss. Adding ROUNDING hides
        # differences that are only rounding errors.
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
