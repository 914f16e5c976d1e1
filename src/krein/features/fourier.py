"""Random Fourier features for positive, signed and complex measures."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._hashing import Draws, Salt, as_key, hash_rows
from .._validation import are_unit, outside_level, store
from ..atoms import Atoms
from ..kernels import FromMeasure, Kernel, NoMeasureError
from ..kernels._spectrum import NYSTROM_HINT
from ..kernels.values import check_values, warn_uninformative
from ..measures import Measure
from ..published.masses import part_masses, subset_weights
from ..rows import take
from ..samplers import SAMPLERS, Sampler
from .base import RandomMap, check_even, sample_rows
from .calibrate import MAX_ROWS, calibrate_fourier
from .geometry import FARTHEST, Range, check_products, farthest_on_sphere, measure_extent
from .waves import WaveMap

# `fit` warns if the error of the features exceeds this many times the largest kernel value.
HOPELESS = 10


class RandomFourier(WaveMap, RandomMap):
    """Random Fourier features for stationary kernels that need not be definite or symmetric.

    The map draws frequencies ω_j with complex weights c_j from the spectral measure of the kernel,
    so that ``k(x, y) ≈ Re Σ_j c_j exp(i ω_j·(x − y)) = Z(x)ᵀ M Z(y)``. The features are
    ``Z(x) = √|c_j| [cos ω_j·x, sin ω_j·x]``. M is the identity, a signature or a set of rotations.
    Signed measures give the random features of Liu et al. (2021) and complex measures the AsK-RFF
    of He et al. (2022), both in polar form by default.

    Parameters
    ----------
    kernel : krein.kernels.Kernel, default=None
        The kernel; None means ``Gaussian()``. A kernel of ⟨x, y⟩ needs unit rows.
    n_components : int, default=256
        Number of features. It must be even, because each frequency has a cosine and a sine. With 1
        the only feature is a constant.
    sampler : str or Sampler, default="orthogonal"
        How frequencies are drawn: "iid", "orthogonal", "qmc", "importance", "leverage",
        "rejection" or a sampler of `krein.samplers`.
    decomposition : {"polar", "jordan"}, default="polar"
        "polar" draws from |μ| and puts the phase into the weight. "jordan" splits μ by sign, as in
        the papers; its mass and hence its variance are larger. A part without mass is skipped, and
        its share of the frequencies goes to the other parts.
    masses : {"exact", "subset"}, default="exact"
        Masses of the Jordan parts. "exact" takes the masses of the measure. "subset" fits the
        masses to the kernel on `n_mass_rows` rows, as in Algorithm 2 of the asymmetric paper (eq.
        12, corrected). "subset" needs ``decomposition="jordan"``.
    n_mass_rows : int, default=50
        Number of rows N_s on which ``masses="subset"`` fits the masses. The rows are drawn by their
        content.
    allocation : {"neyman", "equal"}, default="neyman"
        How the parts of the measure share the frequencies: by their variance on the data, or
        equally as in the papers.
    weights : {"measure", "calibrated"}, default="measure"
        "measure" takes the weights of the measure, which are unbiased. "calibrated" fits the
        weights to the kernel on up to 1000 rows: they depend on the data and are not unbiased, but
        the error is 2-10 times smaller. A calibrated weight may change its sign, so the
        approximation of a positive definite kernel may be indefinite.
    measure : krein.measures.Measure, default=None
        Measure to draw from, if no kernel is given.
    diameter : "auto" or float, default="auto"
        Diameter of the data. It matters only for kernels whose measure depends on the range of the
        data. "auto" estimates it.
    extension : {"domain", "zero"}, default="domain"
        How a radial kernel without a closed-form measure is extended beyond the diameter of the
        data. "domain" takes the extension of least mass. "zero" extends by zero, as in the
        signed-measure paper; if all rows have norm 1, the diameter is then 2, that of the sphere.
        The attribute `kernel_` is the same for both. Kernels with a closed form need no extension.
    jacobian : bool, default=True
        False omits the factor r^(d−1) of the radial density, as printed in the signed-measure
        paper: the features then converge to another kernel than `kernel_`. False needs
        ``extension="zero"``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_components / 2, n_features_in_)
        The frequencies ω_j.
    weights_ : ndarray of shape (n_components / 2,)
        The weights c_j. They are complex if the kernel is not symmetric.
    form_ : krein.forms.Form
        The form M.
    kernel_ : krein.kernels.Kernel
        The kernel that was fitted, with all parameters resolved.
    measure_ : krein.measures.Measure
        The measure from which the frequencies were drawn.
    total_mass_ : float
        Total mass of the measure. The variance of the features grows with its square.
    masses_ : ndarray of shape (3,)
        The masses of μ_R⁺, μ_R⁻ and μ_I⁺ that the weights carry: sums of the positive real parts,
        of the negative real parts and of the imaginary parts (halved).
    acceptance_rates_ : ndarray of shape (n_parts,)
        Share of accepted proposals of each part of the measure. It is 1 unless the parts of a
        `krein.measures.DensityRatio` are drawn with ``decomposition="jordan"``.
    n_features_in_ : int
        Number of columns of the training data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    See Also
    --------
    RandomGegenbauer : Features for kernels of ⟨x, y⟩ on the sphere.

    References
    ----------
    F. Liu, X. Huang, Y. Chen, J. Suykens. Fast Learning in Reproducing Kernel Kreĭn Spaces via
    Signed Measures. AISTATS 2021. Eq. 3.1 and 3.2, corrected. The printed method:
    ``RandomFourier(kernel, extension="zero", jacobian=False, sampler="rejection",
    allocation="equal")``.

    M. He, F. He, F. Liu, X. Huang. Random Fourier Features for Asymmetric Kernels. 2022.
    Eq. 7 and 8. The printed method: ``RandomFourier(kernel, decomposition="jordan",
    masses="subset", sampler="iid", allocation="equal")``.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import RandomFourier
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).random((200, 4))
    >>> kernel = DeltaGaussian(sigma=1.0, sigma_neg=10.0)
    >>> features = RandomFourier(kernel, n_components=256, random_state=0).fit(X)
    >>> features.form_
    Signature(252+, 4-)
    >>> K = kernel(X)
    >>> bool(np.linalg.norm(features.approximate_kernel(X) - K) < 0.1 * np.linalg.norm(K))
    True
    """

    _parameter_constraints = {
        "kernel": [Kernel, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "sampler": [StrOptions(set(SAMPLERS)), Sampler],
        "decomposition": [StrOptions({"polar", "jordan"})],
        "masses": [StrOptions({"exact", "subset"})],
        "n_mass_rows": [Interval(Integral, 1, None, closed="left")],
        "allocation": [StrOptions({"neyman", "equal"})],
        "weights": [StrOptions({"measure", "calibrated"})],
        "measure": [Measure, None],
        "diameter": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "extension": [StrOptions({"domain", "zero"})],
        "jacobian": ["boolean"],
        "random_state": ["random_state", np.random.Generator],
    }

    measure_: Measure

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 256,
        *,
        sampler: str | Sampler = "orthogonal",
        decomposition: str = "polar",
        masses: str = "exact",
        n_mass_rows: int = 50,
        allocation: str = "neyman",
        weights: str = "measure",
        measure: Measure | None = None,
        diameter: float | str = "auto",
        extension: str = "domain",
        jacobian: bool = True,
        random_state: Any = None,
    ):
        store(self, locals())

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        check_even(self.n_components)
        self._check_printed()
        self._check_sphere(X)
        self.measure_ = self._known_measure(X)
        self.total_mass_ = self.measure_.total_mass
        self._draw(X, rng)
        self._check_mass(X, rng)

    def _check_printed(self) -> None:
        """Raise if an option of a published method lacks the option that it belongs to."""
        if self.masses == "subset" and self.decomposition == "polar":
            raise ValueError(
                "masses='subset' fits the masses of the Jordan parts, but decomposition='polar' "
                "has no such parts: use decomposition='jordan', or masses='exact'."
            )
        if not self.jacobian and self.extension == "domain":
            raise ValueError(
                "jacobian=False belongs to the extension by zero, but extension='domain': use "
                "extension='zero', or jacobian=True."
            )

    def _check_mass(self, X: Any, rng: np.random.Generator) -> None:
        """Warn if the mass is so large that the features are mostly noise."""
        rows = sample_rows(X, 50, rng)
        K = check_values(self.kernel_, self.kernel_(rows))
        warn_uninformative(self.kernel_, K, rows)
        size = float(np.abs(K).max())
        error = float(np.abs(self._map(rows) @ self._map_dual(rows).T - K).max())
        if error > HOPELESS * size > 0:
            warnings.warn(
                f"The spectrum of {self.kernel_!r} has the mass {self.total_mass_:.3g}, but the "
                f"kernel is at most {size:.3g} on these rows, so {self.n_components} features are "
                "mostly noise: use krein.Nystrom, or a narrower kernel.",
                UserWarning,
                stacklevel=outside_level(),
            )

    def _resolved_kernel(self) -> Kernel:
        if self.measure is not None:
            if self.kernel is not None:
                raise ValueError("Pass kernel or measure, not both: set one of them to None.")
            return FromMeasure(self.measure)
        return super()._resolved_kernel()

    def _known_measure(self, X: Any) -> Measure:
        """Return the measure of the kernel; the error of a kernel without one says why."""
        try:
            return self._measure(self.kernel_, X)
        except NoMeasureError as error:
            found = self.kernel_.stationarity(X)
            if not found:
                raise NoMeasureError(f"{found} {NYSTROM_HINT}") from None
            if not self.kernel_.is_symmetric:
                raise
            hint = "Or use krein.MixtureFourier, which infers a spectrum from kernel values."
            raise NoMeasureError(f"{error} {hint}") from None

    def _measure(self, kernel: Kernel, X: Any) -> Measure:
        """Return the measure of the kernel; store the range of the data if it matters."""
        self._range = None
        options: dict[str, Any] = {"extension": self.extension, "jacobian": self.jacobian}
        options["n_atoms"] = max(self.n_components // 2, 1)
        if kernel.traits.has_closed_form:
            return kernel.measure(X.shape[1])
        if not isinstance(self.diameter, str):
            return kernel.measure(X.shape[1], float(self.diameter), **options)
        if self.extension == "zero" and are_unit(X):
            return kernel.measure(X.shape[1], 2.0, **options)
        extent = measure_extent(X)
        check_products(kernel, extent)
        # If all rows are equal, any positive diameter will do.
        diameter = extent.diameter or 1.0
        diameter = min(diameter, 2.0) if kernel.traits.unit_rows else diameter
        measure = kernel.measure(X.shape[1], diameter, **options)
        if self.extension == "zero":
            return measure
        axis = np.eye(1, X.shape[1])

        def exact(z: NDArray) -> NDArray:
            profile = kernel.radial_profile
            # A sum may contain a stationary kernel that is not radial; evaluate it along one axis.
            return kernel(z[:, None] * axis, 0 * axis)[:, 0] if profile is None else profile(z)

        reach = farthest_on_sphere(kernel) if kernel.traits.unit_rows else FARTHEST * diameter
        self._range = Range.of(
            extent, measure.diameter, reach, lambda z: measure.kernel(z[:, None] * axis), exact
        )
        return measure

    def _draw(self, X: Any, rng: np.random.Generator) -> None:
        rows = sample_rows(X, MAX_ROWS, rng)
        if self.n_components == 1:
            self._set_constant(float(self.kernel_(rows).mean()), X.shape[1])
            return
        source = self.measure_.jordan() if self.decomposition == "jordan" else self.measure_
        n_atoms = self.n_components // 2
        atoms = source.atoms(n_atoms, self.sampler, rng, allocation=self.allocation, X=rows)
        self.acceptance_rates_ = np.array([part.law.acceptance for part in source.parts])
        weights = atoms.weights
        if self.masses == "subset":
            few = self._mass_rows(X, rng)
            at_zero = float(self.kernel_.diag(few[:1])[0])
            weights = subset_weights(atoms, few, self.kernel_(few), at_zero)
        if self.weights == "calibrated":
            K = self.kernel_(rows)
            weights = calibrate_fourier(atoms.frequencies, weights, rows, K)
        self._set_atoms(Atoms(atoms.frequencies, weights))
        self.masses_ = part_masses(weights)

    def _mass_rows(self, X: Any, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the rows on which masses are fitted, drawn by their content."""
        drawn = Draws(hash_rows(X), as_key(rng)).first(self.n_mass_rows, Salt.SAMPLE)
        return sample_rows(take(X, drawn), self.n_mass_rows, rng)

    def _set_constant(self, value: float, dim: int) -> None:
        """Store one constant column, the mean kernel value."""
        super()._set_constant(value, dim)
        self.masses_, self.acceptance_rates_ = part_masses(self.weights_), np.ones(1)

    def _check_rows(self, X: Any) -> None:
        super()._check_rows(X)
        self._check_range(X)

    def _map_dual(self, X: Any) -> NDArray:
        if np.iscomplexobj(self.weights_):
            # Z Mᵀ are the same waves with the opposite phase, computed in one pass.
            self._check_rows(X)
            phases = -np.angle(self.weights_)
            return self._waves(X, phases)
        return super()._map_dual(X)
