"""Concomitant rank order features (CRO)."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, next_fast_len
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot

from .._blocks import row_blocks
from .._validation import store
from ..features import FeatureMap
from ..forms import Signature
from ..kernels import Kernel, OrthantProbability, Scaled
from ..kernels._distances import tamed_rows
from ..kernels.errors import kernel_name
from ..rows import dense
from ._products import signs_of


class ConcomitantRankOrder(FeatureMap):
    """Concomitant rank order features (CRO): sparse binary features of the direction of a row.

    A row x has N random projections. The τ columns with the smallest projections are ``1/√N`` and
    all other columns are 0, so the product of the features of x and y is the share of columns that
    both rows choose. As N grows with α = τ/N fixed, this share converges to the kernel
    `krein.kernels.OrthantProbability`, which is a function of the angle between x and y. The bias
    is of the order 1/N.

    Parameters
    ----------
    kernel : krein.kernels.OrthantProbability, default=None
        The kernel or a multiple of it; None means ``OrthantProbability()``. The number τ of chosen
        columns is α N, rounded, and at least 1. The features of ``c * kernel`` are multiplied by
        √|c|, and the sign of c is in `form_`.
    n_components : int, default=256
        Number of features N. The authors take many more columns than other maps need, because the
        features are sparse.
    projection : {"gaussian", "cosine"}, default="gaussian"
        "gaussian" multiplies the rows by N independent normal vectors. "cosine" repeats x and −x,
        permutes their entries at random and takes the discrete cosine transform, as the authors
        do: it needs no matrix. Its projections are only approximately normal.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    form_ : krein.forms.Signature
        The identity; its negative for a negative multiple of the kernel.
    kernel_ : krein.kernels.Kernel
        The limit of the features, with α = τ/N.
    n_chosen_ : int
        The number τ of chosen columns of a row.
    n_features_in_ : int
        Number of columns of the training data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    References
    ----------
    K. Eshghi, M. Kafai. The CRO Kernel: Using Concomitant Rank Order Hashes for Sparse High
    Dimensional Randomized Feature Maps. ICDE 2016.

    M. Kafai, K. Eshghi. CROification: Accurate Kernel Classification with the Efficiency of Sparse
    Linear SVM. IEEE TPAMI 41(1), 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import OrthantProbability
    >>> from krein.rivals import ConcomitantRankOrder
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> features = ConcomitantRankOrder(OrthantProbability(0.05), 1000, random_state=0).fit(X)
    >>> Z = features.transform(X)
    >>> (Z > 0).sum(axis=1)[:4]
    array([50, 50, 50, 50])
    >>> bool(np.abs(Z @ Z.T - features.kernel_(X)).max() < 0.02)
    True
    """

    _parameter_constraints = {
        "kernel": [Kernel, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "projection": [StrOptions({"gaussian", "cosine"})],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 256,
        *,
        projection: str = "gaussian",
        random_state: Any = None,
    ):
        store(self, locals())

    def _resolved_kernel(self) -> Kernel:
        if self.kernel is None:
            return OrthantProbability()
        if isinstance(_multiple(self.kernel)[1], OrthantProbability):
            return self.kernel
        raise ValueError(
            "ConcomitantRankOrder approximates krein.kernels.OrthantProbability only, not "
            f"{kernel_name(self.kernel)}: use krein.RandomFourier or krein.Nystrom."
        )

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        n, dim = int(self.n_components), X.shape[1]
        factor, kernel = _multiple(self.kernel_)
        kernel.diag(np.ones((1, 1)))  # raises if alpha is not a number from 0 to 1
        self.n_chosen_ = max(round(kernel.alpha * n), 1)
        limit = OrthantProbability(self.n_chosen_ / n)
        self.kernel_ = limit if factor == 1 else factor * limit
        self.form_ = Signature(np.repeat(signs_of(factor), n))
        self._value = float(np.sqrt(np.abs(factor) / n))
        self._directions, self._places = None, np.arange(0)
        if self.projection == "gaussian":
            self._directions = rng.standard_normal((dim, n))
        else:
            # The first output of the transform is the sum of x and −x, which is zero.
            self._places = rng.permutation(next_fast_len(max(n + 1, 2 * dim), real=True))

    def _projections(self, X: Any) -> NDArray[np.floating]:
        """Return the N projections of the rows in float64, where almost no two are equal."""
        if self._directions is not None:
            return safe_sparse_dot(X, self._directions, dense_output=True)
        rows = dense(X)
        both = np.hstack([rows, -rows])
        copies = len(self._places) // both.shape[1]
        long = np.zeros((len(rows), len(self._places)))
        long[:, self._places[: copies * both.shape[1]]] = np.tile(both, copies)
        return dct(long, axis=1, overwrite_x=True)[:, 1 : self.form_.width + 1]

    def _map(self, X: Any) -> NDArray:
        n = self.form_.width
        out = np.zeros((X.shape[0], n), dtype=X.dtype)
        for rows in row_blocks(X.shape[0], 24 * n):
            # Only the direction of a row matters, so rows of any size have finite projections.
            values = self._projections(tamed_rows(X[rows].astype(np.float64))[0])
            chosen = np.argpartition(values, self.n_chosen_ - 1, axis=1)[:, : self.n_chosen_]
            np.put_along_axis(out[rows], chosen, self._value, axis=1)
        return out


def _multiple(kernel: Any) -> tuple[float, Any]:
    """Return the factor c and the kernel k of a kernel ``c · k``."""
    if not isinstance(kernel, Scaled):
        return 1.0, kernel
    factor, inner = _multiple(kernel.kernel)
    return kernel._by * factor, inner
