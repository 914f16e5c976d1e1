"""The kernel of a distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blocks import row_blocks
from .._validation import check_choice, check_finite, check_positive
from ._exp import exp_in_place
from .algebra import _Wrapper
from .base import Kernel
from .custom import Custom

TRANSFORMS = ("exp", "gaussian", "negative", "negative_squared", "max")


class Similarity(_Wrapper):
    """A similarity made of a distance D, in general indefinite.

    Parameters
    ----------
    distance : Kernel or callable
        The distance: `EditDistance`, `DynamicTimeWarping`, `Hausdorff`, any other kernel, or a
        function of blocks ``f(X, Y) -> (len(X), len(Y))``. A function is taken to be symmetric;
        ``Custom(f, symmetric=False)`` says that it is not.
    transform : {"exp", "gaussian", "negative", "negative_squared", "max"}, default="exp"
        exp(−gamma D), exp(−gamma D²), −D, −D²/2 or scale − D.
    gamma : float, default=1.0
        The rate of "exp" and "gaussian".
    scale : float, default=None
        The largest distance, which "max" needs; beyond it the similarity is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Hausdorff, Similarity
    >>> kernel = Similarity(Hausdorff(), "max", scale=10.0)
    >>> kernel([[[0.0, 0]], [[3, 4]]])
    array([[10.,  5.],
           [ 5., 10.]])
    """

    def __init__(
        self,
        distance: Kernel | Callable[[Any, Any], NDArray],
        transform: str = "exp",
        gamma: float = 1.0,
        scale: float | None = None,
    ):
        self.distance = distance
        self.transform = transform
        self.gamma = gamma
        self.scale = scale

    @property
    def kernel(self) -> Kernel:  # type: ignore[override]  # made of the distance, not stored
        if isinstance(self.distance, Kernel):
            return self.distance
        if not callable(self.distance) or isinstance(self.distance, type):
            raise TypeError(
                "Similarity needs a distance that is a kernel or a function of blocks, got "
                f"{self.distance!r}."
            )
        return Custom(self.distance)

    @property
    def has_closed_form(self) -> bool:  # type: ignore[override]  # whatever the distance has
        return False

    def _of(self, D: NDArray, out: NDArray | None = None) -> NDArray:
        """The similarity at the distances D, which are left as they are unless `out` is D."""
        transform = check_choice(self, "transform", self.transform, TRANSFORMS)
        if transform == "negative":
            return np.negative(D, out=out)
        if transform == "max":
            if self.scale is None:
                raise ValueError(
                    "Similarity(transform='max') needs scale, the largest distance there is, so "
                    "that new data are treated as the old."
                )
            return np.subtract(check_finite(self, "scale", self.scale), D, out=out)
        if transform == "negative_squared":
            return np.multiply(np.multiply(D, D, out=out), -0.5, out=out)
        rate = -check_positive(self, "gamma", self.gamma)
        values = np.multiply(D, D, out=out) if transform == "gaussian" else D
        return exp_in_place(np.multiply(values, rate, out=out))

    def __call__(self, X: Any, Y: Any = None) -> NDArray:
        self._of(np.zeros(0))  # the parameters, before the distances are computed
        kernel = self.kernel
        out = kernel(X, Y)
        if type(kernel).__call__ is not Kernel.__call__:
            return self._of(out)  # it may be the caller's matrix; all others are new
        for rows in row_blocks(len(out), out.itemsize * out.shape[1]):
            self._of(out[rows], out=out[rows])
        return out

    def _check_data(self, X: Any, name: str = "X") -> Any:
        self._of(np.zeros(0))
        return self.kernel._check_data(X, name)

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        self._of(np.zeros(0))
        return self.kernel._check_pair(X, Y)

    def _block(self, X: Any, Y: Any) -> NDArray:
        return self._of(self.kernel._block(X, Y))

    def _rows(self, X: Any, rows: slice, Y: Any) -> NDArray:
        return self._of(self.kernel._rows(X, rows, Y))

    def _where(self, X: Any, Y: Any, wanted: NDArray[np.bool_]) -> NDArray[np.floating]:
        return self._of(self.kernel._where(X, Y, wanted))

    def _diagonal(self, X: Any) -> NDArray:
        return self._of(self.kernel._diagonal(X))
