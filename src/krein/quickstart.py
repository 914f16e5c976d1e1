"""The tour behind ``krein quickstart``: three kernels on scikit-learn's digits.

Each kernel is diagnosed, then approximated at several widths by krein's features and by
scikit-learn's, and a linear model is fitted on each. The result is plain data: `krein.cli` prints
it and `krein.plots` draws it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import RidgeClassifierCV
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from ._validation import as_generator
from .diagnostics import Diagnosis, approximation_error, diagnose
from .features import FeatureMap, RandomFourier, RandomGegenbauer
from .kernels import DeltaGaussian, Gaussian, Kernel, Sigmoid

WIDTHS, QUICK_WIDTHS = (64, 128, 256, 512), (16, 32, 64, 128)
N_TRAIN, QUICK_TRAIN = 1000, 300
N_TEST, QUICK_TEST = 797, 200
# The features have about unit norm; the penalty is chosen on the training rows alone.
PENALTIES = np.logspace(-6, 0, 7)


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

    @property
    def lesson(self) -> str:
        """What the figures say, in one sentence."""
        widest = self.comparisons[-1]
        krein, nystroem = widest.krein, widest.nystroem
        parts = [f"krein's {self.method} is off by {percent(krein.error)}"]
        owner = "scikit-learn's"
        if widest.rbf_sampler is not None:
            parts.append(f"{owner} RBFSampler by {percent(widest.rbf_sampler.error)}")
            owner = "its"
        last = f"{owner} Nystroem by {percent(nystroem.error)}"
        if widest.nystroem_flip_error < nystroem.error / 2:
            last += (
                ", because it silently flips the negative part (it is "
                f"{percent(widest.nystroem_flip_error)} off |k|)"
            )
        return (
            f"{self.name} is {self.verdict} – {self.diagnosis.evidence} – and at width "
            f"{widest.width} {', '.join(parts)} and {last}; a linear model on them is right on "
            f"{percent(krein.accuracy)} (krein) and {percent(nystroem.accuracy)} (Nystroem) of "
            "the test rows."
        )


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

    @property
    def lessons(self) -> list[str]:
        """One sentence per kernel."""
        return [study.lesson for study in self.studies]


def percent(share: float) -> str:
    """A share as per cent in two or three digits: 0.0123 is "1.2%", 0.973 is "97.3%"."""
    value = 100 * share
    digits = 0 if value >= 99.95 else 1 if value >= 0.95 else 2
    return f"{value:.{digits}f}%"


def run(
    widths: Sequence[int] | None = None,
    *,
    quick: bool = False,
    random_state: Any = None,
    progress: Callable[[str], None] | None = None,
) -> Quickstart:
    """Diagnose and approximate three kernels on scikit-learn's digits.

    Pixels are scaled to [0, 1] and the bandwidth σ is the median distance of the training rows.
    Kernels of ⟨x, y⟩ have random features on the sphere only, so their rows are scaled to norm 1.

    Parameters
    ----------
    widths : sequence of int, default=None
        Numbers of features, even; None is 64, 128, 256, 512.
    quick : bool, default=False
        Fewer rows and narrower features: seconds instead of half a minute.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    progress : callable, default=None
        Is told, in a few words, what is being done.

    Returns
    -------
    Quickstart
    """
    n_train, n_test = (QUICK_TRAIN, QUICK_TEST) if quick else (N_TRAIN, N_TEST)
    chosen = _check_widths(
        (QUICK_WIDTHS if quick else WIDTHS) if widths is None else widths, n_train
    )
    rng = as_generator(random_state)
    # The matrices are small: BLAS threads would wait for each other more than they work.
    with threadpool_limits(1, "blas"):
        return _run(chosen, n_train, n_test, rng, progress or _silent)


def _silent(_: str) -> None:
    """No progress is shown."""


def _run(
    widths: tuple[int, ...],
    n_train: int,
    n_test: int,
    rng: np.random.Generator,
    progress: Callable[[str], None],
) -> Quickstart:
    split = _digits(n_train, n_test, rng)
    sigma = float(np.median(euclidean_distances(split.train)))
    kernels: list[Kernel] = [
        Gaussian(sigma),
        DeltaGaussian(sigma, 10 * sigma),
        Sigmoid(gamma=1.0, coef0=-1.0),
    ]
    studies = []
    for kernel in kernels:
        progress(f"{type(kernel).__name__}: diagnosing, then widths {_listed(widths)}")
        rows = split.on_sphere() if kernel.traits.unit_rows else split
        studies.append(_study(kernel, rows, widths, rng))
    return Quickstart(tuple(studies), n_train, n_test)


@dataclass(frozen=True)
class _Split:
    """Training and test rows with their classes."""

    train: NDArray[np.float64]
    test: NDArray[np.float64]
    train_classes: NDArray
    test_classes: NDArray
    data: str = "pixels in [0, 1]"

    def on_sphere(self) -> _Split:
        rows = normalize(self.train), normalize(self.test)
        note = f"{self.data}, rows scaled to norm 1"
        return _Split(*rows, self.train_classes, self.test_classes, note)

    def accuracy(self, train: NDArray, test: NDArray) -> float:
        """Of a linear model on the given features."""
        model = RidgeClassifierCV(PENALTIES).fit(train, self.train_classes)
        return float(model.score(test, self.test_classes))


def _digits(n_train: int, n_test: int, rng: np.random.Generator) -> _Split:
    X, y = load_digits(return_X_y=True)
    train, test, train_classes, test_classes = train_test_split(
        X / 16, y, train_size=n_train, test_size=n_test, stratify=y, random_state=_seed(rng)
    )
    return _Split(train, test, train_classes, test_classes)


def _check_widths(widths: Sequence[int], most: int) -> tuple[int, ...]:
    bad = [width for width in widths if width < 2 or width % 2 or width > most]
    if bad or not len(widths):
        given = _listed(widths) if len(widths) else "none"
        raise ValueError(f"widths must be even numbers from 2 to {most}, got {given}.")
    return tuple(sorted(set(widths)))


def _study(
    kernel: Kernel, split: _Split, widths: tuple[int, ...], rng: np.random.Generator
) -> Study:
    diagnosis = diagnose(kernel, split.train, n_components=widths[-1], random_state=rng)
    K = kernel(split.test)
    values, vectors = np.linalg.eigh(K)
    flipped = (vectors * np.abs(values)) @ vectors.T
    comparisons = tuple(
        _compare(kernel, split, width, diagnosis.suggested_method, K, flipped, rng)
        for width in widths
    )
    name = type(kernel).__name__
    return Study(name, split.data, diagnosis, diagnosis.suggested_method, comparisons)


def _compare(
    kernel: Kernel,
    split: _Split,
    width: int,
    method: str,
    K: NDArray,
    flipped: NDArray,
    rng: np.random.Generator,
) -> Comparison:
    features = _krein_features(kernel, width, method, rng).fit(split.train)
    krein = Score(
        approximation_error(features, split.test),
        split.accuracy(features.transform(split.train), features.transform(split.test)),
    )
    rbf_sampler = None
    if isinstance(kernel, Gaussian):
        gamma = 1 / (2 * kernel.sigma**2)
        sampler = RBFSampler(gamma=gamma, n_components=width, random_state=_seed(rng))
        sampler.fit(split.train)
        train, test = sampler.transform(split.train), sampler.transform(split.test)
        rbf_sampler = Score(_distance(test, K, K), split.accuracy(train, test))
    train, test = _nystroem(kernel, split, width, rng)
    nystroem = Score(_distance(test, K, K), split.accuracy(train, test))
    return Comparison(width, krein, rbf_sampler, nystroem, _distance(test, flipped, K))


def _krein_features(
    kernel: Kernel, width: int, method: str, rng: np.random.Generator
) -> FeatureMap:
    if method == "RandomGegenbauer":
        return RandomGegenbauer(kernel, width, random_state=rng)
    return RandomFourier(kernel, width, random_state=rng)


def _nystroem(
    kernel: Kernel, split: _Split, width: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """scikit-learn's Nystroem features of the training and the test rows.

    Its landmarks are drawn uniformly, as it does. The matrices are handed over precomputed: a
    callable would be called once per pair of rows, which takes minutes.
    """
    chosen = rng.choice(len(split.train), width, replace=False)
    landmarks = split.train[chosen]
    model = Nystroem(kernel="precomputed", n_components=width, random_state=_seed(rng))
    model.fit(kernel(landmarks))
    train, test = (model.transform(kernel(rows, landmarks)) for rows in (split.train, split.test))
    return train, test


def _distance(Z: NDArray, target: NDArray, K: NDArray) -> float:
    """``‖Z Zᵀ − target‖ / ‖K‖``."""
    return float(np.linalg.norm(Z @ Z.T - target) / np.linalg.norm(K))


def _seed(rng: np.random.Generator) -> int:
    """scikit-learn takes no Generator."""
    return int(rng.integers(2**31))


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)
