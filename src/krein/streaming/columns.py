"""Choice of the columns of a table that contain the features, the targets and the weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .raw import FileError


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
            raise FileError(
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
            raise FileError(
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
        if hasattr(column, "__len__") and not isinstance(column, str):
            raise FileError(
                f"{path}: the {role} must be the name or the index of a column of the file, got "
                f"{type(column).__name__}."
            )
        raise FileError(
            f"{path} has no column {column!r} for {role}: its columns are {listed(names)}."
            f"{_separator(names)}"
        )

    last = ours[-1] if ours else len(names) - 1
    y = None if target is False else index("target", last if target is None else target)
    w = None if weight is None else index("weight", weight)
    if y is not None and y == w:
        raise FileError(
            f"{path}: column {names[y]!r} cannot be both the target and the weight: name two "
            "columns."
        )
    features = [j for j in ours if j not in (y, w)]
    if not features:
        raise FileError(f"{path} has no column left for X: y and the weights use all columns.")
    return features, y, w


def _separator(names: list[str]) -> str:
    """Return a sentence that helps if all columns were read as one."""
    if len(names) > 1 or ";" not in names[0]:
        return ""
    return (
        " Its columns seem to be separated by semicolons: write the file with commas, or read it "
        "with pandas.read_csv(path, sep=';')."
    )


def only(path: Path, names: list[str], name: str) -> int:
    """Return the index of a name; raise a ValueError if several columns have that name."""
    if names.count(name) > 1:
        places = ", ".join(str(j) for j, other in enumerate(names) if other == name)
        raise FileError(
            f"{path} has several columns {name!r} ({places}, counted from 0): rename all but one."
        )
    return names.index(name)


def listed(names: Sequence[str]) -> str:
    """Return at most 20 names, separated by commas."""
    return ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
