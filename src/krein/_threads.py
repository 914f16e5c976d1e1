"""The one owner of threads: BLAS threads and our own threads over row blocks never multiply.

Small linear algebra runs in one BLAS thread. More threads would gain nothing and spin while they
wait: a fit of a hundred rows would take several times as many CPU seconds. Public methods hold BLAS
to one thread while their matrices are small (`blas_threads_for`). Loops over row blocks hold BLAS
to one thread at any size and use threads of their own instead (`over_blocks`).
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

# One thread multiplies or decomposes matrices up to this size in less than about a second.
LARGE = 1000

# Protects the two variables below; also held while the process forks.
_lock = threading.RLock()
# Number of holds of each thread, by the identifier of the thread. All holds share one limit.
_holds: dict[int, int] = {}
# Number of threads of each BLAS library before the first hold.
_before: list[int] = []


@contextmanager
def no_fork() -> Iterator[None]:
    """Let a fork of the process, in any thread, wait until the context ends."""
    with _lock:
        yield


@functools.cache
def _blas() -> Any:
    """Return threadpoolctl's handle of the BLAS libraries; making one takes milliseconds.

    The handle knows the libraries that are loaded when it is made. SciPy has a library of its own,
    which is therefore loaded first.
    """
    import scipy.linalg.cython_blas  # noqa: F401  (imported for the library that it loads)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def _libraries() -> list[Any]:
    return _blas().lib_controllers


def _set_threads(library: Any, n_threads: int) -> None:
    """Set the limit of a library from any thread, which threadpoolctl 3.7 does not allow."""
    free = getattr(library, "clear_controlling_thread", lambda force: None)
    free(force=True)
    library.set_num_threads(n_threads)
    free(force=True)


def _set_one_blas_thread() -> None:
    for library in _libraries():
        _set_threads(library, 1)


def _restore(alone: bool) -> None:
    """Give each BLAS library the number of threads that it had before the first hold.

    A limit of the whole process stays as long as another thread holds it. A limit of the calling
    thread (OpenMP) is restored at once. A limit that other code has set meanwhile is not touched.
    """
    for library, n_threads in zip(_libraries(), _before, strict=True):
        mine = alone or getattr(library, "threading_layer", "") == "openmp"
        if mine and library.num_threads == 1:
            _set_threads(library, n_threads)


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Hold BLAS to one thread and yield the number of threads that the caller may use instead.

    The limit belongs to the process. Calls may be nested or come from several threads: the first
    call sets the limit and the last one restores it. Threads that hold BLAS at the same time share
    the number of threads that BLAS was allowed. Nothing is held where BLAS has one thread anyway,
    as in the workers of joblib.
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
    """Add a hold of this thread; return its number of threads, or 0 if BLAS needs no hold."""
    if not _holds:
        _before[:] = [library.num_threads or 1 for library in _libraries()]
    allowed = min(_before) if _before else _named_threads()
    if allowed == 1:
        return 0
    _holds[me] = _holds.get(me, 0) + 1
    if _holds[me] == 1:
        _set_one_blas_thread()
    # If another thread owns the limit and BLAS keeps its threads, the caller gets no more threads.
    held = all(library.num_threads == 1 for library in _libraries())
    return max(1, allowed // len(_holds)) if held else 1


def _release(me: int) -> None:
    """Remove one hold of this thread."""
    if _holds[me] == 1:
        _restore(alone=len(_holds) == 1)
        del _holds[me]
    else:
        _holds[me] -= 1


def _named_threads() -> int:
    """Return the number of threads where threadpoolctl knows no BLAS (Accelerate on macOS).

    The number is the value of OMP_NUM_THREADS, which joblib sets, or else the number of cores.
    """
    named = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return max(1, int(named)) if named.isdigit() else os.cpu_count() or 1


def _forget_other_threads() -> None:
    """Release the holds of all other threads: in the child of a fork they no longer exist."""
    global _lock
    _lock = threading.RLock()  # the lock of the parent stays locked in the child
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
    """Hold BLAS to one thread if the sides of X and all widths are at most `LARGE`.

    Parameters
    ----------
    X : matrix, sequence of objects, or anything else
        An object with neither a shape nor a length, such as a stream, counts as large.
    *widths : int
        Numbers of features.
    """
    sides = getattr(X, "shape", None)
    if sides is None:
        sides = (len(X),) if isinstance(X, Sized) else (None,)
    known = all(isinstance(side, Integral) for side in (*sides, *widths))
    small = known and max((*sides, *widths), default=0) <= LARGE
    return one_blas_thread() if small else nullcontext()


def over_blocks(
    work: Callable[[Any], None], blocks: Iterable[Any], n_threads: int | None = None
) -> None:
    """Call `work` on every block, in as many threads as BLAS is allowed; BLAS itself uses one.

    A number as `n_threads` replaces the number of threads that BLAS is allowed.
    """
    todo = deque(blocks)
    with one_blas_thread() as allowed:
        n_workers = min(n_threads or allowed, max(1, len(todo)))
        run_in_threads(functools.partial(take_turns, todo, work), n_workers)


def each(work: Callable[[Any], None], blocks: Iterable[Any]) -> None:
    """Call `work` on every block, in the thread of the caller."""
    for block in blocks:
        work(block)


def take_turns(todo: deque[Any], work: Callable[[Any], None]) -> None:
    """Call `work` on the blocks of a queue, which several threads share, until it is empty."""
    while todo:
        try:
            block = todo.popleft()
        except IndexError:  # another thread was faster
            return
        work(block)


def run_in_threads(work: Callable[[], None], n_workers: int) -> None:
    """Call `work` in `n_workers` threads at once, including the thread of the caller."""
    if n_workers <= 1:
        return work()
    # With OpenMP the limit of BLAS belongs to a thread, and new threads do not inherit it.
    with ThreadPoolExecutor(n_workers - 1, initializer=_set_one_blas_thread) as pool:
        futures = [pool.submit(work) for _ in range(n_workers - 1)]
        work()
    for future in futures:
        future.result()
