"""Features whose spectrum is learned from labels."""

from __future__ import annotations

from contextlib import AbstractContextManager
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from .._columns import check_numeric_columns
from .._hashing import Draws, Salt, as_key, hash_rows
from .._threads import blas_threads_for
from .._validation import ArgumentError, check_unit_rows, store
from ..features.base import FeatureMap, check_even
from ..forms import Signature
from ..kernels import Kernel
from ..spherical import check_dimension
from .atoms import FromAtoms, HarmonicAtoms, WaveAtoms
from .game import NoPeakError
from .labels import separable_classes, signs
from .peaks import SEARCHES, Search
from .players import PROJECTIONS
from .training import Training

N_COMPONENTS, N_ROUNDS = 200, 100


class NotSoRandomFeatures(FeatureMap):
    """Features whose frequencies are learned, so that they separate the classes.

    Random Fourier features draw frequencies from the spectrum of a kernel that the user chooses.
    This map learns a spectrum instead (Not-So-Random Features, NSRF). Two players play a game: one
    player holds the duals α of a support vector machine and weights rows that are hard to separate;
    the other player answers with the frequency of the highest Fourier potential
    ``v(ω) = |Σ_i y_i α_i exp(i ω·x_i)|²``, the frequency whose kernel is best aligned with the
    weighted labels. The features are ``Z(x) = √(1/T) [cos ω_t·x, sin ω_t·x]`` for the T frequencies
    that were played. On the sphere the frequencies are spherical harmonics.

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
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss of the support vector machine. The duals of "squared_hinge" have no upper bound;
        the payoff loses ``αᵀα / (4C)`` instead.
    step : float, default=0.1
        First step of the duals, in units of ``C / √v`` with the height v of the first peak. Step t
        is divided by √t.
    duals : {"steps", "refit"}, default="steps"
        "steps" moves the duals along the gradient. "refit" solves the support vector machine with
        all frequencies so far before each search, the fully corrective variant. It fits the
        training rows faster, takes longer and often predicts new rows worse.
    projection : {"exact", "alternating"}, default="exact"
        How the duals become feasible after a step. "alternating" is the paper's Algorithm 3, which
        does not return the nearest feasible duals.
    band : float or "auto", default="auto"
        Largest norm of a frequency. "auto" compares bands between the median heuristic and the
        Nyquist rate by short games, on held-out rows.
    standardize : bool or "auto", default=False
        True measures each column in units of its standard deviation while the spectrum is learned,
        the band included; the frequencies are stored in the units of X. "auto" chooses together
        with ``band="auto"``, and means False if the band is given. The parameter has no effect on
        the sphere.
    search : {"momentum", "langevin", "grid"} or Search, default="momentum"
        How peaks are found on R^d: unit-gradient ascent with momentum, the Langevin dynamics of the
        paper with corrected noise, or a grid with Newton steps, which is exact and fast but needs
        at most 2 columns.
    n_starts : int, default=24
        Number of starts of a search, for each class; at least twice the number of peaks wanted are
        used.
    peaks_per_search : int, default=5
        Number of peaks that one search returns on R^d. They are played one after the other.
    max_degree : int or "auto", default="auto"
        Largest degree of a harmonic. "auto" takes the largest degree with at most 1024 harmonics.
    beta : float or None, default=None
        None plays the harmonic of the highest potential. A number draws harmonic j with a chance in
        proportion to ``exp(β v_j / max v)`` (paper, App. A.3). The parameter has no effect on R^d.
    game : bool, default=True
        False takes the highest peaks of a single search, which maximise the alignment of the kernel
        with the labels; the duals do not move (paper, §3.1).
    early_stopping : bool, default=False
        True holds out a fifth of the rows, and keeps the first frequencies only if they predict the
        held-out rows better than all frequencies. The map may then be narrower than `n_components`.
    monitor : bool, default=False
        True computes duality gap and regret after each round. Each costs a support vector machine.
    verbose : int, default=0
        Number of actions between two printed lines of progress; 0 prints nothing.
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
        found the highest peak and the support vector machine has converged. With a large C the
        machine may not converge. NaN for more than 3000 rows, where the support vector machine
        would take longer than the game.
    regret_ : ndarray of shape (n_games,)
        Regret of the duals per round; NaN for more than 3000 rows.
    gap_path_, regret_path_ : ndarray of shape (n_rounds, n_games)
        The duality gap and the regret after each round; only with ``monitor=True``.
    band_ : float
        The band, in units of `scale_`; only on R^d.
    scale_ : ndarray of shape (n_features_in_,)
        The units of the columns: standard deviations, or ones; only on R^d.
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
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

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
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "step": [Interval(Real, 0, None, closed="neither")],
        "duals": [StrOptions({"steps", "refit"})],
        "projection": [StrOptions(set(PROJECTIONS))],
        "band": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "standardize": ["boolean", StrOptions({"auto"})],
        "peaks_per_search": [Interval(Integral, 1, None, closed="left")],
        "max_degree": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="left"), None],
        "n_starts": [Interval(Integral, 1, None, closed="left")],
        "game": ["boolean"],
        "early_stopping": ["boolean"],
        "monitor": ["boolean"],
        "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
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
        loss: str = "hinge",
        step: float = 0.1,
        duals: str = "steps",
        projection: str = "exact",
        band: float | str = "auto",
        standardize: bool | str = False,
        search: str | Search = "momentum",
        n_starts: int = 24,
        peaks_per_search: int = 5,
        max_degree: int | str = "auto",
        beta: float | None = None,
        game: bool = True,
        early_stopping: bool = False,
        monitor: bool = False,
        verbose: int = 0,
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
        check_even(width)
        return max(1, width // 2)

    # --- learning ---------------------------------------------------------------------------------

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        n_actions = self._n_actions()
        self.classes_, codes = separable_classes(type(self).__name__, X, y)
        hashes, key = hash_rows(X), as_key(rng)
        # A random order that depends on the content of the rows: shuffling them changes nothing.
        order = np.lexsort((codes, hashes, Draws(hashes, key).clocks(Salt.HELD)))
        training = Training(self, as_key(rng))
        try:
            training.run(X[order].astype(float), signs(codes[order]), n_actions)
        except NoPeakError:
            raise ValueError(
                f"{type(self).__name__} finds no wave that separates the classes: each row appears "
                "in all classes equally often."
            ) from None
        self._store(training, order)

    def _store(self, training: Training, order: NDArray) -> None:
        game, n_held = training.game, len(order) - len(training.game.Y)
        self.duals_ = np.full((len(order), len(game.records)), np.nan)
        self.duals_[order[n_held:]] = game.duals
        self.potential_path_ = game.path
        self.duality_gap_, self.regret_ = training.gaps()
        if training.paths:
            self.gap_path_, self.regret_path_ = map(np.array, zip(*training.paths, strict=True))
        if self._on_sphere:
            self.max_degree_ = training.degree
        else:
            self.band_, self.scale_ = training.band, training.scale
        # A width of 1 has no room for the two columns of a wave.
        constant = WaveAtoms(np.zeros((1, self.n_features_in_)), np.ones(1))
        atoms = constant if self.n_components == 1 else training.atoms
        setattr(self, "harmonics_" if self._on_sphere else "frequencies_", atoms.frequencies)
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
