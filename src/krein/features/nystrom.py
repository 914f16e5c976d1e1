"""Nyström features with their signs kept."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._blocks import row_blocks
from .._core import Core, factorise
from .._hashing import as_key
from .._threads import one_blas_thread, over_blocks
from ..forms import Signature
from ..kernels import Gaussian, Kernel, Precomputed
from ..kernels.base import _len
from ..kernels.errors import BadPairError
from ..kernels.values import check_values
from .base import FeatureMap
from .choice import Choice, choose_landmarks
from .cores import fit_core, strips
from .explosions import check_held_out, check_new
from .landmarks import RULES, LandmarkRule, extended, sample_size
from .source import Source, kernel_values

# A block of kernel values that stays in the cache between the kernel and the product.
BLOCK_BYTES = 2 * 2**20
# Most landmarks beyond the rank: the cost of a fit grows with their cube.
MOST_SPARE = 300


class Nystrom(FeatureMap):
    """A low-rank map of any similarity on any objects that is right about the negative part.

    ``k(x, y) ≈ k(x, Z) X k(Z, y)`` with landmarks Z and a core X of rank `n_components`. It is
    factorised by *magnitude*, so that ``k(x, y) ≈ Z(x)ᵀ M Z(y)`` with M the signs of its
    eigenvalues; scikit-learn's `Nystroem` drops M and so approximates |K|. A kernel that is not
    symmetric has two maps, `transform` for the first argument and `transform_dual` for the second.

    Parameters
    ----------
    kernel : Kernel or "precomputed", default=None
        Any kernel; None is ``Gaussian()``. With "precomputed" the data are kernel values: a square
        matrix in `fit`; in `transform` the values against all training objects or against the
        landmarks alone (``component_indices_``).
    n_components : int, default=100
        Rank; fewer columns are returned if the kernel has fewer directions on the landmarks.
    landmarks : str, LandmarkRule, array-like or callable, default="two-round"
        "two-round" (half by leverage and residual, half by the residual of a map on the first
        half), "uniform", "leverage", "kmeans++", "recursive" (positive definite kernels),
        "supervised" (the rows that tell most about y, by forward selection), "all"; or indices of
        rows, objects, or ``f(X, n_landmarks)`` that returns either.
    n_landmarks : int, default=None
        None means 3 · n_components, but at most 300 more than n_components. With no more landmarks
        than components the core has no directions to spare and may explode on new rows; `fit`
        warns if it does so on rows that it held out.
    core : {"sketch", "truncated", "inverse", "squared"}, default="sketch"
        "sketch" fits the core by least squares on a second sample of rows; "truncated" inverts
        K_ZZ cut to the rank; "inverse" is the published method, K_ZZ⁻¹, with the one-shot
        eigendecomposition if there are more landmarks than components. On indefinite kernels the
        latter is unstable (errors up to 500 times the best of its rank). "squared" is the older
        method of the paper's App. B, a baseline that fails where +λ and −λ are both eigenvalues.
    tol : float, default=1e-10
        Eigenvalues and singular values below this share of the largest are dropped.
    n_jobs : int, default=None
        Processes for kernels that are Python functions.
    random_state : int, RandomState, Generator or None, default=None
        Key of the draws, which depend on the content of the rows and not on their order.

    Attributes
    ----------
    landmarks_ : the landmark objects
        For a precomputed kernel their indices.
    component_indices_ : ndarray of shape (n_landmarks,) or None
        Indices of the landmarks among the training rows; None if objects were given.
    eigenvalues_ : ndarray of shape (rank,)
        The core's signed eigenvalues (singular values if the kernel is not symmetric), in the order
        of the columns; of a positive definite core with as many columns as landmarks the columns
        are a rotation, which halves the cost.
    form_ : krein.forms.Signature
        The signs; only for symmetric kernels.

    References
    ----------
    D. Oglic, T. Gärtner. Scalable Learning in Reproducing Kernel Kreĭn Spaces. ICML 2019. §2.2,
    §2.3, corrected: the core is fitted, not inverted.

    Examples
    --------
    >>> import numpy as np, krein
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).random((500, 4))
    >>> features = krein.Nystrom(DeltaGaussian(), n_components=50, random_state=0).fit(X)
    >>> krein.approximation_error(features, X) < 0.01
    True
    """

    _parameter_constraints = {
        "kernel": [Kernel, StrOptions({"precomputed"}), None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "landmarks": [
            StrOptions(set(RULES)),
            LandmarkRule,
            "array-like",
            "sparse matrix",
            callable,
        ],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
        "core": [StrOptions({"sketch", "truncated", "inverse", "squared"})],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int = 100,
        *,
        landmarks: str | LandmarkRule | ArrayLike | Callable = "two-round",
        n_landmarks: int | None = None,
        core: str = "sketch",
        tol: float = 1e-10,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.landmarks = landmarks
        self.n_landmarks = n_landmarks
        self.core = core
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    # --- data -----------------------------------------------------------------------------------

    def _resolved_kernel(self) -> Kernel:
        if self.kernel is None:
            return Gaussian()
        if isinstance(self.kernel, str):
            return Precomputed()
        return self.kernel

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed | str)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        kernel = self._resolved_kernel() if reset else self.kernel_
        if self._precomputed and not reset:
            return self._landmark_columns(X)
        matrix = kernel.takes_matrix(X)
        if matrix:
            X = super()._validate(X, reset=reset)
        # A precomputed matrix is checked for being square and, if it says so, symmetric.
        return kernel._check_data(X) if reset or not matrix else X

    def _landmark_columns(self, X: Any) -> NDArray:
        """The columns of the landmarks, from all columns or from themselves alone."""
        K = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        m = len(self._left)
        if K.shape[1] == self.n_features_in_:
            return K[:, self.component_indices_]
        if K.shape[1] == m:
            return K
        raise ValueError(
            f"X has {K.shape[1]} columns, but a precomputed transform takes the values against all "
            f"{self.n_features_in_} training objects or against the {m} landmarks "
            "(component_indices_)."
        )

    # --- fit ------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks and fit the core.

        Parameters
        ----------
        X : the training data
            A matrix, a sequence of objects, or, with a precomputed kernel, the square matrix of
            all values.
        y : array-like of shape (n,) or (n, k), default=None
            Targets, for ``landmarks="supervised"``.

        Returns
        -------
        self
        """
        super().fit(X, y)
        del self._source  # and the values that it remembers
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray:
        """Fit, and map the training data; values that `fit` computed are not computed again."""
        super().fit(X, y)
        source, indices = self._source
        del self._source
        if source.pairs is None:
            return self.transform(X)
        start = len(source) - _len(X)  # landmarks that were given as objects stand before X

        def values(rows: slice) -> NDArray:
            return source.values(np.arange(start + rows.start, start + rows.stop), indices)

        return self._project(X, self._left, values)

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        self.__dict__.pop("form_", None)  # of an earlier fit with a symmetric kernel
        source = Source(self.kernel_, X, self.n_jobs, y)
        wanted = self._wanted()
        everything = isinstance(self.landmarks, str) and self.landmarks == "all"
        if len(source) < (self.n_landmarks or self.n_components) and not everything:
            warnings.warn(
                f"There are {len(source)} rows, fewer than the "
                f"{self.n_landmarks or self.n_components} landmarks asked for: all are landmarks.",
                UserWarning,
                stacklevel=4,
            )
        key = as_key(rng)
        source, indices, inside = self._choose(source, wanted, key)
        sample = self._sample(source, indices, key)
        core = self._fit_core(source, indices, sample).triangular()
        if not len(core.values):
            raise ValueError(
                f"{source.kernel!r} is zero on all {len(indices)} landmarks (n_samples = "
                f"{len(source)}), so there is nothing to represent: choose other landmarks or "
                "another kernel."
            )
        self.component_indices_ = indices if inside else None
        self.landmarks_ = source.take(indices)
        self.eigenvalues_ = core.values
        self._left, self._right = core.left, core.right
        if source.is_symmetric:
            self.form_ = Signature(core.signs)
        self._largest = self._check_held_out(source, indices, sample, core, key)
        self._source = source, indices

    def _wanted(self) -> int:
        """How many landmarks are asked for."""
        return self.n_landmarks or self.n_components + min(2 * self.n_components, MOST_SPARE)

    def _choose(self, source: Source, wanted: int, key: int) -> Choice:
        return choose_landmarks(self.landmarks, source, wanted, key)

    def _sample(self, source: Source, indices: NDArray[np.intp], key: int) -> NDArray[np.intp]:
        """The rows on which the core is fitted, landmarks first."""
        if self.core != "sketch":
            return indices
        return extended(source.draws(key), indices, sample_size(len(indices)))

    def _fit_core(
        self, source: Source, indices: NDArray[np.intp], sample: NDArray[np.intp]
    ) -> Core:
        rank = min(self.n_components, len(indices))
        return fit_core(self.core, source, indices, sample, rank, self.tol)

    def _check_held_out(
        self, source: Source, indices: NDArray, sample: NDArray, core: Core, key: int
    ) -> float:
        return check_held_out(self, source, indices, sample, core, key)

    # --- transform ------------------------------------------------------------------------------

    def _map(self, X: Any) -> NDArray:
        own = np.zeros(_len(X))
        Z = self._project(X, self._left, lambda rows: self._values(X, rows, dual=False), own)
        m, rank = self._left.shape
        if m > rank:  # of a map without landmarks to spare `fit` has judged
            diagonal = None if self._precomputed else self.kernel_.diag
            self._largest = check_new(X, own, self._largest, diagonal)
        return Z

    def _map_dual(self, X: Any) -> NDArray:
        if hasattr(self, "form_"):
            return super()._map_dual(X)
        return self._project(X, self._right, lambda rows: self._values(X, rows, dual=True))

    def _project(
        self,
        X: Any,
        matrix: NDArray,
        values: Callable[[slice], NDArray],
        own: NDArray[np.floating] | None = None,
    ) -> NDArray:
        """Kernel values against the landmarks times a matrix, block by block.

        If the map has a form, `own` is filled with the approximate |k(x, x)|.
        """
        dtype = feature_dtype(X)
        out = np.empty((_len(X), matrix.shape[1]), dtype=dtype)
        matrix = matrix.astype(dtype)
        parts = strips(matrix)
        signs = self.form_.signs.astype(dtype) if hasattr(self, "form_") else None

        def multiply(block: NDArray, rows: slice) -> None:
            for columns, used in parts:
                np.matmul(block[:, used], matrix[used, columns], out=out[rows, columns])
            if signs is not None and own is not None:
                own[rows] = np.abs(np.square(out[rows]) @ signs)

        self._over_blocks(X, values, multiply, len(matrix) * dtype.itemsize)
        return out

    def _over_blocks(
        self,
        X: Any,
        values: Callable[[slice], NDArray],
        work: Callable[[NDArray, slice], None],
        bytes_per_row: int,
    ) -> None:
        """Call `work` on the values of all row blocks, in threads where the data are vectors."""
        if hasattr(X, "shape") and self.kernel_.takes_vectors:
            blocks = row_blocks(_len(X), bytes_per_row, BLOCK_BYTES)
            return over_blocks(lambda rows: work(values(rows), rows), blocks)
        # Functions of the user's are not called from threads; processes are in `kernel_values`. The
        # products are small, and threads of BLAS that wait for more would slow the function.
        for rows in row_blocks(_len(X), bytes_per_row):
            block = values(rows)
            with one_blas_thread():
                work(block, rows)

    def _values(self, X: Any, rows: slice, dual: bool) -> NDArray:
        """Values of some rows against the landmarks, as first or second argument."""
        if self._precomputed:
            return X[rows]
        kernel = self.kernel_.T if dual else self.kernel_
        places = self.component_indices_
        pairs = range(_len(X))[rows], range(len(self._left)) if places is None else places
        if kernel.takes_vectors:
            return check_values(kernel, kernel._block(X[rows], self.landmarks_), *pairs)
        try:
            return kernel_values(kernel, X[rows], self.landmarks_, self.n_jobs)
        except BadPairError as bad:
            raise bad.among(*pairs) from None

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "eigenvalues_")

    def approximate_kernel(self, X: Any, Y: Any = None) -> NDArray:
        """The matrix ``Z(X) M Z(Y)ᵀ`` that approximates k(X, Y); Y = None means X.

        With a precomputed kernel X holds values k(x, training objects); if the kernel is not
        symmetric, Y holds values k(training objects, y), one *row* per y.
        """
        return super().approximate_kernel(X, self._second(X) if Y is None else Y)

    def _second(self, X: Any) -> Any:
        if self._precomputed and not hasattr(self, "form_"):
            return np.asarray(X).T
        return X

    def exact_kernel(self, X: Any, Y: Any = None) -> NDArray:
        """The matrix that `approximate_kernel` approximates."""
        if self._precomputed:
            return np.asarray(X)
        return super().exact_kernel(X, Y)

    def approximate_eigh(self, X: Any) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """An approximate eigendecomposition of k(X, X), largest magnitude first.

        Parameters
        ----------
        X : the data

        Returns
        -------
        values : ndarray of shape (rank,)
            Signed eigenvalues of the approximate matrix.
        vectors : ndarray of shape (n, rank)
            Orthonormal eigenvectors.
        """
        check_is_fitted(self)
        if not hasattr(self, "form_"):
            raise ValueError("A kernel that is not symmetric has no eigendecomposition.")
        Z = self.transform(X).astype(float)
        Q, R = np.linalg.qr(Z)
        P, values, _ = factorise((R * self.form_.signs) @ R.T, True, len(R), self.tol)
        return values, Q @ P

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        rule = RULES.get(self.landmarks) if isinstance(self.landmarks, str) else self.landmarks
        tags.target_tags.required = getattr(rule, "needs_y", False)
        return tags


def feature_dtype(X: Any) -> np.dtype:
    """float32 for rows of float32, else float64."""
    return X.dtype if getattr(X, "dtype", None) == np.float32 else np.dtype(np.float64)
