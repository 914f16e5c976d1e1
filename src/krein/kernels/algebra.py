"""Sums, products, multiples, transposes and parts of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import check_finite
from ..measures import GegenbauerMeasure, Measure, Part, Sphere
from ..measures.radial import Profile
from ..rows import count
from ._arithmetic import ALGEBRA
from .base import Kernel
from .combined import Combined, Composite
from .errors import NoMeasureError, swapped
from .traits import Traits


class Constant(Kernel):
    """``k(x, y) = value``. The measure is a point mass at frequency 0.

    Parameters
    ----------
    value : float, default=1.0
        The constant, positive or negative.

    Examples
    --------
    >>> from krein.kernels import Constant
    >>> Constant(-2.0)(["a", "b"])
    array([[-2., -2.],
           [-2., -2.]])
    """

    traits = Traits(has_closed_form=True, is_stationary=True)

    def __init__(self, value: float = 1.0):
        self.value = value

    def _check_data(self, X: Any, name: str = "X") -> Any:
        return X  # a constant takes all data that have a length

    def _block(self, X: Any, Y: Any) -> NDArray:
        return np.full((count(X), count(Y)), check_finite(self, "value", self.value))

    def _diagonal(self, X: Any) -> NDArray:
        return np.full(count(X), check_finite(self, "value", self.value))

    @property
    def radial_profile(self) -> Profile:
        return lambda z: np.full(np.shape(z), check_finite(self, "value", self.value))

    def _closed_form(self, dim: int) -> Measure:
        return Measure([Part(Sphere(dim, 0.0), check_finite(self, "value", self.value))])

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating]:
        return check_finite(self, "value", self.value) * np.eye(1, n)[0]


class _Pair(Combined):
    """Two kernels whose values are joined by an operation."""

    def __init__(self, left: Kernel, right: Kernel):
        self.left = left
        self.right = right

    @property
    def _terms(self) -> tuple[Kernel, ...]:
        return self.left, self.right


class Sum(_Pair):
    """``k(x, y) = left(x, y) + right(x, y)``. The measure is the sum of both measures.

    Parameters
    ----------
    left : Kernel
        The first term.
    right : Kernel
        The second term.

    Examples
    --------
    >>> from krein.kernels import Constant, Gaussian
    >>> Gaussian() + 1
    Sum(left=Gaussian(), right=Constant())
    >>> (Gaussian() + 1)([[0.0]])
    array([[2.]])
    """

    def _of(self, *values: Any) -> Any:
        return values[0] + values[1]

    def _closed_form(self, dim: int) -> Measure:
        return self.left._closed_form(dim) + self.right._closed_form(dim)

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating] | None:
        found = self._each_series(n, unit_rows)
        return None if found is None else self._of(*found)

    def measure(self, dim: int, diameter: float | None = None, **options: Any) -> Measure:
        if self.traits.has_closed_form or self.radial_profile is not None:
            return super().measure(dim, diameter, **options)
        # Without a closed form and a radial profile of the sum, each term has its own measure.
        left = self.left.measure(dim, diameter, **options)
        return left + self.right.measure(dim, diameter, **options)


class Product(_Pair):
    """``k(x, y) = left(x, y) · right(x, y)``. The measure is the convolution of both measures.

    Parameters
    ----------
    left : Kernel
        The first factor.
    right : Kernel
        The second factor.

    Examples
    --------
    >>> from krein.kernels import Gaussian, Polynomial
    >>> kernel = Gaussian() * Polynomial()
    >>> kernel([[1.0]])
    array([[4.]])
    """

    def _of(self, *values: Any) -> Any:
        return values[0] * values[1]

    def _closed_form(self, dim: int) -> Measure:
        left, right = self.left._closed_form(dim), self.right._closed_form(dim)
        try:
            return left.convolve(right)
        except ValueError as error:
            raise NoMeasureError(str(error)) from None

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating] | None:
        found = self._each_series(n, unit_rows)
        return None if found is None else np.convolve(found[0], found[1])[:n]


class Scaled(Combined):
    """``k(x, y) = factor · kernel(x, y)``. The measure is `factor` times the measure of `kernel`.

    ``1.0 * kernel`` behaves as `kernel` in every method.

    Parameters
    ----------
    factor : float
        The factor, positive or negative.
    kernel : Kernel
        The kernel.

    Examples
    --------
    >>> from krein.kernels import Gaussian
    >>> (-2 * Gaussian())([[0.0]])
    array([[-2.]])
    """

    def __init__(self, factor: float, kernel: Kernel):
        self.factor = factor
        self.kernel = kernel

    @property
    def _by(self) -> float:
        return check_finite(self, "factor", self.factor)

    def _of(self, *values: Any) -> Any:
        return self._by * values[0]

    def _closed_form(self, dim: int) -> Measure:
        return self.kernel._closed_form(dim) * self._by

    def maclaurin(self, n: int, unit_rows: bool = False) -> NDArray[np.floating] | None:
        found = self._each_series(n, unit_rows)
        return None if found is None else self._of(*found)

    def measure(self, dim: int, diameter: float | None = None, **options: Any) -> Measure:
        return self.kernel.measure(dim, diameter, **options) * self._by

    def zonal_measure(
        self, dim: int, lowest: float = -1.0, *, n_atoms: int = 128
    ) -> GegenbauerMeasure:
        return self.kernel.zonal_measure(dim, lowest, n_atoms=n_atoms) * self._by


class _Involution(Composite):
    """A kernel made of `kernel` and its transpose."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def _combine(self, straight: Any, turned: Any) -> Any:
        raise TypeError(f"{type(self).__name__} must define _combine.")

    def _of_measure(self, measure: Measure) -> Measure:
        raise TypeError(f"{type(self).__name__} must define _of_measure.")

    def _closed_form(self, dim: int) -> Measure:
        return self._of_measure(self.kernel._closed_form(dim))

    def measure(self, dim: int, diameter: float | None = None, **options: Any) -> Measure:
        return self._of_measure(self.kernel.measure(dim, diameter, **options))

    def __call__(self, X: Any, Y: Any = None) -> NDArray:
        if Y is None:
            K = self.kernel(X)
            return self._combine(K, K.T)
        return self._combine(self.kernel(X, Y), swapped(self.kernel, Y, X).T)

    def _block(self, X: Any, Y: Any) -> NDArray:
        return self._combine(self.kernel._block(X, Y), self.kernel._block(Y, X).T)

    def _where(self, X: Any, Y: Any, wanted: NDArray[np.bool_]) -> NDArray[np.floating]:
        turned = swapped(self.kernel._where, Y, X, wanted.T).T
        return self._combine(self.kernel._where(X, Y, wanted), turned)

    def _diagonal(self, X: Any) -> NDArray:
        K = self.kernel._diagonal(X)
        return self._combine(K, K)


