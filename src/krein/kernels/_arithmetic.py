"""The operators ``+``, ``-``, ``*``, ``/`` and the parts of a kernel."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Kernel

# The classes of `krein.kernels.algebra` by name. That module enters them, because they derive from
# Kernel, which derives from Arithmetic.
ALGEBRA: dict[str, Any] = {}


class Arithmetic:
    """The arithmetic of kernels. The classes in `krein.kernels.algebra` evaluate its results."""

    __array_ufunc__ = None  # NumPy scalars and arrays call the methods of this class

    def __add__(self, other: Any) -> Kernel:
        return ALGEBRA["Sum"](self, _operand(other))

    def __radd__(self, other: Any) -> Kernel:
        return ALGEBRA["Sum"](_operand(other), self)

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, numbers.Real):
            return ALGEBRA["Scaled"](float(other), self)
        return ALGEBRA["Product"](self, _operand(other))

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
        kernel: Any = self
        return kernel if kernel.is_symmetric else ALGEBRA["Transposed"](kernel)

    @property
    def symmetric_part(self) -> Kernel:
        """The symmetric part ``(k(x, y) + k(y, x))/2``."""
        kernel: Any = self
        return kernel if kernel.is_symmetric else ALGEBRA["SymmetricPart"](kernel)

    @property
    def skew_part(self) -> Kernel:
        """The skew part ``(k(x, y) − k(y, x))/2``."""
        kernel: Any = self
        return kernel * 0.0 if kernel.is_symmetric else ALGEBRA["SkewPart"](kernel)


def _operand(value: Any) -> Any:
    """Return `value` if it is a kernel, or a `Constant` if it is a number."""
    if isinstance(value, Arithmetic):
        return value
    if isinstance(value, numbers.Real):
        return ALGEBRA["Constant"](float(value))
    raise TypeError(f"A kernel takes kernels and numbers as operands, not {type(value).__name__}.")
