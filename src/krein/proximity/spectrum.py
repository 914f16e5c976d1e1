"""Indefinite similarities to positive semi-definite ones."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ._base import (
    Proximity,
    check_symmetric,
    precomputed_rows,
    precomputed_square,
    spectrum,
)


class SpectrumCorrector(Proximity):
    """Make an indefinite similarity matrix positive semi-definite, and new rows with it.

    With ``K = U diag(λ) Uᵀ`` on the training objects, each method replaces λ by g(λ) ≥ 0:

    =========  ==================  ==========================================================
    method     g(λ)                what it says about the negative part
    =========  ==================  ==========================================================
    "flip"     |λ|                 it is information: keep it, with the other sign
    "clip"     max(λ, 0)           it is noise: drop it (the nearest semi-definite matrix)
    "shift"    λ − min(λ, 0)       all pairs but i = i are right: enlarge self-similarities
    "square"   λ²                  compare the rows of K, ``K Kᵀ``, instead of its entries
    =========  ==================  ==========================================================

    New rows go through one fixed matrix, ``K_new ↦ K_new P`` with ``P = U diag(g(λ)/λ) Uᵀ``: it
    maps K to the corrected K, so a training object among the new rows gets its training row. An
    eigenvalue that is zero up to `tol` has no sign: its direction is dropped, also by "shift",
    which is ``K + sI`` (s the size of the most negative eigenvalue) if no eigenvalue is zero.
    Where no eigenvalue is negative there is nothing to correct: flip, clip and shift are the
    identity then, on new rows too.

    This is for learners that need a positive semi-definite matrix, such as
    ``SVC(kernel="precomputed")``; `KreinPCA` keeps the negative part as it is.

    Parameters
    ----------
    method : {"flip", "clip", "shift", "square"}, default="flip"
        The correction.
    tol : float, default=1e-10
        Eigenvalues of at most `tol` times the largest magnitude are zero. "shift" divides by
        the others, which magnifies in new rows whatever the training rows do not span: give it
        a larger one, such as 0.01 (chickenpieces, symmetrised and double-centred, 5-fold
        accuracy of an SVM: 0.31 with 1e-10, 0.90 with 0.01; flip and clip 0.89–0.90 either way).

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n,)
        The eigenvalues of the training matrix before the correction, largest magnitude first.
    negative_mass_ : float
        ``Σ_{λ < 0} |λ| / Σ |λ|``: 0 for a positive semi-definite matrix.
    correction_ : ndarray of shape (n, n)
        The matrix P.
    n_samples_fit_ : int
        Number n of training objects.
    n_features_in_ : int
        The same.

    References
    ----------
    Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi, L. Cazzanti. Similarity-based Classification:
    Concepts and Algorithms. JMLR 10, 2009. Flip, clip, shift, and the linear map of test rows for
    flip and clip. The plain shift K + sI leaves new rows as they are, and so a training object
    among them would be treated differently; here all methods have the linear map.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.proximity import SpectrumCorrector
    >>> K = np.array([[0.0, 1.0], [1.0, 0.0]])  # eigenvalues +1 and −1
    >>> corrector = SpectrumCorrector("flip").fit(K)
    >>> corrector.negative_mass_
    0.5
    >>> np.abs(corrector.transform(K).round(12))
    array([[1., 0.],
           [0., 1.]])
    """

    _parameter_constraints = {
        "method": [StrOptions({"flip", "clip", "shift", "square"})],
        "tol": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(self, method: str = "flip", *, tol: float = 1e-10):
        self.method = method
        self.tol = tol

    def _square(self, X: Any) -> NDArray:
        square = precomputed_square(self, X)
        check_symmetric(self, square)
        return square

    def _rows(self, X: Any) -> NDArray:
        return precomputed_rows(self, X)

    def _learn(self, square: NDArray) -> None:
        found = spectrum(square, self.tol, float(np.abs(square).max()))
        self.eigenvalues_ = found.values
        self.negative_mass_ = found.negative_mass
        if self.method != "square" and self.negative_mass_ == 0:
            self.correction_ = np.eye(len(square))
            return
        kept = found.values[~found.is_zero]
        U = found.vectors[:, ~found.is_zero]
        self.correction_ = (U * self._factors(kept)) @ U.T

    def _factors(self, values: NDArray) -> NDArray:
        """g(λ)/λ for eigenvalues that are not zero."""
        if self.method == "flip":
            return np.sign(values)
        if self.method == "clip":
            return (values > 0).astype(float)
        if self.method == "shift":
            return 1 - values.min() / values
        return values

    def _map(self, rows: NDArray) -> NDArray:
        return (rows @ self.correction_).astype(rows.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags
