"""The plot of a spectrum of eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._pyplot import NEGATIVE, POSITIVE, pyplot


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
