"""The base class of all kernels.

A kernel follows scikit-learn's parameter contract, so it can be cloned, printed, compared and
grid-searched (``kernel__sigma``). Calling a kernel on data returns the kernel matrix.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from .._blocks import BLOCK_BYTES, mirror_upper, row_blocks
from .._columns import check_numeric_columns
from .._validation import NestedParameters, same
from ..rows import canonical, count, take
from ._against import Against
from ._arithmetic import Arithmetic
from ._spectrum import Spectrum
from .errors import UnresolvedError, placed

if TYPE_CHECKING:
    # scikit-learn has no types. A class with a base of unknown type passes for a number, and the
    # type of ``2 * kernel`` would be int.
    class BaseEstimator:
        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...
        def __getstate__(self) -> dict[str, Any]: ...

else:
    from sklearn.base import BaseEstimator

# Places of some objects, and the kernel values between them.
Known = tuple[NDArray[np.intp], NDArray]

# Number of strips of rows in which the upper triangle of a symmetric matrix is computed.
HALVES = 8


class Kernel(Arithmetic, Spectrum, NestedParameters, BaseEstimator, ABC):
    """A similarity k(x, y), symmetric or not, positive definite or not.

    A subclass defines `_block`. It may also define `_diagonal`, if the formula has a short cut for
    k(x, x), and `_closed_form`, if its spectral measure is known.

    Attributes
    ----------
    traits : Traits
        What the kernel declares about itself: its symmetry, domain, kind of data and cost.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Kernel, Traits
    >>> class Difference(Kernel):
    ...     traits = Traits(is_symmetric=False)
    ...
    ...     def _block(self, X, Y):
    ...         return X[:, :1] - Y[:, :1].T
    >>> Difference()([[1.0], [3.0]])
    array([[ 0., -2.],
           [ 2.,  0.]])
    """

    @property
    def is_symmetric(self) -> bool:
        """True if k(x, y) = k(y, x)."""
        return self.traits.is_symmetric

    @property
    def takes_vectors(self) -> bool:
        """True if the data are a numeric matrix; False for strings, series and other objects."""
        return self.traits.takes_vectors

    @abstractmethod
    def _block(self, X: Any, Y: Any) -> NDArray:
        """Return k(x, y) for all rows of the validated X and Y, shape (len(X), len(Y))."""

    def _rows(self, X: Any, rows: slice, Y: Any) -> NDArray:
        """Return k(x, y) for some rows of X and all rows of Y."""
        return self._block(X[rows], Y)

    def _values_against(self, Y: Any, n_rows: int) -> Against:
        """Return an `Against` that computes k(X, Y) in blocks, for validated Y and n_rows rows."""
        return Against(self, Y)

    def _where(self, X: Any, Y: Any, wanted: NDArray[np.bool_]) -> NDArray[np.floating]:
        """Return k(x_i, y_j) for at least the pairs that `wanted` marks, NaN for the others.

        A kernel computes blocks. Rows with about the same number of wanted columns therefore form
        one block, with every column that any of these rows wants.

        Parameters
        ----------
        X, Y : validated data of n and m objects
        wanted : ndarray of bool of shape (n, m)
        """
        out = np.full(wanted.shape, np.nan)
        counts = wanted.sum(axis=1)
        parts = 1 if wanted.all() else HALVES
        for rows in np.array_split(np.argsort(counts, kind="stable"), parts):
            columns = np.flatnonzero(wanted[rows].any(axis=0))
            if not len(columns):
                continue
            with placed(rows, columns):
                out[np.ix_(rows, columns)] = self(take(X, rows), take(Y, columns))
        return out

    def _diagonal(self, X: Any) -> NDArray:
        """Return k(x, x) for all rows of X."""
        n = count(X)
        return np.array([self._rows(X, slice(i, i + 1), X[i : i + 1])[0, 0] for i in range(n)])

    def _check_data(self, X: Any, name: str = "X") -> Any:
        """Validate X: a finite float32/float64 matrix, dense or CSR."""
        check_numeric_columns(self, X)
        dtypes = [np.float64, np.float32]
        return canonical(check_array(X, accept_sparse="csr", dtype=dtypes, input_name=name))

    def takes_matrix(self, X: Any) -> bool:
        """Return True if the kernel takes X as a numeric matrix, not as a list of objects."""
        return self.takes_vectors

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X = self._check_data(X)
        if Y is None:
            return X, X
        Y = self._check_data(Y, "Y")
        matrices = getattr(X, "ndim", 0) == 2 and getattr(Y, "ndim", 0) == 2
        if matrices and X.shape[1] != Y.shape[1]:
            raise ValueError(
                f"{type(self).__name__} compares rows of equal width, but X has "
                f"{X.shape[1]} columns and Y has {Y.shape[1]}."
            )
        return X, Y

    def __call__(self, X: Any, Y: Any = None) -> NDArray:
        """Return the kernel matrix k(X, Y), computed in blocks of rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a sequence of n objects
        Y : array-like or CSR matrix of shape (m, d), or a sequence of m objects, default=None
            None means X.

        Returns
        -------
        ndarray of shape (n, m)
            Its dtype is float32 if X and Y are float32, else float64.

        Raises
        ------
        UnresolvedError
            If Y is given and a parameter depends on data; call `resolved` first.
        """
        kernel = self._settled(X, Y)
        if kernel is not self:
            return kernel(X)
        left, right = self._check_pair(X, Y)
        if Y is not None or not (self.traits.mirrors and self.is_symmetric):
            out = self._matrix(left, right)
        else:
            out = self._mirrored(left)
        if Y is None and len(out) and self.traits.fills_diagonal:
            # A block has round-off at x = y, where distances are computed from products.
            with np.errstate(over="ignore"):
                np.fill_diagonal(out, self._diagonal(left))
        return out

    def _matrix(self, X: Any, Y: Any) -> NDArray:
        """Return k(X, Y) for validated data, computed in blocks of rows."""
        dtype = common_dtype(X, Y)
        out = np.empty((count(X), count(Y)), dtype=dtype)
        values = self._values_against(Y, len(out))
        for rows in row_blocks(len(out), out.shape[1] * dtype.itemsize, values.block_bytes):
            values(X, rows, out[rows])
        return out

    def _mirrored(self, X: Any) -> NDArray:
        """Return k(X, X) of a symmetric kernel; the lower triangle is copied from the upper one."""
        n, dtype = count(X), common_dtype(X)
        out = np.empty((n, n), dtype=dtype)
        for rows in row_blocks(n, n * dtype.itemsize, min(BLOCK_BYTES, out.nbytes // HALVES)):
            out[rows, rows.start :] = self._rows(X, rows, X[rows.start :])
        return mirror_upper(out)

    def diag(self, X: Any) -> NDArray:
        """Return k(x, x) for all rows of X without computing the kernel matrix."""
        if not self.is_resolved:
            raise UnresolvedError(self)
        X = self._check_data(X)
        with np.errstate(over="ignore"):
            return np.asarray(self._diagonal(X), dtype=common_dtype(X))

    # --- parameters that depend on data ---------------------------------------------------------

    @property
    def is_resolved(self) -> bool:
        """True if no parameter depends on data, as ``sigma="median"`` does."""
        parts = kernel_parameters(self).values()
        return self._waits_for is None and all(part.is_resolved for part in parts)

    @property
    def _waits_for(self) -> str | None:
        """The parameter that depends on data, such as "sigma='median'"; None if there is none."""
        return None

    @property
    def is_pairwise(self) -> bool:
        """True if the data are a square matrix with one row and one column per object."""
        return any(part.is_pairwise for part in kernel_parameters(self).values())

    def resolved(self, X: Any) -> Kernel:
        """Return a kernel whose parameters no longer depend on data.

        ``Similarity(distance)`` has the parameter ``gamma="median"``, ``Gaussian("median")`` the
        parameter ``sigma="median"``. In the returned kernel sigma is the median distance between up
        to 100 objects of X, and gamma is one over it. Sums, products, multiples, transposes and
        parts of kernels resolve the kernels that they are made of. Feature maps and
        learners call `resolved` on their training data.

        Parameters
        ----------
        X : array-like, CSR matrix or sequence of objects
            The training data.

        Returns
        -------
        Kernel
            The kernel itself if no parameter depends on data.

        Examples
        --------
        >>> from krein.kernels import EditDistance, Similarity
        >>> Similarity(EditDistance()).resolved(["cat", "cats", "at", "dog"]).gamma
        0.4
        """
        return self.resolved_with_values(X)[0]

    def resolved_with_values(self, X: Any) -> tuple[Kernel, Known | None]:
        """Return the resolved kernel and the kernel values that were computed on the way.

        Parameters
        ----------
        X : array-like, CSR matrix or sequence of objects
            The training data.

        Returns
        -------
        kernel : Kernel
            What `resolved` returns.
        known : tuple (places, values) or None
            The places of m objects in X, and the kernel values between them as an array of shape
            (m, m), NaN where a value was not computed; None if no values were computed.
        """
        if self.is_resolved:
            return self, None
        return self._resolved_with_values(self._check_data(X))

    def _resolved_with_values(self, X: Any) -> tuple[Kernel, Known | None]:
        return self._resolved(X), None

    def _resolved(self, X: Any) -> Kernel:
        """Return a copy whose kernel parameters are resolved on the validated data X."""
        found = copy.copy(self)
        for name, part in kernel_parameters(self).items():
            setattr(found, name, part if part.is_resolved else part._resolved(X))
        return found

    def _settled(self, X: Any, Y: Any = None) -> Kernel:
        """Return the kernel that a call evaluates, resolved on X if Y is None."""
        if self.is_resolved or Y is None:
            return self.resolved(X)
        raise UnresolvedError(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel) or type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.get_params(False), other.get_params(False)
        return all(same(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        # scikit-learn looks callables up in sets. Parameters may change, but the type does not.
        return hash(type(self))


def kernel_parameters(kernel: Kernel) -> dict[str, Kernel]:
    """Return the parameters of a kernel that are kernels themselves, by name."""
    found = kernel.get_params(deep=False)
    return {name: value for name, value in found.items() if isinstance(value, Kernel)}


def common_dtype(*arrays: Any) -> np.dtype:
    """Return float32 if all matrices are float32, else float64."""
    dtypes = [a.dtype for a in arrays if isinstance(a, np.ndarray) or sparse.issparse(a)]
    if dtypes and all(dtype == np.float32 for dtype in dtypes):
        return np.dtype(np.float32)
    return np.dtype(np.float64)
