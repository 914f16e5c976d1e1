"""The largest products of two sets of features, without a matrix of all products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blocks import row_blocks
from .._hashing import hash_rows
from .._validation import check_count
from ..kernels.errors import counted_from
from ..rows import count, take

Map = Callable[[Any], NDArray]
Found = tuple[NDArray[np.intp], NDArray]
# Memory of the features of the queries that are compared with the gallery at a time, and of one
# block of features or of products, in bytes.
QUERY_BYTES, BLOCK_BYTES = 2**26, 2**24


def check_neighbours(owner: object, k: Any, n: int) -> None:
    """Raise an error unless k is a whole number from 1 to n, the number of objects."""
    caller = f"{type(owner).__name__}.nearest"
    if check_count(caller, "k", k) > n:
        raise ValueError(
            f"{caller} cannot find k={k} neighbours in a gallery of {n} objects: use k ≤ {n}."
        )


def largest_products(
    of_queries: Map, of_gallery: Map, queries: Any, gallery: Any, k: int, width: int
) -> Found:
    """Return the k rows of the gallery whose features have the largest products with each query.

    Rounding depends on the place of a row in a block. Only the first of several equal rows of the
    gallery is therefore computed, and its products serve the others.

    Parameters
    ----------
    of_queries, of_gallery : callable
        Return the features of rows.
    queries, gallery : array-like, sparse matrix or sequence of objects
        Validated rows.
    k : int
        Number of rows to find.
    width : int
        Number of features.

    Returns
    -------
    indices, values : ndarray of shape (n, k)
        Largest value first; equal values in the order of the gallery.
    """
    copies = Copies(hash_rows(gallery))
    distinct = gallery if copies.all_differ else take(gallery, copies.first)
    n = min(k, count(distinct))
    found = [
        _search(_mapped(of_queries, queries, part), of_gallery, distinct, n)
        for part in row_blocks(count(queries), 8 * width, QUERY_BYTES)
    ]
    indices, values = (np.concatenate(side) for side in zip(*found, strict=True))
    return (indices, values) if copies.all_differ else copies.expand(indices, values, k)


class Copies:
    """Which rows are equal.

    Attributes
    ----------
    first : ndarray of int
        The places of the rows that differ from all rows before them, in ascending order.
    all_differ : bool
        True if no row occurs twice.
    """

    def __init__(self, hashes: NDArray[np.uint64]):
        _, first, kind = np.unique(hashes, return_index=True, return_inverse=True)
        self.first = np.sort(first)
        self.all_differ = len(first) == len(hashes)
        # The rows of each kind are consecutive in `order`; kinds stand in the order of `first`.
        kind = np.searchsorted(self.first, first[kind])
        self._order = np.argsort(kind, kind="stable")
        self._ends = np.concatenate([[0], np.cumsum(np.bincount(kind))])

    def expand(self, kinds: NDArray[np.intp], values: NDArray, k: int) -> Found:
        """Replace each kind by its rows, and keep the k largest values."""
        indices = np.empty((len(kinds), k), dtype=np.intp)
        out = np.empty((len(kinds), k), dtype=values.dtype)
        for i, (row, own) in enumerate(zip(kinds, values, strict=True)):
            places = [self._order[self._ends[j] : self._ends[j + 1]][:k] for j in row]
            repeated = np.repeat(own, [len(some) for some in places])
            joined = np.concatenate(places)
            best = np.lexsort((joined, -repeated))[:k]
            indices[i], out[i] = joined[best], repeated[best]
        return indices, out


def _search(Z: NDArray, of_gallery: Map, gallery: Any, k: int) -> Found:
    """Find the rows of the gallery with the largest products with the features Z of queries."""
    indices, values = np.zeros((len(Z), k), dtype=np.intp), np.full((len(Z), k), -np.inf)
    dtype = Z.dtype
    for part in row_blocks(count(gallery), 8 * max(Z.shape), BLOCK_BYTES):
        products = Z @ _mapped(of_gallery, gallery, part).T
        dtype = products.dtype
        better = np.flatnonzero(products.max(axis=1) > values[:, -1])
        products = products[better]
        best = top(products, k)
        # Places found before are smaller, and a stable sort keeps them in front of equal values.
        new = values[better], np.take_along_axis(products, best, axis=1)
        places = indices[better], best + part.start
        joined = [np.concatenate(side, axis=1) for side in (new, places)]
        kept = np.argsort(-joined[0], axis=1, kind="stable")[:, :k]
        values[better], indices[better] = (np.take_along_axis(a, kept, axis=1) for a in joined)
    return indices, values.astype(dtype)


def _mapped(features: Map, X: Any, part: slice) -> NDArray:
    """Return the features of some rows; an error names the place of a row in X."""
    with counted_from(part.start):
        return features(X[part])


def top(values: NDArray, k: int) -> NDArray[np.intp]:
    """Return the places of the k largest values of each row, in ascending order of the places.

    If values are equal, the first ones are taken.
    """
    if k >= values.shape[1]:
        return np.broadcast_to(np.arange(values.shape[1]), values.shape)
    places = np.argpartition(-values, k - 1, axis=1)[:, :k]
    smallest = np.take_along_axis(values, places, axis=1).min(axis=1, keepdims=True)
    tied = (values >= smallest).sum(axis=1) > k
    places[tied] = np.argsort(-values[tied], axis=1, kind="stable")[:, :k]
    return np.sort(places, axis=1)