class Transposed(_Involution):
    """``k(x, y) = kernel(y, x)``. The measure is the conjugate of the measure of `kernel`.

    ``kernel.T`` returns this kernel if `kernel` is not symmetric.

    Parameters
    ----------
    kernel : Kernel
        The kernel.

    Examples
    --------
    >>> from krein.kernels import Tversky
    >>> kernel = Tversky()
    >>> kernel([{1, 2}], [{1}]), kernel.T([{1, 2}], [{1}])
    (array([[0.5]]), array([[1.]]))
    """

    @property
    def T(self) -> Kernel:
        return self.kernel

    # The transpose needs one of the two blocks only. The block is copied to C order, because BLAS
    # rounds products with rows and with columns differently.

    def __call__(self, X: Any, Y: Any = None) -> NDArray:
        turned = swapped(self.kernel, X) if Y is None else swapped(self.kernel, Y, X)
        return np.ascontiguousarray(turned.T)

    def _block(self, X: Any, Y: Any) -> NDArray:
        return np.ascontiguousarray(self.kernel._block(Y, X).T)

    def _where(self, X: Any, Y: Any, wanted: NDArray[np.bool_]) -> NDArray[np.floating]:
        return np.ascontiguousarray(swapped(self.kernel._where, Y, X, wanted.T).T)

    def _combine(self, straight: Any, turned: Any) -> Any:
        return turned

    def _of_measure(self, measure: Measure) -> Measure:
        return measure.conj()


class SymmetricPart(_Involution):
    """The symmetric part ``k(x, y) = (kernel(x, y) + kernel(y, x))/2``.

    ``kernel.symmetric_part`` returns this kernel if `kernel` is not symmetric.

    Parameters
    ----------
    kernel : Kernel
        The kernel.

    Examples
    --------
    >>> from krein.kernels import Tversky
    >>> Tversky().symmetric_part([{1, 2}], [{1}])
    array([[0.75]])
    """

    @property
    def traits(self) -> Traits:
        return self.kernel.traits.symmetrised()

    def _combine(self, straight: Any, turned: Any) -> Any:
        return (straight + turned) / 2

    def _of_measure(self, measure: Measure) -> Measure:
        return measure.even(1.0)


class SkewPart(_Involution):
    """The skew part ``k(x, y) = (kernel(x, y) − kernel(y, x))/2``, zero if `kernel` is symmetric.

    ``kernel.skew_part`` returns this kernel if `kernel` is not symmetric.

    Parameters
    ----------
    kernel : Kernel
        The kernel.

    Examples
    --------
    >>> from krein.kernels import Tversky
    >>> Tversky().skew_part([{1, 2}], [{1}])
    array([[-0.25]])
    """

    def _combine(self, straight: Any, turned: Any) -> Any:
        return (straight - turned) / 2

    def _of_measure(self, measure: Measure) -> Measure:
        return measure.even(-1.0)


for _made in (Constant, Sum, Product, Scaled, Transposed, SymmetricPart, SkewPart):
    ALGEBRA[_made.__name__] = _made
