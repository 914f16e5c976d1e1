"""What a kernel declares about itself."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Traits:
    """What a kernel declares about itself. The defaults describe a symmetric kernel of vectors.

    A kernel class sets ``traits = Traits(...)``, or defines a property `traits` if the traits
    depend on the parameters of the kernel. A multiple, the transpose and the skew part of a kernel
    have the traits of the kernel itself. `joined` returns the traits of a sum or a product, and
    `symmetrised` returns the traits of a symmetric part.

    Parameters
    ----------
    is_symmetric : bool, default=True
        True if k(x, y) = k(y, x).
    unit_rows : bool, default=False
        True if the kernel, or its measure, is only defined for rows of norm 1.
    has_closed_form : bool, default=False
        True if the kernel defines `_closed_form`, its spectral measure on all of R^d.
    fills_diagonal : bool, default=True
        True if `Kernel.diag` is cheap and more accurate than the diagonal of a block. ``kernel(X)``
        then takes its diagonal from `Kernel.diag`.
    takes_vectors : bool, default=True
        True if the data are a numeric matrix; False for strings, series, sets and other objects.
    mirrors : bool, default=False
        True if evaluating the kernel is expensive. ``kernel(X)`` then computes the upper triangle
        and copies it to the lower one.
    antipodal_exponent : float or None, default=None
        The exponent s if k behaves like ``(2 − ‖x − y‖)^s`` near the antipode of the sphere.
    lowest_product : float, default=-1.0
        The smallest ⟨x, y⟩ of unit rows at which the kernel is defined.
    is_sparse : bool, default=False
        True if most values are zero, as in a graph. The values of a few objects are then nearly the
        identity, although the values of all objects are not, and no warning says so.
    is_stationary : bool, default=False
        True if the kernel is a function of x − y. False declares nothing: `Kernel.stationarity`
        then tests the kernel on rows.

    Examples
    --------
    >>> from krein.kernels import Gaussian, ShiftGaussian, Traits
    >>> Traits(is_symmetric=False).is_symmetric
    False
    >>> (Gaussian() + ShiftGaussian()).traits.is_symmetric
    False
    """

    is_symmetric: bool = True
    unit_rows: bool = False
    has_closed_form: bool = False
    fills_diagonal: bool = True
    takes_vectors: bool = True
    mirrors: bool = False
    antipodal_exponent: float | None = None
    lowest_product: float = -1.0
    is_sparse: bool = False
    is_stationary: bool = False

    def joined(self, other: Traits) -> Traits:
        """Return the traits of the sum and of the product of two kernels."""
        exponents = (self.antipodal_exponent, other.antipodal_exponent)
        return Traits(
            is_symmetric=self.is_symmetric and other.is_symmetric,
            unit_rows=self.unit_rows or other.unit_rows,
            has_closed_form=self.has_closed_form and other.has_closed_form,
            fills_diagonal=self.fills_diagonal and other.fills_diagonal,
            takes_vectors=self.takes_vectors and other.takes_vectors,
            mirrors=self.mirrors and other.mirrors,
            antipodal_exponent=min((s for s in exponents if s is not None), default=None),
            lowest_product=max(self.lowest_product, other.lowest_product),
            is_sparse=self.is_sparse and other.is_sparse,
            is_stationary=self.is_stationary and other.is_stationary,
        )

    def symmetrised(self) -> Traits:
        """Return the traits of the symmetric part of a kernel."""
        return replace(self, is_symmetric=True)
