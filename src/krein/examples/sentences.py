"""Sentences that state the results of the tour."""

from __future__ import annotations

from collections.abc import Sequence

from .results import Contest, Outcome, Study


def verdict(contest: Contest) -> str:
    """Say in one sentence how krein and the best of the others do on a task."""
    krein, *others = contest.outcomes
    best = max(others, key=lambda outcome: outcome.accuracy)
    right = f"krein is right on {percent(krein.accuracy)} of {contest.n_test} objects"
    gap = krein.accuracy - best.accuracy
    if abs(gap) * contest.n_test < 0.5:
        said = f"{right}, and so is {best.method}"
    else:
        said = f"{right}, the best of the others ({best.method}) on {percent(best.accuracy)}"
    return f"{contest.name.capitalize()}: {said}{_unsteady(others)}."


def _unsteady(outcomes: Sequence[Outcome]) -> str:
    """Name the method that changes most predictions if the training objects are permuted."""
    worst = max(outcomes, key=lambda outcome: outcome.changed)
    if not worst.changed:
        return ""
    return (
        f"; the order of the rows changes {percent(worst.changed)} of what {worst.method} predicts"
    )


def lesson(study: Study) -> str:
    """Say how far the features are from the kernel, and what the diagnosis suggests."""
    widest = study.comparisons[-1]
    krein, nystroem = widest.krein, widest.nystroem
    parts = [
        f"krein's {study.method} is off by {percent(krein.error)}, its Nystrom by "
        f"{percent(widest.nystrom.error)}"
    ]
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
        f"{percent(krein.accuracy)} ({study.method}), {percent(widest.nystrom.accuracy)} (Nystrom) "
        f"and {percent(nystroem.accuracy)} (Nystroem) of the test rows.{_suggestion(study)}"
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
