"""Plots. No other file imports matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def plot_spectrum(diagnosis: Any, ax: Any = None) -> Any:
    """Plot the magnitudes of the positive and of the negative eigenvalues.

    Parameters
    ----------
    diagnosis : krein.Diagnosis
        The result of `krein.diagnose`.
    ax : matplotlib Axes, default=None
        Where to plot; None makes a new figure.

    Returns
    -------
    matplotlib Axes
    """
    if ax is None:
        ax = pyplot().subplots(figsize=(6, 3.6), layout="constrained")[1]
    values = diagnosis.eigenvalues
    floor = 1e-16 * np.abs(values).max()
    for name, sign, color in (("positive", 1, POSITIVE), ("negative", -1, NEGATIVE)):
        side = np.sort(sign * values[sign * values > floor])[::-1]
        if len(side) or sign > 0:
            places = np.arange(1, len(side) + 1)
            ax.semilogy(places, side, ".", color=color, label=f"{name} ({len(side)})")
    ax.set_xlabel("rank within its sign")
    ax.set_ylabel("|eigenvalue|")
    ax.set_title(f"{diagnosis.kernel}: negative mass {diagnosis.negative_mass:.2g}")
    ax.legend(frameon=False)
    return ax
