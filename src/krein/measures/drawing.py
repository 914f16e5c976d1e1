"""How a measure draws atoms: it allocates, asks the sampler for points and transports them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atoms import Atoms
from .allocation import shares
from .laws import Law


def draw(
    parts: list[Any],
    sampler: Any,
    n: int,
    rng: np.random.Generator,
    rows: NDArray | None,
    allocation: str,
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


def _frequencies(law: Any, sampler: Any, n: int, rng: np.random.Generator) -> NDArray[np.floating]:
    """Draw n frequencies of one law."""
    if sampler.needs == "points":
        return law.draw(sampler, n, rng)
    radii = sampler.radii(law.radial_density, n, rng)
    directions = rng.standard_normal((n, law.dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * radii[:, None]


def _from_mixture(
    parts: list[Any], sampler: Any, n: int, rng: np.random.Generator, allocation: str
) -> Atoms:
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
