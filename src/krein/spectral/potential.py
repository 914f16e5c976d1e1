"""The Fourier potential, whose peaks are the frequencies that separate two classes best.

The potential of labels y with duals α is ``v(ω) = |Σ_i b_i exp(i ω·x_i)|²`` with b = yα. It is the
alignment ``Σ_ij b_i b_j cos ω·(x_i − x_j)`` of the kernel cos ω·(x − y) with the labels
(Not-So-Random Features, Eq. 3 and 4), computed in O(n) instead of O(n²).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blocks import row_blocks
from .._threads import over_blocks

# The waves of a row block, for all starts, stay in the second-level cache.
BLOCK_VALUES = 2**15
# Memory of the cosines and sines of all rows, which the gradient needs again, in bytes.
WAVE_BYTES = 2**28
# Peaks closer than this share of the band are one peak.
SAME = 1 / 20


class Potential:
    """The potentials of several games on the same rows, evaluated together.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows. They are centred, which changes no potential, and kept in `dtype`.
    dtype : {numpy.float32, numpy.float64}, default=numpy.float32
        Type of all computations. Peaks are broad, so float32 finds the same peaks in half the time.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.potential import Potential
    >>> potential = Potential(np.array([[0.0], [1.0]]))
    >>> v, slopes = potential(np.array([[1.0], [-1.0]]), np.array([[np.pi]]), np.zeros(1, int))
    >>> v.round(3)  # |1 − exp(iπ)|²
    array([4.], dtype=float32)
    """

    def __init__(self, X: NDArray, dtype: Any = np.float32):
        self.X = np.ascontiguousarray(X - X.mean(axis=0), dtype=dtype)

    @property
    def dim(self) -> int:
        return self.X.shape[1]

    def __call__(
        self, B: NDArray, frequencies: NDArray, games: NDArray
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return the potential and its gradient at each frequency.

        Parameters
        ----------
        B : ndarray of shape (n, n_games)
            The signed duals b = yα of each game.
        frequencies : ndarray of shape (m, d)
            The frequencies ω.
        games : ndarray of int of shape (m,)
            The game that each frequency belongs to.

        Returns
        -------
        values : ndarray of shape (m,)
        gradients : ndarray of shape (m, d)
        """
        parts = row_blocks(len(frequencies), 2 * self.X.itemsize * len(self.X), WAVE_BYTES)
        found = [self._together(B, frequencies[part], games[part]) for part in parts]
        values, gradients = (np.concatenate(side) for side in zip(*found, strict=True))
        return values, gradients

    def _together(
        self, B: NDArray, frequencies: NDArray, games: NDArray
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return the same for frequencies whose waves on all rows fit into memory."""
        dtype = self.X.dtype
        W = np.ascontiguousarray(frequencies.T, dtype=dtype)
        B = np.asarray(B, dtype=dtype)
        blocks = _blocks(len(self.X), len(frequencies))
        waves: list[Any] = [None] * len(blocks)
        sums = np.empty((len(blocks), 2, len(frequencies)), dtype=dtype)

        def project(i: int) -> None:
            phases = self.X[blocks[i]] @ W
            duals = B[blocks[i]][:, games]
            cosines = np.cos(phases)
            sines = np.sin(phases, out=phases)
            waves[i] = cosines, sines
            cosines *= duals
            sines *= duals
            sums[i] = cosines.sum(axis=0), sines.sum(axis=0)

        over_blocks(project, range(len(blocks)))
        # Partial sums are added in the order of the blocks, whichever thread has computed them.
        re, im = sums.sum(axis=0)
        slopes = np.empty((len(blocks), len(frequencies), self.dim), dtype=dtype)

        def pull(i: int) -> None:
            cosines, sines = waves[i]
            cosines *= im
            sines *= re
            cosines -= sines
            np.matmul(cosines.T, self.X[blocks[i]], out=slopes[i])

        over_blocks(pull, range(len(blocks)))
        return re**2 + im**2, 2 * slopes.sum(axis=0)


def _blocks(n_rows: int, width: int) -> list[slice]:
    """Return row blocks whose size depends on the shape alone, not on the number of threads."""
    # At most 64 blocks: each has a partial gradient of its own.
    height = max(64, BLOCK_VALUES // max(1, width), -(-n_rows // 64))
    return [slice(i, min(i + height, n_rows)) for i in range(0, n_rows, height)]


@dataclass(frozen=True)
class Peaks:
    """The peaks of one game, highest first.

    Parameters
    ----------
    frequencies : ndarray of shape (m, d)
        The peaks ω.
    values : ndarray of shape (m,)
        The potential at each peak.
    """

    frequencies: NDArray[np.floating]
    values: NDArray[np.floating]

    def __len__(self) -> int:
        return len(self.values)


def distinct(frequencies: NDArray, values: NDArray, n: int, apart: float) -> Peaks:
    """Return the n highest frequencies of which no two are closer than `apart`.

    The potential is even, so ω and −ω are the same peak.
    """
    order = np.argsort(-values, kind="stable")
    kept: list[int] = []
    for i in order:
        others = frequencies[kept]
        gaps = [np.linalg.norm(others - sign * frequencies[i], axis=1) for sign in (1, -1)]
        if np.min(gaps, initial=np.inf) >= apart:
            kept.append(int(i))
        if len(kept) == n:
            break
    return Peaks(frequencies[kept].astype(float), values[kept].astype(float))


@dataclass(frozen=True)
class Problem:
    """What a search maximises: the potentials of some games on the ball ‖ω‖ ≤ R.

    Parameters
    ----------
    potential : Potential
        The potential of the rows.
    B : ndarray of shape (n, n_games)
        The signed duals b = yα of each game.
    band : float
        The largest norm R of a frequency.
    """

    potential: Potential
    B: NDArray[np.floating]
    band: float

    @property
    def n_games(self) -> int:
        return self.B.shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.potential.X.dtype

    def __call__(self, points: NDArray, games: NDArray) -> tuple[NDArray, NDArray]:
        return self.potential(self.B, points, games)

    def inside(self, points: NDArray) -> NDArray[np.floating]:
        """Project points onto the ball, in their own type."""
        norms = np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-30)
        return points * np.minimum(1, (self.band / norms).astype(points.dtype))


def derivatives(
    X: NDArray, b: NDArray, points: NDArray
) -> tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.floating]]:
    """Return the potential of one game with its gradient and second derivatives, in float64.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    b : ndarray of shape (n,)
        The signed duals.
    points : ndarray of shape (m, d)
        The frequencies.

    Returns
    -------
    values : ndarray of shape (m,)
    gradients : ndarray of shape (m, d)
    hessians : ndarray of shape (m, d, d)
    """
    waves = b * np.exp(1j * (points @ X.T))
    sums = waves.sum(axis=1)
    first = 1j * (waves @ X)
    second = -np.einsum("mn,ni,nj->mij", waves, X, X)
    slopes = 2 * (sums.conj()[:, None] * first).real
    outer = first.conj()[:, :, None] * first[:, None, :]
    curvatures = 2 * (outer + sums.conj()[:, None, None] * second).real
    return np.abs(sums) ** 2, slopes, curvatures
