"""The game of the Not-So-Random Features paper (Algorithm 2).

The kernel player chooses a kernel λ of mass 1, the margin player duals α of a support vector
machine. The payoff is ``F(α, λ) = 1ᵀα − ½ Σ_j λ_j v_α(ω_j)``, the dual objective of the machine
with the kernel λ; the squared hinge subtracts ``αᵀα/(4C)``. The kernel player answers α with the
highest peak of its potential v_α, and the margin player moves along the gradient. The average
kernel approaches the kernel whose machine has the largest margin.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .domains import Domain
from .players import MarginPlayer

# An SVM of more rows than this would take longer than the game.
MOST_SVM_ROWS = 3000
# A first peak below this share of (1ᵀα)² is a rounding error.
NO_PEAK = 1e-12


class NoPeakError(ValueError):
    """No action separates the classes."""


@dataclass
class Record:
    """The record of one game.

    Parameters
    ----------
    alpha : ndarray of shape (n,)
        The duals after the last round.
    actions : list
        The actions of the kernel player.
    potentials : list of float
        The potential v of each action.
    heights : list of float
        The height ``v / (1ᵀα)²`` of each action, at most 1 for waves.
    payoffs : list of float
        The payoff ``F(α_t, ω_t)`` of each round.
    total : ndarray of shape (n,) or 0.0
        Sum of the duals over the rounds.
    """

    alpha: NDArray[np.floating]
    actions: list = field(default_factory=list)
    potentials: list[float] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    payoffs: list[float] = field(default_factory=list)
    total: NDArray[np.floating] | float = 0.0

    @property
    def mean(self) -> NDArray[np.floating]:
        """The average of the duals over the rounds."""
        return np.asarray(self.total) / max(1, len(self.actions))


class Game:
    """Several games on the same rows, one for each column of labels.

    Parameters
    ----------
    domain : Domain
        The actions of the kernel player.
    Y : ndarray of shape (n, n_games)
        Labels, each +1 or −1.
    player : MarginPlayer
        The duals of each game, and how they move.
    """

    def __init__(self, domain: Domain, Y: NDArray, player: MarginPlayer):
        self.domain, self.Y, self.player = domain, Y, player
        self.records = [Record(player.start(y)) for y in Y.T]
        self._queues: list[list] = [[] for _ in self.records]

    @property
    def duals(self) -> NDArray[np.floating]:
        return np.column_stack([record.alpha for record in self.records])

    def align(self, n_actions: int, rng: np.random.Generator) -> None:
        """Take the highest peaks of the first duals; the duals do not move (paper, §3.1)."""
        each = -(-n_actions // len(self.records))
        found = self.domain.peaks(self.Y * self.duals, each, rng)
        for i in range(n_actions):
            game, place = i % len(self.records), i // len(self.records)
            if place < len(found[game]):
                self._play(game, found[game][place], moves=False)

    def play(self, n_actions: int, peaks_per_search: int, rng: np.random.Generator) -> None:
        """Play until all games together have `n_actions` actions; the games take turns."""
        for i in range(len(self.actions), n_actions):
            game = i % len(self.records)
            if not self._queues[game]:
                if self.player.refits:
                    self._refit()
                self._queues = self.domain.peaks(self.Y * self.duals, peaks_per_search, rng)
            self._play(game, self._queues[game].pop(0))

    def _refit(self) -> None:
        """Give each game that has begun the duals of the machine with its average kernel."""
        for record, y in zip(self.records, self.Y.T, strict=True):
            if record.actions:
                record.alpha = self.player.refitted(self._columns(record), y)

    def _play(self, game: int, action: NDArray | int, moves: bool = True) -> None:
        record, y = self.records[game], self.Y[:, game]
        columns, mass = self.domain.columns(action), float(record.alpha.sum())
        sums = columns.T @ (y * record.alpha)
        value = float(sums @ sums)
        if not record.actions and not value > NO_PEAK * mass**2:
            raise NoPeakError
        record.actions.append(action)
        record.potentials.append(value)
        record.heights.append(value / max(mass**2, 1e-300))
        record.payoffs.append(self.player.payoff(record.alpha, value))
        record.total = record.total + record.alpha
        if moves and not self.player.refits:
            scale = np.sqrt(record.potentials[0] * len(record.actions))
            size = float(self.player.step * self.player.C / scale)
            record.alpha = self.player.moved(record.alpha, y, columns @ sums, size)

    @property
    def actions(self) -> list:
        """All actions in the order of play."""
        return _in_turn([record.actions for record in self.records])

    @property
    def path(self) -> NDArray[np.floating]:
        """The height ``v / (1ᵀα)²`` of the peak of each action, in the order of play."""
        return np.array(_in_turn([record.heights for record in self.records]))

    def gaps(self, rng: np.random.Generator) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return the duality gap and the regret of each game.

        The gap is ``max_α F(α, λ̄) − min_λ F(ᾱ, λ)`` and the regret per round is
        ``max_α F(α, λ̄) − mean_t F(α_t, ω_t)``, with averages λ̄ and ᾱ over the rounds. The first
        maximum is a support vector machine. The minimum is at the highest peak; a search may miss
        that peak, so the gap is a lower bound.
        """
        gaps, regrets = np.full((2, len(self.records)), np.nan)
        played = [i for i, record in enumerate(self.records) if record.actions]
        if len(self.Y) <= MOST_SVM_ROWS and played:
            means = np.column_stack([self.records[i].mean for i in played])
            highest = self.domain.peaks(self.Y[:, played] * means, 1, rng)
            for i, peaks in zip(played, highest, strict=True):
                gaps[i], regrets[i] = self._gap(self.records[i], self.Y[:, i], peaks[0])
        return gaps, regrets

    def _gap(self, record: Record, y: NDArray, peak: NDArray | int) -> tuple[float, float]:
        Z = self._columns(record)
        best = self.player.best_value(Z @ Z.T, y)
        highest = self.domain.potential(peak, y * record.mean)
        least = self.player.payoff(record.mean, highest)
        return best - least, best - float(np.mean(record.payoffs))

    def _columns(self, record: Record) -> NDArray[np.floating]:
        """Return the columns of the average kernel of a game."""
        columns = [self.domain.columns(action) for action in record.actions]
        return np.hstack(columns) / np.sqrt(len(columns))


def _in_turn(lists: list[list]) -> list:
    """Return the first items of all lists, then the second items, and so on."""
    longest = max(len(one) for one in lists)
    return [one[t] for t in range(longest) for one in lists if t < len(one)]
