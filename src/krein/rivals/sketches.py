"""Sketches of polynomial kernels: tensor sketch (TS) and tensorised random projections (TRP)."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.utils._param_validation import Interval

from .._blocks import row_blocks
from .._validation import are_unit, store
from ..forms import Signature
from ..kernels import Kernel, Polynomial
from ..kernels.errors import kernel_name
from ._products import OfProducts, as_polynomial, signs_of
from .signs import draw_signs, sign_products


class _OfPolynomials(OfProducts):
    """A map for the kernels ``factor · (γ⟨x, y⟩ + c)^p`` with γ > 0 and c ≥ 0.

    A subclass defines `_draw`, which draws the map of a polynomial, and `_columns`, its features.
    """

    _parameter_constraints = {
        "kernel": [Kernel, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self, kernel: Kernel | None = None, n_components: int = 256, *, random_state: Any = None
    ):
        store(self, locals())

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        factor, polynomial = self._polynomial(X)
        self._scale = float(np.sqrt(np.abs(factor)))
        self.form_ = Signature(np.repeat(signs_of(factor), self.n_components))
        self._draw(polynomial, X.shape[1], rng)

    def _polynomial(self, X: Any) -> tuple[float, Polynomial]:
        """Return the factor and the polynomial that the kernel is on the rows of X, or raise."""
        found = as_polynomial(self.kernel_, unit_rows=False)
        self._needs_unit_rows = found is None
        owner, name = type(self).__name__, kernel_name(self.kernel_)
        found = found or as_polynomial(self.kernel_, unit_rows=are_unit(X))
        if found is None:
            raise ValueError(
                f"{owner} sketches polynomials (γ⟨x, y⟩ + c)^p, and SphericalPolynomial on rows of "
                f"norm 1, not {name} on these rows: use krein.RandomMaclaurin for other kernels of "
                "⟨x, y⟩, or krein.Nystrom."
            )
        polynomial = found[1]
        polynomial.maclaurin(1)  # raises if a parameter is not a number
        if float(polynomial.gamma) <= 0 or polynomial.coef0 < 0:
            raise ValueError(
                f"{owner} needs gamma > 0 and coef0 ≥ 0, but {name} is (γ⟨x, y⟩ + c)^p with γ = "
                f"{polynomial.gamma:g} and c = {polynomial.coef0:.4g}: use krein.RandomMaclaurin, "
                "which keeps the signs of the coefficients, or krein.Nystrom."
            )
        return found

    def _draw(self, polynomial: Polynomial, dim: int, rng: np.random.Generator) -> None:
        raise TypeError(f"{type(self).__name__} must define _draw.")


class TensorSketch(_OfPolynomials):
    """Tensor sketch (TS) of polynomial kernels, unbiased: scikit-learn's `PolynomialCountSketch`.

    Each of p count sketches adds the entries of ``(√γ x, √c)``, with random signs, into N columns.
    The features are the circular convolution of the p sketches.

    Parameters
    ----------
    kernel : krein.kernels.Kernel, default=None
        A `Polynomial` with γ > 0, c ≥ 0 and a degree of at least 1, a multiple of it, or on rows
        of norm 1 a `SphericalPolynomial` with a ≥ √2; None means ``Polynomial()``.
    n_components : int, default=256
        Number of features N.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    form_ : krein.forms.Signature
        The identity; minus the identity if the kernel is a negative multiple.
    kernel_ : krein.kernels.Kernel
        The kernel that was fitted, with all parameters resolved.
    sketch_ : sklearn.kernel_approximation.PolynomialCountSketch
        The fitted sketch.
    n_features_in_ : int
        Number of columns of the training data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    References
    ----------
    N. Pham, R. Pagh. Fast and Scalable Polynomial Kernels via Explicit Feature Maps. KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Polynomial
    >>> from krein.rivals import TensorSketch
    >>> X = np.random.default_rng(0).random((20, 3))
    >>> TensorSketch(Polynomial(3), 64, random_state=0).fit_transform(X).shape
    (20, 64)
    """

    def _draw(self, polynomial: Polynomial, dim: int, rng: np.random.Generator) -> None:
        if polynomial.degree < 1:
            raise ValueError(
                f"TensorSketch needs a degree of at least 1, but {kernel_name(self.kernel_)} is "
                "constant: use krein.TensorizedProjection, or no features at all."
            )
        sketch = PolynomialCountSketch(
            gamma=float(polynomial.gamma),
            coef0=float(polynomial.coef0),
            degree=int(polynomial.degree),
            n_components=int(self.n_components),
            random_state=int(rng.integers(2**31)),
        )
        self.sketch_ = sketch.fit(np.zeros((1, dim)))

    def _columns(self, X: Any) -> NDArray:
        out = np.empty((X.shape[0], self.form_.width), dtype=X.dtype)
        # scikit-learn holds a complex sketch for each degree.
        bytes_per_row = 48 * self.sketch_.degree * out.shape[1]
        for rows in row_blocks(X.shape[0], bytes_per_row):
            out[rows] = self._scale * self.sketch_.transform(X[rows])
        return out


class TensorizedProjection(_OfPolynomials):
    """Tensorised random projections (TRP) of polynomial kernels, unbiased.

    Each column is ``∏_j ⟨ω_j, (√γ x, √c)⟩/√N`` with p independent vectors ω of random signs. These
    are the columns of `RandomMaclaurin` for a homogeneous polynomial of the longer rows.

    Parameters
    ----------
    kernel : krein.kernels.Kernel, default=None
        A `Polynomial` with γ > 0 and c ≥ 0, a multiple of it, or on rows of norm 1 a
        `SphericalPolynomial` with a ≥ √2; None means ``Polynomial()``.
    n_components : int, default=256
        Number of features N.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    form_ : krein.forms.Signature
        The identity; minus the identity if the kernel is a negative multiple.
    kernel_ : krein.kernels.Kernel
        The kernel that was fitted, with all parameters resolved.
    n_features_in_ : int
        Number of columns of the training data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    References
    ----------
    M. Meister, T. Sarlos, D. Woodruff. Tight Dimensionality Reduction for Sketching Low Degree
    Polynomial Kernels. NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import Polynomial
    >>> from krein.rivals import TensorizedProjection
    >>> X = np.random.default_rng(0).random((20, 3))
    >>> TensorizedProjection(Polynomial(3), 64, random_state=0).fit_transform(X).shape
    (20, 64)
    """

    def _draw(self, polynomial: Polynomial, dim: int, rng: np.random.Generator) -> None:
        degree, self._shift = int(polynomial.degree), float(np.sqrt(polynomial.coef0))
        # The factor γ^(p/2) would overflow for large p, hence each projection has its own √γ.
        self._width = float(np.sqrt(polynomial.gamma))
        degrees = np.full(self.n_components, degree)
        self._signs = draw_signs(degrees, dim + bool(self._shift), rng)

    def _columns(self, X: Any) -> NDArray:
        scales = np.full(self.form_.width, self._scale / np.sqrt(self.form_.width))
        return sign_products(self._width * X, self._signs, scales, self._shift)
