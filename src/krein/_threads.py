"""The one owner of threads: those of BLAS and our own over row blocks, never multiplied.

Small linear algebra runs in one BLAS thread: further ones gain nothing and wait busily, so that a
fit of a hundred rows would cost several times its CPU seconds. Public verbs hold BLAS to one thread
where their matrices are small (`blas_threads_for`); loops over row blocks hold it at any size and
use threads of their own instead (`over_blocks`).
"""

from __future__ import annotations

import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from numbers import Integral
from typing import Any

# Products and decompositions of matrices up to this size take less than about a second in one
# thread.
LARGE = 1000

# Held for moments only, also while the process forks.
_lock = threading.RLock()
# How many holds each thread has, by its identifier; the limit belongs to all of them together.
_holds: dict[int, int] = {}
# The number of threads of each BLAS library before the first hold.
_before: list[int] = []


@functools.cache
def _blas() -> Any:
    """threadpoolctl's handle of the BLAS libraries; making it takes milliseconds, so only once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def _libraries() -> list[Any]:
    return _blas().lib_controllers


def _set_threads(library: Any, n_threads: int) -> None:
    """Set the limit of a library from any thread; threadpoolctl 3.7 lets one thread only do so."""
    free = getattr(library, "clear_controlling_thread", lambda force: None)
    free(force=True)
    library.set_num_threads(n_threads)
    free(force=True)


def _set_one_blas_thread() -> None:
    for library in _libraries():
        _set_threads(library, 1)


def _restore(alone: bool) -> None:
    """Give each BLAS library the threads it had before the first hold.

    A limit that belongs to the process stays while another thread holds it, one that belongs to the
    calling thread (OpenMP) does not; and one that somebody else has set meanwhile is left alone.
    """
    for library, n_threads in zip(_libraries(), _before, strict=True):
        mine = alone or getattr(library, "threading_layer", "") == "openmp"
        if mine and library.num_threads == 1:
            _set_threads(library, n_threads)


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Hold BLAS to one thread and yield how many threads the caller may use instead.

    The limit belongs to the process: the first of several calls, nested or from several threads,
    sets it and the last one restores it. Threads that hold it at the same time share the number of
    threads that BLAS was allowed. Where BLAS has one thread anyway, as in the workers of joblib,
    nothing is held.
    """
    me = threading.get_ident()
    with _lock:
        allowed = _hold(me)
    try:
        yield max(1, allowed)
    finally:
        if allowed:
            with _lock:
                _release(me)


def _hold(me: int) -> int:
    """Count one more hold of this thread; 0 if there is nothing to hold, else its threads."""
    if not _holds:
        _before[:] = [library.num_threads or 1 for library in _libraries()]
    allowed = min(_before, default=_named_threads())
    if allowed == 1:
        return 0
    _holds[me] = _holds.get(me, 0) + 1
    if _holds[me] == 1:
        _set_one_blas_thread()
    # Another thread may own the limit, and BLAS keep its threads: then we add none.
    held = all(library.num_threads == 1 for library in _libraries())
    return max(1, allowed // len(_holds)) if held else 1


def _release(me: int) -> None:
    """Take one hold of this thread back."""
    if _holds[me] == 1:
        _restore(alone=len(_holds) == 1)
        del _holds[me]
    else:
        _holds[me] -= 1


def _named_threads() -> int:
    """Threads where no BLAS is known (Accelerate on macOS): the variable that joblib sets."""
    named = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return max(1, int(named)) if named.isdigit() else os.cpu_count() or 1


def _forget_other_threads() -> None:
    """In the child of a fork, where only the calling thread lives on, release all others."""
    global _lock
    _lock = threading.RLock()  # that of the parent stays locked here
    me = threading.get_ident()
    others = _holds.keys() - {me}
    for other in others:
        del _holds[other]
    if others and not _holds:
        _restore(alone=True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _lock.acquire(),
        after_in_parent=lambda: _lock.release(),
        after_in_child=_forget_other_threads,
    )


def blas_threads_for(X: Any, *widths: int) -> AbstractContextManager[Any]:
    """Hold BLAS to one thread if neither X nor features of these widths exceed `LARGE`.

    Parameters
    ----------
    X : matrix, sequence of objects, or anything else
        What has neither a shape nor a length, as a stream, may be of any size.
    *widths : int
    """
    sides = getattr(X, "shape", None)
    if sides is None:
        sides = (len(X),) if isinstance(X, Sized) else (None,)
    known = all(isinstance(side, Integral) for side in (*sides, *widths))
    small = known and max((*sides, *widths), default=0) <= LARGE
    return one_blas_thread() if small else nullcontext()


def over_blocks(work: Callable[[Any], None], blocks: Iterable[Any]) -> None:
    """Call `work` on every block, in as many threads as BLAS is allowed, BLAS itself in one."""
    todo = deque(blocks)

    def loop() -> None:
        while todo:
            try:
                block = todo.popleft()
            except IndexError:  # another thread was faster
                return
            work(block)

    with one_blas_thread() as allowed:
        run_in_threads(loop, min(allowed, max(1, len(todo))))


def run_in_threads(work: Callable[[], None], n_workers: int) -> None:
    """Call `work` in `n_workers` threads at once, one of which is the caller's."""
    if n_workers <= 1:
        return work()
    # Where the limit of BLAS belongs to a thread (OpenMP), new threads do not inherit it.
    with ThreadPoolExecutor(n_workers - 1, initializer=_set_one_blas_thread) as pool:
        futures = [pool.submit(work) for _ in range(n_workers - 1)]
        work()
    for future in futures:
        future.result()
