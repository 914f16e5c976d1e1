"""What a kernel refuses."""

from __future__ import annotations


class NoMeasureError(ValueError):
    """The kernel has no spectral measure."""


class UnresolvedError(ValueError):
    """A kernel was evaluated for new rows while one of its parameters waits for data."""

    def __init__(self, kernel: object):
        super().__init__(
            f"{one_line(kernel)} takes a parameter from data (gamma='median'), and new rows must "
            "not change it: call kernel.resolved(X_train), which returns the kernel with the "
            "number, or fit a map or a learner, whose kernel_ has it; or give gamma a number."
        )


def one_line(kernel: object) -> str:
    """The repr of a kernel without the line breaks that long ones have."""
    return " ".join(repr(kernel).split())
