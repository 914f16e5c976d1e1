"""Spherical random features (SRF): the best positive spectrum of a radial kernel."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from sklearn.utils._param_validation import Interval

from .._threads import one_blas_thread
from .._validation import are_unit, store
from ..features import RandomFourier
from ..features.geometry import FARTHEST, Range, check_products, farthest_on_sphere, measure_extent
from ..kernels import Kernel
from ..kernels._distances import largest
from ..kernels.errors import kernel_name
from ..measures import Measure, Part, TabulatedRadial
from ..measures.radial import Profile
from ..measures.special import sphere_wave
from ..samplers import Sampler

# Number of distances and of radii of the fit, and of its iterations.
N_DISTANCES, N_RADII, MAX_ITER = 100, 300, 100
# A sum of Gaussians whose positive part has a smaller mass is no spectrum.
NOTHING = 1e-100
# Entries of rows beyond this size have squared distances that may overflow.
LARGEST = 1e150


class SphericalRandomFeatures(RandomFourier):
    """Spherical random features (SRF): the radial kernel is replaced by a positive definite one.

    The spectral density is ``max(0, Σ_i c_i N(0, s_i² I))``, the positive part of a sum of
    Gaussians. L-BFGS fits the coefficients c_i and the scales s_i to the profile of the kernel on
    [0, 2], the distances of rows of norm 1. The density is scaled to the mass k(0). The features
    are random Fourier features of this density. They converge to the kernel of the density, which
    is positive definite, so an indefinite kernel keeps a bias.

    The authors treat polynomial kernels on rows of norm 1. Here the kernel may be any function of
    ‖x − y‖ with k(0) > 0; for other rows the profile is fitted up to the diameter of the data.

    Parameters
    ----------
    kernel : krein.kernels.Kernel, default=None
        A kernel of ‖x − y‖, or of ⟨x, y⟩ for rows of norm 1; None means ``Gaussian()``.
    n_components : int, default=256
        Number of features. It must be even, because each frequency has a cosine and a sine.
    n_gaussians : int, default=10
        Number of Gaussians.
    sampler : str or Sampler, default="iid"
        How frequencies are drawn, as in `krein.RandomFourier`. The authors draw them independently.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    coefficients_ : ndarray of shape (n_gaussians,)
        The coefficients c_i, positive or negative.
    scales_ : ndarray of shape (n_gaussians,)
        The scales s_i.
    measure_ : krein.measures.Measure
        The positive measure from which the frequencies were drawn.
    frequencies_ : ndarray of shape (n_components / 2, n_features_in_)
        The frequencies.
    weights_ : ndarray of shape (n_components / 2,)
        The weights, all of them ``2 k(0)/n_components``.
    form_ : krein.forms.Signature
        The identity.
    kernel_ : krein.kernels.Kernel
        The kernel whose profile was fitted.
    total_mass_ : float
        The mass k(0).
    masses_ : ndarray of shape (3,)
        The masses of μ_R⁺, μ_R⁻ and μ_I⁺, here k(0), 0 and 0.
    acceptance_rates_ : ndarray of shape (1,)
        Share of accepted proposals, which is 1.
    n_features_in_ : int
        Number of columns of the training data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    See Also
    --------
    krein.RandomFourier : Signed and complex measures, which have no such bias.

    References
    ----------
    J. Pennington, F. X. Yu, S. Kumar. Spherical Random Features for Polynomial Kernels. NIPS 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import normalize
    >>> from krein.kernels import SphericalPolynomial
    >>> from krein.rivals import SphericalRandomFeatures
    >>> X = normalize(np.random.default_rng(0).standard_normal((20, 3)))
    >>> features = SphericalRandomFeatures(SphericalPolynomial(), 64, random_state=0).fit(X)
    >>> features.measure_
    <positive measure on R^3, 1 parts, total mass 1>
    """

    _parameter_constraints = {
        **{
            name: RandomFourier._parameter_constraints[name]
            for name in ("kernel", "n_components", "sampler", "random_state")
        },
        "n_gaussians": [Interval(Integral, 1, None, closed="left")],
    }

    # One part of constant phase, so nothing is split, shared or extended.
    decomposition, masses, allocation, weights = "polar", "exact", "neyman", "measure"
    measure, diameter, extension, jacobian = None, "auto", "domain", True

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 256,
        *,
        n_gaussians: int = 10,
        sampler: str | Sampler = "iid",
        random_state: Any = None,
    ):
        store(self, locals())

    def _measure(self, kernel: Kernel, X: Any) -> Measure:
        profile, name = kernel.radial_profile, kernel_name(kernel)
        if profile is None:
            raise ValueError(
                f"SphericalRandomFeatures needs a function of ‖x − y‖, and {name} is not one. Use "
                "krein.Nystrom, which only needs kernel values."
            )
        at_zero = float(np.asarray(profile(np.zeros(1)))[0])
        if not 0 < at_zero < np.inf:
            raise ValueError(
                f"SphericalRandomFeatures needs k(0) > 0, the mass of its positive spectrum, but "
                f"{name} has k(0) = {at_zero:.4g}. Use krein.RandomFourier, whose spectrum is "
                "signed."
            )
        if largest(X) > LARGEST:
            raise ValueError(
                "The squared distances of the rows of X exceed the largest float: divide the rows "
                "by a number of about their size, and the width of the kernel by the same number."
            )
        extent = measure_extent(X)
        check_products(kernel, extent)
        on_sphere = kernel.traits.unit_rows or are_unit(X)
        diameter = farthest_on_sphere(kernel) if on_sphere else extent.diameter or 1.0
        # Six digits: L-BFGS would amplify the rounding errors of the distances of CSR rows.
        diameter = float(f"{diameter:.6g}")
        fit = PositivePart(profile, X.shape[1], diameter, int(self.n_gaussians))
        self.scales_, self.coefficients_ = fit.scales, fit.coefficients
        measure = Measure([Part(fit.law, at_zero)], diameter)
        self._range = None
        if not on_sphere:  # no rows on the sphere are farther apart
            reach = FARTHEST * diameter
            self._range = Range.of(extent, diameter, reach, fit.interpolated(reach), profile)
        return measure


class PositivePart:
    """The positive part of a sum of Gaussians whose kernel is nearest to a radial profile.

    Parameters
    ----------
    profile : callable
        The kernel as a function of z = ‖x − y‖, with k(0) > 0.
    dim : int
        Dimension of the data.
    diameter : float
        The profile is fitted on [0, diameter], in the mean square.
    n_gaussians : int
        Number of Gaussians.

    Attributes
    ----------
    scales, coefficients : ndarray of shape (n_gaussians,)
        The scales s_i and the coefficients c_i of the densities of the radius.
    law : krein.measures.TabulatedRadial
        The positive part, of mass 1.
    """

    def __init__(self, profile: Profile, dim: int, diameter: float, n_gaussians: int):
        from scipy.optimize import minimize

        z = np.linspace(0, diameter, N_DISTANCES)
        values = np.asarray(profile(z), dtype=float)
        self.dim, self._at_zero, self._target = dim, values[0], values / values[0]
        low, high = self._band(z)
        below, above = max(np.sqrt(dim) - 6, 1e-2), np.sqrt(dim) + 6
        self.radii = np.append(0.0, np.geomspace(low * below, high * above, N_RADII))
        widths = np.diff(self.radii)
        self._steps = (np.append(0.0, widths) + np.append(widths, 0.0)) / 2
        self._waves = sphere_wave(dim, np.outer(self.radii, z))
        start = np.geomspace(low, high, n_gaussians + 2)[1:-1]
        theta = np.concatenate([np.log(start), np.full(n_gaussians, 1 / n_gaussians)])
        # Not better than the start, so that the search never ends without a spectrum.
        self._loss_of_nothing = max(float(np.mean(self._target**2)), self.loss(theta)[0])
        bounds = [(np.log(low), np.log(high))] * n_gaussians + [(None, None)] * n_gaussians
        options = {"maxiter": MAX_ITER, "ftol": 1e-14, "gtol": 1e-10}
        with one_blas_thread():  # the matrices are small
            found = minimize(self.loss, theta, jac=True, bounds=bounds, options=options)
        self.scales, self.coefficients = np.exp(found.x[:n_gaussians]), found.x[n_gaussians:]
        density = np.maximum(self._densities(self.scales).T @ self.coefficients, 0)
        self.law = TabulatedRadial(dim, self.radii, density)

    def interpolated(self, reach: float) -> Profile:
        """Return the kernel of the positive part as a function of z in [0, reach], from a table."""
        z = np.linspace(0, reach, N_DISTANCES)
        values = self._at_zero * self.law.characteristic(z[:, None] * np.eye(1, self.dim))
        return lambda distances: np.interp(distances, z, values)

    def _band(self, z: NDArray) -> tuple[float, float]:
        """Return the smallest and the largest scale at which the profile varies."""
        spread = np.abs(self._target - 1)
        first = z[max(1, int(np.argmax(spread >= spread.max() / 2)))]
        return 0.05 / z[-1], max(4 / first, 1 / z[-1])

    def _densities(self, scales: NDArray) -> NDArray[np.floating]:
        """Return the densities of the radii of N(0, s² I), shape (n_gaussians, n_radii)."""
        t = self.radii / scales[:, None]
        with np.errstate(divide="ignore"):
            powers = (self.dim - 1) * np.log(t) if self.dim > 1 else 0.0
        constant = (1 - self.dim / 2) * np.log(2) - gammaln(self.dim / 2)
        return np.exp(constant + powers - t**2 / 2) / scales[:, None]

    def loss(self, theta: NDArray) -> tuple[float, NDArray[np.floating]]:
        """Return the mean squared error of the kernel relative to k(0), and its gradient.

        Parameters
        ----------
        theta : ndarray of shape (2 n_gaussians,)
            The logarithms of the scales, and the coefficients.
        """
        scales, coefficients = np.exp(theta[: len(theta) // 2]), theta[len(theta) // 2 :]
        densities = self._densities(scales)
        mixture = coefficients @ densities
        masses = np.maximum(mixture, 0) * self._steps
        total = masses.sum()
        if total < NOTHING:
            return self._loss_of_nothing, np.zeros(len(theta))
        found = masses @ self._waves / total
        error = found - self._target
        # The derivative of the error with respect to the mixture, where it is positive.
        slopes = 2 / len(error) / total * (self._waves @ error - found @ error)
        slopes *= self._steps * (mixture > 0)
        stretched = densities * (np.square(self.radii / scales[:, None]) - self.dim)
        gradient = np.concatenate([coefficients * (stretched @ slopes), densities @ slopes])
        return float(np.mean(error**2)), gradient
