"""Kernels of sets: the overlap of fingerprints or Python sets, the distance of point sets."""

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
from ..rows import count, is_objects
from ._distances import in_one_unit
from .base import Kernel, common_dtype
from .traits import Traits

# --- overlap ------------------------------------------------------------------------------------


def _are_sets(X: Any) -> bool:
    """Return True if X is a list, array or Series of sets."""
    if sparse.issparse(X) or not hasattr(X, "__len__"):
        return False
    return isinstance(next(iter(X), None), Set)


def _incidence(*collections: list[Set]) -> list[sparse.csr_array]:
    """Return the sets of each collection as rows of 0 and 1, with one column per item."""
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
    """Tversky's index, the overlap of two sets with a weight for the items of each set alone.

        k(x, y) = ⟨x, y⟩ / (⟨x, y⟩ + alpha (‖x‖² − ⟨x, y⟩) + beta (‖y‖² − ⟨x, y⟩))

    The data are a dense or CSR matrix of entries ≥ 0, or a list of Python sets. A CSR matrix stays
    sparse. On rows of 0 and 1 the formula is Tversky's index of sets,
    |X ∩ Y| / (|X ∩ Y| + alpha |X \\ Y| + beta |Y \\ X|). On counts it is the product form that
    chemistry uses, not the min/max form. The value is 1 where the formula is 0/0, for instance for
    two empty rows.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the items that x has and y has not, ≥ 0.
    beta : float, default=0.0
        Weight of the items that y has and x has not, ≥ 0. The kernel is symmetric if beta equals
        alpha.

    Notes
    -----
    For |√alpha − √beta| > 1 the product form can be negative or infinite on counts. The kernel
    then only takes rows of 0 and 1.

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
            raise TypeError(f"{type(self).__name__} needs {name} to be a list of sets, not a set.")
        if not sparse.issparse(X) and hasattr(X, "__len__") and len(X) == 0:
            raise ValueError(f"{type(self).__name__} needs rows or sets, but {name} is empty.")
        if _are_sets(X):
            return self._check_sets(list(X), name)
        X = super()._check_data(X, name)
        entries = X.data if sparse.issparse(X) else X
        if entries.size and entries.min() < 0:
            raise ValueError(
                f"{type(self).__name__} needs entries ≥ 0, but the smallest entry of {name} is "
                f"{entries.min():.4g}."
            )
        if abs(alpha**0.5 - beta**0.5) > 1 and not np.all((entries == 0) | (entries == 1)):
            raise ValueError(
                f"{self!r} is only defined for rows of 0 and 1, but {name} has other entries: for "
                "counts, choose weights with |√alpha − √beta| ≤ 1."
            )
        return X

    def takes_matrix(self, X: Any) -> bool:
        return not _are_sets(X)

    def _check_sets(self, sets: list[Any], name: str) -> list[Set]:
        for i, one in enumerate(sets):
            if not isinstance(one, Set):
                raise TypeError(
                    f"{type(self).__name__} needs all items of {name} to be sets, but item {i} "
                    f"is {one!r}."
                )
        return sets

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X, Y = super()._check_pair(X, Y)
        if is_objects(X) != is_objects(Y):
            raise TypeError(
                f"{type(self).__name__} compares sets with sets and rows with rows, but only one "
                "of X and Y is a list of sets."
            )
        # Each call numbers the items anew, because new sets may contain new items.
        return tuple(_incidence(X, Y)) if is_objects(X) else (X, Y)

    def _block(self, X: Any, Y: Any) -> NDArray:
        alpha, beta = self._weights()
        if is_objects(X):
            X, Y = _incidence(X, Y)
        X, Y = in_one_unit(X, Y)  # the ratio does not depend on the unit
        common = np.asarray(safe_sparse_dot(X, Y.T, dense_output=True))
        rest = (1 - alpha - beta) * common
        rest += (alpha * row_norms(X, squared=True))[:, None]
        rest += beta * row_norms(Y, squared=True)
        return np.divide(common, rest, out=np.ones_like(common), where=rest > 0)

    def _diagonal(self, X: Any) -> NDArray:
        return np.ones(count(X), dtype=common_dtype(X))


class Tanimoto(Tversky):
    """Tanimoto's index ``⟨x, y⟩ / (‖x‖² + ‖y‖² − ⟨x, y⟩)``, also called Jaccard's index.

    The data are a dense or CSR matrix of entries ≥ 0, or a list of Python sets. For sets the index
    is the size of the intersection divided by the size of the union. The value of two empty rows or
    sets is 1. The kernel is ``Tversky(alpha=1, beta=1)``.

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
    """Dice's index ``2 ⟨x, y⟩ / (‖x‖² + ‖y‖²)``.

    The data are a dense or CSR matrix of entries ≥ 0, or a list of Python sets. The value of two
    empty rows or sets is 1. The kernel is ``Tversky(alpha=0.5, beta=0.5)``.

    Examples
    --------
    >>> from krein.kernels import Dice
    >>> Dice()([{1, 2}, {2}], [{2, 3, 4}])
    array([[0.4],
           [0.5]])
    """

    def __init__(self) -> None:
        super().__init__(0.5, 0.5)


