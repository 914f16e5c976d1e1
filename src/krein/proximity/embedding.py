"""Coordinates for an indefinite similarity."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._threads import blas_threads_for
from .._validation import check_numeric_columns, own
from ..forms import Signature
from ..kernels import Kernel, Precomputed
from ..kernels.values import check_values, warn_uninformative
from ._base import (
    Centring,
    Proximity,
    check_symmetric,
    precomputed_rows,
    precomputed_square,
    spectrum,
)


class KreinPCA(Proximity):
    """Pseudo-Euclidean embedding: principal components of a similarity that may be indefinite.

    With the centred similarities ``S = J K J = U diag(λ) Uᵀ`` of the training objects, keeps the
    eigenvalues of largest *magnitude* and embeds object i as

        x_i = |Λ|^½ Uᵀ e_i,    S_ij ≈ x_iᵀ M x_j,    M = diag(sign λ) = `form_`.

    With all components the embedding is exact: inner products and squared distances,
    ``(x_i − x_j)ᵀ M (x_i − x_j) = K_ii + K_jj − 2 K_ij``, are reproduced, and the latter are
    D_ij² for K = `DoubleCentering` of any dissimilarities D, metric or not. A new object with
    similarities k to the training objects is centred with their means, and projected:
    ``x = sign(Λ) |Λ|^(−½) Uᵀ s``; a training object gets its training coordinates.

    With a positive semi-definite kernel this is scikit-learn's KernelPCA, up to signs of columns.
    The full eigenproblem is solved, of cost n³.

    Parameters
    ----------
    n_components : int or None, default=2
        Number of coordinates; None keeps all. An eigenvalue that is zero has no sign and is
        never kept; fewer than `n_components` others give fewer coordinates and a warning.
    kernel : "precomputed" or krein.kernels.Kernel, default="precomputed"
        "precomputed": X is the matrix K in `fit`, and rows of similarities to the training
        objects in `transform`. A kernel must be symmetric; X is then whatever it takes.
    center : bool, default=True
        Whether to move the origin to the mean of the training objects.
    tol : float, default=1e-10
        Eigenvalues of at most `tol` times the largest magnitude are zero.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_kept,)
        The kept eigenvalues λ, largest magnitude first.
    eigenvectors_ : ndarray of shape (n, n_kept)
        The columns of U that belong to them.
    signature_ : ndarray of shape (n_kept,)
        Their signs, +1 or −1.
    form_ : krein.forms.Signature
        The form M.
    negative_mass_ : float
        ``Σ_{λ < 0} |λ| / Σ |λ|`` over all eigenvalues, kept or not.
    kernel_ : krein.kernels.Kernel
        A copy of the kernel with all its numbers, unless the similarities are precomputed.
    n_samples_fit_ : int
        Number n of training objects.
    n_features_in_ : int
        Number of columns seen in `fit`; absent if the kernel takes objects other than vectors.

    See Also
    --------
    DoubleCentering : The step before, for dissimilarities.
    SpectrumCorrector : Semi-definite similarities instead of coordinates.

    References
    ----------
    L. Goldfarb. A unified approach to pattern recognition. Pattern Recognition 17, 1984.

    E. Pękalska, R. P. W. Duin. The Dissimilarity Representation for Pattern Recognition. World
    Scientific, 2005. Chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from krein.proximity import DoubleCentering, KreinPCA
    >>> D = np.array([[0, 1, 1], [1, 0, 4], [1, 4, 0]])  # 4 > 1 + 1: no metric
    >>> embedding = make_pipeline(DoubleCentering(), KreinPCA(n_components=None))
    >>> X = embedding.fit_transform(D)
    >>> M = embedding[-1].form_
    >>> M
    Signature(1+, 1-)
    >>> difference = X[[1]] - X[[2]]
    >>> (difference @ M.dual(difference).T).round(12)  # 4², though X[1] and X[2] are real
    array([[16.]])
    """

    _parameter_constraints = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [StrOptions({"precomputed"}), Kernel],
        "center": ["boolean"],
        "tol": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        kernel: str | Kernel = "precomputed",
        center: bool = True,
        tol: float = 1e-10,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.center = center
        self.tol = tol

    def _square(self, X: Any) -> NDArray:
        kernel = self.kernel
        if isinstance(kernel, Kernel) and not kernel.is_symmetric:
            raise ValueError(
                f"KreinPCA needs a symmetric kernel, got kernel={kernel!r}: use its "
                "kernel.symmetric_part, or declare it symmetric if it is."
            )
        if self._precomputed:
            self.kernel_ = Precomputed()
            K = precomputed_square(self, X)
        else:
            assert isinstance(kernel, Kernel)
            # Copies: the caller may change theirs.
            self._objects = own(self._validate(X, reset=True))
            self.kernel_ = clone(kernel).resolved(self._objects)
            K = check_values(self.kernel_, self.kernel_(self._objects))
        check_symmetric(self, K)
        warn_uninformative(self.kernel_, K, X)
        return K

    def _rows(self, X: Any) -> NDArray:
        if self._precomputed:
            return precomputed_rows(self, X)
        return check_values(
            self.kernel_, self.kernel_(self._validate(X, reset=False), self._objects)
        )

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Vectors are validated here; other objects are the kernel's business."""
        if not (isinstance(self.kernel, Kernel) and self.kernel.takes_matrix(X)):
            return X
        dtype = [np.float64, np.float32]
        check_numeric_columns(self, X)
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=dtype)

    @property
    def _precomputed(self) -> bool:
        return not isinstance(self.kernel, Kernel) or isinstance(self.kernel, Precomputed)

    @property
    def _takes_vectors(self) -> bool:
        return isinstance(self.kernel, Kernel) and self.kernel.takes_vectors

    def _learn(self, square: NDArray) -> None:
        self._centring = Centring.of(square) if self.center else None
        # Centring leaves round-off of the size of K, which is all that is left of a constant K.
        found = spectrum(self._centred(square), self.tol, float(np.abs(square).max()))
        kept = np.flatnonzero(~found.is_zero)
        if not kept.size:
            raise ValueError(
                f"KreinPCA found no eigenvalue other than zero in the similarities of "
                f"{len(square)} sample(s): X needs objects that differ from each other"
                f"{' (or center=False)' if self.center else ''}."
            )
        wanted = self.n_components or kept.size
        if wanted > kept.size:
            warnings.warn(
                f"KreinPCA was asked for n_components={wanted}, but the similarities have "
                f"{kept.size} eigenvalue(s) other than zero: it keeps {kept.size}.",
                stacklevel=5,
            )
        kept = kept[:wanted]
        self.eigenvalues_, self.eigenvectors_ = found.values[kept], found.vectors[:, kept]
        self.signature_ = np.sign(self.eigenvalues_)
        self.form_ = Signature(self.signature_)
        self.negative_mass_ = found.negative_mass

    def _centred(self, rows: NDArray) -> NDArray:
        return rows if self._centring is None else self._centring(rows)

    def _map(self, rows: NDArray) -> NDArray:
        projection = self.eigenvectors_ * (self.signature_ / np.sqrt(np.abs(self.eigenvalues_)))
        return (self._centred(rows) @ projection).astype(rows.dtype, copy=False)

    def transform_dual(self, X: Any) -> NDArray:
        """The coordinates of the second argument, ``x M``.

        ``transform(X) @ transform_dual(Y).T`` are the inner products, which approximate the
        centred similarities of X and Y.
        """
        check_is_fitted(self)
        with blas_threads_for(X):
            Z = self._map(self._rows(X))
        return self.form_.dual(Z, out=Z)

    @property
    def _n_features_out(self) -> int:
        return self.form_.width

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = self._takes_vectors and not self._precomputed
        return tags
