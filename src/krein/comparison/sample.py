"""The rows on which methods are compared: drawn by content, dealt into folds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._hashing import Draws, Salt, as_key, hash_pairs, hash_rows
from .._validation import KERNEL_OBJECTS, are_unit, kernel_instead_of
from ..estimators._estimator import is_stream
from ..kernels import Kernel, Precomputed
from ..kernels.errors import placed
from ..kernels.sampling import objects_at
from ..kernels.values import check_values
from ..rows import Sides, count, take


class Fold(NamedTuple):
    """Rows to fit a map on, and other rows to judge the map on.

    Attributes
    ----------
    seed : int
        The seed of the map.
    fitted : rows
        The rows that the map is fitted on; for a matrix of pairs their square matrix.
    left, right : rows
        The rows that the map is judged on, as `transform` and `transform_dual` take them.
    K : ndarray of shape (n, n)
        The exact kernel values between the judged rows.
    places : tuple of two arrays of int
        The places of the fitted and of the judged rows in the sample.
    """

    seed: int
    fitted: Any
    left: Any
    right: Any
    K: NDArray[np.floating]
    places: tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Sample:
    """Distinct rows of the data, and the kernel.

    The rows are dealt into as many folds as there are seeds. The map with seed i is fitted on all
    folds but fold i and judged on fold i, so that no map is judged on rows that it has seen.

    Attributes
    ----------
    kernel : Kernel
        The kernel, with all parameters resolved; `Precomputed` for every matrix of pairs.
    rows : array, CSR matrix or list of objects
        The rows in the order in which they were drawn; for a matrix of pairs the kernel matrix.
    places : ndarray of int
        The places of the rows in the data.
    seeds : tuple of int
        The seeds of the maps.
    """

    kernel: Kernel
    rows: Any
    places: NDArray[np.intp]
    seeds: tuple[int, ...]

    @classmethod
    def of(
        cls, kernel: Kernel, data: Any, max_rows: int, n_seeds: int, rng: np.random.Generator
    ) -> Sample:
        """Draw rows by their content.

        Parameters
        ----------
        kernel : Kernel
            The resolved kernel.
        data : rows
            The data, as `Kernel._check_data` returns them.
        max_rows : int
            Largest number of rows.
        n_seeds : int
            Number of seeds and of folds.
        rng : Generator
        """
        hashes = hash_pairs(data) if kernel.is_pairwise else hash_rows(data)
        draws = Draws(hashes, as_key(rng), merge=not kernel.is_pairwise)
        places = draws.first(max_rows, Salt.SAMPLE)
        seeds = tuple(int(seed) for seed in rng.integers(2**31, size=n_seeds))
        rows = objects_at(kernel, data, places)
        if kernel.is_pairwise:
            rows, kernel = kernel(rows), Precomputed(kernel.is_symmetric)
        return cls(kernel, rows, places, seeds)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def n_judged(self) -> int:
        """The largest number of rows that a map is judged on."""
        return -(-len(self) // len(self.seeds))

    @property
    def n_fitted(self) -> int:
        """The least number of rows that a map is fitted on."""
        return len(self) - self.n_judged

    @cached_property
    def has_vectors(self) -> bool:
        """True if the rows are vectors and not objects or kernel values."""
        is_matrix = hasattr(self.rows, "dtype") and getattr(self.rows, "ndim", 0) == 2
        return is_matrix and not self.kernel.is_pairwise

    @cached_property
    def on_sphere(self) -> bool:
        """True if the rows are vectors of norm 1."""
        return self.has_vectors and are_unit(self.rows)

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        """The folds, one per seed."""
        return tuple(self._folds())

    def _folds(self) -> Iterator[Fold]:
        everything = np.arange(len(self))
        for i, seed in enumerate(self.seeds):
            judged = everything[i :: len(self.seeds)]
            fitted = np.setdiff1d(everything, judged)
            rows = objects_at(self.kernel, self.rows, fitted)
            if self.kernel.is_pairwise:
                left, right = self.rows[np.ix_(judged, fitted)], self.rows[np.ix_(fitted, judged)].T
                K = self.rows[np.ix_(judged, judged)]
            else:
                left = right = take(self.rows, judged)
                with placed(self.places[judged], self.places[judged]):
                    K = check_values(self.kernel, self.kernel(left))
            yield Fold(seed, rows, left, right, K.astype(float), (fitted, judged))

    def judged_sides(self, fold: Fold) -> Any:
        """Return the judged rows of a fold as a learner takes them."""
        if self.kernel.is_pairwise and not self.kernel.is_symmetric:
            return Sides(fold.left, fold.right)
        return fold.left


def checked(owner: str, kernel: Any, X: Any) -> tuple[Kernel, Any]:
    """Return the kernel and the validated data, or raise if they are not rows in memory.

    Parameters
    ----------
    owner : str
        The name of the function that takes the data, for the message.
    kernel : Kernel or "precomputed"
        The kernel, which validates the data. "precomputed" means that X is the matrix of values,
        symmetric or not.
    X : array-like, sparse matrix or sequence of objects
        The data.
    """
    if isinstance(kernel, str) and kernel == "precomputed":
        kernel = _matrix_kernel(X)
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"{owner} takes {kernel_instead_of(kernel) or KERNEL_OBJECTS}, got {kernel!r}."
        )
    if is_stream(X) and not isinstance(X, range):  # a range holds the ids of nodes
        raise TypeError(
            f"{owner} needs rows in memory, got a stream ({type(X).__name__}). Draw some rows of "
            "the stream first: krein.streaming.sample(container, 1000, key=0).rows, where "
            "container is krein.streaming.open_stream(path) or krein.streaming.Blocks(blocks)."
        )
    data = kernel._check_data(X)
    if count(data) < 2:
        raise ValueError(f"{owner} needs at least two rows, got {count(data)}.")
    return kernel, data


def _matrix_kernel(K: Any) -> Precomputed:
    """Return the kernel of a matrix of values."""
    shape = np.shape(K)
    square = len(shape) == 2 and shape[0] == shape[1]
    return Precomputed(symmetric=not square or bool(np.allclose(K, np.transpose(K))))
