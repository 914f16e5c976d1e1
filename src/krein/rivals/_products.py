"""The base of the maps for kernels of ⟨x, y⟩: the kernel, and whether rows have norm 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import check_unit_rows
from ..features import FeatureMap
from ..kernels import Kernel, Polynomial, Scaled, SphericalPolynomial
from ..kernels._distances import norms
from ..kernels.errors import kernel_name

SCALE_ROWS = (
    "Scale the rows first, e.g. with sklearn.preprocessing.Normalizer, or use krein.Nystrom."
)


class OfProducts(FeatureMap):
    """Base class of the maps for kernels of ⟨x, y⟩. A subclass defines `_columns`, its features.

    A kernel of ‖x − y‖ is a function of ⟨x, y⟩ on rows of norm 1. `_needs_unit_rows` says that the
    map relies on that, and that new rows must have norm 1.
    """

    _needs_unit_rows: bool
    _default_kernel = Polynomial

    def _check_sphere(self, X: Any) -> None:
        if self._needs_unit_rows:
            check_unit_rows(kernel_name(self.kernel_), norms(X), SCALE_ROWS)

    def _columns(self, X: Any) -> NDArray:
        raise TypeError(f"{type(self).__name__} must define _columns.")

    def _map(self, X: Any) -> NDArray:
        self._check_sphere(X)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = self._columns(X)
            finite = np.isfinite(Z.sum()) or np.all(np.isfinite(Z))
        if not finite:
            raise ValueError(
                f"{type(self).__name__} has features beyond the range of {Z.dtype} for rows of "
                f"norm {float(norms(X).max()):.3g}: divide the rows by a number of that size."
            )
        return Z


def as_polynomial(kernel: Kernel, unit_rows: bool) -> tuple[float, Polynomial] | None:
    """Return the factor and the polynomial of a kernel ``factor · (γ⟨x, y⟩ + c)^p``, or None."""
    if isinstance(kernel, Scaled):
        found = as_polynomial(kernel.kernel, unit_rows)
        return None if found is None else (kernel._by * found[0], found[1])
    if isinstance(kernel, SphericalPolynomial) and unit_rows:
        return 1.0, kernel.on_sphere
    return (1.0, kernel) if isinstance(kernel, Polynomial) else None


def signs_of(weights: NDArray | float) -> NDArray[np.floating]:
    """Return the signs of weights; a column of weight 0 counts as positive."""
    return np.where(np.asarray(weights) < 0, -1.0, 1.0)
