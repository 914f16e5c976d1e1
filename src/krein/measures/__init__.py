"""Spectra of kernels: finite complex measures on R^d and signed measures on the sphere."""

from ..atoms import Atoms, ZonalAtoms
from .density import DensityRatio
from .errors import InfiniteMassError
from .laws import Convolution, Law, Normal, ProductCauchy, Sphere, Student, TiltedNormal
from .measure import Measure, Part
from .radial import domain_measure
from .ratios import TrigonometricRatio
from .sphere import GegenbauerMeasure, legendre, n_harmonics, zonal, zonal_measure
from .tabulated import ExponentialMixture, TabulatedRadial

__all__ = [
    "Atoms",
    "Convolution",
    "DensityRatio",
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
    "legendre",
    "n_harmonics",
    "zonal",
    "zonal_measure",
]
