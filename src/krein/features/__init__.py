"""Z: explicit feature maps."""

from .base import FeatureMap
from .fourier import RandomFourier
from .gegenbauer import RandomGegenbauer
from .nystrom import Nystrom

__all__ = ["FeatureMap", "Nystrom", "RandomFourier", "RandomGegenbauer"]
