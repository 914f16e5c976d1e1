"""Landmarks whose own values k(z, z) say nothing about other pairs.

Some kernels have a diagonal that stands out: a narrow part of the kernel is the identity on the
training rows and zero between all other rows. The features of a landmark z then contain k(z, z),
which no other row has, and disturb the fit of all pairs with z. The cure is to fit the core to the
values of pairs of different rows, and to replace k(z, z) by the value that these pairs predict,
both in `fit` and in `transform`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._core import Core, factorise
from .._hashing import Hashes, hash_rows
from .source import Source

# The diagonal stands out if it has more than this share of the squared error of the core, and if
# the core without it lowers the error of all other pairs to this share or less.
DIAGONAL_SHARE = 0.3
WORTH_IT = 0.85
# The diagonal is predicted if the sample has at least this many rows per landmark; with fewer rows
# the prediction is no better than k(z, z).
OTHERS = 2.2
# Squared errors below this share of ‖K‖² are rounding errors.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Sketch:
    """A core fitted to ``K = k(S, S)``, and the approximation ``K̃ = first diag(values) secondᵀ``.

    Attributes
    ----------
    core : Core
        The core.
    first, second : ndarray of shape (n_sample, rank) or None
        Orthonormal columns; None if the core has as many columns as landmarks.
    """

    core: Core
    first: Any = None
    second: Any = None

    @property
    def diagonal(self) -> NDArray[np.floating]:
        """The diagonal of K̃."""
        return _diagonal(self.first, self.core.values, self.second)


def without_diagonal(fit: Callable[[NDArray], Sketch], K: NDArray, equal: NDArray) -> Core:
    """Fit a core to K, and fit it again without the diagonal of K if the diagonal stands out.

    Parameters
    ----------
    fit : callable
        Fits a sketch to a matrix.
    K : ndarray of shape (n_sample, n_sample)
        The values k(S, S); the first objects of S are the landmarks.
    equal : ndarray of shape (n_sample,)
        Pairs of two equal training objects that each entry of the diagonal of K stands for, see
        `krein.features.multiplicities.Multiplicities`.

    Returns
    -------
    Core
        ``core.own`` holds the new values of k(z, z) if the diagonal stands out.
    """
    plain = fit(K)
    if plain.first is None or len(K) < OTHERS * len(plain.core.left):
        return plain.core
    others, own = _squared_errors(K, plain)
    total = others + own.sum()
    if own.sum() <= max(DIAGONAL_SHARE * total, ROUNDING * float(np.vdot(K, K))):
        return plain.core
    completed = K.copy()
    np.fill_diagonal(completed, _predicted_diagonal(K, plain))
    found = fit(completed)
    # A pair of equal rows has the value of the diagonal.
    before = others + equal @ own
    others, own = _squared_errors(completed, found, K)
    if others + equal @ own > WORTH_IT**2 * before:
        return plain.core
    return replace(found.core, own=np.diagonal(completed)[: len(found.core.left)].copy())


def _diagonal(first: NDArray, values: NDArray, second: NDArray) -> NDArray[np.floating]:
    return np.einsum("ij,j,ij->i", first, values, second)


def _squared_errors(
    fitted: NDArray, sketch: Sketch, K: NDArray | None = None
) -> tuple[float, NDArray[np.floating]]:
    """Return the squared error of K̃ off the diagonal, and the squared errors on the diagonal.

    K̃ is an orthogonal projection of the matrix A that it was fitted to, so that
    ``‖A − K̃‖² = ‖A‖² − ‖K̃‖²``.

    Parameters
    ----------
    fitted : ndarray of shape (n_sample, n_sample)
        The matrix A.
    sketch : Sketch
        The approximation K̃.
    K : ndarray of shape (n_sample, n_sample), default=None
        The matrix whose diagonal K̃ is compared with; None means A.
    """
    values = sketch.core.values
    diagonal = sketch.diagonal
    gap = np.diagonal(fitted) - diagonal
    others = float(np.vdot(fitted, fitted) - np.vdot(values, values) - gap @ gap)
    gap = gap if K is None else np.diagonal(K) - diagonal
    return others, np.square(gap)


def _predicted_diagonal(K: NDArray, sketch: Sketch) -> NDArray[np.floating]:
    """Return the diagonal of a low-rank approximation of K.

    One step of subspace iteration leads from the range of the landmarks' columns, which contain the
    landmarks' own values, to the leading singular vectors of K. A single entry of the diagonal
    hardly changes these vectors.
    """
    symmetric = sketch.first is sketch.second
    first = np.linalg.qr(K @ sketch.second)[0]
    second = first if symmetric else np.linalg.qr(K.T @ sketch.first)[0]
    U, values, V = factorise(first.T @ K @ second, symmetric, first.shape[1], 0.0)
    return _diagonal(first @ U, values, second @ V)


class OwnValues:
    """Replaces k(z, z) of landmarks z in blocks of kernel values.

    Parameters
    ----------
    landmarks : array-like, sparse matrix or list of objects
        The landmarks as rows of the data that `put` sees.
    values : ndarray of shape (n_landmarks,)
        The new values.
    """

    def __init__(self, landmarks: Any, values: NDArray):
        self.values = values
        self.is_text = isinstance(landmarks, list) and all(isinstance(z, str) for z in landmarks)
        self.places = {name: j for j, name in enumerate(self._names(landmarks))}

    def _names(self, X: Any) -> list[Any]:
        """Return what tells rows apart: a string itself, or the hash of the content."""
        return X if self.is_text else _rounded_hashes(X).tolist()

    def put(self, K: NDArray, X: Any) -> NDArray:
        """Return the values k(x, Z) of rows X, with the new values for rows that are landmarks."""
        found = [
            (i, self.places[name]) for i, name in enumerate(self._names(X)) if name in self.places
        ]
        if found:
            K = K.copy()  # the values may belong to the caller
            rows, columns = np.transpose(found)
            K[rows, columns] = self.values[columns]
        return K


def _rounded_hashes(X: Any) -> Hashes:
    """Return a hash of each row, the same in single and in double precision."""
    if (isinstance(X, np.ndarray) or sparse.issparse(X)) and X.dtype == np.float64:
        with np.errstate(over="ignore"):  # large numbers are infinite in single precision
            X = X.astype(np.float32)
    return hash_rows(X)


def own_values(
    source: Source, landmarks: NDArray[np.intp], own: NDArray | None
) -> tuple[OwnValues, OwnValues] | None:
    """Return what replaces k(z, z) in values of the first and of the second argument.

    Parameters
    ----------
    source : Source
        The training objects. Objects of a precomputed kernel are known by their kernel values.
    landmarks : ndarray of int
        Indices of the landmarks.
    own : ndarray of shape (n_landmarks,) or None
        The new values; None if k(z, z) is not replaced.
    """
    if own is None:
        return None
    if not source.precomputed:
        both = OwnValues(source.take(landmarks), own)
        return both, both
    rows = source.values(landmarks, landmarks), source.turned(landmarks, landmarks)
    return OwnValues(rows[0], own), OwnValues(rows[1], own)
