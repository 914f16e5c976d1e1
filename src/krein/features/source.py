"""The training objects of a Nyström map, accessed only through blocks of kernel values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import _check_feature_names

from .._blocks import BLOCK_BYTES, row_blocks
from .._hashing import Draws, Hashes, hash_pairs, hash_rows
from .._threads import each, over_blocks
from ..kernels import Gaussian, Kernel, Precomputed
from ..kernels.base import Known, common_dtype
from ..kernels.errors import BadPairError, kernel_name, one_line, placed
from ..kernels.processes import in_processes, kernel_values
from ..kernels.values import check_values
from ..rows import column_names, count, take
from .pairs import Pairs


class Source:
    """Objects and their kernel.

    A kernel of objects may be a slow function of the user, so its values are stored and no pair is
    computed twice.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array-like, sparse matrix or sequence of objects
        The validated training data; for a `Precomputed` kernel the square matrix of all values.
    n_jobs : int, default=None
        Number of processes that evaluate the kernel; None means the current process.
    y : array-like, default=None
        The targets of the objects.
    known : tuple (places, values), default=None
        Kernel values between the objects at these places that need not be computed again.
    n_extra : int, default=0
        Number of objects that stand before the training objects and are not training objects.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        n_jobs: int | None = None,
        y: Any = None,
        known: Known | None = None,
        n_extra: int = 0,
    ):
        self.n_extra = n_extra
        self.kernel, self.X, self.n_jobs, self.y, self.known = kernel, X, n_jobs, y, known
        self.precomputed = isinstance(kernel, Precomputed)
        self._draws: Draws | None = None

    def __len__(self) -> int:
        return count(self.X)

    @property
    def is_symmetric(self) -> bool:
        return self.kernel.is_symmetric

    def draws(self, key: int) -> Draws:
        """Return random draws keyed by the content of the objects.

        Equal rows of a precomputed matrix may belong to different objects and are not merged.
        """
        if self._draws is None or int(self._draws.key) != key:
            self._draws = Draws(self.hashes, key, merge=not self.precomputed)
        return self._draws

    @cached_property
    def hashes(self) -> Hashes:
        """Hash of the content of each object."""
        return hash_pairs(self.X) if self.precomputed else hash_rows(self.X)

    @cached_property
    def kinds(self) -> tuple[NDArray[np.floating], NDArray[np.intp]]:
        """Number of objects of each kind, and the kind of each object; equal objects are of one.

        Objects that are not training objects do not count, unless a kind has no others.
        """
        rows, kinds = (self._draws or self.draws(0)).kinds
        sizes = np.bincount(kinds[self.n_extra :], minlength=len(rows))
        return np.maximum(sizes, 1.0), kinds

    def rounding(self, K: NDArray[np.floating]) -> float:
        """Return by how much rounding of the values K, as precise as X, moves their eigenvalues."""
        return float(np.finfo(common_dtype(self.X)).eps * np.linalg.norm(K))

    @cached_property
    def pairs(self) -> Pairs | None:
        """Stored values of a kernel of objects; None for vectors and matrices."""
        if self.precomputed or self.kernel.takes_vectors:
            return None
        pairs = Pairs(self._compute, self._self_values, len(self), self.is_symmetric)
        if self.known is not None:
            places, values = self.known
            pairs.remember(places, places, values)
        return pairs

    def take(self, rows: NDArray) -> Any:
        """Return the objects with these indices; for a precomputed kernel the indices."""
        return rows if self.precomputed else take(self.X, rows)

    def values(self, rows: NDArray, columns: NDArray) -> NDArray[np.floating]:
        """Return k(x_i, x_j) for i in rows and j in columns, as finite float64."""
        if self.precomputed:
            return np.asarray(self.X[np.ix_(rows, columns)], dtype=float)
        if self.pairs is not None:
            return self.pairs.values(rows, columns)
        left, right = self.take(rows), self.take(columns)
        with placed(rows, columns):
            K = kernel_values(self.kernel, left, right, self.n_jobs, checked=True)
        return check_values(self.kernel, K.astype(float, copy=False), rows, columns)

    def turned(self, rows: NDArray, columns: NDArray) -> NDArray[np.floating]:
        """Return k(x_j, x_i) for i in rows and j in columns: the arguments are swapped."""
        return np.ascontiguousarray(self.values(columns, rows).T)

    def diagonal(self, rows: NDArray) -> NDArray[np.floating]:
        """Return k(x_i, x_i) for i in rows."""
        if self.precomputed:
            return np.asarray(self.X[rows, rows], dtype=float)
        if self.pairs is not None:
            return self.pairs.diagonal(rows)
        return self._self_values(rows)

    def blocks(self, landmarks: NDArray) -> Iterator[NDArray[np.floating]]:
        """Yield row blocks of k(X, landmarks)."""
        for rows in row_blocks(len(self), 8 * max(1, len(landmarks)), 8 * BLOCK_BYTES):
            yield self.values(np.arange(rows.start, rows.stop), landmarks)

    def over_rows(
        self,
        work: Callable[[NDArray[np.intp]], None],
        n_columns: int,
        rows: NDArray[np.intp] | None = None,
    ) -> None:
        """Call `work` on blocks of rows, of all rows by default.

        `work` needs `n_columns` values per row.
        """
        rows = np.arange(len(self)) if rows is None else rows

        # A function of the user is not called from threads.
        threaded = self.pairs is None and effective_n_jobs(self.n_jobs) == 1
        budget = BLOCK_BYTES if threaded else 8 * BLOCK_BYTES
        run = over_blocks if threaded else each
        parts = row_blocks(len(rows), 8 * max(1, n_columns), budget)
        run(work, (rows[part] for part in parts))

    def _compute(
        self, rows: NDArray, columns: NDArray, wanted: NDArray[np.bool_]
    ) -> NDArray[np.floating]:
        """Compute the wanted values of a kernel of objects, in `n_jobs` processes."""
        with placed(rows, columns):
            X, Y = self.take(rows), self.take(columns)
            return in_processes(self.kernel, X, Y, self.n_jobs, wanted)

    def _self_values(self, rows: NDArray) -> NDArray[np.floating]:
        values = np.asarray(self.kernel.diag(self.take(rows)), dtype=float)
        for i in np.flatnonzero(~np.isfinite(values)):
            row = int(rows[i])
            raise BadPairError(kernel_name(self.kernel), float(values[i]), row, row)
        return values


