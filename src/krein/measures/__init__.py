"""What a kernel's spectrum is: finite complex measures on R^d and on the sphere."""

from ..atoms import Atoms, ZonalAtoms
from .laws import (
    Convolution,
    Law,
    Normal,
    ProductCauchy,
    Sphere,
    Student,
    TabulatedRadial,
    TiltedNormal,
    exponential_mixture,
)
from .measure import Measure, Part, Ridge
from .programme import InfiniteMassError
from .radial import domain_measure, zero_extension
from .sphere import GegenbauerMeasure, harmonics, legendre, zonal_measure

__all__ = [
    "Atoms",
    "Convolution",
    "GegenbauerMeasure",
    "InfiniteMassError",
    "Law",
    "Measure",
    "Normal",
    "Part",
    "ProductCauchy",
    "Ridge",
    "Sphere",
    "Student",
    "TabulatedRadial",
    "TiltedNormal",
    "ZonalAtoms",
    "domain_measure",
    "exponential_mixture",
    "harmonics",
    "legendre",
    "zero_extension",
    "zonal_measure",
]
