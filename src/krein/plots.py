"""Plots. No other file imports matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

POSITIVE, NEGATIVE, GREY = "#2b6cb0", "#c05621", "#718096"
# The markers of the methods in a comparison; smaller errors are drawn as rounding errors.
MARKERS, ROUNDING = "os^Dv<>Pp*X", 1e-16


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


def plot_comparison(comparison: Any, axes: Any = None) -> Any:
    """Plot the error against the width, and against the seconds to fit and transform.

    Parameters
    ----------
    comparison : krein.Comparison
        The result of `krein.compare`.
    axes : sequence of two matplotlib Axes, default=None
        Where to plot; None makes a new figure.

    Returns
    -------
    ndarray of two matplotlib Axes
    """
    if axes is None:
        axes = pyplot().subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")[1]
    measured = [row for row in comparison.rows if row.is_measured]
    for i, method in enumerate(dict.fromkeys(row.method for row in measured)):
        rows = [row for row in measured if row.method == method]
        style = {"marker": MARKERS[i % len(MARKERS)], "color": f"C{i % 10}", "label": method}
        errors = [max(row.error, ROUNDING) for row in rows]
        axes[0].loglog([row.width for row in rows], errors, **style)
        axes[1].loglog([row.seconds for row in rows], errors, **style)
    for ax, label in zip(axes, ("width", "seconds to fit and transform"), strict=True):
        ax.set_xlabel(label)
    axes[0].set_ylabel("relative error of the kernel matrix")
    axes[0].set_title(comparison.kernel)
    if measured:
        axes[1].legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return np.asarray(axes)
