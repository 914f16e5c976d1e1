"""Z: explicit feature maps."""

from .base import FeatureMap
from .fourier import RandomFourier
from .gegenbauer import RandomGegenbauer

__all__ = ["FeatureMap", "RandomFourier", "RandomGegenbauer"]
