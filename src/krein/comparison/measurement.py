"""One method at one width: what its trials found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .methods import Method
from .trials import Trial


@dataclass(frozen=True)
class Measurement:
    """One method at one width: a row of a `Comparison`.

    Attributes
    ----------
    method : str
        The name of the method.
    width : int
        The number of features.
    error : float
        The mean of `errors`; NaN if the method was not measured.
    errors : tuple of float
        The relative Frobenius error ``‖K̃ − K‖ / ‖K‖`` on held-out rows, for each seed.
    fit_seconds : float
        The median time to fit the map.
    transform_seconds : float
        The median time to transform the held-out rows.
    bytes : float
        The mean size of the fitted map: the number of bytes of its pickle. NaN if the map cannot be
        pickled.
    data_dependent : bool
        True if the map is fitted to kernel values. False if only the range of the data matters.
    unbiased : bool
        True if the mean of the approximate kernel over all seeds is the kernel.
    score : float
        The mean score of a learner on the held-out rows; NaN without y.
    note : str
        Why the method was not measured or not scored, or its first warning; else empty.

    Examples
    --------
    >>> import numpy as np, krein
    >>> from krein.kernels import Gaussian
    >>> X = np.random.default_rng(0).random((30, 2))
    >>> row = krein.compare(Gaussian(), X, "Nystrom", 4, random_state=0).rows[0]
    >>> row.method, row.width, len(row.errors)
    ('Nystrom', 4, 3)
    """

    method: str
    width: int
    error: float
    errors: tuple[float, ...]
    fit_seconds: float
    transform_seconds: float
    bytes: float
    data_dependent: bool
    unbiased: bool
    score: float
    note: str

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> Measurement:
        """Return the means of the trials of one method at one width, one trial per seed."""
        method, done = trials[0].method, [trial for trial in trials if trial.features is not None]
        # A mean over some of the seeds would not be comparable with other means.
        whole = len(done) == len(trials)

        def mean(name: str, average: Any = np.mean) -> float:
            found = [value for value in (getattr(t, name) for t in trials) if np.isfinite(value)]
            return float(average(found)) if whole and found else np.nan

        return cls(
            method=method.name,
            width=trials[0].width,
            error=mean("error"),
            errors=tuple(trial.error for trial in trials),
            fit_seconds=mean("fit_seconds", np.median),
            transform_seconds=mean("transform_seconds", np.median),
            bytes=mean("n_bytes"),
            data_dependent=method.data_dependent,
            unbiased=method.unbiased,
            score=mean("score"),
            note=next((trial.note for trial in trials if trial.note), ""),
        )

    @property
    def is_measured(self) -> bool:
        """True if the method was fitted with every seed."""
        return bool(np.isfinite(self.error))

    @property
    def seconds(self) -> float:
        """The time to fit the map and to transform the held-out rows."""
        return self.fit_seconds + self.transform_seconds


def measurements(trials: Iterable[Trial], methods: Iterable[Method]) -> tuple[Measurement, ...]:
    """Return the measurements of trials: in the order of the methods, narrow maps first."""
    groups: dict[str, dict[int, list[Trial]]] = {method.name: {} for method in methods}
    for trial in trials:
        groups[trial.method.name].setdefault(trial.width, []).append(trial)
    return tuple(Measurement.of(same) for widths in groups.values() for same in widths.values())
