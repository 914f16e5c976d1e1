"""What the automatic learners take from kernel values before any trial."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..kernels import Kernel
from ..kernels.errors import BadPairError, placed
from ..kernels.values import check_values
from ..proximity import DissimilarityToSimilarity
from ..proximity.errors import BadProximityError
from ..rows import left_of
from ..streaming import Data
from ..streaming.survey import Rows
from .sizes import SAMPLED


def resolved(kernel: Kernel, sample: Rows) -> Kernel:
    """Return a copy of the kernel; parameters that depend on data are taken from the sample."""
    with placed(sample.places, sample.places):
        return clone(kernel).resolved(sample.X)


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
            DissimilarityToSimilarity("double_centering").fit(D)  # needs a symmetric matrix
        return 1 / DissimilarityToSimilarity("exp").fit(D).gamma_
    except BadPairError as bad:
        raise bad.nowhere() from None
    except BadProximityError as bad:
        raise bad.within(owner, places, "use dissimilarity=False") from None
