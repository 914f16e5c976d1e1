"""The split of a kernel matrix into a positive and a negative part (DIGMM paper, eq. 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# A part with less than this share of the trace is left out.
NULL_SHARE = 0.01
# Values below this share of the largest one count as zero.
NULL_VALUE = 1e-10


@dataclass(frozen=True)
class Split:
    """Two positive semi-definite matrices with ``K = K⁺ − K⁻``.

    Parameters
    ----------
    positive, negative : ndarray of shape (n, n)
        The parts K⁺ and K⁻.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral.split import spectral_split
    >>> split = spectral_split(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> split.positive
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> split.share
    0.5
    """

    positive: NDArray[np.floating]
    negative: NDArray[np.floating]

    @property
    def share(self) -> float:
        """Share of the negative part in the two traces."""
        plus, minus = np.trace(self.positive), np.trace(self.negative)
        return float(minus / (plus + minus)) if plus + minus > 0 else 0.0

    @property
    def signs(self) -> list[float]:
        """The signs of the parts that hold at least 1 % of the traces and inform about pairs."""
        parts = ((1.0, self.positive, 1 - self.share), (-1.0, self.negative, self.share))
        return [sign for sign, part, share in parts if share >= NULL_SHARE and _informs(part)]

    def part(self, sign: float) -> NDArray[np.floating]:
        return self.positive if sign > 0 else self.negative


def _informs(part: NDArray) -> bool:
    """Return True if some value off the diagonal is not zero."""
    off = np.abs(part - np.diag(np.diagonal(part))).max(initial=0)
    return bool(off > NULL_VALUE * np.abs(part).max(initial=0))


def spectral_split(K: NDArray) -> Split:
    """Split by the signs of the eigenvalues, ``K^± = U max(±D, 0) Uᵀ``."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    minus = vectors[:, values < 0]
    negative = (minus * -values[values < 0]) @ minus.T
    return Split(K + negative, negative)


def shift_split(K: NDArray, tau: float) -> Split:
    """Split by a shift, ``K⁺ = K + cI`` and ``K⁻ = cI`` with ``c = −τ λ_min``.

    This is the split of the paper's own program. Eq. 5 as printed adds c to the eigenvalues that
    each part keeps, and then ``K⁺ − K⁻`` is not K. Off the diagonal K⁺ is K and K⁻ is zero, for
    every τ: there is nothing from which negative frequencies could be learned.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The matrix.
    tau : float
        The shift τ in units of −λ_min.
    """
    lowest = float(np.linalg.eigvalsh((K + K.T) / 2)[0])
    shift = tau * max(0.0, -lowest) * np.eye(len(K))
    return Split(K + shift, shift)
