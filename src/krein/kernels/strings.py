"""Edit distances between strings; the only file that imports rapidfuzz."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import check_choice, check_n_jobs
from .base import Kernel
from .traits import Traits

METRICS = ("levenshtein", "normalized", "jaro_winkler", "lcs")


def _rapidfuzz() -> tuple[Any, dict[str, Any]]:
    """Return rapidfuzz's function for all pairs, and its scorer for each metric."""
    try:
        from rapidfuzz import distance, process
    except ImportError as error:
        raise ImportError(
            "EditDistance needs rapidfuzz: install it with  pip install 'krein[strings]'."
        ) from error
    return process.cdist, {
        "levenshtein": distance.Levenshtein.distance,
        "normalized": distance.Levenshtein.normalized_distance,
        "jaro_winkler": distance.JaroWinkler.distance,
        "lcs": distance.LCSseq.distance,
    }


class EditDistance(Kernel):
    """A distance between strings, computed by rapidfuzz.

    The data are a list, tuple, array or Series of strings. ``-EditDistance()`` and
    ``Similarity(EditDistance())`` are indefinite similarities.

    Parameters
    ----------
    metric : {"levenshtein", "normalized", "jaro_winkler", "lcs"}, default="levenshtein"
        The distance between two strings. Two empty strings have the distance 0.

        - "levenshtein": the number of insertions, deletions and substitutions.
        - "normalized": the Levenshtein distance divided by the length of the longer string.
        - "jaro_winkler": one minus the Jaro-Winkler similarity.
        - "lcs": the length of the longer string minus the length of the longest common subsequence.
    n_jobs : int, default=1
        Number of threads; -1 means all cores.

    Examples
    --------
    >>> from krein.kernels import EditDistance
    >>> EditDistance()(["ACGT", "AGT"], ["ACT"])
    array([[1.],
           [1.]])
    """

    traits = Traits(takes_vectors=False, mirrors=True)

    def __init__(self, metric: str = "levenshtein", n_jobs: int = 1):
        self.metric = metric
        self.n_jobs = n_jobs

    def _check_data(self, X: Any, name: str = "X") -> list[str]:
        check_choice(self, "metric", self.metric, METRICS)
        check_n_jobs(self, self.n_jobs)
        shape = getattr(X, "shape", (0,))
        if isinstance(X, str | bytes) or not hasattr(X, "__len__") or len(shape) != 1:
            got = f"an array of shape {tuple(shape)}" if len(shape) != 1 else repr(X)
            raise TypeError(f"EditDistance needs {name} to be a sequence of strings, got {got}.")
        strings = list(X)
        if not strings:
            raise ValueError(f"EditDistance needs at least one string, but {name} is empty.")
        # Comparing the types alone is fast. The loop runs only if some item is not a plain string.
        for i, string in enumerate(strings if set(map(type, strings)) != {str} else ()):
            if not isinstance(string, str):
                raise TypeError(
                    f"EditDistance needs strings, but item {i} of {name} is {string!r}: convert "
                    "all items first, e.g. with str."
                )
        return strings

    def _block(self, X: Any, Y: Any) -> NDArray:
        cdist, scorers = _rapidfuzz()
        return cdist(X, Y, scorer=scorers[self.metric], dtype=np.float64, workers=self.n_jobs)

    def _diagonal(self, X: Any) -> NDArray:
        return np.zeros(len(X))
