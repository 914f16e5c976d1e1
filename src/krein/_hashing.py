"""Random numbers that depend on the content of a row and not on its position.

Landmarks and sketches are drawn by a keyed hash of the content of each row. The order of the rows,
the size of the blocks and the number of partitions do not change the draw, and duplicates behave
like weights. Dense and sparse rows with the same entries have the same hash.
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

from ._blocks import CACHE_BYTES, row_blocks
from ._compile import compiled
from ._threads import over_blocks
from .rows import canonical

Hashes = NDArray[np.uint64]


class Salt(IntEnum):
    """The independent sets of random numbers; each use of randomness has its own.

    ``CENTER + i`` belongs to centre i of k-means++, ``SCORES + n`` to the level of n rows of
    recursive leverage scores, and ``RESIDUALS + i`` to round i of the rule "residual".
    """

    UNIFORM = 1
    SKETCH = 2
    SAMPLE = 3
    SCORES = 4
    LEVELS = 5
    HELD = 6
    CENTER = 8
    FOLDS = 7_001
    WARM_START = 7_002
    RESIDUALS = 7_100
    UNITS = 0x5A3E


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


# Number of refinement rounds that distinguish the rows of a matrix by their values against all
# other rows.
ROUNDS = 20


def mix(words: Hashes) -> Hashes:
    """Apply the finaliser of splitmix64: every input bit changes every output bit."""
    words = (words ^ (words >> np.uint64(30))) * _MIX1
    words = (words ^ (words >> np.uint64(27))) * _MIX2
    return words ^ (words >> np.uint64(31))


def _bits(values: NDArray) -> Hashes:
    """Return the bit patterns of numbers as float64; −0 has the pattern of 0."""
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def hash_rows(X: Any) -> Hashes:
    """Return a 64-bit hash of each row of a numeric matrix, or of each object of a sequence.

    The hash of a row is the mixed sum of the hashes of its non-zero entries and their columns.
    """
    if sparse.issparse(X):
        rows = canonical(sparse.csr_array(X))
        entries = mix(_bits(rows.data) ^ mix((rows.indices.astype(np.uint64) + _ONE) * _GOLDEN))
        entries[rows.data == 0] = 0
        # The running sum overflows, but its differences are still correct modulo 2**64.
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
        return mix(sums[rows.indptr[1:]] - sums[rows.indptr[:-1]])
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf":
        columns = mix((np.arange(X.shape[1], dtype=np.uint64) + _ONE) * _GOLDEN)
        out = np.empty(len(X), dtype=np.uint64)
        is_long = X.size > COMPILED and X.dtype in (np.float32, np.float64)
        loop = (_row_loop() if is_long else None) or _hash_by_columns

        def work(block: slice) -> None:
            loop(X[block], columns, out[block])

        if X.size < ALONE:
            work(slice(None))
        else:
            over_blocks(work, row_blocks(len(X), 8 * X.shape[1], CACHE_BYTES))
        return out
    digests = []
    for i, x in enumerate(X):
        try:
            digests.append(_digest(x))
        except (pickle.PicklingError, AttributeError, TypeError, ValueError) as error:
            raise ValueError(
                f"Object {i} of type {type(x).__name__} cannot be hashed, because it cannot be "
                f"pickled ({error}): pass objects of plain data, or define __reduce__."
            ) from error
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


_ONE = np.uint64(1)
# A compiled loop hashes matrices with more entries than this; loading the loop takes a second.
COMPILED = 2_000_000
# One thread hashes matrices with fewer entries than this.
ALONE = 2**17


def _hash_by_columns(X: NDArray, columns: Hashes, out: Hashes) -> None:
    """Compute the hashes of `hash_rows` with operations on whole arrays."""
    values = np.ascontiguousarray(X, dtype=np.float64)
    entries = mix(_bits(values) ^ columns)
    entries[values == 0] = 0
    out[:] = mix(entries.sum(axis=1, dtype=np.uint64))


def _hash_each_row(X: NDArray, columns: Hashes, out: Hashes) -> None:
    """Compute the hashes of `hash_rows` in one pass over the matrix."""
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
    """Return eight bytes that depend on the content of an object and not on the process."""
    if isinstance(x, str):
        content = x.encode("utf-8", "surrogatepass")
    elif isinstance(x, np.ndarray) and not x.dtype.hasobject:
        content = repr((x.shape, x.dtype.kind)).encode() + np.ascontiguousarray(x).tobytes()
    elif isinstance(x, bytes):
        content = x
    elif isinstance(x, set | frozenset):
        # The iteration order of a set differs between processes.
        content = repr(sorted(repr(item) for item in x)).encode()
    else:
        content = _pickled(x)
    return hashlib.blake2b(content, digest_size=8).digest()


def _pickled(x: Any) -> bytes:
    """Pickle an object without memo, so that equal objects have equal pickles."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=5)
    pickler.fast = True
    pickler.dump(x)
    return buffer.getvalue()


