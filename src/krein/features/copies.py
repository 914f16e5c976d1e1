"""Equal training rows, of which a sample of rows holds only one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._core import Core
from .chances import chances
from .source import Source


@dataclass(frozen=True)
class Copies:
    """How many training rows each row of a sample stands for.

    A sample draws distinct rows. A row with m copies is in the sample with the chance
    ``p = min(1, c m)``, so it stands for ``m / p`` training rows. A least-squares fit to
    ``√w_i k(x_i, x_j) √w_j`` with ``w = c m / p`` counts each pair of rows as often as the training
    rows contain it. The weights are 1 if all training rows are distinct.

    Attributes
    ----------
    roots : ndarray of shape (n_sample,)
        The roots ``√w``.
    equal : ndarray of shape (n_sample,)
        Number of pairs of two different training rows that are both equal to a row of the sample,
        in units of the pairs that an entry of the weighted matrix stands for: ``p (1 − 1/m)``.
    """

    roots: NDArray[np.floating]
    equal: NDArray[np.floating]

    @classmethod
    def of(cls, source: Source, sample: NDArray[np.intp]) -> Copies:
        """Return the copies of the rows of a sample."""
        sizes, kinds = source.kinds
        if len(sizes) == len(source):
            return cls(np.ones(len(sample)), np.zeros(len(sample)))
        drawn = chances(sizes, len(sample))
        ratios = sizes / drawn
        mine = kinds[sample]
        equal = drawn[mine] * (1 - 1 / sizes[mine])
        return cls(np.sqrt(ratios[mine] / ratios.min()), equal)

    def weighted(self, K: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return ``√w_i k(x_i, x_j) √w_j`` for the values K of the sample."""
        return self.roots[:, None] * K * self.roots

    def unweighted(self, core: Core) -> Core:
        """Return the core for kernel values, given the core for weighted values."""
        roots = self.roots[: len(core.left)]
        second = None if core.second is None else core.second * roots[:, None]
        own = None if core.own is None else core.own / np.square(roots)
        return replace(core, left=core.left * roots[:, None], second=second, own=own)
