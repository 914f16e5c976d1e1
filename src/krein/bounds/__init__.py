"""What can be guaranteed: the papers' bounds, corrected, and an honest word if one says nothing."""

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
