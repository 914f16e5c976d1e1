"""The spectrum of a kernel: its profile, and its measures on R^d and on the sphere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import check_choice, check_positive
from ..measures import GegenbauerMeasure, InfiniteMassError, Measure, domain_measure, zonal_measure
from ..measures.radial import Profile
from ..published.extension import zero_extension
from .errors import NoMeasureError, kernel_name
from .stationarity import Stationarity, stationarity
from .traits import Traits

NYSTROM_HINT = "Use a Nyström approximation (krein.Nystrom), which only needs kernel values."


class Spectrum:
    """What a kernel knows about its spectral measures; kernels derive from it."""

    @property
    def traits(self) -> Traits:
        """What the kernel declares about itself; a subclass sets ``traits = Traits(...)``."""
        return Traits()

    @property
    def radial_profile(self) -> Profile | None:
        """k as a function of z = ‖x − y‖ (of unit rows if `traits.unit_rows`), or None."""
        return None

    @property
    def zonal_profile(self) -> Profile | None:
        """k as a function of u = ⟨x, y⟩ of unit rows, or None if k is not a function of u."""
        radial = self.radial_profile
        if radial is None:
            return None
        return lambda u: radial(np.sqrt(np.maximum(2 - 2 * np.asarray(u), 0)))

    def is_stationary(self, X: Any = None) -> bool:
        """Return True if k is a function of x − y; `stationarity` also says how it is known.

        Parameters
        ----------
        X : array-like of shape (n, d), default=None
            Rows; None asks about all rows of R^d. A kernel of ⟨x, y⟩ is a function of x − y if all
            rows of X have norm 1. A kernel that declares nothing is tested on rows of X.

        Examples
        --------
        >>> from krein.kernels import TL1, Polynomial
        >>> TL1().is_stationary(), Polynomial().is_stationary(), (TL1() * TL1()).is_stationary()
        (True, False, True)
        """
        return self.stationarity(X).holds

    def stationarity(self, X: Any = None) -> Stationarity:
        """Find out whether k is a function of x − y: declared, or tested on rows of X.

        The test compares k(x, y) with k(x + h, y + h) for a random shift h. If all rows of X have
        norm 1, it also compares k(x, y) with k(Qx, Qy) for a random reflection Q: a kernel that
        does not change is a function of ⟨x, y⟩ = 1 − ‖x − y‖²/2.

        Parameters
        ----------
        X : array-like of shape (n, d), default=None
            Rows; None asks about all rows of R^d.

        Returns
        -------
        Stationarity
            The answer, and a sentence that says how it was found out.

        Raises
        ------
        ValueError
            If X is None and the kernel declares nothing.

        Examples
        --------
        >>> import numpy as np
        >>> from krein.kernels import Custom
        >>> kernel = Custom(lambda X, Y: np.minimum(X, Y.T))
        >>> print(kernel.stationarity(np.array([[1.0], [2.0]])))
        Custom(<lambda>) is not a function of x − y: for a random shift h, k(x, y) differs from...
        """
        return stationarity(self, X)

    def _declares_stationary(self, unit_rows: bool) -> bool:
        """Return True if k is known to be a function of x − y, on all rows or on unit rows."""
        return self.traits.is_stationary or (unit_rows and self.zonal_profile is not None)

    def measure(
        self,
        dim: int,
        diameter: float | None = None,
        *,
        extension: str = "domain",
        jacobian: bool = True,
        n_atoms: int = 128,
    ) -> Measure:
        """Return the spectral measure of the kernel in dimension `dim`.

        Parameters
        ----------
        dim : int
            Number of columns of the data.
        diameter : float, default=None
            Largest distance between rows. The measure represents the kernel up to this distance.
            Kernels with a closed form ignore it. Kernels of unit rows take 2 for None.
        extension : {"domain", "zero"}, default="domain"
            "domain" returns the measure of least mass that represents the kernel up to `diameter`.
            "zero" returns the papers' extension by zero, a baseline.
        jacobian : bool, default=True
            False omits the factor r^(d−1), as the paper does. Used with ``extension="zero"``.
        n_atoms : int, default=128
            Number of frequencies that will be drawn. More frequencies get a more accurate measure.

        Raises
        ------
        NoMeasureError
            If the kernel has no spectral measure.
        InfiniteMassError
            If every measure of the kernel has infinite mass.
        ValueError
            If so few frequencies would be mostly noise.
        """
        check_choice(self, "extension", extension, ("domain", "zero"))
        traits = self.traits
        if traits.has_closed_form:
            return self._closed_form(dim)
        profile = _quiet(self.radial_profile)
        if profile is None:
            raise NoMeasureError(
                f"{kernel_name(self)} has no spectral measure: none is known. {NYSTROM_HINT}"
            )
        if diameter is None:
            if not traits.unit_rows:
                raise ValueError(
                    f"{type(self).__name__}.measure needs diameter, the largest distance between "
                    "rows: the kernel has no finite measure for all distances."
                )
            diameter = 2.0
        check_positive(self, "diameter", diameter)
        if traits.unit_rows:
            diameter = min(diameter, float(np.sqrt(2 - 2 * traits.lowest_product)))
        if extension == "domain" and traits.unit_rows and diameter >= 2 and self._antipodal(dim):
            raise InfiniteMassError(
                f"No measure of finite mass represents {kernel_name(self)} in dimension {dim} up "
                "to the antipode ‖x − y‖ = 2: the kernel is singular there. Use a Nyström "
                "approximation (krein.Nystrom), krein.RandomGegenbauer, or a smaller diameter."
            )
        if extension == "zero":
            return zero_extension(profile, dim, 2.0 if traits.unit_rows else diameter, jacobian)
        return domain_measure(profile, dim, diameter, n_atoms, self._infinite_cause(diameter))

    def _antipodal(self, dim: int) -> bool:
        """Return True if the singularity at ‖x − y‖ = 2 makes the mass of the kernel infinite.

        Near the antipode the kernel behaves like ``(2 − z)^s``. The radial density of any extension
        then decays like ``r^((d−3)/2 − s)``, which is not integrable for s < (d − 1)/2. At equality
        the integral grows like a logarithm only, and the linear programme decides.
        """
        exponent = self.traits.antipodal_exponent
        return exponent is not None and exponent < (dim - 1) / 2

    def _closed_form(self, dim: int) -> Measure:
        raise NoMeasureError(f"{type(self).__name__} has no closed-form measure.")

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating] | None:
        """Return the first n coefficients of ``k(x, y) = Σ_j a_j ⟨x, y⟩^j``, or None.

        Parameters
        ----------
        n : int
            Number of coefficients a_0, …, a_(n−1).
        unit_rows : bool, default=False
            True if all rows have norm 1. A kernel of ‖x − y‖ is then a function of ⟨x, y⟩ too.

        Returns
        -------
        ndarray of shape (n,) or None
            None if the kernel is not a function of ⟨x, y⟩ or its series is not known.

        Examples
        --------
        >>> from krein.kernels import Gaussian, Polynomial
        >>> (Polynomial(degree=2) - 3).maclaurin(4)
        array([-2.,  2.,  1.,  0.])
        >>> Gaussian().maclaurin(3) is None
        True
        >>> Gaussian().maclaurin(3, unit_rows=True).round(4)
        array([0.3679, 0.3679, 0.1839])
        """
        return None

    def zonal_measure(
        self, dim: int, lowest: float = -1.0, *, n_atoms: int = 128
    ) -> GegenbauerMeasure:
        """Return the measure on the unit sphere that represents k for ⟨x, y⟩ in [lowest, 1].

        Parameters
        ----------
        dim : int
            Number of columns of the data.
        lowest : float, default=-1.0
            Smallest product ⟨x, y⟩ of the data.
        n_atoms : int, default=128
            Number of directions that will be drawn. More directions get a more accurate measure.
        """
        profile = _quiet(self.zonal_profile)
        if profile is None:
            raise NoMeasureError(
                f"{kernel_name(self)} is not a function of ⟨x, y⟩ on unit rows, so it has no "
                f"measure on the sphere. {NYSTROM_HINT}"
            )
        lowest = max(lowest, self.traits.lowest_product)
        cause = f"{kernel_name(self)} has a kink or a singularity on [{lowest:.3g}, 1]."
        return zonal_measure(profile, dim, lowest, n_atoms, cause)

    def _infinite_cause(self, diameter: float) -> str:
        return f"{kernel_name(self)} has a jump, kink or singularity on [0, {diameter:.4g}]."


def _quiet(profile: Profile | None) -> Profile | None:
    """Return the profile without warnings of overflow; its callers check the values themselves."""
    return None if profile is None else np.errstate(over="ignore")(profile)
