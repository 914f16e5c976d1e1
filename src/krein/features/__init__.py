"""Explicit feature maps: the Z in ``k(x, y) ≈ Z(x)ᵀ M Z(y)``."""

from .arc_cosine import RandomArcCosine
from .base import FeatureMap
from .fourier import RandomFourier
from .gegenbauer import RandomGegenbauer
from .nystrom import Nystrom
from .similarities import SimilarityFeatures

__all__ = [
    "FeatureMap",
    "Nystrom",
    "RandomArcCosine",
    "RandomFourier",
    "RandomGegenbauer",
    "SimilarityFeatures",
]
