"""Equal training rows, of which a sample of rows holds only one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._core import Core
from .chances import chances
from .source import Source


@dataclass(frozen=True)
class Multiplicities:
    """How many training rows each row of a sample stands for.

    A sample draws distinct rows. A row with m copies, itself included, is in the sample with the
    chance ``p = min(1, c m)``, so it stands for ``m / p`` training rows. A least-squares fit to
    ``√w_i k(x_i, x_j) √w_j`` with w proportional to m / p counts each pair of rows as often as the
    training rows contain it.

    Attributes
    ----------
    copies : ndarray of shape (n_sample,)
        The numbers m.
    chances : ndarray of shape (n_sample,)
        The chances p.
    """

    copies: NDArray[np.floating]
    chances: NDArray[np.floating]

    @classmethod
    def of(
        cls, source: Source, sample: NDArray[np.intp], apart: NDArray[np.intp] | None = None
    ) -> Multiplicities:
        """Return the multiplicities of a sample, drawn from all rows that are not in `apart`."""
        sizes, kinds = source.kinds
        if apart is not None:
            sizes = sizes.copy()
            sizes[kinds[apart]] = 0
        mine = kinds[sample]
        return cls(sizes[mine], chances(sizes, len(sample))[mine])

    @property
    def represented(self) -> NDArray[np.floating]:
        """The number of training rows that each row stands for."""
        return self.copies / self.chances

    @property
    def roots(self) -> NDArray[np.floating]:
        """The roots ``√w``; the smallest one is 1, and all are 1 if no training rows are equal."""
        return np.sqrt(self.represented / self.represented.min())

    @property
    def equal(self) -> NDArray[np.floating]:
        """The share of pairs of different rows in the equal pairs that a row stands for.

        An entry of the diagonal of the weighted matrix stands for this share of a pair of equal
        rows.
        """
        return self.chances * (1 - 1 / self.copies)

    def weighted(self, K: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return ``√w_i k(x_i, x_j) √w_j`` for the values K of the sample."""
        roots = self.roots
        return roots[:, None] * K * roots

    def unweighted(self, core: Core) -> Core:
        """Return the core for kernel values, given the core for weighted values."""
        roots = self.roots[: len(core.left)]
        second = None if core.second is None else core.second * roots[:, None]
        own = None if core.own is None else core.own / np.square(roots)
        return replace(core, left=core.left * roots[:, None], second=second, own=own)
