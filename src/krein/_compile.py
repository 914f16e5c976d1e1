"""The one place that compiles the library's hot loops, with Numba where it is installed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from ._threads import no_fork


def compiled(
    loop: Callable[..., Any],
    helpers: Iterable[Callable[..., Any]] = (),
    inlined: Iterable[Callable[..., Any]] = (),
    **options: Any,
) -> Callable[..., Any] | None:
    """Compile a loop to run without Python's lock, and cache the result on disk.

    Parameters
    ----------
    loop : callable
        A function of arrays and numbers.
    helpers : iterable of callable, default=()
        The functions that the loop calls, from the same file: the cache of the loop is renewed if
        its file changes.
    inlined : iterable of callable, default=()
        Further helpers, whose code is copied to where they are called.
    **options : dict
        Options of `numba.njit`.

    Returns
    -------
    callable or None
        The compiled loop; None if Numba is not installed.
    """
    # A fork in another thread waits: in its child a half-imported module would stay locked.
    with no_fork():
        try:
            import numba.extending  # here, because Numba takes longer to import than krein
        except ImportError:
            return None
        for helper in helpers:
            numba.extending.register_jitable(helper)
        for helper in inlined:
            numba.extending.register_jitable(forceinline=True)(helper)
        jit = functools.partial(numba.njit, nogil=True, error_model="numpy", **options)
        try:
            return _guarded(jit(cache=True)(loop))
        except RuntimeError:  # no folder is writable for the cache
            return _guarded(jit()(loop))


def _guarded(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Let forks wait for the first call with each kind of arguments, because that call compiles."""
    known: set[tuple] = set()

    def call(*arguments: Any) -> Any:
        kinds = tuple(map(_kind, arguments))
        if kinds in known:
            return loop(*arguments)
        with no_fork():
            found = loop(*arguments)
        known.add(kinds)
        return found

    return call


def _kind(argument: Any) -> Any:
    if not hasattr(argument, "flags"):
        return type(argument)
    flags = argument.flags
    return argument.dtype, argument.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable
