"""Fourier features whose frequencies and weights are inferred from the values of a kernel."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.sparsefuncs import min_max_axis

from .._hashing import Draws, Salt, as_key, hash_rows
from .._validation import ArgumentError, are_unit, check_vector, outside_level, store
from ..atoms import Atoms
from ..features.base import FewRowsWarning, check_even, sample_rows
from ..features.waves import WaveMap
from ..kernels import Kernel
from ..kernels.errors import kernel_name
from ..kernels.values import check_values, warn_uninformative
from ..rows import take
from .axes import Columns, axes_of
from .dirichlet import SpectralMixture
from .inference import Inference, Spectrum, allocated, white
from .sketch import Sketch, default_pairs, error_of_pairs
from .split import NULL_SHARE, shift_split, spectral_split

# The standard deviation of the values with noise="auto", in units of k(0).
NOISE = {"variational": 0.003, "taylor": 0.01}
# If the standard deviation of the values is below WIDE, in units of k(0), the noise is smaller in
# proportion, but not below the share LEAST. A kernel such as tanh on unit rows is a large constant
# plus a small function. With more noise the constant alone would explain its values.
WIDE, LEAST = 0.02, 1e-3
# The weights of m frequencies are about 1/m, so P pairs determine each frequency with a precision
# proportional to P/(m σ)². If √P/m is below 1/CROWDED, the noise σ falls with √P/m: otherwise the
# prior would count more and more against the values, and wider maps would have larger errors.
CROWDED = 0.9
# A map whose error off the diagonal exceeds this share of the values is hardly better than zeros,
# whose share is 1.
MISFIT = 0.9
# A matrix is symmetric if it differs from its transpose by at most this share of its values.
ASYMMETRY = 1e-6


class MixtureFourier(WaveMap):
    """Fourier features for any kernel of x − y, inferred from values of the kernel.

    A kernel without a known spectrum (TL1, tanh on unit rows, a function of the user) can still be
    written as ``k(x, y) ≈ Σ_m c_m cos ω_m·(x − y)`` with some frequencies and signed weights. This
    map infers the frequencies and weights from the values of the kernel on pairs of training rows
    (RFF-DIGMM, corrected). Frequencies of positive weight and frequencies of negative weight form
    one branch each; the prior of a branch is a Dirichlet process mixture of Gaussians. The features
    are ``Z(x) = √|c_m| [cos ω_m·x, sin ω_m·x]`` at the expected frequencies, and the form holds the
    signs.

    The map depends on the data: it approximates the kernel where the training rows are, with an
    error that is several times smaller than that of random frequencies with fitted weights. It
    does not make a better classifier than Gaussian features of the same width.

    Parameters
    ----------
    kernel : krein.kernels.Kernel, default=None
        The kernel; None means ``Gaussian()``. It must be symmetric and a function of x − y on the
        given rows; on unit rows a kernel of ⟨x, y⟩ is a function of x − y.
    n_components : int, default=256
        Number of features, twice the number of frequencies. With 1 the only feature is a constant.
    inference : {"variational", "taylor"}, default="variational"
        "variational" maximises the evidence lower bound with the expected likelihood in closed
        form. "taylor" is the update that the paper prints, for comparison: its frequencies are
        drawn from the fitted mixture, and one mass per branch is fitted.
    split : {"spectral", "shift"}, default="spectral"
        How the kernel matrix of the subsample becomes a positive and a negative part: by the signs
        of its eigenvalues, or as ``(K + cI) − cI`` with ``c = −τ λ_min`` as in the paper's program.
        The shift leaves no negative part off the diagonal, so all weights are positive.
    tau : float, default=1.1
        The shift τ in units of −λ_min, at least 1. Off the diagonal it changes nothing.
    n_mixture : int, default=5
        Number of components T at which the Dirichlet process of a branch is truncated. Values of 1,
        5 and 10 give the same error.
    n_subsample : int, default=800
        Number of rows whose kernel matrix is computed. The rows are drawn by their content.
    n_pairs : int or "auto", default="auto"
        Number of pairs of these rows that are fitted. "auto" takes as many pairs as frequencies
        times columns, twice as many with principal axes, at least 4000 and at most 40,000.
    noise : float or "auto", default="auto"
        Standard deviation of the noise of the values, in units of k(0). "auto" is 0.003. It is
        smaller with many frequencies, ``0.0027 √P / m`` for m frequencies and P pairs, and falls in
        proportion to the standard deviation of the values if this is below 0.02. For "taylor" it is
        0.01. If k(0) is nearly zero, the unit is the largest value.
    joint : bool or "auto", default="auto"
        Whether both branches are refined together on the kernel itself. "auto" refines them if
        there are two branches; True refuses a kernel with one branch.
    max_iter : int, default=20
        Largest number of rounds of a phase.
    tol : float, default=1e-5
        A phase ends if its objective grows by less than `tol`, relative to its size. With "taylor"
        it ends if the memberships change by at most `tol`.
    weight_concentration_prior : float, default=1.0
        Concentration α₀ of the Dirichlet process.
    mean_prior : array-like of shape (n_features,), default=None
        Mean m₀ of the means of the components; None means 0.
    degrees_of_freedom_prior : float, default=None
        Degrees of freedom ν₀ of the precisions; None means the number of columns, and 1 for
        diagonal precisions.
    covariance_prior : array-like of shape (n_features, n_features), default=None
        Covariance R₀⁻¹ of the means, and inverse of the expected precision. None means the second
        moments of the frequencies at the start.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the subsample, of the pairs and of the first frequencies.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_components // 2, n_features_in_)
        The expected frequencies ω_m.
    weights_ : ndarray of shape (n_components // 2,)
        The signed weights c_m. Their sum approximates k(0).
    form_ : krein.forms.Signature
        The signs of the columns.
    mixture_ : dict of str to SpectralMixture
        Weights, means and precisions of the mixtures of the branches "positive" and "negative";
        a branch without frequencies is left out. With more than 100 columns the precisions are
        diagonal in the directions ``mixture_[…].axes``.
    objective_ : dict of str to ndarray
        The objective after each round of the phases "positive", "negative" and "joint": the
        evidence lower bound with the term that keeps the weights of a branch even. It does not
        decrease within a phase. With "taylor" it is the change of the memberships, as the printed
        update has no objective.
    n_iter_ : int
        Number of rounds of all phases.
    negative_share_ : float
        Share of the negative part in the traces of the two parts of the kernel matrix. A part below
        0.01 has no frequencies.
    kernel_ : krein.kernels.Kernel
        The kernel, with all parameters resolved.
    n_features_in_ : int
        Number of columns of the training data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    See Also
    --------
    RandomFourier : Random frequencies of a kernel whose spectrum is known; unbiased.
    Nystrom : Features of any kernel; more accurate at equal width if the matrix is of low rank.

    Notes
    -----
    The cost of `fit` grows with the number of pairs times the number of frequencies, and does not
    depend on the number of rows beyond drawing the subsample. With more than 100 columns the
    frequencies lie in the span of the principal axes that hold 99 % of the squared distances of the
    subsample. With more than 131,000 pairs times frequencies many sums are computed in single
    precision. Another computer may then find frequencies that differ in the fourth digit and
    approximate the kernel equally well.

    References
    ----------
    F. Liu, X. Huang, L. Shi, J. Yang, J. Suykens. A Double-Variational Bayesian Framework in Random
    Fourier Features for Indefinite Kernels. IEEE TNNLS 31(8), 2020. Algorithm 1, corrected. The
    printed method: ``MixtureFourier(kernel, inference="taylor", split="shift", n_subsample=5)``.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import MixtureFourier, approximation_error
    >>> from krein.kernels import TL1  # no spectral measure of it is known
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> features = MixtureFourier(TL1(rho=2.0), 32, n_subsample=300, random_state=0).fit(X)
    >>> bool(approximation_error(features, X) < 0.05)
    True
    """

    _parameter_constraints = {
        "kernel": [Kernel, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "inference": [StrOptions({"variational", "taylor"})],
        "split": [StrOptions({"spectral", "shift"})],
        "tau": [Interval(Real, 1, None, closed="left")],
        "n_mixture": [Interval(Integral, 1, None, closed="left")],
        "n_subsample": [Interval(Integral, 2, None, closed="left")],
        "n_pairs": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "noise": [StrOptions({"auto"}), Interval(Real, 1e-12, 1e12, closed="both")],
        "joint": [StrOptions({"auto"}), "boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "weight_concentration_prior": [Interval(Real, 0, None, closed="neither")],
        "mean_prior": ["array-like", Real, None],
        "degrees_of_freedom_prior": [Interval(Real, 0, 1e100, closed="right"), None],
        "covariance_prior": ["array-like", None],
        "random_state": ["random_state", np.random.Generator],
    }

    mixture_: dict[str, SpectralMixture]
    objective_: dict[str, NDArray[np.floating]]

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 256,
        *,
        inference: str = "variational",
        split: str = "spectral",
        tau: float = 1.1,
        n_mixture: int = 5,
        n_subsample: int = 800,
        n_pairs: int | str = "auto",
        noise: float | str = "auto",
        joint: bool | str = "auto",
        max_iter: int = 20,
        tol: float = 1e-5,
        weight_concentration_prior: float = 1.0,
        mean_prior: ArrayLike | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: ArrayLike | None = None,
        random_state: Any = None,
    ):
        store(self, locals())

    # --- checks -----------------------------------------------------------------------------------

    def _check_kernel(self, X: Any) -> None:
        """Raise if the kernel has no signed spectrum on these rows."""
        name = kernel_name(self.kernel_)
        if not self.kernel_.is_symmetric:
            raise ValueError(
                f"MixtureFourier needs a symmetric kernel, but {name} is not symmetric: use "
                "krein.RandomFourier or krein.Nystrom, or kernel.symmetric_part."
            )
        self._on_sphere = False
        self._check_sphere(X)
        found = self.kernel_.stationarity(X)
        if not found:
            raise ValueError(f"{found} MixtureFourier needs a kernel of x − y: use krein.Nystrom.")
        # A kernel of ⟨x, y⟩ is a function of x − y as long as all rows have norm 1.
        self._on_sphere = are_unit(X) and not self.kernel_.stationarity(2 * X)

    @property
    def _unit_rows(self) -> bool:
        return self.kernel_.traits.unit_rows or self._on_sphere

    def _check_matrix(self, K: NDArray, rows: NDArray) -> None:
        """Raise if the values are all zero or not symmetric; warn if they say nothing."""
        name, size = kernel_name(self.kernel_), float(np.abs(K).max())
        if size == 0:
            raise ValueError(
                f"{name} is zero for all pairs of {len(rows)} rows, so there is nothing to infer: "
                "choose a wider kernel."
            )
        if np.abs(K - K.T).max() > ASYMMETRY * size:
            raise ValueError(
                f"MixtureFourier needs a symmetric kernel, but {name} has other values for (y, x) "
                "than for (x, y): use krein.Nystrom, and declare symmetric=False."
            )
        warn_uninformative(self.kernel_, K, rows)

    def _warn_constant(self, X: Any) -> None:
        low, high = min_max_axis(X, axis=0) if hasattr(X, "tocsr") else (X.min(0), X.max(0))
        still = np.flatnonzero(low == high)
        if len(still) and X.shape[0] > 1:
            named = ", ".join(map(str, still[:5])) + (", …" if len(still) > 5 else "")
            self._warn(
                f"{len(still)} of {X.shape[1]} columns of X are constant ({named}), so nothing is "
                "known about how the kernel depends on them, and the map ignores them: leave them "
                "out."
            )

    def _warn_misfit(self, K: NDArray, rows: NDArray) -> None:
        """Warn if the map is far from the kernel on pairs of the subsample; few were fitted."""
        Z = self._map(rows)
        error = error_of_pairs(K, Z @ self.form_.dual(Z).T)
        if error > MISFIT:
            self._warn(
                f"The map differs from {kernel_name(self.kernel_)} by {100 * error:.0f} % of the "
                f"kernel's values on pairs of {len(K)} rows, and a map of zeros by 100 %: use more "
                "components, more pairs or krein.Nystrom. krein.compare shows their errors."
            )

    @staticmethod
    def _warn(sentence: str, kind: type[UserWarning] = UserWarning) -> None:
        warnings.warn(sentence, kind, stacklevel=outside_level())

    # --- learning ---------------------------------------------------------------------------------

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        check_even(self.n_components)
        self._check_kernel(X)
        self._warn_constant(X)
        rows = self._subsample(X, as_key(rng), rng)
        K = check_values(self.kernel_, np.asarray(self.kernel_(rows), dtype=np.float64))
        if self.n_components == 1:
            self._set_constant(float(K.mean()), X.shape[1])
            self._store(Spectrum(Atoms(self.frequencies_, self.weights_)), 0.0)
            return
        self._check_matrix(K, rows)
        settings = self._settings(rows)
        m, d, axes = self.n_components // 2, X.shape[1], settings.axes
        n_pairs = default_pairs(m, d, axes.dim) if isinstance(self.n_pairs, str) else self.n_pairs
        split = shift_split(K, self.tau) if self.split == "shift" else spectral_split(K)
        sketch = Sketch.of(axes.coordinates(rows), K, split, n_pairs, as_key(rng))
        if sketch.is_zero:
            found = white(sketch, axes, m, rng)
        else:
            settings = self._with_noise(settings, sketch, m)
            found = settings.fit(sketch, self._counts(sketch, m), rng)
        self._set_atoms(found.atoms)
        self._store(found, sketch.share)
        if not np.any(self.weights_):
            cure = "split='spectral'" if self.split == "shift" else "krein.Nystrom"
            self._warn(
                f"No waves of positive weight fit {kernel_name(self.kernel_)} on the pairs, so all "
                f"features are zero: use {cure}, or more components."
            )
        elif self.inference == "variational" and not sketch.is_zero:
            self._warn_misfit(K, rows)

    def _store(self, found: Spectrum, share: float) -> None:
        self.mixture_, self.objective_ = found.mixtures, found.objective
        self.n_iter_ = sum(map(len, found.objective.values()))
        self.negative_share_ = share

    def _subsample(self, X: Any, key: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return distinct rows, drawn by their content and in an order of their content."""
        drawn = Draws(hash_rows(X), key).first(self.n_subsample, Salt.SAMPLE)
        if len(drawn) < 2 and self.n_components > 1:
            raise ValueError(
                "MixtureFourier needs at least 2 distinct rows, because it fits the kernel on "
                f"pairs of rows, but X has n_samples={X.shape[0]} with {len(drawn)} distinct row."
            )
        if len(drawn) < self.n_subsample:
            self._warn(
                f"There are {len(drawn)} distinct rows, fewer than n_subsample="
                f"{self.n_subsample}: all of them are used.",
                FewRowsWarning,
            )
        return sample_rows(take(X, drawn), self.n_subsample, rng)

    def _counts(self, sketch: Sketch, m: int) -> dict[float, int]:
        """Return the number of frequencies of each branch."""
        signs = list(sketch.parts)
        if self.joint is True and len(signs) < 2:
            raise ValueError(
                "joint=True refines positive and negative frequencies together, but "
                f"{kernel_name(self.kernel_)} has values of one sign only on these rows: its "
                f"negative part holds {100 * sketch.share:.2g} % of the spectrum, and parts below "
                f"{100 * NULL_SHARE:g} % are left out. Use joint='auto'."
            )
        if len(signs) == 2 and m > 1:
            return allocated(m, sketch.share)
        if len(signs) == 2:
            self._warn(
                f"n_components={self.n_components} is too small for the positive and the negative "
                "part of the kernel, so only the larger part is fitted: use at least 4."
            )
            # The traces are equal if k(0) = 0, so the pairs decide which part is larger.
            signs.sort(key=lambda sign: -np.square(sketch.parts[sign]).sum())
        return {sign: m for sign in signs[:1]}

    def _settings(self, rows: NDArray) -> Inference:
        """Return the settings of the inference; raise if a prior does not fit the data."""
        dim = rows.shape[1]
        axes = Columns(dim) if self.inference == "taylor" else axes_of(rows)
        least = axes.covariances.order - 1
        degrees = self.degrees_of_freedom_prior
        if degrees is not None and not degrees > least:
            needed = f"a number above {least}, the number of columns minus 1"
            raise ArgumentError(self, "degrees_of_freedom_prior", needed, degrees)
        prior = self.mean_prior
        return Inference(
            self.inference,
            axes,
            self.n_mixture,
            NOISE[self.inference] if isinstance(self.noise, str) else float(self.noise),
            bool(self.joint),
            self.max_iter,
            self.tol,
            self.weight_concentration_prior,
            None if prior is None else check_vector(self, "mean_prior", prior, dim),
            degrees,
            None if self.covariance_prior is None else self._covariance(dim),
        )

    def _with_noise(self, settings: Inference, sketch: Sketch, m: int) -> Inference:
        """Return the settings with less noise if the values hardly vary or frequencies are many."""
        if not isinstance(self.noise, str) or self.inference == "taylor":
            return settings
        varies = float(np.clip(np.std(sketch.pairs.values) / WIDE, LEAST, 1))
        share = min(1.0, CROWDED * float(np.sqrt(len(sketch.pairs))) / m)
        return replace(settings, noise=varies * share * settings.noise)

    def _covariance(self, dim: int) -> NDArray[np.floating]:
        try:
            covariance = np.asarray(self.covariance_prior, dtype=float)
        except (TypeError, ValueError):  # rows of different lengths, or no numbers
            covariance = np.empty(0)
        square = covariance.shape == (dim, dim) and np.allclose(covariance, covariance.T)
        if not square or not np.linalg.eigvalsh(covariance)[0] > 0:
            needed = f"a symmetric positive definite matrix of shape {(dim, dim)}"
            raise ArgumentError(self, "covariance_prior", needed, self.covariance_prior)
        return covariance
