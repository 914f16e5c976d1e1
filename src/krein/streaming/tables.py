"""The base of the containers of files with columns."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, Self

from .columns import Layout, choose_columns
from .containers import Block, Container, regrouped


class Table(Container):
    """Base of the containers of a file with columns.

    `columns`, `target` and `weight` are indices into `names`. A subclass defines `_blocks`.
    """

    rows: int
    names: list[str]
    columns: list[int]
    target: int | None = None
    weight: int | None = None
    has_names = True

    def _choose(
        self, target: Any, weight: Any, layout: Layout | None, besides: Sequence[str] = ()
    ) -> None:
        """Choose the columns of an earlier fit, or the columns that the user names."""
        if layout is not None:
            return self._use(self._features(layout))
        self._use(*choose_columns(self.path, self.names, target, weight, besides))
        if target is None and self.target is not None:
            self.assumed_target = self._called(self.target)

    def _features(self, layout: Layout) -> list[int]:
        names = self.names if self.has_names else None
        return layout.features(self.path, names, len(self.names))

    def _use(
        self, columns: list[int], target: int | None = None, weight: int | None = None
    ) -> None:
        self.columns, self.target, self.weight = columns, target, weight
        names = [self.names[j] for j in columns]
        unique = self.has_names and len(set(names)) == len(names)
        self.feature_names = names if unique else None
        self.layout = Layout(
            len(columns),
            tuple(names) if unique else None,
            None if target is None else self._called(target),
            len(self.names),
            tuple(j for j in (target, weight) if j is not None),
        )
        self._check_columns()

    def _called(self, column: int) -> Any:
        """Return the name of a column, or its index if the columns have no names."""
        return self.names[column] if self.has_names else column

    def rows_for(self, layout: Layout, *, target: bool = False) -> Self:
        """Return the same file with the features of an earlier fit, and with y only if `target`."""
        made, columns = copy.copy(self), self.columns
        named = self.has_names and layout.names is not None
        if named or not (target or len(columns) == layout.n_features):
            columns = self._features(layout)
        made._use(columns, *((self.target, self.weight) if target else ()))
        return made

    def _check_columns(self) -> None:
        """Raise a ValueError if a chosen column cannot be read."""

    def __iter__(self) -> Iterator[Block]:
        return regrouped(self._blocks(), self.rows)

    def _blocks(self) -> Iterator[Block]:
        raise TypeError(f"{type(self).__name__} must define _blocks.")
