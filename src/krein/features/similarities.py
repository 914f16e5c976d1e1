"""Similarities to landmarks as features: a baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from .._core import Core
from .._validation import store
from ..kernels import Kernel
from ..kernels.values import warn_uninformative
from ..rows import count
from .design import Design
from .landmarks import LandmarkRule
from .nystrom import Nystrom
from .projection import Values, feature_dtype, over_values
from .source import Source


@dataclass(frozen=True)
class PlainDesign(Design):
    """The design of features that are the kernel values themselves, or a multiple of them.

    Attributes
    ----------
    scale : bool
        True if the values are divided by the root of the sum of their variances.
    """

    scale: bool

    def fit(self, source: Source, landmarks: NDArray, sample: NDArray) -> Core:
        """Return the identity, or a multiple of it."""
        m = len(landmarks)
        spread = 1.0
        if self.scale:
            # The landmarks alone need m² values; all rows would double the cost of `fit`.
            values = source.values(landmarks, landmarks)
            warn_uninformative(source.kernel, values)
            with np.errstate(over="ignore"):
                spread = float(np.sqrt(values.var(axis=0).sum())) or 1.0
            if not np.isfinite(spread):
                raise ValueError(
                    f"SimilarityFeatures(scale=True) cannot scale values of {source.kernel!r} as "
                    f"large as {np.abs(values).max():.3g}: scale the data or the kernel first."
                )
        scaled = np.eye(m) / spread
        return Core(scaled, np.ones(m), None if source.is_symmetric else scaled)


class SimilarityFeatures(Nystrom):
    """The similarities to landmarks as features: ``Z(x) = (k(x, z_1), …, k(x, z_m))``.

    This map is a baseline (SF-LSM in the scalable Kreĭn paper) and takes any similarity. A linear
    model on the features uses the kernel ``k(x, Z) k(Z, y)``, which in general is not k: large
    eigenvalues count even more, and the signs are lost. With ``scale=True`` the features have unit
    variance in total, so that a Gaussian kernel on top of them needs no other width::

        make_pipeline(SimilarityFeatures(kernel, 300, scale=True), Nystrom(Gaussian(), 800))

    Parameters
    ----------
    kernel : Kernel or "precomputed", default=None
        The kernel; None means ``Gaussian()``. With "precomputed" the data are kernel values: `fit`
        takes a square matrix, `transform` the values against all training objects or against the
        landmarks alone (``component_indices_``).
    n_components : int, default=100
        Number of landmarks, which is the number of features.
    landmarks : str, LandmarkRule, array-like or callable, default="uniform"
        How landmarks are chosen: "uniform", "residual", "leverage", "kmeans++", "recursive",
        "supervised", "all", indices of rows, objects, or a function ``f(X, n_landmarks)`` that
        returns either. `Nystrom` describes the rules.
    scale : bool, default=False
        True divides the features by the square root of the sum of their variances over the
        landmarks.
    n_jobs : int, default=None
        Number of processes that evaluate a kernel of objects; None means the current process.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    landmarks_ : array-like, sparse matrix or list of objects
        The landmarks; for a precomputed kernel their indices.
    component_indices_ : ndarray of shape (n_components,) or None
        Indices of the landmarks among the training rows; None if objects were passed as landmarks.
    form_ : krein.forms.Signature
        The identity. A kernel that is not symmetric has no form.
    kernel_ : krein.kernels.Kernel
        The kernel that was fitted, with all parameters resolved.
    n_components_ : int
        The number of landmarks that was asked for.
    eigenvalues_ : ndarray of shape (n_components,)
        All ones, because the features are not eigenvectors.
    own_values_ : None
        These features use k(z, z) as it is.
    rank_errors_ : dict
        Empty: the number of landmarks is given.
    n_features_in_ : int
        Number of columns of the training data; absent if the data are a list of objects.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    References
    ----------
    Y. Chen et al. Similarity-based Classification: Concepts and Algorithms. JMLR 10, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import SimilarityFeatures
    >>> from krein.kernels import Gaussian
    >>> X = np.random.default_rng(0).random((50, 3))
    >>> SimilarityFeatures(Gaussian(), n_components=10, random_state=0).fit_transform(X).shape
    (50, 10)
    """

    _parameter_constraints = {
        name: Nystrom._parameter_constraints[name]
        for name in ("kernel", "landmarks", "n_jobs", "random_state")
    } | {"n_components": [Interval(Integral, 1, None, closed="left")], "scale": ["boolean"]}
    n_landmarks = None
    core = "similarities"

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int = 100,
        *,
        landmarks: str | LandmarkRule | ArrayLike | Callable = "uniform",
        scale: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        store(self, locals())

    def _design(self, rank: int) -> Design:
        return PlainDesign(rank, rank, self.core, 0.0, self.scale)

    def _check_informative(self, source: Source, rows: NDArray[np.intp]) -> None:
        """Do nothing: the warning needs values that these features do not compute."""

    def _guard_of(self, *fitted: Any) -> None:
        """Return no guard: features that are kernel values cannot explode."""

    def _project(
        self, X: Any, matrix: NDArray, values: Values, own: NDArray[np.floating] | None = None
    ) -> NDArray:
        """Multiply the values by the scale; a product with a diagonal matrix would cost more."""
        out = np.empty((count(X), len(matrix)), dtype=feature_dtype(X))

        def fill(block: NDArray, rows: slice) -> None:
            np.multiply(block, matrix[0, 0], out=out[rows], casting="same_kind")

        over_values(self.kernel_, X, values, fill, len(matrix) * out.itemsize)
        return out

    def exact_kernel(self, X: Any, Y: Any = None) -> NDArray:
        """Return the kernel of these features, ``k(X, Z) k(Z, Y)``."""
        return self.approximate_kernel(X, Y)
