"""The base class of the embeddings: objects of a kernel, or a matrix of its values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from .._columns import check_numeric_columns
from .._validation import outside_level, own
from ..kernels import Kernel, Precomputed
from ..kernels.custom import is_precomputed
from ..kernels.values import check_values, warn_uninformative
from ._base import Proximity, precomputed_rows, precomputed_square


class Embedding(Proximity):
    """Base class of the transformers that embed objects by a kernel or by a precomputed matrix.

    A subclass defines `_check`, which checks the matrix of all pairs, `_learn` and `_map`.
    """

    kernel: str | Kernel
    n_components: int | None
    kernel_: Kernel

    def _check(self, K: NDArray) -> None:
        """Raise an error if the embedding does not take the matrix of all pairs."""

    @property
    def _matrix_kernel(self) -> Precomputed:
        """The kernel of a precomputed matrix."""
        return Precomputed()

    def _square(self, X: Any) -> NDArray:
        if self._precomputed:
            self.kernel_ = self._matrix_kernel
            K = precomputed_square(self, X)
        else:
            assert isinstance(self.kernel, Kernel)
            # Copies, because the caller may change the objects and the kernel later.
            self._objects = own(self._validate(X, reset=True))
            self.kernel_ = clone(self.kernel).resolved(self._objects)
            K = check_values(self.kernel_, self.kernel_(self._objects))
        self._check(K)
        warn_uninformative(self.kernel_, K, X)
        return K

    def _rows(self, X: Any) -> NDArray:
        return self._side(X, dual=False)

    def _side(self, X: Any, dual: bool) -> NDArray:
        """Return the values of new objects, as first or second argument, in rows."""
        if self._precomputed:
            return precomputed_rows(self, X)
        kernel = self.kernel_.T if dual else self.kernel_
        return check_values(kernel, kernel(self._validate(X, reset=False), self._objects))

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Return validated vectors, or other objects as they are: the kernel validates them."""
        if not (isinstance(self.kernel, Kernel) and self.kernel.takes_matrix(X)):
            return X
        dtype = [np.float64, np.float32]
        check_numeric_columns(self, X)
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=dtype)

    @property
    def _precomputed(self) -> bool:
        return is_precomputed(self.kernel)

    def _kept(self, values: NDArray, is_zero: NDArray[np.bool_], noun: str) -> NDArray[np.intp]:
        """Return the indices of the values to keep; none of them is zero.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Eigenvalues or singular values, largest magnitude first.
        is_zero : ndarray of bool of shape (n,)
            Which of them count as zero.
        noun : str
            What the error calls a value.
        """
        name = type(self).__name__
        kept = np.flatnonzero(~is_zero)
        if not kept.size:
            centred = ", or use center=False" if getattr(self, "center", False) else ""
            raise ValueError(
                f"{name} found no {noun} other than zero in the similarities of {len(values)} "
                f"sample(s): pass objects that differ from each other{centred}."
            )
        wanted = self.n_components or kept.size
        if wanted > kept.size:
            warnings.warn(
                f"{name} has n_components={wanted}, but the similarities have only {kept.size} "
                f"{noun}(s) other than zero: it keeps {kept.size}.",
                stacklevel=outside_level(),
            )
        return kept[:wanted]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        takes_vectors = isinstance(self.kernel, Kernel) and self.kernel.takes_vectors
        tags.input_tags.sparse = takes_vectors and not self._precomputed
        return tags
