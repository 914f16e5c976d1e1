"""Stratified draws: one of each group of neighbours, which stands for its group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def one_of_each_group(
    scores: NDArray, chances: NDArray, parts: NDArray, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of n atoms, each drawn from a group of its own, and the sizes of the groups.

    Groups are neighbours in the order of the scores, within a part where n allows, with about the
    same chance each.
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
    """n split in proportion to `shares`, at least one each and at most `limits`."""
    counts = np.ones(len(shares), dtype=np.intp)
    wanted = shares / shares.sum() * n
    for _ in range(n - len(shares)):
        lack = np.where(counts < limits, wanted - counts, -np.inf)
        counts[np.argmax(lack)] += 1
    return counts


def _cuts(chances: NDArray, n: int) -> NDArray[np.intp]:
    """Where to cut a sequence into n groups of about the same total, none of them empty."""
    edges = np.cumsum(chances)
    cuts = np.searchsorted(edges, np.arange(1, n) / n * edges[-1], side="right")
    # At least one in each group: from the front, then from the back.
    steps = np.arange(1, n)
    cuts = np.maximum.accumulate(np.maximum(cuts, steps) - steps) + steps
    return np.minimum(cuts, len(chances) - n + steps)
