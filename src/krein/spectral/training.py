"""One training of `NotSoRandomFeatures`: rows and labels in, atoms out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import outside_level
from ..spherical import check_width
from .atoms import HarmonicAtoms, WaveAtoms
from .domains import Domain, Harmonics, Waves, default_degree
from .game import Game
from .peaks import SEARCHES
from .players import MarginPlayer
from .validation import HeldOut, best_prefix, choose_band

Array = NDArray[np.floating]


class FewPeaksWarning(UserWarning):
    """A search has found fewer distinct peaks than it was asked for.

    Examples
    --------
    >>> from krein.spectral import FewPeaksWarning
    >>> issubclass(FewPeaksWarning, UserWarning)
    True
    """


class Training:
    """The game that the parameters of a map ask for, and what was learned.

    Parameters
    ----------
    features : NotSoRandomFeatures
        The map, whose parameters are read.
    seed : int
        Seed of the starts; each search for a band or a gap begins with it.

    Attributes
    ----------
    game : Game
        The game, after `run`.
    atoms : WaveAtoms or HarmonicAtoms
        What was learned.
    paths : list
        Duality gaps and regrets after each round, if they are monitored.
    band, scale, degree
        The band and the units of the columns on R^d, the largest degree on the sphere.
    """

    game: Game
    atoms: WaveAtoms | HarmonicAtoms
    band: float
    scale: Array
    degree: int

    def __init__(self, features: Any, seed: int):
        self.of, self.seed = features, seed
        squared, refits = features.loss == "squared_hinge", features.duals == "refit"
        self.player = MarginPlayer(features.C, features.step, squared, refits, features.projection)
        self.on_sphere = features.domain == "sphere"
        self.paths: list[tuple[Array, Array]] = []

    def run(self, X: Array, Y: Array, n_actions: int) -> None:
        """Play a game on rows in random order."""
        held = HeldOut(X, Y)
        stops = self.of.early_stopping and held.can_judge
        rows, labels = (held.X, held.Y) if stops else (X, Y)
        self.game = Game(self._domain(rows, labels), labels, self.player)
        self._play(n_actions)
        played = self.game.actions
        if stops:
            played = played[: best_prefix(len(played), lambda n: self._loss(held, n))]
        self.atoms = self.game.domain.atoms(played)

    def gaps(self) -> tuple[Array, Array]:
        """Return the duality gap and the regret of each game."""
        return self.game.gaps(np.random.default_rng(self.seed))

    def _loss(self, held: HeldOut, n: int) -> float:
        """Return the loss of the first n actions on the rows that were held out."""
        return held.loss(self.game.domain.atoms(self.game.actions[:n]), self.of.C)

    # --- the domain -------------------------------------------------------------------------------

    def _domain(self, X: Array, Y: Array) -> Domain:
        if self.on_sphere:
            given, dim = self.of.max_degree, X.shape[1]
            self.degree = default_degree(dim) if isinstance(given, str) else int(given)
            check_width(self.of, len(X), dim, self.degree)
            return Harmonics(X, self.degree, self.of.beta)
        self.band, self.scale = self._units(X, Y)
        return self._waves(X, self.band, self.scale)

    def _units(self, X: Array, Y: Array) -> tuple[float, Array]:
        """Return the band and the units of the columns, as given or as chosen."""
        deviations = X.std(axis=0)
        # The deviation of a constant column is a rounding error.
        varies = deviations > 1e-14 * np.abs(X).max(axis=0)
        both = [np.ones(X.shape[1]), np.where(varies, deviations, 1.0)]
        chooses, wanted = isinstance(self.of.standardize, str), self.of.standardize
        if not isinstance(self.of.band, str):
            return float(self.of.band), both[0 if chooses else int(wanted)]

        def learn(X: Array, Y: Array, band: float, scale: Array, n_actions: int) -> Any:
            game = Game(self._waves(X, band, scale), Y, self.player)
            game.play(n_actions, self.of.peaks_per_search, np.random.default_rng(self.seed))
            return game.domain.atoms(game.actions)

        scales = both if chooses else [both[int(wanted)]]
        return choose_band(X, Y, self.of.C, scales, learn)

    def _waves(self, X: Array, band: float, scale: Array) -> Waves:
        search = self.of.search
        found = SEARCHES[search]() if isinstance(search, str) else search
        return Waves(X, found, band, self.of.n_starts, scale)

    # --- the game ---------------------------------------------------------------------------------

    def _play(self, n_actions: int) -> None:
        rng, game = np.random.default_rng(self.seed), self.game
        if not self.of.game:
            game.align(n_actions, rng)
            if len(game.actions) < n_actions:
                self._warn_few(len(game.actions), n_actions)
            return
        # On the sphere a search examines all harmonics and costs little.
        peaks = 1 if self.on_sphere else self.of.peaks_per_search
        for end in self._stops(n_actions):
            game.play(end, peaks, rng)
            if self.of.monitor:
                self.paths.append(self.gaps())
            if self.of.verbose:
                print(f"{end} of {n_actions} actions, height of the last peak {game.path[-1]:.4g}")

    def _stops(self, n_actions: int) -> list[int]:
        """Return the numbers of actions after which to pause: each round, each report, the end."""
        every = len(self.game.records) if self.of.monitor else int(self.of.verbose) or n_actions
        return [*range(every, n_actions, every), n_actions]

    def _warn_few(self, found: int, wanted: int) -> None:
        cure = "max_degree" if self.on_sphere else "n_starts or band"
        warnings.warn(
            f"The search has found {found} distinct peaks, fewer than the {wanted} wanted, so the "
            f"map is narrower: increase {cure}, or use game=True.",
            FewPeaksWarning,
            stacklevel=outside_level(),
        )
