"""Features whose spectrum is learned from labels."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from .._hashing import Draws, Salt, as_key, hash_rows
from .._threads import blas_threads_for
from .._validation import (
    ArgumentError,
    check_numeric_columns,
    check_unit_rows,
    outside_level,
    store,
)
from ..features import FeatureMap
from ..forms import Signature
from ..kernels import Kernel
from ..spherical import check_dimension, check_width
from .atoms import FromAtoms, HarmonicAtoms, WaveAtoms
from .domains import Domain, Harmonics, Waves, default_degree
from .game import Game, NoPeakError
from .labels import separable_classes, signs
from .peaks import SEARCHES, Search
from .validation import HeldOut, best_prefix, choose_band

N_COMPONENTS, N_ROUNDS = 200, 100


class FewPeaksWarning(UserWarning):
    """A search has found fewer distinct peaks than it was asked for."""


class NotSoRandomFeatures(FeatureMap):
    """Features whose frequencies are learned, so that they separate the classes.

    Random Fourier features draw frequencies from the spectrum of a kernel that somebody has to
    choose. This map learns a spectrum instead (Not-So-Random Features, NSRF). Two players play a
    game: one player holds the duals α of a support vector machine and weights rows that are hard
    to separate; the other player answers with the frequency of the highest Fourier potential
    ``v(ω) = |Σ_i y_i α_i exp(i ω·x_i)|²``, the frequency whose kernel is best aligned with the
    weighted labels. The features are ``Z(x) = √(1/T) [cos ω_t·x, sin ω_t·x]`` for the T
    frequencies that were played. On the sphere the frequencies are spherical harmonics.

    A spectrum helps if the classes are separated by a few waves. If the boundary is smooth, a
    Gaussian kernel is as good.

    Parameters
    ----------
    n_components : int, default=None
        Number of features on R^d, twice the number of frequencies; None means 200. It must be even;
        with 1 the only feature is a constant. More than two classes share the frequencies. Refused
        on the sphere, where the game finds the number of distinct harmonics.
    domain : {"euclidean", "sphere"}, default="euclidean"
        Where the rows lie. "sphere" needs rows of norm 1 with at least 3 columns.
    n_rounds : int, default=None
        Number of rounds T on the sphere; None means 100. Refused on R^d.
    C : float, default=1.0
        Upper bound of the duals, as in a support vector machine. The kernel has mass 1, so C has
        the same meaning on both domains.
    step : float, default=0.1
        First step of the duals, in units of ``C / √v`` with the height v of the first peak. Step t
        is divided by √t.
    band : float or "auto", default="auto"
        Largest norm of a frequency. "auto" compares bands between the median heuristic and the
        Nyquist rate by short games, on held-out rows.
    peaks_per_search : int, default=5
        Number of peaks that one search returns on R^d. They are played one after the other.
    max_degree : int or "auto", default="auto"
        Largest degree of a harmonic. "auto" takes the largest degree with at most 1024 harmonics.
    n_starts : int, default=24
        Number of starts of a search, for each class; at least twice the number of peaks wanted are
        used.
    game : bool, default=True
        False takes the highest peaks of a single search, which maximise the alignment of the kernel
        with the labels; the duals do not move (paper, §3.1).
    early_stopping : bool, default=False
        True holds out a fifth of the rows, and keeps the first frequencies only if they predict the
        held-out rows better than all frequencies. The map may then be narrower than `n_components`.
    monitor : bool, default=False
        True computes the duality gap after each round. Each gap costs a support vector machine.
    search : {"momentum", "langevin", "grid"} or Search, default="momentum"
        How peaks are found on R^d: unit-gradient ascent with momentum, the Langevin dynamics of the
        paper with corrected noise, or a grid with Newton steps, which is exact and fast but needs
        at most 2 columns.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts and of the held-out rows.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_frequencies, n_features_in_)
        The learned frequencies, in the order of play; only on R^d.
    harmonics_ : ndarray of int of shape (n_harmonics, 2)
        Degree of each learned harmonic, and its place in that degree; only on the sphere.
    weights_ : ndarray of shape (n_frequencies,) or (n_harmonics,)
        Weights of the frequencies or harmonics; their sum is 1.
    atoms_ : krein.measures.Atoms
        Frequencies or harmonics with their weights.
    duals_ : ndarray of shape (n_samples, n_games)
        The last duals α of each game. Two classes play one game; more classes play one game each,
        against all other classes. Rows that were held out have the dual NaN.
    potential_path_ : ndarray of shape (n_actions,)
        Height ``v(ω_t) / (Σα)²`` of the peak of each action; game t mod n_games plays action t.
    duality_gap_ : ndarray of shape (n_games,)
        Lower bound of the duality gap of the averaged game; the bound is exact if the search has
        found the highest peak. NaN for more than 3000 rows, where the support vector machine would
        take longer than the game.
    regret_ : ndarray of shape (n_games,)
        Regret of the duals per round; NaN for more than 3000 rows.
    gap_path_ : ndarray of shape (n_rounds, n_games)
        The duality gap after each round; only with ``monitor=True``.
    band_ : float
        The band; only on R^d.
    max_degree_ : int
        The largest degree that was examined; only on the sphere.
    classes_ : ndarray
        The classes.
    form_ : krein.forms.Signature
        The identity.
    kernel_ : FromAtoms
        The learned kernel, which the features represent exactly.
    n_features_in_ : int
        Number of columns of the training data.

    See Also
    --------
    RandomFourier : Random frequencies of a kernel that is chosen.

    References
    ----------
    B. Bullins, C. Zhang, Y. Zhang. Not-So-Random Features. ICLR 2018. Algorithms 1 and 2, with mass
    1, corrected noise and the exact projection.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import LinearSVC
    >>> from krein import NotSoRandomFeatures
    >>> X = np.random.default_rng(0).uniform(-1, 1, (600, 2))
    >>> y = np.sin(9 * X[:, 0]) * np.sin(9 * X[:, 1]) > 0  # a checkerboard
    >>> features = NotSoRandomFeatures(n_components=40, band=20.0, random_state=0)
    >>> model = make_pipeline(features, LinearSVC()).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.9)
    True
    """

    _parameter_constraints = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "domain": [StrOptions({"euclidean", "sphere"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left"), None],
        "C": [Interval(Real, 0, None, closed="neither")],
        "step": [Interval(Real, 0, None, closed="neither")],
        "band": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "peaks_per_search": [Interval(Integral, 1, None, closed="left")],
        "max_degree": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "n_starts": [Interval(Integral, 1, None, closed="left")],
        "game": ["boolean"],
        "early_stopping": ["boolean"],
        "monitor": ["boolean"],
        "search": [StrOptions(set(SEARCHES)), Search],
        "random_state": ["random_state", np.random.Generator],
    }

    atoms_: WaveAtoms | HarmonicAtoms

    def __init__(
        self,
        n_components: int | None = None,
        *,
        domain: str = "euclidean",
        n_rounds: int | None = None,
        C: float = 1.0,
        step: float = 0.1,
        band: float | str = "auto",
        peaks_per_search: int = 5,
        max_degree: int | str = "auto",
        n_starts: int = 24,
        game: bool = True,
        early_stopping: bool = False,
        monitor: bool = False,
        search: str | Search = "momentum",
        random_state: Any = None,
    ):
        store(self, locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the spectrum.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Training data.
        y : array-like of shape (n,)
            Classes. They are required.

        Returns
        -------
        self
        """
        return super().fit(X, y)

    # --- checks -----------------------------------------------------------------------------------

    @property
    def _on_sphere(self) -> bool:
        return self.domain == "sphere"

    def _validate(self, X: Any, *, reset: bool) -> Any:
        check_numeric_columns(self, X)
        X = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])
        if self._on_sphere:
            check_sphere(self, X)
        return X

    def _n_actions(self) -> int:
        """Return the number of actions, or raise if the width is given for the other domain."""
        if self._on_sphere:
            if self.n_components is not None:
                needed = "None on the sphere, where the game finds the width: use n_rounds"
                raise ArgumentError(self, "n_components", needed, self.n_components)
            return N_ROUNDS if self.n_rounds is None else self.n_rounds
        if self.n_rounds is not None:
            needed = "None on R^d, where n_components is twice the number of rounds"
            raise ArgumentError(self, "n_rounds", needed, self.n_rounds)
        width = N_COMPONENTS if self.n_components is None else self.n_components
        if width % 2 and width > 1:
            raise ValueError(
                f"n_components must be even, because each frequency has a cosine and a sine, got "
                f"{width}: use {width + 1}."
            )
        return max(1, width // 2)

    # --- learning ---------------------------------------------------------------------------------

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        n_actions = self._n_actions()
        self.classes_, codes = separable_classes(type(self).__name__, X, y)
        hashes, key = hash_rows(X), as_key(rng)
        # A random order that depends on the content of the rows: shuffling them changes nothing.
        order = np.lexsort((codes, hashes, Draws(hashes, key).clocks(Salt.HELD)))
        seed = as_key(rng)
        try:
            self._play(X[order].astype(float), signs(codes[order]), order, n_actions, seed)
        except NoPeakError:
            raise ValueError(
                f"{type(self).__name__} finds no wave that separates the classes: each row appears "
                "in all classes equally often."
            ) from None

    def _play(self, X: NDArray, Y: NDArray, order: NDArray, n_actions: int, seed: int) -> None:
        held = HeldOut(X, Y)
        stops = self.early_stopping and held.can_judge
        rows, labels = (held.X, held.Y) if stops else (X, Y)
        if self._on_sphere:
            self.max_degree_ = self._degree(X)
        else:
            self.band_ = self._band(rows, labels, seed)
        game = Game(self._domain(rows), labels, self.C, self.step)
        self._run(game, n_actions, seed)
        played = self._stopped(game, held) if stops else game.actions
        self._store_duals(game, order, len(X) - len(rows))
        self.duality_gap_, self.regret_ = game.gaps(np.random.default_rng(seed))
        # A width of 1 has no room for the two columns of a wave.
        constant = WaveAtoms(np.zeros((1, X.shape[1])), np.ones(1))
        self._store_atoms(constant if self.n_components == 1 else game.domain.atoms(played))

    def _stopped(self, game: Game, held: HeldOut) -> list:
        """Return the first actions that predict the held-out rows best."""
        played = game.actions

        def loss(n: int) -> float:
            return held.loss(game.domain.atoms(played[:n]), self.C)

        return played[: best_prefix(len(played), loss)]

    def _degree(self, X: NDArray) -> int:
        auto = isinstance(self.max_degree, str)
        degree = default_degree(X.shape[1]) if auto else int(self.max_degree)
        check_width(self, len(X), X.shape[1], degree)
        return degree

    def _band(self, X: NDArray, Y: NDArray, seed: int) -> float:
        if not isinstance(self.band, str):
            return float(self.band)

        def learn(X: NDArray, Y: NDArray, band: float, n_actions: int) -> Any:
            game = Game(self._waves(X, band), Y, self.C, self.step)
            game.play(n_actions, self.peaks_per_search, np.random.default_rng(seed))
            return game.domain.atoms(game.actions)

        return choose_band(X, Y, self.C, learn)

    def _domain(self, X: NDArray) -> Domain:
        if self._on_sphere:
            return Harmonics(X, self.max_degree_)
        return self._waves(X, self.band_)

    def _waves(self, X: NDArray, band: float) -> Waves:
        search = SEARCHES[self.search]() if isinstance(self.search, str) else self.search
        return Waves(X, search, band, self.n_starts)

    def _run(self, game: Game, n_actions: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        if not self.game:
            game.align(n_actions, rng)
            if len(game.actions) < n_actions:
                self._warn_few(len(game.actions), n_actions)
            return
        # On the sphere a search examines all harmonics and costs little.
        peaks = 1 if self._on_sphere else self.peaks_per_search
        if not self.monitor:
            game.play(n_actions, peaks, rng)
            return
        gaps = []
        for end in _rounds(n_actions, len(game.records)):
            game.play(end, peaks, rng)
            gaps.append(game.gaps(np.random.default_rng(seed))[0])
        self.gap_path_ = np.array(gaps)

    def _warn_few(self, found: int, wanted: int) -> None:
        cure = "max_degree" if self._on_sphere else "n_starts or band"
        warnings.warn(
            f"The search has found {found} distinct peaks, fewer than the {wanted} wanted, so the "
            f"map is narrower: increase {cure}, or use game=True.",
            FewPeaksWarning,
            stacklevel=outside_level(),
        )

    def _store_duals(self, game: Game, order: NDArray, n_held: int) -> None:
        self.duals_ = np.full((len(order), len(game.records)), np.nan)
        self.duals_[order[n_held:]] = game.duals
        self.potential_path_ = game.path

    def _store_atoms(self, atoms: WaveAtoms | HarmonicAtoms) -> None:
        name = "harmonics_" if self._on_sphere else "frequencies_"
        setattr(self, name, atoms.frequencies)
        self.atoms_, self.weights_ = atoms, atoms.weights
        self.kernel_ = FromAtoms(atoms)
        self.form_ = Signature(np.ones(atoms.width))

    # --- the map ----------------------------------------------------------------------------------

    def _resolved_kernel(self) -> Kernel:
        return FromAtoms()

    def _resolve(self, kernel: Kernel, X: Any) -> None:
        """Do nothing: the kernel is learned."""

    def _threads(self, X: Any) -> AbstractContextManager[Any]:
        return blas_threads_for(X, self.n_components or N_COMPONENTS)

    def _map(self, X: Any) -> NDArray:
        return self.atoms_.columns(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.target_tags.required = True
        return tags


def check_sphere(owner: object, X: NDArray) -> None:
    """Raise if the rows are not on a sphere that has harmonics."""
    check_dimension(owner, X.shape[1])
    norms = np.linalg.norm(X.astype(float), axis=1)
    check_unit_rows(owner, norms, "Scale the rows to norm 1, or use domain='euclidean'.")


def _rounds(n_actions: int, n_games: int) -> list[int]:
    """Return the number of actions after each round; the last round may be short."""
    return [*range(n_games, n_actions, n_games), n_actions]
