"""One pass over data: a statistic that is updated with every piece.

A statistic has two methods. ``statistic.update(piece)`` returns the statistic with the rows of one
more piece, and ``statistic.merge(other)`` returns the statistic of the rows of both. Both methods
may change `statistic` in place and return it. A pass is ``fold(pieces, statistic)``. No other
function iterates over data, so a cluster needs to implement only `fold`: it updates one statistic
per partition and merges the statistics in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, Self, TypeVar


class Statistic(Protocol):
    """Protocol of the object that a pass over the data accumulates.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import InMemory, fold
    >>> class Count:
    ...     def __init__(self, n=0):
    ...         self.n = n
    ...     def update(self, piece):
    ...         return Count(self.n + len(piece.X))
    ...     def merge(self, other):
    ...         return Count(self.n + other.n)
    >>> fold(InMemory(np.ones((10, 2)), rows=4), Count()).n
    10
    """

    def update(self, piece: Any) -> Self: ...

    def merge(self, other: Self) -> Self: ...


S = TypeVar("S", bound=Statistic)


def fold(pieces: Iterable[Any], statistic: S) -> S:
    """Update a statistic with every piece, in the order of the pieces.

    Parameters
    ----------
    pieces : iterable
        The pieces, for example a `Container` or a `Data`.
    statistic : Statistic
        The statistic of no rows, or of the rows of earlier passes.

    Returns
    -------
    Statistic
        The statistic of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Collected, InMemory, fold
    >>> fold(InMemory(np.ones((5, 2)), rows=2), Collected(lambda block: len(block.X))).pieces
    [2, 2, 1]
    """
    for piece in pieces:
        statistic = statistic.update(piece)
    return statistic


class Together:
    """Several statistics that are updated in the same pass.

    Parameters
    ----------
    *statistics : Statistic
        The statistics to update. The attribute `statistics` contains them in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Collected, InMemory, Together, fold
    >>> data = InMemory(np.arange(5)[:, None], rows=2)
    >>> lengths, sums = Collected(lambda b: len(b.X)), Collected(lambda b: int(b.X.sum()))
    >>> [statistic.pieces for statistic in fold(data, Together(lengths, sums)).statistics]
    [[2, 2, 1], [1, 5, 4]]
    """

    def __init__(self, *statistics: Any):
        self.statistics = statistics

    def update(self, piece: Any) -> Together:
        """Return the statistics with the rows of one more piece."""
        return Together(*(statistic.update(piece) for statistic in self.statistics))

    def merge(self, other: Together) -> Together:
        """Return the statistics of the rows of both."""
        pairs = zip(self.statistics, other.statistics, strict=True)
        return Together(*(mine.merge(theirs) for mine, theirs in pairs))


class Collected:
    """A statistic that collects the pieces, or a function of each piece, in data order.

    Parameters
    ----------
    function : callable, default=None
        ``function(piece)`` is collected for every piece. None collects the pieces themselves.
    pieces : tuple, default=()
        The results that are already collected.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import Collected, InMemory, fold
    >>> data = InMemory(np.arange(5)[:, None], rows=2)
    >>> fold(data, Collected(lambda block: int(block.X.sum()))).pieces
    [1, 5, 4]
    """

    def __init__(self, function: Any = None, pieces: tuple[Any, ...] = ()):
        self.function, self.pieces = function, list(pieces)

    def update(self, piece: Any) -> Collected:
        """Append one piece, or its function value, in place."""
        self.pieces.append(piece if self.function is None else self.function(piece))
        return self

    def merge(self, other: Collected) -> Collected:
        """Append the results of `other`, whose rows come later in the data, in place."""
        self.pieces += other.pieces
        return self
