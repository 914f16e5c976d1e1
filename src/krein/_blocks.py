"""Row blocks: the library works through data in blocks and never copies all of it."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A few megabytes. Blocks are large enough to make Python's overhead per block negligible, and small
# enough to keep the temporary arrays of a kernel formula far below 64 MB, which is the memory that
# `transform` promises not to exceed.
BLOCK_BYTES = 4 * 2**20
# Blocks of this size stay in the cache from one operation to the next.
CACHE_BYTES = 2**20
# Number of rows and columns of a tile that is transposed at once; a tile fits into the cache.
TILE = 128


def row_blocks(n_rows: int, bytes_per_row: int, budget: int = BLOCK_BYTES) -> Iterator[slice]:
    """Yield slices that cover ``range(n_rows)``; each has at most `budget` bytes, or one row."""
    step = max(1, budget // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def mirror_upper(A: NDArray) -> NDArray:
    """Copy the upper triangle of a square matrix to the lower one, in place; return the matrix."""
    below = np.tri(min(TILE, len(A)), k=-1, dtype=bool)
    for rows in row_blocks(len(A), 1, TILE):
        A[rows.stop :, rows] = A[rows, rows.stop :].T
        corner = A[rows, rows]
        lower = below[: len(corner), : len(corner)]
        corner[lower] = corner.T[lower]
    return A


class Scratch(threading.local):
    """Arrays that are used again for every block; each thread has its own.

    Memory that is new to the process costs several times as much as simple arithmetic on it.
    """

    def __init__(self) -> None:
        self._kept: dict[str, NDArray] = {}

    def __reduce__(self) -> tuple[type, tuple]:
        """Pickle without the memory: a statistic that is sent to another process keeps none."""
        return Scratch, ()

    def array(self, name: str, shape: tuple[int, ...], dtype: Any = float) -> NDArray:
        """Return an array of any content; the next call with this name may return its memory."""
        n = math.prod(shape)
        kept = self._kept.get(name)
        if kept is None or kept.size < n or kept.dtype != dtype:
            kept = self._kept[name] = np.empty(n, dtype=dtype)
        return kept[:n].reshape(shape)
