"""Coordinates of objects whose similarities are indefinite."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._threads import blas_threads_for
from .._validation import store
from ..forms import Signature
from ..kernels import Kernel
from ._base import Centring, check_symmetric, spectrum
from ._embedding import Embedding


class KreinPCA(Embedding):
    """Pseudo-Euclidean embedding: principal components of a similarity that may be indefinite.

    The centred similarities of the training objects are ``S = J K J = U diag(λ) Uᵀ``, where
    ``J = I − 11ᵀ/n``. The embedding keeps the eigenvalues λ of largest magnitude. The coordinates
    of object i are

        x_i = |Λ|^½ Uᵀ e_i,    S_ij ≈ x_iᵀ M x_j,    M = diag(sign λ) = `form_`.

    With all components the embedding is exact. It then reproduces all inner products S_ij and all
    squared distances ``(x_i − x_j)ᵀ M (x_i − x_j) = K_ii + K_jj − 2 K_ij``. If K is the
    `DoubleCentering` of dissimilarities D, these squared distances are D_ij², even if D is not a
    metric.

    The similarities of a new object to the training objects are centred with the means of the
    training matrix and projected: ``x = sign(Λ) |Λ|^(−½) Uᵀ s``. A training object that is passed
    to `transform` gets its training coordinates.

    If the kernel is positive semi-definite, the result is the result of scikit-learn's KernelPCA,
    up to the signs of the columns. `fit` solves the full eigenproblem in O(n³) operations.

    Parameters
    ----------
    n_components : int or None, default=2
        Number of coordinates; None keeps all. Eigenvalues that are zero have no sign and are never
        kept. If fewer than `n_components` eigenvalues remain, `fit` warns and keeps them.
    kernel : "precomputed" or krein.kernels.Kernel, default="precomputed"
        "precomputed" means that X is the matrix K in `fit`, and holds rows of similarities to the
        training objects in `transform`. A kernel must be symmetric; X then holds the objects that
        the kernel takes.
    center : bool, default=True
        If True, the origin is the mean of the training objects. If False, ``S = K``.
    tol : float, default=1e-10
        Eigenvalues of at most `tol` times the largest magnitude count as zero.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_kept,)
        The kept eigenvalues λ, largest magnitude first.
    eigenvectors_ : ndarray of shape (n, n_kept)
        The eigenvectors U of the kept eigenvalues.
    signature_ : ndarray of shape (n_kept,)
        The signs of the kept eigenvalues, +1 or −1.
    form_ : krein.forms.Signature
        The form M.
    negative_mass_ : float
        ``Σ_{λ < 0} |λ| / Σ |λ|`` over all eigenvalues of S.
    kernel_ : krein.kernels.Kernel
        A copy of the kernel, resolved on the training objects; `Precomputed` if X is the matrix K.
    n_samples_fit_ : int
        Number n of training objects.
    n_features_in_ : int
        Number of columns seen in `fit`. It does not exist if the kernel takes objects other than
        vectors.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    See Also
    --------
    DoubleCentering : Turns dissimilarities into the similarities that this class takes.
    SpectrumCorrector : Returns positive semi-definite similarities instead of coordinates.
    AsymmetricEmbedding : Two sets of coordinates, for similarities that are not symmetric.

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
    >>> (difference @ M.dual(difference).T).round(12)  # the squared distance 4²
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
        store(self, locals())

    def _square(self, X: Any) -> NDArray:
        kernel = self.kernel
        if isinstance(kernel, Kernel) and not kernel.is_symmetric:
            raise ValueError(
                f"KreinPCA needs a symmetric kernel, got kernel={kernel!r}: use "
                "kernel.symmetric_part or AsymmetricEmbedding, or declare the kernel as symmetric "
                "if it is symmetric."
            )
        return super()._square(X)

    def _check(self, K: NDArray) -> None:
        check_symmetric(self, K)

    def _learn(self, square: NDArray) -> None:
        self._centring = Centring.of(square) if self.center else None
        # The scale is the size of K before centring, whose round-off is all that remains of a
        # constant K.
        found = spectrum(self._centred(square), self.tol, float(np.abs(square).max()))
        kept = self._kept(found.values, found.is_zero, "eigenvalue")
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
        """Return the coordinates of the objects of X, multiplied by the form M.

        ``transform(X) @ transform_dual(Y).T`` is the matrix of inner products, which approximates
        the centred similarities of X and Y.

        Parameters
        ----------
        X : array-like of shape (m, n), or m objects
            Each row holds the similarities of one object to all n training objects. If `kernel` is
            a kernel, X holds the objects themselves.

        Returns
        -------
        ndarray of shape (m, n_kept)
            The coordinates of the objects as second arguments of the inner product.
        """
        check_is_fitted(self)
        with blas_threads_for(X):
            Z = self._map(self._rows(X))
        return self.form_.dual(Z, out=Z)

    @property
    def _n_features_out(self) -> int:
        return self.form_.width
