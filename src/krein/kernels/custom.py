"""Kernels given by a function, a matrix or a measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from ..measures import Measure
from ..rows import count, take
from .base import Kernel
from .errors import kernel_name, placed
from .traits import Traits
from .values import check_values


class _Function(Kernel):
    """A kernel of objects that is given by a function of the user."""

    def __init__(self, f: Callable, symmetric: bool = True):
        self.f = f
        self.symmetric = symmetric

    @property
    def traits(self) -> Traits:
        # Filling the diagonal would call the user's function, which may be slow, once more.
        return Traits(bool(self.symmetric), fills_diagonal=False, takes_vectors=False)

    def _check_data(self, X: Any, name: str = "X") -> Any:
        if not callable(self.f):
            raise TypeError(f"{type(self).__name__} needs f to be a function, got {self.f!r}.")
        if hasattr(X, "shape"):
            return X.to_numpy() if hasattr(X, "to_numpy") else X
        if isinstance(X, str) or not hasattr(X, "__len__"):
            raise TypeError(
                f"{type(self).__name__} needs a sequence of objects, got {type(X).__name__}."
            )
        return list(X)

    def _rows(self, X: Any, rows: slice, Y: Any) -> NDArray:
        """Return checked values of the user's function."""
        block = np.asarray(self._block(X[rows], Y))
        name = kernel_name(self)
        shape = (rows.stop - rows.start, count(Y))
        if block.shape != shape:
            raise ValueError(
                f"{name} must return shape {shape} for {shape[0]} × {shape[1]} objects, got "
                f"{block.shape}: return one value per pair, with one row per object of X."
            )
        if block.dtype == bool:
            return block.astype(float)
        if not np.issubdtype(block.dtype, np.number) or np.iscomplexobj(block):
            raise ValueError(f"{name} must return real numbers, got {block.dtype}.")
        return check_values(self, block, range(rows.start, rows.stop), range(count(Y)))


class Custom(_Function):
    """A kernel given by a function ``f(X, Y)`` of two lists of objects.

    Parameters
    ----------
    f : callable
        Function that returns the values of all pairs as an array of shape (len(X), len(Y)).
    symmetric : bool, default=True
        True if f(x, y) = f(y, x). The kernel does not check it.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Custom
    >>> kernel = Custom(lambda X, Y: np.minimum(X, Y.T))
    >>> kernel(np.array([[1.0], [2.0]]))
    array([[1., 1.],
           [1., 2.]])
    """

    def _block(self, X: Any, Y: Any) -> NDArray:
        return self.f(X, Y)


class Pairwise(_Function):
    """A kernel given by a function ``f(x, y)`` of two objects.

    Parameters
    ----------
    f : callable
        Function that returns the value of one pair of objects, a float.
    symmetric : bool, default=True
        True if f(x, y) = f(y, x). The kernel does not check it.

    Examples
    --------
    >>> from krein.kernels import Pairwise
    >>> kernel = Pairwise(lambda x, y: float(len(set(x) & set(y))))
    >>> kernel(["abc", "bcd"])
    array([[3., 2.],
           [2., 3.]])
    """

    def _block(self, X: Any, Y: Any) -> NDArray:
        values = [[self.f(x, y) for y in Y] for x in X]
        try:
            block = np.array(values)
        except ValueError:  # the values have different shapes; `_rows` raises the error
            block = np.empty((count(X), count(Y)), dtype=object)
        return block if block.size else block.reshape(count(X), count(Y))

    def _where(self, X: Any, Y: Any, wanted: NDArray[np.bool_]) -> NDArray[np.floating]:
        out = np.full(wanted.shape, np.nan)
        for i in map(int, np.flatnonzero(wanted.any(axis=1))):
            columns = np.flatnonzero(wanted[i])
            with placed(range(count(X)), columns):
                out[i, columns] = self._rows(X, slice(i, i + 1), take(Y, columns))[0]
        return out


