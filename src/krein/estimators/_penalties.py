"""The penalties that a learner's parameters ask for."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..forms import Form
from ..learning import L1, Constrained, Indefinite, LeastSquares, Split
from ..learning.selection import Walk, along_gradient

Array = NDArray[np.floating]

# Penalties to try, as shares of the features' total variance, and the bounds of a search.
SHARES = np.geomspace(1e-8, 1, 9)
FINE = np.geomspace(1e-8, 1, 33)
REACH = 1e-10, 1e2
# Spreads to try, and the bounds of a search.
SPREADS = (0.1, 0.3, 0.5, 0.7, 0.85, 1.0, 1.2)
SPREAD_REACH = 0.01, 10.0

# The penalties of one-sided learners by name, and the penalties of two-sided learners by coupling.
KINDS: dict[str, type] = {
    "split": Split,
    "krein": Indefinite,
    "l1": L1,
    "joint": Split,
    "askls": Indefinite,
}


@dataclass(frozen=True)
class Wanted:
    """What a learner's parameters say about penalties.

    Attributes
    ----------
    alpha : float, "cv" or "gradient"
    alpha_neg : float, "auto", "tune" or "equal"
    alphas, alphas_neg : ndarray or None
        The grids; None for the default ones.
    kind : type
        The class of the penalty.
    spread : float, "cv" or None
        None for penalties without a constraint.
    """

    alpha: float | str
    alpha_neg: float | str
    alphas: Array | None
    alphas_neg: Array | None
    kind: type = Split
    spread: float | str | None = None

    @classmethod
    def of(cls, learner: Any) -> Wanted:
        """Read the parameters of a learner."""
        role = "penalty" if hasattr(learner, "penalty") else "coupling"
        kind = KINDS[getattr(learner, role, "split")]
        if kind is Indefinite and learner.alpha_neg not in ("auto", "equal"):
            raise ValueError(
                f"{type(learner).__name__}({role}={getattr(learner, role)!r}) has one penalty, "
                f"alpha, got alpha_neg={learner.alpha_neg!r} too: leave alpha_neg='auto', or use "
                f"{role}='split'."
            )
        return cls(
            learner.alpha,
            learner.alpha_neg,
            check_penalties("alphas", learner.alphas),
            check_penalties("alphas_neg", learner.alphas_neg),
            Constrained if hasattr(learner, "spread") else kind,
            getattr(learner, "spread", None),
        )

    @property
    def is_tuned(self) -> bool:
        """True if something is chosen by cross-validation."""
        return isinstance(self.alpha, str) or self.alpha_neg == "tune" or self.spread == "cv"

    def given(self) -> Any:
        """Return the penalty that the parameters name, if nothing is tuned."""
        return self._made(float(self.alpha), self._second(float(self.alpha)), self.spread)

    def of_fitted(self, learner: Any) -> Any:
        """Return the penalty of a fitted learner."""
        return self._made(learner.alpha_, learner.alpha_neg_, getattr(learner, "spread_", None))

    def _second(self, alpha: float) -> float:
        return alpha if isinstance(self.alpha_neg, str) else float(self.alpha_neg)

    def _made(self, alpha: float, alpha_neg: float, spread: Any = None) -> Any:
        if self.kind is Indefinite:
            return Indefinite(float(alpha))
        more = () if self.kind is not Constrained else (float(spread),)
        return self.kind(float(alpha), float(alpha_neg), *more)

    def is_tied(self, form: Form) -> bool:
        """Return True if alpha_neg follows alpha."""
        return not np.any(form.signs < 0) or self.alpha_neg == "equal"

    def is_second_free(self, form: Form) -> bool:
        """Return True if alpha_neg is tuned."""
        free = self.alpha_neg == "tune" or (
            self.alpha_neg == "auto" and isinstance(self.alpha, str)
        )
        return free and not self.is_tied(form)

    def first(self, scale: float) -> Array:
        """Return the values of alpha to try, for features of this variance."""
        if not isinstance(self.alpha, str):
            return np.array([float(self.alpha)])
        if self.alphas is not None:
            return self.alphas
        # With a constraint the spreads multiply the number of settings.
        return (SHARES[::2] if self.kind is Constrained else SHARES) * scale

    def grid(self, problem: LeastSquares, scale: float, form: Form) -> list[Any]:
        """Return all penalties to try on a least-squares problem with features of this variance."""
        if self.kind is Indefinite:
            return [Indefinite(float(a)) for a in self._beyond(problem, scale, form)]
        alphas = self.first(scale)
        if self.is_second_free(form):
            pairs = [(a, b) for a in alphas for b in self._seconds(alphas, scale)]
        elif self.is_tied(form):
            pairs = [(a, a) for a in alphas]
        else:
            pairs = [(a, self._second(a)) for a in alphas]
        spreads = SPREADS if self.spread == "cv" else (self.spread,)
        return [self._made(a, b, spread) for a, b in pairs for spread in spreads]

    def finer_grid(self, problem: LeastSquares, scale: float, form: Form) -> list[Any]:
        """Return the penalties to try if further ones cost little: a finer default grid of alpha.

        If both penalties are tuned, the default grid has many pairs already and is returned.
        """
        is_given = self.alphas is not None or not isinstance(self.alpha, str)
        if is_given or self.is_second_free(form):
            return self.grid(problem, scale, form)
        return replace(self, alphas=FINE * scale).grid(problem, scale, form)

    @property
    def is_default(self) -> bool:
        """True if the default grids of the split penalty are searched."""
        grids = self.alphas is None and self.alphas_neg is None
        return self.kind is Split and self.alpha == "cv" and grids

    def walk(self, walk: Walk, scale: float, form: Form) -> None:
        """Try few penalties of the default grids: equal ones, then others of the negative part."""
        alphas = self.first(scale).tolist()
        free, tied = self.is_second_free(form), self.is_tied(form)
        pairs = [(a, a if free or tied else self._second(a)) for a in alphas]
        place = walk.along([Split(*map(float, pair)) for pair in pairs])
        if free:
            seconds = self._seconds(np.array(alphas), scale)
            walk.attempt([Split(alphas[place], float(second)) for second in seconds])
            second = walk.best().alpha_neg
            walk.along([Split(alpha, second) for alpha in alphas], stride=1, start=place)

    def _seconds(self, alphas: Array, scale: float) -> Array:
        if self.alphas_neg is not None:
            return self.alphas_neg
        if not isinstance(self.alpha, str):
            alphas = SHARES * scale
        return alphas if self.alphas is not None else np.append(alphas, np.inf)

    def _beyond(self, problem: LeastSquares, scale: float, form: Form) -> Array:
        """Return penalties above all eigenvalues of the negative part; no system is singular."""
        negative = form.signs < 0
        if self.alphas is not None or not np.any(negative):
            return self.first(scale)
        largest = float(np.linalg.eigvalsh(problem.gram[np.ix_(negative, negative)])[-1])
        return 1.05 * largest * np.geomspace(1, 1e5, len(SHARES))

    def descend(
        self, objective: Any, start: Any, form: Form, scale: float, **options: Any
    ) -> tuple[Any, float, int]:
        """Follow the gradient from a penalty; returns the penalty, its loss and the evaluations."""
        tied = self.is_tied(form) and start.alpha_neg == start.alpha
        free = ["alpha"]
        if self.is_second_free(form) and np.isfinite(start.alpha_neg):
            free.append("alpha_neg")
        if self.spread == "cv":
            free.append("spread")
        reach = (REACH[0] * scale, REACH[1] * scale)
        bounds = {"alpha": reach, "alpha_neg": reach, "spread": SPREAD_REACH}
        return along_gradient(objective, start, free, bounds, tied=tied, **options)


def is_tuned(learner: Any) -> bool:
    """Return True if a learner's parameters ask for cross-validation."""
    spread = getattr(learner, "spread", None)
    return Wanted(learner.alpha, learner.alpha_neg, None, None, spread=spread).is_tuned


def check_penalties(name: str, values: ArrayLike | None) -> Array | None:
    """Return a grid of penalties as an array; None stays None."""
    if values is None:
        return None
    found = np.asarray(values, dtype=float).ravel()
    if not len(found) or not np.all(found > 0) or (name == "alphas" and np.isinf(found).any()):
        raise ValueError(f"{name} must be penalties above 0, got {values!r}.")
    return found


def as_table(penalties: list[Any], **columns: Any) -> dict[str, Any]:
    """Return settings and columns as `cv_results_` holds them."""
    names = [field.name for field in fields(penalties[0])]
    if "alpha_neg" not in names:
        names.append("alpha_neg")
    settings = {name: np.array([getattr(p, name) for p in penalties]) for name in names}
    return {**settings, **columns}
