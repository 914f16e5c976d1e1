"""Kernels with large parameters, which are neither copied by a clone nor prepared twice."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from .base import Kernel


class SharedParameters(Kernel):
    """A kernel whose clones share its parameters, and what the kernel derives from them.

    scikit-learn's `clone` copies every array and every sparse matrix among the parameters. A graph
    is large, and a grid search makes hundreds of clones, so a clone of this kernel holds the same
    arrays. `_derive` checks the parameters and prepares what all values need, such as a
    factorisation. It runs once for all clones that have the same parameters. The caller must not
    change the arrays in place.
    """

    @abstractmethod
    def _derive(self) -> Any:
        """Check the parameters and return what the kernel computes from them alone."""

    @property
    def _derived(self) -> Any:
        """The result of `_derive` for the present parameters."""
        now = tuple(self.get_params(deep=False).values())
        made = self._cell.get("made")
        if made is not None and any(old is not new for old, new in zip(made[0], now, strict=True)):
            self.__dict__["_made"] = {}  # clones with the old parameters keep the old cell
            made = None
        if made is None:
            made = self._cell["made"] = (now, self._derive())
        return made[1]

    @property
    def _cell(self) -> dict[str, Any]:
        """A dictionary that all clones of a kernel share."""
        return self.__dict__.setdefault("_made", {})

    def __sklearn_clone__(self) -> Self:
        twin = type(self)(**self.get_params(deep=False))
        twin.__dict__["_made"] = self._cell
        return twin

    def __getstate__(self) -> dict[str, Any]:
        # A factorisation cannot be pickled, and can be computed again.
        return {name: value for name, value in super().__getstate__().items() if name != "_made"}
