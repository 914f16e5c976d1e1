"""One pass over data: a statistic that is updated with every piece.

A statistic has two verbs. ``statistic.update(piece)`` returns the statistic of one more piece, and
``statistic.merge(other)`` that of the rows of both; either may change `statistic` itself and return
it. A pass is ``fold(pieces, statistic)``. No other function walks over data, so that a cluster
needs to implement `fold` alone: it updates one statistic per partition and merges them in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, Self, TypeVar


class Statistic(Protocol):
    """What a pass accumulates."""

    def update(self, piece: Any) -> Self: ...

    def merge(self, other: Self) -> Self: ...


S = TypeVar("S", bound=Statistic)


def fold(pieces: Iterable[Any], statistic: S) -> S:
    """Update a statistic with every piece, in the order of the pieces.

    Parameters
    ----------
    pieces : iterable
        For example a `Data`, or the `FeatureBlocks` of a learner.
    statistic : Statistic
        The statistic of no rows, or of rows that were seen before.

    Returns
    -------
    Statistic
    """
    for piece in pieces:
        statistic = statistic.update(piece)
    return statistic


class Together:
    """Several statistics of the same pieces, in one pass.

    Parameters
    ----------
    *statistics : Statistic
    """

    def __init__(self, *statistics: Any):
        self.statistics = statistics

    def update(self, piece: Any) -> Together:
        return Together(*(statistic.update(piece) for statistic in self.statistics))

    def merge(self, other: Together) -> Together:
        pairs = zip(self.statistics, other.statistics, strict=True)
        return Together(*(mine.merge(theirs) for mine, theirs in pairs))


class Collected:
    """The pieces themselves, or a function of each, in the order of the data.

    Parameters
    ----------
    function : callable, default=None
        What is kept of a piece; None keeps the piece.
    """

    def __init__(self, function: Any = None, pieces: tuple[Any, ...] = ()):
        self.function, self.pieces = function, list(pieces)

    def update(self, piece: Any) -> Collected:
        self.pieces.append(piece if self.function is None else self.function(piece))
        return self

    def merge(self, other: Collected) -> Collected:
        self.pieces += other.pieces
        return self
