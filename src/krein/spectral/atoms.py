"""Learned spectra as atoms that know their columns, and the kernel of such atoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blocks import row_blocks
from .._validation import ByValue
from ..atoms import Atoms
from ..features._trig import fourier_features
from ..kernels import Kernel, Traits
from ..measures import n_harmonics
from ..rows import dense
from ..spherical import area, harmonics


@dataclass(frozen=True, eq=False)
class WaveAtoms(ByValue, Atoms):
    """Frequencies with positive weights, and their columns ``√c_j [cos ω_j·x, sin ω_j·x]``.

    If the only frequency is zero, its sine is left out: the only column is constant.

    Parameters
    ----------
    frequencies : ndarray of shape (n_atoms, dim)
        The frequencies ω_j.
    weights : ndarray of shape (n_atoms,)
        The weights c_j > 0.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral import WaveAtoms
    >>> WaveAtoms(np.array([[np.pi]]), np.ones(1)).columns(np.array([[1.0]])).round(3)
    array([[-1.,  0.]])
    """

    @property
    def width(self) -> int:
        """Number of columns."""
        return 2 * len(self) if self.frequencies.any() or len(self) > 1 else 1

    def columns(self, X: NDArray) -> NDArray[np.floating]:
        """Return the columns of the rows of X, shape (n, width)."""
        Z = fourier_features(X, self.frequencies, np.sqrt(self.weights))
        return Z if self.width > 1 else np.ascontiguousarray(Z[:, :1])


@dataclass(frozen=True, eq=False)
class HarmonicAtoms(ByValue, Atoms):
    """Spherical harmonics with positive weights, and their columns ``√(area · c_j) Y_j(x)``.

    The kernel is ``k(x, y) = area · Σ_j c_j Y_j(x) Y_j(y)``. It is positive semi-definite, and the
    mean of k(x, x) over the sphere is ``Σ c_j``. It is not invariant under rotations, unless the
    weights of all harmonics of a degree are equal.

    Parameters
    ----------
    frequencies : ndarray of int of shape (n_atoms, 2)
        The degree of each harmonic, and its place among the harmonics of that degree, in the order
        of `krein.spherical.harmonics`.
    weights : ndarray of shape (n_atoms,)
        The weights c_j > 0.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral import HarmonicAtoms
    >>> atoms = HarmonicAtoms(np.array([[0, 0]]), np.ones(1))  # the constant
    >>> atoms.columns(np.array([[0.0, 0.6, 0.8]])).round(3)
    array([[1.]])
    """

    def __call__(self, differences: NDArray) -> NDArray:
        raise TypeError("Harmonics are functions of two points, not of a difference.")

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self)

    def columns(self, X: NDArray) -> NDArray[np.floating]:
        """Return the columns of the unit rows of X, shape (n, width)."""
        dim, top = X.shape[1], int(self.frequencies[:, 0].max())
        first = np.cumsum([0, *(int(n_harmonics(dim, degree)) for degree in range(top + 1))])
        places = first[self.frequencies[:, 0]] + self.frequencies[:, 1]
        scales = np.sqrt(area(dim) * self.weights).astype(X.dtype)
        out = np.empty((len(X), len(self)), dtype=X.dtype)
        for rows in row_blocks(len(X), 8 * int(first[-1])):
            out[rows] = harmonics(X[rows], top)[:, places] * scales
        return out


class FromAtoms(Kernel):
    """The kernel of learned atoms, ``k(x, y) = Σ_j z_j(x) z_j(y)`` with their columns z.

    Parameters
    ----------
    atoms : WaveAtoms, HarmonicAtoms or None, default=None
        The atoms; None means that nothing has been learned yet.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.spectral import FromAtoms, WaveAtoms
    >>> kernel = FromAtoms(WaveAtoms(np.array([[np.pi]]), np.ones(1)))
    >>> kernel(np.array([[0.0], [1.0]])).round(3)
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    traits = Traits(fills_diagonal=False)

    def __init__(self, atoms: WaveAtoms | HarmonicAtoms | None = None):
        self.atoms = atoms

    def _block(self, X: Any, Y: Any) -> NDArray:
        if self.atoms is None:
            raise ValueError("FromAtoms has no atoms: pass the atoms_ of a fitted map.")
        X, Y = dense(X), dense(Y)
        return self.atoms.columns(X) @ self.atoms.columns(Y).T
