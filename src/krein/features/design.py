"""How many landmarks a Nyström map has, and how its core is fitted on them."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray

from .._core import Core
from .cores import fit_core
from .landmarks import extended, sample_size
from .source import Source

# Largest default number of landmarks beyond the rank: the cost of `fit` grows with their cube.
MOST_SPARE = 300


@dataclass(frozen=True)
class Design:
    """The landmarks and the core of a Nyström map of some rank.

    Attributes
    ----------
    rank : int
        The number of components.
    n_landmarks : int or None
        The number of landmarks. None means three times the rank, but at most `MOST_SPARE` more than
        the rank.
    core : {"sketch", "truncated", "inverse", "squared"}
        How the core is fitted, see `krein.features.cores.fit_core`.
    tol : float
        Eigenvalues and singular values below this share of the largest are dropped.
    """

    rank: int
    n_landmarks: int | None
    core: str
    tol: float

    @property
    def n_wanted(self) -> int:
        """The number of landmarks to choose."""
        return self.n_landmarks or self.rank + min(2 * self.rank, MOST_SPARE)

    def sample(self, source: Source, landmarks: NDArray, key: int) -> NDArray:
        """Return the rows on which the core is fitted; the landmarks come first."""
        if self.core != "sketch":
            return landmarks
        return extended(source.draws(key), landmarks, sample_size(len(landmarks)))

    def fit(self, source: Source, landmarks: NDArray, sample: NDArray) -> Core:
        """Return the core for landmarks and a sample of rows."""
        rank = min(self.rank, len(landmarks))
        return fit_core(self.core, source, landmarks, sample, rank, self.tol)
