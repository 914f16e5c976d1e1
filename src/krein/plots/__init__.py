"""Plots. Matplotlib is imported when a plot is drawn."""

from ._pyplot import GREY, NEGATIVE, POSITIVE, pyplot
from .comparison import plot_comparison
from .learned import (
    after_rounds,
    decision_surface,
    plot_decision,
    plot_duals,
    plot_harmonics,
    plot_potential,
    plot_rounds,
    potential_grid,
    top_harmonics,
)
from .spectrum import plot_spectrum

__all__ = [
    "GREY",
    "NEGATIVE",
    "POSITIVE",
    "after_rounds",
    "decision_surface",
    "plot_comparison",
    "plot_decision",
    "plot_duals",
    "plot_harmonics",
    "plot_potential",
    "plot_rounds",
    "plot_spectrum",
    "potential_grid",
    "pyplot",
    "top_harmonics",
]
