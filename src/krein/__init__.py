"""krein: learning with kernels that are not positive definite."""

from .diagnostics import Diagnosis, approximation_error, diagnose
from .features import Nystrom, RandomFourier, RandomGegenbauer
from .proximity import DissimilarityToSimilarity, DoubleCentering, KreinPCA, SpectrumCorrector

__all__ = [
    "Diagnosis",
    "DissimilarityToSimilarity",
    "DoubleCentering",
    "KreinPCA",
    "Nystrom",
    "RandomFourier",
    "RandomGegenbauer",
    "SpectrumCorrector",
    "approximation_error",
    "diagnose",
]
