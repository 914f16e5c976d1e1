"""What a kernel is.

A kernel is an estimator-like object: it is cloned, printed, compared and grid-searched
(``kernel__sigma``) through scikit-learn's parameter contract, and it is called on data.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from .._blocks import BLOCK_BYTES, row_blocks
from .._validation import NestedParameters, check_choice, check_positive
from ..measures import GegenbauerMeasure, InfiniteMassError, Measure, domain_measure, zonal_measure
from ..published.extension import zero_extension
from ._arithmetic import Arithmetic
from .errors import BadPairError, NoMeasureError, UnresolvedError
from .traits import Traits

Profile = Callable[[NDArray], NDArray]

# Of a matrix that is mirrored so many strips are computed, from the diagonal on.
HALVES = 8

NYSTROM_HINT = "Use a Nyström approximation (krein.Nystrom), which needs only kernel values."


class Kernel(Arithmetic, NestedParameters, BaseEstimator, ABC):
    """A similarity k(x, y), symmetric or not, definite or not.

    Subclasses define `_block` and, where the formula allows, `_diagonal`; kernels with a spectrum
    define `measure`. See CONTRIBUTING for a ten-line example.

    Attributes
    ----------
    traits : Traits
        What the kernel declares about itself: symmetry, domain, kind of data, cost.
    """

    @property
    def traits(self) -> Traits:
        """What the kernel declares about itself; a subclass sets ``traits = Traits(...)``."""
        return Traits()

    @property
    def is_symmetric(self) -> bool:
        """True if k(x, y) = k(y, x)."""
        return self.traits.is_symmetric

    @property
    def takes_vectors(self) -> bool:
        """True if the data are a numeric matrix; False for strings, series and other objects."""
        return self.traits.takes_vectors

    @abstractmethod
    def _block(self, X: Any, Y: Any) -> NDArray:
        """k(x, y) for all rows of X and Y, shape (len(X), len(Y)); inputs are validated."""

    def _rows(self, X: Any, rows: slice, Y: Any) -> NDArray:
        """k of some rows of X against Y."""
        return self._block(X[rows], Y)

    def _where(self, X: Any, Y: Any, wanted: NDArray[np.bool_]) -> NDArray[np.floating]:
        """k(x_i, y_j) at least for the pairs that the mask marks, NaN where it is not computed.

        Kernels compute blocks, so rows that want about the same columns are computed together with
        all the columns that one of them wants. `Pairwise` computes the marked pairs alone.

        Parameters
        ----------
        X, Y : validated data of n and m objects
        wanted : ndarray of bool of shape (n, m)
        """
        out = np.full(wanted.shape, np.nan)
        counts = wanted.sum(axis=1)
        parts = 1 if wanted.all() else HALVES
        for rows in np.array_split(np.argsort(counts, kind="stable"), parts):
            columns = np.flatnonzero(wanted[rows].any(axis=0))
            if not len(columns):
                continue
            try:
                out[np.ix_(rows, columns)] = self(_take(X, rows), _take(Y, columns))
            except BadPairError as bad:
                raise bad.among(rows, columns) from None
        return out

    def _diagonal(self, X: Any) -> NDArray:
        """k(x, x) for all rows of X."""
        return np.array([self._block(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(_len(X))])

    def _check_data(self, X: Any, name: str = "X") -> Any:
        """Validate X: a finite float32/float64 matrix, dense or CSR."""
        return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name)

    def takes_matrix(self, X: Any) -> bool:
        """Whether X is, for this kernel, a numeric matrix and not a collection of objects."""
        return self.takes_vectors

    def _check_pair(self, X: Any, Y: Any) -> tuple[Any, Any]:
        X = self._check_data(X)
        if Y is None:
            return X, X
        Y = self._check_data(Y, "Y")
        matrices = getattr(X, "ndim", 0) == 2 and getattr(Y, "ndim", 0) == 2
        if matrices and X.shape[1] != Y.shape[1]:
            raise ValueError(
                f"{type(self).__name__} compares rows of equal width, but X has "
                f"{X.shape[1]} columns and Y has {Y.shape[1]}."
            )
        return X, Y

    def __call__(self, X: Any, Y: Any = None) -> NDArray:
        """The kernel matrix k(X, Y), computed in row blocks.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or a sequence of objects
        Y : the same, default=None
            None means X.

        Returns
        -------
        ndarray of shape (n, m)
            float32 if both inputs are, else float64.

        Raises
        ------
        UnresolvedError
            If a parameter is to be taken from data and Y is given; see `resolved`.
        """
        kernel = self._settled(X, Y)
        if kernel is not self:
            return kernel(X)
        left, right = self._check_pair(X, Y)
        n, m = _len(left), _len(right)
        dtype = _common_dtype(left, right)
        out = np.empty((n, m), dtype=dtype)
        half = Y is None and self.traits.mirrors and self.is_symmetric
        budget = min(BLOCK_BYTES, out.nbytes // HALVES) if half else BLOCK_BYTES
        for rows in row_blocks(n, m * dtype.itemsize, budget):
            if half:
                out[rows, rows.start :] = self._rows(left, rows, left[rows.start :])
                out[rows.stop :, rows] = out[rows, rows.stop :].T
            else:
                block = self._rows(left, rows, right)
                with np.errstate(over="ignore"):  # of float32
                    out[rows] = block
        if Y is None and n and self.traits.fills_diagonal:
            # Distances computed from products are off by round-off at x = y; the diagonal is not.
            with np.errstate(over="ignore"):  # of float32
                np.fill_diagonal(out, self._diagonal(left))
        return out

    def diag(self, X: Any) -> NDArray:
        """k(x, x) for the rows of X, without the matrix."""
        if not self.is_resolved:
            raise UnresolvedError(self)
        X = self._check_data(X)
        with np.errstate(over="ignore"):
            return np.asarray(self._diagonal(X), dtype=_common_dtype(X))

    # --- parameters that wait for data ----------------------------------------------------------

    @property
    def is_resolved(self) -> bool:
        """Whether all parameters are known; False while one, such as a rate, waits for data."""
        return all(part.is_resolved for part in kernel_parameters(self).values())

    @property
    def is_pairwise(self) -> bool:
        """Whether the data are a square matrix with one row and one column per object."""
        return any(part.is_pairwise for part in kernel_parameters(self).values())

    def resolved(self, X: Any) -> Kernel:
        """The kernel with numbers in place of all parameters that are to be taken from data.

        ``Similarity(distance)`` has the rate ``gamma="median"``; in the kernel that `resolved`
        returns it is one over the median distance of up to 100 objects of X, which are drawn by
        their content. Sums, products, multiples, transposes and parts of kernels resolve the
        kernels that they are made of. Whatever is fitted on X resolves its kernel on X.

        Parameters
        ----------
        X : the data, as in a call of the kernel

        Returns
        -------
        Kernel
            The kernel itself if no parameter waits for data.

        Examples
        --------
        >>> from krein.kernels import EditDistance, Similarity
        >>> Similarity(EditDistance()).resolved(["cat", "cats", "at", "dog"]).gamma
        0.4
        """
        return self if self.is_resolved else self._resolved(self._check_data(X))

    def _resolved(self, X: Any) -> Kernel:
        """A copy in which each kernel among the parameters is resolved on X, which is validated."""
        found = copy.copy(self)
        for name, part in kernel_parameters(self).items():
            setattr(found, name, part if part.is_resolved else part._resolved(X))
        return found

    def _settled(self, X: Any, Y: Any = None) -> Kernel:
        """The kernel that a call evaluates: resolved on X where X is all data that there are."""
        if self.is_resolved or Y is None:
            return self.resolved(X)
        raise UnresolvedError(self)

    # --- spectrum -------------------------------------------------------------------------------

    @property
    def radial_profile(self) -> Profile | None:
        """k as a function of z = ‖x − y‖, None if it is not one (`unit_rows`: on the sphere)."""
        return None

    @property
    def zonal_profile(self) -> Profile | None:
        """k as a function of u = ⟨x, y⟩ for unit rows, None if it is not one."""
        radial = self.radial_profile
        if radial is None:
            return None
        return lambda u: radial(np.sqrt(np.maximum(2 - 2 * np.asarray(u), 0)))

    def measure(
        self,
        dim: int,
        diameter: float | None = None,
        *,
        extension: str = "domain",
        jacobian: bool = True,
        n_atoms: int = 128,
    ) -> Measure:
        """The spectral measure of the kernel in dimension `dim`.

        Parameters
        ----------
        dim : int
            Number of columns of the data.
        diameter : float, default=None
            The data's diameter, beyond which the kernel need not be right. Kernels with a
            closed form ignore it; kernels on the sphere take 2 for None.
        extension : {"domain", "zero"}, default="domain"
            "domain" is the measure of least mass that is right up to `diameter`; "zero", the
            papers' extension by zero, is a baseline.
        jacobian : bool, default=True
            With ``extension="zero"``: False repeats the paper's sampling without r^(d−1).
        n_atoms : int, default=128
            Frequencies that will be drawn: the accuracy of the programme is chosen for them.

        Raises
        ------
        NoMeasureError
            If the kernel has no spectral measure.
        InfiniteMassError
            If its mass is infinite.
        """
        check_choice(self, "extension", extension, ("domain", "zero"))
        traits = self.traits
        if traits.has_closed_form:
            return self._closed_form(dim)
        profile = _quiet(self.radial_profile)
        if profile is None:
            raise NoMeasureError(f"{self!r} has no spectral measure: none is known. {NYSTROM_HINT}")
        if diameter is None:
            if not traits.unit_rows:
                raise ValueError(
                    f"{type(self).__name__}.measure needs diameter, the largest distance between "
                    "rows: without it this kernel has no finite measure."
                )
            diameter = 2.0
        check_positive(self, "diameter", diameter)
        if traits.unit_rows:
            diameter = min(diameter, float(np.sqrt(2 - 2 * traits.lowest_product)))
        if extension == "domain" and traits.unit_rows and diameter >= 2 and self._antipodal(dim):
            raise InfiniteMassError(
                f"No measure of finite mass represents {self!r} in dimension {dim} once the data "
                "reach the antipode ‖x − y‖ = 2: it is singular there. Use a Nyström "
                "approximation, RandomGegenbauer, or data of a smaller range."
            )
        if extension == "zero":
            return zero_extension(profile, dim, 2.0 if traits.unit_rows else diameter, jacobian)
        return domain_measure(profile, dim, diameter, n_atoms, self._infinite_cause(diameter))

    def _antipodal(self, dim: int) -> bool:
        """Whether the kernel's singularity at ‖x − y‖ = 2 makes its mass infinite.

        Near the antipode the kernel is ``(2 − z)^s``, so the radial density of any extension falls
        like ``r^((d−3)/2 − s)``, which is not integrable for s < (d − 1)/2 (at equality its
        integral grows like a logarithm only, and the programme decides).
        """
        return (
            self.traits.antipodal_exponent is not None
            and self.traits.antipodal_exponent < (dim - 1) / 2
        )

    def _closed_form(self, dim: int) -> Measure:
        raise NoMeasureError(f"{type(self).__name__} has no closed-form measure.")

    def zonal_measure(
        self, dim: int, lowest: float = -1.0, *, n_atoms: int = 128
    ) -> GegenbauerMeasure:
        """The measure of the kernel on the unit sphere, right for products in [lowest, 1]."""
        profile = _quiet(self.zonal_profile)
        if profile is None:
            raise NoMeasureError(
                f"{self!r} is not a function of ⟨x, y⟩ on unit rows, so it has no measure on the "
                f"sphere. {NYSTROM_HINT}"
            )
        lowest = max(lowest, self.traits.lowest_product)
        cause = f"{self!r} is singular or kinked on [{lowest:.3g}, 1]."
        return zonal_measure(profile, dim, lowest, n_atoms, cause)

    def _infinite_cause(self, diameter: float) -> str:
        return f"{self!r} has a jump, kink or singularity on [0, {diameter:.4g}]."

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel) or type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.get_params(False), other.get_params(False)
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        # Parameters may change, the type does not; scikit-learn looks callables up in sets.
        return hash(type(self))


def _quiet(profile: Profile | None) -> Profile | None:
    """The profile, which may be infinite without a word: whoever takes its values looks at them."""
    return None if profile is None else np.errstate(over="ignore")(profile)


def kernel_parameters(kernel: Kernel) -> dict[str, Kernel]:
    """The parameters of a kernel that are kernels themselves, by name."""
    found = kernel.get_params(deep=False)
    return {name: value for name, value in found.items() if isinstance(value, Kernel)}


def _len(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _take(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some of the objects."""
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]


def _common_dtype(*arrays: Any) -> np.dtype:
    dtypes = [a.dtype for a in arrays if isinstance(a, np.ndarray) or sparse.issparse(a)]
    if dtypes and all(dtype == np.float32 for dtype in dtypes):
        return np.dtype(np.float32)
    return np.dtype(np.float64)
