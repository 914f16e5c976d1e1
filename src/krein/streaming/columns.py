"""Choice of the columns of a table that contain the features, the targets and the weights."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np


class Layout(NamedTuple):
    """The columns that a fit used, so that later files are read in the same way.

    Attributes
    ----------
    n_features : int
        The number of features.
    names : tuple of str, default=None
        The names of the features. None if the columns have no names.
    target : str or int, default=None
        The column of y: its name, or its index if the columns have no names. None if there is
        no y.
    width : int, default=None
        The number of all columns of the table. None if the fit read no table.
    besides : tuple of int, default=()
        The indices of the columns that are not features, with the target first.
    zero_based : bool, default=None
        True if the indices of a libsvm file began at 0. None for other formats.
    """

    n_features: int
    names: tuple[str, ...] | None = None
    target: Any = None
    width: int | None = None
    besides: tuple[int, ...] = ()
    zero_based: bool | None = None

    def features(self, path: Path, names: list[str] | None, width: int) -> list[int]:
        """Return the indices of the features in a table of `width` columns.

        The columns are matched by name if both tables have names, and by position otherwise.
        """
        if self.names is not None and names is not None:
            return [self._index(path, names, name) for name in self.names]
        besides = self.places(width)
        if besides is None:
            raise ValueError(
                f"{path} has {width} columns, but the fit had {self.n_features} features: pass the "
                "columns of the fit in the same order, with or without the target column."
            )
        return [j for j in range(width) if j not in besides]

    def places(self, width: int) -> tuple[int, ...] | None:
        """Return the indices of the columns that are not features, or None if they are unknown."""
        if width == self.n_features:
            return ()
        if width == self.width:
            return self.besides
        return (width - 1,) if self.width is None and width == self.n_features + 1 else None

    def _index(self, path: Path, names: list[str], name: str) -> int:
        if name not in names:
            raise ValueError(
                f"{path} has no column {name!r}, which the fit used: its columns are "
                f"{listed(names)}."
            )
        return only(path, names, name)


def choose_columns(
    path: Path, names: list[str], target: Any, weight: Any, besides: Sequence[str] = ()
) -> tuple[list[int], int | None, int | None]:
    """Return the indices of the features, of y and of the weights; skip the columns `besides`."""
    ours = [j for j, name in enumerate(names) if name not in besides]

    def index(role: str, column: Any) -> int:
        if isinstance(column, str) and column in names:
            return only(path, names, column)
        whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
        if whole and -len(names) <= column < len(names):
            return int(column) % len(names)
        raise ValueError(
            f"{path} has no column {column!r} for {role}: its columns are {listed(names)}."
        )

    last = ours[-1] if ours else len(names) - 1
    y = None if target is False else index("target", last if target is None else target)
    w = None if weight is None else index("weight", weight)
    if y is not None and y == w:
        raise ValueError(
            f"{path}: column {names[y]!r} cannot be both the target and the weight: name two "
            "columns."
        )
    features = [j for j in ours if j not in (y, w)]
    if not features:
        raise ValueError(f"{path} has no column left for X: y and the weights use all columns.")
    return features, y, w


def only(path: Path, names: list[str], name: str) -> int:
    """Return the index of a name; raise a ValueError if several columns have that name."""
    if names.count(name) > 1:
        places = ", ".join(str(j) for j, other in enumerate(names) if other == name)
        raise ValueError(
            f"{path} has several columns {name!r} ({places}, counted from 0): rename all but one."
        )
    return names.index(name)


def listed(names: Sequence[str]) -> str:
    """Return at most 20 names, separated by commas."""
    return ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")


class Table:
    """Base of containers with named columns.

    `columns`, `target` and `weight` are indices into `names`.
    """

    path: Any
    names: list[str]
    columns: list[int]
    target: int | None
    weight: int | None
    has_names = True

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features. None if the file has no names or repeats a name."""
        found = [self.names[j] for j in self.columns]
        return found if self.has_names and len(set(found)) == len(found) else None

    @property
    def layout(self) -> Layout:
        """The layout of the columns, for reading later files."""
        names, target = self.feature_names, self.target
        besides = tuple(j for j in (target, self.weight) if j is not None)
        return Layout(
            len(self.columns),
            None if names is None else tuple(names),
            self.names[target] if self.has_names and target is not None else target,
            len(self.names),
            besides,
        )

    def rows_for(self, layout: Layout, *, target: bool = False) -> Self:
        """Return the same file with the features of an earlier fit, and with y only if `target`."""
        made = copy.copy(self)
        names = self.names if self.has_names else None
        chosen = target or len(self.columns) == layout.n_features
        if not chosen or (names is not None and layout.names is not None):
            made.columns = layout.features(self.path, names, len(self.names))
        if not target:
            made.target = made.weight = None
        made._check_columns()
        return made

    def _check_columns(self) -> None:
        """Raise a ValueError if a chosen column cannot be read."""
