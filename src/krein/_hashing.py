"""Random numbers that belong to the content of a row, not to its place.

Landmarks and sketches are drawn by a keyed hash of each row's content: the order of
the rows, the size of the blocks and the number of partitions change nothing, and duplicates
behave like weights. Dense and sparse rows with the same entries have the same hash.
"""

from __future__ import annotations

import functools
import hashlib
import io
import pickle
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._blocks import row_blocks
from ._compile import compiled

Hashes = NDArray[np.uint64]


class Salt(IntEnum):
    """The independent sets of random numbers; each use of randomness has its own.

    A number above `CENTER` belongs to one centre of k-means++, a number above `LEVEL` to one level
    of recursive leverage scores.
    """

    UNIFORM = 1
    SKETCH = 2
    SAMPLE = 3
    SCORES = 4
    LEVELS = 5
    HELD = 6
    RESIDUALS = 7
    CENTER = 8
    FOLDS = 7_001
    WARM_START = 7_002
    UNITS = 0x5A3E


_GOLDEN, _MIX1, _MIX2 = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)


# So often objects of a matrix are told apart by the others.
ROUNDS = 20


def mix(words: Hashes) -> Hashes:
    """The finaliser of splitmix64: every input bit reaches every output bit."""
    words = (words ^ (words >> np.uint64(30))) * _MIX1
    words = (words ^ (words >> np.uint64(27))) * _MIX2
    return words ^ (words >> np.uint64(31))


def _bits(values: NDArray) -> Hashes:
    """The bit patterns of floats, with −0 as 0 and float32 as the float64 it stands for."""
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def hash_rows(X: Any) -> Hashes:
    """One 64-bit hash per row of a numeric matrix, or per object of a sequence.

    A row's hash is the mixed sum of the hashes of its non-zero entries, each with its column.
    """
    if sparse.issparse(X):
        # A copy of what must be summed: the caller's matrix stays as it is.
        rows = sparse.csr_array(X)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        entries = mix(_bits(rows.data) ^ mix((rows.indices.astype(np.uint64) + _ONE) * _GOLDEN))
        entries[rows.data == 0] = 0
        # A running sum wraps around; its differences are right modulo 2**64 all the same.
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
        return mix(sums[rows.indptr[1:]] - sums[rows.indptr[:-1]])
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf":
        columns = mix((np.arange(X.shape[1], dtype=np.uint64) + _ONE) * _GOLDEN)
        out = np.empty(len(X), dtype=np.uint64)
        loop = _row_loop() if X.size > COMPILED and X.dtype == np.float64 else None
        if loop is not None:
            loop(X, columns, out)
            return out
        for block in row_blocks(len(X), 8 * X.shape[1]):
            values = np.ascontiguousarray(X[block], dtype=np.float64)
            entries = mix(_bits(values) ^ columns)
            entries[values == 0] = 0
            out[block] = mix(entries.sum(axis=1, dtype=np.uint64))
        return out
    digests = []
    for i, x in enumerate(X):
        try:
            digests.append(_digest(x))
        except (pickle.PicklingError, AttributeError, TypeError, ValueError) as error:
            raise ValueError(
                f"Object {i} of type {type(x).__name__} has no content that can be compared, since "
                f"it cannot be pickled ({error}): give objects of plain data, or their __reduce__."
            ) from error
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


_ONE = np.uint64(1)
# Matrices with more entries are hashed by a compiled loop, which takes a second to be loaded.
COMPILED = 2_000_000


def _hash_each_row(X: NDArray, columns: Hashes, out: Hashes) -> None:
    """The same numbers as `hash_rows` computes with NumPy, in one walk."""
    a, b, c = np.uint64(30), np.uint64(27), np.uint64(31)
    for i in range(X.shape[0]):
        total = np.uint64(0)
        for j in range(X.shape[1]):
            value = X[i, j]
            word = np.float64(value).view(np.uint64) ^ columns[j]
            word = (word ^ (word >> a)) * _MIX1
            word = (word ^ (word >> b)) * _MIX2
            word ^= word >> c
            total += np.uint64(0) if value == 0 else word
        total = (total ^ (total >> a)) * _MIX1
        total = (total ^ (total >> b)) * _MIX2
        out[i] = total ^ (total >> c)


@functools.cache
def _row_loop() -> Any:
    return compiled(_hash_each_row)


def _digest(x: Any) -> bytes:
    """Eight bytes for one object that are the same in every process."""
    if isinstance(x, str):
        content = x.encode("utf-8", "surrogatepass")
    elif isinstance(x, np.ndarray) and not x.dtype.hasobject:
        content = repr((x.shape, x.dtype.kind)).encode() + np.ascontiguousarray(x).tobytes()
    elif isinstance(x, bytes):
        content = x
    elif isinstance(x, set | frozenset):
        # The order in which a set is walked differs between processes.
        content = repr(sorted(repr(item) for item in x)).encode()
    else:
        content = _pickled(x)
    return hashlib.blake2b(content, digest_size=8).digest()


