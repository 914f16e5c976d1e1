"""Threads over row blocks, never multiplied with those of BLAS."""

from __future__ import annotations

import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()


@functools.cache
def _blas() -> Any:
    """threadpoolctl's handle of the BLAS libraries; making it takes milliseconds, so only once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def _set_one_blas_thread() -> None:
    for library in _blas().lib_controllers:
        library.set_num_threads(1)


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Hold BLAS to one thread and yield how many threads it was allowed, which we may use instead.

    The limit belongs to the process, so calls from several threads take turns: interleaved, one
    would save the limit of another and restore that for good. Where BLAS is at one thread anyway,
    as in the workers of joblib, nothing is held and calls run side by side.
    """
    with _lock:
        counts = [library.num_threads or 1 for library in _blas().lib_controllers]
        # Without a known BLAS (Accelerate on macOS): the variable that joblib sets in its workers.
        named = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        allowed = min(counts, default=int(named) if named.isdigit() else os.cpu_count() or 1)
        if allowed > 1:
            with _blas().limit(limits=1):
                # Another thread may own the limit, and BLAS keep its threads: then we add none.
                held = all(library.num_threads == 1 for library in _blas().lib_controllers)
                yield allowed if held else 1
            return
    yield 1


def over_blocks(work: Callable[[slice], None], blocks: Iterable[slice]) -> None:
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