def as_kernel(owner: Any, given: Kernel | str | None) -> Kernel:
    """Return the kernel of a Nyström map; "precomputed" and None are names of kernels."""
    if given is None:
        return Gaussian()
    if isinstance(given, str):
        return Precomputed()
    if given.is_pairwise and not isinstance(given, Precomputed):
        raise ValueError(
            f"{type(owner).__name__} takes a matrix of kernel values as it is, got "
            f"{one_line(given)}: compute with the matrix instead, and pass "
            'kernel="precomputed".'
        )
    return given


def landmark_columns(owner: Any, X: Any) -> NDArray:
    """Return the columns of the landmarks in a matrix of kernel values.

    Parameters
    ----------
    owner : Nystrom
        The fitted map.
    X : array-like of shape (n, n_objects) or (n, n_landmarks)
        Values against all training objects or against the landmarks only. A data frame with all
        training objects must have the columns of the fit in the same order.
    """
    K = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    n_objects, landmarks = owner.n_features_in_, owner.landmarks_
    if K.shape[1] == n_objects:
        if column_names(X) is not None:
            _check_feature_names(owner, X, reset=False)
        return K[:, landmarks]
    if K.shape[1] == len(landmarks):
        return K
    raise ValueError(
        f"X has {K.shape[1]} columns, but transform needs kernel values against all {n_objects} "
        f"training objects or against the {len(landmarks)} landmarks (component_indices_)."
    )
