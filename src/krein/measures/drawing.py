"""How a measure draws atoms: it allocates, asks the sampler for points and transports them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..atoms import Atoms
from ..published.allocation import equal_scores
from .laws import Law

N_DIFFERENCES = 256
N_PILOT_BLOCKS = 32
# Largest number of rows and of entries in a pilot block. Whole orthogonal blocks of wide data would
# take longer than the rest of a fit.
MAX_PILOT_BLOCK, MAX_PILOT_SIZE = 64, 2**15


def draw(
    parts: list[Any], sampler: Any, n: int, rng: Generator, rows: NDArray | None, allocation: str
) -> Atoms:
    """Draw n atoms whose weighted sum is an unbiased estimate of the sum of the parts.

    Parameters
    ----------
    parts : list of Part
        The parts of a measure.
    sampler : Sampler
        Returns the points.
    n : int
        Number of atoms.
    rng : Generator
        Source of randomness.
    rows : ndarray of shape (n_rows, dim) or None
        The data, if there are any.
    allocation : {"neyman", "equal"}
        How the parts share the atoms.
    """
    for part in parts:
        _check_needs(sampler, part.law)
    if sampler.needs == "density":
        return _from_mixture(parts, sampler, n, rng, allocation)
    counts, factors = shares(parts, sampler.pool_size(n), sampler, rng, rows, allocation)
    frequencies, weights = [], []
    for part, count, factor in zip(parts, counts, factors, strict=True):
        if count:
            frequencies.append(_frequencies(part.law, sampler, count, rng))
            weights.append(part.weight(frequencies[-1]) * factor)
    pool = Atoms(np.concatenate(frequencies), np.concatenate(weights))
    return sampler.select(pool, np.repeat(np.arange(len(counts)), counts), n, rng, rows)


def _check_needs(sampler: Any, law: Law) -> None:
    """Raise if the law lacks what the sampler needs."""
    if sampler.needs == "density" and law.surrogate_scale is None:
        raise ValueError(
            f"The importance sampler cannot draw from {type(law).__name__}: {law.no_surrogate}. "
            "Use sampler='orthogonal', 'qmc' or 'iid'."
        )
    if sampler.needs == "radial density" and not hasattr(law, "radial_density"):
        raise ValueError(
            f"The rejection sampler needs a radial density, which {type(law).__name__} does not "
            "have: use sampler='orthogonal', or kernel.measure(dim, extension='zero')."
        )


def _frequencies(law: Any, sampler: Any, n: int, rng: Generator) -> NDArray[np.floating]:
    """Draw n frequencies of one law."""
    if sampler.needs == "points":
        return law.draw(sampler, n, rng)
    radii = sampler.radii(law.radial_density, n, rng)
    directions = rng.standard_normal((n, law.dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * radii[:, None]


def _from_mixture(parts: list[Any], sampler: Any, n: int, rng: Generator, allocation: str) -> Atoms:
    """Draw one set of frequencies for all parts; the ratio of the densities is the weight."""

    def share() -> NDArray[np.intp]:
        # Without rows the allocation is by mass. Here Neyman's rule would be wrong: a part with
        # a small variance would get one draw, however large its mass.
        return shares(parts, n, sampler, rng, None, allocation)[0]

    scales = np.array([part.law.surrogate_scale for part in parts])
    masses = np.array([part.total_mass for part in parts])
    points, log_q = sampler.mixture(n, parts[0].law.dim, rng, scales, masses, share)
    weights = sum(
        part.weight(points) * np.exp(part.law.log_density(points) - log_q) for part in parts
    )
    return Atoms(points, weights / n)


# --- allocation ---------------------------------------------------------------------------------


def shares(
    parts: Sequence[Any], n: int, sampler: Any, rng: Generator, X: NDArray | None, allocation: str
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
    parts: Sequence[Any], sampler: Any, rng: Generator, X: NDArray | None
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
    scores: NDArray, n: int, block: int, rng: Generator
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
