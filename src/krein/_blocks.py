"""Row blocks: the library works through data in blocks and never copies all of it."""

from __future__ import annotations

from collections.abc import Iterator

# A few megabytes. Blocks are large enough to make Python's overhead per block negligible, and small
# enough to keep the temporary arrays of a kernel formula far below 64 MB, which is the memory that
# `transform` promises not to exceed.
BLOCK_BYTES = 4 * 2**20


def row_blocks(n_rows: int, bytes_per_row: int, budget: int = BLOCK_BYTES) -> Iterator[slice]:
    """Yield slices that cover ``range(n_rows)``; each has at most `budget` bytes, or one row."""
    step = max(1, budget // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
