"""Kernels given by a function, a measure or a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from ..measures import Measure
from .base import Kernel, _len, _take
from .errors import BadPairError
from .traits import Traits
from .values import check_values, kernel_name


class _Function(Kernel):
    """A kernel of objects, given by a function of the user's."""

    def __init__(self, f: Callable, symmetric: bool = True):
        self.f = f
        self.symmetric = symmetric

    @property
    def traits(self) -> Traits:
        # The diagonal is not filled: every extra call of the function is the user's time.
        return Traits(bool(self.symmetric), fills_diagonal=False, takes_vectors=False)

    def _check_data(self, X: Any, name: str = "X") -> Any:
        if not callable(self.f):
            raise TypeError(f"{type(self).__name__} needs a function f, got {self.f!r}.")
        if hasattr(X, "shape"):
            return X.to_numpy() if hasattr(X, "to_numpy") else X
        if isinstance(X, str) or not hasattr(X, "__len__"):
            raise TypeError(
                f"{type(self).__name__} needs a sequence of objects, got {type(X).__name__}."
            )
        return list(X)

    def _rows(self, X: Any, rows: slice, Y: Any) -> NDArray:
        """Values of the user's function, or a sentence about what is wrong with them."""
        block = np.asarray(self._block(X[rows], Y))
        name = kernel_name(self)
        shape = (rows.stop - rows.start, _len(Y))
        if block.shape != shape:
            raise ValueError(
                f"{name} must return shape {shape} for {shape[0]} × {shape[1]} objects, got "
                f"{block.shape}: return one value per pair, rows for the first argument."
            )
        if block.dtype == bool:
            return block.astype(float)
        if not np.issubdtype(block.dtype, np.number) or np.iscomplexobj(block):
            raise ValueError(f"{name} must return real numbers, got {block.dtype}.")
        return check_values(self, block, range(rows.start, rows.stop), range(_len(Y)))

    def _diagonal(self, X: Any) -> NDArray:
        n = _len(X)
        return np.array([self._rows(X, slice(i, i + 1), X[i : i + 1])[0, 0] for i in range(n)])


class Custom(_Function):
    """A kernel given by a function of blocks, ``f(X, Y) -> (len(X), len(Y))``.

    Parameters
    ----------
    f : callable
        The block function.
    symmetric : bool, default=True
        Whether f(x, y) = f(y, x). It is declared, never guessed from one triangle.
    """

    def _block(self, X: Any, Y: Any) -> NDArray:
        return self.f(X, Y)


class Pairwise(_Function):
    """A kernel given by a function of two objects, ``f(x, y) -> float``.

    Parameters
    ----------
    f : callable
        The scalar function.
    symmetric : bool, default=True
        Whether f(x, y) = f(y, x). It is declared, never guessed from one triangle.
    """

    def _block(self, X: Any, Y: Any) -> NDArray:
        values = [[self.f(x, y) for y in Y] for x in X]
        try:
            block = np.array(values)
        except ValueError:  # values of different shapes, which the check of the block names
            block = np.empty((_len(X), _len(Y)), dtype=object)
        return block if block.size else block.reshape(_len(X), _len(Y))

    def _where(self, X: Any, Y: Any, wanted: NDArray[np.bool_]) -> NDArray[np.floating]:
        out = np.full(wanted.shape, np.nan)
        for i in map(int, np.flatnonzero(wanted.any(axis=1))):
            columns = np.flatnonzero(wanted[i])
            try:
                out[i, columns] = self._rows(X, slice(i, i + 1), _take(Y, columns))[0]
            except BadPairError as bad:
                raise bad.among(range(_len(X)), columns) from None
        return out


class Precomputed(Kernel):
    """A kernel whose values are the data: `X` *is* the block k(X, training objects).

    Called on a square matrix it returns it. The matrix need not be symmetric.

    Parameters
    ----------
    symmetric : bool, default=True
        Whether the matrix is symmetric; a matrix that is not is refused then.
    """

    def __init__(self, symmetric: bool = True):
        self.symmetric = symmetric

    @property
    def traits(self) -> Traits:
        return Traits(is_symmetric=bool(self.symmetric))

    is_pairwise = True

    def __call__(self, X: Any, Y: Any = None) -> NDArray:
        return self._check_pair(X, Y)[0]

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        if Y is None:
            K = self._check_data(X)
            return K, K
        # Rows of X hold the values against the objects of Y, whatever Y is.
        K = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        if K.shape[1] != _len(Y):
            raise ValueError(
                f"Precomputed needs one column of X for each of the {_len(Y)} objects of Y, got "
                f"shape {K.shape}."
            )
        return K, Y

    def _check_data(self, X: Any, name: str = "X") -> Any:
        K = check_array(X, dtype=[np.float64, np.float32], input_name=name)
        if K.shape[0] != K.shape[1]:
            raise ValueError(
                f"Precomputed needs a square matrix of all pairs, got shape {K.shape}."
            )
        if self.symmetric and not np.allclose(K, K.T, rtol=1e-6, atol=1e-8 * np.abs(K).max()):
            raise ValueError(
                "Precomputed(symmetric=True) was given a matrix that is not symmetric: symmetrise "
                "it, (K + K.T) / 2, or use Precomputed(symmetric=False)."
            )
        return K

    def _block(self, X: Any, Y: Any) -> NDArray:
        return X

    def _diagonal(self, X: Any) -> NDArray:
        return np.diagonal(X).copy()


class FromMeasure(Kernel):
    """The kernel of a measure, ``k(x, y) = Re ∫ exp(i ω·(x − y)) μ(dω)``.

    Parameters
    ----------
    spectrum : krein.measures.Measure
        The measure; it fixes the number of columns.
    """

    def __init__(self, spectrum: Measure):
        self.spectrum = spectrum

    @property
    def traits(self) -> Traits:
        # A spectrum that is no Measure is refused with a sentence where the data are checked.
        real = getattr(self.spectrum, "is_real", True)
        return Traits(is_symmetric=real, has_closed_form=True)

    def _check_data(self, X: Any, name: str = "X") -> Any:
        if not isinstance(self.spectrum, Measure):
            raise TypeError(
                f"FromMeasure needs a krein.measures.Measure, got {self.spectrum!r}: a kernel's is "
                "kernel.measure(dim)."
            )
        X = check_array(X, dtype=[np.float64, np.float32], input_name=name)
        if X.shape[1] != self.spectrum.dim:
            raise ValueError(
                f"FromMeasure has a measure on R^{self.spectrum.dim}, but X has {X.shape[1]} "
                "columns."
            )
        return X

    def _block(self, X: Any, Y: Any) -> NDArray:
        # One row at a time: differences need n · d numbers per row.
        return np.stack([self.spectrum.kernel(x - Y) for x in X])

    def _diagonal(self, X: Any) -> NDArray:
        return np.repeat(self.spectrum.kernel(np.zeros((1, self.spectrum.dim))), _len(X))

    def _closed_form(self, dim: int) -> Measure:
        if dim != self.spectrum.dim:
            raise ValueError(
                f"FromMeasure has a measure on R^{self.spectrum.dim}, not on R^{dim}: use it on "
                f"data with {self.spectrum.dim} columns."
            )
        return self.spectrum
