"""Maps that the automatic learners try."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sklearn.pipeline import make_pipeline

from ..features import Nystrom, RandomFourier, SimilarityFeatures
from ..kernels import Gaussian, Kernel

# Ranks that are tried, as long as the data have more rows and time is left.
WIDTHS = (25, 100, 300)
# Up to this many rows the whole space is tried too.
WHOLE = 1500
# From this many rows on, features that need no landmarks are tried too.
MANY = 5000
# The width of the Gaussian of similarities, in standard deviations of all of them.
SIGMA = 1.4


class Candidate(NamedTuple):
    """A map that is tried."""

    name: str
    width: int
    features: Any


def candidates(
    kernel: Kernel | str, n_rows: int, n_components: int | str, megabytes: float, seed: int
) -> list[Candidate]:
    """Maps to try, cheap ones first: the first one, and those with matrices that are allowed."""
    first, *others = _all_maps(kernel, n_rows, n_components, seed)
    return [first, *(c for c in others if 4 * 8 * c.width**2 <= megabytes * 2**20)]


def _all_maps(
    kernel: Kernel | str, n_rows: int, n_components: int | str, seed: int
) -> Iterator[Candidate]:
    automatic = n_components == "auto"
    ranks = [w for w in WIDTHS if w < n_rows] or [max(1, n_rows)]
    ranks = ranks if automatic else [int(n_components)]
    options: dict[str, Any] = {"random_state": seed}
    for rank in ranks:
        yield Candidate("Nystrom", rank, Nystrom(kernel, rank, **options))
    if not automatic:
        return
    if ranks[-1] < n_rows <= WHOLE:
        everything = Nystrom(kernel, n_rows, landmarks="all", **options)
        yield Candidate("Nystrom (all)", n_rows, everything)
    # As many similarities as there are landmarks of the widest map.
    rule, width = ("all", n_rows) if n_rows <= WHOLE else ("uniform", 3 * ranks[-1])
    similarities = SimilarityFeatures(kernel, width, landmarks=rule, **options)
    yield Candidate("similarities", width, similarities)
    scaled = SimilarityFeatures(kernel, width, landmarks=rule, scale=True, **options)
    shaped = make_pipeline(scaled, Nystrom(Gaussian(SIGMA), width, landmarks=rule, **options))
    yield Candidate("Gaussian of similarities", width, shaped)
    if isinstance(kernel, Kernel) and kernel.takes_vectors and n_rows >= MANY:
        width = 2 * ranks[-1]
        yield Candidate("RandomFourier", width, RandomFourier(kernel, width, **options))
