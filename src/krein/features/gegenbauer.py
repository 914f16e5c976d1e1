"""Random features for dot-product kernels on the sphere."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot

from .._blocks import row_blocks
from .._validation import check_unit_rows, store
from ..forms import Signature
from ..kernels import ArcCosine, Kernel
from ..kernels._distances import norms, tamed_rows
from ..measures import zonal
from ..measures.radial import Profile
from ..measures.sphere import EXACT_DEGREES, GegenbauerMeasure
from ..rows import dense
from ..samplers import SAMPLERS, Sampler
from .base import RandomMap, sample_rows
from .calibrate import MAX_ROWS, calibrate_columns
from .geometry import Range, check_products, farthest_on_sphere, measure_extent


class RandomGegenbauer(RandomMap):
    """Random features for kernels of ⟨x, y⟩ on unit rows, by harmonic analysis on the sphere.

    The kernel is expanded in the Legendre polynomials of the dimension,
    ``k(⟨x, y⟩) = Σ_ℓ λ_ℓ P_ℓ(⟨x, y⟩)``, on the range of the products of the data. Degree ℓ is
    represented by columns ``√(|λ_ℓ| N(d, ℓ)/n_ℓ) P_ℓ(⟨x, w⟩)`` with random directions w. Degrees 0
    and 1 are exact: their columns are a constant and x itself. The signs of λ_ℓ go into the form.

    Parameters
    ----------
    kernel : krein.kernels.Kernel, default=None
        A kernel of ⟨x, y⟩ or of ‖x − y‖; None means ``ArcCosine()``.
    n_components : int, default=256
        Number of features. With 1 the only feature is the constant, unless the kernel has none.
    normalize : bool, default=True
        True scales each row to norm 1 first. Rows of zeros stay zero; they are not on the sphere
        and their features have no meaning. False raises an error if a row is not on the sphere.
    sampler : {"iid", "orthogonal", "qmc"} or PointSampler, default="orthogonal"
        How directions are drawn.
    allocation : {"neyman", "equal"}, default="neyman"
        How the degrees share the columns: in proportion to |λ_ℓ|, or equally.
    weights : {"measure", "calibrated"}, default="measure"
        "measure" takes the weights of the measure, which are unbiased. "calibrated" fits one weight
        per column to the kernel on up to 1000 rows.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    directions_ : ndarray of shape (n_random, n_features_in_)
        The random directions w.
    degrees_ : ndarray of shape (n_random,)
        The degree ℓ of each direction.
    weights_ : ndarray of shape (n_components,)
        The signed weight of each column.
    form_ : krein.forms.Signature
        The form M.
    kernel_ : krein.kernels.Kernel
        The kernel that was fitted, with all parameters resolved.
    measure_ : krein.measures.GegenbauerMeasure
        The measure with the masses λ_ℓ.
    total_mass_ : float
        Total mass ``Σ|λ_ℓ|``.
    n_features_in_ : int
        Number of columns of the training data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    See Also
    --------
    RandomFourier : Features on R^d; more accurate for kernels with a kink at x = y.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import RandomGegenbauer
    >>> from krein.kernels import NeuralTangent
    >>> X = np.random.default_rng(0).random((200, 4))
    >>> features = RandomGegenbauer(NeuralTangent(), n_components=64, random_state=0).fit(X)
    >>> features.transform(X).shape
    (200, 64)
    """

    _default_kernel = ArcCosine
    _parameter_constraints = {
        "kernel": [Kernel, None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "normalize": ["boolean"],
        "sampler": [StrOptions(set(SAMPLERS)), Sampler],
        "allocation": [StrOptions({"neyman", "equal"})],
        "weights": [StrOptions({"measure", "calibrated"})],
        "random_state": ["random_state", np.random.Generator],
    }

    measure_: GegenbauerMeasure

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 256,
        *,
        normalize: bool = True,
        sampler: str | Sampler = "orthogonal",
        allocation: str = "neyman",
        weights: str = "measure",
        random_state: Any = None,
    ):
        store(self, locals())

    def _learn(self, X: Any, y: Any, rng: np.random.Generator) -> None:
        self._normalize = self.normalize
        X = self._on_sphere(X)
        extent = measure_extent(X)
        check_products(self.kernel_, extent)
        # ⟨x, y⟩ = 1 − ‖x − y‖²/2 on the sphere.
        diameter = min(extent.diameter or 1.0, 2.0)
        self.measure_ = self.kernel_.zonal_measure(
            X.shape[1], 1 - diameter**2 / 2, n_atoms=self.n_components
        )
        measured, exact = self.measure_.kernel, self.kernel_.zonal_profile
        assert exact is not None  # a kernel without profile has no measure
        reach = farthest_on_sphere(self.kernel_)
        both = _of_distance(measured), _of_distance(exact)
        self._range = Range.of(extent, min(diameter, reach), reach, *both)
        self.total_mass_ = self.measure_.total_mass
        self._draw(X, rng)

    def _draw(self, X: Any, rng: np.random.Generator) -> None:
        """Choose the exact columns and draw directions for the others."""
        X = self._on_sphere(X)
        dim = X.shape[1]
        self._width = self.n_components
        constant, linear = self.measure_.coefficients[:EXACT_DEGREES]
        # x itself takes `dim` columns. Below twice that width, random directions use them better.
        exact_degrees = EXACT_DEGREES if self.n_components >= 2 * (1 + dim) else 1
        self._has_constant = bool(constant)
        self._has_linear = bool(linear) and exact_degrees == EXACT_DEGREES
        exact = [constant] * self._has_constant + [linear] * (dim * self._has_linear)
        rows = sample_rows(X, MAX_ROWS, rng)
        n_random, shares = self.n_components - len(exact), self.allocation
        atoms = self.measure_.atoms(
            n_random, self.sampler, rng, allocation=shares, X=rows, lowest_degree=exact_degrees
        )
        self.directions_, self.degrees_ = atoms.frequencies, atoms.degrees
        # The width is promised, so spare columns of a kernel of degrees 0 and 1 are zero.
        spare = np.zeros(n_random - len(atoms))
        weights = np.concatenate([exact, atoms.weights, spare])
        if self.weights == "calibrated":
            weights = self._calibrated(weights, rows)
        self.weights_ = weights
        self.form_ = Signature(np.where(weights < 0, -1.0, 1.0))
        self._amplitudes = np.sqrt(np.abs(weights))

    def _calibrated(self, weights: NDArray, rows: NDArray) -> NDArray[np.floating]:
        """Return calibrated weights: one per column, and a common one for the columns of x."""
        groups = np.arange(self._width)
        if self._has_linear:
            start = int(self._has_constant)
            groups[start:] = np.maximum(start, groups[start:] - rows.shape[1] + 1)
        first = np.unique(groups, return_index=True)[1]
        K = self.kernel_(rows)
        return calibrate_columns(self._columns(rows), groups, weights[first], K)[groups]

    def exact_kernel(self, X: Any, Y: Any = None) -> NDArray:
        """Return the matrix that `approximate_kernel` approximates, the kernel of the unit rows."""
        left = self._on_sphere(self._validate(X, reset=False))
        right = None if Y is None else self._on_sphere(self._validate(Y, reset=False))
        return super().exact_kernel(left, right)

    def _norms(self, X: Any) -> NDArray:
        """Return the norms of the rows; raise if ``normalize=False`` and a norm is not 1."""
        sizes = norms(X)
        if not self._normalize:
            check_unit_rows(self, sizes, "Pass normalize=True to scale rows to norm 1.")
        return sizes

    def _on_sphere(self, X: Any) -> Any:
        sizes = self._norms(X)
        return _scale(X, sizes) if self._normalize else X

    def _columns(self, X: Any) -> NDArray:
        """Return the unweighted columns 1, x and P_ℓ(⟨x, w⟩)."""
        out = np.zeros((X.shape[0], self._width), dtype=X.dtype)
        at = int(self._has_constant)
        out[:, :at] = 1
        if self._has_linear:
            out[:, at : at + X.shape[1]] = dense(X)
            at += X.shape[1]
        directions = self.directions_.T.astype(X.dtype)
        for degree in np.unique(self.degrees_):
            which = np.flatnonzero(self.degrees_ == degree)
            products = safe_sparse_dot(X, directions[:, which], dense_output=True)
            out[:, at + which] = zonal(X.shape[1], int(degree), np.asarray(products))
        return out

    def _map(self, X: Any) -> NDArray:
        sizes = self._norms(X)
        out = np.empty((X.shape[0], self._width), dtype=X.dtype)
        amplitudes = self._amplitudes.astype(X.dtype)
        for rows in row_blocks(X.shape[0], max(out.shape[1], X.shape[1]) * out.itemsize):
            block = _scale(X[rows], sizes[rows]) if self._normalize else X[rows]
            self._check_range(block)
            np.multiply(self._columns(block), amplitudes, out=out[rows])
        return out


def _of_distance(profile: Profile) -> Profile:
    """Turn a function of ⟨x, y⟩ into a function of the distance of unit rows."""
    return lambda z: profile(1 - z**2 / 2)


def _scale(X: Any, sizes: NDArray) -> Any:
    """Divide rows by their norms; a row of zeros stays as it is."""
    X, exponents = tamed_rows(X)  # the inverse of a very small or large norm is not finite
    sizes = np.ldexp(sizes, -exponents)
    inverse = np.divide(1, sizes, out=np.ones_like(sizes), where=sizes > 0)[:, None]
    return X.multiply(inverse).tocsr() if hasattr(X, "multiply") else X * inverse
