"""The plot of a comparison of methods."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

from .._validation import ArgumentError
from ._pyplot import pyplot

# Up to this many widths have a tick each.
MOST_TICKS = 8
# Number of characters of a line of the title, above the left one of two axes.
TITLE = 60
# The markers of the methods; smaller errors are drawn as rounding errors.
MARKERS, ROUNDING = "os^Dv<>Pp*X", 1e-16


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
    elif np.shape(axes) != (2,):
        needed = "a sequence of two matplotlib Axes, e.g. plt.subplots(1, 2)[1]"
        raise ArgumentError("Comparison.plot", "axes", needed, axes)
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
    widths = sorted({row.width for row in measured})
    if len(widths) <= MOST_TICKS:
        # The labels between powers of ten, such as 3 × 10¹ and 4 × 10¹, would overlap.
        axes[0].set_xticks(widths, [str(width) for width in widths])
        axes[0].minorticks_off()
    axes[0].set_title(fill(comparison.kernel, TITLE), fontsize="medium", loc="left")
    if measured:
        axes[1].legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return np.asarray(axes)
