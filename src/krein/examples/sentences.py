"""Sentences that state the results of the tour."""

from __future__ import annotations

from collections.abc import Sequence

from .results import Study


def lesson(study: Study) -> str:
    """Say how far the features are from the kernel, and what the diagnosis suggests."""
    widest = study.comparisons[-1]
    krein, nystroem = widest.krein, widest.nystroem
    parts = [f"krein's {study.method} is off by {percent(krein.error)}"]
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
        f"{study.name} is {study.verdict} – {study.diagnosis.evidence} – and at width "
        f"{widest.width} {', '.join(parts)} and {last}; a linear model on them is right on "
        f"{percent(krein.accuracy)} (krein) and {percent(nystroem.accuracy)} (Nystroem) of "
        f"the test rows.{_suggestion(study)}"
    )


def _suggestion(study: Study) -> str:
    """Name the map that the diagnosis suggests, if it is not the map of the table."""
    suggested = study.diagnosis.suggested_method
    if suggested == study.method:
        return ""
    error = study.diagnosis.errors[suggested]
    return f" krein.diagnose suggests krein.{suggested}, which is off by {percent(error)}."


def percent(share: float) -> str:
    """Return a share as a percentage with two or three digits.

    Examples
    --------
    >>> from krein.examples.sentences import percent
    >>> percent(0.0123), percent(0.973)
    ('1.2%', '97.3%')
    """
    value = 100 * share
    digits = 0 if value >= 99.95 else 1 if value >= 0.95 else 2
    return f"{value:.{digits}f}%"


def listed(numbers: Sequence[int]) -> str:
    """Join numbers by commas."""
    return ", ".join(str(number) for number in numbers)
