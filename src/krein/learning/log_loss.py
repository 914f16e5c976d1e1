"""The log-loss of a softmax with a slope and offsets, minimised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from .._threads import blas_threads_for

Array = NDArray[np.floating]


def least_log_loss(f: Array, targets: Array, weight: Array, free: Sequence[int]) -> list[float]:
    """Minimise the log-loss of ``P(c) ∝ exp(slope · f_c + offset_c)`` by Newton's method.

    The problem is convex. Conjugate gradients find the steps in a trust region: the second
    derivatives are singular, since equal offsets of all classes change nothing, and SciPy 1.15 may
    never end factorising them.

    Parameters
    ----------
    f : ndarray of shape (n, k)
        The outputs of k classes.
    targets : ndarray of shape (n, k)
        The probabilities to fit; each row sums to one.
    weight : ndarray of shape (n,)
        The weights of the rows.
    free : sequence of int
        Which of (slope, offset_1, …, offset_k) are varied; the others are zero.

    Returns
    -------
    list of float
        The slope and the k offsets.
    """
    from scipy.optimize import minimize

    scale = float(np.abs(f).max(initial=0)) or 1.0
    share, free = weight / weight.sum(), list(free)
    # One row per class: NumPy adds up many short rows slowly.
    f, targets = np.ascontiguousarray(f.T) / scale, np.ascontiguousarray(targets.T)

    def whole(theta: Array) -> Array:
        found = np.zeros(1 + len(f))
        found[free] = theta
        return found

    def scores(theta: Array) -> Array:
        slope, *offsets = whole(theta)
        return slope * f + np.array(offsets)[:, None]

    def loss_and_gradient(theta: Array) -> tuple[float, Array]:
        logs = log_softmax(scores(theta), axis=0)
        rest = share * (np.exp(logs) - targets)
        gradient = np.append((rest * f).sum(), rest.sum(axis=1))[free]
        return -float((targets * logs).sum(axis=0) @ share), gradient

    def hessian(theta: Array) -> Array:
        P = softmax(scores(theta), axis=0)
        weighted = share * P
        apart = f - (P * f).sum(axis=0)
        corner, edge = (weighted * np.square(apart)).sum(), (weighted * apart).sum(axis=1)
        offsets = np.diag(weighted.sum(axis=1)) - weighted @ P.T
        return np.block([[corner, edge], [edge[:, None], offsets]])[np.ix_(free, free)]

    start, options = np.zeros(len(free)), {"gtol": 1e-10, "max_trust_radius": 1e6}
    near = minimize(
        loss_and_gradient, start, jac=True, hess=hessian, method="trust-ncg", options=options
    ).x
    # A Newton step squares the error, so this one leaves rounding errors only.
    near -= _newton_step(hessian(near), loss_and_gradient(near)[1])
    slope, *offsets = whole(near).tolist()
    return [slope / scale, *offsets]


def _newton_step(hessian: Array, gradient: Array) -> Array:
    """Return ``H⁻¹ g``; directions whose curvature is a rounding error are left out.

    Equal offsets of all classes have no curvature, nor has the slope of outputs that are all equal.
    Outputs are at most 1, so a curvature below 1e-24 comes from differences of about 1e-16.
    """
    with blas_threads_for(hessian):
        values, vectors = np.linalg.eigh(hessian)
    curved = values > 1e-24 + 1e-14 * values.max()
    V = vectors[:, curved]
    return V @ (V.T @ gradient / values[curved])
