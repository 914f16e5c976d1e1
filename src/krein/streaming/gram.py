"""The product ``AᵀA`` of a block of rows, in threads that each compute whole tiles of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._blas import add_product
from .._threads import each, one_blas_thread, over_blocks

Array = NDArray[np.floating]

# Least number of columns of one tile of a matrix product; each thread computes whole tiles.
LEAST_TILE = 128
# With fewer entries than this, a product takes less time than starting a thread.
LITTLE = 2**17


class Tile(NamedTuple):
    """Some columns of a block, and their places in the product of all blocks."""

    columns: Array
    places: slice


def add_gram(blocks: Sequence[Array], out: Array) -> None:
    """Add ``AᵀA`` to `out`, on and above the diagonal; the blocks are columns of A side by side.

    Threads take tiles of the product. Sums over rows are in one thread, so they depend on the
    number of threads by rounding errors only.
    """
    if max(block.size for block in blocks) < LITTLE:
        return _add_tiles([Tile(*pair) for pair in _placed(blocks)], out, each)
    with one_blas_thread() as n_threads:
        tiles = [tile for pair in _placed(blocks) for tile in _tiles(*pair, n_threads)]
        _add_tiles(tiles, out, over_blocks)


def _placed(blocks: Sequence[Array]) -> Iterator[tuple[Array, slice]]:
    start = 0
    for block in blocks:
        yield block, slice(start, start + block.shape[1])
        start += block.shape[1]


def _tiles(block: Array, places: slice, n_threads: int) -> Iterator[Tile]:
    """Yield the tiles of a block.

    With t tiles there are t(t − 1)/2 products of two tiles and t of half the cost, together t²
    halves. If t² is at least twice the number of threads, and t a power of two, no thread waits.
    """
    t = 1 if n_threads == 1 else 2 ** int(np.ceil(np.log2(2 * n_threads) / 2))
    t = max(1, min(t, block.shape[1] // LEAST_TILE))
    edges = [i * block.shape[1] // t for i in range(t + 1)]
    for i, j in pairwise(edges):
        yield Tile(block[:, i:j], slice(places.start + i, places.start + j))


def _add_tiles(tiles: Sequence[Tile], out: Array, run: Callable[..., None]) -> None:
    # Products of two tiles take twice as long. They come first so that no thread waits at the end.
    pairs = [(left, right) for i, left in enumerate(tiles) for right in tiles[i + 1 :]]

    def work(pair: tuple[Tile, Tile]) -> None:
        left, right = pair
        add_product(left.columns, right.columns, out[left.places, right.places])

    run(work, [*pairs, *((tile, tile) for tile in tiles)])
