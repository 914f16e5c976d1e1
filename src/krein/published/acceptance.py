"""Acceptance-rejection sampling of frequencies, as in the asymmetric paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# Largest number of proposals, in units of the number that is expected to be enough.
MOST = 50


def accepted(
    propose: Callable[[int], NDArray],
    chances: Callable[[NDArray], NDArray],
    n: int,
    rate: float,
    rng: np.random.Generator,
) -> NDArray[np.floating]:
    """Draw n frequencies by acceptance and rejection (asymmetric paper, §4 and App. B).

    Parameters
    ----------
    propose : callable
        ``propose(m)`` draws m proposals, shape (m, dim).
    chances : callable
        Returns the chance of each proposal to be accepted, between 0 and 1.
    n : int
        Number of frequencies.
    rate : float
        Mean share of accepted proposals.
    rng : Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n, dim)
    """
    kept: list[NDArray] = []
    missing, proposed = n, 0
    while missing > 0:
        if proposed > MOST * (n + 10) / rate:
            raise ValueError(
                f"Acceptance and rejection found {n - missing} of {n} frequencies in {proposed} "
                "proposals: use decomposition='polar', or a law that is closer to the density."
            )
        proposals = propose(int(np.ceil(1.2 * (missing + 3) / rate)))
        proposed += len(proposals)
        kept.append(proposals[rng.random(len(proposals)) < chances(proposals)][:missing])
        missing -= len(kept[-1])
    return np.concatenate(kept)
