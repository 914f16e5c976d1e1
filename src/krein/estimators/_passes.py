"""Statistics of one pass over features: losses of candidates, outputs of folds and of new rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..learning import Posterior
from ..streaming import Block, Folds, GivenFolds, HeldOut, split
from ._representation import Outputs, Representation
from ._targets import Targets
from ._task import FeatureBlock

Array = NDArray[np.floating]
# The number of candidates that are applied to a block at a time.
AT_ONCE = 64


class Errors:
    """Shares of wrong rows and Brier scores of candidates, summed over rows.

    Parameters
    ----------
    n_candidates : int
    targets : Numbers or Classes or Tags
    """

    def __init__(self, n_candidates: int, targets: Targets):
        self.targets = targets
        self.wrong, self.clipped = np.zeros((2, n_candidates))
        self.total = 0.0

    def _judge(self, outputs: Array, Y: Array, weight: Array, part: slice = slice(None)) -> None:
        """Add outputs (c, n, q) of some candidates on rows with targets Y (n, q)."""
        self.wrong[part] += self.targets.mistakes(outputs, Y) @ weight
        self.clipped[part] += np.square(np.clip(outputs, -1, 1) - Y).sum(axis=2) @ weight

    def merge(self, other: Self) -> Self:
        """Add the errors of `other`, in place."""
        self.wrong += other.wrong
        self.clipped += other.clipped
        self.total += other.total
        return self

    @property
    def errors(self) -> Array:
        """The share of wrong rows of each candidate."""
        return self.wrong / (self.total or 1.0)

    @property
    def brier(self) -> Array:
        """The squared error of ½ (1 + f) as a probability; outputs f beyond ±1 are certain."""
        return self.clipped / (4 * self.total or 1.0)


class Scores(Errors):
    """Errors and losses of candidates, summed over folds.

    Parameters
    ----------
    n_candidates : int
    targets : Numbers or Classes or Tags
    """

    def __init__(self, n_candidates: int, targets: Targets):
        super().__init__(n_candidates, targets)
        self.lost, self.squares = np.zeros((2, n_candidates))

    def add(self, outputs: Array, Y: Array, weight: Array, losses: Array) -> None:
        """Add outputs (c, n, q) and losses (c, n) on rows with targets Y (n, q)."""
        self.total += float(weight.sum())
        self.lost += losses @ weight
        self.squares += np.square(outputs - Y).sum(axis=2) @ weight
        self._judge(outputs, Y, weight)

    def merge(self, other: Self) -> Self:
        """Add the losses of `other`, in place."""
        self.lost += other.lost
        self.squares += other.squares
        return super().merge(other)

    @property
    def squared_errors(self) -> Array:
        return self.squares / (self.total or 1.0)

    @property
    def losses(self) -> Array:
        return self.lost / (self.total or 1.0)


class Mistakes(Errors):
    """The statistic of wrong rows: each row is judged by the coefficients of its own fold.

    Parameters
    ----------
    folds : Folds or GivenFolds
    fitted : dict
        For each fold that is judged, coefficients (c, p, q) and intercepts (c, q).
    targets : Classes or Tags
    """

    def __init__(
        self,
        folds: Folds | GivenFolds,
        fitted: dict[int, tuple[Array, Array]],
        targets: Targets,
    ):
        super().__init__(len(next(iter(fitted.values()))[0]), targets)
        self.folds, self.fitted = folds, fitted

    def update(self, block: FeatureBlock) -> Mistakes:
        places = self.folds(block.hashes, block.rows)
        s = np.ones(len(block.Z)) if block.weight is None else block.weight
        for number, (coefs, intercepts) in self.fitted.items():
            rows = np.flatnonzero(places == number)
            self.total += float(s[rows].sum())
            for first in range(0, len(coefs) if len(rows) else 0, AT_ONCE):
                part = slice(first, first + AT_ONCE)
                out = block.Z[rows] @ coefs[part].astype(block.Z.dtype)
                self._judge(out + intercepts[part][:, None], block.Y[rows], s[rows], part)
        return self


class OutsideFolds:
    """The statistic of the outputs of all rows, each by the model of its own fold.

    Parameters
    ----------
    folds : Folds or GivenFolds
    models : dict
        For each fold, the coefficients (p, q) and intercepts (q,) of the rows outside it.
    held : HeldOut
        Takes the outputs.
    """

    def __init__(
        self,
        folds: Folds | GivenFolds,
        models: dict[int, tuple[Array, Array]],
        held: HeldOut,
    ):
        self.folds, self.models, self.held = folds, models, held

    def update(self, block: FeatureBlock) -> OutsideFolds:
        places = self.folds(block.hashes, block.rows)
        for number, (coef, intercept) in self.models.items():
            rows = np.flatnonzero(places == number)
            if len(rows):
                outputs = block.Z[rows] @ coef.astype(block.Z.dtype) + intercept
                weight = None if block.weight is None else block.weight[rows]
                self.held.add(block.hashes[rows], outputs, block.Y[rows], weight)
        return self

    def merge(self, other: OutsideFolds) -> OutsideFolds:
        self.held.merge(other.held)
        return self


class Predictions:
    """The statistic ``Z w + b`` of new rows, shape (n, q), in the order of the rows.

    Parameters
    ----------
    representation : Representation
    coef : ndarray of shape (q, p)
    """

    def __init__(self, representation: Representation, coef: Array):
        self.representation, self.coef = representation, coef
        self._outputs = Outputs(representation, coef.T)
        self.parts: list[Array] = []
        self.n_rows = 0

    def update(self, block: Any) -> Self:
        for part in split(Block(block.X), self.representation.block_rows):
            self.parts.append(self._of(part.X))
            self.n_rows += len(self.parts[-1])
        return self

    def _of(self, X: Any) -> Array:
        return self._outputs(X, self.n_rows).astype(float)

    def merge(self, other: Self) -> Self:
        self.parts += other.parts
        self.n_rows += other.n_rows
        return self

    @property
    def outputs(self) -> Array:
        return np.concatenate(self.parts)


class Doubts(Predictions):
    """The statistic of predictions and of their posterior variances, shape (n, q + 1).

    Parameters
    ----------
    representation : Representation
    coef : ndarray of shape (q, p)
    posterior : Posterior
    alpha : float
        The penalty: ``σ²/(W alpha)`` is the prior variance of a feature.
    """

    def __init__(
        self, representation: Representation, coef: Array, posterior: Posterior, alpha: float
    ):
        super().__init__(representation, coef)
        self.posterior, self.alpha = posterior, alpha

    def _of(self, X: Any) -> Array:
        Z = self.representation.transform(X, self.n_rows)
        outputs = (Z @ self.coef.T.astype(Z.dtype)).astype(float)
        variances = self.posterior.variances(Z)
        if self.representation.is_exact:
            # The part of f that vanishes on the rows of the fit keeps its prior variance.
            variances += self.representation.missing(X, Z) / (self.posterior.weight * self.alpha)
        return np.column_stack([outputs, variances])
