"""The tour: four tasks, then three kernels on the digits of scikit-learn.

On each task krein is compared with common methods. Each kernel is diagnosed. Then the features of
krein and of scikit-learn approximate the kernel at several widths, and a linear model is fitted on
each set of features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import euclidean_distances
from threadpoolctl import threadpool_limits

from .._hashing import as_generator
from ..agreement import approximation_error
from ..diagnostics import diagnose
from ..features import FeatureMap, Nystrom, RandomFourier, RandomGegenbauer
from ..kernels import DeltaGaussian, Gaussian, Kernel, Sigmoid
from .contest import contest
from .data import Split, digits, seed
from .results import Comparison, Contest, Quickstart, Score, Study
from .sentences import listed
from .tasks import TASKS

WIDTHS, QUICK_WIDTHS = (64, 128, 256, 512), (16, 32, 64, 128)
N_TRAIN, QUICK_TRAIN = 1000, 300
N_TEST, QUICK_TEST = 797, 200
# A quick tour divides the number of objects of each task by this number.
QUICK_SHARE = 8
# The random feature maps, by name.
RANDOM = {"RandomFourier": RandomFourier, "RandomGegenbauer": RandomGegenbauer}


def run(
    widths: Sequence[int] | None = None,
    *,
    quick: bool = False,
    random_state: Any = None,
    progress: Callable[[str], None] | None = None,
) -> Quickstart:
    """Solve four tasks; diagnose and approximate three kernels on the digits of scikit-learn.

    The tasks are generated, except for the table, which is part of scikit-learn. The pixels of the
    digits are scaled to [0, 1], and the bandwidth σ is the median distance of the training rows. A
    kernel of ⟨x, y⟩ has random features on the sphere only, so its rows are scaled to norm 1.

    Parameters
    ----------
    widths : sequence of int, default=None
        Numbers of features, all even; None means 64, 128, 256, 512.
    quick : bool, default=False
        True uses fewer rows and features and takes seconds instead of half a minute.
    random_state : int, RandomState, Generator or None, default=None
        Seed of all random numbers.
    progress : callable, default=None
        Called with a short text before each step.

    Returns
    -------
    Quickstart
        The results.
    """
    n_train, n_test = (QUICK_TRAIN, QUICK_TEST) if quick else (N_TRAIN, N_TEST)
    defaults = QUICK_WIDTHS if quick else WIDTHS
    chosen = _check_widths(defaults if widths is None else widths, n_train)
    rng = as_generator(random_state)
    studies, report = [], progress or _silent
    # The matrices are small, so BLAS threads would mostly wait for each other.
    with threadpool_limits(1, "blas"):
        contests = tuple(_contests(quick, rng, report))
        split = digits(n_train, n_test, rng)
        sigma = float(np.median(euclidean_distances(split.train)))
        # A positive definite kernel and two indefinite ones.
        for kernel in (Gaussian(sigma), DeltaGaussian(sigma, 10 * sigma), Sigmoid(1.0, -1.0)):
            report(f"{type(kernel).__name__}: diagnosing, then widths {listed(chosen)}")
            rows = split.on_sphere() if kernel.traits.unit_rows else split
            studies.append(_study(kernel, rows, chosen, rng))
    return Quickstart(contests, tuple(studies), n_train, n_test)


def _silent(text: str) -> None:
    """Report nothing."""


def _contests(quick: bool, rng: Generator, report: Callable[[str], None]) -> Iterator[Contest]:
    for number, (make, n) in enumerate(TASKS, 1):
        task = make(n // QUICK_SHARE if quick else n, rng)
        report(f"Task {number} of {len(TASKS)}: {task.name}")
        yield contest(task, rng)


def _check_widths(widths: Sequence[int], most: int) -> tuple[int, ...]:
    bad = [width for width in widths if width < 2 or width % 2 or width > most]
    if bad or not len(widths):
        given = listed(widths) if len(widths) else "none"
        raise ValueError(f"widths must be even numbers from 2 to {most}, got {given}.")
    return tuple(sorted(set(widths)))


def _study(kernel: Kernel, split: Split, widths: tuple[int, ...], rng: Generator) -> Study:
    diagnosis = diagnose(kernel, split.train, n_components=widths[-1], random_state=rng)
    K = kernel(split.test)
    values, vectors = np.linalg.eigh(K)
    flipped = (vectors * np.abs(values)) @ vectors.T
    # The tour is about random features; `lesson` says what the diagnosis suggests.
    method = min(RANDOM.keys() & diagnosis.errors.keys(), key=lambda name: diagnosis.errors[name])
    rows = tuple(_compare(kernel, split, width, method, K, flipped, rng) for width in widths)
    return Study(type(kernel).__name__, split.data, diagnosis, method, rows)


def _compare(
    kernel: Kernel,
    split: Split,
    width: int,
    method: str,
    K: NDArray,
    flipped: NDArray,
    rng: Generator,
) -> Comparison:
    krein, nystrom = (
        _score(make(kernel, width, random_state=rng).fit(split.train), split)
        for make in (RANDOM[method], Nystrom)
    )
    rbf_sampler = None
    if isinstance(kernel, Gaussian):
        gamma = 1 / (2 * float(kernel.sigma) ** 2)
        sampler = RBFSampler(gamma=gamma, n_components=width, random_state=seed(rng))
        sampler.fit(split.train)
        train, test = sampler.transform(split.train), sampler.transform(split.test)
        rbf_sampler = Score(_distance(test, K, K), split.accuracy(train, test))
    train, test = _nystroem(kernel, split, width, rng)
    nystroem = Score(_distance(test, K, K), split.accuracy(train, test))
    flip_error = _distance(test, flipped, K)
    return Comparison(width, krein, nystrom, rbf_sampler, nystroem, flip_error)


def _score(features: FeatureMap, split: Split) -> Score:
    train, test = features.transform(split.train), features.transform(split.test)
    return Score(approximation_error(features, split.test), split.accuracy(train, test))


def _nystroem(kernel: Kernel, split: Split, width: int, rng: Generator) -> tuple[NDArray, NDArray]:
    """Return the features of scikit-learn's Nystroem for the training and the test rows.

    Landmarks are drawn uniformly, as Nystroem does. Nystroem gets precomputed matrices, because it
    would call a function once per pair of rows, which takes minutes.
    """
    chosen = rng.choice(len(split.train), width, replace=False)
    landmarks = split.train[chosen]
    model = Nystroem(kernel="precomputed", n_components=width, random_state=seed(rng))
    model.fit(kernel(landmarks))
    train, test = (model.transform(kernel(rows, landmarks)) for rows in (split.train, split.test))
    return train, test


def _distance(Z: NDArray, target: NDArray, K: NDArray) -> float:
    """Return ``‖Z Zᵀ − target‖ / ‖K‖``."""
    return float(np.linalg.norm(Z @ Z.T - target) / np.linalg.norm(K))
