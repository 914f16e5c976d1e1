"""What a kernel's spectrum is: finite complex measures on R^d and on the sphere."""

from ..atoms import Atoms, ZonalAtoms
from .errors import InfiniteMassError
from .laws import (
    Convolution,
    ExponentialMixture,
    Law,
    Normal,
    ProductCauchy,
    Sphere,
    Student,
    TabulatedRadial,
    TiltedNormal,
)
from .measure import Measure, Part, TrigonometricRatio
from .radial import domain_measure
from .sphere import GegenbauerMeasure, harmonics, legendre, zonal, zonal_measure

__all__ = [
    "Atoms",
    "Convolution",
    "ExponentialMixture",
    "GegenbauerMeasure",
    "InfiniteMassError",
    "Law",
    "Measure",
    "Normal",
    "Part",
    "ProductCauchy",
    "Sphere",
    "Student",
    "TabulatedRadial",
    "TiltedNormal",
    "TrigonometricRatio",
    "ZonalAtoms",
    "domain_measure",
    "harmonics",
    "legendre",
    "zonal",
    "zonal_measure",
]
