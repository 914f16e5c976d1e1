"""The results of the tour as plain data."""

from __future__ import annotations

from typing import NamedTuple

from ..diagnostics import Diagnosis


class Outcome(NamedTuple):
    """What one method reaches on one task.

    Attributes
    ----------
    method : str
        The name of the method.
    accuracy : float
        Share of the test objects whose class is right.
    changed : float
        Share of the predictions that change if the training objects are permuted.
    seconds : float
        Time to learn and to predict.
    """

    method: str
    accuracy: float
    changed: float
    seconds: float


class Contest(NamedTuple):
    """The outcomes of all methods on one task; the first one is that of krein.

    Attributes
    ----------
    name : str
        What the objects are.
    line : str
        The line of krein that solves the task.
    n_train, n_test : int
        Numbers of training and test objects.
    outcomes : tuple of Outcome
        One outcome per method.
    """

    name: str
    line: str
    n_train: int
    n_test: int
    outcomes: tuple[Outcome, ...]


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
        Score of the random features of krein.
    nystrom : Score
        Score of the Nyström features of krein.
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
    nystrom: Score
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
    contests : tuple of Contest
        One contest per task.
    studies : tuple of Study
        One study per kernel.
    n_train : int
        Number of training rows of the studies.
    n_test : int
        Number of test rows of the studies.
    """

    contests: tuple[Contest, ...]
    studies: tuple[Study, ...]
    n_train: int
    n_test: int
