"""Which approximation of a kernel should I use? A table on your own data."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

from .._hashing import as_generator
from .._validation import ArgumentError, check_count, check_positive
from ..kernels import Kernel
from ..kernels.errors import kernel_name
from ..rows import count
from .measurement import measurements
from .methods import chosen
from .result import Comparison
from .sample import Sample, checked
from .scores import Scoring
from .trials import run_trials

WIDTHS = (16, 64, 256)
N_SEEDS = 3


def compare(
    kernel: Kernel | str,
    X: Any,
    methods: Any = "auto",
    widths: int | Iterable[int] = WIDTHS,
    y: Any = None,
    *,
    learner: Any = None,
    max_rows: int = 1000,
    n_seeds: int = N_SEEDS,
    max_seconds: float | None = None,
    random_state: Any = None,
) -> Comparison:
    """Measure all methods that can approximate a kernel, on the same rows.

    At most `max_rows` distinct rows are drawn by their content and dealt into `n_seeds` folds. The
    map with seed i is fitted on all folds but fold i. Its error is the relative Frobenius error
    ``‖K̃ − K‖ / ‖K‖`` of the kernel matrix of fold i, ``K = k(X_i, X_i)``, which is
    ``krein.approximation_error(features, X_i)``: no map is judged on rows that it has seen. With y,
    a learner is fitted on the features of the same rows and scored on fold i, so that the mean
    score is a cross-validated one.

    Parameters
    ----------
    kernel : Kernel or "precomputed"
        Any kernel, symmetric or not. "precomputed" means that X is a square matrix of values.
    X : array-like, sparse matrix or sequence of objects
        The data; for a precomputed kernel the square matrix of its values. Their order has no
        effect.
    methods : "auto", str, Method or a sequence of these, default="auto"
        Names in `krein.comparison.METHODS`, or `krein.comparison.Method` objects. "auto" takes all
        methods that can serve the kernel: for objects and precomputed matrices only "Nystrom". A
        method that refuses the kernel has a row that says why. Most of the time of "auto" goes into
        the fits of "MixtureFourier".
    widths : int or iterable of int, default=(16, 64, 256)
        Numbers of features. Fourier maps need even numbers, and "Nystrom" needs as many rows.
    y : array-like of shape (n,) or (n, k), default=None
        Labels or numbers to predict; None measures no score.
    learner : estimator, default=None
        A learner of krein with a parameter `features`. None means ridge with tuned penalties:
        `KreinRidgeClassifier` for labels and for whole numbers that occur at least `n_seeds` times
        on average, `KreinRidge` for other numbers, and `TwoSidedRidgeClassifier` or `TwoSidedRidge`
        if the kernel is not symmetric.
    max_rows : int, default=1000
        Largest number of rows.
    n_seeds : int, default=3
        Number of seeds, and of folds.
    max_seconds : float, default=None
        No further map is fitted after this time. Narrow maps come first and "MixtureFourier" comes
        last. None means no limit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sample and of the maps.

    Returns
    -------
    Comparison
        The result, which prints as a table.

    See Also
    --------
    krein.diagnose : The spectrum of a kernel, with the same recommendation.

    Examples
    --------
    >>> import numpy as np, krein
    >>> from krein.kernels import DeltaGaussian
    >>> X = np.random.default_rng(0).random((300, 4))
    >>> methods = ["RandomFourier", "Nystrom"]
    >>> found = krein.compare(DeltaGaussian(), X, methods, widths=[16, 64], random_state=0)
    >>> print(found.advice)
    Nystrom has the least error, ... at width 64. Among the unbiased methods, RandomFourier has...
    """
    if y is None and learner is not None:
        raise ValueError("compare needs y to score a learner, got y=None: pass y, or no learner.")
    rng = as_generator(random_state)
    widths = _checked_widths(widths)
    _check_sizes(max_rows, n_seeds, max_seconds)
    kernel, data = checked("compare", kernel, X)
    kernel = kernel.resolved(data)
    sample = Sample.of(kernel, data, max_rows, n_seeds, rng)
    if len(sample) < 2 * n_seeds:
        raise ValueError(
            f"compare needs at least {2 * n_seeds} distinct rows for n_seeds={n_seeds}, got "
            f"{len(sample)}."
        )
    if not any(fold.K.any() for fold in sample.folds):
        raise ValueError("The kernel is zero on these rows, so no relative error exists.")
    scoring = None if y is None else Scoring.of(learner, y, sample, count(data))
    listed = chosen(methods, sample)
    rows = measurements(run_trials(sample, listed, widths, scoring, max_seconds), listed)
    return Comparison.of(kernel_name(kernel), sample.n_fitted, sample.n_judged, rows)


def _checked_widths(widths: Any) -> list[int]:
    try:
        listed = list(widths)
    except TypeError:  # one number
        listed = [widths]
    whole = [isinstance(width, Integral) and not isinstance(width, bool) for width in listed]
    if not listed or not all(whole) or min(listed) < 1:
        raise ArgumentError("compare", "widths", "one or more whole numbers ≥ 1", widths)
    return sorted({int(width) for width in listed})


def _check_sizes(max_rows: Any, n_seeds: Any, max_seconds: Any) -> None:
    check_count("compare", "max_rows", max_rows, 2)
    check_count("compare", "n_seeds", n_seeds, 2)
    if 2 * n_seeds > max_rows:
        raise ArgumentError("compare", "n_seeds", f"at most half of max_rows={max_rows}", n_seeds)
    if max_seconds is not None:
        check_positive("compare", "max_seconds", max_seconds, " or None")
