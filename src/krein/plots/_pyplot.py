"""The only module that imports matplotlib."""

from __future__ import annotations

from typing import Any

POSITIVE, NEGATIVE, GREY = "#2b6cb0", "#c05621", "#718096"


def pyplot() -> Any:
    """Import matplotlib; raise an error that names the extra if it is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib: install it with  pip install 'krein[plot]'."
        ) from error
    return plt


def two_colours() -> Any:
    """Return the colour map of signed values: negative, white at zero, positive."""
    return pyplot().matplotlib.colors.LinearSegmentedColormap.from_list(
        "two_colours", [NEGATIVE, "white", POSITIVE]
    )