class Precomputed(Kernel):
    """A kernel whose values are the data.

    ``kernel(K)`` returns the square matrix K with ``K[i, j] = k(x_i, x_j)``. In ``kernel(X, Y)``
    each row of X holds the values of one object against all objects of Y, and the kernel returns X.
    If the matrix is not symmetric, learners of both sides take a pair ``(k(x, T), k(T, x).T)`` for
    new objects x: one row per new object, one column per training object of T.

    Parameters
    ----------
    symmetric : bool, default=True
        True if the matrix is symmetric. The kernel then refuses a matrix that is not.

    Examples
    --------
    >>> from krein.kernels import Precomputed
    >>> Precomputed()([[1.0, -2.0], [-2.0, 1.0]])
    array([[ 1., -2.],
           [-2.,  1.]])
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
        # A row of X holds the values against the objects of Y, so only the length of Y matters.
        K = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        if K.shape[1] != count(Y):
            raise ValueError(
                f"Precomputed needs one column of X for each of the {count(Y)} objects of Y, but X "
                f"has shape {K.shape}."
            )
        return K, Y

    def _check_data(self, X: Any, name: str = "X") -> Any:
        K = check_array(X, dtype=[np.float64, np.float32], input_name=name)
        if K.shape[0] != K.shape[1]:
            raise ValueError(
                f"Precomputed needs a square matrix of all pairs, but X has shape {K.shape}."
            )
        largest = np.abs(K).max()
        if self.symmetric and not np.allclose(K, K.T, rtol=1e-6, atol=1e-8 * largest):
            raise ValueError(
                "Precomputed(symmetric=True) needs a symmetric matrix, but X is not symmetric: "
                f"X[i, j] and X[j, i] differ by up to {np.abs(K - K.T).max():.3g}, and the largest "
                f"entry is {largest:.3g}. If the difference is noise, pass (X + X.T) / 2, else use "
                "Precomputed(symmetric=False)."
            )
        return K

    def _block(self, X: Any, Y: Any) -> NDArray:
        return X

    def _diagonal(self, X: Any) -> NDArray:
        return np.diagonal(X).copy()


def is_precomputed(kernel: Any) -> bool:
    """Return True if an estimator with this parameter `kernel` takes kernel values as data."""
    return isinstance(kernel, Precomputed | str)


class FromMeasure(Kernel):
    """The kernel of a measure μ, ``k(x, y) = Re ∫ exp(i ω·(x − y)) μ(dω)``.

    Parameters
    ----------
    spectrum : krein.measures.Measure
        The measure μ. The data must have as many columns as the measure has dimensions.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import FromMeasure, Gaussian
    >>> kernel = FromMeasure(Gaussian().measure(dim=2) - 0.5 * Gaussian(3.0).measure(dim=2))
    >>> kernel(np.zeros((1, 2)))
    array([[0.5]])
    """

    def __init__(self, spectrum: Measure):
        self.spectrum = spectrum

    @property
    def traits(self) -> Traits:
        # `_check_data` raises the error about a spectrum that is not a Measure.
        real = getattr(self.spectrum, "is_real", True)
        return Traits(is_symmetric=real, has_closed_form=True, is_stationary=True)

    def _check_data(self, X: Any, name: str = "X") -> Any:
        if not isinstance(self.spectrum, Measure):
            raise TypeError(
                f"FromMeasure needs spectrum to be a krein.measures.Measure, e.g. "
                f"kernel.measure(dim), got {self.spectrum!r}."
            )
        X = check_array(X, dtype=[np.float64, np.float32], input_name=name)
        if X.shape[1] != self.spectrum.dim:
            raise ValueError(
                f"FromMeasure has a measure on R^{self.spectrum.dim}, but X has {X.shape[1]} "
                "columns."
            )
        return X

    def _block(self, X: Any, Y: Any) -> NDArray:
        # One row of X at a time, because the differences of one row need len(Y) · d numbers.
        return np.stack([self.spectrum.kernel(x - Y) for x in X])

    def _diagonal(self, X: Any) -> NDArray:
        return np.repeat(self.spectrum.kernel(np.zeros((1, self.spectrum.dim))), count(X))

    def _closed_form(self, dim: int) -> Measure:
        if dim != self.spectrum.dim:
            raise ValueError(
                f"FromMeasure has a measure on R^{self.spectrum.dim}, not on R^{dim}: it needs "
                f"data with {self.spectrum.dim} columns."
            )
        return self.spectrum
