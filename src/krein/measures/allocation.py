"""How the parts of a measure share the frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..published.allocation import equal_scores

N_DIFFERENCES = 256
N_PILOT_BLOCKS = 32
# Largest number of rows and of entries in a pilot block. Whole orthogonal blocks of wide data would
# take longer than the rest of a fit.
MAX_PILOT_BLOCK, MAX_PILOT_SIZE = 64, 2**15


def shares(
    parts: Sequence[Any],
    n: int,
    sampler: Any,
    rng: np.random.Generator,
    X: NDArray | None,
    allocation: str,
) -> tuple[NDArray[np.intp], NDArray[np.floating]]:
    """Return the number of frequencies of each part and the factor of its weights.

    Parameters
    ----------
    parts : sequence of Part
        The parts of a measure.
    n : int
        Number of frequencies.
    sampler : Sampler
        Draws the pilot points on which variances are estimated.
    rng : Generator
        Source of randomness.
    X : ndarray of shape (n_rows, dim) or None
        The data, if there are any.
    allocation : {"neyman", "equal"}
        "neyman" allocates by variance, "equal" gives every part the same share.
    """
    if allocation == "equal":
        return allocate(equal_scores(len(parts)), n, 1, rng)
    return allocate(scores(parts, sampler, rng, X), n, parts[0].law.dim, rng)


def scores(
    parts: Sequence[Any], sampler: Any, rng: np.random.Generator, X: NDArray | None
) -> NDArray[np.floating]:
    """Return Neyman's scores: the standard deviation per frequency of each part.

    With data, the score is the deviation of ``Re a h(ω) exp(i ω·Δ)`` over pilot blocks that the
    sampler draws, at differences Δ of random pairs of rows. The score of a part is nearly zero if
    the part is nearly constant on the data, or if orthogonal blocks integrate it almost exactly.
    Without data, the score is the mass of the part.
    """
    masses = np.array([part.total_mass for part in parts])
    if X is None or len(masses) == 1 or len(X) < 2:
        return masses
    pairs = rng.integers(len(X), size=(2, N_DIFFERENCES))
    differences = X[pairs[0]] - X[pairs[1]]
    unit = float(masses.sum()) or 1.0
    deviations = []
    for part in parts:
        dim = part.law.canonical_dim
        block = max(min(dim, 8), min(dim, MAX_PILOT_BLOCK, MAX_PILOT_SIZE // dim))
        means = []
        for _ in range(N_PILOT_BLOCKS):
            frequencies = part.law.draw(sampler, block, rng)
            # In units of the mass, because squares of the weights may overflow.
            weights = part.weight(frequencies)[:, None] / unit
            waves = np.exp(1j * (frequencies @ differences.T)) * weights
            means.append(waves.real.mean(axis=0))
        deviations.append(np.sqrt(block * np.var(means, axis=0, ddof=1).mean()))
    # A part without variance still needs one frequency, so its score must be above zero.
    return np.maximum(deviations, 1e-6) * unit


def allocate(
    scores: NDArray, n: int, block: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.floating]]:
    """Split n frequencies in proportion to `scores`.

    Each part gets at least one frequency. Large shares are multiples of `block`.

    Returns
    -------
    counts : ndarray of int
        Number n_i of frequencies of each part; the sum is n.
    factors : ndarray of float
        Factor of the weights of each part, 1/n_i. With fewer frequencies than parts, the parts are
        drawn at random and the factor keeps the estimate unbiased.
    """
    total = scores.sum()
    # If all scores are zero, the parts share the frequencies equally; all weights are zero anyway.
    chances = scores / total if total else np.full(len(scores), 1 / len(scores))
    if n < len(scores):
        factors = np.divide(1, n * chances, where=chances > 0, out=np.zeros(len(chances)))
        return rng.multinomial(n, chances), factors
    wanted = chances * n
    rounded = np.where(wanted >= block, np.round(wanted / block) * block, np.round(wanted))
    counts = np.maximum(1, rounded).astype(np.intp)
    while (excess := counts.sum() - n) != 0:
        # The part that is furthest above (or below) its share gives (or takes) one frequency.
        i = int(np.argmax(counts - wanted if excess > 0 else wanted - counts))
        if excess > 0 and counts[i] == 1:
            i = int(np.argmax(counts))
        counts[i] -= np.sign(excess)
    return counts, 1 / counts
