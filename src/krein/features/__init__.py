"""Z: explicit feature maps."""

from .base import FeatureMap
from .fourier import RandomFourier
from .gegenbauer import RandomGegenbauer
from .nystrom import Nystrom
from .similarities import SimilarityFeatures

__all__ = ["FeatureMap", "Nystrom", "RandomFourier", "RandomGegenbauer", "SimilarityFeatures"]
