"""Random features for the arc-cosine kernel: a random layer of ReLU or step units."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.extmath import safe_sparse_dot

from .._validation import store
from ..forms import Signature
from ..kernels import ArcCosine, Kernel
from ..samplers import PointSampler, as_sampler
from .base import FeatureMap


class RandomArcCosine(FeatureMap):
    """Random ReLU units, ``Z_j(x) = √(2/m) max(0, w_j·x)`` with w_j ~ N(0, I).

    The map is unbiased for the arc-cosine kernel of order 1, ``‖x‖‖y‖ (cos θ (π − θ) + sin θ)/π``
    with the angle θ between x and y. Step units ``√(2/m) [w_j·x > 0]`` are unbiased for the kernel
    of order 0, ``1 − θ/π``. The rows need not have norm 1. On unit rows `RandomGegenbauer`
    approximates the same kernels with a smaller error.

    Parameters
    ----------
    n_components : int, default=256
        Number m of units.
    order : {0, 1}, default=1
        0 for step units, 1 for ReLU units.
    sampler : {"iid", "orthogonal", "qmc"} or PointSampler, default="iid"
        How the directions w_j are drawn.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    directions_ : ndarray of shape (n_components, n_features_in_)
        The directions w_j.
    form_ : krein.forms.Signature
        The identity.
    kernel_ : krein.kernels.ArcCosine
        The kernel.
    n_features_in_ : int
        Number of columns of the training data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    See Also
    --------
    RandomGegenbauer : Features for kernels of ⟨x, y⟩ on the sphere.

    References
    ----------
    Y. Cho, L. Saul. Kernel Methods for Deep Learning. NIPS 2009. Eq. 1 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import RandomArcCosine
    >>> X = np.random.default_rng(0).random((200, 4))
    >>> features = RandomArcCosine(n_components=64, random_state=0).fit(X)
    >>> features.transform(X).shape
    (200, 64)
    """

    _parameter_constraints = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "order": [Options(Integral, {0, 1})],
        "sampler": [StrOptions({"iid", "orthogonal", "qmc"}), PointSampler],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_components: int = 256,
        *,
        order: int = 1,
        sampler: str | PointSampler = "iid",
        random_state: Any = None,
    ):
        store(self, locals())

    def _resolved_kernel(self) -> Kernel:
        return ArcCosine(self.order)

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        sampler = as_sampler(self.sampler)
        self.directions_ = sampler.points(self.n_components, X.shape[1], rng)
        self.form_ = Signature(np.ones(self.n_components))

    def _map(self, X: Any) -> NDArray:
        scale = np.sqrt(2 / len(self.directions_)).astype(X.dtype)
        directions = self.directions_.T.astype(X.dtype)
        Z = np.asarray(safe_sparse_dot(X, directions, dense_output=True))
        if self.kernel_.order == 0:
            return (Z > 0) * scale
        np.maximum(Z, 0, out=Z)
        Z *= scale
        return Z
