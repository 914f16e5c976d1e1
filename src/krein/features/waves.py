"""The base of all maps of waves: atoms with real or complex weights become columns and a form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from .._validation import check_unit_rows, name_of
from ..atoms import Atoms
from ..forms import Signature, fourier_form
from ..kernels._distances import largest
from ._trig import fourier_features
from .base import FeatureMap


class WaveMap(FeatureMap):
    """Base class of the maps ``Z(x) = √|c_j| [cos ω_j·x, sin ω_j·x]`` with weights c.

    A subclass calls `_set_atoms` in `_learn`. With ``n_components=1`` the only column is a
    constant.
    """

    frequencies_: NDArray[np.floating]
    weights_: NDArray
    _amplitudes: NDArray[np.floating]

    @property
    def _unit_rows(self) -> bool:
        """True if all rows must have norm 1."""
        return self.kernel_.traits.unit_rows

    def _check_sphere(self, X: Any) -> None:
        if self._unit_rows:
            check_unit_rows(
                f"{name_of(self)} of {name_of(self.kernel_)}",
                row_norms(X),
                "Scale the rows first, e.g. with sklearn.preprocessing.Normalizer, or use "
                "RandomGegenbauer(normalize=True) or krein.Nystrom.",
            )

    def _set_atoms(self, atoms: Atoms) -> None:
        """Store the atoms and the form of their columns."""
        self.frequencies_, self.weights_ = atoms.frequencies, atoms.weights
        self.form_ = fourier_form(atoms.weights)
        self._amplitudes = np.sqrt(np.abs(atoms.weights))

    def _set_constant(self, value: float, dim: int) -> None:
        """Store one constant column: frequency zero with a kernel value as weight."""
        self._set_atoms(Atoms(np.zeros((1, dim)), np.array([value])))
        self.form_ = Signature([-1.0 if value < 0 else 1.0])

    def _check_rows(self, X: Any) -> None:
        """Raise or warn if the map is not made for these rows."""
        self._check_sphere(X)

    def _map(self, X: Any) -> NDArray:
        self._check_rows(X)
        Z = self._waves(X)
        return Z if self.form_.width > 1 else np.ascontiguousarray(Z[:, :1])

    def _waves(self, X: Any, phases: NDArray | None = None) -> NDArray:
        """Return cosines and sines of the projections of the rows, or raise if these overflow."""
        Z = fourier_features(X, self.frequencies_, self._amplitudes, phases)
        rows, waves = largest(X), largest(self.frequencies_)
        if rows > np.finfo(Z.dtype).max / max(1.0, waves) / X.shape[1] and np.isnan(Z).any():
            raise ValueError(
                f"{type(self).__name__} cannot multiply rows with entries up to {rows:.3g} by "
                f"frequencies up to {waves:.3g}: divide the data by a number of about their size, "
                "and the width of the kernel by the same number."
            )
        return Z
