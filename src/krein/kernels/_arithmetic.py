"""The operators ``+``, ``-``, ``*``, ``/`` and the parts of a kernel."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Kernel


class Arithmetic:
    """The arithmetic of kernels. The classes in `krein.kernels.algebra` evaluate its results."""

    __array_ufunc__ = None  # NumPy scalars and arrays call the methods of this class

    def __add__(self, other: Any) -> Kernel:
        from .algebra import Sum, as_kernel

        return Sum(as_kernel(self), as_kernel(other))

    def __radd__(self, other: Any) -> Kernel:
        from .algebra import Sum, as_kernel

        return Sum(as_kernel(other), as_kernel(self))

    def __mul__(self, other: Any) -> Kernel:
        from .algebra import Product, Scaled, as_kernel

        if isinstance(other, numbers.Real):
            return Scaled(float(other), as_kernel(self))
        return Product(as_kernel(self), as_kernel(other))

    __rmul__ = __mul__

    def __neg__(self) -> Kernel:
        return self * -1.0

    def __sub__(self, other: Any) -> Kernel:
        return self + (-other)

    def __rsub__(self, other: Any) -> Kernel:
        return other + (-self)

    def __truediv__(self, other: Any) -> Kernel:
        if not isinstance(other, numbers.Real):
            return NotImplemented
        return self * (1 / float(other))

    @property
    def T(self) -> Kernel:
        """The transposed kernel, with the values k(y, x)."""
        from .algebra import Transposed, as_kernel

        kernel = as_kernel(self)
        return kernel if kernel.is_symmetric else Transposed(kernel)

    @property
    def symmetric_part(self) -> Kernel:
        """The symmetric part ``(k(x, y) + k(y, x))/2``."""
        from .algebra import SymmetricPart, as_kernel

        kernel = as_kernel(self)
        return kernel if kernel.is_symmetric else SymmetricPart(kernel)

    @property
    def skew_part(self) -> Kernel:
        """The skew part ``(k(x, y) − k(y, x))/2``."""
        from .algebra import SkewPart, as_kernel

        kernel = as_kernel(self)
        return kernel * 0.0 if kernel.is_symmetric else SkewPart(kernel)
