"""Kernels of sets: overlap of fingerprints and of Python sets, distance of point sets."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from .._blocks import BLOCK_BYTES
from .._validation import check_finite
from ._distances import in_one_unit
from .base import Kernel, _common_dtype, _len
from .traits import Traits

# --- overlap ------------------------------------------------------------------------------------


def _are_sets(X: Any) -> bool:
    """Whether X is a list, array or Series of sets."""
    if sparse.issparse(X) or not hasattr(X, "__len__"):
        return False
    return isinstance(next(iter(X), None), Set)


def _incidence(*collections: list[Set]) -> list[sparse.csr_array]:
    """The sets of each collection as rows of 0 and 1 over one vocabulary."""
    columns: dict[Any, int] = {}
    rows = [
        [[columns.setdefault(item, len(columns)) for item in one] for one in sets]
        for sets in collections
    ]
    return [_csr(indices, max(1, len(columns))) for indices in rows]


def _csr(rows: list[list[int]], width: int) -> sparse.csr_array:
    ends = np.cumsum([0] + [len(row) for row in rows])
    indices = np.array([column for row in rows for column in row], dtype=np.int64)
    return sparse.csr_array((np.ones(len(indices)), indices, ends), shape=(len(rows), width))


class Tversky(Kernel):
    """Tversky's index: the common part of two sets, its misfits weighted differently per side.

        k(x, y) = ⟨x, y⟩ / (⟨x, y⟩ + alpha (‖x‖² − ⟨x, y⟩) + beta (‖y‖² − ⟨x, y⟩))

    The data are a matrix, dense or CSR, of entries ≥ 0 (CSR stays sparse, whatever its width), or
    a list of Python sets, which share one vocabulary per call. On rows of 0 and 1 the formula is
    the one of sets, |X ∩ Y| / (|X ∩ Y| + alpha |X \\ Y| + beta |Y \\ X|). On counts it is the
    product form of chemistry, not the min/max form. Where nothing is to be compared (0/0, for
    instance two empty rows) the value is 1.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of what x has and y has not, ≥ 0.
    beta : float, default=0.0
        Weight of what y has and x has not, ≥ 0. The kernel is symmetric if beta equals alpha.

    Notes
    -----
    For |√alpha − √beta| > 1 the product form can be negative or infinite on counts, so such
    weights take rows of 0 and 1 only.

    Examples
    --------
    >>> from krein.kernels import Tversky
    >>> Tversky(alpha=1, beta=0)([{"a", "b"}], [{"a"}])
    array([[0.5]])
    >>> Tversky(alpha=0, beta=1)([{"a", "b"}], [{"a"}])
    array([[1.]])
    """

    def __init__(self, alpha: float = 1.0, beta: float = 0.0):
        self.alpha = alpha
        self.beta = beta

    @property
    def traits(self) -> Traits:
        return Traits(is_symmetric=bool(self.alpha == self.beta))

    def _weights(self) -> tuple[float, float]:
        alpha = check_finite(self, "alpha", self.alpha)
        beta = check_finite(self, "beta", self.beta)
        if min(alpha, beta) < 0 or alpha + beta == 0:
            raise ValueError(
                f"{type(self).__name__} needs weights alpha and beta ≥ 0, not both 0, got "
                f"{self.alpha!r} and {self.beta!r}."
            )
        return alpha, beta

    def _check_data(self, X: Any, name: str = "X") -> Any:
        alpha, beta = self._weights()
        if isinstance(X, Set):
            raise TypeError(f"{type(self).__name__} needs a list of sets as {name}, got one set.")
        if not sparse.issparse(X) and hasattr(X, "__len__") and len(X) == 0:
            raise ValueError(f"{type(self).__name__} needs rows or sets, but {name} is empty.")
        if _are_sets(X):
            return self._check_sets(list(X), name)
        X = super()._check_data(X, name)
        entries = X.data if sparse.issparse(X) else X
        if entries.size and entries.min() < 0:
            raise ValueError(
                f"{type(self).__name__} needs entries ≥ 0, but {name} has a smallest entry of "
                f"{entries.min():.4g}."
            )
        if abs(alpha**0.5 - beta**0.5) > 1 and not np.all((entries == 0) | (entries == 1)):
            raise ValueError(
                f"{self!r} is defined for rows of 0 and 1 only, but {name} has other entries: use "
                "weights with |√alpha − √beta| ≤ 1 for counts."
            )
        return X

    def takes_matrix(self, X: Any) -> bool:
        return not _are_sets(X)

    def _check_sets(self, sets: list[Any], name: str) -> list[Set]:
        for i, one in enumerate(sets):
            if not isinstance(one, Set):
                raise TypeError(
                    f"{type(self).__name__} was given a list of sets as {name}, but its item {i} "
                    f"is {one!r}."
                )
        return sets

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X, Y = super()._check_pair(X, Y)
        if isinstance(X, list) != isinstance(Y, list):
            raise TypeError(
                f"{type(self).__name__} compares sets with sets and rows with rows, but only one "
                "of X and Y is a list of sets."
            )
        # A vocabulary holds for one call: new sets may bring new items.
        return tuple(_incidence(X, Y)) if isinstance(X, list) else (X, Y)

    def _block(self, X: Any, Y: Any) -> NDArray:
        alpha, beta = self._weights()
        if isinstance(X, list):
            X, Y = _incidence(X, Y)
        X, Y = in_one_unit(X, Y)  # which changes no ratio
        common = np.asarray(safe_sparse_dot(X, Y.T, dense_output=True))
        rest = (1 - alpha - beta) * common
        rest += (alpha * row_norms(X, squared=True))[:, None]
        rest += beta * row_norms(Y, squared=True)
        return np.divide(common, rest, out=np.ones_like(common), where=rest > 0)

    def _diagonal(self, X: Any) -> NDArray:
        return np.ones(_len(X), dtype=_common_dtype(X))


class Tanimoto(Tversky):
    """Tanimoto's or Jaccard's index, ``⟨x, y⟩ / (‖x‖² + ‖y‖² − ⟨x, y⟩)``.

    The data are a matrix, dense or CSR, of entries ≥ 0, or a list of Python sets, of which it is
    the size of the intersection over that of the union; see `Tversky`. Two empty rows have 1.

    Examples
    --------
    >>> from krein.kernels import Tanimoto
    >>> Tanimoto()([{1, 2}, {2}], [{2, 3, 4}])
    array([[0.25      ],
           [0.33333333]])
    """

    def __init__(self) -> None:
        super().__init__(1.0, 1.0)


class Dice(Tversky):
    """Dice's index, ``2 ⟨x, y⟩ / (‖x‖² + ‖y‖²)``.

    The data are a matrix, dense or CSR, of entries ≥ 0, or a list of Python sets; see `Tversky`.
    Two empty rows have 1.
    """

    def __init__(self) -> None:
        super().__init__(0.5, 0.5)


# --- point sets ---------------------------------------------------------------------------------


def check_ragged(
    owner: Kernel, X: Any, name: str, noun: str, shapes: str, shortest: int = 1
) -> list[NDArray[np.float64]]:
    """A list of finite matrices of equal width; vectors are taken as columns if `shapes` says so.

    `noun` and `shapes` are the words of the messages: what one object is and its shape.
    """
    title = type(owner).__name__
    if isinstance(X, str | bytes) or not hasattr(X, "__len__") or sparse.issparse(X):
        raise TypeError(f"{title} needs a list of {noun} as {name}, got {type(X).__name__}.")
    if len(X) == 0:
        raise ValueError(f"{title} needs a list of {noun}, but {name} is empty.")
    found: list[NDArray[np.float64]] = []
    for i, one in enumerate(X):
        try:
            array = np.asarray(one, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{title} needs {noun} of numbers, but object {i} of {name} is not."
            ) from error
        if array.ndim == 1 and shapes.startswith("(time,)"):
            array = array[:, None]
        if array.ndim != 2:
            raise ValueError(
                f"{title} needs a list of {noun} of shape {shapes}, but object {i} of {name} has "
                f"shape {array.shape}."
            )
        if len(array) < shortest or array.shape[1] == 0:
            raise ValueError(
                f"{title} needs {noun} of at least {shortest} point{'s' * (shortest > 1)}, but "
                f"object {i} of {name} has shape {np.shape(one)}."
            )
        if array.shape[1] != (found[0] if found else array).shape[1]:
            raise ValueError(
                f"{title} needs {noun} of one width, but object {i} of {name} has "
                f"{array.shape[1]} columns and object 0 has {found[0].shape[1]}."
            )
        if not np.isfinite(array).all():
            raise ValueError(f"{title} needs finite {noun}, but object {i} of {name} is not.")
        found.append(array)
    return found


def check_ragged_pair(owner: Kernel, X: Any, Y: Any, noun: str) -> tuple[Any, Any]:
    """X and Y, if their matrices have the same width."""
    if X[0].shape[1] != Y[0].shape[1]:
        raise ValueError(
            f"{type(owner).__name__} compares objects of equal width, but X has {X[0].shape[1]} "
            f"{noun} and Y has {Y[0].shape[1]}."
        )
    return X, Y


class Hausdorff(Kernel):
    """Hausdorff's distance between sets of points, with Euclidean distances between points.

        h(x, y) = max_{a ∈ x} min_{b ∈ y} ‖a − b‖,   H(x, y) = max(h(x, y), h(y, x))

    The data are a list of arrays of shape (points, d), or one array (sets, points, d). A distance
    is a kernel like any other: see `Similarity`.

    Parameters
    ----------
    modified : bool, default=False
        Whether the largest distance to the other set gives way to the mean one, which a single
        stray point does not decide.
    directed : bool, default=False
        Whether h is the kernel, which is not symmetric, in place of H.

    References
    ----------
    Dubuisson and Jain, "A modified Hausdorff distance for object matching", ICPR 1994.

    Examples
    --------
    >>> from krein.kernels import Hausdorff
    >>> Hausdorff()([[[0, 0], [1, 0]]], [[[0, 0]]])
    array([[1.]])
    >>> Hausdorff(directed=True)([[[0, 0]]], [[[0, 0], [1, 0]]])
    array([[0.]])
    """

    def __init__(self, modified: bool = False, directed: bool = False):
        self.modified = modified
        self.directed = directed

    @property
    def traits(self) -> Traits:
        return Traits(is_symmetric=not self.directed, takes_vectors=False, mirrors=True)

    def _check_data(self, X: Any, name: str = "X") -> list[NDArray[np.float64]]:
        return check_ragged(self, X, name, "point sets", "(points, d)")

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return check_ragged_pair(self, *super()._check_pair(X, Y), "coordinates")

    def _block(self, X: Any, Y: Any) -> NDArray:
        out = np.empty((len(X), len(Y)))
        budget = BLOCK_BYTES // (8 * max(len(x) for x in X))
        for columns, points, starts in _stacks(Y, budget):
            for i, x in enumerate(X):
                out[i, columns] = self._against(x, points, starts)
        return out

    def _against(self, x: NDArray, points: NDArray, starts: NDArray) -> NDArray:
        """The distances of one set to several, which are stacked and begin at `starts`."""
        D = cdist(x, points)
        nearest = np.minimum.reduceat(D, starts, axis=1)
        there = nearest.mean(axis=0) if self.modified else nearest.max(axis=0)
        if self.directed:
            return there
        nearest = D.min(axis=0)
        if self.modified:
            counts = np.diff(starts, append=len(points))
            return np.maximum(there, np.add.reduceat(nearest, starts) / counts)
        return np.maximum(there, np.maximum.reduceat(nearest, starts))

    def _diagonal(self, X: Any) -> NDArray:
        return np.zeros(len(X))


def _stacks(
    sets: list[NDArray], budget: int
) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.intp]]]:
    """Consecutive sets of at most `budget` points together (or one set): which, points, starts."""
    ends = np.cumsum([len(one) for one in sets])
    first = 0
    while first < len(sets):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + budget, side="right")))
        starts = np.concatenate([[before], ends[first : last - 1]]) - before
        yield slice(first, last), np.concatenate(sets[first:last]), starts
        first = last
