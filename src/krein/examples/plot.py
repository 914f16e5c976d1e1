"""The plot that ``krein quickstart`` saves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..plots import GREY, NEGATIVE, POSITIVE, pyplot
from .results import Quickstart, Study

# What the two notes of a panel have in common.
NOTE: dict[str, Any] = {"xy": (0, 1), "textcoords": "offset points", "color": GREY}
# Name, marker, colour and attribute of each line of the plot.
QUICKSTART_LINES = (
    ("krein", "o", POSITIVE, "krein"),
    ("RBFSampler", "s", GREY, "rbf_sampler"),
    ("Nystroem", "^", NEGATIVE, "nystroem"),
)


def plot_quickstart(result: Quickstart) -> Any:
    """Plot the error against the width, with one panel per kernel.

    Parameters
    ----------
    result : Quickstart
        The results of the tour.

    Returns
    -------
    matplotlib Figure
    """
    n = len(result.studies)
    figure, axes = pyplot().subplots(
        1, n, figsize=(1 + 3.2 * n, 4.2), sharey=True, squeeze=False, layout="constrained"
    )
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
    figure.suptitle(
        f"How far are the features from the kernel? Digits, {result.n_test} test rows", fontsize=12
    )
    figure.supxlabel("width (number of features)", fontsize=10)
    for ax, study in zip(axes[0], result.studies, strict=True):
        _draw_study(ax, study)
    first = axes[0, 0]
    first.set_ylabel("relative error of the kernel matrix")
    first.yaxis.set_major_formatter(lambda error, _: f"{100 * error:g}%")
    first.set_ylim(top=max(4.0, first.get_ylim()[1]))
    for ax, study in zip(axes[0], result.studies, strict=True):
        _label_lines(ax, study)
    first.annotate(
        "above: worse than a matrix of zeros",
        **NOTE | {"xycoords": ("axes fraction", "data"), "xytext": (6, 4), "fontsize": 8},
    )
    return figure


def save_plot(result: Quickstart, path: Path) -> str:
    """Save the plot, and return a sentence that says where, or why not.

    Parameters
    ----------
    result : Quickstart
        The results of the tour.
    path : Path
        The file; its suffix is the format.

    Returns
    -------
    str
        The sentence.
    """
    try:
        figure = plot_quickstart(result)
    except ImportError as error:
        return f"No plot was saved. {error}"
    figure.savefig(path, dpi=160)
    return f"Plot: {path}"


def _quickstart_errors(study: Study) -> list[tuple[str, str, str, list[float]]]:
    """Return name, marker, colour and errors of each line that this kernel has."""
    lines = []
    for name, marker, color, attribute in QUICKSTART_LINES:
        scores = [getattr(row, attribute) for row in study.comparisons]
        if None not in scores:
            lines.append((name, marker, color, [score.error for score in scores]))
    return lines


def _draw_study(ax: Any, study: Study) -> None:
    """Draw the lines, the title and the axes of one panel."""
    widths = [row.width for row in study.comparisons]
    ax.axhline(1, color=GREY, lw=0.9, ls=":", zorder=1)
    for _, marker, color, errors in _quickstart_errors(study):
        ax.loglog(widths, errors, marker, color=color, ls="-", lw=1.8, ms=6)
    ax.set_xticks(widths, [str(width) for width in widths])
    ax.set_xticks([], minor=True)
    ax.tick_params(which="both", length=0)
    ax.grid(axis="y", color=GREY, alpha=0.25, lw=0.6)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_title(study.name, loc="left", fontsize=11, fontweight="bold", pad=20)
    ax.annotate(
        f"{study.verdict} · {study.method}",
        **NOTE | {"xycoords": "axes fraction", "xytext": (0, 7), "fontsize": 9},
    )


def _label_lines(ax: Any, study: Study) -> None:
    """Write names to the right of the last points, and move them apart if they overlap."""
    low, high = np.log10(ax.get_ylim())
    gap, floor = 0.055 * (high - low), -np.inf
    width = study.comparisons[-1].width
    for name, _, color, errors in sorted(_quickstart_errors(study), key=lambda line: line[3][-1]):
        floor = max(np.log10(errors[-1]), floor + gap)
        ax.annotate(
            name,
            (width, 10**floor),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=color,
            fontsize=9,
            fontweight="bold" if name == "krein" else "normal",
            annotation_clip=False,
        )
