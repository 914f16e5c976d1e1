"""Kernels that are functions of the Euclidean distance, positive definite or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from .._validation import check_degree, check_positive, check_unit_rows
from ..measures import ExponentialMixture, Measure, Normal, Part, Student
from ..measures.special import matern_profile
from ._against import Shape, decay, linear_decay, quadratic_decay
from ._distances import in_units, norms
from .dot import Polynomial
from .profiles import Radial
from .traits import Traits

UNIT_CURE = "Scale the rows first, e.g. with sklearn.preprocessing.Normalizer."


class Gaussian(Radial):
    """The Gaussian kernel ``exp(−‖x − y‖² / 2σ²)``, positive definite.

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Bandwidth σ. The parameter ``gamma`` of scikit-learn is 1/(2σ²).
        "median" is the median distance between rows of the training data.

    Examples
    --------
    >>> from krein.kernels import Gaussian
    >>> k = Gaussian(sigma=2.0)
    >>> k([[0.0]], [[2.0]]).round(4)
    array([[0.6065]])
    >>> k.measure(dim=3)
    <positive measure on R^3, 1 parts, total mass 1>
    """

    traits = Traits(has_closed_form=True, is_stationary=True)

    def __init__(self, sigma: float | str = 1.0):
        self.sigma = sigma

    def _profile(self, z: NDArray) -> NDArray:
        return np.exp(-0.5 * np.square(in_units(z, self._width)))

    def _shape(self) -> Shape:
        return Shape(np.sqrt(2) * self._width, decay, is_of_square=True)

    def _closed_form(self, dim: int) -> Measure:
        return Measure([Part(Normal(dim, 1 / self._width))])

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating] | None:
        sigma = self._width
        return _exponential_series(sigma, n) if unit_rows else None


def _exponential_series(sigma: float, n: int) -> NDArray[np.floating]:
    """Return the first n Maclaurin coefficients of ``exp((u − 1)/σ²)``."""
    rate, j = sigma**-2, np.arange(n)
    return np.exp(j * np.log(rate) - rate - gammaln(j + 1))


class GaussianCombination(Radial):
    """A linear combination of Gaussians, ``Σ_i a_i exp(−‖x − y‖² / 2σ_i²)``.

    Parameters
    ----------
    weights : array-like of shape (m,), default=(1.0, -1.0)
        The weights a_i, positive or negative.
    sigmas : array-like of shape (m,), default=(1.0, 10.0)
        The bandwidths σ_i.

    Examples
    --------
    >>> from krein.kernels import GaussianCombination
    >>> GaussianCombination(weights=(2.0, -1.0), sigmas=(1.0, 3.0))([[0.0]])
    array([[1.]])
    """

    traits = Traits(has_closed_form=True, is_stationary=True)

    def __init__(self, weights: ArrayLike = (1.0, -1.0), sigmas: ArrayLike = (1.0, 10.0)):
        self.weights = weights
        self.sigmas = sigmas

    def _terms(self) -> list[tuple[float, float]]:
        weights, sigmas = np.ravel(self.weights), np.ravel(self.sigmas)
        if len(weights) != len(sigmas) or not len(weights) or not np.all(np.isfinite(weights)):
            raise ValueError(
                f"{type(self).__name__} needs one finite weight per sigma and at least one sigma, "
                f"got weights={self.weights!r} and sigmas={self.sigmas!r}."
            )
        return [
            (float(a), check_positive(self, "sigmas", float(s)))
            for a, s in zip(weights, sigmas, strict=True)
        ]

    def _profile(self, z: NDArray) -> NDArray:
        return sum(a * np.exp(-0.5 * np.square(in_units(z, s))) for a, s in self._terms())

    def _closed_form(self, dim: int) -> Measure:
        return Measure([Part(Normal(dim, 1 / s), a) for a, s in self._terms()])

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating] | None:
        if not unit_rows:
            return None
        return np.sum([a * _exponential_series(s, n) for a, s in self._terms()], axis=0)


class DeltaGaussian(GaussianCombination):
    """The difference of two Gaussians, ``exp(−‖x − y‖² / 2σ²) − exp(−‖x − y‖² / 2σ₋²)``.

    The kernel is indefinite, and k(x, x) = 0.

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Bandwidth σ of the positive Gaussian, τ₁ in the papers.
        "median" is the median distance between rows of the training data.
    sigma_neg : float, default=10.0
        Bandwidth σ₋ of the negative Gaussian, τ₂ in the papers.

    Examples
    --------
    >>> from krein.kernels import DeltaGaussian
    >>> DeltaGaussian(sigma=1.0, sigma_neg=2.0)([[0.0], [2.0]]).round(4)
    array([[ 0.    , -0.4712],
           [-0.4712,  0.    ]])
    """

    def __init__(self, sigma: float | str = 1.0, sigma_neg: float = 10.0):
        self.sigma = sigma
        self.sigma_neg = sigma_neg

    def _terms(self) -> list[tuple[float, float]]:
        return [
            (1.0, self._width),
            (-1.0, check_positive(self, "sigma_neg", self.sigma_neg)),
        ]


class Matern(Radial):
    """The Matérn kernel ``2^(1−ν)/Γ(ν) t^ν K_ν(t)`` with ``t = √(2ν)‖x − y‖/σ``, positive definite.

    For ν = ½ the kernel is ``exp(−‖x − y‖/σ)``. The spectral measure is a multivariate Student-t
    law with 2ν degrees of freedom.

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Length scale σ. "median" is the median distance between rows of the training data.
    nu : float, default=1.5
        Smoothness ν.

    Examples
    --------
    >>> from krein.kernels import Matern
    >>> Matern(nu=0.5)([[0.0]], [[1.0]]).round(4)
    array([[0.3679]])
    """

    traits = Traits(has_closed_form=True, is_stationary=True)

    def __init__(self, sigma: float | str = 1.0, nu: float = 1.5):
        self.sigma = sigma
        self.nu = nu

    def _profile(self, z: NDArray) -> NDArray:
        sigma, nu = self._width, check_positive(self, "nu", self.nu)
        return matern_profile(in_units(z, sigma), nu)

    def _shape(self) -> Shape | None:
        nu = check_positive(self, "nu", self.nu)
        known = {0.5: decay, 1.5: linear_decay, 2.5: quadratic_decay}
        return Shape(self._width / np.sqrt(2 * nu), known[nu]) if nu in known else None

    def _closed_form(self, dim: int) -> Measure:
        sigma, nu = self._width, check_positive(self, "nu", self.nu)
        return Measure([Part(Student(dim, 1 / sigma, 2 * nu))])


class Cauchy(Radial):
    """The Cauchy kernel ``1 / (1 + ‖x − y‖²/σ²)``, positive definite.

    The kernel is the mixture of the Gaussians ``exp(−t‖x − y‖²/σ²)`` with exponentially distributed
    t.

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Length scale σ. "median" is the median distance between rows of the training data.

    Examples
    --------
    >>> from krein.kernels import Cauchy
    >>> Cauchy()([[0.0]], [[1.0]])
    array([[0.5]])
    """

    traits = Traits(has_closed_form=True, is_stationary=True)

    def __init__(self, sigma: float | str = 1.0):
        self.sigma = sigma

    def _profile(self, z: NDArray) -> NDArray:
        return 1 / (1 + np.square(in_units(z, self._width)))

    def _closed_form(self, dim: int) -> Measure:
        sigma = self._width
        return Measure([Part(ExponentialMixture(dim, 1 / sigma))])


class Epanechnikov(Radial):
    """The Epanechnikov kernel ``max(0, 1 − ‖x − y‖²/σ²)^degree``, indefinite in high dimension.

    Parameters
    ----------
    sigma : float or "median", default=1.0
        The distance σ at which the kernel reaches zero.
        "median" is the median distance between rows of the training data.
    degree : float, default=1
        Exponent, above 0.

    Examples
    --------
    >>> from krein.kernels import Epanechnikov
    >>> Epanechnikov(sigma=2.0)([[0.0]], [[1.0], [3.0]])
    array([[0.75, 0.  ]])
    """

    def __init__(self, sigma: float | str = 1.0, degree: float = 1):
        self.sigma = sigma
        self.degree = degree

    def _profile(self, z: NDArray) -> NDArray:
        t = in_units(z, self._width)
        return np.maximum(1 - np.square(t), 0) ** check_positive(self, "degree", self.degree)


class Multiquadric(Radial):
    """The multiquadric kernel ``√(‖x − y‖²/σ² + c²)``, indefinite.

    The negative kernel −k is conditionally positive definite of order 1.

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Length scale σ. "median" is the median distance between rows of the training data.
    c : float, default=1.0
        Offset c, above 0. A larger offset makes the kernel smoother at x = y.

    Examples
    --------
    >>> from krein.kernels import Multiquadric
    >>> Multiquadric(c=3.0)([[0.0]], [[4.0]])
    array([[5.]])
    """

    def __init__(self, sigma: float | str = 1.0, c: float = 1.0):
        self.sigma = sigma
        self.c = c

    def _profile(self, z: NDArray) -> NDArray:
        t = in_units(z, self._width)
        return np.hypot(t, check_positive(self, "c", self.c)).astype(z.dtype)


class ThinPlateSpline(Radial):
    """The thin plate spline ``t² log t`` with ``t = ‖x − y‖/σ``, indefinite.

    The kernel is conditionally positive definite of order 2.

    Parameters
    ----------
    sigma : float or "median", default=1.0
        The distance σ at which the kernel changes its sign.
        "median" is the median distance between rows of the training data.

    Examples
    --------
    >>> from krein.kernels import ThinPlateSpline
    >>> ThinPlateSpline()([[0.0]], [[0.5], [2.0]]).round(4)
    array([[-0.1733,  2.7726]])
    """

    def __init__(self, sigma: float | str = 1.0):
        self.sigma = sigma

    def _profile(self, z: NDArray) -> NDArray:
        t = in_units(z, self._width)
        return np.square(t) * np.log(np.where(t > 0, t, 1))


class SphericalPolynomial(Radial):
    """The polynomial kernel ``(1 − ‖x − y‖²/a²)^degree`` of the signed-measure paper.

    On unit rows with a ≥ √2 the kernel is positive definite. The paper calls it indefinite, which
    is true of its extension by zero to all of R^d only.

    Parameters
    ----------
    a : float, default=2.0
        Scale a. For a = 2 the kernel of unit rows is ``((1 + ⟨x, y⟩)/2)^degree``.
    degree : int, default=2
        Exponent. It must be a whole number, because the base may be negative.

    Examples
    --------
    >>> from krein.kernels import SphericalPolynomial
    >>> SphericalPolynomial()([[1.0, 0.0], [0.0, 1.0]])
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """

    def __init__(self, a: float = 2.0, degree: int = 2):
        self.a = a
        self.degree = degree

    def _profile(self, z: NDArray) -> NDArray:
        degree = check_degree(self, self.degree)
        return (1 - np.square(in_units(z, check_positive(self, "a", self.a)))) ** degree

    @property
    def on_sphere(self) -> Polynomial:
        """The same kernel as a function of ⟨x, y⟩, for rows of norm 1."""
        slope = 2 / check_positive(self, "a", self.a) ** 2
        return Polynomial(self.degree, slope, 1 - slope)

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating] | None:
        return self.on_sphere.maclaurin(n) if unit_rows else None

    def measure(self, dim: int, diameter: float | None = None, **options: Any) -> Measure:
        # The papers extend this kernel by zero beyond the diameter of the sphere.
        if options.get("extension") == "zero" and diameter is None:
            diameter = 2.0
        return super().measure(dim, diameter, **options)


class GeodesicGaussian(Radial):
    """The Gaussian ``exp(−θ² / 2σ²)`` of the angle ``θ = arccos⟨x, y⟩`` between unit rows.

    The kernel is not positive definite in general, because the geodesic distance of a curved space
    is not Euclidean.

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Bandwidth σ in radians. "median" is the median distance between rows of the training data.

    Examples
    --------
    >>> from krein.kernels import GeodesicGaussian
    >>> GeodesicGaussian()([[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[1.    , 0.2912],
           [0.2912, 1.    ]])
    """

    traits = Traits(unit_rows=True, antipodal_exponent=0.5)

    def __init__(self, sigma: float | str = 1.0):
        self.sigma = sigma

    def _check_data(self, X: Any, name: str = "X") -> Any:
        X = super()._check_data(X, name)
        check_unit_rows(self, norms(X), UNIT_CURE)
        return X

    def _profile(self, z: NDArray) -> NDArray:
        angle = 2 * np.arcsin(np.clip(np.asarray(z) / 2, 0, 1))
        return np.exp(-0.5 * np.square(in_units(angle, self._width)))
