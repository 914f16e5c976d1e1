"""Stratified draws: one atom of each group of neighbours is kept and represents its group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def one_of_each_group(
    scores: NDArray, chances: NDArray, parts: NDArray, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Sort atoms by score, cut them into n groups of about equal chance, draw one atom of each.

    Parameters
    ----------
    scores : ndarray of shape (n_atoms,)
        Atoms with similar scores are grouped together.
    chances : ndarray of shape (n_atoms,)
        All groups have about the same sum of chances.
    parts : ndarray of shape (n_atoms,)
        Index of the part of the measure that each atom belongs to. A group does not mix parts,
        unless there are more parts than groups.
    n : int
        Number of groups.
    rng : Generator
        Source of randomness.

    Returns
    -------
    chosen : ndarray of shape (n,)
        Indices of the atoms drawn.
    sizes : ndarray of shape (n,)
        Number of atoms in the group of each atom drawn.
    """
    if n < len(np.unique(parts)):
        parts = np.zeros_like(parts)
    chosen, sizes = [], []
    shares = np.bincount(parts, weights=chances)
    kinds = np.flatnonzero(shares)
    members = [np.flatnonzero(parts == kind) for kind in kinds]
    limits = np.array([len(group) for group in members])
    for group, count in zip(members, _whole(shares[kinds], n, limits), strict=True):
        order = group[np.argsort(-scores[group], kind="stable")]
        for block in np.split(order, _cuts(chances[order], int(count))):
            chosen.append(rng.choice(block))
            sizes.append(len(block))
    return np.array(chosen), np.array(sizes)


def _whole(shares: NDArray, n: int, limits: NDArray) -> NDArray[np.intp]:
    """Split n in proportion to `shares`; each share is at least 1 and at most its limit."""
    counts = np.ones(len(shares), dtype=np.intp)
    wanted = shares / shares.sum() * n
    for _ in range(n - len(shares)):
        lack = np.where(counts < limits, wanted - counts, -np.inf)
        counts[np.argmax(lack)] += 1
    return counts


def _cuts(chances: NDArray, n: int) -> NDArray[np.intp]:
    """Return where to cut a sequence into n non-empty groups of about the same total."""
    edges = np.cumsum(chances)
    cuts = np.searchsorted(edges, np.arange(1, n) / n * edges[-1], side="right")
    # Each group keeps at least one atom: shift the cuts from the front, then from the back.
    steps = np.arange(1, n)
    cuts = np.maximum.accumulate(np.maximum(cuts, steps) - steps) + steps
    return np.minimum(cuts, len(chances) - n + steps)
