"""The actions of the kernel player in the game: frequencies on R^d, harmonics on the sphere.

An action is a block of columns Φ of shape (n, k) with the kernel ``Φ Φᵀ``: cosine and sine of one
frequency, or one harmonic. Its mass is 1: the mean of k(x, x) is 1. The potential of an action
against the signed duals b is ``v = ‖Φᵀ b‖²``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..measures import n_harmonics
from ..spherical import area, degrees, harmonics
from .atoms import HarmonicAtoms, WaveAtoms
from .peaks import Search
from .potential import Potential, Problem

# `max_degree="auto"` takes the largest degree with at most this many harmonics.
MOST_HARMONICS = 1024


class Domain(ABC):
    """The actions on some training rows."""

    @abstractmethod
    def peaks(self, B: NDArray, n: int, rng: np.random.Generator) -> list[list]:
        """Return up to n actions of the highest potential for each column of B, highest first."""

    @abstractmethod
    def columns(self, action: NDArray | int) -> NDArray[np.floating]:
        """Return the block Φ of an action on the training rows, shape (n, k)."""

    @abstractmethod
    def atoms(self, actions: Sequence) -> WaveAtoms | HarmonicAtoms:
        """Return the atoms of actions that share the mass 1 equally."""

    def potential(self, action: NDArray | int, b: NDArray) -> float:
        """Return ``‖Φᵀ b‖²``."""
        return float(np.sum((self.columns(action).T @ b) ** 2))


class Waves(Domain):
    """Frequencies ω with ‖ω‖ ≤ band.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    search : Search
        How peaks are found.
    band : float
        The largest norm of a frequency.
    n_starts : int
        Number of starts of a search for each game.
    scale : ndarray of shape (d,) or float, default=1.0
        Unit of each column. Searches and the band are in these units, atoms in the units of X.
    """

    def __init__(
        self,
        X: NDArray,
        search: Search,
        band: float,
        n_starts: int,
        scale: NDArray | float = 1.0,
    ):
        self.X, self.scale = np.asarray(X, dtype=float) / scale, scale
        self.search, self.band, self.n_starts = search, band, n_starts
        self._unit = _unit_of(float(np.ptp(self.X, axis=0).max()))
        self._potential = Potential(self.X / self._unit)

    def peaks(self, B: NDArray, n: int, rng: np.random.Generator) -> list[list]:
        # Single precision cannot hold the squares of very large or small duals. A power of two
        # changes no peak.
        B = np.ldexp(B, -np.frexp(np.abs(B).max(axis=0))[1])
        problem = Problem(self._potential, B, self.band * self._unit)
        # Several starts climb the same peak, so many peaks need more starts.
        found = self.search.peaks(problem, n, max(self.n_starts, 2 * n), rng)
        return [list(peaks.frequencies / self._unit) for peaks in found]

    def columns(self, action: NDArray | int) -> NDArray[np.floating]:
        phases = self.X @ action
        return np.column_stack([np.cos(phases), np.sin(phases)])

    def atoms(self, actions: Sequence) -> WaveAtoms:
        frequencies = np.stack(actions) / self.scale
        return WaveAtoms(frequencies, np.full(len(actions), 1 / len(actions)))


def _unit_of(size: float) -> float:
    """Return a power of two near the size of rows whose squares single precision cannot hold.

    The unit is 1 for ordinary rows.
    """
    ordinary = size == 0 or 1e-6 < size < 1e6
    return 1.0 if ordinary else float(2.0 ** np.round(np.log2(size)))


class Harmonics(Domain):
    """Spherical harmonics up to a degree; the search examines all of them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Unit rows.
    max_degree : int
        The largest degree.
    beta : float or None, default=None
        None returns the harmonics of the highest potential. A number draws harmonic j with a chance
        in proportion to ``exp(β v_j / max v)`` (paper, App. A.3).
    """

    def __init__(self, X: NDArray, max_degree: int, beta: float | None = None):
        self.beta = beta
        self.degrees = degrees(X.shape[1], max_degree)
        self.values = np.sqrt(area(X.shape[1])) * harmonics(np.asarray(X, float), max_degree)

    def peaks(self, B: NDArray, n: int, rng: np.random.Generator) -> list[list]:
        potentials = (self.values.T @ B) ** 2
        if self.beta is not None:
            shares = potentials / np.maximum(potentials.max(axis=0), 1e-300)
            # The largest of β v + Gumbel noise has the chance exp(β v) / Σ exp(β v).
            potentials = self.beta * shares + rng.gumbel(size=shares.shape)
        return [np.argsort(-v, kind="stable")[:n].tolist() for v in potentials.T]

    def columns(self, action: NDArray | int) -> NDArray[np.floating]:
        return self.values[:, [action]]

    def atoms(self, actions: Sequence) -> HarmonicAtoms:
        chosen, counts = np.unique(actions, return_counts=True)
        chosen_degrees = self.degrees[chosen]
        places = chosen - np.searchsorted(self.degrees, chosen_degrees)
        return HarmonicAtoms(np.column_stack([chosen_degrees, places]), counts / len(actions))


def default_degree(dim: int) -> int:
    """Return the largest degree with at most `MOST_HARMONICS` harmonics, and at least 1."""
    total, degree = 1 + n_harmonics(dim, 1), 1
    while total + n_harmonics(dim, degree + 1) <= MOST_HARMONICS:
        degree += 1
        total += n_harmonics(dim, degree)
    return degree
