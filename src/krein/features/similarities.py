"""Similarities as features: a baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels import Kernel
from .cores import Core
from .landmarks import LandmarkRule
from .nystrom import Nystrom
from .source import Source


class SimilarityFeatures(Nystrom):
    """``Z(x) = (k(x, z_1), …, k(x, z_m))``: the similarities to landmarks, as they are.

    A baseline (SF-LSM in the scalable Kreĭn paper). It takes any similarity, and what a linear
    learner on it has is the kernel ``k(x, Z) k(Z, y)``, in general not k: large eigenvalues count
    even more, and the signs are lost.

    Parameters
    ----------
    kernel : Kernel or "precomputed", default=None
        None is ``Gaussian()``.
    n_components : int, default=100
        Number of landmarks, hence of features.
    landmarks : str, LandmarkRule, array-like or callable, default="uniform"
        See `Nystrom`; "all" is the whole matrix.
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
    }
    n_landmarks = None

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_components: int = 100,
        *,
        landmarks: str | LandmarkRule | ArrayLike | Callable = "uniform",
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.landmarks = landmarks
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _wanted(self) -> int:
        return self.n_components

    def _fit_core(self, source: Source, indices: NDArray[np.intp], key: int) -> Core:
        m = len(indices)
        return Core(np.eye(m), np.eye(m), np.ones(m))

    def exact_kernel(self, X: Any, Y: Any = None) -> NDArray:
        """The kernel of these features is what they give: ``k(X, Z) k(Z, Y)``."""
        return self.approximate_kernel(X, Y)
