"""Scores of all rows under a Nyström map: leverage and residual."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import Core
from .multiplicities import Multiplicities
from .source import Source

# Residuals below this share of the kernel values are rounding errors.
ROUNDING = 1e-10


class Scores(NamedTuple):
    """Scores of all rows, each of shape (n_rows,).

    Attributes
    ----------
    leverage : ndarray
        ``‖ũ(x)‖²`` with the orthonormal eigenvectors ũ of the map.
    residual : ndarray
        ``Σ_u n_u (k − k̃)(x, u)² + (k − k̃)(x, x)²`` in units of the squared kernel values: the
        contribution of the row to the squared error of the map. Each probe u stands for n_u rows
        other than x.
    """

    leverage: NDArray[np.floating]
    residual: NDArray[np.floating]


class _Side(NamedTuple):
    """The rows as first or second argument of the kernel.

    Attributes
    ----------
    values : callable
        Returns the kernel values of rows and columns.
    matrix : ndarray
        The map of the rows.
    probed : ndarray
        The features of the probes as the other argument.
    """

    values: Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.floating]]
    matrix: NDArray[np.floating]
    probed: NDArray[np.floating]


def row_scores(
    source: Source,
    landmarks: NDArray[np.intp],
    core: Core,
    probes: NDArray[np.intp],
    rows: NDArray[np.intp] | None = None,
) -> Scores:
    """Return the scores of rows under a map.

    If the kernel is not symmetric, the scores of both arguments are added.

    Parameters
    ----------
    source : Source
        The training objects.
    landmarks : ndarray of int
        Indices of the landmarks.
    core : Core
        The core on these landmarks.
    probes : ndarray of int
        Indices of uniformly drawn rows on which the residuals are estimated. Without probes all
        residuals are equal.
    rows : ndarray of int, default=None
        Indices of the rows; None means all rows. The scores of the other rows are zero.
    """
    m, n, symmetric = len(landmarks), len(source), source.is_symmetric
    columns = np.concatenate([landmarks, probes])
    first, second = source.values(columns, landmarks), source.turned(columns, landmarks)
    sides = [_Side(source.values, core.left, second[m:] @ core.right)]
    if not symmetric:
        sides += [_Side(source.turned, core.right, first[m:] @ core.left)]
    # In units of the kernel values squares stay finite.
    unit = max(float(np.abs(values).max()) for values in (first, second)) or 1.0
    # All rows start from the same rounding level, so that noise does not choose landmarks.
    scores = Scores(np.zeros(n), np.full(n, n * ROUNDING**2))
    drawn = Multiplicities.of(source, probes, landmarks)
    sizes, kinds = source.kinds
    place = np.full(len(sizes), -1)  # of the probe that is equal to the rows of a kind
    place[kinds[probes]] = np.arange(len(probes))
    root = np.abs(core.values) ** 0.5

    def work(rows: NDArray[np.intp]) -> None:
        features = []
        for side in sides:
            block = side.values(rows, columns)
            Z = block[:, :m] @ side.matrix
            features.append(Z)
            scores.leverage[rows] += np.square(Z / root).sum(axis=1)
            error = np.square((block[:, m:] - Z @ side.probed.T) / unit)
            scores.residual[rows] += error @ drawn.represented
            # For a row that is equal to a probe, the probe stands for one row less: the row itself.
            at = place[kinds[rows]]
            i = np.flatnonzero(at >= 0)
            scores.residual[rows[i]] -= error[i, at[i]] / drawn.chances[at[i]]
        if len(probes):
            dual = features[0] * core.signs if symmetric else features[1]
            own = (source.diagonal(rows) - np.einsum("ij,ij->i", features[0], dual)) / unit
            scores.residual[rows] += np.square(own)

    source.over_rows(work, len(columns), rows)
    return scores
