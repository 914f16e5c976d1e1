"""The one place that compiles the library's hot loops, with Numba where it is installed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def compiled(loop: Callable[..., Any], **options: Any) -> Callable[..., Any] | None:
    """Compile a loop to run without Python's lock, and cache the result on disk.

    Parameters
    ----------
    loop : callable
        A function of arrays and numbers.
    **options : dict
        Options of `numba.njit`.

    Returns
    -------
    callable or None
        The compiled loop; None if Numba is not installed.
    """
    try:
        import numba  # here, because Numba takes longer to import than krein
    except ImportError:
        return None
    jit = functools.partial(numba.njit, nogil=True, error_model="numpy", **options)
    try:
        return jit(cache=True)(loop)
    except RuntimeError:  # no folder is writable for the cache
        return jit()(loop)
