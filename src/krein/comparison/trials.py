"""One map at a time: fit the map, judge it, and measure its cost."""

from __future__ import annotations

import io
import pickle
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import numpy as np

from .._validation import unit_of
from ..features import FeatureMap, Nystrom
from ..features.base import FewRowsWarning
from ..kernels.errors import BadPairError, placed
from .methods import Method
from .sample import Fold, Sample
from .scores import Scoring


@dataclass(frozen=True)
class Trial:
    """One map that was fitted on some rows and judged on others, or the reason why not.

    Attributes
    ----------
    method : Method
        How the map is made.
    width : int
        The number of features.
    features : FeatureMap or None
        The fitted map; None if the map could not be fitted.
    error : float
        ``‖K̃ − K‖ / ‖K‖`` on the judged rows (Frobenius norm); NaN if K is zero.
    fit_seconds, transform_seconds : float
        The time to fit the map, and to transform the judged rows.
    n_bytes : float
        The size of the fitted map.
    score : float
        The score of a learner on the judged rows.
    note : str
        Why there is no map or no score, or the first warning; empty if there is neither.
    """

    method: Method
    width: int
    features: FeatureMap | None = None
    error: float = np.nan
    fit_seconds: float = np.nan
    transform_seconds: float = np.nan
    n_bytes: float = np.nan
    score: float = np.nan
    note: str = ""


def run_trials(
    sample: Sample,
    methods: Sequence[Method],
    widths: Iterable[int],
    scoring: Scoring | None = None,
    max_seconds: float | None = None,
) -> Iterator[Trial]:
    """Yield a trial of each method at each width with each seed, slow methods last.

    The narrow maps of the fast methods come first, then their wide maps, then the slow methods.

    Parameters
    ----------
    sample : Sample
        The kernel and the rows.
    methods : sequence of Method
        What to try.
    widths : iterable of int
        The numbers of features.
    scoring : Scoring, default=None
        How a learner is scored; None fits no learner.
    max_seconds : float, default=None
        The time after which no further map is fitted; None means no limit.
    """
    begin = time.perf_counter()
    pairs = [(method, width) for width in widths for method in methods]
    for method, width in sorted(pairs, key=lambda pair: pair[0].is_slow):
        for fold in sample.folds:
            if max_seconds is not None and time.perf_counter() - begin >= max_seconds:
                note = f"Not measured within max_seconds = {max_seconds:g}"
                yield Trial(method, width, note=note)
            else:
                yield _trial(method, width, sample, fold, scoring)


def _trial(
    method: Method, width: int, sample: Sample, fold: Fold, scoring: Scoring | None
) -> Trial:
    """Run a trial; a map that refuses the kernel or the rows becomes a note."""
    if not (sample.has_vectors or method.takes_objects):
        kind = "a matrix of kernel values" if sample.kernel.is_pairwise else "objects"
        note = f"{method.name} takes vectors, but the data are {kind}."
        return Trial(method, width, note=note)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # The sample is small on purpose: a map that takes all of its rows needs no warning.
        warnings.simplefilter("ignore", FewRowsWarning)
        try:
            trial = _measured(method, width, sample, fold)
        except BadPairError:
            raise
        except ValueError as refusal:
            return Trial(method, width, note=str(refusal))
        if scoring is not None:
            trial = _scored(trial, sample, fold, scoring)
    notes = [trial.note, *(str(warning.message) for warning in caught)]
    return replace(trial, note=next(filter(None, notes), ""))


def _measured(method: Method, width: int, sample: Sample, fold: Fold) -> Trial:
    features = method.build(sample.kernel, width, fold.seed)
    if isinstance(features, Nystrom) and width > sample.n_fitted:
        raise ValueError(
            f"Width {width} needs at least {width} rows to fit on, got {sample.n_fitted}."
        )
    fitted, judged = (sample.places[some] for some in fold.places)
    with placed(fitted, fitted):
        fit_seconds, _ = _timed(features.fit, fold.fitted)
    with placed(judged, fitted):
        transform_seconds, Z = _timed(features.transform, fold.left)
        dual = features.transform_dual(fold.right)
    approximate = np.asarray(Z, dtype=float) @ np.asarray(dual, dtype=float).T
    unit = unit_of(float(np.abs(fold.K).max()))
    size = float(np.linalg.norm(unit * fold.K))
    error = float(np.linalg.norm(unit * (approximate - fold.K))) / size if size else np.nan
    n_bytes = size_of(features)
    return Trial(method, width, features, error, fit_seconds, transform_seconds, n_bytes)


def _scored(trial: Trial, sample: Sample, fold: Fold, scoring: Scoring) -> Trial:
    assert trial.features is not None
    try:
        return replace(trial, score=scoring.score(trial.features, sample, fold))
    except ValueError as error:
        return replace(trial, note=f"No score: {error}")


def _timed(function: Callable[[Any], Any], argument: Any) -> tuple[float, Any]:
    begin = time.perf_counter()
    found = function(argument)
    return time.perf_counter() - begin, found


class _Sizer(pickle.Pickler):
    """A pickler that leaves functions out: a user's lambda cannot be pickled."""

    def reducer_override(self, value: Any) -> Any:
        return (object, ()) if isinstance(value, FunctionType) else NotImplemented


def size_of(features: FeatureMap) -> float:
    """Return the number of bytes of a pickle of the map, without the code of functions.

    The size is NaN if a part of the map cannot be pickled.
    """
    buffer = io.BytesIO()
    try:
        _Sizer(buffer, protocol=5).dump(features)
    except (TypeError, AttributeError, pickle.PicklingError):
        return np.nan
    return float(buffer.tell())
