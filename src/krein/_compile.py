"""Numba where it is installed: one way to compile the library's few hot loops."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def compiled(loop: Callable[..., Any], **options: Any) -> Callable[..., Any] | None:
    """The compiled loop, without Python's lock and cached on disk; None if Numba is not here.

    Parameters
    ----------
    loop : callable
        A function of arrays and numbers.
    **options : of `numba.njit`
    """
    try:
        import numba  # here, as it takes longer to import than the rest of the library
    except ImportError:
        return None
    jit = functools.partial(numba.njit, nogil=True, error_model="numpy", **options)
    try:
        return jit(cache=True)(loop)
    except RuntimeError:  # no folder for the cache can be written
        return jit()(loop)
