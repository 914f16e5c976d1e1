"""Similarities as features: a baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import Core
from ..kernels import Kernel
from ..kernels.base import _len
from ..kernels.values import warn_uninformative
from .landmarks import LandmarkRule
from .nystrom import Nystrom, feature_dtype
from .source import Source


class SimilarityFeatures(Nystrom):
    """``Z(x) = (k(x, z_1), …, k(x, z_m))``: the similarities to landmarks, as they are.

    A baseline (SF-LSM in the scalable Kreĭn paper). It takes any similarity, and what a linear
    learner on it has is the kernel ``k(x, Z) k(Z, y)``, in general not k: large eigenvalues count
    even more, and the signs are lost. With ``scale=True`` a Gaussian on top of them has a width in
    units of the data, which makes a learner of any shape from a few similarities per object::

        make_pipeline(SimilarityFeatures(kernel, 300, scale=True), Nystrom(Gaussian(), 800))

    Parameters
    ----------
    kernel : Kernel or "precomputed", default=None
        None is ``Gaussian()``.
    n_components : int, default=100
        Number of landmarks, hence of features.
    landmarks : str, LandmarkRule, array-like or callable, default="uniform"
        See `Nystrom`; "all" is the whole matrix.
    scale : bool, default=False
        Divide by the root of the sum of the features' variances over the landmarks.
    n_jobs : int, default=None
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    landmarks_, component_indices_, form_ : see `Nystrom`

    References
    ----------
    Y. Chen et al. Similarity-based Classification: Concepts and Algorithms. JMLR 10, 2009.
    """

    _parameter_constraints = {
        name: Nystrom._parameter_constraints[name]
        for name in ("kernel", "n_components", "landmarks", "n_jobs", "random_state")
    } | {"scale": ["boolean"]}
    n_landmarks = None

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
        self.kernel = kernel
        self.n_components = n_components
        self.landmarks = landmarks
        self.scale = scale
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _wanted(self) -> int:
        return self.n_components

    def _sample(self, source: Source, indices: NDArray[np.intp], key: int) -> NDArray[np.intp]:
        return indices

    def _check_held_out(self, *arguments: Any) -> float:
        return np.inf  # the values themselves cannot explode

    def _fit_core(
        self, source: Source, indices: NDArray[np.intp], sample: NDArray[np.intp]
    ) -> Core:
        m = len(indices)
        spread = 1.0
        if self.scale:
            # Over the landmarks only: m² values, where all rows would double the cost of a fit.
            values = source.values(indices, indices)
            warn_uninformative(self.kernel_, values)
            with np.errstate(over="ignore"):
                spread = float(np.sqrt(values.var(axis=0).sum())) or 1.0
            if not np.isfinite(spread):
                raise ValueError(
                    f"SimilarityFeatures(scale=True) cannot scale values of {self.kernel_!r} as "
                    f"large as {np.abs(values).max():.3g}: scale the data or the kernel first."
                )
        return Core(np.eye(m) / spread, np.eye(m) / spread, np.ones(m))

    def _project(
        self,
        X: Any,
        matrix: NDArray,
        values: Callable[[slice], NDArray],
        own: NDArray[np.floating] | None = None,
    ) -> NDArray:
        """The values times the scale: a product with the identity would cost more."""
        out = np.empty((_len(X), len(matrix)), dtype=feature_dtype(X))

        def fill(block: NDArray, rows: slice) -> None:
            np.multiply(block, matrix[0, 0], out=out[rows], casting="same_kind")

        self._over_blocks(X, values, fill, len(matrix) * out.itemsize)
        return out

    def exact_kernel(self, X: Any, Y: Any = None) -> NDArray:
        """The kernel of these features is what they give: ``k(X, Z) k(Z, Y)``."""
        return self.approximate_kernel(X, Y)