# --- point sets ---------------------------------------------------------------------------------


def check_ragged(
    owner: Kernel, X: Any, name: str, noun: str, shape: str, shortest: int, vectors: bool
) -> list[NDArray[np.float64]]:
    """Return X as a list of finite matrices of equal width, or raise an error.

    Parameters
    ----------
    owner : Kernel
        The kernel that the error names.
    X : array-like or sequence of array-likes
        The objects.
    name : str
        The name that the error gives to X.
    noun : str
        What the error calls the objects, in the plural.
    shape : str
        The shape of one object in words, for the error.
    shortest : int
        The smallest allowed number of rows of an object.
    vectors : bool
        Whether a vector is taken as a matrix of one column.
    """
    title = type(owner).__name__
    if isinstance(X, str | bytes) or not hasattr(X, "__len__") or sparse.issparse(X):
        raise TypeError(f"{title} needs {name} to be a list of {noun}, got {type(X).__name__}.")
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
        array = array[:, None] if array.ndim == 1 and vectors else array
        found.append(array)
        if array.ndim != 2:
            needs, has = f"a list of {noun} of shape {shape}", f"has shape {array.shape}"
        elif len(array) < shortest or array.shape[1] == 0:
            needs = f"{noun} of at least {shortest} point{'s' * (shortest > 1)}"
            has = f"has shape {np.shape(one)}"
        elif array.shape[1] != found[0].shape[1]:
            needs = f"{noun} of one width"
            has = f"has {array.shape[1]} columns and object 0 has {found[0].shape[1]}"
        elif not np.isfinite(array).all():
            needs, has = f"finite {noun}", "is not"
        else:
            continue
        raise ValueError(f"{title} needs {needs}, but object {i} of {name} {has}.")
    return found


def check_ragged_pair(owner: Kernel, X: Any, Y: Any, noun: str) -> tuple[Any, Any]:
    """Return X and Y if their matrices have the same width, or raise an error."""
    if X[0].shape[1] != Y[0].shape[1]:
        raise ValueError(
            f"{type(owner).__name__} compares objects of equal width, but X has {X[0].shape[1]} "
            f"{noun} and Y has {Y[0].shape[1]}."
        )
    return X, Y


class Hausdorff(Kernel):
    """Hausdorff's distance between sets of points.

        h(x, y) = max_{a ∈ x} min_{b ∈ y} ‖a − b‖,   H(x, y) = max(h(x, y), h(y, x))

    The data are a list of arrays of shape (points, d), or one array of shape (sets, points, d).
    ``Similarity(Hausdorff())`` is a similarity.

    Parameters
    ----------
    modified : bool, default=False
        If True, h is the mean over the points of x instead of the maximum, so that a single stray
        point has less influence.
    directed : bool, default=False
        If True, the kernel is h, which is not symmetric. If False, the kernel is H.

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
        return check_ragged(self, X, name, "point sets", "(points, d)", 1, False)

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
        """Return the distances of x to the sets whose stacked `points` begin at `starts`."""
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
    """Yield runs of consecutive sets with at most `budget` points in total, or one larger set.

    A run is the slice of the sets, their stacked points, and the place where each set starts.
    """
    ends = np.cumsum([len(one) for one in sets])
    first = 0
    while first < len(sets):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + budget, side="right")))
        starts = np.concatenate([[before], ends[first : last - 1]]) - before
        yield slice(first, last), np.concatenate(sets[first:last]), starts
        first = last
