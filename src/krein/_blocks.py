"""Row blocks: how the library walks over data without holding all of it twice."""

from __future__ import annotations

from collections.abc import Iterator

# A few megabytes: large enough that Python's overhead per block vanishes, small enough that the
# temporaries of a kernel formula stay far below the 64 MB that transforms promise.
BLOCK_BYTES = 4 * 2**20


def row_blocks(n_rows: int, bytes_per_row: int, budget: int = BLOCK_BYTES) -> Iterator[slice]:
    """Yield slices that cover ``range(n_rows)``, each of at most `budget` bytes (or one row)."""
    step = max(1, budget // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
