"""Random Maclaurin features (RM)."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._validation import are_unit, store
from ..forms import Signature
from ..kernels import Kernel
from ..kernels._distances import norms
from ..kernels.errors import kernel_name
from ..rows import dense, take
from ._products import SCALE_ROWS, OfProducts, signs_of
from .signs import draw_signs, sign_products

# Number of coefficients of a series. Their sum may differ from the kernel by this share.
N_TERMS, TOLERANCE = 512, 0.05


class RandomMaclaurin(OfProducts):
    """Random Maclaurin features (RM) for kernels of ⟨x, y⟩, unbiased.

    The kernel is ``k(x, y) = Σ_n a_n ⟨x, y⟩^n``. Each column draws a degree n with probability p_n
    and n vectors ω of random signs, and is ``√(|a_n|/(p_n N)) ∏_j ⟨ω_j, x⟩``, where N is the number
    of columns. The authors need a_n ≥ 0, that is a positive definite kernel. Here the sign of a_n
    goes into the form, so kernels with negative coefficients such as `krein.kernels.Sigmoid` have
    features too. The series is cut after 512 terms, which matters only for kernels with a
    singularity: the sum for `krein.kernels.ArcCosine` of order 0 is 1 % below k(x, x). The variance
    may be infinite if ``Σ a_n² (3r⁴)^n/p_n`` diverges, where r is the largest norm of a row.

    Parameters
    ----------
    kernel : krein.kernels.Kernel, default=None
        A kernel of ⟨x, y⟩ whose `maclaurin` coefficients are known; None means ``Polynomial()``.
        On rows of norm 1 it may be a Gaussian, a spherical polynomial or an arc-cosine kernel.
    n_components : int, default=256
        Number of features.
    degrees : {"geometric", "coefficients"}, default="geometric"
        "geometric" draws the degrees with p_n ∝ 2^(−n), as the authors do. "coefficients" draws
        them with ``p_n ∝ |a_n| r^(2n)``, where r is the largest norm of the training rows: all
        columns then have about the same size. Degrees with a_n = 0 are not drawn.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    degrees_ : ndarray of shape (n_components,)
        The degree n of each column, in descending order.
    weights_ : ndarray of shape (n_components,)
        The weights a_n/(p_n N) of the columns.
    form_ : krein.forms.Signature
        The signs of the weights.
    kernel_ : krein.kernels.Kernel
        The kernel that was fitted, with all parameters resolved.
    n_features_in_ : int
        Number of columns of the training data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    See Also
    --------
    TensorizedProjection : All columns have the degree of the polynomial.
    krein.RandomGegenbauer : Features of the same kernels on rows of norm 1, with less variance.

    References
    ----------
    P. Kar, H. Karnick. Random Feature Maps for Dot Product Kernels. AISTATS 2012. Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Sigmoid
    >>> from krein.rivals import RandomMaclaurin
    >>> X = np.random.default_rng(0).random((20, 3))
    >>> features = RandomMaclaurin(Sigmoid(gamma=0.3), 400, random_state=0).fit(X)
    >>> features.form_
    Signature(308+, 92-)
    """

    _parameter_constraints = {
        "kernel": [Kernel, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "degrees": [StrOptions({"geometric", "coefficients"})],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 256,
        *,
        degrees: str = "geometric",
        random_state: Any = None,
    ):
        store(self, locals())

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        series = self._series(X)
        largest = self._check_convergence(series, X)
        used = np.flatnonzero(series) if series.any() else np.zeros(1, dtype=int)
        chances = 0.5 ** used.astype(float)
        if self.degrees == "coefficients" and largest and series.any():
            logs = np.log(np.abs(series[used])) + 2 * used * np.log(largest)
            chances = np.exp(logs - logs.max())
        chances = chances / chances.sum()
        drawn = np.sort(rng.choice(len(used), size=self.n_components, p=chances))[::-1]
        self.degrees_ = used[drawn]
        self.weights_ = series[self.degrees_] / (chances[drawn] * self.n_components)
        self.form_ = Signature(signs_of(self.weights_))
        self._scales = np.sqrt(np.abs(self.weights_))
        self._signs = draw_signs(self.degrees_, X.shape[1], rng)

    def _series(self, X: Any) -> NDArray[np.floating]:
        """Return the coefficients of the kernel on the rows of X, or raise."""
        self._needs_unit_rows = False
        series = self.kernel_.maclaurin(N_TERMS)
        if series is not None:
            return series
        series = self.kernel_.maclaurin(N_TERMS, unit_rows=True)
        name = kernel_name(self.kernel_)
        if series is None:
            raise ValueError(
                f"RandomMaclaurin needs the Maclaurin series of a kernel of ⟨x, y⟩, and none is "
                f"known for {name}: use krein.Nystrom, which only needs kernel values."
            )
        if not are_unit(X):
            raise ValueError(
                f"{name} is a function of ⟨x, y⟩ on rows of norm 1 only, and X has other rows. "
                f"{SCALE_ROWS}"
            )
        self._needs_unit_rows = True
        return series

    def _check_convergence(self, series: NDArray, X: Any) -> float:
        """Return the largest norm of a row x; raise if the sums for ±⟨x, x⟩ are not the kernel."""
        row = take(X, [int(np.argmax(norms(X)))])
        x = dense(row).astype(np.float64)
        exact = self.kernel_(x, np.concatenate([x, -x]))[0]
        with np.errstate(over="ignore", invalid="ignore"):
            products = np.array([1.0, -1.0]) * np.square(x).sum()
            errors = np.abs(np.polynomial.polynomial.polyval(products, series) - exact)
        if not np.all(errors <= TOLERANCE * np.abs(exact).max()):
            raise ValueError(
                f"{N_TERMS} terms of the Maclaurin series of {kernel_name(self.kernel_)} do not "
                f"give the kernel for products of up to {products[0]:.4g}, which rows of X have: "
                "divide the rows by a number of about their norm, or use krein.Nystrom."
            )
        return float(np.sqrt(products[0]))

    def _columns(self, X: Any) -> NDArray:
        return sign_products(X, self._signs, self._scales)
