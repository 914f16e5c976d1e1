"""Two sets of coordinates of objects whose similarities are not symmetric."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import svd_flip
from sklearn.utils.validation import check_is_fitted

from .._threads import blas_threads_for
from .._validation import store
from ..kernels import Kernel, Precomputed
from ._base import Centring, count_as_zero
from ._embedding import Embedding


class AsymmetricEmbedding(Embedding):
    """Source and target coordinates of objects: the singular vectors of a similarity.

    The similarities of the training objects, K_ij = k(x_i, x_j), are ``K = U Σ Vᵀ``. The embedding
    keeps the largest singular values. Object i has two points,

        s_i = Σ^½ Uᵀ e_i,    t_i = Σ^½ Vᵀ e_i,    K_ij ≈ s_iᵀ t_j.

    `transform` returns the source coordinates s, of objects as first argument of the kernel, and
    `transform_dual` returns the target coordinates t, of objects as second argument. In a citation
    graph s_i says whom paper i cites, and t_i says who cites paper i. No other coordinates of the
    same number approximate K better, in the sum of squares. With all components the products are
    exact.

    A new object has the source coordinates ``Σ^(−½) Vᵀ k(x, T)`` and the target coordinates
    ``Σ^(−½) Uᵀ k(T, x)``, with the training objects T. A training object that is passed to
    `transform` gets its training coordinates.

    The similarity may be symmetric. The target coordinates are then the source coordinates, with
    the other sign in the columns of negative eigenvalues, as for `KreinPCA`. `fit` computes all
    singular values in O(n³) operations.

    Parameters
    ----------
    n_components : int or None, default=2
        Number of coordinates of each side; None keeps all. Singular values that are zero are never
        kept. If fewer than `n_components` singular values remain, `fit` warns and keeps them.
    kernel : "precomputed" or krein.kernels.Kernel, default="precomputed"
        "precomputed" means that X is the matrix K in `fit`. Row i of X then holds the values
        k(x_i, T) in `transform` and the values k(T, x_i) in `transform_dual`. If `kernel` is a
        kernel, X holds the objects that the kernel takes.
    center : bool, default=False
        If True, K is replaced by ``J K J`` with ``J = I − 11ᵀ/n``, so that both sets of training
        coordinates have mean zero.
    tol : float, default=1e-10
        Singular values of at most `tol` times the largest count as zero.

    Attributes
    ----------
    singular_values_ : ndarray of shape (n_kept,)
        The kept singular values, largest first.
    source_vectors_ : ndarray of shape (n, n_kept)
        The left singular vectors U.
    target_vectors_ : ndarray of shape (n, n_kept)
        The right singular vectors V.
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
    KreinPCA : One set of coordinates, for symmetric similarities.
    krein.Nystrom : Two sets of features of any kernel, for many objects.

    References
    ----------
    M. Ou, P. Cui, J. Pei, Z. Zhang, W. Zhu. Asymmetric Transitivity Preserving Graph Embedding.
    KDD 2016. The embedding of Katz's index.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import DirectedGraph
    >>> from krein.proximity import AsymmetricEmbedding
    >>> ring = np.roll(np.eye(5), 1, axis=1)  # 0 → 1 → 2 → 3 → 4 → 0
    >>> embedding = AsymmetricEmbedding(None, kernel=DirectedGraph(ring, self_loops=False))
    >>> source = embedding.fit_transform(np.arange(5))
    >>> target = embedding.transform_dual(np.arange(5))
    >>> (source @ target.T).argmax(axis=1)  # the successor of each node
    array([1, 2, 3, 4, 0])
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
        center: bool = False,
        tol: float = 1e-10,
    ):
        store(self, locals())

    @property
    def _matrix_kernel(self) -> Precomputed:
        kernel = self.kernel
        return clone(kernel) if isinstance(kernel, Precomputed) else Precomputed(symmetric=False)

    def _check(self, K: NDArray) -> None:
        if self._precomputed:
            self.kernel_._check_data(K)  # refuses a matrix that is declared symmetric and is not

    def _learn(self, square: NDArray) -> None:
        self._centrings = (Centring.of(square), Centring.of(square.T)) if self.center else None
        K = self._centred(square, dual=False).astype(np.float64)
        U, values, Vt = linalg.svd(K, full_matrices=False, overwrite_a=True, check_finite=False)
        U, Vt = svd_flip(U, Vt)
        # The scale is the size of K before centring, whose round-off is all that remains of a
        # constant K.
        is_zero = count_as_zero(values, square, self.tol, float(np.abs(square).max()))
        kept = self._kept(values, is_zero, "singular value")
        self.singular_values_ = values[kept]
        self.source_vectors_, self.target_vectors_ = U[:, kept], Vt[kept].T

    def _centred(self, rows: NDArray, dual: bool) -> NDArray:
        return rows if self._centrings is None else self._centrings[dual](rows)

    def _map(self, rows: NDArray, dual: bool = False) -> NDArray:
        vectors = self.source_vectors_ if dual else self.target_vectors_
        projected = self._centred(rows, dual) @ (vectors / np.sqrt(self.singular_values_))
        return projected.astype(rows.dtype, copy=False)

    def transform_dual(self, X: Any) -> NDArray:
        """Return the target coordinates of the objects of X.

        ``transform(X) @ transform_dual(Y).T`` approximates k(X, Y).

        Parameters
        ----------
        X : array-like of shape (m, n), or m objects
            Each row holds the values k(T, x) of all n training objects T against one object x. If
            `kernel` is a kernel, X holds the objects themselves.

        Returns
        -------
        ndarray of shape (m, n_kept)
            The coordinates of the objects as second arguments of the kernel.
        """
        check_is_fitted(self)
        with blas_threads_for(X):
            return self._map(self._side(X, dual=True), dual=True)

    @property
    def _n_features_out(self) -> int:
        return len(self.singular_values_)
