"""The papers' bounds, corrected. Each bound says whether it is vacuous."""

from .frequencies import Bound, beta, complex_frequencies, signed_frequencies
from .learned import Guarantee, game_excess, game_rounds, margin_risk, potential_rows

__all__ = [
    "Bound",
    "Guarantee",
    "beta",
    "complex_frequencies",
    "game_excess",
    "game_rounds",
    "margin_risk",
    "potential_rows",
    "signed_frequencies",
]