def _pickled(x: Any) -> bytes:
    """The pickle of an object without memo, so that equal parts need not be the same object."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=5)
    pickler.fast = True
    pickler.dump(x)
    return buffer.getvalue()


def hash_pairs(K: NDArray) -> Hashes:
    """One hash per row of a square matrix that a permutation of the objects does not change.

    Columns move with the objects, so entries are summed without their place; the diagonal entry,
    which stays with its row, is added apart. Objects with the same values to others in another
    order are then told apart by whom they have them to, and those that this leaves alike, as in a
    ring, by their place. Objects with the same row of values have the same hash, and no others.
    """
    found = _summed(K, np.zeros(len(K), dtype=np.uint64))
    n_kinds = len(np.unique(found))
    if n_kinds == len(K):
        return found
    rows = hash_rows(K)
    n_rows = len(np.unique(rows))
    for _ in range(ROUNDS):
        if n_kinds >= n_rows:
            return found
        finer = _summed(K, found)
        if len(np.unique(finer)) == n_kinds:
            break
        found, n_kinds = finer, len(np.unique(finer))
    _, kinds, sizes = np.unique(found, return_inverse=True, return_counts=True)
    _, first, same = np.unique(rows, return_index=True, return_inverse=True)
    alone = sizes[kinds] == np.bincount(same)[same]
    return np.where(alone, found, mix(found + mix(first[same].astype(np.uint64) + _ONE)))


def _summed(K: NDArray, others: Hashes) -> Hashes:
    """For each object the mixed sum over what its values are and whom it has them to."""
    out = np.empty(len(K), dtype=np.uint64)
    for block in row_blocks(len(K), 8 * K.shape[1]):
        entries = mix((_bits(np.ascontiguousarray(K[block])) ^ others) + _GOLDEN)
        out[block] = entries.sum(axis=1, dtype=np.uint64)
    return mix(out + mix(_bits(np.ascontiguousarray(np.diagonal(K))) * _GOLDEN) + others)


class Draws:
    """Exponential clocks for rows, keyed by their content.

    Row i rings at time ``−log(u_i) / w_i``; the rows that ring first are a draw without
    replacement with chances proportional to the weights w. Identical rows share one clock with the
    sum of their weights, and one of them stands for all.

    Parameters
    ----------
    hashes : ndarray of uint64
        The rows' hashes.
    key : int
        The seed.
    merge : bool, default=True
        Whether rows of the same hash are the same; otherwise ties go to the first.
    """

    def __init__(self, hashes: Hashes, key: int, merge: bool = True):
        self.hashes, self.merge = hashes, merge
        self.key = np.uint64(key % 2**64)
        self._kinds: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None

    def clocks(self, salt: int) -> NDArray[np.floating]:
        """Independent standard exponential times, one set per salt."""
        salted = mix(np.array([salt], dtype=np.uint64) * _GOLDEN + self.key)
        words = mix(self.hashes ^ salted)
        # 53 bits, in (0, 1]: the logarithm of 0 must not occur.
        uniform = ((words >> np.uint64(11)).astype(np.float64) + 1) * 2.0**-53
        return -np.log(uniform)

    def first(self, n: int, salt: int, weights: NDArray | None = None) -> NDArray[np.intp]:
        """The n distinct rows that ring first, in the order of their times."""
        rows, inverse = self.kinds
        ones = np.ones(len(self.hashes)) if weights is None else weights
        total = np.bincount(inverse, weights=ones, minlength=len(rows))
        with np.errstate(divide="ignore"):
            times = np.where(total > 0, self.clocks(salt)[rows] / total, np.inf)
        if n < len(times) // 4:  # few of many: only those that may be among them are sorted
            early = np.flatnonzero(times <= np.partition(times, n)[n])
            rows, times = rows[early], times[early]
        order = np.argsort(times, kind="stable")[:n]
        return rows[order[np.isfinite(times[order])]]

    @property
    def kinds(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The first row of each kind, and the kind of each row."""
        # Not a cached_property: that of Python 3.11 has a lock, which a fork may find taken.
        if self._kinds is None:
            self._kinds = self._find_kinds()
        return self._kinds

    def _find_kinds(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        if not self.merge:
            everyone = np.arange(len(self.hashes))
            return everyone, everyone
        _, rows, inverse = np.unique(self.hashes, return_index=True, return_inverse=True)
        return rows, inverse

    def others(
        self, chosen: NDArray, n: int, salt: int, weights: NDArray | None = None
    ) -> NDArray[np.intp]:
        """The n rows that ring first and are none of `chosen`."""
        candidates = self.first(n + len(chosen), salt, weights)
        if not self.merge:
            return candidates[~np.isin(candidates, chosen)][:n]
        return candidates[~np.isin(self.hashes[candidates], self.hashes[chosen])][:n]


def as_key(rng: np.random.Generator) -> int:
    """A 64-bit key drawn from a generator."""
    return int(rng.integers(2**63))
