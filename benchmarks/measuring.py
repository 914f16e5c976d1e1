"""What the benchmarks share: seconds, memory and the data folder."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")


def find(name: str) -> Path | None:
    """A file of $KREIN_DATA or ../shared/data, or None where it is not here."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    for folder in (os.environ.get("KREIN_DATA"), shared):
        if folder and (path := Path(folder) / name).exists():
            return path
    return None


def seconds(work: Callable[[], Any]) -> float:
    """How long `work` takes."""
    begin = time.perf_counter()
    result = work()
    elapsed = time.perf_counter() - begin
    del result  # freed outside of the measured time
    return elapsed


def memory_is_known() -> bool:
    """Whether the system tells how much memory the process holds (Linux)."""
    return STATUS.exists() and "RssAnon" in STATUS.read_text()


def anonymous_memory() -> float:
    """Megabytes of this process that no file backs."""
    lines = STATUS.read_text().splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1024


def peak_memory(work: Callable[[], Any]) -> float:
    """Megabytes that `work` holds at most, beyond the array that it returns."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # glibc: freed memory that is kept would be used again and not be seen
        trim(0)
    peak = before = anonymous_memory()
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.001):
            peak = max(peak, anonymous_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        result = work()
    finally:
        done.set()
        watcher.join()
    return max(peak, anonymous_memory()) - before - result.nbytes / 2**20
