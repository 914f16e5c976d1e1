"""How well features agree with their kernel, and a kernel with classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._blocks import row_blocks
from ._validation import ArgumentError, check_kernel, unit_of
from .features import FeatureMap
from .kernels import Kernel
from .rows import count
from .spectral.labels import class_codes


def approximation_error(features: FeatureMap, X: Any, Y: Any = None) -> float:
    """Return the relative Frobenius error ``‖K̃ − K‖ / ‖K‖`` of a fitted feature map.

    Parameters
    ----------
    features : FeatureMap
        A fitted feature map.
    X : array-like, sparse matrix or sequence of objects
        First argument of the kernel.
    Y : array-like, sparse matrix or sequence of objects, default=None
        Second argument; None means X.

    Returns
    -------
    float
        The error. The matrices are compared in row blocks.

    Examples
    --------
    >>> import numpy as np, krein
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> features = krein.RandomFourier(n_components=256, random_state=0).fit(X)
    >>> krein.approximation_error(features, X) < 0.1
    True
    """
    data = _sliceable(X)
    right = data if Y is None else _sliceable(Y)
    n, m = count(data), count(right)
    dual = features.transform_dual(features._second(right) if Y is None else right)
    error, size, unit = 0.0, 0.0, None
    for rows in row_blocks(n, 8 * max(m, 1)):
        block = data[rows]
        exact = features.exact_kernel(block, right)
        # The squares of tiny or huge values would vanish or overflow.
        unit = unit_of(float(np.abs(exact).max(initial=0))) if unit is None else unit
        # As an array, because the user may have configured scikit-learn to return data frames.
        Z = np.asarray(features.transform(block))
        error += float(np.sum((unit * (Z @ dual.T - exact)) ** 2, dtype=float))
        size += float(np.sum((unit * exact) ** 2, dtype=float))
    if size == 0:
        raise ValueError("The kernel is zero on these rows, so no relative error exists.")
    return float(np.sqrt(error / size))


def alignment(
    kernel_or_features: Kernel | FeatureMap, X: Any, y: Any, centered: bool = False
) -> float:
    """Return the alignment of a kernel with classes, ``⟨K, T⟩ / (‖K‖ ‖T‖)``.

    ``T = Y Yᵀ`` has the entry 1 for two rows of one class and ``−1/(c − 1)`` for rows of different
    classes; for two classes the alignment is ``yᵀKy / (n ‖K‖)``. The function computes the whole
    kernel matrix.

    Parameters
    ----------
    kernel_or_features : Kernel or fitted FeatureMap
        The kernel, or the map whose approximate kernel counts.
    X : array-like, sparse matrix or sequence of objects
        The data.
    y : array-like of shape (n,)
        The classes.
    centered : bool, default=False
        True centres K and T first (Cortes, Mohri and Rostamizadeh, JMLR 2012).

    Examples
    --------
    >>> import krein
    >>> round(krein.alignment(krein.kernels.Gaussian(), [[0.0], [0.1], [3.0]], [0, 0, 1]), 2)
    0.74
    """
    found, codes = class_codes("alignment", count(_sliceable(X)), y)
    is_map = isinstance(kernel_or_features, FeatureMap)
    if not is_map and not isinstance(kernel_or_features, Kernel):
        check_kernel("alignment", kernel_or_features)
        needed = "a kernel object, Precomputed() for a matrix of values, or a fitted feature map"
        raise ArgumentError("alignment", "kernel_or_features", needed, kernel_or_features)
    K = kernel_or_features.approximate_kernel(X) if is_map else kernel_or_features(X)
    # The squares of tiny or huge values would vanish or overflow.
    K = K * unit_of(float(np.abs(K).max(initial=0)))
    T = (len(found) * (codes[:, None] == codes) - 1.0) / (len(found) - 1)
    if centered:
        K, T = (A - A.mean(axis=0) - A.mean(axis=1)[:, None] + A.mean() for A in (K, T))
    size = float(np.linalg.norm(K) * np.linalg.norm(T))
    return float(np.sum(K * T)) / size if size else 0.0


def _sliceable(X: Any) -> Any:
    """Return X in a form whose rows can be sliced."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    return X if hasattr(X, "shape") else list(X)
