"""Sums, products, multiples, transposes and parts of kernels."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import check_finite
from ..measures import GegenbauerMeasure, Measure, Part, Sphere
from ..rows import count
from .base import Kernel, Profile
from .errors import swapped
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

    traits = Traits(has_closed_form=True)

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


class _Pair(Kernel):
    """Two kernels whose values are joined by an operation."""

    def __init__(self, left: Kernel, right: Kernel):
        self.left = left
        self.right = right

    @staticmethod
    def _join(left: Any, right: Any) -> Any:
        raise TypeError("An operation is needed.")

    @property
    def traits(self) -> Traits:
        return self.left.traits.joined(self.right.traits)

    def _check_data(self, X: Any, name: str = "X") -> Any:
        return self.right._check_data(self.left._check_data(X, name), name)

    def takes_matrix(self, X: Any) -> bool:
        return self.left.takes_matrix(X) and self.right.takes_matrix(X)

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X, checked = self.left._check_pair(X, Y)
        return self.right._check_pair(X, None if Y is None else checked)

    def _block(self, X: Any, Y: Any) -> NDArray:
        return self._join(self.left._block(X, Y), self.right._block(X, Y))

    def _rows(self, X: Any, rows: slice, Y: Any) -> NDArray:
        return self._join(self.left._rows(X, rows, Y), self.right._rows(X, rows, Y))

    def _where(self, X: Any, Y: Any, wanted: NDArray[np.bool_]) -> NDArray[np.floating]:
        return self._join(self.left._where(X, Y, wanted), self.right._where(X, Y, wanted))

    def _diagonal(self, X: Any) -> NDArray:
        return self._join(self.left._diagonal(X), self.right._diagonal(X))

    @property
    def radial_profile(self) -> Profile | None:
        return self._joined(self.left.radial_profile, self.right.radial_profile)

    @property
    def zonal_profile(self) -> Profile | None:
        return self._joined(self.left.zonal_profile, self.right.zonal_profile)

    def _joined(self, left: Profile | None, right: Profile | None) -> Profile | None:
        if left is None or right is None:
            return None
        return lambda values: self._join(left(values), right(values))


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

    @staticmethod
    def _join(left: Any, right: Any) -> Any:
        return left + right

    def _closed_form(self, dim: int) -> Measure:
        return self.left._closed_form(dim) + self.right._closed_form(dim)

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

    @staticmethod
    def _join(left: Any, right: Any) -> Any:
        return left * right

    def _closed_form(self, dim: int) -> Measure:
        return self.left._closed_form(dim).convolve(self.right._closed_form(dim))


class _Wrapper(Kernel):
    """A kernel that is made of one other kernel."""

    kernel: Kernel

    @property
    def traits(self) -> Traits:
        return self.kernel.traits

    def _check_data(self, X: Any, name: str = "X") -> Any:
        return self.kernel._check_data(X, name)

    def takes_matrix(self, X: Any) -> bool:
        return self.kernel.takes_matrix(X)

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return self.kernel._check_pair(X, Y)


class Scaled(_Wrapper):
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

    def _block(self, X: Any, Y: Any) -> NDArray:
        return self._by * self.kernel._block(X, Y)

    def _rows(self, X: Any, rows: slice, Y: Any) -> NDArray:
        return self._by * self.kernel._rows(X, rows, Y)

    def _where(self, X: Any, Y: Any, wanted: NDArray[np.bool_]) -> NDArray[np.floating]:
        return self._by * self.kernel._where(X, Y, wanted)

    def _diagonal(self, X: Any) -> NDArray:
        return self._by * self.kernel._diagonal(X)

    @property
    def radial_profile(self) -> Profile | None:
        return self._times(self.kernel.radial_profile)

    @property
    def zonal_profile(self) -> Profile | None:
        return self._times(self.kernel.zonal_profile)

    def _times(self, profile: Profile | None) -> Profile | None:
        return None if profile is None else lambda values: self._by * profile(values)

    def _closed_form(self, dim: int) -> Measure:
        return self.kernel._closed_form(dim) * self._by

    def measure(self, dim: int, diameter: float | None = None, **options: Any) -> Measure:
        return self.kernel.measure(dim, diameter, **options) * self._by

    def zonal_measure(
        self, dim: int, lowest: float = -1.0, *, n_atoms: int = 128
    ) -> GegenbauerMeasure:
        return self.kernel.zonal_measure(dim, lowest, n_atoms=n_atoms) * self._by


class _Involution(_Wrapper):
    """A kernel made of `kernel` and its transpose."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def _combine(self, straight: Any, turned: Any) -> Any:
        raise TypeError("A combination is needed.")

    def _of_measure(self, measure: Measure) -> Measure:
        raise TypeError("A measure is needed.")

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


def as_kernel(value: Any) -> Kernel:
    """Return `value` if it is a kernel, or a `Constant` if it is a number."""
    if isinstance(value, Kernel):
        return value
    if isinstance(value, numbers.Real):
        return Constant(float(value))
    raise TypeError(f"A kernel takes kernels and numbers as operands, not {type(value).__name__}.")
