"""Explicit feature maps: the Z in ``k(x, y) ≈ Z(x)ᵀ M Z(y)``."""

from .base import FeatureMap
from .fourier import RandomFourier
from .gegenbauer import RandomGegenbauer
from .nystrom import Nystrom
from .similarities import SimilarityFeatures

__all__ = ["FeatureMap", "Nystrom", "RandomFourier", "RandomGegenbauer", "SimilarityFeatures"]
