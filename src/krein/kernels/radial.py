"""Kernels of a distance, positive definite or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.extmath import row_norms

from .._validation import check_degree, check_positive
from ..measures import ExponentialMixture, Measure, Normal, Part, ProductCauchy, Student
from ..measures.special import matern_profile
from ._distances import centred, city_distances, in_units, largest
from ._exp import exp_in_place
from .base import Profile
from .profiles import OfDistance, Radial, check_sphere
from .traits import Traits

# Rows of up to this many bandwidths have squares that are finite.
TAMEST = 1e140


class Gaussian(Radial):
    """``exp(−‖x − y‖² / 2σ²)``, positive definite.

    Parameters
    ----------
    sigma : float, default=1.0
        Bandwidth σ; scikit-learn's ``gamma`` is 1/(2σ²).

    Examples
    --------
    >>> from krein.kernels import Gaussian
    >>> k = Gaussian(sigma=2.0)
    >>> k([[0.0]], [[2.0]]).round(4)
    array([[0.6065]])
    >>> k.measure(dim=3)
    <positive measure on R^3, 1 parts, total mass 1>
    """

    traits = Traits(has_closed_form=True)

    def __init__(self, sigma: float = 1.0):
        self.sigma = sigma

    def _profile(self, z: NDArray) -> NDArray:
        return np.exp(-0.5 * np.square(in_units(z, check_positive(self, "sigma", self.sigma))))

    def _block(self, X: Any, Y: Any) -> NDArray:
        sigma = check_positive(self, "sigma", self.sigma)
        if not all(isinstance(A, np.ndarray) and A.dtype == np.float64 for A in (X, Y)):
            return super()._block(X, Y)
        X, Y = centred(X, Y)
        if sigma > TAMEST or max(largest(X), largest(Y), 1.0) > TAMEST * min(sigma, 1.0):
            return super()._block(X, Y)
        scale = 0.5 / sigma**2
        halves = (scale * row_norms(A, squared=True) for A in (X, Y))
        return exp_in_place(X @ (2 * scale * Y).T, *halves)

    def _closed_form(self, dim: int) -> Measure:
        return Measure([Part(Normal(dim, 1 / check_positive(self, "sigma", self.sigma)))])


class GaussianCombination(Radial):
    """``Σ_i a_i exp(−‖x − y‖² / 2σ_i²)`` with weights of either sign.

    Parameters
    ----------
    weights : array-like of shape (m,), default=(1.0, -1.0)
        The weights a_i.
    sigmas : array-like of shape (m,), default=(1.0, 10.0)
        The bandwidths σ_i.
    """

    traits = Traits(has_closed_form=True)

    def __init__(self, weights: ArrayLike = (1.0, -1.0), sigmas: ArrayLike = (1.0, 10.0)):
        self.weights = weights
        self.sigmas = sigmas

    def _terms(self) -> list[tuple[float, float]]:
        weights, sigmas = np.ravel(self.weights), np.ravel(self.sigmas)
        if len(weights) != len(sigmas) or not len(weights) or not np.all(np.isfinite(weights)):
            raise ValueError(
                f"{type(self).__name__} needs as many finite weights as sigmas and at least one, "
                f"got weights {self.weights!r} and sigmas {self.sigmas!r}."
            )
        return [
            (float(a), check_positive(self, "sigmas", float(s)))
            for a, s in zip(weights, sigmas, strict=True)
        ]

    def _profile(self, z: NDArray) -> NDArray:
        return sum(a * np.exp(-0.5 * np.square(in_units(z, s))) for a, s in self._terms())

    def _closed_form(self, dim: int) -> Measure:
        return Measure([Part(Normal(dim, 1 / s), a) for a, s in self._terms()])


class DeltaGaussian(GaussianCombination):
    """``exp(−‖x − y‖² / 2σ²) − exp(−‖x − y‖² / 2σ₋²)``: indefinite, zero on the diagonal.

    Parameters
    ----------
    sigma : float, default=1.0
        Bandwidth of the positive Gaussian (τ₁ in the papers).
    sigma_neg : float, default=10.0
        Bandwidth of the negative Gaussian (τ₂).
    """

    def __init__(self, sigma: float = 1.0, sigma_neg: float = 10.0):
        self.sigma = sigma
        self.sigma_neg = sigma_neg

    def _terms(self) -> list[tuple[float, float]]:
        return [
            (1.0, check_positive(self, "sigma", self.sigma)),
            (-1.0, check_positive(self, "sigma_neg", self.sigma_neg)),
        ]


class Matern(Radial):
    """``2^(1−ν)/Γ(ν) t^ν K_ν(t)`` with ``t = √(2ν)‖x − y‖/σ``, positive definite.

    ν = ½ is the ℓ2 exponential ``exp(−‖x − y‖/σ)``; its spectrum is a multivariate Student-t with
    2ν degrees of freedom.

    Parameters
    ----------
    sigma : float, default=1.0
        Length scale.
    nu : float, default=1.5
        Smoothness.
    """

    traits = Traits(has_closed_form=True)

    def __init__(self, sigma: float = 1.0, nu: float = 1.5):
        self.sigma = sigma
        self.nu = nu

    def _profile(self, z: NDArray) -> NDArray:
        sigma, nu = check_positive(self, "sigma", self.sigma), check_positive(self, "nu", self.nu)
        return matern_profile(in_units(z, sigma), nu)

    def _closed_form(self, dim: int) -> Measure:
        sigma, nu = check_positive(self, "sigma", self.sigma), check_positive(self, "nu", self.nu)
        return Measure([Part(Student(dim, 1 / sigma, 2 * nu))])


class Cauchy(Radial):
    """``1 / (1 + ‖x − y‖²/σ²)``, positive definite: an exponential mixture of Gaussians.

    Parameters
    ----------
    sigma : float, default=1.0
        Length scale.
    """

    traits = Traits(has_closed_form=True)

    def __init__(self, sigma: float = 1.0):
        self.sigma = sigma

    def _profile(self, z: NDArray) -> NDArray:
        return 1 / (1 + np.square(in_units(z, check_positive(self, "sigma", self.sigma))))

    def _closed_form(self, dim: int) -> Measure:
        sigma = check_positive(self, "sigma", self.sigma)
        return Measure([Part(ExponentialMixture(dim, 1 / sigma))])


class _L1(OfDistance):
    """A kernel of the ℓ1 distance: stationary but not radial."""

    _distances = staticmethod(city_distances)


class Laplacian(_L1):
    """``exp(−‖x − y‖₁ / σ)``, positive definite; scikit-learn's ``gamma`` is 1/σ.

    The distance is ℓ1, as in scikit-learn, so the frequencies have independent Cauchy
    coordinates and are not radial. For the ℓ2 exponential take ``Matern(nu=0.5)``.

    Parameters
    ----------
    sigma : float, default=1.0
        Length scale.
    """

    traits = Traits(has_closed_form=True)

    def __init__(self, sigma: float = 1.0):
        self.sigma = sigma

    def _profile(self, z: NDArray) -> NDArray:
        return np.exp(-in_units(z, check_positive(self, "sigma", self.sigma)))

    def _closed_form(self, dim: int) -> Measure:
        return Measure([Part(ProductCauchy(dim, 1 / check_positive(self, "sigma", self.sigma)))])


class TL1(_L1):
    """The truncated ℓ1 distance kernel ``max(0, ρ − ‖x − y‖₁)``: indefinite, piecewise linear.

    It is stationary but not radial, and no finite spectral measure of it is known.

    Parameters
    ----------
    rho : float, default=1.0
        Where the kernel reaches zero; 0.7 times the number of columns is usual on [0, 1] data.
    """

    def __init__(self, rho: float = 1.0):
        self.rho = rho

    def _profile(self, z: NDArray) -> NDArray:
        return np.maximum(check_positive(self, "rho", self.rho) - z, 0)


class Epanechnikov(Radial):
    """``max(0, 1 − ‖x − y‖²/σ²)^degree``: compactly supported, indefinite in high dimension.

    Parameters
    ----------
    sigma : float, default=1.0
        Radius of the support.
    degree : float, default=1
        Exponent.
    """

    def __init__(self, sigma: float = 1.0, degree: float = 1):
        self.sigma = sigma
        self.degree = degree

    def _profile(self, z: NDArray) -> NDArray:
        inside = np.maximum(
            1 - np.square(in_units(z, check_positive(self, "sigma", self.sigma))), 0
        )
        return inside ** check_positive(self, "degree", self.degree)


class Multiquadric(Radial):
    """``√(‖x − y‖²/σ² + c²)``: −k is conditionally positive definite of order 1.

    Parameters
    ----------
    sigma : float, default=1.0
        Length scale.
    c : float, default=1.0
        Offset; the larger, the smoother at x = y.
    """

    def __init__(self, sigma: float = 1.0, c: float = 1.0):
        self.sigma = sigma
        self.c = c

    def _profile(self, z: NDArray) -> NDArray:
        offset = check_positive(self, "c", self.c)
        return np.hypot(in_units(z, check_positive(self, "sigma", self.sigma)), offset).astype(
            z.dtype
        )


class ThinPlateSpline(Radial):
    """``t² log t`` with ``t = ‖x − y‖/σ``: conditionally positive definite of order 2.

    Parameters
    ----------
    sigma : float, default=1.0
        Length scale: the kernel changes sign at distance σ.
    """

    def __init__(self, sigma: float = 1.0):
        self.sigma = sigma

    def _profile(self, z: NDArray) -> NDArray:
        t = in_units(z, check_positive(self, "sigma", self.sigma))
        return np.square(t) * np.log(np.where(t > 0, t, 1))


class SphericalPolynomial(Radial):
    """``(1 − ‖x − y‖²/a²)^degree``, the signed-measure paper's polynomial kernel.

    On unit rows with a ≥ √2 it is positive definite; the paper's "indefinite" holds for its
    extension by zero to all of R^d only.

    Parameters
    ----------
    a : float, default=2.0
        Scale; on unit rows a = 2 is ``((1 + ⟨x, y⟩)/2)^degree``.
    degree : int, default=2
        Exponent, a whole number because the base may be negative.
    """

    def __init__(self, a: float = 2.0, degree: int = 2):
        self.a = a
        self.degree = degree

    def _profile(self, z: NDArray) -> NDArray:
        degree = check_degree(self, self.degree)
        return (1 - np.square(in_units(z, check_positive(self, "a", self.a)))) ** degree

    def measure(self, dim: int, diameter: float | None = None, **options: Any) -> Measure:
        # The papers cut this kernel at the sphere's diameter; that is its zero extension.
        if options.get("extension") == "zero" and diameter is None:
            diameter = 2.0
        return super().measure(dim, diameter, **options)


class GeodesicGaussian(Radial):
    """``exp(−θ² / 2σ²)`` with the angle ``θ = arccos⟨x, y⟩`` between unit rows.

    Not positive definite in general: distances along a curved space and Gaussians conflict.

    Parameters
    ----------
    sigma : float, default=1.0
        Bandwidth in radians.
    """

    traits = Traits(unit_rows=True, antipodal_exponent=0.5)

    def __init__(self, sigma: float = 1.0):
        self.sigma = sigma

    def _check_data(self, X: Any, name: str = "X") -> Any:
        X = super()._check_data(X, name)
        check_sphere(self, X)
        return X

    def _profile(self, z: NDArray) -> NDArray:
        angle = 2 * np.arcsin(np.clip(np.asarray(z) / 2, 0, 1))
        return np.exp(-0.5 * np.square(in_units(angle, check_positive(self, "sigma", self.sigma))))

    @property
    def zonal_profile(self) -> Profile:
        return lambda u: self._profile(np.sqrt(np.maximum(2 - 2 * np.asarray(u), 0)))
