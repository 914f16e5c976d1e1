"""Random frequencies with weights that are learned from labels (LKRF), a baseline."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._blocks import row_blocks
from .._hashing import as_key
from .._validation import ArgumentError, store
from ..features import FeatureMap, RandomFourier
from ..features._trig import fourier_features
from ..features.base import check_even
from ..forms import Signature
from ..kernels import Kernel
from ..samplers import SAMPLERS, Sampler
from .atoms import FromAtoms, WaveAtoms
from .labels import class_codes, signs

# Candidates per frequency if their number is not given.
CANDIDATES = 10


class LearnedKernelFeatures(FeatureMap):
    """Random Fourier features whose weights are learned from labels (LKRF).

    Frequencies ω_j of a kernel are drawn, j = 1 … N, and get the weights q that align the kernel
    ``Σ_j q_j cos ω_j·(x − y)`` best with the labels, at a limited distance from equal weights::

        max_q Σ_j q_j v_j   subject to   Σ_j q_j = 1,  q ≥ 0,  N Σ_j q_j² − 1 ≤ ρ

    with the potentials ``v_j = |Σ_i y_i exp(i ω_j·x_i)|²``; more than two classes add the
    potentials of each class against all other classes. The features are
    ``Z_j(x) = √q_j [cos ω_j·x, sin ω_j·x]``. If more weights are positive than the map has room
    for, ``n_components / 2`` frequencies are drawn with the chances q.

    The frequencies do not move, so many candidates are needed in high dimension.
    `NotSoRandomFeatures` searches for better frequencies instead.

    Parameters
    ----------
    kernel : krein.kernels.Kernel, default=None
        A positive definite kernel of x − y, whose frequencies are the candidates; None means
        ``Gaussian()``.
    n_components : int, default=256
        Largest number of features, two per frequency. Frequencies of weight zero have no features,
        and a frequency that is drawn twice has one pair of features.
    n_candidates : int or None, default=None
        Number N of candidates; None means ten for each frequency.
    rho : float or None, default=None
        The distance ρ, the χ²-divergence of q from equal weights. 0 keeps equal weights, and N − 1
        allows all weight on one frequency. None means ``N / (n_components / 2) − 1``, at which
        ``1 / Σ_j q_j²``, the effective number of frequencies, is ``n_components / 2``.
    sampler : str or Sampler, default="iid"
        How the candidates are drawn, as in `RandomFourier`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_frequencies, n_features_in_)
        The frequencies of the features.
    weights_ : ndarray of shape (n_frequencies,)
        Their weights; the sum is k(x, x).
    atoms_ : krein.measures.Atoms
        Frequencies with their weights.
    importance_ : ndarray of shape (n_candidates,)
        The weights q of all candidates; their sum is 1.
    classes_ : ndarray
        The classes.
    form_ : krein.forms.Signature
        The identity.
    kernel_ : FromAtoms
        The kernel of the features, which represent it exactly.
    n_features_in_ : int
        Number of columns of the training data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    See Also
    --------
    NotSoRandomFeatures : Frequencies that are learned, too.

    References
    ----------
    A. Sinha, J. Duchi. Learning Kernels with Random Features. NIPS 2016. Eq. 4, with the
    χ²-divergence.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import LearnedKernelFeatures
    >>> X = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    >>> y = np.sin(9 * X[:, 0]) > 0
    >>> features = LearnedKernelFeatures(n_components=20, n_candidates=500, random_state=0)
    >>> features.fit_transform(X, y).shape[1] <= 20
    True
    """

    _parameter_constraints = {
        "kernel": [Kernel, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_candidates": [Interval(Integral, 1, None, closed="left"), None],
        "rho": [Interval(Real, 0, None, closed="left"), None],
        "sampler": [StrOptions(set(SAMPLERS)), Sampler],
        "random_state": ["random_state", np.random.Generator],
    }

    atoms_: WaveAtoms

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 256,
        *,
        n_candidates: int | None = None,
        rho: float | None = None,
        sampler: str | Sampler = "iid",
        random_state: Any = None,
    ):
        store(self, locals())

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        self.classes_, codes = class_codes(type(self).__name__, X.shape[0], y)
        check_even(self.n_components)
        n_wanted = max(1, self.n_components // 2)
        n_candidates = self.n_candidates or CANDIDATES * n_wanted
        proposal = RandomFourier(
            self.kernel_, 2 * n_candidates, sampler=self.sampler, random_state=as_key(rng)
        ).fit(X)
        self._check_proposal(proposal)
        rho = max(0.0, n_candidates / n_wanted - 1) if self.rho is None else float(self.rho)
        values = potentials(proposal.frequencies_, X, signs(codes))
        self.importance_ = chi_square_ball(values, rho)
        mass = float(proposal.weights_.sum())
        self._choose(proposal.frequencies_, mass, n_wanted, rng)

    def _check_proposal(self, proposal: RandomFourier) -> None:
        """Raise if the frequencies of the kernel do not have equal positive weights."""
        weights = proposal.weights_
        equal = np.isrealobj(weights) and np.allclose(weights, weights[0], rtol=1e-9)
        if not equal or weights[0] <= 0:
            raise ArgumentError(
                self,
                "kernel",
                "a positive definite kernel whose frequencies are drawn with equal weights, e.g. "
                "krein.kernels.Gaussian()",
                self.kernel_,
            )

    def _choose(
        self, frequencies: NDArray, mass: float, n_wanted: int, rng: np.random.Generator
    ) -> None:
        """Keep all frequencies of positive weight, or draw as many as there is room for."""
        q = self.importance_
        if np.count_nonzero(q) > n_wanted:
            drawn = rng.choice(len(q), n_wanted, p=q / q.sum())
            q = np.bincount(drawn, minlength=len(q)) / n_wanted
        kept = np.flatnonzero(q)
        atoms = WaveAtoms(frequencies[kept], mass * q[kept])
        if self.n_components == 1:  # no room for the two columns of a wave
            atoms = WaveAtoms(np.zeros((1, frequencies.shape[1])), np.array([mass]))
        self.atoms_, self.frequencies_, self.weights_ = atoms, atoms.frequencies, atoms.weights
        self.kernel_ = FromAtoms(atoms)
        self.form_ = Signature(np.ones(atoms.width))

    def _map(self, X: Any) -> NDArray:
        return self.atoms_.columns(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def potentials(frequencies: NDArray, X: Any, Y: NDArray) -> NDArray[np.floating]:
    """Return ``v_j = Σ_c |Σ_i y_ic exp(i ω_j·x_i)|²`` of each frequency.

    Parameters
    ----------
    frequencies : ndarray of shape (N, d)
        The frequencies ω_j.
    X : {ndarray, sparse matrix} of shape (n, d)
        The rows.
    Y : ndarray of shape (n, n_columns)
        Labels, each +1 or −1.
    """
    n = len(frequencies)
    sums = np.zeros((2 * n, Y.shape[1]))
    for rows in row_blocks(X.shape[0], 16 * n):
        waves = fourier_features(X[rows], frequencies, np.ones(n))
        sums += waves.T.astype(float) @ Y[rows]
    squares = np.sum(sums**2, axis=1)
    return squares[:n] + squares[n:]


def chi_square_ball(values: NDArray, rho: float) -> NDArray[np.floating]:
    """Return the chances q that maximise ``qᵀv`` subject to ``N Σ q² − 1 ≤ ρ``.

    The solution is ``q_j ∝ max(0, v_j − η)``, and its divergence does not decrease with the
    threshold η. Between two neighbours among the sorted values the k largest have positive
    chances; with their mean m and variance s² the divergence is ρ at
    ``(m − η)² = N s² / ((1 + ρ) k − N)``. If ρ is so large that the limit is not reached, the
    largest values share all weight equally.

    Parameters
    ----------
    values : ndarray of shape (N,)
        The values v ≥ 0.
    rho : float
        The limit ρ ≥ 0 of the divergence from equal chances.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.importance import chi_square_ball
    >>> chi_square_ball(np.array([3.0, 2.0, 1.0]), rho=0.5).round(3)
    array([0.622, 0.333, 0.045])
    """
    n, counts = len(values), np.arange(1, len(values) + 1)
    order = np.argsort(-values, kind="stable")
    top = float(values[order[0]])
    # Distances from the largest value: the variance of close values has more digits.
    below = (top - values[order]) / (top or 1.0)
    means = np.cumsum(below) / counts
    variances = np.maximum(np.cumsum(below**2) / counts - means**2, 0)
    # The divergence of the k largest with the threshold at the next value falls with k.
    reach = np.append(below[1:], np.inf) - means
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = n / counts * (1 + variances / reach**2) - 1
    k = 1 + int(np.argmax((reach > 0) & (divergence <= rho)))
    mean, slack = means[k - 1], (1 + rho) * k - n
    deviation = np.sqrt(n * variances[k - 1] / slack) if slack > 0 else np.inf
    q = np.zeros(n)
    tied = deviation == 0 or not np.isfinite(deviation)
    q[order[:k]] = 1 / k if tied else (1 + (mean - below[:k]) / deviation) / k
    return np.maximum(q, 0)
