"""Kernel values computed in several processes, for kernels of objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from .._blocks import row_blocks
from ..rows import count
from .base import Kernel
from .errors import placed


def kernel_values(
    kernel: Kernel, X: Any, Y: Any, n_jobs: int | None = None, *, checked: bool = False
) -> NDArray:
    """Return the block k(X, Y) in C order, computed in `n_jobs` processes.

    Vectors that are `checked` are not validated again.
    """
    if effective_n_jobs(n_jobs) == 1 or count(X) < 2:
        known = checked and kernel.takes_vectors
        return np.ascontiguousarray(kernel._matrix(X, Y) if known else kernel(X, Y))
    return in_processes(kernel, X, Y, n_jobs)


def in_processes(
    kernel: Kernel, X: Any, Y: Any, n_jobs: int | None, wanted: NDArray[np.bool_] | None = None
) -> NDArray:
    """Return the block k(X, Y), computed in row pieces; unwanted values may be missing."""
    n, workers = count(X), effective_n_jobs(n_jobs)
    if workers == 1:
        return _piece(kernel, X, Y, 0, wanted)
    # Several pieces per process balance pairs of different cost.
    pieces = list(row_blocks(n, 1, max(1, -(-n // (4 * workers)))))
    done = Parallel(n_jobs=n_jobs)(
        delayed(_piece)(kernel, X[rows], Y, rows.start, None if wanted is None else wanted[rows])
        for rows in pieces
    )
    return np.concatenate(list(done))


def _piece(kernel: Kernel, X: Any, Y: Any, start: int, wanted: NDArray[np.bool_] | None) -> NDArray:
    with placed(range(start, start + count(X)), range(count(Y))):
        return kernel(X, Y) if wanted is None else kernel._where(X, Y, wanted)
