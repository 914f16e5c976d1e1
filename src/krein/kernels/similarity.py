"""Similarities that are functions of a distance."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blocks import row_blocks
from .._validation import check_choice, check_finite, check_positive, store
from ._exp import exp_in_place
from .base import Kernel, Known
from .combined import Combined
from .custom import Custom
from .errors import UnresolvedError
from .medians import positive_median, rate_of_median
from .sampling import distinct_pairs, sample_by_content
from .traits import Traits

RATED = ("exp", "gaussian")
TRANSFORMS = ("exp", "gaussian", "negative", "negative_squared", "max")


class Similarity(Combined):
    """A similarity that is a function of a distance D. It is indefinite in general.

    Parameters
    ----------
    distance : Kernel or callable
        The distance D: `EditDistance`, `DynamicTimeWarping`, `Hausdorff`, any other kernel, or a
        function ``f(X, Y)`` that returns the distances as an array of shape (len(X), len(Y)). A
        function is assumed to be symmetric; use ``Custom(f, symmetric=False)`` if it is not.
    transform : {"exp", "gaussian", "negative", "negative_squared", "max"}, default="exp"
        The similarity is exp(−gamma D) for "exp", exp(−gamma D²) for "gaussian", −D for "negative",
        −D²/2 for "negative_squared" and scale − D for "max".
    gamma : "median" or float, default="median"
        The rate of "exp" and "gaussian". "median" computes the rate at which two objects at the
        median distance have the similarity 1/e. The median is taken over all pairs with D > 0 among
        up to 100 objects of the training data. Feature maps and learners compute it in `fit`, and
        their ``kernel_`` contains the number; `resolved` returns a kernel with the number.
    scale : float, default=None
        The distance at which the similarity is zero. It is required for "max" and not used
        otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Hausdorff, Similarity
    >>> kernel = Similarity(Hausdorff(), "max", scale=10.0)
    >>> kernel([[[0.0, 0]], [[3, 4]]])
    array([[10.,  5.],
           [ 5., 10.]])
    >>> Similarity(Hausdorff()).resolved([[[0.0, 0]], [[3, 4]]])  # the median distance is 5
    Similarity(distance=Hausdorff(), gamma=0.2)
    """

    def __init__(
        self,
        distance: Kernel | Callable[[Any, Any], NDArray],
        transform: str = "exp",
        gamma: float | str = "median",
        scale: float | None = None,
    ):
        store(self, locals())

    @property
    def kernel(self) -> Kernel:  # type: ignore[override]  # made of the distance, not stored
        if isinstance(self.distance, Kernel):
            return self.distance
        if not callable(self.distance) or isinstance(self.distance, type):
            raise TypeError(
                "Similarity needs distance to be a kernel or a function f(X, Y) of two lists of "
                f"objects, got {self.distance!r}."
            )
        return Custom(self.distance)

    @property
    def traits(self) -> Traits:
        return replace(super().traits, has_closed_form=False)  # even if the distance has one

    radial_profile = zonal_profile = None  # even if the distance has one

    @property
    def is_resolved(self) -> bool:
        return not self._waits and self.kernel.is_resolved

    @property
    def _waits(self) -> bool:
        """True if gamma depends on data."""
        return self.transform in RATED and isinstance(self.gamma, str) and self.gamma == "median"

    @property
    def _waits_for(self) -> str | None:
        """The parameter that depends on data, for error messages."""
        return "gamma='median'" if self._waits else None

    def _resolved(self, X: Any) -> Similarity:
        return self._resolved_with_values(X)[0]

    def _resolved_with_values(self, X: Any) -> tuple[Similarity, Known | None]:
        found = copy.copy(self)
        if not self.kernel.is_resolved:
            found.distance = self.kernel._resolved(X)
        if not self._waits:
            return found, None
        places, D = found.sampled(X)
        found.gamma = self._rate(D)
        values = found._of(D)
        values[np.isnan(D)] = np.nan
        return found, (places, values)

    def sampled(self, X: Any) -> tuple[NDArray[np.intp], NDArray]:
        """Return the places of up to 100 sampled objects of X, and the distances between them.

        A symmetric distance is evaluated once per pair, and not between an object and itself: the
        diagonal of the returned matrix is NaN.
        """
        chosen = sample_by_content(self.kernel, X)
        return chosen, distinct_pairs(self.kernel, X, chosen)

    def _rate(self, D: NDArray) -> float:
        """Return the rate at which the median of all positive distances has the similarity 1/e."""
        missing = "no two objects with a distance above 0"
        median = positive_median(self, D, "gamma", missing)
        owner = f"{type(self).__name__}(transform={self.transform!r})"
        return rate_of_median(owner, median, self.transform != "exp")

    def _check_parameters(self) -> None:
        transform = check_choice(self, "transform", self.transform, TRANSFORMS)
        if transform in RATED and not self._waits:
            check_positive(self, "gamma", self.gamma, " or 'median'")
        if transform == "max" and self.scale is None:
            raise ValueError(
                "Similarity(transform='max') needs scale, the distance at which the similarity is "
                "zero, so that training data and new data have the same scale."
            )
        if transform == "max":
            check_finite(self, "scale", self.scale)

    def _of(self, *values: NDArray, out: NDArray | None = None) -> NDArray:
        """Return the similarity at the distances, written to `out` if it is given."""
        (D,) = values
        self._check_parameters()
        if self._waits:
            raise UnresolvedError(self)
        if self.transform == "negative":
            return np.negative(D, out=out)
        if self.transform == "max":
            return np.subtract(check_finite(self, "scale", self.scale), D, out=out)
        if self.transform == "negative_squared":
            return np.multiply(np.multiply(D, D, out=out), -0.5, out=out)
        power = np.multiply(D, D, out=out) if self.transform == "gaussian" else D
        return exp_in_place(np.multiply(power, -float(self.gamma), out=out))

    def __call__(self, X: Any, Y: Any = None) -> NDArray:
        self._check_parameters()  # before the distances, which may be slow, are computed
        if Y is not None:
            self._settled(X, Y)
        elif not self.kernel.is_resolved:
            return self.resolved(X)(X)
        kernel = self.kernel
        out = kernel(X, Y)
        rated = self._rated(X, out) if self._waits else self
        if type(kernel).__call__ is not Kernel.__call__:
            return rated._of(out)  # a new array, because `out` may be the caller's matrix
        for rows in row_blocks(len(out), out.itemsize * out.shape[1]):
            rated._of(out[rows], out=out[rows])
        return out

    def _rated(self, X: Any, D: NDArray) -> Similarity:
        """Return the kernel resolved on X, whose distances D are already computed."""
        chosen = sample_by_content(self.kernel, self.kernel._check_data(X))
        found = copy.copy(self)
        found.gamma = self._rate(D[np.ix_(chosen, chosen)])
        return found

    def _check_data(self, X: Any, name: str = "X") -> Any:
        self._check_parameters()
        return super()._check_data(X, name)

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        self._check_parameters()
        return super()._check_pair(X, Y)
