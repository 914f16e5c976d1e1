"""krein: learning with kernels that are not positive definite."""

from .diagnostics import Diagnosis, approximation_error, diagnose
from .features import RandomFourier, RandomGegenbauer

__all__ = [
    "Diagnosis",
    "RandomFourier",
    "RandomGegenbauer",
    "approximation_error",
    "diagnose",
]
