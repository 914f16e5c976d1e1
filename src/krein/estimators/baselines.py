"""Baseline for an indefinite similarity: correct its spectrum, then fit an ordinary SVM."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.svm import SVC
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._columns import check_numeric_columns
from .._hashing import Hashes, hash_pairs, hash_rows
from .._threads import blas_threads_for
from .._validation import NestedParameters, all_or_nothing, own, store
from ..kernels import Gaussian, Kernel, Precomputed
from ..kernels.custom import is_precomputed
from ..kernels.values import check_values, warn_uninformative
from ..learning import Calibration, calibrated
from ..proximity import SpectrumCorrector
from ..streaming import Folds, HeldOut
from ._certainty import Certainty

# The number of folds of a calibration.
N_FOLDS = 5


class CorrectedSVC(Certainty, NestedParameters, ClassifierMixin, BaseEstimator):
    """A support vector machine on the corrected spectrum of the whole kernel matrix.

    This class is a baseline. It evaluates all n² kernel values, makes the matrix positive
    semi-definite by one correction of its eigenvalues, and minimises the hinge loss with libsvm.
    With ``correction="flip"`` it has the same predictions as the Kreĭn SVM of Loosli et al.
    (Prop. 3 of the scalable Kreĭn paper).

    Parameters
    ----------
    kernel : Kernel or "precomputed", default=None
        The kernel. None means ``Gaussian()``. With "precomputed", X is the matrix of kernel values.
    correction : {"flip", "clip", "shift", "square", "none"}, default="flip"
        The correction of the eigenvalues λ, see `krein.SpectrumCorrector`. "flip" takes their
        absolute values, "clip" takes max(λ, 0), "shift" subtracts the smallest eigenvalue from all,
        and "square" takes λ². "none" leaves the matrix indefinite, so that the result depends on
        the order of the rows.
    C : float, default=1.0
        The weight of the hinge loss, as in `sklearn.svm.SVC`.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class. "balanced" uses factors inversely proportional to the class
        frequencies.
    max_iter : int, default=-1
        The largest number of iterations of libsvm. −1 means no limit.
    calibrate : bool, default=False
        True if five more machines, each without a fifth of the rows, are fitted for
        `predict_proba`. The spectrum is corrected once, for all rows.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The class labels.
    svc_ : sklearn.svm.SVC
        The support vector machine on the corrected matrix.
    corrector_ : krein.SpectrumCorrector or None
        The correction of the spectrum; None for ``correction="none"``.
    kernel_ : Kernel
        The kernel with all parameters that are estimated from the data.
    n_iter_ : int
        The largest number of iterations of libsvm over the pairs of classes.
    rows_ : array-like, sparse matrix, list of objects or None
        A copy of the training rows; None for a precomputed kernel.
    n_features_in_ : int
        The number of columns of X; absent if X is a list of objects.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    References
    ----------
    G. Loosli, S. Canu, C. S. Ong. Learning SVM in Kreĭn Spaces. TPAMI 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import CorrectedSVC
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> y = X[:, 0] > X[:, 1]
    >>> model = CorrectedSVC(DeltaGaussian(0.5, 5.0), correction="clip").fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _parameter_constraints = {
        "kernel": [Kernel, StrOptions({"precomputed"}), None],
        "correction": [StrOptions({"flip", "clip", "shift", "square", "none"})],
        "C": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "calibrate": ["boolean"],
    }

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        *,
        correction: str = "flip",
        C: float = 1.0,
        class_weight: Any = None,
        max_iter: int = -1,
        calibrate: bool = False,
    ):
        store(self, locals())

    @property
    def _precomputed(self) -> bool:
        return is_precomputed(self.kernel)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model to the kernel values of all pairs of rows.

        There is no `sample_weight`: repeating a row changes the spectrum of the matrix, but a
        weight of two does not.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or list of n objects
            The training rows. For a precomputed kernel, the square matrix of kernel values.
        y : array-like of shape (n,)
            The class labels.

        Returns
        -------
        self : CorrectedSVC
        """
        with blas_threads_for(X), all_or_nothing(self):
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        kernel = self.kernel if isinstance(self.kernel, Kernel) else None
        kernel = kernel or (Precomputed() if self._precomputed else Gaussian())
        if kernel.takes_matrix(X):
            check_numeric_columns(self, X)
            X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], accept_sparse="csr")
        check_classification_targets(y)
        if len(np.unique(y)) < 2:
            raise ValueError("CorrectedSVC needs at least two classes, got one class.")
        # The kernel and the rows are copied, since the caller may change the originals.
        self.kernel_ = clone(kernel).resolved(X)
        self.rows_ = None if self._precomputed else own(X)
        K = check_values(self.kernel_, np.asarray(self.kernel_(X), dtype=float))
        warn_uninformative(self.kernel_, K, X)
        self.corrector_ = None
        if self.correction != "none":
            # "shift" divides by eigenvalues, so small eigenvalues need a larger tolerance.
            tol = 0.01 if self.correction == "shift" else 1e-10
            self.corrector_ = SpectrumCorrector(self.correction, tol=tol)
            K = self.corrector_.fit(K).transform(K)
        self.svc_ = self._machine().fit(K, y)
        self.n_iter_ = max(1, int(np.max(self.svc_.n_iter_)))
        self.classes_ = self.svc_.classes_
        self.__dict__.pop("_calibration", None)  # of an earlier fit
        if self.calibrate:
            hashes = hash_pairs(K) if self._precomputed else hash_rows(self.rows_)
            self._calibration = self._calibrated(K, np.searchsorted(self.classes_, y), hashes)

    def _machine(self) -> SVC:
        return SVC(
            C=self.C,
            kernel="precomputed",
            class_weight=self.class_weight,
            max_iter=self.max_iter,
            break_ties=True,  # so that `predict` names the largest decision value
        )

    def _calibrated(self, K: NDArray, codes: NDArray[np.intp], hashes: Hashes) -> Calibration:
        """Calibrate the decision values of held-out rows; classes are given by their indices."""
        k = len(self.classes_)
        held, places = HeldOut(1 if k == 2 else k), Folds.deal(hashes, codes, N_FOLDS, 0)(hashes)
        for number in range(N_FOLDS):
            train, test = np.flatnonzero(places != number), np.flatnonzero(places == number)
            if len(test) and len(np.unique(codes[train])) == k:
                machine = self._machine().fit(K[np.ix_(train, train)], codes[train])
                found = machine.decision_function(K[np.ix_(test, train)]).reshape(len(test), -1)
                held.add(hashes[test], found, np.tile(codes[test, None], found.shape[1]) + 0.0)
        outputs, Y, weight = held.rows
        if not len(weight):
            raise ValueError(
                "CorrectedSVC(calibrate=True) needs at least two distinct rows of each class: use "
                "calibrate=False."
            )
        return calibrated(outputs, Y[:, 0].astype(np.intp), weight)

    @property
    def _is_calibrated(self) -> bool:
        return bool(self.calibrate)

    def _values(self, X: Any) -> NDArray:
        check_is_fitted(self)
        if self.kernel_.takes_matrix(X):
            X = validate_data(
                self, X, reset=False, dtype=[np.float64, np.float32], accept_sparse="csr"
            )
        with blas_threads_for(X):
            K = X if self._precomputed else check_values(self.kernel_, self.kernel_(X, self.rows_))
            return np.asarray(K if self.corrector_ is None else self.corrector_.transform(K))

    def decision_function(self, X: Any) -> NDArray:
        """Return the decision values of libsvm.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or list of n objects
            The rows. For a precomputed kernel, the kernel values against the training rows.

        Returns
        -------
        ndarray of shape (n,) for two classes, or (n, k) for k classes
        """
        K = self._values(X)  # raises NotFittedError before `fit`
        with blas_threads_for(K):
            return self.svc_.decision_function(K)

    def predict(self, X: Any) -> NDArray:
        """Return the predicted class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or list of n objects
            The rows. For a precomputed kernel, the kernel values against the training rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        K = self._values(X)
        with blas_threads_for(K):
            return self.svc_.predict(K)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags
