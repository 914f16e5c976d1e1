"""What a measure can refuse."""

from __future__ import annotations


class InfiniteMassError(ValueError):
    """The kernel has no finite measure where the data are."""
