"""The plot that ``krein quickstart`` saves: how often each method is right, task by task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..plots import GREY, NEGATIVE, POSITIVE, pyplot
from .results import Quickstart

# Marker and colour of each method.
STYLES = {
    "krein": ("o", POSITIVE),
    "SVC raw": ("s", NEGATIVE),
    "SVC flipped": ("^", GREY),
    "SVC clipped": ("v", GREY),
    "1-NN": ("D", GREY),
}


def plot_quickstart(result: Quickstart) -> Any:
    """Plot the accuracy of every method on every task.

    Parameters
    ----------
    result : Quickstart
        The results of the tour.

    Returns
    -------
    matplotlib Figure
    """
    n = len(result.contests)
    figure, ax = pyplot().subplots(figsize=(8, 1.6 + 0.75 * n), layout="constrained")
    for place, contest in enumerate(result.contests):
        shares = [outcome.accuracy for outcome in contest.outcomes]
        ax.plot([min(shares), max(shares)], [place, place], color=GREY, lw=1, alpha=0.5, zorder=1)
        # krein is drawn last, above the others.
        for outcome in reversed(contest.outcomes):
            marker, color = STYLES[outcome.method]
            label = outcome.method if place == 0 else None
            size = 11 if outcome.method == "krein" else 8
            ax.plot(outcome.accuracy, place, marker, color=color, ms=size, label=label, zorder=3)
    ax.set_yticks(range(n), [contest.name for contest in result.contests])
    ax.set_ylim(n - 0.5, -0.5)
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
    ax.set_xlabel("share of new objects whose class is predicted correctly")
    ax.tick_params(length=0)
    ax.grid(axis="x", color=GREY, alpha=0.25, lw=0.6)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_title("One line of krein, and what people use today", loc="left", fontweight="bold")
    handles, labels = ax.get_legend_handles_labels()
    order = [labels.index(name) for name in STYLES if name in labels]
    figure.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="outside lower center",
        ncols=len(order),
        frameon=False,
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
