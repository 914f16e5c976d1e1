"""Types that users see. mypy checks this file; nothing runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

if TYPE_CHECKING:
    from krein.kernels import Gaussian, Kernel

    kernel = Gaussian()
    assert_type(2 * kernel, Kernel)
    assert_type(0.5 * kernel - 1, Kernel)
    assert_type(1 - kernel * kernel, Kernel)
    assert_type(kernel.T, Kernel)
