"""The results of the tour as plain data."""

from __future__ import annotations

from typing import NamedTuple

from ..diagnostics import Diagnosis


class Score(NamedTuple):
    """The quality of one set of features.

    Attributes
    ----------
    error : float
        Relative Frobenius error of the kernel matrix of the test rows.
    accuracy : float
        Share of the test rows that a linear model on the features classifies correctly.
    """

    error: float
    accuracy: float


class Comparison(NamedTuple):
    """The scores of all feature maps at one width.

    Attributes
    ----------
    width : int
        Number of features.
    krein : Score
        Score of the features of krein.
    rbf_sampler : Score or None
        Score of RBFSampler; None if the kernel is not a Gaussian.
    nystroem : Score
        Score of scikit-learn's Nystroem on the same kernel.
    nystroem_flip_error : float
        Distance of the matrix of Nystroem from |K|, relative to ‖K‖. It is small if Nystroem
        flips the negative eigenvalues of K.
    """

    width: int
    krein: Score
    rbf_sampler: Score | None
    nystroem: Score
    nystroem_flip_error: float


class Study(NamedTuple):
    """The diagnosis of one kernel and the scores of its features.

    Attributes
    ----------
    name : str
        Name of the class of the kernel.
    data : str
        How the rows are scaled.
    diagnosis : Diagnosis
        The result of `krein.diagnose`.
    method : str
        The random feature map with the least error in the diagnosis.
    comparisons : tuple of Comparison
        One comparison per width, in ascending order.
    """

    name: str
    data: str
    diagnosis: Diagnosis
    method: str
    comparisons: tuple[Comparison, ...]

    @property
    def verdict(self) -> str:
        """Kind of the kernel: "positive definite" or "indefinite"."""
        return "positive definite" if self.diagnosis.is_positive_definite else "indefinite"


class Quickstart(NamedTuple):
    """The results of the whole tour.

    Attributes
    ----------
    studies : tuple of Study
        One study per kernel.
    n_train : int
        Number of training rows.
    n_test : int
        Number of test rows.
    """

    studies: tuple[Study, ...]
    n_train: int
    n_test: int
