"""Cosine and sine features of random projections, fast and in bounded memory.

A random Fourier map costs one matrix product, a sine, a cosine and the writing of the output.
Three things make it fast. Sine and cosine share one argument reduction in a vectorised kernel.
Projections stay in the cache between the product and the kernel. Threads take whole row blocks, so
each thread is the first to touch its own pages of the output.

Without Numba, ``np.cos`` and ``np.sin`` process the same blocks. They are slower and agree to about
two units in the last place.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._threads import one_blas_thread, run_in_threads, take_turns
from ._sincos import bound, sincos_kernel

Array = np.ndarray

# A tile of projections (rows x columns) must stay in the second-level cache: 256 x 256 doubles take
# 512 kB. With fewer rows BLAS would pack the frequencies too often; short inputs accept this so
# that every thread gets a block. The sizes depend on the shape of the input and never on the number
# of threads, so that the number of threads does not change the result.
ROWS, SHORT_ROWS, COLUMNS = 256, 64, 256
SHORT = 8 * ROWS

# Up to SMALL multiplications OpenBLAS uses one thread on its own. Below POOLED multiplications
# starting threads takes longer than the work; a sine and a cosine count as fifty multiplications.
SMALL, POOLED = 2**18, 2**22

# Sparse rows are made dense if at least DENSE_SHARE of their entries are stored: a dense product
# takes 1/8 of the time per entry. A copy of a row block takes at most BLOCK_BYTES, the transposed
# frequencies of a sparse product at most SPARSE_BYTES, and all threads together TOTAL_BYTES.
DENSE_SHARE = 1 / 8
BLOCK_BYTES, SPARSE_BYTES, TOTAL_BYTES = 2**22, 2**24, 2**25

# ------------------------------------------------------------------------------------ the tiles


@dataclass
class _Map:
    """The map: frequencies (N, d), amplitudes (N,), phases (N,), and the compiled kernel."""

    frequencies: Array
    amplitudes: Array
    phases: Array
    kernel: Callable[..., Any] | None

    def tiles(self, width: int, transposed: bool) -> Iterator[list[tuple[int, Array]]]:
        """Yield lists of tiles; a tile is its first column and its frequencies, (d, width).

        A dense product needs all tiles while a row block is in the cache, so there is one list. A
        sparse product of scipy needs contiguous (d, width) arrays, so each list holds one tile and
        only one tile is in memory.
        """
        starts = range(0, len(self.frequencies), width)
        if transposed:
            for i in starts:
                yield [(i, np.ascontiguousarray(self.frequencies[i : i + width].T))]
        else:
            yield [(i, self.frequencies[i : i + width].T) for i in starts]

    def write(self, P: Array, out: Array, order: Array, start: int) -> None:
        """Write the features of a tile of projections P, (m, c), into `out`, (m, 2, N)."""
        if self.kernel is None:
            self._write_with_numpy(P, out, start)
        elif self.kernel(P, self.phases, self.amplitudes, out, order, start):
            self._repair(P, out, start)

    def _write_with_numpy(self, P: Array, out: Array, start: int) -> None:
        columns = slice(start, start + P.shape[1])
        P += self.phases[columns]
        for half, function in enumerate((np.cos, np.sin)):
            function(P, out=out[:, half, columns])
            out[:, half, columns] *= self.amplitudes[columns]

    def _repair(self, P: Array, out: Array, start: int) -> None:
        """Recompute with NumPy the entries whose argument exceeds the bound of the kernel.

        Other entries are not touched, because an entry must not depend on its neighbours or on the
        boundaries of blocks.
        """
        x = P + self.phases[start : start + P.shape[1]]
        rows, columns = np.nonzero(~(np.abs(x) <= bound(P.dtype)))
        x, columns = x[rows, columns], columns + start
        out[rows, 0, columns] = self.amplitudes[columns] * np.cos(x)
        out[rows, 1, columns] = self.amplitudes[columns] * np.sin(x)


@dataclass
class _Rows:
    """The rows of `X`, dense or CSR, as `dtype`, and the size of a tile."""

    X: Any
    dtype: np.dtype

    def __post_init__(self) -> None:
        (n, d), size = self.X.shape, self.dtype.itemsize
        sparse = not isinstance(self.X, np.ndarray)
        self.densify = sparse and self.X.nnz >= DENSE_SHARE * n * d
        self.sparse = sparse and not self.densify
        # BLAS reads an array in place if its rows or its columns are contiguous.
        in_place = not sparse and self.X.dtype == self.dtype and size in self.X.strides
        self.height, self.width = ROWS if n >= SHORT else SHORT_ROWS, COLUMNS
        if self.sparse:  # narrow tiles are higher
            self.width = max(1, min(self.width, SPARSE_BYTES // (d * size)))
            self.height *= COLUMNS // self.width
        elif not in_place:
            self.height = max(1, min(self.height, BLOCK_BYTES // max(1, d * size)))
        copied = 0 if in_place or self.sparse else d
        self.block_bytes = self.height * size * (self.width + copied)
        self.starts = range(0, n, self.height)

    def block(self, start: int) -> Any:
        rows = self.X[start : start + self.height]
        return (rows.toarray() if self.densify else rows).astype(self.dtype, copy=False)


# --------------------------------------------------------------------------------- the features


def fourier_features(
    X: Any,
    frequencies: np.ndarray,
    amplitudes: np.ndarray,
    phases: np.ndarray | None = None,
) -> np.ndarray:
    """Return cosine features, then sine features, of the projections of the rows of `X`.

    ``Z[i, j] = amplitudes[j] * cos(x_i · w_j + phases[j])`` and
    ``Z[i, N + j] = amplitudes[j] * sin(x_i · w_j + phases[j])``.

    Parameters
    ----------
    X : (n, d) array or sparse array of scipy
        The rows. Computations and result are float32 if X is float32, else float64.
    frequencies : (N, d) array
        The frequencies ``w_j``.
    amplitudes : (N,) array
        The amplitudes.
    phases : (N,) array, optional
        The phases; None means zero.

    Returns
    -------
    Z : (n, 2 N) array
        The features.

    Notes
    -----
    The number of threads is the number that BLAS is allowed (``threadpoolctl``,
    ``OMP_NUM_THREADS``); it does not change the result. If the same rows come in several calls,
    BLAS may sum in another order and change arguments by rounding errors. Memory beyond the result
    stays below 64 MB for any n.
    """
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    (n, d), N = X.shape, len(frequencies)
    W = np.asarray(frequencies, dtype)
    # Copies, because Numba would compile the kernel again for read-only arrays.
    a = np.array(amplitudes, dtype)
    b = np.zeros(N, dtype) if phases is None else np.array(phases, dtype)
    if W.shape != (N, d) or a.shape != (N,) or b.shape != (N,):
        raise ValueError(f"frequencies {W.shape}, amplitudes {a.shape}, phases {b.shape}, d = {d}")
    rows, features = _Rows(X, dtype), _Map(W, a, b, sincos_kernel(dtype))
    out = np.empty((n, 2 * N), dtype)
    if n * N * d <= SMALL:
        _fill(rows, features, out.reshape(n, 2, N), 1)
    else:
        with one_blas_thread() as allowed:
            n_threads = allowed if n * N * (d + 50) > POOLED else 1
            _fill(rows, features, out.reshape(n, 2, N), n_threads)
    return out


class Waves:
    """Cosines and sines of projections, for a caller with small row blocks and its own threads.

    Parameters
    ----------
    frequencies : (N, d) array
        The frequencies.
    dtype : dtype
        The type of the rows and of the result, float32 or float64.
    """

    def __init__(self, frequencies: Array, dtype: np.dtype):
        N = len(frequencies)
        W = np.asarray(frequencies, dtype)
        self._map = _Map(W, np.ones(N, dtype), np.zeros(N, dtype), sincos_kernel(dtype))

    def __call__(self, X: Array) -> Array:
        """Return the cosines, ``[:, 0]``, and the sines, ``[:, 1]``, shape (n, 2, N)."""
        P = X @ self._map.frequencies.T
        out = np.empty((len(P), 2, P.shape[1]), P.dtype)
        self._map.write(P, out, np.arange(len(P)), 0)
        return out


def _fill(rows: _Rows, features: _Map, out: Array, n_threads: int) -> None:
    """Write all features into `out`, (n, 2, N), in at most `n_threads` threads."""
    n_threads = min(n_threads, len(rows.starts), max(1, TOTAL_BYTES // rows.block_bytes))
    for tiles in features.tiles(rows.width, transposed=rows.sparse):
        todo = deque(rows.starts)
        run_in_threads(functools.partial(_work, rows, features, out, tiles, todo), n_threads)
        del tiles  # free this list before the next one is made


def _work(
    rows: _Rows, features: _Map, out: Array, tiles: list[tuple[int, Array]], todo: deque[int]
) -> None:
    """Process row blocks from the shared queue `todo` until it is empty."""
    scratch, order = np.empty(rows.height * rows.width, rows.dtype), np.arange(rows.height)

    def write_block(start: int) -> None:
        A = rows.block(start)
        m = A.shape[0]
        for column, W in tiles:
            if rows.sparse:
                P = A @ W
            else:
                P = scratch[: m * W.shape[1]].reshape(m, W.shape[1])
                np.matmul(A, W, out=P)
            features.write(P, out[start : start + m], order[:m], column)

    with np.errstate(invalid="ignore", over="ignore"):  # infinite entries of X give NaN
        take_turns(todo, write_block)
