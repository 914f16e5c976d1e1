"""What the tour found, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from ..diagnostics import Diagnosis


@dataclass(frozen=True)
class Score:
    """How well one set of features did.

    Attributes
    ----------
    error : float
        Relative Frobenius error of the kernel matrix of the test rows.
    accuracy : float
        Share of the test rows that a linear model on the features gets right.
    """

    error: float
    accuracy: float


@dataclass(frozen=True)
class Comparison:
    """All features of one width.

    Attributes
    ----------
    width : int
    krein : Score
    rbf_sampler : Score or None
        None where the kernel is not a Gaussian, the only one that RBFSampler knows.
    nystroem : Score
        scikit-learn's Nystroem on the same kernel.
    nystroem_flip_error : float
        Distance of Nystroem's matrix from |K|, relative to ‖K‖: small if it flipped K.
    """

    width: int
    krein: Score
    rbf_sampler: Score | None
    nystroem: Score
    nystroem_flip_error: float


@dataclass(frozen=True)
class Study:
    """One kernel: what it is, and how its features did.

    Attributes
    ----------
    name : str
        Class of the kernel.
    data : str
        How the rows were prepared.
    diagnosis : Diagnosis
    method : str
        The feature map that `diagnose` suggested.
    comparisons : tuple of Comparison
        By width, ascending.
    """

    name: str
    data: str
    diagnosis: Diagnosis
    method: str
    comparisons: tuple[Comparison, ...]

    @property
    def verdict(self) -> str:
        """What kind of kernel it is: positive definite or indefinite."""
        return "positive definite" if self.diagnosis.is_positive_definite else "indefinite"


@dataclass(frozen=True)
class Quickstart:
    """The whole tour.

    Attributes
    ----------
    studies : tuple of Study
    n_train, n_test : int
        Rows that features and models were fitted on, and rows that they were judged on.
    """

    studies: tuple[Study, ...]
    n_train: int
    n_test: int
