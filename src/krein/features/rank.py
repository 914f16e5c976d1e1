"""The rank of a Nyström map: it doubles until the error on held-out rows is small."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import Core
from .._hashing import Hashes, Salt
from .._validation import outside_level
from .choice import Choice, choose_landmarks
from .design import Design
from .landmarks import LandmarkRule
from .pairs import Pairs
from .source import Source

# The smallest and the largest rank that are tried.
FIRST, LAST = 32, 2048
# The rank is large enough if the relative error on the held-out rows is at most ENOUGH. A doubling
# that lowers the error by less than the share PAYS is undone.
ENOUGH, PAYS = 0.01, 0.1
# Largest number of rows that are held out, and their largest share of all rows.
N_HELD, HELD_SHARE = 100, 0.2


class Rank(NamedTuple):
    """A rank, and the relative error on held-out rows of each rank that was tried."""

    rank: int
    errors: dict[int, float]


def choose_rank(
    n_components: int | str,
    landmarks: Any,
    design: Callable[[int], Design],
    source: Source,
    key: int,
) -> Rank:
    """Return the rank of a Nyström map.

    Parameters
    ----------
    n_components : int or "auto"
        The parameter of `Nystrom`. A number is returned as it is.
    landmarks : str, LandmarkRule, array-like or callable
        The parameter of `Nystrom`.
    design : callable
        ``design(rank)`` is the design of a map of this rank.
    source : Source
        The training objects.
    key : int
        Seed of the random draws.

    Returns
    -------
    Rank
    """
    if not isinstance(n_components, str):
        return Rank(int(n_components), {})
    trials = Trials(landmarks, design, source, key)
    if trials.n_kinds <= FIRST:
        return Rank(trials.n_kinds, {})
    errors: dict[int, float] = {}
    previous = None
    for rank in ranks(trials.n_kinds):
        error = trials.error(rank)
        if error is None:
            return Rank(min(trials.n_kinds, LAST), {})
        errors[rank] = error
        if error <= ENOUGH:
            return Rank(rank, errors)
        if previous is not None and error > (1 - PAYS) * errors[previous]:
            return Rank(previous, errors)
        previous = rank
    _warn_at_the_end(rank, errors[rank])
    return Rank(rank, errors)


def ranks(n: int) -> list[int]:
    """Return the ranks to try for n distinct objects: each is twice the one before."""
    last = min(n, LAST)
    doubled = [FIRST * 2**i for i in range(int(np.log2(LAST / FIRST)) + 1)]
    return [*(rank for rank in doubled if rank < last), last]


def _warn_at_the_end(rank: int, error: float) -> None:
    largest, cure = "the number of distinct rows", "fit on more rows"
    if rank == LAST:
        largest, cure = "its largest one", "pass a larger number as n_components"
    warnings.warn(
        f"n_components='auto' stopped at rank {rank}, {largest}, where the error on held-out rows "
        f"is still {100 * error:.2g} %: {cure}, or accept the error.",
        UserWarning,
        stacklevel=outside_level(),
    )


class Trials:
    """Maps of several ranks and their errors on objects that none of them has seen.

    A landmark rule chooses among the objects that are not held out. Landmarks that the user passes
    stay as they are, and the held-out objects are drawn from the others. In both cases the sample
    on which the core is fitted contains no held-out object and no copy of one. Values of a kernel
    of objects are stored by the source, so the ranks and the final fit share them.

    Parameters
    ----------
    landmarks : str, LandmarkRule, array-like or callable
        The parameter of `Nystrom`.
    design : callable
        ``design(rank)`` is the design of a map of this rank.
    source : Source
        The training objects.
    key : int
        Seed of the random draws.
    """

    def __init__(self, landmarks: Any, design: Callable[[int], Design], source: Source, key: int):
        self.landmarks, self.design, self.source, self.key = landmarks, design, source, key
        draws = source.draws(key)
        self.n_kinds = len(draws.kinds[0])
        self.n_held = min(N_HELD, int(HELD_SHARE * self.n_kinds))
        self.held = draws.first(self.n_held, Salt.HELD)
        self.kept = np.flatnonzero(~_among(source, key, np.arange(len(source)), self.held))

    def error(self, rank: int) -> float | None:
        """Return the relative error of a map of this rank; None if all objects are landmarks."""
        design = self.design(rank)
        choice, held = self._choose(design.n_wanted)
        if not len(held):
            return None
        source, landmarks = choice.source, choice.indices
        sample = design.sample(source, landmarks, self.key)
        sample = sample[~_among(source, self.key, sample, held)]
        core = design.fit(source, landmarks, sample)
        return held_out_error(source, landmarks, core, held)

    def _choose(self, n_wanted: int) -> tuple[Choice, NDArray[np.intp]]:
        """Return the landmarks, and the held-out objects."""
        if isinstance(self.landmarks, str | LandmarkRule):
            rest = Rest(self.source, self.kept)
            found = choose_landmarks(self.landmarks, rest, n_wanted, self.key)
            return Choice(self.source, self.kept[found.indices], True), self.held
        found = choose_landmarks(self.landmarks, self.source, n_wanted, self.key)
        draws = found.source.draws(self.key)
        return found, draws.others(found.indices, self.n_held, Salt.HELD)


def _among(source: Source, key: int, rows: NDArray, held: NDArray) -> NDArray[np.bool_]:
    """Return a mask of the rows that are held out or equal to a held-out row."""
    kind = source.draws(key).kinds[1]
    return np.isin(kind[rows], kind[held])


def held_out_error(source: Source, landmarks: NDArray, core: Core, held: NDArray) -> float:
    """Return ``‖K̃ − K‖ / ‖K‖`` (Frobenius norms) on the block of the held-out objects."""
    K = source.values(held, held)
    left = source.values(held, landmarks)
    right = left if source.is_symmetric else source.turned(held, landmarks)
    unit = float(np.abs(K).max()) or 1.0  # squares of large values would overflow
    gap = (left @ core.left) @ (right @ core.right).T / unit - K / unit
    size = float(np.linalg.norm(K / unit))
    return float(np.linalg.norm(gap)) / size if size else 0.0


class Rest(Source):
    """The objects of a source that are not held out; the source computes and stores their values.

    Parameters
    ----------
    whole : Source
        All objects.
    kept : ndarray of int
        Indices of the objects that are not held out.
    """

    def __init__(self, whole: Source, kept: NDArray[np.intp]):
        y = None if whole.y is None else np.asarray(whole.y)[kept]
        super().__init__(whole.kernel, None, whole.n_jobs, y)
        self.whole, self.kept = whole, kept

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def hashes(self) -> Hashes:
        return self.whole.hashes[self.kept]

    @property
    def pairs(self) -> Pairs | None:
        return self.whole.pairs

    def take(self, rows: NDArray) -> Any:
        return self.whole.take(self.kept[rows])

    def values(self, rows: NDArray, columns: NDArray) -> NDArray[np.floating]:
        return self.whole.values(self.kept[rows], self.kept[columns])

    def diagonal(self, rows: NDArray) -> NDArray[np.floating]:
        return self.whole.diagonal(self.kept[rows])
