"""Base classes of the kernels that are made of other kernels."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measures.radial import Profile
from .base import Kernel
from .traits import Traits


class Composite(Kernel):
    """A kernel that is made of other kernels, its terms, and takes the data that they take."""

    kernel: Kernel

    @property
    def _terms(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    @property
    def traits(self) -> Traits:
        return functools.reduce(Traits.joined, (term.traits for term in self._terms))

    def _declares_stationary(self, unit_rows: bool) -> bool:
        return all(term._declares_stationary(unit_rows) for term in self._terms)

    def _check_data(self, X: Any, name: str = "X") -> Any:
        for term in self._terms:
            X = term._check_data(X, name)
        self._check_objects(X)
        return X

    def _check_objects(self, X: Any) -> None:
        """Raise if one term takes checked data X as node ids and another as vectors."""
        if len({term.takes_vectors for term in self._terms}) == 1:
            return
        kinds = [getattr(term._check_data(X), "dtype", np.dtype(object)) for term in self._terms]
        if {"i", "f"} <= {kind.kind for kind in kinds}:
            names = " and ".join(type(term).__name__ for term in self._terms)
            raise ValueError(
                f"{type(self).__name__} joins {names}, but one of them takes node ids and another "
                "rows of numbers: make a kernel of ids from the values of the kernel of rows, e.g. "
                "Relation(Gaussian()(rows_of_all_nodes))."
            )

    def takes_matrix(self, X: Any) -> bool:
        return all(term.takes_matrix(X) for term in self._terms)

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        for term in self._terms:
            X, checked = term._check_pair(X, Y)
            Y = None if Y is None else checked
        self._check_objects(X)
        return X, checked


class Combined(Composite):
    """A kernel whose values are a function `_of` of the values of its terms."""

    def _of(self, *values: Any) -> Any:
        raise TypeError(f"{type(self).__name__} must define _of.")

    def _block(self, X: Any, Y: Any) -> NDArray:
        return self._of(*(term._block(X, Y) for term in self._terms))

    def _rows(self, X: Any, rows: slice, Y: Any) -> NDArray:
        return self._of(*(term._rows(X, rows, Y) for term in self._terms))

    def _where(self, X: Any, Y: Any, wanted: NDArray[np.bool_]) -> NDArray[np.floating]:
        return self._of(*(term._where(X, Y, wanted) for term in self._terms))

    def _diagonal(self, X: Any) -> NDArray:
        return self._of(*(term._diagonal(X) for term in self._terms))

    def _each_series(self, n: int, unit_rows: bool) -> list[NDArray[np.floating]] | None:
        """Return the Maclaurin coefficients of all terms, or None if a term has none."""
        every = [term.maclaurin(n, unit_rows) for term in self._terms]
        found = [series for series in every if series is not None]
        return found if len(found) == len(every) else None

    @property
    def radial_profile(self) -> Profile | None:
        return self._joined([term.radial_profile for term in self._terms])

    @property
    def zonal_profile(self) -> Profile | None:
        return self._joined([term.zonal_profile for term in self._terms])

    def _joined(self, profiles: list[Profile | None]) -> Profile | None:
        found = [profile for profile in profiles if profile is not None]
        if len(found) < len(profiles):
            return None
        return lambda values: self._of(*(profile(values) for profile in found))