def hash_pairs(K: NDArray) -> Hashes:
    """Return a hash of each row of a square matrix; permuting the objects permutes the hashes.

    A permutation moves columns as well as rows, so the entries of a row are summed without their
    columns. The diagonal entry stays on the diagonal and is added separately. Two rows that hold
    the same values in another order are distinguished in further rounds, by the hashes of the
    objects that the values refer to. Rows that are still alike, as in a ring, are distinguished by
    their position. Two objects have the same hash if and only if their rows are equal.
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
    """Mix and sum, for each row, its values and the hashes of the objects they refer to."""
    out = np.empty(len(K), dtype=np.uint64)
    for block in row_blocks(len(K), 8 * K.shape[1]):
        entries = mix((_bits(np.ascontiguousarray(K[block])) ^ others) + _GOLDEN)
        out[block] = entries.sum(axis=1, dtype=np.uint64)
    return mix(out + mix(_bits(np.ascontiguousarray(np.diagonal(K))) * _GOLDEN) + others)


class Draws:
    """Weighted draws of rows without replacement, keyed by the content of the rows.

    Each row has an exponential clock: row i rings at time ``−log(u_i) / w_i``. The rows that ring
    first are a draw without replacement with chances proportional to the weights w. Identical rows
    share one clock with the sum of their weights, and the first of them is returned.

    Parameters
    ----------
    hashes : ndarray of uint64
        Hash of each row.
    key : int
        The seed.
    merge : bool, default=True
        True if rows with the same hash count as one row. If False, each row has a clock of its own,
        and the first row wins if two times are equal.
    """

    def __init__(self, hashes: Hashes, key: int, merge: bool = True):
        self.hashes, self.merge = hashes, merge
        self._names = hashes if merge else np.arange(len(hashes))
        self.key = np.uint64(key % 2**64)
        self._kinds: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None

    def clocks(self, salt: int) -> NDArray[np.floating]:
        """Return a standard exponential time for each row; another salt gives independent times."""
        salted = mix(np.array([salt], dtype=np.uint64) * _GOLDEN + self.key)
        words = mix(self.hashes ^ salted)
        # 53 bits in (0, 1]; 0 is excluded because of the logarithm.
        uniform = ((words >> np.uint64(11)).astype(np.float64) + 1) * 2.0**-53
        return -np.log(uniform)

    def first(self, n: int, salt: int, weights: NDArray | None = None) -> NDArray[np.intp]:
        """Return the n distinct rows that ring first, in the order of their times."""
        rows, inverse = self.kinds
        ones = np.ones(len(self.hashes)) if weights is None else weights
        total = np.bincount(inverse, weights=ones, minlength=len(rows))
        with np.errstate(divide="ignore"):
            times = np.where(total > 0, self.clocks(salt)[rows] / total, np.inf)
        if n < len(times) // 4:  # sort only the candidates if n is small
            early = np.flatnonzero(times <= np.partition(times, n)[n])
            rows, times = rows[early], times[early]
        order = np.argsort(times, kind="stable")[:n]
        return rows[order[np.isfinite(times[order])]]

    @property
    def kinds(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """First row of each kind, and the kind of each row; equal rows are of one kind."""
        # Not a cached_property: that of Python 3.11 has a lock, and a fork may copy it while held.
        if self._kinds is None:
            _, rows, inverse = np.unique(self._names, return_index=True, return_inverse=True)
            self._kinds = rows, inverse
        return self._kinds

    def summed(self, scores: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return scores in which the first of equal rows has their sum, and the others have 0."""
        rows, inverse = self.kinds
        found = np.zeros(len(scores))
        found[rows] = np.bincount(inverse, weights=scores)
        return found

    def others(
        self, chosen: NDArray, n: int, salt: int, weights: NDArray | None = None
    ) -> NDArray[np.intp]:
        """Return the n rows that ring first among the rows that are not in `chosen`."""
        candidates = self.first(n + len(chosen), salt, weights)
        return candidates[~np.isin(self._names[candidates], self._names[chosen])][:n]


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator made from the `random_state` of scikit-learn."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint64))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "random_state must be None, a whole number ≥ 0, a RandomState or a Generator, got "
            f"{random_state!r}."
        ) from error


def as_key(rng: np.random.Generator) -> int:
    """Draw a 64-bit key from a generator."""
    return int(rng.integers(2**63))
