"""Checks, warnings and medians of kernel values, before the trials of an automatic learner."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from .._validation import outside_level
from ..kernels import Kernel, Precomputed
from ..kernels.errors import BadPairError, kernel_name, placed
from ..kernels.medians import rate_of_median
from ..kernels.values import (
    UninformativeWarning,
    are_dissimilarities,
    check_values,
    warn_uninformative,
)
from ..proximity import DissimilarityToSimilarity
from ..proximity.errors import BadProximityError
from ..rows import left_of
from ..streaming import Data
from ..streaming.survey import Rows
from .sizes import FEW, N_JUDGED, SAMPLED


def resolved(kernel: Kernel, sample: Rows) -> Kernel:
    """Return a copy of the kernel; parameters that depend on data are taken from the sample."""
    with placed(sample.places, sample.places):
        return clone(kernel).resolved(sample.X)


def warn_of_values(owner: str, kernel: Kernel | str, data: Data, sample: Any) -> None:
    """Warn if the values of a similarity say nothing, or look like dissimilarities.

    Parameters
    ----------
    owner : str
        The name of the learner.
    kernel : Kernel or "precomputed"
    data : Data
    sample : rows
        The objects of which the kernel is evaluated on the first `N_JUDGED`. A matrix is judged as
        a whole, and not if it is large: in a part of a graph few nodes have neighbours.
    """
    kernel = Precomputed() if isinstance(kernel, str) else kernel
    judged = None
    if not kernel.is_pairwise:
        judged = sample[:N_JUDGED]
        K = kernel(judged)
    elif len(data.counted) <= FEW:
        K = left_of(data.memory.X)[np.ix_(data.counted, data.counted)]
    else:
        return
    if are_dissimilarities(K):
        warnings.warn(
            f"{kernel_name(kernel)} has zeros on the diagonal of the kernel matrix and positive "
            f"values beside it, as dissimilarities have, but {owner} takes the values as "
            "similarities: pass dissimilarity=True.",
            UninformativeWarning,
            stacklevel=outside_level(),
        )
    else:
        warn_uninformative(kernel, K, judged)


def warn_of_matrix(owner: str, X: Any) -> None:
    """Warn if a table is a symmetric matrix, as the values of all pairs of objects are."""
    is_square = isinstance(X, np.ndarray) and X.ndim == 2 and 2 < len(X) == X.shape[1]
    if is_square and np.array_equal(X, X.T):
        warnings.warn(
            f"X is a symmetric matrix of {len(X)} rows and columns, but {owner} takes X as a table "
            "of numbers: for values of all pairs of objects pass kernel='precomputed', with "
            "dissimilarity=True if they are dissimilarities.",
            UserWarning,
            stacklevel=outside_level(),
        )


def median_dissimilarity(owner: str, kernel: Kernel | str, data: Data, sample: Any) -> float:
    """Return the median dissimilarity, of sampled objects or of a matrix; values are checked.

    Parameters
    ----------
    owner : str
        The name of the learner, for error messages.
    kernel : Kernel or "precomputed"
    data : Data
    sample : rows
        The objects whose dissimilarities are computed if the kernel is not precomputed.
    """
    places = None  # the indices of a sample mean nothing to the caller
    try:
        if isinstance(kernel, Kernel):
            D = check_values(kernel, kernel(sample[:SAMPLED]))
        else:
            # An error names the place of a bad value in the order of the caller.
            assert data.columns is not None
            places = np.sort(data.columns)
            D = left_of(data.memory.X)[np.ix_(places, places)]
        median = 1 / DissimilarityToSimilarity("exp").fit(D).gamma_
        rate_of_median(f"{owner}(dissimilarity=True)", median, squared=True)  # exp(−γ D²) needs it
        if not isinstance(kernel, Kernel):
            DissimilarityToSimilarity("double_centering").fit(D)  # needs a symmetric matrix
        return median
    except BadPairError as bad:
        raise bad.nowhere() from None
    except BadProximityError as bad:
        raise bad.within(owner, places, "use dissimilarity=False") from None
